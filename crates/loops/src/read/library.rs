//! Libraries, and the statements about them.

use std::collections::HashMap;

use lambada_prim::{Precision, ScalarTy, TOO_DEEP};
use lambada_source::scan::{Reads, Token};
use lambada_source::{Site, Span};

use super::{Name, Read, Reader};
use crate::{
    Arg, Field, FieldId, FieldValue, FnId, Function, NodeId, NodeType, Op, ResultTarget, Step,
    Stmt, Ty,
};

/// The functions of a library by name: calls of them may come before their texts.
pub(super) fn functions(text: &str) -> HashMap<String, FnId> {
    let heads = text.lines().filter_map(|line| line.strip_prefix("function "));
    let name = |head: &str| head.split(['(', '[']).next().unwrap_or(head).trim().to_string();
    heads.map(name).zip((0..).map(FnId)).collect()
}

impl Reader {
    /// Reads node types, functions, and the function itself.
    pub(super) fn program(&mut self) -> Read<()> {
        if self.starts_with_word("reals") {
            self.skip(1);
            let name = self.word()?;
            self.precision = Precision::from_name(&name)
                .ok_or_else(|| format!("reals are `f64` or `f32`, not `{name}`"))?;
            self.end_of_line()?;
            self.function.precision = self.precision;
        }
        while self.starts_with_word("type") {
            self.node_type()?;
        }
        while self.starts_with_word("function") {
            self.skip(1);
            self.function()?;
            let function = std::mem::replace(
                &mut self.function,
                Function { precision: self.precision, ..Function::new("") },
            );
            self.library.functions.push(function);
            self.scope.clear();
        }
        self.function()
    }

    /// Whether the line starts with this word and a name.
    fn starts_with_word(&self, word: &str) -> bool {
        matches!((self.peek(), self.peek_after(1)), (Some(Token::Word(w)), Some(Token::Word(_))) if w == word)
    }

    fn node_type(&mut self) -> Read<()> {
        self.skip(1);
        let name = self.word()?;
        self.end_of_line()?;
        let mut constructors = Vec::new();
        while self.indent().is_some_and(|indent| indent > 0) {
            self.number(constructors.len())?;
            self.expect("(")?;
            constructors.push(self.list(Some(")"), Self::field)?);
            self.end_of_line()?;
        }
        self.types.insert(name.clone(), NodeId(self.library.nodes.len() as u32));
        self.library.nodes.push(NodeType { name: name.into(), constructors });
        Ok(())
    }

    fn number(&mut self, expected: usize) -> Read<()> {
        match self.next() {
            Some(Token::Int(k)) if k == expected as i64 => Ok(()),
            _ => Err(format!("expected constructor {expected}")),
        }
    }

    fn field(&mut self) -> Read<Field> {
        let cell = self.eat_word("cell");
        let array = self.eat("[");
        if array {
            self.expect("]")?;
        }
        Ok(Field { elem: self.elem()?, array, cell })
    }

    // Calls, nodes and fields

    fn index(&mut self) -> Read<u32> {
        match self.next() {
            Some(Token::Int(k)) => u32::try_from(k).map_err(|_| format!("{k} is no number here")),
            _ => Err("expected a number".into()),
        }
    }

    /// `list:1`
    fn constructor(&mut self) -> Read<(NodeId, u32)> {
        let name = self.word()?;
        let node = self.types.get(&name).copied();
        let node = node.ok_or_else(|| format!("`{name}` is no type of nodes"))?;
        self.expect(":")?;
        Ok((node, self.index()?))
    }

    /// `list:1:0`, and its field.
    fn field_id(&mut self) -> Read<(FieldId, Field)> {
        let (node, tag) = self.constructor()?;
        self.expect(":")?;
        let id = FieldId { node, tag, field: self.index()? };
        let fields = self.library.node(node).constructors.get(tag as usize);
        let field = fields.and_then(|fields| fields.get(id.field as usize)).copied();
        Ok((id, field.ok_or("there is no such field")?))
    }

    pub(super) fn read_field(&mut self) -> Read<(Op, ScalarTy)> {
        self.skip(1);
        let (id, field) = self.field_id()?;
        Ok((Op::Field(id, self.operand()?), field.elem))
    }

    pub(super) fn open(&mut self, name: String) -> Read<Stmt> {
        let (field, found) = self.field_id()?;
        let of = self.operand()?;
        let dims = self.sizes()?;
        Ok(Step::Open { buf: self.bind_buf(name, found.elem), field, of, dims }.into())
    }

    pub(super) fn new_node(&mut self, name: String) -> Read<Stmt> {
        let (node, tag) = self.constructor()?;
        self.expect("(")?;
        let fields = self.list(Some(")"), Self::part)?;
        let reg = self.bind_reg(name, Ty::scalar(ScalarTy::Int));
        let site = self.function.site(Site::new(Span::default(), ""));
        Ok(Step::Node { reg, node, tag, fields, site }.into())
    }

    fn part(&mut self) -> Read<FieldValue> {
        if !self.is_mark(1, "[") {
            return self.operand().map(FieldValue::Scalar);
        }
        let buf = self.buf()?;
        self.expect("[")?;
        let len = self.operand()?;
        self.expect("]")?;
        Ok(FieldValue::Array(buf, len))
    }

    /// `call f(x, xs) => c, ys`, after the first word.
    pub(super) fn library_call(&mut self) -> Read<Stmt> {
        let name = self.word()?;
        let function = self.functions.get(&name).copied();
        let function = function.ok_or_else(|| format!("`{name}` is no function"))?;
        self.expect("(")?;
        let args = self.list(Some(")"), Self::arg)?;
        let results = if self.eat("=>") { self.list(None, Self::given)? } else { Vec::new() };
        self.end_of_line()?;
        let site = self.function.site(Site::new(Span::default(), TOO_DEEP));
        Ok(Step::Call { function, args, results, site }.into())
    }

    fn arg(&mut self) -> Read<Arg> {
        if let Some(Token::Word(word)) = self.peek()
            && let Some(Name::Buf(buf)) = self.scope.get(word).copied()
        {
            self.skip(1);
            return Ok(Arg::Buffer(buf));
        }
        self.operand().map(Arg::Scalar)
    }

    fn given(&mut self) -> Read<ResultTarget> {
        let name = self.word()?;
        match self.named(&name)? {
            Name::Cell(cell) => Ok(ResultTarget::Cell(cell)),
            Name::Buf(buf) => Ok(ResultTarget::Buffer(buf)),
            Name::Reg(_) => Err(format!("`{name}` takes no result")),
        }
    }
}
