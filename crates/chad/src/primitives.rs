//! Appendix F: higher-order primitives, as syntax: `Primitive` beside `Op`, and the linear
//! primitives `LPrim` beside `LOp`.
//!
//! Two are enough, `map` and `scan`, each on n numbers where n is part of the primitive; `zipWith`,
//! `build` and `fold` are derived from them, as `let` is from λ. All take `<f, args>`, a function
//! and a product of vectors, so that `D(prim)_1 <f, args> = prim <(f;fst), args>`: on vectors D is
//! the identity (T-11), and a function's primal gives `<value, linear function>`.
//!
//! Why the derivatives are right, which is `linear::primitives`: by the definition of the relation
//! at `S -> R`, a function and its derivative may be called at any related argument, so each call
//! is an instance of `ev`, and derivatives of vectors are computed component by component.

use std::fmt;
use std::rc::Rc;

use crate::lambda::{self, REAL, Source};
use crate::linear::{self, LTy};
use crate::op::Sizes;
use crate::value::Value;

type Ty = lambda::Ty<Source>;

/// A vector.
type Numbers = Rc<[f64]>;

/// A higher-order primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Primitive {
    /// P-1: `map : (real -> real) * real^n -> real^n`; P-2:
    /// `zipWith : (real * real -> real) * (real^n * real^n) -> real^n`; and so on.
    Map {
        /// The number k of vectors.
        arity: usize,
        /// Their size.
        n: usize,
    },
    /// P-3: `scan : (real * real -> real) * (real * real^n) -> real^n * real`, the states
    /// `s_0 = z`, `s_i+1 = f(s_i, v_i)`: the n that f is called at, and the last, which is the
    /// `fold`.
    Scan {
        /// The number of elements.
        n: usize,
    },
}

/// A linear primitive: as a linear operation, but its arguments may contain functions.
///
/// Below, σ and τ are `real` or products of it, `p : (real^n)^k` are the n points at which
/// functions are called, and L_i is `h p_i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LPrim {
    /// `lmap(p; g)_i = g p_i`: the values of the linear `g : real^k -> real`.
    Map {
        /// k
        arity: usize,
        /// n
        n: usize,
    },
    /// `lzip(p; w) = Σ_i !p_i (x) w_i`. It may see how a copower is represented.
    Zip {
        /// k
        arity: usize,
        /// n
        n: usize,
    },
    /// `lzipWith(<h, p>; w)_i = L_i{w_i}`, for `h : real^k -> (σ -o τ)`.
    ZipWith {
        /// k
        arity: usize,
        /// The number of components of σ.
        from: usize,
        /// The number of components of τ.
        to: usize,
        /// n
        n: usize,
    },
    /// `lscan(<h, p>; <<w, v>, d>)`, for `h : real^2 -> (real^2 -o real)`: `w_0 = w`,
    /// `w_i+1 = L_i{<w_i, v_i>} + d_i`, as `scan` gives them.
    Scan {
        /// n
        n: usize,
    },
    /// `lunscan(<h, p>; <c, d>) = <<w_0, v>, w>`, for `h : real^2 -> (real -o real^2)`: from the
    /// last to the first, `w_n = d` and `<w', v_i> = L_i{w_i+1}`, `w_i = c_i + w'`; the result for
    /// `d_i` above is `w_i+1`.
    Unscan {
        /// n
        n: usize,
    },
}

impl Primitive {
    /// The number of arguments of the function.
    pub fn arity(self) -> usize {
        match self {
            Primitive::Map { arity, .. } => arity,
            Primitive::Scan { .. } => 2,
        }
    }

    /// The sizes of the vectors that it takes.
    pub fn args(self) -> Sizes {
        match self {
            Primitive::Map { arity, n } => vec![n; arity],
            Primitive::Scan { n } => vec![1, n],
        }
    }

    /// The sizes of the vectors that it gives.
    pub fn results(self) -> Sizes {
        match self {
            Primitive::Map { n, .. } => vec![n],
            Primitive::Scan { n } => vec![n, 1],
        }
    }

    /// `(real^k -> real) * args`
    pub fn from(self) -> Ty {
        Ty::dom(&vec![1; self.arity()]).to(REAL).times(Ty::dom(&self.args()))
    }

    /// The type of the results.
    pub fn to(self) -> Ty {
        Ty::dom(&self.results())
    }

    /// `⟦prim⟧`, where calls of the function are calls of `f`.
    pub(crate) fn run(self, f: &mut dyn FnMut(&[f64]) -> f64, args: &[Numbers]) -> Vec<Numbers> {
        match self {
            Primitive::Map { n, .. } => vec![(0..n).map(|i| f(&point(args, i))).collect()],
            Primitive::Scan { n } => states(n, args[0][0], |state, i| f(&[state, args[1][i]])),
        }
    }

    /// `⟦prim⟧` at `<f, args>`.
    pub(crate) fn eval<E: Evaluator>(self, x: &E::Value) -> E::Value {
        let (f, args) = E::components(x);
        let args = E::vectors(&args, self.args().len());
        E::tuple(&self.run(&mut |at| E::vectors(&E::call(&f, &scalars::<E>(at)), 1)[0][0], &args))
    }
}

impl LPrim {
    /// The type of the Cartesian argument.
    pub fn dom(self) -> linear::Ty {
        let real = |k: usize| LTy::dom(&vec![1; k]);
        let rows = |arity: usize, from: usize, to: usize, n: usize| {
            let linear = linear::Ty::dom(&vec![1; arity]).to(real(from).lolli(real(to)));
            linear.times(linear::Ty::dom(&vec![n; arity]))
        };
        match self {
            LPrim::Map { arity, n } | LPrim::Zip { arity, n } => linear::Ty::dom(&vec![n; arity]),
            LPrim::ZipWith { arity, from, to, n } => rows(arity, from, to, n),
            LPrim::Scan { n } => rows(2, 2, 1, n),
            LPrim::Unscan { n } => rows(2, 1, 2, n),
        }
    }

    /// The type of the linear argument.
    pub fn ldom(self) -> LTy {
        match self {
            LPrim::Map { arity, .. } => LTy::Real(1).under(linear::Ty::dom(&vec![1; arity])),
            LPrim::Zip { n, .. } => LTy::Real(n),
            LPrim::ZipWith { from, n, .. } => LTy::dom(&vec![n; from]),
            LPrim::Scan { n } => LTy::dom(&[1, n, n]),
            LPrim::Unscan { n } => LTy::dom(&[n, 1]),
        }
    }

    /// The type of the result.
    pub fn cod(self) -> LTy {
        match self {
            LPrim::Map { n, .. } => LTy::Real(n),
            LPrim::Zip { arity, .. } => LTy::Real(1).tensor(linear::Ty::dom(&vec![1; arity])),
            LPrim::ZipWith { to, n, .. } => LTy::dom(&vec![n; to]),
            LPrim::Scan { n } => LTy::dom(&[n, 1]),
            LPrim::Unscan { n } => LTy::dom(&[1, n, n]),
        }
    }

    /// The transposed primitive, at the same points and the transposed linear functions (T-12).
    /// `!T (x) τ` is the transpose of `T -> τ`.
    pub fn transposed(self) -> LPrim {
        match self {
            LPrim::Map { arity, n } => LPrim::Zip { arity, n },
            LPrim::Zip { arity, n } => LPrim::Map { arity, n },
            LPrim::ZipWith { arity, from, to, n } => {
                LPrim::ZipWith { arity, from: to, to: from, n }
            }
            LPrim::Scan { n } => LPrim::Unscan { n },
            LPrim::Unscan { n } => LPrim::Scan { n },
        }
    }

    /// `⟦lprim⟧` at its Cartesian argument and its linear one.
    pub(crate) fn eval<E: Evaluator>(self, x: &E::Value, v: &E::Value) -> E::Value {
        match self {
            LPrim::Map { arity, n } => {
                let points = E::vectors(x, arity);
                let value = |i| E::vectors(&E::call(v, &scalars::<E>(&point(&points, i))), 1)[0][0];
                E::tuple(&[(0..n).map(value).collect()])
            }
            LPrim::Zip { arity, n } => {
                let (points, w) = (E::vectors(x, arity), &E::vectors(v, 1)[0]);
                E::formal_sum(
                    arity,
                    (0..n)
                        .map(|i| (scalars::<E>(&point(&points, i)), scalars::<E>(&[w[i]])))
                        .collect(),
                )
            }
            LPrim::ZipWith { arity, from, to, n } => {
                let rows = linear_functions::<E>(x, arity, to);
                E::tuple(&zip_with(n, to, rows, &E::vectors(v, from)))
            }
            LPrim::Scan { .. } => {
                E::tuple(&lscan(linear_functions::<E>(x, 2, 1), &E::vectors(v, 3)))
            }
            LPrim::Unscan { .. } => {
                E::tuple(&lunscan(linear_functions::<E>(x, 2, 2), &E::vectors(v, 2)))
            }
        }
    }
}

/// The i-th of the points whose coordinates are vectors.
fn point(vectors: &[Numbers], i: usize) -> Vec<f64> {
    vectors.iter().map(|vector| vector[i]).collect()
}

/// For `<h, p>`: L_i as a function of numbers.
fn linear_functions<E: Evaluator>(
    x: &E::Value,
    arity: usize,
    to: usize,
) -> impl FnMut(usize, &[f64]) -> Vec<f64> {
    let (h, points) = E::components(x);
    let points = E::vectors(&points, arity);
    move |i, w| {
        let linear = E::call(&h, &scalars::<E>(&point(&points, i)));
        point(&E::vectors(&E::linear(&linear, &scalars::<E>(w)), to), 0)
    }
}

/// `lzipWith`, for linear functions with `to` components.
pub(crate) fn zip_with(
    n: usize,
    to: usize,
    mut linear: impl FnMut(usize, &[f64]) -> Vec<f64>,
    w: &[Numbers],
) -> Vec<Numbers> {
    let rows: Vec<Vec<f64>> = (0..n).map(|i| linear(i, &point(w, i))).collect();
    (0..to).map(|k| rows.iter().map(|row| row[k]).collect()).collect()
}

/// `lscan`
fn lscan(mut linear: impl FnMut(usize, &[f64]) -> Vec<f64>, args: &[Numbers]) -> Vec<Numbers> {
    states(args[1].len(), args[0][0], |w, i| linear(i, &[w, args[1][i]])[0] + args[2][i])
}

/// The states before each of n steps, and the last.
fn states(n: usize, start: f64, mut step: impl FnMut(f64, usize) -> f64) -> Vec<Numbers> {
    let (mut state, mut visited) = (start, Vec::with_capacity(n));
    for i in 0..n {
        visited.push(state);
        state = step(state, i);
    }
    vec![visited.into(), [state].into()]
}

/// `lunscan`
pub(crate) fn lunscan(
    mut linear: impl FnMut(usize, &[f64]) -> Vec<f64>,
    args: &[Numbers],
) -> Vec<Numbers> {
    let n = args[0].len();
    let (mut w, mut elements, mut states) = (args[1][0], vec![0.0; n], vec![0.0; n]);
    for i in (0..n).rev() {
        let back = linear(i, &[w]);
        (elements[i], states[i]) = (back[1], w);
        w = args[0][i] + back[0];
    }
    vec![[w].into(), elements.into(), states.into()]
}

/// An evaluator's operations on its values, so that the meaning of the primitives is written once.
pub(crate) trait Evaluator {
    /// Its values.
    type Value;
    /// The components of a pair.
    fn components(pair: &Self::Value) -> (Self::Value, Self::Value);
    /// The leaves of a product of k vectors that nests to the left.
    fn vectors(t: &Self::Value, k: usize) -> Vec<Numbers>;
    /// The product of vectors.
    fn tuple(vectors: &[Numbers]) -> Self::Value;
    /// `f x`
    fn call(f: &Self::Value, x: &Self::Value) -> Self::Value;
    /// `f{v}`
    fn linear(f: &Self::Value, v: &Self::Value) -> Self::Value;
    /// `Σ_i !x_i (x) w_i`, of type `!real^arity (x) real`.
    fn formal_sum(arity: usize, entries: Vec<(Self::Value, Self::Value)>) -> Self::Value;
}

/// A product of numbers.
fn scalars<E: Evaluator>(numbers: &[f64]) -> E::Value {
    E::tuple(&numbers.iter().map(|x| [*x].into()).collect::<Vec<_>>())
}

/// The semantics of §5.
pub(crate) struct Denotation;

impl Evaluator for Denotation {
    type Value = Value;

    fn components(pair: &Value) -> (Value, Value) {
        (pair.fst(), pair.snd())
    }
    fn vectors(t: &Value, k: usize) -> Vec<Numbers> {
        t.arguments(k)
    }
    fn tuple(vectors: &[Numbers]) -> Value {
        vectors.iter().cloned().map(Value::Real).reduce(Value::pair).unwrap_or(Value::Unit)
    }
    fn call(f: &Value, x: &Value) -> Value {
        f.apply(x)
    }
    fn linear(f: &Value, v: &Value) -> Value {
        f.apply(v)
    }
    fn formal_sum(_: usize, entries: Vec<(Value, Value)>) -> Value {
        Value::Sum(Rc::new(entries))
    }
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Primitive::Map { arity: 1, .. } => write!(f, "map"),
            Primitive::Map { arity: 2, .. } => write!(f, "zipWith"),
            Primitive::Map { arity, .. } => write!(f, "zipWith{arity}"),
            Primitive::Scan { .. } => write!(f, "scan"),
        }
    }
}

impl fmt::Display for LPrim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LPrim::Map { .. } => "lmap",
            LPrim::Zip { .. } => "lzip",
            LPrim::ZipWith { .. } => "lzipWith",
            LPrim::Scan { .. } => "lscan",
            LPrim::Unscan { .. } => "lunscan",
        })
    }
}

#[cfg(test)]
mod tests;
