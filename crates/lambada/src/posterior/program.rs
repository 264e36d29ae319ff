//! The program of a posterior: a text that calls the definition on values of its parameters that
//! come from coordinates, any reals. The compiler differentiates it like every other program.

use std::fmt::Write as _;

use super::space::Space;

/// The density by coordinates, with the logarithm of the Jacobian determinant.
pub(super) const DENSITY: &str = "density";
/// The density by coordinates without it: its maximum is that of the density of the values.
pub(super) const PLAIN: &str = "density_of_values";
/// The values of the coordinates.
pub(super) const VALUES: &str = "values";
/// The path of the program's own file in the import.
pub(super) const MODEL: &str = "<model>";

/// A parameter of the definition.
pub(super) struct Slot {
    /// Its name, an identifier.
    pub name: String,
    /// Where it lives; `None` for data.
    pub space: Option<Space<usize>>,
}

/// The text for a definition.
pub(super) fn text(entry: &str, slots: &[Slot]) -> String {
    let unknown = slots.iter().filter_map(|slot| Some((&slot.name, slot.space.as_ref()?)));
    let mut heads = String::new();
    let mut places = Places::default();
    let mut values = Vec::new();
    for (name, space) in unknown {
        let _ = write!(heads, " ({name} : {})", coordinates(space));
        let value = places.place(space, name);
        values.push((name, value));
    }
    let data = slots.iter().filter(|slot| slot.space.is_none());
    let data: String = data.map(|slot| format!(" {}", slot.name)).collect();
    let argument = |slot: &Slot| {
        let value = values.iter().find(|(name, _)| **name == slot.name);
        format!(" {}", value.map_or(slot.name.as_str(), |(_, value)| value))
    };
    let call: String = slots.iter().map(argument).collect();
    let call = format!("model.{entry}{call}");
    let steps = places.steps.concat();
    let logs: String = places.logs.iter().map(|log| format!(" + {log}")).collect();
    let values: Vec<&str> = values.iter().map(|(_, value)| &**value).collect();
    let values = values.join(", ");
    let space = if places.steps.is_empty() { "" } else { "import \"std/space\"\n" };
    format!(
        "{space}import \"{MODEL}\" as model\n\
         def {DENSITY}{heads}{data} : real =\n{steps}  {call}{logs}\n\
         def {PLAIN}{heads}{data} : real =\n{steps}  {call}\n\
         def {VALUES}{heads} =\n{steps}  ({values})\n"
    )
}

/// The type of the coordinates of a space.
fn coordinates(space: &Space<usize>) -> String {
    match space {
        Space::Real | Space::OneBased | Space::Discrete => "real".into(),
        Space::Of(kind, size) => {
            let sizes = kind.coordinates(*size);
            sizes.iter().map(|size| format!("[{size}]")).collect::<String>() + "real"
        }
        Space::Array(size, elem) => format!("[{size}]{}", coordinates(elem)),
        Space::Tuple(items) => {
            let items: Vec<String> = items.iter().map(coordinates).collect();
            format!("({})", items.join(", "))
        }
        Space::Record(fields) => {
            let field = |(label, space)| format!("{label} : {}", coordinates(space));
            let fields: Vec<String> = fields.iter().map(|(l, s)| field((l, s))).collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

/// Writes the way from coordinates to values.
#[derive(Default)]
struct Places {
    /// `let`s.
    steps: Vec<String>,
    /// Logarithms of Jacobian determinants.
    logs: Vec<String>,
    fresh: usize,
}

impl Places {
    /// An expression for the value whose coordinates `from` are.
    fn place(&mut self, space: &Space<usize>, from: &str) -> String {
        if space.is_free() {
            return from.to_string();
        }
        match space {
            Space::Real | Space::OneBased | Space::Discrete => from.to_string(),
            Space::Of(kind, size) => {
                let call = match kind.rank {
                    2 => format!("space.{}_of {size} {from}", kind.name),
                    _ => format!("space.{}_from {from}", kind.name),
                };
                let (value, log) = self.pair();
                self.steps.push(format!("  let ({value}, {log}) = {call} in\n"));
                self.logs.push(log);
                value
            }
            Space::Array(_, elem) => {
                self.fresh += 1;
                let element = format!("element_{}", self.fresh);
                let mut inner = Places { fresh: self.fresh, ..Places::default() };
                let value = inner.place(elem, &element);
                let (values, logs) = self.pair();
                self.fresh = self.fresh.max(inner.fresh);
                let steps: String = inner.steps.concat();
                let log = inner.logs.join(" + ");
                self.steps.push(format!(
                    "  let ({values}, {logs}) = unzip (for {element} in {from} =>\n  {steps}  ({value}, {log})) in\n"
                ));
                self.logs.push(format!("sum {logs}"));
                values
            }
            Space::Tuple(items) => {
                let items = items.iter().enumerate();
                let items: Vec<String> =
                    items.map(|(k, item)| self.place(item, &format!("{from}.{k}"))).collect();
                format!("({})", items.join(", "))
            }
            Space::Record(fields) => {
                let fields = fields.iter();
                let fields: Vec<String> = fields
                    .map(|(label, space)| {
                        format!("{label} = {}", self.place(space, &format!("{from}.{label}")))
                    })
                    .collect();
                format!("{{{}}}", fields.join(", "))
            }
        }
    }

    fn pair(&mut self) -> (String, String) {
        self.fresh += 1;
        (format!("value_{}", self.fresh), format!("log_{}", self.fresh))
    }
}
