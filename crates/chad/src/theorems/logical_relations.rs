//! T-6, the fundamental lemmas: for every term `x : S ⊢ t : T` of the source language and every
//! curve into ⟦S⟧ that is related to a derivative of it, the image of the curve under t is related
//! to the image of that derivative under `D(t)`.
//!
//! At ground types the relations P^f and P^r say that derivatives are derivatives, at a point `c`
//! and along a direction of `real^2` (erratum E14: the point is any, and the derivative is by the
//! direction; the paper's sketch has them at 0 and unit vectors). At `S -> R` they say that related
//! arguments give related results (erratum E13: *all* related arguments, where the paper's subscone
//! asks for one); the arguments here are generated terms over the same point, which are related by
//! the lemma itself. In both target languages.

use std::rc::Rc;

use super::*;
use crate::linfun::LinFun;
use crate::source::Ty;

/// A curve (or surface) into ⟦T⟧ and its derivative at a point.
#[derive(Clone)]
struct Related {
    /// The value at a point nearby.
    value: Map,
    /// The primal.
    first: Value,
    /// Forward: the tangent along the direction. Reverse: the pullback.
    second: Second,
}

type Map = Rc<dyn Fn(&Value) -> Value>;

#[derive(Clone)]
enum Second {
    Tangent(Value),
    Pullback(Map),
}

/// Where the values of second components live.
#[derive(Clone, Copy, PartialEq)]
enum Language {
    AppendixA,
    AppendixC,
}

impl Language {
    fn apply(self, f: &Value, v: &Value) -> Value {
        match self {
            Language::AppendixA => f.apply(v),
            Language::AppendixC => f.linear().lapp(v),
        }
    }

    fn entry(self, key: &Value, v: &Value) -> Value {
        match self {
            Language::AppendixA => Value::Sum(vec![(key.clone(), v.clone())].into()),
            Language::AppendixC => LinFun::singleton(key).lapp(v),
        }
    }

    fn zero_cotangent(self, ty: &Ty) -> Value {
        match self {
            Language::AppendixA => linear::zero(&reverse::cotangent_ty(ty)),
            Language::AppendixC => crate::linfun::zero(&AppliedReverse::second_ty(ty)),
        }
    }

    /// Both components of the derivative of a morphism, in this language.
    fn derivative(self, t: &Comb, in_reverse: bool) -> (Map, crate::pairs::LinearMap) {
        match self {
            Language::AppendixA => {
                let derived =
                    Rc::new(if in_reverse { Derived::reverse(t) } else { Derived::forward(t) });
                let also = derived.clone();
                (Rc::new(move |x| derived.first(x)), Rc::new(move |x, v| also.second(x, v)))
            }
            Language::AppendixC => {
                let derived =
                    Rc::new(if in_reverse { Applied::reverse(t) } else { Applied::forward(t) });
                let also = derived.clone();
                (Rc::new(move |x| derived.first(x)), Rc::new(move |x, v| also.second(x, v)))
            }
        }
    }
}

/// The version of the relations.
#[derive(Clone, Copy, PartialEq)]
enum Reading {
    Corrected,
    /// E13: at `S -> R`, *some* related argument has a related result.
    PrintedExponential,
    /// E14: the curve is at 0, along a unit vector.
    PrintedCurve,
}

struct Point {
    c: source::Var,
    at: Value,
    direction: Value,
    in_reverse: bool,
    language: Language,
    reading: Reading,
}

/// Each mode, in each language.
const WAYS: [(bool, Language); 4] = [
    (false, Language::AppendixA),
    (true, Language::AppendixA),
    (false, Language::AppendixC),
    (true, Language::AppendixC),
];

impl Point {
    fn new(g: &mut Generator, (in_reverse, language): (bool, Language), reading: Reading) -> Point {
        let c = Var::fresh("c", Ty::Real(2));
        let (at, direction) = match reading {
            Reading::Corrected | Reading::PrintedExponential => (g.value(&c.ty), g.value(&c.ty)),
            Reading::PrintedCurve => (Value::real([0.0, 0.0]), Value::real([1.0, 0.0])),
        };
        Point { c, at, direction, in_reverse, language, reading }
    }

    /// The identity curve: `c` itself.
    fn identity(&self) -> Related {
        let second = if self.in_reverse {
            Second::Pullback(Rc::new(Value::clone))
        } else {
            Second::Tangent(self.direction.clone())
        };
        Related { value: Rc::new(Value::clone), first: self.at.clone(), second }
    }

    /// The image of a curve and its derivative under a morphism and its derivative.
    fn through(&self, t: &Comb, r: &Related) -> Related {
        let (primal, derivative) = self.language.derivative(t, self.in_reverse);
        let (t, before, at) = (t.clone(), r.value.clone(), r.first.clone());
        let second = match r.second.clone() {
            Second::Tangent(tangent) => Second::Tangent(derivative(&at, &tangent)),
            Second::Pullback(pull) => Second::Pullback(Rc::new(move |v| pull(&derivative(&at, v)))),
        };
        Related {
            value: Rc::new(move |at| combinators::eval(&t, &before(at))),
            first: primal(&r.first),
            second,
        }
    }

    /// A generated term over the point.
    fn generated(&self, g: &mut Generator, ty: &Ty, size: usize) -> Related {
        let t = g.bounded(std::slice::from_ref(&self.c), ty, 4, size);
        self.through(&combinators::of_term(&self.c, &t), &self.identity())
    }

    /// Whether it is in the relation at this type; at a function type, for two arguments and for
    /// the curve that stays at zero.
    fn relates(&self, g: &mut Generator, ty: &Ty, r: &Related) -> bool {
        match ty {
            Ty::Real(n) => self.relates_vectors(g, *n, r),
            Ty::Unit => true,
            Ty::Prod(a, b) => {
                let [left, right] = self.split(r, a, b);
                self.relates(g, a, &left) && self.relates(g, b, &right)
            }
            Ty::Fun(a, b) => {
                let mut arguments = vec![self.generated(g, a, 12), self.generated(g, a, 12)];
                if let Ty::Real(n) = **a {
                    arguments.push(self.constant(n));
                }
                let mut related = |argument| self.relates(g, b, &self.applied(r, argument));
                match self.reading {
                    Reading::Corrected | Reading::PrintedCurve => {
                        arguments.iter().all(&mut related)
                    }
                    Reading::PrintedExponential => arguments.iter().any(&mut related),
                }
            }
            Ty::Own(never) => match *never {},
        }
    }

    /// The curve that stays at zero.
    fn constant(&self, n: usize) -> Related {
        let zero = source::constant(vec![0.0; n]);
        self.through(&combinators::of_term(&self.c, &zero), &self.identity())
    }

    fn relates_vectors(&self, g: &mut Generator, n: usize, r: &Related) -> bool {
        let along = slope(&|h| (r.value)(&moved(&self.at, &self.direction, h)).numbers().to_vec());
        let second = match &r.second {
            Second::Tangent(tangent) => agree(&tangent.numbers(), &along, 1e-5),
            Second::Pullback(pull) => {
                let w = g.value(&Ty::Real(n));
                let pulled = inner(&numbers(&pull(&w)), &numbers(&self.direction));
                agree(&[pulled], &[inner(&along, &w.numbers())], 1e-5)
            }
        };
        second && agree(&r.first.numbers(), &(r.value)(&self.at).numbers(), 1e-12)
    }

    /// Both components of something at a product.
    fn split(&self, r: &Related, left: &Ty, right: &Ty) -> [Related; 2] {
        let [value, other] = [r.value.clone(), r.value.clone()];
        let [one, two] = match r.second.clone() {
            Second::Tangent(tangent) => {
                [Second::Tangent(tangent.fst()), Second::Tangent(tangent.snd())]
            }
            Second::Pullback(pull) => {
                let [no_left, no_right] = [left, right].map(|ty| self.language.zero_cotangent(ty));
                let also = pull.clone();
                let first = move |v: &Value| pull(&Value::pair(v.clone(), no_right.clone()));
                let second = move |v: &Value| also(&Value::pair(no_left.clone(), v.clone()));
                [Second::Pullback(Rc::new(first)), Second::Pullback(Rc::new(second))]
            }
        };
        let first = Related {
            value: Rc::new(move |at| value(at).fst()),
            first: r.first.fst(),
            second: one,
        };
        let second = Related {
            value: Rc::new(move |at| other(at).snd()),
            first: r.first.snd(),
            second: two,
        };
        [first, second]
    }

    /// `ev` after a pair, in the category of pairs: the relation at `S -> R` is about it.
    fn applied(&self, f: &Related, s: &Related) -> Related {
        let (language, result, at) = (self.language, f.first.apply(&s.first), s.first.clone());
        let second = match (f.second.clone(), s.second.clone()) {
            (Second::Tangent(df), Second::Tangent(ds)) => {
                Second::Tangent(df.apply(&at).plus(&language.apply(&result.snd(), &ds)))
            }
            (Second::Pullback(pull_f), Second::Pullback(pull_s)) => {
                let linear = result.snd();
                let pull = move |v: &Value| {
                    pull_f(&language.entry(&at, v)).plus(&pull_s(&language.apply(&linear, v)))
                };
                Second::Pullback(Rc::new(pull))
            }
            (Second::Tangent(_), Second::Pullback(_))
            | (Second::Pullback(_), Second::Tangent(_)) => unreachable!("one mode"),
        };
        let (f, s) = (f.value.clone(), s.value.clone());
        Related { value: Rc::new(move |at| f(at).apply(&s(at))), first: result.fst(), second }
    }
}

/// T-6: types of order up to 3, most of them functions; contexts of order up to 2; both modes and
/// both target languages.
#[test]
fn fundamental_lemmas() {
    let (mut functions, mut from_functions, mut highest) = (0, 0, 0);
    for seed in 0..TERMS {
        let mut g = Generator::new(seed);
        let (from, to) = (g.ty(2), if seed % 4 == 0 { g.ty(3) } else { g.ty(2).to(g.ty(1)) });
        functions += u64::from(!to.first_order());
        from_functions += u64::from(!from.first_order());
        highest = highest.max(to.order());
        let x = Var::fresh("x", from.clone());
        let t = g.bounded(std::slice::from_ref(&x), &to, 6, 20);
        let comb = combinators::of_term(&x, &t);
        for way in WAYS {
            let point = Point::new(&mut g, way, Reading::Corrected);
            let context = point.generated(&mut g, &from, 12);
            assert!(point.relates(&mut g, &to, &point.through(&comb, &context)), "{t}");
        }
    }
    println!(
        "{functions} terms are functions, {from_functions} are given one, of order up to {highest}"
    );
    assert!(
        functions > 750 && from_functions > 300 && highest == 3,
        "{functions} {from_functions} {highest}"
    );
}

/// The curve that one term makes of the point, with the derivative of another one.
fn mixed(point: &Point, t: &source::Term, wrong: &source::Term) -> Related {
    let [value, derivative] =
        [t, wrong].map(|t| point.through(&combinators::of_term(&point.c, t), &point.identity()));
    Related { value: value.value, ..derivative }
}

/// The number of points out of 100, in each mode and language, that relate it.
fn accepted(
    reading: Reading,
    ty: &Ty,
    make: &dyn Fn(&source::Var) -> [source::Term; 2],
) -> [usize; 4] {
    WAYS.map(|way| {
        let related = |seed: u64| {
            let mut g = Generator::new(seed);
            let point = Point::new(&mut g, way, reading);
            let [t, wrong] = make(&point.c);
            point.relates(&mut g, ty, &mixed(&point, &t, &wrong))
        };
        (0..100).filter(|seed| related(*seed)).count()
    })
}

/// E13: the relation at `S -> R` is about *all* related arguments; printed is that there is one.
/// Then `\y. y` would be related to the derivative of `\y. y + y`: at the curve that stays at zero,
/// they agree.
#[test]
fn e13_exponential() {
    let ty = source::REAL.to(source::REAL);
    let double =
        |y: source::Term| source::op_at(Op::Each(lambada_prim::Prim::Add, 1), &[y.clone(), y]);
    let wrong = |_: &source::Var| {
        [source::lam("y", source::REAL, |y| y), source::lam("y", source::REAL, double)]
    };
    let right = |_: &source::Var| [0; 2].map(|_| source::lam("y", source::REAL, double));
    assert_eq!(accepted(Reading::PrintedExponential, &ty, &wrong), [100; 4]);
    assert!(accepted(Reading::Corrected, &ty, &wrong).iter().all(|count| *count < 10));
    assert_eq!(accepted(Reading::Corrected, &ty, &right), [100; 4]);
}

/// E14: curves go through any point, in any direction; printed is `γ(0) = 0`, which sees
/// derivatives at 0 only. Then the square of the vector's sum would be related to the derivative of
/// 0.
#[test]
fn e14_curves() {
    let square = |c: &source::Var| {
        let sum = source::op(Op::Sum(2), source::var(c));
        source::op_at(Op::Each(lambada_prim::Prim::Mul, 1), &[sum.clone(), sum])
    };
    let wrong = |c: &source::Var| [square(c), source::constant([0.0])];
    let right = |c: &source::Var| [square(c), square(c)];
    assert_eq!(accepted(Reading::PrintedCurve, &source::REAL, &wrong), [100; 4]);
    assert!(accepted(Reading::Corrected, &source::REAL, &wrong).iter().all(|count| *count < 10));
    assert_eq!(accepted(Reading::Corrected, &source::REAL, &right), [100; 4]);
}
