//! Guards for accesses of arrays. The scalars of a graph are total, so they may be computed
//! anywhere; an access is not. An access that is not evidently in range at its place becomes
//! conditional: one whose value is needed is in range.
//!
//! *Gives* a function in which each index is evidently in range, as `lambada_anf::check` asks.
//! *Keeps* all else.

use lambada_anf::bounds::ScopedFacts;
use lambada_anf::{
    Atom, Block, Exp, Function, LoopKind, NAMELESS, Names, Nest, Op, Param, Stm, Ty, Var,
};
use lambada_prim::Prim;
use rustc_hash::FxHashMap;

/// Makes those accesses of a function and of its library conditional that are not evidently in
/// range.
pub fn clamp(function: &mut Function) {
    function.library.functions.iter_mut().flatten().for_each(clamp);
    let mut known = ScopedFacts::default();
    known.sizes(function);
    let mut clamp = Clamp { names: &mut function.names, known, types: FxHashMap::default() };
    clamp.declare(&function.params);
    clamp.declare(&function.accumulators);
    clamp.block(&mut function.body);
}

struct Clamp<'a> {
    names: &'a mut Names,
    known: ScopedFacts,
    types: FxHashMap<Var, Vec<Atom>>,
}

impl Clamp<'_> {
    fn declare(&mut self, params: &[Param]) {
        self.types.extend(params.iter().map(|p| (p.var, p.ty.dims.clone())));
    }

    fn block(&mut self, block: &mut Block) {
        let mark = self.known.mark();
        self.statements(block);
        self.known.reset(mark);
    }

    fn statements(&mut self, block: &mut Block) {
        for mut stm in std::mem::take(&mut block.stms) {
            self.nested(&mut stm.exp);
            if let Exp::Op(op) = &stm.exp
                && let Some((array, index)) = op.access()
            {
                let sizes = self.types.get(&array).cloned().unwrap_or_default();
                let pairs: Vec<(Atom, Atom)> = index.iter().copied().zip(sizes).collect();
                if let Some(cond) = self.missing(&pairs, &mut block.stms) {
                    stm = self.conditional(cond, stm);
                }
            }
            self.declare(&stm.binds);
            self.known.pass(&stm);
            block.stms.push(stm);
        }
    }

    fn nested(&mut self, exp: &mut Exp) {
        let mark = self.known.mark();
        self.known.enter(exp);
        match exp {
            Exp::Nest(Nest::For { body, .. }) => self.statements(body),
            Exp::Nest(Nest::Loop { params, kind, body, .. }) => {
                self.declare(params);
                if let LoopKind::While(cond) = kind {
                    self.block(cond);
                    self.known.assume(cond.results[0], true);
                }
                self.statements(body);
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => {
                for (branch, holds) in [(then, true), (otherwise, false)] {
                    let mark = self.known.mark();
                    self.known.assume(*cond, holds);
                    self.statements(branch);
                    self.known.reset(mark);
                }
            }
            Exp::Op(_) => {}
        }
        self.known.reset(mark);
    }

    /// The part of `0 ≤ index < size` that is not evident, as a condition.
    fn missing(&mut self, pairs: &[(Atom, Atom)], stms: &mut Vec<Stm>) -> Option<Atom> {
        let mut missing = Vec::new();
        for (index, size) in pairs {
            if self.known.ask(|place| place.in_range(*index, *size)) {
                continue;
            }
            missing.push(self.prim(Prim::LeInt, [Atom::int(0), *index], stms));
            missing.push(self.prim(Prim::LtInt, [*index, *size], stms));
        }
        let first = missing.first().copied()?;
        Some(missing[1..].iter().fold(first, |all, c| self.prim(Prim::And, [all, *c], stms)))
    }

    fn prim(&mut self, op: Prim, args: [Atom; 2], stms: &mut Vec<Stm>) -> Atom {
        let var = self.names.fresh(NAMELESS);
        let binds = vec![Param { var, ty: Ty::scalar(op.result()) }];
        let stm = Stm::new(binds, Op::Prim(op, args.to_vec()));
        self.known.pass(&stm);
        stms.push(stm);
        var.into()
    }

    /// The access if the condition holds; else zeros.
    fn conditional(&mut self, cond: Atom, stm: Stm) -> Stm {
        let binds = stm.binds.clone();
        let (mut then, mut otherwise) = (Block::default(), Block::default());
        let mut inner = stm;
        for (p, own) in binds.iter().zip(&mut inner.binds) {
            own.var = self.names.again(p.var);
            then.results.push(own.var.into());
            let zero = Atom::Lit(p.ty.elem.zero());
            if p.ty.rank() == 0 {
                otherwise.results.push(zero);
            } else {
                let var = self.names.again(p.var);
                let none = Param { var, ty: p.ty.clone() };
                otherwise.stms.push(Stm::new(vec![none], Op::Fill(zero)));
                otherwise.results.push(var.into());
            }
        }
        then.stms.push(inner);
        Stm::new(binds, Nest::If { cond, then, otherwise })
    }
}
