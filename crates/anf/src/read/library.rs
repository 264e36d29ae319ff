//! The library of a program, and the statements about it. Node types and functions may be mentioned
//! before they are defined, so their names are collected first.

use lambada_source::Span;
use lambada_source::scan::{Reads, Token};

use super::{Read, Reader};
use crate::{
    Atom, Constructor, Exp, Field, FnId, Function, NodeId, NodeType, Op, Rule, Rules, Ty, Var,
};

/// The names of all node types and functions, in order.
pub(super) struct Declared {
    nodes: Vec<String>,
    functions: Vec<String>,
}

impl Declared {
    /// Each is defined at the beginning of a line.
    pub(super) fn in_text(text: &str) -> Declared {
        let after = |keyword: &'static str| {
            let rests = text.lines().filter_map(move |line| line.strip_prefix(keyword));
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let names = rests.map(|rest| rest.chars().take_while(|c| is_word(*c)).collect());
            names.filter(|name: &String| !name.is_empty()).collect()
        };
        Declared { nodes: after("type "), functions: after("def ") }
    }
}

impl Reader {
    /// The library, then the entry.
    pub(super) fn program(&mut self) -> Read<Function> {
        while matches!(self.peek_after(1), Some(Token::Word(_))) {
            if self.eat_word("type") {
                let node = self.node_type()?;
                self.library.nodes.push(node);
            } else {
                self.expect_word("def")?;
                let function = self.function()?;
                self.library.functions.push(Some(function));
                self.scope.clear();
                self.handles.clear();
            }
        }
        let function = self.function()?;
        Ok(Function { library: std::mem::take(&mut self.library), ..function })
    }

    fn node_type(&mut self) -> Read<NodeType> {
        let name = self.word()?;
        self.expect("{")?;
        self.end_of_line()?;
        let mut constructors = Vec::new();
        while !self.eat("}") {
            constructors.push(self.constructor()?);
            self.end_of_line()?;
        }
        self.end_of_line()?;
        Ok(NodeType { name, constructors })
    }

    fn constructor(&mut self) -> Read<Constructor> {
        let name = self.word()?;
        let mut fields: Vec<Field> = Vec::new();
        if self.eat("(") {
            while !self.eat(")") {
                if !fields.is_empty() {
                    self.expect(",")?;
                }
                fields.push(self.field_of(&fields)?);
            }
        }
        Ok(Constructor { name, fields })
    }

    fn field_of(&mut self, before: &[Field]) -> Read<Field> {
        let (cell, shape) = (self.eat_word("cell"), self.eat_word("shape"));
        let name = self.word()?;
        self.expect(":")?;
        let mut dims = Vec::new();
        while self.eat("[") {
            let size = match self.next() {
                Some(Token::Int(size)) => Atom::int(size),
                Some(Token::Word(word)) => match before.iter().position(|f| f.name == word) {
                    Some(k) => Atom::Var(Var(k as u32)),
                    None => return Err(format!("there is no field `{word}` before")),
                },
                Some(_) | None => return Err("a size is a number or a field".into()),
            };
            dims.push(size);
            self.expect("]")?;
        }
        Ok(Field { name, ty: Ty { elem: self.elem()?, dims }, cell, shape })
    }

    /// The name of a node type.
    pub(super) fn node_name(&mut self) -> Read<NodeId> {
        let name = self.word()?;
        let found = self.labels.nodes.iter().position(|node| *node == name);
        found.map(|k| NodeId(k as u32)).ok_or_else(|| format!("`{name}` is no node type"))
    }

    fn function_name(&mut self) -> Read<FnId> {
        let name = self.word()?;
        let found = self.labels.functions.iter().position(|f| *f == name);
        found.map(|k| FnId(k as u32)).ok_or_else(|| format!("`{name}` is no function"))
    }

    /// `captures 1 jvp f_jvp vjp f_vjp`, where a function ends.
    pub(super) fn rules(&mut self) -> Read<Option<Rules>> {
        let (mut captured, span) = (0, Span::default());
        if self.eat_word("captures") {
            match self.next() {
                Some(Token::Int(count)) => captured = count as usize,
                Some(_) | None => return Err("expected how many parameters are captured".into()),
            }
        }
        let mut rule = |word: &str| {
            let given = self.eat_word(word).then(|| self.function_name()).transpose()?;
            Ok::<_, String>(given.map(|function| Rule { function, span }))
        };
        let (jvp, vjp) = (rule("jvp")?, rule("vjp")?);
        let has_rules = jvp.is_some() || vjp.is_some();
        Ok(has_rules.then_some(Rules { captured, jvp, vjp, span }))
    }

    pub(super) fn call(&mut self) -> Read<Exp> {
        let function = self.function_name()?;
        self.expect("(")?;
        let args = self.list(Some(")"), Self::atom)?;
        let accumulators =
            if self.eat_word("into") { self.list(None, Self::var)? } else { Vec::new() };
        Ok(Op::Call { function, args, accumulators }.into())
    }

    fn tag_called(&self, node: NodeId, name: &str) -> Read<u32> {
        let node = self.library.nodes.get(node.0 as usize).ok_or("types come first")?;
        let found = node.constructors.iter().position(|c| c.name == name);
        found.map(|k| k as u32).ok_or_else(|| format!("there is no constructor `{name}`"))
    }

    pub(super) fn node(&mut self) -> Read<Exp> {
        let node = self.node_name()?;
        self.expect(".")?;
        let name = self.word()?;
        let tag = self.tag_called(node, &name)?;
        self.expect("(")?;
        let fields = self.list(Some(")"), Self::atom)?;
        let cells = self.library.nodes[node.0 as usize].has_cells();
        Ok(Op::Node { node, tag, fields, cells }.into())
    }

    /// `xs Cons.head`, or by the numbers: `0 1:0`.
    pub(super) fn part(&mut self, what: &str) -> Read<Exp> {
        let of = self.atom()?;
        let (tag, field) = if let Some(Token::Int(tag)) = self.peek().cloned() {
            self.skip(1);
            self.expect(":")?;
            match self.next() {
                Some(Token::Int(field)) => (tag as u32, field as u32),
                Some(_) | None => return Err("expected the number of the field".into()),
            }
        } else {
            let node = of.as_var().and_then(|v| self.handles.get(&v).copied());
            let node = node.ok_or_else(|| self.expected("a number, since there is no handle"))?;
            let name = self.word()?;
            let tag = self.tag_called(node, &name)?;
            self.expect(".")?;
            let name = self.word()?;
            let fields = &self.library.nodes[node.0 as usize].constructors[tag as usize].fields;
            let found = fields.iter().position(|f| f.name == name);
            (tag, found.ok_or_else(|| format!("there is no field `{name}`"))? as u32)
        };
        Ok(match what {
            "field" => Op::Field { of, tag, field }.into(),
            "open" => Op::Open { of, tag, field }.into(),
            _ => Op::Cell { of, tag, field }.into(),
        })
    }
}
