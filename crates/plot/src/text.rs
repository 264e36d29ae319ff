//! A picture in braille characters, which have 2 by 4 dots.

use std::fmt::Write as _;

use crate::axis::{Ticks, ticks};
use crate::panel::{end, lines, places};
use crate::{Panel, Picture};

/// Heights of the only panel, and of one of several, in lines.
const ALONE: usize = 16;
const STACKED: usize = 10;

/// Least lines and columns for each tick.
const LINES: usize = 2;
const COLUMNS: usize = 10;

/// Least width of a panel.
const NARROWEST: usize = 16;

/// Colors of curves in panels that have several, as the terminal defines them: they are legible on
/// its background.
const COLORS: [&str; 6] = ["34", "31", "32", "35", "36", "33"];

/// The picture, with lines of at most `width` columns. Curves have colors if `colored`.
pub fn text(picture: &Picture, width: usize, colored: bool) -> String {
    let height = if picture.panels.len() == 1 { ALONE } else { STACKED };
    let scales: Vec<Ticks> =
        picture.panels.iter().map(|panel| ticks(panel.window, height / LINES, false)).collect();
    let widest = |words: &mut dyn Iterator<Item = &String>| {
        words.map(|word| word.chars().count()).max().unwrap_or(0)
    };
    let labels = widest(&mut scales.iter().flat_map(|ticks| &ticks.labels));
    let several = picture.panels.iter().filter(|panel| panel.curves.len() > 1);
    let names = several.flat_map(|panel| panel.curves.iter().map(|curve| &curve.name));
    let names = widest(&mut names.into_iter()).min(width / 4);
    let names = if names == 0 { 0 } else { names + 1 };
    let columns = width.saturating_sub(labels + 2 + names).max(NARROWEST);
    let across = ticks(picture.range, (columns / COLUMNS).max(2), picture.whole);
    let stops: Vec<usize> = across.values.iter().map(|x| column(picture, *x, columns)).collect();
    let mut out = String::new();
    for (panel, scale) in picture.panels.iter().zip(&scales) {
        let drawing = Drawing { picture, panel, scale, labels, columns, height, names, colored };
        drawing.write(&mut out);
        out.push_str(&" ".repeat(labels + 1));
        let line = |k: usize| if stops.contains(&k) { '┬' } else { '─' };
        out.extend(std::iter::once('└').chain((0..columns).map(line)));
        out.push('\n');
    }
    below(&mut out, labels + 2, width, &across.labels, &stops);
    let name = picture.across.chars().count();
    let _ = writeln!(
        out,
        "{}{}",
        " ".repeat(labels + 2 + columns.saturating_sub(name) / 2),
        picture.across
    );
    out
}

/// The column of an abscissa.
fn column(picture: &Picture, x: f64, columns: usize) -> usize {
    let (low, high) = picture.range;
    ((x - low) / (high - low) * (columns - 1) as f64).round() as usize
}

/// The labels of the abscissas, centered below their ticks where the line has room.
fn below(out: &mut String, margin: usize, width: usize, labels: &[String], stops: &[usize]) {
    let mut line = String::new();
    for (label, stop) in labels.iter().zip(stops) {
        let start = (margin + stop).saturating_sub(label.len() / 2);
        let start = start.min(width.saturating_sub(label.len()));
        let written = line.chars().count();
        if written == 0 || written < start {
            line.push_str(&" ".repeat(start.saturating_sub(written)));
            line.push_str(label);
        }
    }
    out.push_str(&line);
    out.push('\n');
}

struct Drawing<'a> {
    picture: &'a Picture,
    panel: &'a Panel,
    scale: &'a Ticks,
    /// Width of the labels at the left.
    labels: usize,
    columns: usize,
    height: usize,
    /// Width of the names at the right.
    names: usize,
    colored: bool,
}

impl Drawing<'_> {
    fn write(&self, out: &mut String) {
        let curves = &self.panel.curves;
        if let [curve] = &curves[..] {
            let name = shortened(&curve.name, self.columns);
            let _ = writeln!(out, "{}{name}", " ".repeat(self.labels + 2));
        }
        let mut canvas = Canvas::new(self.columns, self.height);
        let mut ends = Vec::new();
        for (k, curve) in curves.iter().enumerate() {
            let lines = lines(self.picture, self.panel, curve);
            lines.iter().for_each(|line| canvas.draw(line, k));
            ends.push(end(&lines));
        }
        let rows = self.height as f64;
        let places = places(&ends, 1.0 / (rows - 1.0));
        let row = |height: f64| ((1.0 - height) * (rows - 1.0)).round() as usize;
        let zero = self.row(0.0);
        for k in 0..self.height {
            let tick = self.scale.values.iter().position(|y| self.row(*y) == Some(k));
            let label = tick.map_or("", |tick| &self.scale.labels[tick]);
            let _ = write!(out, "{label:>0$} ", self.labels);
            out.push(if tick.is_some() { '┤' } else { '│' });
            let mut line = self.cells(&canvas, k, zero == Some(k));
            let named = |place: &Option<f64>| place.is_some_and(|height| row(height) == k);
            if let (true, Some(curve)) = (curves.len() > 1, places.iter().position(named)) {
                let name = shortened(&curves[curve].name, self.names - 1);
                line.push((" ".into(), None));
                line.push((name, Some(curve)));
            }
            self.paint(out, &line);
        }
        let unnamed = places.iter().zip(&ends).filter(|(p, e)| p.is_none() && e.is_some()).count();
        if curves.len() > 1 && unnamed > 0 {
            let more = format!("… {unnamed} more");
            let _ = writeln!(out, "{:>1$}", more, self.labels + 2 + self.columns + self.names);
        }
    }

    /// The line of an ordinate, if it is in the window.
    fn row(&self, y: f64) -> Option<usize> {
        let (low, high) = self.panel.window;
        let height = (y - low) / (high - low);
        let dots = 4 * self.height - 1;
        (0.0..=1.0).contains(&height).then(|| ((1.0 - height) * dots as f64).round() as usize / 4)
    }

    /// The characters of a line, each with its curve.
    fn cells(&self, canvas: &Canvas, row: usize, zero: bool) -> Vec<(String, Option<usize>)> {
        let cell = |column: usize| {
            let (dots, curve) = canvas.cells[row * self.columns + column];
            match dots {
                0 => (if zero { '┈' } else { ' ' }.to_string(), None),
                dots => {
                    let braille = char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' ');
                    (braille.to_string(), Some(curve))
                }
            }
        };
        (0..self.columns).map(cell).collect()
    }

    /// Writes a line without trailing spaces.
    fn paint(&self, out: &mut String, line: &[(String, Option<usize>)]) {
        let used = line.iter().rposition(|(text, _)| text != " ").map_or(0, |last| last + 1);
        let colored = self.colored && self.panel.curves.len() > 1;
        for run in line[..used].chunk_by(|a, b| a.1 == b.1) {
            let text: String = run.iter().map(|(text, _)| &**text).collect();
            let _ = match run[0].1.filter(|_| colored) {
                Some(curve) => {
                    write!(out, "\x1b[{}m{text}\x1b[0m", COLORS[curve % COLORS.len()])
                }
                None => write!(out, "{text}"),
            };
        }
        out.push('\n');
    }
}

fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_string();
    }
    name.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Dots of cells of 2 by 4, and the last curve in each cell.
struct Canvas {
    columns: usize,
    rows: usize,
    cells: Vec<(u8, usize)>,
}

impl Canvas {
    fn new(columns: usize, rows: usize) -> Canvas {
        Canvas { columns, rows, cells: vec![(0, 0); columns * rows] }
    }

    /// Draws a line with coordinates from 0 to 1.
    fn draw(&mut self, line: &[(f64, f64)], curve: usize) {
        let (width, height) = ((2 * self.columns - 1) as f64, (4 * self.rows - 1) as f64);
        let dots: Vec<(f64, f64)> =
            line.iter().map(|(x, y)| (x * width, (1.0 - y) * height)).collect();
        if let [(x, y)] = dots[..] {
            self.dot(x, y, curve);
        }
        for pair in dots.windows(2) {
            let ((x, y), (dx, dy)) = (pair[0], (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1));
            let count = dx.abs().max(dy.abs()).ceil().max(1.0);
            for k in 0..=count as usize {
                let part = k as f64 / count;
                self.dot(x + part * dx, y + part * dy, curve);
            }
        }
    }

    fn dot(&mut self, x: f64, y: f64, curve: usize) {
        /// Bits of the dots, by line and column.
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let (x, y) = (x.round().max(0.0) as usize, y.round().max(0.0) as usize);
        let (column, row) = ((x / 2).min(self.columns - 1), (y / 4).min(self.rows - 1));
        let (dots, last) = &mut self.cells[row * self.columns + column];
        *dots |= BITS[y % 4][x % 2];
        *last = curve;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Curve, sampled};

    fn picture(panels: Vec<Panel>, range: (f64, f64)) -> Picture {
        Picture { across: "x".into(), range, whole: false, panels }
    }

    #[test]
    fn a_parabola() {
        let mut evaluate = |x: f64| Ok::<_, ()>(vec![vec![("f".to_string(), x * x)]]);
        let panels = sampled((-1.0, 1.0), &mut evaluate).expect("no errors");
        let drawn = text(&picture(panels, (-1.0, 1.0)), 40, false);
        assert!(drawn.lines().all(|line| line.chars().count() <= 40), "{drawn}");
        assert_eq!(drawn.lines().next(), Some("     f"));
        for label in ["1.0 ┤", "0.4 ┤", "0.0 ┤"] {
            assert!(drawn.contains(label), "{label}:\n{drawn}");
        }
    }

    #[test]
    fn several_curves_have_names_and_colors() {
        let line = |name: &str, y: f64| Curve {
            name: name.into(),
            pieces: vec![vec![(0.0, 0.0), (1.0, y)]],
        };
        let panel =
            Panel { curves: vec![line("up", 1.0), line("down", -1.0)], window: (-1.0, 1.0) };
        let plain = text(&picture(vec![panel.clone()], (0.0, 1.0)), 60, false);
        assert!(plain.lines().any(|line| line.ends_with(" up")), "{plain}");
        assert!(plain.contains('┈') && !plain.contains('\x1b'), "{plain}");
        let colored = text(&picture(vec![panel], (0.0, 1.0)), 60, true);
        assert!(colored.contains("\x1b[34mup\x1b[0m") && colored.contains("\x1b[31mdown"));
    }
}
