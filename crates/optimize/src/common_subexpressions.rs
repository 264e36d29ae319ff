//! Common subexpression elimination: a value that is still in scope is not recomputed.
//!
//! Assumes: nothing. Gives: no two pure statements in scope of each other that are equal up to the
//! names that they bind inside. Keeps: values and failures; of two equal loops that may fail the
//! second cannot fail, as the first has not.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};

use lambada_anf::{
    Atom, Block, Checkpoint, Effect, Elem, Exp, Function, LoopKind, Nest, Op, Out, Renaming, Stm,
    Ty, Var,
};
use lambada_prim::{ReduceOp, Scalar};

use crate::algebra::commutative;
use crate::calls::Calls;

/// The pass.
pub(crate) fn common_subexpressions(function: &mut Function, calls: &Calls) -> bool {
    let mut shapes = Vec::new();
    block_shape(&function.body, &mut shapes);
    let mut twice: HashMap<u64, bool> = HashMap::new();
    shapes.iter().for_each(|shape| {
        twice.entry(*shape).and_modify(|twice| *twice = true).or_insert(false);
    });
    let unique = shapes.iter().map(|shape| !twice[shape]).collect();
    let (known, log, image) = (HashMap::new(), Vec::new(), Renaming::new());
    let mut pass = Cse { calls, known, log, image, unique };
    pass.block(&mut function.body);
    for ty in &mut function.results {
        *ty = pass.image.ty(ty);
    }
    !pass.image.is_empty()
}

/// A statement as numbers: equal for statements that are equal up to bound names.
pub(crate) type Key = Vec<u64>;

struct Cse<'a> {
    calls: &'a Calls,
    known: HashMap<Key, Vec<Var>>,
    /// The keys to remove when their block ends.
    log: Vec<Key>,
    image: Renaming,
    /// For each nest still to be visited, whether it is the only one of its shape. Such a nest need
    /// not be compared, which takes time for each nest around.
    unique: VecDeque<bool>,
}

impl Cse<'_> {
    fn block(&mut self, block: &mut Block) {
        let depth = self.log.len();
        block.stms.retain_mut(|stm| self.keep(stm));
        block.results.iter_mut().for_each(|a| *a = self.image.atom(*a));
        for key in self.log.drain(depth..) {
            self.known.remove(&key);
        }
    }

    /// Visits a statement; false if it is known already.
    fn keep(&mut self, stm: &mut Stm) -> bool {
        stm.exp.atoms_mut(&mut |a| *a = self.image.atom(*a));
        stm.binds.iter_mut().for_each(|p| p.ty = self.image.ty(&p.ty));
        stm.exp.blocks_mut().into_iter().for_each(|b| self.block(b));
        let unique = matches!(stm.exp, Exp::Nest(_)) && self.unique.pop_front() == Some(true);
        if unique || !shareable(stm, self.calls) {
            return true;
        }
        let key = key(stm);
        if let Some(vars) = self.known.get(&key) {
            for (p, known) in stm.binds.iter().zip(vars.clone()) {
                self.image.insert(p.var, known.into());
            }
            return false;
        }
        self.known.insert(key.clone(), stm.binds.iter().map(|p| p.var).collect());
        self.log.push(key);
        true
    }
}

/// Adds the shapes of the nests of a block, inner ones first, and gives its own: equal for blocks
/// that are equal up to the names of variables.
fn block_shape(block: &Block, shapes: &mut Vec<u64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for stm in &block.stms {
        stm.binds.len().hash(&mut hasher);
        match &stm.exp {
            Exp::Op(op) => {
                std::mem::discriminant(op).hash(&mut hasher);
                if let Op::Prim(op, _) = op {
                    (*op as u64).hash(&mut hasher);
                }
            }
            Exp::Nest(nest) => {
                let mut own = DefaultHasher::new();
                std::mem::discriminant(nest).hash(&mut own);
                for inner in nest.blocks() {
                    block_shape(inner, shapes).hash(&mut own);
                }
                shapes.push(own.finish());
                own.finish().hash(&mut hasher);
            }
        }
    }
    block.results.len().hash(&mut hasher);
    hasher.finish()
}

/// Whether an equal statement before it may replace it. A failing loop or call has already failed
/// there.
fn shareable(stm: &Stm, calls: &Calls) -> bool {
    match &stm.exp {
        Exp::Op(Op::Call { .. }) | Exp::Nest(_) => {
            !stm.binds.is_empty() && !calls.adds(stm) && !calls.inspects(stm)
        }
        Exp::Op(op) => op.effect() == Effect::None,
    }
}

/// The statement as numbers.
pub(crate) fn key(stm: &Stm) -> Key {
    let mut encoder = Encoder { key: Vec::new(), bound: HashMap::new() };
    encoder.stm(stm);
    encoder.key
}

/// Bound variables are numbered from here, in the order in which they are bound.
const BOUND: u64 = 1 << 40;

struct Encoder {
    key: Key,
    bound: HashMap<Var, u64>,
}

impl Encoder {
    fn push(&mut self, number: u64) {
        self.key.push(number);
    }

    fn bind(&mut self, var: Var) {
        let number = BOUND + self.bound.len() as u64;
        self.bound.insert(var, number);
    }

    fn code(&self, atom: Atom) -> (u64, u64) {
        match atom {
            Atom::Var(var) => (0, self.bound.get(&var).copied().unwrap_or(u64::from(var.0))),
            Atom::Lit(Scalar::Real(x)) => (1, x.to_bits()),
            Atom::Lit(Scalar::Int(k)) => (2, k as u64),
            Atom::Lit(Scalar::Bool(b)) => (3, u64::from(b)),
        }
    }

    fn atom(&mut self, atom: Atom) {
        let (kind, value) = self.code(atom);
        self.key.extend([kind, value]);
    }

    fn atoms(&mut self, atoms: &[Atom]) {
        self.push(atoms.len() as u64);
        atoms.iter().for_each(|a| self.atom(*a));
    }

    fn ty(&mut self, ty: &Ty) {
        self.elem(ty.elem);
        self.atoms(&ty.dims);
    }

    fn elem(&mut self, elem: Elem) {
        self.push(match elem {
            Elem::Scalar(elem) => elem as u64,
            Elem::Ref(node) => 3 + u64::from(node.0),
        });
    }

    fn block(&mut self, block: &Block) {
        self.push(block.stms.len() as u64);
        for stm in &block.stms {
            self.stm(stm);
            // Later statements of this block may mention it.
            stm.binds.iter().for_each(|p| self.bind(p.var));
        }
        self.atoms(&block.results);
    }

    fn stm(&mut self, stm: &Stm) {
        self.exp(&stm.exp);
        if !matches!(stm.exp, Exp::Op(Op::Prim(..) | Op::Index(..))) {
            let outer = stm
                .binds
                .iter()
                .flat_map(|p| &p.ty.dims)
                .filter(|d| !stm.binds.iter().any(|p| Atom::Var(p.var) == **d));
            let codes: Vec<(u64, u64)> = outer.map(|d| self.code(*d)).collect();
            self.push(stm.binds.len() as u64);
            stm.binds.iter().for_each(|p| self.elem(p.ty.elem)); // null is of many types
            codes.into_iter().for_each(|(kind, value)| self.key.extend([kind, value]));
        }
    }

    fn exp(&mut self, exp: &Exp) {
        match exp {
            Exp::Op(op) => self.op(op),
            Exp::Nest(nest) => self.nest(nest),
        }
    }

    fn op(&mut self, op: &Op) {
        let mut codes = Vec::new();
        op.atoms(&mut |atom| codes.push(self.code(atom)));
        let (kind, detail) = match op {
            Op::Prim(op, _) => {
                if commutative(*op) {
                    codes.sort_unstable();
                }
                (10, *op as u64)
            }
            Op::Index(..) => (11, 0),
            Op::Fill(_) => (12, 0),
            Op::Array(_) => (13, 0),
            // Constants are shared where they are the same data, not where they are equal.
            Op::Constant(tensor) => (14, std::rc::Rc::as_ptr(tensor) as u64),
            Op::Update { .. } => (18, 0),
            Op::ArrayPrim(prim, _) => (19, *prim as u64),
            Op::Accumulator(_) => (20, 0),
            Op::Accumulate { .. } => (21, 0),
            Op::Freeze(_) => (22, 0),
            // A check's message does not matter, only its condition, which comes first.
            Op::Check { .. } => {
                codes.truncate(1);
                (23, 0)
            }
            Op::Inspect { number, .. } => (30, u64::from(*number)),
            Op::Call { function, .. } => (24, function.0.into()),
            Op::Node { node, tag, .. } => (25, place(node.0, *tag)),
            Op::Tag(_) => (26, 0),
            Op::Field { tag, field, .. } => (27, place(*tag, *field)),
            Op::Open { tag, field, .. } => (28, place(*tag, *field)),
            Op::Cell { tag, field, .. } => (29, place(*tag, *field)),
            Op::Scheduled(_) => unreachable!("scheduling is the last pass"),
        };
        self.key.extend([kind, detail, codes.len() as u64]);
        codes.into_iter().for_each(|(kind, value)| self.key.extend([kind, value]));
    }

    fn nest(&mut self, nest: &Nest) {
        match nest {
            Nest::For { index, extent, outs, body } => {
                self.push(15);
                self.atom(*extent);
                self.push(outs.len() as u64);
                outs.iter().for_each(|out| self.push(out_code(*out)));
                self.bind(*index);
                self.block(body);
            }
            Nest::Loop { params, inits, kind, body } => {
                self.push(16);
                self.atoms(inits);
                params.iter().for_each(|p| self.bind(p.var));
                params.iter().for_each(|p| self.ty(&p.ty));
                match kind {
                    LoopKind::For { index, extent, checkpoint } => {
                        self.push(0);
                        match checkpoint {
                            Checkpoint::All => self.push(0),
                            Checkpoint::Entries => self.push(1),
                            Checkpoint::Sqrt => self.push(2),
                            Checkpoint::States(states) => {
                                self.push(3);
                                self.atom(*states);
                            }
                        }
                        self.atom(*extent);
                        self.bind(*index);
                    }
                    LoopKind::While(cond) => {
                        self.push(1);
                        self.block(cond);
                    }
                }
                self.block(body);
            }
            Nest::If { cond, then, otherwise } => {
                self.push(17);
                self.atom(*cond);
                self.block(then);
                self.block(otherwise);
            }
        }
    }
}

fn out_code(out: Out) -> u64 {
    match out {
        Out::Collect => 0,
        Out::Reduce(ReduceOp::Add) => 1,
        Out::Reduce(ReduceOp::Mul) => 2,
        Out::Reduce(ReduceOp::Min) => 3,
        Out::Reduce(ReduceOp::Max) => 4,
        Out::Reduce(ReduceOp::And) => 5,
        Out::Reduce(ReduceOp::Or) => 6,
    }
}

/// Packs two small numbers into one.
fn place(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}
