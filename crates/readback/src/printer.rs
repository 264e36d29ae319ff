//! Blocks: which values get a name, which are written where they are used, and in which order lines stand.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::{Atom, Block, Exp, Naming, Op, Stm, Var};
use lambada_prim::Scalar;
use lambada_surface::ast::{Clause, Expr, ExprKind, Pattern};
use lambada_surface::build;

use crate::pieces::{literal, width};
use crate::regions::{self, Item, Region, binds, mentions};
use crate::uses::Uses;

/// A value wider than this gets a name of its own.
const INLINE: usize = 56;

/// An element that is read this often in one place is written each time.
const READ_AGAIN: usize = 2;

/// An element whose reading is wider than this gets a name if it is read more than once.
const NARROW: usize = 24;

/// A line of a block.
pub(crate) enum Line {
    /// `let pattern = value`, and the variables if the pattern is just these.
    Let { comment: Option<Rc<str>>, pattern: Pattern, value: Expr, vars: Vec<Var> },
    /// Something of type `()`, or an array of units where `unit` is false.
    Effect { value: Expr, unit: bool },
}

impl Line {
    /// `let name = value`
    pub(crate) fn named(name: &Rc<str>, value: Expr, var: Option<Var>) -> Line {
        let vars = var.into_iter().collect();
        Line::Let { comment: None, pattern: build::binds(name.clone()), value, vars }
    }

    /// `let (a, b) = value`, and the variables if the pattern is just these.
    pub(crate) fn several(names: Vec<Rc<str>>, value: Expr, vars: Vec<Var>) -> Line {
        let pattern = build::tuple_pattern(names.into_iter().map(build::binds).collect());
        Line::Let { comment: None, pattern, value, vars }
    }
}

pub(crate) struct Printer<'a> {
    pub(crate) naming: Naming<'a>,
    pub(crate) uses: Uses,
    /// Values that are written where they are used.
    pub(crate) inline: HashMap<Var, Expr>,
    /// Values that leave an `accumulate` region: they need names.
    pub(crate) exported: HashSet<Var>,
    /// What to say before statements of the outermost block.
    pub(crate) comments: HashMap<usize, Rc<str>>,
    /// Variables from here on are made by the printer: parts of split regions.
    pub(crate) own: u32,
    pub(crate) next: u32,
}

/// What is known of the items of a block.
struct Items<'b> {
    block: &'b Block,
    /// For each region, what it binds that is used after it.
    needed: HashMap<Var, Vec<Var>>,
    /// Accumulators that nothing is added to.
    plain: HashMap<Var, Atom>,
    outermost: bool,
}

impl Printer<'_> {
    // Names and constants

    pub(crate) fn name(&self, var: Var) -> Expr {
        build::var(self.naming.of(var))
    }

    pub(crate) fn atom(&self, atom: Atom) -> Expr {
        match atom {
            Atom::Lit(value) => literal(value),
            Atom::Var(var) => self.inline.get(&var).cloned().unwrap_or_else(|| self.name(var)),
        }
    }

    pub(crate) fn atoms(&self, atoms: &[Atom]) -> Vec<Expr> {
        atoms.iter().map(|a| self.atom(*a)).collect()
    }

    /// An atom where nothing around decides that an integer literal is not a real.
    pub(crate) fn decided(&self, atom: Atom) -> Expr {
        match atom {
            Atom::Lit(Scalar::Int(_)) => build::annotated(self.atom(atom), build::named_ty("int")),
            Atom::Lit(Scalar::Real(_) | Scalar::Bool(_)) | Atom::Var(_) => self.atom(atom),
        }
    }

    /// Names an index: the author's `_i` may be used by the derivative, and an `i` inside another is a `j`.
    pub(crate) fn index(&mut self, index: Var) -> Rc<str> {
        let hint = self.naming.hint(index);
        let plain = hint.trim_start_matches('_');
        let name = self.index_name(if plain.is_empty() { "i" } else { plain });
        if self.uses.any(index) {
            self.naming.bind_as(index, &name)
        } else {
            self.naming.bind_as(index, &format!("_{name}"))
        }
    }

    /// A name for an index that is near the hint and free.
    pub(crate) fn index_name(&self, hint: &str) -> Rc<str> {
        const LETTERS: [&str; 6] = ["i", "j", "k", "l", "p", "q"];
        let free =
            |name: &&str| self.naming.is_free(name) && self.naming.is_free(&format!("_{name}"));
        let from = LETTERS.iter().position(|letter| *letter == hint);
        let letter = from.and_then(|from| LETTERS[from..].iter().copied().find(free));
        letter.unwrap_or(hint).into()
    }

    /// `i < n`
    pub(crate) fn clause(&self, index: &Rc<str>, extent: Atom) -> Clause {
        Clause::Range(build::name(index.clone()), self.atom(extent))
    }

    // Blocks

    /// A block as an expression that gives the results. With `unit`, one without results is really of type `()`.
    pub(crate) fn block(&mut self, block: &Block, results: &[Atom], unit: bool) -> Expr {
        let mark = self.naming.mark();
        let lines = self.lines(block, results, false);
        let whole = self.finish(lines, results, unit);
        self.naming.release(mark);
        whole
    }

    /// The lines of a block; what the results mention is named or inline.
    pub(crate) fn lines(&mut self, block: &Block, results: &[Atom], outermost: bool) -> Vec<Line> {
        let mut next = self.next;
        let mut parts = Vec::new();
        let (items, plain) = regions::regions(block, &mut |out| {
            next += 1;
            parts.push((Var(next - 1), out));
            Var(next - 1)
        });
        self.next = next;
        parts.into_iter().for_each(|(part, of)| {
            let hint = self.naming.hint(of);
            self.naming.rename(part, hint);
        });
        let mut later: HashSet<Var> = results.iter().filter_map(|a| a.as_var()).collect();
        let needed = self.needed(block, &items, &mut later);
        self.exported.extend(needed.values().flatten());
        let all = Items { block, needed, plain: plain.into_iter().collect(), outermost };
        let mut lines = Vec::new();
        self.items(&all, &items, &mut lines);
        lines
    }

    /// For each region, what it binds that is used after it. `later`: what is used after the items; grows.
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
                    let used =
                        |v: &Var| later.contains(v) && (v.0 >= self.own || self.uses.any(*v));
                    let bound = binds(block, &region.items);
                    all.insert(region.id(), bound.into_iter().filter(used).collect());
                    all.extend(self.needed(block, &region.items, later));
                    later.extend(region.accs.iter().filter_map(|it| it.init.as_var()));
                }
            }
        }
        all
    }

    fn items(&mut self, all: &Items, items: &[Item], lines: &mut Vec<Line>) {
        for item in items {
            let before = lines.len();
            let said = if all.outermost { first(item) } else { None };
            let said = said.and_then(|k| self.comments.remove(&k));
            match item {
                Item::Stm(k) => self.stm(all, *k, lines),
                Item::Region(region) => self.region(all, region, lines),
            }
            if let Some(Line::Let { comment, .. }) = lines.get_mut(before) {
                *comment = said;
            }
        }
    }

    fn stm(&mut self, all: &Items, k: usize, lines: &mut Vec<Line>) {
        let stm: &Stm = &all.block.stms[k];
        if let Exp::Op(Op::Freeze(_)) = &stm.exp {
            if let Some(init) = all.plain.get(&stm.binds[0].var) {
                let value = self.decided(*init);
                self.inline.insert(stm.binds[0].var, value);
            }
        } else if self.uses.printed(stm) {
            self.statement(stm, lines);
        }
    }

    /// `let (…, a, b) = accumulate a = x, b = y in …`
    fn region(&mut self, all: &Items, region: &Region, lines: &mut Vec<Line>) {
        let inits: Vec<Expr> = region.accs.iter().map(|it| self.decided(it.init)).collect();
        let leaving = &all.needed[&region.id()];
        let mark = self.naming.mark();
        let names: Vec<Rc<str>> = region.accs.iter().map(|it| self.naming.bind(it.acc)).collect();
        let mut inner = Vec::new();
        self.items(all, &region.items, &mut inner);
        let results: Vec<Atom> = leaving.iter().map(|v| Atom::Var(*v)).collect();
        let body = self.finish(inner, &results, false);
        self.naming.release(mark);
        let leaving: Vec<Rc<str>> = leaving.iter().map(|v| self.naming.bind(*v)).collect();
        let outs: Vec<Rc<str>> = region.accs.iter().map(|it| self.naming.bind(it.out)).collect();
        let named = names.into_iter().map(build::name);
        let value = build::expr(ExprKind::Accumulate(named.zip(inits).collect(), Box::new(body)));
        let line = match (&leaving[..], &outs[..]) {
            ([], [out]) => Line::named(out, value, Some(region.id())),
            ([], _) => Line::several(outs, value, region.accs.iter().map(|it| it.out).collect()),
            (_, _) => {
                let values = leaving.into_iter().map(build::binds).collect();
                let patterns = std::iter::once(build::tuple_pattern(values))
                    .chain(outs.into_iter().map(build::binds));
                let pattern = build::tuple_pattern(patterns.collect());
                Line::Let { comment: None, pattern, value, vars: Vec::new() }
            }
        };
        lines.push(line);
    }

    /// The lines and the results of a block, put together: first what is named, then what is added, whose order does not matter.
    pub(crate) fn finish(&mut self, lines: Vec<Line>, results: &[Atom], unit: bool) -> Expr {
        let (mut named, mut units, mut arrays) = (Vec::new(), Vec::new(), Vec::new());
        for line in lines {
            match line {
                Line::Effect { value, unit: true } => units.push(value),
                Line::Effect { value, unit: false } => arrays.push(value),
                Line::Let { .. } => named.push(line),
            }
        }
        let last = match (results, named.last()) {
            ([], _) if units.is_empty() && !unit => arrays.pop(),
            ([], _) => units.pop(),
            // What is named last and is the result needs no name.
            (_, Some(Line::Let { vars, .. }))
                if units.is_empty()
                    && arrays.is_empty()
                    && vars.iter().map(|v| Atom::Var(*v)).eq(results.iter().copied()) =>
            {
                match named.pop() {
                    Some(Line::Let { value, comment: Some(text), .. }) => {
                        Some(build::expr(ExprKind::Commented(text, Box::new(value))))
                    }
                    Some(Line::Let { value, .. } | Line::Effect { value, .. }) => Some(value),
                    None => None,
                }
            }
            (_, _) => None,
        };
        let tail = last
            .unwrap_or_else(|| build::tuple(results.iter().map(|a| self.decided(*a)).collect()));
        assemble(named, arrays, units, tail)
    }

    /// Writes `var = value` where it is used, or as a line.
    pub(crate) fn define(&mut self, var: Var, value: Expr, lines: &mut Vec<Line>) {
        if self.uses.at_most(1, var)
            && !self.exported.contains(&var)
            && width(&value, INLINE).is_some()
        {
            self.inline.insert(var, value);
        } else {
            let name = self.naming.bind_used(var);
            lines.push(Line::named(&name, value, Some(var)));
        }
    }

    /// Writes an element `x[i]` where it is used, even twice; but what the author gave a name keeps it.
    pub(crate) fn define_element(&mut self, var: Var, x: Var, value: Expr, lines: &mut Vec<Line>) {
        let nameless = self.naming.hint(var) == self.naming.hint(x);
        if nameless
            && self.uses.at_most(READ_AGAIN, var)
            && !self.exported.contains(&var)
            && width(&value, NARROW).is_some()
        {
            self.inline.insert(var, value);
        } else {
            self.define(var, value, lines);
        }
    }
}

/// Lines, then the tail.
pub(crate) fn assembled(lines: Vec<Line>, tail: Expr) -> Expr {
    assemble(lines, Vec::new(), Vec::new(), tail)
}

/// The first statement of an item.
fn first(item: &Item) -> Option<usize> {
    match item {
        Item::Stm(k) => Some(*k),
        Item::Region(region) => region.items.iter().find_map(first),
    }
}

/// `let`s, then effects, then the tail.
fn assemble(named: Vec<Line>, arrays: Vec<Expr>, units: Vec<Expr>, tail: Expr) -> Expr {
    let sequence =
        |rest: Expr, value: Expr| build::expr(ExprKind::Sequence(Box::new(value), Box::new(rest)));
    let body = units.into_iter().rev().fold(tail, sequence);
    let ignored = |rest, value| build::let_(build::binds("_"), value, rest);
    let body = arrays.into_iter().rev().fold(body, ignored);
    named.into_iter().rev().fold(body, |body, line| match line {
        Line::Let { comment, pattern, value, .. } => {
            let line = build::let_(pattern, value, body);
            match comment {
                Some(text) => build::expr(ExprKind::Commented(text, Box::new(line))),
                None => line,
            }
        }
        Line::Effect { value, .. } => ignored(body, value),
    })
}
