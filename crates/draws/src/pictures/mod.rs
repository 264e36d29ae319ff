//! Pictures of draws, as SVG.
//!
//! - `density`: estimates of densities;
//! - `values`: densities, pairs, intervals, replicated data;
//! - `chains`: traces, ranks, energies.

mod chains;
mod density;
mod values;

use lambada_plot::{Chart, Color, Sheet};

use crate::draws::{Draws, Element, Wrong};

/// Width of a picture in pixels.
const WIDTH: f64 = 860.0;

/// Scalars that a picture shows at most, if it has a chart or a row for each; and the sides of
/// pairs.
const CHARTS: usize = 24;
const ROWS: usize = 80;
const SIDES: usize = 8;

/// Kinds of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PictureKind {
    /// Each chain over its draws, beside its density.
    Trace,
    /// Densities, with the mean and the interval from 5 % to 95 %.
    Density,
    /// Two scalars at a time, with the divergent draws.
    Pairs,
    /// Medians and intervals below each other, with R̂ and ESS.
    Forest,
    /// Histograms of the ranks of each chain's draws among all: flat for good chains.
    Rank,
    /// The energies of draws, and the steps between them.
    Energy,
    /// Replicated data beside the data.
    Ppc,
}

impl PictureKind {
    /// All kinds.
    pub const ALL: [PictureKind; 7] = [
        PictureKind::Trace,
        PictureKind::Density,
        PictureKind::Pairs,
        PictureKind::Forest,
        PictureKind::Rank,
        PictureKind::Energy,
        PictureKind::Ppc,
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            PictureKind::Trace => "trace",
            PictureKind::Density => "density",
            PictureKind::Pairs => "pairs",
            PictureKind::Forest => "forest",
            PictureKind::Rank => "rank",
            PictureKind::Energy => "energy",
            PictureKind::Ppc => "ppc",
        }
    }

    /// The kind of a name.
    pub fn of(name: &str) -> Option<PictureKind> {
        PictureKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A picture of chosen variables as the text of an SVG file; of all if there are no names. For
/// [`PictureKind::Ppc`] they are the data's.
///
/// # Errors
/// [`Wrong::Missing`], if there is no such variable, statistic or data, or nothing to draw.
pub fn picture(draws: &Draws, kind: PictureKind, of: &[&str]) -> Result<String, Wrong> {
    let elements = || -> Result<Vec<Element<'_>>, Wrong> {
        let chosen = draws.chosen(of);
        let chosen =
            chosen.map_err(|name| Wrong::Missing { part: format!("a variable `{name}`") })?;
        // Constants have neither densities nor ranks.
        let shown: Vec<Element<'_>> = chosen
            .into_iter()
            .filter(|element| spread(&draws.scalar(*element)).is_some())
            .collect();
        match shown.is_empty() {
            true => Err(Wrong::Missing { part: "a variable that varies".into() }),
            false => Ok(shown),
        }
    };
    let sheet = match kind {
        PictureKind::Trace => chains::trace(draws, &elements()?),
        PictureKind::Density => values::density(draws, &elements()?),
        PictureKind::Pairs => {
            let mut shown = elements()?;
            // Of many, scalars first: scales, whose pairs show funnels, are among them.
            if of.is_empty() {
                shown.sort_by_key(|element| !element.variable.dims.is_empty());
            }
            values::pairs(draws, &shown)
        }
        PictureKind::Forest => values::forest(draws, &elements()?),
        PictureKind::Rank => chains::rank(draws, &elements()?),
        PictureKind::Energy => chains::energy(draws)?,
        PictureKind::Ppc => values::replicated(draws, of)?,
    };
    Ok(sheet.svg())
}

/// The least and the largest finite value, if they differ.
fn spread(values: &[f64]) -> Option<(f64, f64)> {
    let finite = values.iter().filter(|x| x.is_finite());
    let ends = finite
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    (ends.0 < ends.1).then_some(ends)
}

/// Ends with a margin.
fn padded((low, high): (f64, f64), part: f64) -> (f64, f64) {
    let margin = part * (high - low);
    (low - margin, high + margin)
}

/// The elements that are shown, and a sentence about the others.
fn limited<'a, 'b>(elements: &'b [Element<'a>], most: usize) -> (&'b [Element<'a>], String) {
    if elements.len() <= most {
        return (elements, String::new());
    }
    let more = elements.len() - most;
    (&elements[..most], format!("{more} more are not shown; --of chooses others."))
}

/// The color of a chain.
fn color(chain: usize) -> Color {
    // Blue first, because orange marks divergent draws.
    Color::Curve([1, 2, 4, 3, 5, 7, 6][chain % 7])
}

/// The color of divergent draws.
const MARKED: Color = Color::Curve(0);

/// Names of the colors of chains.
fn legend(draws: &Draws) -> Vec<(String, Color)> {
    match draws.chains {
        // Colors come again beyond.
        0 | 1 | 8.. => Vec::new(),
        chains => (0..chains).map(|k| (format!("chain {k}"), color(k))).collect(),
    }
}

/// A sheet whose charts have equal widths.
fn sheet(charts: Vec<Chart>, most: usize, height: f64) -> Sheet {
    let columns = charts.len().clamp(1, most);
    Sheet {
        width: WIDTH,
        height,
        columns: vec![1.0; columns],
        charts: charts.into_iter().map(Some).collect(),
        ..Sheet::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::{Array, Chain, Variable, names};

    /// Draws of a funnel, with divergences at its neck.
    pub(super) fn funnel() -> Draws {
        let mut random = lambada_testkit::Random(5);
        let mut normal = move || (0..12).fold(-6.0, |sum, _| sum + random.between(0.0, 1.0));
        let mut chain = || {
            let mut chain = Chain::default();
            let names = [names::LP, names::DIVERGING, names::ENERGY];
            chain.statistics = names.map(|name| (name.to_string(), Vec::new())).to_vec();
            for _ in 0..500 {
                let log_tau: f64 = normal();
                let (mu, tau) = (4.0 + 3.0 * normal(), log_tau.exp());
                chain.values.extend([mu, tau]);
                chain.values.extend((0..8).map(|_| mu + tau * normal()));
                let divergent = tau < 0.3 && normal() > 0.5;
                let statistics = [-normal().abs(), f64::from(u8::from(divergent)), 10.0 + normal()];
                for ((_, values), x) in chain.statistics.iter_mut().zip(statistics) {
                    values.push(x);
                }
            }
            chain
        };
        let chains: Vec<Chain> = (0..4).map(|_| chain()).collect();
        let shapes = [("mu".into(), vec![]), ("tau".into(), vec![]), ("theta".into(), vec![8])];
        let mut draws = Draws::new(&shapes, &chains).expect("the shapes agree");
        let mut random = lambada_testkit::Random(9);
        let mut noise = || (0..12).fold(-6.0, |sum, _| sum + random.between(0.0, 1.0));
        let replicated: Vec<f64> =
            draws.variables[2].values.iter().map(|x| x + 9.0 * noise()).collect();
        draws.predictive = vec![
            Variable { name: "y".into(), dims: vec![8], values: replicated.clone() },
            Variable {
                name: "n".into(),
                dims: vec![8],
                values: replicated.iter().map(|x| (x / 3.0).round().clamp(0.0, 9.0)).collect(),
            },
        ];
        let observed = |name: &str, values: &[f64]| Array {
            name: name.into(),
            dims: vec![8],
            values: values.to_vec(),
        };
        draws.observed = vec![
            observed("y", &[28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]),
            observed("n", &[0.0, 1.0, 1.0, 2.0, 0.0, 3.0, 5.0, 1.0]),
        ];
        draws
    }

    #[test]
    fn all_kinds_are_drawn() {
        let draws = funnel();
        for kind in PictureKind::ALL {
            assert_eq!(PictureKind::of(kind.name()), Some(kind));
            let text = picture(&draws, kind, &[]).expect("it can be drawn");
            assert!(text.starts_with("<svg ") && !text.contains("NaN"), "{}", kind.name());
            // For a person to see.
            if let Ok(folder) = std::env::var("DRAWS_OUT") {
                std::fs::write(format!("{folder}/{}.svg", kind.name()), text).expect("a folder");
            }
        }
        assert!(picture(&draws, PictureKind::Trace, &["nu"]).is_err());
        let text = picture(&draws, PictureKind::Pairs, &["tau", "theta[3]"]).expect("both exist");
        assert!(text.contains("theta[3]") && !text.contains("theta[2]"));
    }

    #[test]
    fn pictures_without_their_parts_are_refused() {
        let mut draws = funnel();
        draws.statistics.clear();
        draws.predictive.clear();
        for kind in [PictureKind::Energy, PictureKind::Ppc] {
            let wrong = picture(&draws, kind, &[]).expect_err("its part is missing");
            assert!(matches!(wrong, Wrong::Missing { .. }), "{wrong}");
        }
        picture(&draws, PictureKind::Pairs, &[]).expect("divergences are not needed");
        draws.variables.iter_mut().for_each(|variable| variable.values.fill(1.0));
        assert!(picture(&draws, PictureKind::Density, &[]).is_err());
    }
}
