//! Facts about the library that a function refers to: handles that lead to reals, and the
//! dependence of call results on arguments.
//!
//! * A handle *carries* a derivative if reals are reachable through it.
//! * The content of cells may change after they are made, through any of their handles. So all
//!   cells count as one place ([`CELLS`]): each addition may reach it, and each read may depend on
//!   it. Handles that lead to cells are always active.
//! * [`crate::flow`] finds which results depend on which parameters.

use std::collections::{BTreeSet, HashMap, HashSet};

use lambada_anf::{Atom, Block, Elem, Exp, FnId, Library, NodeId, Op, Rules, Var};

/// The variable that stands for the content of all cells.
pub(crate) const CELLS: Var = Var(u32::MAX);

/// The positions of the parameters that a value depends on.
pub(crate) type Inputs = BTreeSet<usize>;

/// The position that stands for the content of cells.
pub(crate) const FROM_CELLS: usize = usize::MAX;

/// The parameters, by function and position, that a recursion threads through its calls
/// ([`crate::threaded`]).
pub(crate) type Threaded = HashSet<(FnId, usize)>;

/// The representation of cotangents of handles in the reverse mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Handles {
    /// Shadow nodes with cells.
    #[default]
    Shadows,
    /// Values.
    Values,
}

/// Facts about node types and functions.
#[derive(Debug, Default)]
pub(crate) struct LibraryFacts {
    /// By node type: whether reals are reachable through a handle.
    pub(crate) reals: Vec<bool>,
    /// By node type: whether cells of reals are reachable.
    pub(crate) cells: Vec<bool>,
    pub(crate) flows: HashMap<FnId, Flows>,
    pub(crate) threaded: Threaded,
}

/// The dependence of results, accumulators and cells on the parameters of a function.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Flows {
    pub(crate) results: Vec<Inputs>,
    pub(crate) accumulators: Vec<Inputs>,
    /// The dependence of contributions to cells.
    pub(crate) cells: Inputs,
}

impl LibraryFacts {
    /// Whether it is real, or reals are reachable through it.
    pub(crate) fn carries(&self, elem: Elem) -> bool {
        match elem {
            Elem::Scalar(_) => elem == Elem::REAL,
            Elem::Ref(node) => self.leads(&self.reals, node),
        }
    }

    /// Whether cells are reachable through it.
    pub(crate) fn leads_to_cells(&self, elem: Elem) -> bool {
        elem.node().is_some_and(|node| self.leads(&self.cells, node))
    }

    fn leads(&self, table: &[bool], node: NodeId) -> bool {
        table.get(node.0 as usize).copied().unwrap_or(false)
    }

    pub(crate) fn flows(&self, function: FnId) -> Option<&Flows> {
        self.flows.get(&function)
    }

    /// Whether a value with these `inputs` depends on cells, or on an argument for which `is`
    /// holds.
    pub(crate) fn depends(inputs: &Inputs, is: &dyn Fn(usize) -> bool) -> bool {
        inputs.iter().any(|k| *k == FROM_CELLS || is(*k))
    }

    /// The arguments, or the cells, that a value depends on.
    pub(crate) fn sources<'a>(
        inputs: &'a Inputs,
        args: &'a [Atom],
    ) -> impl Iterator<Item = Atom> + 'a {
        inputs.iter().map(|k| args.get(*k).copied().unwrap_or(CELLS.into()))
    }
}

/// The functions that a block calls, directly or through calls, and their rules.
pub(crate) fn called(library: &Library, block: &Block) -> BTreeSet<FnId> {
    let mut found = BTreeSet::new();
    let mut open = callees(block);
    while let Some(id) = open.pop() {
        let Some(function) = library.function(id).filter(|_| found.insert(id)) else { continue };
        open.extend(callees(&function.body));
        open.extend(function.rules.iter().flat_map(Rules::all).map(|rule| rule.function));
    }
    found
}

fn callees(block: &Block) -> Vec<FnId> {
    let mut callees = Vec::new();
    block.each(&mut |stm| {
        if let Exp::Op(Op::Call { function, .. }) = &stm.exp {
            callees.push(*function);
        }
    });
    callees
}
