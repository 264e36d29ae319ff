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
type Place = (FnId, usize);

/// Parameters and results.
#[derive(Clone, Debug, Default, PartialEq)]
struct Places {
    params: HashSet<Place>,
    results: HashSet<Place>,
}

/// Makes such handles null, and says whether there are any. They must be tried again with the cheap
/// passes.
pub fn handed_on(program: &mut Function) -> bool {
    let mut places = handles(&program.library);
    while !places.params.is_empty() || !places.results.is_empty() {
        let mut tried = program.clone();
        nothing(&mut tried, &places);
        let mentioned = mentioned(&tried, &places);
        if mentioned == Places::default() {
            *program = tried;
            return true;
        }
        places.params.retain(|place| !mentioned.params.contains(place));
        places.results.retain(|place| !mentioned.results.contains(place));
    }
    false
}

/// All handles that functions take and give.
fn handles(library: &Library) -> Places {
    let mut places = Places::default();
    let is_handle = |ty: &Ty| ty.elem.node().is_some() && ty.dims.is_empty();
    for (function, k) in library.functions.iter().zip(0..) {
        let Some(function) = function else { continue };
        let params = function.params.iter().enumerate().filter(|(_, p)| is_handle(&p.ty));
        places.params.extend(params.map(|(at, _)| (FnId(k), at)));
        let results = function.results.iter().enumerate().filter(|(_, ty)| is_handle(ty));
        places.results.extend(results.map(|(at, _)| (FnId(k), at)));
    }
    places
}

/// Replaces these handles by null, and drops the code that is dead then.
fn nothing(program: &mut Function, places: &Places) {
    let Library { functions, .. } = &mut program.library;
    for (function, k) in functions.iter_mut().zip(0..) {
        let Some(function) = function else { continue };
        for (at, result) in function.body.results.iter_mut().enumerate() {
            if places.results.contains(&(FnId(k), at)) {
                *result = Atom::int(0);
            }
        }
        calls(&mut function.body, places);
    }
    calls(&mut program.body, places);
    let known = Calls::new(&program.library);
    program.library.functions.iter_mut().flatten().for_each(|f| _ = dead_code(f, &known));
    dead_code(program, &known);
}

fn calls(block: &mut Block, places: &Places) {
    for stm in &mut block.stms {
        if let Exp::Op(Op::Call { function, args, .. }) = &mut stm.exp {
            for (at, arg) in args.iter_mut().enumerate() {
                if places.params.contains(&(*function, at)) {
                    *arg = Atom::int(0);
                }
            }
        }
        stm.exp.blocks_mut().into_iter().for_each(|inner| calls(inner, places));
    }
}

/// Which of them something mentions.
fn mentioned(program: &Function, places: &Places) -> Places {
    let mut found = Places::default();
    for (function, k) in program.library.functions.iter().zip(0..) {
        let Some(function) = function else { continue };
        let used = lambada_anf::uses(&function.body);
        let is_used = |var: Var| used.get(&var).is_some_and(|count| *count > 0);
        let params = function.params.iter().enumerate().filter(|(_, p)| is_used(p.var));
        let params = params.map(|(at, _)| (FnId(k), at));
        found.params.extend(params.filter(|place| places.params.contains(place)));
        given(&function.body, &is_used, places, &mut found);
    }
    let used = lambada_anf::uses(&program.body);
    let is_used = |var: Var| used.get(&var).is_some_and(|count| *count > 0);
    given(&program.body, &is_used, places, &mut found);
    found
}

/// The results of calls that are used.
fn given(block: &Block, is_used: &dyn Fn(Var) -> bool, places: &Places, found: &mut Places) {
    block.each(&mut |stm| {
        if let Exp::Op(Op::Call { function, .. }) = &stm.exp {
            let used = stm.binds.iter().enumerate().filter(|(_, p)| is_used(p.var));
            let used = used.map(|(at, _)| (*function, at));
            found.results.extend(used.filter(|place| places.results.contains(place)));
        }
    });
}
