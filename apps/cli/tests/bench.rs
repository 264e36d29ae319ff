//! `lambada bench`: measurements that do not depend on the clock, and messages if nothing can be
//! measured.

use std::process::{Command, Output};

use serde_json::Value;

const PROGRAM: &str = "def squares [n] (x : [n]real) : real = sum (for a in x => a * a)
def both [n] (x : [n]real) (s : real) : [n]real = for a in x => s * sin a
def count (n : int) : int = n + 1
def eighth (x : []real) : real = x[7]
";

fn bench(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("model.lam");
    std::fs::write(&file, PROGRAM).expect("a temporary file can be written");
    Command::new(env!("CARGO_BIN_EXE_lambada"))
        .arg("bench")
        .arg(&file)
        .args(args)
        .output()
        .expect("the command starts")
}

fn measured(args: &[&str]) -> Value {
    let output = bench(&[args, &["--json"]].concat());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.is_empty(), "{told}");
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

fn array(len: usize) -> String {
    format!("x={:?}", vec![0.5; len])
}

#[test]
fn operations_are_counted_exactly() {
    for len in [100, 200] {
        // Lanes would need a few more sums, depending on the processor.
        let found = measured(&["squares", &array(len), "--no-nests"]);
        let (value, reverse) = (&found["value"]["work"], &found["reverse"]["work"]);
        // A product and a sum for each element; the derivative is twice the element.
        assert_eq!(value["reals"], 2 * len, "{found:#}");
        assert_eq!(value["bytes_read"], 8 * len, "{found:#}");
        assert_eq!(value["bytes_in_and_out"], 8 * len + 8, "{found:#}");
        let reals = reverse["reals"].as_u64().expect("a number") as usize;
        assert!((3 * len..=5 * len).contains(&reals), "{found:#}");
        assert_eq!(reverse["bytes_in_and_out"], 16 * len + 8, "{found:#}");
    }
}

#[test]
fn times_and_limits_are_plausible() {
    let found = measured(&["squares", &array(1000)]);
    for row in ["value", "reverse"] {
        let row = &found[row];
        let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{found:#}"));
        assert!(0.0 < number(&row["least_s"]), "{found:#}");
        assert!(number(&row["least_s"]) <= number(&row["median_s"]), "{found:#}");
        assert!(number(&row["runs"]) >= 5.0, "{found:#}");
        if row["native"] == true {
            // The C compiler runs each time, because nothing comes from a cache.
            assert!(number(&row["compile"]["c_compiler_s"]) > 5e-3, "{found:#}");
            let reached = number(&row["limit"]["reached"]);
            assert!(0.0 < reached && reached < 1.5, "{found:#}");
            assert!(row["memory_bytes"].is_u64(), "{found:#}");
        }
    }
    let ratio = found["ratio"].as_f64().expect("a number");
    assert!(ratio > 0.2, "{found:#}");
}

/// Several parameters have a tuple of tangents; an array has a cotangent of ones.
#[test]
fn each_mode_runs_at_arrays_and_by_several_parameters() {
    for (mode, row) in [("forward", "forward"), ("reverse", "reverse")] {
        let found = measured(&["both", &array(10), "s=2", "--mode", mode]);
        assert!(found[row]["work"]["reals"].as_u64() > found["value"]["work"]["reals"].as_u64());
        let one = measured(&["both", &array(10), "s=2", "--mode", mode, "--wrt", "s"]);
        assert!(one[row]["work"]["reals"].as_u64() <= found[row]["work"]["reals"].as_u64());
    }
    let alone = measured(&["count", "3", "--mode", "value"]);
    assert!(alone.get("reverse").is_none() && alone.get("ratio").is_none(), "{alone:#}");
}

#[test]
fn people_read_a_table() {
    let output = bench(&["squares", &array(10)]);
    let text = String::from_utf8(output.stdout).expect("a table is text");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for word in ["compilation", "C compiler", "median", "reverse ÷ value", "in and out"] {
        assert!(text.contains(word), "{word}\n{text}");
    }
}

#[test]
fn what_cannot_be_measured_is_told() {
    let told = |args: &[&str]| {
        let output = bench(args);
        assert!(!output.status.success() && output.stdout.is_empty());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(told(&["eighth", "[1, 2]"]).contains("index 7"));
    assert!(told(&["squares"]).contains("error[E0606]"));
    assert!(told(&["cubes", "[1]"]).contains("cubes"));
    assert!(told(&["squares", "[1]", "--mode", "value", "--wrt", "x"]).contains("error[E0771]"));
}
