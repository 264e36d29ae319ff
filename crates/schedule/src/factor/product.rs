//! Sums of products, taken apart and put together.

use lambada_prim::{Prim, ReduceOp, Scalar};

use super::exists::Asked;
use super::{Checked, Factor};
use lambada_graph::{Around, Axes, AxisId, Node, NodeId};

/// The most factors and products in a product that is taken apart.
const FACTORS: usize = 128;

/// `Σ over axes, where the conditions hold, of constant · product of factors`
#[derive(Clone)]
pub(super) struct Product {
    pub(super) axes: Axes,
    /// The outermost first: each is evaluated only where those before hold.
    pub(super) when: Vec<NodeId>,
    pub(super) constant: f64,
    pub(super) factors: Vec<NodeId>,
    /// Factors that have been multiplied into another sum.
    pub(super) entered: Vec<NodeId>,
}

impl Factor<'_> {
    pub(super) fn product(&self, axes: &Axes, body: NodeId) -> Product {
        let mut product = Product {
            axes: axes.clone(),
            when: Vec::new(),
            constant: 1.0,
            factors: Vec::new(),
            entered: Vec::new(),
        };
        let body = self.conditions(body, &mut product);
        self.factors(body, &mut product);
        product
    }

    /// Strips a body of its conditions, without which it is zero, and of its constants.
    fn conditions(&self, body: NodeId, product: &mut Product) -> NodeId {
        let real = |node: NodeId| match self.to.graph.lit(node) {
            Some(Scalar::Real(value)) => Some(value),
            Some(_) | None => None,
        };
        if let Some((cond, inner, none)) = self.to.graph.choice(body)
            && real(none) == Some(0.0)
        {
            product.when.push(cond);
            return self.conditions(inner, product);
        }
        let (times, inner) = match self.to.graph.operation(body) {
            Some((Prim::Neg, [inner])) => (-1.0, *inner),
            Some((Prim::Mul, [a, b])) => match (real(*a), real(*b)) {
                (Some(times), None) => (times, *b),
                (None, Some(times)) => (times, *a),
                (_, _) => return body,
            },
            Some(_) | None => return body,
        };
        if !times.is_finite() {
            return body;
        }
        product.constant *= times;
        self.conditions(inner, product)
    }

    fn factors(&self, node: NodeId, product: &mut Product) {
        if self.is_whole(node, &product.axes) {
            product.factors.push(node);
            return;
        }
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

    /// Whether a product is one factor: because it has too many, as squares of squares have, or
    /// because its factors would leave a sum over the axes together.
    fn is_whole(&self, node: NodeId, axes: &Axes) -> bool {
        let Some((Prim::Mul, args)) = self.to.graph.operation(node) else { return false };
        let free = self.free(node);
        let together = !free.meets(axes) && args.iter().all(|arg| self.free(*arg) == free);
        together || self.has_many_factors(node)
    }

    fn has_many_factors(&self, node: NodeId) -> bool {
        let (mut open, mut met) = (vec![node], 0);
        while let Some(node) = open.pop()
            && met <= FACTORS
        {
            met += 1;
            if let Some((Prim::Mul | Prim::Neg, args)) = self.to.graph.operation(node) {
                open.extend(args);
            }
        }
        met > FACTORS
    }

    pub(super) fn inner_sum(&self, node: NodeId) -> Option<(Axes, NodeId)> {
        let (op, axes, body) = self.to.graph.reduction(node)?;
        (op == ReduceOp::Add).then(|| (axes.clone(), body))
    }

    /// The product with inner sums opened into factors and indices of their own, where no index is
    /// captured.
    pub(super) fn opened(&self, product: &Product) -> Option<Product> {
        let mut opened = Product { factors: Vec::new(), ..product.clone() };
        let mut any = false;
        for (k, factor) in product.factors.iter().enumerate() {
            let others = product.factors.iter().enumerate().filter(|(j, _)| *j != k);
            let around = opened.axes.clone();
            let free = others.clone().map(|(_, f)| f).chain(&product.when);
            let free = free.fold(around, |all, f| all.union(self.free(*f)));
            let once = others.clone().all(|(_, other)| other != factor);
            match self.inner_sum(*factor) {
                Some((axes, body))
                    if once && !axes.meets(&free) && self.independent(&axes, &opened.axes) =>
                {
                    opened.axes = opened.axes.union(&axes);
                    let inner = self.product(&axes, body);
                    // Conditions inside concern this factor only.
                    if !inner.when.is_empty() && product.factors.len() > 1 {
                        opened.factors.push(*factor);
                        opened.axes = opened.axes.without(&axes);
                        continue;
                    }
                    opened.when.extend(inner.when);
                    opened.constant *= inner.constant;
                    opened.factors.extend(inner.factors);
                    opened.entered.extend(others.map(|(_, other)| *other));
                    any = true;
                }
                Some(_) | None => opened.factors.push(*factor),
            }
        }
        any.then_some(opened)
    }

    /// An existing sum, times the factors that do not depend on its indices; these factors, and the
    /// number of operations saved. Not for sums of products: `Σ (x·c)·(x·c)` is written beside `Σ
    /// x·x` where the latter may overflow.
    pub(super) fn of_known(&mut self, product: &Product) -> Option<(NodeId, Vec<Checked>, f64)> {
        if !product.when.is_empty() {
            return None;
        }
        let (inside, outside): (Vec<NodeId>, Vec<NodeId>) =
            product.factors.iter().partition(|f| self.free(**f).meets(&product.axes));
        if outside.is_empty() || !outside.iter().all(|f| self.may_leave(*f)) {
            return None;
        }
        let [body] = inside[..] else { return None };
        let sum = Node::Reduce(ReduceOp::Add, product.axes.clone(), body);
        if !self.to.knows(&sum) {
            return None;
        }
        let sum = self.to.node(sum);
        let all =
            product.factors.iter().fold(product.axes.clone(), |all, f| all.union(self.free(*f)));
        let apart = outside.iter().fold(self.free(sum).clone(), |all, f| all.union(self.free(*f)));
        let saved = self.volume(&all) - self.volume(&apart);
        let mut left = outside.clone();
        left.retain(|f| !self.is_finite(*f));
        left.sort_unstable();
        left.dedup();
        let left = left.into_iter().map(|factor| Checked { factor, when: Vec::new() }).collect();
        let factors = outside.into_iter().chain([sum]).collect();
        Some((self.multiplied(product.constant, factors), left, saved))
    }

    /// The sum, its indices eliminated one after the other, and the factors that have left a sum on
    /// the way.
    pub(super) fn eliminated(&mut self, product: Product) -> (NodeId, Vec<Checked>) {
        let Product { mut axes, mut when, constant, factors, entered } = product;
        let all = when.clone();
        let mut left: Vec<NodeId> = entered;
        let mut factors: Vec<(NodeId, Vec<NodeId>)> =
            factors.into_iter().map(|f| (f, vec![f])).collect();
        while let Some(axis) = self.next_of(&axes, &factors, &when) {
            axes = axes.without(&Axes::one(axis));
            let conditions = self.inside_from(&when, axis);
            let inside_when = when.split_off(conditions);
            let (inside, outside): (Vec<_>, Vec<_>) = factors
                .into_iter()
                .partition(|(f, _)| self.stays(*f, axis, !inside_when.is_empty()));
            left.extend(outside.iter().flat_map(|(_, of)| of));
            factors = outside;
            let of = inside.iter().flat_map(|(_, of)| of.clone()).collect();
            let inside = inside.into_iter().map(|(f, _)| f).collect();
            factors.push((self.summed_under(&when, axis, inside, &inside_when), of));
        }
        let factors = factors.into_iter().map(|(f, _)| f).collect();
        let sum = self.lazily(!when.is_empty(), |f| f.multiplied(constant, factors));
        let sum = self.guarded(&when, sum);
        left.retain(|f| !self.is_finite(*f));
        left.sort_unstable();
        left.dedup();
        let checked = |factor: NodeId| {
            let lazy = self.to.graph.facts(factor).lazy;
            Checked { factor, when: if lazy { all.clone() } else { Vec::new() } }
        };
        (sum, left.into_iter().map(checked).collect())
    }

    /// A sum that is needed under the first conditions, some of whose indices it may have lost.
    fn summed_under(
        &mut self,
        when: &[NodeId],
        axis: AxisId,
        factors: Vec<NodeId>,
        inside: &[NodeId],
    ) -> NodeId {
        let all = factors
            .iter()
            .chain(inside)
            .fold(Axes::default(), |all, node| all.union(self.free(*node)));
        let over = Axes::one(axis);
        match self.asked(when, &all.without(&over), &over) {
            Asked::Mostly => self.summed(axis, factors, inside),
            Asked::If(cond) => {
                let sum = self.lazily(true, |f| f.summed(axis, factors, inside));
                self.guarded(&[cond], sum)
            }
            Asked::Unknown => self.lazily(true, |f| f.summed(axis, factors, inside)),
        }
    }

    /// Builds a node, lazily if it is needed only under a condition.
    fn lazily(&mut self, conditional: bool, build: impl FnOnce(&mut Self) -> NodeId) -> NodeId {
        let around = self.to.around.len();
        self.to.around.extend(conditional.then_some(Around::Branch));
        let node = build(self);
        self.to.around.truncate(around);
        node
    }

    fn next_of(
        &self,
        axes: &Axes,
        factors: &[(NodeId, Vec<NodeId>)],
        when: &[NodeId],
    ) -> Option<AxisId> {
        let factors: Vec<_> = factors.iter().map(|(f, _)| self.shape(*f)).collect();
        let when: Vec<Axes> = when.iter().map(|c| self.free(*c).clone()).collect();
        self.next(axes, &factors, &when)
    }

    /// Whether the sum over the axis needs a factor.
    fn stays(&self, factor: NodeId, axis: AxisId, conditional: bool) -> bool {
        self.shape(factor).stays(axis, conditional)
    }

    /// The first condition inside of the sum over the axis; those after it are inside, too.
    fn inside_from(&self, when: &[NodeId], axis: AxisId) -> usize {
        when.iter().position(|c| self.free(*c).contains(axis)).unwrap_or(when.len())
    }

    fn guarded(&mut self, when: &[NodeId], value: NodeId) -> NodeId {
        let none = self.to.lit(Scalar::Real(0.0));
        when.iter().rev().fold(value, |value, cond| self.to.choose(*cond, value, none))
    }

    fn summed(&mut self, axis: AxisId, factors: Vec<NodeId>, when: &[NodeId]) -> NodeId {
        if factors.is_empty() && when.is_empty() {
            return self.count(axis);
        }
        let body = self.lazily(!when.is_empty(), |f| f.multiplied(1.0, factors));
        let body = self.guarded(when, body);
        // The body may be the sum over the previous index.
        if let Some((axes, inner)) = self.inner_sum(body)
            && !axes.contains(axis)
            && self.independent(&axes, &Axes::one(axis))
        {
            return self.to.reduce(ReduceOp::Add, axes.union(&Axes::one(axis)), inner);
        }
        self.to.reduce(ReduceOp::Add, Axes::one(axis), body)
    }

    /// The product, pairs with the smallest domain first; of equals, an existing product.
    fn multiplied(&mut self, constant: f64, mut factors: Vec<NodeId>) -> NodeId {
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
        match factors.pop() {
            None => self.to.lit(Scalar::Real(constant)),
            Some(product) => self.scaled(constant, product),
        }
    }

    pub(super) fn scaled(&mut self, constant: f64, value: NodeId) -> NodeId {
        if constant == 1.0 {
            value
        } else if constant == -1.0 {
            self.to.prim(Prim::Neg, [value])
        } else {
            let constant = self.to.lit(Scalar::Real(constant));
            self.to.prim(Prim::Mul, [constant, value])
        }
    }
}
