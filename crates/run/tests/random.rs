//! Random programs: the interpreter and machine code agree bit for bit.
//!
//! All primitives in them are exact or correctly rounded, so nothing may differ. Offsets are
//! reduced into range by a remainder, memory is filled before it is read, and loops are short. All
//! else is free: types, lanes, nesting, cells, views, exchanges, scopes, checks.

mod common;

use common::*;
use lambada_loops::{Buf, Cell, Function, Nest, Op, Operand, Release, Return, Step, Stmt, While};
use lambada_prim::{Data, Precision, Prim, ReduceOp, Scalar, ScalarTy, Tensor};
use lambada_run::{Engine, Kernel, Settings};
use lambada_testkit::Random;

/// A usable buffer of at least `len` elements.
#[derive(Clone, Copy)]
struct UsableBuffer {
    buf: Buf,
    len: i64,
    elem: ScalarTy,
    /// The scope of its `alloc`, if it has one.
    alloc: Option<usize>,
    writable: bool,
}

#[derive(Clone, Default)]
struct Scope {
    values: Vec<Operand>,
    cells: Vec<Cell>,
    bufs: Vec<UsableBuffer>,
}

struct Generator {
    b: Builder,
    chance: Random,
    scope: Scope,
    arena: usize,
    arenas: usize,
    /// Number of statements that may still be drawn.
    fuel: usize,
    /// Allowed numbers of lanes.
    lanes: &'static [u16],
}

const ELEMS: [ScalarTy; 3] = [REAL, INT, BOOL];
const LANES: &[u16] = &[1, 2, 4, 8];

impl Generator {
    fn program(seed: u64, lanes: &'static [u16]) -> (Function, Vec<Tensor>) {
        let chance = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut g = Generator {
            b: Builder::new(&format!("f{seed}")),
            chance,
            scope: Scope::default(),
            arena: 0,
            arenas: 1,
            fuel: 80,
            lanes,
        };
        let mut args = Vec::new();
        g.params(&mut args);
        for _ in 0..5 {
            g.alloc();
        }
        g.statements(0);
        let results = g.results();
        (g.b.finish(results), args)
    }

    fn params(&mut self, args: &mut Vec<Tensor>) {
        let n = self.chance.below(5) as i64;
        self.scope.values.push(self.b.size("n"));
        args.push(size(n));
        for elem in ELEMS {
            let value = self.b.scalar(elem, "p");
            self.scope.values.push(value);
            args.push(Tensor::scalar(self.datum(elem)));
            let len = 9 + self.chance.below(9);
            let buf = self.b.buffer(elem, "in");
            self.scope.bufs.push(UsableBuffer {
                buf,
                len: len as i64,
                elem,
                alloc: None,
                writable: false,
            });
            args.push(self.tensor(elem, len));
        }
    }

    fn tensor(&mut self, elem: ScalarTy, len: usize) -> Tensor {
        let mut data = Data::zeros(elem, len);
        for k in 0..len {
            data.set(k, self.datum(elem));
        }
        Tensor { dims: vec![len], data }
    }

    fn datum(&mut self, elem: ScalarTy) -> Scalar {
        match elem {
            REAL => Scalar::Real(self.chance.pick(&[
                0.0,
                -0.0,
                1.0,
                -1.5,
                0.1,
                3.25,
                -7.7,
                1e10,
                1e-10,
                f64::INFINITY,
                f64::NAN,
                2.0,
            ])),
            INT => Scalar::Int(self.chance.pick(&[
                0,
                1,
                -1,
                2,
                3,
                5,
                -4,
                11,
                1000,
                i64::MAX,
                i64::MIN,
                2_000_000_000,
            ])),
            BOOL => Scalar::Bool(self.chance.once_in(2)),
        }
    }

    /// A value of the type: an existing one with `lanes` lanes or a single one, or a constant.
    fn value(&mut self, elem: ScalarTy, lanes: u16) -> Operand {
        let fits = |operand: &&Operand| {
            let ty = self.b.function.regs[reg(**operand).0 as usize].0;
            ty.elem == elem && (ty.lanes == lanes || ty.lanes == 1)
        };
        let found: Vec<Operand> = self.scope.values.iter().filter(fits).copied().collect();
        if found.is_empty() || self.chance.once_in(5) {
            return Operand::Lit(self.datum(elem));
        }
        // Prefers the latest values, so that expressions grow.
        let from = if self.chance.once_in(2) { found.len().saturating_sub(4) } else { 0 };
        self.chance.pick(&found[from..])
    }

    fn buffer(&mut self, which: impl Fn(&UsableBuffer) -> bool) -> Option<UsableBuffer> {
        let found: Vec<UsableBuffer> =
            self.scope.bufs.iter().filter(|known| which(known)).copied().collect();
        (!found.is_empty()).then(|| self.chance.pick(&found))
    }

    /// An offset at which `lanes` elements are in range.
    fn offset(&mut self, known: UsableBuffer, lanes: u16) -> Operand {
        let room = known.len - i64::from(lanes) + 1;
        if self.chance.once_in(3) {
            return int(self.chance.below(room as usize) as i64);
        }
        let any = self.value(INT, 1);
        self.b.prim(Prim::RemInt, &[any, int(room)])
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..2 + self.chance.below(9) {
            if self.fuel == 0 {
                return;
            }
            self.fuel -= 1;
            self.statement(depth);
        }
    }

    /// Statements in a new scope.
    fn body(&mut self, depth: usize, first: &[Operand]) -> Vec<Stmt> {
        let outside = self.scope.clone();
        self.scope.values.extend(first);
        self.b.open();
        self.statements(depth + 1);
        self.scope = outside;
        self.b.close()
    }

    fn statement(&mut self, depth: usize) {
        match self.chance.below(if depth < 3 { 27 } else { 22 }) {
            0..=5 => self.prim(),
            6..=8 => self.load(),
            9..=11 => self.store(),
            12 => self.cell(),
            13 => self.set(),
            14 => self.get(),
            15 => self.memory(),
            16 => self.fold_or_check(),
            17 | 18 => self.memory(),
            19 | 20 => self.change_after_read(),
            21 => self.cell_after_read(),
            22 => self.counted(depth),
            23 => self.repeat(depth),
            24 | 25 => self.choice(depth),
            _ => {
                let outer = self.arena;
                self.arena = self.arenas;
                self.arenas += 1;
                let body = self.body(depth, &[]);
                self.arena = outer;
                self.b.put(Stmt::Nest(Nest::Scope(Release::All, body)));
            }
        }
    }

    fn prim(&mut self) {
        let inexact = [Prim::Pow, Prim::Atan2, Prim::Polygamma];
        let exact = |prim: &&Prim| {
            let elementary = **prim as usize >= Prim::Exp as usize
                && **prim as usize <= Prim::Polygamma as usize;
            **prim == Prim::Sqrt || !(elementary || inexact.contains(*prim))
        };
        let prims: Vec<Prim> = Prim::ALL.iter().filter(exact).copied().collect();
        let prim = self.chance.pick(&prims);
        let lanes = self.chance.pick(&[1, 1, 1, 2, 4, 8]);
        let args: Vec<Operand> = prim.args().iter().map(|elem| self.value(*elem, lanes)).collect();
        let value = self.b.prim_lanes(prim, &args, lanes);
        self.scope.values.push(value);
    }

    fn load(&mut self) {
        let lanes = self.chance.pick(self.lanes);
        if let Some(known) = self.buffer(|known| known.len >= i64::from(lanes)) {
            let offset = self.offset(known, lanes);
            let value = self.b.load(known.buf, offset, lanes);
            self.scope.values.push(value);
        }
    }

    fn store(&mut self) {
        let lanes = self.chance.pick(self.lanes);
        if let Some(known) = self.buffer(|known| known.writable && known.len >= i64::from(lanes)) {
            let value = self.value(known.elem, lanes);
            let offset = self.offset(known, lanes);
            // Often updates the previous value.
            let value =
                if known.elem == REAL && self.chance.once_in(2) && self.b.lanes(value) == lanes {
                    let old = self.b.load(known.buf, offset, lanes);
                    self.b.prim(Prim::Add, &[old, value])
                } else {
                    value
                };
            self.b.store(known.buf, offset, value);
        }
    }

    /// A load whose single use comes after its memory has changed, directly or through an alias.
    fn change_after_read(&mut self) {
        let lanes = self.chance.pick(self.lanes);
        let Some(known) = self.buffer(|known| known.writable && known.len >= i64::from(lanes))
        else {
            return;
        };
        let offset = self.offset(known, lanes);
        let view = self.b.view(known.buf, offset);
        let mut read = self.b.load(known.buf, offset, lanes);
        if self.chance.once_in(2) {
            let prim = match known.elem {
                REAL => Prim::Neg,
                INT => Prim::NegInt,
                BOOL => Prim::Not,
            };
            read = self.b.prim_lanes(prim, &[read], lanes);
        }
        let value = self.value(known.elem, lanes);
        match self.chance.below(4) {
            0 => self.b.store(known.buf, offset, value),
            1 => self.b.store(view, int(0), value),
            2 => {
                let value = Operand::Lit(self.datum(known.elem));
                self.b.put(Stmt::Step(Step::Fill { buf: known.buf, value, len: int(known.len) }));
            }
            // The view now refers to the other buffer's memory.
            _ => {
                if let Some(other) = self.swap(known)
                    && self.chance.once_in(2)
                {
                    read = self.b.load(view, int(0), lanes);
                    self.b.store(other.buf, offset, value);
                }
            }
        }
        let cell = self.b.cell(known.elem, lanes, "kept", read);
        self.scope.cells.push(cell);
    }

    /// As [`change_after_read`](Generator::change_after_read), for a cell.
    fn cell_after_read(&mut self) {
        if self.scope.cells.is_empty() {
            return self.cell();
        }
        let cell = self.chance.pick(&self.scope.cells.clone());
        let ty = self.b.function.cells[cell.0 as usize].0;
        let read = self.b.get(cell);
        let value = self.value(ty.elem, ty.lanes);
        self.b.set(cell, value);
        let kept = self.b.cell(ty.elem, ty.lanes, "kept", read);
        self.scope.cells.push(kept);
    }

    fn swap(&mut self, a: UsableBuffer) -> Option<UsableBuffer> {
        let b = self.buffer(|b| {
            a.alloc.is_some()
                && b.alloc == a.alloc
                && b.elem == a.elem
                && b.len == a.len
                && b.buf != a.buf
        })?;
        self.b.put(Stmt::Step(Step::Swap(a.buf, b.buf)));
        Some(b)
    }

    fn cell(&mut self) {
        let (elem, lanes) = (self.chance.pick(&ELEMS), self.chance.pick(self.lanes));
        let value = self.value(elem, lanes);
        let cell = self.b.cell(elem, lanes, "c", value);
        self.scope.cells.push(cell);
    }

    fn set(&mut self) {
        if self.scope.cells.is_empty() {
            return;
        }
        let cell = self.chance.pick(&self.scope.cells.clone());
        let ty = self.b.function.cells[cell.0 as usize].0;
        let value = self.value(ty.elem, ty.lanes);
        self.b.set(cell, value);
    }

    fn get(&mut self) {
        if self.scope.cells.is_empty() {
            return;
        }
        let cell = self.chance.pick(&self.scope.cells.clone());
        let value = self.b.get(cell);
        self.scope.values.push(value);
    }

    fn memory(&mut self) {
        match self.chance.below(7) {
            0 => self.alloc(),
            5 => self.transpose(),
            1 => {
                let Some(base) = self.buffer(|known| known.len > 1) else { return };
                let skipped = self.chance.below(base.len as usize - 1) as i64;
                let buf = self.b.view(base.buf, int(skipped));
                self.scope.bufs.push(UsableBuffer {
                    buf,
                    len: base.len - skipped,
                    alloc: None,
                    ..base
                });
            }
            2 => {
                let Some(a) = self.buffer(|known| known.alloc.is_some()) else { return };
                let _ = self.swap(a);
            }
            3 => {
                let elem = self.chance.pick(&ELEMS);
                let len = 9 + self.chance.below(20);
                let tensor = self.tensor(elem, len);
                let buf = self.b.constant(tensor);
                self.scope.bufs.push(UsableBuffer {
                    buf,
                    len: len as i64,
                    elem,
                    alloc: None,
                    writable: false,
                });
            }
            4 => {
                let Some(to) = self.buffer(|known| known.alloc.is_some()) else { return };
                let Some(from) = self.buffer(|from| from.elem == to.elem && !from.writable) else {
                    return;
                };
                let len = self.chance.below(to.len.min(from.len) as usize + 1) as i64;
                self.b.put(Stmt::Step(Step::Copy { to: to.buf, from: from.buf, len: int(len) }));
            }
            _ => {
                let Some(to) = self.buffer(|known| known.writable) else { return };
                let value = self.value(to.elem, 1);
                let any = self.value(INT, 1);
                let len = self.b.prim(Prim::RemInt, &[any, int(to.len + 1)]);
                self.b.put(Stmt::Step(Step::Fill { buf: to.buf, value, len }));
            }
        }
    }

    fn transpose(&mut self) {
        let numbers = |known: &UsableBuffer| known.elem != BOOL;
        let Some(to) = self.buffer(|known| known.alloc.is_some() && numbers(known)) else { return };
        let Some(from) = self.buffer(|from| from.elem == to.elem && !from.writable) else { return };
        let room = to.len.min(from.len);
        // Rows with and without gaps.
        let rows = self.chance.below(4) as i64;
        let cols = self.chance.below(1 + (room / rows.max(1)).min(5) as usize) as i64;
        let most = |len: i64, rows: i64, cols: i64| {
            if rows > 1 { (len - cols) / (rows - 1) } else { cols }
        };
        let from_row = self.chance.pick(&[cols, most(from.len, rows, cols)]);
        let to_row = self.chance.pick(&[rows, most(to.len, cols, rows)]);
        let lanes = self.chance.pick(&[2, 4, 8]);
        self.b.put(Stmt::Step(Step::Transpose {
            to: to.buf,
            to_row: int(to_row),
            from: from.buf,
            from_row: int(from_row),
            rows: int(rows),
            cols: int(cols),
            lanes,
        }));
    }

    fn alloc(&mut self) {
        let elem = self.chance.pick(&ELEMS);
        let len = self.chance.pick(&[9, 9, 12]);
        let buf = self.b.alloc(elem, int(len), "m");
        let value = self.value(elem, 1);
        self.b.put(Stmt::Step(Step::Fill { buf, value, len: int(len) }));
        self.scope.bufs.push(UsableBuffer {
            buf,
            len,
            elem,
            alloc: Some(self.arena),
            writable: true,
        });
    }

    fn fold_or_check(&mut self) {
        if self.chance.once_in(2) {
            let elem = self.chance.pick(&ELEMS);
            let ops: Vec<ReduceOp> =
                ReduceOp::ALL.into_iter().filter(|op| op.accepts(elem)).collect();
            let (op, lanes) = (self.chance.pick(&ops), self.chance.pick(self.lanes));
            let value = self.value(elem, lanes);
            if lanes > 1 && self.chance.once_in(3) {
                let both = [value, self.value(elem, lanes)];
                let whole = |value: &Operand| match value {
                    Operand::Reg(reg) => self.b.function.regs[reg.0 as usize].0.lanes == lanes,
                    Operand::Lit(_) => false,
                };
                if both.iter().all(whole) {
                    let from = 1 + self.chance.below(usize::from(lanes) - 1) as u16;
                    let spliced = self.b.bind(elem, lanes, "t", Op::Splice(both, from));
                    return self.scope.values.push(spliced);
                }
            }
            let folded = self.b.bind(elem, 1, "s", Op::Fold(op, value));
            return self.scope.values.push(folded);
        }
        let (a, b) = (self.value(INT, 1), self.value(INT, 1));
        let strange = self.b.prim(Prim::EqInt, &[a, int(11)]);
        let fine = self.b.prim(Prim::Not, &[strange]);
        self.b.check(fine, "eleven and {1}, {0}", &[a, b]);
    }

    fn counted(&mut self, depth: usize) {
        let index = self.b.function.reg(lambada_loops::Ty::scalar(INT), "i");
        let start = int(self.chance.below(3) as i64 - 1);
        let any = self.value(INT, 1);
        let end = self.b.prim(Prim::RemInt, &[any, int(6)]);
        let step = self.chance.pick(&[1, 1, 2, 3]);
        let body = self.body(depth, &[index.into()]);
        let mode = lambada_loops::Mode::Sequential;
        self.b.put(Stmt::Nest(Nest::For { index, start, end, step, mode, body }));
    }

    fn repeat(&mut self, depth: usize) {
        let counter = self.b.cell(INT, 1, "k", int(0));
        let limit = self.value(INT, 1);
        let limit = self.b.prim(Prim::RemInt, &[limit, int(5)]);
        self.b.open();
        let now = self.b.get(counter);
        let test = self.b.prim(Prim::LtInt, &[now, limit]);
        let extra = self.chance.once_in(2);
        if extra {
            let next = self.b.prim(Prim::AddInt, &[now, int(1)]);
            self.b.set(counter, next);
        }
        let before = self.b.close();
        let mut body = self.body(depth, &[now]);
        if !extra {
            self.b.open();
            let now = self.b.get(counter);
            let next = self.b.prim(Prim::AddInt, &[now, int(1)]);
            self.b.set(counter, next);
            body.extend(self.b.close());
        }
        self.b.put(Stmt::Nest(Nest::While { cond: While { before, test }, body }));
    }

    fn choice(&mut self, depth: usize) {
        let cond = self.value(BOOL, 1);
        let then = self.body(depth, &[]);
        let otherwise = if self.chance.once_in(3) { Vec::new() } else { self.body(depth, &[]) };
        self.b.put(Stmt::Nest(Nest::If { cond, then, otherwise }));
    }

    /// Results that show the final state: scalars, cells and buffers, and vectors through a buffer.
    fn results(&mut self) -> Vec<Return> {
        let cells = self.scope.cells.clone();
        let gets: Vec<Operand> = cells.into_iter().map(|cell| self.b.get(cell)).collect();
        self.scope.values.extend(gets);
        let mut results = Vec::new();
        for value in self.scope.values.clone() {
            let ty = self.b.function.regs[reg(value).0 as usize].0;
            // Only some, because a value with several uses is not printed at its use.
            if ty.lanes == 1 && self.chance.once_in(4) {
                results.push(Return::Scalar(value));
            } else if ty.lanes > 1 && self.chance.once_in(4) {
                let len = int(i64::from(ty.lanes));
                let out = self.b.alloc(ty.elem, len, "out");
                self.b.store(out, int(0), value);
                results.push(Return::Buffer(out, vec![len]));
            }
        }
        results.extend(
            self.scope.bufs.iter().map(|known| Return::Buffer(known.buf, vec![int(known.len)])),
        );
        results
    }
}

#[test]
fn interpreter_and_machine_agree() {
    agreement(250, (Precision::F64, LANES), exact);
}

/// Cuts all functions, so that the parts share values through the frame.
#[test]
fn programs_in_small_parts_agree() {
    agreement(400, (Precision::F64, LANES), |functions| exact_in_parts(functions, 3));
    agreement(400, (Precision::F64, LANES), |functions| exact_in_parts(functions, 8));
}

/// Machine code of `lambada_jit`.
#[test]
fn interpreter_and_own_machine_code_agree() {
    agreement(2000, (Precision::F64, &[1, 4]), |functions| {
        let settings = Settings { engine: Engine::Jit, contract: false, ..Settings::default() };
        Kernel::compile_with(functions, settings).expect("nothing can be rejected")
    });
}

/// Bit for bit: rounding the results of 64 bits yields the results of 32 bits.
#[test]
fn reals_of_32_bits_agree() {
    agreement(150, (Precision::F32, LANES), exact);
}

fn agreement(
    count: u64,
    (precision, lanes): (Precision, &'static [u16]),
    compile: impl Fn(&[&Function]) -> Vec<Kernel>,
) {
    const PER_UNIT: u64 = 50;
    let (mut failures, mut statements) = (0, 0);
    for unit in 0..count / PER_UNIT {
        let programs: Vec<(Function, Vec<Tensor>)> = (1..=PER_UNIT)
            .map(|k| Generator::program(unit * PER_UNIT + k, lanes))
            .map(|(function, args)| (function.with_precision(precision), args))
            .collect();
        let kernels = compile(&programs.iter().map(|(function, _)| function).collect::<Vec<_>>());
        for ((function, args), kernel) in programs.iter().zip(&kernels) {
            // Twice, because the second call reuses the memory of the first.
            failures += usize::from(compare(function, kernel, args, 0.0).is_err());
            let _ = compare(function, kernel, args, 0.0);
            lambada_loops::visit(&function.body, &mut |_| statements += 1);
        }
    }
    // Checks that the programs are useful: most succeed, and among many some fail.
    assert!(failures > 0 || count < 200, "none of {count} programs fails");
    assert!(failures < count as usize / 2, "{failures} failures");
    assert!(statements > 30 * count as usize, "{statements} statements");
}
