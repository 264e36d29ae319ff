//! A rule at absent tangents: a term of absent tangents alone is absent, too, because a product
//! with an infinite slope would be NaN.
//!
//! ```text
//!   ẏ = 0.5 / sqrt a · ȧ + ḃ      at ȧ absent      ẏ = ḃ      and not 0 · ∞ + ḃ at a = 0
//! ```
//!
//! * Assumes: names are bound once.
//! * Gives: the code with literal zeros for absent scalars, and its absent results.
//! * Keeps: all other code. Where an operation is not linear in an absent scalar, the scalar is the
//!   number 0.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Exp, Nest, Op, Out, Renaming, Stm, Var};
use lambada_prim::{Prim, ReduceOp, Scalar};

const ZERO: Atom = Atom::Lit(Scalar::Real(0.0));

/// The block with `absent` scalars and `zeros` arrays replaced, and its absent results.
pub(crate) fn without(
    mut block: Block,
    (absent, zeros): (&[Var], &[Var]),
) -> (Block, HashSet<usize>) {
    let seen = absent.iter().chain(zeros).copied().collect();
    let mut known = Absent { seen, ..Absent::default() };
    loop {
        let before = known.there.len();
        known.block(&block);
        if known.there.len() == before {
            break;
        }
    }
    let results = block.results.iter().enumerate().filter(|(_, x)| known.is_nothing(**x));
    let results = results.map(|(k, _)| k).collect();
    let mut renaming = Renaming::new();
    absent.iter().for_each(|x| renaming.insert(*x, ZERO));
    known.rewrite(&mut block, &mut renaming);
    (block, results)
}

/// The absent variables of a block: seen, and not present. The present ones grow from round to
/// round, because the next state of a loop may be present where the initial state is absent.
#[derive(Default)]
struct Absent {
    seen: HashSet<Var>,
    there: HashSet<Var>,
    /// Arrays filled with a literal zero.
    zeros: HashSet<Var>,
}

impl Absent {
    fn is(&self, x: Atom) -> bool {
        x.as_var().is_some_and(|x| self.seen.contains(&x) && !self.there.contains(&x))
    }

    /// Whether `x` is absent or a literal zero.
    fn is_nothing(&self, x: Atom) -> bool {
        let zero = match x {
            Atom::Lit(_) => x == ZERO,
            Atom::Var(x) => self.zeros.contains(&x),
        };
        zero || self.is(x)
    }

    /// Whether all are absent or zero, and at least one is absent.
    fn are(&self, xs: &[Atom]) -> bool {
        xs.iter().all(|x| self.is_nothing(*x)) && xs.iter().any(|x| self.is(*x))
    }

    fn bind(&mut self, x: Var, absent: bool) {
        self.seen.insert(x);
        if !absent {
            self.there.insert(x);
        }
    }

    fn block(&mut self, block: &Block) {
        block.stms.iter().for_each(|stm| self.stm(stm));
    }

    fn stm(&mut self, stm: &Stm) {
        match &stm.exp {
            Exp::Op(op) => {
                if let (Op::Fill(x), [p]) = (op, &stm.binds[..])
                    && *x == ZERO
                {
                    self.zeros.insert(p.var);
                } else if let Op::Accumulate { acc, value, .. } = op
                    && !self.is_nothing(*value)
                {
                    self.there.insert(*acc);
                } else if let Op::Call { accumulators, .. } = op {
                    self.there.extend(accumulators);
                }
                let absent = self.op(op);
                stm.binds.iter().for_each(|p| self.bind(p.var, absent));
            }
            Exp::Nest(Nest::For { outs, body, .. }) => {
                self.block(body);
                for ((p, out), x) in stm.binds.iter().zip(outs).zip(&body.results) {
                    let linear = matches!(out, Out::Collect | Out::Reduce(ReduceOp::Add));
                    self.bind(p.var, linear && self.is(*x));
                }
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                self.block(then);
                self.block(otherwise);
                for (k, p) in stm.binds.iter().enumerate() {
                    let absent = self.are(&[then.results[k], otherwise.results[k]]);
                    self.bind(p.var, absent);
                }
            }
            Exp::Nest(Nest::Loop { params, inits, body, .. }) => {
                for (p, init) in params.iter().zip(inits) {
                    let absent = self.is(*init);
                    self.bind(p.var, absent);
                }
                stm.exp.blocks().into_iter().for_each(|inner| self.block(inner));
                for ((p, out), x) in params.iter().zip(&stm.binds).zip(&body.results) {
                    let absent = self.is(p.var.into()) && self.is_nothing(*x);
                    self.bind(p.var, absent);
                    self.bind(out.var, absent);
                }
            }
        }
    }

    fn op(&self, op: &Op) -> bool {
        match op {
            Op::Prim(Prim::Neg | Prim::Mul, args) => args.iter().any(|x| self.is(*x)),
            Op::Prim(Prim::Div, args) => self.is(args[0]),
            Op::Prim(Prim::Add | Prim::Sub, args) => self.are(args),
            Op::Prim(Prim::Select, args) => self.are(&args[1..]),
            Op::Fill(x) | Op::Accumulator(x) => self.is(*x),
            Op::Index(x, _) | Op::Freeze(x) => self.is((*x).into()),
            Op::Array(items) => self.are(items),
            Op::Update { array, value, .. } => self.are(&[(*array).into(), *value]),
            Op::ArrayPrim(prim, args) => {
                let mut linear = prim.row().linear.iter();
                linear.any(|k| args.get(*k).is_some_and(|x| self.is((*x).into())))
            }
            Op::Prim(..)
            | Op::Constant(_)
            | Op::Accumulate { .. }
            | Op::Check { .. }
            | Op::Inspect { .. }
            | Op::Call { .. }
            | Op::Node { .. }
            | Op::Tag(_)
            | Op::Field { .. }
            | Op::Open { .. }
            | Op::Cell { .. }
            | Op::Scheduled(_) => false,
        }
    }

    fn rewrite(&self, block: &mut Block, renaming: &mut Renaming) {
        block.stms.retain_mut(|stm| {
            let replaced = self.replaced(stm);
            stm.exp.atoms_mut(&mut |x| *x = renaming.atom(*x));
            let dims = stm.binds.iter_mut().flat_map(|p| &mut p.ty.dims);
            dims.for_each(|x| *x = renaming.atom(*x));
            stm.exp.blocks_mut().into_iter().for_each(|inner| self.rewrite(inner, renaming));
            match replaced {
                Replaced::Not => true,
                Replaced::Dropped => false,
                Replaced::By(op) => {
                    stm.exp = Exp::Op(op);
                    true
                }
                Replaced::Negated(x) => {
                    stm.exp = Exp::Op(Op::Prim(Prim::Neg, vec![renaming.atom(x)]));
                    true
                }
                Replaced::Atom(x) => {
                    renaming.insert(stm.binds[0].var, renaming.atom(x));
                    false
                }
            }
        });
        block.results.iter_mut().for_each(|x| *x = renaming.atom(*x));
    }

    fn replaced(&self, stm: &Stm) -> Replaced {
        match (&stm.exp, &stm.binds[..]) {
            (Exp::Op(Op::Accumulate { value, .. }), _) if self.is(*value) => Replaced::Dropped,
            (Exp::Op(Op::Accumulator(_) | Op::Freeze(_)), _) => Replaced::Not,
            (Exp::Op(_), [p]) if self.is(p.var.into()) => match p.ty.dims[..] {
                [] => Replaced::Atom(ZERO),
                _ => Replaced::By(Op::Fill(ZERO)),
            },
            (Exp::Op(Op::Prim(prim @ (Prim::Add | Prim::Sub), args)), _) => {
                match [self.is(args[0]), self.is(args[1])] {
                    [_, true] => Replaced::Atom(args[0]),
                    [true, false] if *prim == Prim::Add => Replaced::Atom(args[1]),
                    [true, false] => Replaced::Negated(args[1]),
                    [false, false] => Replaced::Not,
                }
            }
            (Exp::Op(_) | Exp::Nest(_), _) => Replaced::Not,
        }
    }
}

/// The replacement of a statement.
enum Replaced {
    Not,
    Dropped,
    By(Op),
    Atom(Atom),
    Negated(Atom),
}
