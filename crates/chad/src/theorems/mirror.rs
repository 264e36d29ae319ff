//! T-12: reverse mode is the mirror image of forward mode, as a theorem about syntax: transposition
//! (`linear::transpose`) takes the one to the other, decided by the normalizer. And transposition
//! deserves its name: it is an involution, and the adjoint in the semantics.

use super::linear_terms::{Sample, environment, samples};
use super::*;
use crate::linear::{
    LTy, Lolli, Ty, normalize, normalize_linear, transpose, transpose_linear, transposed_linear_ty,
    transposed_var,
};

/// T-12: `D←(t)_1 = (D→(t)_1)°` and `D←(t)_2 = (D→(t)_2)°` up to βη+, programs between function
/// types included.
#[test]
fn reverse_is_the_mirror_image_of_forward() {
    for s in Subject::all().chain(Subject::higher()) {
        let (forward, reverse) = (Derived::forward(&s.comb), Derived::reverse(&s.comb));
        let x = transposed_var(&forward.x);
        assert_eq!(x.ty, reverse.x.ty);
        let rename = Env::default().with(&x, linear::var(&reverse.x));
        let (first, second) = (
            transpose(&forward.first).substitute(&rename),
            transpose_linear(&forward.second).substitute(&rename),
        );
        assert_eq!(
            (first.ty(), second.from(), second.to()),
            (reverse.first.ty(), reverse.second.from(), reverse.second.to())
        );
        linear::check(std::slice::from_ref(&reverse.x), &first).unwrap();
        linear::check_linear(std::slice::from_ref(&reverse.x), &second).unwrap();
        assert!(normalize(&first) == normalize(&reverse.first), "{}", s.term);
        assert!(normalize_linear(&second) == normalize_linear(&reverse.second), "{}", s.term);
    }
}

/// T-12: `Γ; v : σ ⊢ l : τ` becomes `Γ°; v : τ° ⊢ l° : σ°`, and `l°° = l` up to βη+.
#[test]
fn transposition_is_an_involution() {
    for Sample { context, l, .. } in samples(2) {
        let mirrored = transpose_linear(&l);
        assert_eq!(
            (mirrored.from(), mirrored.to()),
            (&transposed_linear_ty(l.to()), &transposed_linear_ty(l.from()))
        );
        linear::check_linear(&context.iter().map(transposed_var).collect::<Vec<_>>(), &mirrored)
            .unwrap();
        assert!(
            normalize_linear(&transpose_linear(&mirrored)) == normalize_linear(&l),
            "{l}\n{mirrored}"
        );
    }
}

/// T-12: `l = k` up to βη+ implies `l° = k°`: here for a term and its normal form.
#[test]
fn transposition_respects_equality() {
    for Sample { l, .. } in samples(2) {
        assert!(
            normalize_linear(&transpose_linear(&normalize_linear(&l)))
                == normalize_linear(&transpose_linear(&l)),
            "{l}"
        );
    }
}

/// T-12: `<l v, w> = <v, l° w>`, the variables of `l` being given meanings and the meanings of
/// their mirror images.
///
/// `<v, w>` is the inner product at vectors, and `Σ_i <f(x_i), y_i>` for a function and a tensor.
/// Where the `x_i` are linear functions, functions are not applied to their mirror images; there
/// `w` is the value of a term, and pairs with the term's transpose.
#[test]
fn transposition_is_the_adjoint() {
    let (mut explicit, mut higher) = (0, 0);
    for Sample { context, l, mut generator } in samples(2) {
        let g = &mut generator;
        let closed = g.closing(&context);
        let mirrored: Vec<Term> = closed.iter().map(transpose).collect();
        let images: Vec<linear::Var> = context.iter().map(transposed_var).collect();
        let (a, b) = (vector(g, l.from()), vector(g, &transposed_linear_ty(l.to())));
        let (v, w) = (at_one(&a), at_one(&b));
        let out = linear::eval_linear(&l, &environment(&context, &closed), &v);
        let back = linear::eval_linear(&transpose_linear(&l), &environment(&images, &mirrored), &w);
        let left = linear::eval_linear(&transpose_linear(&b), &Env::default(), &out).numbers()[0];
        let right = linear::eval_linear(&transpose_linear(&a), &Env::default(), &back).numbers()[0];
        close(&[left], &[right], 1e-9, &l);
        if plain(l.from()) && plain(l.to()) {
            close(&[pairing(l.to(), &out, &w)], &[pairing(l.from(), &v, &back)], 1e-9, &l);
            close(&[pairing(l.to(), &out, &w)], &[left], 1e-9, &l);
            explicit += 1;
        }
        higher += u64::from(
            [l.from(), l.to()].into_iter().any(|ty| matches!(ty, LTy::Fun(..) | LTy::Tensor(..))),
        );
    }
    assert!(
        explicit > 500 && higher > 500,
        "{explicit} pairings are explicit, {higher} are between functions or tensors"
    );
}

/// A closed linear term from `real` to a type, which stands for an element of it: its value at 1.
fn vector(g: &mut Generator, ty: &LTy) -> Lin {
    linear::plus(g.linear(&[], &LTy::Real(1), ty, 20), g.linear(&[], &LTy::Real(1), ty, 20))
}

fn at_one(l: &Lin) -> Value {
    linear::eval_linear(l, &Env::default(), &Value::real([1.0]))
}

/// `<v, w>` for `v` of a type and `w` of its mirror image.
fn pairing(ty: &LTy, v: &Value, w: &Value) -> f64 {
    match ty {
        LTy::Real(_) => inner(&v.numbers(), &w.numbers()),
        LTy::Unit => 0.0,
        LTy::Prod(a, b) => pairing(a, &v.fst(), &w.fst()) + pairing(b, &v.snd(), &w.snd()),
        LTy::Fun(_, to) => entries(w).iter().map(|(x, y)| pairing(to, &v.apply(x), y)).sum(),
        LTy::Tensor(_, to) => entries(v).iter().map(|(x, y)| pairing(to, y, &w.apply(x))).sum(),
    }
}

fn entries(sum: &Value) -> &[(Value, Value)] {
    let Value::Sum(entries) = sum else { panic!("{sum:?} is not a formal sum") };
    entries
}

/// Whether the type has no linear function in it, so that its Cartesian types are their own mirror
/// images.
fn plain(ty: &LTy) -> bool {
    match ty {
        LTy::Real(_) | LTy::Unit => true,
        LTy::Prod(a, b) => plain(a) && plain(b),
        LTy::Fun(key, to) | LTy::Tensor(key, to) => plain_key(key) && plain(to),
    }
}

fn plain_key(ty: &Ty) -> bool {
    match ty {
        Ty::Real(_) | Ty::Unit => true,
        Ty::Prod(a, b) | Ty::Fun(a, b) => plain_key(a) && plain_key(b),
        Ty::Own(Lolli(..)) => false,
    }
}
