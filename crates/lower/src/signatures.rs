//! How functions of the library take and give arrays.
//!
//! An array argument is lent, or becomes the function's own: then the function may overwrite it, and whoever calls and needs it later copies it
//! first. An array result is, in this order,
//! - in the memory of an argument of the same sizes that is the function's own and that the result may be an update of, so that
//!   `f (i + 1) (xs with [i] = v)` copies nothing;
//! - in memory that the caller has made, where its sizes are known before the call;
//! - in memory that the function makes and hands out.
//!
//! A function releases the memory that it takes when it returns, unless it hands out some, or makes nodes and gives handles.
//!
//! *Gives* the least ownership: a parameter is the function's own only if the function, or one that it hands the array to, updates it.

use lambada_anf::{Atom, Block, Exp, FnId, Function, Library, Op, Param, Stm, Ty, Var};

use crate::facts::Facts;

/// Where a result of a function goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A scalar.
    Scalar,
    /// In the memory of the argument with this number.
    InPlace(usize),
    /// In memory that the caller has made.
    Destination,
    /// In memory that the function makes.
    HandedOut,
}

/// How one function takes and gives arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signature {
    /// By parameter: is an array the function's own?
    pub(crate) owned: Vec<bool>,
    /// By result.
    pub(crate) ways: Vec<Way>,
    /// Does it make nodes, or call what does?
    makes_nodes: bool,
    /// Does it give handles?
    gives_handles: bool,
}

/// The signatures of all functions of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signatures(Vec<Signature>);

impl Signature {
    /// Before anything is known of the body.
    fn first(function: &Function) -> Signature {
        Signature {
            owned: vec![false; function.params.len()],
            ways: function.results.iter().map(|ty| way(ty, function)).collect(),
            makes_nodes: false,
            gives_handles: function.results.iter().any(|ty| ty.elem.node().is_some()),
        }
    }

    /// Is all memory that it takes free again when it returns?
    pub(crate) fn releases(&self) -> bool {
        !self.ways.contains(&Way::HandedOut) && !(self.makes_nodes && self.gives_handles)
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
    /// Those of a library, by iteration from the least.
    pub(crate) fn of(library: &Library) -> Signatures {
        let first = |f: &Option<Function>| f.as_ref().map(Signature::first).unwrap_or_default();
        let mut signatures = Signatures(library.functions.iter().map(first).collect());
        loop {
            let next = |(f, old): (&Option<Function>, &Signature)| {
                f.as_ref().map(|f| signatures.next(f, old)).unwrap_or_default()
            };
            let next = library.functions.iter().zip(&signatures.0).map(next).collect();
            let next = Signatures(next);
            if next == signatures {
                return signatures;
            }
            signatures = next;
        }
    }

    pub(crate) fn get(&self, FnId(id): FnId) -> &Signature {
        &self.0[id as usize]
    }

    /// What is known of a function from what is known of those that it calls. It only grows.
    fn next(&self, function: &Function, old: &Signature) -> Signature {
        let facts = Facts::new(function, self);
        let mut signature = old.clone();
        signature.makes_nodes |= self.makes_nodes(&function.body);
        each(&function.body, &mut |stm| {
            self.consumed(&stm.exp, &mut |var| {
                for origin in facts.origins(var) {
                    if let Some(k) = function.params.iter().position(|p| p.var == origin) {
                        signature.owned[k] = true;
                    }
                }
            });
        });
        for (k, result) in function.body.results.iter().enumerate() {
            if signature.ways[k] == Way::Destination {
                let origins = facts.origins_of(*result);
                let fits = |(p, param): &(usize, &Param)| {
                    signature.owned[*p]
                        && param.ty == function.results[k]
                        && origins.contains(&param.var)
                        && !signature.ways.contains(&Way::InPlace(*p))
                };
                if let Some((p, _)) = function.params.iter().enumerate().find(fits) {
                    signature.ways[k] = Way::InPlace(p);
                }
            }
        }
        signature
    }

    // What is known of statements

    /// Calls `f` on the arrays that the expression takes over, its blocks aside.
    pub(crate) fn consumed(&self, exp: &Exp, f: &mut dyn FnMut(Var)) {
        exp.consumed(f);
        if let Exp::Op(Op::Call { function, args, .. }) = exp {
            let owned = args.iter().zip(&self.get(*function).owned).filter(|(_, owned)| **owned);
            owned.filter_map(|(arg, _)| arg.as_var()).for_each(f);
        }
    }

    /// The arrays that the `k`-th result may be built in place of.
    pub(crate) fn sources(&self, exp: &Exp, k: usize) -> Vec<Atom> {
        if let Exp::Op(Op::Call { function, args, .. }) = exp {
            return match self.get(*function).ways[k] {
                Way::InPlace(p) => vec![args[p]],
                Way::Scalar | Way::Destination | Way::HandedOut => Vec::new(),
            };
        }
        exp.sources(k)
    }

    /// Does an iteration leave nodes behind that it has made? Then what it takes of memory is not free at its end.
    pub(crate) fn keeps_nodes(&self, binds: &[Param], body: &Block) -> bool {
        binds.iter().any(|bind| bind.ty.elem.node().is_some()) && self.makes_nodes(body)
    }

    fn makes_nodes(&self, block: &Block) -> bool {
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
fn each(block: &Block, f: &mut dyn FnMut(&Stm)) {
    for stm in &block.stms {
        f(stm);
        stm.exp.blocks().into_iter().for_each(|inner| each(inner, f));
    }
}
