//! Absent is not zero times: the cotangent of a scalar, and the condition under which there is one.
//!
//! ```text
//!   let r = sqrt x in if x > 0 then r else x      r̄ is there if x > 0; its contribution to x̄ is
//!                                                 if x > 0 then r̄ / (2 r) else 0, and not 0 · ∞
//! ```
//!
//! A branch that is not taken, an argument that `max` does not give and an iteration without a
//! contribution leave a cotangent out. As a number it is zero, which an infinite or undefined partial
//! derivative would turn into NaN. So an entry of `Γ̄` that is a sum in SSA has, beside the sum, its
//! *presence*: a boolean over the values of the program. Where it is false, the reverse of a statement
//! with unbounded partial derivatives is not run. A zero that has been computed is a number like any
//! other: `0 · ∞` is NaN there, since neither 0 nor another number need be right.
//!
//! Presence is followed through straight-line code, branches and sums of iterations, for variables in
//! front of which there is something unbounded ([`Unbounded`]). Of an array of which only some elements
//! are read, a second array counts what each gets. The states of loops and what functions without rules
//! give are taken for present.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Exp, FnId, Lambda, Nest, Op, Out, Stm, Ty, Var};
use lambada_prim::{Expr, Prim, ReduceOp, Scalar};

use crate::activity::Activity;
use crate::arrays;
use crate::cotangents::{Cotangent, Cotangents, Frame, Kind};

/// How the partial derivatives behind a cotangent can fail to be finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Factor {
    /// Never, for finite values.
    Bounded,
    /// Only if a value of the program is not finite, as those of a product and of `exp`.
    Value,
    /// At finite values too, but at those of all iterations alike, as that of `x[i] / y` at `y = 0`.
    Invariant,
    /// At finite values too, as that of `sqrt x[i]` at 0.
    Unbounded,
}

/// The variables whose cotangents reach unbounded partial derivatives without passing the state of a
/// loop or a call.
#[derive(Debug, Default)]
pub(crate) struct Unbounded {
    factors: HashMap<Var, Factor>,
    /// Those whose own definition has such a partial derivative.
    own: HashMap<Var, Factor>,
    /// Arrays of elements that have one.
    arrays: HashSet<Var>,
    /// In how many `for`s variables are bound.
    depths: HashMap<Var, usize>,
    /// Arrays of which some use reaches all elements.
    whole: HashSet<Var>,
}

/// What is active, and the functions whose derivatives are rules.
type Known<'a> = (&'a Activity, &'a HashSet<FnId>);

impl Unbounded {
    pub(crate) fn of(f: &Lambda, activity: &Activity, ruled: &HashSet<FnId>) -> Unbounded {
        let mut unbounded = Unbounded::default();
        unbounded.block(&f.body, 0, &(activity, ruled));
        let (arrays, sure) = (HashMap::new(), f.body.results.iter().filter_map(|x| x.as_var()));
        let (around, sure, whole) = (Vec::new(), sure.collect(), HashSet::new());
        let mut uses = Uses { activity, around, arrays, sure, whole, read: HashMap::new() };
        uses.arrays(&f.body, 0);
        uses.block(&f.body);
        unbounded.whole = uses.whole;
        unbounded
    }

    /// Whether some elements of an array may have no cotangent, and it matters.
    pub(crate) fn in_part(&self, x: Var) -> bool {
        self.arrays.contains(&x) && !self.whole.contains(&x)
    }

    /// Whether the presence of the cotangent of a variable matters.
    pub(crate) fn matters(&self, x: Var) -> bool {
        self.factors.contains_key(&x)
    }

    /// The same for a summand, or what is added up, of a sum of iterations. Products in it stay as they are: a matrix
    /// product behind a branch remains one.
    pub(crate) fn matters_in_sum(&self, summand: impl Into<Atom>) -> bool {
        self.factor(summand.into()) >= Factor::Invariant
    }

    /// Whether the statement itself multiplies by something unbounded.
    fn multiplies(&self, stm: &Stm) -> bool {
        stm.binds.iter().any(|p| self.own.contains_key(&p.var))
    }

    fn factor(&self, x: Atom) -> Factor {
        x.as_var().and_then(|x| self.factors.get(&x).copied()).unwrap_or(Factor::Bounded)
    }

    fn set(&mut self, x: Var, factor: Factor) {
        if factor > Factor::Bounded {
            self.factors.insert(x, factor);
        }
    }

    fn block(&mut self, block: &Block, depth: usize, known: &Known) {
        for stm in &block.stms {
            let inside = match &stm.exp {
                Exp::Nest(Nest::For { index, .. }) => {
                    self.depths.insert(*index, depth + 1);
                    depth + 1
                }
                Exp::Op(_) | Exp::Nest(Nest::Loop { .. } | Nest::If { .. }) => depth,
            };
            stm.exp.blocks().into_iter().for_each(|inner| self.block(inner, inside, known));
            self.depths.extend(stm.binds.iter().map(|p| (p.var, depth)));
            self.stm(stm, depth, known);
        }
    }

    fn stm(&mut self, stm: &Stm, depth: usize, (activity, ruled): &Known) {
        match &stm.exp {
            Exp::Op(Op::Prim(op, args)) => {
                let (mut own, mut behind) = (Factor::Bounded, Factor::Bounded);
                let varies = |x: Atom| {
                    let bound = x.as_var().map(|x| self.depths.get(&x).copied().unwrap_or(0));
                    bound.is_some_and(|bound| bound >= depth)
                };
                for (partial, arg) in op.partials().iter().zip(args) {
                    if let Some(partial) = partial
                        && activity.active(*arg)
                    {
                        own = own.max(factor(*op, partial, args, &varies));
                        behind = behind.max(self.factor(*arg));
                    }
                }
                self.bind(stm, own, behind);
            }
            Exp::Op(Op::Call { function, .. }) if ruled.contains(function) => {
                if let [p] = &stm.binds[..]
                    && activity.valued(p.var)
                {
                    self.bind(stm, Factor::Unbounded, Factor::Bounded);
                }
            }
            Exp::Op(Op::Array(items)) => {
                let all = items.iter().map(|x| self.factor(*x)).max();
                let (array, all) = (stm.binds[0].var, all.unwrap_or(Factor::Bounded));
                self.set_array(array, all);
                if all >= Factor::Invariant {
                    self.arrays.insert(array);
                }
            }
            Exp::Op(Op::Index(x, _)) if self.arrays.contains(x) => {
                self.set(stm.binds[0].var, self.factor((*x).into()));
            }
            Exp::Op(Op::Fill(x)) => self.set_array(stm.binds[0].var, self.factor(*x)),
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                for (k, p) in stm.binds.iter().enumerate() {
                    let [a, b] = [then, otherwise].map(|block| self.factor(block.results[k]));
                    self.set(p.var, a.max(b));
                }
            }
            Exp::Nest(Nest::For { outs, body, .. }) => {
                for ((p, out), result) in stm.binds.iter().zip(outs).zip(&body.results) {
                    let factor = self.factor(*result);
                    match out {
                        Out::Reduce(ReduceOp::Add) | Out::Collect => self.set_array(p.var, factor),
                        Out::Reduce(_) => {}
                    }
                    if *out == Out::Collect && factor == Factor::Unbounded {
                        self.arrays.insert(p.var);
                    }
                }
            }
            Exp::Op(_) | Exp::Nest(Nest::Loop { .. }) => {}
        }
    }

    /// Of an array, or a sum of iterations: products in it stay as they are.
    fn set_array(&mut self, x: Var, factor: Factor) {
        if factor >= Factor::Invariant {
            self.set(x, factor);
        }
    }

    fn bind(&mut self, stm: &Stm, own: Factor, behind: Factor) {
        for p in &stm.binds {
            self.set(p.var, own.max(behind));
            if own > Factor::Bounded {
                self.own.insert(p.var, own);
            }
        }
    }
}

/// Looks for uses that surely give cotangents to all elements of arrays, from the results backwards.
struct Uses<'a> {
    activity: &'a Activity,
    /// The indices and extents of the `for`s around, from the outside in.
    around: Vec<(Var, Atom)>,
    /// The sizes of arrays, and in how many `for`s they are bound.
    arrays: HashMap<Var, (Vec<Atom>, usize)>,
    /// The variables that surely have cotangents.
    sure: HashSet<Var>,
    whole: HashSet<Var>,
    /// Of arrays of constant size: the elements that are read at constant places.
    read: HashMap<Var, HashSet<i64>>,
}

impl Uses<'_> {
    fn arrays(&mut self, block: &Block, depth: usize) {
        for stm in &block.stms {
            for p in stm.binds.iter().filter(|p| !p.ty.dims.is_empty()) {
                self.arrays.insert(p.var, (p.ty.dims.clone(), depth));
            }
            let inside = depth + usize::from(matches!(stm.exp, Exp::Nest(Nest::For { .. })));
            stm.exp.blocks().into_iter().for_each(|inner| self.arrays(inner, inside));
        }
    }

    fn block(&mut self, block: &Block) {
        self.whole.extend(block.results.iter().filter_map(|x| x.as_var()));
        block.stms.iter().rev().for_each(|stm| self.stm(stm));
    }

    fn all(&mut self, atoms: &[Atom]) {
        let vars = atoms.iter().filter_map(|x| x.as_var());
        self.sure.extend(vars.clone());
        self.whole.extend(vars);
    }

    fn stm(&mut self, stm: &Stm) {
        let used = stm.binds.iter().any(|p| self.sure.contains(&p.var));
        match &stm.exp {
            Exp::Op(Op::Index(x, index)) => {
                let y = stm.binds[0].var;
                if !self.activity.active(y) {
                    return;
                }
                if used {
                    self.sure.insert(*x);
                    self.reads(*x, index);
                }
                if self.reaches_all(*x, index, used) {
                    self.whole.insert(*x);
                }
            }
            // Which argument has a cotangent depends on their values.
            Exp::Op(Op::Prim(Prim::Select | Prim::Max | Prim::Min, _)) => {}
            Exp::Op(Op::Prim(_, args)) if used => self.all(args),
            Exp::Op(Op::Prim(..)) => {}
            Exp::Op(op) => op.atoms(&mut |x| {
                self.whole.extend(x.as_var());
                if used || stm.binds.is_empty() {
                    self.sure.extend(x.as_var());
                }
            }),
            Exp::Nest(Nest::For { index, extent, outs, body }) => {
                let results = stm.binds.iter().zip(outs).zip(&body.results);
                let sure = results.filter(|((p, out), _)| {
                    let all = **out != Out::Collect || self.whole.contains(&p.var);
                    all && self.sure.contains(&p.var)
                });
                let sure: Vec<Var> = sure.filter_map(|(_, x)| x.as_var()).collect();
                self.sure.extend(sure);
                self.around.push((*index, *extent));
                self.block(body);
                self.around.pop();
            }
            // A loop is taken to run at least once.
            Exp::Nest(Nest::Loop { inits, body, .. }) => {
                self.all(inits);
                self.all(&body.results);
                stm.exp.blocks().into_iter().for_each(|inner| self.block(inner));
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                self.block(then);
                self.block(otherwise);
            }
        }
    }

    fn reads(&mut self, x: Var, index: &[Atom]) {
        let dims = self.arrays.get(&x).map(|(dims, _)| &dims[..]);
        if let ([Atom::Lit(Scalar::Int(k))], Some([Atom::Lit(Scalar::Int(size))])) = (index, dims) {
            let read = self.read.entry(x).or_default();
            read.insert(*k);
            if read.len() as i64 == *size {
                self.whole.insert(x);
            }
        }
    }

    /// Whether a read that is used, repeated by the `for`s around it, reaches each element; a row
    /// counts as an array that is used as a whole.
    fn reaches_all(&self, x: Var, index: &[Atom], used: bool) -> bool {
        let Some((dims, depth)) = self.arrays.get(&x) else { return true };
        let covers = |(k, at): (usize, &Atom)| {
            let mut around = self.around[*depth..].iter();
            let all = around.any(|(i, extent)| *at == (*i).into() && *extent == dims[k]);
            all && !index[..k].contains(at)
        };
        index.len() < dims.len() || used && index.iter().enumerate().all(covers)
    }
}

/// What a partial derivative may be at finite arguments, some of which vary between iterations.
fn factor(op: Prim, partial: &Expr, args: &[Atom], varies: &dyn Fn(Atom) -> bool) -> Factor {
    let all = |items: &[Expr]| {
        let items = items.iter().map(|item| factor(op, item, args, varies));
        items.max().unwrap_or(Factor::Bounded)
    };
    match partial {
        Expr::Lit(_) => Factor::Bounded,
        Expr::Arg(k) => match args[*k] {
            Atom::Lit(Scalar::Real(x)) if x.is_finite() => Factor::Bounded,
            Atom::Lit(Scalar::Int(_) | Scalar::Bool(_)) => Factor::Bounded,
            Atom::Lit(Scalar::Real(_)) | Atom::Var(_) => Factor::Value,
        },
        Expr::Out => Factor::Value,
        Expr::Prim(inner, items) => {
            let singular = match inner {
                // The condition is no factor.
                Prim::Select => return all(&items[1..]),
                Prim::Div => &items[1..],
                Prim::PowInt if !is_power(items, args) => &items[..1],
                Prim::Pow | Prim::Sqrt | Prim::Log | Prim::Log1p | Prim::Hypot | Prim::Lgamma => {
                    items
                }
                Prim::Digamma | Prim::Polygamma | Prim::Asin | Prim::Acos | Prim::Atan2 => items,
                _ => return all(items),
            };
            let literal = |x: Atom| match x {
                Atom::Lit(Scalar::Real(x)) => x.is_finite() && x != 0.0,
                Atom::Lit(Scalar::Int(_) | Scalar::Bool(_)) => true,
                Atom::Var(_) => false,
            };
            if singular.iter().all(|item| mentioned(item, args, &literal)) {
                return all(items);
            }
            let invariant = |x: Atom| !varies(x);
            let invariant = singular.iter().all(|item| mentioned(item, args, &invariant));
            if invariant { Factor::Invariant } else { Factor::Unbounded }
        }
    }
}

/// Whether all arguments in an expression are such; its value counts as all of them.
fn mentioned(expr: &Expr, args: &[Atom], are: &dyn Fn(Atom) -> bool) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Arg(k) => are(args[*k]),
        Expr::Out => args.iter().all(|x| are(*x)),
        Expr::Prim(_, items) => items.iter().all(|item| mentioned(item, args, are)),
    }
}

/// Whether the exponent is a constant that is positive.
fn is_power(items: &[Expr], args: &[Atom]) -> bool {
    let [_, Expr::Prim(Prim::SelectInt, lower)] = items else { return false };
    let Some(Expr::Prim(Prim::EqInt, exponent)) = lower.first() else { return false };
    let Some(Expr::Arg(k)) = exponent.first() else { return false };
    matches!(args[*k], Atom::Lit(Scalar::Int(n)) if n >= 0)
}

/// Where contributions to a variable have been made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum There {
    Never,
    Always,
    When(Atom),
}

/// The presence of the cotangent that two branches hand out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Joined {
    Always,
    /// What is known outside of the branches.
    When(Atom),
    /// A result of the branches.
    Result(Atom, Atom),
}

impl Joined {
    pub(crate) fn known(self) -> Option<Atom> {
        match self {
            Joined::When(when) => Some(when),
            Joined::Always | Joined::Result(..) => None,
        }
    }
}

impl Cotangents<'_> {
    /// When the entry of `x` is there; nothing if always, or if it does not matter.
    pub(crate) fn presence(&self, x: Var) -> Option<Atom> {
        for frame in self.frames.iter().rev() {
            if let Some(Cotangent::Sum(_)) = frame.entries.get(&x) {
                return frame.present.get(&x).copied();
            }
            if frame.owned.contains(&x) || frame.kind != Kind::If {
                return None;
            }
        }
        None
    }

    /// As [`Cotangents::take`], with the presence.
    pub(crate) fn take_when(&mut self, x: Var) -> (Option<Atom>, Option<Atom>) {
        let when = self.presence(x);
        (self.take(x), when)
    }

    /// `x̄ += value`, where the value is there under a condition.
    pub(crate) fn add_when(&mut self, x: Atom, value: Atom, ty: &Ty, when: Option<Atom>) {
        let outer = std::mem::replace(&mut self.when, when);
        self.add(x, value, ty);
        self.when = outer;
    }

    /// Adds to a sum in SSA, of a real or an array, that there may be none of so far.
    pub(crate) fn add_to(&mut self, x: Var, before: Option<Atom>, value: Atom) {
        let known = before.and_then(|_| self.presence(x));
        let when = match (before, known, self.when) {
            _ if !self.facts.unbounded.matters(x) => None,
            (None, _, when) => when,
            (Some(_), Some(a), Some(b)) if a == b => Some(a),
            (Some(_), Some(a), Some(b)) => Some(self.b.prim(Prim::Or, [a, b])),
            (Some(_), _, _) => None,
        };
        let sum = before.map_or(value, |sum| {
            let (hint, ty) = (self.hint(x), self.ty(x).clone());
            arrays::plus(&mut self.b, &hint, &ty, sum, value)
        });
        self.set(x, sum);
        self.is_there(x, when);
    }

    /// Says when the entry of `x` in the current block is there.
    pub(crate) fn is_there(&mut self, x: Var, when: Option<Atom>) {
        match when {
            Some(when) => self.top().present.insert(x, when),
            None => self.top().present.remove(&x),
        };
    }

    /// The reverse of a statement without blocks: where its cotangent may be absent, and it multiplies
    /// by something unbounded, under that condition.
    pub(crate) fn op_if_present(&mut self, stm: &Stm, op: &Op) -> Option<Stm> {
        let [y] = &stm.binds[..] else { return self.op(stm, op) };
        let Some(when) = self.presence(y.var) else { return self.op(stm, op) };
        if !self.facts.unbounded.multiplies(stm) {
            self.when = Some(when);
            let logged = self.op(stm, op);
            self.when = None;
            return logged;
        }
        let y_ct = self.take(y.var)?;
        self.push(Kind::If, [y.var].into());
        self.set(y.var, y_ct);
        let logged = self.op(stm, op);
        let then = self.pop();
        self.push(Kind::If, [y.var].into());
        let otherwise = self.pop();
        let (outer, then, otherwise) = self.leave_both(when, (then, otherwise), &[]);
        self.if_reverse(when, &outer, &[], then.0, otherwise.0);
        logged
    }

    /// Of a term `partial · ȳ`: when it is there, beside the presence of `ȳ`.
    pub(crate) fn presence_of_term(
        &mut self,
        partial: &Expr,
        emit: &mut dyn FnMut(&mut Self, &Expr) -> Atom,
    ) -> Option<Atom> {
        match self.there_by(partial, emit) {
            There::Always => self.when,
            There::Never => Some(Atom::bool(false)),
            There::When(chosen) => match self.when {
                Some(when) => Some(self.b.prim(Prim::And, [when, chosen])),
                None => Some(chosen),
            },
        }
    }

    fn there_by(
        &mut self,
        partial: &Expr,
        emit: &mut dyn FnMut(&mut Self, &Expr) -> Atom,
    ) -> There {
        match partial {
            Expr::Lit(Scalar::Real(0.0)) => There::Never,
            Expr::Prim(Prim::Select, items) => {
                match [1, 2].map(|k| self.there_by(&items[k], emit)) {
                    [There::Never, There::Never] => There::Never,
                    [There::Always, There::Always] => There::Always,
                    [a, b] => {
                        let cond = emit(self, &items[0]);
                        let [a, b] = [a, b].map(as_atom);
                        There::When(self.chosen(cond, a, b))
                    }
                }
            }
            Expr::Arg(_) | Expr::Out | Expr::Lit(_) | Expr::Prim(..) => There::Always,
        }
    }

    /// `if cond then a else b` of booleans.
    fn chosen(&mut self, cond: Atom, a: Atom, b: Atom) -> Atom {
        match [a, b].map(truth) {
            [Some(true), Some(false)] => cond,
            [Some(false), Some(true)] => self.b.prim(Prim::Not, [cond]),
            [Some(true), _] => self.b.prim(Prim::Or, [cond, b]),
            [_, Some(false)] => self.b.prim(Prim::And, [cond, a]),
            _ => self.b.prim(Prim::SelectBool, [cond, a, b]),
        }
    }

    /// `x̄[index] += value` where some elements of `x̄` may be absent: says that this one is there.
    pub(crate) fn element_is_there(&mut self, x: Var, index: &[Atom]) {
        let Some(acc) = self.flags.get(&x).copied() else { return };
        let value = match self.when {
            Some(when) => {
                let (yes, no) = (Atom::real(1.0), Atom::real(0.0));
                self.b.prim(Prim::Select, [when, yes, no])
            }
            None => Atom::real(1.0),
        };
        self.b.effect(Op::Accumulate { acc, index: index.to_vec(), value });
    }

    /// An accumulator beside that of the cotangent of `x`: how many contributions each element has.
    pub(crate) fn count_contributions(&mut self, x: Var) {
        let ty = self.ty(x).clone();
        let zeros = self.b.zero(&ty);
        let acc = self.b.bind("present", ty, Op::Accumulator(zeros));
        self.flags.extend(acc.as_var().map(|acc| (x, acc)));
    }

    /// Ends the accumulator of contributions; remembers it with the cotangent.
    pub(crate) fn contributions_are_counted(&mut self, x: Var, x_ct: Atom) {
        let Some(acc) = self.flags.remove(&x) else { return };
        let ty = self.ty(x).clone();
        let counts = self.b.bind("present", ty, Op::Freeze(acc));
        self.counts.extend(x_ct.as_var().zip(counts.as_var()));
    }

    /// The element, or the row, `part = x̄[i]` of the cotangent of an array: when it is there, where
    /// `when` is known of the array as a whole.
    pub(crate) fn presence_of_part(
        &mut self,
        (x_ct, when): (Var, Option<Atom>),
        i: Atom,
        part: Atom,
        ty: &Ty,
    ) -> Option<Atom> {
        let Some(counts) = self.counts.get(&x_ct).copied() else { return when };
        let count = self.b.bind("present", ty.clone(), Op::Index(counts, vec![i]));
        if ty.dims.is_empty() {
            return Some(self.b.prim(Prim::Ne, [count, Atom::real(0.0)]));
        }
        self.counts.extend(part.as_var().zip(count.as_var()));
        None
    }

    /// The presence of each outer scalar after two branches, which start from the given sums.
    pub(crate) fn joined(
        &mut self,
        cond: Atom,
        (outer, starts): (&[Var], &[Option<Atom>]),
        frames: [&Frame; 2],
    ) -> Vec<Joined> {
        let mut all = Vec::new();
        for (x, start) in outer.iter().zip(starts) {
            if !self.facts.unbounded.matters(*x) {
                all.push(Joined::Always);
                continue;
            }
            let there = |frame: &Frame| match (frame.entries.get(x), start) {
                (Some(Cotangent::Sum(_)), _) => {
                    frame.present.get(x).map_or(There::Always, |when| There::When(*when))
                }
                (_, Some(_)) => self.presence(*x).map_or(There::Always, There::When),
                (_, None) => There::Never,
            };
            all.push(match frames.map(there) {
                [There::Always, There::Always] => Joined::Always,
                [There::Always, There::Never] => Joined::When(cond),
                [There::Never, There::Always] => Joined::When(self.b.prim(Prim::Not, [cond])),
                [a, b] if a == b => Joined::When(as_atom(a)),
                [a, b] => Joined::Result(as_atom(a), as_atom(b)),
            });
        }
        all
    }
}

fn as_atom(there: There) -> Atom {
    match there {
        There::Never => Atom::bool(false),
        There::Always => Atom::bool(true),
        There::When(when) => when,
    }
}

fn truth(atom: Atom) -> Option<bool> {
    match atom {
        Atom::Lit(Scalar::Bool(value)) => Some(value),
        Atom::Lit(_) | Atom::Var(_) => None,
    }
}
