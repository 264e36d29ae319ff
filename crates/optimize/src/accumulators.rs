//! Removes accumulators: sums of known shape become `for`s, reductions and plain additions.
//!
//! ```text
//!   for i < n { … acc[i] += v … }   becomes   ys = for i < n { … v }; acc += ys
//!                                             acc : [n]τ
//!   for i < n { … acc[p] += v … }   becomes   s = reduce + for i < n { … v };
//!                                             if p in range { acc[p] += s }
//!                                             p not bound in the loop, v a scalar
//!   loop … { … acc[p] += v … }      becomes   the same with a part of the state; likewise `if`
//!   acc = accumulator x; acc += v; y = freeze acc   becomes   y = x + v
//! ```
//! An accumulator for a few elements, added to at constant places, becomes one accumulator for
//! each: for four rows, or for sixteen scalars if nothing else is added to.
//!
//! For people, additions to `acc[j, i]` become the addition of a transposed array.
//!
//! Accumulators that calls add to stay, and so do cells.
//!
//! Assumes: nothing. Gives: accumulators only where the place of an addition is computed, or where
//! arrays are summed over a loop. Keeps: values up to the order of sums, and failures.

use std::collections::{HashMap, HashSet};

use lambada_anf::{
    Atom, Audience, Block, Effect, Exp, Function, LoopKind, Names, Nest, Op, Out, Param, Renaming,
    Stm, Ty, Var,
};
use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy};

use crate::calls::Calls;

/// Accumulators for at most this many rows are split.
const ROWS: i64 = 4;
/// Accumulators for at most this many scalars are split if none is added to as a whole.
const SCALARS: i64 = 16;

/// The pass.
pub(crate) fn accumulators(function: &mut Function, _: &Calls, audience: Audience) -> bool {
    let (names, types, zeros) = (&mut function.names, HashMap::new(), HashSet::new());
    let mut pass = Pass { names, types, zeros, audience, changed: false };
    pass.block(&mut function.body);
    pass.changed
}

struct Pass<'a> {
    names: &'a mut Names,
    /// The types of the accumulators in scope.
    types: HashMap<Var, Ty>,
    /// Arrays that are all zero.
    zeros: HashSet<Var>,
    audience: Audience,
    changed: bool,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block) {
        for stm in &mut block.stms {
            if let [p] = &stm.binds[..] {
                if stm.exp.effect() == Effect::Makes {
                    self.types.insert(p.var, p.ty.clone());
                }
                if matches!(stm.exp, Exp::Op(Op::Fill(value)) if is_zero(value)) {
                    self.zeros.insert(p.var);
                }
            }
            stm.exp.blocks_mut().into_iter().for_each(|b| self.block(b));
        }
        self.unchanging_places(block);
        let made = block.stms.iter().filter(|stm| stm.exp.effect() == Effect::Makes);
        let own: Vec<Var> = made.map(|stm| stm.binds[0].var).collect();
        if own.is_empty() {
            return;
        }
        let mut parts = Parts::new(block);
        own.into_iter().for_each(|acc| self.own(&mut parts, acc));
        parts.finish(block);
    }

    fn zero(&mut self, ty: &Ty, stms: &mut Vec<Stm>) -> Atom {
        let zero = Atom::Lit(ty.elem.zero());
        if ty.dims.is_empty() { zero } else { self.bind(stms, "zeros", ty.clone(), Op::Fill(zero)) }
    }

    fn is_zero(&self, atom: Atom) -> bool {
        is_zero(atom) || atom.as_var().is_some_and(|v| self.zeros.contains(&v))
    }

    fn bind(&mut self, stms: &mut Vec<Stm>, hint: &str, ty: Ty, exp: impl Into<Exp>) -> Atom {
        let var = self.names.fresh(hint);
        stms.push(Stm::new(vec![Param { var, ty }], exp));
        var.into()
    }

    /// `a + b`, of scalars or arrays.
    fn plus(&mut self, stms: &mut Vec<Stm>, hint: &str, ty: &Ty, a: Atom, b: Atom) -> Atom {
        if self.is_zero(a) {
            return b;
        }
        if self.is_zero(b) {
            return a;
        }
        let (Some(extent), Some(x), Some(y)) = (ty.dims.first().copied(), a.as_var(), b.as_var())
        else {
            let op = if ty.elem == ScalarTy::Int { Prim::AddInt } else { Prim::Add };
            return self.bind(stms, hint, ty.clone(), Op::Prim(op, vec![a, b]));
        };
        let index = self.names.fresh("i");
        let (row, mut body) = (ty.indexed(1), Vec::new());
        let u = self.bind(&mut body, "a", row.clone(), Op::Index(x, vec![index.into()]));
        let v = self.bind(&mut body, "b", row.clone(), Op::Index(y, vec![index.into()]));
        let sum = self.plus(&mut body, hint, &row, u, v);
        let body = Block { stms: body, results: vec![sum] };
        self.bind(
            stms,
            hint,
            ty.clone(),
            Nest::For { index, extent, outs: vec![Out::Collect], body },
        )
    }

    /// Additions inside a loop to a place that does not change become one addition after it.
    fn unchanging_places(&mut self, block: &mut Block) {
        for mut stm in std::mem::take(&mut block.stms) {
            let mut added = Vec::new();
            if stm.exp.repeats() {
                for (acc, place) in scalar_places(&stm, &self.types) {
                    let ty = self.types[&acc].indexed(place.len());
                    if let Some((Some(changed), value)) =
                        (Sum { acc, place: place.clone(), ty, all: false, exchanged: false })
                            .statement(self, &stm)
                    {
                        stm = changed;
                        self.changed = true;
                        self.guarded(&mut added, acc, place, value);
                    }
                }
            }
            block.stms.push(stm);
            block.stms.extend(added);
        }
    }

    /// `acc[place] += value`, if the place is in range. It may be out of range only if the loop has
    /// added nothing.
    fn guarded(&mut self, to: &mut Vec<Stm>, acc: Var, place: Vec<Atom>, value: Atom) {
        let sizes = self.types[&acc].dims.clone();
        let mut inside: Option<Atom> = None;
        for (i, size) in place.iter().zip(&sizes) {
            if matches!((i, size), (Atom::Lit(Scalar::Int(i)), Atom::Lit(Scalar::Int(size))) if (0..*size).contains(i))
            {
                continue;
            }
            let low =
                self.bind(to, "low", Ty::bool(), Op::Prim(Prim::LeInt, vec![Atom::int(0), *i]));
            let high = self.bind(to, "high", Ty::bool(), Op::Prim(Prim::LtInt, vec![*i, *size]));
            let both = self.bind(to, "inside", Ty::bool(), Op::Prim(Prim::And, vec![low, high]));
            inside = Some(match inside {
                Some(before) => {
                    self.bind(to, "inside", Ty::bool(), Op::Prim(Prim::And, vec![before, both]))
                }
                None => both,
            });
        }
        let add = Stm::effect(Op::Accumulate { acc, index: place, value });
        to.push(match inside {
            Some(cond) => {
                let then = Block { stms: vec![add], results: vec![] };
                Stm::effect(Nest::If { cond, then, otherwise: Block::default() })
            }
            None => add,
        });
    }

    /// An accumulator in the block that made it.
    fn own(&mut self, parts: &mut Parts, acc: Var) {
        if let Some(rows) = self.split(parts, acc) {
            rows.into_iter().for_each(|row| self.own(parts, row));
            return;
        }
        let ty = self.types[&acc].clone();
        let Some(init) = parts.mentioning(acc).find_map(|stm| first_value(stm, acc)) else {
            return;
        };
        let init = parts.resolved(init);
        let sum = Sum { acc, place: vec![], ty: ty.clone(), all: true, exchanged: false };
        let adders = parts.mentioning(acc).filter(|stm| adds_to(stm, acc));
        let hint = self.names.hint(acc);
        let (mut count, mut taken) = (0, Vec::new());
        for stm in adders {
            if count == taken.len() {
                let part = sum.statement(self, stm);
                let part = part.map(|(changed, part)| (Vec::from_iter(changed), part));
                taken.extend(part.or_else(|| sum.exchanged(self, stm)));
            }
            count += 1;
        }
        let all = taken.len() == count;
        // A partial replacement pays only if it saves the initial zeros.
        if !all && (taken.is_empty() || !self.is_zero(init)) {
            return;
        }
        self.changed = true;
        let mut taken = taken.into_iter();
        let mut value = Some(init);
        for place in parts.places(acc) {
            for stm in std::mem::take(&mut parts.places[place]) {
                let mut to = Vec::new();
                if first_value(&stm, acc).is_some() {
                    // It is made later, from the sum at that time, or not at all.
                } else if adds_to(&stm, acc) {
                    match taken.next() {
                        Some((changed, part)) => {
                            to.extend(changed);
                            let part = parts.resolved(part);
                            value = value.map(|sum| self.plus(&mut to, &hint, &ty, sum, part));
                        }
                        None => {
                            to.extend(value.take().map(|sum| {
                                Stm::new(
                                    vec![Param { var: acc, ty: ty.clone() }],
                                    Op::Accumulator(sum),
                                )
                            }));
                            to.push(stm);
                        }
                    }
                } else if let (true, Some(sum)) = (freezes(&stm, acc), value) {
                    parts.stands_for(stm.binds[0].var, sum);
                } else {
                    to.push(stm);
                }
                parts.places[place].extend(to);
            }
        }
    }

    /// Splits a small accumulator into one for each row, if all additions are at constant rows or
    /// to the whole.
    fn split(&mut self, parts: &mut Parts, acc: Var) -> Option<Vec<Var>> {
        let ty = self.types[&acc].clone();
        let Scalar::Int(count @ 1..=SCALARS) = ty.dims.first()?.as_lit()? else { return None };
        let few = count <= ROWS;
        let splits = |stm: &Stm| splits(stm, acc, count, few);
        if !few && ty.rank() > 1 || !parts.mentioning(acc).all(splits) {
            return None;
        }
        let row = ty.indexed(1);
        let rows: Vec<Var> = (0..count).map(|_| self.names.again(acc)).collect();
        rows.iter().for_each(|r| _ = self.types.insert(*r, row.clone()));
        for place in parts.places(acc) {
            let mut to = Vec::new();
            for stm in std::mem::take(&mut parts.places[place]) {
                self.split_statement(stm, acc, &rows, &row, &mut to);
            }
            parts.places[place] = to;
        }
        parts.split(acc, &rows);
        self.changed = true;
        Some(rows)
    }

    fn split_statement(
        &mut self,
        mut stm: Stm,
        acc: Var,
        rows: &[Var],
        ty: &Ty,
        to: &mut Vec<Stm>,
    ) {
        if let Some(init) = first_value(&stm, acc) {
            for (k, r) in rows.iter().enumerate() {
                let first = self.row(to, init, k, ty);
                let binds = vec![Param { var: *r, ty: ty.clone() }];
                to.push(Stm::new(binds, Op::Accumulator(first)));
            }
        } else if freezes(&stm, acc) {
            let hint = self.names.hint(acc);
            let frozen =
                rows.iter().map(|r| self.bind(to, &hint, ty.clone(), Op::Freeze(*r))).collect();
            to.push(Stm::new(stm.binds, Op::Array(frozen)));
        } else {
            let blocks = stm.exp.blocks_mut();
            blocks.into_iter().for_each(|b| self.split_additions(b, acc, rows, ty));
            self.split_addition(stm, acc, rows, ty, to);
        }
    }

    fn row(&mut self, stms: &mut Vec<Stm>, whole: Atom, k: usize, ty: &Ty) -> Atom {
        match whole {
            Atom::Var(x) if !self.zeros.contains(&x) => {
                self.bind(stms, "row", ty.clone(), Op::Index(x, vec![Atom::int(k as i64)]))
            }
            Atom::Var(_) | Atom::Lit(_) => {
                let zero = self.zero(ty, stms);
                self.zeros.extend(zero.as_var());
                zero
            }
        }
    }

    fn split_additions(&mut self, block: &mut Block, acc: Var, rows: &[Var], ty: &Ty) {
        for mut stm in std::mem::take(&mut block.stms) {
            stm.exp.blocks_mut().into_iter().for_each(|b| self.split_additions(b, acc, rows, ty));
            self.split_addition(stm, acc, rows, ty, &mut block.stms);
        }
    }

    fn split_addition(&mut self, stm: Stm, acc: Var, rows: &[Var], ty: &Ty, to: &mut Vec<Stm>) {
        let (index, value) = match &stm.exp {
            Exp::Op(Op::Accumulate { acc: a, index, value }) if *a == acc => (index, *value),
            Exp::Op(_) | Exp::Nest(_) => return to.push(stm),
        };
        if let Some(Atom::Lit(Scalar::Int(k))) = index.first() {
            let (acc, index) = (rows[*k as usize], index[1..].to_vec());
            return to.push(Stm::effect(Op::Accumulate { acc, index, value }));
        }
        for (k, r) in rows.iter().enumerate() {
            let value = self.row(to, value, k, ty);
            to.push(Stm::effect(Op::Accumulate { acc: *r, index: vec![], value }));
        }
    }
}

/// The initial value of the accumulator, if the statement makes it.
fn first_value(stm: &Stm, acc: Var) -> Option<Atom> {
    match &stm.exp {
        Exp::Op(Op::Accumulator(init)) if stm.binds[0].var == acc => Some(*init),
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}

fn freezes(stm: &Stm, acc: Var) -> bool {
    stm.exp.effect() == Effect::Freezes(acc)
}

/// Whether the statement adds to the accumulator, which stands outside.
fn adds_to(stm: &Stm, acc: Var) -> bool {
    stm.adds_to(&|other| other == acc)
}

/// Whether all additions to the accumulator are at constant rows in range, or, if `whole` allows
/// it, to the whole.
fn splits(stm: &Stm, acc: Var, rows: i64, whole: bool) -> bool {
    let row = |i: &Atom| matches!(i, Atom::Lit(Scalar::Int(k)) if (0..rows).contains(k));
    !stm.any(&mut |stm| match &stm.exp {
        Exp::Op(Op::Accumulate { acc: a, index, .. }) => {
            *a == acc && !index.first().map_or(whole, row)
        }
        Exp::Op(Op::Call { accumulators, .. }) => accumulators.contains(&acc),
        Exp::Op(_) | Exp::Nest(_) => false,
    })
}

/// The places of scalars that a loop adds to and that do not change in it, in order.
fn scalar_places(stm: &Stm, types: &HashMap<Var, Ty>) -> Vec<(Var, Vec<Atom>)> {
    let mut inside: HashSet<Var> = stm.exp.bound().into_iter().collect();
    let mut places = Vec::new();
    for block in stm.exp.blocks() {
        block.bound(&mut |v| _ = inside.insert(v));
    }
    stm.each(&mut |stm| {
        let Exp::Op(Op::Accumulate { acc, index, .. }) = &stm.exp else { return };
        let outside = |a: &Atom| a.as_var().is_none_or(|v| !inside.contains(&v));
        let scalar = types.get(acc).is_some_and(|ty| ty.rank() == index.len());
        let place = (*acc, index.clone());
        if scalar && !inside.contains(acc) && index.iter().all(outside) && !places.contains(&place)
        {
            places.push(place);
        }
    });
    places
}

fn is_zero(atom: Atom) -> bool {
    match atom {
        Atom::Lit(Scalar::Real(x)) => x == 0.0,
        Atom::Lit(Scalar::Int(k)) => k == 0,
        Atom::Lit(Scalar::Bool(_)) | Atom::Var(_) => false,
    }
}

/// The statements of a block, while its accumulators are replaced one after the other: by place in
/// the block, with an index from accumulators to places, so that the replacement of an accumulator
/// visits only the statements that mention it.
struct Parts {
    places: Vec<Vec<Stm>>,
    /// The places where each accumulator is made, added to and frozen, in order.
    of: HashMap<Var, Vec<usize>>,
    /// Replacements of the final values of removed accumulators.
    image: Renaming,
    gone: Vec<Var>,
}

impl Parts {
    fn new(block: &mut Block) -> Parts {
        let mut of: HashMap<Var, Vec<usize>> = HashMap::new();
        for (k, stm) in block.stms.iter().enumerate() {
            let accs: Vec<Var> = match stm.exp.effect() {
                Effect::Makes => vec![stm.binds[0].var],
                Effect::Adds(acc) | Effect::Freezes(acc) => vec![acc],
                Effect::None
                | Effect::Fails
                | Effect::Inspects
                | Effect::Calls
                | Effect::MakesCells
                | Effect::OpensCell
                | Effect::ReadsCell => stm.additions().into_iter().collect(),
            };
            accs.into_iter().for_each(|acc| of.entry(acc).or_default().push(k));
        }
        let places = std::mem::take(&mut block.stms).into_iter().map(|stm| vec![stm]).collect();
        Parts { places, of, image: Renaming::new(), gone: Vec::new() }
    }

    fn finish(mut self, block: &mut Block) {
        block.stms = std::mem::take(&mut self.places).into_iter().flatten().collect();
        let mut image = Renaming::new();
        self.gone.iter().for_each(|var| image.insert(*var, self.resolved((*var).into())));
        if !image.is_empty() {
            image.apply(block);
        }
    }

    fn stands_for(&mut self, frozen: Var, value: Atom) {
        self.image.insert(frozen, value);
        self.gone.push(frozen);
    }

    /// The atom after all replacements: the value of an accumulator may be that of another one.
    fn resolved(&self, atom: Atom) -> Atom {
        let mut atom = atom;
        loop {
            let next = self.image.atom(atom);
            if next == atom {
                return atom;
            }
            atom = next;
        }
    }

    fn places(&self, acc: Var) -> Vec<usize> {
        self.of.get(&acc).cloned().unwrap_or_default()
    }

    /// The statements that mention the accumulator.
    fn mentioning(&self, acc: Var) -> impl Iterator<Item = &Stm> {
        self.of.get(&acc).into_iter().flatten().flat_map(|place| &self.places[*place])
    }

    fn split(&mut self, acc: Var, rows: &[Var]) {
        let places = self.places(acc);
        rows.iter().for_each(|row| _ = self.of.insert(*row, places.clone()));
    }
}

/// The sum that code adds to `acc[place]`, as a value of type `ty`. With `all`, every addition to
/// the accumulator must be of this kind; otherwise the others stay.
#[derive(Clone)]
struct Sum {
    acc: Var,
    place: Vec<Atom>,
    ty: Ty,
    all: bool,
    /// Whether it is the transpose of the sum, for a matrix.
    exchanged: bool,
}

impl Sum {
    /// The statement without its additions, and their sum, if it adds to the columns of a matrix.
    fn exchanged(&self, pass: &mut Pass, stm: &Stm) -> Option<(Vec<Stm>, Atom)> {
        let (Audience::People, [n, m]) = (pass.audience, &self.ty.dims[..]) else { return None };
        let ty = Ty { elem: self.ty.elem, dims: vec![*m, *n] };
        let (changed, part) = Sum { ty, exchanged: true, ..self.clone() }.statement(pass, stm)?;
        let mut stms = Vec::from_iter(changed);
        let (hint, mut outer, mut inner) = (pass.names.hint(self.acc), Vec::new(), Vec::new());
        let (i, j) = (pass.names.fresh("i"), pass.names.fresh("j"));
        let read = Op::Index(part.as_var()?, vec![j.into(), i.into()]);
        let element = pass.bind(&mut inner, &hint, self.ty.indexed(2), read);
        let each = |index, extent, stms, result| {
            let body = Block { stms, results: vec![result] };
            Nest::For { index, extent, outs: vec![Out::Collect], body }
        };
        let row = each(j, *m, inner, element);
        let row = pass.bind(&mut outer, &hint, self.ty.indexed(1), row);
        let whole = pass.bind(&mut stms, &hint, self.ty.clone(), each(i, *n, outer, row));
        Some((stms, whole))
    }

    /// The statement without its additions, and their sum, if possible.
    fn statement(&self, pass: &mut Pass, stm: &Stm) -> Option<(Option<Stm>, Atom)> {
        match &stm.exp {
            Exp::Op(Op::Accumulate { acc, index, value }) => {
                let at = match self.exchanged {
                    true => self.place.iter().rev().copied().collect(),
                    false => self.place.clone(),
                };
                let whole = !self.exchanged || self.ty.dims.is_empty();
                (*acc == self.acc && *index == at && whole).then_some((None, *value))
            }
            Exp::Nest(Nest::For { index, extent, outs, body }) => {
                let (out, inner) = self.out(*index, *extent)?;
                let (mut body, value) = inner.block(pass, body)?;
                body.results.push(value?);
                let outs = outs.iter().copied().chain([out]).collect();
                let exp = Nest::For { index: *index, extent: *extent, outs, body };
                Some(self.with(pass, stm, exp))
            }
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                self.loop_(pass, stm, (params, inits, kind), body)
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) if self.ty.dims.is_empty() => {
                let (then, otherwise) = (self.block(pass, then)?, self.block(pass, otherwise)?);
                // Branches that add elsewhere only have no sum: an absent sum is not a zero to be
                // added.
                if then.1.is_none() && otherwise.1.is_none() {
                    return None;
                }
                let branch = |(mut block, value): (Block, Option<Atom>)| {
                    block.results.push(value.unwrap_or(Atom::Lit(self.ty.elem.zero())));
                    block
                };
                let (then, otherwise) = (branch(then), branch(otherwise));
                let exp = Nest::If { cond: *cond, then, otherwise };
                Some(self.with(pass, stm, exp))
            }
            Exp::Op(_) | Exp::Nest(Nest::If { .. }) => None,
        }
    }

    /// How a `for` makes the sum: collecting or reducing, and the sum within an iteration.
    fn out(&self, index: Var, extent: Atom) -> Option<(Out, Sum)> {
        match self.ty.dims.first() {
            Some(size) if *size == extent => {
                let place = self.place.iter().copied().chain([index.into()]).collect();
                Some((Out::Collect, Sum { place, ty: self.ty.indexed(1), ..self.clone() }))
            }
            Some(_) => None,
            None => Some((Out::Reduce(ReduceOp::Add), self.clone())),
        }
    }

    /// The statement with one more binding, for the sum.
    fn with(&self, pass: &mut Pass, stm: &Stm, exp: impl Into<Exp>) -> (Option<Stm>, Atom) {
        let var = pass.names.again(self.acc);
        let binds = stm.binds.iter().cloned().chain([Param { var, ty: self.ty.clone() }]).collect();
        (Some(Stm::new(binds, exp)), var.into())
    }

    /// A sum over a sequential loop is one more part of its state.
    fn loop_(
        &self,
        pass: &mut Pass,
        stm: &Stm,
        (params, inits, kind): (&[Param], &[Atom], &LoopKind),
        body: &Block,
    ) -> Option<(Option<Stm>, Atom)> {
        if !self.ty.dims.is_empty() {
            return None;
        }
        if let LoopKind::While(cond) = kind
            && cond.stms.iter().any(|stm| adds_to(stm, self.acc))
        {
            return None;
        }
        let (mut body, value) = self.block(pass, body)?;
        let state = pass.names.again(self.acc);
        let next =
            pass.plus(&mut body.stms, &pass.names.hint(self.acc), &self.ty, state.into(), value?);
        body.results.push(next);
        let params =
            params.iter().cloned().chain([Param { var: state, ty: self.ty.clone() }]).collect();
        let inits = inits.iter().copied().chain([Atom::Lit(self.ty.elem.zero())]).collect();
        Some(self.with(pass, stm, Nest::Loop { params, inits, kind: kind.clone(), body }))
    }

    /// The block without its additions, and their sum, which it has computed; no sum if there are
    /// none.
    fn block(&self, pass: &mut Pass, block: &Block) -> Option<(Block, Option<Atom>)> {
        let mut result = Block { stms: Vec::new(), results: block.results.clone() };
        let mut sum: Option<Atom> = None;
        for stm in &block.stms {
            if !adds_to(stm, self.acc) {
                result.stms.push(stm.clone());
                continue;
            }
            match self.statement(pass, stm) {
                Some((changed, part)) => {
                    result.stms.extend(changed);
                    sum = Some(match sum {
                        Some(sum) => {
                            let hint = pass.names.hint(self.acc);
                            pass.plus(&mut result.stms, &hint, &self.ty, sum, part)
                        }
                        None => part,
                    });
                }
                None if self.all => return None,
                None => result.stms.push(stm.clone()),
            }
        }
        Some((result, sum))
    }
}
