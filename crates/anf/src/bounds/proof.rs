//! Proofs that an integer is never negative: a search with a budget, in which bounds that make a
//! polynomial smaller replace its variables, until ranges decide.

use std::cell::RefCell;

use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;

use super::{ANY, Comparison, Frame, ProgramPoint, TRIED, difference, is_small, is_tame};
use crate::{Atom, Poly, Var};

/// The most inequalities in a chain.
const CHAINED: usize = 5;
/// The most polynomials in a search.
const STEPS: u32 = 250;

/// One search.
pub(super) struct Proof<'a> {
    point: ProgramPoint<'a>,
    steps: u32,
    /// The polynomials not shown to be nonnegative, and the length of the chains tried.
    open: HashMap<Poly, usize>,
}

impl<'a> Proof<'a> {
    pub(super) fn at(point: ProgramPoint<'a>) -> Proof<'a> {
        Proof { point, steps: STEPS, open: HashMap::default() }
    }

    pub(super) fn never_negative(&mut self, poly: &Poly) -> bool {
        self.follows(poly, CHAINED)
    }

    /// Whether it is at least 0. A bound that makes the polynomial smaller replaces a variable.
    fn follows(&mut self, poly: &Poly, chained: usize) -> bool {
        if self.point.interval(poly).is_some_and(|(lo, _)| lo >= 0) {
            return true;
        }
        if chained == 0 || self.steps == 0 || !is_small(poly) || !is_tame(poly) {
            return false;
        }
        if self.open.get(poly).is_some_and(|tried| *tried >= chained) {
            return false;
        }
        self.steps -= 1;
        let mut vars: SmallVec<[Var; 8]> = poly.vars().collect();
        vars.sort_unstable();
        vars.dedup();
        let found = vars.into_iter().rev().any(|var| self.without(poly, var, chained));
        if !found {
            self.open.insert(poly.clone(), chained);
        }
        found
    }

    /// Whether it follows after one of the bounds of a variable replaces it.
    fn without(&mut self, poly: &Poly, var: Var, chained: usize) -> bool {
        let Some(coefficient) = poly.coefficient(var) else { return false };
        let Some((lo, hi)) = self.point.interval(&coefficient) else { return false };
        let of = Of::new(poly, var, coefficient);
        // The lower bound of the variable makes it smaller, or the upper one.
        let wanted = if lo >= 0 {
            1
        } else if hi <= 0 {
            -1
        } else {
            return false;
        };
        let ProgramPoint { frames, level, supposed, .. } = self.point;
        let supposed = supposed.iter().rev().filter_map(|f| f.facts.get(&(var, wanted)));
        let supposed = supposed.flat_map(|facts| facts.iter().rev());
        let facts = supposed.chain(frames.facts((var, wanted), level));
        if facts.take(TRIED).any(|bound| self.with(bound, &of, chained)) {
            return true;
        }
        let (lo, hi) = self.point.range(var);
        let bound = if wanted == 1 { lo } else { hi };
        let says_something = bound != ANY.0 && bound != ANY.1 && bound <= ANY.1;
        says_something && self.with(&Poly::constant(bound as i64), &of, chained)
            || wanted == -1 && self.with_dividend(&of, chained)
            || self.with_cases(&of, chained)
    }

    /// A variable that is one of two integers: the claim has to follow for each, under the
    /// condition that selects it.
    fn with_cases(&mut self, of: &Of, chained: usize) -> bool {
        let Some((cond, cases)) = self.point.cases(of.var) else { return false };
        cases.iter().zip([true, false]).all(|(case, holds)| {
            self.with(case, of, chained)
                || cond.is_some_and(|cond| {
                    let frame = self.chosen(cond, holds, chained);
                    self.within(&frame, |proof| proof.with(case, of, chained))
                })
        })
    }

    /// The facts that a condition implies.
    fn chosen(&mut self, cond: Atom, holds: bool, chained: usize) -> Frame {
        let mut frame = Frame::default();
        for comparison in self.point.bounds.comparisons(cond, holds) {
            let comparison = match comparison {
                // If two integers differ and their order is known, one is less.
                Comparison::Differ(a, b) => {
                    let [x, y] = [a, b].map(|atom| self.point.form(atom));
                    if self.follows(&difference(&x, &y, 0), chained - 1) {
                        Comparison::AtLeast(a, b, 1)
                    } else if self.follows(&difference(&y, &x, 0), chained - 1) {
                        Comparison::AtLeast(b, a, 1)
                    } else {
                        continue;
                    }
                }
                other => other,
            };
            frame.add(self.point.learned(comparison));
        }
        frame
    }

    /// The search with more facts.
    fn within(&mut self, frame: &Frame, search: impl FnOnce(&mut Proof) -> bool) -> bool {
        if frame.is_empty() || frame.unreachable {
            return frame.unreachable;
        }
        let supposed: Vec<&Frame> = self.point.supposed.iter().copied().chain([frame]).collect();
        let point = ProgramPoint { supposed: &supposed, ranges: &RefCell::default(), ..self.point };
        let mut inner = Proof { point, steps: self.steps, open: HashMap::default() };
        let found = search(&mut inner);
        self.steps = inner.steps;
        found
    }

    /// A quotient `q = a / k` has `k·q ≤ a`, which gives no polynomial bound of `q` itself. So the
    /// whole is multiplied: `r - c·q ≥ 0` is `k·r - k·c·q ≥ 1 - k` for integers, which follows from
    /// `k·r - c·a + k - 1 ≥ 0` where `c ≥ 0` and `k ≥ 1`.
    fn with_dividend(&mut self, of: &Of, chained: usize) -> bool {
        let Some((dividend, k)) = self.point.quotient(of.var) else { return false };
        // A multiple of `k·q` needs no rounding.
        if let Some(times) = of.coefficient.multiple_of(&k).filter(|times| *times < 0) {
            let product = Poly::var(of.var).times(&k);
            let rest = of.poly.plus(&product, times.wrapping_neg()).plus(&dividend, times);
            return is_tame(&dividend) && is_tame(&rest) && self.follows(&rest, chained - 1);
        }
        let Some((times, rest)) = of.linear.as_ref().filter(|(times, _)| *times < 0) else {
            return false;
        };
        let times = *times;
        let scaled = rest.times(&k).plus(&dividend, times).plus(&k, 1);
        let scaled = scaled.plus(&Poly::constant(1), -1);
        is_tame(&dividend) && is_tame(&scaled) && self.follows(&scaled, chained - 1)
    }

    fn with(&mut self, bound: &Poly, of: &Of, chained: usize) -> bool {
        is_tame(bound) && self.follows(&of.at(bound), chained - 1)
    }
}

/// A polynomial in one of its variables.
struct Of<'a> {
    poly: &'a Poly,
    var: Var,
    coefficient: Poly,
    /// `times · var + rest`, if the factor is a number: a substitution is one addition then.
    linear: Option<(i64, Poly)>,
}

impl<'a> Of<'a> {
    fn new(poly: &'a Poly, var: Var, coefficient: Poly) -> Of<'a> {
        let times = coefficient.as_constant();
        let linear = times.map(|times| (times, poly.plus(&Poly::var(var), -times)));
        Of { poly, var, coefficient, linear }
    }

    /// Its value for this value of the variable.
    fn at(&self, value: &Poly) -> Poly {
        match &self.linear {
            Some((times, rest)) => rest.plus(value, *times),
            None => self.poly.substitute(|v| (v == self.var).then(|| value.clone())),
        }
    }
}
