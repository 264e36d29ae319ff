//! T-6, the fundamental lemmas: at every type T of the source language, a term `c : real^2 ⊢ t : T` and its derivative are related.
//!
//! At ground types the relations P^f and P^r say that derivatives are derivatives. At `S -> R` they say that related arguments give related
//! results (erratum E13: *all* related arguments, where the paper's subscone asks for one); the arguments here are generated terms over the
//! same point, which are related by the lemma itself.

use super::*;
use crate::source::Ty;

/// A curve (or surface) into ⟦T⟧ and what the derivative says of it, at a point.
struct Related {
    /// The value at a point nearby.
    value: Box<dyn Fn(&Value) -> Value>,
    /// The primal.
    first: Value,
    /// Forward: the tangent along the direction. Reverse: the pullback.
    second: Second,
}

enum Second {
    Tangent(Value),
    Pullback(Box<dyn Fn(&Value) -> Value>),
}

struct Point {
    c: source::Var,
    at: Value,
    direction: Value,
    reverse: bool,
}

impl Point {
    /// A term over the point.
    fn term(&self, t: &source::Term) -> Related {
        let (c, of) = (self.c.clone(), t.clone());
        let value = Box::new(move |at: &Value| source::eval(&of, &Env::default().with(&c, at.clone())));
        let comb = combinators::of_term(&self.c, t);
        if self.reverse {
            let derived = Derived::reverse(&comb);
            let (first, at) = (derived.first(&self.at), self.at.clone());
            Related { value, first, second: Second::Pullback(Box::new(move |v| derived.second(&at, v))) }
        } else {
            let derived = Derived::forward(&comb);
            Related { value, first: derived.first(&self.at), second: Second::Tangent(derived.second(&self.at, &self.direction)) }
        }
    }

    /// Is it in the relation at this type?
    fn check(&self, g: &mut Generator, ty: &Ty, r: Related) {
        match ty {
            Ty::Real(n) => self.ground(g, *n, r),
            Ty::Unit => {}
            Ty::Prod(a, b) => {
                let [left, right] = split(r, b, a);
                self.check(g, a, left);
                self.check(g, b, right);
            }
            Ty::Fun(a, b) => {
                let s = g.bounded(std::slice::from_ref(&self.c), a, 3, 12);
                self.check(g, b, apply(r, self.term(&s)));
            }
        }
    }

    fn ground(&self, g: &mut Generator, n: usize, r: Related) {
        close(&r.first.numbers(), &(r.value)(&self.at).numbers(), 1e-12, &"the primal");
        let along = slope(&|h| (r.value)(&moved(&self.at, &self.direction, h)).numbers().to_vec());
        match &r.second {
            Second::Tangent(tangent) => close(&tangent.numbers(), &along, 1e-5, &"the tangent"),
            Second::Pullback(pull) => {
                let w = g.value(&Ty::Real(n));
                let pulled = inner(&numbers(&pull(&w)), &numbers(&self.direction));
                close(&[pulled], &[inner(&along, &w.numbers())], 1e-5, &"the cotangent");
            }
        }
    }
}

/// Both components of something at a product; the types are those of the other component.
fn split(r: Related, right: &Ty, left: &Ty) -> [Related; 2] {
    let value = std::rc::Rc::new(r.value);
    let other = value.clone();
    let (one, two): (Second, Second) = match r.second {
        Second::Tangent(tangent) => (Second::Tangent(tangent.fst()), Second::Tangent(tangent.snd())),
        Second::Pullback(pull) => {
            let (pull, zero) = (std::rc::Rc::new(pull), [right, left].map(|ty| linear::zero(&reverse::cotangent_ty(ty))));
            let [no_right, no_left] = zero;
            let also = pull.clone();
            (
                Second::Pullback(Box::new(move |v| pull(&Value::pair(v.clone(), no_right.clone())))),
                Second::Pullback(Box::new(move |v| also(&Value::pair(no_left.clone(), v.clone())))),
            )
        }
    };
    let first = Related { value: Box::new(move |at| value(at).fst()), first: r.first.fst(), second: one };
    let second = Related { value: Box::new(move |at| other(at).snd()), first: r.first.snd(), second: two };
    [first, second]
}

/// `ev` after a pair, in the category of pairs: what the relation at `S -> R` is about.
fn apply(f: Related, s: Related) -> Related {
    let result = f.first.apply(&s.first);
    let second = match (f.second, s.second) {
        (Second::Tangent(df), Second::Tangent(ds)) => Second::Tangent(df.apply(&s.first).plus(&result.snd().apply(&ds))),
        (Second::Pullback(pull_f), Second::Pullback(pull_s)) => {
            let (linear, at) = (result.snd(), s.first);
            Second::Pullback(Box::new(move |v| {
                let entry = Value::Sum(vec![(at.clone(), v.clone())].into());
                pull_f(&entry).plus(&pull_s(&linear.apply(v)))
            }))
        }
        (Second::Tangent(_), Second::Pullback(_)) | (Second::Pullback(_), Second::Tangent(_)) => unreachable!("one mode"),
    };
    Related { value: Box::new(move |at| (f.value)(at).apply(&(s.value)(at))), first: result.fst(), second }
}

#[test]
fn fundamental_lemmas() {
    let mut functions = 0;
    for seed in 0..TERMS {
        let mut g = Generator::new(seed);
        let ty = g.ty(2);
        functions += u64::from(!ty.first_order());
        let c = Var::fresh("c", Ty::Real(2));
        let t = g.bounded(std::slice::from_ref(&c), &ty, 6, 20);
        for reverse in [false, true] {
            let point = Point { c: c.clone(), at: g.value(&c.ty), direction: g.value(&c.ty), reverse };
            point.check(&mut g, &ty, point.term(&t));
        }
    }
    assert!(functions > 200, "only {functions} terms are functions");
}
