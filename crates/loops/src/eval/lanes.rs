//! Primitives on lanes. Those that most work consists of have a loop of their own, with nothing in it but the operation, so that the compiler of this program makes
//! vector instructions of it. All others go lane by lane through their rows. A test compares both.

use lambada_prim::{Precision, Prim, ScalarTy, max, min};

/// A primitive on all lanes; operands that it does not have are ignored.
pub(super) type OnLanes = fn(&mut [u64], [Words; 3]);

/// An operand: a word for each lane, or one for all of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Words<'a> {
    Each(&'a [u64]),
    One(u64),
}

/// The number of its loop, if it has one. To 32 bits, an integer is rounded once, which [`computed`] would do twice.
pub(super) fn number(prim: Prim, precision: Precision) -> Option<u16> {
    if precision == Precision::F32 && prim == Prim::ToReal {
        return None;
    }
    LOOPS.iter().position(|(other, _)| *other == prim).map(|at| at as u16)
}

/// The loop of a number, and what it computes.
#[inline(always)]
pub(super) fn of(number: u16) -> (Prim, OnLanes) {
    LOOPS[usize::from(number)]
}

/// Runs the loop of a number; reals that it gives are of the precision.
#[inline(always)]
pub(super) fn computed(number: u16, precision: Precision, to: &mut [u64], operands: [Words; 3]) {
    let (prim, run) = of(number);
    run(to, operands);
    if precision == Precision::F32 && prim.result() == ScalarTy::Real {
        to.iter_mut().for_each(|word| *word = precision.round(f64::from_bits(*word)).to_bits());
    }
}

/// The primitives with loops.
#[rustfmt::skip]
const LOOPS: &[(Prim, OnLanes)] = &[
    (Prim::Add, |to, [a, b, _]| binary(to, a, b, |x: f64, y: f64| x + y)),
    (Prim::Sub, |to, [a, b, _]| binary(to, a, b, |x: f64, y: f64| x - y)),
    (Prim::Mul, |to, [a, b, _]| binary(to, a, b, |x: f64, y: f64| x * y)),
    (Prim::Div, |to, [a, b, _]| binary(to, a, b, |x: f64, y: f64| x / y)),
    (Prim::Min, |to, [a, b, _]| binary(to, a, b, min)),
    (Prim::Max, |to, [a, b, _]| binary(to, a, b, max)),
    (Prim::Neg, |to, [a, _, _]| unary(to, a, |x: f64| -x)),
    (Prim::Abs, |to, [a, _, _]| unary(to, a, f64::abs)),
    // As its row has it: of -0.0 it is 0.0.
    (Prim::Sqrt, |to, [a, _, _]| unary(to, a, |x: f64| (x + 0.0).sqrt())),
    (Prim::Exp, |to, [a, _, _]| unary(to, a, f64::exp)),
    (Prim::Log, |to, [a, _, _]| unary(to, a, f64::ln)),
    (Prim::Log1p, |to, [a, _, _]| unary(to, a, f64::ln_1p)),
    (Prim::Tanh, |to, [a, _, _]| unary(to, a, f64::tanh)),
    (Prim::Sin, |to, [a, _, _]| unary(to, a, f64::sin)),
    (Prim::Cos, |to, [a, _, _]| unary(to, a, f64::cos)),
    (Prim::ToReal, |to, [a, _, _]| unary(to, a, |x: i64| x as f64)),
    (Prim::Eq, |to, [a, b, _]| binary(to, a, b, |x: f64, y: f64| x == y)),
    (Prim::Ne, |to, [a, b, _]| binary(to, a, b, |x: f64, y: f64| x != y)),
    (Prim::Lt, |to, [a, b, _]| binary(to, a, b, |x: f64, y: f64| x < y)),
    (Prim::Le, |to, [a, b, _]| binary(to, a, b, |x: f64, y: f64| x <= y)),
    (Prim::EqInt, |to, [a, b, _]| binary(to, a, b, |x: i64, y: i64| x == y)),
    (Prim::NeInt, |to, [a, b, _]| binary(to, a, b, |x: i64, y: i64| x != y)),
    (Prim::LtInt, |to, [a, b, _]| binary(to, a, b, |x: i64, y: i64| x < y)),
    (Prim::LeInt, |to, [a, b, _]| binary(to, a, b, |x: i64, y: i64| x <= y)),
    (Prim::AddInt, |to, [a, b, _]| binary(to, a, b, i64::wrapping_add)),
    (Prim::SubInt, |to, [a, b, _]| binary(to, a, b, i64::wrapping_sub)),
    (Prim::MulInt, |to, [a, b, _]| binary(to, a, b, i64::wrapping_mul)),
    (Prim::MinInt, |to, [a, b, _]| binary(to, a, b, i64::min)),
    (Prim::MaxInt, |to, [a, b, _]| binary(to, a, b, i64::max)),
    (Prim::And, |to, [a, b, _]| binary(to, a, b, |x: bool, y: bool| x & y)),
    (Prim::Or, |to, [a, b, _]| binary(to, a, b, |x: bool, y: bool| x | y)),
    (Prim::Not, |to, [a, _, _]| unary(to, a, |x: bool| !x)),
    (Prim::Select, |to, [c, a, b]| select(to, c, a, b)),
    (Prim::SelectInt, |to, [c, a, b]| select(to, c, a, b)),
    (Prim::SelectBool, |to, [c, a, b]| select(to, c, a, b)),
];

/// A scalar as a word.
trait Word: Copy {
    fn of(word: u64) -> Self;
    fn word(self) -> u64;
}

impl Word for f64 {
    #[inline(always)]
    fn of(word: u64) -> f64 {
        f64::from_bits(word)
    }

    #[inline(always)]
    fn word(self) -> u64 {
        self.to_bits()
    }
}

impl Word for i64 {
    #[inline(always)]
    fn of(word: u64) -> i64 {
        word.cast_signed()
    }

    #[inline(always)]
    fn word(self) -> u64 {
        self.cast_unsigned()
    }
}

impl Word for bool {
    #[inline(always)]
    fn of(word: u64) -> bool {
        word != 0
    }

    #[inline(always)]
    fn word(self) -> u64 {
        u64::from(self)
    }
}

#[inline(always)]
fn unary<A: Word, R: Word>(to: &mut [u64], a: Words, f: impl Fn(A) -> R) {
    match a {
        Words::Each(a) => to.iter_mut().zip(a).for_each(|(to, a)| *to = f(A::of(*a)).word()),
        Words::One(a) => to.fill(f(A::of(a)).word()),
    }
}

#[inline(always)]
fn binary<A: Word, B: Word, R: Word>(to: &mut [u64], a: Words, b: Words, f: impl Fn(A, B) -> R) {
    let f = |a: u64, b: u64| f(A::of(a), B::of(b)).word();
    match (a, b) {
        (Words::Each(a), Words::Each(b)) => {
            to.iter_mut().zip(a.iter().zip(b)).for_each(|(to, (a, b))| *to = f(*a, *b))
        }
        (Words::Each(a), Words::One(b)) => to.iter_mut().zip(a).for_each(|(to, a)| *to = f(*a, b)),
        (Words::One(a), Words::Each(b)) => to.iter_mut().zip(b).for_each(|(to, b)| *to = f(a, *b)),
        (Words::One(a), Words::One(b)) => to.fill(f(a, b)),
    }
}

/// A choice; what is chosen is words, of whatever type.
#[inline(always)]
fn select(to: &mut [u64], c: Words, a: Words, b: Words) {
    let one = |c: u64| if c != 0 { a } else { b };
    match c {
        Words::One(c) => match one(c) {
            Words::Each(chosen) => to.copy_from_slice(chosen),
            Words::One(chosen) => to.fill(chosen),
        },
        Words::Each(c) => match (a, b) {
            (Words::Each(a), Words::Each(b)) => {
                let lanes = c.iter().zip(a.iter().zip(b));
                to.iter_mut()
                    .zip(lanes)
                    .for_each(|(to, (c, (a, b)))| *to = if *c != 0 { *a } else { *b });
            }
            (Words::Each(a), Words::One(b)) => {
                let lanes = c.iter().zip(a);
                to.iter_mut()
                    .zip(lanes)
                    .for_each(|(to, (c, a))| *to = if *c != 0 { *a } else { b });
            }
            (Words::One(a), Words::Each(b)) => {
                let lanes = c.iter().zip(b);
                to.iter_mut()
                    .zip(lanes)
                    .for_each(|(to, (c, b))| *to = if *c != 0 { a } else { *b });
            }
            (Words::One(a), Words::One(b)) => {
                to.iter_mut().zip(c).for_each(|(to, c)| *to = if *c != 0 { a } else { b });
            }
        },
    }
}

/// Combines the lanes k and k + half until one is left.
pub(super) fn folded(mut lanes: Vec<u64>, number: u16, precision: Precision) -> u64 {
    let mut half = lanes.len() / 2;
    let mut next = vec![0; half];
    while half > 0 {
        let (low, high) = lanes[..2 * half].split_at(half);
        let operands = [Words::Each(low), Words::Each(high), Words::One(0)];
        computed(number, precision, &mut next[..half], operands);
        std::mem::swap(&mut lanes, &mut next);
        half /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use lambada_prim::{Scalar, ScalarTy};

    use super::super::compile::{scalar, word};
    use super::*;

    fn samples(ty: ScalarTy) -> Vec<u64> {
        let reals = [0.0, -0.0, 1.5, -2.25, 3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300];
        let ints = [0, 1, -1, 7, -13, i64::MAX, i64::MIN];
        match ty {
            ScalarTy::Real => reals.map(|x| word(Scalar::Real(x))).to_vec(),
            ScalarTy::Int => ints.map(|x| word(Scalar::Int(x))).to_vec(),
            ScalarTy::Bool => vec![0, 1],
        }
    }

    /// Every combination of the samples, operand by operand.
    fn combinations(types: &[ScalarTy]) -> Vec<Vec<u64>> {
        types.iter().fold(vec![Vec::new()], |all, ty| {
            let longer = |one: Vec<u64>| {
                let with = move |last| one.iter().copied().chain([last]).collect();
                samples(*ty).into_iter().map(with).collect::<Vec<Vec<u64>>>()
            };
            all.into_iter().flat_map(longer).collect()
        })
    }

    /// The loops are what the rows say, whichever of the operands there is one of for all lanes.
    #[test]
    fn loops_are_what_rows_say() {
        let loops = |precision| {
            let numbered = move |(prim, _): &(Prim, OnLanes)| {
                Some((*prim, precision, number(*prim, precision)?))
            };
            LOOPS.iter().filter_map(numbered)
        };
        for (prim, precision, number) in Precision::ALL.into_iter().flat_map(loops) {
            let (row, all) = (prim.row(), combinations(prim.args()));
            let eval = |args: &[u64]| {
                let args = args.iter().zip(row.args).map(|(arg, elem)| scalar(*elem, *arg));
                precision.eval(prim, &args.collect::<Vec<Scalar>>())
            };
            let operand = |k: usize| all.iter().map(|args| args[k]).collect::<Vec<u64>>();
            let columns: Vec<Vec<u64>> = (0..row.args.len()).map(operand).collect();
            for shared in 0..1 << row.args.len() {
                let mut operands = [Words::One(0); 3];
                for (k, column) in columns.iter().enumerate() {
                    let one = shared & (1 << k) != 0;
                    operands[k] = if one { Words::One(column[0]) } else { Words::Each(column) };
                }
                let mut to = vec![0; all.len()];
                computed(number, precision, &mut to, operands);
                for (lane, given) in to.iter().enumerate() {
                    let pick = |operand: &Words| match operand {
                        Words::Each(words) => words[lane],
                        Words::One(word) => *word,
                    };
                    let args: Vec<u64> = operands[..row.args.len()].iter().map(pick).collect();
                    let (given, right) = (scalar(row.result, *given), eval(&args));
                    let both_nan = matches!((given, right), (Scalar::Real(a), Scalar::Real(b)) if a.is_nan() && b.is_nan());
                    assert!(
                        both_nan || word(given) == word(right),
                        "{} of {args:x?}: {given:?}, not {right:?}",
                        row.name
                    );
                }
            }
        }
    }

    #[test]
    fn folds_halve() {
        let lanes: Vec<u64> = [1.0, 2.0, 4.0, 8.0].map(f64::to_bits).to_vec();
        let minus = number(Prim::Sub, Precision::F64).expect("it has a loop");
        let folded = folded(lanes, minus, Precision::F64);
        assert_eq!(f64::from_bits(folded), (1.0 - 4.0) - (2.0 - 8.0));
    }
}
