//! Runs instructions.

use std::sync::Arc;

use lambada_prim::pages::gathered;
use lambada_prim::{Data, Memory, Precision, Prim, Scalar, ScalarTy, Tensor, elements};
use lambada_source::{Failure, Span};

use super::arena::Arena;
use super::compile::{Arg, Code, scalar, word};
use super::counts::Meter;
use super::items::Frame;
use super::lanes::{self, Loops, Words};
use super::{
    Body, CANCELLED, EXHAUSTED, Fuel, Outcome, Program, Range, ResultSource, Room, Seen, Slot,
    State, Stop, internal,
};

/// The cost of an iteration, or of a call, in instructions of machine code.
const JUMP: u64 = 16;

pub(super) struct Machine<'a, M> {
    pub(super) program: &'a Program,
    pub(super) precision: Precision,
    loops: Loops,
    /// The running function.
    pub(super) body: &'a Body,
    pub(super) slots: Vec<u64>,
    pub(super) memory: Arena,
    /// By buffer.
    pub(super) ranges: Vec<Range>,
    /// The callers, outermost first, and the bytes that they keep.
    pub(super) frames: Vec<Frame<'a>>,
    pub(super) kept: u64,
    /// By open scope: the words taken at its entry.
    marks: Vec<usize>,
    pub(super) meter: M,
    pub(super) limit: Memory,
    pub(super) seen: Seen<'a>,
    /// Reduced at the beginning, at every jump back and at every call.
    pub(super) fuel: Fuel,
}

impl<'a, M: Meter> Machine<'a, M> {
    /// A machine whose memory holds the constants and the arguments.
    pub fn new(program: &'a Program, args: &[Tensor], limit: Memory, meter: M) -> Machine<'a, M> {
        let body = &program.entry;
        let mut machine = Machine {
            program,
            precision: program.precision,
            loops: Loops::here(),
            body,
            slots: body.slots.clone(),
            memory: program.arena(),
            ranges: body.ranges.clone(),
            frames: Vec::new(),
            kept: 0,
            marks: Vec::new(),
            meter,
            limit,
            seen: &|_, _| {},
            fuel: Fuel::new(Arc::default(), None),
        };
        machine.memory.extend(program.constants.iter().copied());
        for (param, arg) in body.params.iter().zip(args) {
            match param {
                Slot::Scalar(_, slot) => {
                    machine.slots[*slot as usize] = word(program.precision.scalar(arg.data.get(0)));
                }
                Slot::Buffer(_, buf) => machine.argument(*buf, &arg.data),
            }
        }
        machine.memory.begin();
        machine
    }

    fn argument(&mut self, buf: u32, data: &Data) {
        let low = self.memory.taken();
        match data {
            Data::Real(values) => {
                let precision = self.precision;
                self.memory.extend(values.iter().map(|value| precision.round(*value).to_bits()));
            }
            Data::Int(values) => self.memory.extend(values.iter().map(|value| *value as u64)),
            Data::Bool(values) => self.memory.extend(values.iter().map(|value| u64::from(*value))),
        }
        self.ranges[buf as usize] = Range { low, high: self.memory.taken(), origin: low as i64 };
    }

    /// Runs to the end, unless it is cancelled, and returns the results.
    pub fn run(mut self) -> Result<(Vec<Tensor>, M), Failure> {
        self.go_on()?;
        self.execute()?;
        let results = self.body.results.iter().map(|result| self.result(result));
        let results = results.collect::<Result<_, _>>()?;
        self.program.keep(self.memory);
        Ok((results, self.meter))
    }

    fn execute(&mut self) -> Result<(), Failure> {
        let mut instructions: &'a [Code] = &self.body.code;
        let mut at = 0;
        loop {
            let code = instructions[at];
            at += 1;
            if M::COUNTS {
                self.count(code);
            }
            match code {
                Code::Add { to, a, b } => self.put_real(to, self.real(a) + self.real(b)),
                Code::Sub { to, a, b } => self.put_real(to, self.real(a) - self.real(b)),
                Code::Mul { to, a, b } => self.put_real(to, self.real(a) * self.real(b)),
                Code::Div { to, a, b } => self.put_real(to, self.real(a) / self.real(b)),
                Code::AddInt { to, a, b } => self.put(to, self.get(a).wrapping_add(self.get(b))),
                Code::SubInt { to, a, b } => self.put(to, self.get(a).wrapping_sub(self.get(b))),
                Code::MulInt { to, a, b } => self.put(to, self.get(a).wrapping_mul(self.get(b))),
                Code::LtInt { to, a, b } => self.put(to, u64::from(self.int(a) < self.int(b))),
                Code::LeInt { to, a, b } => self.put(to, u64::from(self.int(a) <= self.int(b))),
                Code::EqInt { to, a, b } => self.put(to, u64::from(self.int(a) == self.int(b))),
                Code::Lt { to, a, b } => self.put(to, u64::from(self.real(a) < self.real(b))),
                Code::Le { to, a, b } => self.put(to, u64::from(self.real(a) <= self.real(b))),
                Code::And { to, a, b } => {
                    self.put(to, u64::from(self.get(a) != 0 && self.get(b) != 0))
                }
                Code::Prim { to, prim, args } => self.prim(to, prim, args as usize, 0),
                Code::Lanes { to, prim, args, lanes } => {
                    (0..u32::from(lanes))
                        .for_each(|lane| self.prim(to + lane, prim, args as usize, lane));
                }
                Code::Loop { to, number, args, lanes } => {
                    self.on_lanes(to, number, args as usize, lanes)
                }
                Code::Fold { to, prim, elem, from, lanes } => {
                    self.fold(to, prim, elem, from, lanes)
                }
                Code::Splice { to, both, from, lanes } => {
                    let [a, b] = both.map(|slot| slot as usize);
                    let (to, from, lanes) = (to as usize, usize::from(from), usize::from(lanes));
                    // Registers are assigned once, so the target is neither of both.
                    self.slots.copy_within(a + from..a + lanes, to);
                    self.slots.copy_within(b..b + from, to + lanes - from);
                }
                Code::Iota { to, lanes } => {
                    (0..u32::from(lanes)).for_each(|lane| self.put(to + lane, u64::from(lane)))
                }
                Code::Move { to, from } => self.put(to, self.get(from)),
                Code::MoveLanes { to, from, stride, lanes } => {
                    let (to, from) = (to as usize, from as usize);
                    let all = to..to + usize::from(lanes);
                    match stride {
                        0 => {
                            let value = self.slots[from];
                            self.slots[all].fill(value);
                        }
                        _ => self.slots.copy_within(from..from + usize::from(lanes), to),
                    }
                }
                Code::Load { to, buf, offset } => {
                    let place = self.place(buf, self.int(offset), 1)?;
                    self.put(to, self.memory[place]);
                }
                Code::LoadLanes { to, buf, offset, lanes } => {
                    let (place, lanes) =
                        (self.place(buf, self.int(offset), i64::from(lanes))?, lanes as usize);
                    self.slots[to as usize..to as usize + lanes]
                        .copy_from_slice(&self.memory[place..place + lanes]);
                }
                Code::Store { from, buf, offset } => {
                    let place = self.place(buf, self.int(offset), 1)?;
                    self.memory[place] = self.get(from);
                }
                Code::StoreLanes { from, buf, offset, lanes } => {
                    let (place, lanes) =
                        (self.place(buf, self.int(offset), i64::from(lanes))?, lanes as usize);
                    self.memory[place..place + lanes]
                        .copy_from_slice(&self.slots[from as usize..from as usize + lanes]);
                }
                Code::LoadSome { to, buf, offset, count, lanes } => {
                    self.load_some(to, (buf, offset), count, lanes)?
                }
                Code::StoreSome { from, buf, offset, count, lanes } => {
                    self.store_some(from, (buf, offset), count, lanes)?
                }
                Code::Gather { to, buf, offsets, lanes } => {
                    for lane in 0..u32::from(lanes) {
                        let place = self.place(buf, self.int(offsets + lane), 1)?;
                        self.put(to + lane, self.memory[place]);
                    }
                }
                Code::Scatter { from, buf, offsets, lanes } => {
                    for lane in 0..u32::from(lanes) {
                        let place = self.place(buf, self.int(offsets + lane), 1)?;
                        self.memory[place] = self.get(from + lane);
                    }
                }
                Code::Alloc { buf, args, count } => {
                    self.alloc(buf, args as usize, count as usize)?
                }
                Code::View { buf, base, offset } => {
                    let range = self.ranges[base as usize];
                    let origin = range.origin.wrapping_add(self.int(offset));
                    self.ranges[buf as usize] = Range { origin, ..range };
                }
                Code::Swap { a, b } => self.ranges.swap(a as usize, b as usize),
                Code::Copy { to, from, len } => self.copy(to, from, self.int(len))?,
                Code::Transpose { to, from, args } => self.transpose(to, from, args as usize)?,
                Code::Fill { buf, value, len } => {
                    let len = self.int(len).max(0);
                    let place = self.place(buf, 0, len)?;
                    let value = self.get(value);
                    self.memory[place..place + len as usize].fill(value);
                }
                Code::Kernel { number } => self.kernel(number)?,
                Code::Enter => {
                    self.meter.enter();
                    self.marks.push(self.memory.taken());
                }
                Code::Leave { release } => {
                    self.meter.leave(release);
                    let mark = self.marks.pop().expect("a scope is open");
                    self.memory.release(mark, release);
                }
                Code::Jump { target } => {
                    at = target as usize;
                    self.go_on()?;
                }
                Code::JumpUnless { cond, target } => {
                    if self.get(cond) == 0 {
                        at = target as usize;
                    }
                }
                Code::First { index, start, end, target } => {
                    self.put(index, self.get(start));
                    if self.int(start) >= self.int(end) {
                        at = target as usize;
                    }
                }
                Code::Next { index, step, end, target } => {
                    let next = self.int(index).saturating_add(self.int(step));
                    self.put(index, next as u64);
                    if next < self.int(end) {
                        at = target as usize;
                        self.go_on()?;
                    }
                }
                Code::Check { cond, site, args, count } => {
                    if self.get(cond) == 0 {
                        return Err(self.failure(site, args as usize, count as usize));
                    }
                }
                Code::Inspect { number } => {
                    let (number, values) = &self.body.inspections[number as usize];
                    let values = values.iter().map(|value| self.result(value));
                    (self.seen)(*number, values.collect::<Result<_, _>>()?);
                }
                Code::Node { to, number } => self.new_node(to, number)?,
                Code::Tag { to, of } => self.tag(to, of)?,
                Code::Field { to, of, number } => self.field(to, of, number)?,
                Code::Open { buf, of, number, args, count } => {
                    let args = args as usize;
                    self.open(buf, of, number, args..args + count as usize)?;
                }
                Code::Call { number } => {
                    self.go_on()?;
                    self.enter(number, at)?;
                    (instructions, at) = (&self.body.code, 0);
                }
                Code::Region { number } => self.region(number)?,
                Code::Done => match self.leave()? {
                    Some(next) => (instructions, at) = (&self.body.code, next),
                    None => return Ok(()),
                },
            }
        }
    }

    /// Reports the cost of an instruction, but for scopes and for memory that depends on lengths.
    #[inline(always)]
    fn count(&mut self, code: Code) {
        match code {
            Code::Add { .. }
            | Code::Sub { .. }
            | Code::Mul { .. }
            | Code::Div { .. }
            | Code::Lt { .. }
            | Code::Le { .. } => self.meter.operation(true, 1),
            Code::AddInt { .. }
            | Code::SubInt { .. }
            | Code::MulInt { .. }
            | Code::LtInt { .. }
            | Code::LeInt { .. }
            | Code::EqInt { .. }
            | Code::And { .. } => self.meter.operation(false, 1),
            Code::Prim { prim, .. } => self.meter.operation(on_reals(prim), 1),
            Code::Lanes { prim, lanes, .. } => self.meter.operation(on_reals(prim), lanes),
            Code::Loop { number, lanes, .. } => {
                self.meter.operation(on_reals(lanes::prim(number)), lanes)
            }
            Code::Fold { elem, lanes, .. } => {
                self.meter.operation(elem == ScalarTy::Real, lanes - 1)
            }
            Code::Load { .. } => self.meter.load(1),
            Code::LoadLanes { lanes, .. } | Code::Gather { lanes, .. } => {
                self.meter.load(u64::from(lanes))
            }
            Code::LoadSome { count, lanes, .. } => self.meter.load(self.some(count, lanes) as u64),
            Code::Store { buf, .. } => self.written(buf, 1),
            Code::StoreLanes { buf, lanes, .. } | Code::Scatter { buf, lanes, .. } => {
                self.written(buf, i64::from(lanes))
            }
            Code::StoreSome { buf, count, lanes, .. } => {
                self.written(buf, self.some(count, lanes) as i64)
            }
            Code::Copy { to, len, .. } => self.written(to, self.int(len)),
            Code::Fill { buf, len, .. } => self.written(buf, self.int(len)),
            Code::Transpose { to, args, .. } => {
                let [_, _, rows, cols] = self.matrices(args as usize);
                self.written(to, rows * cols);
            }
            Code::Alloc { buf, args, count } => {
                let width = self.body.widths[buf as usize];
                let args = &self.body.args[args as usize..args as usize + count as usize];
                let len = elements(args.iter().map(|arg| self.int(arg.slot)));
                self.meter.allocate(len.unwrap_or(u64::MAX).saturating_mul(width));
            }
            Code::Iota { .. }
            | Code::Splice { .. }
            | Code::Move { .. }
            | Code::MoveLanes { .. }
            | Code::View { .. }
            | Code::Kernel { .. }
            | Code::Swap { .. }
            | Code::Enter
            | Code::Leave { .. }
            | Code::Jump { .. }
            | Code::JumpUnless { .. }
            | Code::First { .. }
            | Code::Next { .. }
            | Code::Check { .. }
            | Code::Inspect { .. }
            | Code::Node { .. }
            | Code::Tag { .. }
            | Code::Field { .. }
            | Code::Open { .. }
            | Code::Call { .. }
            | Code::Region { .. }
            | Code::Done => {}
        }
    }

    #[inline(always)]
    fn go_on(&mut self) -> Result<(), Failure> {
        self.worked(JUMP)
    }

    /// Reduces the fuel by this work.
    #[inline(always)]
    pub(super) fn worked(&mut self, work: u64) -> Result<(), Failure> {
        self.fuel.left = self.fuel.left.saturating_sub_unsigned(work);
        if self.fuel.left < 0 { self.fuel.refill().map_err(stopped) } else { Ok(()) }
    }

    #[inline(always)]
    fn written(&mut self, buf: u32, len: i64) {
        let width = self.body.widths[buf as usize];
        self.meter.write(len.max(0) as u64 * width);
    }

    #[inline(always)]
    pub(super) fn get(&self, slot: u32) -> u64 {
        self.slots[slot as usize]
    }

    #[inline(always)]
    pub(super) fn int(&self, slot: u32) -> i64 {
        self.get(slot) as i64
    }

    #[inline(always)]
    fn real(&self, slot: u32) -> f64 {
        f64::from_bits(self.get(slot))
    }

    #[inline(always)]
    pub(super) fn put(&mut self, slot: u32, value: u64) {
        self.slots[slot as usize] = value;
    }

    #[inline(always)]
    fn put_real(&mut self, slot: u32, value: f64) {
        self.put(slot, self.precision.round(value).to_bits());
    }

    /// Runs statements that are machine code.
    fn region(&mut self, number: u32) -> Result<(), Failure> {
        let program = self.program;
        let regions = program.regions.as_ref().expect("it has been translated");
        match regions.run(number, self.state()) {
            Outcome::Done => Ok(()),
            Outcome::Stopped(why) => Err(stopped(why)),
            Outcome::NoRoom(failure) => Err(failure),
            Outcome::Failed(site, values) => Err(self.failed(site, &values)),
        }
    }

    /// One lane of a primitive.
    fn prim(&mut self, to: u32, prim: Prim, args: usize, lane: u32) {
        let precision = self.precision;
        let row = prim.row();
        let operand = |arg: &Arg| scalar(arg.elem, self.get(arg.slot + lane * arg.stride));
        let args = &self.body.args[args..args + row.args.len()];
        let value = match args {
            [a] => precision.eval(prim, &[operand(a)]),
            [a, b] => precision.eval(prim, &[operand(a), operand(b)]),
            [a, b, c] => precision.eval(prim, &[operand(a), operand(b), operand(c)]),
            _ => precision.eval(prim, &args.iter().map(operand).collect::<Vec<Scalar>>()),
        };
        self.put(to, word(value));
    }

    /// A primitive that has a loop. Its result is a register other than its operands.
    fn on_lanes(&mut self, to: u32, number: u16, args: usize, lanes: u16) {
        let (to, lanes) = (to as usize, usize::from(lanes));
        let (before, rest) = self.slots.split_at_mut(to);
        let (result, behind) = rest.split_at_mut(lanes);
        let mut operands = [Words::One(0); 3];
        let args = &self.body.args[args..args + lanes::operands(number)];
        for (operand, arg) in operands.iter_mut().zip(args) {
            let at = arg.slot as usize;
            let from: &[u64] = if at < to { &before[at..] } else { &behind[at - to - lanes..] };
            *operand =
                if arg.stride == 0 { Words::One(from[0]) } else { Words::Each(&from[..lanes]) };
        }
        self.loops.compute(number, self.precision, result, operands);
    }

    /// Combines lanes k and k + half until one is left.
    fn fold(&mut self, to: u32, prim: Prim, elem: ScalarTy, from: u32, lanes: u16) {
        let (from, lanes) = (from as usize, usize::from(lanes));
        let words = self.slots[from..from + lanes].to_vec();
        if let Some(number) = lanes::number(prim, self.precision) {
            return self.put(to, self.loops.fold(words, number, self.precision));
        }
        let mut values: Vec<Scalar> = words.into_iter().map(|word| scalar(elem, word)).collect();
        while values.len() > 1 {
            let half = values.len() / 2;
            values = (0..half)
                .map(|k| self.precision.eval(prim, &[values[k], values[k + half]]))
                .collect();
        }
        self.put(to, word(values[0]));
    }

    /// The number of lanes that an operation touches.
    fn some(&self, count: u32, lanes: u16) -> usize {
        self.int(count).clamp(0, i64::from(lanes)) as usize
    }

    fn load_some(
        &mut self,
        to: u32,
        (buf, offset): (u32, u32),
        count: u32,
        lanes: u16,
    ) -> Result<(), Failure> {
        let (count, to) = (self.some(count, lanes), to as usize);
        let place = self.place(buf, self.int(offset), count as i64)?;
        self.slots[to..to + count].copy_from_slice(&self.memory[place..place + count]);
        let last = if count == 0 { 0 } else { self.slots[to + count - 1] };
        self.slots[to + count..to + usize::from(lanes)].fill(last);
        Ok(())
    }

    fn store_some(
        &mut self,
        from: u32,
        (buf, offset): (u32, u32),
        count: u32,
        lanes: u16,
    ) -> Result<(), Failure> {
        let (count, from) = (self.some(count, lanes), from as usize);
        let place = self.place(buf, self.int(offset), count as i64)?;
        self.memory[place..place + count].copy_from_slice(&self.slots[from..from + count]);
        Ok(())
    }

    /// The place in memory of `count` elements of a buffer.
    #[inline(always)]
    pub(super) fn place(&self, buf: u32, offset: i64, count: i64) -> Result<usize, Failure> {
        let range = self.ranges[buf as usize];
        let place = range.origin.wrapping_add(offset);
        // For no elements any offset will do.
        if count == 0 {
            return Ok(range.low);
        }
        if place < range.low as i64 || place > range.high as i64 - count {
            return Err(self.out_of_range(range, offset, count));
        }
        Ok(place as usize)
    }

    #[cold]
    fn out_of_range(&self, range: Range, offset: i64, count: i64) -> Failure {
        let first = (range.low as i64).saturating_sub(range.origin);
        let last = (range.high as i64).saturating_sub(range.origin);
        internal(format!(
            "`{}` touches the elements {offset}..{} of a buffer of {first}..{last}",
            self.body.name,
            offset.saturating_add(count)
        ))
    }

    pub(super) fn alloc(&mut self, buf: u32, args: usize, count: usize) -> Result<(), Failure> {
        let args = self.body.args[args..args + count].iter();
        let State { slots, mut room, .. } = self.state();
        room.alloc(buf, args.map(|arg| slots[arg.slot as usize] as i64))
    }

    /// The state that a region works on in the machine's place.
    fn state(&mut self) -> State<'_> {
        let room = Room {
            arena: &mut self.memory,
            ranges: &mut self.ranges,
            kept: self.kept,
            limit: self.limit,
            origins: &self.body.origins,
        };
        State { slots: &mut self.slots, room, fuel: &mut self.fuel }
    }

    /// The bytes reserved: memory that arrays and nodes have released stays.
    pub(super) fn reserved(&self) -> u64 {
        self.memory.reserved() + self.kept
    }

    /// The bytes in use for arrays, nodes and callers.
    pub(super) fn in_use(&self) -> u64 {
        self.memory.in_use() + self.kept
    }

    fn copy(&mut self, to: u32, from: u32, len: i64) -> Result<(), Failure> {
        let len = len.max(0);
        let (to, from) = (self.place(to, 0, len)?, self.place(from, 0, len)?);
        if len > 0 && to.abs_diff(from) < len as usize {
            return Err(internal(format!(
                "`{}` copies {len} elements over themselves",
                self.body.name
            )));
        }
        self.memory.copy_within(from..from + len as usize, to);
        Ok(())
    }

    pub(super) fn failure(&self, site: u32, args: usize, count: usize) -> Failure {
        let values: Vec<i64> =
            self.body.args[args..args + count].iter().map(|arg| self.int(arg.slot)).collect();
        self.failed(site, &values)
    }

    fn failed(&self, site: u32, values: &[i64]) -> Failure {
        let site = &self.body.sites[site as usize];
        Failure { span: site.span, message: site.describe(values) }
    }

    fn result(&self, result: &ResultSource) -> Result<Tensor, Failure> {
        match result {
            ResultSource::Scalar(elem, slot) => Ok(Tensor::scalar(scalar(*elem, self.get(*slot)))),
            ResultSource::Buffer(elem, buf, dims) => {
                let dims: Vec<i64> = dims.iter().map(|slot| self.int(*slot)).collect();
                let (dims, len) = super::sizes(&self.body.name, &dims)?;
                let place = self.place(*buf, 0, len as i64)?;
                Ok(Tensor { dims, data: data(*elem, &self.memory[place..place + len]) })
            }
        }
    }
}

#[cold]
fn stopped(why: Stop) -> Failure {
    let message = match why {
        Stop::Cancelled => CANCELLED,
        Stop::Exhausted => EXHAUSTED,
    };
    Failure { span: Span::default(), message: message.into() }
}

fn data(elem: ScalarTy, words: &[u64]) -> Data {
    match elem {
        ScalarTy::Real => Data::Real(gathered(words.iter().map(|word| f64::from_bits(*word)))),
        ScalarTy::Int => Data::Int(gathered(words.iter().map(|word| *word as i64))),
        ScalarTy::Bool => Data::Bool(gathered(words.iter().map(|word| *word != 0))),
    }
}

/// Whether a primitive takes or gives a real.
fn on_reals(prim: Prim) -> bool {
    let row = prim.row();
    row.result == ScalarTy::Real || row.args.contains(&ScalarTy::Real)
}
