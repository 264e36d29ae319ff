//! `y… = f (x…)`: the derivative of a call calls derivatives of the function, which are made once for each set of active parameters.
//!
//! ```text
//!   D→              y…, ẏ… = f→ (x…, ẋ…)
//!   forward sweep   y…, ȳ…, tape = f⇒ (x…, x̄…)              shadows x̄, ȳ of handles
//!   D←              x̄… += f⇐ (x…, x̄…, ȳ…, tape; x̄s)         cotangents ȳ, x̄ of reals; accumulators x̄s of arrays
//! ```
//!
//! The two halves of a function are the two sweeps of its body. What the reverse sweep needs of the forward sweep is its tape, one node; what
//! that is, [`crate::residuals`] decides; parameters are passed again. The cotangent of an array that is passed is added to where the caller
//! has it: a call that reads one element costs O(1).
//!
//! * Assumes: functions that are called are complete, and have no free variables.
//! * Gives: functions of the library.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{
    Atom, Block, Builder, FnId, Function, Lambda, Names, NodeId, Op, Param, Renaming, Stm, Ty, Var,
};

use crate::activity::{Activity, Scope};
use crate::cotangents::{Cotangents, planned};
use crate::derived::{Context, Mode, is_int};
use crate::residuals::{Body, Place, resolve};
use crate::shadows::shadowed;
use crate::tangents::Tangents;
use crate::tape::Layout;
use crate::trim::trim_first;
use crate::{extrema, rewritten};

/// What a function is differentiated by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) function: FnId,
    /// Which parameters are active.
    pub(crate) params: Vec<bool>,
    /// Which accumulators of the caller are active.
    pub(crate) accumulators: Vec<bool>,
}

impl Key {
    fn is_active(&self) -> bool {
        self.params.iter().chain(&self.accumulators).any(|active| *active)
    }
}

/// `f→`
#[derive(Debug)]
pub(crate) struct Pushforward {
    pub(crate) key: Key,
    /// Which results have tangents.
    pub(crate) results: Vec<bool>,
    pub(crate) id: FnId,
}

/// `f⇒` and `f⇐`
#[derive(Debug)]
pub(crate) struct Pullback {
    pub(crate) key: Key,
    /// Which results are active.
    pub(crate) results: Vec<bool>,
    pub(crate) sweep: FnId,
    pub(crate) pull: FnId,
    pub(crate) tape: NodeId,
}

fn active<T: Clone>(all: &[T], active: &[bool]) -> Vec<T> {
    all.iter().zip(active).filter(|(_, active)| **active).map(|(x, _)| x.clone()).collect()
}

fn is_real(ty: &Ty) -> bool {
    ty.elem == lambada_anf::Elem::REAL
}

/// The cotangents that a pullback takes: those of real results, after such of their sizes as are results themselves.
struct Seeds {
    /// Which results are sizes, and which variables.
    sizes: Vec<(usize, Var)>,
    /// Which results have a cotangent.
    reals: Vec<usize>,
}

impl Seeds {
    fn of(f: &Function, results: &[bool]) -> Seeds {
        let reals = (0..results.len()).filter(|k| results[*k] && is_real(&f.results[*k]));
        let reals: Vec<usize> = reals.collect();
        let needed = |x: Var| reals.iter().any(|k| f.results[*k].dims.contains(&x.into()));
        let mut sizes: Vec<(usize, Var)> = Vec::new();
        for (k, (result, ty)) in f.body.results.iter().zip(&f.results).enumerate() {
            if let Some(x) = result.as_var().filter(|x| is_int(ty) && needed(*x)) {
                let known = f.params.iter().any(|p| p.var == x);
                if !known && sizes.iter().all(|(_, other)| *other != x) {
                    sizes.push((k, x));
                }
            }
        }
        Seeds { sizes, reals }
    }
}

impl Tangents<'_> {
    pub(crate) fn call(&mut self, stm: &Stm, function: FnId, args: &[Atom], accumulators: &[Var]) {
        match self.mode {
            Mode::Tangent => self.push(stm, function, args, accumulators),
            Mode::Shadow => self.sweep(stm, function, args, accumulators),
        }
    }

    fn push(&mut self, stm: &Stm, function: FnId, args: &[Atom], accumulators: &[Var]) {
        let params = args.iter().map(|arg| self.get(*arg).is_some()).collect();
        let added = accumulators.iter().map(|acc| self.get_var(*acc).is_some()).collect();
        let key = Key { function, params, accumulators: added };
        if !key.is_active() {
            return self.b.stms.push(stm.clone());
        }
        let derived = self.cx.pushforward(key);
        let mut args = args.to_vec();
        args.extend(args.clone().iter().filter_map(|arg| self.get(*arg)));
        let mut accumulators = accumulators.to_vec();
        accumulators.extend(accumulators.clone().iter().filter_map(|acc| self.get_var(*acc)));
        let mut binds = stm.binds.clone();
        binds.extend(active(&stm.binds, &derived.results).iter().map(|p| self.param(p)));
        let call = Op::Call { function: derived.id, args, accumulators };
        self.b.stms.push(Stm::new(binds, call));
    }

    /// The forward sweep of a call, with its tape.
    fn sweep(&mut self, stm: &Stm, function: FnId, args: &[Atom], accumulators: &[Var]) {
        let params = args.iter().map(|arg| self.activity.active(*arg)).collect();
        let added = accumulators.iter().map(|acc| self.activity.active(*acc)).collect();
        let key = Key { function, params, accumulators: added };
        if !key.is_active() {
            return self.b.stms.push(stm.clone());
        }
        let derived = self.cx.pullback(key);
        let types: Vec<Ty> = self.cx.primal(function).params.iter().map(|p| p.ty.clone()).collect();
        let formal: Vec<Var> = self.cx.primal(function).params.iter().map(|p| p.var).collect();
        let mut sizes = Renaming::new();
        formal.iter().zip(args).for_each(|(x, arg)| sizes.insert(*x, *arg));
        let mut all = args.to_vec();
        for ((arg, ty), active) in args.iter().zip(&types).zip(&derived.key.params) {
            if *active && !is_real(ty) {
                all.push(self.or_zero(*arg, &sizes.ty(ty)));
            }
        }
        let mut binds = stm.binds.clone();
        let results = active(&stm.binds, &derived.results);
        binds.extend(results.iter().filter(|p| !is_real(&p.ty)).map(|p| self.param(p)));
        let hint = format!("{}_tape", self.cx.primal(function).name);
        binds.push(Param { var: self.b.names.fresh(hint), ty: Ty::handle(derived.tape) });
        let accumulators = accumulators.to_vec();
        let call = Op::Call { function: derived.sweep, args: all, accumulators };
        self.b.stms.push(Stm::new(binds, call));
    }
}

impl Cotangents<'_> {
    /// The pullback of a call, of which the forward sweep is the given call.
    pub(crate) fn call(&mut self, stm: &Stm, sweep: FnId, args: &[Atom], accumulators: &[Var]) {
        let Some(derived) = self.cx.pullback_of(sweep) else { return };
        let f = self.cx.primal(derived.key.function);
        let (count, types) = (f.params.len(), f.params.iter().map(|p| p.ty.clone()));
        let (types, seeds): (Vec<Ty>, Seeds) = (types.collect(), Seeds::of(f, &derived.results));
        let taken: Vec<Option<Atom>> =
            seeds.reals.iter().map(|k| self.take(stm.binds[*k].var)).collect();
        let others = derived
            .results
            .iter()
            .enumerate()
            .any(|(k, active)| *active && !is_real(&stm.binds[k].ty));
        let cells = types.iter().any(|ty| self.cx.known.leads_to_cells(ty.elem));
        let adds = derived.key.accumulators.contains(&true);
        if taken.iter().all(Option::is_none) && !others && !cells && !adds {
            return;
        }
        let mut all = args.to_vec();
        all.extend(seeds.sizes.iter().map(|(k, _)| Atom::from(stm.binds[*k].var)));
        for (k, seed) in seeds.reals.iter().zip(taken) {
            let seed = seed.unwrap_or_else(|| self.b.zero(&stm.binds[*k].ty));
            all.push(seed);
        }
        for acc in active(accumulators, &derived.key.accumulators) {
            let ty = self.ty(acc).clone();
            let read = self.of_accumulator(acc).unwrap_or_else(|| self.b.zero(&ty));
            all.push(read);
        }
        all.extend(stm.binds.last().map(|tape| Atom::from(tape.var)));
        let (mut adds, mut binds, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        for k in (0..count).filter(|k| derived.key.params[*k] && is_real(&types[*k])) {
            let x = args[k].as_var().expect("what is active is a variable");
            if types[k].dims.is_empty() {
                let var = self.b.names.fresh(self.hint(x));
                binds.push(Param { var, ty: Ty::real() });
                sums.push((x, var));
            } else {
                adds.push(self.accumulator_of(x));
            }
        }
        let call = Op::Call { function: derived.pull, args: all, accumulators: adds };
        self.b.stms.push(Stm::new(binds, call));
        sums.into_iter().for_each(|(x, sum)| self.add(x.into(), sum.into(), &Ty::real()));
    }
}

/// The function to be derived, as a block with parameters.
fn subject(cx: &Context, key: &Key) -> (Function, Lambda, Scope) {
    let f = cx.primal(key.function).clone();
    let lambda =
        Lambda { params: f.params.clone(), results: f.results.clone(), body: f.body.clone() };
    let scope = Scope {
        known: cx.known.clone(),
        varied: active(&f.params, &key.params),
        accumulators: active(&f.accumulators, &key.accumulators),
    };
    (f, lambda, scope)
}

/// `f→`
pub(crate) fn derive_forward(cx: &mut Context, derived: &Pushforward) {
    let (f, lambda, scope) = subject(cx, &derived.key);
    let mut names = f.names.clone();
    let lambda = extrema::rewrite_reductions(&mut names, &scope, &lambda);
    let activity = Activity::of(&scope, &lambda);
    let mut tangents = Tangents::new(cx, &mut names, &activity, Mode::Tangent);
    let (mut params, mut accumulators) = (f.params.clone(), f.accumulators.clone());
    params.extend(scope.varied.iter().map(|p| tangents.param(p)));
    accumulators.extend(scope.accumulators.iter().map(|acc| tangents.param(acc)));
    tangents.stms(&lambda.body.stms);
    let (mut results, mut types) = (lambda.body.results.clone(), f.results.clone());
    for k in (0..f.results.len()).filter(|k| derived.results[*k]) {
        results.push(tangents.or_zero(lambda.body.results[k], &f.results[k]));
        types.push(tangents.cx.ty(Mode::Tangent, &f.results[k]));
    }
    let mut body = tangents.b.finish(results);
    trim_first(&mut body, &[]);
    let name = format!("{}_tan", f.name);
    let results = types;
    let rest = Function::default();
    let function = Function { name, params, accumulators, results, body, names, ..rest };
    cx.complete(derived.id, function);
}

/// The shadow of what has none.
fn null(names: &mut Names, stms: &mut Vec<Stm>, ty: &Ty) -> Atom {
    let mut b = Builder::new(names);
    let null = b.zero(ty);
    stms.extend(b.stms);
    null
}

/// The two sweeps of a function's body.
struct Halves {
    forward: Vec<Stm>,
    /// What the tape keeps.
    kept: Vec<Param>,
    reverse: Block,
    /// The parameters of the reverse sweep after those of the forward sweep.
    params: Vec<Param>,
    accumulators: Vec<Param>,
}

/// `f⇒` and `f⇐`
pub(crate) fn derive_reverse(cx: &mut Context, derived: &Pullback) {
    let (f, lambda, scope) = subject(cx, &derived.key);
    let mut names = f.names.clone();
    let lambda = rewritten(&mut names, &scope, &lambda);
    let activity = Rc::new(Activity::of(&scope, &lambda));
    let (lambda, shadows) = shadowed(cx, &mut names, &activity, &lambda);
    let seeds = Seeds::of(&f, &derived.results);
    let mut params = f.params.clone();
    // Every active handle has a shadow, whether the body uses it or not.
    for p in scope.varied.iter().filter(|p| !is_real(&p.ty)) {
        let known = shadows.params.iter().find(|(of, _)| of.var == p.var);
        params.push(match known {
            Some((_, shadow)) => shadow.clone(),
            None => {
                let ty = cx.ty(Mode::Shadow, &p.ty);
                Param { var: names.again(p.var), ty }
            }
        });
    }
    let others: Vec<Param> =
        f.accumulators.iter().chain(&params[f.params.len()..]).cloned().collect();
    let Halves { mut forward, kept, reverse, params: given, accumulators } =
        planned(&lambda, &activity, &others, &mut |facts, undo| {
            let sweeps = (facts, undo, &shadows);
            let mut c = Cotangents::new(cx, &mut names, sweeps, &lambda, &others);
            let mut accumulators = Vec::new();
            for p in scope.varied.iter().filter(|p| is_real(&p.ty) && !p.ty.dims.is_empty()) {
                let acc = Param { var: c.b.names.fresh(c.hint(p.var)), ty: p.ty.clone() };
                c.lend(p.var, acc.var);
                accumulators.push(acc);
            }
            let size = |(_, var): &(usize, Var)| Param { var: *var, ty: Ty::int() };
            let mut params: Vec<Param> = seeds.sizes.iter().map(size).collect();
            for k in &seeds.reals {
                params.push(c.seed_real(lambda.body.results[*k], &f.results[*k]));
            }
            for acc in &scope.accumulators {
                let var = c.b.names.fresh(c.hint(acc.var));
                c.set(acc.var, var.into());
                params.push(Param { var, ty: acc.ty.clone() });
            }
            let mut forward = c.stms(&lambda.body.stms);
            let scalars = scope.varied.iter().filter(|p| p.ty == Ty::real());
            let results = scalars.map(|p| c.take_or_zero(p)).collect();
            let frame = c.pop();
            let mut reverse = Block { stms: frame.stms, results };
            let homes: HashMap<Var, Param> = params.iter().map(|p| (p.var, p.clone())).collect();
            let Cotangents { b, cx, undo, .. } = c;
            let undone = frame.undone;
            let (params_of, whole, place, run_again) = (&[][..], None, Place::Tape, None);
            let body =
                Body { stms: &forward, params: params_of, whole, place, homes, undone, run_again };
            let residuals = resolve(b.names, cx, facts, undo, body, &mut reverse);
            residuals.keep_in_boxes(&mut forward);
            let kept = residuals.stored.into_iter().map(|residual| residual.value).collect();
            Halves { forward, kept, reverse, params, accumulators }
        });
    let layout = Layout::of(&names, &kept);
    cx.set_tape(derived.tape, layout.fields.clone());
    let tape = Param { var: names.fresh("tape"), ty: Ty::handle(derived.tape) };

    let mut results = lambda.body.results.clone();
    let mut types = f.results.clone();
    for k in (0..types.len()).filter(|k| derived.results[*k] && !is_real(&f.results[*k])) {
        let ty = cx.ty(Mode::Shadow, &f.results[k]);
        let shadow = shadows.get(results[k]);
        results.push(shadow.unwrap_or_else(|| null(&mut names, &mut forward, &ty)));
        types.push(ty);
    }
    results.push(tape.var.into());
    types.push(tape.ty.clone());
    let mut body = Block { stms: forward, results };
    body.stms.push(layout.make(derived.tape, tape.var));
    trim_first(&mut body, &[]);
    let sweep = Function {
        name: format!("{}_forward", f.name),
        params: params.clone(),
        accumulators: f.accumulators.clone(),
        results: types,
        body,
        names: names.clone(),
        ..Function::default()
    };
    cx.complete(derived.sweep, sweep);

    params.extend(given);
    params.push(tape.clone());
    let mut stms = layout.read_all(tape.var.into(), &kept);
    stms.extend(reverse.stms);
    let results = vec![Ty::real(); reverse.results.len()];
    let body = Block { stms, results: reverse.results };
    let (name, rest) = (format!("{}_reverse", f.name), Function::default());
    cx.complete(
        derived.pull,
        Function { name, params, accumulators, results, body, names, ..rest },
    );
}
