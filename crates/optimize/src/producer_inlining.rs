//! Producer inlining: `(for i < n => b)[j] = b[i := j]`, and
//! `(for i < n => for k < m => b)[j, l] = b[i := j, k := l]`.
//!
//! Assumes: nothing. Gives: an array that is only read element by element is not made, where
//! computing the elements at the reads costs no more. Keeps: values and failures: copied statements
//! cannot fail, and their reads are evidently in range at their new place.
//!
//! **No statement of the producer is evaluated more often than before**, up to a constant number of
//! cheap operations. A statement in the body of the first loop, which has the index i, was
//! evaluated once for each i; where it is read at `x[j, l]` it may be evaluated once for each j,
//! but not once for each l: the loops between the producer and the read must be those whose indices
//! the statement depends on. So a row that takes a reduction is not recomputed for each of its
//! elements. Statements that take a constant number of cheap operations, or none, may be repeated.
//!
//! No copied statement reads an array that an update has consumed since the producer ran, because
//! the update would have to copy it.

use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Exp, Function, LoopKind, Names, Nest, Op, Out, Param, Renaming, Stm, Var,
};
use lambada_prim::{Cost, Prim, Scalar, ScalarTy};

use crate::calls::Calls;
use crate::loop_invariant_code_motion::evident;
use crate::scope::Scope;

/// All reads of an element together may cost this many operations.
const CHEAP: usize = 8;
/// An element of more statements is not copied at all.
const LARGE: usize = 400;

/// The pass.
pub(crate) fn producer_inlining(function: &mut Function, calls: &Calls) -> bool {
    let mut reads = Reads::default();
    reads.block(&function.body, &mut Vec::new());
    let scope = Scope::new(function, calls);
    let mut pass = Inliner {
        names: &mut function.names,
        reads,
        scope,
        producers: HashMap::new(),
        consumed: Consumed::new(&function.params),
        image: Renaming::new(),
        changed: false,
    };
    pass.block(&mut function.body);
    for ty in &mut function.results {
        *ty = pass.image.ty(ty);
    }
    pass.changed
}

/// A read of an element or a part.
struct Read {
    index: Vec<Atom>,
    /// The indices of the loops between the array and the read; none for a `while`.
    loops: Vec<Option<Var>>,
}

impl Read {
    /// Whether the indices of all loops between the array and the read are among the first `depth`
    /// indices of the read.
    fn covered(&self, depth: usize) -> bool {
        let among = |i: &Option<Var>| i.is_some_and(|i| self.index[..depth].contains(&i.into()));
        self.loops.iter().all(among)
    }
}

/// How each array is used.
#[derive(Default)]
struct Reads {
    /// The reads of each array.
    reads: HashMap<Var, Vec<Read>>,
    /// Arrays that are also used as a whole.
    whole: HashSet<Var>,
    /// The number of loops around each binding.
    depth: HashMap<Var, usize>,
}

impl Reads {
    /// `loops`: the indices of the surrounding loops; none for a `while`.
    fn block(&mut self, block: &Block, loops: &mut Vec<Option<Var>>) {
        for stm in &block.stms {
            self.stm(stm, loops);
            stm.binds.iter().for_each(|p| _ = self.depth.insert(p.var, loops.len()));
            self.all(stm.binds.iter().flat_map(|p| p.ty.dims.iter().copied()));
        }
        self.all(block.results.iter().copied());
    }

    fn all(&mut self, atoms: impl Iterator<Item = Atom>) {
        self.whole.extend(atoms.filter_map(|a| a.as_var()));
    }

    fn stm(&mut self, stm: &Stm, loops: &mut Vec<Option<Var>>) {
        if let Exp::Op(Op::Index(x, index)) = &stm.exp {
            let outer = self.depth.get(x).copied().unwrap_or(0).min(loops.len());
            let read = Read { index: index.clone(), loops: loops[outer..].to_vec() };
            self.reads.entry(*x).or_default().push(read);
            self.all(index.iter().copied());
        } else {
            let mut atoms = Vec::new();
            stm.exp.atoms(&mut |a| atoms.push(a));
            self.all(atoms.into_iter());
        }
        let inner = match &stm.exp {
            Exp::Nest(Nest::For { index, .. }) => Some(Some(*index)),
            Exp::Nest(Nest::Loop { kind: LoopKind::For { index, .. }, .. }) => Some(Some(*index)),
            Exp::Nest(Nest::Loop { kind: LoopKind::While(_), .. }) => Some(None),
            Exp::Op(_) | Exp::Nest(Nest::If { .. }) => None,
        };
        let depth = loops.len();
        loops.extend(inner);
        stm.exp.blocks().into_iter().for_each(|b| self.block(b, loops));
        loops.truncate(depth);
    }

    /// Whether the elements are better computed where they are read. `only`: the loop makes nothing
    /// else.
    fn worthwhile(&self, p: &Param, element: &Element, only: bool) -> bool {
        let Some(reads) = self.reads.get(&p.var) else { return false };
        let costs = reads.iter().map(|read| element.cost(read, p.ty.rank()));
        let Some(costs) = costs.collect::<Option<Vec<Repeated>>>() else { return false };
        let total = costs.iter().try_fold(0, |sum, cost| match cost {
            Repeated::Cheap(cost) => Some(sum + cost),
            Repeated::Costly => None,
        });
        let repeated = reads.iter().any(|read| !read.covered(read.index.len()));
        match total {
            Some(0) => true,
            _ if self.whole.contains(&p.var) || repeated => false,
            Some(cost) if cost <= CHEAP => true,
            Some(_) | None => only && reads.len() == 1 && element.slice.size() <= LARGE,
        }
    }
}

/// The cost of computing an element where it is read, if nothing costly is then computed more often
/// than before.
enum Repeated {
    /// This many cheap operations.
    Cheap(usize),
    /// More, as often as before.
    Costly,
}

/// The computation of an element.
struct Element {
    index: Var,
    /// The statements of the body that the element needs, and the element.
    slice: Block,
    /// If the element is itself an array that a loop makes: the loop's position in `slice`, and the
    /// computation of its elements.
    row: Option<(usize, Box<Element>)>,
}

impl Element {
    /// None if a statement does more than compute a value.
    fn new(index: Var, body: &Block, result: Atom) -> Option<Element> {
        let slice = slice(body, result)?;
        let row = slice.stms.iter().enumerate().find_map(|(k, stm)| {
            let Exp::Nest(Nest::For { index, outs, body, .. }) = &stm.exp else { return None };
            let out = stm.binds.iter().position(|p| Atom::Var(p.var) == result)?;
            (outs[out] == Out::Collect).then_some(())?;
            Some((k, Box::new(Element::new(*index, body, body.results[out])?)))
        });
        Some(Element { index, slice, row })
    }

    /// The cost at a read; none if something costly would be computed more often than before.
    fn cost(&self, read: &Read, rank: usize) -> Option<Repeated> {
        let (mut element, mut depth, mut total) = (self, 1, Some(0));
        loop {
            let row = element.row.as_ref().filter(|_| depth < read.index.len());
            let own = element.slice.stms.iter().enumerate();
            let own = own.filter(|(k, _)| row.is_none_or(|(at, _)| at != k)).map(|(_, stm)| stm);
            let known = read.index[..depth].iter().all(|i| i.as_lit().is_some());
            match cost(own, read.index.len() == rank, known) {
                Some(cost) => total = total.map(|sum| sum + cost),
                None if read.covered(depth) => total = None,
                None => return None,
            }
            let Some((_, inner)) = row else { break };
            (element, depth) = (inner, depth + 1);
        }
        Some(total.map_or(Repeated::Costly, Repeated::Cheap))
    }

    /// The element at the indices: statements, its value, and the indices that are left.
    fn at(&self, names: &mut Names, index: &[Atom]) -> (Vec<Stm>, Atom, Vec<Atom>) {
        let (mut stms, mut renaming) = (Vec::new(), Renaming::new());
        let (mut element, mut rest) = (self, index);
        loop {
            renaming.insert(element.index, rest[0]);
            rest = &rest[1..];
            let row = element.row.as_ref().filter(|_| !rest.is_empty());
            for (k, stm) in element.slice.stms.iter().enumerate() {
                if row.is_none_or(|(at, _)| *at != k) {
                    stms.push(renaming.copy_stm(stm, names));
                }
            }
            match row {
                Some((_, inner)) => element = inner,
                None => return (stms, renaming.atom(element.slice.results[0]), rest.to_vec()),
            }
        }
    }
}

/// The arrays that have been consumed so far in the walk, that is, updated in place if nothing
/// mentions them later.
struct Consumed {
    /// Arguments are never updated in place.
    params: HashSet<Var>,
    /// When each array was consumed last.
    when: HashMap<Var, usize>,
    now: usize,
    /// The arrays that views are parts of.
    bases: HashMap<Var, Var>,
}

impl Consumed {
    fn new(params: &[Param]) -> Consumed {
        Consumed {
            params: params.iter().map(|p| p.var).collect(),
            when: HashMap::new(),
            now: 0,
            bases: HashMap::new(),
        }
    }

    fn base(&self, mut x: Var) -> Var {
        while let Some(base) = self.bases.get(&x) {
            x = *base;
        }
        x
    }

    /// To be called before the blocks of the statement are visited: a loop consumes its first state
    /// when it begins.
    fn pass(&mut self, stm: &Stm) {
        if let Exp::Op(Op::Index(x, _)) = &stm.exp
            && !stm.binds[0].ty.dims.is_empty()
        {
            self.bases.insert(stm.binds[0].var, *x);
        }
        stm.exp.consumed(&mut |x| {
            let base = self.base(x);
            if !self.params.contains(&base) {
                self.now += 1;
                self.when.insert(base, self.now);
            }
        });
    }

    fn since(&self, time: usize, x: Var) -> bool {
        self.when.get(&self.base(x)).is_some_and(|when| *when > time)
    }
}

/// An array in scope whose elements may be computed where they are read.
struct Producer {
    element: Element,
    /// The variables that the elements are computed from.
    mentions: Vec<Var>,
    /// When the loop ran, by the clock of [`Consumed`].
    time: usize,
}

struct Inliner<'a> {
    names: &'a mut Names,
    reads: Reads,
    scope: Scope,
    producers: HashMap<Var, Producer>,
    consumed: Consumed,
    image: Renaming,
    changed: bool,
}

impl Inliner<'_> {
    fn block(&mut self, block: &mut Block) {
        let mark = self.scope.mark();
        self.statements(block);
        self.scope.reset(mark);
    }

    fn nested(&mut self, exp: &mut Exp) {
        let mark = self.scope.mark();
        self.scope.enter(exp);
        if let Exp::Nest(Nest::If { cond, then, otherwise }) = exp {
            for (block, holds) in [(then, true), (otherwise, false)] {
                let mark = self.scope.mark();
                self.scope.assume(*cond, holds);
                self.statements(block);
                self.scope.reset(mark);
            }
        } else {
            exp.blocks_mut().into_iter().for_each(|b| self.block(b));
        }
        self.scope.reset(mark);
    }

    fn pass(&mut self, stm: &Stm) {
        self.scope.pass(stm);
        if let Exp::Op(Op::Check { cond, .. }) = &stm.exp {
            self.scope.assume(*cond, true);
        }
    }

    fn statements(&mut self, block: &mut Block) {
        for mut stm in std::mem::take(&mut block.stms) {
            stm.exp.atoms_mut(&mut |a| *a = self.image.atom(*a));
            stm.binds.iter_mut().for_each(|p| p.ty = self.image.ty(&p.ty));
            self.consumed.pass(&stm);
            self.nested(&mut stm.exp);
            if let Exp::Op(Op::Index(x, index)) = &stm.exp
                && let Some(producer) = self.producers.get(x)
                && !producer.mentions.iter().any(|y| self.consumed.since(producer.time, *y))
            {
                let (stms, value, rest) = producer.element.at(self.names, index);
                let copy = Block { stms, results: Vec::new() };
                if evident(&copy, &mut self.scope) {
                    self.changed = true;
                    let before = block.stms.len();
                    block.stms.extend(copy.stms);
                    match value {
                        Atom::Var(row) if !rest.is_empty() => {
                            block.stms.push(Stm::new(stm.binds, Op::Index(row, rest)))
                        }
                        Atom::Var(_) | Atom::Lit(_) => self.image.insert(stm.binds[0].var, value),
                    }
                    block.stms[before..].iter().for_each(|stm| self.pass(stm));
                    continue;
                }
            }
            self.producers(&stm);
            self.pass(&stm);
            block.stms.push(stm);
        }
        block.results.iter_mut().for_each(|a| *a = self.image.atom(*a));
    }

    /// Notes the arrays that a `for` makes, if their elements may be computed elsewhere.
    fn producers(&mut self, stm: &Stm) {
        let Exp::Nest(Nest::For { index, outs, body, .. }) = &stm.exp else { return };
        let only = outs.len() == 1 && stm.is_pure();
        for ((p, out), result) in stm.binds.iter().zip(outs).zip(&body.results) {
            if *out == Out::Collect
                && self.reads.reads.contains_key(&p.var)
                && let Some(element) = Element::new(*index, body, *result)
                && self.reads.worthwhile(p, &element, only)
            {
                let mut mentions = Vec::new();
                let stms = &element.slice.stms;
                stms.iter().for_each(|stm| stm.mentioned(&mut |v| mentions.push(v)));
                let time = self.consumed.now;
                self.producers.insert(p.var, Producer { element, mentions, time });
            }
        }
    }
}

/// The statements that a result needs; none if one of them does more than compute a value.
fn slice(body: &Block, result: Atom) -> Option<Block> {
    let mut needed: HashSet<Var> = result.as_var().into_iter().collect();
    let mut stms = Vec::new();
    for stm in body.stms.iter().rev() {
        if stm.binds.iter().any(|p| needed.contains(&p.var)) {
            if !stm.is_pure() || stm.may_not_end() {
                return None;
            }
            stm.mentioned(&mut |v| _ = needed.insert(v));
            stms.push(stm.clone());
        }
    }
    stms.reverse();
    Some(Block { stms, results: vec![result] })
}

/// The number of operations of the statements, if they are few and cheap; reading takes none. An
/// array filled with one value takes none either, if only an element of it is wanted. If the index
/// is `known`, a branch that comparisons with it decide takes the operations in it.
fn cost<'a>(stms: impl Iterator<Item = &'a Stm>, element: bool, known: bool) -> Option<usize> {
    let mut count = 0;
    let total = stms.map(|stm| statement_cost(stm, element, known, &mut count)).sum();
    if count <= CHEAP { total } else { None }
}

fn statement_cost(stm: &Stm, element: bool, known: bool, count: &mut usize) -> Option<usize> {
    *count += 1;
    match &stm.exp {
        Exp::Op(Op::Prim(op, _)) if op.cost() == Cost::Cheap => {
            let free = match op.result() {
                ScalarTy::Real => false,
                ScalarTy::Int => true,
                ScalarTy::Bool => known,
            };
            Some(usize::from(!free))
        }
        // Division by a constant is a multiplication, as for the indices of a flattened array.
        Exp::Op(Op::Prim(Prim::DivInt | Prim::RemInt, args))
            if matches!(args[1], Atom::Lit(Scalar::Int(1..))) =>
        {
            Some(0)
        }
        Exp::Op(Op::Index(..)) => Some(0),
        Exp::Op(Op::Fill(_)) if element || stm.binds[0].ty.dims.is_empty() => Some(0),
        Exp::Nest(Nest::If { then, otherwise, .. }) if known => {
            let branches = then.stms.iter().chain(&otherwise.stms);
            branches.map(|stm| statement_cost(stm, element, known, count)).sum()
        }
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}
