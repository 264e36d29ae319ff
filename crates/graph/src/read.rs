//! The reader: turns the text of [`super::print()`] back into a program, so that a pass can be
//! tested by a text before and a text after.
//!
//! * Gives: a program whose print is the text again, if the text was printed. It may be ill-formed:
//!   [`super::check()`] decides that.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use lambada_prim::{Data, Prim, ReduceOp, Scalar, ScalarTy, Tensor};
use lambada_source::scan::{Cursor, Reads, Token};
use lambada_source::{Site, Span};

use super::{
    Around, ArrayId, Axes, Axis, AxisId, Builder, Effect, Graph, Input, LoopId, NodeId, Output,
    Term,
};

type Read<T> = Result<T, String>;

/// Reads a program. The error names the line and the expected token.
pub fn read(text: &str) -> Read<Graph> {
    let mut reader = Reader {
        cursor: Cursor::new(text)?,
        to: Builder::default(),
        inputs: FxHashMap::default(),
        axes: FxHashMap::default(),
        nodes: FxHashMap::default(),
        arrays: FxHashMap::default(),
        loops: FxHashMap::default(),
    };
    reader.program().map_err(|message| reader.cursor.located(&message))?;
    reader.cursor.rest("the program has ended").map_or(Ok(()), Err)?;
    Ok(reader.to.graph)
}

struct Reader {
    cursor: Cursor,
    to: Builder,
    inputs: FxHashMap<String, ArrayId>,
    axes: FxHashMap<String, AxisId>,
    nodes: FxHashMap<String, NodeId>,
    arrays: FxHashMap<String, ArrayId>,
    loops: FxHashMap<String, LoopId>,
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
    fn program(&mut self) -> Read<()> {
        self.expect_word("graph")?;
        self.expect("(")?;
        self.list(Some(")"), Self::input)?;
        self.expect("{")?;
        self.end_of_line()?;
        self.to.graph.effects = self.lines()?;
        self.expect("=>")?;
        self.to.graph.outputs = self.list(None, Self::output)?;
        self.end_of_line()?;
        self.expect("}")?;
        self.end_of_line()
    }

    fn elem(&mut self) -> Read<ScalarTy> {
        let types = [ScalarTy::Real, ScalarTy::Int, ScalarTy::Bool];
        let name = self.word()?;
        let found = types.into_iter().find(|ty| ty.to_string() == name);
        found.ok_or_else(|| format!("`{name}` is no type of scalars"))
    }

    fn input(&mut self) -> Read<()> {
        let name = self.word()?;
        self.expect(":")?;
        let mut dims = Vec::new();
        while self.eat("[") {
            dims.push(self.node()?);
            self.expect("]")?;
        }
        let elem = self.elem()?;
        let array = self.to.input(Input { hint: name.as_str().into(), elem, dims });
        self.inputs.insert(name, array);
        Ok(())
    }

    fn output(&mut self) -> Read<Output> {
        let hint = self.word()?;
        self.expect("=")?;
        Ok(Output { hint: hint.into(), array: self.array()? })
    }

    /// Definitions and effects, to the results or the end of a block.
    fn lines(&mut self) -> Read<Vec<Effect>> {
        let mut effects = Vec::new();
        while !self.is_mark(0, "=>") && !self.is_mark(0, "}") && self.indent().is_some() {
            effects.extend(self.line()?);
        }
        Ok(effects)
    }

    fn line(&mut self) -> Read<Option<Effect>> {
        let lazy = self.eat_word("lazy");
        self.to.around = if lazy { vec![Around::Branch] } else { Vec::new() };
        let name = self.word()?;
        match name.as_str() {
            "axis" => self.new_axis()?,
            "next" => self.next_state()?,
            "check" => return self.check().map(Some),
            "for" => return self.for_().map(Some),
            "if" => return self.if_().map(Some),
            _ => self.definition(name)?,
        }
        Ok(None)
    }

    fn new_axis(&mut self) -> Read<()> {
        let name = self.word()?;
        self.expect("<")?;
        let extent = self.node()?;
        let sequential = self.eat_word("sequential");
        let axis = self.to.axis(Axis { hint: name.as_str().into(), extent, sequential });
        self.axes.insert(name, axis);
        self.end_of_line()
    }

    fn next_state(&mut self) -> Read<()> {
        let l = self.loop_()?;
        self.expect("=")?;
        let nexts = self.list(None, Self::array)?;
        self.to.close(l, &nexts);
        self.end_of_line()
    }

    fn check(&mut self) -> Read<Effect> {
        let cond = self.node()?;
        let Some(Token::Text(message)) = self.next() else { return Err("expected a text".into()) };
        self.expect("(")?;
        let values = self.list(Some(")"), Self::node)?;
        self.end_of_line()?;
        Ok(Effect::Check { cond, site: Site::new(Span::default(), message), values })
    }

    fn block(&mut self) -> Read<Vec<Effect>> {
        self.expect("{")?;
        self.end_of_line()?;
        let effects = self.lines()?;
        self.expect("}")?;
        Ok(effects)
    }

    fn for_(&mut self) -> Read<Effect> {
        let axis = self.axis()?;
        let body = self.block()?;
        self.end_of_line()?;
        Ok(Effect::For(axis, body))
    }

    fn if_(&mut self) -> Read<Effect> {
        let cond = self.node()?;
        let then = self.block()?;
        self.expect_word("else")?;
        let otherwise = self.block()?;
        self.end_of_line()?;
        Ok(Effect::If(cond, then, otherwise))
    }

    fn axis(&mut self) -> Read<AxisId> {
        let name = self.word()?;
        self.axes.get(&name).copied().ok_or_else(|| format!("`{name}` is no axis"))
    }

    fn loop_(&mut self) -> Read<LoopId> {
        let name = self.word()?;
        self.loops.get(&name).copied().ok_or_else(|| format!("`{name}` is no loop"))
    }

    fn scalar(&mut self) -> Read<Option<Scalar>> {
        let value = match self.peek() {
            Some(Token::Int(k)) => Scalar::Int(*k),
            Some(Token::Real(x)) => Scalar::Real(*x),
            Some(Token::Word(w)) if w == "true" => Scalar::Bool(true),
            Some(Token::Word(w)) if w == "false" => Scalar::Bool(false),
            Some(_) | None => return Ok(None),
        };
        self.skip(1);
        Ok(Some(value))
    }

    fn node(&mut self) -> Read<NodeId> {
        if let Some(value) = self.scalar()? {
            return Ok(self.to.lit(value));
        }
        let name = self.word()?;
        if let Some(node) = self.nodes.get(&name) {
            return Ok(*node);
        }
        if let Some(axis) = self.axes.get(&name).copied() {
            return Ok(self.to.index(axis));
        }
        match self.inputs.get(&name).copied() {
            Some(input) => Ok(self.to.at(input, Vec::new())),
            None => Err(format!("`{name}` is no scalar")),
        }
    }

    fn array(&mut self) -> Read<ArrayId> {
        let name = self.word()?;
        if let Some(array) = self.arrays.get(&name).or(self.inputs.get(&name)) {
            return Ok(*array);
        }
        let l = *self.loops.get(&name).ok_or_else(|| format!("`{name}` is no array"))?;
        let last = self.eat("!");
        if !last {
            self.expect(".")?;
        }
        let Some(Token::Int(k)) = self.next() else { return Err("expected a number".into()) };
        let k = u32::try_from(k).map_err(|e| e.to_string())?;
        if k as usize >= self.to.graph.loop_(l).carries.len() {
            return Err(format!("`{name}` has no state {k}"));
        }
        Ok(if last { self.to.last(l, k) } else { self.to.carried(l, k) })
    }

    fn axes(&mut self) -> Read<Vec<AxisId>> {
        self.expect("[")?;
        self.list(Some("]"), Self::axis)
    }

    fn definition(&mut self, name: String) -> Read<()> {
        self.expect("=")?;
        let is_new = matches!(self.peek(), Some(Token::Word(w)) if w == "map" || w == "constant");
        if !is_new && ["[", ".", "!"].iter().any(|mark| self.is_mark(1, mark)) {
            let array = self.array()?;
            self.expect("[")?;
            let index = self.list(Some("]"), Self::node)?;
            if index.len() != self.to.graph.rank(array) {
                return Err(format!("{} indices for another number of axes", index.len()));
            }
            let node = self.to.at(array, index);
            self.nodes.insert(name, node);
            return self.end_of_line();
        }
        let word = self.word()?;
        match word.as_str() {
            "choose" => {
                let [c, a, b] = self.list(None, Self::node)?[..] else {
                    return Err("`choose` takes three scalars".into());
                };
                let node = self.to.choose(c, a, b);
                self.nodes.insert(name, node);
            }
            "reduce" => {
                let op = self.word()?;
                let found = ReduceOp::ALL.into_iter().find(|known| known.name() == op);
                let op = found.ok_or_else(|| format!("`{op}` is no reduction"))?;
                let axes: Axes = self.axes()?.into_iter().collect();
                let body = self.node()?;
                let node = self.to.reduce(op, axes, body);
                self.nodes.insert(name, node);
            }
            "constant" | "items" | "map" | "scatter" | "update" => {
                let array = self.new_array(&word)?;
                self.arrays.insert(name, array);
                return if word == "scatter" { Ok(()) } else { self.end_of_line() };
            }
            "loop" => {
                let axis = self.axis()?;
                self.expect("(")?;
                let inits: Vec<(Rc<str>, ArrayId)> = self
                    .list(Some(")"), Self::array)?
                    .into_iter()
                    .map(|a| ("s".into(), a))
                    .collect();
                // Exact where nothing depends on another axis; `cleaned` makes it so.
                let all = (0..self.to.graph.axes.len() as u32).map(AxisId).collect();
                let l = self.to.open(axis, &inits, &all);
                self.loops.insert(name, l);
            }
            op => {
                let op = Prim::from_name(op).ok_or_else(|| format!("`{op}` is no primitive"))?;
                let args = self.list(None, Self::node)?;
                let node = self.to.prim(op, args);
                self.nodes.insert(name, node);
            }
        }
        self.end_of_line()
    }

    fn new_array(&mut self, word: &str) -> Read<ArrayId> {
        match word {
            "constant" => self.constant(),
            "items" => {
                let items = self.list(None, Self::node)?;
                if items.is_empty() {
                    return Err("an array of no items".into());
                }
                Ok(self.to.items(items))
            }
            "map" => {
                let (axes, body) = (self.axes()?, self.node()?);
                Ok(self.to.map(axes, body))
            }
            "update" => {
                let init = self.array()?;
                self.expect(",")?;
                self.expect("[")?;
                let index = self.list(Some("]"), Self::node)?;
                self.expect(",")?;
                let part = self.array()?;
                Ok(self.to.update(init, index, part))
            }
            _ => {
                let init = self.array()?;
                self.end_of_line()?;
                let mut terms = Vec::new();
                while self.eat_word("add") {
                    terms.push(self.term()?);
                    self.end_of_line()?;
                }
                Ok(self.to.scatter(init, terms))
            }
        }
    }

    fn term(&mut self) -> Read<Term> {
        let over = self.axes()?;
        let when = if self.eat_word("if") { Some(self.node()?) } else { None };
        self.expect(":")?;
        self.expect("[")?;
        let index = self.list(Some("]"), Self::node)?;
        self.expect("+=")?;
        Ok(Term { over, when, index, value: self.node()? })
    }

    fn constant(&mut self) -> Read<ArrayId> {
        let mut dims = Vec::new();
        while self.eat("[") {
            let Some(Token::Int(k)) = self.next() else { return Err("expected a size".into()) };
            dims.push(usize::try_from(k).map_err(|e| e.to_string())?);
            self.expect("]")?;
        }
        let elem = self.elem()?;
        self.expect("{")?;
        let item = |r: &mut Self| r.scalar()?.ok_or_else(|| r.expected("a constant"));
        let items: Vec<Scalar> = self.list(Some("}"), item)?;
        if items.len() != dims.iter().product() || items.iter().any(|i| i.ty() != elem) {
            return Err("the elements are not those of an array of this type".into());
        }
        let mut data = Data::zeros(elem, items.len());
        items.iter().enumerate().for_each(|(k, item)| data.set(k, *item));
        Ok(self.to.constant(&Rc::new(Tensor { dims, data })))
    }
}
