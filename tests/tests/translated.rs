//! Machine code that is made here: all lanes of the suite's programs and their derivatives are in
//! regions, since the interpreter is slow with so few; and regions are made in time that grows as
//! programs do.

use std::path::Path;
use std::time::{Duration, Instant};

use lambada::{Operator, Session};
use lambada_graph::Plan;
use lambada_loops as loops;
use lambada_schedule::Choice;
use lambada_tests::nests;

fn translated(function: &loops::Function) -> Option<loops::Program> {
    Some(loops::Program::translated(function, lambada_jit::translator(true)?))
}

/// The loops of a definition, or of a derivative, with as many lanes as regions have.
fn lowered(session: &mut Session, text: &Path, entry: &str, operator: Operator) -> loops::Function {
    let unit = session.load(text).unwrap_or_else(|p| panic!("{p:?}"));
    let call = unit.call(entry, operator, None).unwrap_or_else(|p| panic!("{entry}: {p:?}"));
    let arrays = lambada::arrays(&call.program, call.entry).unwrap_or_else(|p| panic!("{p:?}"));
    nests::lowered(&arrays.optimized, Plan::of(lambada_jit::LANES), Choice::Best)
}

#[test]
fn no_lanes_are_left_to_the_interpreter() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/gradbench");
    let mut session = Session::new();
    for (file, entry, operator) in [
        ("gmm", "objective", Operator::Value),
        ("gmm", "objective", Operator::Grad),
        ("kmeans", "dir", Operator::Value),
        ("lse", "gradient", Operator::Value),
        ("llsq", "gradient", Operator::Value),
        ("lstm", "jacobian", Operator::Value),
        ("ode", "gradient", Operator::Value),
    ] {
        let path = folder.join(format!("{file}.lam"));
        let function = lowered(&mut session, &path, entry, operator);
        let Some(program) = translated(&function) else {
            return println!("skipped: there is no machine code for this processor");
        };
        assert_eq!(program.lane_instructions(), 0, "{file}: {entry}, {operator:?}");
        let interpreted = loops::Program::new(&function).lane_instructions();
        assert!(interpreted > 0, "{file}: {entry}, {operator:?}");
    }
}

/// Ten times as many statements take at most some twenty times as long, without a loop and in
/// loops.
#[test]
fn time_grows_as_programs_do() {
    let text = |statements: usize, nested: bool| {
        let mut text = String::from("f(n : int, x : real)\n  cell c = x\n");
        let indent = if nested { "    " } else { "  " };
        if nested {
            text += "  for i in 0 .. n\n";
        }
        text += &format!("{indent}v0 = c\n");
        for k in 1..=statements {
            // A variable that is mentioned much later has a long live range.
            text += &format!("{indent}v{k} = v{} * v{}\n", k - 1, k / 2);
        }
        text + &format!("{indent}c := v{statements}\n  r = c\n  return r\n")
    };
    let time = |statements, nested| {
        let function = loops::read(&text(statements, nested)).expect("it is well written");
        let least = (0..3).map(|_| {
            let start = Instant::now();
            translated(&function);
            start.elapsed()
        });
        least.min().expect("there are three")
    };
    for nested in [false, true] {
        let (few, many) = (time(1000, nested), time(10_000, nested));
        assert!(many < 20 * few + Duration::from_millis(20), "{few:?}, {many:?}, {nested}");
    }
}
