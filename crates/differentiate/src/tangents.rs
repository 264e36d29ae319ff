//! `D→`: the forward derivative of a block.
//!
//! ```text
//!   D→ : Γ ⊢ b : τ   becomes   Γ, Γ̇ ⊢ D→[b] : τ × τ̇
//! ```
//!
//! Each statement is followed by the statements of its tangent; `for`, `loop` and `if` get further
//! results and stay one statement. The tangents `Γ̇` are a finite map: *absent means zero*, and no
//! zero is ever computed.
//!
//! Applied to handles only, these rules make the *shadows* of the reverse mode: nodes with a
//! cell for the cotangent of each real field. The forward sweep makes shadows and hands them around
//! like the nodes themselves. A null shadow belongs to a node without a cotangent.
//!
//! * Assumes: parameters are real or handles; variables are bound once; extrema and products have
//!   been rewritten ([`crate::extrema`]).
//! * Gives: a function from the parameters and their tangents to the results and the tangents of
//!   active results.
//! * Keeps: the primal statements, and each check, once.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, Builder, Exp, Names, Nest, Op, Param, Stm, Ty, Var};

use crate::absence::{Absence, Presence};
use crate::activity::Activity;
use crate::derived::{Context, Mode};
use crate::known::Handles;
use crate::partial::Gives;
use crate::threaded::LastUses;

/// The forward derivative under construction, and the tangents in scope.
pub(crate) struct Tangents<'a> {
    /// Takes the statements of the current block.
    pub(crate) b: Builder<'a>,
    pub(crate) activity: &'a Activity,
    pub(crate) cx: &'a mut Context,
    pub(crate) mode: Mode,
    of: HashMap<Var, Atom>,
    /// The presence of tangents that may be absent and for which this matters.
    pub(crate) present: HashMap<Var, Presence>,
    /// The tangents that may be absent, and those for which this matters.
    pub(crate) absence: Absence,
    /// With shadows: the cells of fields that are read, and of cells that receive additions.
    pub(crate) shadow_cells: HashMap<Var, ShadowCell>,
    /// The types of tangents.
    pub(crate) types: HashMap<Var, Ty>,
    /// With shadows: the calls that return the cotangents of arguments.
    pub(crate) last_uses: LastUses,
}

/// A cell of a shadow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShadowCell {
    pub(crate) shadow: Atom,
    pub(crate) tag: u32,
    pub(crate) field: u32,
}

impl<'a> Tangents<'a> {
    pub(crate) fn new(
        cx: &'a mut Context,
        names: &'a mut Names,
        activity: &'a Activity,
        mode: Mode,
    ) -> Tangents<'a> {
        let b = Builder::new(names);
        Tangents {
            b,
            activity,
            cx,
            mode,
            of: HashMap::new(),
            present: HashMap::new(),
            absence: Absence::default(),
            shadow_cells: HashMap::new(),
            types: HashMap::new(),
            last_uses: LastUses::new(),
        }
    }

    /// Analyses the block whose tangents follow, for [`Tangents::absence`].
    pub(crate) fn of_block(mut self, block: &Block) -> Tangents<'a> {
        if !self.cx.reach && self.cx.handles == Handles::Shadows {
            let ruled = self.cx.ruled(block, Gives::Tangents);
            let ruled = |id| ruled.get(&id).cloned();
            self.absence = Absence::of(&self.cx.known, block, self.activity, &ruled);
        }
        self
    }

    /// The shadows, and the cells that belong to variables.
    pub(crate) fn into_shadows(self) -> (HashMap<Var, Atom>, HashMap<Var, ShadowCell>) {
        (self.of, self.shadow_cells)
    }
}

impl Tangents<'_> {
    // The environment

    /// Whether `x` has a nonzero tangent, or a shadow.
    pub(crate) fn carries(&self, x: Var) -> bool {
        match self.mode {
            Mode::Tangent => self.activity.active(x),
            Mode::Shadow => self.activity.handle(x),
        }
    }

    /// The tangent, or `None` if it is zero. The tangent of an accumulator is an accumulator.
    pub(crate) fn get(&self, x: impl Into<Atom>) -> Option<Atom> {
        self.of.get(&x.into().as_var()?).copied()
    }

    pub(crate) fn get_var(&self, x: Var) -> Option<Var> {
        self.get(x).and_then(Atom::as_var)
    }

    pub(crate) fn set(&mut self, x: Var, tangent: Atom) {
        self.of.insert(x, tangent);
    }

    pub(crate) fn or_zero(&mut self, x: Atom, ty: &Ty) -> Atom {
        self.get(x).unwrap_or_else(|| {
            let ty = self.cx.ty(self.mode, ty);
            self.b.zero(&ty)
        })
    }

    /// Name hint for the tangent or shadow of a variable.
    pub(crate) fn hint(&self, x: Var) -> String {
        let suffix = match self.mode {
            Mode::Tangent => "tan",
            Mode::Shadow => "shadow",
        };
        format!("{}_{suffix}", self.b.names.hint(x))
    }

    /// A variable for the tangent of a bound variable.
    pub(crate) fn param(&mut self, p: &Param) -> Param {
        let var = self.b.names.fresh(self.hint(p.var));
        self.set(p.var, var.into());
        let ty = self.cx.ty(self.mode, &p.ty);
        self.types.insert(var, ty.clone());
        Param { var, ty }
    }

    /// Binds the tangent of `p`.
    pub(crate) fn bind(&mut self, p: &Param, exp: impl Into<Exp>) {
        let tangent = self.param(p);
        self.b.stms.push(Stm::new(vec![tangent], exp));
    }

    // Blocks

    /// The derivative of an inner block: its statements, with the results that `results` returns.
    pub(crate) fn block(
        &mut self,
        block: &Block,
        results: impl FnOnce(&mut Self) -> Vec<Atom>,
    ) -> Block {
        let outer = std::mem::take(&mut self.b.stms);
        self.stms(&block.stms);
        let results = results(self);
        Block { stms: std::mem::replace(&mut self.b.stms, outer), results }
    }

    pub(crate) fn stms(&mut self, stms: &[Stm]) {
        for stm in stms {
            if self.activity.concerns(stm) {
                // Statements of a derivative inherit the origin of the primal statement.
                let own = stm.binds.first().and_then(|p| self.b.names.origin(p.var));
                let around = own.map(|own| self.b.names.come_from(own));
                self.stm(stm);
                around.map(|around| self.b.names.come_from(around));
            } else {
                self.b.stms.push(stm.clone());
            }
        }
    }

    fn stm(&mut self, stm: &Stm) {
        match &stm.exp {
            Exp::Nest(Nest::For { index, extent, outs, body }) => {
                self.for_(stm, *index, *extent, outs, body)
            }
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                self.loop_(stm, params, inits, kind, body)
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => self.if_(stm, *cond, then, otherwise),
            Exp::Op(Op::Call { function, args, accumulators }) => {
                self.call(stm, *function, args, accumulators)
            }
            Exp::Op(op) => {
                self.b.stms.push(stm.clone());
                self.op(stm, op);
            }
        }
    }

    /// The tangent of a statement without blocks.
    fn op(&mut self, stm: &Stm, op: &Op) {
        match op {
            Op::Prim(op, args) => self.prim(&stm.binds[0], *op, args),
            Op::Index(x, index) => self.index(&stm.binds[0], *x, index),
            Op::Fill(value) => self.fill(&stm.binds[0], *value),
            Op::Array(items) => self.array(&stm.binds[0], items),
            Op::Update { array, index, value } => self.update(&stm.binds[0], *array, index, *value),
            Op::ArrayPrim(prim, args) => self.array_prim(&stm.binds[0], *prim, args),
            Op::Accumulator(init) => self.accumulator(&stm.binds[0], *init),
            Op::Accumulate { acc, index, value } => self.accumulate(*acc, index, *value),
            Op::Freeze(acc) => self.freeze(&stm.binds[0], *acc),
            Op::Node { node, tag, fields, .. } => self.node(&stm.binds[0], *node, *tag, fields),
            Op::Field { of, tag, field } => self.field(&stm.binds[0], *of, *tag, *field),
            Op::Open { of, tag, field } => self.open(&stm.binds[0], *of, *tag, *field),
            Op::Cell { of, tag, field } => self.cell(&stm.binds[0], *of, *tag, *field),
            Op::Constant(_)
            | Op::Check { .. }
            | Op::Inspect { .. }
            | Op::Tag(_)
            | Op::Call { .. } => {}
            Op::Scheduled(_) => unreachable!("scheduling is the last pass"),
        }
    }
}
