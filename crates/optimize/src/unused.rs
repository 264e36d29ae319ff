//! Removal of unused parts of the library: functions that the entry does not reach, parameters that
//! a function does not use but for passing them on to itself, and results that no call uses.
//!
//! Assumes: nothing. Gives: a library without these. Keeps: values and failures.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Exp, FnId, Function, Library, Op, Param, Role, Stm, Var};

use crate::control::kept;

/// The pass, on a program.
pub(crate) fn unused(program: &mut Function) -> bool {
    if program.library.is_empty() {
        return false;
    }
    let mut changed = unreached(program);
    for k in 0..program.library.functions.len() {
        let id = FnId(k as u32);
        changed |= parameters(program, id);
        changed |= results(program, id);
    }
    changed
}

/// Removes functions that no run of the entry calls.
fn unreached(program: &mut Function) -> bool {
    let library = &program.library;
    let mut keep = vec![false; library.functions.len()];
    let reached = library.circles(program.body.callees()).all;
    reached.iter().flatten().for_each(|id| keep[id.0 as usize] = true);
    if !keep.contains(&false) {
        return false;
    }
    let number = |before: &mut u32, keep: &bool| {
        let number = *before;
        *before += u32::from(*keep);
        Some(FnId(number))
    };
    let places: Vec<FnId> = keep.iter().scan(0, number).collect();
    program.library.functions = kept(&program.library.functions, &keep);
    each_body(program, &mut |body| {
        each_call(body, &mut |stm| {
            if let Exp::Op(Op::Call { function, .. }) = &mut stm.exp {
                *function = places[function.0 as usize];
            }
        });
    });
    true
}

/// Calls `f` on the bodies of all functions and of the entry.
fn each_body(program: &mut Function, f: &mut dyn FnMut(&mut Block)) {
    let Library { functions, .. } = &mut program.library;
    functions.iter_mut().flatten().for_each(|function| f(&mut function.body));
    f(&mut program.body);
}

fn each_call(block: &mut Block, f: &mut dyn FnMut(&mut Stm)) {
    for stm in &mut block.stms {
        if let Exp::Op(Op::Call { .. }) = &stm.exp {
            f(stm);
        }
        stm.exp.blocks_mut().into_iter().for_each(|inner| each_call(inner, f));
    }
}

/// Removes parameters that the function does not need.
fn parameters(program: &mut Function, id: FnId) -> bool {
    let Some(function) = program.library.function(id) else { return false };
    let needed = needed(function, id);
    let mut keep: Vec<bool> = function.params.iter().map(|p| needed.contains(&p.var)).collect();
    if let Some(known) = &function.known {
        keep.iter_mut()
            .zip(&known.params)
            .for_each(|(keep, role)| *keep |= *role != Role::Implicit);
    }
    if !keep.contains(&false) {
        return false;
    }
    if let Some(Some(function)) = program.library.functions.get_mut(id.0 as usize) {
        function.params = kept(&function.params, &keep);
        if let Some(known) = &mut function.known {
            known.params = kept(&known.params, &keep);
        }
    }
    each_body(program, &mut |body| {
        each_call(body, &mut |stm| {
            if let Exp::Op(Op::Call { function, args, .. }) = &mut stm.exp
                && *function == id
            {
                *args = kept(args, &keep);
            }
        });
    });
    true
}

/// The variables that the function mentions, but for parameters that it hands to itself in the same
/// place.
fn needed(function: &Function, id: FnId) -> HashSet<Var> {
    let mut needed: HashSet<Var> = HashSet::new();
    let mut atom = |a: Atom| needed.extend(a.as_var());
    let sizes = function.params.iter().chain(&function.accumulators).map(|p: &Param| &p.ty);
    sizes.chain(&function.results).flat_map(|ty| &ty.dims).for_each(|d| atom(*d));
    let results = |block: &Block, atom: &mut dyn FnMut(Atom)| {
        block.results.iter().for_each(|a| atom(*a));
    };
    results(&function.body, &mut atom);
    function.body.each(&mut |stm| {
        stm.binds.iter().flat_map(|p| &p.ty.dims).for_each(|d| atom(*d));
        stm.exp.blocks().into_iter().for_each(|block| results(block, &mut atom));
        match &stm.exp {
            Exp::Op(Op::Call { function: callee, args, .. }) if *callee == id => {
                for (p, arg) in function.params.iter().zip(args) {
                    if *arg != Atom::Var(p.var) {
                        atom(*arg);
                    }
                }
            }
            exp => exp.atoms(&mut atom),
        }
    });
    needed
}

/// Removes results that no call uses.
fn results(program: &mut Function, id: FnId) -> bool {
    let Some(function) = program.library.function(id) else { return false };
    let mut keep = vec![false; function.results.len()];
    let functions = program.library.functions.iter().flatten();
    let bodies: Vec<&Block> = functions.map(|f| &f.body).chain([&program.body]).collect();
    bodies.iter().for_each(|body| used_results(body, id, &mut keep));
    // A kept array keeps its sizes: the bindings of each call that are its sizes, and the results
    // before it that are its sizes.
    bodies.iter().for_each(|body| sizes_of_results(body, id, &mut keep));
    for k in (0..keep.len()).rev() {
        if keep[k] {
            for dim in &function.results[k].dims {
                let before = function.body.results[..k].iter().position(|r| r == dim);
                before.into_iter().for_each(|j| keep[j] = true);
            }
        }
    }
    if !keep.contains(&false) {
        return false;
    }
    if let Some(Some(function)) = program.library.functions.get_mut(id.0 as usize) {
        function.results = kept(&function.results, &keep);
        function.body.results = kept(&function.body.results, &keep);
        if let Some(known) = &mut function.known {
            known.results = kept(&known.results, &keep);
        }
    }
    each_body(program, &mut |body| {
        each_call(body, &mut |stm| {
            if matches!(&stm.exp, Exp::Op(Op::Call { function, .. }) if *function == id) {
                stm.binds = kept(&stm.binds, &keep);
            }
        });
    });
    true
}

/// Marks the results of the function that are used, other than as the size of another one.
fn used_results(body: &Block, id: FnId, keep: &mut [bool]) {
    if !body.any(&mut |stm| calls(stm, id)) {
        return;
    }
    let uses = lambada_anf::uses(body);
    body.each(&mut |stm| {
        if calls(stm, id) {
            for (keep, p) in keep.iter_mut().zip(&stm.binds) {
                let sizes = stm.binds.iter().flat_map(|p| &p.ty.dims);
                let as_size = sizes.filter(|size| **size == Atom::Var(p.var)).count();
                *keep |= uses.get(&p.var).is_some_and(|uses| *uses > as_size);
            }
        }
    });
}

/// Marks the bindings of calls that are sizes of marked results.
fn sizes_of_results(body: &Block, id: FnId, keep: &mut [bool]) {
    body.each(&mut |stm| {
        if calls(stm, id) {
            for (k, p) in stm.binds.iter().enumerate() {
                let is_size = |bind: &Param| keep[k] && p.ty.dims.contains(&Atom::Var(bind.var));
                let sizes: Vec<usize> =
                    (0..stm.binds.len()).filter(|j| is_size(&stm.binds[*j])).collect();
                sizes.into_iter().for_each(|j| keep[j] = true);
            }
        }
    });
}

fn calls(stm: &Stm, id: FnId) -> bool {
    matches!(&stm.exp, Exp::Op(Op::Call { function, .. }) if *function == id)
}
