//! Blocks and statements, and the places where their arrays are wanted.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Exp, Nest, Op, Param, Scheduled, Stm, Var};
use lambada_loops::Operand;
use lambada_prim::ScalarTy;

use crate::Lower;
use crate::memory::{LoweredValue, Place, StorageId};

/// Maximal number of newest buffers of a body that are searched for a free one.
const RECENT: usize = 64;

impl<'a> Lower<'a> {
    /// Lowers the statements of the current block; returns its results. `wants` has the wanted
    /// place of each result; the caller moves results that are elsewhere.
    pub(crate) fn block(&mut self, block: &'a Block, wants: &[Option<Place>]) -> Vec<LoweredValue> {
        self.plan(block, wants);
        for (k, stm) in block.stms.iter().enumerate() {
            self.env.arrive(k);
            let own = stm.binds.first().and_then(|bind| self.env.origin(bind.var));
            let around = self.code.come_from(own);
            self.statement(stm);
            self.code.go_back(around);
        }
        self.env.arrive(block.stms.len());
        block.results.iter().map(|a| self.env.value(*a)).collect()
    }

    pub(crate) fn statement(&mut self, stm: &'a Stm) {
        match &stm.exp {
            Exp::Op(op) => self.op(stm, op),
            Exp::Nest(Nest::For { index, extent, outs, body }) => {
                self.for_(stm, *index, *extent, outs, body)
            }
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                self.loop_(stm, params, inits, kind, body)
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => self.if_(stm, *cond, then, otherwise),
        }
    }

    fn op(&mut self, stm: &'a Stm, op: &'a Op) {
        match op {
            Op::Prim(op, args) => self.prim(&stm.binds[0], *op, args),
            Op::Index(x, index) => self.index(&stm.binds[0], *x, index),
            Op::Fill(value) => self.fill(&stm.binds[0], *value),
            Op::Array(items) => self.array(&stm.binds[0], items),
            Op::Constant(tensor) => self.constant(&stm.binds[0], tensor),
            Op::Update { array, index, value } => self.update(&stm.binds[0], *array, index, *value),
            Op::Scheduled(Scheduled::Concat(parts)) => self.concat(&stm.binds[0], parts),
            Op::Scheduled(Scheduled::Kernel(kernel)) => self.kernel(stm, kernel),
            Op::ArrayPrim(prim, args) => self.array_prim(&stm.binds, *prim, args),
            Op::Accumulator(value) => self.accumulator(&stm.binds[0], *value),
            Op::Accumulate { acc, index, value } => self.accumulate(*acc, index, *value),
            Op::Freeze(acc) => self.freeze(&stm.binds[0], *acc),
            Op::Check { cond, site, values } => self.check(*cond, site, values),
            Op::Inspect { number, label: _, values } => self.inspect(*number, values),
            Op::Call { function, args, accumulators } => {
                self.call(stm, *function, args, accumulators)
            }
            Op::Node { node, tag, fields, cells: _ } => {
                self.node(&stm.binds[0], *node, *tag, fields)
            }
            Op::Tag(of) => self.tag(&stm.binds[0], *of),
            Op::Field { of, tag, field } => self.field(&stm.binds[0], *of, *tag, *field),
            Op::Open { of, tag, field } => self.open(&stm.binds[0], *of, *tag, *field),
            Op::Cell { of, tag, field } => self.cell(&stm.binds[0], *of, *tag, *field),
        }
    }

    // Plans

    /// Plans where arrays of the block should be built: a result in its wanted place, the source of
    /// an updated result in the same place, a row of an array literal in its slot. Plans are
    /// wishes: the builder checks whether the place is free.
    fn plan(&mut self, block: &'a Block, wants: &[Option<Place>]) {
        let mut wishes: HashMap<Var, Place> = HashMap::new();
        for (result, want) in block.results.iter().zip(wants) {
            if let (Atom::Var(var), Some(place)) = (result, want) {
                wishes.entry(*var).or_insert_with(|| place.clone());
            }
        }
        // Arrays wanted in a part of another array; a later check may be about its index.
        let mut parts: HashSet<Var> = HashSet::new();
        for (k, stm) in block.stms.iter().enumerate().rev() {
            if is_check(stm) {
                parts.drain().for_each(|part| drop(wishes.remove(&part)));
            }
            self.literal_rows(stm, &mut wishes);
            self.want_parts(&block.stms[..=k], &mut wishes);
            parts.extend(self.new_part(block, k, &mut wishes));
            for (which, bind) in stm.binds.iter().enumerate() {
                // Sizes may be equal only because a branch tested them; an array built before would
                // not fit.
                let wished = wishes.remove(&bind.var);
                if let Some(place) = wished.filter(|place| self.fits(bind, place)) {
                    let others: Option<HashSet<Var>> =
                        parts.remove(&bind.var).then(|| wishes.keys().copied().collect());
                    self.hand_on(stm, k, which, &place, &mut wishes);
                    if let Some(others) = others {
                        parts.extend(wishes.keys().filter(|var| !others.contains(var)));
                    }
                    self.memory.want(bind.var, place);
                }
            }
        }
    }

    /// An array literal of arrays gets its memory before they are built.
    fn literal_rows(&mut self, stm: &Stm, wishes: &mut HashMap<Var, Place>) {
        if let (Exp::Op(Op::Array(_)), [bind]) = (&stm.exp, stm.binds.as_slice())
            && bind.ty.rank() > 1
            && !wishes.contains_key(&bind.var)
            && self.is_known(bind)
        {
            let place = self.alloc(bind);
            wishes.insert(bind.var, place);
        }
    }

    /// Plans to build the new part of an updated array, `tape with [i] = row`, in the array, if it
    /// is a parameter of the current block and not read until then. A check ends the plan, because
    /// the index may be in range only after the check. Returns the part.
    fn new_part(
        &mut self,
        block: &Block,
        k: usize,
        wishes: &mut HashMap<Var, Place>,
    ) -> Option<Var> {
        let stm = &block.stms[k];
        let made = |part: Var| {
            block.stms[..k].iter().rposition(|stm| stm.binds.iter().any(|p| p.var == part))
        };
        let unchecked =
            |part: Var| made(part).is_some_and(|from| !block.stms[from..k].iter().any(is_check));
        if let Exp::Op(Op::Update { array, index, value: Atom::Var(part) }) = &stm.exp
            && stm.binds[0].ty.rank() > index.len()
            && self.env.last_mention(*part) == Some(k)
            && !wishes.contains_key(part)
            && !self.env.is_bound(*part)
            && unchecked(*part)
            && index.iter().all(|i| i.as_var().is_none_or(|v| self.env.is_bound(v)))
            && let Some(place) = self.untouched_until(*array, k)
        {
            let index = self.env.operands(index);
            let slot = Place {
                offset: self.code.offset(&place, &index),
                storage: self.memory.slot(place.storage),
                dims: place.dims[index.len()..].into(),
            };
            self.memory.unname(place.storage, *array);
            wishes.insert(*part, slot);
            return Some(*part);
        }
        None
    }

    /// The place of a parameter of the current block, if it is writable and no statement of the
    /// block before the k-th, which ends it, mentions any of it.
    fn untouched_until(&self, array: Var, k: usize) -> Option<Place> {
        let Some(LoweredValue::Array(place)) = self.env.known(array) else { return None };
        let (stms, _) = self.env.rest();
        let is_free = self.memory.is_writable(place.storage)
            && self.env.is_here(array)
            && self.env.ends_at(array, k)
            && self
                .memory
                .names(place.storage)
                .into_iter()
                .all(|v| v == array || !self.env.is_used(v))
            && !stms[..k].iter().any(|stm| self.is_mentioned_by(stm, array));
        is_free.then(|| place.clone())
    }

    fn is_mentioned_by(&self, stm: &Stm, var: Var) -> bool {
        let mut found = stm.exp.blocks().into_iter().any(|inner| self.env.mentions(inner, var));
        stm.exp.atoms(&mut |atom| found |= atom == Atom::Var(var));
        found
    }

    /// Whether a planned array evidently has the sizes of the place.
    pub(crate) fn fits(&self, bind: &Param, place: &Place) -> bool {
        self.is_known(bind) && self.env.dims(&bind.ty) == place.dims
    }

    /// Whether the sizes of a planned array are already known.
    fn is_known(&self, bind: &Param) -> bool {
        bind.ty.dims.iter().all(|d| d.as_var().is_none_or(|v| self.env.is_bound(v)))
    }

    /// Propagates the wanted place of bind number `which` to the arrays that it is made from and
    /// that end there.
    fn hand_on(
        &mut self,
        stm: &Stm,
        k: usize,
        which: usize,
        place: &Place,
        wishes: &mut HashMap<Var, Place>,
    ) {
        let mut wish = |lower: &Self, atom: Atom, place: Place| {
            if let Atom::Var(var) = atom
                && lower.env.last_mention(var) == Some(k)
            {
                wishes.entry(var).or_insert(place);
            }
        };
        match &stm.exp {
            Exp::Nest(Nest::If { .. }) => {
                for origin in self.env.facts().origins(stm.binds[which].var).into_iter().skip(1) {
                    wish(self, origin.into(), place.clone());
                }
            }
            Exp::Op(Op::Array(items)) if place.dims.len() > 1 => {
                for (row, item) in items.iter().enumerate() {
                    let slot = self.slot(place, Operand::int(row as i64));
                    wish(self, *item, slot);
                }
            }
            Exp::Op(_) | Exp::Nest(_) => {
                for source in self.env.facts().sources(&stm.exp, which) {
                    wish(self, source, place.clone());
                }
            }
        }
    }

    // Buffers for new arrays

    /// The place to build an array: its wanted place, if that is free during and after the current
    /// statement; else new memory.
    pub(crate) fn target(&mut self, bind: &Param) -> Place {
        self.target_apart(bind, &[])
    }

    /// [`Self::target`] apart from the places that the statement also builds in.
    pub(crate) fn target_apart(&mut self, bind: &Param, taken: &[Place]) -> Place {
        match self.memory.wanted(bind.var) {
            Some(place) if self.is_free(place, &[]) && self.is_apart(place, taken) => place.clone(),
            Some(_) | None => self.alloc(bind),
        }
    }

    /// Whether the place shares no element with any of the others.
    pub(crate) fn is_apart(&self, place: &Place, others: &[Place]) -> bool {
        !others.iter().any(|other| self.memory.overlap(other.storage, place.storage))
    }

    /// Memory for an array: that of a dead array of the same length, or new.
    pub(crate) fn alloc(&mut self, bind: &Param) -> Place {
        let dims = self.env.dims(&bind.ty);
        let len = self.code.len(&dims);
        let idle =
            self.code.homes().take(RECENT).find(|id| self.is_idle(*id, bind.ty.elem.scalar(), len));
        if let Some(storage) = idle {
            self.memory.promise(storage);
            return Place { storage, offset: Operand::int(0), dims };
        }
        let level = self.code.level();
        let origin = self.env.origin(bind.var);
        self.alloc_at(level, bind.ty.elem.scalar(), dims, self.env.hint(bind.var), origin)
    }

    /// Whether the buffer has held an array that no current or later statement mentions.
    fn is_idle(&self, storage: StorageId, elem: ScalarTy, len: Operand) -> bool {
        self.memory.is_given(storage)
            && self.memory.home(storage).is_some_and(|home| home.len == len)
            && self.code.elem(self.memory.buf(storage)) == elem
            && !self.memory.names(storage).into_iter().any(|v| self.env.is_used(v))
    }
}

fn is_check(stm: &Stm) -> bool {
    matches!(stm.exp, Exp::Op(Op::Check { .. }))
}
