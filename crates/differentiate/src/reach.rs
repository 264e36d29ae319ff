//! Dependence of results on parameters: the forward mode with ones for all partial derivatives that
//! are not literally zero.
//!
//! ```text
//!   y = op(x₁, …, xₙ)      ẏ = Σₖ ẋₖ      where ∂ₖop is not 0 by the way it is written
//!   y = select c a b       ẏ = select c ȧ ḃ
//!   y = a @ b              ẏ[i, j] = Σₖ ȧ[i, k] + Σₖ ḃ[k, j]
//!   s = ⊕ i < n { b }      ṡ = Σᵢ ḃ
//! ```
//!
//! Calls of a function with rules run the rule on marks ([`rules`]). All other code is the forward
//! mode as it is: marks go where tangents go. Marks are never negative and never multiplied, so
//! nothing cancels, nothing is lost by rounding, and an overflow is still positive: a result has a
//! positive mark exactly if a path leads to it from a positive mark. The code is linear in the
//! marks, so its transpose, by `vjp`, finds the parameters that a result depends on.
//!
//! * Assumes: as [`crate::tangents`], but with the original extrema and products.
//! * Gives: a function from the parameters and their marks to the results and the marks of active
//!   results.

mod rules;

use lambada_anf::{Atom, Builder, Nest, Op, Out, Param, Ty, Var};
use lambada_prim::{ArrayPrim, Prim, ReduceOp};

use crate::array_prims::version;
use crate::arrays;
use crate::prim::factor;
use crate::tangents::Tangents;

impl Tangents<'_> {
    pub(crate) fn reach_prim(&mut self, y: &Param, op: Prim, args: &[Atom]) {
        if let (Prim::Select, [cond, a, b]) = (op, args) {
            return self.reach_select(y, *cond, *a, *b);
        }
        let mut from: Vec<Atom> = Vec::new();
        for (partial, arg) in op.partials().iter().zip(args) {
            if let (Some(_), Some(marks)) = (factor(partial), self.get(*arg))
                && !from.contains(&marks)
            {
                from.push(marks);
            }
        }
        let hint = self.hint(y.var);
        let plus = |x, y| self.b.bind(&hint, Ty::real(), Op::Prim(Prim::Add, vec![x, y]));
        if let Some(sum) = from.into_iter().reduce(plus) {
            self.set(y.var, sum);
        }
    }

    fn reach_select(&mut self, y: &Param, cond: Atom, a: Atom, b: Atom) {
        if self.get(a).is_some() || self.get(b).is_some() {
            let [a, b] = [a, b].map(|x| self.or_zero(x, &Ty::real()));
            self.bind(y, Op::Prim(Prim::Select, vec![cond, a, b]));
        }
    }

    /// Marks each place of the result with all argument places that agree with it in the common
    /// axes.
    pub(crate) fn reach_contraction(&mut self, y: &Param, prim: ArrayPrim, args: &[Var]) {
        let hint = self.hint(y.var);
        let ranks: Vec<Option<usize>> = args
            .iter()
            .map(|arg| self.get_var(*arg).map(|marks| self.types[&marks].rank()))
            .collect();
        let version = version(prim, &ranks, y.ty.rank());
        let mut marked = Vec::new();
        for (arg, names) in args.iter().zip(version.args) {
            if let Some(marks) = self.get_var(*arg) {
                let (axes, place) = axes(names, version.result(), &self.types[&marks]);
                marked.push((self.sums(marks, axes), place));
            }
        }
        let sum = arrays::tabulate(&mut self.b, &hint, &y.ty, &mut |b, at| {
            let reached: Vec<Atom> = marked
                .iter()
                .map(|(sums, place)| sums.at(b, &place.map_or(vec![], |place| vec![at[place]])))
                .collect();
            let plus = |x, y| b.prim(Prim::Add, [x, y]);
            reached.into_iter().reduce(plus).expect("one of the arguments is marked")
        });
        self.set(y.var, sum);
        if let Atom::Var(sum) = sum {
            self.types.insert(sum, y.ty.clone());
        }
    }

    /// The sums over the inner axis of a factor: one for each element of the outer axis, if it has
    /// one.
    fn sums(&mut self, x: Var, axes: Axes) -> Sums {
        let value = match axes.outer {
            None => inner_sum(&mut self.b, axes.inner, &mut |k| vec![k], x),
            Some((extent, first)) => {
                let ty = Ty::real().array_of(extent);
                arrays::tabulate(&mut self.b, "sums", &ty, &mut |b, at| {
                    let i = at[0];
                    let place = &mut |k| if first { vec![i, k] } else { vec![k, i] };
                    inner_sum(b, axes.inner, place, x)
                })
            }
        };
        Sums { value, each: axes.outer.is_some() }
    }
}

/// The reduction of the marks of an out.
pub(crate) fn combined(out: Out) -> Out {
    match out {
        Out::Collect => Out::Collect,
        Out::Reduce(_) => Out::Reduce(ReduceOp::Add),
    }
}

/// The axes of a factor.
#[derive(Clone, Copy)]
struct Axes {
    inner: Atom,
    /// The size of the outer axis, and whether it comes first.
    outer: Option<(Atom, bool)>,
}

/// The axes of an argument of a product: the summed one, and the other one, with its place in the
/// result.
fn axes(names: &str, result: &str, ty: &Ty) -> (Axes, Option<usize>) {
    let inner = names.find(|name| !result.contains(name)).expect("an axis is summed");
    let other = names.char_indices().find(|(axis, _)| *axis != inner);
    let outer = other.map(|(axis, _)| (ty.dims[axis], axis < inner));
    let place = other.and_then(|(_, name)| result.find(name));
    (Axes { inner: ty.dims[inner], outer }, place)
}

/// Sums over the inner axis.
#[derive(Clone, Copy)]
struct Sums {
    value: Atom,
    /// Whether `value` is an array of sums.
    each: bool,
}

impl Sums {
    fn at(self, b: &mut Builder, place: &[Atom]) -> Atom {
        match self.value {
            Atom::Var(sums) if self.each => {
                b.bind("sum", Ty::real(), Op::Index(sums, place.to_vec()))
            }
            Atom::Var(_) | Atom::Lit(_) => self.value,
        }
    }
}

/// `Σₖ x[place k]`
fn inner_sum(
    b: &mut Builder,
    extent: Atom,
    place: &mut dyn FnMut(Atom) -> Vec<Atom>,
    x: Var,
) -> Atom {
    let index = b.names.fresh("k");
    let body = b.block(|b| vec![b.bind("mark", Ty::real(), Op::Index(x, place(index.into())))]);
    let outs = vec![Out::Reduce(ReduceOp::Add)];
    b.bind("sum", Ty::real(), Nest::For { index, extent, outs, body })
}
