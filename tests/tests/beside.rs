//! The page *CHAD beside other ways*: one gradient, computed in several ways by programs of the
//! page, with counted costs.

use std::path::Path;

use lambada::operators::Operator;
use lambada::{Data, Session, Tensor, Unit};
use lambada_tests::counted::{amount, counts, in_the_book};

/// The program of the page that defines `entry`.
fn program(page: &str, entry: &str) -> Unit {
    let blocks = page.split("```lambada\n").skip(1).filter_map(|rest| rest.split("```").next());
    let defines = |block: &&str| block.contains(&format!("def {entry} "));
    let block = blocks.into_iter().find(defines).expect("the page has the program");
    let mut session = Session::new();
    let loaded = session.load_text(entry, block, None);
    loaded.unwrap_or_else(|problems| panic!("{}", session.render(&problems, false)))
}

/// Every way with the sizes at which it is counted.
const WAYS: [(&str, &str, &[usize]); 6] = [
    ("dual numbers, one input at a time", "by_dual_numbers", &[4, 8, 16, 100]),
    ("backpropagators, called where they are", "by_backpropagators", &[4, 8, 16]),
    ("tape", "by_tape", &[4, 8, 16, 100]),
    ("linearize and transpose", "by_transposition", &[4, 8, 16, 100]),
    ("CHAD, pullbacks as functions", "by_pullbacks", &[4, 8, 16, 100]),
    ("CHAD, compiled", "steps", &[4, 8, 16, 100]),
];

#[test]
fn the_table_of_the_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lie in the repository");
    let page = std::fs::read_to_string(root.join("docs/src/chad-beside.md")).expect("the page");
    let mut table = String::from("| way | inputs | operations | × | elements moved | memory |\n");
    table += "|---|--:|--:|--:|--:|--:|\n";
    let mut factors = Vec::new();
    for (way, entry, sizes) in WAYS {
        let (unit, value) = (program(&page, entry), program(&page, "steps"));
        for &n in sizes {
            let at: Vec<f64> = (0..n).map(|k| 0.3 + 0.01 * k as f64).collect();
            let args = [Data::Tensor(Tensor::reals(vec![n], at))];
            let operator = if entry == "steps" { Operator::Grad } else { Operator::Value };
            let cost = counts(&unit, entry, operator, None, &args);
            let factor = cost.reals as f64
                / counts(&value, "steps", Operator::Value, None, &args).reals as f64;
            table += &format!(
                "| {way} | {n} | {} | {factor:.1} | {} | {} |\n",
                amount(cost.reals),
                amount(cost.loads + cost.stores),
                amount(cost.peak),
            );
            factors.push((entry, n, factor, cost.peak));
        }
    }
    in_the_book("chad-beside.md", "<!-- ways -->\n", &table);
    let factor = |entry, n| {
        let found = factors.iter().find(|row| (row.0, row.1) == (entry, n));
        found.expect("a row of the table").2
    };
    let bytes = |entry| {
        let found = factors.iter().find(|row| (row.0, row.1) == (entry, 100));
        found.expect("a row of the table").3 as f64 / 100.0
    };
    let prose = format!(
        "for each input, the tape takes {:.0} bytes, the pullbacks {:.0}, the residuals by hand {:.0}, and the compiled derivative {:.0}",
        bytes("by_tape"),
        bytes("by_pullbacks"),
        bytes("by_transposition"),
        bytes("steps"),
    );
    assert!(page.contains(&prose), "the page does not say: {prose}");
    // One run for each input; calls that double with each step; the others do not grow.
    assert!(factor("by_dual_numbers", 100) > 5.0 * factor("by_dual_numbers", 16));
    assert!(factor("by_backpropagators", 16) > 50.0 * factor("by_backpropagators", 8));
    for entry in ["by_tape", "by_transposition", "by_pullbacks", "steps"] {
        let (small, large) = (factor(entry, 16), factor(entry, 100));
        assert!((small - large).abs() < 0.5 && large < 8.0, "{entry}: {small}, {large}");
    }
}

/// All ways give the gradient of the compiler.
#[test]
fn all_ways_agree() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lie in the repository");
    let page = std::fs::read_to_string(root.join("docs/src/chad-beside.md")).expect("the page");
    let at = Data::Tensor(Tensor::reals(vec![5], vec![0.3, 0.9, 0.1, -1.2, 2.0]));
    let reals = |entry: &str, operator: Operator| -> Vec<f64> {
        let unit = program(&page, entry);
        let call = unit.call(entry, operator, None).expect("it can be run");
        let found = lambada_core::eval::run(&call.program, call.entry, std::slice::from_ref(&at));
        let found = match found.expect("it runs") {
            Data::Tuple(items) => items[1].clone(),
            other => other,
        };
        let Data::Tensor(tensor) = found else { panic!("{found} is no array") };
        (0..tensor.data.len()).map(|k| tensor.data.get(k).real()).collect()
    };
    let expect = reals("steps", Operator::Grad);
    assert_eq!(expect.len(), 5);
    for (_, entry, _) in &WAYS[..5] {
        let found = reals(entry, Operator::Value);
        let close = found.iter().zip(&expect).all(|(a, b)| (a - b).abs() <= 1e-12);
        assert!(found.len() == 5 && close, "{entry}: {found:?} and {expect:?}");
    }
}
