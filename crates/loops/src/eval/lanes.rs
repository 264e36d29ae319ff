//! Primitives on lanes. The most frequent ones have a loop of their own with nothing in it but the
//! operation, so that the Rust compiler vectorizes it: with the instructions that every processor
//! has, and on x86-64 also with AVX2. A run takes the widest loops that the processor can run. The
//! loops give the same bits at all widths. All other primitives go lane by lane through their rows.
//! A test compares all of them.

use lambada_prim::{Precision, Prim, ScalarTy, max, min};

/// A primitive on all lanes; operands that it does not have are ignored.
///
/// # Safety
/// The processor has the instructions of the [`Loops`] that it is from.
type OnLanes = unsafe fn(&mut [u64], [Words; 3]);

/// An operand: a word for each lane, or one for all lanes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Words<'a> {
    Each(&'a [u64]),
    One(u64),
}

/// The number of its loop, if it has one. With reals of 32 bits, an integer is rounded once, which
/// [`Loops::compute`] would do twice.
pub(super) fn number(prim: Prim, precision: Precision) -> Option<u16> {
    if precision == Precision::F32 && prim == Prim::ToReal {
        return None;
    }
    PRIMS.iter().position(|other| *other == prim).map(|at| at as u16)
}

/// The primitive of a loop.
#[inline(always)]
pub(super) fn prim(number: u16) -> Prim {
    PRIMS[usize::from(number)]
}

/// The number of its operands.
#[inline(always)]
pub(super) fn operands(number: u16) -> usize {
    OPERANDS[usize::from(number)]
}

/// The loops for one kind of processor, by their numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loops(&'static [OnLanes]);

impl Loops {
    /// The loops with the widest instructions of this processor.
    pub(super) fn here() -> Loops {
        Loops::all().last().expect("any processor has some")
    }

    /// All loops that this processor can run, the narrowest first.
    #[cfg(target_arch = "x86_64")]
    fn all() -> impl Iterator<Item = Loops> {
        let avx2 = is_x86_feature_detected!("avx2").then_some(Loops(AVX2));
        [Some(Loops(EVERYWHERE)), avx2].into_iter().flatten()
    }

    /// All loops that this processor can run.
    #[cfg(not(target_arch = "x86_64"))]
    fn all() -> impl Iterator<Item = Loops> {
        std::iter::once(Loops(EVERYWHERE))
    }

    /// Runs the loop of a number; its reals are rounded to the precision.
    #[inline(always)]
    pub(super) fn compute(
        self,
        number: u16,
        precision: Precision,
        to: &mut [u64],
        operands: [Words; 3],
    ) {
        // SAFETY: `all` gives only loops whose instructions the processor has.
        #[allow(unsafe_code)]
        unsafe {
            self.0[usize::from(number)](to, operands)
        };
        if precision == Precision::F32 && prim(number).result() == ScalarTy::Real {
            to.iter_mut().for_each(|word| *word = precision.round(f64::from_bits(*word)).to_bits());
        }
    }

    /// Combines the lanes k and k + half until one is left.
    pub(super) fn fold(self, mut lanes: Vec<u64>, number: u16, precision: Precision) -> u64 {
        let mut half = lanes.len() / 2;
        let mut next = vec![0; half];
        while half > 0 {
            let (low, high) = lanes[..2 * half].split_at(half);
            let operands = [Words::Each(low), Words::Each(high), Words::One(0)];
            self.compute(number, precision, &mut next[..half], operands);
            std::mem::swap(&mut lanes, &mut next);
            half /= 2;
        }
        lanes[0]
    }
}

/// The loops, once for each kind of processor.
macro_rules! loops {
    ($($prim:ident: $shape:ident($($f:expr)?),)*) => {
        /// The primitives with loops.
        const PRIMS: &[Prim] = &[$(Prim::$prim),*];

        const OPERANDS: &[usize] = &[$(loops!(@operands $shape)),*];

        const EVERYWHERE: &[OnLanes] = loops!(@table [] $($shape($($f)?),)*);

        #[cfg(target_arch = "x86_64")]
        const AVX2: &[OnLanes] =
            loops!(@table [#[target_feature(enable = "avx2")]] $($shape($($f)?),)*);
    };
    (@operands unary) => { 1 };
    (@operands binary) => { 2 };
    (@operands select) => { 3 };
    (@table $with:tt $($shape:ident($($f:expr)?),)*) => {
        &[$(loops!(@one $with $shape($($f)?))),*]
    };
    (@one [$($with:tt)*] $shape:ident($($f:expr)?)) => {{
        $($with)*
        fn run(to: &mut [u64], operands: [Words; 3]) {
            $shape(to, operands, $($f)?);
        }
        run
    }};
}

loops! {
    Add: binary(|x: f64, y: f64| x + y),
    Sub: binary(|x: f64, y: f64| x - y),
    Mul: binary(|x: f64, y: f64| x * y),
    Div: binary(|x: f64, y: f64| x / y),
    Min: binary(min),
    Max: binary(max),
    Neg: unary(|x: f64| -x),
    Abs: unary(f64::abs),
    // As its row: the root of -0.0 is 0.0.
    Sqrt: unary(|x: f64| (x + 0.0).sqrt()),
    Exp: unary(f64::exp),
    Log: unary(f64::ln),
    Log1p: unary(f64::ln_1p),
    Tanh: unary(f64::tanh),
    Sin: unary(f64::sin),
    Cos: unary(f64::cos),
    ToReal: unary(|x: i64| x as f64),
    Eq: binary(|x: f64, y: f64| x == y),
    Ne: binary(|x: f64, y: f64| x != y),
    Lt: binary(|x: f64, y: f64| x < y),
    Le: binary(|x: f64, y: f64| x <= y),
    EqInt: binary(|x: i64, y: i64| x == y),
    NeInt: binary(|x: i64, y: i64| x != y),
    LtInt: binary(|x: i64, y: i64| x < y),
    LeInt: binary(|x: i64, y: i64| x <= y),
    AddInt: binary(i64::wrapping_add),
    SubInt: binary(i64::wrapping_sub),
    MulInt: binary(i64::wrapping_mul),
    MinInt: binary(i64::min),
    MaxInt: binary(i64::max),
    And: binary(|x: bool, y: bool| x & y),
    Or: binary(|x: bool, y: bool| x | y),
    Not: unary(|x: bool| !x),
    Select: select(),
    SelectInt: select(),
    SelectBool: select(),
}

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
fn unary<A: Word, R: Word>(to: &mut [u64], [a, _, _]: [Words; 3], f: impl Fn(A) -> R) {
    match a {
        Words::Each(a) => to.iter_mut().zip(a).for_each(|(to, a)| *to = f(A::of(*a)).word()),
        Words::One(a) => to.fill(f(A::of(a)).word()),
    }
}

#[inline(always)]
fn binary<A: Word, B: Word, R: Word>(to: &mut [u64], [a, b, _]: [Words; 3], f: impl Fn(A, B) -> R) {
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

/// A selection; the selected words may have any type.
#[inline(always)]
fn select(to: &mut [u64], [c, a, b]: [Words; 3]) {
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

    /// The loops agree with the rows, for each choice of operands that have one word for all lanes.
    #[test]
    fn loops_are_what_rows_say() {
        let loops = |precision| {
            let numbered = move |prim: &Prim| Some((*prim, precision, number(*prim, precision)?));
            PRIMS.iter().filter_map(numbered)
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
                let pick = |lane: usize, operand: &Words| match operand {
                    Words::Each(words) => words[lane],
                    Words::One(word) => *word,
                };
                let right = (0..all.len()).map(|lane| {
                    let args: Vec<u64> =
                        operands[..row.args.len()].iter().map(|o| pick(lane, o)).collect();
                    eval(&args)
                });
                let right: Vec<Scalar> = right.collect();
                for loops in Loops::all() {
                    let mut to = vec![0; all.len()];
                    loops.compute(number, precision, &mut to, operands);
                    for ((args, given), right) in all.iter().zip(to).zip(&right) {
                        let given = scalar(row.result, given);
                        let both_nan = matches!((given, right), (Scalar::Real(a), Scalar::Real(b)) if a.is_nan() && b.is_nan());
                        assert!(
                            both_nan || word(given) == word(*right),
                            "{} of {args:x?}, {shared:b} for all lanes: {given:?}, not {right:?}",
                            row.name
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn folds_halve() {
        let lanes: Vec<u64> = [1.0, 2.0, 4.0, 8.0].map(f64::to_bits).to_vec();
        let minus = number(Prim::Sub, Precision::F64).expect("it has a loop");
        let folded = Loops::here().fold(lanes, minus, Precision::F64);
        assert_eq!(f64::from_bits(folded), (1.0 - 4.0) - (2.0 - 8.0));
    }
}
