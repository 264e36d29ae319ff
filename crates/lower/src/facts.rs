//! Facts about a function before it is lowered.
//!
//! Assumes: variables are bound once. Gives: by block, the last statement that mentions each
//! variable; the arrays whose memory an array may take over; the array literals that never need
//! memory. Keeps: the function as it is; the address of a block identifies it.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::{Atom, Block, Exp, Function, Nest, NodeId, Op, Param, Stm, Var};

use crate::overwritten::overwritten;
use crate::signatures::Signatures;

/// By variable: the position of the last statement of a block that mentions it, in nested blocks
/// too; the number of statements for a result. Absent if the block does not mention it.
pub(crate) type Last = HashMap<Var, usize>;

/// The facts of one function.
pub(crate) struct Facts<'a> {
    signatures: &'a Signatures,
    blocks: HashMap<*const Block, Rc<Last>>,
    /// By array: the arrays whose memory it may take over if no other code needs it.
    sources: HashMap<Var, Vec<Var>>,
    /// Array literals of scalars.
    literals: HashSet<Var>,
    /// Arrays used other than by elements at constant indices.
    whole: HashSet<Var>,
    /// Accumulators passed to calls.
    passed: HashSet<Var>,
    /// By handle: the type of its node.
    nodes: HashMap<Var, NodeId>,
    /// Fills that no code reads.
    overwritten: HashSet<Var>,
    /// By variable: the number of its mentions.
    mentions: HashMap<Var, usize>,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(function: &Function, signatures: &'a Signatures) -> Facts<'a> {
        let mut facts = Facts {
            signatures,
            blocks: HashMap::new(),
            sources: HashMap::new(),
            literals: HashSet::new(),
            whole: HashSet::new(),
            passed: HashSet::new(),
            nodes: HashMap::new(),
            overwritten: overwritten(function),
            mentions: HashMap::new(),
        };
        facts.handles(&function.params);
        facts.block(&function.body);
        facts
    }

    /// The last mentions of a block.
    pub(crate) fn last(&self, block: &Block) -> Rc<Last> {
        self.blocks[&std::ptr::from_ref(block)].clone()
    }

    /// Whether it is an array literal of which only elements at constant indices are used.
    pub(crate) fn is_elements(&self, var: Var) -> bool {
        self.literals.contains(&var) && !self.whole.contains(&var)
    }

    /// Whether no code reads its fill.
    pub(crate) fn is_overwritten(&self, var: Var) -> bool {
        self.overwritten.contains(&var)
    }

    /// Whether the function mentions it once.
    pub(crate) fn is_mentioned_once(&self, var: Var) -> bool {
        self.mentions.get(&var) == Some(&1)
    }

    /// Whether it is an accumulator that is passed to a call.
    pub(crate) fn is_passed(&self, var: Var) -> bool {
        self.passed.contains(&var)
    }

    /// The type of the node that a handle refers to.
    pub(crate) fn node(&self, handle: Var) -> NodeId {
        self.nodes[&handle]
    }

    /// The arrays in whose place the `k`-th result of an expression may be built.
    pub(crate) fn sources(&self, exp: &Exp, k: usize) -> Vec<Atom> {
        self.signatures.sources(exp, k)
    }

    /// The arrays from which the value may come by updates in place, nearest first, itself
    /// included.
    pub(crate) fn origins(&self, var: Var) -> Vec<Var> {
        self.origins_until(var, &|_| false)
    }

    /// [`Self::origins`], except those of an origin that `is_end`.
    pub(crate) fn origins_until(&self, var: Var, is_end: &dyn Fn(Var) -> bool) -> Vec<Var> {
        let (mut origins, mut seen) = (vec![var], HashSet::from([var]));
        let mut k = 0;
        while k < origins.len() {
            let sources = if is_end(origins[k]) { None } else { self.sources.get(&origins[k]) };
            for source in sources.into_iter().flatten() {
                if seen.insert(*source) {
                    origins.push(*source);
                }
            }
            k += 1;
        }
        origins
    }

    /// The origins of an atom; a constant has none.
    pub(crate) fn origins_of(&self, atom: Atom) -> Vec<Var> {
        atom.as_var().map(|var| self.origins(var)).unwrap_or_default()
    }

    fn block(&mut self, block: &Block) -> Rc<Last> {
        let mut last = Last::new();
        for (k, stm) in block.stms.iter().enumerate() {
            self.statement(stm, k, &mut last);
        }
        for var in block.results.iter().filter_map(|a| a.as_var()) {
            self.whole.insert(var);
            *self.mentions.entry(var).or_default() += 1;
            last.insert(var, block.stms.len());
        }
        let last = Rc::new(last);
        self.blocks.insert(std::ptr::from_ref(block), last.clone());
        last
    }

    fn statement(&mut self, stm: &Stm, k: usize, last: &mut Last) {
        let by_elements = element_base(&stm.exp);
        stm.exp.atoms(&mut |atom| {
            if let Atom::Var(var) = atom {
                last.insert(var, k);
                *self.mentions.entry(var).or_default() += 1;
                if by_elements != Some(var) {
                    self.whole.insert(var);
                }
            }
        });
        for var in stm.binds.iter().flat_map(|p| &p.ty.dims).filter_map(|d| d.as_var()) {
            last.insert(var, k);
            *self.mentions.entry(var).or_default() += 1;
        }
        for inner in stm.exp.blocks() {
            // Memory outlives the block that names it, scalars do not. In a chain of branches,
            // scalars would be most of the mentioned variables.
            let binds = inner.stms.iter().flat_map(|stm| &stm.binds);
            let own: HashSet<Var> = binds.filter(|p| p.ty.rank() == 0).map(|p| p.var).collect();
            for var in self.block(inner).keys().filter(|var| !own.contains(var)) {
                last.insert(*var, k);
            }
        }
        self.note(stm);
    }

    /// Records the arrays in whose place others may be built.
    fn note(&mut self, stm: &Stm) {
        self.handles(&stm.binds);
        match &stm.exp {
            Exp::Op(Op::Call { accumulators, .. }) => self.passed.extend(accumulators),
            Exp::Nest(Nest::Loop { params, .. }) => self.handles(params),
            Exp::Op(_) | Exp::Nest(Nest::For { .. } | Nest::If { .. }) => {}
        }
        for (k, bind) in stm.binds.iter().enumerate().filter(|(_, p)| p.ty.rank() > 0) {
            let sources = self.sources(&stm.exp, k).into_iter().filter_map(Atom::as_var);
            self.sources.entry(bind.var).or_default().extend(sources);
        }
        if let (Exp::Op(Op::Array(_)), [bind]) = (&stm.exp, stm.binds.as_slice())
            && bind.ty.rank() == 1
        {
            self.literals.insert(bind.var);
        }
    }
}

impl Facts<'_> {
    fn handles(&mut self, params: &[Param]) {
        let handles = params.iter().filter_map(|p| p.ty.elem.node().map(|node| (p.var, node)));
        self.nodes.extend(handles);
    }

    /// Whether the statements might overwrite one of the arrays if its memory were free.
    pub(crate) fn consumes(&self, stms: &[Stm], alias: &HashSet<Var>) -> bool {
        let mentions = |block: &Block| {
            block.results.iter().filter_map(|a| a.as_var()).any(|v| alias.contains(&v))
        };
        let takes = |stm: &Stm| {
            let mut found = false;
            self.signatures.consumed(&stm.exp, &mut |x| found |= alias.contains(&x));
            match &stm.exp {
                Exp::Op(_) | Exp::Nest(Nest::For { .. } | Nest::Loop { .. }) => found,
                Exp::Nest(Nest::If { then, otherwise, .. }) => {
                    mentions(then) || mentions(otherwise)
                }
            }
        };
        stms.iter().any(|stm| stm.any(&mut |stm| takes(stm)))
    }
}

/// The array of which the expression reads an element at a constant index.
fn element_base(exp: &Exp) -> Option<Var> {
    match exp {
        Exp::Op(Op::Index(x, index)) if index.iter().all(|i| i.as_lit().is_some()) => Some(*x),
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}
