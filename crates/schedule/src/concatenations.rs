//! Concatenations, as `concat` makes them: `for e < n + m => if e < n then xs[e] else ys[e - n]`.
//! The lowering can build `xs` and `ys` in the memory of the result, so that nothing is copied
//! (array short-circuiting). That pays if the result leaves its block; elsewhere its readers had
//! better read the parts.
//!
//! *Assumes* a function that `lambada_anf::check` accepts. *Gives* one that computes the same, in
//! which each such array is a [`Scheduled::Concat`]. The sizes of its parts are not negative, their
//! sum is its size, and no number of rows wraps. All rows have the same sizes, and the allocation
//! of the result multiplies exactly: so each part has its own memory.

use lambada_anf::bounds::{LONGEST_AXIS, ScopedFacts, arithmetic};
use lambada_anf::{Atom, Block, Exp, Function, LoopKind, Nest, Op, Out, Param, Poly};
use lambada_anf::{Scheduled, Stm, Ty, Var};
use lambada_prim::{Prim, Scalar, ScalarTy};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::regions::types;

/// Gives these arrays statements of their own. Moves the sizes that the first of their parts needs
/// to the front of the block, and returns these variables.
pub(crate) fn concatenated(function: &mut Function) -> FxHashSet<Var> {
    let types = types(function);
    let mut known = ScopedFacts::default();
    known.sizes(function);
    let mut body = std::mem::take(&mut function.body);
    let sizes = FxHashSet::default();
    let mut finder = Finder { types, known, sizes };
    finder.block(&mut body);
    let sizes = finder.sizes;
    function.body = body;
    sizes
}

struct Finder {
    types: FxHashMap<Var, Ty>,
    /// Facts known before the next statement.
    known: ScopedFacts,
    /// The sizes at the front of their block.
    sizes: FxHashSet<Var>,
}

impl Finder {
    fn block(&mut self, block: &mut Block) {
        let mark = self.known.mark();
        let (mut made, mut sizes) = (FxHashSet::default(), FxHashSet::default());
        let stms = std::mem::take(&mut block.stms);
        let mut stms = stms.into_iter();
        while let Some(mut stm) = stms.next() {
            let parts: Vec<Option<Vec<Var>>> = (0..stm.binds.len())
                .map(|k| {
                    let array = stm.binds[k].var;
                    let leaves = block.results.contains(&array.into());
                    let parts = if leaves { self.parts(&stm, k) } else { None };
                    parts.filter(|parts| {
                        parts.iter().any(|part| made.contains(part))
                            && !is_mentioned(stms.as_slice(), array)
                    })
                })
                .collect();
            if parts.iter().all(Option::is_none) {
                self.inside(&mut stm.exp);
            }
            self.known.pass(&stm);
            if matches!(stm.exp, Exp::Nest(Nest::For { .. } | Nest::Loop { .. }))
                || matches!(stm.exp, Exp::Op(Op::ArrayPrim(..)))
            {
                made.extend(stm.binds.iter().map(|p| p.var));
            }
            self.apart(stm, parts, &mut block.stms, &mut sizes);
        }
        self.first(&mut block.stms, sizes);
        self.known.reset(mark);
    }

    /// Moves the computation of these sizes to the front, if it is arithmetic on values from before
    /// the block.
    fn first(&mut self, stms: &mut Vec<Stm>, mut sizes: FxHashSet<Var>) {
        if sizes.is_empty() {
            return;
        }
        for stm in stms.iter().rev() {
            if let Some((size, args)) = arithmetic_of(stm)
                && sizes.contains(&size)
            {
                sizes.extend(args.iter().filter_map(|a| a.as_var()));
            }
        }
        let mut late: FxHashSet<Var> = FxHashSet::default();
        let (mut first, mut others) = (Vec::new(), Vec::new());
        for stm in std::mem::take(stms) {
            let known = |a: &Atom| a.as_var().is_none_or(|a| !late.contains(&a));
            match arithmetic_of(&stm) {
                Some((size, args)) if sizes.contains(&size) && args.iter().all(known) => {
                    self.sizes.insert(size);
                    first.push(stm);
                }
                Some(_) | None => {
                    late.extend(stm.binds.iter().map(|p| p.var));
                    others.push(stm);
                }
            }
        }
        stms.extend(first.into_iter().chain(others));
    }

    fn inside(&mut self, exp: &mut Exp) {
        let mark = self.known.mark();
        self.known.enter(exp);
        match exp {
            Exp::Op(_) => {}
            Exp::Nest(Nest::For { body, .. }) => self.block(body),
            Exp::Nest(Nest::Loop { kind, body, .. }) => {
                if let LoopKind::While(cond) = kind {
                    self.known.assume(cond.results[0], true);
                }
                self.block(body);
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => {
                for (branch, holds) in [(then, true), (otherwise, false)] {
                    let mark = self.known.mark();
                    self.known.assume(*cond, holds);
                    self.block(branch);
                    self.known.reset(mark);
                }
            }
        }
        self.known.reset(mark);
    }

    /// Pushes the statement without its concatenations, and a statement for each of these.
    fn apart(
        &mut self,
        mut stm: Stm,
        parts: Vec<Option<Vec<Var>>>,
        stms: &mut Vec<Stm>,
        sizes_of: &mut FxHashSet<Var>,
    ) {
        let mut alone = Vec::new();
        for (k, parts) in parts.into_iter().enumerate().rev() {
            let Some(parts) = parts else { continue };
            let parts_of = |part: &Var| self.types.get(part).into_iter().flat_map(|ty| &ty.dims);
            let sizes = stm.binds[k].ty.dims.iter().chain(parts.iter().flat_map(parts_of));
            sizes_of.extend(sizes.filter_map(|d| d.as_var()));
            let array = drop_result(&mut stm, k);
            alone.push(Stm::new(vec![array], Op::Scheduled(Scheduled::Concat(parts))));
        }
        if !stm.binds.is_empty() || alone.is_empty() {
            stms.push(stm);
        }
        stms.extend(alone.into_iter().rev());
    }

    /// The parts of the k-th result of a statement.
    fn parts(&self, stm: &Stm, k: usize) -> Option<Vec<Var>> {
        let Exp::Nest(Nest::For { index, extent, outs, body }) = &stm.exp else { return None };
        let plain = |stm: &Stm| match &stm.exp {
            Exp::Op(Op::Prim(..) | Op::Index(..)) | Exp::Nest(Nest::If { .. }) => true,
            Exp::Nest(Nest::For { .. }) => row(stm).is_some(),
            Exp::Op(_) | Exp::Nest(Nest::Loop { .. }) => false,
        };
        if outs[k] != Out::Collect || body.any(&mut |stm| !plain(stm)) {
            return None;
        }
        let mut reader = BodyReader {
            known: &self.known,
            types: &self.types,
            index: *index,
            whole: &stm.binds[k].ty,
            defined: FxHashMap::default(),
            polys: FxHashMap::default(),
        };
        body.each(&mut |stm| reader.define(stm));
        let mut parts = Vec::new();
        let end = self.known.bounds.raw(*extent);
        reader.parts(body.results[k], body, (Poly::default(), end), &mut parts)?;
        let distinct: FxHashSet<Var> = parts.iter().copied().collect();
        (distinct.len() == parts.len()).then_some(parts)
    }
}

/// The array and the indices of a row, if the statement reads one: by an index, or by a copy of all
/// its elements in order.
fn row(stm: &Stm) -> Option<(Var, &[Atom])> {
    match &stm.exp {
        Exp::Op(Op::Index(array, index)) => Some((*array, index)),
        Exp::Nest(Nest::For { index, outs, body, .. }) => {
            let ([Out::Collect], [element]) = (outs.as_slice(), body.stms.as_slice()) else {
                return None;
            };
            let [bind] = element.binds.as_slice() else { return None };
            let (array, all) = row(element)?;
            let (last, before) = all.split_last()?;
            let here = |atom: &Atom| *atom == Atom::from(*index);
            let copies =
                body.results == [bind.var.into()] && here(last) && !before.iter().any(here);
            copies.then_some((array, before))
        }
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}

/// Reads the body of a `for`.
struct BodyReader<'a> {
    known: &'a ScopedFacts,
    types: &'a FxHashMap<Var, Ty>,
    index: Var,
    /// The type of the concatenation.
    whole: &'a Ty,
    /// The operations that compute the scalars of the body.
    defined: FxHashMap<Var, (Prim, Vec<Atom>)>,
    /// The polynomials of integers among them.
    polys: FxHashMap<Var, Poly>,
}

impl BodyReader<'_> {
    fn define(&mut self, stm: &Stm) {
        let (Exp::Op(Op::Prim(op, args)), [p]) = (&stm.exp, &stm.binds[..]) else { return };
        if op.result() == ScalarTy::Int {
            let polys: Vec<Poly> = args.iter().map(|arg| self.poly(*arg)).collect();
            self.polys.extend(arithmetic(*op, &polys).map(|poly| (p.var, poly)));
        }
        self.defined.insert(p.var, (*op, args.clone()));
    }

    /// Collects the parts of the elements `[from, to)`, if the result consists of arrays.
    fn parts(
        &self,
        result: Atom,
        block: &Block,
        (from, to): (Poly, Poly),
        parts: &mut Vec<Var>,
    ) -> Option<()> {
        let var = result.as_var()?;
        let binds = |stm: &Stm| stm.binds.iter().position(|p| p.var == var);
        let (stm, k) = block.stms.iter().find_map(|stm| Some((stm, binds(stm)?)))?;
        match &stm.exp {
            Exp::Nest(Nest::If { cond, then, otherwise }) => {
                let (x, y) = self.binary(*cond, Prim::LtInt)?;
                let cut = self.before(x).plus(&self.poly(y), 1);
                if cut.mentions(self.index) {
                    return None;
                }
                self.parts(then.results[k], then, (from, cut.clone()), parts)?;
                self.parts(otherwise.results[k], otherwise, (cut, to), parts)
            }
            Exp::Op(Op::Index(..)) | Exp::Nest(Nest::For { .. }) => {
                let (array, index) = row(stm)?;
                let ty = self.types.get(&array)?;
                let start = self.before(self.joined(index, &ty.dims)?);
                let (rows, row) = ty.dims.split_at(index.len());
                let fits = ty.elem == self.whole.elem
                    && row == &self.whole.dims[1..]
                    && self.equal(&start, &from)
                    && self.equal(&self.count(rows), &to.plus(&from, -1))
                    && ty.dims.iter().all(|size| self.is_natural(*size))
                    && self.is_bounded(&self.count(rows))
                    && self.is_bounded(&to);
                fits.then(|| parts.push(array))
            }
            Exp::Op(_) | Exp::Nest(Nest::Loop { .. }) => None,
        }
    }

    /// The index of the loop minus a scalar.
    fn before(&self, atom: Atom) -> Poly {
        Poly::var(self.index).plus(&self.poly(atom), -1)
    }

    /// The one index of which these are quotients and remainders, by the sizes of their axes.
    fn joined(&self, index: &[Atom], dims: &[Atom]) -> Option<Atom> {
        let (mut whole, others) = (*index.first()?, &index[1..]);
        for (i, size) in others.iter().zip(&dims[1..]) {
            // A variable size is not 0 either, because an index exists.
            let divides = match size {
                Atom::Lit(Scalar::Int(size)) => *size > 0,
                Atom::Lit(_) => false,
                Atom::Var(_) => true,
            };
            if !divides {
                return None;
            }
            let (x, m) = self.binary(whole, Prim::DivInt)?;
            let (y, n) = self.binary(*i, Prim::RemInt)?;
            let same = x == y || self.rest_of_quotient(x, y, size);
            if (m, n) != (*size, *size) || !same {
                return None;
            }
            whole = x;
        }
        Some(whole)
    }

    /// Whether `y % m` equals `x % m`, because `y` is the remainder of `x` by a multiple of `m`.
    fn rest_of_quotient(&self, x: Atom, y: Atom, m: &Atom) -> bool {
        let multiple = |n: Atom| match (n, m) {
            (Atom::Lit(Scalar::Int(n)), Atom::Lit(Scalar::Int(m))) => n > 0 && n % m == 0,
            (_, _) => false,
        };
        self.binary(y, Prim::RemInt).is_some_and(|(z, n)| z == x && multiple(n))
    }

    /// The operands of an operation of the body.
    fn binary(&self, result: Atom, op: Prim) -> Option<(Atom, Atom)> {
        match self.defined.get(&result.as_var()?)? {
            (found, args) if *found == op => Some((args[0], args[1])),
            _ => None, // something else
        }
    }

    fn count(&self, dims: &[Atom]) -> Poly {
        dims.iter().fold(Poly::constant(1), |count, d| count.times(&self.poly(*d)))
    }

    fn is_natural(&self, size: Atom) -> bool {
        self.known.ask(|place| place.at_least(size, Atom::int(0), 0))
    }

    /// Whether a polynomial does not wrap, because its variables are at most [`LONGEST_AXIS`], as
    /// sizes of arguments are.
    fn is_bounded(&self, poly: &Poly) -> bool {
        let poly = self.known.ask(|place| place.modulo(poly.clone()));
        let largest = Atom::int(LONGEST_AXIS);
        let small = |var: Var| {
            self.known.ask(|place| {
                place.at_least(var.into(), Atom::int(0), 0)
                    && place.at_least(largest, var.into(), 0)
            })
        };
        let most = poly.terms().try_fold(0i128, |sum, (monomial, factor)| {
            let term = monomial
                .iter()
                .try_fold(factor.checked_abs()?, |term, _| term.checked_mul(LONGEST_AXIS.into()));
            sum.checked_add(term?)
        });
        most.is_some_and(|most| most <= i64::MAX.into()) && poly.vars().all(small)
    }

    fn equal(&self, a: &Poly, b: &Poly) -> bool {
        self.known.ask(|place| place.modulo(a.clone()) == place.modulo(b.clone()))
    }

    fn poly(&self, atom: Atom) -> Poly {
        let known = atom.as_var().and_then(|var| self.polys.get(&var));
        known.cloned().unwrap_or_else(|| self.known.bounds.raw(atom))
    }
}

/// Whether one of the statements mentions the variable.
fn is_mentioned(stms: &[Stm], var: Var) -> bool {
    let mut found = false;
    stms.iter().for_each(|stm| stm.mentioned(&mut |other| found |= other == var));
    found
}

/// The variable and the operands of an operation on scalars. All are total, so they may come
/// earlier.
fn arithmetic_of(stm: &Stm) -> Option<(Var, &[Atom])> {
    match (&stm.exp, stm.binds.as_slice()) {
        (Exp::Op(Op::Prim(_, args)), [p]) => Some((p.var, args)),
        (Exp::Op(_) | Exp::Nest(_), _) => None,
    }
}

/// Drops a result of the loop, and returns it.
fn drop_result(stm: &mut Stm, k: usize) -> Param {
    if let Exp::Nest(Nest::For { outs, body, .. }) = &mut stm.exp {
        outs.remove(k);
        let result = body.results.remove(k);
        forget(body, result);
    }
    stm.binds.remove(k)
}

/// Drops the computation of a result that the block no longer gives, if nothing else mentions it.
fn forget(block: &mut Block, result: Atom) {
    let Some(var) = result.as_var() else { return };
    let mentioned = block.results.contains(&result) || is_mentioned(&block.stms, var);
    let place = |stm: &Stm| stm.binds.iter().position(|p| p.var == var);
    let found = block.stms.iter().enumerate().find_map(|(at, stm)| Some((at, place(stm)?)));
    let (false, Some((at, k))) = (mentioned, found) else { return };
    if let Exp::Nest(Nest::If { then, otherwise, .. }) = &mut block.stms[at].exp {
        for branch in [then, otherwise] {
            let result = branch.results.remove(k);
            forget(branch, result);
        }
        block.stms[at].binds.remove(k);
    } else if block.stms[at].binds.len() == 1 {
        block.stms.remove(at);
    }
}
