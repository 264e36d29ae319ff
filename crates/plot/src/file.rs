//! A picture as SVG.

use svg::Node as _;
use svg::node::element::path::Data;
use svg::node::element::{Circle, Group, Path};

use crate::axis::ticks;
use crate::ink::{
    CURVES, FONT, GRID, INK, LETTER, PALE, hundredths, label, line, page, painted, tenths,
};
use crate::panel::{end, lines, places};
use crate::{Panel, Picture};

const WIDTH: f64 = 760.0;

/// Heights of the only panel, and of one of several.
const ALONE: f64 = 400.0;
const STACKED: f64 = 240.0;

/// Space above a panel, which has the name of its only curve; below all; at the right without
/// names.
const HEAD: f64 = 36.0;
const FOOT: f64 = 56.0;
const SIDE: f64 = 24.0;

/// Least distances between ticks.
const ACROSS: f64 = 80.0;
const UP: f64 = 44.0;

/// Number of points up to which each is marked.
const MARKED: usize = 60;

/// The picture as the text of a file.
pub fn svg(picture: &Picture) -> String {
    let own = if picture.panels.len() == 1 { ALONE } else { STACKED };
    let height = picture.panels.len() as f64 * (HEAD + own) + FOOT;
    let letters = |words: &mut dyn Iterator<Item = usize>| words.max().unwrap_or(0) as f64 * LETTER;
    let labels = picture
        .panels
        .iter()
        .flat_map(|panel| ticks(panel.window, (own / UP) as usize, false).labels);
    let left = 20.0 + letters(&mut labels.map(|label| label.len()));
    let several = picture.panels.iter().filter(|panel| panel.curves.len() > 1);
    let names =
        several.flat_map(|panel| panel.curves.iter().map(|curve| curve.name.chars().count()));
    let right = SIDE + letters(&mut names.into_iter()).min(WIDTH / 3.0);
    let mut document = page(WIDTH, height);
    for (k, panel) in picture.panels.iter().enumerate() {
        let top = k as f64 * (HEAD + own) + HEAD;
        let frame = Frame { picture, panel, left, right: WIDTH - right, top, bottom: top + own };
        document.append(frame.grid(k + 1 == picture.panels.len()));
        document.append(frame.curves());
    }
    let name = label(&picture.across, (left + WIDTH - right) / 2.0, height - 14.0, "middle", INK);
    format!("{}\n", document.add(name))
}

/// A panel on the page.
struct Frame<'a> {
    picture: &'a Picture,
    panel: &'a Panel,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame<'_> {
    fn x(&self, part: f64) -> f64 {
        self.left + part * (self.right - self.left)
    }

    fn y(&self, part: f64) -> f64 {
        self.bottom - part * (self.bottom - self.top)
    }

    /// The lines of the ticks, and their labels; those of the abscissa below the last panel.
    fn grid(&self, is_last: bool) -> Group {
        let mut group = Group::new();
        let (low, high) = self.picture.range;
        let count = (self.right - self.left) / ACROSS;
        let across = ticks(self.picture.range, count as usize, self.picture.whole);
        for (value, text) in across.values.iter().zip(&across.labels) {
            let x = self.x((value - low) / (high - low));
            group.append(line(x, self.top, x, self.bottom, GRID));
            if is_last {
                group.append(label(text, x, self.bottom + 20.0, "middle", PALE));
            }
        }
        let (low, high) = self.panel.window;
        let up = ticks(self.panel.window, ((self.bottom - self.top) / UP) as usize, false);
        for (value, text) in up.values.iter().zip(&up.labels) {
            let y = self.y((value - low) / (high - low));
            let color = if *value == 0.0 { PALE } else { GRID };
            group.append(line(self.left, y, self.right, y, color));
            group.append(label(text, self.left - 8.0, y + 4.5, "end", PALE));
        }
        if let [curve] = &self.panel.curves[..] {
            group.append(label(&curve.name, self.left, self.top - 12.0, "start", INK));
        }
        group
    }

    fn curves(&self) -> Group {
        let mut group = Group::new().set("stroke-width", 1.8).set("stroke-linejoin", "round");
        let mut ends = Vec::new();
        for (k, curve) in self.panel.curves.iter().enumerate() {
            let color = CURVES[k % CURVES.len()];
            let lines = lines(self.picture, self.panel, curve);
            for line in &lines {
                group.append(painted(self.path(line).set("fill", "none"), "stroke", color));
            }
            let points = curve.pieces.iter().map(Vec::len).sum::<usize>();
            let marked = self.picture.whole && points <= MARKED;
            let dots = lines.iter().filter(|line| marked || line.len() == 1).flatten();
            for (x, y) in dots {
                let dot = Circle::new().set("cx", tenths(self.x(*x))).set("cy", tenths(self.y(*y)));
                group.append(painted(dot.set("r", 2.5), "fill", color));
            }
            ends.push(end(&lines));
        }
        if self.panel.curves.len() > 1 {
            self.names(&ends, &mut group);
        }
        group
    }

    fn path(&self, line: &[(f64, f64)]) -> Path {
        let place = |(x, y): &(f64, f64)| (hundredths(self.x(*x)), hundredths(self.y(*y)));
        let mut data = Data::new();
        for (k, point) in line.iter().enumerate() {
            data = if k == 0 { data.move_to(place(point)) } else { data.line_to(place(point)) };
        }
        Path::new().set("d", data)
    }

    /// Names of curves at their right ends.
    fn names(&self, ends: &[Option<f64>], group: &mut Group) {
        let places = places(ends, 1.2 * FONT / (self.bottom - self.top));
        for (k, (curve, place)) in self.panel.curves.iter().zip(&places).enumerate() {
            if let Some(height) = place {
                let (x, y) = (self.right + 8.0, self.y(*height) + 4.5);
                let name = label(&curve.name, x, y, "start", CURVES[k % CURVES.len()]);
                group.append(name.set("stroke", "none"));
            }
        }
        let unnamed = places.iter().zip(ends).filter(|(p, e)| p.is_none() && e.is_some()).count();
        if unnamed > 0 {
            let more = format!("… {unnamed} more");
            group.append(label(&more, self.right + 8.0, self.top - 12.0, "start", PALE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Curve, listed};

    #[test]
    fn names_are_escaped_and_points_marked() {
        let panels = vec![listed(vec![("a<b".into(), vec![1.0, 2.0]), ("c".into(), vec![3.0])])];
        let picture = Picture { across: "index".into(), range: (0.0, 1.0), whole: true, panels };
        let text = svg(&picture);
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{text}");
        assert!(text.contains("a&lt;b") && text.matches("<circle").count() == 3, "{text}");
    }

    #[test]
    fn panels_stand_above_each_other() {
        let curve =
            |name: &str| Curve { name: name.into(), pieces: vec![vec![(0.0, 0.0), (1.0, 1.0)]] };
        let panel = |name| Panel { curves: vec![curve(name)], window: (0.0, 1.0) };
        let panels = vec![panel("f"), panel("df/dx")];
        let picture = Picture { across: "x".into(), range: (0.0, 1.0), whole: false, panels };
        let text = svg(&picture);
        assert_eq!(text.matches("<path").count(), 2);
        assert!(text.contains("df/dx") && text.contains("prefers-color-scheme"));
    }
}
