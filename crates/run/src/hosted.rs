//! Memory for large results of machine code: vectors that outlive the call and become tensors
//! without a copy, or memory of the caller.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use lambada_prim::{Data, Tensor, pages};

use crate::elements::{Argument, Elements, Got, Lent};

/// Memory of the caller where a result may be computed.
#[derive(Clone, Copy, Debug)]
pub struct Destination<'d> {
    pub(crate) memory: *mut u64,
    pub(crate) words: usize,
    lives: PhantomData<&'d mut [u64]>,
}

impl<'d> Destination<'d> {
    /// Memory for reals.
    pub fn reals(place: &'d mut [f64]) -> Destination<'d> {
        Destination { memory: place.as_mut_ptr().cast(), words: place.len(), lives: PhantomData }
    }

    /// Memory for integers.
    pub fn ints(place: &'d mut [i64]) -> Destination<'d> {
        Destination { memory: place.as_mut_ptr().cast(), words: place.len(), lives: PhantomData }
    }

    /// Whether the memory is as large as that of results that machine code asks for.
    pub fn is_large(&self) -> bool {
        self.words >= 8192
    }

    /// Whether elements of the argument lie in this memory; machine code may read them after it has
    /// begun to write the result.
    pub fn overlaps(&self, argument: Argument<'_>) -> bool {
        let Argument::Array(_, elements) = argument else { return false };
        let bytes = match elements {
            Lent::Real(values) => size_of_val(values),
            Lent::Single(values) => size_of_val(values),
            Lent::Int(values) => size_of_val(values),
            Lent::Bool(values) => size_of_val(values),
        };
        let (from, own) = (elements.address() as usize, self.memory as usize);
        from < own + self.words * size_of::<u64>() && own < from + bytes
    }
}

/// Memory requested by a call so far. The vectors have capacity, but no elements.
#[derive(Default)]
pub(crate) struct Hosted<'d> {
    blocks: Vec<Vec<u64>>,
    /// Memory of the caller, until it is given.
    destinations: &'d mut [Option<Destination<'d>>],
}

/// Callback of machine code: allocates `count` words, or returns null.
pub(crate) unsafe extern "C" fn give(hosted: *mut c_void, count: i64) -> *mut c_void {
    // SAFETY: `NativeCall::take` passes this address, and does not use it until machine code has
    // returned.
    let Hosted { blocks, destinations } = unsafe { &mut *hosted.cast::<Hosted>() };
    let mut block: Vec<u64> = Vec::new();
    let Ok(count) = usize::try_from(count) else { return std::ptr::null_mut() };
    let fits = |place: &&mut Option<Destination>| place.is_some_and(|place| place.words == count);
    if let Some(place) = destinations.iter_mut().find(fits).and_then(Option::take) {
        return place.memory.cast();
    }
    if block.try_reserve_exact(count).is_err() || blocks.try_reserve(1).is_err() {
        return std::ptr::null_mut();
    }
    pages::ask_for_large(&mut block);
    let memory = block.as_mut_ptr();
    blocks.push(block);
    memory.cast()
}

impl<'d> Hosted<'d> {
    /// Offers memory of the caller, an entry for each result.
    pub fn offering(destinations: &'d mut [Option<Destination<'d>>]) -> Hosted<'d> {
        Hosted { blocks: Vec::new(), destinations }
    }

    /// The vectors that were given.
    pub fn into_blocks(self) -> Vec<Vec<u64>> {
        self.blocks
    }

    /// Whether no memory was requested.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The results of the call that used this memory. A result alone in its vector becomes a tensor
    /// in place; others are copied.
    ///
    /// # Safety
    /// The call has returned, and its results lie in this memory or elsewhere.
    pub unsafe fn tensors<'r>(
        mut self,
        results: impl Iterator<Item = Got<'r>> + Clone,
    ) -> Vec<Tensor> {
        let starts: Vec<*const u8> = results.clone().map(start).collect();
        // Vectors stay until the last result has been copied.
        let owned: Vec<Option<usize>> = (starts.iter())
            .map(|place| {
                let is_alone = starts.iter().filter(|other| *other == place).count() == 1;
                let is_here = |block: &Vec<u64>| block.as_ptr().cast() == *place;
                self.blocks.iter().position(is_here).filter(|_| is_alone && !place.is_null())
            })
            .collect();
        let tensor = |(got, owned): (Got, Option<usize>)| {
            let (Got::Array(dims, elements), Some(block)) = (got, owned) else {
                return got.tensor();
            };
            let data = match elements {
                // SAFETY: `values.len()` elements are there; their type has the size and alignment
                // of a word, and no other result lies in the block.
                Elements::Real(values) => Data::Real(unsafe {
                    filled(std::mem::take(&mut self.blocks[block]), values.len())
                }),
                // SAFETY: as above.
                Elements::Int(values) => Data::Int(unsafe {
                    filled(std::mem::take(&mut self.blocks[block]), values.len())
                }),
                Elements::Single(_) | Elements::Bool(_) => return got.tensor(),
            };
            Tensor { dims: dims.iter().map(|size| *size as usize).collect(), data }
        };
        results.zip(owned).map(tensor).collect()
    }
}

/// Address of the elements of an array; null for scalars and empty arrays.
fn start(got: Got) -> *const u8 {
    match got {
        Got::Array(_, Elements::Real(values)) if !values.is_empty() => values.as_ptr().cast(),
        Got::Array(_, Elements::Int(values)) if !values.is_empty() => values.as_ptr().cast(),
        Got::Array(..) | Got::Scalar(_) => std::ptr::null(),
    }
}

/// The vector with its first `len` elements initialized.
///
/// # Safety
/// `T` has the size and alignment of a word and allows any bit pattern, and the first `len`
/// elements are initialized.
unsafe fn filled<T>(block: Vec<u64>, len: usize) -> Vec<T> {
    const { assert!(size_of::<T>() == size_of::<u64>() && align_of::<T>() == align_of::<u64>()) };
    let mut block = ManuallyDrop::new(block);
    debug_assert!(len <= block.capacity(), "a result is no larger than its memory");
    // SAFETY: the memory is the allocation of a vector of words, which has the same layout for `T`,
    // and the elements are initialized.
    unsafe { Vec::from_raw_parts(block.as_mut_ptr().cast::<T>(), len, block.capacity()) }
}

#[cfg(test)]
mod tests {
    use lambada_prim::Data;

    use super::{Hosted, give};
    use crate::elements::{Elements, Got};

    #[test]
    fn a_result_with_memory_of_its_own_stays_where_it_is() {
        let mut hosted = Hosted::default();
        let mut made = |count: i64| {
            // SAFETY: the address is that of `hosted`, which nothing else uses; the block has
            // capacity for the elements.
            unsafe {
                let memory = give((&raw mut hosted).cast(), count).cast::<f64>();
                (0..count as usize).for_each(|k| memory.add(k).write(k as f64));
                std::slice::from_raw_parts(memory, count as usize)
            }
        };
        let (alone, twice, unused) = (made(10), made(20), made(30));
        let elsewhere = [1.0, 2.0];
        let sizes = [10, 20, 2, 0];
        let results = [
            Got::Array(&sizes[..1], Elements::Real(alone)),
            Got::Array(&sizes[1..2], Elements::Real(twice)),
            Got::Array(&sizes[1..2], Elements::Real(twice)),
            Got::Array(&sizes[2..3], Elements::Real(&elsewhere)),
            Got::Array(&sizes[3..], Elements::Real(&[])),
        ];
        let (place, copied) = (alone.as_ptr(), twice.as_ptr());
        let expected: Vec<_> = results.iter().map(|got| got.tensor()).collect();
        assert_eq!(unused.len(), 30);
        // SAFETY: the writes to the memory are over.
        let tensors = unsafe { hosted.tensors(results.into_iter()) };
        assert_eq!(tensors, expected);
        let places = tensors.iter().map(|tensor| match &tensor.data {
            Data::Real(values) => values.as_ptr(),
            Data::Int(_) | Data::Bool(_) => std::ptr::null(),
        });
        let places: Vec<*const f64> = places.collect();
        assert_eq!(places[0], place);
        assert!(places[1..].iter().all(|other| *other != copied));
    }

    #[test]
    fn where_there_is_no_memory_none_is_given() {
        let mut hosted = Hosted::default();
        for count in [-1, i64::MAX, i64::MAX / 16] {
            // SAFETY: as above; nothing is written.
            assert!(unsafe { give((&raw mut hosted).cast(), count) }.is_null(), "{count}");
        }
    }
}
