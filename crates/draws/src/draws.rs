//! Draws as arrays: `[chain][draw][element]`, row-major, because summaries and pictures walk along
//! one element and files hold whole variables.

use std::fmt;

/// Names of the statistics that samplers give, as ArviZ spells them.
pub mod names {
    /// Log density of the draw.
    pub const LP: &str = "lp";
    /// Whether the trajectory diverged, 0 or 1.
    pub const DIVERGING: &str = "diverging";
    /// Depth of the trajectory's tree.
    pub const TREE_DEPTH: &str = "tree_depth";
    /// Number of leapfrog steps.
    pub const N_STEPS: &str = "n_steps";
    /// Hamiltonian of the draw.
    pub const ENERGY: &str = "energy";
    /// Step size of the integrator.
    pub const STEP_SIZE: &str = "step_size";
    /// Mean Metropolis acceptance along the trajectory.
    pub const ACCEPTANCE_RATE: &str = "acceptance_rate";
    /// Attribute: limit for the depth of trees.
    pub const MAX_DEPTH: &str = "max_depth";
}

/// Draws of several chains, all of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draws {
    /// Number of chains.
    pub chains: usize,
    /// Number of draws of each chain.
    pub draws: usize,
    /// The parameters, in the order of the model.
    pub variables: Vec<Variable>,
    /// Replicated data, by the names of the data.
    pub predictive: Vec<Variable>,
    /// Log likelihoods of the observations.
    pub log_likelihood: Vec<Variable>,
    /// Statistics of the sampler.
    pub statistics: Vec<Statistic>,
    /// The data.
    pub observed: Vec<Array>,
    /// Facts about the run, e.g. the seed; their order is kept.
    pub attributes: Vec<(String, String)>,
    /// Number of draws at the ends of longer chains that were left out, over all chains.
    pub dropped: usize,
}

/// A variable of each draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// Lengths of its axes; none for a scalar.
    pub dims: Vec<usize>,
    /// The values, `[chain][draw][element]`.
    pub values: Vec<f64>,
}

/// A number of each draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistic {
    /// The name, as in [`names`].
    pub name: String,
    /// The values, `[chain][draw]`.
    pub values: Vec<f64>,
}

/// An array that does not depend on the draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Array {
    /// The name.
    pub name: String,
    /// Lengths of its axes.
    pub dims: Vec<usize>,
    /// The elements, row-major.
    pub values: Vec<f64>,
}

/// A chain as a sampler makes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// The values, `[draw][element]`, with the elements of all variables in order.
    pub values: Vec<f64>,
    /// Statistics by name, a value for each draw.
    pub statistics: Vec<(String, Vec<f64>)>,
}

/// Draws or a file that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Text with a mistake; line and column count from 1. Column 0 is the whole line.
    Text {
        /// The line.
        line: usize,
        /// The field in the line.
        column: usize,
        /// The mistake.
        why: String,
    },
    /// A file without a necessary part.
    Missing {
        /// The part, e.g. "the group `posterior`".
        part: String,
    },
    /// A part with another shape than the rest.
    Shape {
        /// The part, and the difference.
        why: String,
    },
    /// A file that its library cannot read or write.
    Format {
        /// The message of the library.
        why: String,
    },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Text { line, column: 0, why } => write!(f, "line {line}: {why}"),
            Wrong::Text { line, column, why } => write!(f, "line {line}, column {column}: {why}"),
            Wrong::Missing { part } => write!(f, "it lacks {part}"),
            Wrong::Shape { why } | Wrong::Format { why } => f.write_str(why),
        }
    }
}

impl std::error::Error for Wrong {}

impl Wrong {
    pub(crate) fn shape(why: impl Into<String>) -> Wrong {
        Wrong::Shape { why: why.into() }
    }

    pub(crate) fn format(why: impl fmt::Display) -> Wrong {
        Wrong::Format { why: why.to_string() }
    }
}

impl Draws {
    /// Draws of variables with these names and dimensions. Chains of an interrupted run differ in
    /// length; all are cut to the shortest that is not empty, because diagnostics compare chains
    /// draw by draw. Chains without draws are left out.
    ///
    /// # Errors
    /// [`Wrong::Shape`], if a chain's values are no whole draws, or a statistic has another length.
    pub fn new(variables: &[(String, Vec<usize>)], chains: &[Chain]) -> Result<Draws, Wrong> {
        let sizes: Vec<usize> = variables.iter().map(|(_, dims)| dims.iter().product()).collect();
        let width: usize = sizes.iter().sum();
        let mut lengths = Vec::new();
        for (k, chain) in chains.iter().enumerate() {
            lengths.push(
                length(chain, width).map_err(|why| Wrong::shape(format!("chain {k} {why}")))?,
            );
        }
        let kept: Vec<&Chain> =
            chains.iter().zip(&lengths).filter(|(_, n)| **n > 0).map(|(chain, _)| chain).collect();
        let draws = lengths.iter().copied().filter(|n| *n > 0).min().unwrap_or(0);
        let dropped = lengths.iter().map(|n| n.saturating_sub(draws)).sum();
        let mut start = 0;
        let variables = variables.iter().zip(&sizes).map(|((name, dims), size)| {
            let mut values = Vec::with_capacity(kept.len() * draws * size);
            for chain in &kept {
                for draw in 0..draws {
                    let first = draw * width + start;
                    values.extend_from_slice(&chain.values[first..first + size]);
                }
            }
            start += size;
            Variable { name: name.clone(), dims: dims.clone(), values }
        });
        let variables = variables.collect();
        let statistics = statistics(&kept, draws)?;
        Ok(Draws { chains: kept.len(), draws, variables, statistics, dropped, ..Draws::default() })
    }

    /// Draws with the results of a definition, in the groups of ArviZ: variables whose names begin
    /// with `log_lik` are log likelihoods. They replace results of the same names.
    #[must_use]
    pub fn with_results(mut self, results: Draws) -> Draws {
        for variable in results.variables {
            let group = match variable.name.starts_with("log_lik") {
                true => &mut self.log_likelihood,
                false => &mut self.predictive,
            };
            group.retain(|known| known.name != variable.name);
            group.push(variable);
        }
        self
    }

    /// The variable of a name.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// The values of a statistic, `[chain][draw]`.
    pub fn statistic(&self, name: &str) -> Option<&[f64]> {
        let found = self.statistics.iter().find(|statistic| statistic.name == name);
        found.map(|statistic| &statistic.values[..])
    }

    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| &value[..])
    }

    /// The values of a statistic by chain.
    pub fn by_chain<'a>(&self, values: &'a [f64]) -> std::slice::Chunks<'a, f64> {
        values.chunks(self.draws.max(1))
    }

    /// All scalars, in order.
    pub fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        self.variables.iter().flat_map(|variable| variable.elements())
    }

    /// The draws of a scalar, `[chain][draw]`.
    pub fn scalar(&self, element: Element<'_>) -> Vec<f64> {
        let size = element.variable.size();
        element.variable.values.iter().skip(element.place).step_by(size).copied().collect()
    }

    /// Variables by name, or all if there are no names. A name with indices selects one element,
    /// e.g. `theta[0]`.
    ///
    /// # Errors
    /// The first name that no variable or element has.
    pub fn chosen<'a>(&'a self, names: &[&str]) -> Result<Vec<Element<'a>>, String> {
        if names.is_empty() {
            return Ok(self.elements().collect());
        }
        let mut chosen = Vec::new();
        for name in names {
            let found = chosen.len();
            match self.variable(name) {
                Some(variable) => chosen.extend(variable.elements()),
                None => chosen.extend(self.elements().find(|e| spelled_alike(&e.name(), name))),
            }
            if chosen.len() == found {
                return Err((*name).to_string());
            }
        }
        Ok(chosen)
    }

    /// Checks that all arrays have the lengths that their dimensions say.
    ///
    /// # Errors
    /// [`Wrong::Shape`], with the first that has not.
    pub fn check(&self) -> Result<(), Wrong> {
        let rows = self.chains * self.draws;
        let all = self.variables.iter().chain(&self.predictive).chain(&self.log_likelihood);
        for Variable { name, dims, values } in all {
            let expected = dims.iter().fold(rows, |size, length| size.saturating_mul(*length));
            if values.len() != expected {
                let found = values.len();
                return Err(Wrong::shape(format!("`{name}` has {found} values, not {expected}")));
            }
        }
        for Statistic { name, values } in &self.statistics {
            if values.len() != rows {
                let found = values.len();
                return Err(Wrong::shape(format!("`{name}` has {found} values, not {rows}")));
            }
        }
        Ok(())
    }
}

/// Number of draws of a chain, or its mistake.
fn length(chain: &Chain, width: usize) -> Result<usize, String> {
    let known = match width {
        0 => None,
        _ if !chain.values.len().is_multiple_of(width) => {
            let count = chain.values.len();
            return Err(format!("has {count} values, no multiple of the {width} of a draw"));
        }
        _ => Some(chain.values.len() / width),
    };
    let lengths = chain.statistics.iter().map(|(_, values)| values.len());
    let draws = known.or_else(|| lengths.clone().max()).unwrap_or(0);
    match chain.statistics.iter().find(|(_, values)| values.len() != draws) {
        Some((name, values)) => {
            Err(format!("has {draws} draws, but {} values of `{name}`", values.len()))
        }
        None => Ok(draws),
    }
}

fn statistics(chains: &[&Chain], draws: usize) -> Result<Vec<Statistic>, Wrong> {
    let Some(first) = chains.first() else { return Ok(Vec::new()) };
    let mut statistics = Vec::new();
    for (name, _) in &first.statistics {
        let mut values = Vec::with_capacity(chains.len() * draws);
        for chain in chains {
            let found = chain.statistics.iter().find(|(other, _)| other == name);
            let lacks = || Wrong::shape(format!("a chain lacks the statistic `{name}`"));
            values.extend_from_slice(&found.ok_or_else(lacks)?.1[..draws]);
        }
        statistics.push(Statistic { name: name.clone(), values });
    }
    Ok(statistics)
}

fn spelled_alike(a: &str, b: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    letters(a) == letters(b)
}

impl Variable {
    /// Number of elements.
    pub fn size(&self) -> usize {
        self.dims.iter().product()
    }

    /// The elements, row-major.
    pub fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        (0..self.size()).map(|place| Element { variable: self, place })
    }
}

/// A scalar of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element<'a> {
    /// The variable.
    pub variable: &'a Variable,
    /// The place in its row-major order.
    pub place: usize,
}

impl Element<'_> {
    /// Indices from 0.
    pub fn indices(&self) -> Vec<usize> {
        let mut rest = self.place;
        let mut indices: Vec<usize> = Vec::new();
        for length in self.variable.dims.iter().rev() {
            indices.push(rest % length);
            rest /= length;
        }
        indices.reverse();
        indices
    }

    /// The name with indices, e.g. `l[1,0]`.
    pub fn name(&self) -> String {
        let indices: Vec<String> = self.indices().iter().map(usize::to_string).collect();
        match &indices[..] {
            [] => self.variable.name.clone(),
            _ => format!("{}[{}]", self.variable.name, indices.join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<(String, Vec<usize>)> {
        vec![("mu".into(), vec![]), ("l".into(), vec![2, 2])]
    }

    fn chain(draws: usize, offset: f64) -> Chain {
        let values = (0..5 * draws).map(|k| offset + k as f64).collect();
        Chain { values, statistics: vec![("lp".into(), vec![offset; draws])] }
    }

    #[test]
    fn chains_are_cut_to_the_shortest() {
        let chains = [chain(3, 0.0), chain(2, 100.0), chain(0, 0.0)];
        let draws = Draws::new(&shapes(), &chains).expect("the shapes agree");
        assert_eq!((draws.chains, draws.draws, draws.dropped), (2, 2, 1));
        assert_eq!(draws.variables[0].values, [0.0, 5.0, 100.0, 105.0]);
        assert_eq!(draws.statistic("lp"), Some(&[0.0, 0.0, 100.0, 100.0][..]));
        let last = draws.elements().last().expect("there are elements");
        assert_eq!(
            (last.name(), draws.scalar(last)),
            ("l[1,1]".into(), vec![4.0, 9.0, 104.0, 109.0])
        );
        draws.check().expect("the arrays have their lengths");
    }

    #[test]
    fn mistakes_name_the_chain() {
        let mut broken = chain(2, 0.0);
        broken.values.pop();
        let check = |chain: &Chain| Draws::new(&shapes(), &[self::chain(2, 0.0), chain.clone()]);
        let message = check(&broken).expect_err("a value is missing").to_string();
        assert_eq!(message, "chain 1 has 9 values, no multiple of the 5 of a draw");
        let mut broken = chain(2, 0.0);
        broken.statistics[0].1.pop();
        let message = check(&broken).expect_err("a statistic is short").to_string();
        assert_eq!(message, "chain 1 has 2 draws, but 1 values of `lp`");
    }

    #[test]
    fn variables_and_elements_are_chosen_by_name() {
        let draws = Draws::new(&shapes(), &[chain(2, 0.0)]).expect("the shapes agree");
        let names = |chosen: Vec<Element>| chosen.iter().map(Element::name).collect::<Vec<_>>();
        assert_eq!(names(draws.chosen(&["l[1, 0]", "mu"]).expect("both exist")), ["l[1,0]", "mu"]);
        assert_eq!(draws.chosen(&["l"]).expect("it exists").len(), 4);
        assert_eq!(draws.chosen(&["nu"]).expect_err("there is no such name"), "nu");
    }
}
