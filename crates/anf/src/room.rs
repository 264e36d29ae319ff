//! Room for arrays: the evaluator asks before it makes one, and fails at the place in the program
//! that needs too much.

use std::rc::Rc;

use lambada_prim::Memory as Limit;
use lambada_source::{Failure, Span};

use crate::counts::{Memory, Meter};

/// Makes room.
pub(crate) struct Room {
    pub(crate) limit: Limit,
    pub(crate) meter: Rc<Meter>,
}

impl Room {
    /// Room for the elements of an array that comes from this place.
    pub(crate) fn make<T>(
        &self,
        dims: &[usize],
        span: Span,
    ) -> Result<(Vec<T>, Rc<Memory>), Failure> {
        let failure = |message| Failure { span, message };
        let (each, in_use) = (size_of::<T>() as u64, self.meter.live());
        let sizes = dims.iter().map(|dim| *dim as i64);
        let len = self.limit.room(sizes, each, in_use).map_err(failure)?;
        let mut room = Vec::new();
        let refused = |_| failure(self.limit.refused(Some((len as u64, each)), in_use));
        room.try_reserve_exact(len).map_err(refused)?;
        Ok((room, self.meter.allocate(len as u64 * each)))
    }

    /// [`Room::make`], filled with one value.
    pub(crate) fn filled<T: Clone>(
        &self,
        value: T,
        dims: &[usize],
        span: Span,
    ) -> Result<(Vec<T>, Rc<Memory>), Failure> {
        let (mut room, memory) = self.make(dims, span)?;
        room.resize(dims.iter().product(), value);
        Ok((room, memory))
    }

    /// Room for a node.
    pub(crate) fn node(&self, bytes: u64, span: Span) -> Result<(), Failure> {
        let room = self.limit.more(bytes, self.meter.live());
        room.map_err(|message| Failure { span, message })?;
        self.meter.claim(bytes);
        Ok(())
    }
}
