//! Names for values that their author gave none: after the operation and what it is applied to.
//! Derivatives name cotangents and tapes after the values that they belong to, so this comes
//! before.

use std::collections::HashSet;
use std::rc::Rc;

use lambada_prim::{Prim, ScalarTy, Surface};

use crate::{Atom, Block, Exp, Names, Op};

/// What a value is called that has no name: `t` where people see it, but no author can have called
/// it so.
pub const NAMELESS: &str = "?t";

/// A name longer than this says too much.
const LONG: usize = 14;

/// Gives values without a name one that says what they are.
pub fn name_values(names: &mut Names, block: &Block) {
    for stm in &block.stms {
        if let Exp::Op(Op::Prim(op, args)) = &stm.exp
            && &*names.hint(stm.binds[0].var) == NAMELESS
            && let Some(hint) = of_operation(names, *op, args)
        {
            names.rename(stm.binds[0].var, hint);
        }
        stm.exp.blocks().into_iter().for_each(|inner| name_values(names, inner));
    }
}

/// What the negative of something is called.
pub fn negative(hint: &str) -> Rc<str> {
    match hint.strip_prefix("minus_") {
        Some(positive) => positive.into(),
        None if hint == NAMELESS => hint.into(),
        None => format!("minus_{hint}").into(),
    }
}

fn of_operation(names: &Names, op: Prim, args: &[Atom]) -> Option<Rc<str>> {
    let words: HashSet<Rc<str>> =
        args.iter().filter_map(|a| a.as_var()).map(|v| names.hint(v)).collect();
    let word = words.iter().next().filter(|word| words.len() == 1 && &***word != NAMELESS);
    if op == Prim::ToReal {
        return word.cloned();
    }
    if op.result() != ScalarTy::Real {
        return None;
    }
    match op.row().surface {
        Surface::Call(f) if args.len() == 1 => {
            let word = word.filter(|word| f.len() + 1 + word.len() <= LONG);
            Some(word.map_or(format!("{f}_t"), |word| format!("{f}_{word}")).into())
        }
        Surface::Infix("-") => Some("diff".into()),
        Surface::Infix("/") if args[0] == Atom::real(1.0) => {
            let word = word.filter(|word| word.len() + 8 <= LONG);
            Some(word.map_or("inverse".into(), |word| format!("inverse_{word}").into()))
        }
        Surface::Infix("/") => Some("ratio".into()),
        Surface::Infix("*" | "**") if is_square(op, args) => {
            word.filter(|word| word.len() + 8 <= LONG).map(|word| format!("{word}_squared").into())
        }
        Surface::Infix(_) | Surface::Prefix(_) | Surface::Call(_) | Surface::If => None,
    }
}

/// `x * x`, or `x ** 2`
fn is_square(op: Prim, args: &[Atom]) -> bool {
    match op {
        Prim::PowInt => args[1] == Atom::int(2),
        Prim::Pow => args[1] == Atom::real(2.0),
        _ => args[0] == args[1], // a product
    }
}
