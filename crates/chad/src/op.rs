//! The basic operations: `Op` of §3 and the linear operations `LOp` of §4, with their meanings, and
//! the one table of derivatives.
//!
//! `op ∈ Op^m_{n1..nk}` takes `Dom(op) = real^n1 * .. * real^nk` (products nest to the left;
//! `Dom = 1` for k = 0) to `real^m`. A linear operation `lop ∈ LOp^m_{n1..nk;n'1..n'l}` takes a
//! further argument of type `LDom(lop)`, in which it is linear.

use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;

use lambada_prim::{Expr, Prim, Scalar, ScalarTy, Surface};

/// A vector of constants, with a total order so that terms have one.
#[derive(Clone, Debug)]
pub struct Literal(pub Rc<[f64]>);

impl Ord for Literal {
    fn cmp(&self, other: &Literal) -> Ordering {
        let each = self
            .0
            .iter()
            .zip(other.0.iter())
            .map(|(a, b)| a.total_cmp(b))
            .find(|order| order.is_ne());
        each.unwrap_or(self.0.len().cmp(&other.0.len()))
    }
}

impl PartialOrd for Literal {
    fn partial_cmp(&self, other: &Literal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Literal {
    fn eq(&self, other: &Literal) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Literal {}

/// A basic operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// `c ∈ Op^n_()`: a constant.
    Const(Literal),
    /// A scalar primitive on reals, elementwise: `(+), (*) ∈ Op^n_{n,n}`, `sin`, `cos`, `exp`,
    /// `sign`, … `∈ Op^n_n`.
    Each(Prim, usize),
    /// `∂k prim`, elementwise: used by derivatives alone, where the table's partial mentions truth
    /// values.
    Partial(Prim, usize, usize),
    /// `(⋆) ∈ Op^n_{n·m, m}`: a matrix of n rows times a vector.
    MatVec(usize, usize),
    /// P-5: `sum ∈ Op^1_n`
    Sum(usize),
    /// P-4: `replicate ∈ Op^n_1`
    Replicate(usize),
    /// P-7: `index_i ∈ Op^1_n`, for the i-th of n elements from 0
    Index(usize, usize),
    /// `vector ∈ Op^n_{1,..,1}`: n numbers side by side.
    Vector(usize),
    /// `sigmoid ∈ Op^1_1`
    Sigmoid,
    /// `swap ∈ Op^2_2`
    Swap,
    /// `(•) ∈ Op^1_{n,n}`: the inner product.
    Inner(usize),
    /// `(·) ∈ Op^n_{1,n}`: a scalar times a vector.
    Scale(usize),
    /// `(*)(x)` of the Key Ideas, `∈ Op^1_2`: the product of both components. Erratum E12: the
    /// paper prints `x : real^n` and then `x : real`, but means `x : real^2`.
    Product,
}

/// A linear operation: one Cartesian argument at most, one linear argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LOp {
    /// `(*) ∈ LOp^n_{n;n}`: elementwise.
    Mul(usize),
    /// `(⋆) ∈ LOp^n_{n·m; m}`: linear in the vector.
    MatVec(usize, usize),
    /// `∈ LOp^m_{n·m; n}`: the transposed matrix times the linear vector.
    MatVecT(usize, usize),
    /// `∈ LOp^n_{m; n·m}`: linear in the matrix.
    Apply(usize, usize),
    /// `∈ LOp^{n·m}_{m; n}`: the column `w` times the row `x`.
    Outer(usize, usize),
    /// `sum ∈ LOp^1_{;n}`
    Sum(usize),
    /// `replicate ∈ LOp^n_{;1}`
    Replicate(usize),
    /// `index_i ∈ LOp^1_{;n}`
    Index(usize, usize),
    /// `∈ LOp^n_{;1}`: the linear scalar at place i, and zeros.
    OneHot(usize, usize),
    /// `swap ∈ LOp^2_{;2}`
    Swap,
    /// `(•) ∈ LOp^1_{n;n}`
    Inner(usize),
    /// `∈ LOp^n_{n;1}`: the linear scalar times the vector.
    Scale(usize),
    /// `∈ LOp^n_{1;n}`: the scalar times the linear vector.
    ScaleBy(usize),
}

/// An argument of `LDom` or `Dom`, as sizes: `[n1, .., nk]`.
pub type Sizes = Vec<usize>;

impl Op {
    /// A constant vector.
    pub fn constant(values: impl Into<Rc<[f64]>>) -> Op {
        Op::Const(Literal(values.into()))
    }

    /// `n1..nk`
    pub fn dom(&self) -> Sizes {
        match self {
            Op::Const(_) => vec![],
            Op::Each(prim, n) | Op::Partial(prim, _, n) => vec![*n; prim.args().len()],
            Op::MatVec(n, m) => vec![n * m, *m],
            Op::Sum(n) | Op::Index(n, _) => vec![*n],
            Op::Sigmoid | Op::Replicate(_) => vec![1],
            Op::Vector(n) => vec![1; *n],
            Op::Swap | Op::Product => vec![2],
            Op::Inner(n) => vec![*n, *n],
            Op::Scale(n) => vec![1, *n],
        }
    }

    /// `m`
    pub fn cod(&self) -> usize {
        match self {
            Op::Const(values) => values.0.len(),
            Op::Each(_, n) | Op::Partial(_, _, n) | Op::MatVec(n, _) | Op::Scale(n) => *n,
            Op::Replicate(n) | Op::Vector(n) => *n,
            Op::Sum(_) | Op::Index(..) | Op::Sigmoid | Op::Inner(_) | Op::Product => 1,
            Op::Swap => 2,
        }
    }

    /// Whether it may be used elementwise: all arguments and the result are real.
    pub fn is_real(prim: Prim) -> bool {
        prim.result() == ScalarTy::Real && prim.args().iter().all(|ty| *ty == ScalarTy::Real)
    }

    /// `⟦op⟧`
    pub fn eval(&self, args: &[Rc<[f64]>]) -> Rc<[f64]> {
        match self {
            Op::Const(values) => values.0.clone(),
            Op::Each(prim, n) => (0..*n).map(|i| prim.eval(&scalars(args, i)).real()).collect(),
            Op::Partial(prim, k, n) => {
                (0..*n).map(|i| partial(*prim, *k, &scalars(args, i))).collect()
            }
            Op::MatVec(n, m) => mat_vec(*n, *m, &args[0], &args[1]),
            Op::Sum(_) => [args[0].iter().sum()].into(),
            Op::Replicate(n) => vec![args[0][0]; *n].into(),
            Op::Index(_, i) => [args[0][*i]].into(),
            Op::Vector(_) => args.iter().map(|x| x[0]).collect(),
            Op::Sigmoid => [1.0 / (1.0 + (-args[0][0]).exp())].into(),
            Op::Swap => [args[0][1], args[0][0]].into(),
            Op::Inner(_) => [inner(&args[0], &args[1])].into(),
            Op::Scale(_) => args[1].iter().map(|x| args[0][0] * x).collect(),
            Op::Product => [args[0][0] * args[0][1]].into(),
        }
    }
}

fn scalars(args: &[Rc<[f64]>], i: usize) -> Vec<Scalar> {
    args.iter().map(|arg| Scalar::Real(arg[i])).collect()
}

fn partial(prim: Prim, k: usize, args: &[Scalar]) -> f64 {
    prim.partials()[k].as_ref().map_or(0.0, |expr| expr.eval(args, prim.eval(args)).real())
}

fn inner(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

fn mat_vec(n: usize, m: usize, a: &[f64], x: &[f64]) -> Rc<[f64]> {
    (0..n).map(|i| inner(&a[i * m..(i + 1) * m], x)).collect()
}

impl LOp {
    /// The sizes of the Cartesian arguments.
    pub fn dom(self) -> Sizes {
        match self {
            LOp::Mul(n) | LOp::Inner(n) | LOp::Scale(n) => vec![n],
            LOp::MatVec(n, m) | LOp::MatVecT(n, m) => vec![n * m],
            LOp::Apply(_, m) | LOp::Outer(_, m) => vec![m],
            LOp::ScaleBy(_) => vec![1],
            LOp::Sum(_) | LOp::Replicate(_) | LOp::Index(..) | LOp::OneHot(..) | LOp::Swap => {
                vec![]
            }
        }
    }

    /// The sizes of the linear arguments. Erratum E7: `LDom(lop)` is a product of *linear* types
    /// `real^n'`.
    pub fn ldom(self) -> Sizes {
        match self {
            LOp::Mul(n)
            | LOp::Inner(n)
            | LOp::ScaleBy(n)
            | LOp::Sum(n)
            | LOp::MatVecT(n, _)
            | LOp::Outer(n, _) => vec![n],
            LOp::MatVec(_, m) => vec![m],
            LOp::Apply(n, m) => vec![n * m],
            LOp::Index(n, _) => vec![n],
            LOp::Scale(_) | LOp::Replicate(_) | LOp::OneHot(..) => vec![1],
            LOp::Swap => vec![2],
        }
    }

    /// The size of the result. Erratum E7: `⟦lop⟧` ends in `real^m`, where the paper prints
    /// `real^k`.
    pub fn cod(self) -> usize {
        match self {
            LOp::Mul(n)
            | LOp::MatVec(n, _)
            | LOp::Apply(n, _)
            | LOp::Scale(n)
            | LOp::ScaleBy(n) => n,
            LOp::Replicate(n) | LOp::OneHot(n, _) => n,
            LOp::MatVecT(_, m) => m,
            LOp::Outer(n, m) => n * m,
            LOp::Sum(_) | LOp::Index(..) | LOp::Inner(_) => 1,
            LOp::Swap => 2,
        }
    }

    /// `⟦lop⟧(x)(v)`
    pub fn eval(self, x: &[Rc<[f64]>], v: &[Rc<[f64]>]) -> Rc<[f64]> {
        let v = &v[0];
        match self {
            LOp::Mul(_) => x[0].iter().zip(v.iter()).map(|(a, b)| a * b).collect(),
            LOp::MatVec(n, m) => mat_vec(n, m, &x[0], v),
            LOp::MatVecT(n, m) => {
                (0..m).map(|j| (0..n).map(|i| x[0][i * m + j] * v[i]).sum()).collect()
            }
            LOp::Apply(n, m) => mat_vec(n, m, v, &x[0]),
            LOp::Outer(_, _) => v.iter().flat_map(|w| x[0].iter().map(move |a| w * a)).collect(),
            LOp::Sum(_) => [v.iter().sum()].into(),
            LOp::Replicate(n) => vec![v[0]; n].into(),
            LOp::Index(_, i) => [v[i]].into(),
            LOp::OneHot(n, i) => (0..n).map(|k| if k == i { v[0] } else { 0.0 }).collect(),
            LOp::Swap => [v[1], v[0]].into(),
            LOp::Inner(_) => [inner(&x[0], v)].into(),
            LOp::Scale(_) => x[0].iter().map(|a| a * v[0]).collect(),
            LOp::ScaleBy(_) => v.iter().map(|b| x[0][0] * b).collect(),
        }
    }

    /// The linear operation with the transposed matrix, at the same Cartesian argument.
    pub fn transposed(self) -> LOp {
        match self {
            LOp::Mul(_) | LOp::Swap | LOp::ScaleBy(_) => self,
            LOp::MatVec(n, m) => LOp::MatVecT(n, m),
            LOp::MatVecT(n, m) => LOp::MatVec(n, m),
            LOp::Apply(n, m) => LOp::Outer(n, m),
            LOp::Outer(n, m) => LOp::Apply(n, m),
            LOp::Sum(n) => LOp::Replicate(n),
            LOp::Replicate(n) => LOp::Sum(n),
            LOp::Index(n, i) => LOp::OneHot(n, i),
            LOp::OneHot(n, i) => LOp::Index(n, i),
            LOp::Inner(n) => LOp::Scale(n),
            LOp::Scale(n) => LOp::Inner(n),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Const(values) if values.0.len() == 1 => write!(f, "{}", values.0[0]),
            Op::Const(values) => write!(f, "{:?}", values.0),
            Op::Each(prim, _) => match infix(*prim) {
                Some(symbol) => write!(f, "({symbol})"),
                None => write!(f, "{}", prim.name()),
            },
            Op::Partial(prim, k, _) => write!(f, "d{}_{}", k + 1, prim.name()),
            Op::MatVec(..) => write!(f, "matvec"),
            Op::Sum(_) => write!(f, "sum"),
            Op::Replicate(_) => write!(f, "replicate"),
            Op::Index(_, i) => write!(f, "index_{i}"),
            Op::Vector(_) => write!(f, "vector"),
            Op::Sigmoid => write!(f, "sigmoid"),
            Op::Swap => write!(f, "swap"),
            Op::Inner(_) => write!(f, "inner"),
            Op::Scale(_) => write!(f, "scale"),
            Op::Product => write!(f, "product"),
        }
    }
}

/// How a primitive is written between its arguments.
pub(crate) fn infix(prim: Prim) -> Option<&'static str> {
    match prim.row().surface {
        Surface::Infix(symbol) => Some(symbol),
        Surface::Prefix(_) | Surface::Call(_) | Surface::If => None,
    }
}

impl fmt::Display for LOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LOp::Mul(_) => "lmul",
            LOp::MatVec(..) => "lmatvec",
            LOp::MatVecT(..) => "lmatvecT",
            LOp::Apply(..) => "lapply",
            LOp::Outer(..) => "louter",
            LOp::Sum(_) => "lsum",
            LOp::Replicate(_) => "lreplicate",
            LOp::Index(_, i) => return write!(f, "lindex_{i}"),
            LOp::OneHot(_, i) => return write!(f, "lonehot_{i}"),
            LOp::Swap => "lswap2",
            LOp::Inner(_) => "linner",
            LOp::Scale(_) => "lscale",
            LOp::ScaleBy(_) => "lscaleby",
        })
    }
}

/// The derivative of an operation by one of its arguments, at a point: a linear map whose Cartesian
/// argument is given by `T`.
#[derive(Clone, Debug, PartialEq)]
pub enum Slope<T> {
    /// Nothing flows.
    Zero,
    /// The identity.
    Same,
    /// A linear operation at a Cartesian argument; `None` for `<>`.
    By(LOp, Option<T>),
}

impl<T> Slope<T> {
    /// The transposed map.
    pub fn transposed(self) -> Slope<T> {
        match self {
            Slope::Zero => Slope::Zero,
            Slope::Same => Slope::Same,
            Slope::By(lop, at) => Slope::By(lop.transposed(), at),
        }
    }
}

/// The derivative of an operation by each argument, at the arguments `x`; `apply` builds an
/// operation applied to arguments.
///
/// This is the only table of derivatives: `D op (x; v) = Σ slope_i(v_i)` and
/// `(D op)^t (x; v) = <slope_i^t(v)>_i`.
pub fn slopes<T: Clone>(op: &Op, x: &[T], apply: &mut dyn FnMut(Op, &[T]) -> T) -> Vec<Slope<T>> {
    match op {
        Op::Const(_) => vec![],
        Op::Each(prim, n) => (0..x.len()).map(|k| scalar_slope(*prim, k, *n, x, apply)).collect(),
        Op::Partial(prim, _, _) => {
            panic!("the target language is not differentiated (E27): a partial of {}", prim.name())
        }
        Op::MatVec(n, m) => {
            vec![
                Slope::By(LOp::Apply(*n, *m), Some(x[1].clone())),
                Slope::By(LOp::MatVec(*n, *m), Some(x[0].clone())),
            ]
        }
        Op::Sum(n) => vec![Slope::By(LOp::Sum(*n), None)],
        Op::Replicate(n) => vec![Slope::By(LOp::Replicate(*n), None)],
        Op::Index(n, i) => vec![Slope::By(LOp::Index(*n, *i), None)],
        Op::Vector(n) => (0..*n).map(|i| Slope::By(LOp::OneHot(*n, i), None)).collect(),
        Op::Sigmoid => {
            let y = apply(Op::Sigmoid, x);
            let one = apply(Op::constant([1.0]), &[]);
            let rest = apply(Op::Each(Prim::Sub, 1), &[one, y.clone()]);
            vec![Slope::By(LOp::Mul(1), Some(apply(Op::Each(Prim::Mul, 1), &[y, rest])))]
        }
        Op::Swap => vec![Slope::By(LOp::Swap, None)],
        Op::Inner(n) => [1, 0].map(|k| Slope::By(LOp::Inner(*n), Some(x[k].clone()))).to_vec(),
        Op::Scale(n) => vec![
            Slope::By(LOp::Scale(*n), Some(x[1].clone())),
            Slope::By(LOp::ScaleBy(*n), Some(x[0].clone())),
        ],
        Op::Product => vec![Slope::By(LOp::Inner(2), Some(apply(Op::Swap, x)))],
    }
}

fn scalar_slope<T: Clone>(
    prim: Prim,
    k: usize,
    n: usize,
    x: &[T],
    apply: &mut dyn FnMut(Op, &[T]) -> T,
) -> Slope<T> {
    match &prim.partials()[k] {
        None => Slope::Zero,
        Some(Expr::Lit(Scalar::Real(1.0))) => Slope::Same,
        Some(expr) if is_real_expr(expr) => {
            Slope::By(LOp::Mul(n), Some(emit(expr, prim, n, x, apply)))
        }
        Some(_) => Slope::By(LOp::Mul(n), Some(apply(Op::Partial(prim, k, n), x))),
    }
}

fn is_real_expr(expr: &Expr) -> bool {
    match expr {
        Expr::Arg(_) | Expr::Out => true,
        Expr::Lit(value) => value.ty() == ScalarTy::Real,
        Expr::Prim(prim, items) => Op::is_real(*prim) && items.iter().all(is_real_expr),
    }
}

fn emit<T: Clone>(
    expr: &Expr,
    prim: Prim,
    n: usize,
    x: &[T],
    apply: &mut dyn FnMut(Op, &[T]) -> T,
) -> T {
    match expr {
        Expr::Arg(k) => x[*k].clone(),
        Expr::Out => apply(Op::Each(prim, n), x),
        Expr::Lit(value) => apply(Op::constant(vec![value.real(); n]), &[]),
        Expr::Prim(inner, items) => {
            let items: Vec<T> = items.iter().map(|item| emit(item, prim, n, x, apply)).collect();
            apply(Op::Each(*inner, n), &items)
        }
    }
}
