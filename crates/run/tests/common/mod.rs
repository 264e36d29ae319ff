//! Common parts of the tests: a builder of functions, and the comparison of the interpreter with
//! machine code.
#![allow(dead_code)] // not every test file uses all of it

use lambada_loops::{
    Buf, Cell, Function, Mode, Nest, Op, Operand, Param, Reg, Release, Return, Step, Stmt, Ty,
};
use lambada_prim::{Data, Prim, Scalar, ScalarTy, Tensor};
use lambada_run::{Engine, Kernel, Settings};
use lambada_source::{Failure, Site, Span};
use lambada_testkit::Tolerance;

pub const REAL: ScalarTy = ScalarTy::Real;
pub const INT: ScalarTy = ScalarTy::Int;
pub const BOOL: ScalarTy = ScalarTy::Bool;

pub fn real(value: f64) -> Operand {
    Operand::Lit(Scalar::Real(value))
}

pub fn int(value: i64) -> Operand {
    Operand::int(value)
}

pub fn bool(value: bool) -> Operand {
    Operand::Lit(Scalar::Bool(value))
}

/// Builds a function statement by statement; bodies are opened and closed.
pub struct Builder {
    pub function: Function,
    bodies: Vec<Vec<Stmt>>,
}

impl Builder {
    pub fn new(name: &str) -> Builder {
        Builder { function: Function::new(name), bodies: vec![Vec::new()] }
    }

    pub fn size(&mut self, hint: &str) -> Operand {
        self.function.sizes += 1;
        self.scalar(INT, hint)
    }

    pub fn scalar(&mut self, elem: ScalarTy, hint: &str) -> Operand {
        let reg = self.function.reg(Ty::scalar(elem), hint);
        self.function.params.push(Param::Scalar(reg));
        reg.into()
    }

    pub fn buffer(&mut self, elem: ScalarTy, hint: &str) -> Buf {
        let buf = self.function.buf(elem, hint);
        self.function.params.push(Param::Buffer(buf));
        buf
    }

    pub fn put(&mut self, stmt: Stmt) {
        self.bodies.last_mut().unwrap().push(stmt);
    }

    pub fn bind(&mut self, elem: ScalarTy, lanes: u16, hint: &str, op: Op) -> Operand {
        let reg = self.function.reg(Ty { elem, lanes }, hint);
        self.put(Stmt::Step(Step::Let(reg, op)));
        reg.into()
    }

    pub fn lanes(&self, operand: Operand) -> u16 {
        match operand {
            Operand::Reg(reg) => self.function.regs[reg.0 as usize].0.lanes,
            Operand::Lit(_) => 1,
        }
    }

    pub fn prim(&mut self, prim: Prim, args: &[Operand]) -> Operand {
        let lanes = args.iter().map(|arg| self.lanes(*arg)).max().unwrap_or(1);
        self.prim_lanes(prim, args, lanes)
    }

    pub fn prim_lanes(&mut self, prim: Prim, args: &[Operand], lanes: u16) -> Operand {
        self.bind(prim.result(), lanes, "t", Op::Prim(prim, args.to_vec()))
    }

    pub fn load(&mut self, buf: Buf, offset: Operand, lanes: u16) -> Operand {
        let elem = self.function.bufs[buf.0 as usize].0;
        self.bind(elem, lanes, "v", Op::Load(buf, offset))
    }

    pub fn store(&mut self, buf: Buf, offset: Operand, value: Operand) {
        self.put(Stmt::Step(Step::Store { buf, offset, value }));
    }

    pub fn alloc(&mut self, elem: ScalarTy, len: Operand, hint: &str) -> Buf {
        let buf = self.function.buf(elem, hint);
        self.put(Stmt::Step(Step::Alloc { buf, dims: vec![len] }));
        buf
    }

    pub fn view(&mut self, base: Buf, offset: Operand) -> Buf {
        let buf = self.function.buf(self.function.bufs[base.0 as usize].0, "view");
        self.put(Stmt::Step(Step::View { buf, base, offset }));
        buf
    }

    pub fn constant(&mut self, tensor: Tensor) -> Buf {
        let buf = self.function.buf(tensor.elem(), "table");
        self.put(Stmt::Step(Step::Constant(buf, tensor.into())));
        buf
    }

    pub fn cell(&mut self, elem: ScalarTy, lanes: u16, hint: &str, value: Operand) -> Cell {
        let cell = self.function.cell(Ty { elem, lanes }, hint);
        self.put(Stmt::Step(Step::Cell(cell, value)));
        cell
    }

    pub fn get(&mut self, cell: Cell) -> Operand {
        let ty = self.function.cells[cell.0 as usize].0;
        self.bind(ty.elem, ty.lanes, "g", Op::Get(cell))
    }

    pub fn set(&mut self, cell: Cell, value: Operand) {
        self.put(Stmt::Step(Step::Set(cell, value)));
    }

    pub fn open(&mut self) {
        self.bodies.push(Vec::new());
    }

    pub fn close(&mut self) -> Vec<Stmt> {
        self.bodies.pop().unwrap()
    }

    pub fn for_loop(
        &mut self,
        start: Operand,
        end: Operand,
        step: i64,
        body: impl FnOnce(&mut Self, Operand),
    ) {
        let index = self.function.reg(Ty::scalar(INT), "i");
        self.open();
        body(self, index.into());
        let body = self.close();
        self.put(Stmt::Nest(Nest::For { index, start, end, step, mode: Mode::Sequential, body }));
    }

    pub fn choice(
        &mut self,
        cond: Operand,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        self.open();
        then(self);
        let then = self.close();
        self.open();
        otherwise(self);
        let otherwise = self.close();
        self.put(Stmt::Nest(Nest::If { cond, then, otherwise }));
    }

    pub fn scope(&mut self, body: impl FnOnce(&mut Self)) {
        self.open();
        body(self);
        let body = self.close();
        self.put(Stmt::Nest(Nest::Scope(Release::All, body)));
    }

    pub fn check(&mut self, cond: Operand, message: &str, values: &[Operand]) {
        let site = self.function.site(Site::new(Span::default(), message));
        self.put(Stmt::Step(Step::Check { cond, site, values: values.to_vec() }));
    }

    pub fn finish(mut self, results: Vec<Return>) -> Function {
        self.function.body = self.bodies.pop().unwrap();
        assert!(self.bodies.is_empty());
        self.function.results = results;
        lambada_loops::check(&self.function).unwrap_or_else(|problem| {
            panic!("{problem}\n{}", lambada_loops::print(&self.function))
        });
        self.function
    }
}

pub fn reg(operand: Operand) -> Reg {
    match operand {
        Operand::Reg(reg) => reg,
        Operand::Lit(_) => panic!("a register was expected"),
    }
}

/// Machine code with the same rounding as the interpreter.
pub fn exact(functions: &[&Function]) -> Vec<Kernel> {
    exact_with(functions, Settings::default())
}

/// As [`exact`], cut into C functions of about `part` statements, with quick compilation.
pub fn exact_in_parts(functions: &[&Function], part: usize) -> Vec<Kernel> {
    exact_with(functions, Settings { part, quick: true, ..Settings::default() })
}

fn exact_with(functions: &[&Function], settings: Settings) -> Vec<Kernel> {
    let settings = Settings { contract: false, ..settings };
    let kernels = Kernel::compile_with(functions, settings);
    let kernels =
        kernels.unwrap_or_else(|error| panic!("{error}\n{}", lambada_codegen::c_module(functions)));
    assert!(
        lambada_testkit::may_lack_c_compiler()
            || kernels.iter().all(|kernel| kernel.engine() == Engine::Native),
        "{}",
        lambada_testkit::NO_C_COMPILER
    );
    kernels
}

/// Runs the function on both engines and returns the common result.
pub fn agree(function: &Function, args: &[Tensor]) -> Result<Vec<Tensor>, Failure> {
    let kernel = exact(&[function]).remove(0);
    compare(function, &kernel, args, 0.0)
}

/// Compares both engines within a relative tolerance.
pub fn compare(
    function: &Function,
    kernel: &Kernel,
    args: &[Tensor],
    tolerance: f64,
) -> Result<Vec<Tensor>, Failure> {
    let expected = lambada_loops::eval(function, args);
    let got = kernel.call(args);
    let same = match (&expected, &got) {
        (Ok(expected), Ok(got)) => {
            expected.len() == got.len()
                && expected.iter().zip(got).all(|(a, b)| same_tensor(a, b, tolerance))
        }
        (Err(expected), Err(got)) => expected == got,
        (Ok(_) | Err(_), _) => false,
    };
    assert!(
        same,
        "interpreter: {expected:?}\nmachine: {got:?}\narguments: {args:?}\n{}\n{}",
        lambada_loops::print(function),
        lambada_codegen::c_source(function)
    );
    got
}

fn same_tensor(a: &Tensor, b: &Tensor, tolerance: f64) -> bool {
    a.dims == b.dims
        && match (&a.data, &b.data) {
            (Data::Real(a), Data::Real(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_real(*a, *b, tolerance))
            }
            (a, b) => a == b,
        }
}

/// Whether two reals have the same bits, are close, or are both NaN.
pub fn same_real(a: f64, b: f64, tolerance: f64) -> bool {
    // The last digit of subnormal numbers may differ; for loose tolerances, of 32-bit subnormal
    // numbers.
    let smallest = if tolerance < 1e-9 { 1e-290 } else { 1e-38 };
    let close = Tolerance::relative(tolerance).and_absolute(tolerance * smallest);
    a.to_bits() == b.to_bits() || (tolerance > 0.0 || a.is_nan()) && close.accepts(a, b)
}

/// Arena scopes free memory: otherwise a million megabytes would be needed.
pub fn scopes() -> Function {
    let mut b = Builder::new("scopes");
    let n = b.size("n");
    let sum = b.cell(REAL, 1, "sum", real(0.0));
    let keep = b.alloc(REAL, n, "keep");
    b.put(Stmt::Step(Step::Fill { buf: keep, value: real(1.0), len: n }));
    b.for_loop(int(0), int(2000), 1, |b, i| {
        b.scope(|b| {
            let big = b.alloc(REAL, n, "big");
            b.put(Stmt::Step(Step::Copy { to: big, from: keep, len: n }));
            let at = b.prim(Prim::RemInt, &[i, n]);
            let value = b.load(big, at, 1);
            let odd = b.prim(Prim::RemInt, &[i, int(2)]);
            let odd = b.prim(Prim::EqInt, &[odd, int(1)]);
            b.choice(
                odd,
                |b| {
                    let more = b.alloc(INT, n, "more");
                    b.store(more, int(0), int(1));
                },
                |_| {},
            );
            let old = b.get(sum);
            let new = b.prim(Prim::Add, &[old, value]);
            b.set(sum, new);
        });
    });
    let result = b.get(sum);
    b.finish(vec![Return::Scalar(result), Return::Buffer(keep, vec![n])])
}

pub fn size(n: i64) -> Tensor {
    Tensor::scalar(Scalar::Int(n))
}
