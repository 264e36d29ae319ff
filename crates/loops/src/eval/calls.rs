//! Calls: their operands, and how the machine enters functions and leaves them.

use lambada_prim::{MOST_FOR_CALLS, grow};
use lambada_source::Failure;

use super::arena::WORD;
use super::compile::{Code, Compiler};
use super::counts::Meter;
use super::items::{Call, Frame, Passed, Taken};
use super::machine::Machine;
use super::{Range, ResultSource, Slot};
use crate::{Arg, FnId, ResultTarget};

/// The bytes of an allocation besides its content.
const ALLOCATION: usize = 16;

/// The bytes that a caller keeps.
fn bytes(slots: &[u64], ranges: &[Range]) -> u64 {
    let own = size_of::<Frame>() + size_of_val(ranges) + 2 * ALLOCATION;
    slots.len() as u64 * WORD + own as u64
}

impl Compiler<'_> {
    pub(super) fn call(
        &mut self,
        function: FnId,
        args: &[Arg],
        results: &[ResultTarget],
        site: u32,
    ) {
        let passed = |compiler: &mut Self, arg: &Arg| match arg {
            Arg::Scalar(value) => Passed::Slot(compiler.slot(*value)),
            Arg::Buffer(buf) => Passed::Buffer(buf.0),
        };
        let taken = |given: &ResultTarget| match given {
            ResultTarget::Cell(cell) => Taken::Slot(self.cells[cell.0 as usize]),
            ResultTarget::Buffer(buf) => Taken::Buffer(buf.0),
        };
        let results = results.iter().map(taken).collect();
        let args = args.iter().map(|arg| passed(self, arg)).collect();
        let number = self.program.calls.len() as u32;
        self.program.calls.push(Call { function: function.0 as usize, args, results, site });
        self.put(Code::Call { number });
    }
}

impl<'a, M: Meter> Machine<'a, M> {
    /// Begins a call from the current function, which goes on at `at` afterwards.
    pub(super) fn enter(&mut self, number: u32, at: usize) -> Result<(), Failure> {
        let call = &self.body.calls[number as usize];
        let body = &self.program.functions[call.function];
        let kept = bytes(&self.slots, &self.ranges);
        let spare = self.spare_for_calls(kept);
        if spare.is_none_or(|spare| grow(&mut self.frames, 1, spare / 2).is_err()) {
            return Err(self.failure(call.site, 0, 0));
        }
        let mut slots = body.slots.clone();
        let mut ranges = body.ranges.clone();
        for (arg, param) in call.args.iter().zip(&body.params) {
            match (*arg, *param) {
                (Passed::Slot(from), Slot::Scalar(_, to)) => {
                    slots[to as usize] = self.slots[from as usize];
                }
                (Passed::Buffer(from), Slot::Buffer(_, to)) => {
                    ranges[to as usize] = self.ranges[from as usize];
                }
                (Passed::Slot(_), Slot::Buffer(..)) | (Passed::Buffer(_), Slot::Scalar(..)) => {
                    unreachable!("the checker has compared arguments and parameters")
                }
            }
        }
        let slots = std::mem::replace(&mut self.slots, slots);
        let ranges = std::mem::replace(&mut self.ranges, ranges);
        self.frames.push(Frame { body: self.body, call, slots, ranges, at });
        self.kept += kept;
        self.body = body;
        Ok(())
    }

    /// The memory left for calls if the current function keeps this.
    fn spare_for_calls(&self, kept: u64) -> Option<u64> {
        let of_all = self.limit.limit.checked_sub(self.reserved().saturating_add(kept))?;
        let of_calls = MOST_FOR_CALLS.checked_sub(self.kept.saturating_add(kept))?;
        Some(of_all.min(of_calls))
    }

    /// Ends the function; returns the instruction at which its caller goes on, if a call has led
    /// here.
    pub(super) fn leave(&mut self) -> Result<Option<usize>, Failure> {
        let Some(frame) = self.frames.pop() else { return Ok(None) };
        let (mut slots, mut ranges) = (frame.slots, frame.ranges);
        self.kept -= bytes(&slots, &ranges);
        for (taken, result) in frame.call.results.iter().zip(&self.body.results) {
            match (*taken, result) {
                (Taken::Slot(to), ResultSource::Scalar(_, from)) => {
                    slots[to as usize] = self.slots[*from as usize];
                }
                (Taken::Buffer(to), ResultSource::Buffer(_, from, dims)) => {
                    let dims: Vec<i64> = dims.iter().map(|slot| self.int(*slot)).collect();
                    let (_, len) = super::sizes(&self.body.name, &dims)?;
                    let low = self.place(*from, 0, len as i64)?;
                    ranges[to as usize] = Range { low, high: low + len, origin: low as i64 };
                }
                (Taken::Slot(_), ResultSource::Buffer(..))
                | (Taken::Buffer(_), ResultSource::Scalar(..)) => {
                    unreachable!("the checker has compared results")
                }
            }
        }
        (self.slots, self.ranges, self.body) = (slots, ranges, frame.body);
        Ok(Some(frame.at))
    }
}
