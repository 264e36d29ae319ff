//! Absent is not zero times a factor, in forward mode: the tangents that may be absent, and their
//! presence conditions.
//!
//! ```text
//!   let a = [0, x] in sqrt a[0] + a[1]     ȧ is there at [false, true]; the slope of the square
//!                                          root is infinite, and multiplies nothing
//!   loop s = 0 for i < n do sqrt s + x     ṡ is there if 0 < i
//! ```
//!
//! The *presence* of a scalar is a boolean over the values of the program. The presence of an array
//! is one boolean for all elements, or an array with one for each. It is computed only for tangents
//! that may be absent and that reach a partial derivative that need not be finite
//! ([`crate::unbounded`]). An analysis finds both beforehand, so that ordinary programs have no
//! booleans and no cost. A counted loop whose iterations surely produce a tangent carries none,
//! because the tangent is present from the second iteration on. Another loop carries the presence
//! of its state, because only the iteration itself determines it.
//!
//! Some tangents count as present, because their elements are not followed: results of functions
//! without rules, fields of nodes, accumulated elements, products with matrices, sums without
//! terms, and partly varying arguments of rules.

use lambada_anf::{Atom, Block, Elem, LoopKind, Op, Out, Param, Renaming, Stm, Ty, Var};
use lambada_prim::{Prim, ReduceOp, ScalarTy};

use crate::absence::{NOWHERE, Presence, surely_runs, truth};
use crate::arrays;
use crate::tangents::Tangents;

/// The type of booleans, one for each element.
fn flags_ty(ty: &Ty) -> Ty {
    Ty { elem: Elem::Scalar(ScalarTy::Bool), dims: ty.dims.clone() }
}

/// How the presence of a loop state's tangent is determined.
pub(crate) enum Carried {
    /// Present from the second iteration on, and in the first one under a condition.
    Later { state: usize, first: Atom },
    /// The loop carries the presence, starting with that of the initial state.
    Flag { state: usize, start: Atom, param: Param },
}

/// The presence of a result of a `for`; its booleans are a further result.
pub(crate) struct ResultPresence {
    pub(crate) of: Var,
    pub(crate) when: Presence,
    pub(crate) flags: Option<(Param, Out)>,
}

impl Tangents<'_> {
    /// The presence of the tangent of a scalar, or of an array as a whole; `None` if it is always
    /// present, or if the elements differ.
    pub(crate) fn presence(&self, x: Atom) -> Option<Atom> {
        match self.present.get(&x.as_var()?)? {
            Presence::Whole(when) => Some(*when),
            Presence::Each(..) => None,
        }
    }

    /// The presence of the tangent; `None` if it is always present.
    pub(crate) fn there(&self, x: Atom) -> Option<Presence> {
        match self.get(x) {
            Some(_) => self.present.get(&x.as_var()?).cloned(),
            None => Some(NOWHERE),
        }
    }

    /// Sets the presence of the tangent, if it matters.
    pub(crate) fn is_there(&mut self, x: Var, when: Option<Presence>) {
        if let Some(when) = when.filter(|_| self.absence.matters(x)) {
            self.present.insert(x, when);
        }
    }

    /// The presence as one boolean for each element of an array of the type.
    fn spread(&mut self, presence: Option<Presence>, ty: &Ty) -> Atom {
        match presence {
            None => arrays::filled(&mut self.b, "present", &flags_ty(ty), Atom::bool(true)),
            Some(Presence::Whole(when)) => {
                arrays::filled(&mut self.b, "present", &flags_ty(ty), when)
            }
            Some(Presence::Each(flags, _)) => flags.into(),
        }
    }

    fn named(&mut self, ty: &Ty) -> Param {
        Param { var: self.b.names.fresh("present"), ty: flags_ty(ty) }
    }

    /// `y = x[i]`
    pub(crate) fn part_is_there(&mut self, y: &Param, x: Var, index: &[Atom]) {
        if !self.absence.matters(y.var) {
            return;
        }
        let when = match self.present.get(&x).cloned() {
            Some(Presence::Each(flags, _)) => {
                let ty = flags_ty(&y.ty);
                let part = self.b.bind("present", ty, Op::Index(flags, index.to_vec()));
                Some(of_flags(part, &y.ty))
            }
            whole => whole,
        };
        self.is_there(y.var, when);
    }

    /// `y = [x, …]`
    pub(crate) fn items_are_there(&mut self, y: &Param, items: &[Atom]) {
        if !self.absence.matters(y.var) {
            return;
        }
        let there: Vec<Option<Presence>> = items.iter().map(|x| self.there(*x)).collect();
        let when = match same(&there) {
            Some(all) => all,
            None => {
                let ty = y.ty.indexed(1);
                let flags = there.into_iter().map(|there| self.spread(there, &ty)).collect();
                let flags = self.b.bind("present", flags_ty(&y.ty), Op::Array(flags));
                Some(of_flags(flags, &y.ty))
            }
        };
        self.is_there(y.var, when);
    }

    /// `y = x with [i] = v`
    pub(crate) fn update_is_there(&mut self, y: &Param, x: Var, index: &[Atom], value: Atom) {
        if !self.absence.matters(y.var) {
            return;
        }
        let there = [self.there(x.into()), self.there(value)];
        let when = match same(&there) {
            Some(all) => all,
            None => {
                let [array, value] = there;
                let array = self.spread(array, &y.ty).as_var().expect("an array is a variable");
                let value = self.spread(value, &y.ty.indexed(index.len()));
                let update = Op::Update { array, index: index.to_vec(), value };
                let flags = self.b.bind("present", flags_ty(&y.ty), update);
                Some(of_flags(flags, &y.ty))
            }
        };
        self.is_there(y.var, when);
    }

    /// A sum of products with the elements of arrays.
    pub(crate) fn contraction_is_there(&mut self, y: &Param, args: &[Var]) {
        if !self.absence.matters(y.var) {
            return;
        }
        let mut any: Option<Atom> = None;
        for x in args {
            if self.get(*x).is_none() {
                continue;
            }
            let when = match self.present.get(x).cloned() {
                Some(Presence::Whole(when)) => when,
                Some(Presence::Each(flags, ty)) if y.ty.dims.is_empty() => {
                    arrays::any(&mut self.b, "present", &ty, flags.into())
                }
                Some(Presence::Each(..)) | None => return,
            };
            any = Some(match any {
                Some(any) => self.b.prim(Prim::Or, [any, when]),
                None => when,
            });
        }
        self.is_there(y.var, any.map(Presence::Whole));
    }

    /// At the end of the body of a `for`: the presence of its results. An array or a sum of
    /// booleans is a further result of the body.
    pub(crate) fn iterations_are_there(
        &mut self,
        (stm, index, outs): (&Stm, Var, &[Out]),
        results: &mut Vec<Atom>,
    ) -> Vec<ResultPresence> {
        let mut all = Vec::new();
        for (k, p) in stm.binds.iter().enumerate() {
            let x = results[k];
            let there = self.get(x).and_then(|_| self.there(x));
            let Some(when) = there.filter(|_| self.absence.matters(p.var)) else { continue };
            if let Presence::Whole(cond) = when
                && !self.varies(cond, index)
            {
                all.push(ResultPresence { of: p.var, when, flags: None });
                continue;
            }
            let (out, ty) = match outs[k] {
                Out::Collect => (Out::Collect, p.ty.indexed(1)),
                Out::Reduce(_) => (Out::Reduce(ReduceOp::Or), p.ty.clone()),
            };
            let flag = self.spread(Some(when), &ty);
            results.push(flag);
            let flags = self.named(&p.ty);
            let when = of_flags(flags.var.into(), &p.ty);
            all.push(ResultPresence { of: p.var, when, flags: Some((flags, out)) });
        }
        all
    }

    /// Whether the current block binds the condition.
    fn varies(&self, cond: Atom, index: Var) -> bool {
        let mut bound = self.b.stms.iter().flat_map(|stm| &stm.binds).map(|p| p.var);
        cond.as_var().is_some_and(|cond| cond == index || bound.any(|x| x == cond))
    }

    /// How the loop determines the presence of its states.
    pub(crate) fn states_are_there(
        &mut self,
        (stm, params, kind, body): (&Stm, &[Param], &LoopKind, &Block),
        (inits, first): (&[Atom], &Renaming),
        active: &[usize],
    ) -> Vec<Carried> {
        let mut all = Vec::new();
        for k in active.iter().copied() {
            let vars = [params[k].var, stm.binds[k].var];
            let possible = vars.iter().any(|x| self.absence.possible.contains(x));
            let real = params[k].ty.elem == Elem::REAL;
            if !real || !possible || !vars.iter().any(|x| self.absence.matters(*x)) {
                continue;
            }
            let (start, result) = (self.there(inits[k]), body.results[k]);
            let given = self.activity.active(result)
                && result.as_var().is_some_and(|x| !self.absence.possible.contains(&x));
            let counted = matches!(kind, LoopKind::For { .. });
            all.push(match start {
                Some(Presence::Whole(first)) if counted && given => {
                    Carried::Later { state: k, first }
                }
                start => {
                    let start = self.spread(start, &first.ty(&params[k].ty));
                    Carried::Flag { state: k, start, param: self.named(&params[k].ty) }
                }
            });
        }
        all
    }

    /// The presence of the states at the start of a loop's body.
    pub(crate) fn states_in_body(
        &mut self,
        carried: &[Carried],
        params: &[Param],
        kind: &LoopKind,
    ) {
        for one in carried {
            match one {
                Carried::Later { state, first } => {
                    let LoopKind::For { index, .. } = kind else { continue };
                    let x = params[*state].var;
                    if self.absence.matters(x) {
                        let when = self.positive((*index).into(), *first);
                        self.is_there(x, Some(Presence::Whole(when)));
                    }
                }
                Carried::Flag { state, param, .. } => {
                    let p = &params[*state];
                    self.is_there(p.var, Some(of_flags(param.var.into(), &p.ty)));
                }
            }
        }
    }

    /// The presence of the next states that the loop carries, at the end of its body.
    pub(crate) fn next_states(
        &mut self,
        carried: &[Carried],
        (params, results): (&[Param], &[Atom]),
        next: &Renaming,
    ) -> Vec<Atom> {
        let mut flags = Vec::new();
        for one in carried {
            if let Carried::Flag { state, .. } = one {
                let there = self.there(results[*state]);
                flags.push(self.spread(there, &next.ty(&params[*state].ty)));
            }
        }
        flags
    }

    /// The further binds of a loop: the flags of its states.
    pub(crate) fn flags_bound(&mut self, carried: &[Carried], binds: &[Param]) -> Vec<Param> {
        let mut all = Vec::new();
        for one in carried {
            if let Carried::Flag { state, .. } = one {
                let p = &binds[*state];
                let flag = self.named(&p.ty);
                self.is_there(p.var, Some(of_flags(flag.var.into(), &p.ty)));
                all.push(flag);
            }
        }
        all
    }

    /// The presence, after the loop, of states without flags.
    pub(crate) fn states_after(&mut self, carried: &[Carried], binds: &[Param], kind: &LoopKind) {
        for one in carried {
            if let (Carried::Later { state, first }, LoopKind::For { extent, .. }) = (one, kind) {
                let x = binds[*state].var;
                if !surely_runs(kind) && self.absence.matters(x) {
                    let when = self.positive(*extent, *first);
                    self.is_there(x, Some(Presence::Whole(when)));
                }
            }
        }
    }

    /// `0 < n || or`
    fn positive(&mut self, n: Atom, or: Atom) -> Atom {
        let positive = self.b.prim(Prim::LtInt, [Atom::int(0), n]);
        match truth(or) {
            Some(false) => positive,
            Some(true) | None => self.b.prim(Prim::Or, [positive, or]),
        }
    }

    /// The presence of a result of two branches: a condition known outside, or a further result.
    pub(crate) fn branches_are_there(
        &mut self,
        cond: Atom,
        p: &Param,
        there: [Option<Presence>; 2],
        blocks: [(&mut Block, Ty); 2],
    ) -> Option<Param> {
        let whole = |there: &Option<Presence>| match there {
            None => Some(Atom::bool(true)),
            Some(Presence::Whole(when)) => Some(*when),
            Some(Presence::Each(..)) => None,
        };
        let is_array = match [whole(&there[0]), whole(&there[1])] {
            [Some(a), Some(b)] => match [truth(a), truth(b)] {
                [Some(true), Some(true)] => return None,
                [Some(true), Some(false)] => {
                    self.is_there(p.var, Some(Presence::Whole(cond)));
                    return None;
                }
                _ => false,
            },
            _ => true,
        };
        for (there, (block, ty)) in there.into_iter().zip(blocks) {
            let ty = if is_array { ty } else { Ty::real() };
            let outer = std::mem::replace(&mut self.b.stms, std::mem::take(&mut block.stms));
            let flag = self.spread(there, &ty);
            block.results.push(flag);
            block.stms = std::mem::replace(&mut self.b.stms, outer);
        }
        let ty = if is_array { p.ty.clone() } else { Ty::real() };
        let flag = self.named(&ty);
        self.is_there(p.var, Some(of_flags(flag.var.into(), &ty)));
        Some(flag)
    }
}

/// The presence that an array or scalar of booleans stands for, for a value of type `ty`.
fn of_flags(flags: Atom, ty: &Ty) -> Presence {
    match flags {
        Atom::Var(flags) if !ty.dims.is_empty() => Presence::Each(flags, flags_ty(ty)),
        when => Presence::Whole(when),
    }
}

/// The common presence, if all are equal.
fn same(there: &[Option<Presence>]) -> Option<Option<Presence>> {
    let first = there.first()?;
    let whole = !matches!(first, Some(Presence::Each(..)));
    (whole && there.iter().all(|one| one == first)).then(|| first.clone())
}
