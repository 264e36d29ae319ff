//! Placed programs become counted loops with lanes.
//!
//! *Assumes* a program that [`lambada_graph::placed::check`] accepts. *Gives* a function whose
//! parameters are the inputs, dense and row-major, and then memory for the array outputs; its
//! results are the other outputs. Checks come before all accesses. *Keeps* values up to the order
//! of reductions, which depends only on the program, the lanes and the sizes.

use lambada_loops::{Buf, Cell, Function, Mode, Nest as Loops, Operand, Param, Return, Step, Ty};
use lambada_prim::{Prim, Scalar, ScalarTy};
use rustc_hash::{FxHashMap, FxHashSet};

use lambada_graph::placed::{BufferId, Content, Item, Nest, Pass, Placed};
use lambada_graph::{Array, ArrayId, AxisId, Effect, Grain, Graph, Mechanisms, NodeId, Plan, Runs};

mod blocks;
mod carries;
mod code;
mod explain;
mod in_place;
mod interior;
mod nest;
mod parallel;
mod ranges;
mod rotate;
mod slide;
mod stride;
mod sums;
mod tile;
mod transpose;
mod value;

use carries::Carried;
use code::Code;
pub use explain::explained;
use in_place::in_outputs;
use interior::Interior;
use parallel::totals;
use rotate::Rotating;
use tile::Copy;

/// The location of a definition.
#[derive(Clone, Copy)]
enum Slot {
    Scalar(Operand),
    Cell(Cell),
    Memory(Buf),
}

/// The owner of the outputs' memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outputs {
    /// The caller: it is a parameter.
    Given,
    /// The function: it is a result.
    Made,
}

/// The indices that an axis has at the current position.
struct Bound {
    /// By copy: the index of the first lane.
    copies: Vec<Operand>,
    lanes: u16,
    /// The number of lanes with an iteration, if not all have one; see [`stride`].
    left: Option<Operand>,
}

struct Emitter<'a> {
    placed: &'a Placed,
    outputs: Outputs,
    code: Code,
    lanes: u16,
    inputs: Vec<Slot>,
    constants: Vec<Option<Buf>>,
    slots: Vec<Slot>,
    axes: FxHashMap<AxisId, Bound>,
    /// The buffers that the current nest reads, by content.
    found: FxHashMap<Content, BufferId>,
    /// The body that contains the current nest.
    since: usize,
    /// The axis of which the current nest runs through one block only.
    part_of: Option<AxisId>,
    runs: Runs,
    grain: Grain,
    block_len: Operand,
    block_start: Operand,
    block_end: Operand,
    /// The axes along which the current nest runs several iterations at once.
    tile: Vec<AxisId>,
    /// The iterations that run at once.
    copies: Vec<Copy>,
    /// A condition that holds for all copies.
    assumed: Option<NodeId>,
    /// Facts about the current nest while it is in its interior.
    interior: Option<Interior>,
    /// Whether it is outside: iterations with too few indices for all lanes share their code with
    /// others.
    apart: bool,
    carried: Carried,
    /// Arrays that the current nest both stores and reads.
    rotating: FxHashMap<ArrayId, Rotating>,
    /// Buffers without memory.
    in_registers: FxHashSet<BufferId>,
    /// Whether checks are being emitted, whose conditions do not hold yet.
    checking: bool,
    mechanisms: Mechanisms,
}

/// The loops of a program, according to the plan.
pub fn emit(placed: &Placed, plan: Plan, outputs: Outputs, runs: Runs) -> Function {
    let mut emitter = Emitter {
        placed,
        outputs,
        code: Code::new(),
        lanes: plan.width(),
        inputs: Vec::new(),
        constants: Vec::new(),
        slots: Vec::new(),
        axes: FxHashMap::default(),
        found: FxHashMap::default(),
        since: 0,
        part_of: None,
        runs,
        grain: plan.grain,
        block_len: Operand::int(plan.grain.folded[0]),
        block_start: Operand::int(0),
        block_end: Operand::int(0),
        tile: Vec::new(),
        copies: vec![Copy::FIRST],
        assumed: None,
        interior: None,
        apart: false,
        carried: Carried::default(),
        rotating: FxHashMap::default(),
        in_registers: placed.in_registers(),
        checking: true,
        mechanisms: plan.mechanisms,
    };
    emitter.parameters();
    emitter.effects(&placed.graph.effects);
    emitter.checking = false;
    emitter.memory();
    placed.passes.iter().for_each(|pass| emitter.pass(pass));
    emitter.results();
    emitter.code.finish()
}

impl<'a> Emitter<'a> {
    fn graph(&self) -> &'a Graph {
        &self.placed.graph
    }

    fn parameters(&mut self) {
        let graph = self.graph();
        for input in &graph.inputs {
            let (param, slot) = if input.dims.is_empty() {
                let reg = self.code.reg_at(0, Ty::scalar(input.elem), input.hint.clone());
                (Param::Scalar(reg), Slot::Scalar(reg.into()))
            } else {
                let buf = self.code.function.buf(input.elem, input.hint.clone());
                (Param::Buffer(buf), Slot::Memory(buf))
            };
            self.code.function.params.push(param);
            self.inputs.push(slot);
        }
        for tensor in &graph.constants {
            let buf = (!tensor.dims.is_empty()).then(|| {
                let buf = self.code.function.buf(tensor.elem(), "constant");
                self.code.push(Step::Constant(buf, tensor.clone()));
                buf
            });
            self.constants.push(buf);
        }
    }

    /// The location of an array.
    fn array(&self, array: ArrayId) -> Slot {
        match self.graph().array(array) {
            Array::Input(k) => self.inputs[*k as usize],
            Array::Constant(k) => match self.constants[*k as usize] {
                Some(buf) => Slot::Memory(buf),
                None => Slot::Scalar(Operand::Lit(self.graph().constants[*k as usize].data.get(0))),
            },
            Array::Items(_)
            | Array::Map(..)
            | Array::Scatter(..)
            | Array::Update(..)
            | Array::Carried(..)
            | Array::Final(..) => {
                let id = self.found.get(&Content::Array(array)).expect("the nest reads it");
                self.slots[id.0 as usize]
            }
        }
    }

    // Checks

    fn effects(&mut self, effects: &[Effect]) {
        effects.iter().for_each(|effect| self.effect(effect));
    }

    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Check { cond, site, values } => {
                let cond = self.node(*cond, Copy::FIRST);
                let values = values.iter().map(|value| self.node(*value, Copy::FIRST)).collect();
                let site = self.code.function.site(site.clone());
                self.code.push(Step::Check { cond, site, values });
            }
            Effect::For(axis, body) => {
                let end = self.extent(*axis);
                self.code.open();
                let hint = self.graph().axis(*axis).hint.clone();
                let index = self.code.reg(Ty::scalar(ScalarTy::Int), hint);
                let bound = Bound { copies: vec![index.into()], lanes: 1, left: None };
                let outer = self.axes.insert(*axis, bound);
                self.effects(body);
                self.axes.remove(axis);
                self.axes.extend(outer.map(|bound| (*axis, bound)));
                let body = self.code.close();
                let (start, mode) = (Operand::int(0), Mode::Sequential);
                self.code.push(Loops::For { index, start, end, step: 1, mode, body });
            }
            Effect::If(cond, then, otherwise) => {
                let cond = self.node(*cond, Copy::FIRST);
                let mut branch = |effects: &[Effect]| {
                    self.code.open();
                    self.effects(effects);
                    self.code.close()
                };
                let (then, otherwise) = (branch(then), branch(otherwise));
                self.code.push(Loops::If { cond, then, otherwise });
            }
        }
    }

    // Memory

    fn memory(&mut self) {
        blocks::block_size(self);
        let own = self.of_iterations();
        let mut shared = in_outputs(self.placed);
        shared.retain(|id, output| !own.contains(id) && !own.contains(output));
        for k in 0..self.placed.buffers.len() {
            let id = BufferId(k as u32);
            let nowhere = self.in_registers.contains(&id);
            if own.contains(&id) || shared.contains_key(&id) || nowhere {
                // Recomputed in each iteration and read nowhere else; or in the memory of an
                // output; or in registers.
                self.slots.push(Slot::Scalar(Operand::Lit(Scalar::Int(0))));
                continue;
            }
            let slot = self.slot(id);
            self.slots.push(slot);
            if self.outputs == Outputs::Made {
                self.given_first(id, slot);
            }
        }
        for (id, output) in shared {
            self.slots[id.0 as usize] = self.slots[output.0 as usize];
        }
    }

    /// The axes of a buffer in memory.
    fn held(&self, id: BufferId) -> Vec<AxisId> {
        let buffer = self.placed.buffer(id);
        let one = |axis: &AxisId| buffer.single && self.placed.batch == Some(*axis);
        buffer.axes.iter().copied().filter(|axis| !one(axis)).collect()
    }

    /// Copies the initial value of an array with additions, if the caller does not supply the
    /// memory.
    fn given_first(&mut self, id: BufferId, slot: Slot) {
        let Content::Array(array) = self.placed.buffer(id).content else { return };
        let Some(init) = self.graph().added_in_place(array) else { return };
        let (Slot::Memory(to), Slot::Memory(from)) = (slot, self.array(init)) else { return };
        let dims = self.dims(init);
        let len = self.product(&dims);
        self.code.push(Step::Copy { to, from, len });
    }

    fn slot(&mut self, id: BufferId) -> Slot {
        let graph = self.graph();
        let buffer = self.placed.buffer(id);
        let (elem, first) = match buffer.content {
            Content::Node(node) => {
                let elem = graph.facts(node).elem;
                (elem, graph.reduction(node).map_or(elem.zero(), |(op, _, _)| op.unit(elem)))
            }
            Content::Array(array) => {
                let elem = graph.array_facts(array).elem;
                (elem, elem.zero())
            }
        };
        let dims: Vec<Operand> = match buffer.content {
            Content::Array(array) if graph.array_facts(array).free.is_empty() => self.dims(array),
            Content::Node(_) | Content::Array(_) => {
                let blocked = |axis| buffer.local && Some(axis) == self.placed.block;
                let len = self.block_len;
                let axes = self.held(id);
                let axes = axes.iter();
                axes.map(|a| if blocked(*a) { len } else { self.extent(*a) }).collect()
            }
        };
        if dims.is_empty() {
            return Slot::Cell(self.code.cell(Ty::scalar(elem), Operand::Lit(first)));
        }
        let buf = self.code.function.buf(elem, "nest");
        if self.outputs == Outputs::Given && self.placed.outputs.contains(&id) {
            return Slot::Memory(buf);
        }
        self.code.push(Step::Alloc { buf, dims });
        Slot::Memory(buf)
    }

    // Passes

    fn pass(&mut self, pass: &Pass) {
        let Some(block) = self.placed.block.filter(|_| pass.blocked) else {
            pass.nests.iter().for_each(|nest| self.once(nest));
            return;
        };
        for nest in &pass.nests {
            for item in &nest.items {
                let buffer = self.placed.buffer(item.buffer());
                let total = !buffer.axes.contains(&block);
                let whole = !buffer.local && self.placed.comes_back(nest, *item);
                if matches!(item, Item::Reduce(_)) && (total || whole) {
                    self.units(item.buffer());
                }
            }
        }
        let end = self.extent(block);
        // Blocks are counted, because only run time knows their length.
        let above = self.code.int(Prim::AddInt, end, self.block_len);
        let above = self.code.int(Prim::SubInt, above, Operand::int(1));
        let count = self.code.int(Prim::DivInt, above, self.block_len);
        match totals(self.placed, pass) {
            Some(totals) => self.blocks_in_parts(pass, (block, count), &totals),
            None => {
                self.begin_additions(&pass.nests, true);
                self.blocks(pass, block, (Operand::int(0), count));
                self.end_additions();
            }
        }
    }

    /// A nest outside blocks. If only nests over another axis read its result, it runs only if that
    /// axis has indices.
    fn once(&mut self, nest: &Nest) {
        let mut exist = None;
        for axis in self.placed.read_along(nest) {
            let end = self.extent(axis);
            let more = self.code.prim(Prim::LtInt, &[Operand::int(0), end]);
            exist = Some(exist.map_or(more, |all| self.code.prim(Prim::And, &[all, more])));
        }
        let cond = exist.filter(|cond| *cond != Operand::Lit(Scalar::Bool(true)));
        if cond.is_some() {
            self.code.open();
        }
        match self.divided(nest) {
            Some((axis, totals)) => self.nest_in_parts(nest, axis, &totals),
            None => {
                self.begin_additions(std::slice::from_ref(nest), false);
                self.nest(nest, 0, None);
                self.end_additions();
            }
        }
        if let Some(cond) = cond {
            let then = self.code.close();
            self.code.push(Loops::If { cond, then, otherwise: Vec::new() });
        }
    }

    /// The nests of a pass, for some of the blocks.
    fn blocks(&mut self, pass: &Pass, block: AxisId, (start, count): (Operand, Operand)) {
        let end = self.extent(block);
        self.code.open();
        let index = self.code.reg(Ty::scalar(ScalarTy::Int), "block");
        self.block_start = self.code.int(Prim::MulInt, index.into(), self.block_len);
        let next = self.code.int(Prim::AddInt, self.block_start, self.block_len);
        self.block_end = self.code.int(Prim::MinInt, next, end);
        for (group, nests) in pass.groups() {
            self.group(group.and(self.placed.batch), nests, block);
        }
        let body = self.code.close();
        let mode = Mode::Sequential;
        self.code.push(Loops::For { index, start, end: count, step: 1, mode, body });
    }

    /// Nests of a block, fused along an axis if one is given.
    fn group(&mut self, axis: Option<AxisId>, nests: &[Nest], block: AxisId) {
        let Some(axis) = axis else {
            return nests.iter().for_each(|nest| self.nest(nest, 0, Some(block)));
        };
        let end = self.extent(axis);
        self.code.open();
        let hint = self.graph().axis(axis).hint.clone();
        let index = self.code.reg(Ty::scalar(ScalarTy::Int), hint);
        for nest in nests {
            let bound = Bound { copies: vec![index.into()], lanes: 1, left: None };
            self.axes.insert(axis, bound);
            self.nest(nest, 1, Some(block));
        }
        let body = self.code.close();
        let (start, mode) = (Operand::int(0), Mode::Sequential);
        self.code.push(Loops::For { index, start, end, step: 1, mode, body });
    }

    fn results(&mut self) {
        for (id, output) in self.placed.outputs.iter().zip(&self.graph().outputs) {
            match self.slots[id.0 as usize] {
                Slot::Memory(buf) if self.outputs == Outputs::Given => {
                    self.code.function.params.push(Param::Owned(buf));
                }
                Slot::Memory(buf) => {
                    let dims = match self.placed.buffer(*id).content {
                        Content::Array(_) => self.dims(output.array),
                        Content::Node(_) => self.held_sizes(*id),
                    };
                    let natural = |e: &mut Self, d| e.code.int(Prim::MaxInt, d, Operand::int(0));
                    let dims = dims.into_iter().map(|d| natural(self, d)).collect();
                    self.code.function.results.push(Return::Buffer(buf, dims));
                }
                Slot::Cell(cell) => {
                    let value = self.code.get(cell);
                    self.code.function.results.push(Return::Scalar(value));
                }
                Slot::Scalar(value) => self.code.function.results.push(Return::Scalar(value)),
            }
        }
    }
}
