//! Where it matters whether a cotangent is there ([`crate::presence`]): in front of partial
//! derivatives that need not be finite.
//!
//! * Gives: the variables whose cotangents reach such a factor, the statements that multiply by
//!   one, and arrays that are read in part.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Exp, Lambda, Nest, Op, Out, Stm, Var};
use lambada_prim::{Expr, Prim, ReduceOp, Scalar};

use crate::activity::Activity;
use crate::derived::Partial;

/// How the partial derivatives behind a cotangent can fail to be finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Factor {
    /// Never, for finite values.
    Bounded,
    /// Only if a value of the program is not finite, as those of a product and of `exp`.
    Value,
    /// At finite values too, but then in all iterations, as that of `x[i] / y` at `y = 0`.
    Invariant,
    /// At finite values too, as that of `sqrt x[i]` at 0.
    Unbounded,
}

/// How a factor in front of a variable reaches its dependents.
#[derive(Clone, Copy, Debug)]
enum Through {
    /// Unchanged.
    Scalar,
    /// Into an array, or a sum of iterations, whose products stay as they are.
    Whole,
    /// As elements of an array that iterations collect, or that one value fills.
    Collected,
    /// As elements of an array that are written one by one.
    Items,
    /// From an array to an element.
    Element,
    /// From an array to one with other elements at some places.
    Updated,
}

/// The variables whose cotangents reach unbounded partial derivatives without passing a call.
#[derive(Debug, Default)]
pub(crate) struct Unbounded {
    factors: HashMap<Var, Factor>,
    /// The dependents of each variable. Factors are propagated along these edges, because loops
    /// make cycles.
    users: HashMap<Var, Vec<(Var, Through)>>,
    /// Loop states whose cotangents are present whenever those of all states after an iteration
    /// are.
    kept: HashSet<Var>,
    /// Variables whose own definition has such a partial derivative.
    own: HashMap<Var, Factor>,
    /// Arrays with elements that have one.
    arrays: HashSet<Var>,
    /// The number of `for`s around each variable.
    depths: HashMap<Var, usize>,
    /// Arrays with a use that reaches all elements.
    whole: HashSet<Var>,
}

/// The active variables, and the functions whose derivatives are rules.
type ActiveAndRuled<'a> = (&'a Activity, &'a Partial);

impl Unbounded {
    pub(crate) fn of(f: &Lambda, activity: &Activity, ruled: &Partial) -> Unbounded {
        let mut unbounded = Unbounded::default();
        unbounded.block(&f.body, 0, &(activity, ruled));
        let (arrays, sure) = (HashMap::new(), f.body.results.iter().filter_map(|x| x.as_var()));
        let (around, sure, whole) = (Vec::new(), sure.collect(), HashSet::new());
        unbounded.kept_in(&f.body, HashSet::new(), activity);
        let (made, loops, branches, read) = (HashSet::new(), 0, 0, HashMap::new());
        let mut uses =
            Uses { activity, ruled, around, loops, branches, arrays, made, sure, whole, read };
        uses.arrays(&f.body, 0);
        uses.block(&f.body);
        unbounded.whole = uses.whole;
        unbounded
    }

    /// Whether some elements of an array may have no cotangent and this matters.
    pub(crate) fn in_part(&self, x: Var) -> bool {
        self.arrays.contains(&x) && !self.whole.contains(&x)
    }

    /// Whether the cotangent of a loop state is present whenever those of all states after an
    /// iteration are.
    pub(crate) fn keeps(&self, param: Var) -> bool {
        self.kept.contains(&param)
    }

    /// Whether the presence of the cotangent of a variable matters.
    pub(crate) fn matters(&self, x: Var) -> bool {
        self.factors.contains_key(&x)
    }

    /// Whether presence matters for a summand of a sum of iterations. Products in the sum stay as
    /// they are: a matrix product behind a branch remains one.
    pub(crate) fn matters_in_sum(&self, summand: impl Into<Atom>) -> bool {
        self.factor(summand.into()) >= Factor::Invariant
    }

    /// Whether the statement itself multiplies by something unbounded.
    pub(crate) fn multiplies(&self, stm: &Stm) -> bool {
        stm.binds.iter().any(|p| self.own.contains_key(&p.var))
    }

    fn factor(&self, x: Atom) -> Factor {
        x.as_var().and_then(|x| self.factors.get(&x).copied()).unwrap_or(Factor::Bounded)
    }

    /// Sets a factor in front of `x` and propagates it to all dependents.
    fn set(&mut self, x: Var, factor: Factor) {
        let mut work = vec![(x, factor)];
        while let Some((x, factor)) = work.pop() {
            if factor > self.factor(x.into()) {
                self.factors.insert(x, factor);
                let users = self.users.get(&x).cloned().unwrap_or_default();
                work.extend(users.into_iter().map(|(y, through)| (y, self.passed(x, y, through))));
            }
        }
    }

    /// `y` depends on `x`.
    fn depends(&mut self, y: Var, x: Atom, through: Through) {
        let Some(x) = x.as_var() else { return };
        self.users.entry(x).or_default().push((y, through));
        let factor = self.passed(x, y, through);
        self.set(y, factor);
    }

    /// The factor in front of `y` that follows from the factor in front of `x`.
    fn passed(&mut self, x: Var, y: Var, through: Through) -> Factor {
        let (factor, is_read) = (self.factor(x.into()), self.arrays.contains(&x));
        let (passes, by_elements) = match through {
            Through::Scalar => (true, false),
            Through::Element => (is_read, false),
            Through::Whole => (factor >= Factor::Invariant, false),
            Through::Collected => (factor >= Factor::Invariant, factor == Factor::Unbounded),
            Through::Items => (factor >= Factor::Invariant, factor >= Factor::Invariant),
            Through::Updated => (factor >= Factor::Invariant, is_read),
        };
        if by_elements {
            self.arrays.insert(y);
        }
        if passes { factor } else { Factor::Bounded }
    }

    fn block(&mut self, block: &Block, depth: usize, known: &ActiveAndRuled) {
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

    fn stm(&mut self, stm: &Stm, depth: usize, (activity, ruled): &ActiveAndRuled) {
        match &stm.exp {
            Exp::Op(Op::Prim(op, args)) => {
                let mut own = Factor::Bounded;
                let varies = |x: Atom| {
                    let bound = x.as_var().map(|x| self.depths.get(&x).copied().unwrap_or(0));
                    bound.is_some_and(|bound| bound >= depth)
                };
                let partials = op.partials();
                let active = || {
                    let all = partials.iter().zip(args);
                    all.filter_map(|(partial, arg)| Some((partial.as_ref()?, *arg)))
                        .filter(|(_, arg)| activity.active(*arg))
                };
                for (partial, _) in active() {
                    own = own.max(factor(partial, args, &varies));
                }
                self.bind(stm, own);
                for (_, arg) in active() {
                    stm.binds.iter().for_each(|p| self.depends(p.var, arg, Through::Scalar));
                }
            }
            Exp::Op(Op::Call { function, .. }) if ruled.contains_key(function) => {
                let mut active = stm.binds.iter().filter(|p| activity.active(p.var));
                if active.all(|p| activity.valued(p.var)) {
                    self.bind(stm, Factor::Unbounded);
                }
            }
            Exp::Op(Op::Array(items)) => {
                let array = stm.binds[0].var;
                items.iter().for_each(|x| self.depends(array, *x, Through::Items));
            }
            Exp::Op(Op::Index(x, _)) => {
                self.depends(stm.binds[0].var, (*x).into(), Through::Element);
            }
            Exp::Op(Op::Fill(x)) => self.depends(stm.binds[0].var, *x, Through::Collected),
            Exp::Op(Op::Update { array, value, .. }) => {
                let y = stm.binds[0].var;
                self.depends(y, (*array).into(), Through::Updated);
                self.depends(y, *value, Through::Items);
            }
            Exp::Op(Op::Accumulator(init)) => {
                self.depends(stm.binds[0].var, *init, Through::Updated);
            }
            Exp::Op(Op::Accumulate { acc, value, .. }) => {
                self.depends(*acc, *value, Through::Items);
            }
            Exp::Op(Op::Freeze(acc)) => {
                self.depends(stm.binds[0].var, (*acc).into(), Through::Updated);
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                for (k, p) in stm.binds.iter().enumerate() {
                    for block in [then, otherwise] {
                        self.depends(p.var, block.results[k], Through::Scalar);
                    }
                }
            }
            Exp::Nest(Nest::For { outs, body, .. }) => {
                for ((p, out), result) in stm.binds.iter().zip(outs).zip(&body.results) {
                    match out {
                        Out::Reduce(ReduceOp::Add) => {
                            self.depends(p.var, *result, Through::Whole);
                        }
                        Out::Collect => self.depends(p.var, *result, Through::Collected),
                        Out::Reduce(_) => {}
                    }
                }
            }
            Exp::Nest(Nest::Loop { params, inits, body, .. }) => {
                for (k, p) in params.iter().enumerate().filter(|(_, p)| p.ty.dims.is_empty()) {
                    for x in [inits[k], body.results[k]] {
                        self.depends(p.var, x, Through::Scalar);
                        self.depends(stm.binds[k].var, x, Through::Scalar);
                    }
                }
            }
            Exp::Op(_) => {}
        }
    }

    fn bind(&mut self, stm: &Stm, own: Factor) {
        if own > Factor::Bounded {
            for p in &stm.binds {
                self.own.insert(p.var, own);
                self.set(p.var, own);
            }
        }
    }

    /// Finds the kept states of loops; returns the variables that surely have cotangents if those
    /// of `sure` have.
    fn kept_in(
        &mut self,
        block: &Block,
        mut sure: HashSet<Var>,
        activity: &Activity,
    ) -> HashSet<Var> {
        for stm in block.stms.iter().rev() {
            let used = |k: usize, sure: &HashSet<Var>| sure.contains(&stm.binds[k].var);
            match &stm.exp {
                Exp::Op(Op::Prim(op, args)) if used(0, &sure) => {
                    let partials = op.partials();
                    let always = partials.iter().zip(args).filter(|(partial, arg)| {
                        activity.active(**arg) && partial.as_ref().is_some_and(is_always)
                    });
                    sure.extend(always.filter_map(|(_, arg)| arg.as_var()));
                }
                Exp::Op(_) => {}
                Exp::Nest(Nest::If { then, otherwise, .. }) => {
                    let [then, otherwise] = [then, otherwise].map(|block| {
                        let given = (0..stm.binds.len()).filter(|k| used(*k, &sure));
                        let given = given.filter_map(|k| block.results[k].as_var()).collect();
                        self.kept_in(block, given, activity)
                    });
                    sure.extend(then.intersection(&otherwise));
                }
                // Nothing is sure, because the `for` may have no iteration.
                Exp::Nest(Nest::For { body, .. }) => {
                    self.kept_in(body, HashSet::new(), activity);
                }
                Exp::Nest(Nest::Loop { params, inits, body, .. }) => {
                    let given = body.results.iter().filter_map(|x| x.as_var()).collect();
                    let kept = self.kept_in(body, given, activity);
                    for (k, p) in params.iter().enumerate() {
                        if kept.contains(&p.var) {
                            self.kept.insert(p.var);
                            if used(k, &sure) {
                                sure.extend(inits[k].as_var());
                            }
                        }
                    }
                }
            }
        }
        sure
    }
}

/// Whether a term with this partial derivative is present at all values.
pub(crate) fn is_always(partial: &Expr) -> bool {
    match partial {
        Expr::Lit(Scalar::Real(0.0)) => false,
        Expr::Prim(Prim::Select, items) => items[1..].iter().all(is_always),
        Expr::Arg(_) | Expr::Out | Expr::Lit(_) | Expr::Prim(..) => true,
    }
}

/// Looks for uses that surely give cotangents to all elements of arrays, from the results to the
/// parameters.
struct Uses<'a> {
    activity: &'a Activity,
    ruled: &'a Partial,
    /// The indices and extents of the `for`s around, from the outside in.
    around: Vec<(Var, Atom)>,
    /// The number of enclosing loops.
    loops: usize,
    /// The number of enclosing branches.
    branches: usize,
    /// The sizes of arrays, and the number of `for`s around them.
    arrays: HashMap<Var, (Vec<Atom>, usize)>,
    /// The accumulators that the function makes; those of a caller are used.
    made: HashSet<Var>,
    /// The variables that surely have cotangents.
    sure: HashSet<Var>,
    whole: HashSet<Var>,
    /// The elements of arrays of constant size that are read at constant indices.
    read: HashMap<Var, HashSet<i64>>,
}

impl Uses<'_> {
    fn arrays(&mut self, block: &Block, depth: usize) {
        for stm in &block.stms {
            for p in stm.binds.iter().filter(|p| !p.ty.dims.is_empty()) {
                self.arrays.insert(p.var, (p.ty.dims.clone(), depth));
            }
            if let Exp::Op(Op::Accumulator(_)) = &stm.exp {
                self.made.insert(stm.binds[0].var);
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
            // The values of the arguments decide which one has a cotangent.
            Exp::Op(Op::Prim(Prim::Select | Prim::Max | Prim::Min, _)) => {}
            Exp::Op(Op::Prim(_, args)) if used => self.all(args),
            Exp::Op(Op::Prim(..)) => {}
            // Such as the order of elements, which has no derivative.
            Exp::Op(_) if !self.activity.concerns(stm) => {}
            Exp::Op(Op::Array(items)) => {
                if self.whole.contains(&stm.binds[0].var) {
                    self.whole.extend(items.iter().filter_map(|x| x.as_var()));
                }
                if used {
                    self.sure.extend(items.iter().filter_map(|x| x.as_var()));
                }
            }
            // An overwritten element has no cotangent.
            Exp::Op(Op::Update { array, value, .. }) if !self.is_repeated() => {
                self.whole.extend(value.as_var());
                if used {
                    self.sure.insert(*array);
                    self.sure.extend(value.as_var());
                }
            }
            Exp::Op(Op::Call { function, args, .. }) if self.ruled.contains_key(function) => {
                let partial = self.ruled[function].clone();
                let sure = |(k, _): &(usize, &Atom)| partial.get(*k) != Some(&true);
                let sure = args.iter().enumerate().filter(sure);
                for x in sure.filter_map(|(_, x)| x.as_var()) {
                    self.whole.insert(x);
                    if used {
                        self.sure.insert(x);
                    }
                }
            }
            Exp::Op(Op::Freeze(acc)) => {
                let p = &stm.binds[0];
                if p.ty.dims.is_empty() || self.whole.contains(&p.var) {
                    self.whole.insert(*acc);
                }
                if used {
                    self.sure.insert(*acc);
                }
            }
            // In a branch, there may be no addition.
            Exp::Op(Op::Accumulate { .. }) if self.branches > 0 => {}
            Exp::Op(Op::Accumulate { acc, value, .. }) if self.made.contains(acc) => {
                if self.whole.contains(acc) {
                    self.whole.extend(value.as_var());
                    if self.sure.contains(acc) {
                        self.sure.extend(value.as_var());
                    }
                }
            }
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
            // Assumes that the loop runs at least once.
            Exp::Nest(Nest::Loop { inits, body, .. }) => {
                self.all(inits);
                self.all(&body.results);
                self.loops += 1;
                stm.exp.blocks().into_iter().for_each(|inner| self.block(inner));
                self.loops -= 1;
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                self.branches += 1;
                self.block(then);
                self.block(otherwise);
                self.branches -= 1;
            }
        }
    }

    /// Whether the statement may run more than once.
    fn is_repeated(&self) -> bool {
        self.loops > 0 || !self.around.is_empty()
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

    /// Whether a used read, repeated by the `for`s around it, reaches each element. A row counts as
    /// a use of the whole array.
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

/// Primitives that occur in partial derivatives and are infinite, or have no value, at finite
/// arguments.
const SINGULAR: [Prim; 11] = [
    Prim::Pow,
    Prim::Sqrt,
    Prim::Log,
    Prim::Log1p,
    Prim::Hypot,
    Prim::Lgamma,
    Prim::Digamma,
    Prim::Polygamma,
    Prim::Asin,
    Prim::Acos,
    Prim::Atan2,
];

/// Whether the partial derivative need not be finite at finite values.
pub(crate) fn is_unbounded(partial: &Expr, args: &[Atom]) -> bool {
    factor(partial, args, &|_| true) >= Factor::Invariant
}

/// The worst factor in a partial derivative at finite arguments; `varies` tells those that differ
/// between iterations.
fn factor(partial: &Expr, args: &[Atom], varies: &dyn Fn(Atom) -> bool) -> Factor {
    let all = |items: &[Expr]| {
        let items = items.iter().map(|item| factor(item, args, varies));
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
                inner if SINGULAR.contains(inner) => items,
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

/// Whether `are` holds for all arguments in an expression; the value stands for all of them.
fn mentioned(expr: &Expr, args: &[Atom], are: &dyn Fn(Atom) -> bool) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Arg(k) => are(args[*k]),
        Expr::Out => args.iter().all(|x| are(*x)),
        Expr::Prim(_, items) => items.iter().all(|item| mentioned(item, args, are)),
    }
}

/// Whether the exponent is a positive constant.
fn is_power(items: &[Expr], args: &[Atom]) -> bool {
    let [_, Expr::Prim(Prim::SelectInt, lower)] = items else { return false };
    let Some(Expr::Prim(Prim::EqInt, exponent)) = lower.first() else { return false };
    let Some(Expr::Arg(k)) = exponent.first() else { return false };
    matches!(args[*k], Atom::Lit(Scalar::Int(n)) if n >= 0)
}
