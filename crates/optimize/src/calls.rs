//! Effects of calls: a summary of each function of the library, the least fixpoint over the call
//! graph.
//!
//! Judgement: a function fails, does not end, adds to cells or reads them only if its body does, or
//! a function that it calls. A recursion ends evidently if one parameter, the same for all
//! functions of the circle (a strongly connected component of the call graph), is smaller in every
//! call: an `int` that is known to be at least 0, or a handle of which the argument is a part. A
//! node has finitely many parts, because they are made before it. Null has only null as a part, but
//! a program that descends has tested the node before.
//!
//! Assumes: nothing. Gives: judgements about statements that look through calls. Keeps: all.

use std::collections::{BTreeSet, HashMap};

use lambada_anf::bounds::ScopedFacts;
use lambada_anf::{
    Atom, Block, Effect, Exp, FnId, Function, Library, LoopKind, Nest, Op, Param, Stm, Ty, Var,
};

use crate::ends::{End, end};

/// The greatest size of a function that is written out at its calls.
const STATEMENTS: usize = 24;

/// Facts from outside of a function: about the library that it calls, and the types of its captured
/// variables.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// Free variables of the code at hand, with their types.
    captured: Vec<Param>,
    of: Vec<Summary>,
    /// The functions that are written out where they are called.
    small: HashMap<FnId, Function>,
    /// The recursive functions that begin by testing whether they end.
    ends: HashMap<FnId, End>,
}

/// The effects that a function or a statement may have besides computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    /// May fail, or inspects.
    pub(crate) fails: bool,
    pub(crate) inspects: bool,
    pub(crate) endless: bool,
    pub(crate) makes_cells: bool,
    pub(crate) adds_to_cells: bool,
    pub(crate) reads_cells: bool,
}

impl Summary {
    pub(crate) const NOTHING: Summary = Summary {
        fails: false,
        inspects: false,
        endless: false,
        makes_cells: false,
        adds_to_cells: false,
        reads_cells: false,
    };
    /// The summary of an unknown function.
    const ALL: Summary = Summary {
        fails: true,
        inspects: true,
        endless: true,
        makes_cells: true,
        adds_to_cells: true,
        reads_cells: true,
    };

    pub(crate) fn and(self, other: Summary) -> Summary {
        Summary {
            fails: self.fails || other.fails,
            inspects: self.inspects || other.inspects,
            endless: self.endless || other.endless,
            makes_cells: self.makes_cells || other.makes_cells,
            adds_to_cells: self.adds_to_cells || other.adds_to_cells,
            reads_cells: self.reads_cells || other.reads_cells,
        }
    }

    /// Whether it adds to cells or reads them.
    pub(crate) fn touches_cells(self) -> bool {
        self.makes_cells || self.adds_to_cells || self.reads_cells
    }

    /// Whether the order of the two must be kept, because one reads a cell that the other may add
    /// to.
    pub(crate) fn conflicts(self, other: Summary) -> bool {
        self.adds_to_cells && other.reads_cells || self.reads_cells && other.adds_to_cells
    }
}

impl Calls {
    /// The summaries of a library.
    pub fn new(library: &Library) -> Calls {
        Calls::of(library, (0..library.functions.len()).map(|k| FnId(k as u32)).collect())
    }

    /// The summaries of the functions that these ones reach, themselves included. Of the others
    /// nothing is known.
    pub(crate) fn of(library: &Library, from: Vec<FnId>) -> Calls {
        let circles = library.circles(from);
        let of = vec![Summary::ALL; library.functions.len()];
        let mut calls = Calls { of, ..Calls::default() };
        for circle in &circles.all {
            let functions = || circle.iter().filter_map(|id| Some((*id, library.function(*id)?)));
            let recursive = circles.recursive.contains(&circle[0]);
            let endless = recursive && !descends(library, &circle.iter().copied().collect());
            for (id, f) in functions() {
                calls.of[id.0 as usize] = Summary { endless, ..Summary::NOTHING };
                if recursive {
                    calls.ends.extend(end(f).map(|end| (id, end)));
                } else if f.body.size() <= STATEMENTS && f.known.is_none() {
                    calls.small.insert(id, f.clone());
                }
            }
            loop {
                let mut changed = false;
                for (id, f) in functions() {
                    let known = calls.of[id.0 as usize];
                    let summary =
                        f.body.stms.iter().fold(known, |s, stm| s.and(calls.summary(stm)));
                    changed |= summary != known;
                    calls.of[id.0 as usize] = summary;
                }
                if !changed || !recursive {
                    break;
                }
            }
        }
        calls
    }

    /// Adds variables, with their types, that the code at hand captures.
    pub(crate) fn capturing(self, captured: &[Param]) -> Calls {
        Calls { captured: captured.to_vec(), ..self }
    }

    /// The variables that the code at hand captures, as far as known.
    pub(crate) fn captured(&self) -> &[Param] {
        &self.captured
    }

    /// The function, if it is written out where it is called.
    pub(crate) fn small(&self, id: FnId) -> Option<&Function> {
        self.small.get(&id)
    }

    /// The end of a recursive function that begins by testing for it.
    pub(crate) fn end(&self, id: FnId) -> Option<&End> {
        self.ends.get(&id)
    }

    /// The effects that a statement may have.
    pub(crate) fn summary(&self, stm: &Stm) -> Summary {
        let mut summary = Summary::NOTHING;
        stm.each(&mut |s| {
            summary = match (&s.exp, s.exp.effect()) {
                (Exp::Op(Op::Call { function, .. }), _) => {
                    let known = self.of.get(function.0 as usize).copied();
                    summary.and(known.unwrap_or(Summary::ALL))
                }
                (_, Effect::Fails) => Summary { fails: true, ..summary },
                (_, Effect::Inspects) => Summary { fails: true, inspects: true, ..summary },
                (_, Effect::MakesCells) => Summary { makes_cells: true, ..summary },
                (_, Effect::OpensCell) => Summary { adds_to_cells: true, ..summary },
                (_, Effect::ReadsCell) => Summary { reads_cells: true, ..summary },
                (exp, _) => Summary { endless: summary.endless || exp.is_unbounded(), ..summary },
            };
        });
        summary
    }

    pub(crate) fn may_fail(&self, stm: &Stm) -> bool {
        stm.may_fail() && self.summary(stm).fails
    }

    pub(crate) fn may_not_end(&self, stm: &Stm) -> bool {
        stm.may_not_end() && self.summary(stm).endless
    }

    /// Whether it shows values.
    pub(crate) fn inspects(&self, stm: &Stm) -> bool {
        stm.may_fail() && self.summary(stm).inspects
    }

    /// Whether it adds to an accumulator that it has not made itself, or touches a cell.
    pub(crate) fn adds(&self, stm: &Stm) -> bool {
        !stm.additions().is_empty() || stm.touches_cells() && self.summary(stm).touches_cells()
    }

    /// Whether it may move to any place where its operands are in scope: it only computes its
    /// bindings, though it may not end.
    pub(crate) fn is_pure(&self, stm: &Stm) -> bool {
        if stm.is_pure() {
            return true;
        }
        let own = matches!(stm.exp.effect(), Effect::None | Effect::Calls);
        own && !self.may_fail(stm) && !self.adds(stm)
    }
}

/// Whether one parameter, the same for all functions of a circle, is smaller in every call of them
/// by one another.
fn descends(library: &Library, circle: &BTreeSet<FnId>) -> bool {
    let mut functions = circle.iter().filter_map(|id| library.function(*id));
    let Some(first) = functions.clone().next() else { return true };
    let mut open = vec![true; first.params.len()];
    functions.all(|f| {
        let mut descent = Descent::new(circle, f, open.clone());
        descent.block(&f.body);
        open.clone_from(&descent.open);
        open.contains(&true)
    })
}

/// A walk through one function of a circle, which finds the parameters that are smaller in every
/// call.
struct Descent<'a> {
    circle: &'a BTreeSet<FnId>,
    params: &'a [Param],
    /// By position: whether the parameter is smaller in every call so far.
    open: Vec<bool>,
    /// The handles that are parts of parameters, with the position of the parameter.
    parts: HashMap<Var, usize>,
    known: ScopedFacts,
}

impl<'a> Descent<'a> {
    /// `open`: the positions that are still candidates.
    fn new(circle: &'a BTreeSet<FnId>, function: &'a Function, mut open: Vec<bool>) -> Descent<'a> {
        let params = &function.params[..];
        let decides = |p: &Param| p.ty == Ty::int() || is_handle(&p.ty);
        for (k, open) in open.iter_mut().enumerate() {
            *open &= params.get(k).is_some_and(decides);
        }
        Descent { circle, params, open, parts: HashMap::new(), known: ScopedFacts::default() }
    }

    fn block(&mut self, block: &Block) {
        let mark = self.known.mark();
        block.stms.iter().for_each(|stm| self.stm(stm));
        self.known.reset(mark);
    }

    fn stm(&mut self, stm: &Stm) {
        if !self.open.contains(&true) {
            return;
        }
        let mark = self.known.mark();
        self.known.enter(&stm.exp);
        match &stm.exp {
            Exp::Nest(Nest::If { cond, then, otherwise }) => {
                for (block, holds) in [(then, true), (otherwise, false)] {
                    let mark = self.known.mark();
                    self.known.assume(*cond, holds);
                    self.block(block);
                    self.known.reset(mark);
                }
            }
            Exp::Nest(Nest::For { body, .. }) => self.block(body),
            Exp::Nest(Nest::Loop { kind, body, .. }) => {
                if let LoopKind::While(cond) = kind {
                    self.block(cond);
                }
                self.block(body);
            }
            Exp::Op(Op::Call { function, args, .. }) if self.circle.contains(function) => {
                for position in 0..self.open.len() {
                    self.open[position] = self.open[position]
                        && args.get(position).is_some_and(|arg| self.is_smaller(*arg, position));
                }
            }
            Exp::Op(op) => self.part(op, stm),
        }
        self.known.reset(mark);
        self.known.pass(stm);
    }

    /// A field of a parameter, or of one of its parts, is a part of it.
    fn part(&mut self, op: &Op, stm: &Stm) {
        let Op::Field { of: Atom::Var(of), .. } = op else { return };
        let own = || self.params.iter().position(|p| p.var == *of);
        if let Some(position) = self.parts.get(of).copied().or_else(own)
            && stm.binds[0].ty.elem.node().is_some()
        {
            self.parts.insert(stm.binds[0].var, position);
        }
    }

    /// Whether the argument is smaller than the parameter at this position.
    fn is_smaller(&self, arg: Atom, position: usize) -> bool {
        let param = &self.params[position];
        if param.ty == Ty::int() {
            let param = Atom::Var(param.var);
            return self.known.ask(|place| {
                place.at_least(param, Atom::int(0), 0) && place.at_least(param, arg, 1)
            });
        }
        arg.as_var().is_some_and(|var| self.parts.get(&var) == Some(&position))
    }
}

fn is_handle(ty: &Ty) -> bool {
    ty.dims.is_empty() && ty.elem.node().is_some()
}
