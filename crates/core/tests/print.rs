//! Printing of core; and capture-free substitution.

use std::collections::HashMap;

use lambada_core::{
    Arm, Checkpoint, LoopKind, Program, Signature, Term, TermKind, Ty, TypeDecl, TypeId, app,
    build, dim, for_, if_, index, int, jvp, lam, let_, lit, loop_, match_, prim, print_program,
    print_term, proj, real, reduce, tuple, update, var,
};
use lambada_prim::{Prim, ReduceOp, Scalar};
use lambada_source::{Site, Span};

fn reals() -> Ty {
    Ty::array(Ty::REAL)
}

fn check(program: &Program, term: &Term, expect: &str) {
    assert_eq!(print_term(program, term), expect);
}

fn op(prim_: Prim, a: Term, b: Term) -> Term {
    prim(prim_, vec![a, b])
}

#[test]
fn parentheses_stand_where_they_must() {
    let p = &mut Program::default();
    let (a, b, f) =
        (p.fresh("a", Ty::REAL), p.fresh("b", Ty::REAL), p.fresh("f", Ty::fun(Ty::REAL, Ty::REAL)));
    let (a, b) = (|| var(&a), || var(&b));
    check(p, &op(Prim::Mul, op(Prim::Add, a(), b()), a()), "(a + b) * a");
    check(p, &op(Prim::Add, op(Prim::Mul, a(), b()), a()), "a * b + a");
    check(p, &op(Prim::Sub, op(Prim::Sub, a(), b()), a()), "a - b - a");
    check(p, &op(Prim::Sub, a(), op(Prim::Sub, b(), a())), "a - (b - a)");
    check(p, &op(Prim::Pow, a(), op(Prim::Pow, b(), a())), "a ** b ** a");
    check(p, &op(Prim::Pow, op(Prim::Pow, a(), b()), a()), "(a ** b) ** a");
    check(p, &prim(Prim::Neg, vec![op(Prim::Pow, a(), b())]), "-a ** b");
    check(p, &op(Prim::Pow, prim(Prim::Neg, vec![a()]), b()), "(-a) ** b");
    check(p, &op(Prim::Pow, real(-1.0), real(1e-9)), "(-1.0) ** 1e-9");
    check(p, &app(var(&f), app(var(&f), real(-1.0))), "f (f (-1.0))");
    check(p, &prim(Prim::Exp, vec![prim(Prim::Exp, vec![a()])]), "exp (exp a)");
    check(p, &prim(Prim::Not, vec![op(Prim::Lt, a(), b())]), "not (a < b)");
    check(p, &op(Prim::And, op(Prim::Lt, a(), b()), op(Prim::Eq, a(), b())), "a < b && a == b");
    check(
        p,
        &prim(Prim::Add, vec![if_(lit(Scalar::Bool(true)), a(), b()), a()]),
        "(if true then a else b) + a",
    );
}

#[test]
fn constructs() {
    let p = &mut Program::default();
    let (xs, i, s) = (p.fresh("xs", reals()), p.fresh("i", Ty::INT), p.fresh("s", Ty::REAL));
    let at = |k| index(var(&xs), vec![k], Span::default());
    check(p, &for_(i.clone(), dim(var(&xs), 0), at(var(&i))), "for i < dim xs 0 => xs[i]");
    check(
        p,
        &reduce(ReduceOp::Add, for_(i.clone(), int(3), at(var(&i)))),
        "reduce (+) (for i < 3 => xs[i])",
    );
    check(p, &update(var(&xs), vec![int(0)], real(1.0), Span::default()), "xs with [0] = 1.0");
    let body = op(Prim::Add, var(&s), at(var(&i)));
    check(
        p,
        &loop_(
            s.clone(),
            real(0.0),
            LoopKind::For(i.clone(), int(3), Checkpoint::All),
            body.clone(),
        ),
        "loop s = 0.0 for i < 3 do s + xs[i]",
    );
    check(
        p,
        &loop_(
            s.clone(),
            real(0.0),
            LoopKind::For(i.clone(), int(3), Checkpoint::Sqrt),
            body.clone(),
        ),
        "loop s = 0.0 for i < 3 checkpoint sqrt do s + xs[i]",
    );
    let two = Checkpoint::States(op(Prim::AddInt, int(1), int(1)));
    check(
        p,
        &loop_(s.clone(), real(0.0), LoopKind::For(i.clone(), int(3), two), body),
        "loop s = 0.0 for i < 3 checkpoint (1 + 1) do s + xs[i]",
    );
    let less = op(Prim::Lt, var(&s), real(1.0));
    let body = op(Prim::Mul, var(&s), real(2.0));
    check(
        p,
        &loop_(s.clone(), real(0.5), LoopKind::While(less), body),
        "loop s = 0.5 while s < 1.0 do s * 2.0",
    );
    let guard = build::check(
        lit(Scalar::Bool(true)),
        Site::new(Span::default(), "n is {0}"),
        vec![int(-3)],
        real(0.0),
    );
    check(p, &guard, "let () = check true \"n is {0}\" (-3)\nin 0.0");
    let f = lam(s.clone(), op(Prim::Mul, var(&s), var(&s)));
    check(p, &jvp(f, real(3.0), real(1.0), Span::default()), "jvp (\\(s : real) -> s * s) 3.0 1.0");
    let add = Term::new(
        TermKind::Add { acc: s.clone(), index: vec![], value: real(1.0) },
        Ty::unit(),
        Span::default(),
    );
    let ty = Ty::tuple([Ty::unit(), Ty::REAL]);
    let accumulate =
        Term::new(TermKind::Accumulate { acc: s, init: real(0.0), body: add }, ty, Span::default());
    check(p, &proj(accumulate, 1), "(accumulate s = 0.0 in s += 1.0).1");
    let record = Ty::Record([("x".into(), Ty::REAL)].into());
    let record = Term::new(TermKind::Tuple(vec![real(1.0)]), record, Span::default());
    check(p, &proj(record, 0), "{x = 1.0}.x");
}

#[test]
fn a_program() {
    let p = &mut Program::default();
    let constructors =
        vec![("Circle".into(), vec![Ty::REAL]), ("Rect".into(), vec![Ty::REAL, Ty::REAL])];
    p.types.push(TypeDecl { name: "shape".into(), constructors, ..TypeDecl::default() });
    let (s, r, w, h) = (
        p.fresh("s", Ty::Variant(TypeId(0))),
        p.fresh("r", Ty::REAL),
        p.fresh("r", Ty::REAL),
        p.fresh("exp", Ty::REAL),
    );
    let circle = Arm { vars: vec![r.clone()], body: op(Prim::Mul, var(&r), var(&r)) };
    let rect = Arm { vars: vec![w.clone(), h.clone()], body: op(Prim::Mul, var(&w), var(&h)) };
    let body = lam(s.clone(), match_(var(&s), vec![circle, rect]));
    p.define("area", body, Signature::default(), Span::default());
    let x = p.fresh("x", Ty::REAL);
    let y = p.fresh("y", Ty::REAL);
    let body = lam(
        x.clone(),
        let_(y.clone(), op(Prim::Add, var(&x), real(1.0)), tuple(vec![var(&y), int(2)])),
    );
    p.define("area", body, Signature::default(), Span::default());
    let expect = "type shape = Circle real | Rect real real

def area (s : shape) : real =
  match s
  | Circle r -> r * r
  | Rect r_1 exp_1 -> r_1 * exp_1

def area_1 (x : real) : (real, int) =
  let y = x + 1.0
  in (y, 2)
";
    assert_eq!(print_program(p), expect);
}

#[test]
fn substitution_renames() {
    let p = &mut Program::default();
    let (x, y, z) = (p.fresh("x", Ty::REAL), p.fresh("y", Ty::REAL), p.fresh("z", Ty::REAL));
    // (\y -> x + y) and (x + x), with let z = y in z for x
    let body = tuple(vec![
        lam(y.clone(), op(Prim::Add, var(&x), var(&y))),
        op(Prim::Add, var(&x), var(&x)),
    ]);
    let free = p.fresh("y", Ty::REAL);
    let value = let_(z.clone(), var(&free), var(&z));
    let result = body.substitute(p, &HashMap::from([(x.id, value)]));
    assert_eq!(result.free_vars(), vec![free.clone()]);
    let closed = lam(free, result);
    p.define("main", closed, Signature::default(), Span::default());
    assert_eq!(lambada_core::check(p), Ok(()));
}
