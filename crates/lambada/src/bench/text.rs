//! Measurements as text.

use std::fmt;
use std::time::Duration;

use super::{Benched, Ran};

impl fmt::Display for Benched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: read and checked in {}", self.entry, seconds(self.checked.as_secs_f64()))?;
        self.table(
            f,
            &["compilation", "specialized", "passes", "C compiler", "altogether"],
            |row| {
                let compiled = &row.compiled;
                let times = [compiled.specialized, compiled.passes, compiled.c, compiled.total()];
                times.map(|time: Duration| seconds(time.as_secs_f64())).to_vec()
            },
        )?;
        self.table(f, &["run", "least", "median", "runs", "memory"], |row| {
            let memory = row.memory.map_or("?".to_string(), bytes);
            vec![seconds(row.least), seconds(row.median), row.runs.to_string(), memory]
        })?;
        if let [value, derivative] = &self.rows[..] {
            writeln!(f, "{} ÷ value: {:.2}", derivative.name, derivative.least / value.least)?;
        }
        let head = ["work", "on reals", "on integers", "read", "written", "in and out"];
        self.table(f, &head, |row| match row.work {
            Some(work) => {
                let counts = [work.reals, work.ints].map(count);
                let traffic = [work.read, work.written, work.boundary].map(bytes);
                [&counts[..], &traffic].concat()
            }
            None => vec!["?".to_string(); 5],
        })?;
        if self.rows.iter().any(|row| row.limit.is_some()) {
            let head = ["limit", "at least", "bound by", "reached"];
            self.table(f, &head, |row| match row.limit {
                Some((time, by)) => {
                    vec![
                        seconds(time),
                        by.to_string(),
                        format!("{:.1} %", 100.0 * time / row.least),
                    ]
                }
                None => vec!["?".to_string(); 3],
            })?;
        }
        if let Some(machine) = &self.machine {
            writeln!(
                f,
                "\nThis machine, one core, measured: {} operations on reals a second, {} a second of memory.",
                count(machine.arithmetic as u64),
                bytes(machine.memory as u64)
            )?;
        }
        if self.rows.iter().any(|row| !row.native) {
            writeln!(
                f,
                "There is no C compiler: the times are those of Lambada's own machine code, or of the interpreter."
            )?;
        }
        let longest = self.rows.iter().filter_map(|row| row.counting).reduce(f64::max);
        longest.map_or(Ok(()), |time| {
            writeln!(
                f,
                "Counting all operations takes about {}: ask for it with --count.",
                seconds(time)
            )
        })
    }
}

impl Benched {
    fn table(
        &self,
        f: &mut fmt::Formatter<'_>,
        head: &[&str],
        cells: impl Fn(&Ran) -> Vec<String>,
    ) -> fmt::Result {
        let first = head.iter().map(|cell| cell.to_string()).collect::<Vec<_>>();
        let rows = self.rows.iter().map(|row| {
            std::iter::once(row.name.to_string()).chain(cells(row)).collect::<Vec<String>>()
        });
        let rows: Vec<Vec<String>> = std::iter::once(first).chain(rows).collect();
        writeln!(f)?;
        for row in &rows {
            let cell = |k: usize| {
                let width = rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0);
                if k == 0 { format!("{:<11}", row[k]) } else { format!("  {:>width$}", row[k]) }
            };
            writeln!(f, "{}", (0..row.len()).map(cell).collect::<String>().trim_end())?;
        }
        Ok(())
    }
}

fn scaled(number: f64, step: f64, units: &[&str]) -> String {
    let (mut number, mut unit) = (number, 0);
    while number >= step && unit + 1 < units.len() {
        (number, unit) = (number / step, unit + 1);
    }
    let digits = if unit == 0 && number.fract() == 0.0 || number >= 99.95 {
        0
    } else if number >= 9.995 {
        1
    } else {
        2
    };
    format!("{number:.digits$} {}", units[unit]).trim_end().to_string()
}

/// A time with three digits and a unit.
fn seconds(time: f64) -> String {
    scaled(time * 1e9, 1000.0, &["ns", "µs", "ms", "s"])
}

fn bytes(number: u64) -> String {
    scaled(number as f64, 1000.0, &["B", "kB", "MB", "GB", "TB"])
}

fn count(number: u64) -> String {
    scaled(number as f64, 1000.0, &["", "thousand", "million", "billion", "trillion"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(seconds(1.234e-3), "1.23 ms");
        assert_eq!(seconds(98.76e-9), "98.8 ns");
        assert_eq!(seconds(123.4), "123 s");
        assert_eq!(seconds(1234.0), "1234 s");
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1_500_000), "1.50 MB");
        assert_eq!(count(12), "12");
        assert_eq!(count(4_321_000), "4.32 million");
    }
}
