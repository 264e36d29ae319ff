//! Recursion of known end: a call with a known `int` or node is written out if it takes few calls.
//! If it does not end soon, the evaluator undoes it and emits a call.
//!
//! A recursion that differentiates itself cannot be called. If the program has one, it is written
//! anew, with higher limits, and loops are written out if a function takes their index: `for k < 4
//! => d k f x` is `[d 0 f x, d 1 f x, d 2 f x, d 3 f x]`.

use std::collections::HashSet;
use std::rc::Rc;

use lambada_anf::Atom;
use lambada_core::{Term, TermKind, Ty, Var};
use lambada_prim::Scalar;
use lambada_source::stack;

use super::{Evaluator, Hint};
use crate::Eval;
use crate::messages;
use crate::val::{Closure, Val};

/// Maximal number of calls written out for one recursion.
const CALLS: usize = 64;

/// Maximal number of statements.
const STATEMENTS: usize = 1000;

/// Maximal number of calls, if the order of a derivative depends on them.
const CALLS_OF_ORDER: usize = 1024;

/// Maximal number of statements, if the order of a derivative depends on them.
const STATEMENTS_OF_ORDER: usize = 200_000;

/// Maximal number of iterations written out for a loop, if the order of a derivative may depend on
/// the index.
const ITERATIONS_OF_ORDER: i64 = 64;

/// The recursion that is being written out.
#[derive(Debug, Default)]
pub(super) struct Unrolled {
    active: Vec<Active>,
    calls: usize,
    /// Maximal number of statements.
    until: usize,
    /// The code that has exceeded the number of calls.
    over: Option<i64>,
}

/// A call that is being written out.
#[derive(Clone, Debug)]
struct Active {
    /// The code.
    number: i64,
    /// The environment and the arguments.
    vals: Vec<Val>,
    /// The positions of the known ones among `vals`.
    known: Vec<usize>,
}

/// Maximal numbers of calls and of statements that one recursion is written out as.
fn limits(of: &Evaluator) -> (usize, usize) {
    match of.by_order {
        true => (CALLS_OF_ORDER, STATEMENTS_OF_ORDER),
        false => (CALLS, STATEMENTS),
    }
}

/// The trip count of a loop that is written out, because its body is a number or passes one derived
/// from the index to a function, and the order of derivatives may depend on it. `None` for a loop
/// that stays a loop.
pub(super) fn iterations(of: &Evaluator, i: &Var, extent: Atom, body: &Term) -> Option<i64> {
    let Atom::Lit(Scalar::Int(count)) = extent else { return None };
    let few = (1..=ITERATIONS_OF_ORDER).contains(&count);
    let decides = || *body.ty() == Ty::INT || hands_on(body, &mut HashSet::from([i.id]));
    (of.by_order && few && decides()).then_some(count)
}

/// The body of a recursive call, if it ends; `None` if a call is better.
pub(super) fn unrolled(
    of: &mut Evaluator,
    closure: &Closure,
    xs: &[Val],
    hint: Hint,
) -> Eval<Option<Val>> {
    let number = closure.code.number;
    let vals: Vec<Val> = closure.env.iter().chain(xs).cloned().collect();
    let known = vals.iter().enumerate().filter(|(_, val)| is_known(val));
    let known: Vec<usize> = known.map(|(k, _)| k).collect();
    let unrolled = &mut of.local.unrolled;
    let around = unrolled.active.iter().rev().find(|call| call.number == number);
    let goes_on = around.map(|before| {
        let stands_still = of.by_order && stands_still(&before.vals, &vals);
        !stands_still && before.known.iter().all(|k| known.contains(k))
    });
    let (is_known, is_first) = (!known.is_empty(), unrolled.active.is_empty());
    let call = Active { number, vals, known };
    match goes_on {
        Some(goes_on) => {
            let (calls, until) = (unrolled.calls, unrolled.until);
            if !goes_on || calls >= limits(of).0 || of.emit.written > until {
                of.local.unrolled.over = Some(number);
                return Err(Box::new(messages::ill_typed())); // caught where it began
            }
            written_out(of, closure, xs, call, hint).map(Some)
        }
        None if !is_known => Ok(None),
        // A recursion without end inside one that must be written out is undone alone.
        None if is_first || of.by_order => begin(of, closure, xs, call, hint),
        None => written_out(of, closure, xs, call, hint).map(Some),
    }
}

fn written_out(
    of: &mut Evaluator,
    closure: &Closure,
    xs: &[Val],
    call: Active,
    hint: Hint,
) -> Eval<Val> {
    of.local.unrolled.active.push(call);
    of.local.unrolled.calls += 1;
    let value = of.inlined(closure, xs.to_vec(), hint)?;
    of.local.unrolled.active.pop();
    Ok(value)
}

fn begin(
    of: &mut Evaluator,
    closure: &Closure,
    xs: &[Val],
    call: Active,
    hint: Hint,
) -> Eval<Option<Val>> {
    let (mark, level, depth) = (of.emit.checkpoint(), of.emit.level(), of.growth.depth());
    let (trail, directions) = (of.local.env.mark(), of.local.directions);
    let (around, number) = (of.local.unrolled.active.len(), call.number);
    if around == 0 {
        of.local.unrolled.until = of.emit.written + limits(of).1;
        of.local.unrolled.calls = 0;
    }
    let result = written_out(of, closure, xs, call, hint);
    // Without an enclosing recursion it is this one, whatever its code.
    let is_over = |over: &mut i64| around == 0 || *over == number;
    if of.local.unrolled.over.take_if(is_over).is_none() {
        return result.map(Some);
    }
    of.local.unrolled.active.truncate(around);
    of.emit.hint = None;
    of.emit.abandon(level, mark);
    of.local.env.forget_to(trail);
    of.growth.return_to(depth);
    of.local.directions = directions;
    Ok(None)
}

/// Whether the known values do not distinguish a call from the one before.
fn stands_still(before: &[Val], now: &[Val]) -> bool {
    before.iter().zip(now).all(|(a, b)| match (a, b) {
        (Val::Leaf(a), Val::Leaf(b)) => b.atom.as_var().is_some() || a == b,
        (Val::Fun(a), Val::Fun(b)) => Rc::ptr_eq(a, b),
        (Val::Array(_), Val::Array(_)) => true,
        (_, _) => false, // in parts, of which one may have changed
    })
}

/// Whether a term applies a function to a value computed from one of the variables.
fn hands_on(term: &Term, from: &mut HashSet<u32>) -> bool {
    let mentions = |term: &Term, from: &HashSet<u32>| {
        term.free_vars().iter().any(|var| from.contains(&var.id))
    };
    if let TermKind::App(_, x) = term.kind()
        && mentions(x, from)
    {
        return true;
    }
    if let TermKind::Let(x, t, _) = term.kind()
        && x.ty == Ty::INT
        && mentions(t, from)
    {
        from.insert(x.id);
    }
    stack::deeper(|| term.scoped_children().iter().any(|(_, child)| hands_on(child, from)))
}

/// Whether a value is a known `int` or constructor.
fn is_known(val: &Val) -> bool {
    if let Val::Leaf(leaf) = val {
        return leaf.prefix.is_empty() && matches!(leaf.atom, Atom::Lit(Scalar::Int(_)));
    }
    matches!(val, Val::Node(node) if node.known.is_some())
}
