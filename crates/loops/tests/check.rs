//! The checker rejects ill-formed functions and says where.

use lambada_loops::{
    Buf, Function, Mode, Nest, Op, Operand, Param, Reg, Release, Return, Step, Stmt, Ty, While,
    check,
};
use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy, Tensor};
use lambada_source::{Site, Span};

const REAL: ScalarTy = ScalarTy::Real;
const INT: ScalarTy = ScalarTy::Int;
const BOOL: ScalarTy = ScalarTy::Bool;

fn int(value: i64) -> Operand {
    Operand::int(value)
}

fn real(value: f64) -> Operand {
    Operand::Lit(Scalar::Real(value))
}

#[test]
fn places_have_one_offset_or_one_for_each_lane() {
    let load = |lanes: u16, offsets: u16| {
        move |p: &mut Parts| {
            let (at, v) = (reg(p, INT, offsets), reg(p, REAL, lanes));
            p.f.body.push(Step::Let(at, Op::Prim(Prim::AddInt, vec![p.n, int(1)])).into());
            p.f.body.push(Step::Let(v, Op::Load(p.x, at.into())).into());
        }
    };
    expect("", load(4, 4));
    expect("", load(4, 1));
    expect("2 lanes where 4 are expected", load(4, 2));
    expect("4 lanes where one is expected", load(1, 4));
    expect("of one lane it is all or nothing", |p| {
        let v = reg(p, REAL, 1);
        p.f.body.push(Step::Let(v, Op::LoadSome(p.x, [int(0), p.n])).into());
    });
    expect("parameters and constants are only read", |p| {
        let v = reg(p, REAL, 4);
        p.f.body.push(Step::Let(v, Op::LoadSome(p.x, [int(0), p.n])).into());
        let (buf, offset, count, value) = (p.x, int(0), p.n, v.into());
        p.f.body.push(Step::StoreSome { buf, offset, count, value }.into());
    });
}

/// A function with the parameters `n : int`, `x : []real`, and the registers, cells and buffers
/// that tests need.
struct Parts {
    f: Function,
    n: Operand,
    x: Buf,
}

fn parts() -> Parts {
    let mut f = Function::new("f");
    let n = f.reg(Ty::scalar(INT), "n");
    let x = f.buf(REAL, "x");
    f.params = vec![Param::Scalar(n), Param::Buffer(x)];
    f.sizes = 1;
    Parts { f, n: n.into(), x }
}

/// The function that `build` makes is rejected, with this in the message; accepted if nothing is
/// expected.
fn expect<T>(expected: &str, build: impl FnOnce(&mut Parts) -> T) {
    let mut parts = parts();
    build(&mut parts);
    match check(&parts.f) {
        Ok(()) => assert!(expected.is_empty(), "accepted, but {expected:?} was expected"),
        Err(problem) => assert!(!expected.is_empty() && problem.contains(expected), "{problem}"),
    }
}

fn reg(p: &mut Parts, elem: ScalarTy, lanes: u16) -> Reg {
    p.f.reg(Ty { elem, lanes }, "t")
}

fn let_prim(p: &mut Parts, elem: ScalarTy, lanes: u16, prim: Prim, args: &[Operand]) -> Reg {
    let reg = reg(p, elem, lanes);
    p.f.body.push(Step::Let(reg, Op::Prim(prim, args.to_vec())).into());
    reg
}

fn alloc(p: &mut Parts, elem: ScalarTy, hint: &str) -> (Buf, Stmt) {
    let buf = p.f.buf(elem, hint);
    (buf, Stmt::Step(Step::Alloc { buf, dims: vec![int(4)] }))
}

fn for_loop(index: Reg, body: Vec<Stmt>) -> Stmt {
    Stmt::Nest(Nest::For {
        index,
        start: int(0),
        end: int(3),
        step: 1,
        mode: Mode::Independent,
        body,
    })
}

#[test]
fn types_of_operands() {
    expect("", |p| let_prim(p, INT, 1, Prim::AddInt, &[p.n, int(1)]));
    expect("in `t.1 = n.0 + 1.0`: real where int is expected", |p| {
        let_prim(p, INT, 1, Prim::AddInt, &[p.n, real(1.0)])
    });
    expect("real where int is expected", |p| let_prim(p, REAL, 1, Prim::AddInt, &[p.n, int(1)]));
    expect("1 arguments instead of 2", |p| let_prim(p, INT, 1, Prim::AddInt, &[p.n]));
    expect("real where int is expected", |p| {
        p.f.body.push(Step::View { buf: Buf(0), base: p.x, offset: real(0.0) }.into())
    });
    expect("int where bool is expected", |p| {
        p.f.body.push(Nest::If { cond: p.n, then: vec![], otherwise: vec![] }.into())
    });
    expect("bool where int is expected", |p| {
        let t = reg(p, INT, 1);
        let cond = While { before: vec![], test: Operand::Lit(Scalar::Bool(true)) };
        p.f.body = vec![
            Stmt::Nest(Nest::While { cond, body: vec![] }),
            Stmt::Step(Step::Let(
                t,
                Op::Prim(Prim::NegInt, vec![Operand::Lit(Scalar::Bool(true))]),
            )),
        ];
    });
}

#[test]
fn lanes() {
    expect("", |p| {
        let v = reg(p, REAL, 4);
        p.f.body.push(Step::Let(v, Op::Load(p.x, int(0))).into());
        let_prim(p, REAL, 4, Prim::Mul, &[v.into(), real(2.0)]);
    });
    expect("4 lanes where 8 are expected", |p| {
        let v = reg(p, REAL, 4);
        p.f.body.push(Step::Let(v, Op::Load(p.x, int(0))).into());
        let_prim(p, REAL, 8, Prim::Mul, &[v.into(), real(2.0)]);
    });
    expect("`t` has 3 lanes", |p| reg(p, REAL, 3));
    expect("4 lanes where one is expected", |p| {
        let (v, t) = (reg(p, INT, 4), reg(p, REAL, 1));
        p.f.body = vec![
            Stmt::Step(Step::Let(v, Op::Iota)),
            Stmt::Step(Step::Let(t, Op::Load(p.x, v.into()))),
        ];
    });
    expect("a fold has one lane", |p| {
        let (v, t) = (reg(p, INT, 4), reg(p, INT, 4));
        p.f.body = vec![
            Stmt::Step(Step::Let(v, Op::Iota)),
            Stmt::Step(Step::Let(t, Op::Fold(ReduceOp::Add, v.into()))),
        ];
    });
    expect("And does not combine int", |p| {
        let (v, t) = (reg(p, INT, 4), reg(p, INT, 1));
        p.f.body = vec![
            Stmt::Step(Step::Let(v, Op::Iota)),
            Stmt::Step(Step::Let(t, Op::Fold(ReduceOp::And, v.into()))),
        ];
    });
    expect("the cell holds", |p| {
        let (cell, v) = (p.f.cell(Ty { elem: REAL, lanes: 4 }, "c"), reg(p, REAL, 1));
        p.f.body =
            vec![Stmt::Step(Step::Cell(cell, real(0.0))), Stmt::Step(Step::Let(v, Op::Get(cell)))];
    });
}

#[test]
fn names_are_bound_once_and_mentioned_in_scope() {
    expect("register 1 is assigned twice", |p| {
        let t = let_prim(p, INT, 1, Prim::NegInt, &[p.n]);
        p.f.body.push(Step::Let(t, Op::Iota).into());
    });
    expect("register `t.1` is mentioned before it is bound", |p| {
        let t = reg(p, INT, 1);
        let_prim(p, INT, 1, Prim::NegInt, &[t.into()]);
    });
    expect("register `i.1` is mentioned outside its scope", |p| {
        let i = p.f.reg(Ty::scalar(INT), "i");
        p.f.body.push(for_loop(i, vec![]));
        let_prim(p, INT, 1, Prim::NegInt, &[i.into()]);
    });
    expect("register `t.1` is mentioned outside its scope", |p| {
        let t = reg(p, INT, 1);
        p.f.body.push(Nest::Scope(Release::All, vec![Stmt::Step(Step::Let(t, Op::Iota))]).into());
        p.f.results.push(Return::Scalar(t.into()));
    });
    expect("", |p| {
        // Names bound before the test of a `while` are in scope in its body.
        let (t, u) = (reg(p, INT, 1), reg(p, INT, 1));
        let cond = While {
            before: vec![Stmt::Step(Step::Let(t, Op::Iota))],
            test: Operand::Lit(Scalar::Bool(false)),
        };
        p.f.body.push(
            Nest::While {
                cond,
                body: vec![Stmt::Step(Step::Let(u, Op::Prim(Prim::NegInt, vec![t.into()])))],
            }
            .into(),
        );
    });
    expect("there is no register 9", |p| p.f.results.push(Return::Scalar(Reg(9).into())));
    expect("the step 0 is not positive", |p| {
        let index = p.f.reg(Ty::scalar(INT), "i");
        p.f.body.push(
            Nest::For {
                index,
                start: int(0),
                end: int(1),
                step: 0,
                mode: Mode::Sequential,
                body: vec![],
            }
            .into(),
        );
    });
}

#[test]
fn iterations_at_the_same_time_share_nothing_that_changes() {
    let parallel = |index, body, merge| -> Stmt {
        Nest::Parallel { index, count: int(2), body, merge }.into()
    };
    expect("", |p| {
        // The part that runs in order sees the names of the body.
        let (part, cell, v) = (reg(p, INT, 1), p.f.cell(Ty::scalar(REAL), "c"), reg(p, REAL, 1));
        let body = vec![Step::Cell(cell, real(0.0)).into(), Step::Set(cell, real(1.0)).into()];
        p.f.body.push(parallel(part, body, vec![Step::Let(v, Op::Get(cell)).into()]));
    });
    expect("a cell from outside is set by several iterations at once", |p| {
        let (part, cell) = (reg(p, INT, 1), p.f.cell(Ty::scalar(REAL), "c"));
        p.f.body.push(Step::Cell(cell, real(0.0)).into());
        p.f.body.push(parallel(part, Vec::new(), vec![Step::Set(cell, real(1.0)).into()]));
    });
    expect("register `t.2` is mentioned outside its scope", |p| {
        let (part, t) = (reg(p, INT, 1), p.f.reg(Ty::scalar(INT), "t"));
        p.f.body.push(parallel(part, vec![Step::Let(t, Op::Iota).into()], Vec::new()));
        p.f.results.push(Return::Scalar(t.into()));
    });
    expect("one inside of another", |p| {
        let (outer, inner) = (reg(p, INT, 1), reg(p, INT, 1));
        let inner = parallel(inner, Vec::new(), Vec::new());
        p.f.body.push(parallel(outer, vec![inner], Vec::new()));
    });
    expect("it may not stand in a `parallel`", |p| {
        let (part, (a, b)) = (reg(p, INT, 1), (p.f.buf(REAL, "a"), p.f.buf(REAL, "b")));
        let alloc = |buf| Stmt::from(Step::Alloc { buf, dims: vec![int(1)] });
        let swap = Step::Swap(a, b).into();
        p.f.body.push(parallel(part, vec![alloc(a), alloc(b), swap], Vec::new()));
    });
}

#[test]
fn memory() {
    expect("parameters and constants are only read", |p| {
        p.f.body.push(Step::Store { buf: p.x, offset: int(0), value: real(1.0) }.into())
    });
    expect("parameters and constants are only read", |p| {
        let (table, view) = (p.f.buf(REAL, "table"), p.f.buf(REAL, "view"));
        let constant = Stmt::Step(Step::Constant(table, Tensor::reals(vec![1], vec![0.0]).into()));
        let fill = Stmt::Step(Step::Fill { buf: view, value: real(1.0), len: int(1) });
        p.f.body =
            vec![constant, Stmt::Step(Step::View { buf: view, base: table, offset: int(0) }), fill];
    });
    expect("a int in a buffer of real", |p| {
        let (y, make) = alloc(p, REAL, "y");
        p.f.body = vec![make, Stmt::Step(Step::Store { buf: y, offset: int(0), value: int(1) })];
    });
    expect("bool where real is expected", |p| {
        let (y, make) = alloc(p, BOOL, "y");
        p.f.body =
            vec![make, Stmt::Step(Step::View { buf: p.f.buf(REAL, "v"), base: y, offset: int(0) })];
    });
    expect("only buffers made by `alloc` may be swapped", |p| {
        let (y, make) = alloc(p, REAL, "y");
        p.f.body = vec![make, Stmt::Step(Step::Swap(y, p.x))];
    });
    expect("the buffers are of different scopes", |p| {
        let (y, make_y) = alloc(p, REAL, "y");
        let (z, make_z) = alloc(p, REAL, "z");
        p.f.body = vec![
            make_y,
            Stmt::Nest(Nest::Scope(Release::All, vec![make_z, Stmt::Step(Step::Swap(y, z))])),
        ];
    });
    expect("", |p| {
        let (y, make_y) = alloc(p, REAL, "y");
        let (z, make_z) = alloc(p, REAL, "z");
        p.f.body = vec![
            make_y,
            make_z,
            Stmt::Nest(Nest::Scope(Release::All, vec![Stmt::Step(Step::Swap(y, z))])),
        ];
        p.f.results = vec![Return::Buffer(y, vec![p.n, int(2)])];
    });
    expect("buffer `y.1` is mentioned outside its scope", |p| {
        let (y, make) = alloc(p, REAL, "y");
        p.f.body = vec![Stmt::Nest(Nest::Scope(Release::All, vec![make]))];
        p.f.results = vec![Return::Buffer(y, vec![int(4)])];
    });
}

#[test]
fn sites_and_parameters() {
    let holds = Operand::Lit(Scalar::Bool(true));
    expect("there is no site 0", |p| {
        p.f.body.push(Step::Check { cond: holds, site: 0, values: vec![] }.into())
    });
    expect("", |p| {
        let site = p.f.site(Site::new(Span::default(), "{0}"));
        p.f.body.push(Step::Check { cond: holds, site, values: vec![p.n] }.into());
    });
    expect("real where int is expected", |p| {
        let site = p.f.site(Site::new(Span::default(), "{0}"));
        p.f.body.push(Step::Check { cond: holds, site, values: vec![real(0.0)] }.into());
    });
    expect("size 1 is a buffer", |p| p.f.sizes = 2);
    expect("more sizes than parameters", |p| p.f.sizes = 3);
    expect("is not an identifier of C", |p| p.f.name = "a b".to_string());
}
