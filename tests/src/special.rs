//! Programs at special values, on all evaluators. Differences mean nothing there, so only agreement
//! is asked for.

use std::collections::HashSet;

use lambada::operators::{self, Operator};
use lambada::{Data, Executable, Failure};
use lambada_core::{DefId, Program, Term, TermKind};
use lambada_testkit::{Random, Tolerance};
use serde_json::{Value, json};

use crate::oracle::Case;
use lambada::vectors::{numbers, with_reals};

/// The JSON with some reals replaced by zeros, infinities, NaN, tiny numbers, and one that makes
/// ties. Large numbers are left out: sums and products may be reassociated.
pub fn spiced(arg: &Value, random: &mut Random) -> Value {
    match arg {
        Value::Array(items) => items.iter().map(|item| spiced(item, random)).collect(),
        Value::Number(number) if number.is_f64() && random.once_in(3) => {
            let [inf, minus, nan] = ["inf", "-inf", "nan"].map(|name| json!(name));
            let tiny = [json!(5e-324), json!(-1e-310)];
            let [least, subnormal] = tiny;
            random.pick(&[json!(0.0), json!(-0.0), inf, minus, nan, least, subnormal, json!(0.5)])
        }
        other => other.clone(),
    }
}

/// Rounding in long programs, whose order the optimizer may change.
const CLOSE: Tolerance = Tolerance::mixed(1e-9);

type Outcome = Result<Vec<f64>, Failure>;

/// Complains of the first disagreement between the language's meaning, array code before and after
/// optimization, and loops, on the value and both derivatives.
pub fn complaint(case: &Case) -> Option<String> {
    let value = (case.program.clone(), case.entry);
    let derives = derives(&case.program, case.entry);
    agree("value", &value, &case.args, derives).err().or_else(|| {
        let result = lambada_core::eval::run(&case.program, case.entry, &case.args).ok()?;
        if case.wrt.is_empty() {
            return None;
        }
        let mut random = Random(5);
        let mut draw = |data: &Data| with_reals(data, &mut || random.real());
        for (what, operator, seed) in
            [("jvp", Operator::Jvp, draw(&case.point())), ("vjp", Operator::Vjp, draw(&result))]
        {
            let mut program = case.program.clone();
            let derived = operators::derive(&mut program, case.entry, operator, &case.wrt);
            let verdict = match derived {
                Ok(id) => {
                    let args = [&case.args[..], &[seed]].concat();
                    agree(what, &(program, id), &args, true)
                }
                Err(problem) => Err(format!("{what}: {problem:?}")),
            };
            if let Err(complaint) = verdict {
                return Some(complaint);
            }
        }
        None
    })
}

/// Whether the program takes derivatives itself.
fn derives(program: &Program, entry: DefId) -> bool {
    fn within(term: &Term) -> bool {
        matches!(term.kind(), TermKind::Jvp(..) | TermKind::Vjp(..))
            || term.children().into_iter().any(within)
    }
    let (mut seen, mut waiting) = (HashSet::from([entry]), vec![entry]);
    while let Some(id) = waiting.pop() {
        let body = &program.def(id).body;
        if within(body) {
            return true;
        }
        waiting.extend(body.globals().into_iter().filter(|id| seen.insert(*id)));
    }
    false
}

fn agree(
    what: &str,
    (program, entry): &(Program, DefId),
    args: &[Data],
    derivative: bool,
) -> Result<(), String> {
    let flat = |result: Result<Data, Failure>| result.map(|data| numbers(&data));
    let core = flat(lambada_core::eval::run(program, *entry, args));
    let arrays = lambada::arrays(program, *entry).map_err(|p| format!("{what}: {p:?}"))?;
    let [normalized, optimized, loops] =
        Executable::stages(&arrays).map(|stage| flat(stage.run(args)));
    let rows = [
        ("normalized against core", &core, &normalized, derivative),
        ("optimized against normalized", &normalized, &optimized, false),
        ("loops against optimized", &optimized, &loops, false),
    ];
    for (engine, expected, found, derived) in rows {
        if !same(expected, found, derived) {
            return Err(format!("special {what}, {engine}: {found:?} instead of {expected:?}"));
        }
    }
    Ok(())
}

/// `derived`: derivatives by two different programs, whose sums may meet infinities in different
/// places. The evaluator of core leaves out terms that do not depend on an argument, where compiled
/// code may have a zero, which makes NaN of an infinity. And compiled code shares common
/// subexpressions, so it adds the cotangents before it multiplies by an infinite factor, while core
/// multiplies each of them.
fn same(expected: &Outcome, found: &Outcome, derived: bool) -> bool {
    let excused = |a: f64, b: f64| b.is_nan() || (a.is_nan() && b.is_infinite());
    match (expected, found) {
        (Ok(a), Ok(b)) => {
            let fine = |(a, b): (&f64, &f64)| CLOSE.accepts(*a, *b) || (derived && excused(*a, *b));
            a.len() == b.len() && a.iter().zip(b).all(fine)
        }
        (Err(a), Err(b)) => a.message == b.message,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reals_are_spiced() {
        let mut random = Random(1);
        let args = json!([[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5], 3, [true]]);
        let spiced = spiced(&args, &mut random);
        assert!(spiced != args && spiced[1] == 3 && spiced[2][0] == true, "{spiced}");
    }

    #[test]
    fn derivatives_are_seen_in_what_a_program_calls() {
        let text = "def f (x : real) = (vjp sin x).1 0.0\ndef g (x : real) = f x\ndef h (x : real) = sin x";
        let unit = lambada::Session::new().load_text("a.lam", text, None).expect("it checks");
        let derives = |name| {
            let (program, entry) = unit.definition(name).expect("it is defined");
            derives(&program, entry)
        };
        assert!(derives("f") && derives("g") && !derives("h"));
    }

    #[test]
    fn nan_is_no_number() {
        let [one, nan] = [Ok(vec![1.0]), Ok(vec![f64::NAN])];
        assert!(same(&one, &nan, true) && !same(&one, &nan, false) && !same(&nan, &one, true));
        let infinite = Ok(vec![f64::INFINITY]);
        assert!(same(&nan, &infinite, true) && !same(&nan, &infinite, false));
        assert!(!same(&one, &infinite, true));
    }
}
