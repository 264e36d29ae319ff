//! The clauses of a `for` and of a `loop`, and filters.
//!
//! `for i < n, j < m if c => e` finds the places for which `c` holds, one after the other, and then
//! builds the array from them, all elements independent:
//!
//! ```text
//!   let (count, i_places, j_places) =
//!     loop (count, i_places, j_places) = … for i < n, j < m do if c then … else …
//!   in for k < count => let i = i_places[k] let j = j_places[k] in e
//! ```

use lambada_core::{self as core, Checkpoint, LoopKind, Term, Ty, Var};
use lambada_prim::Prim;
use lambada_source::Span;

use super::Specialize;
use super::spine::Spine;
use crate::typed::{Clause, Exp, Pat, PatKind};

/// The terms of a clause that are evaluated before its loop.
#[derive(Clone)]
pub(super) struct Dimension {
    /// Trip count.
    pub extent: Term,
    /// The first value of the index, if it is not 0.
    start: Option<Term>,
    /// The array of `x in xs`.
    array: Option<Term>,
}

/// Body of nested loops: from the index of each loop and the state to the next state.
type Inside<'a, 's> = &'a mut dyn FnMut(&mut Specialize<'s>, &[Var], Term) -> Term;

impl<'s> Specialize<'s> {
    pub(super) fn dimension(&mut self, clause: &Clause, spine: &mut Spine) -> Dimension {
        match clause {
            Clause::Range(_, None, bound) => {
                Dimension { extent: self.exp(bound), start: None, array: None }
            }
            Clause::Range(_, Some(start), bound) => {
                let start = self.exp(start);
                let start = self.share(spine, "start", start);
                let bound = self.exp(bound);
                let extent = core::prim(Prim::SubInt, vec![bound, start.clone()]);
                Dimension { extent, start: Some(start), array: None }
            }
            Clause::In(_, array) => {
                let array = self.exp(array);
                let array = self.share_as_var(spine, "array", array);
                let extent = core::dim(array.clone(), 0);
                Dimension { extent, start: None, array: Some(array) }
            }
        }
    }

    /// The variable that the loop of a clause counts.
    pub(super) fn index_variable(&mut self, clause: &Clause, dimension: &Dimension) -> Var {
        match clause {
            Clause::Range(local, ..) if dimension.start.is_none() => self.declare(*local),
            Clause::Range(..) | Clause::In(..) => self.fresh("i", Ty::INT),
        }
    }

    /// Binds the variables of a clause at the place that the loop has reached.
    pub(super) fn bind_index(
        &mut self,
        clause: &Clause,
        dimension: &Dimension,
        at: &Var,
        spine: &mut Spine,
    ) {
        match (clause, &dimension.start, &dimension.array) {
            (Clause::In(pat, _), _, Some(array)) => {
                let element = core::index(array.clone(), vec![core::var(at)], array.span());
                self.bind_pattern(pat, element, spine);
            }
            (Clause::Range(local, ..), Some(start), _) => {
                let var = self.declare(*local);
                let value = core::prim(Prim::AddInt, vec![start.clone(), core::var(at)]);
                self.let_in(spine, var, value);
            }
            (Clause::Range(local, ..), None, _) if self.scope.vars.get(local) != Some(at) => {
                let var = self.declare(*local);
                self.let_in(spine, var, core::var(at));
            }
            (Clause::Range(..), None, _) => {}
            (Clause::In(..), _, None) => unreachable!("a clause over an array has one"),
        }
    }

    /// The bodies at the places for which the condition holds.
    pub(super) fn filtered(
        &mut self,
        clauses: &[Clause],
        condition: &Exp,
        body: &Exp,
        span: Span,
    ) -> Term {
        let mut outside = Spine::default();
        let first = self.dimension(&clauses[0], &mut outside);
        let room = self.room(clauses, &first);
        let room = self.share(&mut outside, "room", room);
        let found = self.found(clauses, &first, &room, condition, span);
        let found = self.share_as_var(&mut outside, "found", found);
        let count = self.share(&mut outside, "count", core::proj(found.clone(), 0));
        let places: Vec<Term> = (1..=clauses.len())
            .map(|k| self.share_as_var(&mut outside, "places", core::proj(found.clone(), k)))
            .collect();
        let k = self.fresh("k", Ty::INT);
        let mut spine = Spine::default();
        for (axis, (clause, places)) in clauses.iter().zip(&places).enumerate() {
            let dimension =
                if axis == 0 { first.clone() } else { self.dimension(clause, &mut spine) };
            let at = self.fresh("i", Ty::INT);
            let place = core::index(places.clone(), vec![core::var(&k)], self.span(span));
            self.let_in(&mut spine, at.clone(), place);
            self.failing += 1;
            self.bind_index(clause, &dimension, &at, &mut spine);
        }
        let body = self.exp(body);
        let body = self.close(spine, body);
        self.note_irregular(body.ty());
        let built = self.at(core::for_(k, count, body), span);
        self.close(outside, built)
    }

    /// The number of places with the places along each axis, in arrays that have room for all.
    fn found(
        &mut self,
        clauses: &[Clause],
        first: &Dimension,
        room: &Term,
        condition: &Exp,
        span: Span,
    ) -> Term {
        let mut parts = vec![core::int(0)];
        for _ in clauses {
            let i = self.fresh("_i", Ty::INT);
            parts.push(core::for_(i, room.clone(), core::int(0)));
        }
        let span = self.span(span);
        let names: Vec<String> = clauses.iter().map(|clause| self.places_name(clause)).collect();
        let hint = format!("(count, {})", names.join(", "));
        let init = core::tuple(parts);
        self.nest(clauses, Some(first), (&hint, init), &mut |this, indices, state| {
            let test = this.exp(condition);
            let count = core::proj(state.clone(), 0);
            let mut next = vec![core::prim(Prim::AddInt, vec![count.clone(), core::int(1)])];
            for (k, index) in indices.iter().enumerate() {
                let places = core::proj(state.clone(), k + 1);
                this.failing += 1;
                next.push(core::update(places, vec![count.clone()], core::var(index), span));
            }
            core::if_(test, core::tuple(next), state)
        })
    }

    /// The number of places that the condition is asked for.
    fn room(&mut self, clauses: &[Clause], first: &Dimension) -> Term {
        let (last, others) = clauses.split_last().expect("a `for` has a clause");
        if others.is_empty() {
            return first.extent.clone();
        }
        self.nest(others, Some(first), ("total", core::int(0)), &mut |this, _, total| {
            let mut spine = Spine::default();
            let extent = this.dimension(last, &mut spine).extent;
            let extent = this.share(&mut spine, "extent", extent);
            let some = core::prim(Prim::LtInt, vec![core::int(0), extent.clone()]);
            let more = core::prim(Prim::AddInt, vec![total.clone(), extent]);
            let sum = core::if_(some, more, total);
            this.close(spine, sum)
        })
    }

    /// Loops over all places of the clauses, the first outermost, with a state.
    fn nest(
        &mut self,
        clauses: &[Clause],
        first: Option<&Dimension>,
        state: (&str, Term),
        inside: Inside<'_, 's>,
    ) -> Term {
        let mut indices = Vec::new();
        self.nested(clauses, first, state, &mut indices, inside)
    }

    /// Name of the array of the places along the axis of a clause.
    fn places_name(&self, clause: &Clause) -> String {
        let local = match clause {
            Clause::Range(local, ..) => *local,
            Clause::In(Pat { kind: PatKind::Var(local), .. }, _) => *local,
            Clause::In(..) => return "places".into(),
        };
        let name = &self.from.locals[local.0 as usize].name;
        format!("{}_places", name.trim_matches(['_', '\'']))
    }

    fn nested(
        &mut self,
        clauses: &[Clause],
        known: Option<&Dimension>,
        (hint, init): (&str, Term),
        indices: &mut Vec<Var>,
        inside: Inside<'_, 's>,
    ) -> Term {
        let Some((clause, rest)) = clauses.split_first() else {
            return inside(self, indices, init);
        };
        let mut outside = Spine::default();
        let dimension = match known {
            Some(known) => known.clone(),
            None => self.dimension(clause, &mut outside),
        };
        let state = self.fresh(hint, init.ty().clone());
        let index = self.fresh("i", Ty::INT);
        let mut spine = Spine::default();
        self.bind_index(clause, &dimension, &index, &mut spine);
        indices.push(index.clone());
        let body = self.nested(rest, None, (hint, core::var(&state)), indices, inside);
        indices.pop();
        let body = self.close(spine, body);
        let kind = LoopKind::For(index, dimension.extent, Checkpoint::All);
        let looped = core::loop_(state, init, kind, body);
        self.close(outside, looped)
    }
}
