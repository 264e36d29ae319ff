//! A call of a recursive function whose end is cheap tests for the end itself: `f x` becomes
//! `if x is an end { the end's results } else { f x }`.
//!
//! Most calls of a recursion are its ends: of one that branches, more than half. A test costs less
//! than a call, and where the function is differentiated no node of a tape is made for an end.
//! Arrays that only the call needs are computed in its branch.
//!
//! Assumes: nothing. Gives: no call, but where the function decides at once that it goes on, for
//! functions that begin with such a test. Calls where the recursion is known to go on get no test,
//! because `simplify` would remove it. Keeps: values, failures, and which check fails first,
//! because the statements before the test are only repeated.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Effect, Exp, FnId, Function, Names, Nest, Op, Param, Renaming, Stm, Var,
    written_out,
};
use lambada_prim::Scalar;

use crate::calls::Calls;
use crate::ends::End;
use crate::rewrite::Context;
use crate::scope::Scope;
use crate::{LOCAL, common_subexpressions as cse};

/// The pass.
pub(crate) fn base_cases(function: &mut Function, calls: &Calls) -> bool {
    let has_end = |stm: &Stm| matches!(&stm.exp, Exp::Op(Op::Call { function, .. }) if calls.end(*function).is_some());
    if !function.body.any(&mut |stm| has_end(stm)) {
        return false;
    }
    let mut uses = HashMap::new();
    function.body.stms.iter().for_each(|stm| {
        stm.mentioned(&mut |var| *uses.entry(var).or_insert(0) += 1);
    });
    let given = function.body.results.iter().filter_map(|a| a.as_var());
    given.for_each(|var| *uses.entry(var).or_insert(0) += 1);
    let scope = Scope::new(function, calls);
    let (computed, log, assumed) = (HashMap::new(), Vec::new(), Vec::new());
    let names = &mut function.names;
    let mut pass = Pass { names, calls, uses, scope, computed, log, assumed, changed: false };
    pass.block(&mut function.body, &mut Vec::new());
    pass.changed
}

struct Pass<'a> {
    names: &'a mut Names,
    calls: &'a Calls,
    /// How often each variable is mentioned.
    uses: HashMap<Var, usize>,
    scope: Scope,
    /// The values computed in the blocks around, by key: statements with equal keys have equal
    /// values.
    computed: HashMap<cse::Key, Var>,
    /// The keys of `computed`, in order.
    log: Vec<cse::Key>,
    /// The conditions decided by the branches around.
    assumed: Vec<(Var, bool)>,
    changed: bool,
}

impl Pass<'_> {
    /// `ended`: functions whose calls are already in the branch of a test.
    fn block(&mut self, block: &mut Block, ended: &mut Vec<FnId>) {
        let (mark, decided) = (self.scope.mark(), self.assumed.len());
        let computed = self.log.len();
        for mut stm in std::mem::take(&mut block.stms) {
            let known = ended.len();
            ended.extend(self.tested(&stm));
            self.nested(&mut stm, ended);
            ended.truncate(known);
            let written = self.written(&stm, ended, &mut block.stms);
            self.changed |= written.is_some();
            for stm in written.unwrap_or_else(|| vec![stm]) {
                self.pass(&stm);
                block.stms.push(stm);
            }
        }
        for key in self.log.drain(computed..) {
            self.computed.remove(&key);
        }
        self.assumed.truncate(decided);
        self.scope.reset(mark);
    }

    fn nested(&mut self, stm: &mut Stm, ended: &mut Vec<FnId>) {
        let mark = self.scope.mark();
        self.scope.enter(&stm.exp);
        if let Exp::Nest(Nest::If { cond, then, otherwise }) = &mut stm.exp {
            for (block, holds) in [(then, true), (otherwise, false)] {
                let (mark, decided) = (self.scope.mark(), self.assumed.len());
                self.assume(*cond, holds);
                self.block(block, ended);
                self.assumed.truncate(decided);
                self.scope.reset(mark);
            }
        } else {
            stm.exp.blocks_mut().into_iter().for_each(|inner| self.block(inner, ended));
        }
        self.scope.reset(mark);
    }

    /// Records the facts that the statement establishes.
    fn pass(&mut self, stm: &Stm) {
        match &stm.exp {
            Exp::Op(Op::Check { cond, .. }) => self.assume(*cond, true),
            Exp::Op(_) if is_pure(stm) => {
                if let Entry::Vacant(place) = self.computed.entry(cse::key(stm)) {
                    self.log.push(place.key().clone());
                    place.insert(stm.binds[0].var);
                }
            }
            Exp::Op(_) | Exp::Nest(_) => {}
        }
        self.scope.pass(stm);
    }

    fn assume(&mut self, cond: Atom, holds: bool) {
        self.scope.assume(cond, holds);
        self.assumed.extend(cond.as_var().map(|var| (var, holds)));
    }

    /// The truth value of the condition, which these statements compute, if it is decided here.
    fn decided(&mut self, stms: &[Stm], cond: Atom) -> Option<bool> {
        let mark = self.scope.mark();
        let mut known = Renaming::new();
        for stm in stms.iter().filter(|stm| is_pure(stm)) {
            let mut stm = stm.clone();
            known.apply_stm(&mut stm);
            let mut context = Context { names: self.names, scope: &self.scope, calls: self.calls };
            // All rules of `simplify`, because it would remove the test again.
            let mut simpler = LOCAL
                .iter()
                .filter_map(|rule| rule(&mut context, &stm))
                .filter(|replacement| replacement.stms.is_empty());
            let value = simpler.next().map(|replacement| replacement.values[0]);
            let computed = || self.computed.get(&cse::key(&stm)).map(|var| Atom::Var(*var));
            match value.or_else(computed) {
                Some(value) => known.insert(stm.binds[0].var, value),
                None => self.scope.pass(&stm),
            }
        }
        self.scope.reset(mark);
        match known.atom(cond) {
            Atom::Lit(Scalar::Bool(holds)) => Some(holds),
            Atom::Lit(Scalar::Int(_) | Scalar::Real(_)) => None,
            Atom::Var(var) => self.assumed.iter().find(|(v, _)| *v == var).map(|(_, holds)| *holds),
        }
    }

    /// The function that one branch calls at its end: a test for that function's end has been made.
    fn tested(&self, stm: &Stm) -> Option<FnId> {
        let Exp::Nest(Nest::If { then, otherwise, .. }) = &stm.exp else { return None };
        let called = |block: &Block| match &block.stms[..] {
            [.., Stm { exp: Exp::Op(Op::Call { function, .. }), .. }] => Some(*function),
            _ => None,
        };
        let function = called(then).or_else(|| called(otherwise))?;
        self.calls.end(function).map(|_| function)
    }

    /// The statements that replace a call.
    fn written(&mut self, stm: &Stm, ended: &[FnId], before: &mut Vec<Stm>) -> Option<Vec<Stm>> {
        let Exp::Op(Op::Call { function, args, accumulators }) = &stm.exp else { return None };
        let calls = self.calls;
        let End { test, then, function: _ } =
            calls.end(*function).filter(|_| !ended.contains(function))?;
        let body = written_out(test, self.names, args, accumulators);
        let mut stms = body.stms;
        let Some(Stm { binds, exp: Exp::Nest(Nest::If { cond, then: yes, otherwise: no }) }) =
            stms.pop()
        else {
            return None;
        };
        if self.decided(&stms, cond) == Some(!*then) {
            return None;
        }
        let end = if *then { yes } else { no };
        // The position of each result of the function among the branches' results.
        let place = |result: &Atom| binds.iter().position(|p| Atom::Var(p.var) == *result);
        let places: Vec<usize> = body.results.iter().map(place).collect::<Option<_>>()?;
        let mut end =
            Block { results: places.iter().map(|k| end.results[*k]).collect(), stms: end.stms };
        let own = |p: &Param| Param { var: self.names.again(p.var), ty: p.ty.clone() };
        let called: Vec<Param> = stm.binds.iter().map(own).collect();
        let results = called.iter().map(|p| p.var.into()).collect();
        let mut goes_on = Block { stms: vec![Stm::new(called, stm.exp.clone())], results };
        self.taken(args, accumulators, &stms, before, [&mut end, &mut goes_on]);
        let (then, otherwise) = if *then { (end, goes_on) } else { (goes_on, end) };
        stms.push(Stm::new(stm.binds.clone(), Nest::If { cond, then, otherwise }));
        Some(stms)
    }

    /// Moves arrays that only the call needs into the branches.
    fn taken(
        &mut self,
        args: &[Atom],
        accumulators: &[Var],
        test: &[Stm],
        before: &mut Vec<Stm>,
        [end, goes_on]: [&mut Block; 2],
    ) {
        let mut mentioned: HashSet<Var> = accumulators.iter().copied().collect();
        test.iter().for_each(|stm| stm.mentioned(&mut |var| _ = mentioned.insert(var)));
        while let Some(last) = before.last() {
            let [p] = &last.binds[..] else { return };
            let only = self.uses.get(&p.var) == Some(&1) && args.contains(&p.var.into());
            let array = !p.ty.dims.is_empty() && matches!(last.exp, Exp::Nest(Nest::For { .. }));
            if !only || !array || mentioned.contains(&p.var) || !self.calls.is_pure(last) {
                return;
            }
            let Some(made) = before.pop() else { return };
            let mut renaming = Renaming::new();
            let copy = renaming.copy_stm(&made, self.names);
            renaming.apply(end);
            end.stms.insert(0, copy);
            goes_on.stms.insert(0, made);
        }
    }
}

/// Whether it does nothing but compute a value.
fn is_pure(stm: &Stm) -> bool {
    matches!(stm.exp, Exp::Op(_)) && stm.exp.effect() == Effect::None && stm.binds.len() == 1
}
