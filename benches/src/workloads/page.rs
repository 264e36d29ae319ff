//! The tables and the plot of the workloads.

use std::fmt::Write as _;

use lambada::Precision;

use super::{Measured, Row, System};
use crate::machine::Machine;
use crate::plot::Line;
use crate::table::{bytes, digits, seconds};

/// A measured quantity; less is better.
struct Quantity {
    title: &'static str,
    about: &'static str,
    precision: Precision,
    of: fn(&Measured) -> Option<f64>,
    show: fn(f64) -> String,
}

fn time(value: f64) -> String {
    seconds(Some(value))
}

fn memory(value: f64) -> String {
    bytes(value.max(0.0) as u64)
}

const QUANTITIES: &[Quantity] = &[
    Quantity {
        title: "Value and gradient",
        about: "When everything is compiled; least times.",
        precision: Precision::F64,
        of: |m| Some(m.gradient_time),
        show: time,
    },
    Quantity {
        title: "Value",
        about: "",
        precision: Precision::F64,
        of: |m| m.value_time,
        show: time,
    },
    Quantity {
        title: "The first gradient",
        about: "From the source text to the first result in a new process without a cache; imports and data do not count.",
        precision: Precision::F64,
        of: |m| Some(m.first),
        show: time,
    },
    Quantity {
        title: "A thousand gradients",
        about: "From the source text to the thousandth, as in a fit. After some seconds the rest is computed from the times above.",
        precision: Precision::F64,
        of: |m| Some(m.thousand),
        show: time,
    },
    Quantity {
        title: "Memory",
        about: "The most memory of the process while it compiles and computes gradients, without the data.",
        precision: Precision::F64,
        of: |m| m.memory,
        show: memory,
    },
    Quantity {
        title: "Value and gradient with 32 bits",
        about: "",
        precision: Precision::F32,
        of: |m| Some(m.gradient_time),
        show: time,
    },
];

impl Row {
    /// Times as good as the best of the other systems.
    fn ratio(&self, of: fn(&Measured) -> Option<f64>) -> Option<f64> {
        let peers = self.peers.iter().flatten().filter_map(of);
        let best = peers.reduce(f64::min)?;
        Some(best / of(&self.own)?)
    }
}

/// A workload on one line, printed as soon as it is measured.
pub fn line(row: &Row, systems: &[System]) -> String {
    let bits = if row.precision == Precision::F64 { 64 } else { 32 };
    let mut text = format!("{:<12} {:<26} {bits} bits  ", row.workload, row.label);
    let mut add = |name: &str, m: &Measured| {
        let (first, thousand) = (time(m.first), time(m.thousand));
        let _ =
            write!(text, "{name} {}, first {first}, thousand {thousand}  ", time(m.gradient_time));
    };
    add("Lambada", &row.own);
    let peers = systems.iter().zip(&row.peers);
    peers.for_each(|(system, peer)| peer.iter().for_each(|m| add(&system.title, m)));
    text
}

/// The tables.
pub fn page(rows: &[Row], systems: &[System], machine: &Machine, quick: bool) -> String {
    let Machine { processor, compiler, date, .. } = machine;
    let titles: Vec<&str> = systems.iter().map(|system| system.title.as_str()).collect();
    let beside = if titles.is_empty() { "nothing".to_string() } else { titles.join("; ") };
    let sizes = if quick { "only the smaller size of each, one core" } else { "one core" };
    let mut text = format!(
        "Measured on {date}: {processor}, {sizes}, one thread; {compiler}; beside {beside}.\n"
    );
    for quantity in QUANTITIES {
        let rows: Vec<&Row> =
            rows.iter().filter(|row| row.precision == quantity.precision).collect();
        if rows.is_empty() {
            continue;
        }
        let _ = write!(text, "\n## {}\n\n", quantity.title);
        if !quantity.about.is_empty() {
            let _ = write!(text, "{}\n\n", quantity.about);
        }
        text += "| workload | sizes | Lambada |";
        titles.iter().for_each(|title| _ = write!(text, " {title} |"));
        let _ = write!(text, " × the best |\n|---|---|--:|{}--:|\n", "--:|".repeat(titles.len()));
        for row in rows {
            let cell = |m: Option<&Measured>| {
                m.and_then(quantity.of).map(quantity.show).unwrap_or_default()
            };
            let _ = write!(text, "| {} | {} | {} |", row.workload, row.label, cell(Some(&row.own)));
            for peer in &row.peers {
                let _ = write!(text, " {} |", cell(peer.as_ref()));
            }
            let ratio = row.ratio(quantity.of).map(digits).unwrap_or_default();
            let _ = writeln!(text, " {ratio} |");
        }
    }
    text
}

pub const TITLE: &str = "How many times as fast as the best of JAX, PyTorch and SciPy";

/// The series of the plot: colors and labels.
pub const SERIES: [(&str, &str); 3] = [
    ("#3e4c59", "a thousand gradients from cold"),
    ("#f4b183", "value"),
    ("#c2410c", "value and gradient"),
];

/// The lines of the plot.
pub fn lines(rows: &[Row]) -> Vec<Line<'_>> {
    let of: [fn(&Measured) -> Option<f64>; 3] =
        [|m| Some(m.thousand), |m| m.value_time, |m| Some(m.gradient_time)];
    rows.iter()
        .filter(|row| row.precision == Precision::F64)
        .map(|row| Line {
            group: row.workload,
            label: &row.label,
            speeds: of.map(|of| row.ratio(of)).to_vec(),
        })
        .collect()
}
