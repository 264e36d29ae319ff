//! The cost of sums of products, by the sizes of their domains, before any is built.

use lambada_prim::Prim;
use rustc_hash::FxHashSet;

use super::Factor;
use super::product::Product;
use lambada_graph::{Array, Axes, AxisId, Node, NodeId};

/// The properties of a factor that determine its cost.
#[derive(Clone)]
pub(super) struct Shape {
    free: Axes,
    leaves: bool,
    /// Whether it is computed only under the conditions of the product.
    lazy: bool,
}

impl Shape {
    /// Whether the sum over the axis needs the factor. A lazy factor does not leave its condition
    /// behind.
    pub(super) fn stays(&self, axis: AxisId, conditional: bool) -> bool {
        !self.leaves || self.free.contains(axis) || self.lazy && conditional
    }
}

impl Factor<'_> {
    pub(super) fn shape(&self, factor: NodeId) -> Shape {
        let facts = self.to.graph.facts(factor);
        Shape { free: facts.free.clone(), leaves: self.may_leave(factor), lazy: facts.lazy }
    }

    /// The cost of summing an expression over indices.
    pub(super) fn estimated(&self, axes: &Axes, body: NodeId) -> f64 {
        let body = self.read_through(axes, body);
        let plain = self.product(axes, body);
        if let ([factor], []) = (&plain.factors[..], &plain.when[..])
            && let Some((Prim::Add | Prim::Sub, args)) = self.to.graph.operation(*factor)
            && !self.shared.contains(factor)
        {
            let apart: f64 = args.iter().map(|arg| self.estimated(axes, *arg)).sum();
            return apart.min(self.together(axes, *factor, args));
        }
        let cost = |product: &Product| self.plan(product) + self.inner(&product.factors);
        let opened = self.opened(&plain).map_or(f64::INFINITY, |opened| cost(&opened));
        opened.min(cost(&plain))
    }

    /// The cost of summing a sum term by term.
    pub(super) fn together(&self, axes: &Axes, sum: NodeId, args: &[NodeId]) -> f64 {
        let factors = |arg: &NodeId| self.product(axes, self.read_through(axes, *arg)).factors;
        let inner: Vec<NodeId> = args.iter().flat_map(factors).collect();
        self.volume(&axes.union(self.free(sum))) + self.inner(&inner)
    }

    /// The elements of an array that is better summed as a whole, if the node reads one; else the
    /// node.
    fn read_through(&self, axes: &Axes, node: NodeId) -> NodeId {
        if let Node::At(array, index) = self.to.graph.node(node)
            && let Array::Map(own, body) = self.to.graph.array(*array)
            && self.is_read_outside(axes, own, *body, index)
        {
            return *body;
        }
        node
    }

    pub(super) fn is_cheaper(&self, opened: &Product, plain: &Product) -> bool {
        let both = [&opened.factors[..], &plain.factors[..]].concat();
        // Sums with other users stay.
        let kept: Vec<NodeId> =
            plain.factors.iter().copied().filter(|f| self.shared.contains(f)).collect();
        let after = [&opened.factors[..], &kept].concat();
        self.plan(opened) + self.inner(&after) < self.plan(plain) + self.inner(&both)
    }

    /// The cost of the inner sums, each once.
    pub(super) fn inner(&self, factors: &[NodeId]) -> f64 {
        let distinct: FxHashSet<NodeId> = factors.iter().copied().collect();
        let cost = |f: &NodeId| {
            let (axes, body) = self.inner_sum(*f)?;
            Some(self.volume(&self.free(body).union(&axes)))
        };
        distinct.iter().filter_map(cost).sum()
    }

    /// The cost of eliminating the indices.
    pub(super) fn plan(&self, product: &Product) -> f64 {
        let mut factors: Vec<Shape> = product.factors.iter().map(|f| self.shape(*f)).collect();
        let mut when: Vec<Axes> = product.when.iter().map(|c| self.free(*c).clone()).collect();
        let (mut axes, mut cost) = (product.axes.clone(), 0.0);
        while let Some(axis) = self.next(&axes, &factors, &when) {
            axes = axes.without(&Axes::one(axis));
            let domain = domain(axis, &factors, &when);
            cost += self.volume(&domain.union(&Axes::one(axis)));
            let inside = first_inside(&when, axis);
            let conditional = inside < when.len();
            when.truncate(inside);
            factors.retain(|f| !f.stays(axis, conditional));
            factors.push(Shape {
                free: domain.without(&Axes::one(axis)),
                leaves: self.leave != super::Leave::Finite,
                lazy: false,
            });
        }
        cost
    }

    /// The index whose factors have the smallest domain.
    pub(super) fn next(&self, axes: &Axes, factors: &[Shape], when: &[Axes]) -> Option<AxisId> {
        let volume = |axis: AxisId| self.volume(&domain(axis, factors, when));
        axes.iter().min_by(|a, b| volume(*a).total_cmp(&volume(*b)))
    }
}

fn first_inside(when: &[Axes], axis: AxisId) -> usize {
    when.iter().position(|free| free.contains(axis)).unwrap_or(when.len())
}

/// The domain of the sum over an axis.
fn domain(axis: AxisId, factors: &[Shape], when: &[Axes]) -> Axes {
    let conditions = &when[first_inside(when, axis)..];
    let inside = factors.iter().filter(|f| f.stays(axis, !conditions.is_empty()));
    let free = inside.map(|f| &f.free).chain(conditions);
    free.fold(Axes::default(), |all, free| all.union(free))
}
