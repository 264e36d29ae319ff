//! Values of the evaluator.

use std::cell::RefCell;
use std::rc::Rc;

use lambada_prim::Scalar;
use lambada_source::stack;

use super::code::Function;
use super::derive::Pullback;
use super::heap::Held;
use super::real::Active;
use super::rules::{Adder, Tangent};
use super::shape::Shape;

/// A value, two words wide. Copies share its contents.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A real without derivatives.
    Real(f64),
    /// A real that carries derivatives.
    Active(Rc<Active>),
    Int(i64),
    Bool(bool),
    /// `()`
    Unit,
    /// Tuples with components, and records.
    Tuple(Rc<Vec<Value>>),
    Array(Rc<Array>),
    Con(Rc<Con>),
    Closure(Rc<Closure>),
    Pullback(Rc<Pullback>),
    /// The tangent of a function, as an argument of a rule.
    Tangent(Rc<Tangent>),
    /// The function that adds to the cotangent of a function, as an argument of a rule.
    Adder(Rc<Adder>),
    /// The variable of an `accumulate`; never visible to programs.
    Accumulator(Rc<Accumulator>),
    /// The content of a slot whose value was moved out or never set.
    Absent,
}

/// An array; a matrix is an array of arrays.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub items: Vec<Value>,
    /// The shape of elements, for an empty array.
    pub elem: Shape,
    _held: Held,
}

/// A constructor and its arguments.
#[derive(Debug)]
pub(crate) struct Con {
    pub tag: usize,
    pub args: Vec<Value>,
    /// Released with the constructor.
    _held: Held,
}

impl Array {
    pub fn new(items: Vec<Value>, elem: Shape) -> Array {
        let bytes = size_of::<Array>() + items.capacity() * size_of::<Value>();
        Array { items, elem, _held: Held::new(bytes) }
    }
}

/// A function with its captured values and the arguments that it has received so far.
#[derive(Debug)]
pub(crate) struct Closure {
    /// The functions defined together.
    pub functions: Rc<[Function]>,
    /// Index of the function among them.
    pub member: usize,
    pub captured: Rc<[Value]>,
    pub args: Vec<Value>,
    _held: Held,
}

impl Closure {
    /// A partial application of one of these functions.
    pub fn new(
        functions: &Rc<[Function]>,
        member: usize,
        captured: &Rc<[Value]>,
        args: Vec<Value>,
    ) -> Closure {
        let bytes = size_of::<Closure>() + (captured.len() + args.len()) * size_of::<Value>();
        let (functions, captured) = (functions.clone(), captured.clone());
        Closure { functions, member, captured, args, _held: Held::new(bytes) }
    }

    pub fn function(&self) -> &Function {
        &self.functions[self.member]
    }
}

/// The content of an accumulator.
#[derive(Debug)]
pub(crate) struct Accumulator {
    pub content: RefCell<Value>,
    /// Derivatives of higher levels are removed from additions.
    pub level: u64,
}

impl Drop for Con {
    fn drop(&mut self) {
        dismantle(std::mem::take(&mut self.args));
    }
}

impl Drop for Closure {
    fn drop(&mut self) {
        let mut inside = std::mem::take(&mut self.args);
        inside.extend(take_captured(&mut self.captured));
        dismantle(inside);
    }
}

/// Drops values iteratively: lists, and functions that hold functions, may be a million levels
/// deep.
fn dismantle(mut pending: Vec<Value>) {
    while let Some(value) = pending.pop() {
        match value {
            Value::Con(con) => pending.extend(
                Rc::into_inner(con)
                    .map(|mut con| std::mem::take(&mut con.args))
                    .into_iter()
                    .flatten(),
            ),
            Value::Tuple(items) => pending.extend(Rc::into_inner(items).into_iter().flatten()),
            Value::Array(array) => {
                pending.extend(Rc::into_inner(array).into_iter().flat_map(|array| array.items))
            }
            Value::Closure(closure) => {
                if let Some(mut closure) = Rc::into_inner(closure) {
                    pending.append(&mut closure.args);
                    pending.extend(take_captured(&mut closure.captured));
                }
            }
            Value::Real(_)
            | Value::Active(_)
            | Value::Int(_)
            | Value::Bool(_)
            | Value::Unit
            | Value::Pullback(_)
            | Value::Tangent(_)
            | Value::Adder(_)
            | Value::Accumulator(_)
            | Value::Absent => {}
        }
    }
}

/// The captured values of a function, if nothing else shares them.
fn take_captured(captured: &mut Rc<[Value]>) -> Vec<Value> {
    let alone = Rc::get_mut(captured).into_iter().flatten();
    alone.map(|value| std::mem::replace(value, Value::Absent)).collect()
}

/// Panics on a value that the checker should have excluded.
#[cold]
fn ill_typed(expected: &str, found: &Value) -> ! {
    unreachable!("ill-typed core: {expected} was expected, not {found:?}")
}

impl Value {
    pub fn tuple(items: Vec<Value>) -> Value {
        if items.is_empty() { Value::Unit } else { Value::Tuple(Rc::new(items)) }
    }

    /// An array of at least one element, or of elements without sizes.
    pub fn array(items: Vec<Value>) -> Value {
        Value::Array(Rc::new(Array::new(items, Shape::Plain)))
    }

    pub fn con(tag: usize, args: Vec<Value>) -> Value {
        let held = Held::new(Value::size_of_con(args.len()));
        Value::Con(Rc::new(Con { tag, args, _held: held }))
    }

    /// Number of bytes of a constructor with `args` arguments.
    pub fn size_of_con(args: usize) -> usize {
        size_of::<Con>() + args * size_of::<Value>()
    }

    pub fn int(&self) -> i64 {
        match self {
            Value::Int(n) => *n,
            other => ill_typed("an int", other),
        }
    }

    pub fn bool(&self) -> bool {
        match self {
            Value::Bool(b) => *b,
            other => ill_typed("a bool", other),
        }
    }

    pub fn as_array(&self) -> &Array {
        match self {
            Value::Array(array) => array,
            other => ill_typed("an array", other),
        }
    }

    pub fn as_con(&self) -> &Rc<Con> {
        match self {
            Value::Con(con) => con,
            other => ill_typed("a constructor", other),
        }
    }

    pub fn as_accumulator(&self) -> &Rc<Accumulator> {
        match self {
            Value::Accumulator(accumulator) => accumulator,
            other => ill_typed("an accumulator", other),
        }
    }

    /// The k-th component of a tuple.
    pub fn component(&self, k: usize) -> &Value {
        match self {
            Value::Tuple(items) => &items[k],
            other => ill_typed("a tuple", other),
        }
    }

    /// The components of a tuple; moved if nothing else shares it.
    pub fn into_components(self) -> Vec<Value> {
        match self {
            Value::Unit => Vec::new(),
            Value::Tuple(items) => Rc::try_unwrap(items).unwrap_or_else(|items| (*items).clone()),
            other => ill_typed("a tuple", &other),
        }
    }

    /// Number of scalars in the value, each counted at every occurrence; saturates.
    pub fn scalars(&self) -> u64 {
        let all = |items: &[Value]| {
            let inside = items.iter().map(|item| stack::deeper(|| item.scalars()));
            inside.fold(0u64, u64::saturating_add)
        };
        match self {
            Value::Array(array) => all(&array.items),
            Value::Tuple(items) => all(items),
            Value::Con(con) => all(&con.args),
            Value::Real(_)
            | Value::Active(_)
            | Value::Int(_)
            | Value::Bool(_)
            | Value::Unit
            | Value::Closure(_)
            | Value::Pullback(_)
            | Value::Tangent(_)
            | Value::Adder(_)
            | Value::Accumulator(_)
            | Value::Absent => 1,
        }
    }

    /// The scalar without its derivatives.
    pub fn scalar(&self) -> Scalar {
        match self {
            Value::Real(x) => Scalar::Real(*x),
            Value::Int(n) => Scalar::Int(*n),
            Value::Bool(b) => Scalar::Bool(*b),
            Value::Active(active) => active.primal().scalar(),
            other => ill_typed("a scalar", other),
        }
    }
}

impl From<Scalar> for Value {
    fn from(value: Scalar) -> Value {
        match value {
            Scalar::Real(x) => Value::Real(x),
            Scalar::Int(n) => Value::Int(n),
            Scalar::Bool(b) => Value::Bool(b),
        }
    }
}
