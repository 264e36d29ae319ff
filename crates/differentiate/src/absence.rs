//! Tangents that may be absent, and those that reach a partial derivative that need not be finite.
//! The analysis precedes the differentiation of a block, so that other code carries no booleans.

use std::collections::HashSet;
use std::rc::Rc;

use lambada_anf::{Atom, Block, Exp, FnId, LoopKind, Nest, Op, Param, Stm, Ty, Var};
use lambada_prim::{Expr, Scalar};

use crate::activity::Activity;
use crate::flow::{Flow, reachable};
use crate::known::LibraryFacts;
use crate::unbounded::{is_always, is_unbounded};

/// The condition under which a tangent is present.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Presence {
    /// All elements under one condition.
    Whole(Atom),
    /// Each element under its own condition.
    Each(Var, Ty),
}

/// For a function with rules, and each of its results, whether some reals of the tangent may be
/// absent.
pub(crate) type Ruled<'a> = dyn Fn(FnId) -> Option<Rc<[bool]>> + 'a;

/// The presence of a tangent that is always absent.
pub(crate) const NOWHERE: Presence = Presence::Whole(Atom::Lit(Scalar::Bool(false)));

/// The tangents of a block that may be absent, and those for which this matters.
#[derive(Default)]
pub(crate) struct Absence {
    /// Tangents on their way to a partial derivative that need not be finite.
    matters: HashSet<Var>,
    /// Tangents that may be absent; of arrays, perhaps only some elements.
    pub(crate) possible: HashSet<Var>,
}

impl Absence {
    pub(crate) fn of(
        known: &LibraryFacts,
        block: &Block,
        activity: &Activity,
        ruled: &Ruled,
    ) -> Absence {
        let mut starts = Vec::new();
        multiplied(block, activity, ruled, &mut starts);
        if starts.is_empty() {
            return Absence::default();
        }
        let mut flow = Flow::new(known);
        flow.block(block);
        let matters = reachable(starts, &flow.reverse);
        Absence { matters, possible: Finder::of(block, activity, ruled).found }
    }

    pub(crate) fn matters(&self, x: Var) -> bool {
        self.matters.contains(&x)
    }

    /// Whether a tangent may be absent, and it matters.
    pub(crate) fn asks(&self, x: Var) -> bool {
        self.matters(x) && self.possible.contains(&x)
    }
}

/// Arguments multiplied by unbounded partial derivatives or by rules.
fn multiplied(block: &Block, activity: &Activity, ruled: &Ruled, found: &mut Vec<Var>) {
    for stm in &block.stms {
        match &stm.exp {
            Exp::Op(Op::Prim(op, args)) => {
                for (partial, arg) in op.partials().iter().zip(args) {
                    let unbounded = partial.as_ref().is_some_and(|p| is_unbounded(p, args));
                    if unbounded && activity.active(*arg) {
                        found.extend(arg.as_var());
                    }
                }
            }
            Exp::Op(Op::Call { function, args, .. }) if ruled(*function).is_some() => {
                let active = args.iter().filter(|arg| activity.active(**arg));
                found.extend(active.filter_map(|arg| arg.as_var()));
            }
            Exp::Op(_) => {}
            Exp::Nest(nest) => {
                let blocks = nest.blocks().into_iter();
                blocks.for_each(|inner| multiplied(inner, activity, ruled, found));
            }
        }
    }
}

/// Finds tangents that may be absent.
pub(crate) struct Finder<'a> {
    activity: &'a Activity,
    ruled: &'a Ruled<'a>,
    found: HashSet<Var>,
}

impl<'a> Finder<'a> {
    pub(crate) fn of(block: &Block, activity: &'a Activity, ruled: &'a Ruled<'a>) -> Finder<'a> {
        let mut finder = Finder { activity, ruled, found: HashSet::new() };
        let mut before = usize::MAX;
        // The next state of a loop may be absent where its first state is not.
        while before != finder.found.len() {
            before = finder.found.len();
            finder.block(block);
        }
        finder
    }
}

impl Finder<'_> {
    /// Whether the tangent may be absent.
    pub(crate) fn is(&self, x: Atom) -> bool {
        !self.activity.active(x) || x.as_var().is_some_and(|x| self.found.contains(&x))
    }

    fn bind(&mut self, p: &Param, possible: bool) {
        if possible {
            self.found.insert(p.var);
        }
    }

    fn block(&mut self, block: &Block) {
        block.stms.iter().for_each(|stm| self.stm(stm));
    }

    fn stm(&mut self, stm: &Stm) {
        match &stm.exp {
            Exp::Op(Op::Call { function, args, .. }) => {
                let Some(partial) = (self.ruled)(*function) else { return };
                let all = args.iter().all(|x| self.is(*x));
                let absent = |k: usize| all || partial.get(k) == Some(&true);
                stm.binds.iter().enumerate().for_each(|(k, p)| self.bind(p, absent(k)));
            }
            Exp::Op(_) => {
                let possible = self.op(&stm.exp);
                stm.binds.iter().for_each(|p| self.bind(p, possible));
            }
            Exp::Nest(Nest::For { body, .. }) => {
                self.block(body);
                for (p, x) in stm.binds.iter().zip(&body.results) {
                    self.bind(p, self.is(*x));
                }
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                self.block(then);
                self.block(otherwise);
                for (k, p) in stm.binds.iter().enumerate() {
                    self.bind(p, self.is(then.results[k]) || self.is(otherwise.results[k]));
                }
            }
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                for (p, init) in params.iter().zip(inits) {
                    self.bind(p, self.is(*init));
                }
                self.block(body);
                for (k, p) in params.iter().enumerate() {
                    let given = self.is(body.results[k]);
                    self.bind(p, given);
                    self.bind(&stm.binds[k], given || self.is(inits[k]) && !surely_runs(kind));
                }
            }
        }
    }

    fn op(&self, exp: &Exp) -> bool {
        match exp {
            Exp::Op(Op::Prim(op, args)) => {
                let mut terms = op.partials().iter().zip(args);
                let sure = |(partial, x): (&Option<Expr>, &Atom)| {
                    partial.as_ref().is_some_and(is_always) && !self.is(*x)
                };
                !terms.any(sure)
            }
            Exp::Op(Op::Index(x, _)) => self.is((*x).into()),
            Exp::Op(Op::Fill(x)) => self.is(*x),
            Exp::Op(Op::Array(items)) => items.iter().any(|x| self.is(*x)),
            Exp::Op(Op::Update { array, value, .. }) => self.is((*array).into()) || self.is(*value),
            Exp::Op(Op::ArrayPrim(_, args)) => args.iter().all(|x| self.is((*x).into())),
            Exp::Op(_) | Exp::Nest(_) => false, // taken for present
        }
    }
}

/// Whether a loop surely has an iteration.
pub(crate) fn surely_runs(kind: &LoopKind) -> bool {
    matches!(kind, LoopKind::For { extent: Atom::Lit(Scalar::Int(n)), .. } if *n > 0)
}

/// The value of a literal boolean.
pub(crate) fn truth(atom: Atom) -> Option<bool> {
    match atom {
        Atom::Lit(Scalar::Bool(value)) => Some(value),
        Atom::Lit(_) | Atom::Var(_) => None,
    }
}
