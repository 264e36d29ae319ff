//! The theorems T-1 … T-12 as properties of generated terms, at least 1000 each, in both modes and,
//! where there are two, in both appendices.
//!
//! The test cases: programs of the source language between first-order types and between types of
//! order up to 3, with anything inside (`Subject`); terms of the linear target language in both
//! judgements (`linear_terms`), and of the applied one (`applied_terms`), with all of their
//! constructs, at types of order up to 3. Elements of higher types are the values of generated
//! terms, and are compared through such.

mod adequacy; // T-7, T-8
mod applied_terms;
mod big_step_rules; // E-1 … E-24
mod clauses; // M-1 … M-8, A-20
mod confluence; // T-10
mod correctness; // T-3, T-4, T-5, T-11
mod equations; // T-1, T-2
mod linear_terms;
mod logical_relations; // T-6
mod mirror; // T-12
mod quotient; // T-9

use crate::combinators::{self, Comb};
use crate::generate::{Generator, Statistics};
use crate::linear::{self, Lin, Term};
use crate::literal::{self, Applied, Derived, quote};
use crate::op::Op;
use crate::pairs::{AppliedForward, AppliedReverse};
use crate::value::Value;
use crate::var::{Env, Var};
use crate::{applied, forward, reverse, source};

/// How many terms each theorem is tested on.
const TERMS: u64 = 1000;

/// Derivatives are exponentially larger than programs (E26): larger ones than this are left out, by
/// their size alone. The remaining programs are of higher order all the same: see
/// `subjects_are_of_higher_order`.
const LARGEST: f64 = 3000.0;

/// A generated program in all its forms.
struct Subject {
    x: source::Var,
    term: source::Term,
    comb: Comb,
    generator: Generator,
}

/// The seeds of a kind of programs, found once for all tests.
type Seeds = std::sync::OnceLock<Vec<u64>>;

impl Subject {
    /// Programs between first-order types, with anything inside.
    fn all() -> impl Iterator<Item = Subject> {
        static SEEDS: Seeds = Seeds::new();
        Subject::chosen(&SEEDS, Subject::first_order)
    }

    /// Programs between types of order up to 2 and up to 3, at least one of which is a function
    /// type: functions that are given, and functions that are returned.
    fn higher() -> impl Iterator<Item = Subject> {
        static SEEDS: Seeds = Seeds::new();
        Subject::chosen(&SEEDS, Subject::higher_order)
    }

    /// The first small ones; in a quarter of them, something else than a λ is applied, and in a
    /// quarter, a λ captures a function.
    fn chosen(seeds: &'static Seeds, make: fn(u64) -> Subject) -> impl Iterator<Item = Subject> {
        let quarter = |start: u64, wanted: fn(&Statistics) -> bool| {
            let fits = |seed: &u64| {
                let s = make(*seed);
                wanted(&s.statistics()) && s.is_small()
            };
            (start..).step_by(4).filter(fits).take(TERMS as usize / 4).collect::<Vec<_>>()
        };
        let find = || {
            let special = [
                quarter(0, |seen| seen.unknown_calls > 0),
                quarter(1, |seen| seen.captured_functions > 0),
            ];
            [special.concat(), quarter(2, |_| true), quarter(3, |_| true)].concat()
        };
        seeds.get_or_init(find).iter().copied().map(make)
    }

    fn statistics(&self) -> Statistics {
        let mut seen = Statistics::default();
        seen.add(&self.term);
        seen
    }

    fn first_order(seed: u64) -> Subject {
        let mut generator = Generator::new(seed);
        let (x, term) = generator.program();
        Subject::new(x, term, generator)
    }

    fn higher_order(seed: u64) -> Subject {
        let mut generator = Generator::new(seed);
        let (from, to) = loop {
            let (from, to) = (generator.ty(2), generator.ty(3));
            if !from.first_order() || !to.first_order() {
                break (from, to);
            }
        };
        let x = Var::fresh("x", from);
        let fuel = 4 + generator.below(6);
        let term = generator.bounded(std::slice::from_ref(&x), &to, fuel, 20);
        Subject::new(x, term, generator)
    }

    fn new(x: source::Var, term: source::Term, generator: Generator) -> Subject {
        let comb = combinators::of_term(&x, &term);
        Subject { x, term, comb, generator }
    }

    /// Whether its derivatives and those of its normal form are small.
    fn is_small(&self) -> bool {
        let small = |t: &Comb| literal::size(t) < LARGEST;
        small(&self.comb) && small(&combinators::of_term(&self.x, &source::normalize(&self.term)))
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
    assert!(agree(a, b, tolerance), "{a:?} and {b:?} differ: {what}");
}

/// Whether the lengths agree, and the elements but for rounding; NaN equals NaN.
fn agree(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let same = |x: f64, y: f64| {
        x == y
            || x.is_nan() && y.is_nan()
            || (x - y).abs() <= tolerance * (1.0 + x.abs().max(y.abs()))
    };
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(*x, *y))
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// `x + h v`, on first-order values.
fn moved(x: &Value, v: &Value, h: f64) -> Value {
    match x {
        Value::Real(x) => {
            Value::Real(x.iter().zip(v.numbers().iter()).map(|(x, v)| x + h * v).collect())
        }
        Value::Unit => Value::Unit,
        Value::Pair(_) => Value::pair(moved(&x.fst(), &v.fst(), h), moved(&x.snd(), &v.snd(), h)),
        Value::Fun(_) | Value::Sum(_) | Value::LinFun(_) | Value::Copower(_) => {
            panic!("{x:?} is not first-order")
        }
    }
}

/// The derivative of a curve at 0, by central differences, extrapolated once.
fn slope(curve: &dyn Fn(f64) -> Vec<f64>) -> Vec<f64> {
    let central = |h: f64| {
        curve(h).iter().zip(curve(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect::<Vec<_>>()
    };
    let (coarse, fine) = (central(2e-3), central(1e-3));
    coarse.iter().zip(fine).map(|(c, f)| (4.0 * f - c) / 3.0).collect()
}

/// The programs that the theorems are tested on really exercise higher order, although large
/// derivatives are left out.
#[test]
fn subjects_are_of_higher_order() {
    let [mut programs, mut functions] = [Statistics::default(); 2];
    let (mut given, mut returned) = (0, 0);
    Subject::all().for_each(|s| programs.add(&s.term));
    for s in Subject::higher() {
        functions.add(&s.term);
        given += usize::from(!s.x.ty.first_order());
        returned += usize::from(!s.term.ty().first_order());
    }
    println!("{programs:?}");
    println!("{functions:?}, {given} are given a function, {returned} return one");
    assert_eq!([programs.terms, functions.terms], [1000; 2]);
    for seen in [programs, functions] {
        assert!(seen.unknown_calls >= 500 && seen.captured_functions >= 250, "{seen:?}");
        assert!(
            seen.function_arguments >= 450
                && seen.function_results >= 150
                && seen.highest_order >= 3,
            "{seen:?}"
        );
    }
    assert!(given >= 600 && returned >= 500, "{given} are given a function, {returned} return one");
}
