//! `D←`: the reverse derivative of a block.
//!
//! ```text
//!   D← : Γ ⊢ b : τ   becomes   Γ ⊢ D←[b] : τ × (τ̄ ⊸ Γ̄)
//! ```
//!
//! The forward sweep is the primal block, in which `for`, `loop` and `if` have the residuals as
//! further results. The linear map `τ̄ ⊸ Γ̄` exists at compile time only: applying it emits the
//! statements of the reverse sweep. It visits the statements from the last to the first, and each
//! moves the cotangents of its results to the cotangents of its operands. `Γ̄` is a finite map:
//! *absent means zero*, and an entry is a sum in SSA, or an accumulator with additions in place.
//!
//! A *frame* is a block of the reverse sweep under construction. A contribution to a variable that
//! an outer block binds crosses frames:
//! * a scalar is summed inside and handed out: a `for` reduces, a `loop` carries the sum, an `if`
//!   carries it through both branches; so are handles and arrays of handles, where their cotangents
//!   are values;
//! * an array has an accumulator, made in the counterpart of the block that binds the array; any
//!   inner block may add to it;
//! * except that an `if` hands out a whole array like a scalar, so that state flows through
//!   branches without copies.
//!
//! * Assumes: parameters are real, or handles whose shadows are in scope ([`crate::shadows`]);
//!   variables are bound once; active reductions are sums ([`crate::extrema`]).
//! * Gives: the forward sweep and the pullback, which mentions top-level variables of the forward
//!   sweep.
//! * Keeps: the primal statements and their checks, which the reverse sweep does not repeat.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::{
    Atom, Block, Builder, Elem, Exp, Lambda, Names, Nest, Op, Param, Stm, Ty, Var, free_vars,
};

use crate::activity::Activity;
use crate::arrays;
use crate::crossing::{self, cross};
use crate::derived::Partial;
use crate::derived::{Context, Crossing, Mode};
use crate::facts::Facts;
use crate::guarded::guarded;
use crate::known::Handles;
use crate::multiples::multiples;
use crate::partial::Gives;
use crate::shadows::Shadows;
use crate::tangents::ShadowCell;
use crate::trim::{trim, trim_first};
use crate::undo::{Plan, Undo};
use crate::values::{self, Made};

/// The two sweeps of a block with shadows.
pub(crate) struct Sweeps {
    pub(crate) forward: Vec<Stm>,
    /// From one cotangent per result that is real or a handle to one per parameter.
    pub(crate) params: Vec<Param>,
    pub(crate) reverse: Block,
}

/// The sweeps of a block whose variables are all in scope in the reverse sweep.
pub(crate) fn sweeps(
    cx: &mut Context,
    names: &mut Names,
    activity: &Rc<Activity>,
    shadows: &Shadows,
    f: &Lambda,
) -> Sweeps {
    let ruled = cx.ruled(&f.body, Gives::Cotangents);
    planned(f, activity, (&[], &[]), &ruled, &mut |facts, undo| {
        let mut c = Cotangents::new(cx, names, (facts, undo, shadows), f, &[]);
        let params = c.seeds(f);
        let stms = c.stms(&f.body.stms);
        let results: Vec<Atom> = f.params.iter().map(|p| c.parameter(p)).collect();
        let mut reverse = Block { stms: c.pop().stms, results };
        trim(&mut reverse);
        let mut body = Block { stms, results: f.body.results.clone() };
        trim_first(&mut body, &free_vars(&reverse));
        Sweeps { forward: body.stms, params, reverse }
    })
}

/// Repeats `attempt` until it suggests no better plan for restored arrays. `others` are in scope
/// besides the parameters; `state` are the parameters that a recursion carries as state.
pub(crate) fn planned<T>(
    f: &Lambda,
    activity: &Rc<Activity>,
    (others, state): (&[Param], &[Param]),
    ruled: &Partial,
    attempt: &mut dyn FnMut(&Facts, &mut Undo) -> T,
) -> T {
    let mut plan = Plan::default();
    loop {
        let mut facts = Facts::of(f, activity, state, &plan.not_carried, ruled);
        facts.params(others);
        let mut undo = Undo::new(plan.clone());
        let result = attempt(&facts, &mut undo);
        match undo.better() {
            None => return result,
            Some(better) => plan = better,
        }
    }
}

/// An entry of `Γ̄`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cotangent {
    /// The sum so far.
    Sum(Atom),
    /// The accumulator that holds the sum so far.
    Accumulator(Var),
}

/// The construct that a block of the reverse sweep belongs to, which decides how contributions to
/// outer variables leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// The pullback.
    Top,
    /// An iteration of a `for`.
    For,
    /// An iteration of a `loop`.
    Loop,
    /// A branch of an `if`.
    If,
}

/// A block of the reverse sweep under construction.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    /// Variables that the corresponding primal block binds: their cotangents end here.
    pub(crate) owned: HashSet<Var>,
    pub(crate) entries: HashMap<Var, Cotangent>,
    /// Outer variables that have an entry, in order.
    pub(crate) touched: Vec<Var>,
    /// In a `loop`: the parameters that carry the sums of outer scalars.
    pub(crate) carried: HashMap<Var, Var>,
    /// In a `loop`: the parameters that carry the presence of these sums, where presence matters.
    pub(crate) flags: HashMap<Var, Var>,
    /// Results of the primal block, each with the outer variable that holds the same value.
    known: HashMap<Var, Atom>,
    /// Array versions that the reverse sweep of the block has restored, each with its name.
    pub(crate) undone: HashMap<Var, Atom>,
    /// The conditions under which sums are present, if not always ([`crate::presence`]).
    pub(crate) present: HashMap<Var, Atom>,
    /// The statements, while the frame is not the innermost; else the builder has them.
    pub(crate) stms: Vec<Stm>,
}

/// The reverse sweep under construction.
pub(crate) struct Cotangents<'a> {
    /// Takes the statements of the current block.
    pub(crate) b: Builder<'a>,
    pub(crate) facts: &'a Facts,
    pub(crate) undo: &'a mut Undo,
    pub(crate) cx: &'a mut Context,
    pub(crate) shadows: &'a Shadows,
    /// Accumulators that the sweep must not freeze: cells, and those that a function receives.
    pub(crate) lent: HashSet<Var>,
    /// Whether the branch that adds to an array makes its accumulator and hands it out, if the
    /// array belongs to the outermost block.
    pub(crate) in_branches: bool,
    /// Whether a node, the tape of a call, keeps the residuals of the outermost block.
    pub(crate) on_tape: bool,
    /// Values, and cotangents so far, that are constant multiples of others.
    pub(crate) multiples: HashMap<Var, (Atom, f64)>,
    /// Reads of fields of nodes that are known to have them.
    pub(crate) guarded: HashSet<Var>,
    /// The constituents of handles' cotangents.
    pub(crate) made: HashMap<Var, Made>,
    /// The condition under which the current contribution is present, if not always
    /// ([`crate::presence`]).
    pub(crate) when: Option<Atom>,
    /// Accumulators that count contributions, by array with possibly absent elements.
    pub(crate) flags: HashMap<Var, Var>,
    /// The counts, by cotangent of such an array.
    pub(crate) counts: HashMap<Var, Var>,
    /// From the outermost to the current block.
    pub(crate) frames: Vec<Frame>,
}

impl<'a> Cotangents<'a> {
    /// A sweep with the outermost block only; `others` are accumulators from outside.
    pub(crate) fn new(
        cx: &'a mut Context,
        names: &'a mut Names,
        (facts, undo, shadows): (&'a Facts, &'a mut Undo, &'a Shadows),
        f: &Lambda,
        others: &[Param],
    ) -> Cotangents<'a> {
        let multiples = multiples(&f.body);
        let (b, frames, lent) = (Builder::new(names), Vec::new(), HashSet::new());
        let (in_branches, on_tape) = (false, false);
        let constructors = |of: Atom| {
            let node = facts.activity.node(of)?;
            Some(cx.library.node(node).constructors.len())
        };
        let guarded = match cx.handles {
            Handles::Values => guarded(&f.body, &constructors),
            Handles::Shadows => HashSet::new(),
        };
        let mut cotangents = Cotangents {
            b,
            facts,
            undo,
            cx,
            shadows,
            lent,
            in_branches,
            on_tape,
            multiples,
            guarded,
            made: HashMap::new(),
            when: None,
            flags: HashMap::new(),
            counts: HashMap::new(),
            frames,
        };
        let bound = f.body.stms.iter().flat_map(|stm| &stm.binds);
        let owned = f.params.iter().chain(others).chain(bound).map(|p| p.var).collect();
        cotangents.push(FrameKind::Top, owned);
        cotangents
    }
}

impl Cotangents<'_> {
    // Statements

    /// The pullback's parameters, one per result that carries a derivative, as first contributions.
    fn seeds(&mut self, f: &Lambda) -> Vec<Param> {
        let mut params = Vec::new();
        for (result, ty) in f.body.results.iter().zip(&f.results) {
            if ty.elem == Elem::REAL {
                params.push(self.seed_result(*result, ty));
            } else if ty.elem.node().is_some() {
                let hint = result.as_var().map_or("out_ct".into(), |var| self.hint(var));
                let var = self.b.names.fresh(hint);
                if let Some(shadow) = self.shadows.get(*result) {
                    crossing::seed(self.cx, &mut self.b, ty, (shadow, var.into()));
                } else if self.wants(*result).is_some() {
                    let args = [*result, var.into()];
                    let seed = cross(self.cx, &mut self.b, Crossing::Tangent, ty, &args);
                    self.add(*result, seed.expect("a cotangent"), ty);
                }
                params.push(Param { var, ty: ty.clone() });
            }
        }
        params
    }

    /// A parameter for the cotangent of a result that is a value.
    pub(crate) fn seed_result(&mut self, result: Atom, ty: &Ty) -> Param {
        let hint = result.as_var().map_or("out_ct".into(), |var| self.hint(var));
        let var = self.b.names.fresh(hint);
        self.add(result, var.into(), ty);
        Param { var, ty: self.cx.ty(Mode::Tangent, ty) }
    }

    /// The cotangent of a parameter; for a handle, a value of its type.
    fn parameter(&mut self, p: &Param) -> Atom {
        if p.ty.elem.node().is_none() {
            return self.take_or_zero(p);
        }
        if self.cx.handles == Handles::Values && self.cx.known.carries(p.ty.elem) {
            let args = [p.var.into(), self.take_or_zero(p)];
            let value = cross(self.cx, &mut self.b, Crossing::Untangent, &p.ty, &args);
            return value.expect("a value");
        }
        crossing::harvest(self.cx, &mut self.b, p, self.shadows.get(p.var))
    }

    /// Emits the reverse of the statements, and gives their forward sweep.
    pub(crate) fn stms(&mut self, stms: &[Stm]) -> Vec<Stm> {
        let mut sweep: Vec<Vec<Stm>> = stms.iter().rev().map(|stm| self.stm(stm)).collect();
        sweep.reverse();
        sweep.into_iter().flatten().collect()
    }

    fn stm(&mut self, stm: &Stm) -> Vec<Stm> {
        if !self.facts.activity.concerns(stm) && !self.facts.versions.changed_by(stm) {
            return vec![stm.clone()];
        }
        // Statements of a derivative inherit the origin of the primal statement.
        let own = stm.binds.first().and_then(|p| self.b.names.origin(p.var));
        let around = own.map(|own| self.b.names.come_from(own));
        let forward = match &stm.exp {
            Exp::Nest(Nest::For { index, extent, outs, body }) => {
                self.for_(stm, *index, *extent, outs, body)
            }
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                self.loop_(stm, params, inits, kind, body)
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => self.if_(stm, *cond, then, otherwise),
            Exp::Op(op) => {
                let logged = self.op_if_present(stm, op);
                logged.into_iter().chain([stm.clone()]).collect()
            }
        };
        around.map(|around| self.b.names.come_from(around));
        forward
    }

    /// Emits the reverse of a statement without blocks; returns the log entry that the forward
    /// sweep must put before it.
    pub(crate) fn op(&mut self, stm: &Stm, op: &Op) -> Option<Stm> {
        match op {
            Op::Prim(op, args) => self.prim(&stm.binds[0], *op, args),
            Op::Index(x, index) => self.index(&stm.binds[0], *x, index),
            Op::Fill(value) => self.fill(&stm.binds[0], *value),
            Op::Array(items) => self.array(&stm.binds[0], items),
            Op::Update { array, index, value } => {
                let logged = self.undo_update(&stm.binds[0], index);
                self.update(&stm.binds[0], *array, index, *value);
                return logged;
            }
            Op::ArrayPrim(prim, args) => self.array_prim(&stm.binds[0], *prim, args),
            Op::Accumulator(init) => self.accumulator(&stm.binds[0], *init),
            Op::Accumulate { acc, index, value } => self.accumulate(*acc, index, *value),
            Op::Freeze(acc) => self.freeze(&stm.binds[0], *acc),
            Op::Call { function, args, accumulators } => {
                self.call(stm, *function, args, accumulators);
            }
            Op::Node { node, tag, fields, .. } => match self.cx.handles {
                Handles::Shadows => self.node(&stm.binds[0], *node, *tag, fields),
                Handles::Values => self.node_value(&stm.binds[0], *node, *tag, fields),
            },
            Op::Field { of, tag, field } if self.cx.handles == Handles::Values => {
                self.field_value(&stm.binds[0], *of, *tag, *field);
            }
            Op::Field { .. } | Op::Cell { .. } => self.read(&stm.binds[0]),
            Op::Constant(_)
            | Op::Check { .. }
            | Op::Inspect { .. }
            | Op::Tag(_)
            | Op::Open { .. } => {}
            Op::Scheduled(_) => unreachable!("scheduling is the last pass"),
        }
        None
    }

    // Frames

    pub(crate) fn push(&mut self, kind: FrameKind, owned: HashSet<Var>) {
        let stms = std::mem::take(&mut self.b.stms);
        if let Some(frame) = self.frames.last_mut() {
            frame.stms = stms;
        }
        let (entries, known) = (HashMap::new(), HashMap::new());
        self.frames.push(Frame {
            kind,
            owned,
            entries,
            touched: Vec::new(),
            carried: HashMap::new(),
            flags: HashMap::new(),
            known,
            undone: HashMap::new(),
            present: HashMap::new(),
            stms: Vec::new(),
        });
    }

    /// Leaves the current block, which may be resumed.
    pub(crate) fn pop(&mut self) -> Frame {
        let mut frame = self.frames.pop().expect("pop follows push");
        frame.stms = std::mem::take(&mut self.b.stms);
        if let Some(outer) = self.frames.last_mut() {
            self.b.stms = std::mem::take(&mut outer.stms);
        }
        frame
    }

    /// Returns into a block that was left.
    pub(crate) fn resume(&mut self, mut frame: Frame) {
        let stms = std::mem::replace(&mut self.b.stms, std::mem::take(&mut frame.stms));
        if let Some(outer) = self.frames.last_mut() {
            outer.stms = stms;
        }
        self.frames.push(frame);
    }

    pub(crate) fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("there is a frame")
    }

    /// Runs `emit` in an outer frame, before the construct that contains the current block.
    fn within<T>(&mut self, depth: usize, emit: impl FnOnce(&mut Self) -> T) -> T {
        if depth + 1 == self.frames.len() {
            return emit(self);
        }
        std::mem::swap(&mut self.b.stms, &mut self.frames[depth].stms);
        let result = emit(self);
        std::mem::swap(&mut self.b.stms, &mut self.frames[depth].stms);
        result
    }

    /// Declares that the primal block hands `inner` out as the outer variable `outer`.
    pub(crate) fn alias(&mut self, inner: Var, outer: Atom) {
        self.top().known.insert(inner, outer);
    }

    fn canonical(&self, atom: Atom) -> Atom {
        let known =
            |var: Var| self.frames.iter().rev().find_map(|frame| frame.known.get(&var).copied());
        atom.as_var().and_then(known).unwrap_or(atom)
    }

    // Γ̄

    /// The variable, if contributions to it matter.
    pub(crate) fn wants(&self, x: impl Into<Atom>) -> Option<Var> {
        x.into().as_var().filter(|var| self.facts.activity.valued(*var))
    }

    pub(crate) fn ty(&self, x: Var) -> &Ty {
        self.facts.ty(x)
    }

    /// Name hint for the cotangent of a variable.
    pub(crate) fn hint(&self, x: Var) -> String {
        format!("{}_ct", self.b.names.hint(x))
    }

    /// Binds a part of the cotangent of `x`: an array or scalar of type `ty`.
    pub(crate) fn bind_ct(&mut self, x: Var, ty: &Ty, exp: impl Into<Exp>) -> Atom {
        let hint = self.hint(x);
        self.b.bind(&hint, ty.clone(), exp)
    }

    /// `x̄ += value`, where `ty`, the type of the value, equals that of `x` up to names of equal
    /// sizes.
    pub(crate) fn add(&mut self, x: Atom, value: Atom, ty: &Ty) {
        let Some(x) = self.wants(x) else { return };
        if self.facts.activity.node(x.into()).is_some() {
            let to = self.ct_ty(x);
            let value = self.fit(x, value, ty, &to);
            let (before, hint) = (self.sum(x), self.hint(x));
            let both = [before.unwrap_or(Atom::int(0)), value];
            let sum = values::plus(self.cx, &mut self.b, &hint, &to, both);
            self.set(x, sum);
        } else if ty.dims.is_empty() {
            let before = self.sum(x);
            self.add_to(x, before, value);
        } else {
            let to = self.ty(x).clone();
            let value = self.fit(x, value, ty, &to);
            self.add_array(x, value);
        }
    }

    /// `x̄[index] += value`
    pub(crate) fn add_at(&mut self, x: Var, index: &[Atom], value: Atom, ty: &Ty) {
        if self.wants(x).is_some() {
            let to = self.ct_ty(x).indexed(index.len());
            let value = self.fit(x, value, ty, &to);
            if self.facts.activity.node(x.into()).is_some() {
                return self.add_to_element(x, index, value);
            }
            let acc = self.accumulator_of(x);
            self.b.effect(Op::Accumulate { acc, index: index.to_vec(), value });
            self.element_is_there(x, index);
        }
    }

    /// Replaces the entry.
    pub(crate) fn set(&mut self, x: Var, sum: Atom) {
        self.entry(x, Cotangent::Sum(sum));
    }

    /// Removes and returns the cotangent, and freezes its accumulator. `None` if it is zero or if
    /// its accumulator is lent.
    pub(crate) fn take(&mut self, x: Var) -> Option<Atom> {
        self.top().present.remove(&x);
        match self.top().entries.remove(&x)? {
            Cotangent::Sum(sum) => Some(sum),
            Cotangent::Accumulator(acc) if self.lent.contains(&acc) => None,
            Cotangent::Accumulator(acc) => {
                let ty = self.ty(x).clone();
                let x_ct = self.bind_ct(x, &ty, Op::Freeze(acc));
                self.contributions_are_counted(x, x_ct);
                Some(x_ct)
            }
        }
    }

    /// [`Self::take`] for an array.
    pub(crate) fn take_var(&mut self, x: Var) -> Option<Var> {
        self.take(x).and_then(Atom::as_var)
    }

    pub(crate) fn take_or_zero(&mut self, p: &Param) -> Atom {
        self.take(p.var).unwrap_or_else(|| {
            let ty = self.ct_of(&p.ty);
            self.b.zero(&ty)
        })
    }

    /// The cotangent of an accumulator of the program: its final value's, from whichever block
    /// froze it.
    pub(crate) fn of_accumulator(&mut self, acc: Var) -> Option<Atom> {
        let of = |frame: &Frame| match frame.entries.get(&acc)? {
            Cotangent::Sum(sum) => Some(*sum),
            Cotangent::Accumulator(_) => None,
        };
        let frozen = self.frames.iter().rev().find_map(of);
        frozen.or_else(|| self.of_cell(acc))
    }

    /// Directs contributions for an array to an accumulator that this sweep does not own.
    pub(crate) fn lend(&mut self, x: Var, acc: Var) {
        self.lent.insert(acc);
        self.entry(x, Cotangent::Accumulator(acc));
    }

    fn entry(&mut self, x: Var, cotangent: Cotangent) {
        let frame = self.top();
        frame.present.remove(&x);
        if frame.entries.insert(x, cotangent).is_none()
            && !frame.owned.contains(&x)
            && !frame.touched.contains(&x)
        {
            frame.touched.push(x);
        }
    }

    /// The sum so far of a scalar, or of handles, as it is known in the current block.
    pub(crate) fn sum(&mut self, x: Var) -> Option<Atom> {
        for depth in (0..self.frames.len()).rev() {
            let frame = &mut self.frames[depth];
            if let Some(Cotangent::Sum(sum)) = frame.entries.get(&x) {
                return Some(*sum);
            }
            if frame.owned.contains(&x) {
                return None;
            }
            match frame.kind {
                FrameKind::If => {}
                FrameKind::Top | FrameKind::For => return None,
                FrameKind::Loop => {
                    let hint = self.hint(x);
                    let param = self.b.names.fresh(hint);
                    let flag = self.has_flag(x).then(|| self.b.names.fresh("present"));
                    let frame = &mut self.frames[depth];
                    frame.carried.insert(x, param);
                    frame.flags.extend(flag.map(|flag| (x, flag)));
                    frame.present.extend(flag.map(|flag| (x, flag.into())));
                    frame.entries.insert(x, Cotangent::Sum(param.into()));
                    frame.touched.push(x);
                    return Some(param.into());
                }
            }
        }
        None
    }

    fn add_array(&mut self, x: Var, value: Atom) {
        if let Some(Cotangent::Sum(sum)) = self.top().entries.get(&x).copied() {
            self.add_to(x, Some(sum), value);
        } else if self.handed_out(x) {
            self.add_to(x, None, value);
        } else {
            let acc = self.accumulator_of(x);
            self.b.effect(Op::Accumulate { acc, index: Vec::new(), value });
            self.whole_is_there(x, value);
        }
    }

    /// Whether the current block may start its own sum for the array: only branches lie between it
    /// and the block that owns the array, and none has an accumulator for it.
    fn handed_out(&self, x: Var) -> bool {
        for frame in self.frames.iter().rev() {
            if let Some(Cotangent::Accumulator(_)) = frame.entries.get(&x) {
                return false;
            }
            if frame.owned.contains(&x) {
                return true;
            }
            match frame.kind {
                FrameKind::If => {}
                FrameKind::Top | FrameKind::For | FrameKind::Loop => return false,
            }
        }
        false
    }

    /// The accumulator of an array. If none exists, makes one in the innermost block that has a sum
    /// for the array, or owns it, because the accumulator can be frozen there.
    pub(crate) fn accumulator_of(&mut self, x: Var) -> Var {
        for depth in (0..self.frames.len()).rev() {
            let frame = &self.frames[depth];
            let sum = match frame.entries.get(&x) {
                Some(Cotangent::Accumulator(acc)) => return *acc,
                Some(Cotangent::Sum(sum)) => Some(*sum),
                None if frame.owned.contains(&x) => None,
                None => continue,
            };
            let cell = self.shadows.cell(x).filter(|_| frame.owned.contains(&x));
            let branch = self.branch_in(depth).filter(|_| self.in_branches && sum.is_none());
            if let Some(branch) = branch.filter(|_| cell.is_none()) {
                let acc = self.within(branch, |c| c.new_accumulator(x, None, None));
                let frame = &mut self.frames[branch];
                frame.entries.insert(x, Cotangent::Accumulator(acc));
                frame.touched.push(x);
                return acc;
            }
            let in_part = cell.is_none() && sum.is_none() && self.facts.unbounded.in_part(x);
            let acc = self.within(depth, |c| {
                if in_part {
                    c.count_contributions(x);
                }
                c.new_accumulator(x, cell, sum)
            });
            self.frames[depth].entries.insert(x, Cotangent::Accumulator(acc));
            return acc;
        }
        unreachable!("an active variable is owned by a frame")
    }

    /// The innermost of the branches nested directly in the outermost block, if that is `owner`.
    fn branch_in(&self, owner: usize) -> Option<usize> {
        let inner = self.frames[1..].iter().take_while(|frame| frame.kind == FrameKind::If).count();
        (owner == 0 && inner > 0).then_some(inner)
    }

    fn new_accumulator(&mut self, x: Var, cell: Option<ShadowCell>, sum: Option<Atom>) -> Var {
        let ty = self.ty(x).clone();
        if let Some(cell) = cell {
            let acc = self.opened(x, &ty, cell);
            let add = |value| Op::Accumulate { acc, index: Vec::new(), value };
            sum.into_iter().for_each(|sum| self.b.effect(add(sum)));
            return acc;
        }
        let init = sum.unwrap_or_else(|| self.b.zero(&ty));
        let acc = self.bind_ct(x, &ty, Op::Accumulator(init));
        acc.as_var().expect("a bound variable")
    }

    /// The accumulator of an array that a branch may add to, if an outer block has one.
    pub(crate) fn visible_accumulator(&self, x: Var) -> Option<Var> {
        let entries = self.frames.iter().rev().filter_map(|frame| frame.entries.get(&x));
        accumulator_in(entries)
    }

    /// [`Self::visible_accumulator`] without the current block.
    pub(crate) fn outer_accumulator(&self, x: Var) -> Option<Var> {
        accumulator_in(self.frames.iter().rev().skip(1).filter_map(|frame| frame.entries.get(&x)))
    }

    /// Whether blocks hand the sum on by value. An array of reals has an accumulator instead.
    pub(crate) fn is_handed(&self, x: Var) -> bool {
        self.ty(x).dims.is_empty() || self.facts.activity.node(x.into()).is_some()
    }

    /// The outer variables that have an entry in the current block, in order.
    pub(crate) fn touched(&mut self) -> Vec<Var> {
        self.top().touched.clone()
    }

    /// Whether the current block may run more than once.
    pub(crate) fn repeated(&self) -> bool {
        self.frames.iter().any(|frame| matches!(frame.kind, FrameKind::For | FrameKind::Loop))
    }

    /// Copies the value to type `to` if equal sizes have different names.
    pub(crate) fn fit(&mut self, x: Var, value: Atom, from: &Ty, to: &Ty) -> Atom {
        let agree =
            from.dims.iter().zip(&to.dims).all(|(a, b)| self.canonical(*a) == self.canonical(*b));
        if agree {
            return value;
        }
        let hint = self.hint(x);
        arrays::resized(&mut self.b, &hint, to, value)
    }
}

fn accumulator_in<'a>(mut entries: impl Iterator<Item = &'a Cotangent>) -> Option<Var> {
    entries.find_map(|entry| match entry {
        Cotangent::Accumulator(acc) => Some(*acc),
        Cotangent::Sum(_) => None,
    })
}
