//! A placed program as text, after that of its graph: the place of each definition, and the nests
//! in order.

use rustc_hash::FxHashMap;
use std::fmt::Write;

use super::{BufferId, Content, Direction, Item, Nest, Placed};
use crate::{self as graph, AxisId};

/// The program as text.
pub fn print(placed: &Placed) -> String {
    let mut text = graph::print(&placed.graph);
    let names = Names::of(placed);
    let _ = writeln!(text, "placed {{");
    for (k, buffer) in placed.buffers.iter().enumerate() {
        let content = match buffer.content {
            Content::Node(node) => format!("node {}", node.0),
            Content::Array(array) => format!("array {}", array.0),
        };
        let local = if buffer.local { "local " } else { "" };
        let single = if buffer.single { "single " } else { "" };
        let _ = writeln!(text, "  {local}{single}b{k}[{}] = {content}", names.list(&buffer.axes));
    }
    for pass in &placed.passes {
        let block = placed.block.filter(|_| pass.blocked);
        let head =
            block.map_or("once".into(), |axis| format!("for each block of {}", names.axis(axis)));
        let _ = writeln!(text, "  {head} {{");
        for (group, nests) in pass.groups() {
            if let (Some(_), Some(axis)) = (group, placed.batch) {
                let _ = writeln!(text, "    together for each {}", names.axis(axis));
            }
            nests.iter().for_each(|nest| names.nest(nest, &mut text));
        }
        let _ = writeln!(text, "  }}");
    }
    let outputs: Vec<String> = placed.outputs.iter().map(|id| buffer(*id)).collect();
    let _ = writeln!(text, "  => {}\n}}", outputs.join(", "));
    text
}

fn buffer(BufferId(id): BufferId) -> String {
    format!("b{id}")
}

struct Names(FxHashMap<AxisId, String>);

impl Names {
    fn of(placed: &Placed) -> Names {
        let axes = placed.graph.axes.iter().enumerate();
        Names(axes.map(|(k, axis)| (AxisId(k as u32), format!("{}{k}", axis.hint))).collect())
    }

    fn axis(&self, axis: AxisId) -> &str {
        &self.0[&axis]
    }

    fn list(&self, axes: &[AxisId]) -> String {
        axes.iter().map(|axis| self.axis(*axis)).collect::<Vec<_>>().join(", ")
    }

    fn nest(&self, nest: &Nest, text: &mut String) {
        let mut head = format!("    for [{}]", self.list(&nest.axes));
        if let Some(axis) = nest.vector {
            let _ = write!(head, " lanes {}", self.axis(axis));
        }
        match nest.direction {
            Some(Direction::Up) => head.push_str(" up"),
            Some(Direction::Down) => head.push_str(" down"),
            None => {}
        }
        if let Some((cond, holds)) = nest.guard {
            let _ = write!(head, " {} node {}", if holds { "if" } else { "unless" }, cond.0);
        }
        for (axis, count) in &nest.tile {
            let _ = write!(head, " {count} of {}", self.axis(*axis));
        }
        if !nest.whole.is_empty() {
            let _ = write!(head, " whole {}", self.list(&nest.whole));
        }
        if !nest.carries.is_empty() {
            let loops: Vec<String> = nest.carries.iter().map(|l| format!("l{}", l.0)).collect();
            let _ = write!(head, " carrying {}", loops.join(", "));
        }
        let reads: Vec<String> = nest.reads.iter().map(|id| buffer(*id)).collect();
        let _ = writeln!(text, "{head} reading ({}) {{", reads.join(", "));
        for item in &nest.items {
            let _ = match item {
                Item::Store(id) => writeln!(text, "      store {}", buffer(*id)),
                Item::Reduce(id) => writeln!(text, "      reduce {}", buffer(*id)),
                Item::List(id) => writeln!(text, "      list {}", buffer(*id)),
                Item::Copy(id) => writeln!(text, "      copy {}", buffer(*id)),
                Item::Last(id) => writeln!(text, "      last {}", buffer(*id)),
                Item::Add(id, k) => writeln!(text, "      add {}.{k}", buffer(*id)),
            };
        }
        let _ = writeln!(text, "    }}");
    }
}
