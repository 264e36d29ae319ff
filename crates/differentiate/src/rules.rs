//! Calls of functions whose author gives the derivative.
//!
//! ```text
//!   D→              y… = f (x…)        ẏ… = jvp (x…, y…, ẋ…)
//!   forward sweep   y… = f (x…)
//!   D←              x̄… += vjp (x…, y…, ȳ…)
//!   reach           ẏ… = D→jvp (x…, y…, 0…; ẋ…)       the rule on marks; in such a rule ẏ = Σ ẋ…
//! ```
//!
//! The function itself is called as before, so the next derivative finds its rules again; the rule
//! is written out, and is derived as all code. A mode that has no rule of its own takes the
//! transpose of the other one ([`crate::transpose`]). Rules take and give values of the types of
//! the program: tangents and shadows of handles cross over ([`crate::crossing`]).
//!
//! * Assumes: functions with rules take no accumulators, and their values have no cells.
//! * Keeps: a captured variable that is active is a problem of the program.

use std::collections::HashSet;

use lambada_anf::{
    Atom, Block, Builder, Exp, FnId, Function, Op, Param, Renaming, Rules, Stm, Ty, differentiable,
    written_out,
};
use lambada_prim::Prim;

use crate::cotangents::Cotangents;
use crate::crossing::{cross, gathered, harvest, marked, seed, zeroed};
use crate::derived::{Context, Crossing, Mode};
use crate::flow::is_zero;
use crate::known::Handles;
use crate::messages;
use crate::tangents::Tangents;

/// What a rule takes and gives besides the parameters and results of the function: by position,
/// with the types at the call.
struct Call {
    /// The parameters that have a tangent and a cotangent.
    inputs: Vec<(usize, Ty)>,
    /// The results that have.
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
}

impl Context {
    /// The rules of a function, if it has some.
    pub(crate) fn rules(&self, id: FnId) -> Option<Rules> {
        self.library.function(id)?.rules.clone()
    }

    /// Keeps the first problem.
    pub(crate) fn refuse(&mut self, problem: lambada_source::Problem) {
        self.problem.get_or_insert_with(|| Box::new(problem));
    }

    /// No captured variable may be active.
    fn refuse_captured(&mut self, id: FnId, rules: &Rules, is_active: &dyn Fn(usize) -> bool) {
        if let Some(k) = (0..rules.captured).find(|k| is_active(*k)) {
            let f = self.primal(id);
            let problem = messages::captured(f, rules, f.params[k].var);
            self.refuse(problem);
        }
    }
}

/// The code of a rule with arguments, or a call of it while it is being made: of these types are
/// its results.
fn placed(
    cx: &Context,
    b: &mut Builder,
    rule: FnId,
    args: Vec<Atom>,
    types: &[(usize, Ty)],
) -> Vec<Atom> {
    if let Some(function) = cx.library.function(rule) {
        let code = written_out(function, b.names, &args, &[]);
        b.stms.extend(code.stms);
        return code.results;
    }
    let bind =
        |(_, ty): &(usize, Ty)| Param { var: b.names.fresh(lambada_anf::NAMELESS), ty: ty.clone() };
    let binds: Vec<Param> = types.iter().map(bind).collect();
    let results = binds.iter().map(|p| p.var.into()).collect();
    let call = Op::Call { function: rule, args, accumulators: Vec::new() };
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
        let mut all = call.values;
        for (k, ty) in &call.inputs {
            all.push(self.tangent_as_value(args[*k], ty));
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
        let results = placed(self.cx, &mut self.b, rule, all, &call.outputs);
        for ((k, ty), tangent) in call.outputs.iter().zip(results) {
            self.set_from_value(&stm.binds[*k], ty, tangent);
        }
    }

    /// Each real of the results is reached from each real of the arguments.
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

    /// Sets a tangent, and says its type.
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

    /// A function with rules is no way for shadows: what it gives gets new ones.
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
        let (mut cotangents, mut any) = (Vec::new(), false);
        for (k, ty) in &call.outputs {
            let given = self.cotangent_as_value(&stm.binds[*k], ty);
            any |= given.is_some();
            cotangents.push(given);
        }
        if !any || !call.inputs.iter().any(|(k, _)| activity.active(args[*k])) {
            return;
        }
        let mut all = call.values;
        for ((k, ty), given) in call.outputs.iter().zip(cotangents) {
            let value = stm.binds[*k].var.into();
            all.push(match given {
                Some(given) => given,
                None => self.cx.zero_of(&mut self.b, ty, value),
            });
        }
        let rule = match (&rules.vjp, &rules.jvp) {
            (Some(rule), _) => Some(rule.function),
            (None, Some(rule)) => Some(self.cx.transposed(id, rule, "jvp")),
            (None, None) => None,
        };
        let Some(rule) = rule else { return };
        let before = self.b.stms.len();
        let results = placed(self.cx, &mut self.b, rule, all, &call.inputs);
        for ((k, ty), cotangent) in call.inputs.iter().zip(results) {
            // A zero that is written in the rule says that nothing comes from here.
            if !is_zero(&self.b.stms[before..], cotangent) {
                self.add_value(args[*k], ty, cotangent);
            }
        }
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
    /// The functions that a block calls and whose derivatives are rules.
    pub(crate) fn ruled(&self, block: &Block) -> HashSet<FnId> {
        let mut ruled = HashSet::new();
        for stm in &block.stms {
            if let Exp::Op(Op::Call { function, .. }) = &stm.exp
                && self.rules(*function).is_some()
            {
                ruled.insert(*function);
            }
            ruled.extend(stm.exp.blocks().into_iter().flat_map(|inner| self.ruled(inner)));
        }
        ruled
    }

    /// For each parameter that a rule is linear in, the one that has the value that belongs to it.
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

    /// For the parameters that a rule is linear in: zeros of the values that belong to them.
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

    /// A value whose derivative is zero, for a tangent or a cotangent of the value `of`.
    pub(crate) fn zero_of(&mut self, b: &mut Builder, ty: &Ty, of: Atom) -> Atom {
        if ty.elem.node().is_none() {
            return b.zero(ty);
        }
        zeroed(self, b, ty, of)
    }
}
