//! The checker. It shares no code with `lower`, which makes these functions, nor with `codegen`,
//! which trusts them.
//!
//! Judgement: Γ ⊢ s ⊣ Γ′, where Γ lists the registers, cells and buffers in scope, and a body
//! leaves Γ as it found it.
//! - Everything is bound once, by a statement, a loop or a parameter, and mentioned only in its
//!   scope.
//! - Operands have the type and the lanes that their place asks for; constants and single lanes are
//!   broadcast only in primitives, cells and their assignments.
//! - Offsets, lengths and loop bounds are `int`, conditions `bool`, of one lane; but a load or
//!   store may have an offset for each lane.
//! - Parameters and constants, and views of them, are only read.
//! - `Swap` exchanges two `Alloc`s of one type whose memory lives equally long.
//! - In a `Parallel` nothing can fail but for lack of memory, and cells from outside are not set.
//! - Calls and nodes agree with the library.

mod library;

use lambada_prim::{Prim, ScalarTy};

use crate::{
    Binding, Buf, Cell, Function, Library, Nest, Op, Operand, Param, Reg, Return, Step, Stmt, Ty,
    print,
};

/// The most lanes of a register: more than any processor has, for the interpreter.
const MOST_LANES: u16 = 64;

/// Checks the function and its library; the error names the statement.
pub fn check(function: &Function) -> Result<(), String> {
    let library = &function.library;
    library::check(library)?;
    for each in function.all() {
        let mut checker = Checker::new(each, library);
        checker.function().map_err(|problem| format!("{}: {problem}", each.name))?;
    }
    function.params.iter().try_for_each(library::of_entry)
}

type Checked<T = ()> = Result<T, String>;

/// The scope of a name.
#[derive(Clone, Copy, PartialEq)]
enum Bound {
    /// Not yet bound.
    Never,
    /// In scope.
    Here,
    /// Out of scope again.
    Gone,
}

/// The origin of a buffer's memory.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    /// A parameter or a constant, or a view of one: only read.
    Outside,
    /// `Alloc` in the arena scope with this number.
    Alloc(usize),
    /// A view of a buffer made by `Alloc`.
    View,
}

struct Checker<'a> {
    function: &'a Function,
    library: &'a Library,
    regs: Vec<Bound>,
    cells: Vec<Bound>,
    bufs: Vec<Bound>,
    origins: Vec<Origin>,
    /// Numbers of the open arena scopes.
    arenas: Vec<usize>,
    /// The number of arena scopes so far.
    arena_count: usize,
    /// In a `Parallel`: the cells as they were outside.
    outside: Option<Vec<Bound>>,
}

impl<'a> Checker<'a> {
    fn new(function: &'a Function, library: &'a Library) -> Checker<'a> {
        Checker {
            function,
            library,
            regs: vec![Bound::Never; function.regs.len()],
            cells: vec![Bound::Never; function.cells.len()],
            bufs: vec![Bound::Never; function.bufs.len()],
            origins: vec![Origin::Outside; function.bufs.len()],
            arenas: vec![0],
            arena_count: 1,
            outside: None,
        }
    }

    fn function(&mut self) -> Checked {
        let function = self.function;
        ensure(is_identifier(&function.name), || {
            format!("{:?} is not an identifier of C", function.name)
        })?;
        for (ty, hint) in function.regs.iter().chain(&function.cells) {
            ensure(ty.lanes.is_power_of_two() && ty.lanes <= MOST_LANES, || {
                format!("`{hint}` has {} lanes", ty.lanes)
            })?;
        }
        self.params()?;
        self.stmts(&function.body)?;
        function
            .results
            .iter()
            .try_for_each(|result| self.result(result))
            .map_err(|problem| format!("in the results: {problem}"))
    }

    fn params(&mut self) -> Checked {
        let function = self.function;
        ensure(function.sizes <= function.params.len(), || {
            "more sizes than parameters".to_string()
        })?;
        for (k, param) in function.params.iter().enumerate() {
            match param {
                Param::Scalar(reg) => {
                    let ty = self.bind_reg(*reg)?;
                    ensure(ty.lanes == 1, || format!("parameter {k} has {} lanes", ty.lanes))?;
                    ensure(k >= function.sizes || ty.elem == ScalarTy::Int, || {
                        format!("size {k} is not an int")
                    })?;
                }
                Param::Buffer(buf) => {
                    ensure(k >= function.sizes, || format!("size {k} is a buffer"))?;
                    self.bind_buf(*buf, Origin::Outside)?;
                }
                Param::Owned(buf) | Param::Shared(buf) => {
                    ensure(k >= function.sizes, || format!("size {k} is a buffer"))?;
                    self.bind_buf(*buf, Origin::View)?;
                }
            }
        }
        Ok(())
    }

    fn result(&self, result: &Return) -> Checked {
        match result {
            Return::Scalar(value) => self.single(*value).map(drop),
            Return::Buffer(buf, dims) => {
                self.buf(*buf)?;
                dims.iter().try_for_each(|dim| self.int(*dim))
            }
        }
    }

    /// Checks statements whose names stay in scope.
    fn stmts(&mut self, body: &[Stmt]) -> Checked {
        for stmt in body {
            self.stmt(stmt)?;
        }
        Ok(())
    }

    /// Checks a body: its names go out of scope at its end.
    fn body(&mut self, body: &[Stmt]) -> Checked {
        self.stmts(body)?;
        self.close(body);
        Ok(())
    }

    fn close(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt.binds() {
                Some(Binding::Reg(reg)) => self.regs[reg.0 as usize] = Bound::Gone,
                Some(Binding::Cell(cell)) => self.cells[cell.0 as usize] = Bound::Gone,
                Some(Binding::Buf(buf)) => self.bufs[buf.0 as usize] = Bound::Gone,
                None => {}
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Checked {
        match stmt {
            Stmt::Nest(Nest::For { index, start, end, step, body, .. }) => {
                self.at(stmt, |checker| {
                    checker.int(*start)?;
                    checker.int(*end)?;
                    ensure(*step > 0, || format!("the step {step} is not positive"))?;
                    let ty = checker.bind_reg(*index)?;
                    ensure(ty == Ty::scalar(ScalarTy::Int), || {
                        "the index is not one int".to_string()
                    })
                })?;
                self.body(body)?;
                self.regs[index.0 as usize] = Bound::Gone;
                Ok(())
            }
            Stmt::Nest(Nest::While { cond, body }) => {
                self.stmts(&cond.before)?;
                self.at(stmt, |checker| checker.bool(cond.test))?;
                self.body(body)?;
                self.close(&cond.before);
                Ok(())
            }
            Stmt::Nest(Nest::If { cond, then, otherwise }) => {
                self.at(stmt, |checker| checker.bool(*cond))?;
                self.body(then)?;
                self.body(otherwise)
            }
            Stmt::Nest(Nest::Parallel { index, count, body, merge }) => {
                self.at(stmt, |checker| {
                    checker.int(*count)?;
                    ensure(checker.outside.is_none(), || "one inside of another".to_string())?;
                    let ty = checker.bind_reg(*index)?;
                    ensure(ty == Ty::scalar(ScalarTy::Int), || {
                        "the index is not one int".to_string()
                    })
                })?;
                self.outside = Some(self.cells.clone());
                self.arenas.push(self.arena_count);
                self.arena_count += 1;
                self.stmts(body)?;
                self.body(merge)?;
                self.close(body);
                self.arenas.pop();
                self.outside = None;
                self.regs[index.0 as usize] = Bound::Gone;
                Ok(())
            }
            Stmt::Nest(Nest::Scope(_, body)) => {
                self.arenas.push(self.arena_count);
                self.arena_count += 1;
                self.body(body)?;
                self.arenas.pop();
                Ok(())
            }
            Stmt::Step(step) => self.at(stmt, |checker| {
                checker.alone(step)?;
                checker.step(step)
            }),
        }
    }

    fn at(&mut self, stmt: &Stmt, f: impl FnOnce(&mut Self) -> Checked) -> Checked {
        f(self).map_err(|problem| {
            format!("in `{}`: {problem}", print::head(self.function, self.library, stmt))
        })
    }

    /// Whether the statement, if it is in a `Parallel`, may run while others do.
    fn alone(&self, step: &Step) -> Checked {
        let Some(outside) = &self.outside else { return Ok(()) };
        if let Step::Set(cell, _) = step {
            return ensure(outside.get(cell.0 as usize) != Some(&Bound::Here), || {
                "a cell from outside is set by several iterations at once".to_string()
            });
        }
        let allowed = matches!(
            step,
            Step::Let(..)
                | Step::Cell(..)
                | Step::Store { .. }
                | Step::StoreSome { .. }
                | Step::Alloc { .. }
                | Step::View { .. }
                | Step::Constant(..)
                | Step::Copy { .. }
                | Step::Transpose { .. }
                | Step::Fill { .. }
                | Step::Kernel { .. }
        );
        ensure(allowed, || "it may not stand in a `parallel`".to_string())
    }

    /// Checks a statement without bodies.
    fn step(&mut self, step: &Step) -> Checked {
        match step {
            Step::Let(reg, op) => {
                self.op(*reg, op)?;
                self.bind_reg(*reg).map(drop)
            }
            Step::Cell(cell, value) => {
                let k = cell.0 as usize;
                ensure(k < self.cells.len(), || "there is no such cell".to_string())?;
                ensure(self.cells[k] == Bound::Never, || "the cell is bound twice".to_string())?;
                self.broadcasts(*value, self.function.cells[k].0)?;
                self.cells[k] = Bound::Here;
                Ok(())
            }
            Step::Set(cell, value) => {
                let ty = self.cell(*cell)?;
                self.broadcasts(*value, ty)
            }
            Step::Store { buf, offset, value } => {
                let ty = self.operand(*value)?;
                self.offsets(*offset, ty.lanes)?;
                self.fits(ty, *buf)
            }
            Step::StoreSome { buf, offset, count, value } => {
                self.int(*offset)?;
                self.int(*count)?;
                let ty = self.operand(*value)?;
                several(ty)?;
                self.fits(ty, *buf)
            }
            Step::Alloc { buf, dims } => {
                dims.iter().try_for_each(|dim| self.int(*dim))?;
                let arena = *self.arenas.last().expect("there is an arena");
                self.bind_buf(*buf, Origin::Alloc(arena)).map(drop)
            }
            Step::View { buf, base, offset } => {
                self.int(*offset)?;
                let elem = self.buf(*base)?;
                let origin = if self.origins[base.0 as usize] == Origin::Outside {
                    Origin::Outside
                } else {
                    Origin::View
                };
                same(self.bind_buf(*buf, origin)?, elem)
            }
            Step::Swap(a, b) => self.swap(*a, *b),
            Step::Constant(buf, tensor) => {
                let len: usize = tensor.dims.iter().product();
                ensure(len == tensor.data.len(), || {
                    "the constant has not as many elements as it says".to_string()
                })?;
                same(self.bind_buf(*buf, Origin::Outside)?, tensor.elem())
            }
            Step::Copy { to, from, len } => {
                self.int(*len)?;
                same(self.writable(*to)?, self.buf(*from)?)
            }
            Step::Transpose { to, to_row, from, from_row, rows, cols, lanes } => {
                [to_row, from_row, rows, cols].into_iter().try_for_each(|of| self.int(*of))?;
                let elem = self.writable(*to)?;
                ensure(elem != ScalarTy::Bool, || "truth values are not transposed".to_string())?;
                several(Ty { elem, lanes: *lanes })?;
                same(elem, self.buf(*from)?)
            }
            Step::Fill { buf, value, len } => {
                self.int(*len)?;
                let elem = self.writable(*buf)?;
                same(elem, self.single(*value)?)
            }
            Step::Kernel { prim, to, args, sizes } => {
                let row = prim.row();
                ensure(sizes.len() == row.axes.len(), || {
                    format!("{} sizes for the axes {}", sizes.len(), row.axes)
                })?;
                ensure(args.len() == row.versions[0].args.len(), || {
                    format!("`{}` of {} arrays", row.name, args.len())
                })?;
                sizes.iter().try_for_each(|size| self.int(*size))?;
                args.iter().try_for_each(|buf| same(self.buf(*buf)?, ScalarTy::Real))?;
                ensure(to.len() == row.results.len(), || {
                    format!("`{}` of {} results", row.name, to.len())
                })?;
                to.iter().zip(row.results).try_for_each(|(buf, ty)| same(self.writable(*buf)?, *ty))
            }
            Step::Check { cond, site, values } => {
                self.bool(*cond)?;
                self.site(*site)?;
                values.iter().try_for_each(|value| self.int(*value))
            }
            Step::Inspect { number: _, values } => {
                values.iter().try_for_each(|value| match value {
                    Return::Scalar(value) => self.single(*value).map(|_| ()),
                    Return::Buffer(buf, dims) => {
                        self.buf(*buf)?;
                        dims.iter().try_for_each(|dim| self.int(*dim))
                    }
                })
            }
            Step::Node { reg, node, tag, fields, site } => {
                self.site(*site)?;
                self.node(*node, *tag, fields)?;
                let ty = self.bind_reg(*reg)?;
                ensure(ty == Ty::scalar(ScalarTy::Int), || "a handle is one int".to_string())
            }
            Step::Open { buf, field, of, dims } => self.open(*buf, *field, *of, dims),
            Step::Call { function, args, results, site } => {
                self.site(*site)?;
                self.call(*function, args, results)
            }
        }
    }

    /// One offset, or one for each lane.
    fn offsets(&self, offset: Operand, lanes: u16) -> Checked {
        match lanes {
            1 => self.int(offset),
            _ => self.broadcasts(offset, Ty { elem: ScalarTy::Int, lanes }),
        }
    }

    /// Whether values of the type may be stored there.
    fn fits(&self, ty: Ty, buf: Buf) -> Checked {
        let elem = self.writable(buf)?;
        ensure(ty.elem == elem, || format!("a {} in a buffer of {elem}", ty.elem))
    }

    fn site(&self, site: u32) -> Checked {
        let count = self.function.sites.len();
        ensure((site as usize) < count, || format!("there is no site {site}"))
    }

    fn swap(&self, a: Buf, b: Buf) -> Checked {
        same(self.buf(a)?, self.buf(b)?)?;
        match (self.origins[a.0 as usize], self.origins[b.0 as usize]) {
            (Origin::Alloc(x), Origin::Alloc(y)) => {
                ensure(x == y, || "the buffers are of different scopes".to_string())
            }
            (Origin::Alloc(_) | Origin::Outside | Origin::View, _) => {
                Err("only buffers made by `alloc` may be swapped".to_string())
            }
        }
    }

    fn op(&self, reg: Reg, op: &Op) -> Checked {
        let (ty, _) = self.function.regs.get(reg.0 as usize).ok_or("there is no such register")?;
        match op {
            Op::Prim(prim, args) => self.prim(*ty, *prim, args),
            Op::Load(buf, offset) => {
                self.offsets(*offset, ty.lanes)?;
                same(self.buf(*buf)?, ty.elem)
            }
            Op::LoadSome(buf, place) => {
                place.iter().try_for_each(|part| self.int(*part))?;
                several(*ty)?;
                same(self.buf(*buf)?, ty.elem)
            }
            Op::Get(cell) => {
                let cell = self.cell(*cell)?;
                ensure(cell == *ty, || format!("the cell holds {cell:?}, not {ty:?}"))
            }
            Op::Fold(op, value) => {
                let value = self.operand(*value)?;
                ensure(ty.lanes == 1, || "a fold has one lane".to_string())?;
                same(value.elem, ty.elem)?;
                ensure(op.accepts(ty.elem), || format!("{op:?} does not combine {}", ty.elem))
            }
            Op::Splice(both, from) => {
                for value in both {
                    let found = self.operand(*value)?;
                    ensure(found == *ty, || format!("a splice of {found:?}, not {ty:?}"))?;
                }
                ensure((1..ty.lanes).contains(from), || format!("a splice from lane {from}"))
            }
            Op::Iota => same(ScalarTy::Int, ty.elem),
            Op::Tag(node) => {
                self.int(*node)?;
                ensure(*ty == Ty::scalar(ScalarTy::Int), || "a tag is one int".to_string())
            }
            Op::Field(field, node) => {
                self.int(*node)?;
                let field = self.field(*field)?;
                ensure(!field.array && !field.cell, || "that field is opened".to_string())?;
                ensure(ty.lanes == 1, || "a field has one lane".to_string())?;
                same(field.elem, ty.elem)
            }
        }
    }

    fn prim(&self, ty: Ty, prim: Prim, args: &[Operand]) -> Checked {
        let expected = prim.args();
        ensure(args.len() == expected.len(), || {
            format!("{} arguments instead of {}", args.len(), expected.len())
        })?;
        same(prim.result(), ty.elem)?;
        args.iter()
            .zip(expected)
            .try_for_each(|(arg, elem)| self.broadcasts(*arg, Ty { elem: *elem, lanes: ty.lanes }))
    }

    /// The operand has the type, or one lane of it.
    fn broadcasts(&self, operand: Operand, ty: Ty) -> Checked {
        let got = self.operand(operand)?;
        same(ty.elem, got.elem)?;
        ensure(got.lanes == 1 || got.lanes == ty.lanes, || {
            format!("{} lanes where {} are expected", got.lanes, ty.lanes)
        })
    }

    fn int(&self, operand: Operand) -> Checked {
        same(ScalarTy::Int, self.single(operand)?)
    }

    fn bool(&self, operand: Operand) -> Checked {
        same(ScalarTy::Bool, self.single(operand)?)
    }

    fn single(&self, operand: Operand) -> Checked<ScalarTy> {
        let ty = self.operand(operand)?;
        ensure(ty.lanes == 1, || format!("{} lanes where one is expected", ty.lanes))?;
        Ok(ty.elem)
    }

    fn operand(&self, operand: Operand) -> Checked<Ty> {
        match operand {
            Operand::Lit(value) => Ok(Ty::scalar(value.ty())),
            Operand::Reg(reg) => {
                in_scope(self.regs.get(reg.0 as usize), "register", &self.function.regs, reg.0)?;
                Ok(self.function.regs[reg.0 as usize].0)
            }
        }
    }

    fn cell(&self, cell: Cell) -> Checked<Ty> {
        in_scope(self.cells.get(cell.0 as usize), "cell", &self.function.cells, cell.0)?;
        Ok(self.function.cells[cell.0 as usize].0)
    }

    fn buf(&self, buf: Buf) -> Checked<ScalarTy> {
        in_scope(self.bufs.get(buf.0 as usize), "buffer", &self.function.bufs, buf.0)?;
        Ok(self.function.bufs[buf.0 as usize].0)
    }

    fn writable(&self, buf: Buf) -> Checked<ScalarTy> {
        let elem = self.buf(buf)?;
        ensure(self.origins[buf.0 as usize] != Origin::Outside, || {
            "parameters and constants are only read".to_string()
        })?;
        Ok(elem)
    }

    fn bind_reg(&mut self, reg: Reg) -> Checked<Ty> {
        let k = reg.0 as usize;
        ensure(k < self.regs.len(), || format!("there is no register {k}"))?;
        ensure(self.regs[k] == Bound::Never, || format!("register {k} is assigned twice"))?;
        self.regs[k] = Bound::Here;
        Ok(self.function.regs[k].0)
    }

    fn bind_buf(&mut self, buf: Buf, origin: Origin) -> Checked<ScalarTy> {
        let k = buf.0 as usize;
        ensure(k < self.bufs.len(), || format!("there is no buffer {k}"))?;
        ensure(self.bufs[k] == Bound::Never, || format!("buffer {k} is bound twice"))?;
        self.bufs[k] = Bound::Here;
        self.origins[k] = origin;
        Ok(self.function.bufs[k].0)
    }
}

fn in_scope<T>(
    bound: Option<&Bound>,
    kind: &str,
    names: &[(T, std::rc::Rc<str>)],
    k: u32,
) -> Checked {
    let why = match bound {
        Some(Bound::Here) => return Ok(()),
        Some(Bound::Never) => "is mentioned before it is bound",
        Some(Bound::Gone) => "is mentioned outside its scope",
        None => return Err(format!("there is no {kind} {k}")),
    };
    Err(format!("{kind} `{}.{k}` {why}", names[k as usize].1))
}

fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn several(ty: Ty) -> Checked {
    ensure(ty.lanes > 1, || "of one lane it is all or nothing".to_string())
}

fn same(expected: ScalarTy, got: ScalarTy) -> Checked {
    ensure(expected == got, || format!("{got} where {expected} is expected"))
}

fn ensure(condition: bool, problem: impl FnOnce() -> String) -> Checked {
    if condition { Ok(()) } else { Err(problem()) }
}
