//! The primitives after generated arguments, functions with captured variables included: their
//! derivatives, and their definitions without them.

use super::*;
use crate::combinators::{self, Comb};
use crate::generate::Generator;
use crate::op::Op;
use crate::pairs::{Forward, Reverse, Semantics, interpret};
use crate::source::{self, Term, Var, app, fst, op, op_at, snd, tuple};
use crate::var::Env;

const TERMS: u64 = 1000;

/// All of them, at a size.
fn primitives(n: usize) -> [Primitive; 4] {
    let map = |arity| Primitive::Map { arity, n };
    [map(1), map(2), map(3), Primitive::Scan { n }]
}

/// A term over `real^2` of this type and of at most this size.
fn argument(seed: u64, ty: &Ty, size: usize) -> (Generator, Var, Term) {
    let mut g = Generator::new(seed);
    let x = Var::fresh("x", Ty::Real(2));
    let t = g.bounded(std::slice::from_ref(&x), ty, 8, size);
    (g, x, t)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[track_caller]
fn close(a: &[f64], b: &[f64], tolerance: f64, what: &Term) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).for_each(|(x, y)| {
        assert!((x - y).abs() <= tolerance * (1.0 + x.abs()), "{x} and {y}: {what}")
    });
}

/// The value at a point, the pushforward of a tangent and the pullback of a cotangent.
fn derived(t: &Comb, at: &Value, v: &Value, w: &Value) -> [Vec<f64>; 3] {
    let (forward, reverse) = (
        interpret::<Semantics, Forward<Semantics>>(t),
        interpret::<Semantics, Reverse<Semantics>>(t),
    );
    let numbers = |value: Value| value.flatten().unwrap();
    assert_eq!(numbers((forward.first)(at)), numbers((reverse.first)(at)));
    [
        numbers((forward.first)(at)),
        numbers((forward.second)(at, v)),
        numbers((reverse.second)(at, w)),
    ]
}

/// P-1 … P-3: the value, its slope along a line, and the transpose.
fn check(x: &Var, t: &Term, mut g: Generator) {
    let (at, v, w) = (g.value(&x.ty), g.value(&x.ty), g.value(t.ty()));
    let value =
        |at: &Value| source::eval(t, &Env::default().with(x, at.clone())).flatten().unwrap();
    let [primal, pushed, pulled] = derived(&combinators::of_term(x, t), &at, &v, &w);
    assert_eq!(primal, value(&at), "{t}");
    let moved = |h: f64| {
        Value::real(
            at.numbers().iter().zip(v.numbers().iter()).map(|(x, v)| x + h * v).collect::<Vec<_>>(),
        )
    };
    let h = 1e-4;
    let slope: Vec<f64> =
        value(&moved(h)).iter().zip(value(&moved(-h))).map(|(a, b)| (a - b) / (2.0 * h)).collect();
    close(&pushed, &slope, 1e-4, t);
    close(&[dot(&pushed, &w.flatten().unwrap())], &[dot(&pulled, &v.numbers())], 1e-9, t);
}

/// P-1 … P-3: each primitive after generated arguments has the right value, pushforward and
/// pullback.
#[test]
fn derivatives() {
    for p in primitives(3) {
        for seed in 0..TERMS {
            let (g, x, t) = argument(seed, &p.from(), 32);
            check(&x, &source::prim(p, t), g);
        }
    }
}

/// An operation by itself, at generated numbers: its value, pushforward and pullback are exactly
/// these functions of the argument, the tangent and the cotangent.
fn exactly(
    o: &Op,
    seed: u64,
    value: &dyn Fn(&[f64]) -> Vec<f64>,
    transposed: &dyn Fn(&[f64]) -> Vec<f64>,
) {
    let x = Var::fresh("x", Ty::dom(&o.dom()));
    let t = op(o.clone(), source::var(&x));
    let mut g = Generator::new(seed);
    let (at, v, w) = (g.value(&x.ty), g.value(&x.ty), g.value(t.ty()));
    let expect = [value(&at.numbers()), value(&v.numbers()), transposed(&w.numbers())];
    assert_eq!(derived(&combinators::of_term(&x, &t), &at, &v, &w), expect, "{o} {}", x.ty);
    check(&x, &t, g);
}

/// P-5: `sum` is the sum of all elements, of vectors of any size, and of the values of generated
/// terms over a vector.
#[test]
fn sums() {
    for n in [0, 1, 2, 3, 4, 7, 16, 65] {
        for seed in 0..10 {
            let sum = |x: &[f64]| vec![x.iter().sum()];
            exactly(&Op::Sum(n), seed, &sum, &|w| vec![w[0]; n]);
        }
    }
    for seed in 0..TERMS {
        let n = seed as usize % 6 + 1;
        let (g, x, t) = argument(seed, &Ty::Real(n), 32);
        check(&x, &op(Op::Sum(n), t), g);
    }
}

/// P-7: `index_i` is the element at i, for each i of vectors of any size, and of the values of
/// generated terms over a vector.
#[test]
fn indices() {
    for n in [1, 2, 3, 4, 7, 16] {
        for i in 0..n {
            let one_hot = |w: &[f64]| (0..n).map(|k| if k == i { w[0] } else { 0.0 }).collect();
            exactly(&Op::Index(n, i), i as u64, &|x| vec![x[i]], &one_hot);
        }
    }
    for seed in 0..TERMS {
        let n = seed as usize % 6 + 1;
        let (g, x, t) = argument(seed, &Ty::Real(n), 32);
        check(&x, &op(Op::Index(n, seed as usize / 6 % n), t), g);
    }
}

/// P-4, and the vector of numbers.
#[test]
fn operations() {
    for o in [Op::Replicate(3), Op::Vector(3)] {
        for seed in 0..TERMS {
            let (g, x, t) = argument(seed, &Ty::dom(&o.dom()), 32);
            check(&x, &op(o.clone(), t), g);
        }
    }
}

/// P-3, P-6: the derived ones.
#[test]
fn derived_primitives() {
    let step = REAL.times(REAL).to(REAL);
    for seed in 0..TERMS {
        let (g, x, t) = argument(seed, &step.clone().times(REAL.times(Ty::Real(3))), 32);
        check(
            &x,
            &source::let_("a", t, |a| {
                source::fold(fst(a.clone()), fst(snd(a.clone())), snd(snd(a)))
            }),
            g,
        );
        let (g, x, t) = argument(seed, &REAL.to(REAL), 32);
        check(&x, &source::build(3, t), g);
    }
}

/// The k vectors of a product that nests to the left.
fn components(t: &Term, k: usize) -> Vec<Term> {
    match k {
        0 => vec![],
        1 => vec![t.clone()],
        _ => [components(&fst(t.clone()), k - 1), vec![snd(t.clone())]].concat(),
    }
}

/// `prim(t)` without the primitive: n is static, so it is n calls.
fn unrolled(p: Primitive, t: Term) -> Term {
    source::let_("a", t, |a| {
        let (f, args) = (fst(a.clone()), components(&snd(a), p.args().len()));
        let index = |v: &Term, n: usize, i: usize| op(Op::Index(n, i), v.clone());
        match p {
            Primitive::Map { n, .. } => {
                let calls = (0..n).map(|i| {
                    app(f.clone(), tuple(&args.iter().map(|v| index(v, n, i)).collect::<Vec<_>>()))
                });
                op_at(Op::Vector(n), &calls.collect::<Vec<_>>())
            }
            Primitive::Scan { n } => steps(&f, &args[1], n, vec![args[0].clone()]),
        }
    })
}

/// The states from those that are there, each named.
fn steps(f: &Term, v: &Term, n: usize, states: Vec<Term>) -> Term {
    let i = states.len() - 1;
    if i == n {
        return source::pair(op_at(Op::Vector(n), &states[..n]), states[n].clone());
    }
    let next = app(f.clone(), source::pair(states[i].clone(), op(Op::Index(n, i), v.clone())));
    source::let_("s", next, |s| steps(f, v, n, [states, vec![s]].concat()))
}

/// P-1 … P-3: the correctness argument as a test: a primitive is n instances of `ev`, so it has the
/// value and the derivatives of its definition. Two are enough, and the literal macros are
/// exponential in their number (E26).
#[test]
fn unrolled_definitions() {
    for p in primitives(2) {
        for seed in 0..TERMS {
            let (mut g, x, t) = argument(seed, &p.from(), 16);
            let (at, v, w) = (g.value(&x.ty), g.value(&x.ty), g.value(&p.to()));
            let of = |t: &Term| derived(&combinators::of_term(&x, t), &at, &v, &w);
            let (one, other) = (of(&source::prim(p, t.clone())), of(&unrolled(p, t.clone())));
            one.iter().zip(&other).for_each(|(a, b)| close(a, b, 1e-12, &t));
        }
    }
}

/// T-12: the linear primitives are closed under transposition:
/// `<lprim(<h, p>; v), w> = <v, lprim^t(<h^t, p>; w)>`.
#[test]
fn transposition() {
    let (map, zip_with) = (
        |arity| LPrim::Map { arity, n: 3 },
        |arity, from, to| LPrim::ZipWith { arity, from, to, n: 3 },
    );
    for lprim in [
        map(1),
        map(2),
        zip_with(1, 1, 1),
        zip_with(2, 2, 1),
        zip_with(3, 1, 2),
        LPrim::Scan { n: 3 },
    ] {
        let other = lprim.transposed();
        assert_eq!(
            (other.transposed(), transposed_ty(&lprim.ldom()), transposed_ty(&lprim.cod())),
            (lprim, other.cod(), other.ldom())
        );
        for seed in 0..TERMS {
            let mut g = Generator::new(seed);
            let matrix: Vec<f64> = (0..6).map(|_| g.number()).collect();
            let points = |g: &mut Generator, arity| g.value(&Ty::dom(&vec![3; arity]));
            let (x, y) = match lprim {
                LPrim::Map { arity, .. } | LPrim::Zip { arity, .. } => {
                    let points = points(&mut g, arity);
                    (points.clone(), points)
                }
                LPrim::ZipWith { arity, from, to, .. } => {
                    rows(&matrix, from, to, points(&mut g, arity))
                }
                LPrim::Scan { .. } | LPrim::Unscan { .. } => rows(&matrix, 2, 1, points(&mut g, 2)),
            };
            let (v, w) = (element(&mut g, &lprim.ldom()), element(&mut g, &other.ldom()));
            let left = pairing(&lprim.eval::<Denotation>(&x, &v), &w);
            let right = pairing(&other.eval::<Denotation>(&y, &w), &v);
            assert!(
                (left - right).abs() <= 1e-12 * (1.0 + left.abs()),
                "{lprim:?}: {left} and {right}"
            );
        }
    }
}

/// `<h, p>` and `<h^t, p>`, where `h` at a point is a matrix times a weight that depends on the
/// point.
fn rows(matrix: &[f64], from: usize, to: usize, points: Value) -> (Value, Value) {
    let linear = |rows: usize, columns: usize, entry: Rc<dyn Fn(usize, usize) -> f64>| {
        Value::fun(move |at| {
            let (weight, entry) =
                (1.0 + at.flatten().unwrap().iter().map(|x| x.sin()).sum::<f64>(), entry.clone());
            Value::fun(move |v| {
                let v = v.flatten().unwrap();
                let row =
                    |i: usize| Rc::from([(0..columns).map(|j| weight * entry(i, j) * v[j]).sum()]);
                Denotation::tuple(&(0..rows).map(row).collect::<Vec<_>>())
            })
        })
    };
    let [one, other] = [matrix.to_vec(), matrix.to_vec()];
    let h = linear(to, from, Rc::new(move |i, j| one[i * from + j]));
    let transposed = linear(from, to, Rc::new(move |i, j| other[j * from + i]));
    (Value::pair(h, points.clone()), Value::pair(transposed, points))
}

/// A value of a linear type.
fn element(g: &mut Generator, ty: &LTy) -> Value {
    match ty {
        LTy::Real(n) => g.value(&Ty::Real(*n)),
        LTy::Unit => Value::Unit,
        LTy::Prod(a, b) => Value::pair(element(g, a), element(g, b)),
        LTy::Fun(..) => {
            let weight = g.number();
            Value::fun(move |at| {
                Value::real([at.flatten().unwrap().iter().map(|x| (weight * x).cos()).sum::<f64>()])
            })
        }
        LTy::Tensor(..) => panic!("what is transposed here has no `{ty}` as its argument"),
    }
}

/// `<v, w>`, for elements of a type and of the transposed one: a function is paired with a formal
/// sum by calling it at the keys.
fn pairing(v: &Value, w: &Value) -> f64 {
    match (v, w) {
        (Value::Sum(entries), f) => entries.iter().map(|(x, w)| pairing(&f.apply(x), w)).sum(),
        (Value::Fun(_), Value::Sum(_)) => pairing(w, v),
        (v, w) => dot(&v.flatten().unwrap(), &w.flatten().unwrap()),
    }
}

/// `T -> τ` becomes `!T (x) τ`.
fn transposed_ty(ty: &LTy) -> LTy {
    match ty {
        LTy::Fun(key, to) => transposed_ty(to).tensor((**key).clone()),
        LTy::Tensor(key, to) => transposed_ty(to).under((**key).clone()),
        LTy::Prod(a, b) => transposed_ty(a).times(transposed_ty(b)),
        LTy::Real(_) | LTy::Unit => ty.clone(),
    }
}
