//! A plot of speeds: one line for each workload, on a logarithmic scale.

use std::fmt::Write as _;

const WIDTH: f64 = 900.0;
/// Ends of the scale.
const LEFT: f64 = 370.0;
const RIGHT: f64 = 870.0;
/// Start of the sizes, after the names.
const NAMES: f64 = 124.0;
const TOP: f64 = 84.0;
const LINE: f64 = 24.0;
/// Space between evals.
const GAP: f64 = 8.0;

/// A workload: what it belongs to, its sizes, and its speed in each series.
pub struct Line<'a> {
    pub group: &'a str,
    pub label: &'a str,
    pub speeds: Vec<Option<f64>>,
}

/// The logarithmic scale.
struct Scale {
    /// Exponents of ten at the ends.
    low: f64,
    high: f64,
}

impl Scale {
    fn of(lines: &[Line<'_>]) -> Scale {
        let speeds = lines.iter().flat_map(|line| &line.speeds).flatten();
        let (low, high) = speeds
            .fold((1.0_f64, 1.0_f64), |(low, high), speed| (low.min(*speed), high.max(*speed)));
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

/// The plot: a color and a label for each series.
pub fn svg(title: &str, series: &[(&str, &str)], lines: &[Line<'_>]) -> String {
    let scale = Scale::of(lines);
    let places = places(lines);
    let bottom = places.last().map_or(TOP, |y| y + LINE / 2.0);
    let height = bottom + 44.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"20\" y=\"28\" font-size=\"17\" font-weight=\"bold\" fill=\"#1f2933\">{title}</text>\n"
    );
    legend(&mut text, series, lines);
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
    for (line, y) in lines.iter().zip(&places) {
        mark(&mut text, series, line, &scale, *y);
    }
    text + "</svg>\n"
}

/// Vertical positions of the lines.
fn places(lines: &[Line<'_>]) -> Vec<f64> {
    let mut y = TOP;
    let place = |k: usize| {
        if k > 0 {
            y += if lines[k - 1].group == lines[k].group { LINE } else { LINE + GAP };
        }
        y
    };
    (0..lines.len()).map(place).collect()
}

fn legend(text: &mut String, series: &[(&str, &str)], lines: &[Line<'_>]) {
    let mut x = 26.0;
    for (k, (color, name)) in series.iter().enumerate() {
        if lines.iter().all(|line| line.speeds[k].is_none()) {
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

fn mark(text: &mut String, series: &[(&str, &str)], line: &Line<'_>, scale: &Scale, y: f64) {
    let _ = writeln!(
        text,
        "<text x=\"20\" y=\"{:.1}\" font-weight=\"bold\" fill=\"#1f2933\">{}</text><text x=\"{NAMES}\" y=\"{:.1}\" fill=\"#52606d\">{}</text><line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\" stroke=\"#f0f2f5\"/>",
        y + 4.5,
        line.group,
        y + 4.5,
        line.label
    );
    for ((color, _), speed) in series.iter().zip(&line.speeds) {
        if let Some(speed) = speed {
            let _ = writeln!(
                text,
                "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{color}\" fill-opacity=\"0.9\"/>",
                scale.x(*speed)
            );
        }
    }
}
