//! The checker: `⊢ graph`. It shares no code with the smart constructors.
//!
//! * Every definition has parts of the right types and as many indices as there are axes; its facts
//!   follow from its parts.
//! * Nothing depends on itself, but for the state of a loop, by the state at the beginning of an
//!   iteration.
//! * Outputs and effects depend on no axis that does not run there.
//! * Axes that are bound together have extents that do not depend on each other; the axes of loops
//!   are sequential.

use lambada_prim::{Prim, ScalarTy};
use lambada_source::stack;
use rustc_hash::FxHashMap;

use super::{Array, ArrayId, Axes, AxisId, Effect, Graph, Node, NodeId, Part, Term};

type Check<T = ()> = Result<T, String>;

/// Checks a program. The error names the definition.
pub fn check(graph: &Graph) -> Check {
    let mut checker = Checker { graph, state: FxHashMap::default() };
    graph.inputs.iter().try_for_each(|input| checker.input(&input.dims))?;
    (0..graph.axes.len() as u32).try_for_each(|k| checker.visit(Part::Axis(AxisId(k))))?;
    (0..graph.nodes.len() as u32).try_for_each(|k| checker.visit(Part::Node(NodeId(k))))?;
    (0..graph.arrays.len() as u32).try_for_each(|k| checker.visit(Part::Array(ArrayId(k))))?;
    graph.loops.iter().enumerate().try_for_each(|(k, l)| checker.loop_(k, l))?;
    checker.effects(&graph.effects, &Axes::default())?;
    for output in &graph.outputs {
        let free = &graph.array_facts(output.array).free;
        if !free.is_empty() {
            return Err(format!("the output {} depends on {}", output.hint, checker.names(free)));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Being visited: a definition that needs it now needs itself.
    Open,
    Done,
}

struct Checker<'a> {
    graph: &'a Graph,
    state: FxHashMap<Part, State>,
}

fn all(conditions: bool, message: impl FnOnce() -> String) -> Check {
    if conditions { Ok(()) } else { Err(message()) }
}

impl Checker<'_> {
    fn names(&self, axes: &Axes) -> String {
        axes.iter().map(|a| self.graph.axis(a).hint.to_string()).collect::<Vec<_>>().join(", ")
    }

    fn input(&mut self, dims: &[NodeId]) -> Check {
        let is_input = |dim: &NodeId| match self.graph.node(*dim) {
            Node::Lit(_) => true,
            Node::At(array, index) => {
                index.is_empty() && matches!(self.graph.array(*array), Array::Input(_))
            }
            Node::Index(_) | Node::Prim(..) | Node::Choose(..) | Node::Reduce(..) => false,
        };
        all(dims.iter().all(is_input), || "the size of an input is no input".into())?;
        dims.iter().try_for_each(|d| self.typed(*d, ScalarTy::Int))
    }

    fn typed(&self, node: NodeId, elem: ScalarTy) -> Check {
        let found = self.graph.facts(node).elem;
        all(found == elem, || format!("v{} is of type {found}, not {elem}", node.0))
    }

    /// Visits a definition after its parts.
    fn visit(&mut self, part: Part) -> Check {
        match self.state.get(&part) {
            Some(State::Done) => return Ok(()),
            Some(State::Open) => return Err(format!("{part:?} depends on itself")),
            None => {}
        }
        self.state.insert(part, State::Open);
        let mut parts = Vec::new();
        match part {
            Part::Node(node) => self.graph.node(node).parts(&mut |p| parts.push(p)),
            Part::Array(array) => self.graph.array(array).parts(&mut |p| parts.push(p)),
            Part::Axis(axis) => parts.push(Part::Node(self.graph.axis(axis).extent)),
            Part::Loop(l) => {
                let l = self.graph.loop_(l);
                parts.push(Part::Axis(l.axis));
                parts.extend(l.carries.iter().map(|c| Part::Array(c.init)));
            }
        }
        stack::deeper(|| parts.into_iter().try_for_each(|p| self.visit(p)))?;
        match part {
            Part::Node(node) => self.node(node).map_err(|e| format!("v{}: {e}", node.0))?,
            Part::Array(array) => self.array(array).map_err(|e| format!("a{}: {e}", array.0))?,
            Part::Axis(axis) => self.typed(self.graph.axis(axis).extent, ScalarTy::Int)?,
            Part::Loop(_) => {}
        }
        self.state.insert(part, State::Done);
        Ok(())
    }

    fn free(&self, nodes: &[NodeId]) -> Axes {
        nodes.iter().fold(Axes::default(), |all, n| all.union(self.graph.free(*n)))
    }

    /// The free axes of a construct that binds axes, whose extents do not depend on each other.
    fn bound(&self, axes: &[AxisId], inside: &Axes) -> Check<Axes> {
        let set: Axes = axes.iter().copied().collect();
        all(set.len() == axes.len(), || "an axis is bound twice".into())?;
        let mut free = inside.without(&set);
        for axis in axes {
            let extent = self.graph.free(self.graph.axis(*axis).extent);
            all(!extent.meets(&set), || {
                "an extent depends on an axis that is bound with it".into()
            })?;
            free = free.union(extent);
        }
        Ok(free.without(&set))
    }

    fn node(&self, id: NodeId) -> Check {
        let graph = self.graph;
        let (elem, free) = match graph.node(id) {
            Node::Lit(value) => (value.ty(), Axes::default()),
            Node::Index(axis) => (ScalarTy::Int, graph.reach(*axis)),
            Node::Prim(op, args) => {
                self.arguments(*op, args)?;
                (op.result(), self.free(args))
            }
            Node::Choose(c, a, b) => {
                self.typed(*c, ScalarTy::Bool)?;
                self.typed(*b, graph.facts(*a).elem)?;
                (graph.facts(*a).elem, self.free(&[*c, *a, *b]))
            }
            Node::At(array, index) => {
                all(index.len() == graph.rank(*array), || "as many indices as axes".into())?;
                index.iter().try_for_each(|i| self.typed(*i, ScalarTy::Int))?;
                let facts = graph.array_facts(*array);
                (facts.elem, facts.free.union(&self.free(index)))
            }
            Node::Reduce(op, axes, body) => {
                let elem = graph.facts(*body).elem;
                all(op.accepts(elem), || format!("no reduction `{}` of {elem}s", op.name()))?;
                let axes: Vec<AxisId> = axes.iter().collect();
                (elem, self.bound(&axes, graph.free(*body))?)
            }
        };
        self.facts(graph.facts(id), elem, &free)
    }

    fn arguments(&self, op: Prim, args: &[NodeId]) -> Check {
        let types = op.args();
        all(types.len() == args.len(), || format!("{} takes {}", op.name(), types.len()))?;
        args.iter().zip(types).try_for_each(|(arg, ty)| self.typed(*arg, *ty))
    }

    fn facts(&self, facts: &super::Facts, elem: ScalarTy, free: &Axes) -> Check {
        all(facts.elem == elem, || format!("its type is {elem}"))?;
        all(facts.free == *free, || format!("it depends on {}", self.names(free)))
    }

    fn array(&self, id: ArrayId) -> Check {
        let graph = self.graph;
        let facts = graph.array_facts(id);
        let (elem, free) = match graph.array(id) {
            Array::Input(k) => (graph.inputs[*k as usize].elem, Axes::default()),
            Array::Constant(k) => (graph.constants[*k as usize].elem(), Axes::default()),
            Array::Items(items) => {
                all(!items.is_empty(), || "no items".into())?;
                let elem = graph.facts(items[0]).elem;
                items.iter().try_for_each(|item| self.typed(*item, elem))?;
                (elem, self.free(items))
            }
            Array::Map(axes, body) => {
                (graph.facts(*body).elem, self.bound(axes, graph.free(*body))?)
            }
            Array::Scatter(init, terms) => {
                let mut free = graph.array_facts(*init).free.clone();
                for term in terms {
                    free = free.union(&self.term(term, *init)?);
                }
                (graph.array_facts(*init).elem, free)
            }
            Array::Update(init, index, part) => {
                let (facts, own) = (graph.array_facts(*init), graph.array_facts(*part));
                let fits = graph.rank(*init) == index.len() + graph.rank(*part);
                all(fits, || "a part of another rank".into())?;
                all(facts.elem == own.elem, || format!("a part of {}s", own.elem))?;
                index.iter().try_for_each(|i| self.typed(*i, ScalarTy::Int))?;
                (facts.elem, facts.free.union(&self.free(index)).union(&own.free))
            }
            // The facts about a loop may name more axes than it depends on, and no fewer: see
            // `loop_`.
            Array::Carried(l, k) | Array::Final(l, k) => {
                let carry = graph.loop_(*l).carries.get(*k as usize).ok_or("no such state")?;
                let outside = &graph.loop_facts(*l).0;
                let inside = matches!(graph.array(id), Array::Carried(..));
                let own = if inside { graph.reach(graph.loop_(*l).axis) } else { Axes::default() };
                let free = outside.union(&own);
                (graph.array_facts(carry.init).elem, free)
            }
        };
        self.facts(facts, elem, &free)
    }

    fn term(&self, term: &Term, init: ArrayId) -> Check<Axes> {
        let graph = self.graph;
        all(term.index.len() == graph.rank(init), || "as many indices as axes".into())?;
        self.typed(term.value, graph.array_facts(init).elem)?;
        term.index.iter().try_for_each(|i| self.typed(*i, ScalarTy::Int))?;
        term.when.iter().try_for_each(|c| self.typed(*c, ScalarTy::Bool))?;
        let inside: Vec<NodeId> =
            term.index.iter().chain(&term.when).chain([&term.value]).copied().collect();
        // The extent of an axis may depend on those before it.
        term.over
            .iter()
            .rev()
            .try_fold(self.free(&inside), |free, axis| self.bound(&[*axis], &free))
    }

    fn loop_(&mut self, k: usize, l: &super::Loop) -> Check {
        let graph = self.graph;
        all(graph.axis(l.axis).sequential, || format!("the axis of l{k} is not sequential"))?;
        let own = Axes::one(l.axis);
        for carry in &l.carries {
            let (init, next) = (graph.array_facts(carry.init), graph.array_facts(carry.next));
            all(
                graph.rank(carry.init) == graph.rank(carry.next) && init.elem == next.elem,
                || format!("the state {} of l{k} changes its type", carry.hint),
            )?;
            let needs = init.free.union(&next.free.without(&own));
            let says = &graph.of_loops[k].0;
            all(needs.without(&own).is_subset(says), || {
                format!("l{k} depends on {}", self.names(&needs.without(says)))
            })?;
        }
        Ok(())
    }

    fn closed(&self, nodes: &[NodeId], within: &Axes) -> Check {
        let free = self.free(nodes).without(within);
        all(free.is_empty(), || format!("an effect depends on {}", self.names(&free)))
    }

    fn effects(&self, effects: &[Effect], within: &Axes) -> Check {
        effects.iter().try_for_each(|effect| match effect {
            Effect::Check { cond, values, .. } => {
                self.typed(*cond, ScalarTy::Bool)?;
                values.iter().try_for_each(|v| self.typed(*v, ScalarTy::Int))?;
                self.closed(&[&[*cond], &values[..]].concat(), within)
            }
            Effect::For(axis, body) => {
                self.closed(&[self.graph.axis(*axis).extent], within)?;
                self.effects(body, &within.union(&Axes::one(*axis)))
            }
            Effect::If(cond, then, otherwise) => {
                self.typed(*cond, ScalarTy::Bool)?;
                self.closed(&[*cond], within)?;
                self.effects(then, within)?;
                self.effects(otherwise, within)
            }
        })
    }
}
