//! Facts about the whole function for its reverse derivative.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::{Block, Exp, Lambda, Nest, Op, Param, Stm, Ty, Var};

use crate::activity::Activity;
use crate::derived::Partial;
use crate::settled::{from_final, settled_reads};
use crate::unbounded::Unbounded;
use crate::versions::Versions;

#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) activity: Rc<Activity>,
    types: HashMap<Var, Ty>,
    /// Arrays in loops and recursions that may share memory with an earlier or later state of
    /// themselves. Reading an element is cheap, but storing the whole array per iteration would
    /// cost more than the program that made it.
    state: HashSet<Var>,
    settled: HashMap<Var, Var>,
    /// The arrays that the reverse sweep restores.
    pub(crate) versions: Versions,
    /// The scalars whose cotangents' presence matters.
    pub(crate) unbounded: Unbounded,
}

impl Facts {
    /// `state`: parameters that a recursion threads through its calls; `except`: states that the
    /// reverse sweep must not restore.
    pub(crate) fn of(
        f: &Lambda,
        activity: &Rc<Activity>,
        state: &[Param],
        except: &HashSet<Var>,
        ruled: &Partial,
    ) -> Facts {
        let (activity, settled) = (activity.clone(), settled_reads(f));
        let versions = Versions::of(f, &activity, &settled, except);
        let unbounded = Unbounded::of(f, &activity, ruled);
        let (types, carried) = (HashMap::new(), arrays(state).collect());
        let mut facts = Facts { activity, types, state: carried, settled, versions, unbounded };
        facts.params(&f.params);
        facts.block(&f.body, !state.is_empty());
        facts
    }

    /// The type of a variable that the function binds.
    pub(crate) fn ty(&self, x: Var) -> &Ty {
        self.types.get(&x).unwrap_or_else(|| panic!("variable {} is free in the function", x.0))
    }

    /// The type of a variable, if the function binds it.
    pub(crate) fn known_ty(&self, x: Var) -> Option<&Ty> {
        self.types.get(&x)
    }

    pub(crate) fn is_state(&self, x: Var) -> bool {
        self.state.contains(&x)
    }

    /// Whether the read is settled and `from` is its final array.
    pub(crate) fn is_settled(&self, read: Var, from: Var) -> bool {
        self.settled.get(&read) == Some(&from)
    }

    /// The statements, with settled reads redirected to the final array.
    pub(crate) fn settle(&self, stms: &[Stm]) -> Vec<Stm> {
        from_final(stms, &self.settled)
    }

    /// Records the types of variables bound outside the body.
    pub(crate) fn params(&mut self, params: &[Param]) {
        self.types.extend(params.iter().map(|p| (p.var, p.ty.clone())));
    }

    fn block(&mut self, block: &Block, repeated: bool) {
        for stm in &block.stms {
            self.params(&stm.binds);
            let inside = repeated || stm.exp.repeats();
            if let Exp::Nest(Nest::Loop { params, .. }) = &stm.exp {
                self.params(params);
                self.state.extend(arrays(params));
            }
            if repeated && self.shares(&stm.exp) {
                self.state.extend(arrays(&stm.binds));
            }
            stm.exp.blocks().into_iter().for_each(|inner| self.block(inner, inside));
        }
    }

    /// Whether the result may have cost less than its size.
    fn shares(&self, exp: &Exp) -> bool {
        match exp {
            Exp::Op(Op::Index(x, _)) => self.is_state(*x),
            Exp::Op(op) => op.takes_over().is_some(),
            Exp::Nest(Nest::Loop { .. } | Nest::If { .. }) => true,
            Exp::Nest(Nest::For { .. }) => false,
        }
    }
}

fn arrays(params: &[Param]) -> impl Iterator<Item = Var> {
    params.iter().filter(|p| !p.ty.dims.is_empty()).map(|p| p.var)
}
