//! What is known of the library that a function refers to: which handles lead to reals, and what the results of calls depend on.
//!
//! * A handle *carries* a derivative where reals can be reached through it.
//! * The content of cells may change after they are made, by whoever has a handle. So all cells are one place, of which everything may
//!   have been added and everything be read ([`CELLS`]): handles that lead to cells are always active.
//! * Which results depend on which parameters is a fixed point over the calls of functions.

use std::collections::{BTreeSet, HashMap};

use lambada_anf::{Atom, Block, Elem, Exp, FnId, Function, Library, NodeId, Op, Var};

use crate::activity::{Flow, reachable};

/// The variable that stands for the content of all cells.
pub(crate) const CELLS: Var = Var(u32::MAX);

/// By their positions, the parameters that something depends on.
type Inputs = BTreeSet<usize>;

/// The position that stands for the content of cells.
const FROM_CELLS: usize = usize::MAX;

/// Facts about node types and functions.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// By node type: are reals reached through a handle?
    reals: Vec<bool>,
    /// By node type: are cells of reals reached?
    cells: Vec<bool>,
    flows: HashMap<FnId, Flows>,
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
    /// What a block needs to know.
    pub(crate) fn of(library: &Library, block: &Block) -> Known {
        let reals = reaching(library, |field| field.ty.elem == Elem::REAL);
        let cells = reaching(library, |field| field.cell && field.ty.elem == Elem::REAL);
        let functions = called(library, block);
        let mut known = Known { reals, cells, flows: HashMap::new() };
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for id in &functions {
                let Some(function) = library.function(*id) else { continue };
                let flows = known.flows_of(function);
                changed |= known.flows.get(id) != Some(&flows);
                known.flows.insert(*id, flows);
            }
        }
        known
    }

    /// Is it real, or are reals reached through it?
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

    fn flows_of(&self, function: &Function) -> Flows {
        let mut graph = Flow::new(self);
        graph.params(&function.params);
        graph.params(&function.accumulators);
        graph.block(&function.body);
        let mut flows = Flows {
            results: vec![Inputs::new(); function.results.len()],
            accumulators: vec![Inputs::new(); function.accumulators.len()],
            cells: Inputs::new(),
        };
        let carrying = function.params.iter().enumerate();
        let carrying = carrying.filter(|(_, p)| self.carries(p.ty.elem));
        let inputs = carrying.map(|(k, p)| (k, p.var)).chain([(FROM_CELLS, CELLS)]);
        for (k, var) in inputs {
            let reached = reachable(vec![var], &graph.forward);
            for (result, inputs) in function.body.results.iter().zip(&mut flows.results) {
                if result.as_var().is_some_and(|x| reached.contains(&x)) {
                    inputs.insert(k);
                }
            }
            for (acc, inputs) in function.accumulators.iter().zip(&mut flows.accumulators) {
                if reached.contains(&acc.var) {
                    inputs.insert(k);
                }
            }
            if reached.contains(&CELLS) && k != FROM_CELLS {
                flows.cells.insert(k);
            }
        }
        flows
    }
}

/// The node types from which fields with the property are reached.
fn reaching(library: &Library, has: impl Fn(&lambada_anf::Field) -> bool) -> Vec<bool> {
    let mut table = vec![false; library.nodes.len()];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (k, node) in library.nodes.iter().enumerate() {
            let mut fields = node.constructors.iter().flat_map(|c| &c.fields);
            let leads = |node: NodeId| table.get(node.0 as usize).copied().unwrap_or(false);
            if !table[k] && fields.any(|f| has(f) || f.ty.elem.node().is_some_and(leads)) {
                table[k] = true;
                changed = true;
            }
        }
    }
    table
}

/// The functions that a block calls, with those that these call.
pub(crate) fn called(library: &Library, block: &Block) -> BTreeSet<FnId> {
    let mut found = BTreeSet::new();
    let mut open = vec![block];
    while let Some(block) = open.pop() {
        block.each(&mut |stm| {
            if let Exp::Op(Op::Call { function, .. }) = &stm.exp
                && found.insert(*function)
            {
                open.extend(library.function(*function).map(|f| &f.body));
            }
        });
    }
    found
}
