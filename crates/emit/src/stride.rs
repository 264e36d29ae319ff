//! The iterations that a loop runs at once. The remainder along an axis of lanes has too few
//! iterations for all lanes, but runs with all lanes: a lane without an iteration repeats the last
//! one, so its reads are in range and it computes no new value. It stores nothing, and adds nothing
//! to reductions. One loop with all lanes and one iteration for the remainder is less code than
//! loops with half the lanes, a quarter, and so on. Likewise, a tile at the end of an axis without
//! lanes runs its last iteration several times, if that may run twice.

use lambada_loops::{Buf, Op, Operand, Step, Ty};
use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy};

use super::Emitter;
use super::code::Elements;

/// One iteration of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stride {
    /// The number of iterations with lanes.
    pub(super) count: usize,
    pub(super) lanes: u16,
    /// Whether some lanes have no iteration.
    pub(super) partial: bool,
    /// Whether the last iteration runs again where there are fewer than `count`.
    pub(super) repeats: bool,
}

impl Stride {
    /// One iteration at a time.
    pub(super) const ONE: Stride = Stride::whole(1, 1);

    pub(super) const fn whole(count: usize, lanes: u16) -> Stride {
        Stride { count, lanes, partial: false, repeats: false }
    }

    /// The number of covered indices.
    pub(super) fn len(self) -> i64 {
        self.count as i64 * i64::from(self.lanes)
    }

    /// The stride of a remainder after `lanes` lanes, with no more lanes than a known remainder
    /// needs.
    pub(super) fn tail((start, end): (Operand, Operand), lanes: u16) -> Option<Stride> {
        let known = match (start, end) {
            (Operand::Lit(Scalar::Int(start)), Operand::Lit(Scalar::Int(end))) => {
                Some(end.saturating_sub(start))
            }
            (_, _) => None,
        };
        match known {
            _ if lanes == 1 => None,
            Some(..=0) => None,
            Some(left) => {
                let enough = left.min(i64::from(lanes)) as u16;
                let lanes = enough.next_power_of_two();
                let partial = i64::from(lanes) != left;
                Some(Stride { partial, ..Stride::whole(1, lanes) })
            }
            None => Some(Stride { partial: true, ..Stride::whole(1, lanes) }),
        }
    }
}

impl Emitter<'_> {
    /// The number of lanes with an iteration, if not all have one.
    pub(super) fn left(&self) -> Option<Operand> {
        self.axes.values().find_map(|bound| bound.left)
    }

    /// The number of each lane, at most that of the last one with an iteration.
    pub(super) fn up_to_last(&mut self, lane: Operand, left: Operand) -> Operand {
        let last = self.code.int(Prim::SubInt, left, Operand::int(1));
        self.code.prim(Prim::MinInt, &[lane, last])
    }

    /// The value in lanes with an iteration, the unit of `op` in all others.
    pub(super) fn masked(&mut self, value: Operand, op: ReduceOp) -> Operand {
        let bound = self.axes.values().find_map(|bound| bound.left.map(|left| (left, bound.lanes)));
        let Some((left, lanes)) = bound else { return value };
        let elem = self.code.ty(value).elem;
        let select = match elem {
            ScalarTy::Real => Prim::Select,
            ScalarTy::Int => Prim::SelectInt,
            ScalarTy::Bool => Prim::SelectBool,
        };
        let iota = self.code.iota(lanes);
        let has = self.code.prim(Prim::LtInt, &[iota, left]);
        self.code.prim(select, &[has, value, Operand::Lit(op.unit(elem))])
    }

    /// Loads elements of a buffer without writes: consecutive ones, or those at the offsets.
    pub(super) fn load(
        &mut self,
        (buf, at): (Buf, Operand),
        consecutive: Option<u16>,
        since: usize,
    ) -> Operand {
        let left = self.left().filter(|_| consecutive.is_some());
        let lanes = consecutive.unwrap_or(self.code.ty(at).lanes);
        self.code.load(Elements { buf, at, lanes, left }, since)
    }

    /// Loads the current values of consecutive elements, or of those at the offsets.
    pub(super) fn load_now(&mut self, (buf, at): (Buf, Operand), lanes: u16) -> Operand {
        let elem = self.code.function.bufs[buf.0 as usize].0;
        let op = match self.left_of(at, lanes) {
            Some(left) => Op::LoadSome(buf, [at, left]),
            None => Op::Load(buf, at),
        };
        self.code.bind(Ty { elem, lanes }, op)
    }

    /// `buffer[at] = value`, for consecutive elements or those at the offsets.
    pub(super) fn store_at(&mut self, (buf, offset): (Buf, Operand), value: Operand) {
        let lanes = self.code.ty(value).lanes;
        self.code.push(match self.left_of(offset, lanes) {
            Some(count) => Step::StoreSome { buf, offset, count, value },
            None => Step::Store { buf, offset, value },
        });
    }

    /// The number of consecutive elements from an offset on that belong to iterations, if not all
    /// do.
    fn left_of(&self, at: Operand, lanes: u16) -> Option<Operand> {
        self.left().filter(|_| lanes > 1 && self.code.ty(at).lanes == 1)
    }
}
