//! `loop state = init … do body`: the leaves of the state are the parameters of the loop, its
//! structure is static. The structure is a fixed point: it starts as that of `init`, and grows by
//! the constructors and closures that the body adds until it is stable. Sizes inside variants and
//! closures that an iteration changes are state themselves ([`super::changing`]).

use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Checkpoint as Policy, Exp, LoopKind as Driver, NAMELESS, Names, Nest, Param,
    Renaming, Ty, Var,
};
use lambada_core::{Checkpoint, LoopKind, Term, Ty as CoreTy, Var as CoreVar, sized};
use lambada_prim::{Prim, Scalar};
use lambada_source::Span;

use super::carried::{Changed, captures_other_sizes, changed};
use super::changing::{Carried, Pairs, differing};
use super::dynamic::meets_node;
use super::{Evaluator, carried, unroll};
use crate::emit::Emit;
use crate::guards::{Guard, is_guarded};
use crate::merge::{LeafContext, Merge, joint_axes, merge};
use crate::messages;
use crate::val::{Leaf, Val};
use crate::{Eval, ill_typed};

/// Maximal number of rounds: a structure that still grows after them counts as growing forever.
const ROUNDS: usize = 12;

/// Maximal number of known iterations of a loop that is unrolled because its structure grows.
const UNROLLED: i64 = 256;

const CHANGES: &str = "the loop's state changes size: {0} becomes {1}";

/// A candidate iteration: the state before and after it, and the functions in the state that it has
/// changed.
struct Before {
    state: Val,
    next: Val,
    changed: Changed,
}

/// The states found for loops inside the current one, by variable number. The body of a loop is
/// evaluated for each candidate of its state, and with it the inner loops. These start with their
/// earlier state, so that evaluations do not multiply from loop to loop. The state is only a guess:
/// one that is too general costs unneeded computation, and one that does not fit is generalized.
#[derive(Default)]
pub(super) struct Found {
    /// The number of enclosing loops under construction.
    depth: usize,
    states: HashMap<u32, Val>,
}

/// One iteration, for a candidate structure of the state.
struct Iteration {
    /// The state at the beginning; its variable leaves are parameters.
    state: Val,
    params: Vec<Param>,
    carried: Carried,
    driver: Driver,
    /// The state at the end, and the block that computes it.
    next: Val,
    body: crate::emit::Closed,
}

/// `loop state = init … do body`
pub(super) fn loop_(
    of: &mut Evaluator,
    state: &CoreVar,
    init: &Term,
    kind: &LoopKind,
    body: &Term,
    span: Span,
) -> Eval<Val> {
    let init = of.eval(init, Some(&state.hint))?;
    let value = loop_from(of, state, init, kind, body, span);
    if of.found.depth == 0 {
        of.found.states.clear();
    }
    value
}

fn loop_from(
    of: &mut Evaluator,
    state: &CoreVar,
    mut init: Val,
    kind: &LoopKind,
    body: &Term,
    span: Span,
) -> Eval<Val> {
    let extent = match kind {
        LoopKind::For(_, n, _) => of.scalar(n)?,
        LoopKind::While(_) => Atom::bool(true),
    };
    let checkpoint = match kind {
        LoopKind::For(_, _, Checkpoint::All) | LoopKind::While(_) => Policy::All,
        LoopKind::For(_, _, Checkpoint::Sqrt) => Policy::Sqrt,
        LoopKind::For(_, _, Checkpoint::States(states)) => Policy::States(of.scalar(states)?),
    };
    if matches!(extent, Atom::Lit(Scalar::Int(n)) if n <= 0) {
        return Ok(init);
    }
    if let LoopKind::For(i, ..) = kind
        && unroll::iterations(of, i, extent, body).is_some()
        && let Some(value) = unroll(of, state, &init, kind, extent, body)?
    {
        return Ok(value);
    }
    let (mut previous, mut changing) = guess(of, state, &init);
    let mut rounds = 0..ROUNDS;
    loop {
        if rounds.next().is_none() {
            if let Some(value) = unroll(of, state, &init, kind, extent, body)? {
                return Ok(value);
            }
            // Only run time knows a function that grows forever.
            let nodes = match &previous {
                Some(Before { state: s, next, changed }) => {
                    carried::with_nodes(of, &init, (s, next), &state.ty, changed)?
                }
                None => None,
            };
            init = nodes.ok_or_else(|| Box::new(messages::growing_function(span)))?;
            (previous, changing, rounds) = (None, Pairs::new(), 0..ROUNDS);
        }
        let parts = match &previous {
            None => vec![Some(&init)],
            Some(Before { state, next, .. }) => vec![Some(state), Some(next)],
        };
        of.emit.enter();
        let driver = (kind, extent, checkpoint);
        of.found.depth += 1;
        let iteration = iteration(of, state, &parts, changing, driver, body);
        of.found.depth -= 1;
        let mut iteration = iteration?;
        changing = of.emit.within(&mut iteration.body, |emit| {
            differing(emit, &iteration.state, &iteration.next, &iteration.carried)
        });
        let stable =
            changing.is_empty() && covers(&iteration.state, &iteration.next, &iteration.params);
        let changed = of.emit.within(&mut iteration.body, |emit| {
            changed(&iteration.state, &iteration.next, &mut |s, n| match stable {
                true => captures_other_sizes(emit, s, n),
                false => !covers(s, n, &iteration.params),
            })
        });
        if stable && changed.is_empty() {
            if of.found.depth > 0 {
                of.found.states.insert(state.id, iteration.state.clone());
            }
            return finish(of, iteration, &init, span);
        }
        of.emit.leave();
        let Iteration { state: before, next, .. } = iteration;
        // Functions that become nodes are nodes from the start.
        let nodes = match stable {
            true => carried::with_nodes(of, &init, (&before, &next), &state.ty, &changed)?,
            false => None,
        };
        if nodes.is_some() || meets_node(&init, &next) {
            init = match nodes {
                Some(nodes) => nodes,
                None => of.reconciled(init, &next)?,
            };
            (previous, changing) = (None, Pairs::new());
            continue;
        }
        previous = Some(Before { state: before, next, changed });
    }
}

/// A first candidate, if the loop had a state before inside the same outer loop. Functions are left
/// out, because they may be nodes or not, and may add to accumulators that no longer exist.
fn guess(of: &Evaluator, var: &CoreVar, init: &Val) -> (Option<Before>, Pairs) {
    let known = of.found.states.get(&var.id).filter(|_| of.found.depth > 0);
    match known.filter(|known| known.is_first_order() && init.is_first_order()) {
        None => (None, Pairs::new()),
        Some(known) => {
            let changing = differing(&of.emit, init, known, &Carried::new());
            let (state, next) = (init.clone(), known.clone());
            (Some(Before { state, next, changed: Changed::new() }), changing)
        }
    }
}

/// Runs the body once on a state with the structure of the parts. The block of the parameters stays
/// open.
fn iteration(
    of: &mut Evaluator,
    var: &CoreVar,
    parts: &[Option<&Val>],
    changing: Pairs,
    (kind, extent, checkpoint): (&LoopKind, Atom, Policy),
    body: &Term,
) -> Eval<Iteration> {
    let (level, hint) = (of.emit.level(), var.hint.clone());
    let (params, carried) = (Vec::new(), Carried::new());
    let mut shape = Shape { level, hint, params, changing, carried };
    let state = merge(&mut shape, &mut of.emit, parts)?;
    let own: HashSet<_> = shape.params.iter().map(|p| p.var).collect();
    name_parts(of, &state, &var.ty, &var.hint, &|_, var| own.contains(&var));
    of.scoped(|this| {
        this.bind(var, state.clone());
        let driver = match kind {
            LoopKind::For(i, ..) => {
                let index = this.emit.index(&i.hint, extent);
                this.bind(i, Val::scalar(index.into()));
                Driver::For { index, extent, checkpoint }
            }
            LoopKind::While(cond) => {
                this.emit.enter();
                let cond = this.scalar(cond)?;
                Driver::While(this.emit.leave().finish(vec![cond]))
            }
        };
        this.emit.enter();
        let next = this.eval(body, None)?;
        let next = this.reconciled(next, &state)?;
        let body = this.emit.leave();
        let Shape { params, carried, .. } = shape;
        Ok(Iteration { state, params, carried, driver, next, body })
    })
}

/// Names those variables of a value that `to_name` chooses after their parts: `z_x` for the field
/// `x` of `z`, and the names of a hint `(y, z)`.
fn name_parts(
    of: &mut Evaluator,
    state: &Val,
    ty: &CoreTy,
    hint: &str,
    to_name: &dyn Fn(&Names, Var) -> bool,
) {
    match (state, ty) {
        (Val::Tuple(items), CoreTy::Tuple(types)) => {
            let names = hint.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            let names: Option<Vec<&str>> = names.map(|names| names.split(", ").collect());
            for (k, (item, ty)) in items.iter().zip(types.iter()).enumerate() {
                match names.as_ref().and_then(|names| names.get(k)) {
                    Some(name) => name_parts(of, item, ty, name, to_name),
                    None => name_parts(of, item, ty, &format!("{hint}_{k}"), to_name),
                }
            }
        }
        (Val::Tuple(items), CoreTy::Record(fields)) => {
            for (item, (label, ty)) in items.iter().zip(fields.iter()) {
                let whole = &**label == sized::VALUE;
                let hint = if whole { hint.into() } else { format!("{hint}_{label}") };
                name_parts(of, item, ty, &hint, to_name);
            }
        }
        (Val::Leaf(Leaf { atom, .. }), _) => name_atom(of, *atom, hint, to_name),
        (Val::Array(array), CoreTy::Array(elem)) => {
            name_parts(of, &array.elem, elem, hint, to_name);
        }
        (Val::Node(node), _) => name_atom(of, node.handle.atom, hint, to_name),
        (Val::Tuple(_) | Val::Array(_) | Val::Variant(_) | Val::Fun(_) | Val::Acc(_), _) => {}
    }
}

fn name_atom(of: &mut Evaluator, atom: Atom, hint: &str, to_name: &dyn Fn(&Names, Var) -> bool) {
    let var = atom.as_var().filter(|var| to_name(&of.emit.names, *var));
    var.into_iter().for_each(|var| of.emit.names.rename(var, hint));
}

/// Names the parts of a value that have no name, or only that of the whole, after the variable
/// bound to it.
pub(super) fn name_value(of: &mut Evaluator, var: &CoreVar, value: &Val) {
    let whole = matches!(value, Val::Leaf(_) | Val::Array(_));
    name_parts(of, value, &var.ty, &var.hint, &|names, part| {
        let hint = names.hint(part);
        &*hint == NAMELESS || (!whole && hint == var.hint)
    });
}

/// Writes the loop, while the block of the parameters is open.
fn finish(of: &mut Evaluator, iteration: Iteration, init: &Val, span: Span) -> Eval<Val> {
    let Iteration { state, params, carried, driver, next, mut body } = iteration;
    let mut feed = Feed::new(&params, &carried, Some(span));
    of.emit.within(&mut body, |emit| merge(&mut feed, emit, &[Some(&state), Some(&next)]))?;
    let results = feed.results()?;
    let level = of.emit.level();
    let mut feed = Feed::new(&params, &carried, None);
    of.emit.outside(level - 1, |emit| merge(&mut feed, emit, &[Some(&state), Some(init)]))?;
    let inits = feed.results()?;
    of.emit.leave();
    let (exp, kept, mut known) = without_constants(params, inits, driver, body.finish(results));
    let binds: Vec<Param> = kept
        .iter()
        .map(|p| {
            let ty = known.ty(&p.ty);
            let var = of.emit.fresh(of.emit.names.hint(p.var), ty.clone());
            known.insert(p.var, var.into());
            Param { var, ty }
        })
        .collect();
    let idle = matches!(&exp, Exp::Nest(Nest::Loop { kind: Driver::For { .. }, body, .. }) if binds.is_empty() && body.stms.is_empty());
    if !idle {
        of.emit.push(binds, exp);
    }
    let known = &known;
    let on_leaf = &mut |leaf: &Leaf| Leaf { atom: known.atom(leaf.atom), ..leaf.clone() };
    Ok(state.map(on_leaf, &mut |size| known.atom(size)))
}

/// The iterations one after the other, if their number is known.
fn unroll(
    of: &mut Evaluator,
    var: &CoreVar,
    init: &Val,
    kind: &LoopKind,
    extent: Atom,
    body: &Term,
) -> Eval<Option<Val>> {
    let count = extent
        .as_lit()
        .filter(|_| matches!(kind, LoopKind::For(..)))
        .map(|n| n.int())
        .filter(|n| *n <= UNROLLED);
    let (Some(count), LoopKind::For(i, ..)) = (count, kind) else { return Ok(None) };
    let mut state = init.clone();
    for k in 0..count {
        state = of.scoped(|this| {
            this.bind(var, state);
            this.bind(i, Val::scalar(Atom::int(k)));
            this.eval(body, None)
        })?;
    }
    Ok(Some(state))
}

/// Removes loop parameters that no iteration changes. Returns the loop, the remaining parameters,
/// and the values of the removed ones.
fn without_constants(
    params: Vec<Param>,
    inits: Vec<Atom>,
    mut driver: Driver,
    mut body: Block,
) -> (Exp, Vec<Param>, Renaming) {
    let mut constant = Renaming::new();
    let (mut kept, mut first, mut next) = (Vec::new(), Vec::new(), Vec::new());
    for ((p, init), result) in params.into_iter().zip(inits).zip(&body.results) {
        if *result == Atom::Var(p.var) {
            constant.insert(p.var, init);
        } else {
            kept.push(p);
            first.push(init);
            next.push(*result);
        }
    }
    body.results = next;
    constant.apply(&mut body);
    kept.iter_mut().for_each(|p| p.ty = constant.ty(&p.ty));
    if let Driver::While(cond) = &mut driver {
        constant.apply(cond);
    }
    let kind = driver;
    (Exp::Nest(Nest::Loop { params: kept.clone(), inits: first, kind, body }), kept, constant)
}

/// Makes a state of parameters. The choice of constructors and closures stays static as long as
/// possible; so do captured values.
struct Shape {
    /// The level of the block of the parameters.
    level: usize,
    hint: std::rc::Rc<str>,
    params: Vec<Param>,
    /// Sizes that an earlier iteration changed.
    changing: Pairs,
    carried: Carried,
}

impl Shape {
    fn param(&mut self, emit: &mut Emit, hint: &str, ty: Ty) -> Var {
        let var = emit.fresh(hint, ty.clone());
        self.params.push(Param { var, ty });
        var
    }

    /// A size that is itself state.
    fn carried(&mut self, emit: &mut Emit) -> Atom {
        let hint = self.hint.clone();
        let known = self.param(emit, &format!("{hint}_sized"), Ty::bool());
        let size = self.param(emit, &format!("{hint}_size"), Ty::int());
        emit.facts.nonnegative(size);
        self.carried.insert(size, known);
        size.into()
    }
}

impl Merge for Shape {
    fn size(&mut self, emit: &mut Emit, parts: &[Option<Atom>], ways: &[Vec<Guard>]) -> Eval<Atom> {
        let level = self.level;
        if ways.iter().any(|way| is_guarded(way)) {
            let first = parts.iter().flatten().next().copied().ok_or_else(ill_typed)?;
            let changes = matches!(parts, [Some(a), Some(b)] if self.changing.contains(&(*a, *b)));
            let outer = if changes { None } else { emit.outer_form(first, level) };
            return Ok(outer.unwrap_or_else(|| self.carried(emit)));
        }
        // The initial state exists before the loop, and so do its sizes.
        let outer = parts.iter().flatten().find_map(|size| emit.outer_form(*size, level));
        outer.ok_or_else(ill_typed)
    }

    fn leaf(
        &mut self,
        emit: &mut Emit,
        parts: &[Option<&Leaf>],
        context: &LeafContext,
    ) -> Eval<Leaf> {
        let first = parts.iter().flatten().next().ok_or_else(ill_typed)?;
        let fixed = if context.is_captured {
            emit.is_static(first, &context.extents, self.level)
        } else {
            context.is_tag && first.constant().is_some()
        };
        if fixed && parts.iter().flatten().all(|p| p == first) {
            return Ok((*first).clone());
        }
        let free = context.is_captured || context.is_tag;
        let axes = if free { joint_axes(parts) } else { vec![true; first.axes.len()] };
        let ty = Ty { elem: context.elem, dims: Leaf::select(&axes, &context.extents) };
        let var = self.param(emit, &self.hint.clone(), ty);
        Ok(Leaf { atom: var.into(), prefix: Vec::new(), axes, node: context.elem.node() })
    }
}

/// Whether the state can take the next one unchanged: its static parts are equal, and it foresees
/// all closures and constructors.
fn covers(state: &Val, next: &Val, params: &[Param]) -> bool {
    if next.is_absent() && state.same_kind(next) {
        return true;
    }
    let leaf = |(s, n): (&Leaf, &Leaf)| match params.iter().any(|p| s.atom == Atom::Var(p.var)) {
        true => s.axes.iter().zip(&n.axes).all(|(has, needs)| *has || !needs),
        false => s == n,
    };
    let pairs = next.within(state);
    state.own_leaf().zip(next.own_leaf()).is_none_or(leaf)
        && pairs.is_some_and(|pairs| pairs.into_iter().all(|(n, s)| covers(s, n, params)))
}

/// The parameters of a state, from a value that it covers.
struct Feed<'a> {
    results: Vec<Option<Atom>>,
    positions: HashMap<Var, usize>,
    carried: &'a Carried,
    /// The loop, if sizes must be checked.
    span: Option<Span>,
}

impl<'a> Feed<'a> {
    fn new(params: &[Param], carried: &'a Carried, span: Option<Span>) -> Feed<'a> {
        let positions = params.iter().enumerate().map(|(k, p)| (p.var, k)).collect();
        Feed { results: vec![None; params.len()], positions, carried, span }
    }

    /// A size that is state: that of the value if the value is active, else the previous one.
    fn carry(
        &mut self,
        emit: &mut Emit,
        (known, size): (Var, Var),
        new: Option<Atom>,
        way: &[Guard],
    ) -> Atom {
        let active = emit.active(way);
        let (was, old) = match self.span {
            Some(_) => (known.into(), size.into()),
            None => (Atom::bool(false), Atom::int(0)),
        };
        let new = new.unwrap_or(old);
        if let Some(span) = self.span {
            let both = emit.prim(Prim::And, &[was, active]);
            emit.check_equal_if(both, old, new, span, CHANGES);
        }
        let next = emit.prim(Prim::SelectInt, &[active, new, old]);
        next.as_var().into_iter().for_each(|next| emit.facts.nonnegative(next));
        self.results[self.positions[&size]] = Some(next);
        self.results[self.positions[&known]] = Some(emit.prim(Prim::Or, &[was, active]));
        next
    }

    fn results(self) -> Eval<Vec<Atom>> {
        self.results.into_iter().map(|r| r.ok_or_else(ill_typed)).collect()
    }
}

impl Merge for Feed<'_> {
    fn size(&mut self, emit: &mut Emit, parts: &[Option<Atom>], ways: &[Vec<Guard>]) -> Eval<Atom> {
        let size = parts[0].and_then(Atom::as_var);
        if let Some((size, known)) = size.and_then(|x| Some((x, *self.carried.get(&x)?))) {
            return Ok(self.carry(emit, (known, size), parts[1], &ways[1]));
        }
        if let (Some(span), Some(old), Some(new)) = (self.span, parts[0], parts[1])
            && !emit.facts.equal(old, new)
        {
            let active = emit.active(&ways[1]);
            emit.check_equal_if(active, old, new, span, CHANGES);
        }
        parts[0].or(parts[1]).ok_or_else(ill_typed)
    }

    fn leaf(
        &mut self,
        emit: &mut Emit,
        parts: &[Option<&Leaf>],
        context: &LeafContext,
    ) -> Eval<Leaf> {
        let target = parts[0].ok_or_else(ill_typed)?;
        if let Some(position) = target.atom.as_var().and_then(|v| self.positions.get(&v)) {
            self.results[*position] = Some(emit.fit(parts[1], 1, &target.axes, &[], context));
        }
        Ok(target.clone())
    }
}
