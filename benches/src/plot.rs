//! The plot: one line for each workload, with the speedup of value and derivative over handwritten
//! code on a logarithmic scale.

use std::fmt::Write as _;

use crate::baseline::Which;
use crate::measure::{How, Row};

const WIDTH: f64 = 900.0;
/// Ends of the scale.
const LEFT: f64 = 370.0;
const RIGHT: f64 = 870.0;
const TOP: f64 = 84.0;
const LINE: f64 = 24.0;
/// Space between evals.
const GAP: f64 = 8.0;

/// The plotted series: way of compiling, value or derivative, color, and label.
const MARKS: [(How, Which, &str, &str); 4] = [
    (How::Jit, Which::Value, "#9aa5b1", "value, without a C compiler"),
    (How::Jit, Which::Derivative, "#3e4c59", "derivative, without a C compiler"),
    (How::Nests, Which::Value, "#f4b183", "value"),
    (How::Nests, Which::Derivative, "#c2410c", "derivative"),
];

/// The logarithmic scale.
struct Scale {
    /// Exponents of ten at the ends.
    low: f64,
    high: f64,
}

impl Scale {
    fn of(rows: &[&Row]) -> Scale {
        let speeds = rows
            .iter()
            .flat_map(|row| MARKS.map(|(how, which, ..)| row.speed(how, which)))
            .flatten();
        let (low, high) =
            speeds.fold((1.0_f64, 1.0_f64), |(low, high), speed| (low.min(speed), high.max(speed)));
        Scale { low: low.log10() - 0.1, high: high.log10() + 0.1 }
    }

    fn x(&self, speed: f64) -> f64 {
        LEFT + (speed.log10() - self.low) / (self.high - self.low) * (RIGHT - LEFT)
    }

    /// The ticks: 1, 2 and 5 times powers of ten.
    fn ticks(&self) -> Vec<f64> {
        let powers = self.low.floor() as i32..=self.high.ceil() as i32;
        powers
            .flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)))
            .filter(|tick| (self.low..=self.high).contains(&tick.log10()))
            .collect()
    }
}

/// The plot of all workloads with handwritten code.
pub fn svg(rows: &[Row]) -> String {
    let measured =
        |row: &&Row| MARKS.iter().any(|(how, which, ..)| row.speed(*how, *which).is_some());
    let rows: Vec<&Row> = rows.iter().filter(measured).collect();
    let scale = Scale::of(&rows);
    let places = places(&rows);
    let bottom = places.last().map_or(TOP, |y| y + LINE / 2.0);
    let height = bottom + 44.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"20\" y=\"28\" font-size=\"17\" font-weight=\"bold\" fill=\"#1f2933\">How many times as fast as C written by hand</text>\n"
    );
    legend(&mut text, &rows);
    for tick in scale.ticks() {
        let (x, line) = (scale.x(tick), if tick == 1.0 { "#1f2933" } else { "#e4e7eb" });
        let _ = writeln!(
            text,
            "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"{line}\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#52606d\">{}</text>",
            TOP - LINE / 2.0,
            bottom + 20.0,
            if tick >= 1.0 {
                format!("{tick:.0}")
            } else {
                format!("{tick:.2}").trim_end_matches('0').to_string()
            }
        );
    }
    for (row, y) in rows.iter().zip(&places) {
        mark(&mut text, row, &scale, *y);
    }
    text + "</svg>\n"
}

/// Vertical positions of the lines.
fn places(rows: &[&Row]) -> Vec<f64> {
    let (mut y, mut before) = (TOP, None);
    let mut place = |row: &&Row| {
        if let Some(eval) = before {
            y += if eval == row.eval { LINE } else { LINE + GAP };
        }
        before = Some(row.eval);
        y
    };
    rows.iter().map(&mut place).collect()
}

fn legend(text: &mut String, rows: &[&Row]) {
    let mut x = 26.0;
    for (how, which, color, name) in MARKS {
        if rows.iter().all(|row| row.speed(how, which).is_none()) {
            continue;
        }
        let _ = writeln!(
            text,
            "<circle cx=\"{x}\" cy=\"48\" r=\"5\" fill=\"{color}\"/><text x=\"{}\" y=\"52.5\" fill=\"#3e4c59\">{name}</text>",
            x + 10.0
        );
        x += 40.0 + 7.0 * name.len() as f64;
    }
}

fn mark(text: &mut String, row: &Row, scale: &Scale, y: f64) {
    let _ = writeln!(
        text,
        "<text x=\"20\" y=\"{:.1}\" font-weight=\"bold\" fill=\"#1f2933\">{}</text><text x=\"84\" y=\"{:.1}\" fill=\"#52606d\">{}</text><line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\" stroke=\"#f0f2f5\"/>",
        y + 4.5,
        row.eval,
        y + 4.5,
        row.label
    );
    for (how, which, color, _) in MARKS {
        if let Some(speed) = row.speed(how, which) {
            let _ = writeln!(
                text,
                "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{color}\" fill-opacity=\"0.9\"/>",
                scale.x(speed)
            );
        }
    }
}
