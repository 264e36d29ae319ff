//! Jacobians and Hessians, as terms over `jvp` and `vjp`.
//!
//! ```text
//!   columns of f at x      for j => (jvp f x eⱼ).1
//!   rows of f at x         let (y, pullback) = vjp f x in for i => pullback eᵢ
//! ```
//!
//! The columns belong to the *leaves* of the point: its scalars and arrays of scalars. A point that
//! consists only of leaves inside of tuples and records is *dense*; another point, with variants or
//! arrays of tuples, is differentiated by rows.
//!
//! * Assumes: `f` and `x` are variables, so that they may be mentioned repeatedly.
//! * Gives: a row of the type of `x` for each real of `f x`.

use lambada_prim::{Prim, Scalar, ScalarTy};
use lambada_source::Span;

use crate::build::{
    app, band, dim, for_, if_, index, int, jvp, lam, let_, lit, prim, proj, real, tuple, var, vjp,
};
use crate::{Program, Term, TermKind, Ty, Var};

/// `jacobian f x`, for a function whose result is a real or an array of reals. Computed by columns
/// if these are fewer than the rows, otherwise by rows; also by rows if the modes differ on
/// purpose, because a Jacobian is then the reverse derivative.
pub fn jacobian(program: &mut Program, f: &Term, x: &Term, span: Span) -> Term {
    let Ty::Fun(_, to) = f.ty() else { panic!("a jacobian of {:?}", f.ty()) };
    if program.modes_differ {
        return rows(program, f, x, span);
    }
    if *x.ty() == Ty::REAL {
        return proj(jvp(f.clone(), x.clone(), real(1.0), span), 1);
    }
    let by_rows = rows(program, f, x, span);
    let Some(leaves) = leaves(x.ty()).filter(|_| rank(to) > 0) else { return by_rows };
    let value = program.fresh("value", (**to).clone());
    let count = |xs: &Term| {
        let sizes = (0..rank(xs.ty())).map(|axis| dim(xs.clone(), axis));
        sizes.reduce(|a, b| prim(Prim::MulInt, vec![a, b])).unwrap_or(int(1))
    };
    let columns = leaves.iter().filter(|leaf| leaf.elem == ScalarTy::Real);
    let columns = columns.map(|leaf| count(&leaf.of(x)));
    let columns = columns.reduce(|a, b| prim(Prim::AddInt, vec![a, b])).unwrap_or(int(0));
    let fewer = prim(Prim::LtInt, vec![columns, count(&var(&value))]);
    let by_columns = transposed(program, f, x, &value, &leaves, span);
    let chosen = if_(fewer, by_columns, by_rows);
    let chosen = match (&leaves[..], rank(to)) {
        ([leaf], 1) if leaf.rank == 1 && leaf.elem == ScalarTy::Real && leaf.path.is_empty() => {
            by_diagonals(program, f, x, &value, chosen, span)
        }
        _ => chosen,
    };
    let_(value, app(f.clone(), x.clone()), chosen)
}

/// The rows of a Jacobian with evidently few diagonals, otherwise `otherwise`. Columns without a
/// common row share a product.
///
/// ```text
///   let (low, high) = band f x in if high < low then otherwise else
///   let width = high - low + 1
///   let products = for c < width => (jvp f x (for j => if j % width == c then 1 else 0)).1
///   in for i, j => if low <= j - i && j - i <= high then products[j % width, i] else 0
/// ```
fn by_diagonals(
    program: &mut Program,
    f: &Term,
    x: &Term,
    value: &Var,
    otherwise: Term,
    span: Span,
) -> Term {
    let found = band(f.clone(), x.clone(), span);
    let both = program.fresh("band", found.ty().clone());
    let (low, high) = (proj(var(&both), 0), proj(var(&both), 1));
    let width = program.fresh("width", Ty::INT);
    let int2 = |op: Prim, a: Term, b: Term| prim(op, vec![a, b]);
    let turn = |j: &Var| int2(Prim::RemInt, var(j), var(&width));
    let [c, i, j, k] = ["c", "i", "j", "k"].map(|hint| program.fresh(hint, Ty::INT));
    let seed = if_(int2(Prim::EqInt, turn(&k), var(&c)), real(1.0), real(0.0));
    let seeds = for_(k.clone(), dim(x.clone(), 0), seed);
    let product = proj(jvp(f.clone(), x.clone(), seeds, span), 1);
    let all = for_(c.clone(), var(&width), product);
    let products = program.fresh("products", all.ty().clone());
    let diagonal = int2(Prim::SubInt, var(&j), var(&i));
    let from = int2(Prim::LeInt, low.clone(), diagonal.clone());
    let upto = int2(Prim::LeInt, diagonal, high.clone());
    let entry = index(var(&products), vec![turn(&j), var(&i)], span);
    let entry = if_(int2(Prim::And, from, upto), entry, real(0.0));
    let row = for_(j.clone(), dim(x.clone(), 0), entry);
    let rows = for_(i.clone(), dim(var(value), 0), row);
    let count = int2(Prim::AddInt, int2(Prim::SubInt, high.clone(), low.clone()), int(1));
    let filled = let_(width.clone(), count, let_(products, all, rows));
    let_(both, found, if_(int2(Prim::LtInt, high, low), otherwise, filled))
}

/// The second derivatives of a function with a real result at a dense point without integers: for
/// each leaf, an array over its elements of the derivative of the gradient, by leaves again. For a
/// single leaf this is one array, otherwise a tuple of tuples.
///
/// `None`, if the point has another type.
pub fn hessian(program: &mut Program, f: &Term, x: &Term, span: Span) -> Option<Term> {
    let leaves = leaves(x.ty())?;
    if leaves.iter().any(|leaf| leaf.elem != ScalarTy::Real) {
        return None;
    }
    let at = program.fresh("point", x.ty().clone());
    let gradient = app(proj(vjp(f.clone(), var(&at), span), 1), real(1.0));
    let slope = lam(at, gradient);
    let slope_var = program.fresh("slope", slope.ty().clone());
    let mut blocks = Vec::new();
    for leaf in &leaves {
        let columns = columns(program, &var(&slope_var), x, leaf, &leaves, span);
        let shared = program.fresh("columns", columns.ty().clone());
        let by_leaf = leaves.iter().map(|other| {
            let places = leaf.places(program);
            let column = index_all(&var(&shared), &places, span);
            leaf.over(x, places, other.of(&column))
        });
        let mut by_leaf: Vec<Term> = by_leaf.collect();
        let block = if by_leaf.len() == 1 { by_leaf.remove(0) } else { tuple(by_leaf) };
        blocks.push(let_(shared, columns, block));
    }
    let all = if blocks.len() == 1 { blocks.remove(0) } else { tuple(blocks) };
    Some(let_(slope_var, slope, all))
}

/// A scalar or an array of scalars inside of a point.
#[derive(Clone, PartialEq)]
struct Leaf {
    /// Path of components to the leaf.
    path: Vec<usize>,
    elem: ScalarTy,
    rank: usize,
}

impl Leaf {
    /// The leaf of a value of the point's type.
    fn of(&self, x: &Term) -> Term {
        self.path.iter().fold(x.clone(), |x, k| proj(x, *k))
    }

    /// A new variable for each axis.
    fn places(&self, program: &mut Program) -> Vec<Var> {
        (0..self.rank).map(|_| program.fresh("j", Ty::INT)).collect()
    }

    /// `for j < …, … => body`, over the elements of the leaf of `x`.
    fn over(&self, x: &Term, places: Vec<Var>, body: Term) -> Term {
        over(&self.of(x), places, body)
    }
}

/// The leaves of a dense type, in order.
fn leaves(ty: &Ty) -> Option<Vec<Leaf>> {
    fn collect(ty: &Ty, path: &mut Vec<usize>, all: &mut Vec<Leaf>) -> Option<()> {
        match ty {
            Ty::Scalar(_) | Ty::Array(_) => {
                let Ty::Scalar(elem) = innermost(ty) else { return None };
                all.push(Leaf { path: path.clone(), elem: *elem, rank: rank(ty) });
                Some(())
            }
            Ty::Tuple(_) | Ty::Record(_) => {
                for (k, component) in ty.components().iter().enumerate() {
                    path.push(k);
                    collect(component, path, all)?;
                    path.pop();
                }
                Some(())
            }
            Ty::Fun(..) | Ty::Variant(_) => None,
        }
    }
    let mut all = Vec::new();
    collect(ty, &mut Vec::new(), &mut all)?;
    Some(all)
}

fn innermost(ty: &Ty) -> &Ty {
    if let Ty::Array(elem) = ty { innermost(elem) } else { ty }
}

fn rank(ty: &Ty) -> usize {
    if let Ty::Array(elem) = ty { 1 + rank(elem) } else { 0 }
}

/// A value of a dense type, leaf by leaf.
fn assemble(ty: &Ty, leaves: &mut dyn Iterator<Item = Term>) -> Term {
    match ty {
        Ty::Tuple(_) | Ty::Record(_) => {
            let items = ty.components().iter().map(|ty| assemble(ty, leaves)).collect();
            Term::new(TermKind::Tuple(items), ty.clone(), Span::default())
        }
        Ty::Scalar(_) | Ty::Array(_) | Ty::Fun(..) | Ty::Variant(_) => {
            leaves.next().expect("a value for each leaf")
        }
    }
}

/// `for j < dim xs 0, … => body`
fn over(xs: &Term, places: Vec<Var>, body: Term) -> Term {
    let axes = places.into_iter().enumerate().rev();
    axes.fold(body, |body, (axis, place)| for_(place, dim(xs.clone(), axis), body))
}

fn index_all(xs: &Term, places: &[Var], span: Span) -> Term {
    match places {
        [] => xs.clone(),
        places => index(xs.clone(), places.iter().map(var).collect(), span),
    }
}

/// The derivatives along the elements of a leaf: `for j => (jvp f x eⱼ).1`.
fn columns(
    program: &mut Program,
    f: &Term,
    x: &Term,
    leaf: &Leaf,
    leaves: &[Leaf],
    span: Span,
) -> Term {
    let places = leaf.places(program);
    let parts: Vec<Term> = leaves
        .iter()
        .map(|other| match other == leaf {
            true => one_hot(program, &leaf.of(x), &places),
            false => zeros(program, other, x),
        })
        .collect();
    let direction = assemble(x.ty(), &mut parts.into_iter());
    let column = proj(jvp(f.clone(), x.clone(), direction, span), 1);
    leaf.over(x, places, column)
}

/// The rows, transposed from the columns of all leaves.
fn transposed(
    program: &mut Program,
    f: &Term,
    x: &Term,
    value: &Var,
    leaves: &[Leaf],
    span: Span,
) -> Term {
    let row: Vec<Var> = (0..rank(&value.ty)).map(|_| program.fresh("i", Ty::INT)).collect();
    let (mut shared, mut parts) = (Vec::new(), Vec::new());
    for leaf in leaves {
        if leaf.elem != ScalarTy::Real {
            parts.push(zeros(program, leaf, x));
            continue;
        }
        let columns = columns(program, f, x, leaf, leaves, span);
        let all = program.fresh("columns", columns.ty().clone());
        let places = leaf.places(program);
        let at: Vec<Var> = places.iter().chain(&row).cloned().collect();
        parts.push(leaf.over(x, places, index_all(&var(&all), &at, span)));
        shared.push((all, columns));
    }
    let rows = over(&var(value), row, assemble(x.ty(), &mut parts.into_iter()));
    shared.into_iter().rev().fold(rows, |rows, (all, columns)| let_(all, columns, rows))
}

/// `let (y, pullback) = vjp f x in for i < length y => pullback eᵢ`
fn rows(program: &mut Program, f: &Term, x: &Term, span: Span) -> Term {
    let pulled = vjp(f.clone(), x.clone(), span);
    let both = program.fresh("both", pulled.ty().clone());
    let y = proj(var(&both), 0);
    let value = program.fresh("value", y.ty().clone());
    let places: Vec<Var> = (0..rank(y.ty())).map(|_| program.fresh("i", Ty::INT)).collect();
    let seed = one_hot(program, &var(&value), &places);
    let row = app(proj(var(&both), 1), seed);
    let rows = over(&var(&value), places, row);
    let_(both, pulled, let_(value, y, rows))
}

/// Zeros of the shape of a leaf of `x`.
fn zeros(program: &mut Program, leaf: &Leaf, x: &Term) -> Term {
    let zero = match leaf.elem {
        ScalarTy::Real => real(0.0),
        ScalarTy::Int => int(0),
        ScalarTy::Bool => lit(Scalar::Bool(false)),
    };
    let places = leaf.places(program);
    leaf.over(x, places, zero)
}

/// An array of the shape of `like` with 1 at a place and 0 elsewhere.
fn one_hot(program: &mut Program, like: &Term, place: &[Var]) -> Term {
    let here: Vec<Var> = place.iter().map(|_| program.fresh("k", Ty::INT)).collect();
    let equal = here.iter().zip(place).map(|(a, b)| prim(Prim::EqInt, vec![var(a), var(b)]));
    let element = match equal.reduce(|a, b| prim(Prim::And, vec![a, b])) {
        Some(equal) => if_(equal, real(1.0), real(0.0)),
        None => real(1.0),
    };
    over(like, here, element)
}
