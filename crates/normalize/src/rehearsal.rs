//! Code that cannot fail: it computes the sizes that the elements of an empty `for` would have.
//! `core::eval` learns these sizes in the same way.
//!
//! * *Assumes* statements of the body that compute sizes.
//! * *Gives* statements without checks, which read zeros out of range and update nothing there. A
//!   node of zeros has the first constructor that needs no other node of its type. A size is
//!   unknown if it needs an element that is a function, or a function that may fail or is under
//!   construction.
//! * *Keeps* types. They may rest on checks that sizes are equal ([`sizes`]; for a function, the
//!   checker decides). Then the code behind such a check runs only if the sizes are equal, and
//!   zeros replace its results otherwise. A copy of a function without types in that case is
//!   unknown, too.

mod sizes;

use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Effect, Elem, Exp, FnId, Function, Library, LoopKind, NAMELESS, Names, Nest,
    NodeId, Op, Out, Param, Stm, Ty, Var, check_callee, free_vars,
};
use lambada_prim::Prim;

use self::sizes::{Sizes, Wanted};
use crate::emit::Emit;

/// A size computation rewritten so that it cannot fail; `None` if it has no such form.
pub(crate) fn without_failures(emit: &mut Emit, mut code: Block) -> Option<Block> {
    let mut copies = HashMap::new();
    for id in called(&code.stms) {
        copies.insert(id, copy(emit, id)?);
    }
    let mut sizes = sizes_in(emit, &code.stms);
    sizes.read(&code.stms);
    let relied = sizes.relied_on(&code.stms, &emit.library);
    let wanted = Wanted { vars: code.results.clone(), types: vec![Ty::int(); code.results.len()] };
    let Emit { names, library, variants, .. } = emit;
    let mut rehearsal = Rehearsal { names, sizes, copies: &copies, library, variants, relied };
    rehearsal.block(&mut code, &wanted).then_some(code)
}

/// Whether types in statements of the innermost block rest on its checks.
pub(crate) fn relies_on_checks(emit: &Emit, stms: &[Stm]) -> bool {
    let mut sizes = sizes_in(emit, stms);
    sizes.read(stms);
    sizes.relied_on(stms, &emit.library)
}

/// A test for checks of the innermost block that may compare sizes.
pub(crate) fn compares_sizes(emit: &Emit) -> impl Fn(&Stm) -> bool + use<> {
    let mut sizes = Sizes::default();
    sizes.read(emit.stms());
    move |stm| sizes.compares(stm)
}

/// The sizes of the free variables of statements.
fn sizes_in(emit: &Emit, stms: &[Stm]) -> Sizes {
    let mut sizes = Sizes::default();
    for var in free_vars(&Block { stms: stms.to_vec(), results: Vec::new() }) {
        sizes.types.insert(var, emit.ty(var.into()).dims);
    }
    sizes
}

/// A copy of a function that cannot fail; neither can its callees.
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
    // First without any checks, if the types allow that.
    for relied in [false, true] {
        let written: Option<Vec<Function>> =
            all.iter().map(|id| rewritten(emit, *id, &copies, relied)).collect();
        let Some(written) = written else { continue };
        emit.library.functions.extend(written.into_iter().map(Some));
        let mut new = emit.library.functions[first..].iter().flatten();
        if new.all(|function| check_callee(function, &emit.library).is_ok()) {
            emit.rehearsed = copies;
            return emit.rehearsed.get(&id).copied();
        }
        emit.library.functions.truncate(first);
    }
    None
}

/// The function without failures, which calls copies.
fn rewritten(
    emit: &Emit,
    id: FnId,
    copies: &HashMap<FnId, FnId>,
    relied: bool,
) -> Option<Function> {
    let mut function = emit.library.function(id)?.clone();
    let mut sizes = Sizes::default();
    sizes.bind(&function.params);
    sizes.bind(&function.accumulators);
    sizes.read(&function.body.stms);
    let (names, library, variants) = (&mut function.names, &emit.library, &emit.variants);
    let mut rehearsal = Rehearsal { names, sizes, copies, library, variants, relied };
    let wanted = Wanted { vars: function.body.results.clone(), types: function.results.clone() };
    if !rehearsal.block(&mut function.body, &wanted) {
        return None;
    }
    function.results = wanted.of(&function.body.results);
    function.rules = None;
    Some(function)
}

/// The functions that statements call.
pub(crate) fn called(stms: &[Stm]) -> Vec<FnId> {
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
    sizes: Sizes,
    /// The copies to call in place of functions.
    copies: &'a HashMap<FnId, FnId>,
    library: &'a Library,
    /// The nodes that are values of recursive types.
    variants: &'a HashSet<NodeId>,
    /// Whether types rest on checks; then checks that compare sizes become branches.
    relied: bool,
}

impl Rehearsal<'_> {
    /// Rewrites a block; returns whether it has such a form.
    fn block(&mut self, block: &mut Block, wanted: &Wanted) -> bool {
        let mut after = Vec::with_capacity(block.stms.len());
        let mut stms = std::mem::take(&mut block.stms).into_iter();
        while let Some(mut stm) = stms.next() {
            if !self.nested(&mut stm) {
                return false;
            }
            if let Exp::Op(Op::Call { function, .. }) = &mut stm.exp {
                *function = self.copies[function];
            }
            match &stm.exp {
                Exp::Op(Op::Check { cond, .. }) if self.relied && self.sizes.compares(&stm) => {
                    let rest = Block { stms: stms.collect(), results: block.results.clone() };
                    let Some((stm, results)) = self.only_if(*cond, rest, wanted) else {
                        return false;
                    };
                    block.results = results;
                    after.push(stm);
                    break;
                }
                Exp::Op(Op::Check { .. } | Op::Inspect { .. }) => {}
                Exp::Op(Op::Open { .. } | Op::Cell { .. } | Op::Scheduled(_)) => return false,
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
        block.stms = after;
        true
    }

    /// Rewrites the inner blocks of a statement; returns whether they have such a form.
    fn nested(&mut self, stm: &mut Stm) -> bool {
        let binds = &stm.binds;
        match &mut stm.exp {
            Exp::Op(_) => true,
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                let wanted = Wanted::params(binds);
                self.block(then, &wanted) && self.block(otherwise, &wanted)
            }
            Exp::Nest(Nest::For { outs, body, .. }) => {
                let types = outs.iter().zip(binds).map(|(out, bind)| match out {
                    Out::Collect => bind.ty.indexed(1),
                    Out::Reduce(_) => bind.ty.clone(),
                });
                self.block(body, &Wanted::types(types.collect()))
            }
            Exp::Nest(Nest::Loop { params, kind: LoopKind::For { .. }, body, .. }) => {
                self.block(body, &Wanted::params(params))
            }
            // With zeros the loop might not end.
            Exp::Nest(Nest::Loop { params, kind: LoopKind::While(cond), body, .. }) => {
                let mut compares = |stm: &Stm| self.sizes.compares(stm);
                let mut stms = cond.stms.iter().chain(&body.stms);
                if self.relied && stms.any(|stm| stm.any(&mut compares)) {
                    return false;
                }
                self.block(cond, &Wanted::types(vec![Ty::bool()]))
                    && self.block(body, &Wanted::params(params))
            }
        }
    }

    /// A statement with the results of a block if the condition holds, and zeros otherwise; and the
    /// names of the results.
    fn only_if(
        &mut self,
        cond: Atom,
        mut then: Block,
        wanted: &Wanted,
    ) -> Option<(Stm, Vec<Atom>)> {
        let mut inside = HashSet::new();
        then.stms.iter().for_each(|stm| inside.extend(stm.binds.iter().map(|p| p.var)));
        let begun =
            |stm: &Stm| matches!(stm.exp.effect(), Effect::Freezes(acc) if !inside.contains(&acc));
        let results: HashSet<Atom> = wanted.vars.iter().copied().collect();
        let sizes = wanted.types.iter().flat_map(|ty| &ty.dims);
        let hidden = |size: &Atom| {
            size.as_var().is_some_and(|var| inside.contains(&var)) && !results.contains(size)
        };
        if then.stms.iter().any(begun) || sizes.into_iter().any(hidden) {
            return None;
        }
        // Scalars from outside the block are equal in both cases, and a caller may know such a
        // result as one of its arguments.
        let there: Vec<bool> = (then.results.iter().zip(&wanted.types))
            .map(|(result, ty)| {
                ty.dims.is_empty() && result.as_var().is_none_or(|var| !inside.contains(&var))
            })
            .collect();
        if !self.block(&mut then, wanted) {
            return None;
        }
        let (mut results, mut zeros) = (then.results.clone(), then.results.clone());
        let made = || (0..there.len()).filter(|k| !there[*k]);
        for k in made() {
            results[k] = self.names.fresh(NAMELESS).into();
            zeros[k] = Atom::Lit(wanted.types[k].elem.zero());
        }
        let (types, of_zeros) = (wanted.of(&results), wanted.of(&zeros));
        let mut otherwise = Block::default();
        let mut binds = Vec::new();
        for k in made() {
            otherwise.results.push(self.zero(&of_zeros[k], &mut otherwise.stms)?);
            let bind = results[k].as_var().map(|var| Param { var, ty: types[k].clone() });
            binds.extend(bind);
        }
        then.results = made().map(|k| then.results[k]).collect();
        Some((Stm::new(binds, Nest::If { cond, then, otherwise }), results))
    }

    /// Whether all indices are in range.
    fn in_range(&mut self, array: Var, index: &[Atom], stms: &mut Vec<Stm>) -> Atom {
        let sizes = self.sizes.types.get(&array).cloned().unwrap_or_default();
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

    /// The operation itself, for the case that it is in range.
    fn again(&mut self, op: &Op, binds: &[Param]) -> Block {
        let binds: Vec<Param> = binds.iter().map(|p| self.fresh(p.ty.clone())).collect();
        let results = binds.iter().map(|p| p.var.into()).collect();
        Block { stms: vec![Stm::new(binds, op.clone())], results }
    }

    /// Its results out of range: zeros, or the array that was to be updated.
    fn instead(&mut self, op: &Op, binds: &[Param]) -> Option<Block> {
        let mut stms = Vec::new();
        let given = binds.iter().map(|p| {
            if let Op::Update { array, .. } = op {
                return Some(Atom::Var(*array));
            }
            self.zero(&p.ty, &mut stms)
        });
        let results = given.collect::<Option<_>>()?;
        Some(Block { stms, results })
    }

    /// Zero, or an array of zeros; `None` if the node type has no zero.
    fn zero(&mut self, ty: &Ty, stms: &mut Vec<Stm>) -> Option<Atom> {
        let zero = match ty.elem {
            Elem::Ref(node) => self.node(node, &mut Vec::new(), stms)?,
            Elem::Scalar(_) => Atom::Lit(ty.elem.zero()),
        };
        Some(self.filled(ty, zero, stms))
    }

    /// The scalar, or an array of this type filled with it.
    fn filled(&mut self, ty: &Ty, value: Atom, stms: &mut Vec<Stm>) -> Atom {
        if ty.dims.is_empty() {
            return value;
        }
        let all = self.fresh(ty.clone());
        let atom = all.var.into();
        stms.push(Stm::new(vec![all], Op::Fill(value)));
        atom
    }

    /// A node of zeros; `None` for a function.
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
        let nodes = &self.library.nodes;
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
