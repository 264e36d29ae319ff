//! Calls of functions whose author gives the derivative.
//!
//! ```text
//!   D→              y… = f (x…)        ẏ… = jvp (x…, y…, ẋ…)
//!   forward sweep   y… = f (x…)
//!   D←              x̄… += vjp (x…, y…, ȳ…)
//!   reach           ẏ… = D→jvp (x…, y…, 0…; ẋ…)       the rule on marks; in such a rule ẏ = Σ ẋ…
//! ```
//!
//! The call itself stays, so that the next derivative finds the rules of the function; the code of
//! the rule is inlined, and derived like all code. A mode without a rule takes the transpose of the
//! other mode's rule ([`crate::transpose`]). Rules take and return values of the types of the
//! program: tangents and shadows of handles are converted ([`crate::crossing`]).
//!
//! * Assumes: functions with rules take no accumulators, and their values have no cells.
//! * Keeps: an active captured variable is reported as a problem of the program.

use std::collections::HashSet;

use lambada_anf::{
    Atom, Block, Builder, Derivative, FnId, Function, Nest, Op, Param, Renaming, Rules, Stm, Ty,
    Var, differentiable, written_out,
};
use lambada_prim::Prim;

use crate::absence::{NOWHERE, Presence};
use crate::absent;
use crate::cotangents::Cotangents;
use crate::crossing::{cross, gathered, harvest, marked, seed, zeroed};
use crate::derived::{Context, Crossing, Mode};
use crate::flow::is_zero;
use crate::known::Handles;
use crate::messages;
use crate::partial;
use crate::tangents::Tangents;

/// The interface of a rule besides the parameters and results of the function: by position, with
/// the types at the call.
struct Call {
    /// The parameters that have a tangent and a cotangent.
    inputs: Vec<(usize, Ty)>,
    /// The results that have a tangent and a cotangent.
    outputs: Vec<(usize, Ty)>,
    /// The arguments and the results.
    values: Vec<Atom>,
}

impl Call {
    fn of(f: &Function, rules: &Rules, args: &[Atom], binds: &[Param]) -> Call {
        let mut sizes = Renaming::new();
        f.params.iter().zip(args).for_each(|(p, arg)| sizes.insert(p.var, *arg));
        let at_call = |k: usize, ty: &Ty| differentiable(ty).then(|| (k, sizes.ty(ty)));
        let own = f.params.iter().enumerate().skip(rules.captured);
        let given = binds.iter().enumerate().map(|(k, p)| (k, p.ty.clone()));
        let values = args.iter().copied().chain(binds.iter().map(|p| p.var.into()));
        Call {
            inputs: own.filter_map(|(k, p)| at_call(k, &p.ty)).collect(),
            outputs: given.filter(|(_, ty)| differentiable(ty)).collect(),
            values: values.collect(),
        }
    }

    /// Whether all that has a tangent is real.
    fn is_data(&self) -> bool {
        self.inputs.iter().chain(&self.outputs).all(|(_, ty)| ty.elem.node().is_none())
    }
}

impl Context {
    /// The rules of a function, if any.
    pub(crate) fn rules(&self, id: FnId) -> Option<Rules> {
        self.library.function(id)?.rules.clone()
    }

    /// Records a problem, if it is the first.
    pub(crate) fn refuse(&mut self, problem: lambada_source::Problem) {
        self.problem.get_or_insert_with(|| Box::new(problem));
    }

    /// Reports an active captured variable.
    fn refuse_captured(&mut self, id: FnId, rules: &Rules, is_active: &dyn Fn(usize) -> bool) {
        if let Some(k) = (0..rules.captured).find(|k| is_active(*k)) {
            let f = self.primal(id);
            let problem = messages::captured(f, rules, f.params[k].var);
            self.refuse(problem);
        }
    }
}

/// Maximal number of tangents whose presence a rule tests: few, because each doubles its code.
const BRANCHES: usize = 2;

/// An argument of a rule besides the arguments and results of its function.
#[derive(Clone, Copy)]
enum RuleArg {
    /// A tangent or a cotangent.
    Value(Atom),
    /// A conditional tangent; if absent, the zero of its type.
    When { tangent: Atom, when: Atom, zero: Atom },
    /// A cotangent of zero, because the result is not used.
    Zero(Atom),
    /// Absent: the zero of its type.
    Nothing(Atom),
}

/// A rule at a call of its function.
struct RuleCall<'a> {
    rule: FnId,
    /// The rule with marks, if some parts that it gives may be absent and that matters.
    marked: Option<FnId>,
    /// The arguments and results of the function.
    values: &'a [Atom],
    /// Positions and types of the rule's results.
    types: &'a [(usize, Ty)],
}

/// A tangent or cotangent that a rule returns, with its presence unless it is always present.
type RuleResult = (Atom, Option<Presence>);

/// The inlined code of a rule, or a call of it while it is being made or if people know it by name.
/// `None` for absent results.
fn rule_code(
    cx: &Context,
    b: &mut Builder,
    RuleCall { rule, marked, values, types }: &RuleCall,
    given: &[(RuleArg, Ty)],
) -> Vec<Option<RuleResult>> {
    let (mut absent, mut zeros, mut args) = (Vec::new(), Vec::new(), values.to_vec());
    for (given, _) in given {
        args.push(match given {
            RuleArg::Value(x) | RuleArg::Zero(x) | RuleArg::When { tangent: x, .. } => *x,
            RuleArg::Nothing(Atom::Var(zero)) => {
                zeros.push(*zero);
                (*zero).into()
            }
            RuleArg::Nothing(Atom::Lit(_)) => {
                absent.push(b.names.fresh(lambada_anf::NAMELESS));
                absent[absent.len() - 1].into()
            }
        });
    }
    if marked.is_some() {
        for (given, ty) in given {
            let there = matches!(given, RuleArg::Value(_) | RuleArg::When { .. });
            args.push(partial::mark(b, ty, there));
        }
    }
    let written = cx.library.function(marked.unwrap_or(*rule)).filter(|f| f.known.is_none());
    if let Some(function) = written {
        let code = written_out(function, b.names, &args, &[]);
        let (code, nothing) = match absent.is_empty() && zeros.is_empty() {
            true => (code, HashSet::new()),
            false => absent::without(code, (&absent, &zeros)),
        };
        b.stms.extend(code.stms);
        let (values, marks) = code.results.split_at(types.len());
        let mut results = Vec::new();
        for (k, value) in values.iter().enumerate() {
            let there = marks.get(k).and_then(|m| partial::presence(b, &types[k].1, *value, *m));
            results.push((!nothing.contains(&k)).then_some((*value, there)));
        }
        return results;
    }
    let known = cx.library.function(*rule).and_then(|f| f.known.as_ref());
    let named = known.and_then(|known| match known.derivative? {
        Derivative::Jvp => Some((values.len() - types.len(), "tan")),
        Derivative::Vjp => Some((0, "ct")),
    });
    let mut zeros = Renaming::new();
    absent.iter().for_each(|x| zeros.insert(*x, Atom::real(0.0)));
    args.iter_mut().for_each(|x| *x = zeros.atom(*x));
    let bind = |(k, ty): &(usize, Ty)| {
        let hint = named.and_then(|(first, suffix)| {
            let value = values.get(first + k)?.as_var()?;
            Some(format!("{}_{suffix}", b.names.hint(value)))
        });
        let var = b.names.fresh(hint.unwrap_or_else(|| lambada_anf::NAMELESS.into()));
        Param { var, ty: ty.clone() }
    };
    let binds: Vec<Param> = types.iter().map(bind).collect();
    let results = binds.iter().map(|p| Some((p.var.into(), None))).collect();
    let call = Op::Call { function: *rule, args, accumulators: Vec::new() };
    b.stms.push(Stm::new(binds, call));
    results
}

impl Tangents<'_> {
    /// `ẏ… = jvp (x…, y…, ẋ…)`
    pub(crate) fn push_by_rule(&mut self, stm: &Stm, id: FnId, rules: &Rules, args: &[Atom]) {
        self.b.stms.push(stm.clone());
        let active: Vec<bool> = args.iter().map(|arg| self.get(*arg).is_some()).collect();
        self.cx.refuse_captured(id, rules, &|k| active[k]);
        let call = Call::of(self.cx.primal(id), rules, args, &stm.binds);
        if !call.inputs.iter().any(|(k, _)| active[*k]) {
            return;
        }
        if self.cx.in_rule {
            return self.mark_all(stm, args, &call);
        }
        let mut branches = match call.outputs.iter().any(|(_, ty)| ty.elem.node().is_some()) {
            true => 0,
            false => BRANCHES,
        };
        let mut given = Vec::new();
        for (k, ty) in &call.inputs {
            given.push(match self.given_to_rule(args[*k], ty) {
                RuleArg::When { tangent, .. } if branches == 0 => RuleArg::Value(tangent),
                one => one,
            });
            branches -= usize::from(matches!(given.last(), Some(RuleArg::When { .. })));
        }
        let rule = match (&rules.jvp, &rules.vjp) {
            (Some(rule), _) => Some(rule.function),
            (None, Some(rule)) => Some(self.cx.transposed(id, rule, "vjp")),
            (None, None) => None,
        };
        let Some(mut rule) = rule else { return };
        if self.cx.reach {
            rule = self.cx.on_marks(id, rules, rule);
        }
        let asked = |(k, _): &(usize, Ty)| self.absence.asks(stm.binds[*k].var);
        let marked = call.is_data() && !self.cx.reach && call.outputs.iter().any(asked);
        let marked = marked && self.cx.primal(id).known.is_none();
        let marked = marked.then(|| self.cx.marked_if_partial(rule, call.values.len())).flatten();
        let placed = RuleCall { rule, marked, values: &call.values, types: &call.outputs };
        let types = call.inputs.iter().map(|(_, ty)| ty.clone());
        let given: Vec<(RuleArg, Ty)> = given.into_iter().zip(types).collect();
        let outs: Vec<Var> = call.outputs.iter().map(|(k, _)| stm.binds[*k].var).collect();
        let results = self.placed_when(&placed, &outs, &given);
        for ((k, ty), result) in call.outputs.iter().zip(results) {
            let Some((tangent, there)) = result else { continue };
            let p = &stm.binds[*k];
            self.set_from_value(p, ty, tangent);
            self.is_there(p.var, there);
        }
    }

    fn given_to_rule(&mut self, x: Atom, ty: &Ty) -> RuleArg {
        match (self.get(x), self.presence(x)) {
            _ if ty.elem.node().is_some() || self.cx.reach => {
                RuleArg::Value(self.tangent_as_value(x, ty))
            }
            (None, _) => RuleArg::Nothing(self.b.zero(ty)),
            (Some(tangent), Some(when)) => RuleArg::When { tangent, when, zero: self.b.zero(ty) },
            (Some(tangent), None) => RuleArg::Value(tangent),
        }
    }

    /// The tangents that a rule returns, each with its presence. For an argument that may be
    /// absent, a branch has the code for each case.
    fn placed_when(
        &mut self,
        rule: &RuleCall,
        outs: &[Var],
        given: &[(RuleArg, Ty)],
    ) -> Vec<Option<RuleResult>> {
        let dynamic = given.iter().enumerate().find_map(|(k, (given, _))| {
            let RuleArg::When { tangent, when, zero } = given else { return None };
            Some((k, *tangent, *when, *zero))
        });
        let Some((k, tangent, when, zero)) = dynamic else {
            return rule_code(self.cx, &mut self.b, rule, given);
        };
        let mut case = |given_k: RuleArg| {
            let mut given = given.to_vec();
            given[k].0 = given_k;
            let outer = std::mem::take(&mut self.b.stms);
            let results = self.placed_when(rule, outs, &given);
            (std::mem::replace(&mut self.b.stms, outer), results)
        };
        let then = case(RuleArg::Value(tangent));
        let otherwise = case(RuleArg::Nothing(zero));
        self.either(rule, outs, when, [then, otherwise])
    }

    /// Joins the results of the two cases of a rule.
    fn either(
        &mut self,
        rule: &RuleCall,
        outs: &[Var],
        when: Atom,
        cases: [(Vec<Stm>, Vec<Option<RuleResult>>); 2],
    ) -> Vec<Option<RuleResult>> {
        let [(then, then_parts), (otherwise, other_parts)] = cases;
        let [mut then, mut otherwise] =
            [then, otherwise].map(|stms| Block { stms, results: Vec::new() });
        let (mut binds, mut parts) = (Vec::new(), Vec::new());
        for (k, cases) in then_parts.into_iter().zip(other_parts).enumerate() {
            let cases = [cases.0, cases.1];
            if cases.iter().all(Option::is_none) {
                parts.push(None);
                continue;
            }
            let (ty, out) = (&rule.types[k].1, outs[k]);
            for (block, part) in [&mut then, &mut otherwise].into_iter().zip(&cases) {
                let outer = std::mem::replace(&mut self.b.stms, std::mem::take(&mut block.stms));
                let zero = part.is_none().then(|| self.b.zero(ty));
                block.results.extend(part.as_ref().map(|(x, _)| *x).or(zero));
                block.stms = std::mem::replace(&mut self.b.stms, outer);
            }
            let bind = Param { var: self.b.names.fresh(lambada_anf::NAMELESS), ty: ty.clone() };
            parts.push(Some((bind.var.into(), None)));
            binds.push(bind);
            self.present.remove(&out);
            if self.absence.matters(out) {
                let there = cases.map(|part| part.map_or(Some(NOWHERE), |(_, there)| there));
                let blocks = [(&mut then, ty.clone()), (&mut otherwise, ty.clone())];
                let p = Param { var: out, ty: ty.clone() };
                binds.extend(self.branches_are_there(when, &p, there, blocks));
                if let Some(Some((_, there))) = parts.last_mut() {
                    *there = self.present.get(&out).cloned();
                }
            }
        }
        self.b.stms.push(Stm::new(binds, Nest::If { cond: when, then, otherwise }));
        parts
    }

    /// Marks each real of the results with each real of the arguments.
    fn mark_all(&mut self, stm: &Stm, args: &[Atom], call: &Call) {
        let mut sum: Option<Atom> = None;
        for (k, ty) in &call.inputs {
            let Some(marks) = self.get(args[*k]) else { continue };
            let part = gathered(self.cx, &mut self.b, ty, (args[*k], marks));
            sum = Some(sum.map_or(part, |sum| self.b.prim(Prim::Add, [sum, part])));
        }
        let Some(sum) = sum else { return };
        for (k, ty) in &call.outputs {
            let p = &stm.binds[*k];
            if self.activity.active(p.var) {
                let marks = marked(self.cx, &mut self.b, ty, (p.var.into(), sum));
                self.set_typed(p, marks);
            }
        }
    }

    /// Sets a tangent and records its type.
    fn set_typed(&mut self, p: &Param, tangent: Atom) {
        self.set(p.var, tangent);
        if let Atom::Var(var) = tangent {
            let ty = self.cx.ty(Mode::Tangent, &p.ty);
            self.types.insert(var, ty);
        }
    }

    fn tangent_as_value(&mut self, x: Atom, ty: &Ty) -> Atom {
        if ty.elem.node().is_none() {
            return self.or_zero(x, ty);
        }
        if !self.cx.known.carries(ty.elem) {
            return zeroed(self.cx, &mut self.b, ty, x);
        }
        let tangent = self.or_zero(x, ty);
        cross(self.cx, &mut self.b, Crossing::Untangent, ty, &[x, tangent]).expect("a value")
    }

    fn set_from_value(&mut self, p: &Param, ty: &Ty, value: Atom) {
        if !self.activity.active(p.var) {
            return;
        }
        let mut tangent = value;
        if ty.elem.node().is_some() {
            let crossed =
                cross(self.cx, &mut self.b, Crossing::Tangent, ty, &[p.var.into(), value]);
            tangent = crossed.expect("a tangent");
        }
        self.set_typed(p, tangent);
    }

    /// The results of a function with rules get new shadows, because its rules propagate none.
    pub(crate) fn shadows_of_results(&mut self, stm: &Stm) {
        self.b.stms.push(stm.clone());
        for p in stm.binds.iter().filter(|p| self.activity.handle(p.var)) {
            let x = [p.var.into()];
            let shadow = cross(self.cx, &mut self.b, Crossing::Shadow, &p.ty, &x);
            self.set(p.var, shadow.expect("a shadow"));
        }
    }
}

impl Cotangents<'_> {
    /// `x̄… += vjp (x…, y…, ȳ…)`
    pub(crate) fn pull_by_rule(&mut self, stm: &Stm, id: FnId, rules: &Rules, args: &[Atom]) {
        let activity = self.facts.activity.clone();
        self.cx.refuse_captured(id, rules, &|k| activity.active(args[k]));
        let call = Call::of(self.cx.primal(id), rules, args, &stm.binds);
        let mut cotangents = Vec::new();
        for (k, ty) in &call.outputs {
            cotangents.push(self.cotangent_as_value(&stm.binds[*k], ty));
        }
        let any = cotangents.iter().any(Option::is_some);
        if !any || !call.inputs.iter().any(|(k, _)| activity.active(args[*k])) {
            return;
        }
        let mut given = Vec::new();
        for ((k, ty), cotangent) in call.outputs.iter().zip(cotangents) {
            let one = match cotangent {
                Some(cotangent) => RuleArg::Value(cotangent),
                None => RuleArg::Zero(self.cx.zero_of(&mut self.b, ty, stm.binds[*k].var.into())),
            };
            given.push((one, ty.clone()));
        }
        let rule = match (&rules.vjp, &rules.jvp) {
            (Some(rule), _) => Some(rule.function),
            (None, Some(rule)) => Some(self.cx.transposed(id, rule, "jvp")),
            (None, None) => None,
        };
        let Some(rule) = rule else { return };
        let before = self.b.stms.len();
        let marked = call.is_data() && call.inputs.iter().any(|(k, _)| self.asks(args[*k]));
        let marked = marked && self.cx.primal(id).known.is_none();
        let marked = marked.then(|| self.cx.marked_if_partial(rule, call.values.len())).flatten();
        let placed = RuleCall { rule, marked, values: &call.values, types: &call.inputs };
        let results = rule_code(self.cx, &mut self.b, &placed, &given);
        for ((k, ty), part) in call.inputs.iter().zip(results) {
            let Some((cotangent, there)) = part else { continue };
            // A literal zero in the rule means that nothing is contributed.
            if is_zero(&self.b.stms[before..], cotangent) {
                continue;
            }
            match there {
                Some(Presence::Whole(when)) => {
                    self.add_when(args[*k], cotangent, ty, Some(when));
                }
                Some(Presence::Each(flags, _)) => {
                    let counts = partial::counts(&mut self.b, flags, ty);
                    self.counts.extend(cotangent.as_var().zip(counts.as_var()));
                    self.add_value(args[*k], ty, cotangent);
                }
                None => self.add_value(args[*k], ty, cotangent),
            }
        }
    }

    /// Whether it matters which reals of a cotangent are there.
    fn asks(&self, x: Atom) -> bool {
        let unbounded = &self.facts.unbounded;
        let matters = |x| match self.ty(x).dims[..] {
            [] => unbounded.matters(x),
            _ => unbounded.in_part(x),
        };
        self.cx.handles == Handles::Shadows && self.wants(x).is_some_and(matters)
    }

    /// The cotangent of a result, unless it is zero.
    fn cotangent_as_value(&mut self, p: &Param, ty: &Ty) -> Option<Atom> {
        if ty.elem.node().is_none() {
            return self.take(p.var);
        }
        if !self.cx.known.carries(ty.elem) {
            return None;
        }
        if self.cx.handles == Handles::Values {
            let args = [p.var.into(), self.take(p.var)?];
            return cross(self.cx, &mut self.b, Crossing::Untangent, ty, &args);
        }
        let value = Param { var: p.var, ty: ty.clone() };
        Some(harvest(self.cx, &mut self.b, &value, self.shadows.get(p.var)))
    }

    fn add_value(&mut self, x: Atom, ty: &Ty, cotangent: Atom) {
        if ty.elem.node().is_none() {
            return self.add(x, cotangent, ty);
        }
        if self.cx.handles == Handles::Values && self.wants(x).is_some() {
            let crossed = cross(self.cx, &mut self.b, Crossing::Tangent, ty, &[x, cotangent]);
            return self.add(x, crossed.expect("a cotangent"), ty);
        }
        if let Some(shadow) = self.shadows.get(x) {
            seed(self.cx, &mut self.b, ty, (shadow, cotangent));
        }
    }
}

impl Context {
    /// For each parameter that a rule is linear in, the parameter with the corresponding value.
    pub(crate) fn points(&self, id: FnId, rules: &Rules, rule: &'static str) -> Vec<usize> {
        let f = self.primal(id);
        let inputs = f.params.iter().map(|p| &p.ty).enumerate().skip(rules.captured);
        let outputs = f.results.iter().zip(f.params.len()..).map(|(ty, k)| (k, ty));
        let linear: Vec<(usize, &Ty)> = match rule {
            "jvp" => inputs.collect(),
            _ => outputs.collect(),
        };
        linear.into_iter().filter(|(_, ty)| differentiable(ty)).map(|(k, _)| k).collect()
    }

    /// For the parameters that a rule is linear in: zeros of the corresponding values.
    pub(crate) fn zeros(
        &mut self,
        b: &mut Builder,
        (fixed, linear): (&[Param], &[Param]),
        points: &[usize],
    ) -> Renaming {
        let mut zeros = Renaming::new();
        for (p, point) in linear.iter().zip(points) {
            let zero = self.zero_of(b, &p.ty, fixed[*point].var.into());
            zeros.insert(p.var, zero);
        }
        zeros
    }

    /// A zero tangent or cotangent of the value `of`.
    pub(crate) fn zero_of(&mut self, b: &mut Builder, ty: &Ty, of: Atom) -> Atom {
        if ty.elem.node().is_none() {
            return b.zero(ty);
        }
        zeroed(self, b, ty, of)
    }
}
