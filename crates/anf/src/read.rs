//! The reader: turns the text of [`crate::print()`] back into a program, so that a pass can be
//! tested by a text before and a text after.
//!
//! One statement stands on a line; blocks end with the line of their results, `=> x, y`. Places in
//! the source are not printed, so the checks that are read have none.
//!
//! * Gives: a function whose print is the text again, if the text was printed. It may be
//!   ill-formed: [`crate::check()`] decides that.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_prim::{ArrayPrim, Data, Prim, ReduceOp, Scalar, ScalarTy, Tensor};
use lambada_source::scan::{Cursor, Reads, Token};
use lambada_source::{Site, Span};

use crate::{
    Atom, Block, Checkpoint, Elem, Exp, Function, Library, LoopKind, Names, Nest, NodeId, Op, Out,
    Param, Stm, Ty, Var,
};

mod library;

type Read<T> = Result<T, String>;

/// Reads a program. The error names the line and what was expected there.
pub fn read(text: &str) -> Read<Function> {
    let mut reader = Reader {
        cursor: Cursor::new(text)?,
        names: Names::default(),
        scope: HashMap::new(),
        handles: HashMap::new(),
        library: Library::default(),
        labels: library::Declared::in_text(text),
    };
    let function = reader.program().map_err(|message| reader.cursor.located(&message))?;
    reader.cursor.rest("the function has ended").map_or(Ok(function), Err)
}

struct Reader {
    cursor: Cursor,
    names: Names,
    scope: HashMap<String, Var>,
    /// The types of handles.
    handles: HashMap<Var, NodeId>,
    library: Library,
    labels: library::Declared,
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

    fn bind(&mut self, name: String) -> Var {
        let var = self.names.fresh(name.as_str());
        self.scope.insert(name, var);
        var
    }

    fn var(&mut self) -> Read<Var> {
        let name = self.word()?;
        self.scope.get(&name).copied().ok_or_else(|| format!("`{name}` is not in scope"))
    }

    /// Reads with names that are forgotten afterwards.
    fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let outside = self.scope.clone();
        let result = inside(self)?;
        self.scope = outside;
        Ok(result)
    }

    // Atoms and types

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

    fn atom(&mut self) -> Read<Atom> {
        match self.peek() {
            Some(Token::Word(word)) if word != "true" && word != "false" => {
                self.var().map(Atom::Var)
            }
            _ => self.scalar().map(Atom::Lit),
        }
    }

    fn elem(&mut self) -> Read<Elem> {
        if self.eat_word("ref") {
            return Ok(Elem::Ref(self.node_name()?));
        }
        self.scalar_elem().map(Elem::Scalar)
    }

    fn scalar_elem(&mut self) -> Read<ScalarTy> {
        let word = self.word()?;
        let all = [ScalarTy::Real, ScalarTy::Int, ScalarTy::Bool];
        let found = all.into_iter().find(|elem| elem.to_string() == word);
        found.ok_or_else(|| format!("`{word}` is no type of elements"))
    }

    fn ty(&mut self) -> Read<Ty> {
        let mut dims = Vec::new();
        while self.eat("[") {
            dims.push(self.atom()?);
            self.expect("]")?;
        }
        Ok(Ty { elem: self.elem()?, dims })
    }

    /// `name : type`; the name is in scope from then on.
    fn param(&mut self) -> Read<Param> {
        let name = self.word()?;
        self.expect(":")?;
        let ty = self.ty()?;
        let var = self.bind(name);
        self.handles.extend(ty.elem.node().map(|node| (var, node)));
        Ok(Param { var, ty })
    }

    // Functions, blocks and statements

    fn function(&mut self) -> Read<Function> {
        let named = matches!(self.peek(), Some(Token::Word(_)));
        let name = if named { self.word()? } else { String::new() };
        let (mut sizes, mut params, mut accumulators) = (Vec::new(), Vec::new(), Vec::new());
        while self.eat("[") {
            let size = self.word()?;
            sizes.push(self.bind(size));
            self.expect("]")?;
        }
        while self.eat("(") {
            params.push(self.param()?);
            self.expect(")")?;
        }
        if self.eat_word("into") {
            self.expect("(")?;
            accumulators = self.list(Some(")"), Self::param)?;
        }
        self.expect("{")?;
        self.end_of_line()?;
        let stms = self.statements()?;
        let results = self.list(None, |r| {
            let atom = r.atom()?;
            r.expect(":")?;
            Ok((atom, r.ty()?))
        })?;
        self.end_of_line()?;
        self.expect("}")?;
        let rules = self.rules()?;
        self.end_of_line()?;
        let (atoms, results) = results.into_iter().unzip();
        let body = Block { stms, results: atoms };
        Ok(Function {
            name,
            sizes,
            params,
            accumulators,
            results,
            body,
            names: std::mem::take(&mut self.names),
            rules,
            ..Function::default()
        })
    }

    /// Reads up to the `=>` of the results.
    fn statements(&mut self) -> Read<Vec<Stm>> {
        let mut stms = Vec::new();
        while !self.eat("=>") {
            if self.peek().is_none() {
                return Err("a block ends with `=>` and its results".into());
            }
            stms.push(self.statement()?);
        }
        Ok(stms)
    }

    /// A block after `{`, up to the line that starts with `}`, whose rest the caller reads.
    fn block(&mut self) -> Read<Block> {
        self.expect("{")?;
        self.end_of_line()?;
        self.scoped(|r| {
            let stms = r.statements()?;
            let results = r.list(None, Self::atom)?;
            r.end_of_line()?;
            r.expect("}")?;
            Ok(Block { stms, results })
        })
    }

    fn statement(&mut self) -> Read<Stm> {
        let outside = self.scope.clone();
        let mut binds = Vec::new();
        if matches!(self.peek_after(1), Some(Token::Mark(":"))) {
            binds.push(self.param()?);
            while !self.eat("=") {
                self.expect(",")?;
                binds.push(self.param()?);
            }
        }
        // The bindings of a statement are not in scope in it, but for the sizes in the types of its
        // other bindings.
        let after = std::mem::replace(&mut self.scope, outside);
        let exp = self.exp(&binds)?;
        self.scope = after;
        self.end_of_line()?;
        Ok(Stm::new(binds, exp))
    }

    fn exp(&mut self, binds: &[Param]) -> Read<Exp> {
        if self.eat("[") {
            return Ok(Op::Array(self.list(Some("]"), Self::atom)?).into());
        }
        // Variables may be called like constructs; the end distinguishes `constant [2]real {…}`
        // from an index.
        let braced = matches!(self.cursor.tokens().last(), Some(Token::Mark("}")));
        match self.peek_after(1) {
            Some(Token::Mark("[")) if !braced => return self.index(),
            Some(Token::Mark(mark)) if ArrayPrim::from_operator(mark).is_some() => {
                return self.infix();
            }
            Some(Token::Word(word)) if word == "with" => return self.update(),
            _ => {}
        }
        let word = self.word()?;
        match word.as_str() {
            "fill" => self.atom().map(|a| Op::Fill(a).into()),
            "constant" => self.constant(),
            "for" => self.for_(),
            "loop" => self.loop_(),
            "if" => self.if_(),
            "accumulator" => self.atom().map(|a| Op::Accumulator(a).into()),
            "accumulate" => self.accumulate(),
            "freeze" => self.var().map(|acc| Op::Freeze(acc).into()),
            "check" => self.check(),
            "inspect" => self.inspect(),
            "call" => self.call(),
            "node" => self.node(),
            "tag" => self.atom().map(|a| Op::Tag(a).into()),
            "field" | "open" | "cell" => self.part(&word),
            name if let Some(prim) = ArrayPrim::from_name(name) => {
                Ok(Op::ArrayPrim(prim, self.list(None, Self::var)?).into())
            }
            name => match Prim::from_name(name) {
                Some(op) => Ok(Exp::Op(Op::Prim(op, self.list(None, Self::atom)?))),
                None if binds.is_empty() => Err(format!("`{name}` starts no statement")),
                None => Err(format!("`{name}` is no primitive")),
            },
        }
    }

    fn indices(&mut self) -> Read<Vec<Atom>> {
        self.expect("[")?;
        self.list(Some("]"), Self::atom)
    }

    fn index(&mut self) -> Read<Exp> {
        Ok(Op::Index(self.var()?, self.indices()?).into())
    }

    /// `a @ b`
    fn infix(&mut self) -> Read<Exp> {
        let a = self.var()?;
        let Some(Token::Mark(mark)) = self.next() else { return Err("no operator".into()) };
        let prim = ArrayPrim::from_operator(mark)
            .ok_or_else(|| format!("`{mark}` is no array primitive"))?;
        Ok(Op::ArrayPrim(prim, vec![a, self.var()?]).into())
    }

    fn update(&mut self) -> Read<Exp> {
        let array = self.var()?;
        self.expect_word("with")?;
        let index = self.indices()?;
        self.expect("=")?;
        Ok(Op::Update { array, index, value: self.atom()? }.into())
    }

    fn accumulate(&mut self) -> Read<Exp> {
        let acc = self.var()?;
        let index = self.indices()?;
        self.expect("+=")?;
        Ok(Op::Accumulate { acc, index, value: self.atom()? }.into())
    }

    fn inspect(&mut self) -> Read<Exp> {
        let number = match self.scalar()? {
            Scalar::Int(number) => u32::try_from(number).map_err(|e| e.to_string())?,
            other => return Err(format!("{other:?} is not the number of an inspection")),
        };
        let Some(Token::Text(label)) = self.next() else {
            return Err("expected what the value is called, in quotes".into());
        };
        self.expect("(")?;
        let values = self.list(Some(")"), Self::atom)?;
        Ok(Op::Inspect { number, label: label.into(), values }.into())
    }

    fn check(&mut self) -> Read<Exp> {
        let cond = self.atom()?;
        let Some(Token::Text(message)) = self.next() else {
            return Err("expected the message of the check, in quotes".into());
        };
        self.expect("(")?;
        let values = self.list(Some(")"), Self::atom)?;
        Ok(Op::Check { cond, site: Site::new(Span::default(), message), values }.into())
    }

    fn constant(&mut self) -> Read<Exp> {
        let mut dims = Vec::new();
        while self.eat("[") {
            match self.next() {
                Some(Token::Int(size)) if size >= 0 => dims.push(size as usize),
                _ => return Err("the size of a constant is a number".into()),
            }
            self.expect("]")?;
        }
        let elem = self.scalar_elem()?;
        self.expect("{")?;
        let items = self.list(Some("}"), Self::scalar)?;
        if dims.iter().product::<usize>() != items.len() {
            return Err(format!("{} elements for the sizes {dims:?}", items.len()));
        }
        if items.iter().any(|item| item.ty() != elem) {
            return Err(format!("an element that is not of type {elem}"));
        }
        let mut data = Data::zeros(elem, items.len());
        items.into_iter().enumerate().for_each(|(k, item)| data.set(k, item));
        Ok(Op::Constant(Rc::new(Tensor { dims, data })).into())
    }

    fn out(&mut self) -> Read<Out> {
        if self.eat_word("collect") {
            return Ok(Out::Collect);
        }
        self.expect_word("reduce")?;
        let name = self.word()?;
        let op = ReduceOp::ALL.into_iter().find(|op| op.name() == name);
        op.map(Out::Reduce).ok_or_else(|| format!("`{name}` is no reduction"))
    }

    fn for_(&mut self) -> Read<Exp> {
        let name = self.word()?;
        self.expect("<")?;
        let extent = self.atom()?;
        self.expect("(")?;
        let outs = self.list(Some(")"), Self::out)?;
        self.scoped(|r| {
            let index = r.bind(name);
            Ok(Nest::For { index, extent, outs, body: r.block()? }.into())
        })
    }

    fn loop_(&mut self) -> Read<Exp> {
        self.expect("(")?;
        let outside = self.scope.clone();
        let (mut params, mut inits) = (Vec::new(), Vec::new());
        while !self.eat(")") {
            if !params.is_empty() {
                self.expect(",")?;
            }
            params.push(self.param()?);
            self.expect("=")?;
            // The initial values are computed outside.
            let inside = std::mem::replace(&mut self.scope, outside.clone());
            inits.push(self.atom()?);
            self.scope = inside;
        }
        let (kind, body) = if self.eat_word("for") {
            let name = self.word()?;
            self.expect("<")?;
            let extent = self.atom()?;
            let checkpoint = self.checkpoint()?;
            let index = self.bind(name);
            (LoopKind::For { index, extent, checkpoint }, self.block()?)
        } else {
            self.expect_word("while")?;
            let cond = self.block()?;
            self.expect_word("do")?;
            (LoopKind::While(cond), self.block()?)
        };
        self.scope = outside;
        Ok(Nest::Loop { params, inits, kind, body }.into())
    }

    fn checkpoint(&mut self) -> Read<Checkpoint> {
        if !self.eat_word("checkpoint") {
            return Ok(Checkpoint::All);
        }
        Ok(if self.eat_word("entries") {
            Checkpoint::Entries
        } else if self.eat_word("sqrt") {
            Checkpoint::Sqrt
        } else {
            Checkpoint::States(self.atom()?)
        })
    }

    fn if_(&mut self) -> Read<Exp> {
        let cond = self.atom()?;
        let then = self.block()?;
        self.expect_word("else")?;
        Ok(Nest::If { cond, then, otherwise: self.block()? }.into())
    }
}
