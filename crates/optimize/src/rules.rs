//! Functions with rules are called, so that derivatives find the rules. When the last derivative
//! has been taken, these calls are written out, whatever their size, and fuse with the code around
//! them.
//!
//! Assumes: derivatives have been taken. Gives: no function has rules, and of the functions that
//! had rules, only recursive ones are called. Keeps: values and failures.

use lambada_anf::{Function, without_rules};

/// The pass, on a program.
pub(crate) fn rules(program: &mut Function) -> bool {
    let library = program.library.clone();
    if library.functions.iter().flatten().all(|f| f.rules.is_none()) {
        return false;
    }
    without_rules(&library, &mut program.names, &mut program.body);
    for function in program.library.functions.iter_mut().flatten() {
        without_rules(&library, &mut function.names, &mut function.body);
        function.rules = None;
    }
    true
}
