//! M-1 … M-8 and the clauses of the macros, as text to be compared with the paper, with two
//! operations in the places of `t` and `s`. `sin_2 = cos(x) * v` and `exp_2 = exp(x) * v`, in both
//! modes.

use super::*;
use crate::combinators::{curry, ev, fst, id, op, pair, snd, then, unit};
use crate::source::{REAL, Ty};
use lambada_prim::Prim;

fn each(prim: Prim) -> Comb {
    op(Op::Each(prim, 1))
}

fn sin() -> Comb {
    each(Prim::Sin)
}

fn exp() -> Comb {
    each(Prim::Exp)
}

#[track_caller]
fn appendix_a(t: Comb, expect: [[&str; 2]; 2]) {
    let found = Derived::both(&t).map(|d| [d.first.to_string(), d.second.to_string()]);
    assert_eq!(found, expect);
}

#[track_caller]
fn appendix_c(t: Comb, expect: [[&str; 2]; 2]) {
    let found = Applied::both(&t).map(|d| [d.first.to_string(), d.second.to_string()]);
    assert_eq!(found, expect);
}

/// M-1 … M-8: the types, `[D→( )_1, D→( )_2, D←( )_1, D←( )_2]`, in both appendices.
#[test]
fn types() {
    let linear = |ty: &Ty| {
        let firsts = [forward::primal_ty(ty), reverse::primal_ty(ty)].map(|ty| ty.to_string());
        let seconds = [forward::tangent_ty(ty), reverse::cotangent_ty(ty)].map(|ty| ty.to_string());
        [firsts[0].clone(), seconds[0].clone(), firsts[1].clone(), seconds[1].clone()]
    };
    let applied = |ty: &Ty| {
        let all = [
            AppliedForward::primal_ty,
            AppliedForward::second_ty,
            AppliedReverse::primal_ty,
            AppliedReverse::second_ty,
        ];
        all.map(|of| of(ty).to_string())
    };
    for (ty, text) in [(Ty::Real(3), "real^3"), (Ty::Unit, "1"), (REAL.times(Ty::Unit), "real * 1")]
    {
        assert_eq!(
            (linear(&ty), applied(&ty)),
            ([text; 4].map(String::from), [text; 4].map(String::from))
        );
    }
    let function = REAL.to(Ty::Real(2));
    let expect = [
        "real -> real^2 * (real -o real^2)",
        "real -> real^2",
        "real -> real^2 * (real^2 -o real)",
        "!real (x) real^2",
    ];
    assert_eq!(linear(&function), expect);
    let expect = [
        "real -> real^2 * LFun(real, real^2)",
        "real -> real^2",
        "real -> real^2 * LFun(real^2, real)",
        "Tens(real, real^2)",
    ];
    assert_eq!(applied(&function), expect);
}

/// M-1 … M-8, C-1 … C-9: Appendix A, `[[D→_1, D→_2], [D←_1, D←_2]]` of each combinator.
#[test]
fn appendix_a_by_clause() {
    appendix_a(id(REAL), [["x", "v"], ["x", "v"]]);
    // (t;s)_2 = s_2[t_1/y1, t_2/y2]                        (t;s)_2 = t_2[s_2[t_1/y1] / x2]
    appendix_a(
        then(sin(), exp()),
        [
            ["exp(sin(x))", "lmul(exp(sin(x)); lmul(cos(x); v))"],
            ["exp(sin(x))", "lmul(cos(x); lmul(exp(sin(x)); v))"],
        ],
    );
    appendix_a(unit(REAL), [["<>", "<>"], ["<>", "0"]]);
    // <t,s>_2 = <t_2, s_2>                                 <t,s>_2 = t_2[fst v] + s_2[snd v]
    appendix_a(
        pair(sin(), exp()),
        [
            ["<sin(x), exp(x)>", "<lmul(cos(x); v), lmul(exp(x); v)>"],
            ["<sin(x), exp(x)>", "lmul(cos(x); fst v) + lmul(exp(x); snd v)"],
        ],
    );
    appendix_a(fst(REAL, Ty::Real(2)), [["fst x", "fst v"], ["fst x", "<v, 0>"]]);
    appendix_a(snd(REAL, Ty::Real(2)), [["snd x", "snd v"], ["snd x", "<0, v>"]]);
    appendix_a(
        ev(REAL, Ty::Real(2)),
        [
            ["fst (fst x (snd x))", "let y = snd x in fst v y + (snd (fst x y)){snd v}"],
            ["fst (fst x (snd x))", "let y = snd x in <!y (x) v, (snd (fst x y)){v}>"],
        ],
    );
    // Λ(t)_1 = \y. <t_1[<x,y>], \_v. t_2[<x,y>; <0,v>]>    Λ(t)_1 = \y. <t_1[<x,y>], \_v. snd
    // t_2[<x,y>; v]> Λ(t)_2 = \y. t_2[<x,y>; <v,0>]                       Λ(t)_2 = case v of !y (x)
    // w -> fst t_2[<x,y>; w]
    appendix_a(
        curry(each(Prim::Mul)),
        [
            [
                "\\y. <x * y, \\_v. lmul(snd <x, y>; fst <0, v>) + lmul(fst <x, y>; snd <0, v>)>",
                "\\y. lmul(snd <x, y>; fst <v, 0>) + lmul(fst <x, y>; snd <v, 0>)",
            ],
            [
                "\\y. <x * y, \\_v. snd <lmul(snd <x, y>; v), lmul(fst <x, y>; v)>>",
                "case v of !y (x) w -> fst <lmul(snd <x, y>; w), lmul(fst <x, y>; w)>",
            ],
        ],
    );
    // op_2 = D op(x; v)                                    op_2 = (D op)^t(x; v)
    appendix_a(
        each(Prim::Mul),
        [
            ["(*)(x)", "lmul(snd x; fst v) + lmul(fst x; snd v)"],
            ["(*)(x)", "<lmul(snd x; v), lmul(fst x; v)>"],
        ],
    );
}

/// M-1 … M-8, C-1 … C-9: Appendix C, point-free. An operation's derivative is the translation of
/// the linear term, hence its `lid;;`.
#[test]
fn appendix_c_by_clause() {
    appendix_c(id(REAL), [["x", "lid"], ["x", "lid"]]);
    // (t;s)_2 = t_2;;s_2[t_1]                              (t;s)_2 = s_2[t_1];;t_2
    appendix_c(
        then(sin(), exp()),
        [
            ["exp(sin(x))", "(lid;;lmul(cos(x)));;lid;;lmul(exp(sin(x)))"],
            ["exp(sin(x))", "(lid;;lmul(exp(sin(x))));;lid;;lmul(cos(x))"],
        ],
    );
    appendix_c(unit(REAL), [["<>", "0"], ["<>", "0"]]);
    // <t,s>_2 = lpair(t_2, s_2)                            <t,s>_2 = lfst;;t_2 + lsnd;;s_2
    appendix_c(
        pair(sin(), exp()),
        [
            ["<sin(x), exp(x)>", "lpair(lid;;lmul(cos(x)), lid;;lmul(exp(x)))"],
            ["<sin(x), exp(x)>", "lfst;;lid;;lmul(cos(x)) + lsnd;;lid;;lmul(exp(x))"],
        ],
    );
    appendix_c(fst(REAL, Ty::Real(2)), [["fst x", "lfst"], ["fst x", "lpair(lid, 0)"]]);
    appendix_c(snd(REAL, Ty::Real(2)), [["snd x", "lsnd"], ["snd x", "lpair(0, lid)"]]);
    appendix_c(
        ev(REAL, Ty::Real(2)),
        [
            ["fst (fst x (snd x))", "let y = snd x in lfst;;leval y + lsnd;;snd (fst x y)"],
            ["fst (fst x (snd x))", "let y = snd x in lpair({(y,-)}, snd (fst x y))"],
        ],
    );
    // Λ(t)_1 = \y. <t_1, lpair(0,lid);;t_2>                Λ(t)_1 = \y. <t_1, t_2;;lsnd>
    // Λ(t)_2 = lswap(\y. lpair(lid,0);;t_2)                Λ(t)_2 = lcur^-1(\y. t_2);;lfst
    appendix_c(
        curry(each(Prim::Mul)),
        [
            [
                "\\y. <x * y, lpair(0, lid);;((lid;;lfst);;lmul(snd <x, y>) + (lid;;lsnd);;lmul(fst <x, y>))>",
                "lswap (\\y. lpair(lid, 0);;((lid;;lfst);;lmul(snd <x, y>) + (lid;;lsnd);;lmul(fst <x, y>)))",
            ],
            [
                "\\y. <x * y, lpair(lid;;lmul(snd <x, y>), lid;;lmul(fst <x, y>));;lsnd>",
                "lcur^-1 (\\y. lpair(lid;;lmul(snd <x, y>), lid;;lmul(fst <x, y>)));;lfst",
            ],
        ],
    );
    appendix_c(
        each(Prim::Mul),
        [
            ["(*)(x)", "(lid;;lfst);;lmul(snd x) + (lid;;lsnd);;lmul(fst x)"],
            ["(*)(x)", "lpair(lid;;lmul(snd x), lid;;lmul(fst x))"],
        ],
    );
}

/// `†`, clause by clause.
#[test]
fn dagger_by_clause() {
    use crate::linear::{
        LTy, case, lapp, linapp, linlam, llam, lpair, lunit, plus, tensor, v, zero_lin,
    };
    let r = LTy::Real(1);
    let one = || linear::op(Op::constant([1.0]), linear::unit());
    let both = || v(r.clone().times(r.clone()));
    let scale = |t: Term| linear::lop(crate::op::LOp::Mul(1), t, v(r.clone()));
    let y = Var::fresh("y", linear::Ty::Real(1));
    let text = |l: &Lin| applied::dagger_linear(l, &Env::default()).to_string();
    assert_eq!(text(&v(r.clone())), "lid");
    assert_eq!(text(&scale(one())), "lid;;lmul(1)");
    assert_eq!(text(&lunit(r.clone())), "0");
    assert_eq!(text(&lpair(v(r.clone()), lunit(r.clone()))), "lpair(lid, 0)");
    assert_eq!(text(&linear::lfst(both())), "lid;;lfst");
    assert_eq!(text(&linear::lsnd(both())), "lid;;lsnd");
    assert_eq!(text(&llam("y", y.ty.clone(), scale)), "lswap (\\y. lid;;lmul(y))");
    assert_eq!(text(&lapp(v(r.clone().under(y.ty.clone())), one())), "lid;;leval 1");
    assert_eq!(text(&tensor(one(), v(r.clone()))), "lid;;{(1,-)}");
    assert_eq!(
        text(&case(v(r.clone().tensor(y.ty.clone())), y.clone(), scale(linear::var(&y)))),
        "lid;;lcur^-1 (\\y. lid;;lmul(y))"
    );
    assert_eq!(applied::dagger(&linlam(scale(one())), &Env::default()).to_string(), "lid;;lmul(1)");
    assert_eq!(text(&linapp(linlam(scale(one())), v(r.clone()))), "lid;;lid;;lmul(1)");
    assert_eq!(text(&zero_lin(r.clone(), r.clone())), "0");
    assert_eq!(text(&plus(v(r.clone()), scale(one()))), "lid + lid;;lmul(1)");
}

/// T-12: the mirror image, clause by clause.
#[test]
fn transposition_by_clause() {
    use crate::linear::{
        LTy, case, lapp, linapp, linlam, llam, lpair, lunit, plus, tensor, transpose,
        transpose_linear, v, zero_lin,
    };
    let r = LTy::Real(1);
    let one = || linear::op(Op::constant([1.0]), linear::unit());
    let both = || v(r.clone().times(r.clone()));
    let sum = || linear::lop(crate::op::LOp::Sum(2), linear::unit(), v(LTy::Real(2)));
    let scale = |t: Term| linear::lop(crate::op::LOp::Mul(1), t, v(r.clone()));
    let y = Var::fresh("y", linear::Ty::Real(1));
    let text = |l: &Lin| transpose_linear(l).to_string();
    assert_eq!(text(&v(r.clone())), "v");
    assert_eq!(text(&sum()), "lreplicate(v)");
    assert_eq!(text(&lunit(r.clone())), "0");
    assert_eq!(text(&lpair(v(r.clone()), scale(one()))), "fst v + lmul(1; snd v)");
    assert_eq!(text(&linear::lfst(both())), "<v, 0>");
    assert_eq!(text(&linear::lsnd(both())), "<0, v>");
    assert_eq!(text(&llam("y", y.ty.clone(), scale)), "case v of !y (x) w -> lmul(y; w)");
    assert_eq!(text(&lapp(v(r.clone().under(y.ty.clone())), one())), "!1 (x) v");
    assert_eq!(text(&tensor(one(), v(r.clone()))), "v 1");
    assert_eq!(
        text(&case(v(r.clone().tensor(y.ty.clone())), y.clone(), scale(linear::var(&y)))),
        "\\y. lmul(y; v)"
    );
    assert_eq!(transpose(&linlam(sum())).to_string(), "\\_v. lreplicate(v)");
    assert_eq!(text(&linapp(linlam(sum()), v(LTy::Real(2)))), "(\\_v2. lreplicate(v2)){v}");
    assert_eq!(text(&zero_lin(r.clone(), r.clone())), "0");
    assert_eq!(text(&plus(v(r.clone()), scale(one()))), "v + lmul(1; v)");
}
