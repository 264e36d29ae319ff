//! `ravel` and `unravel`: a vector (a real, or a tuple, a record or an array of vectors) as the
//! array of its components, and back. `sum` of vectors, component by component.
//!
//! `ravel {w = [1.0, 2.0], b = 3.0}` is `[1.0, 2.0, 3.0]`. An array of tuples or records is a tuple
//! of arrays here, as it is in memory: all first components come before all second ones. An array
//! of reals is its own array of components, so generic code is as fast for it as code for arrays.

use lambada_core::{self as core, Term, TermKind, Ty, Var};
use lambada_prim::{Prim, ReduceOp};
use lambada_source::Span;

use super::Specialize;
use super::elementwise::has_parts;
use super::spine::Spine;

/// A part of an array of components: what it holds, and how many.
struct Piece {
    content: Content,
    count: Term,
}

enum Content {
    /// Reals next to each other.
    Scalars(Vec<Term>),
    /// An array of reals with one axis or more.
    Array(Term),
}

pub(super) fn ravel(of: &mut Specialize, x: Term, span: Span) -> Term {
    if is_flat(x.ty()) {
        return x;
    }
    let mut spine = Spine::default();
    let parts = leaves(of, x, &mut spine);
    let mut pieces = Vec::new();
    for leaf in parts {
        add_piece(&mut pieces, leaf);
    }
    let joined = joined(of, pieces, &mut spine, span);
    of.close(spine, joined)
}

pub(super) fn unravel(of: &mut Specialize, like: Term, components: Term, span: Span) -> Term {
    let ty = like.ty().clone();
    let mut spine = Spine::default();
    let components = of.share_as_var(&mut spine, "components", components);
    if is_flat(&ty) {
        let like = of.share_as_var(&mut spine, "vector", like);
        check_count(of, &components, core::dim(like, 0), span, &mut spine);
        return of.close(spine, components);
    }
    let leaves = leaves(of, like, &mut spine);
    let mut total = core::int(0);
    let mut parts = Vec::new();
    for leaf in &leaves {
        parts.push(cut(of, &components, &total, leaf));
        total = plus(total, count(leaf));
    }
    check_count(of, &components, total, span, &mut spine);
    let mut parts = parts.into_iter();
    let vector = assembled(of, &ty, &mut parts, &mut spine, span);
    of.close(spine, vector)
}

/// The sum of an array of vectors.
pub(super) fn sum(of: &mut Specialize, xs: Term, span: Span) -> Term {
    let Ty::Array(element) = xs.ty().clone() else { panic!("a sum of {:?}", xs.ty()) };
    let mut spine = Spine::default();
    let parts = if has_parts(&element) { leaves(of, xs, &mut spine) } else { vec![xs] };
    let sums: Vec<Term> =
        parts.into_iter().map(|part| of.at(core::reduce(ReduceOp::Add, part), span)).collect();
    let whole = assembled(of, &element, &mut sums.into_iter(), &mut spine, span);
    of.close(spine, whole)
}

/// The scalars and the arrays of scalars that a vector consists of, in order.
fn leaves(of: &mut Specialize, x: Term, spine: &mut Spine) -> Vec<Term> {
    let x = of.share_as_var(spine, "vector", x);
    if !has_parts(x.ty()) {
        return vec![x];
    }
    let axes = Specialize::rank(x.ty());
    let mut found = Vec::new();
    for k in 0..items(inside(x.ty())).len() {
        let part = of.part_of_elements(x.clone(), axes, k, spine);
        found.append(&mut leaves(of, part, spine));
    }
    found
}

/// One array of all pieces.
fn joined(of: &mut Specialize, mut pieces: Vec<Piece>, spine: &mut Spine, span: Span) -> Term {
    if pieces.len() == 1
        && let Some(Piece { content: Content::Scalars(scalars), .. }) = pieces.pop_if(scalars)
    {
        return literal(of, scalars, span);
    }
    let mut shared = Vec::new();
    let mut total = core::int(0);
    for Piece { content, count } in pieces {
        let array = match content {
            Content::Scalars(scalars) => {
                let literal = literal(of, scalars, span);
                of.share_as_var(spine, "components", literal)
            }
            Content::Array(array) => array,
        };
        let start = total.clone();
        total = plus(total, count);
        let end = of.share(spine, "end", total.clone());
        total = end.clone();
        shared.push((array, start, end));
    }
    let k = of.fresh("k", Ty::INT);
    let place = core::var(&k);
    let mut rest = None;
    for (array, start, end) in shared.into_iter().rev() {
        let here = element(&array, minus(place.clone(), start), span);
        rest = Some(match rest {
            None => here,
            Some(rest) => {
                let before = core::prim(Prim::LtInt, vec![place.clone(), end]);
                core::if_(before, here, rest)
            }
        });
    }
    match rest {
        Some(body) => of.at(core::for_(k, total, body), span),
        None => literal(of, Vec::new(), span),
    }
}

fn literal(of: &Specialize, scalars: Vec<Term>, span: Span) -> Term {
    Term::new(TermKind::Array(scalars), Ty::array(Ty::REAL), of.span(span))
}

/// The components from `start` on, in the shape of `leaf`.
fn cut(of: &mut Specialize, components: &Term, start: &Term, leaf: &Term) -> Term {
    let (rank, span) = (Specialize::rank(leaf.ty()), components.span());
    let vars: Vec<Var> = (0..rank).map(|_| of.fresh("i", Ty::INT)).collect();
    let mut place = core::int(0);
    for (axis, var) in vars.iter().enumerate() {
        place = plus(times(place, core::dim(leaf.clone(), axis)), core::var(var));
    }
    let at = core::index(components.clone(), vec![plus(start.clone(), place)], span);
    let axes = vars.into_iter().enumerate().rev();
    axes.fold(at, |body, (axis, var)| core::for_(var, core::dim(leaf.clone(), axis), body))
}

/// A value of a type from its leaves.
fn assembled(
    of: &mut Specialize,
    ty: &Ty,
    leaves: &mut dyn Iterator<Item = Term>,
    spine: &mut Spine,
    span: Span,
) -> Term {
    if !has_parts(ty) {
        return leaves.next().expect("each leaf was cut");
    }
    let (axes, element) = (Specialize::rank(ty), inside(ty));
    let mut parts = Vec::new();
    for item in items(element) {
        let ty = (0..axes).fold(item, |ty, _| Ty::array(ty));
        let part = assembled(of, &ty, leaves, spine, span);
        parts.push(of.share_as_var(spine, "part", part));
    }
    let Some(first) = parts.first().cloned() else {
        unreachable!("a vector has a component");
    };
    let vars: Vec<Var> = (0..axes).map(|_| of.fresh("i", Ty::INT)).collect();
    let places: Vec<Term> = vars.iter().map(core::var).collect();
    let at = |part: Term| match places.is_empty() {
        true => part,
        false => core::index(part, places.clone(), span),
    };
    let tuple = TermKind::Tuple(parts.into_iter().map(at).collect());
    let tuple = Term::new(tuple, element.clone(), of.span(span));
    vars.into_iter()
        .enumerate()
        .rev()
        .fold(tuple, |body, (axis, var)| core::for_(var, core::dim(first.clone(), axis), body))
}

fn check_count(of: &mut Specialize, components: &Term, total: Term, span: Span, spine: &mut Spine) {
    let found = of.scope.shapes.size(components, 0);
    let wanted = of.scope.shapes.value(&total);
    if found.is_some() && found == wanted {
        return;
    }
    if let (TermKind::Var(var), Some(wanted)) = (components.kind(), wanted) {
        of.scope.shapes.assume(var, 0, wanted);
    }
    let size = core::dim(components.clone(), 0);
    let equal = core::prim(Prim::EqInt, vec![size.clone(), total.clone()]);
    let message = "`unravel`: {0} components for a vector of {1}";
    of.check_in(spine, equal, span, message, vec![size, total]);
}

fn is_flat(ty: &Ty) -> bool {
    matches!(ty, Ty::Array(elem) if matches!(**elem, Ty::Scalar(_)))
}

/// The type inside of all array types.
fn inside(ty: &Ty) -> &Ty {
    if let Ty::Array(elem) = ty { inside(elem) } else { ty }
}

fn items(ty: &Ty) -> Vec<Ty> {
    match ty {
        Ty::Tuple(items) => items.to_vec(),
        Ty::Record(fields) => fields.iter().map(|(_, ty)| ty.clone()).collect(),
        Ty::Scalar(_) | Ty::Array(_) | Ty::Fun(..) | Ty::Variant(_) => Vec::new(),
    }
}

/// Scalars next to each other become one piece.
fn add_piece(pieces: &mut Vec<Piece>, leaf: Term) {
    let one = matches!(leaf.ty(), Ty::Scalar(_));
    match pieces.last_mut() {
        Some(Piece { content: Content::Scalars(scalars), count }) if one => {
            scalars.push(leaf);
            *count = core::int(scalars.len() as i64);
        }
        _ if one => {
            pieces.push(Piece { content: Content::Scalars(vec![leaf]), count: core::int(1) });
        }
        _ => {
            let count = count(&leaf);
            pieces.push(Piece { content: Content::Array(leaf), count });
        }
    }
}

fn scalars(piece: &mut Piece) -> bool {
    matches!(piece.content, Content::Scalars(_))
}

/// Number of scalars of a leaf.
fn count(leaf: &Term) -> Term {
    let sizes = (0..Specialize::rank(leaf.ty())).map(|axis| core::dim(leaf.clone(), axis));
    sizes.reduce(times).unwrap_or_else(|| core::int(1))
}

/// The k-th scalar of an array with one axis or more.
fn element(array: &Term, place: Term, span: Span) -> Term {
    let rank = Specialize::rank(array.ty());
    let mut places = Vec::new();
    let mut left = place;
    for axis in (1..rank).rev() {
        let size = core::dim(array.clone(), axis);
        places.push(core::prim(Prim::RemInt, vec![left.clone(), size.clone()]));
        left = core::prim(Prim::DivInt, vec![left, size]);
    }
    places.push(left);
    places.reverse();
    core::index(array.clone(), places, span)
}

fn is_zero(term: &Term) -> bool {
    matches!(term.kind(), TermKind::Lit(lambada_prim::Scalar::Int(0)))
}

fn plus(a: Term, b: Term) -> Term {
    match (is_zero(&a), is_zero(&b)) {
        (true, _) => b,
        (_, true) => a,
        _ => core::prim(Prim::AddInt, vec![a, b]),
    }
}

fn minus(a: Term, b: Term) -> Term {
    if is_zero(&b) { a } else { core::prim(Prim::SubInt, vec![a, b]) }
}

fn times(a: Term, b: Term) -> Term {
    if is_zero(&a) { a } else { core::prim(Prim::MulInt, vec![a, b]) }
}
