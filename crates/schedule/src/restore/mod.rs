//! The trivial placement: graph becomes Γ ⊢ statements.
//!
//! A scalar is computed in the loops over the axes that it depends on, as far out as these allow,
//! and in a branch if the program computed it only there. Arrays are stored. Each output has nests
//! of its own.
//!
//! *Gives* statements whose accesses may lack evidence: see [`mod@crate::clamp`]. *Keeps* values
//! and failures, and the number of operations up to a constant factor. It proves that a graph loses
//! nothing.

use lambada_anf::{
    Atom, Block, Exp, LoopKind, NAMELESS, Names, Nest, Op, Out, Param, Stm, Ty, Var,
};
use lambada_prim::ReduceOp;
use lambada_source::stack;
use rustc_hash::FxHashMap;

use lambada_graph::{Array, ArrayId, Axes, AxisId, Effect, Graph, LoopId, Node, NodeId, Term};

mod loops;

/// The statements of a graph with these variables as inputs, and an atom for each output.
pub fn restore(names: &mut Names, graph: &Graph, inputs: &[Var]) -> (Vec<Stm>, Vec<Atom>) {
    let mut restorer = Restorer { names, graph, inputs, levels: vec![Level::new(Around::Nothing)] };
    restorer.effects(&graph.effects);
    let outputs: Vec<Atom> = graph.outputs.iter().map(|o| restorer.array(o.array)).collect();
    for (output, atom) in graph.outputs.iter().zip(&outputs) {
        if let Atom::Var(var) = atom
            && !inputs.contains(var)
        {
            restorer.names.rename(*var, output.hint.clone());
        }
    }
    (restorer.pop().stms, outputs)
}

/// The construct whose block is being written.
enum Around {
    Nothing,
    /// A loop over an axis.
    Axis(AxisId, Atom),
    /// A sequential loop with its state.
    Loop(LoopId, AxisId, Atom, Vec<Atom>),
    Branch,
}

/// A block that is being written, with the definitions computed in it.
struct Level {
    around: Around,
    stms: Vec<Stm>,
    nodes: FxHashMap<NodeId, Atom>,
    arrays: FxHashMap<ArrayId, Atom>,
    /// The last states of loops.
    finals: FxHashMap<LoopId, Vec<Atom>>,
    /// The tapes of loops: all states, as arrays over the axis.
    tapes: FxHashMap<LoopId, Vec<Atom>>,
}

impl Level {
    fn new(around: Around) -> Level {
        Level {
            around,
            stms: Vec::new(),
            nodes: FxHashMap::default(),
            arrays: FxHashMap::default(),
            finals: FxHashMap::default(),
            tapes: FxHashMap::default(),
        }
    }

    fn index(&self, axis: AxisId) -> Option<Atom> {
        match &self.around {
            Around::Axis(own, index) | Around::Loop(_, own, index, _) if *own == axis => {
                Some(*index)
            }
            Around::Axis(..) | Around::Loop(..) | Around::Nothing | Around::Branch => None,
        }
    }
}

struct Restorer<'a> {
    names: &'a mut Names,
    graph: &'a Graph,
    inputs: &'a [Var],
    levels: Vec<Level>,
}

impl Restorer<'_> {
    // Blocks

    fn top(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the block of the region")
    }

    fn pop(&mut self) -> Level {
        self.levels.pop().expect("a block that was begun")
    }

    fn push(&mut self, stm: Stm) {
        self.top().stms.push(stm);
    }

    fn bind(&mut self, hint: &str, ty: Ty, exp: impl Into<Exp>) -> Atom {
        let var = self.names.fresh(hint);
        self.push(Stm::new(vec![Param { var, ty }], exp));
        var.into()
    }

    fn block<T>(
        &mut self,
        around: Around,
        inside: impl FnOnce(&mut Self) -> (Vec<Atom>, T),
    ) -> (Block, T) {
        self.levels.push(Level::new(around));
        let (results, more) = inside(self);
        (Block { stms: self.pop().stms, results }, more)
    }

    /// Writes `for axis`; the extent has been computed.
    fn for_(
        &mut self,
        axis: AxisId,
        extent: Atom,
        outs: Vec<Out>,
        binds: Vec<Param>,
        inside: impl FnOnce(&mut Self) -> Vec<Atom>,
    ) {
        let index = self.names.fresh(self.graph.axis(axis).hint.clone());
        let (body, ()) = self.block(Around::Axis(axis, index.into()), |r| (inside(r), ()));
        self.push(Stm::new(binds, Nest::For { index, extent, outs, body }));
    }

    /// The block in which to compute a definition with these free axes.
    fn home(&self, free: &Axes, lazy: bool) -> usize {
        let binds = |level: &Level| {
            let branch = lazy && matches!(level.around, Around::Branch);
            branch || free.iter().any(|axis| level.index(axis).is_some())
        };
        // If two loops bind an axis, the inner one is meant.
        self.levels.iter().rposition(binds).unwrap_or(0)
    }

    /// Writes into an outer block.
    fn at<T>(&mut self, home: usize, write: impl FnOnce(&mut Self) -> T) -> T {
        let inner = self.levels.split_off(home + 1);
        let result = stack::deeper(|| write(self));
        self.levels.extend(inner);
        result
    }

    fn known<T>(&self, home: usize, find: impl Fn(&Level) -> Option<T>) -> Option<T> {
        self.levels[home..].iter().find_map(find)
    }

    fn index(&self, axis: AxisId) -> Atom {
        let known = self.levels.iter().rev().find_map(|level| level.index(axis));
        known.unwrap_or_else(|| panic!("no loop runs over the axis {}", self.graph.axis(axis).hint))
    }

    // Scalars

    fn node(&mut self, id: NodeId) -> Atom {
        let graph = self.graph;
        match graph.node(id) {
            Node::Lit(value) => return Atom::Lit(*value),
            Node::Index(axis) => return self.index(*axis),
            Node::At(array, index) if index.is_empty() => return self.array(*array),
            Node::Prim(..) | Node::Choose(..) | Node::At(..) | Node::Reduce(..) => {}
        }
        let facts = graph.facts(id);
        let home = self.home(&facts.free, facts.lazy);
        if let Some(atom) = self.known(home, |level| level.nodes.get(&id).copied()) {
            return atom;
        }
        self.at(home, |r| {
            let atom = r.compute(id);
            r.top().nodes.insert(id, atom);
            atom
        })
    }

    fn all(&mut self, nodes: &[NodeId]) -> Vec<Atom> {
        nodes.iter().map(|n| self.node(*n)).collect()
    }

    fn compute(&mut self, id: NodeId) -> Atom {
        let graph = self.graph;
        let ty = Ty::scalar(graph.facts(id).elem);
        match graph.node(id) {
            Node::Lit(value) => Atom::Lit(*value),
            Node::Index(axis) => self.index(*axis),
            Node::Prim(op, args) => {
                let args = self.all(args);
                self.bind(NAMELESS, ty, Op::Prim(*op, args))
            }
            Node::Choose(c, a, b) => {
                let cond = self.node(*c);
                let (then, ()) = self.block(Around::Branch, |r| (vec![r.node(*a)], ()));
                let (otherwise, ()) = self.block(Around::Branch, |r| (vec![r.node(*b)], ()));
                self.bind(NAMELESS, ty, Nest::If { cond, then, otherwise })
            }
            Node::At(array, index) => {
                let (array, index) = (self.array(*array), self.all(index));
                let array = array.as_var().expect("an array is a variable");
                self.bind(NAMELESS, ty, Op::Index(array, index))
            }
            Node::Reduce(op, axes, body) => {
                let axes: Vec<AxisId> = axes.iter().collect();
                self.reduce(*op, &axes, *body, &ty)
            }
        }
    }

    fn reduce(&mut self, op: ReduceOp, axes: &[AxisId], body: NodeId, ty: &Ty) -> Atom {
        let [axis, inner @ ..] = axes else { return self.node(body) };
        let extent = self.node(self.graph.axis(*axis).extent);
        let var = self.names.fresh(NAMELESS);
        let binds = vec![Param { var, ty: ty.clone() }];
        self.for_(*axis, extent, vec![Out::Reduce(op)], binds, |r| {
            vec![r.reduce(op, inner, body, ty)]
        });
        var.into()
    }

    // Arrays

    fn dims(&mut self, array: ArrayId) -> Vec<Atom> {
        let graph = self.graph;
        match graph.array(array) {
            Array::Input(k) => self.all(&graph.inputs[*k as usize].dims),
            Array::Constant(k) => {
                graph.constants[*k as usize].dims.iter().map(|d| Atom::int(*d as i64)).collect()
            }
            Array::Items(items) => vec![Atom::int(items.len() as i64)],
            Array::Map(axes, _) => axes.iter().map(|a| self.node(graph.axis(*a).extent)).collect(),
            Array::Scatter(init, _) | Array::Update(init, ..) => self.dims(*init),
            Array::Carried(l, k) | Array::Final(l, k) => {
                self.dims(graph.loop_(*l).carries[*k as usize].init)
            }
        }
    }

    fn ty(&mut self, array: ArrayId) -> Ty {
        Ty { elem: self.graph.array_facts(array).elem.into(), dims: self.dims(array) }
    }

    /// An array, or its scalar at rank 0.
    fn array(&mut self, id: ArrayId) -> Atom {
        let graph = self.graph;
        match graph.array(id) {
            Array::Input(k) => return self.inputs[*k as usize].into(),
            Array::Map(axes, body) if axes.is_empty() => return self.node(*body),
            Array::Final(l, k) => return self.last(*l)[*k as usize],
            Array::Carried(l, k) => {
                if let Some(state) = self.state(*l, *k) {
                    return state;
                }
            }
            Array::Map(..)
            | Array::Constant(_)
            | Array::Items(_)
            | Array::Scatter(..)
            | Array::Update(..) => {}
        }
        let facts = graph.array_facts(id);
        let home = self.home(&facts.free, facts.lazy);
        if let Some(atom) = self.known(home, |level| level.arrays.get(&id).copied()) {
            return atom;
        }
        self.at(home, |r| {
            let atom = r.stored(id);
            r.top().arrays.insert(id, atom);
            atom
        })
    }

    fn stored(&mut self, id: ArrayId) -> Atom {
        let graph = self.graph;
        match graph.array(id) {
            Array::Input(k) => self.inputs[*k as usize].into(),
            Array::Constant(k) => {
                let (ty, tensor) = (self.ty(id), graph.constants[*k as usize].clone());
                self.bind("constant", ty, Op::Constant(tensor))
            }
            Array::Items(items) => {
                let (ty, items) = (self.ty(id), self.all(items));
                self.bind("items", ty, Op::Array(items))
            }
            Array::Map(axes, body) => {
                let ty = self.ty(id);
                self.map(axes, *body, &ty)
            }
            Array::Scatter(init, terms) => self.scatter(id, *init, terms),
            Array::Update(init, index, part) => {
                let (ty, array, index) = (self.ty(id), self.array(*init), self.all(index));
                let array = array.as_var().expect("an array is a variable");
                let value = self.array(*part);
                self.bind("a", ty, Op::Update { array, index, value })
            }
            Array::Carried(l, k) => self.taped(id, *l, *k),
            Array::Final(l, k) => self.last(*l)[*k as usize],
        }
    }

    fn map(&mut self, axes: &[AxisId], body: NodeId, ty: &Ty) -> Atom {
        let [axis, inner @ ..] = axes else { return self.node(body) };
        let var = self.names.fresh("a");
        let binds = vec![Param { var, ty: ty.clone() }];
        let element = ty.indexed(1);
        self.for_(*axis, ty.dims[0], vec![Out::Collect], binds, |r| {
            vec![r.map(inner, body, &element)]
        });
        var.into()
    }

    fn scatter(&mut self, id: ArrayId, init: ArrayId, terms: &[Term]) -> Atom {
        let (ty, init) = (self.ty(id), self.array(init));
        let acc = self.names.fresh("acc");
        self.push(Stm::new(vec![Param { var: acc, ty: ty.clone() }], Op::Accumulator(init)));
        terms.iter().for_each(|term| self.term(acc, &term.over, term));
        self.bind("a", ty, Op::Freeze(acc))
    }

    fn term(&mut self, acc: Var, over: &[AxisId], term: &Term) {
        if let [axis, inner @ ..] = over {
            let extent = self.node(self.graph.axis(*axis).extent);
            return self.for_(*axis, extent, Vec::new(), Vec::new(), |r| {
                r.term(acc, inner, term);
                Vec::new()
            });
        }
        let add = |r: &mut Self| {
            let (index, value) = (r.all(&term.index), r.node(term.value));
            r.push(Stm::effect(Op::Accumulate { acc, index, value }));
        };
        match term.when {
            None => add(self),
            Some(when) => {
                let cond = self.node(when);
                let (then, ()) = self.block(Around::Branch, |r| {
                    add(r);
                    (Vec::new(), ())
                });
                self.push(Stm::effect(Nest::If { cond, then, otherwise: Block::default() }));
            }
        }
    }

    // Effects

    fn effects(&mut self, effects: &[Effect]) {
        effects.iter().for_each(|effect| self.effect(effect));
    }

    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Check { cond, site, values } => {
                let (cond, values) = (self.node(*cond), self.all(values));
                self.push(Stm::effect(Op::Check { cond, site: site.clone(), values }));
            }
            Effect::For(axis, body) => {
                let extent = self.node(self.graph.axis(*axis).extent);
                self.for_(*axis, extent, Vec::new(), Vec::new(), |r| {
                    r.effects(body);
                    Vec::new()
                });
            }
            Effect::If(cond, then, otherwise) => {
                let cond = self.node(*cond);
                let mut branch = |effects: &[Effect]| {
                    let inside = |r: &mut Self| {
                        r.effects(effects);
                        (Vec::new(), ())
                    };
                    self.block(Around::Branch, inside).0
                };
                let (then, otherwise) = (branch(then), branch(otherwise));
                self.push(Stm::effect(Nest::If { cond, then, otherwise }));
            }
        }
    }
}
