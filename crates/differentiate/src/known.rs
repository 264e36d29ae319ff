//! What is known of the library that a function refers to: which handles lead to reals, and what
//! the results of calls depend on.
//!
//! * A handle *carries* a derivative where reals can be reached through it.
//! * The content of cells may change after they are made, by whoever has a handle. So all cells are
//!   one place, of which everything may have been added and everything be read ([`CELLS`]): handles
//!   that lead to cells are always active.
//! * Which results depend on which parameters is found by [`crate::flow`].

use std::collections::{BTreeSet, HashMap, HashSet};

use lambada_anf::{Atom, Block, Elem, Exp, FnId, Library, NodeId, Op, Rules, Var};

/// The variable that stands for the content of all cells.
pub(crate) const CELLS: Var = Var(u32::MAX);

/// By their positions, the parameters that something depends on.
pub(crate) type Inputs = BTreeSet<usize>;

/// The position that stands for the content of cells.
pub(crate) const FROM_CELLS: usize = usize::MAX;

/// The parameters, by function and position, that a recursion threads through its calls
/// ([`crate::threaded`]).
pub(crate) type Threaded = HashSet<(FnId, usize)>;

/// What the reverse mode makes of the cotangents of handles.
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
pub(crate) struct Known {
    /// By node type: are reals reached through a handle?
    pub(crate) reals: Vec<bool>,
    /// By node type: are cells of reals reached?
    pub(crate) cells: Vec<bool>,
    pub(crate) flows: HashMap<FnId, Flows>,
    pub(crate) threaded: Threaded,
}

/// What depends on which parameters of a function.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Flows {
    pub(crate) results: Vec<Inputs>,
    pub(crate) accumulators: Vec<Inputs>,
    /// What is added to cells.
    pub(crate) cells: Inputs,
}

impl Known {
    /// Whether it is real, or are reals reached through it.
    pub(crate) fn carries(&self, elem: Elem) -> bool {
        match elem {
            Elem::Scalar(_) => elem == Elem::REAL,
            Elem::Ref(node) => self.leads(&self.reals, node),
        }
    }

    /// Are cells reached through it?
    pub(crate) fn leads_to_cells(&self, elem: Elem) -> bool {
        elem.node().is_some_and(|node| self.leads(&self.cells, node))
    }

    fn leads(&self, table: &[bool], node: NodeId) -> bool {
        table.get(node.0 as usize).copied().unwrap_or(false)
    }

    pub(crate) fn flows(&self, function: FnId) -> Option<&Flows> {
        self.flows.get(&function)
    }

    /// Does it depend on one of the arguments for which `is` holds, or on cells?
    pub(crate) fn depends(inputs: &Inputs, is: &dyn Fn(usize) -> bool) -> bool {
        inputs.iter().any(|k| *k == FROM_CELLS || is(*k))
    }

    /// The arguments, or the cells, that something depends on.
    pub(crate) fn sources<'a>(
        inputs: &'a Inputs,
        args: &'a [Atom],
    ) -> impl Iterator<Item = Atom> + 'a {
        inputs.iter().map(|k| args.get(*k).copied().unwrap_or(CELLS.into()))
    }
}

/// The functions that a block calls, with those that these call, and their rules.
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
