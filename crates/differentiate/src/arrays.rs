//! Linear algebra on whole arrays, as anf: the common vocabulary of the rules.

use lambada_anf::{Atom, Builder, Elem, NAMELESS, Nest, Op, Out, Ty, Var};
use lambada_prim::{Prim, ReduceOp};

/// The array of type `ty` whose element at `[i, j, …]` is `element [i, j, …]`: a nest of `for`s.
pub(crate) fn tabulate(
    b: &mut Builder,
    hint: &str,
    ty: &Ty,
    element: &mut dyn FnMut(&mut Builder, &[Atom]) -> Atom,
) -> Atom {
    nest(b, hint, ty, &mut Vec::new(), element)
}

fn nest(
    b: &mut Builder,
    hint: &str,
    ty: &Ty,
    at: &mut Vec<Atom>,
    element: &mut dyn FnMut(&mut Builder, &[Atom]) -> Atom,
) -> Atom {
    let Some(extent) = ty.dims.first() else {
        return element(b, at);
    };
    let index = b.names.fresh("i");
    at.push(index.into());
    let body = b.block(|b| vec![nest(b, hint, &ty.indexed(1), at, element)]);
    at.pop();
    b.bind(hint, ty.clone(), Nest::For { index, extent: *extent, outs: vec![Out::Collect], body })
}

/// `x + y`, elementwise.
pub(crate) fn plus(b: &mut Builder, hint: &str, ty: &Ty, x: Atom, y: Atom) -> Atom {
    tabulate(b, hint, ty, &mut |b, at| {
        let (x, y) = (real(b, x, at), real(b, y, at));
        b.bind(hint, Ty::real(), Op::Prim(Prim::Add, vec![x, y]))
    })
}

/// A copy with other size names, where only the program's checks prove the sizes equal.
pub(crate) fn resized(b: &mut Builder, hint: &str, ty: &Ty, x: Atom) -> Atom {
    tabulate(b, hint, ty, &mut |b, at| element(b, ty.elem, x, at))
}

/// An array of equal elements; the element itself if `ty` is scalar.
pub(crate) fn filled(b: &mut Builder, hint: &str, ty: &Ty, element: Atom) -> Atom {
    if ty.dims.is_empty() { element } else { b.bind(hint, ty.clone(), Op::Fill(element)) }
}

/// The sum of all elements.
pub(crate) fn total(b: &mut Builder, hint: &str, ty: &Ty, x: Atom) -> Atom {
    let ty = Ty { elem: Elem::REAL, dims: ty.dims.clone() };
    reduced(b, hint, &ty, ReduceOp::Add, x, &mut Vec::new())
}

/// Whether one of the booleans is true.
pub(crate) fn any(b: &mut Builder, hint: &str, ty: &Ty, x: Atom) -> Atom {
    reduced(b, hint, ty, ReduceOp::Or, x, &mut Vec::new())
}

fn reduced(
    b: &mut Builder,
    hint: &str,
    ty: &Ty,
    op: ReduceOp,
    x: Atom,
    at: &mut Vec<Atom>,
) -> Atom {
    let Some(extent) = ty.dims.first() else {
        return element(b, ty.elem, x, at);
    };
    let index = b.names.fresh("i");
    at.push(index.into());
    let body = b.block(|b| vec![reduced(b, hint, &ty.indexed(1), op, x, at)]);
    at.pop();
    let outs = vec![Out::Reduce(op)];
    b.bind(hint, Ty::scalar(ty.elem), Nest::For { index, extent: *extent, outs, body })
}

/// The transpose of the matrix `x`, as an array of type `ty`.
pub(crate) fn transpose(b: &mut Builder, ty: &Ty, x: Var) -> Var {
    let flipped = tabulate(b, "transposed", ty, &mut |b, at| real(b, x.into(), &[at[1], at[0]]));
    flipped.as_var().expect("an array is a variable")
}

/// `u vᵀ`, of type `ty`.
pub(crate) fn outer(b: &mut Builder, hint: &str, ty: &Ty, u: Atom, v: Atom) -> Atom {
    tabulate(b, hint, ty, &mut |b, at| {
        let (u, v) = (real(b, u, &at[..1]), real(b, v, &at[1..]));
        b.prim(Prim::Mul, [u, v])
    })
}

/// `x[at]`, a real.
fn real(b: &mut Builder, x: Atom, at: &[Atom]) -> Atom {
    element(b, Elem::REAL, x, at)
}

/// `x[at]`, a scalar or a handle; `x` itself without indices.
pub(crate) fn element(b: &mut Builder, elem: Elem, x: Atom, at: &[Atom]) -> Atom {
    match x {
        Atom::Var(x) if !at.is_empty() => {
            b.bind(NAMELESS, Ty::scalar(elem), Op::Index(x, at.to_vec()))
        }
        Atom::Var(_) | Atom::Lit(_) => x,
    }
}
