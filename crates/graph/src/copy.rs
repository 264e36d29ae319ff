//! Copies the live part of a program into a new one, with a rule for scalars: most passes are such
//! rules.
//!
//! *Gives* a program without dead definitions and states, in which the free axes of loops are
//! exact. *Keeps* all that the rule keeps.

use lambada_source::stack;
use rustc_hash::FxHashMap;

use super::live::Live;
use super::{
    Aliases, Around, Array, ArrayId, Axes, Axis, AxisId, Builder, Effect, Graph, Input, LoopId,
    Node, NodeId, Output, Term,
};

/// The image of a scalar, whose parts have been copied already.
pub type Rule<'a> = &'a mut dyn FnMut(&mut Builder, NodeId, Node) -> NodeId;

/// The program with the rule applied to all scalars, bottom-up.
pub fn rewritten(from: &Graph, rule: Rule) -> Graph {
    copied(from, rule, &Aliases::default(), FxHashMap::default())
}

/// The program with some arrays replaced by others.
pub fn aliased(from: &Graph, aliases: &Aliases) -> Graph {
    copied(from, &mut |to, _, node| rebuilt(to, node), aliases, FxHashMap::default())
}

/// The program with an axis replaced by another one, which is neither bound nor free where the
/// first one is.
pub fn merged(from: &Graph, axis: AxisId, into: AxisId) -> Graph {
    let merged = FxHashMap::from_iter([(axis, into)]);
    copied(from, &mut |to, _, node| rebuilt(to, node), &Aliases::default(), merged)
}

fn copied(from: &Graph, rule: Rule, aliases: &Aliases, merged: FxHashMap<AxisId, AxisId>) -> Graph {
    let live = Live::of(from, aliases);
    let mut copy = Copy {
        from,
        aliases,
        merged,
        to: Builder::default(),
        rule,
        free_of_loops: loops_free(from, &live, aliases),
        live,
        nodes: FxHashMap::default(),
        arrays: FxHashMap::default(),
        axes: FxHashMap::default(),
        loops: FxHashMap::default(),
    };
    copy.inputs();
    copy.to.graph.effects = copy.effects(&from.effects);
    for output in &from.outputs {
        let array = copy.array(output.array);
        copy.to.graph.outputs.push(Output { hint: output.hint.clone(), array });
    }
    copy.to.finish()
}

/// The live part of the program.
pub fn cleaned(from: &Graph) -> Graph {
    rewritten(from, &mut |to, _, node| rebuilt(to, node))
}

/// The node by its smart constructor.
pub fn rebuilt(to: &mut Builder, node: Node) -> NodeId {
    match node {
        Node::Choose(c, a, b) => to.choose(c, a, b),
        Node::At(array, index) => to.at(array, index),
        Node::Reduce(op, axes, body) => to.reduce(op, axes, body),
        Node::Lit(_) | Node::Index(_) | Node::Prim(..) => to.node(node),
    }
}

struct Copy<'a> {
    from: &'a Graph,
    aliases: &'a Aliases,
    /// The live states.
    live: Live,
    /// Replacements of axes.
    merged: FxHashMap<AxisId, AxisId>,
    to: Builder,
    rule: Rule<'a>,
    free_of_loops: Vec<Axes>,
    nodes: FxHashMap<NodeId, NodeId>,
    arrays: FxHashMap<ArrayId, ArrayId>,
    axes: FxHashMap<AxisId, AxisId>,
    loops: FxHashMap<LoopId, LoopId>,
}

impl Copy<'_> {
    /// All inputs stay, and keep their numbers, because scalar inputs may be sizes of others.
    fn inputs(&mut self) {
        for (k, input) in self.from.inputs.iter().enumerate() {
            let dims = input.dims.iter().map(|d| self.node(*d)).collect();
            let copied = self.to.input(Input { dims, ..input.clone() });
            let known = self.from.arrays.iter().position(|a| *a == Array::Input(k as u32));
            self.arrays.extend(known.map(|old| (ArrayId(old as u32), copied)));
        }
    }

    fn axis(&mut self, axis: AxisId) -> AxisId {
        let axis = self.merged.get(&axis).copied().unwrap_or(axis);
        if let Some(copied) = self.axes.get(&axis) {
            return *copied;
        }
        let old = self.from.axis(axis);
        let extent = self.node(old.extent);
        // The extent may be the state of a loop that runs over the axis itself.
        if let Some(copied) = self.axes.get(&axis) {
            return *copied;
        }
        let copied = self.to.axis(Axis { extent, ..old.clone() });
        self.axes.insert(axis, copied);
        copied
    }

    fn all(&mut self, nodes: &[NodeId]) -> Vec<NodeId> {
        nodes.iter().map(|n| self.node(*n)).collect()
    }

    fn ranges(&mut self, axes: &[AxisId]) -> Vec<AxisId> {
        axes.iter().map(|a| self.axis(*a)).collect()
    }

    fn set(&mut self, axes: &Axes) -> Axes {
        axes.iter().map(|a| self.axis(a)).collect()
    }

    fn node(&mut self, node: NodeId) -> NodeId {
        if let Some(copied) = self.nodes.get(&node) {
            return *copied;
        }
        let parts = stack::deeper(|| self.parts(node));
        if let Some(copied) = self.nodes.get(&node) {
            return *copied;
        }
        self.laziness(self.from.facts(node).lazy);
        let copied = (self.rule)(&mut self.to, node, parts);
        self.nodes.insert(node, copied);
        copied
    }

    fn parts(&mut self, node: NodeId) -> Node {
        match self.from.node(node) {
            Node::Lit(value) => Node::Lit(*value),
            Node::Index(axis) => Node::Index(self.axis(*axis)),
            Node::Prim(op, args) => Node::Prim(*op, self.all(args)),
            Node::Choose(c, a, b) => Node::Choose(self.node(*c), self.node(*a), self.node(*b)),
            Node::At(array, index) => Node::At(self.array(*array), self.all(index)),
            Node::Reduce(op, axes, body) => Node::Reduce(*op, self.set(axes), self.node(*body)),
        }
    }

    fn laziness(&mut self, lazy: bool) {
        self.to.around = if lazy { vec![Around::Branch] } else { Vec::new() };
    }

    fn array(&mut self, array: ArrayId) -> ArrayId {
        let array = self.aliases.get(&array).copied().unwrap_or(array);
        if let Some(copied) = self.arrays.get(&array) {
            return *copied;
        }
        let lazy = self.from.array_facts(array).lazy;
        let copied = match self.from.array(array) {
            Array::Input(k) => unreachable!("the input {k} has been copied first"),
            Array::Constant(k) => {
                self.laziness(lazy);
                self.to.constant(&self.from.constants[*k as usize])
            }
            Array::Items(items) => {
                let items = self.all(items);
                self.laziness(lazy);
                self.to.items(items)
            }
            Array::Map(axes, body) => {
                let (axes, body) = (self.ranges(axes), self.node(*body));
                self.laziness(lazy);
                self.to.map(axes, body)
            }
            Array::Scatter(init, terms) => {
                let init = self.array(*init);
                let terms = terms.iter().map(|term| self.term(term)).collect();
                self.laziness(lazy);
                self.to.scatter(init, terms)
            }
            Array::Update(init, index, part) => {
                let (init, index) = (self.array(*init), self.all(index));
                let part = self.array(*part);
                self.laziness(lazy);
                self.to.update(init, index, part)
            }
            Array::Carried(l, k) => {
                let (l, k) = (self.loop_(*l), self.live.number(*l, *k));
                self.laziness(lazy);
                self.to.carried(l, k)
            }
            Array::Final(l, k) => {
                let (l, k) = (self.loop_(*l), self.live.number(*l, *k));
                self.laziness(lazy);
                self.to.last(l, k)
            }
        };
        self.arrays.insert(array, copied);
        copied
    }

    fn term(&mut self, term: &Term) -> Term {
        Term {
            over: self.ranges(&term.over),
            when: term.when.map(|c| self.node(c)),
            index: self.all(&term.index),
            value: self.node(term.value),
        }
    }

    fn loop_(&mut self, l: LoopId) -> LoopId {
        if let Some(copied) = self.loops.get(&l) {
            return *copied;
        }
        let old = self.from.loop_(l);
        let axis = self.axis(old.axis);
        let carries = self.live.carries(self.from, l);
        let inits: Vec<_> = carries.iter().map(|c| (c.hint.clone(), self.array(c.init))).collect();
        // The first state of a loop inside of another one leads to that one, and so to the loop
        // itself.
        if let Some(copied) = self.loops.get(&l) {
            return *copied;
        }
        let free = self.free_of_loops[l.0 as usize].clone();
        let free = self.set(&free);
        self.laziness(self.from.loop_facts(l).1);
        let copied = self.to.open(axis, &inits, &free);
        self.loops.insert(l, copied);
        let nexts: Vec<ArrayId> = carries.iter().map(|c| self.array(c.next)).collect();
        self.to.close(copied, &nexts);
        copied
    }

    fn effects(&mut self, effects: &[Effect]) -> Vec<Effect> {
        effects.iter().map(|effect| self.effect(effect)).collect()
    }

    fn effect(&mut self, effect: &Effect) -> Effect {
        match effect {
            Effect::Check { cond, site, values } => Effect::Check {
                cond: self.node(*cond),
                site: site.clone(),
                values: self.all(values),
            },
            Effect::For(axis, body) => Effect::For(self.axis(*axis), self.effects(body)),
            Effect::If(cond, then, otherwise) => {
                Effect::If(self.node(*cond), self.effects(then), self.effects(otherwise))
            }
        }
    }
}

/// The axes that each loop depends on: the least fixpoint.
fn loops_free(graph: &Graph, live: &Live, aliases: &Aliases) -> Vec<Axes> {
    let mut known = vec![Axes::default(); graph.loops.len()];
    loop {
        let (nodes, arrays) = (FxHashMap::default(), FxHashMap::default());
        let mut free = Free { graph, live, aliases, known: &known, nodes, arrays };
        let loops = (0..graph.loops.len() as u32).map(LoopId);
        let found: Vec<Axes> = loops.map(|l| free.of_loop(l)).collect();
        if found == known {
            return found;
        }
        known = found;
    }
}

/// The free axes of definitions, for known free axes of loops.
struct Free<'a> {
    graph: &'a Graph,
    live: &'a Live,
    aliases: &'a Aliases,
    known: &'a [Axes],
    nodes: FxHashMap<NodeId, Axes>,
    arrays: FxHashMap<ArrayId, Axes>,
}

impl Free<'_> {
    fn of_loop(&mut self, l: LoopId) -> Axes {
        let axis = self.graph.loop_(l).axis;
        let own = Axes::one(axis);
        let mut free = self.node(self.graph.axis(axis).extent);
        for carry in self.live.carries(self.graph, l) {
            free = free.union(&self.array(carry.init));
            free = free.union(&self.array(carry.next).without(&own));
        }
        free
    }

    fn node(&mut self, node: NodeId) -> Axes {
        // The facts name every free axis: if they name none, there is none.
        if self.graph.free(node).is_empty() {
            return Axes::default();
        }
        if let Some(free) = self.nodes.get(&node) {
            return free.clone();
        }
        let graph = self.graph;
        let free = stack::deeper(|| match graph.node(node) {
            Node::Lit(_) => Axes::default(),
            Node::Index(axis) => graph.reach(*axis),
            Node::Prim(_, args) => self.all(args),
            Node::Choose(c, a, b) => self.all(&[*c, *a, *b]),
            Node::At(array, index) => self.array(*array).union(&self.all(index)),
            Node::Reduce(_, axes, body) => {
                let body = self.node(*body);
                self.bound(axes, &body)
            }
        });
        self.nodes.insert(node, free.clone());
        free
    }

    fn all(&mut self, nodes: &[NodeId]) -> Axes {
        nodes.iter().fold(Axes::default(), |all, n| all.union(&self.node(*n)))
    }

    fn bound(&mut self, axes: &Axes, inside: &Axes) -> Axes {
        let extents: Vec<NodeId> = axes.iter().map(|a| self.graph.axis(a).extent).collect();
        inside.union(&self.all(&extents)).without(axes)
    }

    fn array(&mut self, array: ArrayId) -> Axes {
        let array = self.aliases.get(&array).copied().unwrap_or(array);
        if self.graph.array_facts(array).free.is_empty() {
            return Axes::default();
        }
        if let Some(free) = self.arrays.get(&array) {
            return free.clone();
        }
        let graph = self.graph;
        let free = match graph.array(array) {
            Array::Input(_) | Array::Constant(_) => Axes::default(),
            Array::Items(items) => self.all(items),
            Array::Map(axes, body) => {
                let (axes, body) = (axes.iter().copied().collect(), self.node(*body));
                self.bound(&axes, &body)
            }
            Array::Scatter(init, terms) => {
                let mut free = self.array(*init);
                for term in terms {
                    let mut inside = self.all(&term.index).union(&self.node(term.value));
                    if let Some(when) = term.when {
                        inside = inside.union(&self.node(when));
                    }
                    let over = term.over.iter().copied().collect();
                    free = free.union(&self.bound(&over, &inside));
                }
                free
            }
            Array::Update(init, index, part) => {
                self.array(*init).union(&self.all(index)).union(&self.array(*part))
            }
            Array::Carried(l, _) => {
                self.known[l.0 as usize].union(&graph.reach(graph.loop_(*l).axis))
            }
            Array::Final(l, _) => self.known[l.0 as usize].clone(),
        };
        self.arrays.insert(array, free.clone());
        free
    }
}
