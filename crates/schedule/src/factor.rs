//! P2: linear maps leave sums. `Σ over S of a product`  becomes  products of sums in which each index is summed over as little as possible.
//!
//! A sum is a product of factors and of inner sums. Its indices are eliminated one after the other: those factors that depend on the index are
//! multiplied and summed, the others wait. Each time the index with the smallest domain is next. Inner sums are opened if that is cheaper, where a
//! sum that something else needs is not saved.
//!
//! *Assumes* nothing. *Gives* no more operations, by the nominal sizes. *Keeps* values up to rounding and the sign of a zero, if factors are finite:
//! see [`Leave`]. Nothing is distributed over a difference of data, as `Σ (x − μ)·w = Σ x·w − μ·Σ w` cancels.

use std::collections::HashSet;

use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy};

use crate::cost::Nominal;
use crate::graph::{Axes, AxisId, Builder, Graph, Node, NodeId, rebuilt, rewritten};

/// Which factors may leave a sum. One that is infinite or NaN makes a difference: `∞·(x − x)` is NaN, and so is `∞` times the sum of nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Those that are surely finite: constants, and integers that have been converted. This is what users are promised.
    Finite,
    /// All, as if each were finite.
    All,
}

/// The graph with all sums factored.
pub fn factored(graph: &Graph, nominal: &Nominal, leave: Leave) -> Graph {
    let uses = graph.uses();
    let mut shared = HashSet::new();
    rewritten(graph, &mut |to, old, node| {
        let new = match node {
            Node::Reduce(ReduceOp::Add, axes, body)
                if to.graph.facts(body).elem == ScalarTy::Real =>
            {
                let mut factor = Factor { to, nominal, leave, shared: &shared };
                factor.sum(&axes, body)
            }
            node => rebuilt(to, node),
        };
        if uses[old.0 as usize] > 1 {
            shared.insert(new);
        }
        new
    })
}

struct Factor<'a> {
    to: &'a mut Builder,
    nominal: &'a Nominal,
    leave: Leave,
    /// What more than one definition mentions.
    shared: &'a HashSet<NodeId>,
}

/// `Σ over axes of constant · product of factors`
#[derive(Clone)]
struct Product {
    axes: Axes,
    constant: f64,
    factors: Vec<NodeId>,
}

impl Factor<'_> {
    fn free(&self, node: NodeId) -> &Axes {
        self.to.graph.free(node)
    }

    fn volume(&self, axes: &Axes) -> f64 {
        self.nominal.volume(&self.to.graph, axes)
    }

    fn sum(&mut self, axes: &Axes, body: NodeId) -> NodeId {
        if let Some(split) = self.split(axes, body) {
            return split;
        }
        let mut plain = Product { axes: axes.clone(), constant: 1.0, factors: Vec::new() };
        self.factors(body, &mut plain);
        // A product that stays where it is keeps the order of its factors, too.
        let leaves = plain.constant != 1.0 || plain.factors.iter().any(|f| self.may_leave(*f));
        if self.leave == Leave::Finite && !leaves {
            return self.to.reduce(ReduceOp::Add, axes.clone(), body);
        }
        let opened = self.opened(&plain);
        let chosen = match opened {
            Some(opened) if self.is_cheaper(&opened, &plain) => opened,
            // Where no index has a smaller domain than all of them, the products stay as they are: others may use them.
            Some(_) | None if plain.constant == 1.0 && !self.saves(&plain, body) => {
                return self.to.reduce(ReduceOp::Add, axes.clone(), body);
            }
            Some(_) | None => plain,
        };
        self.eliminated(chosen)
    }

    /// `Σ (a ± b)`, where one of them does not depend on all indices.
    fn split(&mut self, axes: &Axes, body: NodeId) -> Option<NodeId> {
        let Node::Prim(op @ (Prim::Add | Prim::Sub), args) = self.to.graph.node(body) else {
            return None;
        };
        let (op, a, b) = (*op, args[0], args[1]);
        let all = |node| axes.is_subset(self.free(node));
        // A body that something else needs is not saved.
        if self.leave == Leave::Finite || all(a) && all(b) || self.shared.contains(&body) {
            return None;
        }
        let (a, b) = (self.sum(axes, a), self.sum(axes, b));
        Some(self.to.prim(op, [a, b]))
    }

    fn factors(&self, node: NodeId, product: &mut Product) {
        match self.to.graph.node(node) {
            Node::Lit(Scalar::Real(value)) if value.is_finite() => product.constant *= value,
            Node::Prim(Prim::Neg, args) => {
                product.constant = -product.constant;
                self.factors(args[0], product);
            }
            Node::Prim(Prim::Mul, args) => {
                self.factors(args[0], product);
                self.factors(args[1], product);
            }
            Node::Lit(_)
            | Node::Index(_)
            | Node::Prim(..)
            | Node::Choose(..)
            | Node::At(..)
            | Node::Reduce(..) => product.factors.push(node),
        }
    }

    /// The same with inner sums as factors and indices of their own, where no index is captured.
    fn opened(&self, product: &Product) -> Option<Product> {
        let mut opened = Product { factors: Vec::new(), ..product.clone() };
        let mut any = false;
        for (k, factor) in product.factors.iter().enumerate() {
            let others = product.factors.iter().enumerate().filter(|(j, _)| *j != k);
            let free =
                others.clone().fold(opened.axes.clone(), |all, (_, f)| all.union(self.free(*f)));
            let once = others.filter(|(_, other)| *other == factor).count() == 0;
            match self.inner_sum(*factor) {
                Some((axes, body))
                    if once && !axes.meets(&free) && self.independent(&axes, &opened.axes) =>
                {
                    opened.axes = opened.axes.union(&axes);
                    self.factors(body, &mut opened);
                    any = true;
                }
                Some(_) | None => opened.factors.push(*factor),
            }
        }
        any.then_some(opened)
    }

    fn inner_sum(&self, node: NodeId) -> Option<(Axes, NodeId)> {
        let (op, axes, body) = self.to.graph.reduction(node)?;
        (op == ReduceOp::Add).then(|| (axes.clone(), body))
    }

    /// Do no extents depend on the other indices?
    fn independent(&self, a: &Axes, b: &Axes) -> bool {
        let graph = &self.to.graph;
        let depends = |of: &Axes, on: &Axes| {
            of.iter().any(|axis| graph.free(graph.axis(axis).extent).meets(on))
        };
        !depends(a, b) && !depends(b, a)
    }

    fn is_cheaper(&self, opened: &Product, plain: &Product) -> bool {
        let both = [&opened.factors[..], &plain.factors[..]].concat();
        // Sums that are needed elsewhere stay.
        let kept: Vec<NodeId> =
            plain.factors.iter().copied().filter(|f| self.shared.contains(f)).collect();
        let after = [&opened.factors[..], &kept].concat();
        self.plan(opened) + self.inner(&after) < self.plan(plain) + self.inner(&both)
    }

    /// Is eliminating the indices one after the other cheaper than all at once?
    fn saves(&self, product: &Product, body: NodeId) -> bool {
        self.plan(product) < self.volume(&product.axes.union(self.free(body)))
    }

    /// What the inner sums cost, each once.
    fn inner(&self, factors: &[NodeId]) -> f64 {
        let distinct: HashSet<NodeId> = factors.iter().copied().collect();
        let cost = |f: &NodeId| {
            let (axes, _) = self.inner_sum(*f)?;
            Some(self.volume(&self.free(*f).union(&axes)))
        };
        distinct.iter().filter_map(cost).sum()
    }

    /// What it costs to eliminate the indices.
    fn plan(&self, product: &Product) -> f64 {
        let mut factors: Vec<(Axes, bool)> =
            product.factors.iter().map(|f| (self.free(*f).clone(), self.may_leave(*f))).collect();
        let (mut axes, mut cost) = (product.axes.clone(), 0.0);
        while let Some(axis) = self.next(&axes, &factors) {
            axes = axes.without(&Axes::one(axis));
            let (inside, outside): (Vec<_>, Vec<_>) =
                factors.into_iter().partition(|(free, leaves)| !leaves || free.contains(axis));
            let domain = union(inside.iter().map(|(free, _)| free));
            cost += self.volume(&domain.union(&Axes::one(axis)));
            let leaves = self.leave == Leave::All;
            factors = outside;
            factors.push((domain.without(&Axes::one(axis)), leaves));
        }
        cost
    }

    /// The index whose factors have the smallest domain.
    fn next(&self, axes: &Axes, factors: &[(Axes, bool)]) -> Option<AxisId> {
        let domain = |axis: AxisId| {
            let inside = factors.iter().filter(|(free, leaves)| !leaves || free.contains(axis));
            self.volume(&union(inside.map(|(free, _)| free)))
        };
        axes.iter().min_by(|a, b| domain(*a).total_cmp(&domain(*b)))
    }

    fn may_leave(&self, node: NodeId) -> bool {
        match (self.leave, self.to.graph.node(node)) {
            (Leave::All, _) => true,
            (Leave::Finite, Node::Prim(op, _)) => *op == Prim::ToReal,
            (Leave::Finite, Node::Lit(_)) => false,
            (
                Leave::Finite,
                Node::Index(_) | Node::Choose(..) | Node::At(..) | Node::Reduce(..),
            ) => false,
        }
    }

    fn eliminated(&mut self, product: Product) -> NodeId {
        let Product { mut axes, constant, mut factors } = product;
        loop {
            let known: Vec<(Axes, bool)> =
                factors.iter().map(|f| (self.free(*f).clone(), self.may_leave(*f))).collect();
            let Some(axis) = self.next(&axes, &known) else { break };
            axes = axes.without(&Axes::one(axis));
            let (inside, outside): (Vec<NodeId>, Vec<NodeId>) = factors
                .into_iter()
                .partition(|f| !self.may_leave(*f) || self.free(*f).contains(axis));
            factors = outside;
            let sum = if inside.is_empty() { self.count(axis) } else { self.summed(axis, inside) };
            factors.push(sum);
        }
        self.product(constant, factors)
    }

    fn summed(&mut self, axis: AxisId, factors: Vec<NodeId>) -> NodeId {
        let body = self.product(1.0, factors);
        // What has just been summed over another index.
        if let Some((axes, inner)) = self.inner_sum(body)
            && !axes.contains(axis)
            && self.independent(&axes, &Axes::one(axis))
        {
            return self.to.reduce(ReduceOp::Add, axes.union(&Axes::one(axis)), inner);
        }
        self.to.reduce(ReduceOp::Add, Axes::one(axis), body)
    }

    /// `Σ 1`
    fn count(&mut self, axis: AxisId) -> NodeId {
        let extent = self.to.graph.axis(axis).extent;
        let none = self.to.lit(Scalar::Int(0));
        let times = self.to.prim(Prim::MaxInt, [extent, none]);
        self.to.prim(Prim::ToReal, [times])
    }

    /// The product, those with the smallest domain first; of equals, what is a product already.
    fn product(&mut self, constant: f64, mut factors: Vec<NodeId>) -> NodeId {
        while factors.len() > 1 {
            let pairs = (0..factors.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
            let pair = |i: usize, j: usize| {
                let (a, b) = (factors[i].min(factors[j]), factors[i].max(factors[j]));
                Node::Prim(Prim::Mul, vec![a, b])
            };
            let cost = |(i, j): &(usize, usize)| {
                let domain = self.free(factors[*i]).union(self.free(factors[*j]));
                (self.volume(&domain), !self.to.knows(&pair(*i, *j)))
            };
            let best = pairs
                .map(|p| (cost(&p), p))
                .min_by(|((a, new), _), ((b, newer), _)| a.total_cmp(b).then(new.cmp(newer)));
            let Some((_, (i, j))) = best else { break };
            let product = pair(i, j);
            factors.swap_remove(j);
            factors[i] = self.to.node(product);
        }
        let Some(product) = factors.pop() else { return self.to.lit(Scalar::Real(constant)) };
        if constant == 1.0 {
            product
        } else if constant == -1.0 {
            self.to.prim(Prim::Neg, [product])
        } else {
            let constant = self.to.lit(Scalar::Real(constant));
            self.to.prim(Prim::Mul, [constant, product])
        }
    }
}

fn union<'a>(sets: impl Iterator<Item = &'a Axes>) -> Axes {
    sets.fold(Axes::default(), |all, axes| all.union(axes))
}
