//! Colors, and the elements that all SVG pictures have. A picture stands on its own background,
//! which is dark where the reader prefers it; programs that ignore the style sheet show the light
//! colors.

use svg::Document;
use svg::node::element::{Line, Rectangle, Style, Text};

/// Size of the font, and the width of its widest letters.
pub const FONT: f64 = 13.0;
pub const LETTER: f64 = 7.6;

/// A color: its class, on light and on dark backgrounds.
pub type Ink = (&'static str, &'static str, &'static str);

/// Roles of colors. Curves have the others, in turn.
pub const INK: Ink = ("ink", "#1f2933", "#e4e7eb");
pub const PALE: Ink = ("pale", "#52606d", "#a3b1bf");
pub const GRID: Ink = ("grid", "#e4e7eb", "#29333d");
pub const PAGE: Ink = ("page", "#ffffff", "#14191f");
pub const CURVES: [Ink; 8] = [
    ("c0", "#c2410c", "#fb923c"),
    ("c1", "#1d63b8", "#6cb2ff"),
    ("c2", "#2f7d4f", "#6ed39a"),
    ("c3", "#8339a8", "#cf9bf0"),
    ("c4", "#946200", "#e5b94b"),
    ("c5", "#0e7c86", "#5cd0da"),
    ("c6", "#a8285f", "#f58ab8"),
    ("c7", "#52606d", "#b3c0cc"),
];

/// An empty page.
pub fn page(width: f64, height: f64) -> Document {
    Document::new()
        .set("viewBox", (0, 0, width, height))
        .set("width", width)
        .set("height", height)
        .set("font-family", "Helvetica, Arial, sans-serif")
        .set("font-size", FONT)
        .add(Style::new(style()))
        .add(painted(Rectangle::new().set("width", width).set("height", height), "fill", PAGE))
}

/// The colors on dark backgrounds.
fn style() -> String {
    let rule = |(class, _, dark): Ink| {
        format!(".{class}-fill{{fill:{dark}}}.{class}-stroke{{stroke:{dark}}}")
    };
    let rules = [INK, PALE, GRID, PAGE].into_iter().chain(CURVES).map(rule);
    format!("@media (prefers-color-scheme:dark){{{}}}", rules.collect::<String>())
}

/// Colors the `property`, `fill` or `stroke`, of an element.
pub fn painted<E: svg::Node>(mut element: E, property: &str, color: Ink) -> E {
    element.assign(property, color.1);
    element.assign("class", format!("{}-{property}", color.0));
    element
}

pub fn label(text: &str, x: f64, y: f64, anchor: &str, color: Ink) -> Text {
    let text = Text::new(text).set("x", tenths(x)).set("y", tenths(y)).set("text-anchor", anchor);
    painted(text, "fill", color)
}

/// Rounds to a tenth of a pixel.
pub fn tenths(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

pub fn hundredths(x: f64) -> f32 {
    ((x * 100.0).round() / 100.0) as f32
}

/// A straight line.
pub fn line(x1: f64, y1: f64, x2: f64, y2: f64, color: Ink) -> Line {
    let line = Line::new().set("x1", tenths(x1)).set("y1", tenths(y1));
    painted(line.set("x2", tenths(x2)).set("y2", tenths(y2)), "stroke", color)
}
