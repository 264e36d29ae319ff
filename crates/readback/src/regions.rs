//! Accumulators are flat statements in anf and regions in the surface language. A region spans the
//! statements from the first addition to the last. Accumulators with overlapping spans share a
//! region, `accumulate a = x, b = y in …`. They cannot if the span of one computes the initial
//! value of the other; then regions nest. A region that overlaps another without nesting is split
//! in two consecutive ones, and the value of the first part is the initial value of the second.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Effect, Exp, Op, Stm, Var};

/// A statement or region of a block.
#[derive(Debug)]
pub(crate) enum Item {
    /// The statement of this index.
    Stm(usize),
    Region(Region),
}

/// `let (…, out, …) = accumulate acc = init, … in items`
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) accs: Vec<Accumulator>,
    pub(crate) items: Vec<Item>,
}

/// An accumulator of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accumulator {
    pub(crate) acc: Var,
    pub(crate) init: Atom,
    pub(crate) out: Var,
}

impl Region {
    /// The first of its accumulators' values, which identifies the region.
    pub(crate) fn id(&self) -> Var {
        self.accs[0].out
    }
}

/// An accumulator of a block, and the range of its additions, inclusive.
#[derive(Clone, Copy, Debug)]
struct Span {
    it: Accumulator,
    first: usize,
    last: usize,
}

/// The regions of a block. An accumulator without additions gets none: the second list has its
/// frozen value.
pub(crate) fn regions(
    block: &Block,
    partial: &mut dyn FnMut(Var) -> Var,
) -> (Vec<Item>, Vec<(Var, Atom)>) {
    let mut spans = Vec::new();
    let mut plain = Vec::new();
    let added: Vec<HashSet<Var>> = block.stms.iter().map(Stm::additions).collect();
    for stm in &block.stms {
        let Exp::Op(Op::Accumulator(init)) = &stm.exp else { continue };
        let acc = stm.binds[0].var;
        let out = block.stms.iter().find_map(|s| {
            matches!(&s.exp, Exp::Op(Op::Freeze(a)) if *a == acc).then(|| s.binds[0].var)
        });
        let at: Vec<usize> = (0..added.len()).filter(|k| added[*k].contains(&acc)).collect();
        match (out, at.first(), at.last()) {
            (Some(out), Some(first), Some(last)) => {
                let it = Accumulator { acc, init: *init, out };
                spans.push(Span { it, first: *first, last: *last })
            }
            (Some(out), _, _) => plain.push((out, *init)),
            (None, _, _) => {}
        }
    }
    if spans.is_empty() {
        return ((0..block.stms.len()).map(Item::Stm).collect(), plain);
    }
    let mentioned = block.stms.iter().map(|stm| {
        let mut all = HashSet::new();
        mentions(stm, &mut all);
        all
    });
    let bound = block.stms.iter().enumerate();
    let layout = Layout {
        block,
        added,
        mentioned: mentioned.collect(),
        bound: bound.flat_map(|(k, s)| s.binds.iter().map(move |p| (p.var, k))).collect(),
    };
    (layout.arrange(0, block.stms.len(), spans, partial), plain)
}

struct Layout<'a> {
    block: &'a Block,
    /// For each statement the accumulators that it adds to.
    added: Vec<HashSet<Var>>,
    /// For each statement the variables that it mentions.
    mentioned: Vec<HashSet<Var>>,
    /// The statement that binds a variable.
    bound: HashMap<Var, usize>,
}

impl Layout<'_> {
    fn arrange(
        &self,
        from: usize,
        to: usize,
        mut spans: Vec<Span>,
        partial: &mut dyn FnMut(Var) -> Var,
    ) -> Vec<Item> {
        let mut items = Vec::new();
        let mut at = from;
        while let Some(k) =
            (0..spans.len()).min_by_key(|k| (spans[*k].first, Reverse(spans[*k].last)))
        {
            let span = spans.remove(k);
            items.extend((at..span.first).map(Item::Stm));
            let (group, end) = self.joined(span, &mut spans);
            at = end;
            let mut inside = Vec::new();
            for other in &mut spans {
                if other.first < at {
                    inside.push(*other);
                    if other.last >= at {
                        let between = partial(other.it.out);
                        let part = inside.last_mut().expect("just pushed");
                        (part.last, part.it.out) = (at - 1, between);
                        // It continues after this region, from its value there.
                        (other.first, other.it.init) = (at, between.into());
                    }
                }
            }
            spans.retain(|s| s.first >= at);
            if inside.is_empty() {
                items.extend(self.tight(span.first, at, group));
            } else {
                let inner = self.arrange(span.first, at, inside, partial);
                items.push(Item::Region(Region { accs: group, items: inner }));
            }
        }
        items.extend((at..to).map(Item::Stm));
        items
    }

    /// The accumulators that share a region with that of `span`, removed from `spans`, and the end
    /// of the region.
    fn joined(&self, span: Span, spans: &mut Vec<Span>) -> (Vec<Accumulator>, usize) {
        let mut group = vec![span.it];
        let mut end = span.last + 1;
        loop {
            let fits = |other: &Span| {
                let end = end.max(other.last + 1);
                let all = group.iter().chain([&other.it]);
                other.first < end && all.clone().all(|it| self.fits(*it, span.first, end))
            };
            let Some(k) = spans.iter().position(|other| other.first < end && fits(other)) else {
                return (group, end);
            };
            let other = spans.remove(k);
            group.push(other.it);
            end = end.max(other.last + 1);
        }
    }

    /// Whether the accumulator's initial value is known before these statements, and none of them
    /// uses its final value.
    fn fits(&self, it: Accumulator, first: usize, end: usize) -> bool {
        let known = it.init.as_var().and_then(|v| self.bound.get(&v)).is_none_or(|k| *k < first);
        known && !self.mentioned[first..end].iter().any(|m| m.contains(&it.out))
    }

    /// A region of the additions and of the statements that they need and that cannot precede it;
    /// all other statements stand before or after the region.
    fn tight(&self, first: usize, end: usize, accs: Vec<Accumulator>) -> Vec<Item> {
        let adds = |k: usize| accs.iter().any(|it| self.added[k].contains(&it.acc));
        let mut depend: HashSet<Var> = accs.iter().map(|it| it.acc).collect();
        let (mut items, mut core) = (Vec::new(), Vec::new());
        for k in first..end {
            if adds(k) || self.mentioned[k].iter().any(|var| depend.contains(var)) {
                depend.extend(self.block.stms[k].binds.iter().map(|p| p.var));
                core.push(k);
            } else {
                items.push(Item::Stm(k));
            }
        }
        let (mut inner, mut after) = (Vec::new(), Vec::new());
        let mut wanted: HashSet<Var> = HashSet::new();
        for k in core.into_iter().rev() {
            if adds(k) || self.block.stms[k].binds.iter().any(|p| wanted.contains(&p.var)) {
                wanted.extend(&self.mentioned[k]);
                inner.push(Item::Stm(k));
            } else {
                after.push(Item::Stm(k));
            }
        }
        inner.reverse();
        items.push(Item::Region(Region { accs, items: inner }));
        items.extend(after.into_iter().rev());
        items
    }
}

/// The variables that the items bind, in order.
pub(crate) fn binds(block: &Block, items: &[Item]) -> Vec<Var> {
    let mut all = Vec::new();
    for item in items {
        match item {
            // The value of a frozen accumulator belongs to its region.
            Item::Stm(k)
                if matches!(block.stms[*k].exp.effect(), Effect::Makes | Effect::Freezes(_)) => {}
            Item::Stm(k) => all.extend(block.stms[*k].binds.iter().map(|p| p.var)),
            Item::Region(region) => {
                all.extend(binds(block, &region.items));
                all.extend(region.accs.iter().map(|it| it.out));
            }
        }
    }
    all
}

/// Adds all variables that a statement mentions, except in types.
pub(crate) fn mentions(stm: &Stm, all: &mut HashSet<Var>) {
    stm.exp.atoms(&mut |a| all.extend(a.as_var()));
    if matches!(stm.exp, Exp::Op(Op::Fill(_))) {
        all.extend(stm.binds[0].ty.dims.iter().filter_map(|d| d.as_var()));
    }
    for block in stm.exp.blocks() {
        block.stms.iter().for_each(|s| mentions(s, all));
        all.extend(block.results.iter().filter_map(|a| a.as_var()));
    }
}
