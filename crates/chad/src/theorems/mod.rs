//! The theorems T-1 … T-12 as properties of generated terms, in both modes.

mod adequacy; // T-7, T-8, T-9
mod correctness; // T-3, T-4, T-5, T-11, T-12
mod equations; // T-1, T-2
mod logical_relations; // T-6

use crate::combinators::{self, Comb};
use crate::generate::Generator;
use crate::linear::{self, Term};
use crate::literal::{self, Applied, Derived};
use crate::value::Value;
use crate::var::{Env, Var};
use crate::{applied, reverse, source};

/// How many terms each theorem is tested on.
const TERMS: u64 = 1000;

/// A generated program in all its forms.
struct Subject {
    x: source::Var,
    term: source::Term,
    comb: Comb,
    generator: Generator,
}

impl Subject {
    fn all() -> impl Iterator<Item = Subject> {
        (0..).map(Subject::new).filter(|s| literal::size(&s.comb) < 2000.0).take(TERMS as usize)
    }

    fn new(seed: u64) -> Subject {
        let mut generator = Generator::new(seed);
        let (x, term) = generator.program();
        let comb = combinators::of_term(&x, &term);
        Subject { x, term, comb, generator }
    }

    fn point(&mut self) -> Value {
        self.generator.value(&self.x.ty.clone())
    }

    fn tangent(&mut self) -> Value {
        self.point()
    }

    fn cotangent(&mut self) -> Value {
        self.generator.value(&self.term.ty().clone())
    }

    fn value(&self, x: &Value) -> Value {
        source::eval(&self.term, &Env::default().with(&self.x, x.clone()))
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.flatten().expect("a first-order value")
}

#[track_caller]
fn close(a: &[f64], b: &[f64], tolerance: f64, what: &dyn std::fmt::Display) {
    assert_eq!(a.len(), b.len());
    let differ = |x: f64, y: f64| (x - y).abs() > tolerance * (1.0 + x.abs().max(y.abs()));
    assert!(!a.iter().zip(b).any(|(x, y)| differ(*x, *y)), "{a:?} and {b:?} differ: {what}");
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// `x + h v`, on first-order values.
fn moved(x: &Value, v: &Value, h: f64) -> Value {
    match x {
        Value::Real(x) => Value::Real(x.iter().zip(v.numbers().iter()).map(|(x, v)| x + h * v).collect()),
        Value::Unit => Value::Unit,
        Value::Pair(_) => Value::pair(moved(&x.fst(), &v.fst(), h), moved(&x.snd(), &v.snd(), h)),
        Value::Fun(_) | Value::Sum(_) | Value::LinFun(_) | Value::Copower(_) => panic!("{x:?} is not first-order"),
    }
}

/// The derivative of a curve at 0, by central differences, extrapolated once.
fn slope(curve: &dyn Fn(f64) -> Vec<f64>) -> Vec<f64> {
    let central = |h: f64| curve(h).iter().zip(curve(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect::<Vec<_>>();
    let (coarse, fine) = (central(2e-3), central(1e-3));
    coarse.iter().zip(fine).map(|(c, f)| (4.0 * f - c) / 3.0).collect()
}
