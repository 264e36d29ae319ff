//! P2: linear maps leave sums. `Σ over S of a product` becomes products of sums in which each index
//! is summed over as little as possible.
//!
//! A sum is a product of factors, of conditions and of inner sums. Its indices are eliminated one
//! after the other, the one with the smallest domain first: the factors and conditions that depend
//! on the index are multiplied and summed, the others wait. Inner sums are opened if that is
//! cheaper, though a sum with other users is not saved; sums of sums are split if each part is then
//! cheaper by itself. An existing sum is never computed a second time, times a factor: `Σ eˣ·c` is
//! `c·Σ eˣ`, as in the derivative of a softmax.
//!
//! *Assumes* nothing. *Gives* no more operations, by the nominal sizes, but for the checks of
//! [`Leave::Checked`]. *Keeps* values up to rounding and the sign of a zero, if factors are finite:
//! see [`Leave`]. Nothing is distributed over a difference of data, as `Σ (x − μ)·w = Σ x·w − μ·Σ
//! w` cancels.

use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy};
use rustc_hash::FxHashSet;

use lambada_graph::cost;
use lambada_graph::{
    Around, Axes, AxisId, Builder, Graph, Node, NodeId, Nominal, Output, rebuilt, rewritten,
};

mod exists;
mod plan;
mod product;

use product::Product;

/// The factors that may leave a sum. Factors that are infinite or NaN matter: `∞·(x − x)` is NaN,
/// and so is `∞` times the sum of nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Factors that are surely finite: constants, and converted integers.
    Finite,
    /// All factors. A check when the program runs decides whether they are finite; if not, the sum
    /// is computed as written.
    Checked,
    /// All factors. If their finiteness is not evident, it is a further output, the last one, which
    /// a user of the others looks at first.
    Apart,
    /// All factors, as if each were finite.
    All,
}

/// The graph with all sums factored.
pub fn factored(graph: &Graph, nominal: &Nominal, leave: Leave) -> Graph {
    let uses = graph.uses();
    let (mut shared, mut conditions) = (FxHashSet::default(), Vec::new());
    let graph = rewritten(graph, &mut |to, old, node| {
        let new = match node {
            Node::Reduce(ReduceOp::Add, axes, body)
                if to.graph.facts(body).elem == ScalarTy::Real =>
            {
                // A sum that is computed only in a branch adds no condition outside of it.
                let lazy = leave == Leave::Apart && !to.around.is_empty();
                let leave = if lazy { Leave::Finite } else { leave };
                let (shared, conditions) = (&shared, &mut conditions);
                Factor { to, nominal, leave, shared, conditions }.sum(&axes, body)
            }
            node => rebuilt(to, node),
        };
        if uses[old.0 as usize] > 1 {
            shared.insert(new);
        }
        new
    });
    with_condition(graph, &conditions)
}

/// The graph with one more output: whether all of the conditions hold.
fn with_condition(graph: Graph, conditions: &[NodeId]) -> Graph {
    let mut to = Builder::of(graph);
    let both = |all: Option<NodeId>, cond: &NodeId| match all {
        Some(all) if all == *cond => Some(all),
        Some(all) => Some(to.prim(Prim::And, [all, *cond])),
        None => Some(*cond),
    };
    let Some(all) = conditions.iter().fold(None, both) else { return to.finish() };
    let array = to.scalar(all);
    to.graph.outputs.push(Output { hint: "finite".into(), array });
    to.finish()
}

struct Factor<'a> {
    to: &'a mut Builder,
    nominal: &'a Nominal,
    leave: Leave,
    /// Nodes with several uses.
    shared: &'a FxHashSet<NodeId>,
    /// For [`Leave::Apart`]: the conditions that have to hold.
    conditions: &'a mut Vec<NodeId>,
}

impl Factor<'_> {
    fn free(&self, node: NodeId) -> &Axes {
        self.to.graph.free(node)
    }

    fn volume(&self, axes: &Axes) -> f64 {
        self.nominal.volume(&self.to.graph, axes)
    }

    fn sum(&mut self, axes: &Axes, body: NodeId) -> NodeId {
        let plain = self.product(axes, body);
        if let Some(sum) = self.of_parts(&plain) {
            return sum;
        }
        // A product that stays keeps the order of its factors.
        let leaves = plain.constant != 1.0 || plain.factors.iter().any(|f| self.may_leave(*f));
        if self.leave == Leave::Finite && !leaves {
            return self.to.reduce(ReduceOp::Add, axes.clone(), body);
        }
        if let Some((sum, left, saved)) = self.of_known(&plain)
            && self.is_worth_checking(&left, saved)
        {
            return self.unless_infinite(&left, sum, axes, body);
        }
        let opened = self.opened(&plain).filter(|opened| self.is_cheaper(opened, &plain));
        let before = self.volume(&axes.union(self.free(body))) + self.inner(&plain.factors);
        let is_opened = opened.is_some();
        let chosen = opened.unwrap_or_else(|| plain.clone());
        let saved = before - self.plan(&chosen) - self.inner(&chosen.factors);
        // If no elimination has a smaller domain than all indices together, the products stay as
        // they are, because others may use them.
        if is_opened || saved > 0.0 {
            let (sum, left) = self.eliminated(chosen);
            if self.is_worth_checking(&left, saved) {
                return self.unless_infinite(&left, sum, axes, body);
            }
        }
        if plain.constant == 1.0 {
            return self.to.reduce(ReduceOp::Add, axes.clone(), body);
        }
        let leave = std::mem::replace(&mut self.leave, Leave::Finite);
        let (sum, _) = self.eliminated(plain);
        self.leave = leave;
        sum
    }

    /// `Σ ±c·x`, where `x` is a sum that is better split, or an element of an array that is better
    /// summed as a whole.
    fn of_parts(&mut self, product: &Product) -> Option<NodeId> {
        let ([factor], []) = (&product.factors[..], &product.when[..]) else { return None };
        let sum = if let Node::At(array, index) = self.to.graph.node(*factor).clone() {
            let (own, body) = self.to.graph.elements(array)?;
            let own = own.to_vec();
            if !self.is_read_outside(&product.axes, &own, body, &index) {
                return None;
            }
            let sum = self.sum(&product.axes, body);
            let sums = self.to.map(own, sum);
            self.to.at(sums, index)
        } else {
            let (op @ (Prim::Add | Prim::Sub), args) = self.to.graph.operation(*factor)? else {
                return None;
            };
            if !self.is_better_split(&product.axes, *factor, args) {
                return None;
            }
            let (a, b) = (args[0], args[1]);
            let (a, b) = (self.sum(&product.axes, a), self.sum(&product.axes, b));
            self.to.prim(op, [a, b])
        };
        Some(self.scaled(product.constant, sum))
    }

    /// Whether to split `Σ (a ± b)`: one operand does not depend on all indices, or the two sums
    /// are cheaper than the one.
    fn is_better_split(&self, axes: &Axes, sum: NodeId, args: &[NodeId]) -> bool {
        // A body with other users is not saved.
        if self.leave == Leave::Finite || self.shared.contains(&sum) {
            return false;
        }
        let all = |node: &NodeId| axes.is_subset(self.free(*node));
        if !args.iter().all(all) {
            return true;
        }
        args.iter().map(|arg| self.estimated(axes, *arg)).sum::<f64>()
            < self.together(axes, sum, args)
    }

    /// Whether `Σ map(…)[index]` is better an element of an array of sums: the array depends on the
    /// summed axes, the index does not, and no more elements are summed than are read.
    fn is_read_outside(&self, axes: &Axes, own: &[AxisId], body: NodeId, index: &[NodeId]) -> bool {
        let graph = &self.to.graph;
        let places = index.iter().fold(Axes::default(), |all, i| all.union(graph.free(*i)));
        let own: Axes = own.iter().copied().collect();
        let extents = own.iter().map(|axis| graph.axis(axis).extent);
        axes.is_subset(graph.free(body))
            && !axes.meets(&places)
            && !axes.meets(&own)
            && !extents.into_iter().any(|extent| graph.free(extent).meets(axes))
            && self.independent(axes, &own)
            && self.volume(&own) <= self.volume(&places)
    }

    /// Whether no extent among some axes depends on the others, in both directions.
    fn independent(&self, a: &Axes, b: &Axes) -> bool {
        let graph = &self.to.graph;
        let depends = |of: &Axes, on: &Axes| {
            of.iter().any(|axis| graph.free(graph.axis(axis).extent).meets(on))
        };
        !depends(a, b) && !depends(b, a)
    }

    fn may_leave(&self, node: NodeId) -> bool {
        self.leave != Leave::Finite || self.is_finite(node)
    }

    /// Whether a factor is surely finite.
    fn is_finite(&self, node: NodeId) -> bool {
        let operation = self.to.graph.operation(node);
        operation.is_some_and(|(op, _)| op == Prim::ToReal)
            || matches!(self.to.graph.lit(node), Some(Scalar::Real(x)) if x.is_finite())
    }

    fn needs_no_check(&self, left: &[Checked]) -> bool {
        matches!(self.leave, Leave::Finite | Leave::All) || left.is_empty()
    }

    fn is_worth_checking(&self, left: &[Checked], saved: f64) -> bool {
        self.needs_no_check(left) || self.checking(left) * cost::SAVED <= saved
    }

    /// The sum, under a check if it needs one.
    fn unless_infinite(
        &mut self,
        left: &[Checked],
        sum: NodeId,
        axes: &Axes,
        body: NodeId,
    ) -> NodeId {
        if self.needs_no_check(left) { sum } else { self.checked(left, sum, axes, body) }
    }

    /// The cost of checking factors.
    fn checking(&self, left: &[Checked]) -> f64 {
        let domain = |Checked { factor, when }: &Checked| {
            let domain =
                when.iter().fold(self.free(*factor).clone(), |all, c| all.union(self.free(*c)));
            // A state of a loop exists only once the loop has run.
            let ends = domain.iter().any(|axis| self.to.graph.axis(axis).sequential);
            if ends { f64::INFINITY } else { self.volume(&domain) }
        };
        left.iter().map(domain).sum()
    }

    /// The sum if the factors that left it are finite, and the sum as written if not.
    fn checked(&mut self, left: &[Checked], sum: NodeId, axes: &Axes, body: NodeId) -> NodeId {
        let mut cond = None;
        // A node needed in a branch exists only for indices that take the branch, so each of these
        // has a condition of its own.
        let lazy = !self.to.around.is_empty();
        let own = if lazy { self.free(sum).clone() } else { Axes::default() };
        for Checked { factor, when } in left {
            let all = self.all_finite(*factor, when, &own);
            cond = Some(cond.map_or(all, |cond| self.to.prim(Prim::And, [cond, all])));
        }
        let Some(cond) = cond else { return sum };
        if self.leave == Leave::Apart {
            self.conditions.push(cond);
            return sum;
        }
        self.to.around.push(Around::Branch);
        let written = self.to.reduce(ReduceOp::Add, axes.clone(), body);
        self.to.around.pop();
        self.to.choose(cond, sum, written)
    }

    /// Whether a factor is finite for all indices for which the conditions hold, separately for
    /// each index of the given axes.
    fn all_finite(&mut self, factor: NodeId, when: &[NodeId], given: &Axes) -> NodeId {
        let infinite = self.to.lit(Scalar::Real(f64::INFINITY));
        let yes = self.to.lit(Scalar::Bool(true));
        self.to.around.push(Around::Branch);
        let size = self.to.prim(Prim::Abs, [factor]);
        let mut all = self.to.prim(Prim::Lt, [size, infinite]);
        self.to.around.pop();
        for cond in when.iter().rev() {
            all = self.to.choose(*cond, all, yes);
        }
        // The innermost axes first: extents may depend on those around.
        let mut axes: Vec<AxisId> = self.free(all).without(given).iter().collect();
        axes.sort_by_key(|axis| self.free(self.to.graph.axis(*axis).extent).len());
        for axis in axes.into_iter().rev() {
            all = self.to.reduce(ReduceOp::And, Axes::one(axis), all);
        }
        all
    }

    /// `Σ 1`
    fn count(&mut self, axis: AxisId) -> NodeId {
        let extent = self.to.graph.axis(axis).extent;
        let none = self.to.lit(Scalar::Int(0));
        let times = self.to.prim(Prim::MaxInt, [extent, none]);
        self.to.prim(Prim::ToReal, [times])
    }
}

/// A factor that has left a sum, and the conditions under which it is needed.
#[derive(Clone, PartialEq)]
struct Checked {
    factor: NodeId,
    when: Vec<NodeId>,
}
