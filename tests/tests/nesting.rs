//! What compiling costs as loops are nested deeper.

use std::time::{Duration, Instant};

use lambada::Session;

/// Loops inside of each other: the state is another constructor after an iteration, with an array of a size that only the iteration knows.
fn nest(depth: usize) -> String {
    let innermost = format!(
        "(match s{depth} | Dot -> Rect (for i < n + 3 => x) | Rect ys -> Rect (for y in ys => sin y))"
    );
    let around = |body: String, k: usize| {
        let first = if k == 1 { "Dot".to_string() } else { format!("s{}", k - 1) };
        format!("(loop s{k} = {first} for i{k} < n do {body})")
    };
    let loops = (1..=depth).rev().fold(innermost, around);
    format!(
        "type shape = Dot | Rect ([]real)\ndef f (n : int) (x : real) : real = match {loops} | Dot -> 0 | Rect ys -> sum ys\n"
    )
}

/// How long it takes to make array code of it.
fn time(depth: usize) -> Duration {
    let unit = Session::new()
        .load_text("nest.lam", &nest(depth), None)
        .unwrap_or_else(|p| panic!("{p:?}"));
    let (program, entry) = unit.definition("f").unwrap_or_else(|p| panic!("{p:?}"));
    let start = Instant::now();
    lambada::arrays(&program, entry).unwrap_or_else(|p| panic!("{p:?}"));
    start.elapsed()
}

/// Each loop evaluates its body for each candidate of its state. Were that done again for each candidate of the loops around, sixteen loops would take
/// three to the power of sixteen evaluations.
#[test]
fn candidates_of_states_do_not_multiply() {
    let limit = Duration::from_secs(60);
    let found: Vec<Duration> = [4, 8, 16].map(time).into();
    assert!(found.iter().all(|time| *time < limit), "{found:?}");
}
