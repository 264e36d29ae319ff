//! Activity: the variables that carry derivatives.
//!
//! `active x` holds where `x` is real, depends on a parameter through real values, and some real
//! result depends on it. All other variables have tangent and cotangent zero, and get no code,
//! because `f 0 = 0` for linear `f`.
//!
//! A handle is active if active reals are reachable through it; [`crate::known`] has the facts
//! about node types and functions. Dependence is a graph over the variables of the function, so
//! activity is two reachability questions, and loops need no fixed point.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::{Atom, Exp, Lambda, NodeId, Op, Param, Stm, Var};

use crate::flow::{Flow, reachable};
use crate::known::{CELLS, Handles, LibraryFacts};

/// The varied parameters, and the caller's accumulators whose cotangents are wanted.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) known: Rc<LibraryFacts>,
    pub(crate) handles: Handles,
    pub(crate) varied: Vec<Param>,
    pub(crate) accumulators: Vec<Param>,
    /// All accumulators that the function receives.
    pub(crate) given: Vec<Param>,
}

/// The active variables of a function. An accumulator is active like an array.
#[derive(Debug)]
pub(crate) struct Activity {
    active: HashSet<Var>,
    /// The handles, and arrays of handles, with the types of the nodes.
    handles: HashMap<Var, NodeId>,
    /// Handles that lead to cells.
    cells: HashSet<Var>,
    /// Whether handles have shadows.
    shadows: bool,
}

impl Activity {
    pub(crate) fn of(scope: &Scope, f: &Lambda) -> Activity {
        let mut flow = Flow::new(&scope.known);
        flow.params(&f.params);
        flow.params(&scope.accumulators);
        flow.block(&f.body);
        let results =
            f.body.results.iter().zip(&f.results).filter(|(_, ty)| scope.known.carries(ty.elem));
        let starts = scope.varied.iter().map(|p| p.var).chain([CELLS]);
        let varied = reachable(starts.collect(), &flow.forward);
        let ends = results.filter_map(|(atom, _)| atom.as_var());
        let ends = ends.chain(scope.accumulators.iter().map(|p| p.var)).chain([CELLS]);
        let useful = reachable(ends.collect(), &flow.reverse);
        let active = varied.intersection(&useful).copied().collect();
        let shadows = scope.handles == Handles::Shadows;
        Activity { active, handles: flow.handles, cells: flow.cells, shadows }
    }

    pub(crate) fn active(&self, atom: impl Into<Atom>) -> bool {
        atom.into().as_var().is_some_and(|var| self.active.contains(&var))
    }

    /// Whether it is an active handle or array of handles, which has a shadow.
    pub(crate) fn handle(&self, atom: impl Into<Atom>) -> bool {
        let atom = atom.into();
        self.shadows && self.active(atom) && self.node(atom).is_some()
    }

    /// The type of the nodes of a handle.
    pub(crate) fn node(&self, atom: Atom) -> Option<NodeId> {
        self.handles.get(&atom.as_var()?).copied()
    }

    /// Whether it is active and its cotangent is a value: a real, an array of reals, or a handle
    /// without a shadow.
    pub(crate) fn valued(&self, atom: impl Into<Atom>) -> bool {
        let atom = atom.into();
        self.active(atom) && !self.handle(atom)
    }

    /// Whether the statement must be differentiated: it binds an active variable, or adds to an
    /// active accumulator or to cells.
    pub(crate) fn concerns(&self, stm: &Stm) -> bool {
        stm.binds.iter().any(|p| self.active(p.var))
            || stm.adds_to(&|acc| self.active(acc))
            || !self.cells.is_empty() && stm.any(&mut |stm| self.passes_cells(stm))
    }

    fn passes_cells(&self, stm: &Stm) -> bool {
        let Exp::Op(Op::Call { args, .. }) = &stm.exp else { return false };
        args.iter().any(|arg| arg.as_var().is_some_and(|x| self.cells.contains(&x)))
    }
}
