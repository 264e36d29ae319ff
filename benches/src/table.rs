//! Tables of measurements, and the book's page with them.

use std::fmt::Write as _;
use std::path::Path;

use crate::baseline::Which;
use crate::machine::Machine;
use crate::measure::{How, Row, Time, Who};
use crate::plot::{self, Line};

/// End mark of the generated part of a page.
const END: &str = "<!-- end -->";

/// A workload on one line, printed as soon as it is measured.
pub fn line(row: &Row) -> String {
    let mut text = format!("{:<10} {:<44}", row.eval, row.label);
    for time in &row.times {
        let who = match time.who {
            Who::ByHand => "by hand",
            Who::Lambada(How::Plain) => "plain",
            Who::Lambada(How::Nests) => "nests",
            Who::Lambada(How::Jit) => "jit",
            Who::Lambada(How::Without(mechanism)) => mechanism.name(),
        };
        let _ = write!(text, "  {} {who} {}", time.definition, seconds(Some(time.least)));
    }
    text
}

/// A time with three digits and a unit.
pub fn seconds(time: Option<f64>) -> String {
    let Some(time) = time else { return String::new() };
    let (number, unit) = match time {
        t if t < 1e-6 => (t * 1e9, "ns"),
        t if t < 1e-3 => (t * 1e6, "µs"),
        t if t < 1.0 => (t * 1e3, "ms"),
        t => (t, "s"),
    };
    format!("{} {unit}", digits(number))
}

/// The minimum, and the median in parentheses.
fn both(time: Option<&Time>) -> String {
    time.map_or(String::new(), |time| {
        format!("{} ({})", seconds(Some(time.least)), seconds(Some(time.median)))
    })
}

/// A number with about three digits.
pub fn digits(number: f64) -> String {
    match number {
        n if n >= 100.0 => format!("{n:.0}"),
        n if n >= 10.0 => format!("{n:.1}"),
        n => format!("{n:.2}"),
    }
}

fn ratio(speed: Option<f64>) -> String {
    speed.map(digits).unwrap_or_default()
}

/// The series of the plot: way of compiling, value or derivative, color, and label.
const MARKS: [(How, Which, &str, &str); 4] = [
    (How::Jit, Which::Value, "#9aa5b1", "value, without a C compiler"),
    (How::Jit, Which::Derivative, "#3e4c59", "derivative, without a C compiler"),
    (How::Nests, Which::Value, "#f4b183", "value"),
    (How::Nests, Which::Derivative, "#c2410c", "derivative"),
];

/// The plot of all workloads with handwritten code.
pub fn plot(rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| Line {
        group: row.eval,
        label: &row.label,
        speeds: MARKS.iter().map(|(how, which, ..)| row.speed(*how, *which)).collect(),
    });
    let lines: Vec<Line<'_>> = lines.filter(|l| l.speeds.iter().any(Option::is_some)).collect();
    let series = MARKS.map(|(.., color, label)| (color, label));
    plot::svg("How many times as fast as C written by hand", &series, &lines)
}

/// The measured ways of compiling.
fn ways(rows: &[Row]) -> Vec<How> {
    let measured = |how: &How| {
        rows.iter().flat_map(|row| &row.times).any(|time| time.who == Who::Lambada(*how))
    };
    [How::Nests, How::Jit, How::Plain].into_iter().filter(measured).collect()
}

fn way(how: How) -> &'static str {
    match how {
        How::Nests => "Lambada",
        How::Jit => "without a C compiler",
        How::Plain => "with `--no-nests`",
        How::Without(mechanism) => mechanism.name(),
    }
}

/// The tables.
pub fn page(rows: &[Row], machine: &Machine) -> String {
    let ways = ways(rows);
    let mut text = about(machine);
    for (which, title) in [(Which::Value, "Values"), (Which::Derivative, "Derivatives")] {
        let against: Vec<&Row> =
            rows.iter().filter(|row| row.least(Who::ByHand, which).is_some()).collect();
        if against.is_empty() {
            continue;
        }
        let _ = write!(text, "\n## {title}\n\n| eval | sizes | by hand |");
        for how in &ways {
            let _ = write!(text, " {} | × as fast |", way(*how));
        }
        let _ = write!(text, "\n|---|---|--:|{}\n", "--:|--:|".repeat(ways.len()));
        for row in against {
            let by_hand = both(row.time(Who::ByHand, which));
            let _ = write!(text, "| {} | {} | {by_hand} |", row.eval, row.label);
            for how in &ways {
                let time = both(row.time(Who::Lambada(*how), which));
                let _ = write!(text, " {time} | {} |", ratio(row.speed(*how, which)));
            }
            text.push('\n');
        }
    }
    text + &quotients(rows, &ways) + &memory(rows) + &optimizers(rows, &ways)
}

/// Memory of values and derivatives, results included.
fn memory(rows: &[Row]) -> String {
    let of = |row: &Row, who: Who, which: Which| row.time(who, which)?.memory;
    let who = [Who::ByHand, Who::Lambada(How::Nests)];
    let all = |row: &&Row| {
        let known = |which: Which| who.iter().all(|who| of(row, *who, which).is_some());
        known(Which::Value) && known(Which::Derivative)
    };
    let rows: Vec<&Row> = rows.iter().filter(all).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "\n## Memory\n\nAll arrays that are made, results included, arguments not.\n\n\
         | eval | sizes | value, by hand | Lambada | times | derivative, by hand | Lambada | times |\n\
         |---|---|--:|--:|--:|--:|--:|--:|\n"
        .to_string();
    for row in rows {
        let _ = write!(text, "| {} | {} |", row.eval, row.label);
        for which in [Which::Value, Which::Derivative] {
            let [by_hand, own] = who.map(|who| of(row, who, which).unwrap_or(0));
            let times = digits(own as f64 / by_hand.max(1) as f64);
            let _ = write!(text, " {} | {} | {times} |", bytes(by_hand), bytes(own));
        }
        text.push('\n');
    }
    text
}

/// A number of bytes with three digits and a unit.
pub fn bytes(bytes: u64) -> String {
    match bytes as f64 {
        n if n < 1e3 => format!("{bytes} B"),
        n if n < 1e6 => format!("{} kB", digits(n / 1e3)),
        n => format!("{} MB", digits(n / 1e6)),
    }
}

pub fn about(machine: &Machine) -> String {
    let Machine { processor, cores, compiler, flags, generated, date } = machine;
    format!(
        "Measured on {date}: {processor}, {cores} cores, one thread; {compiler}; by hand `{flags}`, generated code `{generated}`. \
         Least times, with medians in parentheses; each program runs in turn with the others, in one process. Ratios are those of the least times.\n"
    )
}

/// Cost of derivatives relative to values.
fn quotients(rows: &[Row], ways: &[How]) -> String {
    let quotient = |row: &Row, who: Who| {
        Some(row.least(who, Which::Derivative)? / row.least(who, Which::Value)?)
    };
    let rows: Vec<&Row> = rows
        .iter()
        .filter(|row| ways.iter().any(|way| quotient(row, Who::Lambada(*way)).is_some()))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "\n## Derivative ÷ value\n\n| eval | sizes | by hand |".to_string();
    for how in ways {
        let _ = write!(text, " {} |", way(*how));
    }
    let _ = write!(text, "\n|---|---|--:|{}\n", "--:|".repeat(ways.len()));
    for row in rows {
        let by_hand = ratio(quotient(row, Who::ByHand));
        let _ = write!(text, "| {} | {} | {by_hand} |", row.eval, row.label);
        for how in ways {
            let _ = write!(text, " {} |", ratio(quotient(row, Who::Lambada(*how))));
        }
        text.push('\n');
    }
    text
}

/// Times of evals without handwritten code.
fn optimizers(rows: &[Row], ways: &[How]) -> String {
    let alone = |row: &&Row| row.times.iter().all(|time| time.who != Who::ByHand);
    let rows: Vec<&Row> = rows.iter().filter(alone).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut text =
        "\n## Derivatives inside of optimizers\n\nThe first letter is the mode of the outer derivative, the second that of the inner one: `r`everse or `f`orward.\n\n| eval | modes |"
            .to_string();
    for how in ways {
        let _ = write!(text, " {} |", way(*how));
    }
    let _ = write!(text, "\n|---|---|{}\n", "--:|".repeat(ways.len()));
    for row in rows {
        let mut modes: Vec<&str> = row.times.iter().map(|time| time.definition).collect();
        modes.dedup();
        modes.truncate(row.times.len() / ways.len());
        for mode in modes {
            let _ = write!(text, "| {} | {mode} |", row.eval);
            for how in ways {
                let time = row
                    .times
                    .iter()
                    .find(|time| time.definition == mode && time.who == Who::Lambada(*how));
                let _ = write!(text, " {} |", both(time));
            }
            text.push('\n');
        }
    }
    text
}

/// Replaces the generated part of a page, after the line `begin`.
pub fn write(path: &Path, begin: &str, measured: &str) -> Result<(), String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {shown}: {e}"))?;
    let parts =
        text.split_once(begin).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let Some((head, tail)) = parts else {
        return Err(format!("{shown} has no lines `{begin}` and `{END}` between which to write"));
    };
    let text = format!("{head}{begin}\n{measured}\n{END}{tail}");
    std::fs::write(path, text).map_err(|e| format!("cannot write {shown}: {e}"))
}
