//! NetCDF-4 as ArviZ lays out inference data: the groups `posterior`, `sample_stats`,
//! `posterior_predictive`, `log_likelihood` and `observed_data`, whose dimensions are `chain`,
//! `draw`, and `theta_dim_0` for the first axis of `theta`.

use super::hdf5::{Attribute, Dataset, File, Group, Numbers, Object, write as container};
use super::table::{DROPPED, attributes, take_dropped};
use crate::draws::{Array, Draws, Statistic, Variable, Wrong, names};

const POSTERIOR: &str = "posterior";
const STATISTICS: &str = "sample_stats";
const PREDICTIVE: &str = "posterior_predictive";
const LIKELIHOOD: &str = "log_likelihood";
const OBSERVED: &str = "observed_data";

/// Elements of a variable beyond which a file is broken.
const WIDEST: usize = 1 << 28;

/// The file of draws.
pub(super) fn write(draws: &Draws) -> Result<Vec<u8>, Wrong> {
    let mut groups = vec![of_variables(POSTERIOR, draws, &draws.variables)];
    if !draws.statistics.is_empty() {
        groups.push(statistics(draws));
    }
    for (name, variables) in [(PREDICTIVE, &draws.predictive), (LIKELIHOOD, &draws.log_likelihood)]
    {
        if !variables.is_empty() {
            groups.push(of_variables(name, draws, variables));
        }
    }
    if !draws.observed.is_empty() {
        let mut group = Builder::new(OBSERVED);
        for Array { name, dims, values } in &draws.observed {
            group.add(name, &[], dims, Numbers::Real(values.clone()));
        }
        groups.push(group.group);
    }
    if let Some(group) = groups.iter().find(|group| references(group) > usize::from(u16::MAX)) {
        return Err(Wrong::shape(format!("the group `{}` has too many variables", group.name)));
    }
    let texts = attributes(draws).into_iter().map(|(name, value)| (name, Attribute::Text(value)));
    let texts: Vec<_> = texts.collect();
    // ArviZ shows those of the groups; others read those of the root.
    groups.iter_mut().take(2).for_each(|group| group.attributes.extend(texts.clone()));
    Ok(container(&Group { attributes: texts, groups, ..Group::default() }))
}

fn references(group: &Group) -> usize {
    group.datasets.iter().map(|dataset| dataset.axes.len()).sum()
}

fn of_variables(name: &str, draws: &Draws, variables: &[Variable]) -> Group {
    let mut group = Builder::new(name);
    let rows = [("chain", draws.chains), ("draw", draws.draws)];
    for Variable { name, dims, values } in variables {
        group.add(name, &rows, dims, Numbers::Real(values.clone()));
    }
    group.group
}

fn statistics(draws: &Draws) -> Group {
    let mut group = Builder::new(STATISTICS);
    let rows = [("chain", draws.chains), ("draw", draws.draws)];
    for Statistic { name, values } in &draws.statistics {
        let numbers = match &name[..] {
            names::DIVERGING => Numbers::Byte(values.iter().map(|x| i8::from(*x != 0.0)).collect()),
            names::TREE_DEPTH | names::N_STEPS => {
                Numbers::Int(values.iter().map(|x| *x as i64).collect())
            }
            _ => Numbers::Real(values.clone()),
        };
        group.add(name, &rows, &[], numbers);
        if name == names::DIVERGING {
            // How xarray marks truth values.
            let last = group.group.datasets.last_mut();
            let mark = ("dtype".to_string(), Attribute::Text("bool".into()));
            last.into_iter().for_each(|dataset| dataset.attributes.push(mark.clone()));
        }
    }
    group.group
}

/// A group whose dimensions have coordinates that count from 0.
struct Builder {
    group: Group,
}

impl Builder {
    fn new(name: &str) -> Builder {
        Builder { group: Group { name: name.into(), ..Group::default() } }
    }

    /// The scale of a dimension, new if there is none of this name.
    fn scale(&mut self, name: &str, length: usize) -> usize {
        let datasets = &mut self.group.datasets;
        if let Some(k) = datasets.iter().position(|dataset| dataset.scale && dataset.name == name) {
            return k;
        }
        datasets.push(Dataset {
            name: name.into(),
            dims: vec![length],
            numbers: Numbers::Int((0..length as i64).collect()),
            scale: true,
            axes: Vec::new(),
            attributes: Vec::new(),
        });
        datasets.len() - 1
    }

    fn add(&mut self, name: &str, rows: &[(&str, usize)], dims: &[usize], numbers: Numbers) {
        let mut axes: Vec<usize> =
            rows.iter().map(|(name, length)| self.scale(name, *length)).collect();
        for (axis, length) in dims.iter().enumerate() {
            axes.push(self.scale(&format!("{name}_dim_{axis}"), *length));
        }
        let dims = rows.iter().map(|(_, length)| *length).chain(dims.iter().copied()).collect();
        let name = name.into();
        let attributes = Vec::new();
        self.group.datasets.push(Dataset { name, dims, numbers, scale: false, axes, attributes });
    }
}

/// The draws of a file.
pub(super) fn read(bytes: &[u8]) -> Result<Draws, Wrong> {
    let file = File::of(bytes)?;
    let root = file.root()?;
    let links = root.links()?;
    let group = |name: &str| match links.iter().find(|(found, _)| found == name) {
        Some((_, address)) => file.object(*address).map(Some),
        None => Ok(None),
    };
    let Some(posterior) = group(POSTERIOR)? else {
        return Err(Wrong::Missing { part: format!("the group `{POSTERIOR}`") });
    };
    let mut draws = Draws::default();
    let (rows, variables) = of_draws(file, &posterior, POSTERIOR, None)?;
    (draws.chains, draws.draws) = rows.unwrap_or((0, 0));
    draws.variables = variables;
    if let Some(group) = group(STATISTICS)? {
        let (_, variables) = of_draws(file, &group, STATISTICS, rows)?;
        for Variable { name, dims, values } in variables {
            if dims.is_empty() {
                draws.statistics.push(Statistic { name: renamed(name), values });
            }
        }
    }
    for (name, variables) in
        [(PREDICTIVE, &mut draws.predictive), (LIKELIHOOD, &mut draws.log_likelihood)]
    {
        if let Some(group) = group(name)? {
            *variables = of_draws(file, &group, name, rows)?.1;
        }
    }
    if let Some(group) = group(OBSERVED)? {
        for (name, array) in arrays(file, &group)? {
            let place = |wrong| within(wrong, &name, OBSERVED);
            let dims = array.dims()?.unwrap_or_default();
            let values = array.numbers().map_err(place)?;
            draws.observed.push(Array { name, dims, values });
        }
    }
    for object in [&root, &posterior] {
        for (name, value) in object.attributes()? {
            let value = match value {
                Attribute::Text(text) => text,
                Attribute::Int(n) => n.to_string(),
                Attribute::Real(x) => x.to_string(),
                Attribute::Objects(_) => continue,
            };
            if !name.starts_with('_') && draws.attribute(&name).is_none() {
                draws.attributes.push((name, value));
            }
        }
    }
    draws.dropped = take_dropped(&mut draws.attributes);
    debug_assert!(draws.attribute(DROPPED).is_none());
    Ok(draws)
}

/// Older names of statistics that ArviZ has had.
fn renamed(name: String) -> String {
    match &name[..] {
        "acceptance_prob" | "accept_stat" | "mean_tree_accept" => names::ACCEPTANCE_RATE.into(),
        "log_density" => names::LP.into(),
        "treedepth" => names::TREE_DEPTH.into(),
        "divergent" => names::DIVERGING.into(),
        _ => name,
    }
}

type Rows = Option<(usize, usize)>;

/// Numbers of chains and draws of a group, and its variables.
fn of_draws(
    file: File<'_>,
    group: &Object<'_>,
    place: &str,
    known: Rows,
) -> Result<(Rows, Vec<Variable>), Wrong> {
    let mut rows = known;
    let mut variables = Vec::new();
    for (name, array) in arrays(file, group)? {
        let dims = array.dims()?.unwrap_or_default();
        let [chains, draws, rest @ ..] = &dims[..] else {
            // Warm-up adapts some numbers for each chain only.
            continue;
        };
        let size = rest.iter().try_fold(1_usize, |size, length| size.checked_mul(*length));
        if size.is_none_or(|size| size > WIDEST) {
            return Err(Wrong::format(format!("`{name}` in `{place}` is too large")));
        }
        let here = (*chains, *draws);
        if *rows.get_or_insert(here) != here {
            let (chains, draws) = rows.unwrap_or(here);
            return Err(Wrong::shape(format!(
                "`{name}` in `{place}` has {} chains of {} draws, where others have {chains} of {draws}",
                here.0, here.1
            )));
        }
        let values = array.numbers().map_err(|wrong| within(wrong, &name, place))?;
        variables.push(Variable { name, dims: rest.to_vec(), values });
    }
    Ok((rows, variables))
}

/// The mistake, with its variable.
fn within(wrong: Wrong, name: &str, group: &str) -> Wrong {
    Wrong::format(format!("`{name}` in `{group}`: {wrong}"))
}

/// Arrays of numbers that are no coordinates.
fn arrays<'a>(file: File<'a>, group: &Object<'a>) -> Result<Vec<(String, Object<'a>)>, Wrong> {
    let mut arrays = Vec::new();
    for (name, address) in group.links()? {
        let object = file.object(address)?;
        if object.dims()?.is_none() {
            continue;
        }
        let scale = |(name, value): &(String, Attribute)| {
            name == "CLASS" && *value == Attribute::Text("DIMENSION_SCALE".into())
        };
        if object.is_numeric() && !object.attributes()?.iter().any(scale) {
            arrays.push((name, object));
        }
    }
    Ok(arrays)
}
