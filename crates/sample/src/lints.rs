//! Findings before the first draw: parameters that the density does not mention, data that no
//! parameter meets, and directions in which the density does not fall, so that the posterior is
//! improper. E.g. a slope without a prior in a logistic regression whose data a line separates.
//!
//! The density of a proper posterior falls faster than the inverse of a coordinate, on almost every
//! line along it. So its logarithm, by the logarithm of the distance, has a slope below −1; if the
//! slope is about 0 or above at the farthest point where the density is a number, then the mass
//! beyond is infinite. The gradient has all slopes, so a coordinate takes two evaluations. Masses
//! that are infinite in other directions only are not found.

use std::time::{Duration, Instant};

use lambada::{Posterior, Variable};
use lambada_draws::{Finding, Kind};

use crate::start;

/// Distances of coordinates that are the values themselves, the farthest first; where the density
/// is not a number, the next is taken.
const VALUES: [f64; 8] = [1e10, 1e8, 1e6, 1e4, 1e3, 300.0, 100.0, 30.0];

/// Distances of coordinates whose exponentials are about the values.
const EXPONENTS: [f64; 5] = [200.0, 100.0, 50.0, 30.0, 20.0];

/// The slope up to which the density falls. Those between −1 and this one are improper too, but
/// coordinates of wide priors such as `inv_gamma 0.001 0.001` come close to 0 within the numbers.
const FALLS: f64 = -0.01;

/// Number of points around which a direction must not fall.
const POINTS: usize = 3;

/// Time after which no further coordinate is looked at.
const LONGEST: Duration = Duration::from_secs(1);

/// Findings about a posterior.
#[derive(Clone, Debug, Default)]
pub struct Lints {
    /// The findings, the gravest first.
    pub findings: Vec<Finding>,
    /// Number of coordinates that were looked at for improper directions; none if the density has
    /// loops without a bound, because a differential equation takes very many steps far out.
    pub looked: usize,
}

/// Looks at a posterior before chains begin; `seed` gives the points to look from.
pub fn lints(posterior: &Posterior, seed: u64) -> Lints {
    let mut findings = Vec::new();
    findings.extend(unmentioned(posterior));
    let (improper, looked) = improper(posterior, seed);
    findings.extend(improper);
    findings.extend(unmet(posterior));
    Lints { findings, looked }
}

fn unmentioned(posterior: &Posterior) -> Option<Finding> {
    let names: Vec<&str> = posterior.unmentioned().iter().map(|name| &**name).collect();
    let one = match names[..] {
        [] => return None,
        [_] => true,
        _ => false,
    };
    let verb = if one { "does" } else { "do" };
    let title = format!(
        "{} {verb} not occur in the log density `{}`",
        lambada::quoted(&names),
        posterior.entry()
    );
    let it = if one { "it has" } else { "they have" };
    let meaning = format!(
        "No prior and no data hold {}: {it} a flat density, and draws without meaning.",
        if one { "it" } else { "them" }
    );
    let finding = Finding::new(Kind::Unmentioned, title, meaning)
        .advice("add the prior, or the term that was forgotten")
        .advice("if these are data, give them in a file or as `NAME=VALUE`")
        .advice("if other definitions need them, make them parameters of those only");
    Some(finding)
}

fn unmet(posterior: &Posterior) -> Option<Finding> {
    let names: Vec<&str> = posterior.unmet().iter().map(|name| &**name).collect();
    let one = match names[..] {
        [] => return None,
        [_] => true,
        _ => false,
    };
    let title = format!(
        "The data {} {} no parameter",
        lambada::quoted(&names),
        if one { "meets" } else { "meet" }
    );
    let meaning = format!(
        "No term of the log density has {} together with a parameter, so the draws would be the same for all other values.",
        if one { "it" } else { "them" }
    );
    let finding = Finding::new(Kind::Unmet, title, meaning)
        .advice("look for a likelihood that was forgotten, or another name in its place")
        .advice("if the model does not need these data, remove them from its parameters");
    Some(finding)
}

/// A coordinate, and where it ends without falling.
struct Open<'p> {
    /// The array of coordinates.
    name: &'p str,
    /// Its number of coordinates.
    count: usize,
    /// Place in the array, outermost index first.
    place: String,
    is_value: bool,
    /// Towards −∞ and +∞.
    ends: [bool; 2],
}

fn improper(posterior: &Posterior, seed: u64) -> (Option<Finding>, usize) {
    if posterior.may_not_end() {
        return (None, 0);
    }
    let mut views: Vec<View<'_>> = Vec::new();
    for chain in 0..POINTS {
        let mut generator = start::generator(seed, chain);
        let Ok(point) = start::point(posterior, &mut generator) else { break };
        views.push(View { posterior, point });
    }
    if views.len() < POINTS {
        return (None, posterior.dimension());
    }
    let mut coordinates: Vec<Coordinate<'_>> = Vec::new();
    for (variable, is_value) in posterior.coordinates() {
        let all = (0..variable.count()).map(|element| (variable, element, is_value));
        coordinates.extend(all);
    }
    let mut order: Vec<usize> = (0..coordinates.len()).collect();
    // Elements of an array are mostly alike, so the first of all arrays come first.
    order.sort_by_key(|k| coordinates[*k].1 > 0);
    let begun = Instant::now();
    let (mut open, mut looked) = (Vec::new(), 0);
    for k in order {
        if begun.elapsed() > LONGEST {
            break;
        }
        looked += 1;
        let (variable, element, is_value) = coordinates[k];
        let parameter = variable.name.split('.').next().unwrap_or_default();
        if posterior.unmentioned().iter().any(|name| **name == *parameter) {
            continue;
        }
        let distances = if is_value { &VALUES[..] } else { &EXPONENTS[..] };
        let ends =
            [-1.0, 1.0].map(|sign| !views.iter_mut().any(|view| view.falls(k, sign, distances)));
        if ends.contains(&true) {
            let place = place(&variable.dims, element);
            open.push(Open {
                name: &variable.name,
                count: variable.count(),
                place,
                is_value,
                ends,
            });
        }
    }
    (told(&open), looked)
}

/// An array of coordinates, the element, and whether the coordinate is the value itself.
type Coordinate<'p> = (&'p Variable, usize, bool);

/// The index of the `k`th element.
fn place(dims: &[usize], mut k: usize) -> String {
    let mut steps: Vec<String> = Vec::new();
    for size in dims.iter().rev() {
        steps.push((k % size).to_string());
        k /= size;
    }
    steps.reverse();
    if steps.is_empty() { String::new() } else { format!("[{}]", steps.join(", ")) }
}

fn told(open: &[Open<'_>]) -> Option<Finding> {
    let first = open.first()?;
    let mut names: Vec<String> = Vec::new();
    for coordinate in open {
        let others = open.iter().filter(|other| other.name == coordinate.name).count();
        // The elements of an array, and the coordinates of a simplex, are many.
        let name = match coordinate.is_value && others < coordinate.count {
            true => format!("`{}{}`", coordinate.name, coordinate.place),
            false => format!("`{}`", coordinate.name),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let several = names.len() > 1;
    if names.len() > 5 {
        let rest = names.len() - 4;
        names.truncate(4);
        names.push(format!("{rest} others"));
    }
    let last = names.pop().unwrap_or_default();
    let names = if several { format!("{} and {last}", names.join(", ")) } else { last };
    let end = match (several, first.is_value, first.ends) {
        (true, ..) => "far out",
        (_, false, _) => "towards an end of its space",
        (_, true, [true, true]) => "towards −∞ and ∞",
        (_, true, [true, false]) => "towards −∞",
        (_, true, [false, _]) => "towards ∞",
    };
    let title =
        format!("The posterior seems improper: its density does not fall with {names} {end}");
    let meaning = "With the other parameters held, there is as much mass beyond any value as before it, so no mean exists and the chains wander off.";
    let finding = Finding::new(Kind::Improper, title, meaning)
        .advice("give these parameters a prior that is a density, e.g. a normal one of the scale that you expect")
        .advice("look for a term that was forgotten, or a group without data");
    Some(finding)
}

/// A point from which lines along coordinates go.
struct View<'p> {
    posterior: &'p Posterior,
    point: Vec<f64>,
}

impl View<'_> {
    /// Whether the density falls along a coordinate, at the farthest distance where it is a number.
    /// Where it is nowhere one, nothing is known against it.
    fn falls(&mut self, coordinate: usize, sign: f64, distances: &[f64]) -> bool {
        let here = self.point[coordinate];
        let mut both = vec![0.0; self.point.len() + 1];
        let slope = distances.iter().find_map(|distance| {
            self.point[coordinate] = sign * distance;
            let ran = self.posterior.density(&self.point, &mut both);
            let slope = both[coordinate + 1] * sign * distance;
            match both[0] {
                _ if ran.is_err() => None,
                f64::NEG_INFINITY => Some(f64::NEG_INFINITY),
                density => (density.is_finite() && slope.is_finite()).then_some(slope),
            }
        });
        self.point[coordinate] = here;
        slope.is_none_or(|slope| slope < FALLS)
    }
}
