//! `jvp` and `vjp`, by operator overloading: the argument's reals get derivatives, the function
//! runs unchanged, and the result is taken apart. `reach` uses dual numbers whose second part is
//! not multiplied. Components other than reals are ignored in incoming tangents and cotangents, and
//! zero in outgoing ones.

use std::rc::Rc;

use lambada_prim::made_nan;
use lambada_source::{Span, stack};

use super::machine::{Machine, Run, fail};
use super::real::{Active, DualKind, Node, Tape, add_to, level, made};
use super::value::{Array, Value};

/// The function from cotangents of a result to cotangents of the point. It may be applied
/// repeatedly.
#[derive(Debug)]
pub(crate) struct Pullback {
    pub tape: Rc<Tape>,
    /// The point, without this application's derivatives. Its reals are the first nodes of the
    /// tape.
    pub point: Value,
    /// The result, with this application's derivatives.
    pub result: Value,
    pub span: Span,
}

impl Machine<'_> {
    /// `jvp f x dx`
    pub fn jvp(&mut self, f: Value, x: &Value, dx: &Value, span: Span) -> Run<Value> {
        let level = self.fresh_level();
        let x = lift(x, dx, DualKind::Tangent, level, (span, THAN_POINT))?;
        let result = self.call(f, vec![x])?;
        let (primal, tangent) = split(&result, level);
        Ok(Value::tuple(vec![primal, tangent]))
    }

    /// `reach f x marks`
    pub fn reach(&mut self, f: Value, x: &Value, marks: &Value, span: Span) -> Run<Value> {
        let level = self.fresh_level();
        let x = lift(x, marks, DualKind::Marks, level, (span, THAN_POINT))?;
        let result = self.call(f, vec![x])?;
        Ok(split(&result, level).1)
    }

    /// `vjp f x`
    pub fn vjp(&mut self, f: Value, x: Value, span: Span) -> Run<Value> {
        let tape = Rc::new(Tape::new(self.fresh_level()));
        let traced = map_reals(&x, &mut |primal| {
            let node = tape.push(Node::default());
            Value::Active(Rc::new(Active::Traced {
                tape: tape.clone(),
                primal: primal.clone(),
                node,
            }))
        });
        let result = self.call(f, vec![traced])?;
        let primal = strip(&result, tape.level);
        let pullback = Value::Pullback(Rc::new(Pullback { tape, point: x, result, span }));
        Ok(Value::tuple(vec![primal, pullback]))
    }

    /// A pullback applied to a cotangent.
    pub fn pull_back(&mut self, pullback: &Pullback, cotangent: &Value) -> Run<Value> {
        let Pullback { tape, point, result, span } = pullback;
        let mut cotangents = vec![None; tape.nodes.borrow().len()];
        seed(tape, result, cotangent, &mut cotangents, (*span, THAN_RESULT))?;
        self.sweep(tape, &mut cotangents)?;
        let mut next = 0;
        Ok(tangent_of(point, &mut |_| {
            next += 1;
            cotangents[next - 1].take().unwrap_or(Value::Real(0.0))
        }))
    }

    /// Sweeps over a tape once, from the last node to the first.
    pub fn sweep(&mut self, tape: &Tape, cotangents: &mut [Option<Value>]) -> Run<()> {
        let (nodes, calls) = (tape.nodes.borrow(), tape.calls.borrow());
        let mut calls = calls.iter().rev().peekable();
        for k in (0..nodes.len()).rev() {
            if let Some((_, call)) = calls.next_if(|(node, _)| *node == k) {
                self.pull(tape, k, call, cotangents)?;
            }
            // Nodes without parents keep their cotangents: nodes of the point, and of the value of
            // a call.
            if nodes[k].parents.iter().all(Option::is_none) {
                continue;
            }
            let Some(d) = cotangents[k].take() else { continue };
            for (parent, factor) in nodes[k].parents.iter().flatten() {
                add_to(&mut cotangents[*parent], factor.times(&d));
            }
            if let Some(span) = tape.spans.borrow().get(&k)
                && let Some(op) = made()
            {
                return fail(*span, made_nan(op));
            }
        }
        Ok(())
    }
}

/// Messages for tangents and cotangents with another constructor.
const THAN_POINT: &str = "the tangent has another constructor than the point";
pub(crate) const THAN_VALUE: &str = "the tangent has another constructor than the value";
pub(crate) const THAN_RESULT: &str = "the cotangent has another constructor than the result";
pub(crate) const THAN_PARAMETER: &str = "the cotangent has another constructor than the parameter";

/// Adds the parts of a cotangent to the nodes of a result. An absent part is skipped; a computed
/// zero is a number like any other.
pub(crate) fn seed(
    tape: &Tape,
    result: &Value,
    cotangent: &Value,
    cotangents: &mut [Option<Value>],
    (span, says): (Span, &'static str),
) -> Run<()> {
    let mut all = |xs: &[Value], ds: &[Value]| {
        let mut pairs = xs.iter().zip(ds);
        pairs.try_for_each(|(x, d)| stack::deeper(|| seed(tape, x, d, cotangents, (span, says))))
    };
    match (result, cotangent) {
        (Value::Active(active), d) => {
            if let Active::Traced { tape: own, node, .. } = &**active
                && own.level == tape.level
                && !matches!(d, Value::Absent)
            {
                add_to(&mut cotangents[*node], d.clone());
            }
            Ok(())
        }
        (Value::Tuple(xs), Value::Tuple(ds)) => all(xs, ds),
        (Value::Array(xs), Value::Array(ds)) => {
            same_size(xs, ds, span)?;
            all(&xs.items, &ds.items)
        }
        (Value::Con(x), Value::Con(d)) if x.tag == d.tag => all(&x.args, &d.args),
        (Value::Con(_), Value::Con(_)) => fail(span, says),
        _ => Ok(()),
    }
}

/// The message for an array of another size in a tangent or cotangent.
fn another_size(own: usize, given: usize) -> String {
    format!(
        "an array in this tangent or cotangent has size {given}, but {own} in the value that it belongs to"
    )
}

fn same_size(a: &Array, b: &Array, span: Span) -> Run<()> {
    let (m, n) = (a.items.len(), b.items.len());
    if m == n { Ok(()) } else { fail(span, another_size(m, n)) }
}

/// The point with its tangent or marks, at a new level. A part with an absent tangent is a
/// constant.
pub(crate) fn lift(
    x: &Value,
    dx: &Value,
    kind: DualKind,
    level: u64,
    (span, says): (Span, &'static str),
) -> Run<Value> {
    let all = |xs: &[Value], ds: &[Value]| {
        let lifted = |(x, d)| stack::deeper(|| lift(x, d, kind, level, (span, says)));
        xs.iter().zip(ds).map(lifted).collect::<Run<Vec<Value>>>()
    };
    match (x, dx) {
        (Value::Real(_) | Value::Active(_), Value::Absent) => Ok(x.clone()),
        (Value::Real(_) | Value::Active(_), tangent) => {
            Ok(Value::Active(Rc::new(Active::Forward {
                level,
                kind,
                primal: x.clone(),
                tangent: tangent.clone(),
            })))
        }
        (Value::Tuple(xs), Value::Tuple(ds)) => Ok(Value::tuple(all(xs, ds)?)),
        (Value::Array(xs), Value::Array(ds)) => {
            same_size(xs, ds, span)?;
            let items = all(&xs.items, &ds.items)?;
            Ok(Value::Array(Rc::new(Array::new(items, xs.elem.clone()))))
        }
        (Value::Con(x), Value::Con(d)) if x.tag == d.tag => {
            Ok(Value::con(x.tag, all(&x.args, &d.args)?))
        }
        (Value::Con(_), Value::Con(_)) => fail(span, says),
        _ => Ok(x.clone()),
    }
}

/// The primal value and the tangent of a result.
pub(crate) fn split(value: &Value, at: u64) -> (Value, Value) {
    let tangent = tangent_of(value, &mut |real| match real {
        Value::Active(active) if active.level() == at => match &**active {
            Active::Forward { tangent, .. } => tangent.clone(),
            Active::Traced { .. } => unreachable!("a level is either forward or traced"),
        },
        _ => Value::Real(0.0),
    });
    (strip(value, at), tangent)
}

/// The value without the derivatives of a level and of higher ones.
pub(crate) fn strip(value: &Value, from: u64) -> Value {
    map_reals(value, &mut |real| {
        let mut real = real;
        while level(real) >= from
            && let Value::Active(active) = real
        {
            real = active.primal();
        }
        real.clone()
    })
}

/// The first-order value with each real replaced, in order.
pub(crate) fn map_reals(value: &Value, f: &mut dyn FnMut(&Value) -> Value) -> Value {
    map_scalars(value, &mut |scalar| {
        if matches!(scalar, Value::Real(_) | Value::Active(_)) { f(scalar) } else { scalar.clone() }
    })
}

/// A value of the same shape: `f` of its reals, zero for its other scalars.
pub(crate) fn tangent_of(value: &Value, f: &mut dyn FnMut(&Value) -> Value) -> Value {
    map_scalars(value, &mut |scalar| match scalar {
        Value::Int(_) => Value::Int(0),
        Value::Bool(_) => Value::Bool(false),
        real => f(real),
    })
}

fn map_scalars(value: &Value, f: &mut dyn FnMut(&Value) -> Value) -> Value {
    match value {
        Value::Real(_) | Value::Active(_) | Value::Int(_) | Value::Bool(_) => f(value),
        Value::Unit => Value::Unit,
        Value::Tuple(items) => {
            Value::tuple(items.iter().map(|item| map_scalars(item, f)).collect())
        }
        Value::Array(array) => {
            let items = array.items.iter().map(|item| map_scalars(item, f)).collect();
            Value::Array(Rc::new(Array::new(items, array.elem.clone())))
        }
        Value::Con(con) => {
            let args = con.args.iter().map(|arg| stack::deeper(|| map_scalars(arg, f)));
            Value::con(con.tag, args.collect())
        }
        Value::Closure(_)
        | Value::Pullback(_)
        | Value::Tangent(_)
        | Value::Adder(_)
        | Value::Accumulator(_)
        | Value::Absent => {
            unreachable!("ill-typed core: {value:?} is not first-order")
        }
    }
}
