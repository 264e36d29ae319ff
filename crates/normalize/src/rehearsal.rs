//! Code that cannot fail, for the sizes that the elements of an empty `for` would have. It is what `core::eval` does to learn them.
//!
//! * *Assumes* statements of the body that compute sizes.
//! * *Gives* statements that make no checks, read zeros out of range, and update nothing there; a node of zeros is of the first constructor that
//!   needs no other node of its type. A size that they cannot compute, because it takes an element that is a function, or a function that may
//!   fail or is being written, is not known.

use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Elem, Exp, FnId, NAMELESS, Names, Nest, NodeId, NodeType, Op, Param, Stm, Ty, Var,
    free_vars,
};
use lambada_prim::Prim;

use crate::emit::Emit;

/// The same statements without failures, if they have such a form.
pub(crate) fn without_failures(emit: &mut Emit, mut stms: Vec<Stm>) -> Option<Vec<Stm>> {
    let mut copies = HashMap::new();
    for id in called(&stms) {
        copies.insert(id, copy(emit, id)?);
    }
    let mut types = HashMap::new();
    for var in free_vars(&Block { stms: stms.clone(), results: Vec::new() }) {
        types.insert(var, emit.ty(var.into()).dims);
    }
    let Emit { names, library, variants, .. } = emit;
    let (nodes, variants) = (&library.nodes[..], &*variants);
    Rehearsal { names, types, copies: &copies, nodes, variants }.all(&mut stms).then_some(stms)
}

/// A copy of a function that cannot fail, nor those that it calls.
fn copy(emit: &mut Emit, id: FnId) -> Option<FnId> {
    let (mut all, mut open) = (Vec::new(), vec![id]);
    while let Some(id) = open.pop() {
        if all.contains(&id) || emit.rehearsed.contains_key(&id) {
            continue;
        }
        let Some(Some(function)) = emit.library.functions.get(id.0 as usize) else {
            emit.awaited.insert(id);
            return None;
        };
        open.extend(called(&function.body.stms));
        all.push(id);
    }
    let first = emit.library.functions.len();
    let new = all.iter().zip(first..).map(|(id, k)| (*id, FnId(k as u32)));
    let mut copies = emit.rehearsed.clone();
    copies.extend(new);
    let mut functions = Vec::with_capacity(all.len());
    for id in &all {
        let mut function = emit.library.functions[id.0 as usize].clone()?;
        let given = function.params.iter().chain(&function.accumulators);
        let types = given.map(|p| (p.var, p.ty.dims.clone())).collect();
        let names = &mut function.names;
        let (nodes, variants) = (&emit.library.nodes[..], &emit.variants);
        let rehearsal = Rehearsal { names, types, copies: &copies, nodes, variants };
        if !rehearsal.all(&mut function.body.stms) {
            return None;
        }
        function.rules = None;
        functions.push(Some(function));
    }
    emit.library.functions.extend(functions);
    emit.rehearsed = copies;
    emit.rehearsed.get(&id).copied()
}

/// The functions that statements call.
fn called(stms: &[Stm]) -> Vec<FnId> {
    let mut found = Vec::new();
    let mut note = |stm: &Stm| {
        if let Exp::Op(Op::Call { function, .. }) = &stm.exp {
            found.push(*function);
        }
    };
    stms.iter().for_each(|stm| stm.each(&mut note));
    found
}

struct Rehearsal<'a> {
    names: &'a mut Names,
    /// The sizes of arrays and accumulators.
    types: HashMap<Var, Vec<Atom>>,
    /// What is called instead of functions.
    copies: &'a HashMap<FnId, FnId>,
    nodes: &'a [NodeType],
    /// Those that are values of recursive types.
    variants: &'a HashSet<NodeId>,
}

impl Rehearsal<'_> {
    fn all(mut self, stms: &mut Vec<Stm>) -> bool {
        for stm in stms.iter() {
            stm.each(&mut |stm| {
                let states = match &stm.exp {
                    Exp::Nest(Nest::Loop { params, .. }) => &params[..],
                    Exp::Nest(Nest::For { .. } | Nest::If { .. }) | Exp::Op(_) => &[],
                };
                let bound = stm.binds.iter().chain(states);
                self.types.extend(bound.map(|p| (p.var, p.ty.dims.clone())));
            });
        }
        self.statements(stms)
    }

    /// Have they such a form?
    fn statements(&mut self, stms: &mut Vec<Stm>) -> bool {
        let mut after = Vec::with_capacity(stms.len());
        for mut stm in std::mem::take(stms) {
            if !stm.exp.blocks_mut().into_iter().all(|block| self.statements(&mut block.stms)) {
                return false;
            }
            if let Exp::Op(Op::Call { function, .. }) = &mut stm.exp {
                *function = self.copies[function];
            }
            match &stm.exp {
                Exp::Op(Op::Check { .. } | Op::Inspect { .. }) => {}
                Exp::Op(Op::Open { .. } | Op::Cell { .. }) => return false,
                Exp::Op(
                    op @ (Op::Index(array, index)
                    | Op::Update { array, index, .. }
                    | Op::Accumulate { acc: array, index, .. }),
                ) => {
                    let in_range = self.in_range(*array, index, &mut after);
                    let Some(otherwise) = self.instead(op, &stm.binds) else { return false };
                    let then = self.again(op, &stm.binds);
                    after.push(Stm::new(stm.binds, Nest::If { cond: in_range, then, otherwise }));
                }
                Exp::Op(
                    Op::Prim(..)
                    | Op::Fill(_)
                    | Op::Array(_)
                    | Op::Constant(_)
                    | Op::ArrayPrim(..)
                    | Op::Accumulator(_)
                    | Op::Freeze(_)
                    | Op::Call { .. }
                    | Op::Node { .. }
                    | Op::Tag(_)
                    | Op::Field { .. },
                )
                | Exp::Nest(Nest::For { .. } | Nest::Loop { .. } | Nest::If { .. }) => {
                    after.push(stm);
                }
            }
        }
        *stms = after;
        true
    }

    /// Are all of the indices in range?
    fn in_range(&mut self, array: Var, index: &[Atom], stms: &mut Vec<Stm>) -> Atom {
        let sizes = self.types.get(&array).cloned().unwrap_or_default();
        index.iter().zip(sizes).fold(Atom::bool(true), |all, (i, size)| {
            let low = self.prim(Prim::LeInt, [Atom::int(0), *i], stms);
            let high = self.prim(Prim::LtInt, [*i, size], stms);
            let both = self.prim(Prim::And, [low, high], stms);
            self.prim(Prim::And, [all, both], stms)
        })
    }

    fn prim(&mut self, op: Prim, args: [Atom; 2], stms: &mut Vec<Stm>) -> Atom {
        let p = self.fresh(Ty::scalar(op.result()));
        let atom = p.var.into();
        stms.push(Stm::new(vec![p], Op::Prim(op, args.to_vec())));
        atom
    }

    fn fresh(&mut self, ty: Ty) -> Param {
        Param { var: self.names.fresh(NAMELESS), ty }
    }

    /// The operation, where it is in range.
    fn again(&mut self, op: &Op, binds: &[Param]) -> Block {
        let binds: Vec<Param> = binds.iter().map(|p| self.fresh(p.ty.clone())).collect();
        let results = binds.iter().map(|p| p.var.into()).collect();
        Block { stms: vec![Stm::new(binds, op.clone())], results }
    }

    /// What it gives where it is out of range: zeros, or what was to be updated.
    fn instead(&mut self, op: &Op, binds: &[Param]) -> Option<Block> {
        let mut stms = Vec::new();
        let given = binds.iter().map(|p| {
            if let Op::Update { array, .. } = op {
                return Some(Atom::Var(*array));
            }
            let zero = match p.ty.elem {
                Elem::Ref(node) => self.node(node, &mut Vec::new(), &mut stms)?,
                Elem::Scalar(_) => Atom::Lit(p.ty.elem.zero()),
            };
            Some(self.filled(&p.ty, zero, &mut stms))
        });
        let results = given.collect::<Option<_>>()?;
        Some(Block { stms, results })
    }

    /// The scalar, or an array of this type that is full of it.
    fn filled(&mut self, ty: &Ty, value: Atom, stms: &mut Vec<Stm>) -> Atom {
        if ty.dims.is_empty() {
            return value;
        }
        let all = self.fresh(ty.clone());
        let atom = all.var.into();
        stms.push(Stm::new(vec![all], Op::Fill(value)));
        atom
    }

    /// A node of zeros. There is none of a function.
    fn node(
        &mut self,
        node: NodeId,
        inside: &mut Vec<NodeId>,
        stms: &mut Vec<Stm>,
    ) -> Option<Atom> {
        if !self.variants.contains(&node) || inside.contains(&node) {
            return None;
        }
        inside.push(node);
        let nodes = self.nodes;
        let constructors = nodes[node.0 as usize].constructors.iter().zip(0..);
        let mut made = constructors.filter_map(|(constructor, tag)| {
            let mut made = Vec::new();
            let mut fields: Vec<Atom> = Vec::with_capacity(constructor.fields.len());
            for field in &constructor.fields {
                // All sizes are zero.
                let dims = vec![Atom::int(0); field.ty.dims.len()];
                let ty = Ty { elem: field.ty.elem, dims };
                let zero = match ty.elem {
                    Elem::Ref(inner) if ty.dims.is_empty() => {
                        self.node(inner, inside, &mut made)?
                    }
                    Elem::Ref(_) | Elem::Scalar(_) => Atom::Lit(ty.elem.zero()),
                };
                fields.push(self.filled(&ty, zero, &mut made));
            }
            let p = self.fresh(Ty::handle(node));
            let atom = p.var.into();
            made.push(Stm::new(vec![p], Op::Node { node, tag, fields, cells: false }));
            Some((made, atom))
        });
        let first = made.next();
        drop(made);
        inside.pop();
        let (made, atom) = first?;
        stms.extend(made);
        Some(atom)
    }
}
