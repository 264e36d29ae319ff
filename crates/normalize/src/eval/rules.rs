//! Functions with rules. Where a derivative may follow, a call of such a function is a call of a
//! function of the library, which has the rules as functions of the library, too; anywhere else it
//! is a function like others.
//!
//! ```text
//!   f    (c…, x…)             the captured values, then the slots of the parameters
//!   jvp  (c…, x…, y…, ẋ…)      y…: the slots of the result; ẋ…: the tangents of the slots that carry derivatives
//!   vjp  (c…, x…, y…, ȳ…)
//! ```
//!
//! A parameter that is a function has the slots of what it captures. Its tangent `df` is a function
//! again: `df x` is the derivative of what `f x` is of these slots, along their tangents. Its
//! cotangent is a sum over points with cotangents, each pulled back to these slots.
//!
//! * Assumes: a rule has the type that `core` says.
//! * Gives: a function for every sketch of what is captured and of the arguments, as for recursive
//!   functions.

mod functions;
mod kernels;

use std::rc::Rc;

use lambada_anf as anf;
use lambada_anf::{Atom, FnId, Param};
use lambada_core::{Rule, Term, TermKind, Ty as CoreTy, Var};

use functions::OpenSum;

use super::calls::parameters;
use super::codes::RuledAt;
use super::leaves::is_active;
use super::library::{Known, known_results};
use super::{Evaluator, Hint};
use crate::merge::Place;
use crate::messages;
use crate::sketch::{Sketch, Slots};
use crate::val::{Closure, Code, CodeKind, Val};
use crate::{Eval, ill_typed};

/// Which rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Jvp,
    Vjp,
}

/// A function with rules that is being written for some sketches.
struct Subject<'a> {
    at: &'a RuledAt,
    code: &'a Rc<Code>,
    /// Of what is captured, and of the parameters.
    sketches: &'a [Sketch],
    hints: &'a [Rc<str>],
    params: &'a [CoreTy],
    result: &'a CoreTy,
    /// What is known of the results of the function, when it is written.
    known: Vec<Option<Known>>,
}

/// The parameters of a rule, and the values that they stand for.
struct Head {
    params: Vec<Param>,
    /// What is captured, and the parameters of the function.
    vals: Vec<Val>,
    /// Of the function.
    value: Val,
    /// The tangents of the parameters, or the cotangent of the result.
    inputs: Vec<Val>,
    /// The types of what the rule gives.
    results: Vec<anf::Ty>,
}

impl Evaluator<'_> {
    /// Does a derivative follow, as far as is known? A function of the library may be called where
    /// one does.
    pub(super) fn may_be_differentiated(&self) -> bool {
        self.derivatives_around > 0 || self.library.is_open()
    }

    /// A function with rules.
    pub(super) fn function_with_rules(&mut self, term: &Term) -> Eval<Val> {
        self.codes.mark_rules(term, None);
        let TermKind::Lam(var, body) = term.without_rules().kind() else {
            return Err(ill_typed());
        };
        self.lambda(var, body)
    }

    /// A function with rules applied to all its arguments.
    pub(super) fn invoke_ruled(
        &mut self,
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
            sketches.push(self.sketch(val, &var.ty, &mut path)?);
        }
        let dynamic = |s: &Sketch| matches!(s, Sketch::Node(CoreTy::Fun(..)));
        if sketches[at.captured..].iter().any(dynamic) {
            return Err(Box::new(messages::dynamic_parameter(&at.ruled.name, at.span)));
        }
        let filled = self.filled(&sketches, &vals)?;
        let key = (closure.code.number, Vec::new(), sketches);
        let function = match self.library.copy(&key) {
            Some(function) => function,
            None => {
                let id = self.reserve()?;
                self.library.add_copy(key.clone(), id);
                let hints: Vec<Rc<str>> = vars.iter().map(|x| x.hint.clone()).collect();
                let params: Vec<CoreTy> =
                    vars[at.captured..].iter().map(|x| x.ty.clone()).collect();
                let (code, sketches) = (&closure.code, &key.2);
                let (hints, params) = (&hints, &params);
                let known = Vec::new();
                let subject = Subject { at, code, sketches, hints, params, result: ty, known };
                self.write_ruled(id, subject)?;
                id
            }
        };
        self.named(hint, |this| this.call_function(function, filled, ty))
    }

    /// Writes the function, and its rules. While these are written, it has no derivative.
    fn write_ruled(&mut self, id: FnId, mut subject: Subject) -> Eval<()> {
        let Subject { at, code, sketches, hints, result, .. } = subject;
        let name = at.ruled.name.clone();
        let env = at.free.len();
        self.library.begin(id, &name);
        self.function(id, &name, sketches, hints, result, &mut |this, mut vals| {
            let xs = vals.split_off(env);
            this.inlined_with_rules(at, &Closure { code: code.clone(), env: vals }, xs, None)
        })?;
        let mut captured = Slots::default();
        sketches[..at.captured].iter().for_each(|s| self.slots(s, anf::NAMELESS, &mut captured));
        let captured = captured.values.len();
        let jvp = self.reserved(at.ruled.jvp.as_ref())?;
        let vjp = self.reserved(at.ruled.vjp.as_ref())?;
        if let Some(function) = &mut self.emit.library.functions[id.0 as usize] {
            function.rules = Some(anf::Rules { captured, jvp, vjp, span: at.span });
            subject.known = known_results(function);
        }
        for (mode, core, rule) in [(Mode::Jvp, &at.ruled.jvp, jvp), (Mode::Vjp, &at.ruled.vjp, vjp)]
        {
            if let (Some(core), Some(rule)) = (core, rule) {
                self.write_rule(rule.function, &subject, mode, core)?;
            }
        }
        self.library.end();
        Ok(())
    }

    fn reserved(&mut self, rule: Option<&Rule>) -> Eval<Option<anf::Rule>> {
        let Some(rule) = rule else { return Ok(None) };
        Ok(Some(anf::Rule { function: self.reserve()?, span: rule.span }))
    }

    fn write_rule(&mut self, id: FnId, subject: &Subject, mode: Mode, rule: &Rule) -> Eval<()> {
        let outside = self.leave_function();
        let head = self.rule_head(subject, mode)?;
        let mut sums = Vec::new();
        if rule.adds {
            let params = subject.params.iter().zip(&head.vals[subject.at.captured..]);
            for (_, f) in params.filter(|(ty, _)| matches!(ty, CoreTy::Fun(..))) {
                sums.push(self.open_sum(&subject.at.ruled.name, rule.span, f)?);
            }
        }
        let value = self.apply_rule(subject, rule, &head, &sums)?;
        let atoms = match mode {
            Mode::Jvp => {
                let says = "the tangent has another constructor than the value";
                self.along(&head.value, &value, rule.span, says)?
            }
            Mode::Vjp => self.cotangents(subject, rule, &head, &value, sums)?,
        };
        let results = atoms.into_iter().zip(head.results).collect();
        let suffix = match mode {
            Mode::Jvp => "jvp",
            Mode::Vjp => "vjp",
        };
        let name = format!("{}_{suffix}", subject.at.ruled.name);
        let function = self.enter_function(outside, |emit| {
            emit.library_function((id, name), head.params, Vec::new(), results)
        });
        self.emit.library.functions[id.0 as usize] = Some(function);
        Ok(())
    }

    fn rule_head(&mut self, subject: &Subject, mode: Mode) -> Eval<Head> {
        let (sketches, captured) = (subject.sketches, subject.at.captured);
        let mut slots = Slots::default();
        for (sketch, hint) in sketches[..captured].iter().zip(subject.hints) {
            self.slots(sketch, hint, &mut slots);
        }
        let first = slots.values.len();
        for (sketch, hint) in sketches[captured..].iter().zip(&subject.hints[captured..]) {
            self.slots(sketch, hint, &mut slots);
        }
        let count = slots.values.len();
        let result = self.canonical(subject.result);
        self.slots(&result, &subject.at.ruled.name, &mut slots);
        let mut atoms: Vec<Atom> = Vec::new();
        let known = |k: usize, atoms: &[Atom]| {
            Some(subject.known.get(k.checked_sub(count)?).copied().flatten()?.among(atoms))
        };
        let mut params = self.variables(&slots.values, &mut atoms, &known);
        let (given, asked, suffix) = match mode {
            Mode::Jvp => (first..count, count..slots.values.len(), "tan"),
            Mode::Vjp => (count..slots.values.len(), first..count, "ct"),
        };
        let mut tangents = Vec::new();
        for slot in &slots.values[given.clone()] {
            tangents.push(if is_active(slot.elem) {
                let ty = Slots::ty(slot, &atoms);
                let var = self.emit.fresh(format!("{}_{suffix}", slot.name), ty.clone());
                params.push(Param { var, ty });
                var.into()
            } else {
                atoms[given.start + tangents.len()]
            });
        }
        let asked = slots.values[asked].iter().filter(|slot| is_active(slot.elem));
        let results = asked.map(|slot| Slots::ty(slot, &atoms)).collect();
        let linear = match mode {
            Mode::Jvp => &sketches[captured..],
            Mode::Vjp => std::slice::from_ref(&result),
        };
        let inputs = self.instances(linear, tangents)?;
        // Other numbers are zero.
        let is_kept = |place: &Place| place.is_tag || is_active(place.elem);
        let inputs = inputs.iter().map(|val| self.without_numbers(val, &is_kept));
        let inputs = inputs.collect::<Eval<Vec<Val>>>()?;
        let vals = self.instances(sketches, atoms[..count].to_vec())?;
        let mut value = self.instances(std::slice::from_ref(&result), atoms[count..].to_vec())?;
        Ok(Head { params, vals, value: value.remove(0), inputs, results })
    }

    /// What a rule gives.
    fn apply_rule(
        &mut self,
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
                true => self.function_tangent(&subject.params[k], rule.span, &params[k], input),
                false => input.clone(),
            });
        }
        let types = subject.params.iter().filter_map(|ty| {
            let CoreTy::Fun(_, to) = ty else { return None };
            Some(to)
        });
        xs.extend(sums.iter().zip(types).map(|(sum, to)| self.adder(sum, to, rule.span)));
        self.scoped(|this| {
            this.bind_siblings(siblings, env)?;
            subject.at.free.iter().zip(env).for_each(|(x, value)| this.bind(x, value.clone()));
            let Val::Fun(fun) = this.eval(&rule.function, None)? else { return Err(ill_typed()) };
            let closure = fun.known().ok_or_else(ill_typed)?;
            this.inlined(closure, xs, None)
        })
    }

    /// The cotangents of the slots of the parameters, from what a rule gives.
    fn cotangents(
        &mut self,
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
                    Some(sum) => self.close_sum(sum)?,
                    None => self.formal_sum(name, span, param, part, to)?,
                });
            } else {
                let says = "the cotangent has another constructor than the parameter";
                atoms.extend(self.along(param, part, rule.span, says)?);
            }
        }
        Ok(atoms)
    }
}
