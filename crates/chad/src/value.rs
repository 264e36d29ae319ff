//! Meanings: the values of all three languages.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use crate::linfun::{Copower, LinFun};

/// A value. The denotational semantics of §5, with smooth maps as functions.
#[derive(Clone)]
pub enum Value {
    /// `⟦real^n⟧ = R^n`
    Real(Rc<[f64]>),
    /// `⟦1⟧`
    Unit,
    /// `⟦T * S⟧`
    Pair(Rc<(Value, Value)>),
    /// `⟦T -> S⟧`; also `⟦t ⊸ s⟧` of the linear target language.
    Fun(Rc<dyn Fn(&Value) -> Value>),
    /// `⟦!T ⊗ s⟧` of the linear target language: a formal sum, `Σ_i !x_i ⊗ y_i`. Erratum E9: it is
    /// a free *commutative* monoid.
    Sum(Rc<Vec<(Value, Value)>>),
    /// `⟦LFun(T, S)⟧` of the applied target language.
    LinFun(LinFun),
    /// `⟦Tens(T, S)⟧` of the applied target language.
    Copower(Copower),
}

impl Value {
    /// A vector.
    pub fn real(values: impl Into<Rc<[f64]>>) -> Value {
        Value::Real(values.into())
    }

    /// `<a, b>`
    pub fn pair(a: Value, b: Value) -> Value {
        Value::Pair(Rc::new((a, b)))
    }

    /// A function.
    pub fn fun(f: impl Fn(&Value) -> Value + 'static) -> Value {
        Value::Fun(Rc::new(f))
    }

    /// The first component.
    pub fn fst(&self) -> Value {
        self.components().0.clone()
    }

    /// The second component.
    pub fn snd(&self) -> Value {
        self.components().1.clone()
    }

    fn components(&self) -> &(Value, Value) {
        match self {
            Value::Pair(both) => both,
            other => panic!("{other:?} is not a pair"),
        }
    }

    /// The function applied.
    pub fn apply(&self, argument: &Value) -> Value {
        match self {
            Value::Fun(f) => f(argument),
            other => panic!("{other:?} is not a function"),
        }
    }

    /// The numbers of a vector.
    pub fn numbers(&self) -> Rc<[f64]> {
        match self {
            Value::Real(values) => values.clone(),
            other => panic!("{other:?} is not a vector"),
        }
    }

    /// The k arguments of an operation: the leaves of a product of vectors that nests to the left.
    pub fn arguments(&self, k: usize) -> Vec<Rc<[f64]>> {
        match k {
            0 => vec![],
            1 => vec![self.numbers()],
            _ => {
                let mut first = self.fst().arguments(k - 1);
                first.push(self.snd().numbers());
                first
            }
        }
    }

    /// All numbers of a first-order value, in order; `None` if it contains a function.
    pub fn flatten(&self) -> Option<Vec<f64>> {
        match self {
            Value::Real(values) => Some(values.to_vec()),
            Value::Unit => Some(vec![]),
            Value::Pair(both) => {
                let mut numbers = both.0.flatten()?;
                numbers.extend(both.1.flatten()?);
                Some(numbers)
            }
            Value::Fun(_) | Value::Sum(_) | Value::LinFun(_) | Value::Copower(_) => None,
        }
    }

    /// `a + b`, in the monoid that every linear type is: pointwise, or the union of
    /// formal sums.
    pub fn plus(&self, other: &Value) -> Value {
        match (self, other) {
            (Value::Real(a), Value::Real(b)) => {
                Value::Real(a.iter().zip(b.iter()).map(|(x, y)| x + y).collect())
            }
            (Value::Unit, Value::Unit) => Value::Unit,
            (Value::Pair(a), Value::Pair(b)) => Value::pair(a.0.plus(&b.0), a.1.plus(&b.1)),
            (Value::Fun(f), Value::Fun(g)) => {
                let (f, g) = (f.clone(), g.clone());
                Value::fun(move |x| f(x).plus(&g(x)))
            }
            (Value::Sum(a), Value::Sum(b)) => {
                Value::Sum(Rc::new(a.iter().chain(b.iter()).cloned().collect()))
            }
            (Value::LinFun(f), Value::LinFun(g)) => Value::LinFun(f.plus(g)),
            (Value::Copower(a), Value::Copower(b)) => Value::Copower(a.plus(b)),
            (a, b) => panic!("{a:?} and {b:?} are not of one type"),
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Real(values) if values.len() == 1 => write!(f, "{}", values[0]),
            Value::Real(values) => write!(f, "{values:?}"),
            Value::Unit => f.write_str("<>"),
            Value::Pair(both) => write!(f, "<{:?}, {:?}>", both.0, both.1),
            Value::Fun(_) => f.write_str("a function"),
            Value::Sum(_) => f.write_str("a formal sum"),
            Value::LinFun(_) => f.write_str("a linear function"),
            Value::Copower(_) => f.write_str("a copower"),
        }
    }
}

thread_local! {
    static OPERATIONS: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// Runs something, and counts the operations and the linear operations that it evaluates.
pub fn counting<T>(run: impl FnOnce() -> T) -> (T, u64, u64) {
    let before = OPERATIONS.with(|count| count.replace((0, 0)));
    let result = run();
    let (ops, lops) = OPERATIONS.with(|count| count.replace(before));
    (result, ops, lops)
}

/// One more operation has been evaluated.
pub(crate) fn count_op() {
    OPERATIONS.with(|count| count.set((count.get().0 + 1, count.get().1)));
}

/// One more linear operation has been evaluated.
pub(crate) fn count_lop() {
    OPERATIONS.with(|count| count.set((count.get().0, count.get().1 + 1)));
}

/// `⟦op⟧` at a value of type `Dom(op)`.
pub(crate) fn eval_op(op: &crate::op::Op, argument: &Value) -> Value {
    count_op();
    Value::Real(op.eval(&argument.arguments(op.dom().len())))
}

/// `⟦lop⟧` at values of types `Dom(lop)` and `LDom(lop)`.
pub(crate) fn eval_lop(lop: crate::op::LOp, x: &Value, v: &Value) -> Value {
    count_lop();
    Value::Real(lop.eval(&x.arguments(lop.dom().len()), &v.arguments(lop.ldom().len())))
}
