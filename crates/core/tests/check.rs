//! Programs that the checker rejects, with its messages; a well-typed program for contrast.

use lambada_core::{
    Arm, Checkpoint, Def, DefId, LoopKind, Program, Signature, Size, SizedTy, Term, TermKind, Ty,
    TypeDecl, TypeId, Var, app, build, check, dim, for_, if_, index, int, jvp, lam, let_, lit,
    loop_, match_, prim, proj, real, reduce, tuple, update, var, vjp,
};
use lambada_prim::{ArrayPrim, Prim, ReduceOp, Scalar, ScalarTy};
use lambada_source::{Site, Span};

fn at() -> Span {
    Span::default()
}

fn x(id: u32, hint: &str, ty: Ty) -> Var {
    Var { id, hint: hint.into(), ty }
}

fn node(kind: TermKind, ty: Ty) -> Term {
    Term::new(kind, ty, at())
}

fn reals() -> Ty {
    Ty::array(Ty::REAL)
}

/// `type t = A real | B`, a variant that holds functions, and no definitions.
fn empty() -> Program {
    let t = TypeDecl {
        name: "t".into(),
        constructors: vec![("A".into(), vec![Ty::REAL]), ("B".into(), vec![])],
        ..TypeDecl::default()
    };
    let f = TypeDecl {
        name: "f".into(),
        constructors: vec![("F".into(), vec![Ty::fun(Ty::REAL, Ty::REAL)])],
        ..TypeDecl::default()
    };
    Program { types: vec![t, f], defs: Vec::new(), next_var: 100, ..Program::default() }
}

fn with(body: Term, signature: Signature) -> Program {
    let mut program = empty();
    program.define("main", body, signature, at());
    program
}

fn accept(body: Term) {
    assert_eq!(check(&with(body, Signature::default())), Ok(()));
}

fn reject(body: Term, expect: &str) {
    let message = check(&with(body, Signature::default())).expect_err(expect);
    assert!(message.contains(expect), "{message:?} does not contain {expect:?}");
}

#[test]
fn variables() {
    let (a, b) = (x(0, "a", Ty::REAL), x(1, "b", Ty::REAL));
    accept(lam(a.clone(), let_(b.clone(), var(&a), var(&b))));
    reject(var(&a), "variable `a` is not in scope");
    reject(
        tuple(vec![let_(a.clone(), real(1.0), var(&a)), var(&a)]),
        "variable `a` is not in scope",
    );
    reject(
        let_(a.clone(), real(1.0), let_(a.clone(), real(2.0), var(&a))),
        "variable `a` is bound twice",
    );
    reject(
        tuple(vec![lam(a.clone(), var(&a)), lam(a.clone(), var(&a))]),
        "variable `a` is bound twice",
    );
    reject(lam(a.clone(), var(&x(0, "a", Ty::INT))), "a mention of `a` has type int, not real");
    reject(lam(x(100, "a", Ty::REAL), real(1.0)), "has an id that `next_var` does not know");
}

#[test]
fn definitions() {
    let mut program = with(node(TermKind::Global(DefId(1)), Ty::REAL), Signature::default());
    assert_eq!(
        check(&program),
        Err("definition `main`: it mentions definition 1, which is not earlier".into())
    );
    let (name, body, signature) = ("one".into(), real(1.0), Signature::default());
    program.defs.insert(0, Def { name, body, signature, span: at(), group: 0 });
    let recursive = "definition `main`: a definition of a recursive group is not a function";
    program.defs[1].body = node(TermKind::Global(DefId(1)), Ty::REAL);
    assert_eq!(check(&program), Err(recursive.into()));
    program.defs[1].group = 1;
    assert_eq!(check(&program), Err(recursive.into()));
    program.defs[1].body = node(TermKind::Global(DefId(0)), Ty::REAL);
    assert_eq!(check(&program), Ok(()));
    program.defs[0].group = 2;
    assert_eq!(check(&program), Err("the groups of the definitions are not in order".into()));
}

#[test]
fn recursive_functions() {
    let ty = Ty::fun(Ty::REAL, Ty::REAL);
    let function = |k, body: Term| (x(k, "f", ty.clone()), lam(x(k + 1, "a", Ty::REAL), body));
    let call = |k: u32, a: u32| app(var(&x(k, "f", ty.clone())), var(&x(a, "a", Ty::REAL)));
    let functions = || vec![function(0, call(2, 1)), function(2, call(0, 3))];
    accept(lambada_core::let_rec(functions(), var(&x(0, "f", ty.clone()))));
    let not = vec![(x(0, "f", ty.clone()), var(&x(0, "f", ty.clone())))];
    reject(lambada_core::let_rec(not, real(1.0)), "`f` of a `let rec` is not a function");
    let after = lambada_core::let_rec(functions(), real(1.0));
    reject(let_(x(4, "b", Ty::REAL), after, call(0, 4)), "variable `f` is not in scope");
}

#[test]
fn signatures() {
    let body = || lam(x(0, "xs", reals()), real(1.0));
    let param = |ty| Signature {
        params: vec![("xs".into(), ty)],
        result: Some(SizedTy::Scalar(ScalarTy::Real)),
    };
    let sized = SizedTy::Array(Size::Var("n".into()), Box::new(SizedTy::Scalar(ScalarTy::Real)));
    assert_eq!(check(&with(body(), param(sized))), Ok(()));
    let message = check(&with(body(), param(SizedTy::Scalar(ScalarTy::Real)))).unwrap_err();
    assert!(
        message.contains("the signature's parameter `xs` does not have type []real"),
        "{message}"
    );
}

#[test]
fn functions_and_bindings() {
    reject(node(TermKind::App(real(1.0), real(2.0)), Ty::REAL), "a value of type real is applied");
    let a = x(0, "a", Ty::REAL);
    reject(app(lam(a.clone(), var(&a)), int(1)), "an argument has type int, not real");
    reject(let_(a.clone(), int(1), var(&a)), "the value of `a` has type int, not real");
    reject(
        node(TermKind::Lit(Scalar::Int(1)), Ty::REAL),
        "a node that says so: literal has type real, not int",
    );
}

#[test]
fn tuples_and_records() {
    let record =
        |fields: [(&str, Ty); 2]| Ty::Record(fields.map(|(name, ty)| (name.into(), ty)).into());
    accept(node(
        TermKind::Tuple(vec![real(1.0), int(2)]),
        record([("a", Ty::REAL), ("b", Ty::INT)]),
    ));
    let swapped =
        node(TermKind::Tuple(vec![real(1.0), int(2)]), record([("b", Ty::REAL), ("a", Ty::INT)]));
    reject(swapped, "the fields of a record are not in alphabetical order");
    reject(node(TermKind::Tuple(vec![real(1.0)]), Ty::REAL), "a tuple has type real");
    reject(
        node(TermKind::Tuple(vec![real(1.0)]), Ty::unit()),
        "a tuple of 1 components has type ()",
    );
    reject(
        node(TermKind::Proj(tuple(vec![real(1.0)]), 1), Ty::REAL),
        "component 1 of a value of type (real)",
    );
    reject(node(TermKind::Proj(real(1.0), 0), Ty::REAL), "a component of a value of type real");
}

#[test]
fn variants() {
    let ty = Ty::Variant(TypeId(0));
    let con = |tag, args| node(TermKind::Con(tag, args), Ty::Variant(TypeId(0)));
    let arm = |vars, body| Arm { vars, body };
    let r = x(0, "r", Ty::REAL);
    accept(match_(
        con(0, vec![real(1.0)]),
        vec![arm(vec![r.clone()], var(&r)), arm(vec![], real(0.0))],
    ));
    reject(con(2, vec![]), "t has no constructor 2");
    reject(con(0, vec![]), "constructor `A` has 0 arguments, not 1");
    reject(node(TermKind::Con(0, vec![]), Ty::Variant(TypeId(7))), "there is no variant type 7");
    reject(
        match_(con(1, vec![]), vec![arm(vec![r.clone()], var(&r))]),
        "a match has 1 arms, not 2",
    );
    reject(
        match_(con(1, vec![]), vec![arm(vec![], real(0.0)), arm(vec![], real(0.0))]),
        "the arm of `A` binds 0 variables, not 1",
    );
    let n = x(0, "n", Ty::INT);
    reject(
        match_(con(1, vec![]), vec![arm(vec![n], real(1.0)), arm(vec![], real(0.0))]),
        "variable `n` of the arm of `A` has type int",
    );
    reject(
        match_(con(1, vec![]), vec![arm(vec![r.clone()], var(&r)), arm(vec![], int(0))]),
        "the arm of `B` has type int, not real",
    );
    reject(match_(real(1.0), vec![arm(vec![], int(0))]), "real is not a variant");
    accept(lam(x(0, "s", ty), real(1.0)));
}

#[test]
fn scalars_and_branches() {
    let c = lit(Scalar::Bool(true));
    reject(if_(int(1), real(1.0), real(2.0)), "the condition of `if` has type int, not bool");
    reject(if_(c, real(1.0), int(2)), "the `else` branch has type int, not real");
    reject(prim(Prim::Add, vec![real(1.0)]), "`add` has 1 arguments, not 2");
    reject(prim(Prim::Add, vec![real(1.0), int(1)]), "an argument of `add` has type int, not real");
}

#[test]
fn arrays() {
    let (xs, i) = (x(0, "xs", reals()), x(1, "i", Ty::INT));
    accept(lam(
        xs.clone(),
        for_(i.clone(), dim(var(&xs), 0), index(var(&xs), vec![var(&i)], at())),
    ));
    reject(node(TermKind::Array(vec![int(1)]), reals()), "an element has type int, not real");
    reject(for_(i.clone(), real(1.0), real(1.0)), "the extent of `for` has type real, not int");
    reject(
        for_(x(1, "i", Ty::REAL), int(1), real(1.0)),
        "the index of `for` has type real, not int",
    );
    reject(lam(xs.clone(), dim(var(&xs), 1)), "a value of type []real does not have 2 axes");
    reject(
        lam(xs.clone(), node(TermKind::Index(var(&xs), vec![int(0), int(0)]), Ty::REAL)),
        "does not have 2 axes",
    );
    reject(lam(xs.clone(), index(var(&xs), vec![], at())), "an index without indices");
    reject(
        lam(xs.clone(), index(var(&xs), vec![real(0.0)], at())),
        "an index has type real, not int",
    );
    reject(
        lam(xs.clone(), update(var(&xs), vec![int(0)], int(1), at())),
        "the new value has type int, not real",
    );
    reject(lam(xs.clone(), update(var(&xs), vec![], var(&xs), at())), "an update without indices");
    reject(
        lam(xs.clone(), reduce(ReduceOp::And, var(&xs))),
        "no reduction `and` of a value of type []real",
    );
    let m = x(0, "m", Ty::array(reals()));
    accept(lam(m.clone(), reduce(ReduceOp::Add, var(&m))));
    reject(
        lam(m.clone(), reduce(ReduceOp::Max, var(&m))),
        "no reduction `max` of a value of type [][]real",
    );
    reject(
        lam(
            xs.clone(),
            node(TermKind::ArrayPrim(ArrayPrim::MatMul, vec![var(&xs), var(&xs)]), Ty::REAL),
        ),
        "no `matmul` of values of types []real and []real",
    );
    reject(
        lam(m.clone(), node(TermKind::ArrayPrim(ArrayPrim::Cholesky, vec![var(&m)]), m.ty.clone())),
        "no `cholesky` of values of types [][]real",
    );
}

#[test]
fn loops() {
    let (s, i) = (x(0, "s", Ty::REAL), x(1, "i", Ty::INT));
    let for_n = |n| LoopKind::For(x(1, "i", Ty::INT), n, Checkpoint::All);
    accept(loop_(
        s.clone(),
        real(0.0),
        for_n(int(3)),
        prim(Prim::Add, vec![var(&s), prim(Prim::ToReal, vec![var(&i)])]),
    ));
    reject(
        loop_(s.clone(), int(0), for_n(int(3)), var(&s)),
        "the first state has type int, not real",
    );
    reject(
        loop_(s.clone(), real(0.0), for_n(int(3)), int(1)),
        "the next state has type int, not real",
    );
    reject(
        loop_(s.clone(), real(0.0), for_n(real(3.0)), var(&s)),
        "the extent of `loop` has type real, not int",
    );
    let states = |k| LoopKind::For(x(1, "i", Ty::INT), int(3), Checkpoint::States(k));
    accept(loop_(s.clone(), real(0.0), states(int(2)), var(&s)));
    reject(
        loop_(s.clone(), real(0.0), states(real(2.0)), var(&s)),
        "the number of states of `checkpoint` has type real, not int",
    );
    reject(
        loop_(s.clone(), real(0.0), states(var(&x(1, "i", Ty::INT))), var(&s)),
        "variable `i` is not in scope",
    );
    reject(
        loop_(s.clone(), real(0.0), LoopKind::While(real(1.0)), var(&s)),
        "the condition of `while` has type real, not bool",
    );
    reject(
        loop_(s.clone(), real(0.0), for_n(prim(Prim::ToInt, vec![var(&s)])), var(&s)),
        "variable `s` is not in scope",
    );
}

fn accumulate(acc: Var, init: Term, body: Term) -> Term {
    let ty = Ty::tuple([body.ty().clone(), acc.ty.clone()]);
    node(TermKind::Accumulate { acc, init, body }, ty)
}

fn add(acc: &Var, at: Vec<Term>, value: Term) -> Term {
    node(TermKind::Add { acc: acc.clone(), index: at, value }, Ty::unit())
}

#[test]
fn accumulators() {
    let h = x(0, "h", reals());
    let init = || node(TermKind::Array(vec![real(0.0)]), reals());
    accept(accumulate(h.clone(), init(), add(&h, vec![int(0)], real(1.0))));
    accept(accumulate(h.clone(), init(), add(&h, vec![], init())));
    reject(accumulate(h.clone(), init(), var(&h)), "accumulator `h` is used as a value");
    reject(
        accumulate(h.clone(), init(), add(&h, vec![int(0)], int(1))),
        "what is added has type int, not real",
    );
    reject(add(&h, vec![int(0)], real(1.0)), "accumulator `h` is not in scope");
    reject(lam(h.clone(), add(&h, vec![int(0)], real(1.0))), "accumulator `h` is not in scope");
    let late = lam(x(1, "u", Ty::REAL), add(&h, vec![int(0)], real(1.0)));
    reject(accumulate(h.clone(), init(), late), "the body of an `accumulate` has type real -> ()");
    let b = x(0, "b", Ty::BOOL);
    reject(
        accumulate(b, lit(Scalar::Bool(true)), real(1.0)),
        "accumulator `b` does not hold numbers",
    );
}

#[test]
fn checks() {
    let c = || lit(Scalar::Bool(true));
    accept(build::check(
        c(),
        Site::new(at(), "sizes differ: {0} and {1}"),
        vec![int(1), int(2)],
        real(1.0),
    ));
    reject(
        build::check(c(), Site::new(at(), "{1}"), vec![int(1)], real(1.0)),
        "the message \"{1}\" has 1 values",
    );
    reject(
        build::check(int(1), Site::new(at(), ""), vec![], real(1.0)),
        "the condition of a check has type int, not bool",
    );
    reject(
        build::check(c(), Site::new(at(), ""), vec![real(1.0)], real(1.0)),
        "a value in a message has type real, not int",
    );
}

#[test]
fn derivatives() {
    let a = x(0, "a", Ty::REAL);
    let f = || lam(x(0, "a", Ty::REAL), var(&x(0, "a", Ty::REAL)));
    accept(proj(jvp(f(), real(1.0), real(1.0), at()), 1));
    accept(proj(vjp(f(), real(1.0), at()), 1));
    reject(jvp(f(), real(1.0), int(1), at()), "the tangent has type int, not real");
    reject(vjp(f(), int(1), at()), "the point has type int, not real");
    let higher = lam(a, lam(x(1, "b", Ty::REAL), real(1.0)));
    reject(
        vjp(higher, real(1.0), at()),
        "a function of type real -> real -> real is differentiated, which is not first-order",
    );
    let hidden = lam(x(0, "v", Ty::Variant(TypeId(1))), real(1.0));
    let point = lam(
        x(1, "w", Ty::Variant(TypeId(1))),
        vjp(hidden, var(&x(1, "w", Ty::Variant(TypeId(1)))), at()),
    );
    reject(point, "which is not first-order");
}
