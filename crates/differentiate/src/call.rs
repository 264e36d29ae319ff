//! `y… = f (x…)`: the derivative of a call calls derivatives of the function, which are made once
//! for each set of active parameters.
//!
//! ```text
//!   D→              y…, ẏ… = f→ (x…, ẋ…)
//!   forward sweep   y…, ȳ…, tape = f⇒ (x…, x̄…)              shadows x̄, ȳ of handles
//!   D←              x̄… += f⇐ (x…, x̄…, ȳ…, tape; x̄s)         cotangents ȳ, x̄; accumulators x̄s
//!                   t̄s' = f⇐ (…, t̄s, tape)                    arrays of handles, as values
//! ```
//!
//! The two halves of a function are the two sweeps of its body. A tape, one node, takes the
//! residuals ([`crate::residuals`]) from the forward to the reverse sweep; the caller passes
//! parameters a second time. A pullback adds the cotangent of an array argument to the caller's
//! accumulator: a call that reads one element costs O(1). The pullback returns the cotangents of
//! scalars, and of arrays that are state of the recursion ([`crate::threaded`]): a call that
//! updates one element costs O(1). Such an array is not passed a second time, because the next call
//! overwrites it: its elements that the reverse sweep reads are on the tape.
//!
//! A function with rules is not derived: its rules take the place of its derivatives
//! ([`crate::rules`]).
//!
//! * Assumes: functions that are called are complete, and have no free variables.
//! * Gives: functions of the library.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::{
    Atom, Block, Builder, Exp, FnId, Function, Lambda, Names, Op, Param, Renaming, Stm, Ty, Var,
};

use crate::activity::{Activity, Scope};
use crate::cotangents::{Cotangents, planned};
use crate::derived::{Context, Key, Mode, Pullback, Pushforward, Task, is_int};
use crate::extrema;
use crate::known::Handles;
use crate::loop_::naming;
use crate::partial::Gives;
use crate::prepare::rewritten;
use crate::residuals::{Body, EnclosingConstruct, resolve};
use crate::shadows::{Shadows, shadowed};
use crate::tangents::Tangents;
use crate::tape::Layout;
use crate::trim::trim_first;

fn active<T: Clone>(all: &[T], active: &[bool]) -> Vec<T> {
    all.iter().zip(active).filter(|(_, active)| **active).map(|(x, _)| x.clone()).collect()
}

fn both(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| *a && *b).collect()
}

/// The cotangents that a pullback takes: first their sizes that are results themselves, then the
/// cotangents of real results.
struct Seeds {
    /// Results that are sizes, each with its variable.
    sizes: Vec<(usize, Var)>,
    /// Results whose cotangent is a value.
    reals: Vec<usize>,
}

impl Seeds {
    fn of(cx: &Context, f: &Function, results: &[bool]) -> Seeds {
        let reals = (0..results.len()).filter(|k| results[*k] && cx.valued(&f.results[*k]));
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
        let rules = self.cx.rules(function);
        match (self.mode, rules) {
            (Mode::Tangent, Some(rules)) => self.push_by_rule(stm, function, &rules, args),
            (Mode::Tangent, None) => self.push(stm, function, args, accumulators),
            (Mode::Shadow, Some(_)) => self.shadows_of_results(stm),
            (Mode::Shadow, None) => self.sweep(stm, function, args, accumulators),
        }
    }

    /// Whether the call returns handles that lead to cells. Such handles always have tangents and
    /// shadows, because a later addition may reach them.
    fn gives_cells(&self, stm: &Stm) -> bool {
        stm.binds.iter().any(|p| self.cx.known.leads_to_cells(p.ty.elem))
    }

    fn push(&mut self, stm: &Stm, function: FnId, args: &[Atom], accumulators: &[Var]) {
        let params = args.iter().map(|arg| self.get(*arg).is_some()).collect();
        let added = accumulators.iter().map(|acc| self.get_var(*acc).is_some()).collect();
        let returned = vec![false; args.len()];
        let key = Key { function, params, accumulators: added, returned };
        if !key.is_active() && !self.gives_cells(stm) {
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
        let params: Vec<bool> = args.iter().map(|arg| self.activity.active(*arg)).collect();
        let added = accumulators.iter().map(|acc| self.activity.active(*acc)).collect();
        let last = stm.binds.first().and_then(|p| self.last_uses.get(&p.var));
        let returned = last.map_or_else(|| vec![false; args.len()], |last| both(last, &params));
        let key = Key { function, params, accumulators: added, returned };
        if !key.is_active() && !self.gives_cells(stm) {
            return self.b.stms.push(stm.clone());
        }
        let derived = self.cx.pullback(key);
        let types: Vec<Ty> = self.cx.primal(function).params.iter().map(|p| p.ty.clone()).collect();
        let sizes = naming(&self.cx.primal(function).params, args);
        let mut all = args.to_vec();
        for ((arg, ty), active) in args.iter().zip(&types).zip(&derived.key.params) {
            if *active && !self.cx.valued(ty) {
                all.push(self.or_zero(*arg, &sizes.ty(ty)));
            }
        }
        let mut binds = stm.binds.clone();
        let mut results = active(&stm.binds, &derived.results);
        results.retain(|p| !self.cx.valued(&p.ty));
        binds.extend(results.iter().map(|p| self.param(p)));
        let hint = format!("{}_tape", self.cx.primal(function).name);
        binds.push(Param { var: self.b.names.fresh(hint), ty: Ty::handle(derived.tape) });
        let accumulators = accumulators.to_vec();
        let call = Op::Call { function: derived.sweep, args: all, accumulators };
        self.b.stms.push(Stm::new(binds, call));
    }
}

impl Cotangents<'_> {
    /// The pullback of a call whose forward sweep is `sweep`.
    pub(crate) fn call(&mut self, stm: &Stm, sweep: FnId, args: &[Atom], accumulators: &[Var]) {
        if let Some(rules) = self.cx.rules(sweep) {
            return self.pull_by_rule(stm, sweep, &rules, args);
        }
        let Some(derived) = self.cx.pullback_of(sweep) else { return };
        let f = self.cx.primal(derived.key.function);
        let (count, types) = (f.params.len(), f.params.iter().map(|p| p.ty.clone()));
        let (types, seeds): (Vec<Ty>, Seeds) =
            (types.collect(), Seeds::of(self.cx, f, &derived.results));
        let sizes = naming(&f.params, args);
        let taken: Vec<Option<Atom>> =
            seeds.reals.iter().map(|k| self.take(stm.binds[*k].var)).collect();
        let others = derived
            .results
            .iter()
            .enumerate()
            .any(|(k, active)| *active && !self.cx.valued(&stm.binds[k].ty));
        let cells = types.iter().any(|ty| self.cx.known.leads_to_cells(ty.elem));
        let adds = derived.key.accumulators.contains(&true);
        if taken.iter().all(Option::is_none) && !others && !cells && !adds {
            return;
        }
        let given = (0..count).filter(|k| !derived.key.is_state(*k)).map(|k| args[k]);
        let shadows = args[count..].iter().copied();
        let mut all: Vec<Atom> = given.chain(shadows).collect();
        all.extend(seeds.sizes.iter().map(|(k, _)| Atom::from(stm.binds[*k].var)));
        for (k, seed) in seeds.reals.iter().zip(taken) {
            let seed = seed.unwrap_or_else(|| {
                let ty = self.ct_of(&stm.binds[*k].ty);
                self.b.zero(&ty)
            });
            all.push(seed);
        }
        for acc in active(accumulators, &derived.key.accumulators) {
            let ty = self.ty(acc).clone();
            let read = self.of_accumulator(acc).unwrap_or_else(|| self.b.zero(&ty));
            all.push(read);
        }
        let mut continued: Vec<Var> = Vec::new();
        for k in 0..count {
            if !self.cx.is_continued(&derived.key, k, &types[k]) {
                continue;
            }
            let x = args[k].as_var().expect("what is active is a variable");
            // An array passed twice gives its cotangent once, then zeros.
            if continued.contains(&x) {
                let ty = self.ct_of(&sizes.ty(&types[k]));
                all.push(self.b.zero(&ty));
            } else {
                all.push(self.sum_or_zero(x));
                continued.push(x);
            }
        }
        all.extend(stm.binds.last().map(|tape| Atom::from(tape.var)));
        let (mut adds, mut binds, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        for k in (0..count).filter(|k| derived.key.params[*k]) {
            if !self.cx.valued(&types[k]) {
                continue;
            }
            let x = args[k].as_var().expect("what is active is a variable");
            if self.cx.returns(&derived.key, k, &types[k]) {
                let ty = self.cx.ty(Mode::Tangent, &sizes.ty(&types[k]));
                let p = Param { var: self.b.names.fresh(self.hint(x)), ty };
                binds.push(p.clone());
                sums.push((x, p));
            } else {
                adds.push(self.accumulator_of(x));
            }
        }
        let call = Op::Call { function: derived.pull, args: all, accumulators: adds };
        self.b.stms.push(Stm::new(binds, call));
        for (x, sum) in sums {
            if let Some(at) = continued.iter().position(|y| *y == x) {
                continued.remove(at);
                let to = self.ct_ty(x);
                let value = self.fit(x, sum.var.into(), &sum.ty, &to);
                self.set(x, value);
            } else {
                self.add(x.into(), sum.var.into(), &sum.ty);
            }
        }
    }
}

/// Derives the functions that have been asked for.
pub(crate) fn finish(cx: &mut Context) {
    while let Some(task) = cx.next() {
        match task {
            Task::Forward(derived) => derive_forward(cx, &derived),
            Task::Reverse(derived) => derive_reverse(cx, &derived),
        }
    }
}

/// The function to be derived, as the pipeline has prepared it: also as a block with parameters.
fn subject(cx: &Context, key: &Key) -> (Function, Lambda, Scope) {
    let mut f = cx.primal(key.function).clone();
    let (params, results, body) = (f.params.clone(), f.results.clone(), f.body.clone());
    let mut lambda = Lambda { params, results, body };
    if f.accumulators.is_empty() {
        lambda = cx.prepared(&mut f.names, &lambda, Some(key.function));
        (f.results, f.body) = (lambda.results.clone(), lambda.body.clone());
    }
    let scope = Scope {
        known: cx.known.clone(),
        handles: cx.handles,
        varied: active(&f.params, &key.params),
        accumulators: active(&f.accumulators, &key.accumulators),
        given: f.accumulators.clone(),
    };
    (f, lambda, scope)
}

/// `f→`
fn derive_forward(cx: &mut Context, derived: &Pushforward) {
    let (f, lambda, scope) = subject(cx, &derived.key);
    let mut names = f.names.clone();
    let lambda = match cx.reach {
        true => lambda,
        false => extrema::rewrite_reductions(&mut names, &scope, &lambda),
    };
    let activity = Activity::of(&scope, &lambda);
    let mut tangents =
        Tangents::new(cx, &mut names, &activity, Mode::Tangent).of_block(&lambda.body);
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

/// The null shadow of an inactive handle.
fn null(names: &mut Names, stms: &mut Vec<Stm>, ty: &Ty) -> Atom {
    let mut b = Builder::new(names);
    let null = b.zero(ty);
    stms.extend(b.stms);
    null
}

/// A function whose two halves are under construction.
struct Subject<'a> {
    derived: &'a Pullback,
    f: Function,
    scope: Scope,
    /// With shadows, after the rewritings of the reverse mode.
    lambda: Lambda,
    shadows: Shadows,
    activity: Rc<Activity>,
    /// The parameters of both halves: those of the function, and the shadows of its active handles.
    params: Vec<Param>,
}

/// The two sweeps of a function's body.
struct Halves {
    forward: Vec<Stm>,
    /// The payload of the tape.
    kept: Vec<Param>,
    reverse: Block,
    /// The parameters of the reverse sweep after those of the forward sweep.
    params: Vec<Param>,
    accumulators: Vec<Param>,
}

/// `f⇒` and `f⇐`
fn derive_reverse(cx: &mut Context, derived: &Pullback) {
    let seeds = Seeds::of(cx, cx.primal(derived.key.function), &derived.results);
    let (mut f, lambda, scope) = subject(cx, &derived.key);
    let mut names = std::mem::take(&mut f.names);
    let lambda = rewritten(cx.whiles, &mut names, &scope, &lambda);
    let activity = Rc::new(Activity::of(&scope, &lambda));
    let returned = active(&f.params, &derived.key.returned);
    let (lambda, shadows) = shadowed(cx, &mut names, &activity, &lambda, &returned);
    let mut params = f.params.clone();
    for p in scope.varied.iter() {
        if cx.valued(&p.ty) {
            continue;
        }
        let known = shadows.params.iter().find(|(of, _)| of.var == p.var);
        let unused = || Param { var: names.again(p.var), ty: cx.ty(Mode::Shadow, &p.ty) };
        params.push(known.map_or_else(unused, |(_, shadow)| shadow.clone()));
    }
    let subject = Subject { derived, f, scope, lambda, shadows, activity, params };
    let sizes = subject.sizes(&mut names, &seeds);
    let halves = subject.halves(cx, &mut names, &sizes, &seeds.reals);
    let layout = Layout::of(&names, &halves.kept);
    cx.set_tape(derived.tape, layout.fields.clone());
    let tape = Param { var: names.fresh("tape"), ty: Ty::handle(derived.tape) };
    subject.complete(cx, names, halves, &layout, tape);
}

impl Subject<'_> {
    /// The parameters for the sizes of cotangents, named like the results of the body.
    fn sizes(&self, names: &mut Names, seeds: &Seeds) -> Vec<Param> {
        let mut sizes: Vec<Param> = Vec::new();
        for (k, _) in &seeds.sizes {
            let known = |x: &Var| self.params.iter().chain(&sizes).any(|p| p.var == *x);
            let given = self.lambda.body.results[*k].as_var().filter(|x| !known(x));
            let var = given.unwrap_or_else(|| names.fresh("size"));
            sizes.push(Param { var, ty: Ty::int() });
        }
        sizes
    }

    fn halves(
        &self,
        cx: &mut Context,
        names: &mut Names,
        sizes: &[Param],
        reals: &[usize],
    ) -> Halves {
        let shadows = &self.params[self.f.params.len()..];
        let others: Vec<Param> = self.f.accumulators.iter().chain(shadows).cloned().collect();
        let state: Vec<Param> = active(&self.f.params, &self.derived.key.returned);
        let ruled = cx.ruled(&self.lambda.body, Gives::Cotangents);
        planned(&self.lambda, &self.activity, (&others, &state), &ruled, &mut |facts, undo| {
            let sweeps = (facts, undo, &self.shadows);
            let mut c = Cotangents::new(cx, names, sweeps, &self.lambda, &others);
            let mut params = sizes.to_vec();
            let lent = |(k, p): &(usize, &Param)| {
                let valued = self.derived.key.params[*k] && c.cx.valued(&p.ty);
                valued && !c.cx.returns(&self.derived.key, *k, &p.ty)
            };
            let lent = self.f.params.iter().enumerate().filter(lent).map(|(_, p)| p);
            let lent: Vec<Param> = lent.cloned().collect();
            let accumulators = c.lend_parameters(&lent);
            c.in_branches = !state.is_empty();
            c.on_tape = true;
            for k in reals {
                params.push(c.seed_result(self.lambda.body.results[*k], &self.f.results[*k]));
            }
            for acc in &self.scope.accumulators {
                let var = c.b.names.fresh(c.hint(acc.var));
                c.set(acc.var, var.into());
                params.push(Param { var, ty: acc.ty.clone() });
            }
            for (k, p) in self.f.params.iter().enumerate() {
                if c.cx.is_continued(&self.derived.key, k, &p.ty) {
                    let so_far = Param { var: c.b.names.fresh(c.hint(p.var)), ty: c.ct_ty(p.var) };
                    c.set(p.var, so_far.var.into());
                    params.push(so_far);
                }
            }
            let mut forward = c.stms(&self.lambda.body.stms);
            let returned = self.returned(c.cx);
            let results = returned.iter().map(|p| c.take_or_zero(p)).collect();
            let frame = c.pop();
            let mut reverse = Block { stms: frame.stms, results };
            let Cotangents { b, cx, undo, .. } = c;
            let homes: HashMap<Var, Param> = params.iter().map(|p| (p.var, p.clone())).collect();
            let (undone, whole, run_again) = (frame.undone, None, None);
            let (construct, stms) = (EnclosingConstruct::Tape, &forward[..]);
            let body = Body { stms, params: &state, whole, construct, homes, undone, run_again };
            let residuals = resolve(b.names, cx, facts, undo, body, &mut reverse);
            residuals.keep_in_boxes(&mut forward);
            let kept = residuals.stored.into_iter().map(|residual| residual.value).collect();
            Halves { forward, kept, reverse, params, accumulators }
        })
    }

    /// The parameters whose cotangents the pullback returns.
    fn returned(&self, cx: &Context) -> Vec<Param> {
        let params = self.f.params.iter().enumerate();
        let returned = params.filter(|(k, p)| cx.returns(&self.derived.key, *k, &p.ty));
        returned.map(|(_, p)| p.clone()).collect()
    }

    /// The parameters that both halves have. State is not passed a second time, because it may have
    /// been overwritten.
    fn passed(&self) -> impl Iterator<Item = &Param> {
        let key = &self.derived.key;
        self.params.iter().enumerate().filter(|(k, _)| !key.is_state(*k)).map(|(_, p)| p)
    }

    /// The checks of the body on integers among the parameters of both halves. The forward sweep
    /// has passed them, so in the reverse sweep they are facts that make checks of its accesses
    /// redundant.
    fn passed_checks(&self, names: &mut Names) -> Vec<Stm> {
        let ints = self.passed().filter(|p| p.ty == Ty::int());
        let mut known: HashSet<Var> = ints.map(|p| p.var).collect();
        let (mut checks, mut renaming) = (Block::default(), Renaming::new());
        for stm in &self.lambda.body.stms {
            let mut of_ints = matches!(stm.exp, Exp::Op(Op::Check { .. } | Op::Prim(..)));
            stm.exp.atoms(&mut |atom| {
                of_ints &= atom.as_var().is_none_or(|var| known.contains(&var));
            });
            if of_ints {
                known.extend(stm.binds.iter().map(|p| p.var));
                checks.stms.push(renaming.copy_stm(stm, names));
            }
        }
        trim_first(&mut checks, &[]);
        checks.stms
    }

    /// The results that are active handles with shadows.
    fn handles(&self, cx: &Context) -> Vec<usize> {
        let results = self.derived.results.iter().zip(&self.f.results).enumerate();
        results.filter(|(_, (active, ty))| **active && !cx.valued(ty)).map(|(k, _)| k).collect()
    }

    /// Completes both functions.
    fn complete(
        &self,
        cx: &mut Context,
        mut names: Names,
        halves: Halves,
        layout: &Layout,
        tape: Param,
    ) {
        let Halves { mut forward, kept, reverse, params: given, accumulators } = halves;
        let (mut results, mut types) = (self.lambda.body.results.clone(), self.f.results.clone());
        for k in self.handles(cx) {
            let ty = cx.ty(Mode::Shadow, &self.f.results[k]);
            let shadow = self.shadows.get(results[k]);
            results.push(shadow.unwrap_or_else(|| null(&mut names, &mut forward, &ty)));
            types.push(ty);
        }
        results.push(tape.var.into());
        types.push(tape.ty.clone());
        forward.push(layout.make(self.derived.tape, tape.var));
        let mut body = Block { stms: forward, results };
        trim_first(&mut body, &[]);
        let sweep = Function {
            name: format!("{}_forward", self.f.name),
            params: self.params.clone(),
            accumulators: self.f.accumulators.clone(),
            results: types,
            body,
            names: names.clone(),
            ..Function::default()
        };
        cx.complete(self.derived.sweep, sweep);

        let mut stms = match cx.handles {
            Handles::Shadows => self.passed_checks(&mut names),
            // Readable derivatives omit it.
            Handles::Values => Vec::new(),
        };
        stms.extend(layout.read_all(tape.var.into(), &kept));
        stms.extend(reverse.stms);
        // In source, `f_reverse` is the derivative that is asked for.
        let back = if cx.handles == Handles::Values { "back" } else { "reverse" };
        let returned = self.returned(cx);
        let results = returned.iter().map(|p| cx.ty(Mode::Tangent, &p.ty)).collect();
        let pull = Function {
            name: format!("{}_{back}", self.f.name),
            params: self.passed().cloned().chain(given).chain([tape]).collect(),
            accumulators,
            results,
            body: Block { stms, results: reverse.results },
            names,
            ..Function::default()
        };
        cx.complete(self.derived.pull, pull);
    }
}

impl Cotangents<'_> {
    /// The accumulators that a pullback receives for array parameters.
    fn lend_parameters(&mut self, params: &[Param]) -> Vec<Param> {
        let mut accumulators = Vec::new();
        for p in params {
            let acc = Param { var: self.b.names.fresh(self.hint(p.var)), ty: p.ty.clone() };
            self.lend(p.var, acc.var);
            accumulators.push(acc);
        }
        accumulators
    }
}
