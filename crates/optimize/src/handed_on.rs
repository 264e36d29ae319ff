//! Handles that functions only hand on to each other: a tape that holds nothing but tapes of the
//! calls inside has no information. Callers neither make nor pass it.
//!
//! Assumes: nothing. Gives: the program with null for such handles; their remainders go with other
//! dead code. Keeps: values and failures.
//!
//! All handles that functions take and give are candidates at first. With the candidates null,
//! those that something still mentions are removed from the set, until it is stable: so handles
//! that only need each other go together.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Exp, FnId, Function, Library, Op, Ty, Var};

use crate::calls::Calls;
use crate::dead_code::dead_code;

/// A parameter or a result of a function of the library, by its position.
type Position = (FnId, usize);

/// Parameters and results.
#[derive(Clone, Debug, Default, PartialEq)]
struct Positions {
    params: HashSet<Position>,
    results: HashSet<Position>,
}

/// Makes such handles null, and says whether there are any. They must be tried again with the cheap
/// passes.
pub fn handed_on(program: &mut Function) -> bool {
    let mut positions = handles(&program.library);
    while !positions.params.is_empty() || !positions.results.is_empty() {
        let mut tried = program.clone();
        nothing(&mut tried, &positions);
        let mentioned = mentioned(&tried, &positions);
        if mentioned == Positions::default() {
            *program = tried;
            return true;
        }
        positions.params.retain(|position| !mentioned.params.contains(position));
        positions.results.retain(|position| !mentioned.results.contains(position));
    }
    false
}

/// All handles that functions take and give.
fn handles(library: &Library) -> Positions {
    let mut positions = Positions::default();
    let is_handle = |ty: &Ty| ty.elem.node().is_some() && ty.dims.is_empty();
    for (function, k) in library.functions.iter().zip(0..) {
        let Some(function) = function else { continue };
        let params = function.params.iter().enumerate().filter(|(_, p)| is_handle(&p.ty));
        positions.params.extend(params.map(|(at, _)| (FnId(k), at)));
        let results = function.results.iter().enumerate().filter(|(_, ty)| is_handle(ty));
        positions.results.extend(results.map(|(at, _)| (FnId(k), at)));
    }
    positions
}

/// Replaces these handles by null, and drops the code that is dead then.
fn nothing(program: &mut Function, positions: &Positions) {
    let Library { functions, .. } = &mut program.library;
    for (function, k) in functions.iter_mut().zip(0..) {
        let Some(function) = function else { continue };
        for (at, result) in function.body.results.iter_mut().enumerate() {
            if positions.results.contains(&(FnId(k), at)) {
                *result = Atom::int(0);
            }
        }
        calls(&mut function.body, positions);
    }
    calls(&mut program.body, positions);
    let known = Calls::new(&program.library);
    program.library.functions.iter_mut().flatten().for_each(|f| _ = dead_code(f, &known));
    dead_code(program, &known);
}

fn calls(block: &mut Block, positions: &Positions) {
    for stm in &mut block.stms {
        if let Exp::Op(Op::Call { function, args, .. }) = &mut stm.exp {
            for (at, arg) in args.iter_mut().enumerate() {
                if positions.params.contains(&(*function, at)) {
                    *arg = Atom::int(0);
                }
            }
        }
        stm.exp.blocks_mut().into_iter().for_each(|inner| calls(inner, positions));
    }
}

/// Which of them something mentions.
fn mentioned(program: &Function, positions: &Positions) -> Positions {
    let mut found = Positions::default();
    for (function, k) in program.library.functions.iter().zip(0..) {
        let Some(function) = function else { continue };
        let used = lambada_anf::uses(&function.body);
        let is_used = |var: Var| used.get(&var).is_some_and(|count| *count > 0);
        let params = function.params.iter().enumerate().filter(|(_, p)| is_used(p.var));
        let params = params.map(|(at, _)| (FnId(k), at));
        found.params.extend(params.filter(|position| positions.params.contains(position)));
        given(&function.body, &is_used, positions, &mut found);
    }
    let used = lambada_anf::uses(&program.body);
    let is_used = |var: Var| used.get(&var).is_some_and(|count| *count > 0);
    given(&program.body, &is_used, positions, &mut found);
    found
}

/// The results of calls that are used.
fn given(
    block: &Block,
    is_used: &dyn Fn(Var) -> bool,
    positions: &Positions,
    found: &mut Positions,
) {
    block.each(&mut |stm| {
        if let Exp::Op(Op::Call { function, .. }) = &stm.exp {
            let used = stm.binds.iter().enumerate().filter(|(_, p)| is_used(p.var));
            let used = used.map(|(at, _)| (*function, at));
            found.results.extend(used.filter(|position| positions.results.contains(position)));
        }
    });
}
