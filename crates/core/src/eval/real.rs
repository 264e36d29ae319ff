//! Reals that carry derivatives, and the primitives on them.
//!
//! Each application of `jvp` or `vjp` has a *level*, a number larger than all earlier ones. A real
//! that carries a derivative has the level of its application, and a primal value of lower levels.
//! A primitive works at the largest level of its arguments and treats lower ones as constants, so
//! nested applications never confuse their perturbations.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use lambada_prim::{Expr, Precision, Prim, ReduceOp, Scalar, ScalarTy};
use lambada_source::Span;

use super::heap::Held;
use super::rules::Taped;
use super::value::Value;

/// A real that carries a derivative.
#[derive(Debug)]
pub(crate) enum Active {
    /// A dual number.
    Forward { level: u64, kind: DualKind, primal: Value, tangent: Value },
    /// The result of a node of a tape.
    Traced { tape: Rc<Tape>, primal: Value, node: usize },
}

/// Meaning of a dual number's second part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DualKind {
    /// Multiplied by partial derivatives.
    Tangent,
    /// Number of paths from a mark, added up wherever a partial derivative is not literally zero.
    Marks,
    /// Marks in a rule, which stand for its tangents or its cotangent. A call of another function
    /// with rules marks its whole value, because its rule may call functions with rules without
    /// end.
    MarksOfRule,
    /// The absent tangent of a rule's argument: a zero that multiplies nothing, so that `inf * dx`
    /// is absent too, and not NaN.
    Absent,
}

/// The computation of one application of `vjp`.
#[derive(Debug)]
pub(crate) struct Tape {
    pub level: u64,
    pub nodes: RefCell<Vec<Node>>,
    /// The calls of functions with rules, each at its node, in order.
    pub calls: RefCell<Vec<(usize, Rc<Taped>)>>,
    /// Source spans of nodes, kept while NaNs are trapped.
    pub spans: RefCell<HashMap<usize, Span>>,
    held: RefCell<Held>,
}

/// The real arguments of a primitive that are on the tape, and the partial derivatives with respect
/// to them.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub parents: [Option<(usize, Factor)>; 2],
}

/// A nonzero partial derivative. Factors 1 and -1 need no multiplication.
#[derive(Debug)]
pub(crate) enum Factor {
    One,
    MinusOne,
    Times(Value),
}

impl Active {
    pub fn level(&self) -> u64 {
        match self {
            Active::Forward { level, .. } => *level,
            Active::Traced { tape, .. } => tape.level,
        }
    }

    pub fn primal(&self) -> &Value {
        match self {
            Active::Forward { primal, .. } | Active::Traced { primal, .. } => primal,
        }
    }
}

impl Tape {
    pub fn new(level: u64) -> Tape {
        let (nodes, calls, spans) = Default::default();
        Tape { level, nodes, calls, spans, held: RefCell::new(Held::new(size_of::<Tape>())) }
    }

    pub fn push(&self, node: Node) -> usize {
        // With its real, and the real of its factor.
        self.held.borrow_mut().more(size_of::<Node>() + 2 * size_of::<Active>());
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(node);
        nodes.len() - 1
    }
}

impl Factor {
    /// The product with a tangent or cotangent.
    pub fn times(&self, d: &Value) -> Value {
        match self {
            Factor::One => d.clone(),
            Factor::MinusOne => apply(Prim::Neg, std::slice::from_ref(d)),
            Factor::Times(factor) => apply2(Prim::Mul, factor, d),
        }
    }
}

/// The level of a real; 0 if it carries no derivative.
pub(crate) fn level(value: &Value) -> u64 {
    if let Value::Active(active) = value { active.level() } else { 0 }
}

/// Adds to a sum that may still be empty.
pub(crate) fn add_to(sum: &mut Option<Value>, value: Value) {
    *sum = Some(match sum.take() {
        Some(sum) => apply2(Prim::Add, &sum, &value),
        None => value,
    });
}

thread_local! {
    /// The first primitive since the last query that has made a NaN out of numbers.
    static MADE: Cell<Option<Prim>> = const { Cell::new(None) };
    /// Precision of reals on this thread.
    static PRECISION: Cell<Precision> = const { Cell::new(Precision::F64) };
}

/// Sets the precision of reals while it lives.
pub(crate) struct Computing(Precision);

impl Drop for Computing {
    fn drop(&mut self) {
        PRECISION.set(self.0);
    }
}

/// Sets the precision of reals on this thread.
pub(crate) fn computing(precision: Precision) -> Computing {
    Computing(PRECISION.replace(precision))
}

/// The precision of reals on this thread.
pub(crate) fn precision() -> Precision {
    PRECISION.get()
}

/// The first primitive since the last call of this function that has made a NaN out of numbers, in
/// values and derivatives.
pub(crate) fn made() -> Option<Prim> {
    MADE.take()
}

/// Records the source of a real on a tape, to blame its cotangents on.
pub(crate) fn comes_from(value: &Value, span: Span) {
    if let Some(Active::Traced { tape, node, .. }) = active(value) {
        tape.spans.borrow_mut().entry(*node).or_insert(span);
    }
}

/// The result of a primitive; records a new NaN.
fn noted(prim: Prim, result: f64, args: &[f64]) -> Value {
    let result = precision().round(result);
    if result.is_nan() && !args.iter().any(|x| x.is_nan()) {
        MADE.set(MADE.get().or(Some(prim)));
    }
    Value::Real(result)
}

/// A primitive on scalars; records a new NaN.
fn evaluated(prim: Prim, args: &[Scalar]) -> Value {
    let result = precision().eval(prim, args);
    let is_nan = |x: &Scalar| matches!(x, Scalar::Real(x) if x.is_nan());
    if is_nan(&result) && !args.iter().any(is_nan) {
        MADE.set(MADE.get().or(Some(prim)));
    }
    result.into()
}

/// A primitive of two arguments; the common ones on plain numbers first.
pub(crate) fn apply2(prim: Prim, a: &Value, b: &Value) -> Value {
    match (prim, a, b) {
        (Prim::Add, Value::Real(a), Value::Real(b)) => noted(prim, a + b, &[*a, *b]),
        (Prim::Sub, Value::Real(a), Value::Real(b)) => noted(prim, a - b, &[*a, *b]),
        (Prim::Mul, Value::Real(a), Value::Real(b)) => noted(prim, a * b, &[*a, *b]),
        (Prim::Div, Value::Real(a), Value::Real(b)) => noted(prim, a / b, &[*a, *b]),
        (Prim::Lt, Value::Real(a), Value::Real(b)) => Value::Bool(a < b),
        (Prim::Le, Value::Real(a), Value::Real(b)) => Value::Bool(a <= b),
        (Prim::AddInt, Value::Int(a), Value::Int(b)) => Value::Int(a.wrapping_add(*b)),
        (Prim::SubInt, Value::Int(a), Value::Int(b)) => Value::Int(a.wrapping_sub(*b)),
        (Prim::MulInt, Value::Int(a), Value::Int(b)) => Value::Int(a.wrapping_mul(*b)),
        (Prim::EqInt, Value::Int(a), Value::Int(b)) => Value::Bool(a == b),
        (Prim::LtInt, Value::Int(a), Value::Int(b)) => Value::Bool(a < b),
        (Prim::LeInt, Value::Int(a), Value::Int(b)) => Value::Bool(a <= b),
        _ => match (plain(a), plain(b)) {
            (Some(a), Some(b)) => evaluated(prim, &[a, b]),
            _ => apply_active(prim, prim.partials(), &[a.clone(), b.clone()]),
        },
    }
}

/// A step of a reduction.
pub(crate) fn combine(op: ReduceOp, ty: ScalarTy, a: &Value, b: &Value) -> Value {
    match (plain(a), plain(b)) {
        (Some(_), Some(_)) => apply2(op.prim(ty), a, b),
        _ => apply_active(op.prim(ty), op.partials(ty), &[a.clone(), b.clone()]),
    }
}

/// A primitive.
pub(crate) fn apply(prim: Prim, args: &[Value]) -> Value {
    match args {
        [a] => match plain(a) {
            Some(a) => evaluated(prim, &[a]),
            None => apply_active(prim, prim.partials(), args),
        },
        [a, b] => apply2(prim, a, b),
        // The only primitives of three arguments select one, without computing on it.
        [Value::Bool(condition), yes, no] => (if *condition { yes } else { no }).clone(),
        _ => unreachable!("ill-typed core: `{}` of {args:?}", prim.name()),
    }
}

/// The scalar, if it carries no derivative.
fn plain(value: &Value) -> Option<Scalar> {
    match value {
        Value::Real(x) => Some(Scalar::Real(*x)),
        Value::Int(n) => Some(Scalar::Int(*n)),
        Value::Bool(b) => Some(Scalar::Bool(*b)),
        _ => None,
    }
}

/// A tangent that is absent.
pub(crate) fn absent(level: u64) -> Value {
    let (primal, tangent) = (Value::Real(0.0), Value::Real(0.0));
    Value::Active(Rc::new(Active::Forward { level, kind: DualKind::Absent, primal, tangent }))
}

/// Whether it is an absent tangent of this level.
pub(crate) fn is_absent(value: &Value, at: u64) -> bool {
    let is = |active: &Active| matches!(active, Active::Forward { kind: DualKind::Absent, .. });
    active(value).is_some_and(|active| active.level() == at && is(active))
}

/// The result of a primitive that is linear in its absent tangents; `None` for other primitives.
fn without_absent(prim: Prim, args: &[Value], level: u64) -> Option<Value> {
    let is = |k: usize| is_absent(&args[k], level);
    // An unmarked zero comes from no tangent either, as at the start of a sum.
    let nothing = |x: &Value| is_absent(x, level) || matches!(x, Value::Real(0.0));
    match prim {
        Prim::Neg | Prim::Mul => Some(absent(level)),
        Prim::Div if is(0) => Some(absent(level)),
        Prim::Add | Prim::Sub if args.iter().all(nothing) => Some(absent(level)),
        Prim::Add => Some(args[usize::from(is(0))].clone()),
        Prim::Sub if is(1) => Some(args[0].clone()),
        Prim::Sub => Some(apply(Prim::Neg, &args[1..])),
        _ => None, // where an absent tangent is the number zero
    }
}

/// A primitive some of whose arguments carry derivatives.
fn apply_active(prim: Prim, partials: &[Option<Expr>], args: &[Value]) -> Value {
    let top = args.iter().map(level).max().unwrap_or(0);
    let any_absent = args.iter().any(|arg| is_absent(arg, top));
    if let Some(value) = any_absent.then(|| without_absent(prim, args, top)).flatten() {
        return value;
    }
    let mut primals = [const { Value::Absent }; 2];
    let mut derived = None;
    for (primal, arg) in primals.iter_mut().zip(args) {
        *primal = match arg {
            Value::Active(active) if active.level() == top => {
                derived = Some(active.clone());
                active.primal().clone()
            }
            lower => lower.clone(),
        };
    }
    let primals = &primals[..args.len()];
    // The result at lower levels, with the same partial derivatives.
    let out = match primals.iter().all(|primal| plain(primal).is_some()) {
        true => apply(prim, primals),
        false => apply_active(prim, partials, primals),
    };
    match derived.as_deref() {
        Some(Active::Forward { kind: DualKind::Absent, .. }) | None => out,
        Some(Active::Forward { kind, .. }) => {
            push_forward(partials, args, primals, out, (*kind, top))
        }
        Some(Active::Traced { tape, .. }) => trace(partials, args, primals, out, tape),
    }
}

fn push_forward(
    partials: &[Option<Expr>],
    args: &[Value],
    primals: &[Value],
    out: Value,
    (kind, level): (DualKind, u64),
) -> Value {
    let mut sum = None;
    for (partial, arg) in partials.iter().zip(args) {
        let Some(partial) = partial else { continue };
        let Some(Active::Forward { level: own, tangent, .. }) = active(arg) else { continue };
        if *own == level
            && let Some(factor) = match kind {
                DualKind::Tangent => factor(partial, primals, &out),
                DualKind::Marks | DualKind::MarksOfRule | DualKind::Absent => {
                    (*partial != Expr::Lit(Scalar::Real(0.0))).then_some(Factor::One)
                }
            }
        {
            add_to(&mut sum, factor.times(tangent));
        }
    }
    match sum {
        Some(tangent) => {
            Value::Active(Rc::new(Active::Forward { level, kind, primal: out, tangent }))
        }
        None => out,
    }
}

fn trace(
    partials: &[Option<Expr>],
    args: &[Value],
    primals: &[Value],
    out: Value,
    tape: &Rc<Tape>,
) -> Value {
    let mut node = Node::default();
    for (parent, (partial, arg)) in node.parents.iter_mut().zip(partials.iter().zip(args)) {
        let Some(partial) = partial else { continue };
        let Some(Active::Traced { tape: own, node, .. }) = active(arg) else { continue };
        if own.level == tape.level {
            *parent = factor(partial, primals, &out).map(|factor| (*node, factor));
        }
    }
    if node.parents.iter().all(Option::is_none) {
        return out;
    }
    let node = tape.push(node);
    Value::Active(Rc::new(Active::Traced { tape: tape.clone(), primal: out, node }))
}

fn active(value: &Value) -> Option<&Active> {
    if let Value::Active(active) = value { Some(active) } else { None }
}

/// A partial derivative as a factor; `None` if it is literally zero.
fn factor(partial: &Expr, args: &[Value], out: &Value) -> Option<Factor> {
    match partial {
        Expr::Lit(Scalar::Real(1.0)) => Some(Factor::One),
        Expr::Lit(Scalar::Real(-1.0)) => Some(Factor::MinusOne),
        Expr::Lit(Scalar::Real(0.0)) => None,
        Expr::Prim(Prim::Select, items) => {
            let chosen = if value(&items[0], args, out).bool() { &items[1] } else { &items[2] };
            factor(chosen, args, out)
        }
        Expr::Arg(_) | Expr::Out | Expr::Lit(_) | Expr::Prim(..) => {
            Some(Factor::Times(value(partial, args, out)))
        }
    }
}

/// The value of an expression at these arguments and this result.
fn value(expr: &Expr, args: &[Value], out: &Value) -> Value {
    match expr {
        Expr::Arg(k) => args[*k].clone(),
        Expr::Out => out.clone(),
        Expr::Lit(scalar) => precision().scalar(*scalar).into(),
        Expr::Prim(prim, items) => match &items[..] {
            [a] => apply(*prim, &[value(a, args, out)]),
            [a, b] => apply2(*prim, &value(a, args, out), &value(b, args, out)),
            [c, a, b] => value(if value(c, args, out).bool() { a } else { b }, args, out),
            _ => unreachable!("primitives have one to three arguments"),
        },
    }
}
