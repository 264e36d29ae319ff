//! Functions with rules. Where a derivative may follow, a call of such a function is a call of a
//! library function, whose rules are library functions, too. Elsewhere it is an ordinary function.
//!
//! ```text
//!   f    (c…, x…)             the captured values, then the slots of the parameters
//!   jvp  (c…, x…, y…, ẋ…)      y…: the slots of the result; ẋ…: tangents of the active slots
//!   vjp  (c…, x…, y…, ȳ…)
//! ```
//!
//! A parameter that is a function has the slots of its captured values. Its tangent `df` is a
//! function, too: `df x` is the derivative of `f x` with respect to these slots, along their
//! tangents. Its cotangent is a sum over points with cotangents, each pulled back to these slots.
//!
//! * Assumes: a rule has the type that `core` requires.
//! * Gives: a function for every sketch of captured values and arguments, as for recursive
//!   functions.

pub(in crate::eval) mod functions;
pub(in crate::eval) mod kernels;
mod roles;

use std::rc::Rc;

use lambada_anf as anf;
use lambada_anf::{Atom, Derivative, FnId, Param};
use lambada_core::{Rule, Term, TermKind, Ty as CoreTy, Var};

use functions::OpenSum;
use roles::Roles;

use super::calls::parameters;
use super::codes::RuledAt;
use super::leaves::is_active;
use super::library::{FixedResult, known_results};
use super::{Evaluator, Hint, leaves, sketches, slots};
use crate::merge::LeafContext;
use crate::messages;
use crate::sketch::{Sketch, Slots};
use crate::val::{Closure, Code, CodeKind, Val};
use crate::{Eval, ill_typed};

/// A function with rules under construction, for some sketches.
struct Subject<'a> {
    at: &'a RuledAt,
    code: &'a Rc<Code>,
    /// Sketches of the captured values, then of the parameters.
    sketches: &'a [Sketch],
    hints: &'a [Rc<str>],
    params: &'a [CoreTy],
    result: &'a CoreTy,
    /// The known results of the function, once it is written.
    results: Vec<Option<FixedResult>>,
    /// Its text for people, if it has one.
    roles: Option<Roles>,
}

impl Subject<'_> {
    /// How the text calls the function, or its derivative, if it has a text for people.
    fn known(&self, derivative: Option<Derivative>) -> Option<anf::Known> {
        Some(self.roles.as_ref()?.known(self.at.ruled.known.as_ref()?, derivative))
    }
}

/// The parameters of a rule, and the values made of them.
struct Head {
    params: Vec<Param>,
    /// The captured values, then the parameters of the function.
    vals: Vec<Val>,
    /// The result of the function.
    value: Val,
    /// The tangents of the parameters, or the cotangent of the result.
    inputs: Vec<Val>,
    /// The types of the rule's results.
    results: Vec<anf::Ty>,
}

/// A function with rules.
pub(super) fn function_with_rules(of: &mut Evaluator, term: &Term) -> Eval<Val> {
    of.codes.mark_rules(term, None);
    let TermKind::Lam(var, body) = term.without_rules().kind() else {
        return Err(ill_typed());
    };
    of.lambda(var, body)
}

/// A function with rules applied to all its arguments.
pub(super) fn invoke_ruled(
    of: &mut Evaluator,
    at: &Rc<RuledAt>,
    closure: &Closure,
    xs: &[Val],
    ty: &CoreTy,
    hint: Hint,
) -> Eval<Val> {
    let vars: Vec<Var> = at.free.iter().cloned().chain(parameters(&closure.code)).collect();
    let vals: Vec<Val> = closure.env.iter().chain(xs).cloned().collect();
    let (mut path, mut sketches) = (vec![closure.code.number], Vec::new());
    for (val, var) in vals.iter().zip(&vars) {
        sketches.push(sketches::sketch(of, val, &var.ty, &mut path)?);
    }
    let dynamic = |s: &Sketch| matches!(s, Sketch::Node(CoreTy::Fun(..)));
    if sketches[at.captured..].iter().any(dynamic) {
        return Err(Box::new(messages::dynamic_parameter(&at.ruled.name, at.span)));
    }
    let filled = slots::filled(of, &sketches, &vals)?;
    let key = (closure.code.number, Vec::new(), sketches);
    let function = match of.library.copy(&key) {
        Some(function) => function,
        None => {
            let id = of.reserve()?;
            of.library.add_copy(key.clone(), id);
            let hints: Vec<Rc<str>> = vars.iter().map(|x| x.hint.clone()).collect();
            let params: Vec<CoreTy> = vars[at.captured..].iter().map(|x| x.ty.clone()).collect();
            let (code, sketches) = (&closure.code, &key.2);
            let (hints, params) = (&hints, &params);
            let (results, roles) = (Vec::new(), None);
            let subject = Subject { at, code, sketches, hints, params, result: ty, results, roles };
            write_ruled(of, id, subject)?;
            id
        }
    };
    of.named(hint, |this| this.call_function(function, filled, ty))
}

/// Writes the function and its rules. Meanwhile it has no derivative.
fn write_ruled(of: &mut Evaluator, id: FnId, mut subject: Subject) -> Eval<()> {
    let Subject { at, code, sketches, hints, result, .. } = subject;
    let name = at.ruled.name.clone();
    let env = at.free.len();
    of.library.begin(id, &name);
    of.function(id, &name, sketches, hints, result, &mut |this, mut vals| {
        let xs = vals.split_off(env);
        kernels::inlined_with_rules(this, at, &Closure { code: code.clone(), env: vals }, xs, None)
    })?;
    let mut captured = Slots::default();
    sketches[..at.captured]
        .iter()
        .for_each(|s| slots::add_slots(of, s, anf::NAMELESS, &mut captured));
    let captured = captured.values.len();
    let jvp = reserved(of, at.ruled.jvp.as_ref())?;
    let vjp = reserved(of, at.ruled.vjp.as_ref())?;
    let roles = if at.ruled.known.is_some() { Roles::of(of, &subject) } else { None };
    if let Some(function) = &mut of.emit.library.functions[id.0 as usize] {
        function.rules = Some(anf::Rules { captured, jvp, vjp, span: at.span });
        subject.results = known_results(function);
        subject.roles = roles.and_then(|roles| roles.with_sizes(function, &subject.results));
        function.known = subject.known(None);
    }
    for (mode, core, rule) in
        [(Derivative::Jvp, &at.ruled.jvp, jvp), (Derivative::Vjp, &at.ruled.vjp, vjp)]
    {
        if let (Some(core), Some(rule)) = (core, rule) {
            write_rule(of, rule.function, &subject, mode, core)?;
        }
    }
    of.library.end();
    Ok(())
}

fn reserved(of: &mut Evaluator, rule: Option<&Rule>) -> Eval<Option<anf::Rule>> {
    let Some(rule) = rule else { return Ok(None) };
    Ok(Some(anf::Rule { function: of.reserve()?, span: rule.span }))
}

fn write_rule(
    of: &mut Evaluator,
    id: FnId,
    subject: &Subject,
    mode: Derivative,
    rule: &Rule,
) -> Eval<()> {
    let outside = of.leave_function();
    let head = rule_head(of, subject, mode)?;
    let mut sums = Vec::new();
    if rule.adds {
        let params = subject.params.iter().zip(&head.vals[subject.at.captured..]);
        for (_, f) in params.filter(|(ty, _)| matches!(ty, CoreTy::Fun(..))) {
            sums.push(functions::open_sum(of, &subject.at.ruled.name, rule.span, f)?);
        }
    }
    let value = apply_rule(of, subject, rule, &head, &sums)?;
    let atoms = match mode {
        Derivative::Jvp => {
            let says = "the tangent has another constructor than the value";
            leaves::along(of, &head.value, &value, rule.span, says)?
        }
        Derivative::Vjp => cotangents(of, subject, rule, &head, &value, sums)?,
    };
    let results = atoms.into_iter().zip(head.results).collect();
    let suffix = match mode {
        Derivative::Jvp => "jvp",
        Derivative::Vjp => "vjp",
    };
    let name = format!("{}_{suffix}", subject.at.ruled.name);
    let mut function = of.enter_function(outside, |emit| {
        emit.library_function((id, name), head.params, Vec::new(), results)
    });
    function.known = subject.known(Some(mode));
    of.emit.library.functions[id.0 as usize] = Some(function);
    Ok(())
}

fn rule_head(of: &mut Evaluator, subject: &Subject, mode: Derivative) -> Eval<Head> {
    let (sketches, captured) = (subject.sketches, subject.at.captured);
    let mut slots = Slots::default();
    for (sketch, hint) in sketches[..captured].iter().zip(subject.hints) {
        slots::add_slots(of, sketch, hint, &mut slots);
    }
    let first = slots.values.len();
    for (sketch, hint) in sketches[captured..].iter().zip(&subject.hints[captured..]) {
        slots::add_slots(of, sketch, hint, &mut slots);
    }
    let count = slots.values.len();
    let result = sketches::canonical(of, subject.result);
    slots::add_slots(of, &result, &subject.at.ruled.name, &mut slots);
    let mut atoms: Vec<Atom> = Vec::new();
    let known = |k: usize, atoms: &[Atom]| {
        Some(subject.results.get(k.checked_sub(count)?).copied().flatten()?.among(atoms))
    };
    let mut params = slots::variables(of, &slots.values, &mut atoms, &known);
    let (given, asked, suffix) = match mode {
        Derivative::Jvp => (first..count, count..slots.values.len(), "tan"),
        Derivative::Vjp => (count..slots.values.len(), first..count, "ct"),
    };
    let mut tangents = Vec::new();
    for slot in &slots.values[given.clone()] {
        tangents.push(if is_active(slot.elem) {
            let ty = Slots::ty(slot, &atoms);
            let var = of.emit.fresh(format!("{}_{suffix}", slot.name), ty.clone());
            params.push(Param { var, ty });
            var.into()
        } else {
            atoms[given.start + tangents.len()]
        });
    }
    let asked = slots.values[asked].iter().filter(|slot| is_active(slot.elem));
    let results = asked.map(|slot| Slots::ty(slot, &atoms)).collect();
    let linear = match mode {
        Derivative::Jvp => &sketches[captured..],
        Derivative::Vjp => std::slice::from_ref(&result),
    };
    let inputs = slots::instances(of, linear, tangents)?;
    // All other numbers are zero.
    let is_kept = |context: &LeafContext| context.is_tag || is_active(context.elem);
    let inputs = inputs.iter().map(|val| leaves::without_numbers(of, val, &is_kept));
    let inputs = inputs.collect::<Eval<Vec<Val>>>()?;
    let vals = slots::instances(of, sketches, atoms[..count].to_vec())?;
    let mut value = slots::instances(of, std::slice::from_ref(&result), atoms[count..].to_vec())?;
    Ok(Head { params, vals, value: value.remove(0), inputs, results })
}

/// Results of a rule.
fn apply_rule(
    of: &mut Evaluator,
    subject: &Subject,
    rule: &Rule,
    head: &Head,
    sums: &[OpenSum],
) -> Eval<Val> {
    let CodeKind::Lambda { siblings, .. } = &subject.code.kind else {
        return Err(ill_typed());
    };
    let env = &head.vals[..subject.at.free.len()];
    let params = &head.vals[subject.at.captured..];
    let mut xs = params.to_vec();
    xs.extend(rule.takes_value.then(|| head.value.clone()));
    for (k, input) in head.inputs.iter().enumerate() {
        let of_function = head.inputs.len() == params.len()
            && matches!(subject.params.get(k), Some(CoreTy::Fun(..)))
            && matches!(input, Val::Fun(_));
        xs.push(match of_function {
            true => {
                functions::function_tangent(of, &subject.params[k], rule.span, &params[k], input)
            }
            false => input.clone(),
        });
    }
    let types = subject.params.iter().filter_map(|ty| {
        let CoreTy::Fun(_, to) = ty else { return None };
        Some(to)
    });
    xs.extend(sums.iter().zip(types).map(|(sum, to)| functions::adder(of, sum, to, rule.span)));
    of.scoped(|this| {
        this.bind_siblings(siblings, env)?;
        subject.at.free.iter().zip(env).for_each(|(x, value)| this.bind(x, value.clone()));
        let Val::Fun(fun) = this.eval(&rule.function, None)? else { return Err(ill_typed()) };
        let closure = fun.known().ok_or_else(ill_typed)?;
        this.inlined(closure, xs, None)
    })
}

/// The cotangents of the parameters' slots, from the result of a rule.
fn cotangents(
    of: &mut Evaluator,
    subject: &Subject,
    rule: &Rule,
    head: &Head,
    value: &Val,
    sums: Vec<OpenSum>,
) -> Eval<Vec<Atom>> {
    let params = &head.vals[subject.at.captured..];
    let parts: Vec<Val> = match value.as_tuple() {
        Ok(items) if params.len() > 1 => items.to_vec(),
        Ok(_) | Err(_) => vec![value.clone()],
    };
    let (mut atoms, mut sums) = (Vec::new(), sums.into_iter());
    for ((param, part), ty) in params.iter().zip(&parts).zip(subject.params) {
        if let CoreTy::Fun(_, to) = ty {
            let (name, span) = (&subject.at.ruled.name, rule.span);
            atoms.extend(match sums.next() {
                Some(sum) => functions::close_sum(of, sum)?,
                None => functions::formal_sum(of, name, span, param, part, to)?,
            });
        } else {
            let says = "the cotangent has another constructor than the parameter";
            atoms.extend(leaves::along(of, param, part, rule.span, says)?);
        }
    }
    Ok(atoms)
}
