//! Offsets: `x[i, j]` of sizes `n, m` starts at `i·m + j`. Terms are added from the outermost level
//! inwards, so that terms invariant in an inner loop are computed outside of it and shared;
//! constants come last, where an address can absorb them.

use std::rc::Rc;

use lambada_loops::Operand;
use lambada_prim::{Prim, Scalar, ScalarTy};
use lambada_source::Span;

use crate::Lower;
use crate::code::Code;
use crate::memory::{Home, Place};

impl Code {
    /// The start of the part of an array at some indices.
    pub(crate) fn offset(&mut self, place: &Place, index: &[Operand]) -> Operand {
        let mut terms = vec![place.offset];
        for (k, i) in self.rejoined(place, index) {
            let stride = self.product(&place.dims[k + 1..]);
            terms.push(self.int(Prim::MulInt, i, stride));
        }
        self.sum(terms)
    }

    /// The indices with their axes. Indices `i / m` and `i % m`, for the size `m` of the second
    /// axis, are joined to one index `i` along it, as in a flattened array.
    fn rejoined(&self, place: &Place, index: &[Operand]) -> Vec<(usize, Operand)> {
        let mut joined: Vec<(usize, Operand)> = Vec::with_capacity(index.len());
        for (k, i) in index.iter().copied().enumerate() {
            let last = joined.last().and_then(|(_, before)| {
                // Quotient and remainder are exact only for positive sizes.
                let size = place.dims[k];
                let positive = matches!(size, Operand::Lit(Scalar::Int(1..)));
                positive.then(|| self.whole([*before, i], size)).flatten()
            });
            match (last, joined.last_mut()) {
                (Some(whole), Some(before)) => *before = (k, whole),
                (_, _) => joined.push((k, i)),
            }
        }
        joined
    }

    /// The sum of offsets.
    pub(crate) fn sum(&mut self, terms: Vec<Operand>) -> Operand {
        let mut constant = 0i64;
        let mut regs = Vec::new();
        for term in terms {
            match term {
                Operand::Lit(Scalar::Int(value)) => constant = constant.wrapping_add(value),
                Operand::Lit(Scalar::Real(_) | Scalar::Bool(_)) => {
                    unreachable!("an offset is an int")
                }
                Operand::Reg(_) => regs.push(term),
            }
        }
        regs.sort_by_key(|r| self.level_of(*r));
        let sum = regs.into_iter().reduce(|a, b| self.int(Prim::AddInt, a, b));
        match sum {
            Some(sum) => self.int(Prim::AddInt, sum, Operand::int(constant)),
            None => Operand::int(constant),
        }
    }

    /// The product of sizes, innermost first, like strides.
    fn product(&mut self, dims: &[Operand]) -> Operand {
        dims.iter()
            .rev()
            .copied()
            .reduce(|a, b| self.prim(Prim::MulInt, vec![a, b], "size"))
            .unwrap_or(Operand::int(1))
    }

    /// The number of elements, nonnegative.
    pub(crate) fn len(&mut self, dims: &[Operand]) -> Operand {
        let product = self.product(dims);
        self.natural(product)
    }

    /// The size, or 0 if it is negative.
    pub(crate) fn natural(&mut self, size: Operand) -> Operand {
        if self.is_natural(size) { size } else { self.int(Prim::MaxInt, size, Operand::int(0)) }
    }
}

impl Lower<'_> {
    /// The place of one element of an array of arrays, a storage of its own.
    pub(crate) fn slot(&mut self, place: &Place, index: Operand) -> Place {
        let offset = self.code.offset(place, &[index]);
        Place { storage: self.memory.slot(place.storage), offset, dims: place.dims[1..].into() }
    }

    /// New memory, made at the end of an open level.
    pub(crate) fn alloc_at(
        &mut self,
        level: usize,
        elem: ScalarTy,
        dims: Rc<[Operand]>,
        hint: Rc<str>,
        origin: Option<Span>,
    ) -> Place {
        let len = self.code.len(&dims);
        let buf = self.code.alloc(level, elem, &dims, hint, origin.or(self.code.near()));
        let storage = self.memory.own(buf, Home { level, len });
        self.code.add_home(level, storage);
        Place { storage, offset: Operand::int(0), dims }
    }
}
