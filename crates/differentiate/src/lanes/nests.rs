//! Nests with lanes: each stays one nest, and its varying results and states get the axis.

use lambada_anf::{Atom, Block, Exp, LoopKind, Nest, Op, Out, Param, Renaming, Stm, Ty, Var};
use lambada_prim::ReduceOp;

use super::Lanes;

impl Lanes<'_> {
    /// A statement outside of runs.
    pub(super) fn stm(&mut self, stm: &Stm) {
        if !self.varying.touches(stm) {
            return self.b.stms.push(stm.clone());
        }
        match &stm.exp {
            Exp::Op(op) => self.op(stm, op),
            Exp::Nest(Nest::For { index, extent, outs, body }) => {
                self.for_(stm, *index, *extent, outs, body)
            }
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                self.loop_(stm, params, inits, kind, body)
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => self.if_(stm, *cond, then, otherwise),
        }
    }

    /// A `for` with lanes. An accumulator adds up the lanes of each sum.
    fn for_(&mut self, stm: &Stm, index: Var, extent: Atom, outs: &[Out], body: &Block) {
        let mut body = body.clone();
        let (mut binds, mut kept, mut wanted, mut sums) = (vec![], vec![], vec![], vec![]);
        let results = std::mem::take(&mut body.results);
        for ((bind, out), result) in stm.binds.iter().zip(outs).zip(results) {
            let varies = self.varying.is(bind.var);
            match out {
                Out::Reduce(op) if varies => {
                    let acc = self.sum(bind, *op);
                    body.stms.push(Stm::effect(Op::Accumulate {
                        acc,
                        index: Vec::new(),
                        value: result,
                    }));
                    sums.push((bind, acc));
                }
                Out::Collect | Out::Reduce(_) => {
                    body.results.push(result);
                    wanted.push(varies.then(|| bind.ty.indexed(1)));
                    kept.push(*out);
                    binds.push(bind);
                }
            }
        }
        let body = self.block(&body, &wanted);
        let binds = self.results(&binds);
        let nest = Nest::For { index, extent, outs: kept, body };
        self.b.stms.push(Stm::new(binds, nest));
        for (bind, acc) in sums {
            self.bind(bind, Op::Freeze(self.of[&acc]));
        }
    }

    /// A new accumulator for the lanes of a sum.
    fn sum(&mut self, bind: &Param, op: ReduceOp) -> Var {
        let unit = Atom::Lit(op.unit(bind.ty.elem.scalar()));
        let start = self.lanes(unit, &bind.ty);
        let acc = Param { var: self.b.names.again(bind.var), ty: bind.ty.clone() };
        self.varying.sum(acc.var, &acc.ty);
        self.accumulator(&acc, start);
        acc.var
    }

    fn loop_(
        &mut self,
        stm: &Stm,
        params: &[Param],
        inits: &[Atom],
        kind: &LoopKind,
        body: &Block,
    ) {
        let varies: Vec<bool> = params.iter().map(|p| self.varying.is(p.var)).collect();
        let wanted = |values: &[Atom]| -> Vec<Option<Ty>> {
            let naming = naming(params, values);
            params.iter().zip(&varies).map(|(p, v)| v.then(|| naming.ty(&p.ty))).collect()
        };
        let mut first = Vec::new();
        for (init, ty) in inits.iter().zip(wanted(inits)) {
            first.push(ty.map_or(*init, |ty| self.lanes(*init, &ty).into()));
        }
        let states = self.results(&params.iter().collect::<Vec<_>>());
        let body = self.block(body, &wanted(&body.results));
        let binds = self.results(&stm.binds.iter().collect::<Vec<_>>());
        let nest = Nest::Loop { params: states, inits: first, kind: kind.clone(), body };
        self.b.stms.push(Stm::new(binds, nest));
    }

    fn if_(&mut self, stm: &Stm, cond: Atom, then: &Block, otherwise: &Block) {
        let varies: Vec<bool> = stm.binds.iter().map(|p| self.varying.is(p.var)).collect();
        let [then, otherwise] = [then, otherwise].map(|block| {
            let naming = naming(&stm.binds, &block.results);
            let wanted: Vec<Option<Ty>> =
                stm.binds.iter().zip(&varies).map(|(p, v)| v.then(|| naming.ty(&p.ty))).collect();
            self.block(block, &wanted)
        });
        let binds = self.results(&stm.binds.iter().collect::<Vec<_>>());
        self.b.stms.push(Stm::new(binds, Nest::If { cond, then, otherwise }));
    }

    /// The results of a nest, with lanes if they vary.
    fn results(&mut self, binds: &[&Param]) -> Vec<Param> {
        let mut bound = Vec::new();
        for p in binds {
            let varies = self.varying.is(p.var);
            bound.push(if varies { self.lanes_param(p) } else { (*p).clone() });
        }
        bound
    }
}

/// Maps the parameters to `values`.
fn naming(params: &[Param], values: &[Atom]) -> Renaming {
    let mut naming = Renaming::new();
    params.iter().zip(values).for_each(|(p, value)| naming.insert(p.var, *value));
    naming
}
