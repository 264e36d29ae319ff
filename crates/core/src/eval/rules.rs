//! Functions with rules. Γ ⊢ f : t₁ → … → r with rules, at arguments that carry derivatives:
//!
//! * The innermost level ℓ of the arguments' derivatives is removed from all arguments. The
//!   function at the remaining arguments gives the value; its derivatives of lower levels follow
//!   the rules recursively.
//! * The rule gives the value's derivative at level ℓ. It is evaluated at lower levels, so rules
//!   are differentiated themselves. In reverse mode, the pullback evaluates it.
//! * A mode without a rule transposes the rule of the other mode: on a tape of its own, the rule is
//!   a linear map, evaluated at zero.
//! * Marks ([`DualKind::Marks`]) follow the rule, too: its tangents are marked, and the value
//!   depends on the marked ones that the rule's result depends on. The derivative knows only the
//!   rule; the function's body may depend on more, or on less.
//! * In both modes, a rule's tangents or cotangent are marked at a level of their own. A zero from
//!   the rule without a mark is *absent*: it was not computed from a given tangent or cotangent. An
//!   absent zero is not multiplied, while a zero with a mark is a number like any other.
//! * The tangent of an argument without derivative is absent, too ([`DualKind::Absent`]), at one
//!   more level: a rule `jvp` multiplies nothing by it, as a pullback drops the cotangent.
//! * The derivatives of a function parameter are those of its captured variables. `df x` gives them
//!   their tangents of level ℓ at a level of its own, applies the function, and reads the tangent.
//!   A formal sum applies it to the points on a tape of its own.
//!
//! Captured variables of the function itself must not carry derivatives: that is an error.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use lambada_source::{Span, stack};

use super::code::{RuleCode, Rules};
use super::derive::{
    THAN_PARAMETER, THAN_RESULT, THAN_VALUE, lift, map_reals, seed, split, tangent_of,
};
use super::levels::{find, replace, without};
use super::machine::{Machine, Run, closure, fail};
use super::real::{Active, DualKind, Node, Tape, absent, add_to, is_absent};
use super::value::{Closure, Value};

/// Limit on nested transpositions of rules. A rule that applies its function to its tangents needs
/// one more at every level.
const TRANSPOSITIONS: usize = 50;

/// The tangent `df` of a function `f` at a fixed argument: the captured variables of `f` carry
/// their tangents at a level of its own.
#[derive(Debug)]
pub(crate) struct Tangent {
    pub function: Value,
    pub level: u64,
    /// The tangent of a value that does not depend on captured variables of `f`.
    pub nothing: Value,
}

/// Adds pairs of a point and a cotangent to the formal sum of a function.
#[derive(Debug)]
pub(crate) struct Adder {
    terms: RefCell<Vec<Value>>,
    /// Derivatives of higher levels are removed from added pairs.
    level: u64,
}

/// A call of a function with rules on a tape. The nodes after its own belong to the reals of its
/// value.
#[derive(Debug)]
pub(crate) struct Taped {
    closure: Value,
    /// The arguments with the derivatives of the tape, and without.
    args: Vec<Value>,
    fixed: Vec<Value>,
    value: Value,
}

impl Taped {
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.args.iter().chain(&self.fixed).chain([&self.closure, &self.value])
    }

    pub fn map(&self, f: &mut dyn FnMut(&Value) -> Value) -> Taped {
        Taped {
            closure: f(&self.closure),
            args: self.args.iter().map(&mut *f).collect(),
            fixed: self.fixed.iter().map(&mut *f).collect(),
            value: f(&self.value),
        }
    }
}

/// The result of a rule `vjp` for one parameter: the cotangent of data, or pairs of points and
/// cotangents.
enum ParamCotangent {
    Data(Value),
    Sum(Vec<Value>),
}

/// The function without a level of its captured variables.
fn unlevelled(function: &Rc<Closure>, level: u64) -> Rc<Closure> {
    let Value::Closure(plain) = without(&Value::Closure(function.clone()), level) else {
        unreachable!("a function stays one")
    };
    plain
}

/// Whether it is a function.
fn is_function(value: &Value) -> bool {
    matches!(value, Value::Closure(_) | Value::Pullback(_) | Value::Tangent(_) | Value::Adder(_))
}

fn rules(of: &Closure) -> &Rules {
    of.function().rules.as_deref().expect("a function with rules")
}

/// The tangent or the mark of a real.
fn tangent_in(active: &Active) -> &Value {
    match active {
        Active::Forward { tangent, .. } => tangent,
        Active::Traced { .. } => unreachable!("a level is either forward or traced"),
    }
}

/// The value of a call, with each real depending on each real of the arguments.
fn marked(args: &[Value], value: &Value, level: u64) -> Value {
    let mut sum = None;
    for arg in args {
        replace(arg, level, &mut |active| {
            add_to(&mut sum, tangent_in(active).clone());
            active.primal().clone()
        });
    }
    let Some(tangent) = sum else { return value.clone() };
    map_reals(value, &mut |primal| {
        let (kind, primal, tangent) = (DualKind::MarksOfRule, primal.clone(), tangent.clone());
        Value::Active(Rc::new(Active::Forward { level, kind, primal, tangent }))
    })
}

/// A tangent or cotangent that a rule gets, with its mark.
fn present(level: u64, primal: Value) -> Value {
    let (kind, tangent) = (DualKind::MarksOfRule, Value::Real(1.0));
    Value::Active(Rc::new(Active::Forward { level, kind, primal, tangent }))
}

/// The value, with zeros absent unless they have a mark of the level.
fn with_absent(value: &Value, level: u64) -> Value {
    map_reals(value, &mut |real| match real {
        Value::Real(0.0) => Value::Absent,
        Value::Active(active) if active.level() == level => Value::Active(active.clone()),
        nothing if is_absent(nothing, level + 1) => Value::Absent,
        other => other.clone(),
    })
}

/// The result of a rule, without the marks of the level.
fn unmarked(value: &Value, level: u64) -> Value {
    map_reals(value, &mut |real| match real {
        Value::Real(0.0) => Value::Absent,
        Value::Active(active) if active.level() == level => active.primal().clone(),
        nothing if is_absent(nothing, level + 1) => Value::Absent,
        other => other.clone(),
    })
}

/// A term of a formal sum, without the marks of the level.
fn unmarked_term(term: &Value, level: u64) -> Value {
    let point = without(&without(term.component(0), level + 1), level);
    Value::tuple(vec![point, unmarked(term.component(1), level)])
}

/// The tangents of the arguments of a rule.
struct Tangents<'a> {
    /// The level that is differentiated.
    level: u64,
    /// The level of the marks on the tangents.
    own: u64,
    /// The tangent of a value without derivatives.
    nothing: Value,
    /// The tangent of a real of the level.
    of: &'a mut dyn FnMut(&Active) -> Value,
}

/// Leaves on a tape of their own for nodes of another tape, one for each node.
struct Leaves {
    tape: Rc<Tape>,
    of: HashMap<usize, usize>,
}

impl Leaves {
    fn leaf(&mut self, active: &Active, primal: Value) -> Value {
        let Active::Traced { node, .. } = active else {
            unreachable!("a level is either forward or traced")
        };
        let tape = &self.tape;
        let leaf = *self.of.entry(*node).or_insert_with(|| tape.push(Node::default()));
        Value::Active(Rc::new(Active::Traced { tape: self.tape.clone(), primal, node: leaf }))
    }

    /// Adds the cotangents of the leaves to those of their nodes.
    fn give(&self, found: &mut [Option<Value>], cotangents: &mut [Option<Value>]) {
        let mut leaves: Vec<_> = self.of.iter().collect();
        leaves.sort();
        for (node, leaf) in leaves {
            if let Some(d) = found[*leaf].take() {
                add_to(&mut cotangents[*node], d);
            }
        }
    }
}

impl Machine<'_> {
    fn fresh_tape(&mut self) -> Rc<Tape> {
        Rc::new(Tape::new(self.fresh_level()))
    }

    fn leaves(&mut self) -> Leaves {
        Leaves { tape: self.fresh_tape(), of: HashMap::new() }
    }

    /// A function with rules applied to all its arguments.
    pub fn ruled(&mut self, function: &Rc<Closure>, args: Vec<Value>) -> Run<Value> {
        let name = &rules(function).name;
        let span = rules(function).jvp.iter().chain(&rules(function).vjp).next();
        let span = span.map_or(Span::default(), |rule| rule.span);
        let captured = find(function.captured.iter());
        if let Some(Active::Forward { level, kind: DualKind::MarksOfRule, .. }) =
            captured.active.as_deref()
        {
            return self.ruled_with_marks(function, args, *level);
        }
        if let Some(Active::Forward { level, kind: DualKind::Absent, .. }) =
            captured.active.as_deref()
        {
            return self.ruled(&unlevelled(function, *level), args);
        }
        if captured.active.is_some() {
            return fail(
                span,
                format!(
                    "`{name}` has a derivative rule and captures what is being differentiated; make that a parameter"
                ),
            );
        }
        let found = find(&args);
        let level = found.level();
        let Some(active) = found.active else { return self.run(function, args) };
        if found.accumulator {
            return fail(
                span,
                format!(
                    "`{name}` has a derivative rule and is given a function that adds to an accumulator"
                ),
            );
        }
        let fixed: Vec<Value> = args.iter().map(|arg| without(arg, level)).collect();
        let value = self.ruled(function, fixed.clone())?;
        match &*active {
            Active::Forward { kind: DualKind::MarksOfRule, .. } => Ok(marked(&args, &value, level)),
            Active::Forward { kind: DualKind::Absent, .. } => Ok(value),
            Active::Forward { kind, .. } => {
                let tangent = match kind {
                    DualKind::Tangent => {
                        let own = self.fresh_level();
                        let nothing = absent(self.fresh_level());
                        let mut of = |active: &Active| present(own, tangent_in(active).clone());
                        let of = Tangents { level, own, nothing, of: &mut of };
                        unmarked(&self.forward(function, (&args, &fixed), &value, of)?, own)
                    }
                    DualKind::Marks | DualKind::MarksOfRule | DualKind::Absent => {
                        self.marks(function, (&args, &fixed), &value, level)?
                    }
                };
                lift(&value, &tangent, *kind, level, (span, THAN_VALUE))
            }
            Active::Traced { tape, .. } => {
                let node = tape.push(Node::default());
                let result = map_reals(&value, &mut |primal| {
                    let node = tape.push(Node::default());
                    let (tape, primal) = (tape.clone(), primal.clone());
                    Value::Active(Rc::new(Active::Traced { tape, primal, node }))
                });
                let closure = Value::Closure(function.clone());
                tape.calls
                    .borrow_mut()
                    .push((node, Rc::new(Taped { closure, args, fixed, value })));
                Ok(result)
            }
        }
    }

    /// Applies a rule to the parameters, the value, and the tangents or the cotangent.
    fn rule(
        &mut self,
        function: &Closure,
        rule: &RuleCode,
        (fixed, value): (&[Value], &Value),
        bound: impl IntoIterator<Item = Value>,
    ) -> Run<Value> {
        let code = closure(&function.functions, rule.member, &function.captured);
        let value = rule.takes_value.then(|| value.clone());
        self.call(code, fixed.iter().cloned().chain(value).chain(bound).collect())
    }

    /// The results of a rule `vjp`, one for each parameter: for functions, the terms of their
    /// formal sums.
    fn cotangents(
        &mut self,
        function: &Closure,
        rule: &RuleCode,
        (fixed, value): (&[Value], &Value),
        cotangent: Value,
    ) -> Run<Vec<ParamCotangent>> {
        let adder = |_: &Value| Rc::new(Adder { terms: RefCell::default(), level: self.level });
        let functions = fixed.iter().filter(|arg| rule.adds && is_function(arg));
        let adders: Vec<Rc<Adder>> = functions.map(adder).collect();
        let bound = std::iter::once(cotangent).chain(adders.iter().cloned().map(Value::Adder));
        let parts = self.rule(function, rule, (fixed, value), bound)?;
        let parts = if fixed.len() == 1 { vec![parts] } else { parts.into_components() };
        let mut adders = adders.into_iter();
        let part = |(arg, part): (&Value, Value)| match part {
            part if !is_function(arg) => ParamCotangent::Data(part),
            Value::Array(terms) => ParamCotangent::Sum(terms.items.clone()),
            _ => {
                ParamCotangent::Sum(adders.next().map_or_else(Vec::new, |adder| adder.terms.take()))
            }
        };
        Ok(fixed.iter().zip(parts).map(part).collect())
    }

    /// `add (x, dy)`
    pub fn add_term(&mut self, adder: &Adder, term: Value) -> Value {
        if !self.rehearsing() {
            let later = self.level > adder.level;
            let term = if later { super::derive::strip(&term, adder.level + 1) } else { term };
            adder.terms.borrow_mut().push(term);
        }
        Value::Unit
    }

    /// The marks of the value at a level: the marks in the rule's result if its tangents are
    /// marked, at a level of its own.
    fn marks(
        &mut self,
        function: &Closure,
        arguments: (&[Value], &[Value]),
        value: &Value,
        level: u64,
    ) -> Run<Value> {
        let own = self.fresh_level();
        let mut of = |active: &Active| {
            let (kind, tangent) = (DualKind::MarksOfRule, tangent_in(active).clone());
            let primal = Value::Real(0.0);
            Value::Active(Rc::new(Active::Forward { level: own, kind, primal, tangent }))
        };
        let of = Tangents { level, own, nothing: Value::Real(0.0), of: &mut of };
        let tangent = self.forward(function, arguments, value, of)?;
        Ok(split(&tangent, own).1)
    }

    /// A function with rules that has captured marked reals: its whole value is marked.
    fn ruled_with_marks(
        &mut self,
        function: &Rc<Closure>,
        args: Vec<Value>,
        level: u64,
    ) -> Run<Value> {
        let fixed = unlevelled(function, level);
        let plain = args.iter().map(|arg| without(arg, level)).collect();
        let value = self.ruled(&fixed, plain)?;
        let held: Vec<Value> = function.captured.iter().cloned().chain(args).collect();
        Ok(marked(&held, &value, level))
    }

    /// The tangent of the value. `of` gives the tangent of each real of a level, marked at the
    /// level `own`.
    fn forward(
        &mut self,
        function: &Closure,
        (args, fixed): (&[Value], &[Value]),
        value: &Value,
        Tangents { level, own, nothing, of }: Tangents,
    ) -> Run<Value> {
        let tangents = args.iter().map(|arg| self.tangent(arg, (level, &nothing), of));
        let tangents: Vec<Value> = tangents.collect();
        if let Some(rule) = &rules(function).jvp {
            return self.rule(function, rule, (fixed, value), tangents);
        }
        let rule = rules(function).vjp.as_ref().expect("there is a rule");
        let tape = self.fresh_tape();
        let leaf = |_: &Value| {
            let (tape, primal) = (tape.clone(), Value::Real(0.0));
            let node = tape.push(Node::default());
            Value::Active(Rc::new(Active::Traced { tape, primal, node }))
        };
        let cotangent = tangent_of(value, &mut { leaf });
        let leaves = tape.nodes.borrow().len();
        let parts = self.cotangents(function, rule, (fixed, value), cotangent)?;
        let mut cotangents = vec![None; tape.nodes.borrow().len()];
        for (part, tangent) in parts.into_iter().zip(tangents) {
            match part {
                ParamCotangent::Sum(terms) => {
                    for term in &terms {
                        let point = without(term.component(0), tape.level);
                        let d = with_absent(&self.call(tangent.clone(), vec![point])?, own);
                        seed(
                            &tape,
                            term.component(1),
                            &d,
                            &mut cotangents,
                            (rule.span, THAN_RESULT),
                        )?;
                    }
                }
                ParamCotangent::Data(part) => {
                    let d = with_absent(&tangent, own);
                    seed(&tape, &part, &d, &mut cotangents, (rule.span, THAN_PARAMETER))?
                }
            }
        }
        self.sweep(&tape, &mut cotangents)?;
        let mut found = cotangents.into_iter().take(leaves);
        Ok(tangent_of(value, &mut |_| found.next().flatten().unwrap_or(Value::Real(0.0))))
    }

    /// The tangent of an argument: `of` gives that of each real of the level; all others are
    /// constants.
    fn tangent(
        &mut self,
        arg: &Value,
        (level, nothing): (u64, &Value),
        of: &mut dyn FnMut(&Active) -> Value,
    ) -> Value {
        if is_function(arg) {
            let own = self.fresh_level();
            let function = replace(arg, level, &mut |active| {
                let (primal, tangent) = (active.primal().clone(), of(active));
                Value::Active(Rc::new(Active::Forward {
                    level: own,
                    kind: DualKind::Tangent,
                    primal,
                    tangent,
                }))
            });
            let nothing = nothing.clone();
            return Value::Tangent(Rc::new(Tangent { function, level: own, nothing }));
        }
        tangent_of(arg, &mut |real| match real {
            Value::Active(active) if active.level() == level => of(active),
            _ => nothing.clone(),
        })
    }

    /// `df x`
    pub fn apply_tangent(&mut self, tangent: &Tangent, arg: Value) -> Run<Value> {
        // The argument's level may be higher than the tangent's, so the tangent gets a new one.
        let level = self.fresh_level();
        let function = replace(&tangent.function, tangent.level, &mut |active| {
            let Active::Forward { kind, primal, tangent, .. } = active else {
                unreachable!("a level is either forward or traced")
            };
            let (kind, primal, tangent) = (*kind, primal.clone(), tangent.clone());
            Value::Active(Rc::new(Active::Forward { level, kind, primal, tangent }))
        });
        let result = self.call(function, vec![arg])?;
        Ok(tangent_of(&result, &mut |real| match real {
            Value::Active(active) if active.level() == level => tangent_in(active).clone(),
            _ => tangent.nothing.clone(),
        }))
    }

    /// The reverse sweep of a call on a tape: the cotangent of its value gives those of its
    /// arguments.
    pub fn pull(
        &mut self,
        tape: &Tape,
        node: usize,
        call: &Taped,
        cotangents: &mut [Option<Value>],
    ) -> Run<()> {
        let Taped { closure, args, fixed, value } = call;
        let Value::Closure(function) = closure else { unreachable!("a function with rules") };
        let (mut next, mut any) = (node, false);
        let own = self.fresh_level();
        let rule = rules(function).vjp.as_ref();
        let cotangent = tangent_of(value, &mut |_| {
            next += 1;
            let d = cotangents[next].take();
            any |= d.is_some();
            match (rule, d) {
                (Some(_), Some(d)) => present(own, d),
                (Some(_), None) => Value::Real(0.0),
                (None, d) => d.unwrap_or(Value::Absent),
            }
        });
        if !any {
            return Ok(());
        }
        let Some(rule) = rule else {
            return self.pull_transposed(tape.level, call, &cotangent, cotangents);
        };
        let parts = self.cotangents(function, rule, (fixed, value), cotangent)?;
        for (arg, part) in args.iter().zip(parts) {
            match part {
                ParamCotangent::Sum(sum) => {
                    let sum: Vec<Value> = sum.iter().map(|term| unmarked_term(term, own)).collect();
                    self.pull_sum(tape.level, arg, &sum, rule.span, cotangents)?
                }
                ParamCotangent::Data(part) => {
                    let part = unmarked(&part, own);
                    seed(tape, arg, &part, cotangents, (rule.span, THAN_PARAMETER))?
                }
            }
        }
        Ok(())
    }

    /// Like `pull`, by the transposition of the rule `jvp`.
    fn pull_transposed(
        &mut self,
        level: u64,
        call: &Taped,
        cotangent: &Value,
        cotangents: &mut [Option<Value>],
    ) -> Run<()> {
        let Taped { closure, args, fixed, value } = call;
        let Value::Closure(function) = closure else { unreachable!("a function with rules") };
        let rule = rules(function).jvp.as_ref().expect("there is a rule");
        let mut leaves = self.leaves();
        let mut leaf = |active: &Active| leaves.leaf(active, Value::Real(0.0));
        let level = (level, &Value::Real(0.0));
        let tangents: Vec<Value> =
            args.iter().map(|arg| self.tangent(arg, level, &mut leaf)).collect();
        let tangent = self.rule(function, rule, (fixed, value), tangents)?;
        let mut found = vec![None; leaves.tape.nodes.borrow().len()];
        seed(&leaves.tape, &tangent, cotangent, &mut found, (rule.span, THAN_RESULT))?;
        self.transposing += 1;
        if self.transposing > TRANSPOSITIONS {
            let name = &rules(function).name;
            return fail(
                rule.span,
                format!(
                    "the rule `jvp` of `{name}` is transposed again inside of its own transposition, more than {TRANSPOSITIONS} times; give `with vjp`, too"
                ),
            );
        }
        stack::deeper(|| self.sweep(&leaves.tape, &mut found))?;
        self.transposing -= 1;
        leaves.give(&mut found, cotangents);
        Ok(())
    }

    /// Pulls a formal sum of points and cotangents back to the captured variables of a function.
    fn pull_sum(
        &mut self,
        level: u64,
        function: &Value,
        sum: &[Value],
        span: Span,
        cotangents: &mut [Option<Value>],
    ) -> Run<()> {
        let mut leaves = self.leaves();
        let function =
            replace(function, level, &mut |active| leaves.leaf(active, active.primal().clone()));
        let mut results = Vec::new();
        for term in sum {
            results.push(self.call(function.clone(), vec![term.component(0).clone()])?);
        }
        let mut found = vec![None; leaves.tape.nodes.borrow().len()];
        for (result, term) in results.iter().zip(sum) {
            seed(&leaves.tape, result, term.component(1), &mut found, (span, THAN_RESULT))?;
        }
        self.sweep(&leaves.tape, &mut found)?;
        leaves.give(&mut found, cotangents);
        Ok(())
    }
}
