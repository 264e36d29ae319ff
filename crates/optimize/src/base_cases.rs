//! A call of a recursive function whose end is cheap tests for the end itself: `f x` becomes `if x is an end { what f gives there } else { f x }`.
//!
//! Most calls of a recursion are its ends: of one that branches, more than half. A test costs less than a call, and where the function is differentiated no node of a tape is
//! made for an end. What only the call needs is computed in its branch.
//!
//! Assumes: nothing. Gives: no call, but where the function decides at once that it goes on, for functions that begin with such a test. Keeps: values, failures, and which
//! check fails first, as what precedes the test is only repeated.

use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Exp, FnId, Function, Names, Nest, Op, Param, Renaming, Stm, Var, written_out,
};

use crate::calls::Calls;
use crate::ends::End;

/// The pass.
pub(crate) fn base_cases(function: &mut Function, calls: &Calls) -> bool {
    let mut uses = HashMap::new();
    function.body.stms.iter().for_each(|stm| {
        stm.mentioned(&mut |var| *uses.entry(var).or_insert(0) += 1);
    });
    let given = function.body.results.iter().filter_map(|a| a.as_var());
    given.for_each(|var| *uses.entry(var).or_insert(0) += 1);
    let mut pass = Pass { names: &mut function.names, calls, uses, changed: false };
    pass.block(&mut function.body, &mut Vec::new());
    pass.changed
}

struct Pass<'a> {
    names: &'a mut Names,
    calls: &'a Calls,
    /// How often each variable is mentioned.
    uses: HashMap<Var, usize>,
    changed: bool,
}

impl Pass<'_> {
    /// `ended`: calls in the branch of a test that has been made for them.
    fn block(&mut self, block: &mut Block, ended: &mut Vec<FnId>) {
        for mut stm in std::mem::take(&mut block.stms) {
            let known = ended.len();
            ended.extend(self.tested(&stm));
            stm.exp.blocks_mut().into_iter().for_each(|inner| self.block(inner, ended));
            ended.truncate(known);
            match self.written(&stm, ended, &mut block.stms) {
                Some(stms) => {
                    self.changed = true;
                    block.stms.extend(stms);
                }
                None => block.stms.push(stm),
            }
        }
    }

    /// The function that one branch only calls, and nothing else: it has been tested whether it ends.
    fn tested(&self, stm: &Stm) -> Option<FnId> {
        let Exp::Nest(Nest::If { then, otherwise, .. }) = &stm.exp else { return None };
        let called = |block: &Block| match &block.stms[..] {
            [.., Stm { exp: Exp::Op(Op::Call { function, .. }), .. }] => Some(*function),
            _ => None,
        };
        let function = called(then).or_else(|| called(otherwise))?;
        self.calls.end(function).map(|_| function)
    }

    /// What stands for a call.
    fn written(&mut self, stm: &Stm, ended: &[FnId], before: &mut Vec<Stm>) -> Option<Vec<Stm>> {
        let Exp::Op(Op::Call { function, args, accumulators }) = &stm.exp else { return None };
        let calls = self.calls;
        let End { function: callee, then } =
            calls.end(*function).filter(|_| !ended.contains(function))?;
        let body = written_out(callee, self.names, args, accumulators);
        let mut stms = body.stms;
        let Some(Stm { binds, exp: Exp::Nest(Nest::If { cond, then: yes, otherwise: no }) }) =
            stms.pop()
        else {
            return None;
        };
        let end = if *then { yes } else { no };
        // By result of the function: which of the branches' it is.
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

    /// Arrays that are made for the call only are made in the branches.
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
