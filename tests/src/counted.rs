//! Costs of programs as the evaluator of arrays counts them, and tables of the book that hold them.

use std::path::Path;

use lambada::operators::Operator;
use lambada::{Data, Unit, arrays};
use lambada_testkit::golden;

/// The costs of a call in the evaluator of arrays.
pub fn counts(
    unit: &Unit,
    entry: &str,
    operator: Operator,
    wrt: Option<&str>,
    args: &[Data],
) -> lambada_anf::Counts {
    let wrt: Option<Vec<String>> = wrt.map(|names| names.split(',').map(str::to_string).collect());
    let call = unit.call(entry, operator, wrt.as_deref()).expect("it can be differentiated");
    let arrays = arrays(&call.program, call.entry).expect("it normalizes");
    let mut leaves = Vec::new();
    for ((_, layout), arg) in arrays.normalized.params.iter().zip(args) {
        leaves.extend(layout.flatten(arg).expect("regular"));
    }
    lambada_anf::eval(&arrays.optimized, &leaves).expect("it runs").counts
}

/// 1234567 as `1.2 M`.
pub fn amount(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{:.1} k", count as f64 / 1e3),
        _ => format!("{:.1} M", count as f64 / 1e6),
    }
}

/// Compares a table with that of a page of the book which stands after a comment.
pub fn in_the_book(page: &str, before: &str, table: &str) {
    println!("{table}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lie in the repository");
    let page = root.join("docs/src").join(page);
    let text = std::fs::read_to_string(&page).expect("the page of the book can be read");
    let after = "<!-- end -->";
    let (head, rest) = text.split_once(before).expect("the page has a place for the table");
    let (_, tail) = rest.split_once(after).expect("the table of the page ends");
    golden(&page, &format!("{head}{before}{table}{after}{tail}")).unwrap_or_else(|e| panic!("{e}"));
}
