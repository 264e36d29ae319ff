//! Products with constants, `y = k · x`: a square of such a value contributes to the reverse sweep
//! once.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, Exp, Op, Stm, Var};
use lambada_prim::{Prim, Scalar};

/// The values that are constant multiples of others, with base and constant.
pub(crate) fn multiples(block: &Block) -> HashMap<Var, (Atom, f64)> {
    fn collect(block: &Block, all: &mut HashMap<Var, (Atom, f64)>) {
        for stm in &block.stms {
            if let [p] = &stm.binds[..] {
                all.extend(multiple(stm, p.var.into()).map(|multiple| (p.var, multiple)));
            }
            stm.exp.blocks().into_iter().for_each(|inner| collect(inner, all));
        }
    }
    let mut all = HashMap::new();
    collect(block, &mut all);
    all
}

/// The base and the constant of the product `y`, if the statement computes one.
pub(crate) fn multiple(stm: &Stm, y: Atom) -> Option<(Atom, f64)> {
    let Exp::Op(Op::Prim(op, args)) = &stm.exp else { return None };
    let own = stm.binds[0].var;
    match (op, &args[..]) {
        _ if Atom::Var(own) != y => None,
        (Prim::Neg, [x]) => Some((*x, -1.0)),
        (Prim::Mul, [x, Atom::Lit(Scalar::Real(k))] | [Atom::Lit(Scalar::Real(k)), x]) => {
            Some((*x, *k))
        }
        (_, _) => None, // no multiple
    }
}
