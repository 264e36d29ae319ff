//! The constructs with blocks: `for` is an axis, `loop` a state, `if` a choice of scalars.

use std::rc::Rc;

use lambada_anf::{Atom, Block, LoopKind, Nest, Out, Param, Stm, Var};
use lambada_prim::Prim;

use super::{Distributor, GraphValue, Surrounding, View};
use lambada_graph::{Affine, ArrayId, Axes, AxisId, Effect, NodeId};

impl Distributor<'_> {
    pub(super) fn nest(&mut self, stm: &Stm, nest: &Nest) {
        match nest {
            Nest::For { index, extent, outs, body } => self.for_(stm, *index, *extent, outs, body),
            Nest::Loop { params, inits, kind: LoopKind::For { index, extent, .. }, body } => {
                self.loop_(stm, (params, inits), (*index, *extent), body)
            }
            Nest::Loop { kind: LoopKind::While(_), .. } => {
                unreachable!("a `while` belongs to no region")
            }
            Nest::If { cond, then, otherwise } => self.if_(stm, *cond, then, otherwise),
        }
    }

    fn bind_index(&mut self, index: Var, axis: AxisId) {
        let node = self.to.index(axis);
        self.values.insert(index, GraphValue::Scalar(node));
    }

    fn for_(&mut self, stm: &Stm, index: Var, extent: Atom, outs: &[Out], body: &Block) {
        let extent = self.scalar(extent);
        let collects = outs.iter().any(|out| matches!(out, Out::Collect));
        let bound = if collects { None } else { self.bound(extent) };
        let size = bound.map_or(extent, |outer| self.to.graph.axis(outer).extent);
        let axis = self.axis_of_loop(index, size, body, false);
        let (results, effects) = self.inside(Surrounding::Axis(axis), |d| {
            d.bind_index(index, axis);
            match bound {
                None => d.elements(outs, body),
                Some(outer) => d.elements_below((axis, outer), extent, outs, body),
            }
        });
        self.effects_along(axis, effects);
        for ((p, out), (axes, node)) in stm.binds.iter().zip(outs).zip(results) {
            match out {
                Out::Collect => {
                    let axes = [&[axis], &axes[..]].concat();
                    let array = self.to.map(axes, node);
                    self.bind_array(p, array);
                }
                Out::Reduce(op) => {
                    let total = self.to.reduce(*op, Axes::one(axis), node);
                    self.bind(p, GraphValue::Scalar(total));
                }
            }
        }
    }

    fn elements(&mut self, outs: &[Out], body: &Block) -> Vec<(Vec<AxisId>, NodeId)> {
        let results = self.block(body);
        outs.iter().zip(results).map(|(out, result)| self.element_of(*out, result)).collect()
    }

    /// [`Self::elements`] for the indices below a limit; the others give the unit of the reduction.
    fn elements_below(
        &mut self,
        (axis, outer): (AxisId, AxisId),
        limit: NodeId,
        outs: &[Out],
        body: &Block,
    ) -> Vec<(Vec<AxisId>, NodeId)> {
        let index = self.to.index(axis);
        let below = self.to.prim(Prim::LtInt, [index, limit]);
        let (mut elements, effects) =
            self.inside(Surrounding::Part(axis, outer, below), |d| d.elements(outs, body));
        if !effects.is_empty() {
            self.effect(Effect::If(below, effects, Vec::new()));
        }
        for (out, (_, node)) in outs.iter().zip(&mut elements) {
            if let Out::Reduce(op) = out {
                let unit = self.to.lit(op.unit(self.to.graph.facts(*node).elem));
                *node = self.to.choose(below, *node, unit);
            }
        }
        elements
    }

    /// The outer axis whose extent bounds an extent that depends on its index: `for i < j` runs
    /// over a part of the extent of `j`. So triangles have the axes of squares, and conditions.
    fn bound(&self, extent: NodeId) -> Option<AxisId> {
        let graph = &self.to.graph;
        let around: Axes = self
            .around
            .iter()
            .filter_map(|place| match place {
                Surrounding::Axis(axis) => Some(*axis),
                Surrounding::Branch(_) | Surrounding::Part(..) => None,
            })
            .collect();
        let (sign, axis, rest) = Affine::of(graph, extent).along(graph, &around)?;
        let outer = graph.axis(axis).extent;
        if graph.free(outer).meets(&around) {
            return None;
        }
        let size = Affine::of(graph, outer);
        let least_is = |sum: &Affine| sum.known().is_some_and(|room| room >= 0);
        // The largest extent is `rest + size − 1`, or `rest` where it falls.
        let largest = match sign {
            1 => rest.plus(1, &size).plus_constant(-1),
            -1 => rest,
            _ => return None,
        };
        least_is(&size.plus(-1, &largest)).then_some(axis)
    }

    /// The element that an iteration gives to an out, and the inner axes of the array.
    fn element_of(&mut self, out: Out, result: GraphValue) -> (Vec<AxisId>, NodeId) {
        match (out, result) {
            (Out::Collect | Out::Reduce(_), GraphValue::Scalar(node)) => (Vec::new(), node),
            (Out::Collect | Out::Reduce(_), GraphValue::Array(view)) => {
                let axes = self.axes_along(&view, &mut Vec::new());
                let node = self.element_at(&view, &axes);
                (axes, node)
            }
        }
    }

    fn loop_(
        &mut self,
        stm: &Stm,
        (params, inits): (&[Param], &[Atom]),
        (index, extent): (Var, Atom),
        body: &Block,
    ) {
        let extent = self.scalar(extent);
        let inits: Vec<(Rc<str>, ArrayId)> = params
            .iter()
            .zip(inits)
            .map(|(p, a)| (self.names.hint(p.var), self.array(*a)))
            .collect();
        let axis = self.axis_of_loop(index, extent, body, true);
        let axes = self.around.iter().filter_map(|place| match place {
            Surrounding::Axis(axis) => Some(*axis),
            Surrounding::Branch(_) | Surrounding::Part(..) => None,
        });
        let reaching = axes.fold(Axes::default(), |all, a| all.union(&self.to.graph.reach(a)));
        let l = self.to.open(axis, &inits, &reaching);
        let (nexts, effects) = self.inside(Surrounding::Axis(axis), |d| {
            d.bind_index(index, axis);
            for (k, p) in params.iter().enumerate() {
                let state = d.to.carried(l, k as u32);
                d.bind_array(p, state);
            }
            body.stms.iter().for_each(|stm| d.statement(stm));
            body.results.iter().map(|a| d.array(*a)).collect::<Vec<ArrayId>>()
        });
        self.to.close(l, &nexts);
        self.effects_along(axis, effects);
        for (k, p) in stm.binds.iter().enumerate() {
            let last = self.to.last(l, k as u32);
            self.bind_array(p, last);
        }
    }

    fn if_(&mut self, stm: &Stm, cond: Atom, then: &Block, otherwise: &Block) {
        let cond = self.scalar(cond);
        let not = self.to.prim(Prim::Not, [cond]);
        let (yes, if_so) = self.inside(Surrounding::Branch(cond), |d| d.block(then));
        let (no, if_not) = self.inside(Surrounding::Branch(not), |d| d.block(otherwise));
        if !if_so.is_empty() || !if_not.is_empty() {
            self.effect(Effect::If(cond, if_so, if_not));
        }
        for ((p, yes), no) in stm.binds.iter().zip(yes).zip(no) {
            let value = match (yes, no) {
                (GraphValue::Array(yes), GraphValue::Array(no)) => {
                    GraphValue::Array(self.chosen(p, cond, &yes, &no))
                }
                (GraphValue::Scalar(yes), GraphValue::Scalar(no)) => {
                    GraphValue::Scalar(self.to.choose(cond, yes, no))
                }
                (GraphValue::Scalar(_), GraphValue::Array(_))
                | (GraphValue::Array(_), GraphValue::Scalar(_)) => {
                    unreachable!("the branches of an `if` have one type")
                }
            };
            self.bind(p, value);
        }
    }

    fn chosen(&mut self, p: &Param, cond: NodeId, yes: &View, no: &View) -> View {
        let axes = self.axes_of(&p.ty, Some(yes));
        let ((a, _), (b, _)) = (
            self.inside(Surrounding::Branch(cond), |d| d.element_at(yes, &axes)),
            self.inside(Surrounding::Branch(cond), |d| d.element_at(no, &axes)),
        );
        let body = self.to.choose(cond, a, b);
        View::of(self.to.map(axes, body))
    }
}
