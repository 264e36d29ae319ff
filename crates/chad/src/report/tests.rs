//! The stages print what the theory says, and tidied terms are equal to those of the macros.

use super::*;
use crate::generate::Generator;
use crate::literal::{Applied, Derived};
use crate::op::Op;
use crate::value::Value;
use lambada_core::{self as core, Ty};
use lambada_prim::Prim;

/// `\x -> sin x * x`
fn program() -> Program {
    let mut program = Program::default();
    let x = program.fresh("x", Ty::REAL);
    let sin = core::prim(Prim::Sin, vec![core::var(&x)]);
    let body = core::lam(x.clone(), core::prim(Prim::Mul, vec![sin, core::var(&x)]));
    program.define("f", body, Default::default(), Default::default());
    program
}

fn check(mode: Mode, stage: Stage, expect: &str) {
    assert_eq!(derive(&program(), DefId(0), mode, stage, None).unwrap(), expect);
}

#[test]
fn stages() {
    check(Mode::Reverse, Stage::Combinators, "real -> real\n<sin, id>; (*)\n");
    check(
        Mode::Forward,
        Stage::Linear,
        "x : real |- real\nsin(x) * x\n\nx : real; v : real |- real\nlmul(x; lmul(cos(x); v)) + lmul(sin(x); v)\n",
    );
    check(
        Mode::Reverse,
        Stage::Linear,
        "x : real |- real\nsin(x) * x\n\nx : real; v : real |- real\nlmul(cos(x); lmul(x; v)) + lmul(sin(x); v)\n",
    );
    check(
        Mode::Reverse,
        Stage::Applied,
        "x : real |- real\nsin(x) * x\n\nx : real |- LFun(real, real)\nlmul(x);;lmul(cos(x)) + lmul(sin(x))\n",
    );
    check(
        Mode::Reverse,
        Stage::Shared,
        "x : real |- real * LFun(real, real)\nlet t = sin(x) in\n<t * x, lmul(x);;lmul(cos(x)) + lmul(t)>\n",
    );
}

/// Names that the printer invents are not those of the program's variables.
#[test]
fn invented_names() {
    let x = linear::Var::fresh("t2", linear::Ty::Real(1));
    let each = |prim, t: &linear::Term| linear::op(Op::Each(prim, 1), t.clone());
    let (one, two) = (each(Prim::Sin, &linear::var(&x)), each(Prim::Cos, &linear::var(&x)));
    let both = |t: &linear::Term| linear::pair(t.clone(), t.clone());
    let text = linear::pair(both(&one), both(&two)).page(&[]);
    assert_eq!(text, "let t = sin(t2) in\nlet t3 = cos(t2) in\n<<t, t>, <t3, t3>>");
}

/// E26: traversals visit shared nodes once: the shared form of 60 squarings below a λ has 2^60
/// nodes as a tree.
#[test]
fn shared_is_not_copied() {
    let x = source::Var::fresh("x", source::REAL);
    let square = |x: source::Term| source::op_at(Op::Each(Prim::Mul, 1), &[x.clone(), x]);
    fn squares(
        x: source::Term,
        n: usize,
        square: &dyn Fn(source::Term) -> source::Term,
    ) -> source::Term {
        if n == 0 { x } else { source::let_("x", square(x), |y| squares(y, n - 1, square)) }
    }
    let f = source::lam("y", source::REAL, |y| squares(y, 60, &square));
    let twice = source::let_("f", f, |f| source::app(f.clone(), source::app(f, source::var(&x))));
    for mode in [Mode::Forward, Mode::Reverse] {
        let comb = combinators::of_term(&x, &source::var(&x));
        let context = Context::new(std::slice::from_ref(&x.hint), &comb, mode, None);
        let text = context.shared_stage(&x, &twice, mode);
        assert!(text.lines().count() < 2000, "{}", text.lines().count());
    }
}

/// S-11, S-12, S-14, L-20 … L-30: the printed term is equal to the macros' term, compared by
/// the normalizer in the linear language, by values in the applied one.
#[test]
fn tidied_is_equal() {
    for seed in 0..1000 {
        let mut g = Generator::new(seed);
        let (x, t) = g.program();
        let comb = combinators::of_term(&x, &t);
        let (at, inputs) = (g.value(&x.ty), [g.value(&x.ty), g.value(t.ty())]);
        let shared =
            [shared::forward(&x, &t, Lets::Encoded), shared::reverse(&x, &t, Lets::Encoded)];
        for (derived, t) in Derived::both(&comb).into_iter().zip([&t; 2]) {
            tidied_linear(&derived, t);
        }
        for ((Applied { x, second, .. }, (y, both)), v) in
            Applied::both(&comb).into_iter().zip(shared).zip(&inputs)
        {
            tidied_applied(&x, &second, &|second| second.linear().lapp(v), &at);
            tidied_applied(
                &y,
                &both,
                &|both| Value::pair(both.fst(), both.snd().linear().lapp(v)),
                &at,
            );
        }
    }
}

/// A derivative with respect to some parameters is the one with respect to all, with zero
/// tangents for the others, and without their cotangents.
#[test]
fn some_parameters() {
    let mut compared = 0;
    for seed in 0..400 {
        let mut g = Generator::new(seed);
        let (x, t) = g.program();
        let source::Ty::Prod(..) = x.ty else { continue };
        let comb = combinators::of_term(&x, &t);
        let (at, v, w) = (g.value(&x.ty), g.value(&x.ty), g.value(t.ty()));
        let names = ["a".into(), "b".into()];
        for (k, mode) in [0, 1].into_iter().flat_map(|k| [(k, Mode::Forward), (k, Mode::Reverse)]) {
            let component = |of: &Value| if k == 0 { of.fst() } else { of.snd() };
            let zeros = |k: usize| linear::zero(&forward_ty(&x.ty, k));
            let expect = match mode {
                Mode::Forward => {
                    let v = match k {
                        0 => Value::pair(v.fst(), zeros(1)),
                        _ => Value::pair(zeros(0), v.snd()),
                    };
                    Derived::forward(&comb).second(&at, &v)
                }
                Mode::Reverse => component(&Derived::reverse(&comb).second(&at, &w)),
            };
            let expect = expect.flatten().unwrap();
            let given = if mode == Mode::Forward { component(&v) } else { w.clone() };
            let context = Context::new(&names, &comb, mode, Some(&[k]));
            let [a, b] = &context.variables[..] else { panic!("two parameters") };
            let env = Env::default().with(a, at.fst()).with(b, at.snd());
            let (_, second) = context.linear(&comb, mode);
            let found = linear::eval_linear(&linear::tidy_linear(&second), &env, &given);
            close(&found.flatten().unwrap(), &expect);
            let (variables, _, second) = context.literal(&comb, mode);
            let env = Env::default().with(&variables[0], at.fst()).with(&variables[1], at.snd());
            let found = applied::eval(&applied::tidy(&second), &env).linear().lapp(&given);
            close(&found.flatten().unwrap(), &expect);
            let (variables, both) = context.shared((&x, &t), mode);
            let env = Env::default().with(&variables[0], at.fst()).with(&variables[1], at.snd());
            let found = applied::eval(&applied::tidy(&both), &env).snd().linear().lapp(&given);
            close(&found.flatten().unwrap(), &expect);
            compared += 1;
        }
    }
    assert!(compared >= 200, "{compared}");
}

/// `D→(-)_2` of a component.
fn forward_ty(product: &source::Ty, k: usize) -> linear::LTy {
    let (a, b) = forward::tangent_ty(product).components();
    if k == 0 { a } else { b }
}

fn tidied_linear(Derived { x, first, second }: &Derived, t: &source::Term) {
    let (one, two) = (linear::tidy(first), linear::tidy_linear(second));
    linear::check(std::slice::from_ref(x), &one).unwrap();
    linear::check_linear(std::slice::from_ref(x), &two).unwrap();
    assert_eq!(linear::normalize(&one), linear::normalize(first), "{t}");
    assert!(linear::normalize_linear(&two) == linear::normalize_linear(second), "{t}");
}

fn tidied_applied(
    x: &applied::Var,
    t: &applied::Term,
    observe: &dyn Fn(&Value) -> Value,
    at: &Value,
) {
    let tidied = applied::tidy(t);
    applied::check(std::slice::from_ref(x), &tidied).unwrap();
    let [found, expect] = [&tidied, t].map(|t| {
        observe(&applied::eval(t, &Env::default().with(x, at.clone()))).flatten().unwrap()
    });
    close(&found, &expect);
}

fn close(a: &[f64], b: &[f64]) {
    assert!(
        a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs())),
        "{a:?} and {b:?}"
    );
}
