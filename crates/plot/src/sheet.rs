//! Charts of data in rows and columns, as SVG. A chart is a list of marks in its own coordinates.

use std::fmt::Write as _;

use svg::node::element::{Group, Path, Rectangle};
use svg::{Document, Node as _};

use crate::axis::{Ticks, ticks};
use crate::ink::{
    CURVES, FONT, GRID, INK, Ink, LETTER, PALE, hundredths, label, line, page, painted, tenths,
};
use crate::panel::{scale, visible};

/// Space around all, between charts, above a chart with a title, and below for ticks and a name.
const EDGE: f64 = 18.0;
const GAP: f64 = 22.0;
const TITLE: f64 = 26.0;
const TICKS: f64 = 22.0;
const NAME: f64 = 20.0;

/// Height of the legend and of the note.
const LEGEND: f64 = 28.0;

/// Least distances between ticks.
const ACROSS: f64 = 62.0;
const UP: f64 = 36.0;

/// Height of a stroke at the lower edge.
const STROKE: f64 = 9.0;

/// Elements for the dots of a mark.
const LAYERS: usize = 40;

/// Widest names at the left, as a part of the chart.
const WIDEST: f64 = 0.4;

/// A color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// That of text.
    Ink,
    /// That of labels.
    Pale,
    /// One of eight, in turn.
    Curve(usize),
}

impl Color {
    fn ink(self) -> Ink {
        match self {
            Color::Ink => INK,
            Color::Pale => PALE,
            Color::Curve(k) => CURVES[k % CURVES.len()],
        }
    }
}

/// Data in a chart. Opacities are between 0 and 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// Joined points.
    Line {
        /// The points, in the order of their abscissas.
        points: Vec<(f64, f64)>,
        /// The color.
        color: Color,
        /// The width in pixels.
        width: f64,
        /// The opacity.
        opacity: f64,
        /// Whether the line is dashed.
        dashed: bool,
    },
    /// The area between joined points and a base.
    Area {
        /// The points, in the order of their abscissas.
        points: Vec<(f64, f64)>,
        /// The ordinate of the base.
        base: f64,
        /// The color.
        color: Color,
        /// The opacity.
        opacity: f64,
    },
    /// Dots.
    Dots {
        /// The points.
        points: Vec<(f64, f64)>,
        /// The color.
        color: Color,
        /// The radius in pixels.
        radius: f64,
        /// The opacity.
        opacity: f64,
    },
    /// Rectangles.
    Bars {
        /// Left, right, lower and upper edges.
        bars: Vec<[f64; 4]>,
        /// The color.
        color: Color,
        /// The opacity.
        opacity: f64,
    },
    /// Strokes at the lower edge.
    Strokes {
        /// The abscissas.
        places: Vec<f64>,
        /// The color.
        color: Color,
    },
}

/// The labels at the left of a chart.
#[derive(Clone, Debug, PartialEq)]
pub enum Side {
    /// No labels.
    Nothing,
    /// Ticks with numbers.
    Numbers,
    /// Names at ordinates.
    Names(Vec<(f64, String)>),
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The title; may be empty.
    pub title: String,
    /// Name of the abscissa; may be empty.
    pub across: String,
    /// Whether the abscissa has ticks with numbers, and whether they are integers.
    pub below: bool,
    /// Whether the ticks of the abscissa are integers.
    pub whole: bool,
    /// Labels at the left.
    pub side: Side,
    /// Texts at the right, at ordinates.
    pub remarks: Vec<(f64, String)>,
    /// The abscissas at the left and the right.
    pub range: (f64, f64),
    /// The ordinates at the bottom and the top.
    pub window: (f64, f64),
    /// The data, the last on top.
    pub marks: Vec<Mark>,
}

impl Default for Chart {
    fn default() -> Chart {
        Chart {
            title: String::new(),
            across: String::new(),
            below: true,
            whole: false,
            side: Side::Numbers,
            remarks: Vec::new(),
            range: (0.0, 1.0),
            window: (0.0, 1.0),
            marks: Vec::new(),
        }
    }
}

/// Charts row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// Width in pixels.
    pub width: f64,
    /// Height of the area of a chart's data.
    pub height: f64,
    /// Relative widths of the columns.
    pub columns: Vec<f64>,
    /// The charts; `None` leaves a place empty.
    pub charts: Vec<Option<Chart>>,
    /// Names of colors, above the charts.
    pub legend: Vec<(String, Color)>,
    /// A sentence below; may be empty.
    pub note: String,
}

impl Sheet {
    /// The sheet as the text of a file.
    pub fn svg(&self) -> String {
        let columns = self.columns.len().max(1);
        let rows: Vec<&[Option<Chart>]> = self.charts.chunks(columns).collect();
        let lefts = self.lefts(columns);
        let rights: Vec<f64> =
            (0..columns).map(|k| self.widest(columns, k, remarks_width)).collect();
        let taken: f64 = lefts.iter().zip(&rights).map(|(a, b)| a + b).sum();
        let gaps = GAP * (columns as f64 - 1.0);
        let room = (self.width - 2.0 * EDGE - gaps - taken).max(40.0 * columns as f64);
        let weights: f64 = self.columns.iter().sum();
        let head = if self.legend.is_empty() { EDGE } else { EDGE + LEGEND };
        let mut document = Group::new();
        let mut top = head;
        for row in rows {
            let shown = || row.iter().flatten();
            let title = if shown().any(|chart| !chart.title.is_empty()) { TITLE } else { 0.0 };
            let ticks = if shown().any(|chart| chart.below) { TICKS } else { 0.0 };
            let name = if shown().any(|chart| !chart.across.is_empty()) { NAME } else { 0.0 };
            let mut left = EDGE;
            for (k, chart) in row.iter().enumerate() {
                let width = room * self.columns[k] / weights;
                if let Some(chart) = chart {
                    let (x, y) = (left + lefts[k], top + title);
                    let area = Area { chart, x, y, width, height: self.height };
                    document.append(area.grid());
                    document.append(area.marks());
                }
                left += lefts[k] + width + rights[k] + GAP;
            }
            top += title + self.height + ticks + name + GAP * 0.6;
        }
        let foot = if self.note.is_empty() { 0.0 } else { LEGEND };
        let height = (top + foot + EDGE * 0.5).ceil();
        let mut page: Document = page(self.width, height).add(document);
        if !self.note.is_empty() {
            page.append(label(&self.note, EDGE, top + FONT, "start", PALE));
        }
        format!("{}\n", self.with_legend(page))
    }

    fn with_legend(&self, mut page: Document) -> Document {
        let mut x = EDGE;
        for (name, color) in &self.legend {
            let y = EDGE + 8.0;
            page.append(line(x, y, x + 18.0, y, color.ink()).set("stroke-width", 3));
            page.append(label(name, x + 24.0, y + 4.5, "start", INK));
            x += 24.0 + letters(name) + 18.0;
        }
        page
    }

    /// Space at the left of each column.
    fn lefts(&self, columns: usize) -> Vec<f64> {
        let widest = self.width * WIDEST / columns as f64;
        let side = |chart: &Chart, height: f64| match &chart.side {
            Side::Nothing => 0.0,
            Side::Numbers => {
                let labels = up(chart, height).labels;
                8.0 + labels.iter().map(|text| digits(text)).fold(0.0, f64::max)
            }
            Side::Names(names) => {
                8.0 + names.iter().map(|(_, name)| letters(name)).fold(0.0, f64::max)
            }
        };
        (0..columns).map(|k| self.widest(columns, k, side).min(widest)).collect()
    }

    /// The largest size in a column.
    fn widest(&self, columns: usize, column: usize, size: impl Fn(&Chart, f64) -> f64) -> f64 {
        let charts = self.charts.iter().skip(column).step_by(columns).flatten();
        charts.map(|chart| size(chart, self.height)).fold(0.0, f64::max)
    }
}

fn remarks_width(chart: &Chart, _: f64) -> f64 {
    let widths = chart.remarks.iter().map(|(_, text)| 10.0 + letters(text));
    widths.fold(0.0, f64::max)
}

/// Width of a text, generously.
fn letters(text: &str) -> f64 {
    // The hat of R̂ has no width.
    text.chars().filter(|c| *c != '\u{302}').count() as f64 * LETTER
}

/// Width of a number.
fn digits(text: &str) -> f64 {
    text.len() as f64 * LETTER
}

fn up(chart: &Chart, height: f64) -> Ticks {
    at_least_two(chart.window, (height / UP) as usize, false)
}

/// Ticks, more than `most` only if one would be alone: it would not tell the scale.
fn at_least_two(range: (f64, f64), most: usize, whole: bool) -> Ticks {
    let tried = (most.max(2)..most + 4).map(|most| ticks(range, most, whole));
    let mut tried = tried.filter(|ticks| ticks.values.len() >= 2);
    tried.next().unwrap_or_else(|| ticks(range, most.max(2), whole))
}

/// A chart on the page.
struct Area<'a> {
    chart: &'a Chart,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Area<'_> {
    fn x(&self, part: f64) -> f64 {
        self.x + part * self.width
    }

    fn y(&self, part: f64) -> f64 {
        self.y + (1.0 - part) * self.height
    }

    /// Ticks, labels and the title.
    fn grid(&self) -> Group {
        let chart = self.chart;
        let (across, upward) = (scale(chart.range), scale(chart.window));
        let (bottom, right) = (self.y + self.height, self.x + self.width);
        let mut group = Group::new();
        let numbers = at_least_two(chart.range, (self.width / ACROSS) as usize, chart.whole);
        for (value, text) in numbers.values.iter().zip(&numbers.labels) {
            let x = self.x(across(*value));
            group.append(line(x, self.y, x, bottom, GRID));
            if chart.below {
                group.append(label(text, x, bottom + 17.0, "middle", PALE));
            }
        }
        match &chart.side {
            Side::Nothing => {}
            Side::Numbers => {
                let numbers = up(chart, self.height);
                for (value, text) in numbers.values.iter().zip(&numbers.labels) {
                    let y = self.y(upward(*value));
                    group.append(line(self.x, y, right, y, GRID));
                    group.append(label(text, self.x - 8.0, y + 4.5, "end", PALE));
                }
            }
            Side::Names(names) => {
                for (value, name) in names {
                    let y = self.y(upward(*value)) + 4.5;
                    group.append(label(name, self.x - 8.0, y, "end", INK));
                }
            }
        }
        group.append(line(self.x, bottom, right, bottom, PALE));
        for (value, text) in &chart.remarks {
            let y = self.y(upward(*value)) + 4.5;
            group.append(label(text, right + 10.0, y, "start", PALE));
        }
        if !chart.title.is_empty() {
            group.append(label(&chart.title, self.x, self.y - 9.0, "start", INK));
        }
        if !chart.across.is_empty() {
            let y = bottom + if chart.below { TICKS } else { 0.0 } + 15.0;
            group.append(label(&chart.across, self.x(0.5), y, "middle", INK));
        }
        group
    }

    fn marks(&self) -> Group {
        let mut group = Group::new();
        for mark in &self.chart.marks {
            match mark {
                Mark::Line { points, color, width, opacity, dashed } => {
                    let path = self.joined(points, None);
                    let path = Path::new().set("d", path).set("fill", "none");
                    let path = path.set("stroke-width", *width).set("stroke-linejoin", "round");
                    let path = match dashed {
                        true => path.set("stroke-dasharray", "5 4"),
                        false => path,
                    };
                    group.append(painted(opaque(path, *opacity), "stroke", color.ink()));
                }
                Mark::Area { points, base, color, opacity } => {
                    let path = Path::new().set("d", self.joined(points, Some(*base)));
                    group.append(painted(opaque(path, *opacity), "fill", color.ink()));
                }
                Mark::Dots { points, color, radius, opacity } => {
                    // Lines of no length with round ends: an element for many dots. Some elements,
                    // because opacities add up between them only.
                    for some in points.chunks(points.len().div_ceil(LAYERS).max(1)) {
                        let path = Path::new().set("d", self.dots(some)).set("fill", "none");
                        let path = path.set("stroke-width", 2.0 * radius);
                        let path = opaque(path.set("stroke-linecap", "round"), *opacity);
                        group.append(painted(path, "stroke", color.ink()));
                    }
                }
                Mark::Bars { bars, color, opacity } => {
                    for bar in bars {
                        let rectangle = opaque(self.bar(bar), *opacity);
                        group.append(painted(rectangle, "fill", color.ink()));
                    }
                }
                Mark::Strokes { places, color } => {
                    let across = scale(self.chart.range);
                    let mut path = String::new();
                    for x in places.iter().map(|x| across(*x)).filter(|x| (0.0..=1.0).contains(x)) {
                        let (x, y) = (hundredths(self.x(x)), self.y + self.height);
                        let _ = write!(path, "M{x},{}v-{STROKE}", tenths(y));
                    }
                    group.append(painted(Path::new().set("d", path), "stroke", color.ink()));
                }
            }
        }
        group
    }

    /// The path of joined points, closed at the base if there is one.
    fn joined(&self, points: &[(f64, f64)], base: Option<f64>) -> String {
        let mut path = String::new();
        let base = base.map(|base| hundredths(self.y(scale(self.chart.window)(base))));
        for line in visible(&[points.to_vec()], self.chart.range, self.chart.window) {
            for (k, (x, y)) in line.iter().enumerate() {
                let (x, y) = (hundredths(self.x(*x)), hundredths(self.y(*y)));
                match base {
                    Some(base) if k == 0 => {
                        let _ = write!(path, "M{x},{base}L{x},{y}");
                    }
                    _ => {
                        let _ = write!(path, "{}{x},{y}", if k == 0 { 'M' } else { 'L' });
                    }
                }
            }
            if let (Some(base), Some((x, _))) = (base, line.last()) {
                let _ = write!(path, "L{},{base}Z", hundredths(self.x(*x)));
            }
        }
        path
    }

    fn dots(&self, points: &[(f64, f64)]) -> String {
        let (across, up) = (scale(self.chart.range), scale(self.chart.window));
        let mut path = String::new();
        let inside = |part: f64| (0.0..=1.0).contains(&part);
        let parts = points.iter().map(|(x, y)| (across(*x), up(*y)));
        for (x, y) in parts.filter(|(x, y)| inside(*x) && inside(*y)) {
            let _ = write!(path, "M{},{}h.01", tenths(self.x(x)), tenths(self.y(y)));
        }
        path
    }

    fn bar(&self, [left, right, low, high]: &[f64; 4]) -> Rectangle {
        let (across, up) = (scale(self.chart.range), scale(self.chart.window));
        let edge = |x: f64| self.x(across(x).clamp(0.0, 1.0));
        let height = |y: f64| self.y(up(y).clamp(0.0, 1.0));
        Rectangle::new()
            .set("x", hundredths(edge(*left)))
            .set("width", hundredths(edge(*right) - edge(*left)))
            .set("y", hundredths(height(*high)))
            .set("height", hundredths(height(*low) - height(*high)))
    }
}

fn opaque<E: svg::Node>(mut element: E, opacity: f64) -> E {
    if opacity < 1.0 {
        element.assign("opacity", opacity);
    }
    element
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_marks_are_drawn() {
        let points = vec![(0.0, 0.2), (0.5, 0.9), (1.0, 0.1)];
        let color = Color::Curve(9);
        let chart = Chart {
            title: "a<b".into(),
            marks: vec![
                Mark::Area { points: points.clone(), base: 0.0, color, opacity: 0.2 },
                Mark::Line {
                    points: points.clone(),
                    color,
                    width: 1.0,
                    opacity: 1.0,
                    dashed: true,
                },
                Mark::Dots {
                    points: vec![(0.5, 0.5), (3.0, 3.0)],
                    color,
                    radius: 2.0,
                    opacity: 0.5,
                },
                Mark::Bars { bars: vec![[0.0, 0.5, 0.0, 2.0]], color, opacity: 1.0 },
                Mark::Strokes { places: vec![0.1, 7.0], color: Color::Ink },
            ],
            ..Chart::default()
        };
        let sheet = Sheet {
            width: 400.0,
            height: 100.0,
            columns: vec![1.0, 1.0],
            charts: vec![Some(chart), None],
            legend: vec![("chain 0".into(), color)],
            note: "Three more.".into(),
        };
        let text = sheet.svg();
        assert!(text.starts_with("<svg ") && text.contains("a&lt;b"), "{text}");
        assert_eq!(text.matches("h.01").count(), 1, "a dot outside is left out");
        assert_eq!(text.matches("v-9").count(), 1);
        assert!(text.contains("stroke-dasharray") && text.contains("chain 0"), "{text}");
    }
}
