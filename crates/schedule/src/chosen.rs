//! Indices that are in range wherever they are needed: statements around a run have chosen them, or
//! loops of the run do not leave the range. The facts known at the beginning of the run, and in its
//! loops, prove it.

use std::collections::BTreeMap;

use lambada_anf::bounds::ScopedFacts;
use lambada_anf::{Atom, Exp, Nest, Op, Stm, Ty, Var};
use lambada_prim::{Prim, Scalar};
use rustc_hash::FxHashMap;

use lambada_graph::{Chosen, Sum};

/// The indices of inputs that are in range where a run of statements begins, or for all iterations
/// of its loops. `known` is restored.
pub(crate) fn chosen(
    stms: &[Stm],
    inputs: &[Var],
    types: &FxHashMap<Var, Ty>,
    sums: &FxHashMap<Var, (Var, i64)>,
    known: &mut ScopedFacts,
) -> Vec<Chosen> {
    let numbers = inputs.iter().copied().zip(0..).collect();
    let (forms, around) = (FxHashMap::default(), Vec::new());
    let mut finder = Finder { numbers, forms, types, sums, around, found: Vec::new() };
    let mark = known.mark();
    for stm in stms {
        finder.outside(stm, known);
        finder.inside(stm, known);
        finder.define(stm);
        known.pass(stm);
    }
    known.reset(mark);
    finder.found
}

/// An integer: a sum of values from outside, and multiples of loop indices.
#[derive(Clone, Default)]
struct Form {
    sum: Sum,
    along: BTreeMap<Var, i64>,
}

impl Form {
    fn plus(mut self, times: i64, other: &Form) -> Form {
        self.sum = self.sum.plus(times, &other.sum);
        for (index, coefficient) in &other.along {
            let known = self.along.entry(*index).or_default();
            *known = known.wrapping_add(times.wrapping_mul(*coefficient));
        }
        self.along.retain(|_, coefficient| *coefficient != 0);
        self
    }

    /// The number, if it is known.
    fn constant(&self) -> Option<i64> {
        let known = self.sum.terms.is_empty() && self.along.is_empty();
        known.then_some(self.sum.constant)
    }
}

struct Finder<'a> {
    numbers: FxHashMap<Var, u32>,
    forms: FxHashMap<Var, Form>,
    types: &'a FxHashMap<Var, Ty>,
    sums: &'a FxHashMap<Var, (Var, i64)>,
    /// The indices of the loops around, with their extents if these come from outside.
    around: Vec<(Var, Option<Sum>)>,
    found: Vec<Chosen>,
}

impl Finder<'_> {
    fn form(&self, atom: Atom) -> Option<Form> {
        let of = |sum| Form { sum, along: BTreeMap::new() };
        match atom {
            Atom::Lit(Scalar::Int(constant)) => Some(of(Sum { constant, ..Sum::default() })),
            Atom::Lit(Scalar::Real(_) | Scalar::Bool(_)) => None,
            Atom::Var(var) if self.around.iter().any(|(index, _)| *index == var) => {
                Some(Form { sum: Sum::default(), along: BTreeMap::from([(var, 1)]) })
            }
            Atom::Var(var) => self.forms.get(&var).cloned().or_else(|| {
                if let Some((other, more)) = self.sums.get(&var) {
                    let more = of(Sum { constant: *more, ..Sum::default() });
                    return Some(self.form(Atom::Var(*other))?.plus(1, &more));
                }
                let number = *self.numbers.get(&var)?;
                Some(of(Sum { terms: BTreeMap::from([(number, 1)]), constant: 0 }))
            }),
        }
    }

    /// Records a sum of values from outside and of indices.
    fn define(&mut self, stm: &Stm) {
        let (Exp::Op(Op::Prim(op, args)), [p]) = (&stm.exp, &stm.binds[..]) else { return };
        let all: Option<Vec<Form>> = args.iter().map(|arg| self.form(*arg)).collect();
        let form = match (op, all.as_deref()) {
            (Prim::AddInt, Some([a, b])) => a.clone().plus(1, b),
            (Prim::SubInt, Some([a, b])) => a.clone().plus(-1, b),
            (Prim::NegInt, Some([a])) => Form::default().plus(-1, a),
            (Prim::MulInt, Some([a, b])) => match (a.constant(), b.constant()) {
                (Some(times), _) => Form::default().plus(times, b),
                (None, Some(times)) => Form::default().plus(times, a),
                (None, None) => return,
            },
            (_, _) => return,
        };
        self.forms.insert(p.var, form);
    }

    /// Visits accesses that depend on no loop of the run. The facts of the loops around them do not
    /// count, because these may not run at all.
    fn outside(&mut self, stm: &Stm, known: &ScopedFacts) {
        self.access(stm, known);
        for block in stm.exp.blocks() {
            block.stms.iter().for_each(|stm| self.outside(stm, known));
        }
    }

    /// Visits accesses that depend on all loops around them, outside of branches.
    fn inside(&mut self, stm: &Stm, known: &mut ScopedFacts) {
        let Exp::Nest(Nest::For { index, extent, body, .. }) = &stm.exp else { return };
        let extent = self.form(*extent).filter(|form| form.along.is_empty());
        self.around.push((*index, extent.map(|form| form.sum)));
        let mark = known.mark();
        known.enter(&stm.exp);
        for stm in &body.stms {
            self.access(stm, known);
            self.inside(stm, known);
            self.define(stm);
            known.pass(stm);
        }
        known.reset(mark);
        self.around.pop();
    }

    fn access(&mut self, stm: &Stm, known: &ScopedFacts) {
        let Exp::Op(op) = &stm.exp else { return };
        let Some((array, index)) = op.access() else { return };
        let Some(input) = self.numbers.get(&array).copied() else { return };
        let dims = &self.types[&array].dims;
        for (position, (i, size)) in index.iter().zip(dims).enumerate() {
            let Some((index, along)) = self.form(*i).and_then(|form| self.for_all(form)) else {
                continue;
            };
            let new = Chosen { input, position, index, along };
            if !self.found.contains(&new) && known.ask(|place| place.in_range(*i, *size)) {
                self.found.push(new);
            }
        }
    }

    /// The index as a sum of values from outside, with the coefficient and the extent of each loop
    /// around; it must depend on all of them.
    fn for_all(&self, form: Form) -> Option<(Sum, Vec<(i64, Sum)>)> {
        let term =
            |(index, extent): &(Var, Option<Sum>)| Some((*form.along.get(index)?, extent.clone()?));
        let mut along: Vec<(i64, Sum)> = self.around.iter().map(term).collect::<Option<_>>()?;
        along.sort_unstable();
        (along.len() == form.along.len()).then_some((form.sum, along))
    }
}
