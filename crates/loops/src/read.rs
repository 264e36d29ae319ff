//! The reader: turns the text of [`crate::print()`] back into a function, so that the results of
//! `lower` and the inputs of codegen can be written as text in tests.
//!
//! One statement stands on a line; the lines indented under it belong to it. The types of registers
//! follow from their assignments. Places in the source are not printed, so the checks that are read
//! have none.
//!
//! * Gives: a function whose print is the text again, if the text was printed. It may be
//!   ill-formed: [`crate::check()`] decides that.

mod library;

use std::collections::HashMap;
use std::rc::Rc;

use lambada_prim::{ArrayPrim, Data, Precision, Prim, ReduceOp, Scalar, ScalarTy, Surface, Tensor};
use lambada_source::scan::{Cursor, Reads, Token};
use lambada_source::{Site, Span};

use crate::{
    Buf, Cell, FnId, Function, Library, Mode, Nest, NodeId, Op, Operand, Param, Reg, Release,
    Return, Step, Stmt, Ty, While,
};

type Read<T> = Result<T, String>;

/// Reads one function with its library. The error names the line and the expected token.
pub fn read(text: &str) -> Read<Function> {
    let mut reader = Reader {
        cursor: Cursor::new(text)?,
        function: Function::new(""),
        precision: Precision::default(),
        scope: HashMap::new(),
        library: Library::default(),
        types: HashMap::new(),
        functions: library::functions(text),
    };
    reader.program().map_err(|message| reader.cursor.located(&message))?;
    reader.function.library = reader.library;
    reader.cursor.rest("the function has ended").map_or(Ok(reader.function), Err)
}

/// The meaning of a name.
#[derive(Clone, Copy)]
enum Name {
    Reg(Reg),
    Cell(Cell),
    Buf(Buf),
}

/// The text in brackets after a buffer.
struct BufferRange {
    offset: Operand,
    /// The number of lanes, if not all.
    count: Option<Operand>,
    lanes: u16,
}

/// A number of lanes.
fn small(lanes: i64) -> Read<u16> {
    let lanes = u16::try_from(lanes).ok().filter(|lanes| *lanes > 0);
    lanes.ok_or_else(|| "the number of lanes is a small positive number".into())
}

struct Reader {
    cursor: Cursor,
    function: Function,
    precision: Precision,
    scope: HashMap<String, Name>,
    library: Library,
    types: HashMap<String, NodeId>,
    functions: HashMap<String, FnId>,
}

impl Reads for Reader {
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn place(&self) -> &Cursor {
        &self.cursor
    }
}

impl Reader {
    // Names

    fn bind_reg(&mut self, name: String, ty: Ty) -> Reg {
        let reg = self.function.reg(ty, name.as_str());
        self.scope.insert(name, Name::Reg(reg));
        reg
    }

    fn bind_buf(&mut self, name: String, elem: ScalarTy) -> Buf {
        let buf = self.function.buf(elem, name.as_str());
        self.scope.insert(name, Name::Buf(buf));
        buf
    }

    fn named(&self, name: &str) -> Read<Name> {
        self.scope.get(name).copied().ok_or_else(|| format!("`{name}` is not in scope"))
    }

    fn cell(&mut self) -> Read<Cell> {
        let name = self.word()?;
        match self.named(&name)? {
            Name::Cell(cell) => Ok(cell),
            Name::Reg(_) | Name::Buf(_) => Err(format!("`{name}` is no cell")),
        }
    }

    fn buf(&mut self) -> Read<Buf> {
        let name = self.word()?;
        match self.named(&name)? {
            Name::Buf(buf) => Ok(buf),
            Name::Reg(_) | Name::Cell(_) => Err(format!("`{name}` is no buffer")),
        }
    }

    // Operands and types

    fn scalar(&mut self) -> Read<Scalar> {
        let value = match self.peek() {
            Some(Token::Int(value)) => Scalar::Int(*value),
            Some(Token::Real(value)) => Scalar::Real(*value),
            Some(Token::Word(word)) if word == "true" || word == "false" => {
                Scalar::Bool(word == "true")
            }
            _ => return Err(self.expected("a number or truth value")),
        };
        self.skip(1);
        Ok(value)
    }

    fn operand(&mut self) -> Read<Operand> {
        match self.peek() {
            Some(Token::Word(word)) if word != "true" && word != "false" => {
                let name = self.word()?;
                match self.named(&name)? {
                    Name::Reg(reg) => Ok(reg.into()),
                    Name::Cell(_) | Name::Buf(_) => Err(format!("`{name}` is no register")),
                }
            }
            _ => self.scalar().map(Operand::Lit),
        }
    }

    fn ty_of(&self, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(reg) => self.function.regs[reg.0 as usize].0,
            Operand::Lit(value) => Ty::scalar(value.ty()),
        }
    }

    fn elem_of(&self, buf: Buf) -> ScalarTy {
        self.function.bufs[buf.0 as usize].0
    }

    fn elem(&mut self) -> Read<ScalarTy> {
        let word = self.word()?;
        let all = [ScalarTy::Real, ScalarTy::Int, ScalarTy::Bool];
        let found = all.into_iter().find(|elem| elem.to_string() == word);
        found.ok_or_else(|| format!("`{word}` is no type of elements"))
    }

    /// `real`, `real x 8`
    fn ty(&mut self) -> Read<Ty> {
        let elem = self.elem()?;
        if !self.eat_word("x") {
            return Ok(Ty::scalar(elem));
        }
        Ok(Ty { elem, lanes: self.lanes()? })
    }

    // Functions and bodies

    fn function(&mut self) -> Read<()> {
        self.function.name = self.word()?;
        while self.eat("[") {
            let name = self.word()?;
            let size = self.bind_reg(name, Ty::scalar(ScalarTy::Int));
            self.function.params.push(Param::Scalar(size));
            self.function.sizes += 1;
            self.expect("]")?;
        }
        self.expect("(")?;
        let params = self.list(Some(")"), Self::param)?;
        self.function.params.extend(params);
        self.end_of_line()?;
        let body = self.body(0)?;
        self.function.body = body;
        self.expect_word("return")?;
        let results = self.list(None, Self::result)?;
        self.function.results = results;
        self.end_of_line()
    }

    fn param(&mut self) -> Read<Param> {
        let name = self.word()?;
        self.expect(":")?;
        let way = match (self.eat_word("own"), self.eat_word("add")) {
            (true, _) => Param::Owned,
            (false, true) => Param::Shared,
            (false, false) => Param::Buffer,
        };
        if self.eat("[") {
            self.expect("]")?;
            let elem = self.elem()?;
            return Ok(way(self.bind_buf(name, elem)));
        }
        let ty = self.ty()?;
        Ok(Param::Scalar(self.bind_reg(name, ty)))
    }

    fn result(&mut self) -> Read<Return> {
        if !self.is_mark(1, "[") {
            return self.operand().map(Return::Scalar);
        }
        let buf = self.buf()?;
        self.expect("[")?;
        Ok(Return::Buffer(buf, self.list(Some("]"), Self::operand)?))
    }

    /// The statements that are indented more than `outer`, up to a `return`.
    fn body(&mut self, outer: usize) -> Read<Vec<Stmt>> {
        let mut body = Vec::new();
        while self.indent().is_some_and(|indent| indent > outer) && !self.returns() {
            body.push(self.statement()?);
        }
        Ok(body)
    }

    fn returns(&self) -> bool {
        matches!(self.peek(), Some(Token::Word(word)) if word == "return")
            && !["=", ":", ":=", "["].iter().any(|mark| self.is_mark(1, mark))
    }

    /// A body whose names are forgotten afterwards.
    fn nested(&mut self, outer: usize) -> Read<Vec<Stmt>> {
        let outside = self.scope.clone();
        let body = self.body(outer)?;
        self.scope = outside;
        Ok(body)
    }

    // Statements

    fn statement(&mut self) -> Read<Stmt> {
        if self.is_mark(1, "=") || self.is_mark(1, ":") {
            return self.assignment();
        }
        if self.is_mark(1, ":=") {
            let cell = self.cell()?;
            self.expect(":=")?;
            let stmt = Stmt::Step(Step::Set(cell, self.operand()?));
            self.end_of_line()?;
            return Ok(stmt);
        }
        if self.is_mark(1, "[") {
            return self.store();
        }
        let indent = self.indent().unwrap_or(0);
        let word = self.word()?;
        match word.as_str() {
            "for" => self.for_(indent),
            "while" => self.while_(indent),
            "if" => self.if_(indent),
            "parallel" => self.parallel(indent),
            "scope" => {
                let release = if self.eat(",") {
                    self.expect_word("nodes")?;
                    self.expect_word("stay")?;
                    Release::Arrays
                } else {
                    Release::All
                };
                self.end_of_line()?;
                self.nested(indent).map(|body| Nest::Scope(release, body).into())
            }
            "cell" => self.new_cell(),
            "swap" => {
                let a = self.buf()?;
                self.expect(",")?;
                let stmt = Stmt::Step(Step::Swap(a, self.buf()?));
                self.end_of_line()?;
                Ok(stmt)
            }
            "copy" => {
                let (to, len) = self.beginning()?;
                let stmt = Stmt::Step(Step::Copy { to, from: self.buf()?, len });
                self.end_of_line()?;
                Ok(stmt)
            }
            "transpose" => {
                let lanes = self.lanes()?;
                let (to, cols, to_row) = self.matrix()?;
                self.expect(":=")?;
                let (from, rows, from_row) = self.matrix()?;
                self.end_of_line()?;
                Ok(Step::Transpose { to, to_row, from, from_row, rows, cols, lanes }.into())
            }
            "fill" => {
                let (buf, len) = self.beginning()?;
                let stmt = Stmt::Step(Step::Fill { buf, value: self.operand()?, len });
                self.end_of_line()?;
                Ok(stmt)
            }
            "kernel" => self.kernel(),
            "check" => self.check(),
            "inspect" => self.inspect(),
            "call" => self.library_call(),
            other => Err(format!("`{other}` starts no statement")),
        }
    }

    /// `buf[0 ..+ len] :=`
    fn beginning(&mut self) -> Read<(Buf, Operand)> {
        let buf = self.buf()?;
        self.expect("[")?;
        if self.next() != Some(Token::Int(0)) {
            return Err("copies and fills start at 0".into());
        }
        self.expect("..+")?;
        let len = self.operand()?;
        self.expect("]")?;
        self.expect(":=")?;
        Ok((buf, len))
    }

    /// `x[rows by row]`
    fn matrix(&mut self) -> Read<(Buf, Operand, Operand)> {
        let buf = self.buf()?;
        self.expect("[")?;
        let rows = self.operand()?;
        self.expect("by")?;
        let row = self.operand()?;
        self.expect("]")?;
        Ok((buf, rows, row))
    }

    /// `kernel name x, y[n, m] := a, b`, behind the first word.
    fn kernel(&mut self) -> Read<Stmt> {
        let name = self.word()?;
        let prim =
            ArrayPrim::from_name(&name).ok_or_else(|| format!("`{name}` is no array primitive"))?;
        let mut to = vec![self.buf()?];
        while self.eat(",") {
            to.push(self.buf()?);
        }
        let sizes = self.sizes()?;
        self.expect(":=")?;
        let mut args = vec![self.buf()?];
        while self.eat(",") {
            args.push(self.buf()?);
        }
        self.end_of_line()?;
        Ok(Stmt::Step(Step::Kernel { prim, to, args, sizes }))
    }

    fn store(&mut self) -> Read<Stmt> {
        let buf = self.buf()?;
        let range = self.buffer_range()?;
        self.expect(":=")?;
        let value = self.operand()?;
        self.end_of_line()?;
        if self.ty_of(value).lanes != range.lanes {
            return Err(format!("{} lanes are stored, but the value has others", range.lanes));
        }
        let offset = range.offset;
        Ok(Stmt::Step(match range.count {
            Some(count) => Step::StoreSome { buf, offset, count, value },
            None => Step::Store { buf, offset, value },
        }))
    }

    /// `[offset]`, `[offset ..+ lanes]` or `[offset ..+ count of lanes]`
    fn buffer_range(&mut self) -> Read<BufferRange> {
        self.expect("[")?;
        let offset = self.operand()?;
        let mut range = BufferRange { offset, count: None, lanes: self.ty_of(offset).lanes };
        if self.eat("..+") {
            let count = self.operand()?;
            if self.eat_word("of") {
                range.count = Some(count);
                range.lanes = self.lanes()?;
            } else {
                range.lanes = match count {
                    Operand::Lit(Scalar::Int(lanes)) => small(lanes)?,
                    Operand::Lit(_) | Operand::Reg(_) => return small(0).map(|_| range),
                };
            }
        }
        self.expect("]")?;
        Ok(range)
    }

    fn lanes(&mut self) -> Read<u16> {
        match self.next() {
            Some(Token::Int(lanes)) => small(lanes),
            _ => small(0),
        }
    }

    fn new_cell(&mut self) -> Read<Stmt> {
        let name = self.word()?;
        let ty = if self.eat(":") { Some(self.ty()?) } else { None };
        self.expect("=")?;
        let value = self.operand()?;
        let ty = ty.unwrap_or(self.ty_of(value));
        let cell = self.function.cell(ty, name.as_str());
        self.scope.insert(name, Name::Cell(cell));
        self.end_of_line()?;
        Ok(Step::Cell(cell, value).into())
    }

    fn check(&mut self) -> Read<Stmt> {
        let cond = self.operand()?;
        self.expect_word("else")?;
        let Some(Token::Text(message)) = self.next() else {
            return Err("expected the message of the check, in quotes".into());
        };
        let mut values = Vec::new();
        while self.eat(",") {
            values.push(self.operand()?);
        }
        self.end_of_line()?;
        let site = self.function.site(Site::new(Span::default(), message));
        Ok(Step::Check { cond, site, values }.into())
    }

    fn inspect(&mut self) -> Read<Stmt> {
        let Some(Token::Int(number)) = self.next() else {
            return Err("expected the number of an inspection".into());
        };
        let number = u32::try_from(number).map_err(|error| error.to_string())?;
        self.expect("(")?;
        let mut values = Vec::new();
        while !self.eat(")") {
            if !values.is_empty() {
                self.expect(",")?;
            }
            values.push(self.inspected()?);
        }
        self.end_of_line()?;
        Ok(Step::Inspect { number, values }.into())
    }

    /// `x`, `xs[n, m]`
    fn inspected(&mut self) -> Read<Return> {
        let is_array = match self.peek() {
            Some(Token::Word(word)) => matches!(self.scope.get(word.as_str()), Some(Name::Buf(_))),
            _ => false,
        };
        if !is_array {
            return self.operand().map(Return::Scalar);
        }
        let (buf, mut dims) = (self.buf()?, Vec::new());
        self.expect("[")?;
        while !self.eat("]") {
            if !dims.is_empty() {
                self.expect(",")?;
            }
            dims.push(self.operand()?);
        }
        Ok(Return::Buffer(buf, dims))
    }

    fn for_(&mut self, indent: usize) -> Read<Stmt> {
        let name = self.word()?;
        self.expect_word("in")?;
        let start = self.operand()?;
        self.expect("..")?;
        let end = self.operand()?;
        let mut step = 1;
        if self.eat_word("by") {
            match self.next() {
                Some(Token::Int(by)) => step = by,
                _ => return Err("the step of a loop is a number".into()),
            }
        }
        let mut mode = Mode::Sequential;
        if self.eat(",") {
            let word = self.word()?;
            mode = match word.as_str() {
                "independent" => Mode::Independent,
                "reduction" => Mode::Reduction,
                other => return Err(format!("`{other}` is no mode of a loop")),
            };
        }
        self.end_of_line()?;
        let outside = self.scope.clone();
        let index = self.bind_reg(name, Ty::scalar(ScalarTy::Int));
        let body = self.body(indent)?;
        self.scope = outside;
        Ok(Nest::For { index, start, end, step, mode, body }.into())
    }

    /// `while`, the statements before the test, `test do`, the body, which sees the names bound
    /// before the test.
    fn while_(&mut self, indent: usize) -> Read<Stmt> {
        self.end_of_line()?;
        let outside = self.scope.clone();
        let before = self.body(indent)?;
        let test = self.operand()?;
        self.expect_word("do")?;
        self.end_of_line()?;
        let body = self.body(indent)?;
        self.scope = outside;
        Ok(Nest::While { cond: While { before, test }, body }.into())
    }

    /// `parallel part < count`, the body, and perhaps `in order` and statements that see the names
    /// of the body.
    fn parallel(&mut self, indent: usize) -> Read<Stmt> {
        let name = self.word()?;
        self.expect("<")?;
        let count = self.operand()?;
        self.end_of_line()?;
        let outside = self.scope.clone();
        let index = self.bind_reg(name, Ty::scalar(ScalarTy::Int));
        let body = self.body(indent)?;
        let mut merge = Vec::new();
        let is_word = |token: Option<&Token>, name: &str| matches!(token, Some(Token::Word(word)) if word == name);
        if self.indent() == Some(indent)
            && is_word(self.peek(), "in")
            && is_word(self.peek_after(1), "order")
        {
            self.skip(2);
            self.end_of_line()?;
            merge = self.body(indent)?;
        }
        self.scope = outside;
        Ok(Nest::Parallel { index, count, body, merge }.into())
    }

    fn if_(&mut self, indent: usize) -> Read<Stmt> {
        let cond = self.operand()?;
        self.end_of_line()?;
        let then = self.nested(indent)?;
        let mut otherwise = Vec::new();
        let is_else = matches!(self.peek(), Some(Token::Word(word)) if word == "else");
        if is_else && self.indent() == Some(indent) && self.peek_after(1).is_none() {
            self.skip(1);
            self.end_of_line()?;
            otherwise = self.nested(indent)?;
        }
        Ok(Nest::If { cond, then, otherwise }.into())
    }

    /// `name = …` or `name : ty = …`
    fn assignment(&mut self) -> Read<Stmt> {
        let name = self.word()?;
        let ty = if self.eat(":") { Some(self.ty()?) } else { None };
        self.expect("=")?;
        let stmt = match (self.peek(), self.peek_after(1)) {
            (Some(Token::Word(word)), Some(Token::Word(_))) if word == "alloc" => {
                self.skip(1);
                let elem = self.elem()?;
                let dims = self.sizes()?;
                Stmt::Step(Step::Alloc { buf: self.bind_buf(name, elem), dims })
            }
            (Some(Token::Word(word)), Some(Token::Word(_))) if word == "node" => {
                self.skip(1);
                self.new_node(name)?
            }
            (Some(Token::Word(word)), Some(Token::Word(_))) if word == "open" => {
                self.skip(1);
                self.open(name)?
            }
            (Some(Token::Word(word)), Some(Token::Word(_))) if word == "constant" => {
                self.skip(1);
                let tensor = self.constant()?;
                let buf = self.bind_buf(name, tensor.elem());
                Stmt::Step(Step::Constant(buf, Rc::new(tensor)))
            }
            (Some(Token::Word(_)), Some(Token::Mark("["))) if self.is_mark(3, "..") => {
                let base = self.buf()?;
                self.expect("[")?;
                let offset = self.operand()?;
                self.expect("..")?;
                self.expect("]")?;
                let elem = self.elem_of(base);
                Stmt::Step(Step::View { buf: self.bind_buf(name, elem), base, offset })
            }
            _ => {
                let lanes = ty.map_or(1, |ty| ty.lanes);
                let (op, elem) = self.op(lanes)?;
                Stmt::Step(Step::Let(self.bind_reg(name, Ty { elem, lanes }), op))
            }
        };
        self.end_of_line()?;
        Ok(stmt)
    }

    /// `[n * m]`
    fn sizes(&mut self) -> Read<Vec<Operand>> {
        self.expect("[")?;
        let mut dims = vec![self.operand()?];
        while self.eat("*") {
            dims.push(self.operand()?);
        }
        self.expect("]")?;
        Ok(dims)
    }

    fn constant(&mut self) -> Read<Tensor> {
        let elem = self.elem()?;
        self.expect("{")?;
        let items = self.list(Some("}"), Self::scalar)?;
        if items.iter().any(|item| item.ty() != elem) {
            return Err(format!("an element that is not of type {elem}"));
        }
        let mut data = Data::zeros(elem, items.len());
        let dims = vec![items.len()];
        items.into_iter().enumerate().for_each(|(k, item)| data.set(k, item));
        Ok(Tensor { dims, data })
    }

    /// An operation for a register with this number of lanes, and the type of each lane.
    fn op(&mut self, lanes: u16) -> Read<(Op, ScalarTy)> {
        if let Some(Token::Word(word)) = self.peek().cloned() {
            match (word.as_str(), self.peek_after(1)) {
                (_, Some(Token::Mark("["))) => {
                    let buf = self.buf()?;
                    let range = self.buffer_range()?;
                    if range.lanes != lanes {
                        return Err(format!("{} lanes are loaded for {lanes}", range.lanes));
                    }
                    let op = match range.count {
                        Some(count) => Op::LoadSome(buf, [range.offset, count]),
                        None => Op::Load(buf, range.offset),
                    };
                    return Ok((op, self.elem_of(buf)));
                }
                (name, Some(Token::Mark("("))) => return self.call(name),
                ("fold", Some(Token::Word(_))) => return self.fold(),
                ("splice", Some(Token::Int(_))) => return self.splice(),
                ("tag", Some(Token::Word(_) | Token::Int(_))) => {
                    self.skip(1);
                    return Ok((Op::Tag(self.operand()?), ScalarTy::Int));
                }
                ("field", Some(Token::Word(_))) => return self.read_field(),
                (name, None) => match self.scope.get(name).copied() {
                    Some(Name::Cell(cell)) => {
                        self.skip(1);
                        return Ok((Op::Get(cell), self.function.cells[cell.0 as usize].0.elem));
                    }
                    None if name == "iota" => {
                        self.skip(1);
                        return Ok((Op::Iota, ScalarTy::Int));
                    }
                    Some(Name::Reg(_) | Name::Buf(_)) | None => {}
                },
                (_, Some(_)) => {}
            }
        }
        self.infix()
    }

    fn fold(&mut self) -> Read<(Op, ScalarTy)> {
        self.skip(1);
        let name = self.word()?;
        let op = ReduceOp::ALL.into_iter().find(|op| op.name() == name);
        let op = op.ok_or_else(|| format!("`{name}` is no reduction"))?;
        let value = self.operand()?;
        Ok((Op::Fold(op, value), self.ty_of(value).elem))
    }

    fn splice(&mut self) -> Read<(Op, ScalarTy)> {
        self.skip(1);
        let Some(Token::Int(from)) = self.next() else { return Err("from which lane?".into()) };
        let both = [self.operand()?, self.operand()?];
        Ok((Op::Splice(both, small(from)?), self.ty_of(both[0]).elem))
    }

    fn call(&mut self, name: &str) -> Read<(Op, ScalarTy)> {
        let prim = Prim::from_name(name).ok_or_else(|| format!("`{name}` is no primitive"))?;
        self.skip(2);
        let args = self.list(Some(")"), Self::operand)?;
        Ok((Op::Prim(prim, args), prim.result()))
    }

    /// `a + b`: among the primitives with this symbol, the one for these types.
    fn infix(&mut self) -> Read<(Op, ScalarTy)> {
        let a = self.operand()?;
        let Some(Token::Mark(symbol)) = self.next() else {
            return Err("expected an operator".into());
        };
        let b = self.operand()?;
        let types = [self.ty_of(a).elem, self.ty_of(b).elem];
        let found = Prim::ALL.iter().copied().find(|prim| {
            matches!(prim.row().surface, Surface::Infix(s) if s == symbol) && prim.args() == types
        });
        let prim = found.ok_or_else(|| format!("no operator `{symbol}` for {types:?}"))?;
        Ok((Op::Prim(prim, vec![a, b]), prim.result()))
    }
}
