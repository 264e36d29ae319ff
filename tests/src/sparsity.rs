//! Marks against derivatives: which results can depend on which parameters, and which do. Sparse
//! matrices have the entries that marks find.
//!
//! - where the forward derivative along a coordinate is not zero, the mark of that coordinate
//!   arrives, on every engine;
//! - core and compiled code mark the same results of a definition; of a reverse derivative they
//!   need not, because core follows the cotangents of one run, and compiled code marks what the
//!   reverse sweep can add: the state of a loop that no iteration uses, or the elements that a
//!   maximum did not choose;
//! - marks that go backwards, by the reverse derivative of the map of marks, find the same pairs.

use lambada::operators::{self, Operator};
use lambada::vectors::{reals, with_reals};
use lambada::{Data, Executable};
use lambada_core as core;
use lambada_core::{DefId, Program, Term, TermKind};
use lambada_testkit::Random;

use crate::oracle::Case;

/// The greatest number of coordinates that are marked one by one.
const COORDINATES: usize = 6;

/// Counts of comparisons.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marked {
    /// Definitions and derivatives of them.
    pub functions: usize,
    /// Pairs of a parameter and a result of which the derivative is not zero.
    pub dependent: usize,
    /// Pairs that are not marked.
    pub independent: usize,
}

impl Marked {
    /// The sum.
    pub fn add(&mut self, other: Marked) {
        self.functions += other.functions;
        self.dependent += other.dependent;
        self.independent += other.independent;
    }
}

/// Marks of a definition and, if they are asked for and it has a real result, of its gradient.
pub fn marked(case: &Case, gradient: bool) -> Result<Marked, String> {
    let mut all = Marked::default();
    if case.wrt.is_empty() {
        return Ok(all);
    }
    let Ok(value) = core::eval::run(&case.program, case.entry, &case.args) else { return Ok(all) };
    if reals(&value).is_empty() || reals(&case.point()).is_empty() {
        return Ok(all);
    }
    let exact = !pulls_back(&case.program, case.entry);
    let told = |what: &str, e: String| format!("{}, {what}: {e}", case.name);
    all.add(of(&case.program, case.entry, case, exact).map_err(|e| told("marks", e))?);
    if let Data::Tensor(tensor) = &value
        && gradient
        && tensor.dims.is_empty()
    {
        let mut program = case.program.clone();
        let entry = operators::derive(&mut program, case.entry, Operator::Grad, &case.wrt);
        if let Ok(entry) = entry {
            all.add(
                of(&program, entry, case, false).map_err(|e| told("marks of the gradient", e))?,
            );
        }
    }
    Ok(all)
}

fn of(program: &Program, entry: DefId, case: &Case, is_exact: bool) -> Result<Marked, String> {
    let mut program = program.clone();
    let pushed = operators::derive(&mut program, entry, Operator::Jvp, &case.wrt)
        .map_err(|p| format!("{p:?}"))?;
    let body = program.def(pushed).body.clone();
    let body = with_marks(&program.freshen(&body));
    let mut signature = program.def(pushed).signature.clone();
    signature.result = None;
    let (name, span) = (program.def(entry).name.clone(), program.def(entry).span);
    let reach = program.define(name, body, signature, span);
    let last = [program.def(reach).signature.params.len() - 1];
    let back = operators::derive(&mut program, reach, Operator::Vjp, &last)
        .map_err(|p| format!("{p:?}"))?;
    let compile = |entry| {
        let arrays = lambada::arrays(&program, entry).map_err(|p| format!("{p:?}"))?;
        let [_, optimized, _] = Executable::stages(&arrays);
        Ok::<_, String>(optimized)
    };
    let (forwards, backwards) = (compile(reach)?, compile(back)?);
    let (point, mut found) = (case.point(), Marked { functions: 1, ..Marked::default() });
    let count = reals(&point).len();
    let with = |last: Data| case.args.iter().cloned().chain([last]).collect::<Vec<Data>>();
    let mut random = Random(11);
    let chosen: Vec<usize> = match count <= COORDINATES {
        true => (0..count).collect(),
        false => (0..COORDINATES).map(|_| random.below(count)).collect(),
    };
    let mut last_row: Option<(Data, usize, usize)> = None;
    for k in chosen {
        let args = with(unit(&point, k));
        let fails = |f: lambada::Failure| format!("coordinate {k} fails: {}", f.message);
        let tangent = match core::eval::run(&program, pushed, &args).map_err(fails)? {
            Data::Tuple(mut pair) => pair.remove(1),
            other => return Err(format!("a pair was expected, not {other}")),
        };
        let marks = core::eval::run(&program, reach, &args).map_err(fails)?;
        let compiled = forwards.run(&args).map_err(fails)?;
        let (tangent, own, other) = (reals(&tangent), reals(&marks), reals(&compiled));
        if tangent.len() != own.len() || own.len() != other.len() {
            return Err(format!(
                "{} tangents, {} and {} marks",
                tangent.len(),
                own.len(),
                other.len()
            ));
        }
        for (i, ((d, own), other)) in tangent.iter().zip(&own).zip(&other).enumerate() {
            if is_exact && (*own > 0.0) != (*other > 0.0) {
                return Err(format!(
                    "result {i} by {k} has the marks {own} in core and {other} compiled"
                ));
            }
            // A NaN may be that of a zero times an infinity, where there is no entry.
            let unmarked = *own <= 0.0 || *other <= 0.0;
            if *d != 0.0 && !d.is_nan() && unmarked {
                return Err(format!("result {i} by {k} has the derivative {d} and no mark"));
            }
            if [own, other].iter().any(|mark| mark.is_nan() || **mark < 0.0) {
                return Err(format!("result {i} by {k} has the mark {own}"));
            }
            found.dependent += usize::from(*d != 0.0);
            found.independent += usize::from(*own == 0.0);
            if *own > 0.0 && *other > 0.0 {
                last_row = Some((marks.clone(), i, k));
            }
        }
    }
    if let Some((marks, i, k)) = last_row {
        let seeds = with(with_reals(&point, &mut || 0.0)).into_iter().chain([unit(&marks, i)]);
        let seeds: Vec<Data> = seeds.collect();
        for (engine, both) in
            [("core", core::eval::run(&program, back, &seeds)), ("compiled", backwards.run(&seeds))]
        {
            let Data::Tuple(pair) =
                both.map_err(|f| format!("backwards, {engine}: {}", f.message))?
            else {
                return Err("a pair was expected".into());
            };
            if reals(&pair[1])[k] <= 0.0 {
                return Err(format!("result {i} by {k} has no mark backwards, {engine}"));
            }
        }
    }
    Ok(found)
}

/// Whether a definition takes a reverse derivative, itself or through others.
fn pulls_back(program: &Program, entry: DefId) -> bool {
    fn inside(term: &Term) -> bool {
        matches!(term.kind(), TermKind::Vjp(..))
            || term.scoped_children().iter().any(|(_, child)| inside(child))
    }
    let (mut open, mut seen) = (vec![entry], vec![entry]);
    while let Some(id) = open.pop() {
        let body = &program.def(id).body;
        if inside(body) {
            return true;
        }
        for next in body.globals() {
            if !seen.contains(&next) {
                seen.push(next);
                open.push(next);
            }
        }
    }
    false
}

/// Zeros, and one for one of the reals.
fn unit(data: &Data, k: usize) -> Data {
    let mut place = 0..;
    with_reals(data, &mut || f64::from(u8::from(place.next() == Some(k))))
}

/// `\a₁ … aₙ tangent -> jvp f x tangent` as `\a₁ … aₙ marks -> reach f x marks`.
fn with_marks(term: &Term) -> Term {
    match term.kind() {
        TermKind::Lam(x, body) => core::lam(x.clone(), with_marks(body)),
        TermKind::Jvp(f, x, marks) => core::reach(f.clone(), x.clone(), marks.clone(), term.span()),
        _ => panic!("a derivative was expected"),
    }
}
