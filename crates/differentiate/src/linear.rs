//! Linearity of a function in its last parameters.
//!
//! ```text
//!   zero ⊔ k = k    linear + linear = linear    linear · other = linear
//!   linear · linear, linear + other: a fault
//! ```
//!
//! Each value is `Zero`, `Linear` or `Other`, where `Other` does not depend on these parameters.
//! Mixing the last two is a fault, and so is a result that is `Other`.
//!
//! Recursion and loops are a fixed point from `Zero`. It is reached because kinds only grow: `Zero`
//! may turn into one of the other two, which are incomparable. Each round over the program analyses
//! a call once per dependence pattern of its arguments, so rounds take time linear in the program
//! and not in the number of call paths.

use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Exp, FnId, Function, Library, LoopKind, Names, Nest, Op, Out, Param, Stm, Var,
};
use lambada_prim::{Data, Prim, ReduceOp, Scalar};
use lambada_source::Span;

use crate::known::CELLS;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LinearityKind {
    Zero,
    Linear,
    Other,
}

use LinearityKind::{Linear, Other, Zero};

/// The linearity of a function in some of its parameters.
pub(crate) struct Linearity {
    /// The place of the first fault: `Some(None)` if unknown.
    pub(crate) fault: Option<Option<Span>>,
    /// The functions applied to linear arguments.
    pub(crate) applied: HashSet<FnId>,
}

/// The linearity of `f` in its parameters from `first` on.
pub(crate) fn linearity(library: &Library, f: &Function, first: usize) -> Linearity {
    let kind = |k| if k < first { Other } else { Linear };
    let kinds: Vec<LinearityKind> = (0..f.params.len()).map(kind).collect();
    let mut checker = Checker::new(library, f);
    let results = loop {
        let results = checker.round(f, &kinds);
        if !checker.learned || checker.fault.is_some() {
            break results;
        }
    };
    let fault = checker.fault.or_else(|| results.contains(&Other).then_some(None));
    let linear = checker.calls.into_keys().filter(|(_, given, _)| given.contains(&Linear));
    Linearity { fault, applied: linear.map(|(function, ..)| function).collect() }
}

/// A function, the kinds of its arguments and accumulators, and which of the latter are cells.
type Call = (FnId, Vec<LinearityKind>, Vec<bool>);

struct Checker<'a> {
    library: &'a Library,
    names: &'a Names,
    kinds: HashMap<Var, LinearityKind>,
    /// Accumulators that are cells of nodes; [`CELLS`] has the kind of their content.
    cells: HashSet<Var>,
    /// The kinds of results and of accumulator contents, by call, as found so far.
    calls: HashMap<Call, Vec<LinearityKind>>,
    /// Calls analysed in this round.
    seen: HashSet<Call>,
    fault: Option<Option<Span>>,
    /// Whether a kind in the current function has grown.
    changed: bool,
    /// Whether the kind of a call or a cell has grown in this round.
    learned: bool,
}

impl<'a> Checker<'a> {
    fn new(library: &'a Library, f: &'a Function) -> Checker<'a> {
        Checker {
            library,
            names: &f.names,
            kinds: HashMap::from([(CELLS, Zero)]),
            cells: HashSet::new(),
            calls: HashMap::new(),
            seen: HashSet::new(),
            fault: None,
            changed: false,
            learned: false,
        }
    }

    /// Analyses the whole program once more.
    fn round(&mut self, f: &'a Function, given: &[LinearityKind]) -> Vec<LinearityKind> {
        self.learned = false;
        self.seen.clear();
        let cells = self.kind(CELLS.into());
        self.kinds = HashMap::from([(CELLS, cells)]);
        self.function(f, given)
    }

    /// The kinds of the results, then of the accumulator contents, from those of parameters and
    /// accumulators.
    fn function(&mut self, f: &Function, given: &[LinearityKind]) -> Vec<LinearityKind> {
        let params = f.params.iter().chain(&f.accumulators);
        params.zip(given).for_each(|(p, kind)| _ = self.kinds.insert(p.var, *kind));
        self.settled(&f.body);
        let results = f.body.results.iter().map(|a| self.kind(*a));
        results.chain(f.accumulators.iter().map(|p| self.kind(p.var.into()))).collect()
    }

    /// Visits a block until the kinds of accumulators and carried values are stable.
    fn settled(&mut self, block: &Block) {
        loop {
            let before = std::mem::take(&mut self.changed);
            self.block(block);
            let again = self.changed && self.fault.is_none();
            self.changed |= before;
            if !again {
                return;
            }
            self.changed = before;
        }
    }

    fn kind(&self, atom: Atom) -> LinearityKind {
        match atom {
            Atom::Var(x) => self.kinds.get(&x).copied().unwrap_or(Other),
            Atom::Lit(Scalar::Real(x)) => {
                if x == 0.0 {
                    Zero
                } else {
                    Other
                }
            }
            // null, if it is a handle
            Atom::Lit(Scalar::Int(x)) => {
                if x == 0 {
                    Zero
                } else {
                    Other
                }
            }
            Atom::Lit(Scalar::Bool(_)) => Other,
        }
    }

    fn blame(&mut self, stm: &Stm) -> LinearityKind {
        let bound = stm.binds.first().map(|p| p.var);
        let place = bound.and_then(|x| self.names.origin(x));
        self.fault.get_or_insert(place);
        Other
    }

    fn join(&mut self, a: LinearityKind, b: LinearityKind, stm: &Stm) -> LinearityKind {
        match (a, b) {
            (Zero, k) | (k, Zero) => k,
            (Linear, Linear) => Linear,
            (Other, Other) => Other,
            (Linear, Other) | (Other, Linear) => self.blame(stm),
        }
    }

    fn all(&mut self, atoms: impl IntoIterator<Item = Atom>, stm: &Stm) -> LinearityKind {
        let mut kind = Zero;
        for atom in atoms {
            let next = self.kind(atom);
            kind = self.join(kind, next, stm);
        }
        kind
    }

    /// Joins a further kind into that of a variable with several values.
    fn grow(&mut self, x: Var, kind: LinearityKind, stm: &Stm) {
        let old = self.kinds.get(&x).copied().unwrap_or(Zero);
        let new = self.join(old, kind, stm);
        self.changed |= new != old;
        self.learned |= new != old && x == CELLS;
        self.kinds.insert(x, new);
    }

    fn block(&mut self, block: &Block) {
        for stm in &block.stms {
            if self.fault.is_some() {
                return;
            }
            match &stm.exp {
                Exp::Op(op) => self.op(stm, op),
                Exp::Nest(nest) => self.nest(stm, nest),
            }
        }
    }

    fn set(&mut self, p: &Param, kind: LinearityKind) {
        self.kinds.insert(p.var, kind);
    }

    fn op(&mut self, stm: &Stm, op: &Op) {
        let kind = match op {
            Op::Prim(op, args) => self.prim(stm, *op, args),
            Op::Index(x, _) => self.kind((*x).into()),
            Op::Fill(value) | Op::Accumulator(value) => self.kind(*value),
            Op::Array(items) => self.all(items.iter().copied(), stm),
            Op::Constant(tensor) => {
                let nothing =
                    matches!(&tensor.data, Data::Real(xs) if xs.iter().all(|x| *x == 0.0));
                if nothing { Zero } else { Other }
            }
            Op::Update { array, value, .. } => self.all([(*array).into(), *value], stm),
            Op::ArrayPrim(prim, args) => {
                let kinds: Vec<LinearityKind> =
                    args.iter().map(|arg| self.kind((*arg).into())).collect();
                let linear = prim.row().linear;
                let spoilt =
                    |(k, kind): (usize, &LinearityKind)| *kind == Linear && !linear.contains(&k);
                if kinds.iter().enumerate().any(spoilt) {
                    self.blame(stm)
                } else {
                    self.product_of(stm, linear.iter().map(|k| kinds[*k]).collect())
                }
            }
            Op::Freeze(acc) => self.kind((*acc).into()),
            Op::Node { node, tag, fields, .. } => {
                let of = &self.library.node(*node).constructors[*tag as usize].fields;
                let carries = |(field, _): &(&lambada_anf::Field, &Atom)| {
                    lambada_anf::differentiable(&field.ty)
                };
                let parts: Vec<Atom> =
                    of.iter().zip(fields).filter(carries).map(|(_, atom)| *atom).collect();
                self.all(parts, stm)
            }
            Op::Field { of, .. } => match stm.binds.first() {
                Some(p) if lambada_anf::differentiable(&p.ty) => self.kind(*of),
                Some(_) | None => Other,
            },
            Op::Cell { .. } => self.kind(CELLS.into()),
            Op::Tag(_) => Other,
            Op::Open { .. } => {
                self.cells.extend(stm.binds.iter().map(|p| p.var));
                Zero
            }
            Op::Accumulate { acc, value, .. } => {
                let kind = self.kind(*value);
                if self.cells.contains(acc) {
                    self.grow(CELLS, kind, stm);
                }
                return self.grow(*acc, kind, stm);
            }
            Op::Check { .. } | Op::Inspect { .. } => return,
            Op::Scheduled(_) => unreachable!("scheduling is the last pass"),
            Op::Call { function, args, accumulators } => {
                return self.call(stm, *function, args, accumulators);
            }
        };
        // The kind of an accumulator survives its statement when the block is visited once more.
        let keeps = matches!(op, Op::Accumulator(_) | Op::Open { .. });
        for p in &stm.binds {
            match keeps {
                true => self.grow(p.var, kind, stm),
                false => self.set(p, kind),
            }
        }
    }

    fn product(&mut self, stm: &Stm, a: Atom, b: Atom) -> LinearityKind {
        let kinds = vec![self.kind(a), self.kind(b)];
        self.product_of(stm, kinds)
    }

    fn product_of(&mut self, stm: &Stm, factors: Vec<LinearityKind>) -> LinearityKind {
        if factors.contains(&Zero) {
            return Zero;
        }
        match factors.iter().filter(|kind| **kind == Linear).count() {
            0 => Other,
            1 => Linear,
            _ => self.blame(stm),
        }
    }

    fn prim(&mut self, stm: &Stm, op: Prim, args: &[Atom]) -> LinearityKind {
        match (op, args) {
            (Prim::Add | Prim::Sub, _) => self.all(args.iter().copied(), stm),
            (Prim::Neg, [x]) => self.kind(*x),
            (Prim::Mul, [a, b]) => self.product(stm, *a, *b),
            (Prim::Div, [a, b]) if self.kind(*b) != Linear => self.kind(*a),
            (Prim::Select, [_, a, b]) => self.all([*a, *b], stm),
            (_, _) if args.iter().any(|a| self.kind(*a) == Linear) => self.blame(stm),
            (_, _) => Other, // of nothing that is linear
        }
    }

    fn call(&mut self, stm: &Stm, id: FnId, args: &[Atom], accumulators: &[Var]) {
        let mut given: Vec<LinearityKind> = args.iter().map(|a| self.kind(*a)).collect();
        // `Other` arguments give `Other` results; `Zero` arguments may still grow.
        if given.iter().all(|kind| *kind == Other) && accumulators.is_empty() {
            return stm.binds.iter().for_each(|p| self.set(p, Other));
        }
        let Some(f) = self.library.function(id) else {
            self.blame(stm);
            return;
        };
        given.extend(accumulators.iter().map(|acc| self.kind((*acc).into())));
        let cells = accumulators.iter().map(|acc| self.cells.contains(acc)).collect();
        let call = (id, given, cells);
        if self.seen.insert(call.clone()) {
            let found = self.inside(f, &call);
            let known = self.calls.remove(&call).unwrap_or_else(|| vec![Zero; found.len()]);
            let both = known.iter().zip(found).map(|(old, new)| self.join(*old, new, stm));
            let both: Vec<LinearityKind> = both.collect();
            self.changed |= both != known;
            self.learned |= both != known;
            self.calls.insert(call.clone(), both);
        }
        let results = self.calls.get(&call).cloned();
        let results = results.unwrap_or_else(|| vec![Zero; stm.binds.len() + accumulators.len()]);
        let (results, added) = results.split_at(stm.binds.len());
        stm.binds.iter().zip(results).for_each(|(p, kind)| self.set(p, *kind));
        accumulators.iter().zip(added).for_each(|(acc, kind)| self.grow(*acc, *kind, stm));
    }

    /// The kinds of a call's results and contributions. [`CELLS`] has one kind for the whole
    /// program.
    fn inside(&mut self, f: &'a Function, (_, given, cells): &Call) -> Vec<LinearityKind> {
        let own = f.accumulators.iter().zip(cells).filter(|(_, is_cell)| **is_cell);
        let own = own.map(|(p, _)| p.var).collect();
        let before = HashMap::from([(CELLS, self.kind(CELLS.into()))]);
        let kinds = std::mem::replace(&mut self.kinds, before);
        let cells = std::mem::replace(&mut self.cells, own);
        let names = std::mem::replace(&mut self.names, &f.names);
        let results = self.function(f, given);
        let added = self.kind(CELLS.into());
        self.kinds = kinds;
        self.kinds.insert(CELLS, added);
        self.cells = cells;
        self.names = names;
        results
    }

    fn nest(&mut self, stm: &Stm, nest: &Nest) {
        match nest {
            Nest::For { outs, body, .. } => {
                self.block(body);
                for ((p, out), result) in stm.binds.iter().zip(outs).zip(&body.results) {
                    let kind = self.kind(*result);
                    let sums = matches!(out, Out::Collect | Out::Reduce(ReduceOp::Add));
                    let kind = match (sums, kind) {
                        (true, _) => kind,
                        (false, Linear) => self.blame(stm),
                        (false, Zero | Other) => Other,
                    };
                    self.set(p, kind);
                }
            }
            Nest::Loop { params, inits, kind, body } => {
                for (p, init) in params.iter().zip(inits) {
                    let kind = self.kind(*init);
                    self.grow(p.var, kind, stm);
                }
                if let LoopKind::While(cond) = kind {
                    self.block(cond);
                }
                self.block(body);
                for ((p, result), bind) in params.iter().zip(&body.results).zip(&stm.binds) {
                    let kind = self.kind(*result);
                    self.grow(p.var, kind, stm);
                    let kind = self.kind(p.var.into());
                    self.set(bind, kind);
                }
            }
            Nest::If { then, otherwise, .. } => {
                self.block(then);
                self.block(otherwise);
                for ((p, a), b) in stm.binds.iter().zip(&then.results).zip(&otherwise.results) {
                    let kind = self.all([*a, *b], stm);
                    self.set(p, kind);
                }
            }
        }
    }
}
