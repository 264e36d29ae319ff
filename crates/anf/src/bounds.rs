//! Proofs that integers are equal, and that indices are in range. `normalize` asks before it leaves
//! a check out, the optimizer before it drops one, and [`crate::check()`] at every access of an
//! array: all believe the same.
//!
//! Integers of the language wrap; proofs are about unbounded integers. The polynomial of a variable
//! is equal to its value modulo 2⁶⁴. It is *exact*, equal without a modulus, if the ranges of its
//! variables do not let it wrap; only exact polynomials take part in inequalities. Ranges come from
//! constants, from sizes, from loops, and from checks. A variable whose polynomial is not exact
//! still stands for itself.
//!
//! The facts that hold wherever a variable is in scope ([`Bounds`]) are kept apart from the facts
//! of a block ([`Frame`]: dominating checks, the conditions of branches, ranges of loops). Every
//! proof has a budget, so a question costs no more than a constant.

use std::cell::RefCell;

use lambada_prim::{Prim, Scalar, ScalarTy};
use rustc_hash::FxHashMap as HashMap;

use crate::{Atom, Poly, Var};

mod frames;
mod known;
mod proof;

pub use frames::{Frame, Frames};
pub use known::ScopedFacts;
use proof::Proof;

/// The longest axis of an argument: products of two sizes then do not wrap. The caller of a
/// compiled function checks it.
pub const LONGEST_AXIS: i64 = i32::MAX as i64;

/// The most iterations of a loop: counting so far takes more than a hundred years.
const LONGEST_LOOP: i128 = 1 << 62;
/// The depth to which the range of a result is derived from those of operands.
const OPERANDS: usize = 2;
/// The most inequalities tried for one variable, the newest first.
const TRIED: usize = 8;
/// The largest coefficient in a proof, so that none overflows.
const TAME: i128 = 1 << 60;
/// The most comparisons in one condition.
const CONJUNCTS: usize = 64;

/// Both inclusive.
type Range = (i128, i128);

const ANY: Range = (i64::MIN as i128, i64::MAX as i128);

/// The facts that hold wherever the variables are in scope: their definitions.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Equal to the variable modulo 2⁶⁴.
    polys: HashMap<Var, Poly>,
    /// The first variable with this polynomial.
    whole: HashMap<Poly, Var>,
    /// The operation that computes a truth value.
    truths: HashMap<Var, (Prim, Vec<Atom>)>,
    ranges: HashMap<Var, Range>,
    /// The operation that computes an integer, if that is no polynomial.
    computed: HashMap<Var, (Prim, Vec<Atom>)>,
    /// The first variable with an operation or a read: equal operands give equal values.
    operations: HashMap<(Prim, Vec<Poly>), Var>,
    reads: HashMap<(Var, Vec<Poly>), Var>,
}

/// A fact to be learned.
enum Fact {
    AtLeastZero(Poly),
    Equal(Var, Poly, bool),
    Never,
}

/// A comparison that holds.
#[derive(Clone, Copy, Debug)]
pub enum Comparison {
    /// `a ≥ b + gap`
    AtLeast(Atom, Atom, i64),
    /// `a = b`
    Equal(Atom, Atom),
    /// `a ≠ b`
    Differ(Atom, Atom),
    /// A contradiction.
    Never,
}

impl Bounds {
    /// The variable is never negative.
    pub fn nonnegative(&mut self, var: Var) {
        self.within(var, (0, ANY.1));
    }

    /// The variable is a size of an argument.
    pub fn size(&mut self, var: Var) {
        self.within(var, (0, i128::from(LONGEST_AXIS)));
    }

    fn within(&mut self, var: Var, range: Range) {
        let known = self.ranges.entry(var).or_insert(ANY);
        *known = both(*known, range);
    }

    /// The polynomial of an atom, modulo 2⁶⁴.
    pub fn raw(&self, atom: Atom) -> Poly {
        match atom {
            Atom::Lit(Scalar::Int(value)) => Poly::constant(value),
            Atom::Lit(Scalar::Real(_) | Scalar::Bool(_)) => Poly::default(),
            Atom::Var(var) => self.polys.get(&var).cloned().unwrap_or_else(|| Poly::var(var)),
        }
    }

    /// `var = op(args)`
    pub fn define(&mut self, var: Var, op: Prim, args: &[Atom]) {
        if op.result() == ScalarTy::Bool {
            self.truths.insert(var, (op, args.to_vec()));
        }
        let polys: Vec<Poly> = args.iter().map(|a| self.raw(*a)).collect();
        if let Some(poly) = arithmetic(op, &polys).map(|p| p.wrapped()).filter(is_small) {
            self.whole.entry(poly.clone()).or_insert(var);
            self.polys.insert(var, poly);
        } else if op.result() == ScalarTy::Int {
            self.computed.insert(var, (op, args.to_vec()));
        }
    }

    /// [`Bounds::define`], where the same operation on the same operands is the same value. Not for
    /// polynomials that become code: the first variable need not be in scope.
    pub fn define_once(&mut self, var: Var, op: Prim, args: &[Atom]) {
        self.define(var, op, args);
        let named = |a: &Atom| !matches!(a, Atom::Lit(Scalar::Real(_) | Scalar::Bool(_)));
        let is_new = op.result() == ScalarTy::Int && !self.polys.contains_key(&var);
        if is_new && args.iter().all(named) {
            let key = (op, args.iter().map(|a| self.raw(*a)).collect());
            let first = *self.operations.entry(key).or_insert(var);
            self.polys.insert(var, Poly::var(first));
        }
    }

    /// `var = array[index]`, a scalar: the same read again is the same value.
    pub fn read_once(&mut self, var: Var, array: Var, index: &[Atom]) {
        let key = (array, index.iter().map(|a| self.raw(*a)).collect());
        let first = *self.reads.entry(key).or_insert(var);
        self.polys.insert(var, Poly::var(first));
    }

    /// `var = if cond { then } else { otherwise }`, a truth value that may be a connective.
    pub fn connect(&mut self, var: Var, cond: Atom, then: Atom, otherwise: Atom) {
        if otherwise == Atom::bool(false) {
            self.truths.insert(var, (Prim::And, vec![cond, then]));
        } else if then == Atom::bool(true) {
            self.truths.insert(var, (Prim::Or, vec![cond, otherwise]));
        }
    }

    /// The comparisons of integers that hold if the condition has the truth value.
    pub fn comparisons(&self, cond: Atom, holds: bool) -> Vec<Comparison> {
        let mut found = Vec::new();
        self.compare(cond, holds, &mut found);
        found
    }

    fn compare(&self, cond: Atom, holds: bool, found: &mut Vec<Comparison>) {
        use Comparison::{AtLeast, Differ, Equal, Never};
        if found.len() >= CONJUNCTS {
            return;
        }
        let var = match cond {
            Atom::Lit(value) if value != Scalar::Bool(holds) => return found.push(Never),
            Atom::Lit(_) => return,
            Atom::Var(var) => var,
        };
        let Some((op, args)) = self.truths.get(&var) else { return };
        match (*op, holds) {
            (Prim::Not, _) => self.compare(args[0], !holds, found),
            (Prim::And, true) | (Prim::Or, false) => {
                args.iter().for_each(|a| self.compare(*a, holds, found))
            }
            (Prim::EqInt, true) | (Prim::NeInt, false) => found.push(Equal(args[0], args[1])),
            (Prim::EqInt, false) | (Prim::NeInt, true) => found.push(Differ(args[0], args[1])),
            (Prim::LtInt, true) => found.push(AtLeast(args[1], args[0], 1)),
            (Prim::LtInt, false) => found.push(AtLeast(args[0], args[1], 0)),
            (Prim::LeInt, true) => found.push(AtLeast(args[1], args[0], 0)),
            (Prim::LeInt, false) => found.push(AtLeast(args[0], args[1], 1)),
            (_, _) => {} // says nothing of integers
        }
    }
}

/// The polynomial of an operation, if it is one and short.
pub fn arithmetic(op: Prim, args: &[Poly]) -> Option<Poly> {
    match op {
        Prim::AddInt => Some(args[0].plus(&args[1], 1)),
        Prim::SubInt => Some(args[0].plus(&args[1], -1)),
        Prim::MulInt => args[0].has_short_product(&args[1]).then(|| args[0].times(&args[1])),
        Prim::NegInt => Some(Poly::default().plus(&args[0], -1)),
        _ => None, // no sum or product of integers
    }
}

/// `a - b - gap`
fn difference(a: &Poly, b: &Poly, gap: i64) -> Poly {
    let difference = a.plus(b, -1);
    if gap == 0 { difference } else { difference.plus(&Poly::constant(gap), -1) }
}

/// Whether a polynomial is short enough to be kept. A longer one becomes a variable of its own.
fn is_small(poly: &Poly) -> bool {
    poly.terms().len() <= 24 && poly.degree() <= 4
}

fn is_tame(poly: &Poly) -> bool {
    poly.terms().all(|(_, k)| k.abs() <= TAME)
}

fn both(a: Range, b: Range) -> Range {
    (a.0.max(b.0), a.1.min(b.1))
}

fn literal(value: i64) -> Range {
    (i128::from(value), i128::from(value))
}

fn multiplied(a: Range, b: Range) -> Option<Range> {
    let corner = |x: i128, y: i128| x.checked_mul(y);
    if a.0 == a.1 {
        let ends = (corner(a.0, b.0)?, corner(a.0, b.1)?);
        return Some(if a.0 >= 0 { ends } else { (ends.1, ends.0) });
    }
    let corners = [corner(a.0, b.0)?, corner(a.0, b.1)?, corner(a.1, b.0)?, corner(a.1, b.1)?];
    Some((corners.into_iter().min()?, corners.into_iter().max()?))
}

/// The least and the greatest value of a polynomial of variables with these ranges; `None` beyond
/// 128 bits.
fn interval(poly: &Poly, mut range: impl FnMut(Var) -> Range) -> Option<Range> {
    let mut sum: Range = (0, 0);
    for (monomial, k) in poly.terms() {
        let mut product: Range = (k, k);
        for var in monomial {
            product = multiplied(product, range(*var))?;
        }
        sum = (sum.0.checked_add(product.0)?, sum.1.checked_add(product.1)?);
    }
    Some(sum)
}

/// A point of the program, with the facts there.
#[derive(Clone, Copy, Debug)]
pub struct ProgramPoint<'a> {
    /// The facts that hold everywhere.
    bounds: &'a Bounds,
    /// The facts of the blocks around.
    frames: &'a Frames,
    /// The number of blocks around the point, the outermost first.
    level: usize,
    /// Suppositions of a proof, newest last.
    supposed: &'a [&'a Frame],
    /// The ranges computed here so far.
    ranges: &'a RefCell<HashMap<Var, Range>>,
}

impl ProgramPoint<'_> {
    /// Whether no run reaches this point.
    pub fn is_unreachable(&self) -> bool {
        self.frames.is_unreachable(self.level) || self.supposed.iter().any(|f| f.unreachable)
    }

    fn range(&self, var: Var) -> Range {
        if let Some(range) = self.ranges.borrow().get(&var) {
            return *range;
        }
        let range = self.derived_range(var, OPERANDS);
        self.ranges.borrow_mut().insert(var, range);
        range
    }

    /// The range of a variable, derived from those of its operands to a depth.
    fn range_within(&self, var: Var, depth: usize) -> Range {
        if depth == OPERANDS { self.range(var) } else { self.derived_range(var, depth) }
    }

    fn derived_range(&self, var: Var, depth: usize) -> Range {
        let everywhere = self.bounds.ranges.get(&var).copied().unwrap_or(ANY);
        let supposed = self.supposed.iter().rev().find_map(|f| f.ranges.get(&var));
        let here = supposed.or_else(|| self.frames.range(var, self.level));
        let known = here.map_or(everywhere, |here| both(*here, everywhere));
        match self.bounds.computed.get(&var) {
            Some((op, args)) if depth > 0 => both(known, self.result_range(*op, args, depth - 1)),
            Some(_) | None => known,
        }
    }

    /// The least and the greatest value that the ranges of the variables allow; `None` beyond 128
    /// bits.
    fn interval(&self, poly: &Poly) -> Option<Range> {
        self.interval_within(poly, OPERANDS)
    }

    fn interval_within(&self, poly: &Poly, depth: usize) -> Option<Range> {
        interval(poly, |var| self.range_within(var, depth))
    }

    /// The range of an integer.
    fn range_of(&self, atom: Atom) -> Range {
        self.range_of_within(atom, OPERANDS)
    }

    fn range_of_within(&self, atom: Atom, depth: usize) -> Range {
        match atom {
            Atom::Lit(Scalar::Int(value)) => literal(value),
            Atom::Lit(_) => ANY,
            Atom::Var(var) => {
                let itself = self.itself(var);
                let own = both(self.range_within(var, 0), self.range_within(itself, depth));
                let computed = self.interval_within(&self.bounds.raw(atom), depth);
                match computed {
                    Some(range) if ANY.0 <= range.0 && range.1 <= ANY.1 => both(own, range),
                    Some(_) | None => own,
                }
            }
        }
    }

    /// The variable that stands for a value whose polynomial is not exact.
    fn itself(&self, var: Var) -> Var {
        match self.bounds.polys.get(&var) {
            None => var,
            Some(poly) => {
                poly.as_var().or_else(|| self.bounds.whole.get(poly).copied()).unwrap_or(var)
            }
        }
    }

    /// A polynomial modulo the equations that hold here.
    pub fn modulo(&self, poly: Poly) -> Poly {
        self.substituted(poly, false)
    }

    fn substituted(&self, mut poly: Poly, exactly: bool) -> Poly {
        let equation = |v: Var| {
            let supposed = self.supposed.iter().rev().find_map(|f| f.equal.get(&v));
            let found = supposed.or_else(|| self.frames.equal(v, self.level));
            found.filter(|(_, exact)| *exact || !exactly).map(|(value, _)| (v, value))
        };
        if !self.frames.has_equations() && self.supposed.iter().all(|f| f.equal.is_empty()) {
            return poly;
        }
        for _ in 0..64 {
            let Some((var, value)) = poly.vars().find_map(equation) else { break };
            let next = poly.substitute(|v| (v == var).then(|| value.clone()));
            if exactly && !(is_tame(&next) && is_small(&next)) {
                break;
            }
            poly = if exactly { next } else { next.wrapped() };
        }
        poly
    }

    /// Whether the value, which is in the range, equals the polynomial without a modulus.
    fn is_exact(&self, poly: &Poly, range: Range) -> bool {
        const WRAP: i128 = 1 << 64;
        self.interval(poly).is_some_and(|(lo, hi)| hi < range.0 + WRAP && lo > range.1 - WRAP)
    }

    /// The value of an atom, as an unbounded integer.
    fn form(&self, atom: Atom) -> Poly {
        let raw = self.bounds.raw(atom);
        let Atom::Var(var) = atom else { return raw };
        if raw.as_var().is_none() && !self.is_exact(&raw, self.range_of(atom)) {
            return self.substituted(Poly::var(self.itself(var)), true);
        }
        self.substituted(raw, true)
    }

    /// As `form`, but without the definition of the atom.
    fn opaque(&self, atom: Atom) -> Poly {
        match atom {
            Atom::Lit(_) => self.bounds.raw(atom),
            Atom::Var(var) => Poly::var(self.itself(var)),
        }
    }

    /// Whether the two sizes are known to be equal.
    pub fn equal(&self, a: Atom, b: Atom) -> bool {
        a == b
            || self.modulo(self.bounds.raw(a)) == self.modulo(self.bounds.raw(b))
            || self.larger(a).is_some_and(|a| self.equal(a, b))
            || self.larger(b).is_some_and(|b| self.equal(a, b))
            || self.is_unreachable()
    }

    /// The operand that a maximum equals, if one is known to be the larger one.
    fn larger(&self, atom: Atom) -> Option<Atom> {
        let (op, args) = self.bounds.computed.get(&self.itself(atom.as_var()?))?;
        let ([a, b], Prim::MaxInt) = (&args[..], op) else { return None };
        let is_larger = |a: Atom, b: Atom| self.at_least(a, b, 0).then_some(a);
        is_larger(*a, *b).or_else(|| is_larger(*b, *a))
    }

    /// Whether `a ≥ b + gap` is known.
    pub fn at_least(&self, a: Atom, b: Atom, gap: i64) -> bool {
        // Facts about the very same values are found at once.
        let opaque = (self.opaque(a), self.opaque(b));
        let by_definitions = || {
            let looked_into = (self.form(a), self.form(b));
            looked_into != opaque && self.exceeds(&looked_into.0, &looked_into.1, gap)
        };
        self.exceeds(&opaque.0, &opaque.1, gap) || by_definitions() || self.is_unreachable()
    }

    /// Whether the integer is known to be the product of two others, neither of them negative.
    pub fn is_product(&self, all: Atom, a: Atom, b: Atom) -> bool {
        let product = self.form(a).times(&self.form(b));
        let limit = i128::from(i64::MAX);
        self.range_of(a).0 >= 0
            && self.range_of(b).0 >= 0
            && self.interval(&product).is_some_and(|(least, most)| 0 <= least && most <= limit)
            && self.modulo(self.bounds.raw(all)) == self.modulo(product)
    }

    /// Whether `0 ≤ index < size` is known.
    pub fn in_range(&self, index: Atom, size: Atom) -> bool {
        let (zero, one) = (Atom::int(0), 1);
        if self.at_least(index, zero, 0) && self.at_least(size, index, one) {
            return true;
        }
        // Both bounds together: a polynomial that is in range has not wrapped.
        let (index, size) = (self.modulo(self.bounds.raw(index)), self.form(size));
        self.exceeds(&index, &Poly::default(), 0) && self.exceeds(&size, &index, one)
    }

    fn exceeds(&self, a: &Poly, b: &Poly, gap: i64) -> bool {
        Proof::at(*self).never_negative(&difference(a, b, gap))
    }

    fn facts(&self, comparison: Comparison) -> Vec<Fact> {
        let at_least = |a, b, gap| {
            let looked_into = difference(&self.form(a), &self.form(b), gap);
            let opaque = difference(&self.opaque(a), &self.opaque(b), gap);
            let second = (opaque != looked_into).then_some(opaque);
            second.into_iter().chain([looked_into]).map(Fact::AtLeastZero)
        };
        match comparison {
            Comparison::AtLeast(a, b, gap) => at_least(a, b, gap).collect(),
            Comparison::Equal(a, b) => {
                let mut facts: Vec<Fact> = at_least(a, b, 0).chain(at_least(b, a, 0)).collect();
                let (x, y) = (self.form(a), self.form(b));
                let modular = |atom| self.modulo(self.bounds.raw(atom));
                let equation = x.plus(&y, -1).solve().map(|(v, value)| (v, value, true));
                // As sizes are compared: modulo all equations.
                let other = modular(a).plus(&modular(b), -1).wrapped().solve();
                match (equation, other) {
                    (Some((v, value, exact)), Some((w, other))) if v == w && value == other => {
                        facts.push(Fact::Equal(v, value, exact))
                    }
                    (_, Some((w, other))) => facts.push(Fact::Equal(w, other, false)),
                    (_, None) => {}
                }
                facts
            }
            // An index that is not the first one has one before it.
            Comparison::Differ(a, b) if self.at_least(a, b, 0) => at_least(a, b, 1).collect(),
            Comparison::Differ(a, b) if self.at_least(b, a, 0) => at_least(b, a, 1).collect(),
            Comparison::Differ(..) => Vec::new(),
            Comparison::Never => vec![Fact::Never],
        }
    }

    /// The range of a result, from those of the operands.
    fn result_range(&self, op: Prim, args: &[Atom], depth: usize) -> Range {
        let range = |k: usize| self.range_of_within(args[k], depth);
        match op {
            Prim::MinInt => {
                let (a, b) = (range(0), range(1));
                (a.0.min(b.0), a.1.min(b.1))
            }
            Prim::MaxInt => {
                let (a, b) = (range(0), range(1));
                (a.0.max(b.0), a.1.max(b.1))
            }
            Prim::SelectInt => {
                let (a, b) = (range(1), range(2));
                (a.0.min(b.0), a.1.max(b.1))
            }
            Prim::SignInt => (-1, 1),
            Prim::AbsInt if range(0).0 > ANY.0 => (0, ANY.1),
            Prim::DivInt => {
                let (a, b) = (range(0), range(1));
                // Where a range is empty, no run comes here.
                if a.0 >= 0 && b.0 > 0 && b.1 > 0 { (a.0 / b.1, a.1 / b.0) } else { ANY }
            }
            Prim::RemInt if range(1).0 > 0 => (0, range(1).1 - 1),
            _ => ANY, // nothing is known of its result
        }
    }

    /// The result of an operation, if the ranges of the operands leave only one value.
    pub fn constant(&self, op: Prim, args: &[Atom]) -> Option<i64> {
        let (least, most) = self.result_range(op, args, OPERANDS);
        (least == most).then_some(least)?.try_into().ok()
    }

    /// The dividend and the positive divisor of a variable that is a quotient, rounded down.
    fn quotient(&self, var: Var) -> Option<(Poly, Poly)> {
        let (op, args) = self.bounds.computed.get(&var)?;
        let [dividend, divisor] = args[..] else { return None };
        let quotient = *op == Prim::DivInt && self.range_of(divisor).0 > 0;
        quotient.then(|| (self.form(dividend), self.form(divisor)))
    }

    /// The two possible values of a selected integer, and the selecting condition if known.
    fn cases(&self, var: Var) -> Option<(Option<Atom>, [Poly; 2])> {
        let (op, args) = self.bounds.computed.get(&var)?;
        let (cond, cases) = match (op, &args[..]) {
            (Prim::SelectInt, [cond, then, otherwise]) => (Some(*cond), [*then, *otherwise]),
            (Prim::MinInt | Prim::MaxInt, [a, b]) => (None, [*a, *b]),
            (_, _) => return None,
        };
        Some((cond, cases.map(|case| self.form(case))))
    }

    /// The distances between a result and other integers that are never negative.
    fn distances(&self, var: Var, op: Prim, args: &[Atom]) -> Vec<Poly> {
        let own = || Poly::var(self.itself(var));
        let below = |a: Atom| self.form(a).plus(&own(), -1);
        let above = |a: Atom| own().plus(&self.form(a), -1);
        let least = |k: usize| self.range_of(args[k]).0;
        match op {
            Prim::MinInt => args.iter().map(|a| below(*a)).collect(),
            Prim::MaxInt => args.iter().map(|a| above(*a)).collect(),
            Prim::AbsInt if least(0) > ANY.0 => vec![above(args[0])],
            Prim::DivInt if least(1) > 0 && least(0) >= 0 => {
                let mut facts = vec![below(args[0])];
                if let Some(k) = args[1].as_lit().map(Scalar::int) {
                    facts.push(self.form(args[0]).plus(&own(), -k)); // var * k ≤ a
                }
                facts
            }
            Prim::RemInt if least(1) > 0 => {
                let mut facts = vec![below(args[1]).plus(&Poly::constant(1), -1)];
                if least(0) >= 0 {
                    facts.push(below(args[0]));
                }
                facts
            }
            _ => Vec::new(), // nothing is known of its result
        }
    }
}

/// Facts to be added to the innermost frame.
pub struct Learned(Vec<Fact>, Vec<(Var, Range)>);

impl ProgramPoint<'_> {
    /// The facts that a comparison implies here.
    pub fn learned(&self, comparison: Comparison) -> Learned {
        self.with_ranges(self.facts(comparison))
    }

    /// The facts that an operation implies of its result here.
    pub fn learned_of(&self, var: Var, op: Prim, args: &[Atom]) -> Learned {
        let facts = self.distances(var, op, args);
        let mut learned = self.with_ranges(facts.into_iter().map(Fact::AtLeastZero).collect());
        // Ranges are derived to a depth only; from here on this one is known.
        let own = self.itself(var);
        let range = both(self.range(own), self.result_range(op, args, OPERANDS));
        if range != ANY {
            learned.1.push((own, range));
        }
        learned
    }

    /// `0 ≤ index < extent`
    pub fn learned_of_index(&self, index: Var, extent: Atom) -> Learned {
        let (_, longest) = self.range_of(extent);
        let mut learned = self.learned(Comparison::AtLeast(extent, index.into(), 1));
        let mut also = |comparison| {
            let more = self.learned(comparison);
            learned.0.extend(more.0);
            learned.1.extend(more.1);
        };
        also(Comparison::AtLeast(extent, Atom::int(1), 0));
        // If the extent is a product of sizes, none of them is 0.
        let whole = self.modulo(self.bounds.raw(extent));
        let mut terms = whole.terms();
        if let (Some((factors, _)), None) = (terms.next(), terms.next())
            && factors.len() > 1
        {
            let sizes = factors.iter().filter(|size| self.range(**size).0 >= 0);
            sizes.for_each(|size| also(Comparison::AtLeast((*size).into(), Atom::int(1), 0)));
        }
        // The loop runs, so the extent is the operand that may be positive.
        let computed = extent.as_var().and_then(|v| self.bounds.computed.get(&self.itself(v)));
        if let Some((Prim::MaxInt, args)) = computed {
            for (operand, other) in [(args[0], args[1]), (args[1], args[0])] {
                if self.range_of(other).1 <= 0 {
                    also(Comparison::AtLeast(operand, index.into(), 1));
                    also(Comparison::AtLeast(operand, Atom::int(1), 0));
                }
            }
        }
        learned.1.retain(|(v, _)| *v != index);
        learned.1.push((index, (0, (longest - 1).min(LONGEST_LOOP))));
        learned
    }

    fn with_ranges(&self, facts: Vec<Fact>) -> Learned {
        let mut ranges: Vec<(Var, Range)> = Vec::new();
        for fact in &facts {
            let Fact::AtLeastZero(poly) = fact else { continue };
            // Each variable is bounded by the ranges of the others.
            for (var, k) in poly.lone() {
                let Some((lo, hi)) = self.interval(&poly.solved_for(var, k)) else { continue };
                let known = self.range(var);
                let range = both(known, if k == 1 { (lo, ANY.1) } else { (ANY.0, hi) });
                if range != known {
                    ranges.push((var, range));
                }
            }
        }
        Learned(facts, ranges)
    }
}
