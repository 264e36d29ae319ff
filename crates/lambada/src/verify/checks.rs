//! Checks of a definition's derivatives at a point, against each other and against finite
//! differences.
//!
//! - *differences*: the forward derivative along a drawn direction, component by component, against
//!   central differences of the value;
//! - *transposed*: ⟨Jv, w⟩ = ⟨v, Jᵀw⟩ for random v and w;
//! - *modes*: elements of the reverse gradient of ⟨w, f⟩ against forward derivatives along single
//!   elements, so that large elements do not mask small ones;
//! - *second order*: the forward derivative of the reverse derivative against its finite
//!   differences.

use lambada_compare::{Confirmed, Random, Tolerance, confirm_within};
use lambada_core::data::Data;
use lambada_core::{DefId, Program};
use lambada_prim::Precision;
use lambada_source::Problem;

use crate::operators::{self, Operator};
use crate::vectors::{inner, moved, reals, with_reals};
use crate::{Executable, Options};

/// Library functions by which solvers hold intermediate values constant: the steps of an
/// integrator, or the solution found. Values then carry the solver's tolerance, and finite
/// differences observe changes of the steps.
const HELD: [&str; 2] = ["prelude_constant", "prelude_constants"];

/// Tolerances against finite differences for such definitions: relative to the largest component,
/// and absolute, since solvers stop at 1e-8; for the second order, where the differences are those
/// of a derivative that is solved for itself, a thousand times as much.
const SOLVED: [(f64, f64); 2] = [(1e-5, 1e-7), (1e-2, 1e-4)];

/// Number of gradient elements that are compared one by one.
const ELEMENTS: usize = 8;

/// Number of points next to a point at which the rounding error of a derivative is measured.
const JITTERS: usize = 4;

/// Relative distance of these points: two roundings of 64 bits.
const JITTER: f64 = 2.0 * f64::EPSILON;

/// A disagreement may be this many times the measured rounding error, which is that of a few
/// points only.
const ROUNDINGS: f64 = 16.0;

/// Tolerances by precision. Finite differences always use 64-bit values.
struct Allowed {
    /// Differences up to this size may be rounding errors inside a function whose value is near
    /// zero.
    noise: f64,
    /// Relative tolerance against finite differences.
    slope: f64,
    /// Tolerance between two ways to compute a number, relative to the sum of the absolute values
    /// of the summands.
    agreement: Tolerance,
    /// Absolute tolerance between two ways to compute a number.
    absolute: f64,
    /// Tolerance of the value that a derivative returns.
    value: f64,
}

fn allowed(precision: Precision) -> Allowed {
    match precision {
        Precision::F64 => Allowed {
            noise: 1e-9,
            slope: 1e-6,
            agreement: Tolerance::relative(1e-9),
            absolute: 1e-12,
            value: 1e-12,
        },
        Precision::F32 => Allowed {
            noise: 1e-3,
            slope: 1e-3,
            agreement: Tolerance::relative(1e-4),
            absolute: 1e-5,
            value: 1e-4,
        },
    }
}

/// Result of a check.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// Numbers of components that agree with finite differences, or could not be decided.
    Differences(Confirmed),
    /// Largest distance between two ways to compute a number, relative to the summands; within the
    /// tolerance.
    Apart(f64),
    /// Description of a disagreement.
    Wrong(String),
}

impl Finding {
    /// Combines the results at two points.
    pub fn and(self, other: Finding) -> Finding {
        match (self, other) {
            (Finding::Wrong(why), _) | (_, Finding::Wrong(why)) => Finding::Wrong(why),
            (Finding::Differences(mut a), Finding::Differences(b)) => {
                a.add(b);
                Finding::Differences(a)
            }
            (Finding::Apart(a), Finding::Apart(b)) => Finding::Apart(a.max(b)),
            (a @ Finding::Differences(_), Finding::Apart(_))
            | (a @ Finding::Apart(_), Finding::Differences(_)) => a,
        }
    }
}

/// The names of the checks in order.
pub(super) const CHECKS: [&str; 4] = ["differences", "transposed", "modes", "second order"];

/// A definition and its derivatives, compiled.
pub(super) struct Derivatives {
    wrt: Vec<usize>,
    precision: Precision,
    /// Whether a solver of the library holds a value constant.
    solved: bool,
    /// For lower precision: value and reverse derivative in 64 bits, for finite differences.
    precise: Option<[Executable; 2]>,
    value: Executable,
    jvp: Executable,
    vjp: Executable,
    /// The forward derivative of the reverse derivative.
    second: Executable,
}

impl Derivatives {
    pub fn compile(
        program: &Program,
        entry: DefId,
        wrt: Vec<usize>,
        options: &Options,
    ) -> Result<Derivatives, Vec<Problem>> {
        let derived = |program: &Program, entry, operator| {
            let mut program = program.clone();
            let id = operators::derive(&mut program, entry, operator, &wrt).map_err(|p| vec![p])?;
            Ok::<_, Vec<Problem>>((program, id))
        };
        let compiled = |(program, id): (Program, DefId)| Executable::with(program, id, options);
        let reverse = derived(program, entry, Operator::Vjp)?;
        let second = compiled(derived(&reverse.0, reverse.1, Operator::Jvp)?)?;
        let precision = options.precision;
        let precise = match precision {
            Precision::F64 => None,
            Precision::F32 => {
                let options = Options { precision: Precision::F64, ..options.clone() };
                let value = Executable::with(program.clone(), entry, &options)?;
                Some([value, Executable::with(reverse.0.clone(), reverse.1, &options)?])
            }
        };
        let value = compiled((program.clone(), entry))?;
        let jvp = compiled(derived(program, entry, Operator::Jvp)?)?;
        let vjp = compiled(reverse)?;
        let solved =
            super::brought(program, entry).iter().any(|rule| HELD.contains(&&*rule.function));
        Ok(Derivatives { wrt, precision, solved, precise, value, jvp, vjp, second })
    }

    /// The value, for finite differences.
    fn moving(&self) -> &Executable {
        self.precise.as_ref().map_or(&self.value, |[value, _]| value)
    }

    /// The reverse derivative, for finite differences.
    fn moving_vjp(&self) -> &Executable {
        self.precise.as_ref().map_or(&self.vjp, |[_, vjp]| vjp)
    }

    /// Runs the value.
    pub fn value(&self, args: &[Data]) -> Result<Data, lambada_source::Failure> {
        self.value.run(args)
    }

    /// Makes all checks at arguments where the definition has this value.
    pub fn check(&self, args: &[Data], value: &Data, random: &mut Random) -> [Finding; 4] {
        let mut drawn = |data: &Data| with_reals(data, &mut || random.between(-1.0, 1.0));
        let at = At { of: self, args, point: self.point(args), cotangent: drawn(value) };
        let tangent = drawn(&at.point);
        let told = |found: Result<Finding, String>| found.unwrap_or_else(Finding::Wrong);
        [
            told(at.differences(value, &tangent)),
            told(at.transposed(value, &tangent)),
            told(at.modes(random)),
            told(at.second_order(&tangent)),
        ]
    }

    /// The differentiated parameters, packed like the operators' arguments.
    fn point(&self, args: &[Data]) -> Data {
        match &self.wrt[..] {
            [single] => args[*single].clone(),
            several => Data::Tuple(several.iter().map(|k| args[*k].clone()).collect()),
        }
    }

    /// The arguments with the differentiated parameters replaced.
    fn with_point(&self, args: &[Data], point: Data) -> Vec<Data> {
        let mut args = args.to_vec();
        match (&self.wrt[..], point) {
            ([single], point) => args[*single] = point,
            (several, Data::Tuple(items)) => {
                several.iter().zip(items).for_each(|(k, item)| args[*k] = item)
            }
            (_, Data::Tensor(_) | Data::Record(_) | Data::Array(_) | Data::Con { .. }) => {
                unreachable!("several parameters make a tuple")
            }
        }
        args
    }
}

/// A point of evaluation with a cotangent.
struct At<'a> {
    of: &'a Derivatives,
    args: &'a [Data],
    point: Data,
    cotangent: Data,
}

impl At<'_> {
    fn differences(&self, value: &Data, tangent: &Data) -> Result<Finding, String> {
        let (kept, pushed) = self.run(&self.of.jvp, &[tangent])?;
        self.same_value(&kept, value)?;
        let mut moving = |h: f64| {
            let point = moved(&self.point, h, tangent);
            self.of.moving().run(&self.of.with_point(self.args, point)).ok().map(|y| reals(&y))
        };
        self.confirmed(1, &reals(&pushed), &mut moving)
    }

    /// Compares a derivative, of the first or second order, with finite differences.
    fn confirmed(
        &self,
        order: usize,
        derivative: &[f64],
        moving: &mut dyn FnMut(f64) -> Option<Vec<f64>>,
    ) -> Result<Finding, String> {
        let Allowed { mut noise, slope, .. } = allowed(self.of.precision);
        if self.of.solved {
            let sizes = derivative.iter().map(|x| x.abs()).filter(|x| x.is_finite());
            let (relative, absolute) = SOLVED[order - 1];
            noise = sizes.fold(noise.max(absolute), |noise, size| noise.max(relative * size));
        }
        confirm_within(slope, noise, derivative, moving).map(Finding::Differences)
    }

    /// Checks that a derivative returns the value itself.
    fn same_value(&self, kept: &Data, value: &Data) -> Result<(), String> {
        kept.close(value, allowed(self.of.precision).value)
            .map_err(|why| format!("the value that comes with it differs: {why}"))
    }

    fn transposed(&self, value: &Data, tangent: &Data) -> Result<Finding, String> {
        let (_, pushed) = self.run(&self.of.jvp, &[tangent])?;
        let (kept, pulled) = self.run(&self.of.vjp, &[&self.cotangent])?;
        self.same_value(&kept, value)?;
        let forward = Sum::of(&reals(&pushed), &reals(&self.cotangent));
        let reverse = Sum::of(&reals(tangent), &reals(&pulled));
        let names = ("⟨Jv, w⟩", "⟨v, Jᵀw⟩");
        forward.against(&reverse, names, self.of.precision).map(Finding::Apart).or_else(|why| {
            self.only_rounding(&forward, &reverse, tangent)
                .then_some(Finding::Apart(0.0))
                .ok_or(why)
        })
    }

    /// Whether two sums differ no more than rounding changes them: large values that cancel, such
    /// as a sentinel of 1e10, cost digits in both modes.
    fn only_rounding(&self, forward: &Sum, reverse: &Sum, tangent: &Data) -> bool {
        let apart = (forward.value - reverse.value).abs();
        apart
            <= ROUNDINGS
                * self.rounding(&self.of.jvp, &[tangent], |pushed| {
                    vec![inner(&reals(pushed), &reals(&self.cotangent))]
                })
    }

    /// How much numbers made of a derivative change at points that differ by roundings, at most.
    fn rounding(
        &self,
        derivative: &Executable,
        seeds: &[&Data],
        numbers: impl Fn(&Data) -> Vec<f64>,
    ) -> f64 {
        let mut random = Random(3);
        let mut at = |jitter: f64| {
            let mut values = reals(&self.point).into_iter();
            let by = with_reals(&self.point, &mut || {
                values.next().unwrap_or_default() * random.between(-1.0, 1.0)
            });
            let args = self.of.with_point(self.args, moved(&self.point, jitter, &by));
            Some(numbers(&pair(derivative.run(&with(&args, seeds)).ok()?).ok()?.1))
        };
        let Some(here) = at(0.0) else { return 0.0 };
        let near: Vec<Vec<f64>> = (0..JITTERS).filter_map(|_| at(JITTER)).collect();
        let changes =
            near.iter().flat_map(|near| near.iter().zip(&here)).map(|(a, b)| (a - b).abs());
        changes.filter(|by| by.is_finite()).fold(0.0, f64::max)
    }

    fn modes(&self, random: &mut Random) -> Result<Finding, String> {
        let (_, gradient) = self.run(&self.of.vjp, &[&self.cotangent])?;
        let gradient = reals(&gradient);
        let count = gradient.len();
        let chosen: Vec<usize> = match count <= ELEMENTS {
            true => (0..count).collect(),
            false => (0..ELEMENTS).map(|_| random.below(count)).collect(),
        };
        let mut apart: f64 = 0.0;
        for k in chosen {
            let mut place = 0..;
            let along =
                with_reals(&self.point, &mut || f64::from(u8::from(place.next() == Some(k))));
            let (_, pushed) = self.run(&self.of.jvp, &[&along])?;
            let forward = Sum::of(&reals(&pushed), &reals(&self.cotangent));
            let reverse = Sum::of(&[gradient[k]], &[1.0]);
            let name = format!("element {k} of the gradient forward");
            let names = (&*name, "reverse");
            let found = forward.against(&reverse, names, self.of.precision).or_else(|why| {
                self.only_rounding(&forward, &reverse, &along).then_some(0.0).ok_or(why)
            });
            apart = apart.max(found?);
        }
        Ok(Finding::Apart(apart))
    }

    fn second_order(&self, tangent: &Data) -> Result<Finding, String> {
        let (_, pushed) = self.run(&self.of.second, &[&self.cotangent, tangent])?;
        let (_, pushed) = pair(pushed)?;
        let mut moving = |h: f64| {
            let args = self.of.with_point(self.args, moved(&self.point, h, tangent));
            let both = self.of.moving_vjp().run(&with(&args, &[&self.cotangent])).ok()?;
            Some(reals(&pair(both).ok()?.1))
        };
        let pushed = reals(&pushed);
        self.confirmed(2, &pushed, &mut moving).or_else(|why| {
            let seeds = [&self.cotangent, tangent];
            let noise = ROUNDINGS
                * self.rounding(&self.of.second, &seeds, |both| {
                    pair(both.clone()).map_or(Vec::new(), |(_, second)| reals(&second))
                });
            let slope = allowed(self.of.precision).slope;
            let again = confirm_within(slope, noise, &pushed, &mut moving);
            again.map(Finding::Differences).map_err(|_| why)
        })
    }

    /// Runs a derivative, which must not fail where the value exists.
    fn run(&self, derivative: &Executable, seeds: &[&Data]) -> Result<(Data, Data), String> {
        let both = derivative.run(&with(self.args, seeds));
        pair(both.map_err(|f| format!("it fails where the value does not: {}", f.message))?)
    }
}

fn with(args: &[Data], more: &[&Data]) -> Vec<Data> {
    args.iter().chain(more.iter().copied()).cloned().collect()
}

fn pair(data: Data) -> Result<(Data, Data), String> {
    let Data::Tuple(items) = data else { return Err("it gives no pair".to_string()) };
    <[Data; 2]>::try_from(items).map(|[a, b]| (a, b)).map_err(|_| "it gives no pair".to_string())
}

/// A sum of products, and the sum of their absolute values.
struct Sum {
    value: f64,
    size: f64,
}

impl Sum {
    fn of(a: &[f64], b: &[f64]) -> Sum {
        let sizes = |xs: &[f64]| xs.iter().map(|x| x.abs()).collect::<Vec<_>>();
        Sum { value: inner(a, b), size: inner(&sizes(a), &sizes(b)) }
    }

    /// Distance between two sums, relative to their summands.
    fn against(
        &self,
        other: &Sum,
        (name, other_name): (&str, &str),
        precision: Precision,
    ) -> Result<f64, String> {
        let Allowed { agreement, absolute, .. } = allowed(precision);
        let sizes = [self.size, other.size].into_iter().filter(|size| size.is_finite());
        let size = sizes.fold(0.0, f64::max);
        let tolerance = agreement.and_absolute(agreement.relative * size + absolute);
        if !tolerance.accepts(self.value, other.value) {
            return Err(format!("{name} is {:?}, {other_name} is {:?}", self.value, other.value));
        }
        // Two numbers that should be zero are rounding errors, without a common digit.
        let apart = (self.value - other.value).abs();
        Ok(if apart > absolute { apart / size.max(f64::MIN_POSITIVE) } else { 0.0 })
    }
}
