//! The table of all scalars: estimates with as many digits as are known, and how far to trust them.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::draws::Draws;
use crate::stats::{Judge, Scalar, Worth};

/// Number of elements up to which a variable is shown whole, and how many of a longer one are shown
/// at its beginning and its end.
const WHOLE: usize = 12;
const FIRST: usize = 5;
const LAST: usize = 3;

/// Scalars for each thread below which another thread is not worth its start.
const SHARE: usize = 16;

/// Names that a note lists.
const LISTED: usize = 4;

const HEAD: [&str; 10] =
    ["", "mean", "sd", "MCSE", "5 %", "50 %", "95 %", "ESS bulk", "ESS tail", "R̂"];

/// Estimates of all scalars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// A row for each scalar, in the order of the variables.
    pub rows: Vec<Row>,
}

/// Estimates of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of the variable.
    pub variable: String,
    /// Name of the scalar, with indices.
    pub name: String,
    /// The estimates.
    pub worth: Worth,
}

impl Summary {
    /// Estimates of all scalars.
    pub fn of(draws: &Draws) -> Summary {
        let elements: Vec<_> = draws.elements().collect();
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        let share = elements.len().div_ceil(threads).max(SHARE);
        let rows = |part: &[crate::Element<'_>]| {
            let mut judge = Judge::new(draws.chains, draws.draws);
            let row = |element: &crate::Element<'_>| Row {
                variable: element.variable.name.clone(),
                name: element.name(),
                worth: judge.worth(Scalar { values: &draws.scalar(*element), draws: draws.draws }),
            };
            part.iter().map(row).collect::<Vec<Row>>()
        };
        let rows = &rows;
        let rows = std::thread::scope(|scope| {
            let parts: Vec<_> =
                elements.chunks(share).map(|part| scope.spawn(move || rows(part))).collect();
            let joined = parts.into_iter().map(|part| part.join());
            joined.flat_map(|rows| rows.unwrap_or_default()).collect()
        });
        Summary { rows }
    }

    /// The table as text. Variables with more than 12 elements are abbreviated, unless `all` are
    /// asked for.
    pub fn text(&self, all: bool) -> String {
        let mut lines: Vec<Line> = Vec::new();
        for variable in self.rows.chunk_by(|a, b| a.variable == b.variable) {
            if all || variable.len() <= WHOLE {
                lines.extend(variable.iter().map(Line::of));
                continue;
            }
            let (first, rest) = variable.split_at(FIRST);
            let (middle, last) = rest.split_at(rest.len() - LAST);
            lines.extend(first.iter().map(Line::of));
            lines.push(Line::Words(hidden(middle)));
            lines.extend(last.iter().map(Line::of));
        }
        let mut widths = HEAD.map(|head| head.chars().count());
        for line in &lines {
            let Line::Cells(cells) = line else { continue };
            for (width, cell) in widths.iter_mut().zip(cells.iter()) {
                *width = (*width).max(letters(cell));
            }
        }
        // A combining letter has no width of its own.
        widths[9] = widths[9].max(5);
        let mut out = String::new();
        write_cells(&mut out, &HEAD.map(String::from), &widths);
        for line in &lines {
            match line {
                Line::Cells(cells) => write_cells(&mut out, cells, &widths),
                Line::Words(words) => {
                    let _ = writeln!(out, "{words}");
                }
            }
        }
        out + &self.notes()
    }

    /// Sentences below the table about scalars without diagnostics.
    fn notes(&self) -> String {
        let named = |rows: Vec<&Row>| listed(rows.iter().map(|row| &row.name[..]));
        let constant: Vec<&Row> = self.rows.iter().filter(|row| row.worth.constant).collect();
        match constant.len() {
            0 => String::new(),
            1 => format!("\n{} is constant: it has no R̂ and no ESS.\n", named(constant)),
            _ => format!("\n{} are constant: they have no R̂ and no ESS.\n", named(constant)),
        }
    }

    /// An object from the names of scalars to objects of estimates; unknown numbers are null.
    pub fn to_json(&self) -> Value {
        let row = |row: &Row| {
            let Worth { mean, sd, quantiles: [q5, q50, q95], .. } = row.worth;
            let fields = [
                ("mean", mean),
                ("sd", sd),
                ("mcse_mean", row.worth.mcse_mean),
                ("mcse_sd", row.worth.mcse_sd),
                ("q5", q5),
                ("q50", q50),
                ("q95", q95),
                ("ess_bulk", row.worth.ess_bulk),
                ("ess_tail", row.worth.ess_tail),
                ("rhat", row.worth.rhat),
            ];
            let fields = fields.map(|(name, x)| (name.to_string(), Value::from(x)));
            (row.name.clone(), Value::Object(Map::from_iter(fields)))
        };
        Value::Object(self.rows.iter().map(row).collect())
    }
}

/// Names in backticks, the first few of many.
pub(crate) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match &names[..] {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] if names.len() <= LISTED => format!("{} and {last}", most.join(", ")),
        _ => format!("{} and {} more", names[..LISTED - 1].join(", "), names.len() + 1 - LISTED),
    }
}

/// A line of the table.
enum Line {
    Cells(Box<[String; 10]>),
    Words(String),
}

impl Line {
    fn of(row: &Row) -> Line {
        Line::Cells(Box::new(cells(row)))
    }
}

/// The line that stands for rows.
fn hidden(rows: &[Row]) -> String {
    let least =
        |of: fn(&Worth) -> f64| rows.iter().map(|row| of(&row.worth)).fold(f64::NAN, f64::min);
    let worst = rows.iter().map(|row| row.worth.rhat).fold(f64::NAN, f64::max);
    let (bulk, tail) = (least(|worth| worth.ess_bulk), least(|worth| worth.ess_tail));
    format!(
        "  … {} more of `{}`: R̂ up to {}, ESS from {} (bulk) and {} (tail)",
        rows.len(),
        rows[0].variable,
        fixed(worst, 3),
        fixed(bulk, 0),
        fixed(tail, 0),
    )
}

fn write_cells(out: &mut String, cells: &[String; 10], widths: &[usize; 10]) {
    let pad = |cell: &str, width: usize| " ".repeat(width.saturating_sub(letters(cell)));
    let mut line = format!("{}{}", cells[0], pad(&cells[0], widths[0]));
    for (cell, width) in cells.iter().zip(widths).skip(1) {
        let _ = write!(line, "  {}{cell}", pad(cell, *width));
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

/// Columns of a text on a terminal.
fn letters(text: &str) -> usize {
    text.chars().filter(|c| *c != '\u{302}').count()
}

fn cells(row: &Row) -> [String; 10] {
    let Worth { mean, sd, quantiles, mcse_mean, mcse_sd, ess_bulk, ess_tail, rhat, .. } = row.worth;
    let [q5, q50, q95] = quantiles.map(|q| known(q, mcse_mean));
    [
        row.name.clone(),
        known(mean, mcse_mean),
        known(sd, mcse_sd),
        known(mcse_mean, mcse_mean / 10.0),
        q5,
        q50,
        q95,
        fixed(ess_bulk, 0),
        fixed(ess_tail, 0),
        fixed(rhat, 3),
    ]
}

/// A number with a fixed number of decimals; a dash for an unknown one.
pub(crate) fn fixed(x: f64, decimals: usize) -> String {
    if x.is_nan() { "–".into() } else { format!("{x:.decimals$}") }
}

/// A number up to the digit that its error makes uncertain.
pub(crate) fn known(x: f64, error: f64) -> String {
    if x.is_nan() {
        return "–".into();
    }
    if !x.is_finite() || x == 0.0 && !error.is_normal() {
        return x.to_string();
    }
    let exponent = |x: f64| x.abs().log10().floor() as i32;
    // Without an error, four digits.
    let last = if error.is_normal() { exponent(error) } else { exponent(x) - 3 };
    let first = if x == 0.0 { last } else { exponent(x).max(last) };
    if !(-4..7).contains(&first) {
        let digits = (first - last).clamp(0, 15) as usize;
        return format!("{x:.digits$e}");
    }
    let text = format!("{x:.*}", last.min(0).unsigned_abs().min(17) as usize);
    // No zero is negative.
    match text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.')) {
        true => text.trim_start_matches('-').to_string(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Chain;

    #[test]
    fn numbers_have_the_digits_that_are_known() {
        let check = |x: f64, error: f64, expect: &str| assert_eq!(known(x, error), expect);
        check(3.24159, 0.02, "3.24");
        check(3.24159, 0.2, "3.2");
        check(3.24159, 20.0, "3");
        check(-0.0004, 0.02, "0.00");
        check(1234.567, 0.5, "1234.6");
        check(1.234567e9, 3e5, "1.2346e9");
        check(1.234567e-7, 3e-9, "1.23e-7");
        check(0.5, f64::NAN, "0.5000");
        check(0.0, f64::NAN, "0");
        check(f64::NAN, 1.0, "–");
        check(f64::INFINITY, f64::NAN, "inf");
    }

    fn draws(size: usize) -> Draws {
        let mut random = lambada_testkit::Random(1);
        let mut chain = || Chain {
            values: (0..(size + 2) * 200)
                .map(|k| if k % (size + 2) == 1 { 1.0 } else { random.between(0.0, 10.0) })
                .collect(),
            statistics: vec![],
        };
        let chains: Vec<Chain> = (0..4).map(|_| chain()).collect();
        let shapes =
            [("mu".into(), vec![]), ("one".into(), vec![]), ("theta".into(), vec![size / 2, 2])];
        Draws::new(&shapes, &chains).expect("the shapes agree")
    }

    #[test]
    fn the_table_is_aligned_and_abbreviated() {
        let draws = draws(40);
        let summary = Summary::of(&draws);
        let text = summary.text(false);
        assert!(text.contains("… 32 more of `theta`: R̂ up to 1.0"), "{text}");
        assert!(text.contains("theta[2,0]") && !text.contains("theta[2,1]"), "{text}");
        assert!(text.contains("theta[19,1]") && text.contains("`one` is constant"), "{text}");
        let table: Vec<&str> = text.lines().filter(|line| line.contains("1.0")).collect();
        let numbers: Vec<&&str> = table.iter().filter(|line| !line.contains('…')).collect();
        assert!(numbers.windows(2).all(|p| letters(p[0]) == letters(p[1])), "{text}");
        assert_eq!(summary.text(true).lines().count(), 1 + 42 + 2);
        let json = summary.to_json();
        assert!(json["one"]["rhat"].is_null() && json["theta[19,1]"]["mean"].is_number());
    }

    #[test]
    fn without_variables_there_is_a_head() {
        let empty = Summary::of(&Draws::default());
        assert_eq!(empty.text(false).lines().count(), 1);
    }
}
