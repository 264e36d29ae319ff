//! `if`: scalars through cells, arrays in memory that both branches fill.
//!
//! A scalar that leaves several branches has one cell, that of the outermost `if`, so that code
//! grows with the results and not with results times depth.
//!
//! An array goes, in this order, into the memory that one of the branches updates in place, if that
//! is otherwise dead; into the wanted place of the result; into new memory. If its sizes are
//! results of the `if` themselves, each branch allocates the memory and swaps names with an empty
//! buffer made before.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Param, Stm, Var};
use lambada_loops::{Buf, Cell, Nest, Operand, Step, Stmt};
use lambada_prim::Prim;
use lambada_prim::ScalarTy;

use crate::Lower;
use crate::code::BodyKind;
use crate::memory::{Home, LoweredValue, Place};

/// The joint destination of a result of the branches.
pub(crate) enum Joint {
    Cell(Cell),
    Place(Place),
    /// A buffer whose memory a branch allocates.
    Later(Buf),
}

impl<'a> Lower<'a> {
    pub(crate) fn if_(&mut self, stm: &'a Stm, cond: Atom, then: &'a Block, otherwise: &'a Block) {
        let cond = self.env.operand(cond);
        if then.stms.is_empty()
            && otherwise.stms.is_empty()
            && stm.binds.iter().all(|p| p.ty.dims.is_empty())
        {
            return self.choose(stm, cond, then, otherwise);
        }
        let mut taken = Vec::new();
        let results = then.results.iter().zip(&otherwise.results);
        let joints: Vec<Joint> = stm
            .binds
            .iter()
            .zip(results)
            .map(|(bind, results)| self.joint(stm, bind, results, &mut taken))
            .collect();
        let then = self.branch(then, &joints);
        let otherwise = self.branch(otherwise, &joints);
        if !(then.is_empty() && otherwise.is_empty()) {
            self.code.push(Nest::If { cond, then, otherwise });
        }
        for (bind, joint) in stm.binds.iter().zip(joints) {
            let value = match joint {
                Joint::Cell(cell) if self.env.wanted(bind.var) == Some(cell) => {
                    LoweredValue::Cell(cell)
                }
                joint => self.joined(bind, joint),
            };
            self.bind(bind.var, value);
        }
    }

    /// A choice without statements: both values exist.
    fn choose(&mut self, stm: &Stm, cond: Operand, then: &Block, otherwise: &Block) {
        for ((bind, a), b) in stm.binds.iter().zip(&then.results).zip(&otherwise.results) {
            let args = vec![cond, self.env.operand(*a), self.env.operand(*b)];
            let select = match bind.ty.elem.scalar() {
                ScalarTy::Real => Prim::Select,
                ScalarTy::Int => Prim::SelectInt,
                ScalarTy::Bool => Prim::SelectBool,
            };
            let value = self.code.prim(select, args, self.env.hint(bind.var));
            self.bind(bind.var, LoweredValue::Scalar(value));
        }
    }

    /// A scalar has the cell of the `if` around if it is the result of its branch; else a new one,
    /// which starts with the constant that one of the branches gives.
    fn joint(
        &mut self,
        stm: &Stm,
        bind: &Param,
        (then, otherwise): (&Atom, &Atom),
        taken: &mut Vec<Place>,
    ) -> Joint {
        let elem = bind.ty.elem.scalar();
        if bind.ty.dims.is_empty() {
            if let Some(cell) = self.env.wanted(bind.var) {
                return Joint::Cell(cell);
            }
            let first = otherwise.as_lit().or(then.as_lit()).unwrap_or(elem.zero());
            let hint = self.env.hint(bind.var);
            return Joint::Cell(self.code.cell(elem, Operand::Lit(first), hint));
        }
        if is_sized_by(bind, &stm.binds) {
            let hint = self.env.hint(bind.var);
            let (level, nothing) = (self.code.level(), [Operand::int(0)]);
            return Joint::Later(self.code.alloc(level, elem, &nothing, hint, None));
        }
        let place = self.joint_place(bind, taken);
        taken.push(place.clone());
        Joint::Place(place)
    }

    fn joint_place(&mut self, bind: &Param, taken: &[Place]) -> Place {
        let dims = self.env.dims(&bind.ty);
        // Variables of the branches are not bound yet; the arrays beyond them come from around the
        // `if`.
        let origins = self.env.facts().origins_until(bind.var, &|v| self.env.is_bound(v));
        let origin = origins.into_iter().find_map(|v| self.reusable(v, &dims, taken));
        match (origin, self.memory.wanted(bind.var)) {
            (Some(origin), _) => origin,
            (None, Some(wanted)) if self.is_unclaimed(wanted, taken) => wanted.clone(),
            (None, _) => self.alloc(bind),
        }
    }

    /// The place of an array from around the `if` that is dead after it. Its sizes must be those of
    /// the result, not only in the branch that returns it.
    fn reusable(&self, var: Var, dims: &[Operand], taken: &[Place]) -> Option<Place> {
        match self.env.known(var) {
            Some(LoweredValue::Array(place))
                if *place.dims == *dims && self.is_unclaimed(place, taken) =>
            {
                Some(place.clone())
            }
            Some(
                LoweredValue::Array(_)
                | LoweredValue::Scalar(_)
                | LoweredValue::Elements(_)
                | LoweredValue::Cell(_),
            )
            | None => None,
        }
    }

    fn is_unclaimed(&self, place: &Place, taken: &[Place]) -> bool {
        self.is_spent(place.storage) && self.is_apart(place, taken)
    }

    pub(crate) fn branch(&mut self, block: &'a Block, joints: &[Joint]) -> Vec<Stmt> {
        let wants: Vec<Option<Place>> = joints
            .iter()
            .map(|joint| match joint {
                Joint::Place(place) => Some(place.clone()),
                Joint::Cell(_) | Joint::Later(_) => None,
            })
            .collect();
        self.code.open(BodyKind::Branch);
        self.within(block, &[], |lower| {
            for (result, joint) in block.results.iter().zip(joints) {
                if let (Atom::Var(var), Joint::Cell(cell)) = (result, joint) {
                    lower.env.want(*var, *cell);
                }
            }
            let results = lower.block(block, &wants);
            lower.join(results, joints);
        });
        self.code.close()
    }

    fn join(&mut self, results: Vec<LoweredValue>, joints: &[Joint]) {
        let mut moves = Vec::new();
        let (mut names, mut later) = (Vec::new(), Vec::new());
        for (result, joint) in results.into_iter().zip(joints) {
            match (result, joint) {
                (LoweredValue::Scalar(value), Joint::Cell(cell)) => {
                    if self.code.first(*cell) != value {
                        self.code.set(*cell, value);
                    }
                }
                (LoweredValue::Cell(inner), Joint::Cell(cell)) if inner == *cell => {}
                (LoweredValue::Array(place), Joint::Place(target)) => {
                    moves.push((place, target.clone()))
                }
                (LoweredValue::Array(place), Joint::Later(buf)) => {
                    names.push(*buf);
                    later.push(place);
                }
                (
                    LoweredValue::Scalar(_)
                    | LoweredValue::Array(_)
                    | LoweredValue::Elements(_)
                    | LoweredValue::Cell(_),
                    _,
                ) => {
                    unreachable!("a result fits its joint")
                }
            }
        }
        // Arrays allocated here have their own memory, so the moves cannot disturb them; copies are
        // read first.
        let made = self.made_here(later);
        self.move_all(moves);
        for (buf, own) in names.into_iter().zip(made) {
            self.code.push(Step::Swap(buf, self.memory.buf(own.storage)));
        }
    }

    /// Each array as a separate whole buffer of this body.
    pub(crate) fn made_here(&mut self, arrays: Vec<Place>) -> Vec<Place> {
        let mut used: HashSet<Buf> = HashSet::new();
        let level = self.code.level();
        let mut made = Vec::with_capacity(arrays.len());
        for place in arrays {
            let is_own = self.memory.whole(&place).is_some_and(|home| home.level == level);
            if is_own && used.insert(self.memory.buf(place.storage)) {
                made.push(place);
            } else {
                made.push(self.duplicate(&place));
            }
        }
        made
    }

    pub(crate) fn joined(&mut self, bind: &Param, joint: Joint) -> LoweredValue {
        match joint {
            Joint::Cell(cell) => LoweredValue::Scalar(self.code.get(cell)),
            Joint::Place(place) => LoweredValue::Array(place),
            Joint::Later(buf) => LoweredValue::Array(self.named(buf, bind)),
        }
    }

    /// The place of an array whose buffer gets its memory inside the statement that binds it.
    pub(crate) fn named(&mut self, buf: Buf, bind: &Param) -> Place {
        let dims = self.env.dims(&bind.ty);
        let home = Home { level: self.code.level(), len: self.code.len(&dims) };
        Place { storage: self.memory.own(buf, home), offset: Operand::int(0), dims }
    }
}

/// Whether the sizes depend on other binds of the list.
pub(crate) fn is_sized_by(bind: &Param, list: &[Param]) -> bool {
    bind.ty.dims.iter().any(|d| list.iter().any(|p| Atom::Var(p.var) == *d))
}
