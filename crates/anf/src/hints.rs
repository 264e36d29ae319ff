//! Names for values without one: after the operation and its operand. This comes before
//! differentiation, because derivatives name cotangents and tapes after their values.

use std::collections::HashSet;
use std::rc::Rc;

use lambada_prim::{Prim, ScalarTy, Surface};

use crate::{Atom, Block, Exp, Names, Op};

/// The name of a value without one: `t` where people see it, but no author can have called it so.
pub const NAMELESS: &str = "?t";

/// The longest name made of two words.
const LONG: usize = 14;

/// Names each nameless value after its operation.
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

/// The name of the negative of a value.
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
