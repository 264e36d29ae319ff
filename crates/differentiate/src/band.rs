//! Diagonals of a Jacobian that can differ from zero, as far as the indices of the program show.
//!
//! ```text
//!   x                                  xₖ depends on  x[k]
//!   y = for i < n { b }                y[k]           dependences of b at i = k
//!   x[i + c], y[i + c]                 at i           those of x, y at k = i + c
//!   acc[i + c] += b                    acc[k]         dependences of b at i = k - c
//! ```
//!
//! A value is independent of the parameter, or it depends on the elements from `low` to `high`
//! places from its own. The place of an array element is its index, that of a scalar in the body of
//! a `for` the index of the `for`. If some value has another form, such as an element at a computed
//! index, the Jacobian has no known band.
//!
//! * Assumes: a function of one vector of reals.
//! * Gives: the lowest and the highest diagonal, `j - i` for column `j` of row `i`.

use std::collections::HashMap;

use lambada_anf::{Atom, Block, Elem, Exp, Lambda, LoopKind, Nest, Op, Out, Param, Stm, Var};
use lambada_prim::{Prim, Scalar};

/// Maximal number of diagonals of a band.
const WIDEST: i64 = 8;

/// The lowest and the highest diagonal of the Jacobian of a function from a vector to a vector.
pub fn band(f: &Lambda) -> Option<(i64, i64)> {
    let [x] = &f.params[..] else { return None };
    let mut reals = f.results.iter().zip(&f.body.results).filter(|(ty, _)| ty.elem == Elem::REAL);
    let (ty, result) = reals.next()?;
    if reals.next().is_some() || ty.rank() != 1 || x.ty.rank() != 1 || x.ty.elem != Elem::REAL {
        return None;
    }
    let mut bands = Bands::default();
    bands.of.insert(x.var, Band { low: 0, high: 0 });
    bands.block(&f.body)?;
    // A result independent of the parameter has one diagonal, of zeros.
    let found = bands.get(*result).unwrap_or(Band { low: 0, high: 0 });
    (found.high - found.low < WIDEST).then_some((found.low, found.high))
}

/// The places that a value depends on, relative to its own.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Band {
    low: i64,
    high: i64,
}

impl Band {
    fn join(self, other: Band) -> Band {
        Band { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn moved(self, by: i64) -> Option<Band> {
        Some(Band { low: self.low.checked_add(by)?, high: self.high.checked_add(by)? })
    }
}

#[derive(Default)]
struct Bands {
    /// Variables that depend on the parameter.
    of: HashMap<Var, Band>,
    /// The index of the outermost enclosing `for`.
    index: Option<Var>,
    /// Integers at a constant distance from the index, with the distance.
    places: HashMap<Var, i64>,
}

impl Bands {
    fn get(&self, x: Atom) -> Option<Band> {
        self.of.get(&x.as_var()?).copied()
    }

    fn join(&mut self, to: Var, band: Band) {
        let joined = self.of.get(&to).map_or(band, |known| known.join(band));
        self.of.insert(to, joined);
    }

    /// The distance of a one-axis index from the loop index.
    fn place(&self, index: &[Atom]) -> Option<i64> {
        let [at] = index else { return None };
        self.places.get(&at.as_var()?).copied()
    }

    fn block(&mut self, block: &Block) -> Option<()> {
        block.stms.iter().try_for_each(|stm| self.stm(stm))
    }

    /// Visits a statement; `None` if it depends on the parameter in another way.
    fn stm(&mut self, stm: &Stm) -> Option<()> {
        if let (Exp::Op(Op::Prim(op, args)), [bind]) = (&stm.exp, &stm.binds[..]) {
            self.shifted(*op, args, bind);
        }
        let mut depends = false;
        stm.mentioned(&mut |x| depends |= self.of.contains_key(&x));
        if !depends {
            return Some(());
        }
        match &stm.exp {
            Exp::Op(op) => self.op(stm, op),
            Exp::Nest(nest) => self.nest(stm, nest),
        }
    }

    /// Records an integer at a constant distance from the index.
    fn shifted(&mut self, op: Prim, args: &[Atom], bind: &Param) {
        let (Prim::AddInt | Prim::SubInt, [a, b]) = (op, args) else { return };
        let literal = |x: &Atom| match x {
            Atom::Lit(Scalar::Int(k)) => Some(*k),
            Atom::Lit(_) | Atom::Var(_) => None,
        };
        let at = |x: &Atom| self.places.get(&x.as_var()?).copied();
        let sum = match (at(a), literal(b), literal(a), at(b)) {
            (Some(at), Some(k), ..) if op == Prim::AddInt => at.checked_add(k),
            (Some(at), Some(k), ..) => at.checked_sub(k),
            (_, _, Some(k), Some(at)) if op == Prim::AddInt => at.checked_add(k),
            (..) => None,
        };
        if let Some(sum) = sum {
            self.places.insert(bind.var, sum);
        }
    }

    fn op(&mut self, stm: &Stm, op: &Op) -> Option<()> {
        match op {
            Op::Prim(op, args) => {
                let flows = args.iter().zip(op.partials()).filter(|(_, partial)| partial.is_some());
                let bands = flows.filter_map(|(arg, _)| self.get(*arg)).reduce(Band::join);
                if let (Some(band), [bind]) = (bands, &stm.binds[..]) {
                    self.of.insert(bind.var, band);
                }
                Some(())
            }
            Op::Index(x, index) => {
                let band = self.of.get(x)?.moved(self.place(index)?)?;
                self.of.insert(stm.binds.first()?.var, band);
                Some(())
            }
            Op::Accumulate { acc, index, value } => {
                let Some(band) = self.get(*value) else { return Some(()) };
                let band = band.moved(self.place(index)?.checked_neg()?)?;
                self.join(*acc, band);
                Some(())
            }
            Op::Accumulator(Atom::Var(x)) | Op::Freeze(x) => {
                let band = *self.of.get(x)?;
                self.of.insert(stm.binds.first()?.var, band);
                Some(())
            }
            // An inspected value is no result.
            Op::Inspect { .. } | Op::Check { .. } => Some(()),
            Op::Accumulator(Atom::Lit(_))
            | Op::Fill(_)
            | Op::Array(_)
            | Op::Constant(_)
            | Op::Update { .. }
            | Op::ArrayPrim(..)
            | Op::Call { .. }
            | Op::Node { .. }
            | Op::Tag(_)
            | Op::Field { .. }
            | Op::Open { .. }
            | Op::Cell { .. }
            | Op::Scheduled(_) => None,
        }
    }

    fn nest(&mut self, stm: &Stm, nest: &Nest) -> Option<()> {
        match nest {
            Nest::For { index, outs, body, .. } => {
                let outermost = self.index.is_none();
                if outermost {
                    self.index = Some(*index);
                    self.places.insert(*index, 0);
                }
                self.block(body)?;
                for ((bind, out), result) in stm.binds.iter().zip(outs).zip(&body.results) {
                    let Some(band) = self.get(*result) else { continue };
                    // Inside of another `for` only sums of its iterations belong to its index;
                    // outside of all, only the elements do.
                    let right = match out {
                        Out::Collect => outermost && bind.ty.rank() == 1,
                        Out::Reduce(_) => !outermost,
                    };
                    self.of.insert(bind.var, right.then_some(band)?);
                }
                if outermost {
                    self.index = None;
                    self.places.clear();
                }
                Some(())
            }
            Nest::If { then, otherwise, .. } => {
                self.block(then)?;
                self.block(otherwise)?;
                for ((bind, a), b) in stm.binds.iter().zip(&then.results).zip(&otherwise.results) {
                    let bands = [self.get(*a), self.get(*b)].into_iter().flatten();
                    if let Some(band) = bands.reduce(Band::join) {
                        self.of.insert(bind.var, band);
                    }
                }
                Some(())
            }
            Nest::Loop { kind: LoopKind::For { .. } | LoopKind::While(_), .. } => None,
        }
    }
}
