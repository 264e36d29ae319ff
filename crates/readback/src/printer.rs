//! Blocks: the choice between named and inlined values, and the order of lines.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::{Atom, Block, Exp, NAMELESS, Names, Op, Stm, Var};
use lambada_prim::Scalar;
use lambada_surface::ast::{BinaryOp, Clause, Expr, ExprKind, Param, TypeExpr, UnaryOp};
use lambada_surface::build;

use crate::fields;
use crate::fors::Fors;
use crate::lines::Line;
use crate::locals::Local;
use crate::name_table::{Handles, NameTable};
use crate::names::Tokens;
use crate::phases::Comment;
use crate::pieces::{is_transposed, width};
use crate::regions::{self, Item, binds, mentions};
use crate::uses::Uses;

/// Limit on the width of an inlined value; wider ones get names.
const INLINE: usize = 56;

/// Limit on the width of an integer such as `2 * k` that is inlined at every use.
const OFFSET: usize = 9;

/// Limit on the width of an integer that is inlined because it is rarely used.
const WIDE_OFFSET: usize = 12;

/// Number of reads in one place up to which an element is written each time.
const READ_AGAIN: usize = 2;

/// Limit on the width of an element that is read more than once without getting a name.
const NARROW: usize = 24;

pub(crate) struct Printer<'a> {
    pub(crate) names: &'a Names,
    /// The library.
    pub(crate) table: &'a NameTable,
    /// The local functions of the printed function.
    pub(crate) locals: &'a [Local],
    /// Names of the local functions in scope.
    pub(crate) local_names: HashMap<usize, Rc<str>>,
    /// The accumulators of the regions around.
    pub(crate) open: Vec<Var>,
    pub(crate) handles: Handles,
    pub(crate) tokens: Tokens<'a>,
    pub(crate) uses: Uses,
    pub(crate) fors: Fors,
    /// Values that are inlined at their uses.
    pub(crate) inline: HashMap<Var, Expr>,
    /// Integers computed by primitives.
    pub(crate) ints: HashSet<Var>,
    /// Values that leave an `accumulate` region: they need names.
    pub(crate) exported: HashSet<Var>,
    /// Exported values that the innermost region mentions only as its results.
    pub(crate) leaving: HashSet<Var>,
    /// Comments before statements of the outermost block, by index of the statement, in reverse
    /// order.
    pub(crate) comments: Vec<(usize, Comment)>,
    /// The first variable made by the printer, for parts of split regions.
    pub(crate) own: u32,
    pub(crate) next: u32,
}

/// The items of a block, with facts about them.
pub(crate) struct Items<'b> {
    pub(crate) block: &'b Block,
    /// For each region, the variables that it binds and that later items use.
    pub(crate) needed: HashMap<Var, Vec<Var>>,
    /// Accumulators without additions, with their initial values.
    plain: HashMap<Var, Atom>,
    outermost: bool,
}

impl Printer<'_> {
    // Names and constants

    pub(crate) fn name(&self, var: Var) -> Expr {
        build::var(self.tokens.of(var))
    }

    pub(crate) fn atom(&self, atom: Atom) -> Expr {
        match atom {
            Atom::Lit(value) => self.constant_of(value),
            Atom::Var(var) => self.inline.get(&var).cloned().unwrap_or_else(|| self.name(var)),
        }
    }

    pub(crate) fn atoms(&self, atoms: &[Atom]) -> Vec<Expr> {
        atoms.iter().map(|a| self.atom(*a)).collect()
    }

    /// An atom, annotated if it is an integer literal, for a context that does not decide between
    /// int and real.
    pub(crate) fn decided(&self, atom: Atom) -> Expr {
        match atom {
            Atom::Lit(Scalar::Int(_)) => build::annotated(self.atom(atom), build::named_ty("int")),
            Atom::Lit(Scalar::Real(_) | Scalar::Bool(_)) | Atom::Var(_) => self.atom(atom),
        }
    }

    /// `i < n`
    pub(crate) fn clause(&self, index: &Rc<str>, extent: Atom) -> Clause {
        Clause::Range(build::name(index.clone()), self.atom(extent))
    }

    // Blocks

    /// A block as an expression of its results. With `unit`, a block without results has the type
    /// `()`.
    pub(crate) fn block(&mut self, block: &Block, results: &[Atom], unit: bool) -> Expr {
        let lines = self.lines(block, results, false);
        self.finish(lines, results, unit)
    }

    /// The lines of a block; variables mentioned by the results are named or inlined.
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
            let hint = self.tokens.hint(of);
            self.tokens.rename(part, hint);
        });
        let mut later: HashSet<Var> = results.iter().filter_map(|a| a.as_var()).collect();
        let needed = self.needed(block, &items, &mut later);
        self.exported.extend(needed.values().flatten());
        let all = Items { block, needed, plain: plain.into_iter().collect(), outermost };
        let mut lines = Vec::new();
        self.items(&all, &items, &mut lines);
        lines
    }

    /// For each region, the variables that it binds and that later items use. `later`: variables
    /// used after the items; grows.
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

    pub(crate) fn items(&mut self, all: &Items, items: &[Item], lines: &mut Vec<Line>) {
        for item in items {
            let before = lines.len();
            // A region does not begin a phase in its inside.
            let said = match item {
                Item::Region(_) if all.outermost => first(item).and_then(|at| self.phase_until(at)),
                Item::Stm(_) | Item::Region(_) => None,
            };
            match item {
                Item::Stm(k) => self.stm(all, *k, lines),
                Item::Region(region) => self.region(all, region, lines),
            }
            if let (true, Some(at), Some(Line::Let { comment, .. })) =
                (all.outermost, first(item), lines.get_mut(before))
            {
                *comment = said.map(Rc::from).or_else(|| self.said_until(at));
            } else if let (Some(phase), Some(at)) = (said, first(item))
                && let Some((_, next)) = self.comments.iter_mut().find(|(from, _)| *from <= at)
            {
                next.phase = Some(phase); // the next line begins it
            }
        }
    }

    /// The phase that has begun before a statement and has not been announced.
    fn phase_until(&mut self, at: usize) -> Option<&'static str> {
        let begun = self.comments.iter_mut().filter(|(from, _)| *from <= at);
        let phases: Vec<_> = begun.filter_map(|(_, comment)| comment.phase.take()).collect();
        // If nothing of the first sweep is printed, or one statement contains both, there is
        // nothing to distinguish.
        if let [phase] = phases[..] { Some(phase) } else { None }
    }

    /// The comment before the line of a statement. A phase without printed statements is not
    /// announced.
    fn said_until(&mut self, at: usize) -> Option<Rc<str>> {
        let mut said = Comment { phase: self.phase_until(at), of_loop: None };
        while let Some((from, next)) = self.comments.pop_if(|(from, _)| *from <= at) {
            said.of_loop = next.of_loop.filter(|_| from == at);
        }
        let name = |index| self.tokens.known(index).unwrap_or_else(|| self.tokens.hint(index));
        said.text(name)
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

    /// Assembles the lines and results of a block: first bindings, then additions, whose order does
    /// not matter.
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
            // If the last binding is the result, it needs no name.
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

    /// Inlines `var = value` at its uses, or adds it as a line.
    pub(crate) fn define(&mut self, var: Var, value: Expr, lines: &mut Vec<Line>) {
        let is_another_name =
            matches!(value.kind, ExprKind::Var(_)) && !self.exported.contains(&var);
        if is_another_name
            || self.is_view(var, &value)
            || self.written_once(var, &value)
            || self.is_offset(var, &value)
        {
            self.inline.insert(var, value);
        } else {
            let name = self.tokens.bind(var);
            lines.push(Line::named(&name, value, Some(var)));
        }
    }

    /// Inlines an element `x[i]`, even at two uses, unless its author gave it a name.
    pub(crate) fn define_element(
        &mut self,
        var: Var,
        x: Var,
        value: Expr,
        places: &[Expr],
        lines: &mut Vec<Line>,
    ) {
        let nameless = self.tokens.hint(var) == self.tokens.hint(x);
        if !nameless || self.written_once(var, &value) {
            self.define(var, value, lines);
        } else if self.uses.at_most(READ_AGAIN, var)
            && !self.exported.contains(&var)
            && width(&value, NARROW).is_some()
            && is_read(&value)
        {
            self.inline.insert(var, value);
        } else {
            let simple = places.iter().map(|place| match &place.kind {
                ExprKind::Var(index) => Some(index.clone()),
                ExprKind::Int(index) if *index >= 0 => Some(index.to_string().into()),
                _ => None, // an element at a computed place is called as its array
            });
            let name = match simple.collect::<Option<Vec<Rc<str>>>>() {
                Some(indices) => self.tokens.bind_element(var, indices),
                None => self.tokens.bind(var),
            };
            lines.push(Line::named(&name, value, Some(var)));
        }
    }

    /// Whether the value is `transpose x` or `-x`, which people write again.
    fn is_view(&self, var: Var, value: &Expr) -> bool {
        let (of, times) = match &value.kind {
            ExprKind::Apply(_, x) if is_transposed(value) => (x, usize::MAX),
            ExprKind::Unary(UnaryOp::Neg, x) => (x, READ_AGAIN),
            _ => return false, // everything else is computed
        };
        is_read(of) && self.uses.at_most(times, var) && !self.exported.contains(&var)
    }

    /// Whether the value is an integer such as `i + 1` to which the author gave no name.
    fn is_offset(&self, var: Var, value: &Expr) -> bool {
        let sum = match &value.kind {
            ExprKind::Binary(op, ..) => {
                matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
            }
            _ => false, // everything else is more than an offset
        };
        sum && self.ints.contains(&var)
            && &*self.tokens.hint(var) == NAMELESS
            && !self.exported.contains(&var)
            && (width(value, OFFSET).is_some()
                || self.uses.count(var) <= READ_AGAIN && width(value, WIDE_OFFSET).is_some())
    }

    /// Whether to inline the value at its use.
    fn written_once(&self, var: Var, value: &Expr) -> bool {
        let once = self.uses.at_most(1, var) || self.leaving.contains(&var);
        once && !self.exported.contains(&var) && width(value, INLINE).is_some()
    }
}

/// Adds the variables that the statements of a region mention.
pub(crate) fn mentioned(block: &Block, items: &[Item], all: &mut HashSet<Var>) {
    for item in items {
        match item {
            Item::Stm(k) => mentions(&block.stms[*k], all),
            Item::Region(region) => {
                mentioned(block, &region.items, all);
                all.extend(region.accs.iter().filter_map(|it| it.init.as_var()));
            }
        }
    }
}

/// The lines, then the tail.
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

/// Whether it is `(…) with [i] = x`, which reads better with a name.
pub(crate) fn is_update_of_a_value(value: &Expr) -> bool {
    matches!(&value.kind, ExprKind::Update(of, ..) if !matches!(of.kind, ExprKind::Var(_)))
}

/// Whether the value is an element, a field or a component of something with a name.
fn is_read(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Var(_) => true,
        ExprKind::Index(of, _) | ExprKind::Field(of, _) => is_read(of),
        _ => false, // a call would be computed again
    }
}

/// Takes the type that is written behind a choice: it belongs to the `let`.
fn type_of_choice(value: &mut Expr) -> Option<TypeExpr> {
    let ExprKind::Annotated(choice, ty) = &mut value.kind else { return None };
    if !matches!(choice.kind, ExprKind::If(..) | ExprKind::Match(..)) {
        return None;
    }
    let (choice, ty) = (std::mem::replace(&mut **choice, build::tuple(Vec::new())), ty.clone());
    *value = choice;
    Some(ty)
}

/// `let`s, then effects, then the tail.
fn assemble(named: Vec<Line>, arrays: Vec<Expr>, units: Vec<Expr>, tail: Expr) -> Expr {
    let sequence =
        |rest: Expr, value: Expr| build::expr(ExprKind::Sequence(Box::new(value), Box::new(rest)));
    let body = units.into_iter().rev().fold(tail, sequence);
    let ignored = |rest, value| build::let_(build::binds("_"), value, rest);
    let body = arrays.into_iter().rev().fold(body, ignored);
    fields::together(named).into_iter().rev().fold(body, |body, line| match line {
        Line::Let { comment, pattern, mut value, .. } => {
            let ty = type_of_choice(&mut value);
            let line = ExprKind::Let(Param { pattern, ty }, Box::new(value), Box::new(body));
            let line = build::expr(line);
            match comment {
                Some(text) => build::expr(ExprKind::Commented(text, Box::new(line))),
                None => line,
            }
        }
        Line::Effect { value, .. } => ignored(body, value),
    })
}
