//! A placement in words: the axis that is cut into blocks, the axes that groups of nests share, the
//! lifetimes of buffers, and for each nest its lanes and tile. Definitions have the names that they
//! have in the text of the graph.

use std::fmt::Write;

use crate::{Interior, totals};
use lambada_graph::placed::{BufferId, Content, Direction, Item, Nest, Placed};
use lambada_graph::{AxisId, NodeId, Printed, printed};

/// The graph of a placed program; the least extent for which it runs; whether it is checked because
/// factors have left sums; and its placement.
pub fn explained(placed: &Placed, least: Option<(i64, NodeId)>, checked: bool) -> String {
    let words = Words { placed, printed: printed(&placed.graph) };
    let mut text = words.printed.text.clone();
    if let Some((least, extent)) = least {
        let graph = &placed.graph;
        let axis = graph.axes.iter().position(|axis| axis.extent == extent);
        let axis = axis.map_or("the longest axis", |k| words.axis(AxisId(k as u32)));
        let _ = writeln!(
            text,
            "nests where {axis} has {least} indices or more; else loops, one index at a time"
        );
    }
    if checked {
        text.push_str(
            "loops, too, where a factor that has left a sum is not finite (the last result)\n",
        );
    }
    text + &words.placement()
}

struct Words<'a> {
    placed: &'a Placed,
    printed: Printed,
}

impl Words<'_> {
    fn placement(&self) -> String {
        let (placed, words) = (self.placed, self);
        let mut text = String::new();
        match placed.block {
            Some(axis) => {
                let name = words.axis(axis);
                let _ = writeln!(
                    text,
                    "nests over blocks of {name}, as many as fit the cache of a core"
                );
            }
            None => text.push_str("nests, none of them in blocks\n"),
        }
        if let Some(axis) = placed.batch {
            let name = words.axis(axis);
            let _ =
                writeln!(text, "nests run together for each {name}, which no contraction mixes");
        }
        let local = |single: bool| {
            let fits = move |id: &BufferId| {
                let buffer = placed.buffer(*id);
                buffer.local && buffer.single == single
            };
            words.all((0..placed.buffers.len() as u32).map(BufferId).filter(fits))
        };
        let (block, one) = (local(false), local(true));
        if !block.is_empty() {
            let _ = writeln!(text, "kept for a block: {block}");
        }
        if let (Some(axis), false) = (placed.batch, one.is_empty()) {
            let _ = writeln!(text, "kept for one {} of a block: {one}", words.axis(axis));
        }
        for pass in &placed.passes {
            let block = placed.block.filter(|_| pass.blocked);
            let head =
                block.map_or("once".into(), |axis| format!("each block of {}", words.axis(axis)));
            let shared = if totals(placed, pass).is_some() { ", shared by threads" } else { "" };
            let _ = writeln!(text, "{head}{shared}");
            for (group, nests) in pass.groups() {
                let shared = group.and(placed.batch);
                if let Some(axis) = shared {
                    let _ = writeln!(text, "  each {}", words.axis(axis));
                }
                let indent = if shared.is_some() { "    " } else { "  " };
                for nest in nests {
                    let _ = writeln!(text, "{indent}{}", words.nest(nest, shared));
                }
            }
        }
        text
    }

    fn axis(&self, axis: AxisId) -> &str {
        self.printed.axes.get(&axis).map_or("?", |name| name)
    }

    fn buffer(&self, id: BufferId) -> String {
        match self.placed.buffer(id).content {
            Content::Node(node) => {
                let name =
                    self.printed.nodes.get(&node).map_or("a scalar".into(), |k| format!("v{k}"));
                match self.placed.outputs.iter().position(|output| *output == id) {
                    None => name,
                    Some(k) => {
                        let result = self.placed.graph.outputs[k].hint.trim_start_matches('?');
                        format!("{name}, the result {result}")
                    }
                }
            }
            Content::Array(array) => {
                let outputs = &self.placed.graph.outputs;
                let known = outputs.iter().find(|output| output.array == array);
                let name = known.map(|output| output.hint.trim_start_matches('?'));
                name.map_or("an array".into(), |name| format!("the result {name}"))
            }
        }
    }

    fn all(&self, ids: impl Iterator<Item = BufferId>) -> String {
        ids.map(|id| self.buffer(id)).collect::<Vec<_>>().join(", ")
    }

    fn nest(&self, nest: &Nest, shared: Option<AxisId>) -> String {
        let around = nest.axes.iter().copied().filter(|axis| Some(*axis) != shared);
        let ends = if Interior::of(self.placed, nest).is_some() { ", ends apart" } else { "" };
        let order = match nest.direction {
            Some(Direction::Up) => ", upwards",
            Some(Direction::Down) => ", downwards",
            None => "",
        };
        let count = |axis: AxisId| {
            if nest.whole.contains(&axis) {
                return " (written out)".into();
            }
            let tile = nest.tile.iter().find(|(own, _)| *own == axis);
            match (tile, nest.vector == Some(axis)) {
                (Some((_, count)), true) => format!(" ({count} vectors{ends})"),
                (Some((_, count)), false) => format!(" ({count} at once)"),
                (None, true) => format!(" (lanes{order}{ends})"),
                (None, false) => String::new(),
            }
        };
        let axes: Vec<String> = around.map(|a| format!("{}{}", self.axis(a), count(a))).collect();
        let head = if axes.is_empty() { "one".into() } else { axes.join(", ") };
        let registers = self.placed.in_registers();
        let mut does = Vec::new();
        for item in &nest.items {
            let name = self.buffer(item.buffer());
            does.push(match item {
                Item::Store(id) if registers.contains(id) => format!("keep {name} in registers"),
                Item::Store(_) | Item::List(_) => format!("store {name}"),
                Item::Reduce(_) => format!("reduce {name}"),
                Item::Copy(_) => format!("copy {name}"),
                Item::Add(..) => format!("add to {name}"),
                Item::Last(_) => format!("keep the last {name}"),
            });
        }
        let carries = if nest.carries.is_empty() { "" } else { ", states in registers" };
        format!("{head}{carries}: {}", does.join(", "))
    }
}
