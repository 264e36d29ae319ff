//! Residuals: the values of the forward sweep that the reverse sweep needs. One rule serves the
//! bodies of `for`, `loop` and `if`.
//!
//! The reverse code of a body mentions primal values that the body binds: its *demand*. Values are
//! visited from the last to the first, and the first rule that applies to a demanded value decides:
//! 1. A value *known* outside under another name (the index, a result) is renamed.
//! 2. A *free* value, computed from outer values by cheap primitives and array reads, is
//!    recomputed, because a load would cost as much.
//! 3. A value a few cheap steps away from other demanded values is recomputed; in a `loop`, arrays
//!    of such values, too. A value that an update wrote to a restored array is read from there
//!    before the update is undone.
//! 4. An array that a nest of `for`s in a `loop` computes, with more axes than the loop state, is
//!    recomputed: memory grows with the state and not with the temporaries of an iteration.
//! 5. A value whose sizes are known outside is *stored* by the forward sweep, one element per
//!    iteration. The result of a `loop` in a `loop` is also stored if its sizes differ between
//!    iterations and can be summed before ([`crate::flat`]).
//! 6. All other values are recomputed by their statements, whose operands are demanded in turn.
//!    State whose size is itself state is recomputed by the loop from its start.
//!
//! So the sweep stores costly values, and memory grows with the work of the program and not with
//! the arrays that it reads. A nest with regular inner sizes runs once or twice forward and once in
//! reverse, at any depth. Rule 6 concerns irregular nests (inner sizes that depend on outer
//! iterations): it runs the nest once more per level.
//!
//! The reverse code has restored arrays ([`crate::versions`]) at hand. In inner blocks rule 2 reads
//! their elements anew; in the block that changes them, [`crate::schedule`] places each
//! recomputation where the right version is current. Values that an update overwrites are always
//! stored.
//!
//! The body of a loop with a `checkpoint` stores nothing: the reverse sweep recomputes all demanded
//! values from the state at the start of the body.
//!
//! * Assumes: the reverse code mentions primal values by their own names.
//! * Gives: reverse code that mentions outer values only, and the list of values that the forward
//!   sweep must hand out.
//! * Keeps: only the forward sweep runs checks. Equations between sizes are repeated where types
//!   rest on them.

mod store;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Builder, Effect, Exp, LoopKind, Names, Nest, Op, Out, Param, Renaming, Stm, Ty,
    Var, free_vars,
};
use lambada_prim::{Cost, Prim, ScalarTy};

use crate::derived::Context;
use crate::effects::{without_additions, without_checks};
use crate::facts::Facts;
use crate::flat::Flat;
use crate::schedule::{Again, TooEarly, schedule};
use crate::tape::Layout;
use crate::trim::trim;
use crate::undo::Undo;

/// Maximal constant size of a small array. An `if` in a loop hands out a small array also from the
/// branch that does not compute it.
const SMALL: i64 = 16;

/// Maximal number of cheap operations recomputed between a stored value and a needed one.
const STEPS: usize = 3;

/// The forward sweep of a body, and its surroundings.
pub(crate) struct Body<'a> {
    pub(crate) stms: &'a [Stm],
    /// The state, in a `loop`.
    pub(crate) params: &'a [Param],
    /// The statement, if it is a `loop`.
    pub(crate) whole: Option<&'a Stm>,
    pub(crate) construct: EnclosingConstruct,
    /// Values that outer code already has, each with its outer name, as for residuals.
    pub(crate) homes: HashMap<Var, Param>,
    /// Versions that the reverse code restores by undoing updates, each with its name there.
    pub(crate) undone: HashMap<Var, Atom>,
    /// In a `loop` with a `checkpoint`, whose body stores nothing: the state from which the body
    /// reruns.
    pub(crate) run_again: Option<StartState>,
}

/// Where to find the state at the start of an iteration whose body reruns.
pub(crate) enum StartState {
    /// The forward sweep keeps it.
    Kept,
    /// The reverse code has it, under these names.
    Given(Vec<(Var, Atom)>),
    /// Nowhere: the loop restarts from its first state.
    FromStart,
}

/// The construct that the body belongs to.
pub(crate) enum EnclosingConstruct {
    /// A `for` or `loop`: its index, the name of the index in the reverse sweep, and the extent.
    /// Homes are arrays of one element per iteration.
    Iteration { index: Var, again: Atom, extent: Atom },
    /// An `if`, which may be in a body that is repeated. Homes are values.
    Branch { repeated: bool },
    /// A function, or an iteration of a `while`: a node keeps its residuals for the reverse sweep,
    /// whatever their sizes. A stored value is its own home.
    Tape,
}

/// A value of the body, and the variable outside that holds it for the reverse sweep.
pub(crate) struct Residual {
    pub(crate) value: Param,
    pub(crate) home: Param,
}

/// Obligations of the forward sweep.
#[derive(Default)]
pub(crate) struct Residuals {
    /// Computed before the construct: iteration-invariant sizes.
    pub(crate) before: Vec<Stm>,
    /// Handed out by the body.
    pub(crate) stored: Vec<Residual>,
    /// Arrays of different sizes, handed out by the body of a `loop`.
    pub(crate) flat: Vec<Flat>,
    /// Sizes of the body that are computed before the construct instead.
    pub(crate) outside: Renaming,
    /// Nodes that the body makes to keep arrays of unknown outer size, each to be placed after its
    /// array.
    boxes: Vec<(Var, Stm)>,
}

impl Residuals {
    /// Adds the nodes that keep arrays to the forward sweep of the body.
    pub(crate) fn keep_in_boxes(&self, stms: &mut Vec<Stm>) {
        for (x, stm) in &self.boxes {
            let at = position_after(stms, *x);
            stms.insert(at, stm.clone());
        }
    }
}

/// The position after the statement that binds the value, or the start.
pub(crate) fn position_after(stms: &[Stm], x: Var) -> usize {
    stms.iter().position(|stm| stm.binds.iter().any(|p| p.var == x)).map_or(0, |k| k + 1)
}

/// An array kept in a node.
struct Boxed {
    value: Param,
    handle: Var,
    layout: Layout,
}

/// Closes the reverse code of a body.
pub(crate) fn resolve(
    names: &mut Names,
    cx: &mut Context,
    facts: &Facts,
    undo: &mut Undo,
    body: Body,
    reverse: &mut Block,
) -> Residuals {
    let stms = facts.settle(body.stms);
    let body = Body { stms: &stms, ..body };
    let mut choice = Choice::new(names, cx, facts, undo, &body);
    choice.demand(&free_vars(reverse));
    for (k, stm) in body.stms.iter().enumerate().rev() {
        choice.statement(k, stm);
    }
    choice.state();
    choice.place(reverse)
}

struct Choice<'a> {
    names: &'a mut Names,
    cx: &'a mut Context,
    facts: &'a Facts,
    undo: &'a mut Undo,
    body: &'a Body<'a>,
    /// The statement that binds a variable of the body.
    binder: HashMap<Var, &'a Stm>,
    bound: HashSet<Var>,
    free: HashSet<Var>,
    demanded: HashSet<Var>,
    /// Accumulators whose final value is recomputed.
    accumulators: HashSet<Var>,
    again: BTreeSet<usize>,
    /// Scalars that updates write to restored arrays, each with its place: version and index.
    written: HashMap<Var, (&'a Param, &'a [Atom])>,
    /// By statement of `again`: the read that replaces it.
    read_back: HashMap<usize, Stm>,
    /// Values that are read from their homes.
    read: Vec<Residual>,
    residuals: Residuals,
    /// By statement: its results that are on flat tapes.
    flats: BTreeMap<usize, Vec<Flat>>,
    /// Arrays kept in nodes, by the position in the body after which they exist.
    boxed: BTreeMap<usize, Vec<Boxed>>,
    /// Sizes that a tape keeps with its arrays.
    sizes: HashSet<Var>,
    /// Pairs of a value that one update overwrites and a value that another statement reads: they
    /// share a home.
    same: Vec<(Var, Var)>,
    /// The loop, if its state is recomputed from the first state.
    from_start: Option<&'a Stm>,
    /// Values computed before the construct instead.
    outside: Renaming,
}

impl<'a> Choice<'a> {
    fn new(
        names: &'a mut Names,
        cx: &'a mut Context,
        facts: &'a Facts,
        undo: &'a mut Undo,
        body: &'a Body<'a>,
    ) -> Self {
        let binder: HashMap<Var, &Stm> =
            body.stms.iter().flat_map(|stm| stm.binds.iter().map(move |p| (p.var, stm))).collect();
        let mut bound: HashSet<Var> =
            binder.keys().copied().chain(body.params.iter().map(|p| p.var)).collect();
        let mut free = HashSet::new();
        if let EnclosingConstruct::Iteration { index, .. } = body.construct {
            bound.insert(index);
            free.insert(index);
        }
        let (demanded, accumulators) = (HashSet::new(), HashSet::new());
        let (again, read, residuals, outside) =
            (BTreeSet::new(), Vec::new(), Residuals::default(), Renaming::new());
        let (from_start, flats, same) = (None, BTreeMap::new(), Vec::new());
        let (boxed, sizes) = (BTreeMap::new(), HashSet::new());
        let mut choice = Choice {
            names,
            cx,
            facts,
            undo,
            body,
            binder,
            bound,
            free,
            demanded,
            accumulators,
            again,
            written: facts.versions.written(body.stms),
            read_back: HashMap::new(),
            read,
            residuals,
            flats,
            same,
            boxed,
            sizes,
            from_start,
            outside,
        };
        for stm in body.stms {
            let kept = stm.binds.iter().any(|p| choice.undo.keeps(p.var));
            if !kept && choice.cheap(stm, &|choice, x| choice.free.contains(&x)) {
                choice.free.insert(stm.binds[0].var);
            }
        }
        choice
    }

    fn demand(&mut self, vars: &[Var]) {
        self.demanded.extend(vars.iter().filter(|x| self.bound.contains(x)));
    }

    /// Whether the value is cheap to compute from outer values and variables that satisfy `has`.
    fn cheap(&self, stm: &Stm, has: &dyn Fn(&Self, Var) -> bool) -> bool {
        let there =
            |atom: Atom| atom.as_var().is_none_or(|x| !self.bound.contains(&x) || has(self, x));
        let all = |atoms: &[Atom]| atoms.iter().all(|atom| there(*atom));
        let sizes = || stm.binds.iter().all(|p| all(&p.ty.dims));
        match &stm.exp {
            Exp::Op(Op::Prim(op, args)) => {
                // A division takes no longer than the load of a stored value.
                let cheap = op.cost() == Cost::Cheap || *op == Prim::Div;
                (cheap || op.result() != ScalarTy::Real) && all(args)
            }
            Exp::Op(Op::Index(x, index)) => {
                let own = self.bound.contains(x);
                let part = !stm.binds[0].ty.dims.is_empty();
                let steady = !self.facts.is_state(*x)
                    || self.facts.is_settled(stm.binds[0].var, *x)
                    || self.facts.versions.is_part(*x) && (part || !own);
                let there = there((*x).into()) || self.body.undone.contains_key(x);
                steady && there && all(index) && sizes()
            }
            Exp::Op(Op::Fill(value)) => there(*value) && sizes(),
            // Nodes do not change, and cells have been added to when they are read.
            Exp::Op(Op::Tag(of)) => there(*of),
            Exp::Op(Op::Field { of, .. } | Op::Cell { of, .. }) => there(*of) && sizes(),
            Exp::Op(Op::Array(items)) => all(items),
            Exp::Op(Op::Constant(_)) => true,
            Exp::Op(_) | Exp::Nest(_) => false,
        }
    }

    fn statement(&mut self, k: usize, stm: &Stm) {
        if self.comes_along(stm) {
            return self.repeat(k, stm);
        }
        if self.body.run_again.is_some() {
            if stm.binds.iter().any(|p| self.demanded.contains(&p.var)) {
                self.repeat(k, stm);
            }
            return;
        }
        self.demand_sizes_beside(stm);
        let demanded = stm.binds.iter().filter(|p| self.demanded.contains(&p.var));
        let (known, unknown): (Vec<&Param>, Vec<&Param>) =
            demanded.partition(|p| self.body.homes.contains_key(&p.var));
        let is_new = |p: &&Param| {
            self.outside_name(p.var).is_none() && !self.body.undone.contains_key(&p.var)
        };
        let unknown: Vec<&Param> = unknown.into_iter().filter(is_new).collect();
        for p in known {
            let home = self.body.homes[&p.var].clone();
            self.read.push(Residual { value: p.clone(), home });
        }
        let unknown: Vec<&Param> = unknown
            .into_iter()
            .filter(|p| !self.undo.keeps(p.var) || !self.keep(k, stm, p))
            .collect();
        let is_size = |p: &&Param| self.sizes.contains(&p.var);
        let (sizes, unknown): (Vec<&Param>, Vec<&Param>) = unknown.into_iter().partition(is_size);
        sizes.into_iter().for_each(|p| self.store(p));
        if unknown.is_empty() {
            return;
        }
        if self.read_back(k, stm) {
            return;
        }
        let cheap = self.cheap(stm, &|choice, x| choice.in_reach(x, STEPS))
            || self.cheap_elements(stm, unknown.len());
        let stored = !cheap && !self.outgrows_state(stm, &unknown);
        if stored && unknown.iter().all(|p| self.storable(stm, &p.ty)) {
            unknown.into_iter().for_each(|p| self.store(p));
        } else if !cheap
            && matches!(stm.exp, Exp::Nest(Nest::Loop { .. }))
            && unknown.iter().all(|p| self.can_store_any(p))
        {
            unknown.into_iter().for_each(|p| self.store_any(k, p));
        } else if self.runs_once(stm) {
            unknown.into_iter().for_each(|p| self.store_boxed(k + 1, p));
        } else {
            self.repeat(k, stm);
        }
    }

    /// An array demands its sizes. Sizes that its own statement binds must be demanded before the
    /// choice between storing and recomputing the statement.
    fn demand_sizes_beside(&mut self, stm: &Stm) {
        let demanded = stm.binds.iter().filter(|p| self.demanded.contains(&p.var));
        let sizes: Vec<Var> = demanded
            .flat_map(|p| &p.ty.dims)
            .filter_map(|size| size.as_var())
            .filter(|x| stm.binds.iter().any(|p| p.var == *x))
            .collect();
        self.demand(&sizes);
    }

    /// Whether the statement must not be rerun, because it touches cells or freezes an accumulator
    /// that calls add to.
    fn runs_once(&self, stm: &Stm) -> bool {
        let added = |acc: Var| {
            let adds = |stm: &Stm| matches!(&stm.exp, Exp::Op(Op::Call { accumulators, .. }) if accumulators.contains(&acc));
            self.body.stms.iter().any(|stm| stm.any(&mut |stm| adds(stm)))
        };
        stm.touches_cells() || matches!(stm.exp.effect(), Effect::Freezes(acc) if added(acc))
    }

    /// Whether the value is available in the reverse code, or at most `steps` cheap steps away from
    /// values that are.
    fn in_reach(&self, x: Var, steps: usize) -> bool {
        let there = self.free.contains(&x) || self.demanded.contains(&x);
        there
            || steps > 0
                && self.binder.get(&x).is_some_and(|stm| {
                    matches!(stm.exp, Exp::Op(Op::Prim(..)))
                        && !self.undo.keeps(x)
                        && self.cheap(stm, &|choice, y| choice.in_reach(y, steps - 1))
                })
    }

    /// Rule 3: reads a value from the restored array that it was written to.
    fn read_back(&mut self, k: usize, stm: &Stm) -> bool {
        let [value] = stm.binds.as_slice() else { return false };
        let Some((version, index)) = self.written.get(&value.var) else { return false };
        if self.free.contains(&value.var) || self.undo.keeps(value.var) {
            return false;
        }
        // The index must be bound where the value is read.
        let mut between = self.body.stms[k..]
            .iter()
            .take_while(|stm| stm.binds.iter().all(|p| p.var != version.var));
        if between.any(|stm| stm.binds.iter().any(|p| index.contains(&p.var.into()))) {
            return false;
        }
        // The result of a branch is demanded before the values written to it, because demand goes
        // from the last statement to the first.
        let is_given = self.body.homes.contains_key(&version.var);
        let is_there = self.body.undone.contains_key(&version.var)
            || is_given && self.demanded.contains(&version.var);
        if !is_there {
            return false;
        }
        let read = Stm::new(vec![value.clone()], Op::Index(version.var, index.to_vec()));
        let mentioned = read.free_vars();
        self.demand(&mentioned);
        self.again.insert(k);
        self.read_back.insert(k, read);
        true
    }

    /// In a `loop`, whose reverse sweep cannot be fused with it: whether the statement computes
    /// arrays of cheap elements, from at most `arrays` further stored arrays of their sizes.
    fn cheap_elements(&self, stm: &Stm, arrays: usize) -> bool {
        let Exp::Nest(nest) = &stm.exp else { return false };
        if self.body.whole.is_none() || !is_elementwise(nest) {
            return false;
        }
        let sizes = &stm.binds[0].ty.dims;
        let mut kept = 0;
        for x in stm.free_vars() {
            let there = !self.bound.contains(&x)
                || self.free.contains(&x)
                || self.demanded.contains(&x)
                || self.body.homes.contains_key(&x);
            let scalar = self.facts.known_ty(x).is_some_and(|ty| ty.dims.is_empty());
            if there || scalar {
                continue;
            }
            let fits = self.facts.known_ty(x).is_some_and(|ty| ty.dims == *sizes);
            if !fits || self.facts.versions.is_part(x) {
                return false;
            }
            kept += 1;
        }
        kept <= arrays
    }

    /// Rule 4: whether a nest without loops of its own computes arrays with more axes of unknown
    /// size than the state of the enclosing loop.
    fn outgrows_state(&self, stm: &Stm, given: &[&Param]) -> bool {
        let nests = |stm: &Stm| match &stm.exp {
            Exp::Nest(nest) => matches!(nest, Nest::For { .. } | Nest::If { .. }),
            Exp::Op(op) => !matches!(op, Op::Call { .. } | Op::ArrayPrim(..)),
        };
        let axes = |p: &Param| p.ty.dims.iter().filter(|size| size.as_var().is_some()).count();
        let state = self.body.params.iter().map(axes).max().unwrap_or(0);
        self.body.whole.is_some()
            && matches!(stm.exp, Exp::Nest(Nest::For { .. }))
            && given.iter().any(|p| axes(p) > state)
            && !stm.any(&mut |stm| !nests(stm))
            && !self.runs_once(stm)
    }

    /// Stores the value if possible; returns whether it was.
    fn keep(&mut self, k: usize, stm: &Stm, value: &Param) -> bool {
        match self.same_before(stm) {
            Some(same) if self.facts.known_ty(value.var).is_none() => {
                self.same.push((value.var, same));
                self.undo.log(same);
                self.demand(&[same]);
                true
            }
            Some(_) | None if self.can_store_any(value) => {
                self.store_any(k, value);
                true
            }
            Some(_) | None => false,
        }
    }

    /// An earlier statement that reads the same element or sub-array of a version.
    fn same_before(&self, stm: &Stm) -> Option<Var> {
        let Exp::Op(Op::Index(..)) = stm.exp else { return None };
        let first = self.body.stms.iter().find(|other| other.exp == stm.exp)?;
        (first.binds != stm.binds).then(|| first.binds[0].var)
    }

    /// Whether the statement must be recomputed although no recomputed value names its result: an
    /// addition to an accumulator, or an equation of sizes.
    fn comes_along(&self, stm: &Stm) -> bool {
        match &stm.exp {
            Exp::Op(Op::Check { cond, .. }) => {
                self.equation(*cond) && self.again.iter().any(|k| makes_arrays(&self.body.stms[*k]))
            }
            Exp::Op(Op::Accumulator(_)) => self.accumulators.contains(&stm.binds[0].var),
            Exp::Op(_) | Exp::Nest(_) => {
                !self.accumulators.is_empty()
                    && stm.adds_to(&|acc| self.accumulators.contains(&acc))
            }
        }
    }

    fn equation(&self, cond: Atom) -> bool {
        let binder = cond.as_var().and_then(|cond| self.binder.get(&cond));
        binder.is_some_and(|stm| matches!(stm.exp, Exp::Op(Op::Prim(Prim::EqInt | Prim::And, _))))
    }

    fn repeat(&mut self, k: usize, stm: &Stm) {
        self.again.insert(k);
        if let Effect::Freezes(acc) = stm.exp.effect() {
            self.accumulators.insert(acc);
        }
        let mentioned = stm.free_vars();
        self.demand(&mentioned);
    }

    /// The state at the beginning of the iteration: stored, or recomputed from the first state by
    /// the loop itself.
    fn state(&mut self) {
        let demanded: Vec<&Param> = self
            .body
            .params
            .iter()
            .filter(|p| self.demanded.contains(&p.var) && !self.body.undone.contains_key(&p.var))
            .collect();
        if matches!(self.body.construct, EnclosingConstruct::Tape) {
            return self.state_on_tape();
        }
        let regular =
            |c: &mut Self, p: &Param| p.ty.dims.iter().all(|size| c.outside_size(*size).is_some());
        match &self.body.run_again {
            Some(StartState::Given(_)) => {}
            None | Some(StartState::Kept) if demanded.iter().all(|p| regular(self, p)) => {
                demanded.into_iter().for_each(|p| self.store(p));
            }
            None if self.body.whole.is_some_and(Stm::touches_cells) => {
                for p in demanded {
                    if regular(self, p) { self.store(p) } else { self.store_boxed(0, p) }
                }
            }
            None | Some(StartState::Kept | StartState::FromStart) => {
                self.from_start = self.body.whole
            }
        }
    }

    /// The state at the beginning of an iteration, with its sizes, which stand before.
    fn state_on_tape(&mut self) {
        for p in self.body.params.iter().rev() {
            if self.demanded.contains(&p.var) && !self.body.undone.contains_key(&p.var) {
                self.store(p);
            }
        }
    }

    // The reverse code

    /// Puts reads and recomputed statements before the reverse code, under fresh names.
    fn place(mut self, reverse: &mut Block) -> Residuals {
        let mut renaming = std::mem::take(&mut self.outside);
        self.residuals.outside = renaming.clone();
        if let EnclosingConstruct::Iteration { index, again, .. } = self.body.construct {
            renaming.insert(index, again);
        }
        let mut given: HashMap<Var, Atom> = self.body.undone.clone();
        if let Some(StartState::Given(state)) = &self.body.run_again {
            given.extend(state.iter().copied());
        }
        let mut b = Builder::new(self.names);
        for Residual { value, home } in self.read.iter().rev() {
            let name = match self.body.construct {
                EnclosingConstruct::Iteration { again, .. } => {
                    let hint = b.names.hint(value.var);
                    b.bind(&hint, home.ty.indexed(1), Op::Index(home.var, vec![again]))
                }
                EnclosingConstruct::Branch { .. } | EnclosingConstruct::Tape => home.var.into(),
            };
            given.insert(value.var, name);
        }
        given.iter().for_each(|(x, name)| renaming.insert(*x, *name));
        if let (Some(stm), EnclosingConstruct::Iteration { again, .. }) =
            (self.from_start, &self.body.construct)
        {
            let first = states_until(*again, stm, b.names);
            for (p, bind) in self.body.params.iter().zip(&first.binds) {
                if !given.contains_key(&p.var) {
                    renaming.insert(p.var, bind.var.into());
                }
            }
            b.stms.push(first);
        }
        let unbox = |b: &mut Builder, renaming: &mut Renaming, boxed: Vec<Boxed>| {
            for Boxed { value, handle, layout } in boxed {
                let of = renaming.atom(handle.into());
                let bind = Param { var: b.names.again(value.var), ty: renaming.ty(&value.ty) };
                renaming.insert(value.var, bind.var.into());
                b.stms.push(layout.read(of, value.var, bind));
            }
        };
        unbox(&mut b, &mut renaming, self.boxed.remove(&0).unwrap_or_default());
        let mut stms = std::mem::take(&mut b.stms);
        let mut again = Vec::new();
        for (k, stm) in self.body.stms.iter().enumerate() {
            let mut gives = Vec::new();
            if self.again.contains(&k) {
                let mut stm = self.read_back.remove(&k).unwrap_or_else(|| stm.clone());
                without_additions(&mut stm, &self.accumulators);
                without_checks(&mut stm);
                let copy = renaming.copy_stm(&stm, b.names);
                b.stms.push(copy);
                // Stored or restored values keep their names although the statement computes them a
                // second time.
                for p in &stm.binds {
                    match given.get(&p.var) {
                        Some(name) => renaming.insert(p.var, *name),
                        None => gives.push(p.var),
                    }
                }
            }
            for flat in self.flats.get(&k).into_iter().flatten() {
                let EnclosingConstruct::Iteration { again, .. } = self.body.construct else {
                    unreachable!("flat tapes are of loops")
                };
                let start = b.bind("start", Ty::int(), Op::Index(flat.starts.var, vec![again]));
                let sizes: Vec<Atom> =
                    flat.sizes().iter().map(|size| renaming.atom(*size)).collect();
                let value = flat.read(&mut b, start, &sizes);
                renaming.insert(flat.value.var, value);
            }
            unbox(&mut b, &mut renaming, self.boxed.remove(&(k + 1)).unwrap_or_default());
            if !b.stms.is_empty() {
                again.push(Again { stms: std::mem::take(&mut b.stms), gives });
            }
        }
        self.same.iter().for_each(|(x, same)| renaming.insert(*x, renaming.atom((*same).into())));
        renaming.apply(reverse);
        stms.extend(self.in_order(again, std::mem::take(&mut reverse.stms)));
        reverse.stms = stms;
        trim(reverse);
        self.residuals
    }

    /// Orders recomputed statements and reverse code so that each read meets the right version.
    fn in_order(&mut self, again: Vec<Again>, reverse: Vec<Stm>) -> Vec<Stm> {
        if self.body.undone.is_empty() {
            let again = again.into_iter().flat_map(|again| again.stms);
            return again.chain(reverse).collect();
        }
        let names: HashMap<Var, Var> =
            self.body.undone.iter().filter_map(|(x, name)| Some((name.as_var()?, *x))).collect();
        let gives: Vec<Vec<Var>> = again.iter().map(|again| again.gives.clone()).collect();
        let (stms, too_early) = schedule(again, reverse, &names.keys().copied().collect());
        for TooEarly { again, version, impossible } in too_early {
            let mut better = false;
            for x in again.iter().flat_map(|k| &gives[*k]) {
                better |= self.demanded.contains(x)
                    && self.facts.known_ty(*x).is_some()
                    && self.undo.keep(*x);
            }
            let state = names.get(&version).and_then(|x| self.facts.versions.state(*x));
            if let Some(state) = state.filter(|_| impossible && !better) {
                self.undo.give_up(state);
            }
        }
        stms
    }
}

/// The first iterations of a loop, without their effects.
fn states_until(count: Atom, stm: &Stm, names: &mut Names) -> Stm {
    let mut stm = Renaming::new().copy_stm(stm, names);
    if let Exp::Nest(Nest::Loop { kind: LoopKind::For { extent, .. }, .. }) = &mut stm.exp {
        *extent = count;
    }
    without_additions(&mut stm, &HashSet::new());
    without_checks(&mut stm);
    stm
}

/// Whether the nest collects elements computed by cheap primitives and array reads.
fn is_elementwise(nest: &Nest) -> bool {
    let cheap = |block: &Block| {
        block.stms.iter().all(|stm| match &stm.exp {
            Exp::Op(Op::Prim(op, _)) => op.cost() == Cost::Cheap || *op == Prim::Div,
            Exp::Op(Op::Index(..) | Op::Check { .. }) => true,
            Exp::Op(_) => false,
            Exp::Nest(nest) => is_elementwise(nest),
        })
    };
    match nest {
        Nest::For { outs, body, .. } => {
            !outs.is_empty() && outs.iter().all(|out| *out == Out::Collect) && cheap(body)
        }
        Nest::If { then, otherwise, .. } => cheap(then) && cheap(otherwise),
        Nest::Loop { .. } => false,
    }
}

/// Whether the types of the statement rest on sizes.
fn makes_arrays(stm: &Stm) -> bool {
    stm.binds.iter().any(|p| !p.ty.dims.is_empty()) || !stm.exp.blocks().is_empty()
}
