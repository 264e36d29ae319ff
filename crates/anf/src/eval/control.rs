//! Running blocks: a frame each, on a stack of their own, so that calls may be inside of each other
//! to any depth.

use std::rc::{Rc, Weak};

use lambada_prim::{MOST_FOR_CALLS, ReduceOp, Scalar, ScalarTy, TOO_DEEP, grow};
use lambada_source::Failure;

use super::nodes::Mark;
use super::{Collected, Machine, Run, Value, combine, internal};
use crate::Out;
use crate::code::{Code, Driver, Instr, Operand, Step};
use crate::counts::{Array, Memory, bytes, width};

/// A running block.
pub(super) struct Frame<'c> {
    code: &'c Code,
    /// The next statement.
    next: usize,
    continuation: Continuation<'c>,
}

/// The construct that a block belongs to. Its statement binds the results.
enum Continuation<'c> {
    Entry,
    If(&'c Step),
    /// A function; the base of its caller's slots, and the mark of the pool before the call.
    Call(&'c Step, usize, Mark),
    For(Box<For<'c>>),
    Loop(Box<Loop<'c>>),
}

struct For<'c> {
    step: &'c Step,
    i: i64,
    extent: i64,
    gathered: Vec<Gathered>,
    mark: Mark,
}

struct Loop<'c> {
    step: &'c Step,
    i: i64,
    extent: i64,
    /// Whether the condition is running.
    asks: bool,
    /// The memory of the state when the body began.
    before: Vec<Option<Weak<Memory>>>,
    mark: Mark,
}

/// An out of a running `for`.
enum Gathered {
    Array(Collected),
    Scalar(ReduceOp, Scalar),
}

impl<'c> Machine<'c> {
    /// Runs the entry.
    pub(super) fn run(&mut self) -> Run<Vec<Value>> {
        let entry = &self.program.entry.code;
        self.push(entry, Continuation::Entry);
        while let Some(frame) = self.frames.last_mut() {
            if let Some(step) = frame.code.steps.get(frame.next) {
                frame.next += 1;
                self.step(step)?;
            } else if let Some(results) = self.end()? {
                return Ok(results);
            }
        }
        internal("the entry has not ended")
    }

    fn push(&mut self, code: &'c Code, continuation: Continuation<'c>) {
        self.frames.push(Frame { code, next: 0, continuation });
    }

    /// Binds the results of a statement with blocks.
    fn done(&mut self, step: &Step, values: Vec<Value>) {
        self.bind_all(step, values);
        self.free(step);
    }

    /// Enters a statement that has blocks, or a call.
    pub(super) fn enter(&mut self, step: &'c Step) -> Run<()> {
        if self.frames.len() == self.frames.capacity() {
            self.deeper(step, 0)?;
        }
        match &step.op {
            Instr::If { cond, then, otherwise } => {
                let code = if self.scalar(cond).bool() { then } else { otherwise };
                self.push(code, Continuation::If(step));
                Ok(())
            }
            Instr::For { extent, outs, .. } => self.enter_for(step, extent, outs),
            Instr::Loop { inits, driver, .. } => {
                let state = self.take_all(inits);
                let extent = match driver {
                    Driver::For { extent, .. } => self.int(extent),
                    Driver::While(_) => i64::MAX,
                };
                let (asks, before, mark) = (false, Vec::new(), self.pool.mark());
                self.next_loop(Box::new(Loop { step, i: 0, extent, asks, before, mark }), state);
                Ok(())
            }
            Instr::Call { function, args, accumulators, .. } => {
                self.call(step, *function, args, accumulators)
            }
            _ => internal("a statement without blocks is not entered"),
        }
    }

    /// Ends the running block; returns the results of the entry, if it is that.
    fn end(&mut self) -> Run<Option<Vec<Value>>> {
        let Some(frame) = self.frames.pop() else { return internal("no block runs") };
        let results = &frame.code.results;
        match frame.continuation {
            Continuation::Entry => return Ok(Some(self.take_all(results))),
            Continuation::If(step) => {
                let values = self.take_all(results);
                self.done(step, values);
            }
            Continuation::Call(step, caller, mark) => {
                let values = self.take_all(results);
                self.slots.truncate(self.base);
                self.base = caller;
                if let Instr::Call { releases: true, .. } = &step.op {
                    self.pool.release(mark, &self.room.meter);
                }
                self.done(step, values);
            }
            Continuation::For(mut state) => {
                for (result, out) in results.iter().zip(&mut state.gathered) {
                    self.gather(result, out)?;
                }
                if let Instr::For { releases: true, .. } = &state.step.op {
                    self.pool.release(state.mark, &self.room.meter);
                }
                state.i += 1;
                self.next_for(state);
            }
            Continuation::Loop(state) => self.end_loop(state, results),
        }
        Ok(None)
    }

    fn enter_for(&mut self, step: &'c Step, extent: &Operand, outs: &[(Out, ScalarTy)]) -> Run<()> {
        let extent = self.int(extent);
        let mut gathered: Vec<Gathered> = Vec::with_capacity(outs.len());
        for (((out, elem), dims), span) in outs.iter().zip(&step.dims).zip(&step.spans) {
            gathered.push(match out {
                Out::Collect => Gathered::Array(self.collect(*elem, self.dims(dims), *span)?),
                Out::Reduce(op) => Gathered::Scalar(*op, op.unit(*elem)),
            });
        }
        let mark = self.pool.mark();
        self.next_for(Box::new(For { step, i: 0, extent, gathered, mark }));
        Ok(())
    }

    fn next_for(&mut self, state: Box<For<'c>>) {
        let step = state.step;
        let Instr::For { index, body, .. } = &step.op else { return };
        if state.i < state.extent {
            self.set(*index, Value::Scalar(Scalar::Int(state.i)));
            self.push(body, Continuation::For(state));
            return;
        }
        let values = state.gathered.into_iter().map(|out| match out {
            Gathered::Array(collected) => self.collected(collected),
            Gathered::Scalar(_, value) => Value::Scalar(value),
        });
        let values = values.collect();
        self.done(step, values);
    }

    fn gather(&mut self, result: &Operand, out: &mut Gathered) -> Run<()> {
        match out {
            Gathered::Array(collected) => {
                let value = self.take(result);
                collected.push(&value)
            }
            Gathered::Scalar(op, value) => {
                *value = combine(self.precision, *op, *value, self.scalar(result));
                self.count(value.ty() == ScalarTy::Real, 1);
                Ok(())
            }
        }
    }

    /// Begins the next iteration with this state, or ends the loop.
    fn next_loop(&mut self, mut state: Box<Loop<'c>>, values: Vec<Value>) {
        let step = state.step;
        let Instr::Loop { params, driver, body, .. } = &step.op else { return };
        if state.i >= state.extent {
            return self.done(step, values);
        }
        for (slot, value) in params.iter().zip(values) {
            self.set(*slot, value);
        }
        match driver {
            Driver::For { index, .. } => {
                self.set(*index, Value::Scalar(Scalar::Int(state.i)));
                self.begin_body(state, params, body);
            }
            Driver::While(cond) => {
                state.asks = true;
                self.push(cond, Continuation::Loop(state));
            }
        }
    }

    fn begin_body(&mut self, mut state: Box<Loop<'c>>, params: &[usize], body: &'c Code) {
        state.before.clear();
        state.before.extend(params.iter().map(|p| self.memory(*p)));
        self.push(body, Continuation::Loop(state));
    }

    /// Ends the condition or the body of a loop.
    fn end_loop(&mut self, mut state: Box<Loop<'c>>, results: &[Operand]) {
        let step = state.step;
        let Instr::Loop { params, body, releases, .. } = &step.op else { return };
        if state.asks {
            state.asks = false;
            if self.scalar(&results[0]).bool() {
                return self.begin_body(state, params, body);
            }
            let values = params.iter().map(|p| self.taken(*p)).collect();
            return self.done(step, values);
        }
        let values = self.take_all(results);
        self.replaced(&state.before, &values);
        if *releases {
            self.pool.release(state.mark, &self.room.meter);
        }
        state.i += 1;
        self.next_loop(state, values);
    }

    /// The memory that an array owns.
    fn memory(&self, slot: usize) -> Option<Weak<Memory>> {
        match &self.slots[self.base + slot] {
            Value::Array(array) => array.memory.as_ref().map(Rc::downgrade),
            _ => None,
        }
    }

    /// Counts the bytes that an iteration has replaced: scalars, and arrays that have not been
    /// updated in place.
    fn replaced(&mut self, before: &[Option<Weak<Memory>>], state: &[Value]) {
        for (before, value) in before.iter().zip(state) {
            self.counts.overwritten += match value {
                Value::Scalar(value) => width(value.ty()),
                Value::Array(Array { memory: Some(memory), .. })
                    if before
                        .as_ref()
                        .is_some_and(|before| before.as_ptr() == Rc::as_ptr(memory)) =>
                {
                    0
                }
                Value::Array(array) => bytes(&array.tensor.data),
                _ => 0,
            };
        }
    }

    fn call(
        &mut self,
        step: &'c Step,
        function: usize,
        args: &[Operand],
        accumulators: &[usize],
    ) -> Run<()> {
        let Some(routine) = self.program.functions.get(function).and_then(Option::as_ref) else {
            return internal("a call of a function that is under construction");
        };
        let base = self.slots.len();
        self.deeper(step, routine.slots)?;
        self.slots.resize(base + routine.slots, Value::Empty);
        for ((slot, _), arg) in routine.params.iter().zip(args) {
            self.slots[base + slot] = self.take(arg);
        }
        for (slot, acc) in routine.accumulators.iter().zip(accumulators) {
            self.slots[base + slot] = match &self.slots[self.base + acc] {
                // An accumulator of a caller further out, or a cell, is passed on.
                passed @ (Value::Accumulator(_) | Value::Cell(_) | Value::Nowhere) => {
                    passed.clone()
                }
                _ => Value::Accumulator(self.base + acc),
            };
        }
        let caller = std::mem::replace(&mut self.base, base);
        self.counts.ints += 1;
        self.push(&routine.code, Continuation::Call(step, caller, self.pool.mark()));
        Ok(())
    }

    /// Makes room for more slots, and for a frame.
    fn deeper(&mut self, step: &Step, slots: usize) -> Run<()> {
        let bytes = (self.slots.len() + slots) * size_of::<Value>()
            + (self.frames.len() + 1) * size_of::<Frame<'_>>();
        let limit =
            MOST_FOR_CALLS.min(self.room.limit.limit.saturating_sub(self.room.meter.live()));
        let spare = limit.checked_sub(bytes as u64).map(|spare| spare / 2);
        if spare.is_some_and(|spare| {
            grow(&mut self.slots, slots, spare).is_ok() && grow(&mut self.frames, 1, spare).is_ok()
        }) {
            return Ok(());
        }
        Err(Failure { span: step.spans[0], message: TOO_DEEP.into() })
    }
}
