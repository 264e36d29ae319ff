//! Appendix F: higher-order primitives, as morphisms of the pair categories over the evaluator.
//!
//! Their derivatives live inside the module of the abstract types, so they may look at representations: a function's primal takes a point to
//! `<value, linear function>`, a function's cotangent is a formal sum of `(point, cotangent)`. Why they are right: by the definition of
//! the relation at `S -> R`, a function and its derivative may be called at any related argument, so each entry below is an instance of
//! `ev`, and derivatives of vectors are computed component by component. Nothing else is used.

use std::rc::Rc;

use crate::linear::zero;
use crate::pairs::{Forward, LinearMap, Map, Mor, Reverse, Semantics, object};
use crate::source::{REAL, Ty};
use crate::value::Value;
use crate::{forward, reverse};

/// A primitive with its derivatives.
pub struct Primitive {
    /// What it is called.
    pub name: &'static str,
    /// The type of its argument.
    pub from: Ty,
    /// The type of its result.
    pub to: Ty,
    /// Its meaning.
    pub eval: Map,
    /// `D_1`, the same in both modes: a function of the argument's primal.
    pub primal: Map,
    /// `D→_2`
    pub pushforward: LinearMap,
    /// `D←_2`
    pub pullback: LinearMap,
}

impl Primitive {
    /// As a morphism of `Σ_C L`.
    pub fn forward(&self) -> Mor<Semantics> {
        type P = Forward<Semantics>;
        let (from, to) = (object::<Semantics, P>(&self.from), object::<Semantics, P>(&self.to));
        Mor { from, to, first: self.primal.clone(), second: self.pushforward.clone() }
    }

    /// As a morphism of `Σ_C L^op`.
    pub fn reverse(&self) -> Mor<Semantics> {
        type P = Reverse<Semantics>;
        let (from, to) = (object::<Semantics, P>(&self.from), object::<Semantics, P>(&self.to));
        Mor { from, to, first: self.primal.clone(), second: self.pullback.clone() }
    }
}

fn real(x: f64) -> Value {
    Value::real([x])
}

fn vector(values: impl Iterator<Item = f64>) -> Value {
    Value::real(values.collect::<Vec<_>>())
}

fn scalar(value: &Value) -> f64 {
    value.numbers()[0]
}

fn scalars(value: &Value) -> Vec<Value> {
    value.numbers().iter().map(|x| real(*x)).collect()
}

fn sum_of(entries: Vec<(Value, Value)>) -> Value {
    Value::Sum(Rc::new(entries))
}

/// `f; fst` at a point.
fn value_at(f: &Value, x: &Value) -> Value {
    f.apply(x).fst()
}

/// `f; snd` at a point, applied.
fn linear_at(f: &Value, x: &Value, v: &Value) -> Value {
    f.apply(x).snd().apply(v)
}

/// P-1: `map : (real -> real) * real^n -> real^n`
///
/// `D_1 (f, v) = map (f;fst) v`, `D→_2 (f, v) (g, w) = map g v + zipWith (f;snd) v w`, `D←_2 (f, v) w = <zip v w, zipWith (f;snd) v w>`.
/// Erratum E18: the paper prints the reverse semantics with `D→`.
pub fn map(n: usize) -> Primitive {
    Primitive {
        name: "map",
        from: REAL.to(REAL).times(Ty::Real(n)),
        to: Ty::Real(n),
        eval: Rc::new(|x| vector(scalars(&x.snd()).iter().map(|v| scalar(&x.fst().apply(v))))),
        primal: Rc::new(|x| vector(scalars(&x.snd()).iter().map(|v| scalar(&value_at(&x.fst(), v))))),
        pushforward: Rc::new(|x, d| {
            let (f, v, g, w) = (x.fst(), scalars(&x.snd()), d.fst(), scalars(&d.snd()));
            vector(v.iter().zip(&w).map(|(v, w)| scalar(&g.apply(v)) + scalar(&linear_at(&f, v, w))))
        }),
        pullback: Rc::new(|x, w| {
            let (f, v, w) = (x.fst(), scalars(&x.snd()), scalars(w));
            let back = vector(v.iter().zip(&w).map(|(v, w)| scalar(&linear_at(&f, v, w))));
            Value::pair(sum_of(v.into_iter().zip(w).collect()), back)
        }),
    }
}

/// P-2: `zipWith : (real * real -> real) * (real^n * real^n) -> real^n`: `map` over pairs.
pub fn zip_with(n: usize) -> Primitive {
    fn rows(x: &Value) -> Vec<Value> {
        scalars(&x.fst()).into_iter().zip(scalars(&x.snd())).map(|(a, b)| Value::pair(a, b)).collect()
    }
    Primitive {
        name: "zipWith",
        from: REAL.times(REAL).to(REAL).times(Ty::Real(n).times(Ty::Real(n))),
        to: Ty::Real(n),
        eval: Rc::new(|x| vector(rows(&x.snd()).iter().map(|v| scalar(&x.fst().apply(v))))),
        primal: Rc::new(|x| vector(rows(&x.snd()).iter().map(|v| scalar(&value_at(&x.fst(), v))))),
        pushforward: Rc::new(|x, d| {
            let (f, v, g, w) = (x.fst(), rows(&x.snd()), d.fst(), rows(&d.snd()));
            vector(v.iter().zip(&w).map(|(v, w)| scalar(&g.apply(v)) + scalar(&linear_at(&f, v, w))))
        }),
        pullback: Rc::new(|x, w| {
            let (f, v, w) = (x.fst(), rows(&x.snd()), scalars(w));
            let back: Vec<Value> = v.iter().zip(&w).map(|(v, w)| linear_at(&f, v, w)).collect();
            let column = |component: fn(&Value) -> Value| vector(back.iter().map(|b| scalar(&component(b))));
            let columns = Value::pair(column(Value::fst), column(Value::snd));
            Value::pair(sum_of(v.into_iter().zip(w).collect()), columns)
        }),
    }
}

/// P-3: `fold : ((real * real -> real) * real) * real^n -> real`, from the left: `fold ((f, z), v) = f(.. f(f(z, v_1), v_2) .., v_n)`.
///
/// It is n times `ev`: forward carries the tangent of the state along; reverse visits the same states `s_i` from the last to the first, and
/// at each adds `!(s_i, v_i) (x) w` to the function's cotangent.
pub fn fold(n: usize) -> Primitive {
    /// The states before each element, and the last.
    fn states(x: &Value, call: fn(&Value, &Value) -> Value) -> (Vec<Value>, Value) {
        let (f, start) = (x.fst().fst(), x.fst().snd());
        let mut points = Vec::new();
        let end = scalars(&x.snd()).into_iter().fold(start, |state, v| {
            let point = Value::pair(state, v);
            let next = call(&f, &point);
            points.push(point);
            next
        });
        (points, end)
    }
    Primitive {
        name: "fold",
        from: REAL.times(REAL).to(REAL).times(REAL).times(Ty::Real(n)),
        to: REAL,
        eval: Rc::new(|x| states(x, Value::apply).1),
        primal: Rc::new(|x| states(x, value_at).1),
        pushforward: Rc::new(|x, d| {
            let (f, g) = (x.fst().fst(), d.fst().fst());
            let steps = states(x, value_at).0.into_iter().zip(scalars(&d.snd()));
            steps.fold(d.fst().snd(), |w, (point, v)| g.apply(&point).plus(&linear_at(&f, &point, &Value::pair(w, v))))
        }),
        pullback: Rc::new(|x, w| {
            let f = x.fst().fst();
            let (mut entries, mut elements, mut w) = (Vec::new(), Vec::new(), w.clone());
            for point in states(x, value_at).0.into_iter().rev() {
                let back = linear_at(&f, &point, &w);
                entries.push((point, w));
                elements.push(scalar(&back.snd()));
                w = back.fst();
            }
            Value::pair(Value::pair(sum_of(entries), w), vector(elements.into_iter().rev()))
        }),
    }
}

/// P-4: `replicate : real -> real^n`. It is linear; its transpose is `sum`.
pub fn replicate(n: usize) -> Primitive {
    Primitive {
        name: "replicate",
        from: REAL,
        to: Ty::Real(n),
        eval: Rc::new(move |x| vector(vec![scalar(x); n].into_iter())),
        primal: Rc::new(move |x| vector(vec![scalar(x); n].into_iter())),
        pushforward: Rc::new(move |_, v| vector(vec![scalar(v); n].into_iter())),
        pullback: Rc::new(|_, w| real(w.numbers().iter().sum())),
    }
}

/// P-5: `sum : real^n -> real`. It is linear; its transpose is `replicate`.
pub fn sum(n: usize) -> Primitive {
    Primitive {
        name: "sum",
        from: Ty::Real(n),
        to: REAL,
        eval: Rc::new(|x| real(x.numbers().iter().sum())),
        primal: Rc::new(|x| real(x.numbers().iter().sum())),
        pushforward: Rc::new(|_, v| real(v.numbers().iter().sum())),
        pullback: Rc::new(move |_, w| vector(vec![scalar(w); n].into_iter())),
    }
}

/// P-6: `build : (real -> real) -> real^n`, the function at 0, 1, …, n - 1: `map` over a constant, whose own cotangent is dropped.
pub fn build(n: usize) -> Primitive {
    let points = move || (0..n).map(|i| real(i as f64));
    Primitive {
        name: "build",
        from: REAL.to(REAL),
        to: Ty::Real(n),
        eval: Rc::new(move |f| vector(points().map(|i| scalar(&f.apply(&i))))),
        primal: Rc::new(move |f| vector(points().map(|i| scalar(&value_at(f, &i))))),
        pushforward: Rc::new(move |_, g| vector(points().map(|i| scalar(&g.apply(&i))))),
        pullback: Rc::new(move |_, w| sum_of(points().zip(scalars(w)).collect())),
    }
}

/// P-7: `index_i : real^n -> real`. It is linear; its transpose puts the cotangent at `i` and zeros elsewhere.
pub fn index(n: usize, i: usize) -> Primitive {
    Primitive {
        name: "index",
        from: Ty::Real(n),
        to: REAL,
        eval: Rc::new(move |x| real(x.numbers()[i])),
        primal: Rc::new(move |x| real(x.numbers()[i])),
        pushforward: Rc::new(move |_, v| real(v.numbers()[i])),
        pullback: Rc::new(move |_, w| vector((0..n).map(|k| if k == i { scalar(w) } else { 0.0 }))),
    }
}

/// The zero tangent and the zero cotangent of a source type.
pub fn zeros(ty: &Ty) -> (Value, Value) {
    (zero(&forward::tangent_ty(ty)), zero(&reverse::cotangent_ty(ty)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::combinators::{self, eval};
    use crate::generate::Generator;
    use crate::pairs::{interpret, then};
    use crate::var::Var;

    /// The primitive after a generated term that computes its argument, functions with captured variables included.
    fn check(primitive: &Primitive) {
        for seed in 0..1000 {
            let mut g = Generator::new(seed);
            let x = Var::fresh("x", Ty::Real(2));
            let t = g.bounded(std::slice::from_ref(&x), &primitive.from, 8, 32);
            let before = combinators::of_term(&x, &t);
            let forward = then::<Semantics, Forward<Semantics>>(&interpret::<_, Forward<Semantics>>(&before), &primitive.forward());
            let reverse = then::<Semantics, Reverse<Semantics>>(&interpret::<_, Reverse<Semantics>>(&before), &primitive.reverse());
            let (at, v, w) = (g.value(&x.ty), g.value(&x.ty), g.value(&primitive.to));
            let value = |x: &Value| (primitive.eval)(&eval(&before, x)).numbers().to_vec();
            assert_eq!((forward.first)(&at).numbers().to_vec(), value(&at));
            assert_eq!((reverse.first)(&at).numbers().to_vec(), value(&at));
            let moved = |h: f64| Value::real(at.numbers().iter().zip(v.numbers().iter()).map(|(x, v)| x + h * v).collect::<Vec<_>>());
            let h = 1e-4;
            let slope: Vec<f64> = value(&moved(h)).iter().zip(value(&moved(-h))).map(|(a, b)| (a - b) / (2.0 * h)).collect();
            let pushed = (forward.second)(&at, &v).numbers();
            let close = |a: f64, b: f64, tolerance: f64| {
                assert!((a - b).abs() <= tolerance * (1.0 + a.abs()), "{}: {a} and {b}: {t}", primitive.name)
            };
            pushed.iter().zip(&slope).for_each(|(a, b)| close(*a, *b, 1e-4));
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            close(dot(&pushed, &w.numbers()), dot(&v.numbers(), &(reverse.second)(&at, &w).numbers()), 1e-9);
        }
    }

    #[test]
    fn derivatives() {
        [map(3), zip_with(3), fold(3), replicate(3), sum(3), build(3), index(3, 1)].iter().for_each(check);
    }

    /// A function that ignores its context has no cotangent to give it.
    #[test]
    fn nothing_flows_to_constants() {
        let (tangent, cotangent) = zeros(&REAL);
        assert_eq!((scalar(&tangent), scalar(&cotangent)), (0.0, 0.0));
    }
}
