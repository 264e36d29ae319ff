//! The counts of the interpreter.

use lambada_loops::{
    Counts, Function, Mode, Nest, Op, Operand, Param, Release, Return, Step, Stmt, Ty, check,
    eval_counted,
};
use lambada_prim::{Prim, Scalar, ScalarTy, Tensor};

/// `for i < n { scope { t = alloc n; fill t 1; t[i] = t[i] + x[i]; copy t into y } }`, where `y` is
/// allocated before and returned.
fn scoped() -> Function {
    let mut f = Function::new("f");
    let int = Ty::scalar(ScalarTy::Int);
    let real = Ty::scalar(ScalarTy::Real);
    let (n, i) = (f.reg(int, "n"), f.reg(int, "i"));
    let (a, b, sum) = (f.reg(real, "a"), f.reg(real, "b"), f.reg(real, "sum"));
    let [x, y, t] = ["x", "y", "t"].map(|hint| f.buf(ScalarTy::Real, hint));
    f.params = vec![Param::Scalar(n), Param::Buffer(x)];
    f.sizes = 1;
    let one = Operand::Lit(Scalar::Real(1.0));
    let body = vec![Stmt::Nest(Nest::Scope(
        Release::All,
        vec![
            Stmt::Step(Step::Alloc { buf: t, dims: vec![n.into()] }),
            Stmt::Step(Step::Fill { buf: t, value: one, len: n.into() }),
            Stmt::Step(Step::Let(a, Op::Load(t, i.into()))),
            Stmt::Step(Step::Let(b, Op::Load(x, i.into()))),
            Stmt::Step(Step::Let(sum, Op::Prim(Prim::Add, vec![a.into(), b.into()]))),
            Stmt::Step(Step::Store { buf: t, offset: i.into(), value: sum.into() }),
            Stmt::Step(Step::Copy { to: y, from: t, len: n.into() }),
        ],
    ))];
    f.body = vec![
        Stmt::Step(Step::Alloc { buf: y, dims: vec![n.into()] }),
        Stmt::Nest(Nest::For {
            index: i,
            start: Operand::int(0),
            end: n.into(),
            step: 1,
            mode: Mode::Sequential,
            body,
        }),
    ];
    f.results = vec![Return::Buffer(y, vec![n.into()])];
    f
}

#[test]
fn what_a_scope_allocates_is_free_after_it() {
    let f = scoped();
    check(&f).expect("it is well formed");
    let args = [Tensor::scalar(Scalar::Int(10)), Tensor::reals(vec![10], vec![2.0; 10])];
    let (results, counts) = eval_counted(&f, &args).expect("it runs");
    let expected: Vec<f64> = (0..10).map(|k| if k == 9 { 3.0 } else { 1.0 }).collect();
    assert_eq!(results, [Tensor::reals(vec![10], expected)]);
    let written = 10 * (80 + 8 + 80);
    let allocated = 80 + 10 * 80;
    assert_eq!(counts, Counts { reals: 10, ints: 0, loads: 20, written, allocated, peak: 160 });
}
