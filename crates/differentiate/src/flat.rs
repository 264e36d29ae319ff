//! Tapes of arrays whose sizes differ from iteration to iteration, as in triangular nests.
//!
//! The arrays stand one after the other on one flat tape. If the sizes are computed from the loop
//! index, their sum, the length of the tape, is known before the loop. The loop carries the start
//! of the iteration's part, and keeps it for the reverse sweep.
//!
//! ```text
//!   loop for j < n { … v : [e j]real … }    total = Σ_{j<n} e j
//!                                           loop (tape : [total]real, start = 0) for j < n { …
//!                                             tape with [start …] = v; start + e j }
//! ```

use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Builder, Exp, LoopKind, Names, Nest, Op, Out, Param, Renaming, Stm, Ty, Var,
};
use lambada_prim::{Prim, ReduceOp, ScalarTy};

use crate::versions::is_total;

/// An array of the body on a flat tape.
#[derive(Clone)]
pub(crate) struct Flat {
    pub(crate) value: Param,
    /// Number of leading axes whose elements or sub-arrays stand one after the other.
    pub(crate) axes: usize,
    pub(crate) home: Param,
    /// The start of the iteration's part: state of the forward loop.
    pub(crate) start: Param,
    /// The tape that holds `start` for the reverse sweep.
    pub(crate) starts: Param,
}

/// A loop body, to compute the length of a tape.
pub(crate) struct Sizes<'a> {
    pub(crate) index: Var,
    pub(crate) extent: Atom,
    pub(crate) bound: &'a HashSet<Var>,
    pub(crate) binder: &'a HashMap<Var, &'a Stm>,
    /// Names of sizes before the loop.
    pub(crate) outside: &'a Renaming,
}

impl Sizes<'_> {
    /// The sum of the product of the sizes over all iterations, if total integer arithmetic
    /// computes it before the loop.
    pub(crate) fn total(&self, names: &mut Names, sizes: &[Atom]) -> Option<Stm> {
        let (mut order, mut seen) = (Vec::new(), HashSet::new());
        sizes.iter().try_for_each(|size| self.needed(*size, &mut seen, &mut order))?;
        let mut renaming = self.outside.clone();
        let index = names.again(self.index);
        renaming.insert(self.index, index.into());
        let mut b = Builder::new(names);
        for stm in order {
            let stm = renaming.copy_stm(stm, b.names);
            b.stms.push(stm);
        }
        let sizes: Vec<Atom> = sizes.iter().map(|size| renaming.atom(*size)).collect();
        let count = count(&mut b, &sizes);
        let body = b.finish(vec![count]);
        let (extent, outs) = (self.extent, vec![Out::Reduce(ReduceOp::Add)]);
        let total = Param { var: names.fresh("total"), ty: Ty::int() };
        Some(Stm::new(vec![total], Nest::For { index, extent, outs, body }))
    }

    fn needed<'a>(
        &'a self,
        size: Atom,
        seen: &mut HashSet<Var>,
        order: &mut Vec<&'a Stm>,
    ) -> Option<()> {
        let Some(x) = size.as_var().filter(|x| *x != self.index && self.bound.contains(x)) else {
            return Some(());
        };
        if self.outside.atom(size) != size || !seen.insert(x) {
            return Some(());
        }
        let stm = *self.binder.get(&x)?;
        if !counts(stm) {
            return None;
        }
        let mentioned = stm.free_vars();
        mentioned.into_iter().try_for_each(|y| self.needed(y.into(), seen, order))?;
        order.push(stm);
        Some(())
    }
}

/// Whether the statement is total arithmetic on integers, or a sum of it.
fn counts(stm: &Stm) -> bool {
    match &stm.exp {
        Exp::Op(Op::Prim(op, args)) => is_total(*op, args),
        Exp::Nest(Nest::For { outs, body, .. }) => {
            outs.iter().all(|out| *out == Out::Reduce(ReduceOp::Add))
                && stm.binds.iter().all(|p| p.ty.elem == ScalarTy::Int)
                && body.stms.iter().all(counts)
        }
        Exp::Op(_) | Exp::Nest(Nest::Loop { .. } | Nest::If { .. }) => false,
    }
}

/// The number of elements of an array of these sizes.
fn count(b: &mut Builder, sizes: &[Atom]) -> Atom {
    let mut product = None;
    for size in sizes {
        let size = b.prim(Prim::MaxInt, [*size, Atom::int(0)]);
        product = Some(product.map_or(size, |product| b.prim(Prim::MulInt, [product, size])));
    }
    product.unwrap_or(Atom::int(1))
}

impl Flat {
    /// The sizes of the axes whose elements stand one after the other.
    pub(crate) fn sizes(&self) -> &[Atom] {
        &self.value.ty.dims[..self.axes]
    }

    /// The statements of the forward loop's body that write the array on the tape, and the next
    /// tape.
    pub(crate) fn write(&self, names: &mut Names, tape: Var) -> (Vec<Stm>, Atom) {
        let mut b = Builder::new(names);
        let tape = self.write_axis(&mut b, tape, Vec::new(), None);
        (b.stms, tape)
    }

    /// The start of the next iteration's part.
    pub(crate) fn next_start(&self, names: &mut Names) -> (Vec<Stm>, Atom) {
        let mut b = Builder::new(names);
        let count = count(&mut b, self.sizes());
        let next = b.prim(Prim::AddInt, [self.start.var.into(), count]);
        (b.stms, next)
    }

    /// The place on the tape of the element or sub-array at the index.
    pub(crate) fn place(&self, b: &mut Builder, index: &[Atom]) -> Vec<Atom> {
        let (leading, rest) = index.split_at(self.axes);
        let mut place = leading[0];
        for (k, size) in leading.iter().zip(self.sizes()).skip(1) {
            let row = b.prim(Prim::MulInt, [place, *size]);
            place = b.prim(Prim::AddInt, [row, *k]);
        }
        let place = b.prim(Prim::AddInt, [self.start.var.into(), place]);
        [&[place], rest].concat()
    }

    fn write_axis(
        &self,
        b: &mut Builder,
        tape: Var,
        index: Vec<Atom>,
        place: Option<Atom>,
    ) -> Atom {
        let (hint, ty) = (b.names.hint(tape), self.home.ty.clone());
        if index.len() == self.axes {
            let value = b.index(self.value.var, &self.value.ty, index);
            let place =
                b.prim(Prim::AddInt, [self.start.var.into(), place.unwrap_or(Atom::int(0))]);
            return b.bind(&hint, ty, Op::Update { array: tape, index: vec![place], value });
        }
        let extent = self.value.ty.dims[index.len()];
        let k = b.names.fresh("k");
        let inner = Param { var: b.names.again(tape), ty: ty.clone() };
        let body = b.block(|b| {
            let place = next_place(b, place, extent, k);
            let index = [index, vec![k.into()]].concat();
            vec![self.write_axis(b, inner.var, index, Some(place))]
        });
        let kind = LoopKind::counted(k, extent);
        b.bind(&hint, ty, Nest::Loop { params: vec![inner], inits: vec![tape.into()], kind, body })
    }

    /// The array of an iteration, from the tape; `sizes` are those of its leading axes.
    pub(crate) fn read(&self, b: &mut Builder, start: Atom, sizes: &[Atom]) -> Atom {
        self.read_axis(b, start, sizes, None)
    }

    fn read_axis(&self, b: &mut Builder, start: Atom, sizes: &[Atom], place: Option<Atom>) -> Atom {
        let hint = b.names.hint(self.value.var);
        let rest = self.home.ty.indexed(1);
        let Some((extent, inner)) = sizes.split_first() else {
            let place = b.prim(Prim::AddInt, [start, place.unwrap_or(Atom::int(0))]);
            return b.bind(&hint, rest, Op::Index(self.home.var, vec![place]));
        };
        let ty = Ty { elem: rest.elem, dims: [sizes, &rest.dims].concat() };
        let k = b.names.fresh("k");
        let body = b.block(|b| {
            let place = next_place(b, place, *extent, k);
            vec![self.read_axis(b, start, inner, Some(place))]
        });
        b.bind(&hint, ty, Nest::For { index: k, extent: *extent, outs: vec![Out::Collect], body })
    }
}

/// Row-major: `place * extent + k`
fn next_place(b: &mut Builder, place: Option<Atom>, extent: Atom, k: Var) -> Atom {
    match place {
        None => k.into(),
        Some(place) => {
            let row = b.prim(Prim::MulInt, [place, extent]);
            b.prim(Prim::AddInt, [row, k.into()])
        }
    }
}
