//! The calling convention for arrays of library functions.
//!
//! An array argument is lent, or becomes the function's own. Then the function may overwrite it, so
//! a caller that needs it later copies it first. An array result is, in this order,
//! - in the memory of an argument of the same sizes that is the function's own and that the result
//!   may be an update of, so that `f (i + 1) (xs with [i] = v)` copies nothing;
//! - in memory that the caller allocates, if its sizes are known before the call;
//! - in memory that the function allocates and hands out.
//!
//! A function releases the memory that it allocates when it returns, unless it hands out some, or
//! makes nodes and returns handles. The choice follows from all functions of the library
//! ([`crate::ownership`]).

use lambada_anf::{Atom, Block, Exp, FnId, Function, Op, Param, Stm, Ty, Var};
use lambada_loops::Release;

/// The destination of a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A scalar.
    Scalar,
    /// In the memory of the argument with this number.
    InPlace(usize),
    /// In memory that the caller allocates.
    Destination,
    /// In memory that the function allocates.
    HandedOut,
}

/// The calling convention of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signature {
    /// By parameter: whether an array becomes the function's own.
    pub(crate) owned: Vec<bool>,
    /// By result.
    pub(crate) ways: Vec<Way>,
    /// Whether it makes nodes, directly or through calls.
    pub(crate) makes_nodes: bool,
    /// Whether it returns handles.
    gives_handles: bool,
}

/// The signatures of all functions of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signatures(pub(crate) Vec<Signature>);

impl Signature {
    /// The initial signature, before the body is analysed.
    pub(crate) fn first(function: &Function) -> Signature {
        Signature {
            owned: vec![false; function.params.len()],
            ways: function.results.iter().map(|ty| way(ty, function)).collect(),
            makes_nodes: false,
            gives_handles: function.results.iter().any(|ty| ty.elem.node().is_some()),
        }
    }

    /// The memory that the function releases when it returns; `None` if it hands out memory.
    pub(crate) fn releases(&self) -> Option<Release> {
        let keeps = self.makes_nodes && self.gives_handles;
        let release = if keeps { Release::Arrays } else { Release::All };
        (!self.ways.contains(&Way::HandedOut)).then_some(release)
    }
}

fn way(ty: &Ty, function: &Function) -> Way {
    let is_known = |dim: &Atom| match dim {
        Atom::Lit(_) => true,
        Atom::Var(var) => function.params.iter().any(|p| p.var == *var),
    };
    match ty.dims.as_slice() {
        [] => Way::Scalar,
        dims if dims.iter().all(is_known) => Way::Destination,
        _ => Way::HandedOut,
    }
}

impl Signatures {
    pub(crate) fn get(&self, FnId(id): FnId) -> &Signature {
        &self.0[id as usize]
    }

    // Facts about statements

    /// Calls `f` on the arrays that the expression itself takes over, without its blocks.
    pub(crate) fn consumed(&self, exp: &Exp, f: &mut dyn FnMut(Var)) {
        exp.consumed(f);
        if let Exp::Op(Op::Call { function, args, .. }) = exp {
            let owned = args.iter().zip(&self.get(*function).owned).filter(|(_, owned)| **owned);
            owned.filter_map(|(arg, _)| arg.as_var()).for_each(f);
        }
    }

    /// The arrays in whose place the `k`-th result may be built.
    pub(crate) fn sources(&self, exp: &Exp, k: usize) -> Vec<Atom> {
        if let Exp::Op(Op::Call { function, args, .. }) = exp {
            let way = self.get(*function).ways[k];
            return if let Way::InPlace(p) = way { vec![args[p]] } else { Vec::new() };
        }
        exp.sources(k)
    }

    /// Whether an iteration leaves new nodes behind. Then its memory is not free at its end.
    pub(crate) fn keeps_nodes(&self, binds: &[Param], body: &Block) -> bool {
        binds.iter().any(|bind| bind.ty.elem.node().is_some()) && self.makes_nodes(body)
    }

    pub(crate) fn makes_nodes(&self, block: &Block) -> bool {
        let mut found = false;
        each(block, &mut |stm| match &stm.exp {
            Exp::Op(Op::Node { .. }) => found = true,
            Exp::Op(Op::Call { function, .. }) => found |= self.get(*function).makes_nodes,
            Exp::Op(_) | Exp::Nest(_) => {}
        });
        found
    }
}

/// Calls `f` on every statement, nested ones too.
pub(crate) fn each(block: &Block, f: &mut dyn FnMut(&Stm)) {
    for stm in &block.stms {
        f(stm);
        stm.exp.blocks().into_iter().for_each(|inner| each(inner, f));
    }
}
