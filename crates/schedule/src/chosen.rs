//! Indices that statements around a run have chosen: they are the same for all iterations in it. That they are in range is known where the run begins.

use std::collections::{BTreeMap, HashMap};

use lambada_anf::bounds::Known;
use lambada_anf::{Atom, Exp, Op, Stm, Ty, Var};
use lambada_prim::{Prim, Scalar};

use crate::affine::Affine;
use crate::graph::{Array, Chosen, Graph, NodeId, Sum};

/// The indices of inputs that are in range where a run of statements begins; what is learned is forgotten.
pub(crate) fn chosen(
    stms: &[Stm],
    inputs: &[Var],
    types: &HashMap<Var, Ty>,
    known: &mut Known,
) -> Vec<Chosen> {
    let numbers = inputs.iter().copied().zip(0..).collect();
    let mut finder = Finder { numbers, sums: HashMap::new(), types, found: Vec::new() };
    let mark = known.mark();
    for stm in stms {
        finder.statement(stm, known);
        finder.define(stm);
        known.pass(stm);
    }
    known.reset(mark);
    finder.found
}

struct Finder<'a> {
    numbers: HashMap<Var, u32>,
    sums: HashMap<Var, Sum>,
    types: &'a HashMap<Var, Ty>,
    found: Vec<Chosen>,
}

impl Finder<'_> {
    fn sum(&self, atom: Atom) -> Option<Sum> {
        match atom {
            Atom::Lit(Scalar::Int(constant)) => Some(Sum { constant, ..Sum::default() }),
            Atom::Lit(Scalar::Real(_) | Scalar::Bool(_)) => None,
            Atom::Var(var) => self.sums.get(&var).cloned().or_else(|| {
                let number = *self.numbers.get(&var)?;
                Some(Sum { terms: BTreeMap::from([(number, 1)]), constant: 0 })
            }),
        }
    }

    /// Sums of what comes from outside.
    fn define(&mut self, stm: &Stm) {
        let (Exp::Op(Op::Prim(op, args)), [p]) = (&stm.exp, &stm.binds[..]) else { return };
        let all: Option<Vec<Sum>> = args.iter().map(|arg| self.sum(*arg)).collect();
        let sum = match (op, all.as_deref()) {
            (Prim::AddInt, Some([a, b])) => a.clone().plus(1, b),
            (Prim::SubInt, Some([a, b])) => a.clone().plus(-1, b),
            (Prim::NegInt, Some([a])) => Sum::default().plus(-1, a),
            (Prim::MulInt, Some([a, b])) if a.terms.is_empty() => {
                Sum::default().plus(a.constant, b)
            }
            (Prim::MulInt, Some([a, b])) if b.terms.is_empty() => {
                Sum::default().plus(b.constant, a)
            }
            (_, _) => return,
        };
        self.sums.insert(p.var, sum);
    }

    fn statement(&mut self, stm: &Stm, known: &Known) {
        if let Exp::Op(op) = &stm.exp
            && let Some((array, index)) = op.access()
            && let Some(input) = self.numbers.get(&array).copied()
        {
            let dims = &self.types[&array].dims;
            for (position, (i, size)) in index.iter().zip(dims).enumerate() {
                let Some(index) = self.sum(*i) else { continue };
                let new = Chosen { input, position, index };
                if !self.found.contains(&new) && known.ask(|place| place.in_range(*i, *size)) {
                    self.found.push(new);
                }
            }
        }
        for block in stm.exp.blocks() {
            block.stms.iter().for_each(|stm| self.statement(stm, known));
        }
    }
}

/// Is an index of an array in range wherever it is asked for, as it has been chosen outside?
pub(crate) fn is_chosen(graph: &Graph, array: &Array, position: usize, index: NodeId) -> bool {
    let Array::Input(input) = array else { return false };
    let of_input = |node: NodeId| {
        let array = graph.read_of(node).filter(|array| graph.rank(*array) == 0)?;
        if let Array::Input(k) = graph.array(array) { Some(*k) } else { None }
    };
    let Some((terms, constant)) = Affine::of(graph, index).over(of_input) else { return false };
    let index = Sum { terms, constant };
    graph.chosen.contains(&Chosen { input: *input, position, index })
}
