//! T-9, E16: the representation of a copower cannot be observed: not the order of its entries, nor
//! whether `(t, s) + (t, s')` is `(t, s + s')`, nor whether there is an entry `(t, 0)`. Three laws,
//! in both target languages, observed by the reverse derivatives of generated functions.

use super::*;
use crate::linfun::{self, LinFun};
use crate::source::Ty;

/// An element of `!D←(T)_1 (x) D←(S)_2`, written twice.
#[derive(Clone, Copy)]
enum Law {
    Order,
    Merging,
    ZeroEntries,
}

/// The constructors of formal sums in a language: entries, and the zero of their values.
struct Sums<'a> {
    entry: &'a dyn Fn(&Value, &Value) -> Value,
    none: Value,
}

impl Law {
    /// Both representations, from three keys and three values.
    fn sides(self, keys: &[Value; 3], values: &[Value; 3], sums: &Sums) -> [Value; 2] {
        let [a, b, c] = [0, 1, 2].map(|k| (sums.entry)(&keys[k], &values[k]));
        match self {
            Law::Order => [a.plus(&b).plus(&c), c.plus(&a).plus(&b)],
            Law::Merging => {
                let split = (sums.entry)(&keys[0], &values[1]).plus(&a);
                let merged = (sums.entry)(&keys[0], &values[0].plus(&values[1]));
                [split.plus(&c), merged.plus(&c)]
            }
            Law::ZeroEntries => {
                let nothing = (sums.entry)(&keys[2], &sums.none);
                [nothing.plus(&a).plus(&nothing).plus(&b), a.plus(&b)]
            }
        }
    }
}

/// A function `x : R ⊢ t : T -> S` of first-order R, where T and S may be functions again.
struct Function {
    comb: Comb,
    at: Value,
    argument: Ty,
    result: Ty,
    generator: Generator,
}

fn functions() -> impl Iterator<Item = Function> {
    let function = |seed| {
        let mut g = Generator::new(seed);
        let (x, argument, result) = (Var::fresh("x", g.ty(0)), g.ty(1), g.ty(1));
        let t = g.bounded(std::slice::from_ref(&x), &argument.clone().to(result.clone()), 8, 24);
        let at = g.value(&x.ty);
        Function { comb: combinators::of_term(&x, &t), at, argument, result, generator: g }
    };
    (0..).map(function).filter(|f| literal::size(&f.comb) < LARGEST).take(TERMS as usize)
}

/// The number of nonzero cotangents, because the laws should not hold vacuously.
fn observed(law: Law, in_linear_language: bool) -> usize {
    let mut nonzero = 0;
    for mut f in functions() {
        let pulled =
            if in_linear_language { linear_sides(law, &mut f) } else { applied_sides(law, &mut f) };
        let [left, right] = pulled.map(|value| numbers(&value));
        close(&left, &right, 1e-9, &f.comb);
        nonzero += usize::from(left.iter().any(|x| *x != 0.0));
    }
    nonzero
}

fn linear_sides(law: Law, f: &mut Function) -> [Value; 2] {
    let (key, value) = (reverse::primal_ty(&f.argument), reverse::cotangent_ty(&f.result));
    let keys =
        [(); 3].map(|()| linear::eval(&f.generator.cartesian(&[], &key, 12), &Env::default()));
    let values = [(); 3].map(|()| f.generator.element(&value));
    let sums = Sums {
        entry: &|key, value| Value::Sum(vec![(key.clone(), value.clone())].into()),
        none: linear::zero(&value),
    };
    let derived = Derived::reverse(&f.comb);
    law.sides(&keys, &values, &sums).map(|sum| derived.second(&f.at, &sum))
}

fn applied_sides(law: Law, f: &mut Function) -> [Value; 2] {
    let (key, value) =
        (AppliedReverse::primal_ty(&f.argument), AppliedReverse::second_ty(&f.result));
    let keys = [(); 3].map(|()| f.generator.applied_element(&key));
    let values = [(); 3].map(|()| f.generator.applied_element(&value));
    let sums = Sums {
        entry: &|key, value| LinFun::singleton(key).lapp(value),
        none: linfun::zero(&value),
    };
    let derived = Applied::reverse(&f.comb);
    law.sides(&keys, &values, &sums).map(|sum| derived.second(&f.at, &sum))
}

fn holds(law: Law) {
    for in_linear_language in [true, false] {
        let nonzero = observed(law, in_linear_language);
        assert!(nonzero > 300, "only {nonzero} cotangents are not zero");
    }
}

/// T-9, E9: `+` of formal sums is commutative.
#[test]
fn order_of_entries() {
    holds(Law::Order);
}

/// T-9: `(t, s) + (t, s') = (t, s + s')`
#[test]
fn merging_of_entries() {
    holds(Law::Merging);
}

/// T-9, E16: `(t, 0) = 0`
#[test]
fn zero_entries() {
    holds(Law::ZeroEntries);
}
