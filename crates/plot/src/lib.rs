//! Curves as pictures, for terminals and files. Knows no language: a function is a closure.
//!
//! - `sample`: where a function is evaluated, and where its curve is interrupted;
//! - `window`: which values a picture shows, although some are unbounded;
//! - `axis`: ticks and their labels;
//! - `panel`: curves in the coordinates of the picture, and places for their names;
//! - `text`, `file`: the picture in braille characters, and as SVG;
//! - `sheet`: charts of data side by side, as SVG: areas, dots, bars;
//! - `ink`: colors and elements of both.
//!
//! Pictures are laid out here and not by a plotting library, because both forms share their ticks,
//! gaps and labels. Of the libraries, `plotters` rounds SVG coordinates to whole pixels, which
//! makes staircases of curves, fixes colors, so that nothing is legible on dark pages, and joins
//! the sides of a pole; `textplots` labels only the corners; `charming` needs a browser. `svg`,
//! which has no dependencies, writes the elements.

mod axis;
mod evaluations;
mod file;
mod ink;
mod panel;
mod sample;
mod sheet;
mod text;
mod window;

pub use file::svg;
pub use sample::{Numbers, listed, sampled, steps};
pub use sheet::{Chart, Color, Mark, Sheet, Side};
pub use text::text;

/// A curve: pieces of joined points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The name.
    pub name: String,
    /// The pieces, each in the order of its abscissas; between them the curve is interrupted.
    pub pieces: Vec<Vec<(f64, f64)>>,
}

/// Curves with a common ordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The curves.
    pub curves: Vec<Curve>,
    /// The ordinates at the bottom and the top. Points beyond them are not shown.
    pub window: (f64, f64),
}

/// Panels above each other, with a common abscissa.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Name of the abscissa.
    pub across: String,
    /// The abscissas at the left and the right.
    pub range: (f64, f64),
    /// Whether the abscissas are integers, so that the points themselves are shown.
    pub whole: bool,
    /// The panels.
    pub panels: Vec<Panel>,
}

impl Picture {
    /// The curves of a function over a range of `across`; `whole` ranges are of integers.
    ///
    /// # Errors
    /// Those of the function.
    pub fn along<E>(
        across: &str,
        (low, high): (f64, f64),
        whole: bool,
        evaluate: &mut dyn FnMut(f64) -> Result<Numbers, E>,
    ) -> Result<Picture, E> {
        let panels = match whole {
            true => steps((low as i64, high as i64), evaluate)?,
            false => sampled((low, high), evaluate)?,
        };
        Ok(Picture { across: across.to_string(), range: (low, high), whole, panels })
    }

    /// Named lists over their index, each group in a panel.
    pub fn indexed(groups: Vec<Vec<(String, Vec<f64>)>>) -> Picture {
        let longest = groups.iter().flatten().map(|(_, list)| list.len()).max().unwrap_or(0);
        let range = if longest > 1 { (0.0, (longest - 1) as f64) } else { (-0.5, 0.5) };
        let panels = groups.into_iter().map(listed).collect();
        Picture { across: "index".into(), range, whole: true, panels }
    }

    /// Whether no point is visible.
    pub fn is_empty(&self) -> bool {
        self.panels.iter().all(|panel| panel.curves.iter().all(|curve| curve.pieces.is_empty()))
    }
}
