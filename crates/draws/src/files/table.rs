//! Draws as a table: `chain`, `draw`, the statistics, whose names end in two underscores as those
//! of CmdStan do, and a column for each scalar.

use crate::draws::{Draws, Statistic, Variable, Wrong, names};
use crate::summary::listed;

/// Columns of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub names: Vec<String>,
    /// The columns, all of one length.
    pub columns: Vec<Vec<f64>>,
    /// Facts about the run.
    pub attributes: Vec<(String, String)>,
}

/// Names of statistics, and of the columns of CmdStan.
const CMDSTAN: [(&str, &str); 7] = [
    (names::LP, "lp__"),
    (names::ACCEPTANCE_RATE, "accept_stat__"),
    (names::STEP_SIZE, "stepsize__"),
    (names::TREE_DEPTH, "treedepth__"),
    (names::N_STEPS, "n_leapfrog__"),
    (names::DIVERGING, "divergent__"),
    (names::ENERGY, "energy__"),
];

const CHAIN: &str = "chain";
const DRAW: &str = "draw";

/// The attribute for [`Draws::dropped`].
pub(super) const DROPPED: &str = "dropped_draws";

/// Columns whose numbers are integers, so that files can say so.
#[cfg(feature = "parquet")]
pub(super) fn is_whole(name: &str) -> bool {
    matches!(name, CHAIN | DRAW | "treedepth__" | "n_leapfrog__" | "divergent__")
}

/// The table of draws.
pub(super) fn of(draws: &Draws) -> Table {
    let rows = draws.chains * draws.draws;
    let mut table = Table { attributes: attributes(draws), ..Table::default() };
    let length = draws.draws.max(1);
    table.add(CHAIN.into(), (0..rows).map(|row| (row / length) as f64).collect());
    table.add(DRAW.into(), (0..rows).map(|row| (row % length) as f64).collect());
    for Statistic { name, values } in &draws.statistics {
        let known = CMDSTAN.iter().find(|(of, _)| of == name);
        let name = known.map_or(format!("{name}__"), |(_, column)| (*column).to_string());
        table.add(name, values.clone());
    }
    draws.elements().for_each(|element| table.add(element.name(), draws.scalar(element)));
    table
}

/// The attributes, with the number of dropped draws if there are any.
pub(super) fn attributes(draws: &Draws) -> Vec<(String, String)> {
    let mut attributes = draws.attributes.clone();
    if draws.dropped > 0 {
        attributes.push((DROPPED.into(), draws.dropped.to_string()));
    }
    attributes
}

/// Takes the number of dropped draws out of the attributes.
pub(super) fn take_dropped(attributes: &mut Vec<(String, String)>) -> usize {
    let Some(k) = attributes.iter().position(|(name, _)| name == DROPPED) else { return 0 };
    attributes.remove(k).1.parse().unwrap_or(0)
}

impl Table {
    fn add(&mut self, name: String, values: Vec<f64>) {
        self.names.push(name);
        self.columns.push(values);
    }

    /// The draws of the table. A table without the column `chain` is one chain, as CmdStan writes
    /// it, and counts indices from 1: `theta.1` is `theta[0]`.
    pub fn draws(mut self) -> Result<Draws, Wrong> {
        let dropped = take_dropped(&mut self.attributes);
        let chain = self.names.iter().position(|name| name == CHAIN);
        let (order, lengths) = self.rows_by_chain(chain);
        let draws = lengths.iter().copied().min().unwrap_or(0);
        let mut starts = Vec::new();
        let mut start = 0;
        for length in &lengths {
            starts.push(start);
            start += length;
        }
        let column = |k: usize| -> Vec<f64> {
            let kept = starts.iter().flat_map(|start| &order[*start..start + draws]);
            kept.map(|row| self.columns[k][*row]).collect()
        };
        let mut statistics = Vec::new();
        let mut scalars: Vec<(Place, usize)> = Vec::new();
        for (k, name) in self.names.iter().enumerate() {
            if name == CHAIN || name == DRAW || name.is_empty() {
                continue;
            }
            match name.strip_suffix("__") {
                Some(own) => {
                    let known = CMDSTAN.iter().find(|(_, column)| column == name);
                    let name = known.map_or(own, |(of, _)| of).to_string();
                    statistics.push(Statistic { name, values: column(k) });
                }
                None => scalars.push((Place::of(name, chain.is_none()), k)),
            }
        }
        let variables = variables(&scalars, column)?;
        let dropped = dropped + lengths.iter().map(|length| length - draws).sum::<usize>();
        let attributes = self.attributes.clone();
        let chains = lengths.len();
        Ok(Draws { chains, draws, variables, statistics, attributes, dropped, ..Draws::default() })
    }

    /// Rows, those of one chain after those of another, and numbers of rows.
    fn rows_by_chain(&self, chain: Option<usize>) -> (Vec<usize>, Vec<usize>) {
        let rows = self.columns.first().map_or(0, Vec::len);
        let Some(chain) = chain else {
            return ((0..rows).collect(), if rows > 0 { vec![rows] } else { Vec::new() });
        };
        let mut order: Vec<usize> = (0..rows).collect();
        let number = |row: &usize| self.columns[chain][*row];
        order.sort_by(|a, b| number(a).total_cmp(&number(b)));
        let lengths = order.chunk_by(|a, b| number(a) == number(b)).map(<[usize]>::len).collect();
        (order, lengths)
    }
}

/// A scalar's variable and indices.
struct Place {
    variable: String,
    indices: Vec<usize>,
}

impl Place {
    fn of(name: &str, from_one: bool) -> Place {
        let (head, tail) = match name.split_once('[') {
            Some((head, tail)) => (head, tail.trim_end().strip_suffix(']')),
            None if from_one => match name.split_once('.') {
                Some((head, tail)) => (head, Some(tail)),
                None => (name, None),
            },
            None => (name, None),
        };
        let first = usize::from(from_one);
        let index = |text: &str| text.trim().parse::<usize>().ok()?.checked_sub(first);
        let indices = tail.and_then(|tail| tail.split([',', '.']).map(index).collect());
        match indices {
            Some(indices) => Place { variable: head.into(), indices },
            None => Place { variable: name.into(), indices: Vec::new() },
        }
    }
}

/// Indices of a scalar, and its column.
type Scalar<'a> = (&'a [usize], usize);

/// Variables from the columns of their scalars.
fn variables(
    scalars: &[(Place, usize)],
    column: impl Fn(usize) -> Vec<f64>,
) -> Result<Vec<Variable>, Wrong> {
    let mut variables: Vec<(&str, Vec<Scalar<'_>>)> = Vec::new();
    let mut numbers = std::collections::HashMap::new();
    for (place, k) in scalars {
        let number = *numbers.entry(&place.variable).or_insert_with(|| {
            variables.push((&place.variable, Vec::new()));
            variables.len() - 1
        });
        variables[number].1.push((&place.indices, *k));
    }
    variables.into_iter().map(|(name, elements)| variable(name, &elements, &column)).collect()
}

fn variable(
    name: &str,
    elements: &[Scalar<'_>],
    column: impl Fn(usize) -> Vec<f64>,
) -> Result<Variable, Wrong> {
    let rank = elements[0].0.len();
    if elements.iter().any(|(indices, _)| indices.len() != rank) {
        return Err(Wrong::shape(format!(
            "the columns of `{name}` differ in the number of indices"
        )));
    }
    let length = |axis| elements.iter().map(|(indices, _)| indices[axis] + 1).max().unwrap_or(0);
    let dims: Vec<usize> = (0..rank).map(length).collect();
    let size = dims.iter().try_fold(1_usize, |size, length| size.checked_mul(*length));
    // Also guards the allocation against an index that is only large.
    if size != Some(elements.len()) {
        let part = format!("some elements of `{name}`: there are {}", elements.len());
        let lengths: Vec<String> = dims.iter().map(usize::to_string).collect();
        return Err(Wrong::Missing { part: format!("{part} of {}", lengths.join(" × ")) });
    }
    let mut columns: Vec<Option<Vec<f64>>> = vec![None; elements.len()];
    for (indices, k) in elements {
        let place = indices.iter().zip(&dims).fold(0, |place, (k, length)| place * length + k);
        if columns[place].replace(column(*k)).is_some() {
            return Err(Wrong::shape(format!(
                "two columns are the same element of {}",
                listed([name].into_iter())
            )));
        }
    }
    let columns: Vec<Vec<f64>> = columns.into_iter().flatten().collect();
    let rows = columns[0].len();
    let values = (0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
    Ok(Variable { name: name.into(), dims, values })
}
