//! Removal of unused parts of the library: functions that the entry does not reach, parameters that
//! no function needs that they are handed to, and results that no call uses.
//!
//! Assumes: nothing. Gives: a library without these. Keeps: values and failures.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Exp, FnId, Function, Known, Library, Op, Param, Role, Stm, Var};

use crate::control::kept;

/// The pass, on a program.
pub(crate) fn unused(program: &mut Function) -> bool {
    if program.library.is_empty() {
        return false;
    }
    unreached(program) | parameters(program) | results(program)
}

/// Removes functions that no run of the entry calls.
fn unreached(program: &mut Function) -> bool {
    let library = &program.library;
    let mut keep = vec![false; library.functions.len()];
    let reached = library.reached(program.body.callees());
    reached.iter().for_each(|id| keep[id.0 as usize] = true);
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

/// Removes parameters that functions do not need.
fn parameters(program: &mut Function) -> bool {
    let keep = needed(&program.library);
    let functions = program.library.functions.iter_mut();
    for (function, keep) in functions.flatten().zip(keep.iter().flatten()) {
        function.params = kept(&function.params, keep);
        if let Some(known) = &mut function.known {
            known.params = kept(&known.params, keep);
        }
    }
    each_body(program, &mut |body| {
        each_call(body, &mut |stm| {
            if let Exp::Op(Op::Call { function, args, .. }) = &mut stm.exp
                && let Some(keep) = &keep[function.0 as usize]
            {
                *args = kept(args, keep);
            }
        });
    });
    keep.iter().flatten().flatten().any(|keep| !keep)
}

/// Dataflow analysis: which parameters of the functions are needed. A parameter that is only handed
/// to others is needed if one of them is.
fn needed(library: &Library) -> Vec<Option<Vec<bool>>> {
    let mut keep: Vec<Option<Vec<bool>>> = Vec::with_capacity(library.functions.len());
    // For each parameter that is an argument: the parameters that are handed on as this one.
    let mut handed: HashMap<(FnId, usize), Vec<(FnId, usize)>> = HashMap::new();
    for (function, id) in library.functions.iter().zip((0..).map(FnId)) {
        let Some(function) = function else {
            keep.push(None);
            continue;
        };
        let mentioned = mentioned(function);
        let roles = function.known.as_ref().map_or(&[][..], |known| &known.params);
        let is_needed = |(k, p): (usize, &Param)| {
            mentioned.contains(&p.var) || roles.get(k).is_some_and(|role| *role != Role::Implicit)
        };
        keep.push(Some(function.params.iter().enumerate().map(is_needed).collect()));
        let places: HashMap<Var, usize> =
            function.params.iter().zip(0..).map(|(p, k)| (p.var, k)).collect();
        function.body.each(&mut |stm| {
            let Exp::Op(Op::Call { function: callee, args, .. }) = &stm.exp else { return };
            for (at, arg) in args.iter().enumerate() {
                let place = arg.as_var().and_then(|var| places.get(&var));
                let from = place.map(|k| (id, *k));
                handed.entry((*callee, at)).or_default().extend(from);
            }
        });
    }
    let mut open = Vec::new();
    for (all, id) in keep.iter().zip((0..).map(FnId)) {
        let needed = all.iter().flatten().enumerate().filter(|(_, needed)| **needed);
        open.extend(needed.map(|(k, _)| (id, k)));
    }
    while let Some(param) = open.pop() {
        for (id, k) in handed.remove(&param).unwrap_or_default() {
            let Some(keep) = &mut keep[id.0 as usize] else { continue };
            if !std::mem::replace(&mut keep[k], true) {
                open.push((id, k));
            }
        }
    }
    keep
}

/// The variables that the function mentions, other than as arguments of calls.
fn mentioned(function: &Function) -> HashSet<Var> {
    let mut mentioned: HashSet<Var> = HashSet::new();
    let mut atom = |a: Atom| mentioned.extend(a.as_var());
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
            Exp::Op(Op::Call { .. }) => {}
            exp => exp.atoms(&mut atom),
        }
    });
    mentioned
}

/// Removes results that no call uses.
fn results(program: &mut Function) -> bool {
    let mut keep = used(program);
    let functions = program.library.functions.iter_mut();
    for (function, keep) in functions.flatten().zip(keep.iter_mut().flatten()) {
        // A kept array keeps the results before it that are its sizes.
        for k in (0..keep.len()).rev() {
            if keep[k] {
                for dim in &function.results[k].dims {
                    let before = function.body.results[..k].iter().position(|r| r == dim);
                    before.into_iter().for_each(|j| keep[j] = true);
                }
            }
        }
        function.results = kept(&function.results, keep);
        function.body.results = kept(&function.body.results, keep);
        if let Some(known) = &mut function.known {
            known.results = kept(&known.results, keep);
        }
    }
    each_body(program, &mut |body| {
        each_call(body, &mut |stm| {
            if let Exp::Op(Op::Call { function, .. }) = &stm.exp
                && let Some(keep) = &keep[function.0 as usize]
            {
                stm.binds = kept(&stm.binds, keep);
            }
        });
    });
    keep.iter().flatten().flatten().any(|keep| !keep)
}

/// Which results of the functions some call uses, other than as the sizes of unused ones. The text
/// of a call may mention the function without calling it.
fn used(program: &Function) -> Vec<Option<Vec<bool>>> {
    let functions = &program.library.functions;
    let before = |f: &Option<Function>| {
        let f = f.as_ref()?;
        let is_in_text = f.known.as_ref().is_some_and(Known::is_defined);
        Some(vec![is_in_text; f.results.len()])
    };
    let mut used: Vec<Option<Vec<bool>>> = functions.iter().map(before).collect();
    let bodies = || functions.iter().flatten().map(|f| &f.body).chain([&program.body]);
    for body in bodies() {
        let uses = lambada_anf::uses(body);
        body.each(&mut |stm| {
            let Exp::Op(Op::Call { function, .. }) = &stm.exp else { return };
            for (used, p) in used[function.0 as usize].iter_mut().flatten().zip(&stm.binds) {
                let sizes = stm.binds.iter().flat_map(|p| &p.ty.dims);
                let as_size = sizes.filter(|size| **size == Atom::Var(p.var)).count();
                *used |= uses.get(&p.var).is_some_and(|uses| *uses > as_size);
            }
        });
    }
    // The bindings of each call that are sizes of a used array.
    for body in bodies() {
        body.each(&mut |stm| {
            let Exp::Op(Op::Call { function, .. }) = &stm.exp else { return };
            let Some(used) = &mut used[function.0 as usize] else { return };
            for k in 0..stm.binds.len() {
                for size in stm.binds[k].ty.dims.iter().filter(|_| used[k]).collect::<Vec<_>>() {
                    let bound = stm.binds.iter().position(|p| *size == p.var.into());
                    bound.into_iter().for_each(|j| used[j] = true);
                }
            }
        });
    }
    used
}
