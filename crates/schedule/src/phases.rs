//! P4: the passes over an axis. A definition that needs a finished total over the axis comes a pass
//! later than its terms; all else comes as early as possible, so the number of passes is least. A
//! primal loop and its reverse are one pass if nothing forbids it.
//!
//! Odd numbers are passes over the axis; even ones are outside: before the first pass, between two,
//! after the last. The state of a loop over the axis belongs to the pass in which the loop runs. A
//! loop over another axis is a scope of its own: the phases inside of it are those of one
//! iteration.

use lambada_source::stack;
use rustc_hash::FxHashMap;

use lambada_graph::{Array, ArrayId, Axes, AxisId, Graph, LoopId, NodeId, Part};

/// The pass of each definition, computed on demand.
pub struct Phases<'a> {
    graph: &'a Graph,
    axis: AxisId,
    known: FxHashMap<Part, u32>,
    /// The pass in which each loop runs.
    loops: FxHashMap<LoopId, u32>,
}

impl<'a> Phases<'a> {
    /// The passes over an axis.
    pub fn over(graph: &'a Graph, axis: AxisId) -> Phases<'a> {
        let mut phases =
            Phases { graph, axis, known: FxHashMap::default(), loops: FxHashMap::default() };
        let all = || (0..graph.loops.len() as u32).map(LoopId);
        // A loop that needs a state of another one runs no earlier than that one; each round
        // settles one loop at least.
        for _ in 0..=graph.loops.len() {
            phases.known.clear();
            let found: FxHashMap<LoopId, u32> =
                all().map(|l| (l, phases.phase(Part::Loop(l)))).collect();
            if found == phases.loops {
                break;
            }
            phases.loops = found;
        }
        phases
    }

    /// The phase in which a scalar is computed.
    pub fn of(&mut self, node: NodeId) -> u32 {
        self.phase(Part::Node(node))
    }

    /// The phase in which the elements of an array are computed.
    pub fn of_array(&mut self, array: ArrayId) -> u32 {
        self.phase(Part::Array(array))
    }

    /// The number of passes.
    #[cfg(test)]
    pub fn passes(&mut self) -> u32 {
        let outputs: Vec<ArrayId> = self.graph.outputs.iter().map(|o| o.array).collect();
        let last = outputs.into_iter().map(|array| self.of_array(array)).max().unwrap_or(0);
        last.div_ceil(2)
    }

    fn phase(&mut self, part: Part) -> u32 {
        if let Some(phase) = self.known.get(&part) {
            return *phase;
        }
        let inside = self.is_inside(part);
        let mut first = u32::from(inside);
        let mut parts = Vec::new();
        match part {
            Part::Node(node) => self.graph.node(node).parts(&mut |p| parts.push(p)),
            Part::Array(array) => match self.graph.array(array) {
                Array::Carried(l, k) => {
                    first = first.max(self.loops.get(l).copied().unwrap_or(0));
                    parts.push(Part::Array(self.graph.loop_(*l).carries[*k as usize].init));
                }
                array => array.parts(&mut |p| parts.push(p)),
            },
            Part::Axis(axis) => parts.push(Part::Node(self.graph.axis(axis).extent)),
            Part::Loop(l) => self.of_loop(l, &mut parts),
        }
        let after = |phases: &mut Self, needed| phases.after(inside, needed);
        let phase = stack::deeper(|| parts.into_iter().map(|p| after(self, p)).max());
        let phase = phase.map_or(first, |phase| phase.max(first));
        self.known.insert(part, phase);
        phase
    }

    fn of_loop(&self, l: LoopId, parts: &mut Vec<Part>) {
        let known = self.graph.loop_(l);
        parts.push(Part::Axis(known.axis));
        let states = known.carries.iter().flat_map(|c| [c.init, c.next]);
        parts.extend(states.map(Part::Array));
    }

    /// The earliest phase of a definition that needs a part.
    fn after(&mut self, inside: bool, needed: Part) -> u32 {
        let phase = self.phase(needed);
        match (self.is_inside(needed), self.is_free(needed), inside) {
            // A finished total.
            (true, false, true) => phase + 2,
            (true, false, false) => phase + 1,
            (true, true, _) => phase,
            (false, _, true) => phase + 1,
            (false, _, false) => phase,
        }
    }

    /// Whether a definition is computed for each index of the axis.
    fn is_inside(&self, part: Part) -> bool {
        self.is_free(part) || self.bound(part).contains(self.axis)
    }

    fn is_free(&self, part: Part) -> bool {
        let graph = self.graph;
        let free = match part {
            Part::Node(node) => graph.free(node),
            Part::Array(array) => &graph.array_facts(array).free,
            Part::Axis(axis) => graph.free(graph.axis(axis).extent),
            Part::Loop(l) => &graph.loop_facts(l).0,
        };
        free.contains(self.axis)
    }

    /// The axes that a definition runs through.
    fn bound(&self, part: Part) -> Axes {
        let graph = self.graph;
        match part {
            Part::Node(node) => {
                graph.reduction(node).map_or(Axes::default(), |(_, axes, _)| axes.clone())
            }
            Part::Array(array) => match graph.array(array) {
                Array::Map(axes, _) => axes.iter().copied().collect(),
                Array::Scatter(_, terms) => {
                    terms.iter().flat_map(|term| &term.over).copied().collect()
                }
                Array::Input(_)
                | Array::Constant(_)
                | Array::Items(_)
                | Array::Update(..)
                | Array::Carried(..)
                | Array::Final(..) => Axes::default(),
            },
            Part::Axis(_) => Axes::default(),
            Part::Loop(l) => Axes::one(graph.loop_(l).axis),
        }
    }
}
