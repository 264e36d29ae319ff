//! Variants: the derivatives are right, inside of functions too, and injections carry derivatives.

use lambada_prim::Prim;

use super::*;
use crate::generate::Generator;

const REAL: Ty = Ty::Real(1);

/// Numbers away from the multiples of 1/16 that programs mention: no branch flips exactly here.
fn value(g: &mut Generator, ty: &Ty) -> Value {
    match ty {
        Ty::Real(n) => Value::real((0..*n).map(|_| 0.97 * g.number() + 0.011).collect::<Vec<_>>()),
        Ty::Unit => Value::Unit,
        Ty::Prod(a, b) => Value::pair(value(g, a), value(g, b)),
        Ty::Own(Sum(arms)) => {
            let k = g.below(arms.len());
            tagged(k, value(g, &arms[k]))
        }
        Ty::Fun(..) => panic!("{ty} is not first-order"),
    }
}

/// A random tangent or cotangent over a first-order primal: that of the tag alone.
fn over(g: &mut Generator, ty: &Ty, x: &Value) -> Value {
    match ty {
        Ty::Real(_) | Ty::Unit => value(g, ty),
        Ty::Prod(a, b) => Value::pair(over(g, a, &x.fst()), over(g, b, &x.snd())),
        Ty::Own(Sum(arms)) => over(g, &arms[tag(x)], &x.snd()),
        Ty::Fun(..) => panic!("{ty} is not first-order"),
    }
}

/// `x + h v` over the same tags.
fn moved(ty: &Ty, x: &Value, v: &Value, h: f64) -> Value {
    match ty {
        Ty::Real(_) => Value::real(
            x.numbers().iter().zip(v.numbers().iter()).map(|(x, v)| x + h * v).collect::<Vec<_>>(),
        ),
        Ty::Unit => Value::Unit,
        Ty::Prod(a, b) => {
            Value::pair(moved(a, &x.fst(), &v.fst(), h), moved(b, &x.snd(), &v.snd(), h))
        }
        Ty::Own(Sum(arms)) => tagged(tag(x), moved(&arms[tag(x)], &x.snd(), v, h)),
        Ty::Fun(..) => panic!("{ty} is not first-order"),
    }
}

/// Tags and numbers of a first-order value, apart.
fn parts(ty: &Ty, x: &Value, tags: &mut Vec<usize>, numbers: &mut Vec<f64>) {
    match ty {
        Ty::Real(_) => numbers.extend(x.numbers().iter()),
        Ty::Unit => {}
        Ty::Prod(a, b) => {
            parts(a, &x.fst(), tags, numbers);
            parts(b, &x.snd(), tags, numbers);
        }
        Ty::Own(Sum(arms)) => {
            tags.push(tag(x));
            parts(&arms[tag(x)], &x.snd(), tags, numbers);
        }
        Ty::Fun(..) => panic!("{ty} is not first-order"),
    }
}

fn split(ty: &Ty, x: &Value) -> (Vec<usize>, Vec<f64>) {
    let (mut tags, mut numbers) = (vec![], vec![]);
    parts(ty, x, &mut tags, &mut numbers);
    (tags, numbers)
}

/// The derivative along a line, unless a branch flips nearby.
fn slope(t: &Comb, x: &Value, v: &Value) -> Option<Vec<f64>> {
    let at = |h: f64| split(&t.to, &eval(t, &moved(&t.from, x, v, h)));
    let central = |h: f64| {
        let ((_, a), (_, b)) = (at(h), at(-h));
        a.iter().zip(b).map(|(a, b)| (a - b) / (2.0 * h)).collect::<Vec<_>>()
    };
    let tags = at(0.0).0;
    if [-1e-3, -5e-4, 5e-4, 1e-3].iter().any(|h| at(*h).0 != tags) {
        return None;
    }
    let (coarse, fine) = (central(1e-3), central(5e-4));
    let ((_, left), (_, here), (_, right)) = (at(-1e-3), at(0.0), at(1e-3));
    let kink = |k: usize| (left[k] - here[k]) + (right[k] - here[k]);
    let smooth = (0..here.len()).all(|k| {
        (coarse[k] - fine[k]).abs() < 1e-3 * (1.0 + fine[k].abs()) && kink(k).abs() < 1e-5
    });
    smooth.then(|| coarse.iter().zip(&fine).map(|(c, f)| (4.0 * f - c) / 3.0).collect())
}

/// Forward is the slope, reverse is its transpose, primals are values. Gives whether there was a
/// slope to compare with.
fn check(g: &mut Generator, t: &Comb) -> bool {
    let x = value(g, &t.from);
    let (v, w) = (over(g, &t.from, &x), over(g, &t.to, &eval(t, &x)));
    let ((first, push), (again, pull)) = (forward(t, &x), reverse(t, &x));
    let expect = split(&t.to, &eval(t, &x));
    assert_eq!((split(&t.to, &first), split(&t.to, &again)), (expect.clone(), expect));
    let (pushed, pulled) = (push(&v).flatten().unwrap(), pull(&w).flatten().unwrap());
    let dot =
        |a: &[f64], b: &Value| a.iter().zip(b.flatten().unwrap()).map(|(x, y)| x * y).sum::<f64>();
    let (left, right) = (dot(&pushed, &w), dot(&pulled, &v));
    assert!((left - right).abs() < 1e-9 * (1.0 + left.abs()), "{left} and {right}: {t}");
    let Some(slope) = slope(t, &x, &v) else { return false };
    for (p, s) in pushed.iter().zip(&slope) {
        assert!((p - s).abs() < 1e-5 * (1.0 + s.abs()), "{p} and {s}: {t}");
    }
    true
}

/// Draws morphisms between any types: products, functions and branches nested in each other.
struct Draw<'a> {
    g: &'a mut Generator,
    cases_under_lambda: usize,
    depth: usize,
}

impl Draw<'_> {
    /// A type of at most this order, with variants.
    fn ty(&mut self, order: usize) -> Ty {
        match self.g.below(if order == 0 { 8 } else { 11 }) {
            0..3 => REAL,
            3 => Ty::Real(2),
            4 => Ty::Unit,
            5 => self.ty(order).times(self.ty(0)),
            6 => Ty::sum([self.ty(0), self.ty(order)]),
            7 => Ty::sum([Ty::Unit, REAL, self.ty(0)]),
            _ => self.ty(order - 1).to(self.ty(0)),
        }
    }

    fn comb(&mut self, from: &Ty, to: &Ty, fuel: usize) -> Comb {
        if fuel > 0 {
            match self.g.below(8) {
                0..3 => return self.call(from, to, fuel - 1),
                3 | 4 => {
                    if let Some(path) = self.path_to_variant(from) {
                        return self.branch(path, to, fuel - 1);
                    }
                }
                5 => {
                    let condition = then(self.comb(from, &REAL, fuel / 2), sign());
                    return self.branch(condition, to, fuel - 1);
                }
                _ => {}
            }
        }
        if let Some(path) = self.path(from, to)
            && self.g.below(3) > 0
        {
            return path;
        }
        self.introduction(from, to, fuel)
    }

    fn branch(&mut self, scrutinee: Comb, to: &Ty, fuel: usize) -> Comb {
        self.cases_under_lambda += usize::from(self.depth > 0);
        let arms = scrutinee.to.arms().to_vec();
        let context = scrutinee.from.clone();
        let arms = arms
            .into_iter()
            .map(|arm| self.comb(&context.clone().times(arm), to, fuel / 2))
            .collect();
        case_of(scrutinee, arms)
    }

    fn call(&mut self, from: &Ty, to: &Ty, fuel: usize) -> Comb {
        let argument = self.ty(1);
        let f = self.comb(from, &argument.clone().to(to.clone()), fuel / 2);
        then(pair(f, self.comb(from, &argument, fuel / 2)), ev(argument, to.clone()))
    }

    fn introduction(&mut self, from: &Ty, to: &Ty, fuel: usize) -> Comb {
        match to {
            Ty::Real(n) if fuel == 0 => {
                let constant = Op::constant((0..*n).map(|_| self.g.number()).collect::<Vec<_>>());
                then(unit(from.clone()), op(constant))
            }
            Ty::Real(n) => {
                let prim = [Prim::Add, Prim::Mul, Prim::Sub, Prim::Sin, Prim::Tanh, Prim::Cos]
                    [self.g.below(6)];
                let args = prim.args().len();
                let args = (0..args).map(|_| self.comb(from, to, (fuel - 1) / args));
                then(
                    args.collect::<Vec<_>>().into_iter().reduce(pair).expect("an argument"),
                    op(Op::Each(prim, *n)),
                )
            }
            Ty::Unit => unit(from.clone()),
            Ty::Prod(a, b) => pair(self.comb(from, a, fuel / 2), self.comb(from, b, fuel / 2)),
            Ty::Fun(a, b) => {
                self.depth += 1;
                let body = self.comb(&from.clone().times((**a).clone()), b, fuel.saturating_sub(1));
                self.depth -= 1;
                curry(body)
            }
            Ty::Own(Sum(arms)) => {
                let k = self.g.below(arms.len());
                then(self.comb(from, &arms[k], fuel.saturating_sub(1)), inject(k, to.clone()))
            }
        }
    }

    /// A projection out of a product.
    fn path(&mut self, from: &Ty, to: &Ty) -> Option<Comb> {
        self.paths(from, &|ty| ty == to)
    }

    fn path_to_variant(&mut self, from: &Ty) -> Option<Comb> {
        self.paths(from, &|ty| matches!(ty, Ty::Own(_)))
    }

    fn paths(&mut self, from: &Ty, wanted: &dyn Fn(&Ty) -> bool) -> Option<Comb> {
        if wanted(from) {
            return Some(id(from.clone()));
        }
        let Ty::Prod(a, b) = from else { return None };
        let (a, b) = ((**a).clone(), (**b).clone());
        let left = self.paths(&a, wanted).map(|rest| then(fst(a.clone(), b.clone()), rest));
        let right = self.paths(&b, wanted).map(|rest| then(snd(a, b), rest));
        if left.is_some() && (right.is_none() || self.g.below(2) == 0) { left } else { right }
    }
}

/// FW-2: `abs x = case sign x of l -> -x | r -> x`, of the CHAD reference implementation.
#[test]
fn absolute_value() {
    let here = || fst(REAL, Ty::Unit);
    let abs = case_of(sign(), vec![then(here(), op(Op::Each(Prim::Neg, 1))), here()]);
    for x in [-1.5, 0.25, 3.0] {
        let (value, pull) = reverse(&abs, &Value::real([x]));
        assert_eq!(
            (value.numbers()[0], pull(&Value::real([1.0])).numbers()[0]),
            (x.abs(), x.signum())
        );
    }
}

/// FW-2: a function whose body branches on its argument and on its captured variables, called in
/// both branches of another.
#[test]
fn branches_inside_of_functions() {
    let mut drawn = 0;
    let (mut compared, mut nested) = (0, 0);
    for seed in 0..6000 {
        let mut g = Generator::new(seed);
        let mut draw = Draw { g: &mut g, cases_under_lambda: 0, depth: 0 };
        let (from, to) = (REAL.times(draw.ty(0)), draw.ty(0));
        let t = draw.comb(&from, &to, 12);
        nested += usize::from(draw.cases_under_lambda > 0);
        compared += usize::from(check(&mut g, &t));
        drawn += 1;
    }
    println!("{drawn} programs, {compared} compared with differences, {nested} branch under a λ");
    assert!(compared > 5000 && nested > 1000, "{compared} compared, {nested} branch under a λ");
}

/// FW-2: a cotangent of a variant has the shape of the payload of the tag that was there, and no
/// other.
#[test]
fn cotangents_are_indexed_by_the_tag() {
    let sum = Ty::sum([REAL, REAL.times(Ty::Real(2))]);
    let total = case(vec![id(REAL), then(snd(REAL, Ty::Real(2)), op(Op::Sum(2)))]);
    assert_eq!(*total.from(), sum);
    let pulled = |x: Value| reverse(&total, &x).1(&Value::real([2.0])).flatten().unwrap();
    assert_eq!(pulled(tagged(0, Value::real([5.0]))), [2.0]);
    assert_eq!(
        pulled(tagged(1, Value::pair(Value::real([5.0]), Value::real([6.0, 7.0])))),
        [0.0, 2.0, 2.0]
    );
}
