//! Long programs elaborate in time that grows with their length.

mod common;

use std::fmt::Write;
use std::time::Instant;

use common::{on_big_stack, sound};

fn spine(params: &str, lets: usize) -> String {
    let mut text = format!("def f {params} =\n");
    for k in 0..lets {
        let before = if k == 0 { "x".to_string() } else { format!("v{}", k - 1) };
        writeln!(text, "  let v{k} = {before} * 0.5 + sin {before} * x").expect("text");
    }
    writeln!(text, "  in v{}", lets - 1).expect("text");
    text
}

fn seconds(params: &str, lets: usize) -> f64 {
    let text = spine(params, lets);
    let start = Instant::now();
    let checked = sound(&text);
    checked.program("f").expect("a program without problems");
    start.elapsed().as_secs_f64()
}

#[test]
fn twenty_thousand_lets() {
    on_big_stack(|| {
        for params in ["(x : real)", "x"] {
            let (short, long) = (seconds(params, 2_000), seconds(params, 20_000));
            assert!(
                long < 30.0 * short.max(0.05),
                "{params}: {short} s for 2000 lets, {long} s for 20000"
            );
        }
    });
}

#[test]
fn long_programs_of_many_definitions() {
    on_big_stack(|| {
        let mut text = String::from("def f0 x = x * 2\n");
        for k in 1..1000 {
            writeln!(text, "def f{k} x = f{} (x + 1) * 0.5", k - 1).expect("text");
        }
        sound(&text).program("f999").expect("a program without problems");
    });
}
