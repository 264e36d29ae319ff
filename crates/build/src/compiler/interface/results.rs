//! The results of a function: the value and the derivative.

use lambada::Operator;
use lambada_normalize::Layout;

use super::super::describe::{Dims, Output, Parts, Role, Whole};
use super::super::leaves::{Leaf, LeafKind, components, leaves};
use super::super::request::suffix;
use super::super::sizes::Extent;
use super::parts::parts;
use super::{Builder, constructors, part_of};

impl Builder<'_> {
    /// Adds all results.
    pub(super) fn results(&mut self) {
        let layout = &self.arrays.normalized.result;
        let wrt: Vec<String> = self.wrt().into_iter().map(|part| part.name).collect();
        let given: Vec<(Leaf, Role, String)> = match self.target.operator {
            Operator::Value => values(leaves(layout, "value", self.order)),
            Operator::Jvp => {
                let (mut parts, columns) = self.pair(layout, "value");
                let tangents = parts.pop().unwrap_or_default();
                let mut all = values(parts.pop().unwrap_or_default());
                all.extend(derivative(tangents, |leaf| {
                    let of = part_of("value", &leaf.name);
                    (Role::Tangent(of), format!("{}_tan", leaf.name))
                }));
                all.extend(values(columns));
                all
            }
            Operator::Grad | Operator::Vjp => {
                let (mut parts, columns) = self.pair(layout, "value");
                let point = parts.pop().unwrap_or_default();
                let mut all = values(parts.pop().unwrap_or_default());
                let cotangents = self.renamed(point, &wrt);
                all.extend(derivative(cotangents, |leaf| {
                    (Role::Cotangent(leaf.name.clone()), format!("{}_ct", leaf.name))
                }));
                all.extend(values(columns));
                all
            }
            Operator::Jacobian | Operator::Hessian => {
                let name = suffix(self.target.operator).trim_start_matches('_');
                let names = ["value".to_string(), name.to_string()];
                let (parts, columns) = components(layout, &names, "rows", self.order);
                values(parts.into_iter().flatten().chain(columns).collect())
            }
        };
        self.rows("rows", layout);
        let types = &self.arrays.optimized.results;
        self.results = types.iter().map(|ty| (ty.dims.len(), None)).collect();
        for (leaf, role, hint) in given {
            self.output(leaf, role, &hint);
        }
        self.wholes(layout, &wrt);
    }

    /// Adds the value and the derivative as values of the language.
    fn wholes(&mut self, layout: &Layout, wrt: &[String]) {
        let place = |leaf: usize| self.results.get(leaf).and_then(|(_, place)| *place);
        let mut next = 0;
        let all = parts(layout.shape(), self.order, &mut next, &place);
        let columns: Vec<usize> = (next..self.results.len()).filter_map(place).collect();
        let (value, derivative) = match (self.target.operator, all) {
            (Operator::Value, all) => (all, None),
            (_, Parts::Tuple(items)) => {
                let mut items = items.into_iter();
                (items.next().unwrap_or(Parts::Leaf(None)), items.next())
            }
            (_, all) => (all, None),
        };
        let derivative =
            derivative.map(|derivative| match (self.target.operator, wrt, derivative) {
                (Operator::Grad | Operator::Vjp, [name], derivative) => {
                    Parts::Record(vec![(name.clone(), derivative)])
                }
                (Operator::Grad | Operator::Vjp, names, Parts::Tuple(items)) => {
                    Parts::Record(names.iter().cloned().zip(items).collect())
                }
                (_, _, derivative) => derivative,
            });
        let whole = |name: &str, parts| {
            let (name, columns) = (name.to_string(), Vec::new());
            Whole { name, parts, columns }
        };
        let name = match self.target.operator {
            Operator::Value | Operator::Jvp => "tangent",
            Operator::Grad | Operator::Vjp => "gradient",
            Operator::Jacobian => "jacobian",
            Operator::Hessian => "hessian",
        };
        self.wholes.push(whole("value", value));
        self.wholes.extend(derivative.map(|derivative| whole(name, derivative)));
        if !columns.is_empty() {
            let (name, parts) = ("rows".to_string(), Parts::Leaf(None));
            self.wholes.push(Whole { name, parts, columns });
        }
    }

    /// The leaves of the value and of a derivative.
    fn pair(&self, layout: &Layout, second: &str) -> (Vec<Vec<Leaf>>, Vec<Leaf>) {
        components(layout, &["value".to_string(), second.to_string()], "rows", self.order)
    }

    /// Renames the leaves of a cotangent after the parameters.
    fn renamed(&self, point: Vec<Leaf>, names: &[String]) -> Vec<Leaf> {
        let rename = |leaf: Leaf, name: &str, rest: &str| {
            let rest = leaf.name.strip_prefix(rest).unwrap_or_default().to_string();
            Leaf { name: format!("{name}{rest}"), ..leaf }
        };
        if let [name] = names {
            return point.into_iter().map(|leaf| rename(leaf, name, "value")).collect();
        }
        let of = |leaf: &Leaf| {
            let rest = leaf.name.strip_prefix("value_").unwrap_or_default();
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<usize>().ok().filter(|k| *k < names.len())
        };
        let named = |leaf: Leaf| match of(&leaf) {
            Some(k) => rename(leaf, &names[k], &format!("value_{k}")),
            None => leaf,
        };
        point.into_iter().map(named).collect()
    }

    fn output(&mut self, leaf: Leaf, role: Role, hint: &str) {
        let name = self.names.fresh(hint);
        let dims = &self.arrays.optimized.results[leaf.place].dims;
        let known: Option<Vec<Extent>> = dims.iter().map(|dim| self.known(dim)).collect();
        let dims = match known {
            Some(known) => Dims::Known(known),
            None => Dims::Found(self.found(&name, dims.len())),
        };
        self.results[leaf.place].1 = Some(self.outputs.len());
        let (elem, constructors) = (leaf.elem, constructors(&leaf));
        self.outputs.push(Output { name, role, elem, dims, constructors });
    }

    /// Names for the sizes of a result that the call determines.
    fn found(&mut self, name: &str, rank: usize) -> Vec<String> {
        match rank {
            1 => vec![self.names.fresh(&format!("{name}_size"))],
            _ => (0..rank).map(|k| self.names.fresh(&format!("{name}_size_{k}"))).collect(),
        }
    }
}

/// The leaves of the value.
fn values(leaves: Vec<Leaf>) -> Vec<(Leaf, Role, String)> {
    let value = |leaf: Leaf| {
        let role = match leaf.kind {
            LeafKind::Data | LeafKind::Tag(_) => Role::Value(part_of("value", &leaf.name)),
            LeafKind::Number => Role::Rows("value".to_string()),
            LeafKind::Column => Role::Rows("rows".to_string()),
        };
        let name = leaf.name.clone();
        (leaf, role, name)
    };
    leaves.into_iter().map(value).collect()
}

/// The real leaves of a tangent or cotangent, and the row numbers.
fn derivative(
    leaves: Vec<Leaf>,
    name: impl Fn(&Leaf) -> (Role, String),
) -> Vec<(Leaf, Role, String)> {
    let shown = |leaf: &Leaf| leaf.is_real() || leaf.kind == LeafKind::Number;
    let named = |leaf: Leaf| {
        let (role, hint) = name(&leaf);
        (leaf, role, hint)
    };
    leaves.into_iter().filter(shown).map(named).collect()
}
