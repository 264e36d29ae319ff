//! Functions as surface syntax that parses, checks and runs again: how derivatives are printed for people.
//!
//! Gives: a `def` with one parameter per parameter and a tuple of the results. Accumulators become regions, loops with several results
//! tuples, cheap values that are used once are written where they are used. `Check`s are not printed: what they guard checks itself.

mod regions;
mod text;
mod uses;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy, Surface, Tensor};

use crate::naming::Naming;
use crate::{Atom, Block, Exp, Function, LoopKind, Out, Param, Stm, Ty, Var};
use regions::{Item, Region};
use text::{Level, Text, call, for_, hang, if_, indent, tuple};
use uses::Uses;

/// A value longer than this gets a name of its own.
const INLINE: usize = 56;

/// The function as a definition of the given name.
pub fn definition(function: &Function, name: &str) -> String {
    let mut printer = Printer {
        naming: Naming::new(&function.names),
        uses: Uses::new(&function.body),
        inline: HashMap::new(),
        exported: HashSet::new(),
        next: function.names.len() as u32,
    };
    printer.definition(function, name)
}

/// A line of a block.
enum Line {
    /// `let pattern = value`, and the variable if it is just one.
    Let(String, Text, Option<Var>),
    /// Something of type `()`, or an array of units where `unit` is false.
    Effect { text: Text, unit: bool },
}

struct Printer<'a> {
    naming: Naming<'a>,
    uses: Uses,
    /// Values that are written where they are used.
    inline: HashMap<Var, Text>,
    /// Values that leave an `accumulate` region: they need names.
    exported: HashSet<Var>,
    next: u32,
}

impl Printer<'_> {
    fn definition(&mut self, function: &Function, name: &str) -> String {
        let sizes: String =
            function.sizes.iter().map(|s| format!(" [{}]", self.naming.bind(*s))).collect();
        let mut params = String::new();
        for p in &function.params {
            let param = self.naming.bind(p.var);
            params += &format!(" ({param} : {})", self.ty(&p.ty));
        }
        let results: Vec<String> = function.results.iter().map(|ty| self.ty(ty)).collect();
        let result = if results.len() == 1 {
            results[0].clone()
        } else {
            format!("({})", results.join(", "))
        };
        let kept = vec![true; function.body.results.len()];
        let body = self.block(&[], &function.body, &kept, false);
        format!("def {name}{sizes}{params} : {result} =\n{}\n", indent(&body.text))
    }

    // Types, names and constants

    /// A type of a parameter or a result; sizes that the body computes are left to inference.
    fn ty(&self, ty: &Ty) -> String {
        let dims: String = ty.dims.iter().map(|d| format!("[{}]", self.size(*d))).collect();
        format!("{dims}{}", ty.elem)
    }

    fn size(&self, size: Atom) -> String {
        match size {
            Atom::Lit(value) => value.int().to_string(),
            Atom::Var(var) => self.naming.known(var).map_or(String::new(), |name| name.to_string()),
        }
    }

    fn atom(&self, atom: Atom) -> Text {
        match atom {
            Atom::Lit(value) => Text::atom(literal(value)),
            Atom::Var(var) => {
                self.inline.get(&var).cloned().unwrap_or_else(|| Text::atom(&*self.naming.of(var)))
            }
        }
    }

    fn atoms(&self, atoms: &[Atom]) -> Vec<Text> {
        atoms.iter().map(|a| self.atom(*a)).collect()
    }

    /// An atom where nothing around decides that an integer literal is not a real.
    fn decided(&self, atom: Atom) -> Text {
        match atom {
            Atom::Lit(Scalar::Int(k)) => Text::atom(format!("({} : int)", literal(Scalar::Int(k)))),
            Atom::Lit(Scalar::Real(_) | Scalar::Bool(_)) | Atom::Var(_) => self.atom(atom),
        }
    }

    fn list(&self, atoms: &[Atom]) -> String {
        self.atoms(atoms).iter().map(|t| t.at(Level::With)).collect::<Vec<_>>().join(", ")
    }

    // Blocks

    /// A block whose results are those that are kept, as an expression. With `unit`, one without results is really of type `()`.
    fn block(&mut self, bound: &[Var], block: &Block, kept: &[bool], unit: bool) -> Text {
        let mark = self.naming.mark();
        bound.iter().for_each(|var| self.index(*var));
        let mut next = self.next;
        let (items, plain) = regions::regions(block, &mut |_| {
            next += 1;
            Var(next - 1)
        });
        self.next = next;
        let mut lines = Vec::new();
        let results: Vec<Atom> =
            block.results.iter().zip(kept).filter(|(_, k)| **k).map(|(a, _)| *a).collect();
        let mut later = HashSet::new();
        results.iter().filter_map(|a| a.as_var()).for_each(|v| _ = later.insert(v));
        let needed = self.needed(block, &items, &mut later);
        self.exported.extend(needed.values().flatten());
        let plain: HashMap<Var, Atom> = plain.into_iter().collect();
        self.items(block, &items, &needed, &plain, &mut lines);
        let text = self.finish(lines, &results, unit);
        self.naming.release(mark);
        text
    }

    /// For each region, by its result, what it binds that is used after it. `later`: what is used after the items; grows.
    fn needed(
        &self,
        block: &Block,
        items: &[Item],
        later: &mut HashSet<Var>,
    ) -> HashMap<Var, Vec<Var>> {
        let mut all = HashMap::new();
        for item in items.iter().rev() {
            match item {
                Item::Stm(k) => mentions(&block.stms[*k], later),
                Item::Region(region) => {
                    let bound = binds(block, &region.items);
                    let used = |v: &Var| {
                        later.contains(v) && (v.0 >= self.next_real() || self.uses.any(*v))
                    };
                    all.insert(region.out, bound.into_iter().filter(used).collect());
                    all.extend(self.needed(block, &region.items, later));
                    later.extend(region.init.as_var());
                }
            }
        }
        all
    }

    /// Variables from here on are made by the printer: parts of split regions.
    fn next_real(&self) -> u32 {
        self.naming.count()
    }

    fn items(
        &mut self,
        block: &Block,
        items: &[Item],
        needed: &HashMap<Var, Vec<Var>>,
        plain: &HashMap<Var, Atom>,
        lines: &mut Vec<Line>,
    ) {
        for item in items {
            match item {
                Item::Stm(k) => {
                    let stm = &block.stms[*k];
                    if let Exp::Freeze(_) = &stm.exp {
                        if let Some(init) = plain.get(&stm.binds[0].var) {
                            let text = self.decided(*init);
                            self.inline.insert(stm.binds[0].var, text);
                        }
                    } else if self.uses.printed(stm) {
                        self.statement(stm, lines);
                    }
                }
                Item::Region(region) => self.region(block, region, needed, plain, lines),
            }
        }
    }

    fn region(
        &mut self,
        block: &Block,
        region: &Region,
        needed: &HashMap<Var, Vec<Var>>,
        plain: &HashMap<Var, Atom>,
        lines: &mut Vec<Line>,
    ) {
        let init = self.decided(region.init).at(Level::With);
        let leaving = &needed[&region.out];
        let mark = self.naming.mark();
        let acc = self.naming.bind(region.acc);
        let mut inner = Vec::new();
        self.items(block, &region.items, needed, plain, &mut inner);
        let results: Vec<Atom> = leaving.iter().map(|v| Atom::Var(*v)).collect();
        let body = self.finish(inner, &results, false);
        self.naming.release(mark);
        let names: Vec<Text> = leaving.iter().map(|v| Text::atom(&*self.naming.bind(*v))).collect();
        let out = self.naming.bind(region.out);
        let pattern = if names.is_empty() {
            out.to_string()
        } else {
            format!("({}, {out})", tuple(&names).text)
        };
        let text =
            Text::new(hang(&format!("accumulate {acc} = {init} in"), &body.text), Level::Open);
        lines.push(Line::Let(pattern, text, names.is_empty().then_some(region.out)));
    }

    /// The lines and the results of a block, put together.
    fn finish(&mut self, mut lines: Vec<Line>, results: &[Atom], unit: bool) -> Text {
        let tail = match (results, lines.last()) {
            ([], Some(Line::Effect { unit: is_unit, .. })) if *is_unit || !unit => {
                match lines.pop() {
                    Some(Line::Effect { text, .. } | Line::Let(_, text, _)) => text,
                    None => tuple(&[]),
                }
            }
            ([Atom::Var(result)], Some(Line::Let(_, _, Some(last))))
                if result == last && self.uses.count(*result) <= 1 =>
            {
                match lines.pop() {
                    Some(Line::Effect { text, .. } | Line::Let(_, text, _)) => text,
                    None => tuple(&[]),
                }
            }
            (results, _) => {
                let texts: Vec<Text> = results.iter().map(|a| self.decided(*a)).collect();
                tuple(&texts)
            }
        };
        assemble(&lines, tail)
    }

    // Statements

    /// Writes `var = text` where it is used, or as a line.
    fn define(&mut self, var: Var, text: Text, lines: &mut Vec<Line>) {
        if self.uses.once(var)
            && !self.exported.contains(&var)
            && text.is_line()
            && text.len() <= INLINE
        {
            self.inline.insert(var, text);
        } else {
            let name = self.naming.bind(var);
            lines.push(Line::Let(name.to_string(), text, Some(var)));
        }
    }

    fn statement(&mut self, stm: &Stm, lines: &mut Vec<Line>) {
        let text = match &stm.exp {
            Exp::Prim(op, args) => self.prim(*op, args),
            Exp::Index(x, index) => Text::atom(format!(
                "{}[{}]",
                self.atom((*x).into()).at(Level::Atom),
                self.list(index)
            )),
            Exp::Fill(value) => {
                let value = self.decided(*value);
                self.filled(&stm.binds[0].ty.dims, value)
            }
            Exp::Array(items) if items.is_empty() => {
                let zero = Text::atom(literal(stm.binds[0].ty.elem.zero()));
                self.filled(&stm.binds[0].ty.dims, zero)
            }
            Exp::Array(items) => {
                let texts: Vec<String> = items
                    .iter()
                    .enumerate()
                    .map(|(k, a)| {
                        if k == 0 { self.decided(*a) } else { self.atom(*a) }.at(Level::With)
                    })
                    .collect();
                Text::atom(format!("[{}]", texts.join(", ")))
            }
            Exp::Constant(tensor) => self.constant(tensor),
            Exp::For { index, extent, outs, body } => {
                return self.for_(stm, *index, *extent, outs, body, lines);
            }
            Exp::Loop { params, inits, kind, body } => {
                return self.loop_(stm, params, inits, kind, body, lines);
            }
            Exp::If { cond, then, otherwise } => {
                return self.if_(stm, *cond, then, otherwise, lines);
            }
            Exp::Update { array, index, value } => {
                let array = self.atom((*array).into()).at(Level::Or);
                Text::new(
                    format!(
                        "{array} with [{}] = {}",
                        self.list(index),
                        self.atom(*value).at(Level::Or)
                    ),
                    Level::With,
                )
            }
            Exp::MatMul(a, b) => self.infix("@", &self.atom((*a).into()), &self.atom((*b).into())),
            Exp::Accumulate { acc, index, value } => {
                let place = if index.is_empty() {
                    String::new()
                } else {
                    format!("[{}]", self.list(index))
                };
                let text = format!(
                    "{}{place} += {}",
                    self.naming.of(*acc),
                    self.atom(*value).at(Level::Or)
                );
                lines.push(Line::Effect { text: Text::new(text, Level::Open), unit: true });
                return;
            }
            Exp::Accumulator(_) | Exp::Freeze(_) | Exp::Check { .. } => return,
        };
        self.define(stm.binds[0].var, text, lines);
    }

    fn prim(&self, op: Prim, args: &[Atom]) -> Text {
        let mut texts = self.atoms(args);
        self.settle(op, args, &mut texts);
        match op.row().surface {
            Surface::Infix("+") if let Some(positive) = negated(args[1]) => {
                self.infix("-", &texts[0], &Text::atom(literal(positive)))
            }
            Surface::Infix(symbol) => self.infix(symbol, &texts[0], &texts[1]),
            Surface::Prefix("-") => {
                Text::new(format!("-{}", texts[0].at(Level::Power)), Level::Negate)
            }
            Surface::Prefix(word) => {
                Text::new(format!("{word} {}", texts[0].at(Level::Apply)), Level::With)
            }
            Surface::Call(f) => call(f, &texts),
            Surface::If => if_(&texts[0], &texts[1], &texts[2]),
        }
    }

    /// An overloaded operation on integer literals alone would be one on reals: one literal says that it is not.
    fn settle(&self, op: Prim, args: &[Atom], texts: &mut [Text]) {
        let overloaded = !matches!(op, Prim::ToReal | Prim::PowInt | Prim::Polygamma);
        let ints: Vec<usize> = (0..args.len()).filter(|k| op.args()[*k] == ScalarTy::Int).collect();
        if overloaded && !ints.is_empty() && ints.iter().all(|k| args[*k].as_lit().is_some()) {
            texts[ints[0]] = self.decided(args[ints[0]]);
        }
    }

    fn infix(&self, symbol: &str, left: &Text, right: &Text) -> Text {
        let (level, l, r) = match symbol {
            "**" => (Level::Power, Level::Apply, Level::Power),
            "*" | "/" | "%" | "@" => (Level::Product, Level::Product, Level::Negate),
            "+" | "-" => (Level::Sum, Level::Sum, Level::Product),
            "&&" => (Level::And, Level::And, Level::Compare),
            "||" => (Level::Or, Level::Or, Level::And),
            _ => (Level::Compare, Level::Sum, Level::Sum), // == != < <= > >=
        };
        // `a - -b` would be right, but nobody reads it well.
        let r = if right.level == Level::Negate { Level::Power } else { r };
        Text::new(format!("{} {symbol} {}", left.at(l), right.at(r)), level)
    }

    fn filled(&mut self, dims: &[Atom], value: Text) -> Text {
        let mark = self.naming.mark();
        let clauses: Vec<String> = dims
            .iter()
            .map(|d| format!("{} < {}", self.naming.fresh("_i"), self.atom(*d).at(Level::Sum)))
            .collect();
        self.naming.release(mark);
        clauses.into_iter().rev().fold(value, |body, clause| for_(clause, body))
    }

    fn constant(&mut self, tensor: &Tensor) -> Text {
        if tensor.data.is_empty() {
            let dims: Vec<Atom> = tensor.dims.iter().map(|d| Atom::int(*d as i64)).collect();
            return self.filled(&dims, Text::atom(literal(tensor.elem().zero())));
        }
        let mut texts: Vec<String> =
            (0..tensor.data.len()).map(|k| literal(tensor.data.get(k))).collect();
        texts[0] = self.decided(Atom::Lit(tensor.data.get(0))).text;
        for size in tensor.dims.iter().rev() {
            texts = texts.chunks(*size).map(|row| format!("[{}]", row.join(", "))).collect();
        }
        Text::atom(texts.remove(0))
    }

    /// Names an index: the author's `_i` may be used by the derivative.
    fn index(&mut self, index: Var) {
        if self.uses.any(index) {
            self.naming.bind_used(index)
        } else {
            self.naming.bind(index)
        };
    }

    /// `i < n`, with a name that says so where the index is not used.
    fn clause(&self, index: Var, extent: Atom) -> String {
        let name = self.naming.of(index);
        let extent = self.atom(extent).at(Level::Sum);
        if self.uses.any(index) || name.starts_with('_') {
            format!("{name} < {extent}")
        } else {
            format!("_{name} < {extent}")
        }
    }

    fn for_(
        &mut self,
        stm: &Stm,
        index: Var,
        extent: Atom,
        outs: &[Out],
        body: &Block,
        lines: &mut Vec<Line>,
    ) {
        let kept = self.uses.kept(stm);
        let body = self.block(&[index], body, &kept, false);
        let text = for_(self.clause(index, extent), body);
        let used: Vec<(Out, &Param)> = outs
            .iter()
            .zip(&stm.binds)
            .zip(&kept)
            .filter(|(_, k)| **k)
            .map(|((out, p), _)| (*out, p))
            .collect();
        match used.as_slice() {
            [] => lines.push(Line::Effect { text, unit: false }),
            [(out, p)] => {
                let text = reduced(*out, p.ty.elem, text);
                self.define(p.var, text, lines);
            }
            [(Out::Collect, p), (Out::Collect, q)] => {
                let pattern = format!("({}, {})", self.naming.bind(p.var), self.naming.bind(q.var));
                lines.push(Line::Let(pattern, call("unzip", &[text]), None));
            }
            several => {
                let all = self.naming.fresh("all");
                lines.push(Line::Let(all.to_string(), text, None));
                for (k, (out, p)) in several.iter().enumerate() {
                    let mark = self.naming.mark();
                    let i = self.naming.fresh("i");
                    let part = for_(
                        format!("{i} < {}", self.atom(extent).at(Level::Sum)),
                        Text::atom(format!("{all}[{i}].{k}")),
                    );
                    self.naming.release(mark);
                    let name = self.naming.bind(p.var);
                    lines.push(Line::Let(
                        name.to_string(),
                        reduced(*out, p.ty.elem, part),
                        Some(p.var),
                    ));
                }
            }
        }
    }

    fn loop_(
        &mut self,
        stm: &Stm,
        params: &[Param],
        inits: &[Atom],
        kind: &LoopKind,
        body: &Block,
        lines: &mut Vec<Line>,
    ) {
        let init = tuple(&self.atoms(inits)).at(Level::With);
        let mark = self.naming.mark();
        let mut pattern = Vec::new();
        for (p, init) in params.iter().zip(inits) {
            let name = self.naming.bind(p.var);
            // A literal says what it is only here.
            let typed = matches!(init, Atom::Lit(Scalar::Int(_)));
            pattern.push(Text::atom(if typed {
                format!("({name} : int)")
            } else {
                name.to_string()
            }));
        }
        let pattern = tuple(&pattern).text;
        let kept = vec![true; params.len()];
        let (driver, body) = match kind {
            LoopKind::For { index, extent } => {
                let inner = self.naming.mark();
                self.index(*index);
                let body = self.block(&[], body, &kept, true);
                let driver = format!("for {} do", self.clause(*index, *extent));
                self.naming.release(inner);
                (driver, body)
            }
            LoopKind::While(cond) => {
                let cond = self.block(&[], cond, &[true], true);
                (format!("while {} do", cond.at(Level::With)), self.block(&[], body, &kept, true))
            }
        };
        self.naming.release(mark);
        let text =
            Text::new(hang(&format!("loop {pattern} = {init} {driver}"), &body.text), Level::Open);
        match stm.binds.as_slice() {
            [p] if self.uses.any(p.var) => self.define(p.var, text, lines),
            _ => self.several(stm, text, lines),
        }
    }

    /// `let (a, _, b) = text`
    fn several(&mut self, stm: &Stm, text: Text, lines: &mut Vec<Line>) {
        let kept = self.uses.kept(stm);
        if !kept.contains(&true) {
            lines.push(Line::Let("_".into(), text, None));
            return;
        }
        let names: Vec<Text> = stm
            .binds
            .iter()
            .zip(kept)
            .map(|(p, kept)| {
                Text::atom(if kept { self.naming.bind(p.var) } else { Rc::from("_") }.to_string())
            })
            .collect();
        lines.push(Line::Let(tuple(&names).text, text, None));
    }

    fn if_(
        &mut self,
        stm: &Stm,
        cond: Atom,
        then: &Block,
        otherwise: &Block,
        lines: &mut Vec<Line>,
    ) {
        let kept = self.uses.kept(stm);
        let cond = self.atom(cond);
        let (then, otherwise) =
            (self.block(&[], then, &kept, true), self.block(&[], otherwise, &kept, true));
        let text = if_(&cond, &then, &otherwise);
        let used: Vec<Var> =
            stm.binds.iter().zip(&kept).filter(|(_, k)| **k).map(|(p, _)| p.var).collect();
        match used.as_slice() {
            [] => lines.push(Line::Effect { text, unit: true }),
            [one] => self.define(*one, text, lines),
            several => {
                let names: Vec<Text> =
                    several.iter().map(|v| Text::atom(&*self.naming.bind(*v))).collect();
                lines.push(Line::Let(tuple(&names).text, text, None));
            }
        }
    }
}

/// The negation of a negative literal: `n + (-1)` reads better as `n - 1`, and is the same.
fn negated(atom: Atom) -> Option<Scalar> {
    match atom.as_lit()? {
        Scalar::Int(k) if k < 0 => k.checked_neg().map(Scalar::Int),
        Scalar::Real(x) if x < 0.0 => Some(Scalar::Real(-x)),
        Scalar::Int(_) | Scalar::Real(_) | Scalar::Bool(_) => None,
    }
}

/// What an out makes of the array of what the iterations give.
fn reduced(out: Out, elem: ScalarTy, array: Text) -> Text {
    let reduce = |f: &str, op: ReduceOp| {
        call("reduce", &[Text::atom(f), Text::atom(literal(op.unit(elem))), array.clone()])
    };
    match out {
        Out::Collect => array,
        Out::Reduce(ReduceOp::Add) => call("sum", &[array]),
        Out::Reduce(ReduceOp::Mul) => call("product", &[array]),
        Out::Reduce(op @ ReduceOp::Min) => reduce("min", op),
        Out::Reduce(op @ ReduceOp::Max) => reduce("max", op),
        Out::Reduce(op @ ReduceOp::And) => reduce("(&&)", op),
        Out::Reduce(op @ ReduceOp::Or) => reduce("(||)", op),
    }
}

/// Lines, then the tail.
fn assemble(lines: &[Line], tail: Text) -> Text {
    let Some(first) = lines.first() else { return tail };
    let mut text = String::new();
    for (k, line) in lines.iter().enumerate() {
        match line {
            Line::Let(pattern, value, _) => {
                text += &bound(pattern, &value.at(Level::Open));
                text += match lines.get(k + 1) {
                    Some(Line::Let(..)) => "\n",
                    Some(Line::Effect { .. }) => " in\n",
                    None => "\nin ",
                };
            }
            Line::Effect { text: effect, unit: true } if !effect.text.starts_with("if") => {
                text += &format!("{};\n", effect.at(Level::Open))
            }
            Line::Effect { text: effect, unit: true } => {
                text += &format!("{};\n", effect.at(Level::With))
            }
            Line::Effect { text: effect, unit: false } => {
                text += &bound("_", &effect.text);
                text +=
                    if matches!(lines.get(k + 1), Some(Line::Let(..))) { "\n" } else { " in\n" };
            }
        }
    }
    let ends_in_let = matches!(lines.last(), Some(Line::Let(..)));
    let starts_with_let = matches!(first, Line::Let(..) | Line::Effect { unit: false, .. });
    // The tail of `in tail` may have several lines: they go under its first.
    let tail = tail.at(if ends_in_let { Level::Open } else { Level::Sequence });
    text += &if ends_in_let { tail.replace('\n', "\n   ") } else { tail };
    Text::new(text, if starts_with_let { Level::Open } else { Level::Sequence })
}

/// `let pattern = value`, the value below if it starts with a `let` of its own.
fn bound(pattern: &str, value: &str) -> String {
    let head = format!("let {pattern} =");
    let below = value.contains('\n') && (value.starts_with("let") || value.starts_with("if"));
    if below || !value.contains('\n') { hang(&head, value) } else { format!("{head} {value}") }
}

/// The variables that the items bind, in order.
fn binds(block: &Block, items: &[Item]) -> Vec<Var> {
    let mut all = Vec::new();
    for item in items {
        match item {
            // A frozen accumulator's value comes with its region.
            Item::Stm(k) if matches!(block.stms[*k].exp, Exp::Freeze(_) | Exp::Accumulator(_)) => {}
            Item::Stm(k) => all.extend(block.stms[*k].binds.iter().map(|p| p.var)),
            Item::Region(region) => {
                all.extend(binds(block, &region.items));
                all.push(region.out);
            }
        }
    }
    all
}

/// Adds all variables that a statement mentions, but in types.
fn mentions(stm: &Stm, all: &mut HashSet<Var>) {
    stm.exp.atoms(&mut |a| all.extend(a.as_var()));
    if matches!(stm.exp, Exp::Fill(_)) {
        all.extend(stm.binds[0].ty.dims.iter().filter_map(|d| d.as_var()));
    }
    for block in stm.exp.blocks() {
        block.stms.iter().for_each(|s| mentions(s, all));
        all.extend(block.results.iter().filter_map(|a| a.as_var()));
    }
}

/// A constant; negative ones in parentheses.
fn literal(value: Scalar) -> String {
    match value {
        Scalar::Real(x) if x.is_nan() => "nan".into(),
        Scalar::Real(x) if x.is_infinite() => if x > 0.0 { "inf" } else { "(-inf)" }.into(),
        Scalar::Real(x) if x.is_sign_negative() => format!("({x:?})"),
        Scalar::Real(x) => format!("{x:?}"),
        Scalar::Int(i64::MIN) => format!("(-{} - 1)", i64::MAX),
        Scalar::Int(k) if k < 0 => format!("({k})"),
        Scalar::Int(k) => k.to_string(),
        Scalar::Bool(b) => b.to_string(),
    }
}
