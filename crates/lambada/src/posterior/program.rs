//! The program of a posterior: a text that calls the definition on values of its parameters that
//! come from coordinates, any reals. The compiler differentiates it like every other program.

use std::fmt::Write as _;

use crate::space::Space;

/// The path of the program's own file in the import.
pub(super) const MODEL: &str = "<model>";

/// Kind of an optimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The smallest result of the definition.
    Minimum,
    /// The largest: the mode of a log density of values.
    Maximum,
    /// The mode of the log density of coordinates, in which Jacobian determinants count.
    ModeOfCoordinates,
}

impl Goal {
    /// The function that is minimized.
    fn loss(self) -> String {
        match self {
            Goal::Minimum => Part::Plain.name().into(),
            Goal::Maximum => format!("-{}", Part::Plain.name()),
            Goal::ModeOfCoordinates => format!("-{}", Part::Density.name()),
        }
    }

    /// The part that the others of an optimum are made of.
    pub(super) fn density(self) -> Part {
        match self {
            Goal::Minimum | Goal::Maximum => Part::Plain,
            Goal::ModeOfCoordinates => Part::Density,
        }
    }
}

/// A definition of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The density by coordinates, with the logarithm of the Jacobian determinant.
    Density,
    /// The density by coordinates without it: its maximum is that of the density of the values.
    Plain,
    /// The values of coordinates.
    Values,
    /// The coordinates of values.
    Coordinates,
    /// An optimum, from coordinates: those of the optimum, the value, the norm of the gradient, and
    /// 1 if the search converged.
    Optimum(Goal),
    /// The Hessian of the loss of an optimum times a vector of coordinates.
    Curvature(Goal),
    /// The derivative of `Values` along a vector of coordinates.
    Slopes,
}

impl Part {
    /// The name of the definition. Parameters of models do not end in a prime, so none hides it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Part::Density => "density'",
            Part::Plain => "density_of_values'",
            Part::Values => "values'",
            Part::Coordinates => "coordinates'",
            Part::Optimum(_) => "optimum'",
            Part::Curvature(_) => "curvature'",
            Part::Slopes => "slopes'",
        }
    }

    /// Whether it takes the data.
    pub(super) fn takes_data(self) -> bool {
        !matches!(self, Part::Values | Part::Coordinates | Part::Slopes)
    }

    /// Whether it takes a vector of coordinates beside the coordinates.
    pub(super) fn takes_vector(self) -> bool {
        matches!(self, Part::Curvature(_) | Part::Slopes)
    }
}

/// A parameter of the definition.
pub(super) struct Slot {
    /// Its name, an identifier.
    pub name: String,
    /// Its space; `None` for data.
    pub space: Option<Space<usize>>,
    /// The type of data with the values of its sizes, if it can be written.
    pub ty: Option<String>,
}

/// The text of the program for a definition, with these parts.
pub(super) fn text(entry: &str, slots: &[Slot], parts: &[Part]) -> String {
    let unknown: Vec<(&str, &Space<usize>)> =
        slots.iter().filter_map(|slot| Some((&*slot.name, slot.space.as_ref()?))).collect();
    let mut places = Places::default();
    let values: Vec<String> =
        unknown.iter().map(|(name, space)| places.place(space, name)).collect();
    let head_of = |ending: &str, ty: fn(&Space<usize>) -> String| -> String {
        unknown.iter().map(|(name, space)| format!(" ({name}{ending} : {})", ty(space))).collect()
    };
    let data = slots.iter().filter(|slot| slot.space.is_none());
    let typed_data: String = data
        .clone()
        .map(|slot| match &slot.ty {
            Some(ty) => format!(" ({} : {ty})", slot.name),
            None => format!(" {}", slot.name),
        })
        .collect();
    let data: String = data.map(|slot| format!(" {}", slot.name)).collect();
    let argument = |slot: &Slot| {
        let own = unknown.iter().position(|(name, _)| *name == slot.name);
        format!(" {}", own.map_or(&slot.name, |k| &values[k]))
    };
    let call = format!("model.{entry}{}", slots.iter().map(argument).collect::<String>());
    let names = |ending: &str| -> String {
        let names: Vec<String> =
            unknown.iter().map(|(name, _)| format!("{name}{ending}")).collect();
        format!("({})", names.join(", "))
    };
    let point = names("");
    let arguments: String = unknown.iter().map(|(name, _)| format!(" {name}")).collect();
    let steps = places.steps.concat();
    let logs: String = places.logs.iter().map(|log| format!(" + {log}")).collect();
    let head = head_of("", coordinates);
    let vector = head_of(VECTOR, coordinates);
    let mut out = String::new();
    if !places.steps.is_empty() {
        out.push_str("import \"std/space\"\n");
    }
    if parts.iter().any(|part| matches!(part, Part::Optimum(_))) {
        out.push_str("import \"std/optimize\"\n");
    }
    let _ = writeln!(out, "import \"{MODEL}\" as model");
    for part in parts {
        let name = part.name();
        let _ = match part {
            Part::Density => {
                writeln!(out, "def {name}{head}{typed_data} : real =\n{steps}  {call}{logs}")
            }
            Part::Plain => writeln!(out, "def {name}{head}{typed_data} : real =\n{steps}  {call}"),
            Part::Values => {
                writeln!(out, "def {name}{head} =\n{steps}  ({})", values.join(", "))
            }
            Part::Coordinates => {
                let head = head_of("", values_type);
                let from = unknown.iter().map(|(name, space)| coordinates_of(space, name, 0));
                writeln!(out, "def {name}{head} = ({})", from.collect::<Vec<_>>().join(", "))
            }
            Part::Optimum(goal) => writeln!(
                out,
                "def {name}{head}{typed_data} =\n  \
                 let found' = optimize.lbfgs (\\{point} -> {}{arguments}{data}) {point} in\n  \
                 (found'.x, found'.value, found'.gradient_norm, if found'.converged then 1.0 else 0.0)",
                goal.loss()
            ),
            Part::Curvature(goal) => writeln!(
                out,
                "def {name}{head}{vector}{typed_data} =\n  \
                 (jvp (\\{point} -> grad (\\{point} -> {}{arguments}{data}) {point}) {point} {}).1",
                goal.loss(),
                names(VECTOR)
            ),
            Part::Slopes => writeln!(
                out,
                "def {name}{head}{vector} = (jvp (\\{point} -> {}{arguments}) {point} {}).1",
                Part::Values.name(),
                names(VECTOR)
            ),
        };
    }
    out
}

/// The end of the names of vectors of coordinates.
const VECTOR: &str = "_vector";

/// The type of the values of a space.
pub(super) fn values_type(space: &Space<usize>) -> String {
    match space {
        Space::Of(kind, size) => format!("[{size}]").repeat(kind.rank) + "real",
        Space::OneBased => "int".into(),
        _ => typed(space, values_type),
    }
}

/// The coordinates of a value.
fn coordinates_of(space: &Space<usize>, from: &str, depth: usize) -> String {
    if space.is_free() {
        return from.to_string();
    }
    match space {
        Space::Real | Space::OneBased | Space::Discrete => from.to_string(),
        Space::Of(kind, _) => format!("space.{}_to {from}", kind.name),
        Space::Array(_, elem) => {
            let element = format!("element_{depth}");
            format!("(for {element} in {from} => {})", coordinates_of(elem, &element, depth + 1))
        }
        Space::Tuple(items) => {
            let items = items.iter().enumerate();
            let items = items.map(|(k, item)| coordinates_of(item, &format!("{from}.{k}"), depth));
            format!("({})", items.collect::<Vec<_>>().join(", "))
        }
        Space::Record(fields) => {
            let fields = fields.iter().map(|(label, space)| {
                format!("{label} = {}", coordinates_of(space, &format!("{from}.{label}"), depth))
            });
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The type of the coordinates of a space.
fn coordinates(space: &Space<usize>) -> String {
    match space {
        Space::Of(kind, size) => {
            let sizes = kind.coordinates(*size);
            sizes.iter().map(|size| format!("[{size}]")).collect::<String>() + "real"
        }
        _ => typed(space, coordinates),
    }
}

/// The type of a space whose parts have the types `of`.
fn typed(space: &Space<usize>, of: fn(&Space<usize>) -> String) -> String {
    match space {
        Space::Real | Space::Of(..) | Space::OneBased | Space::Discrete => "real".into(),
        Space::Array(size, elem) => format!("[{size}]{}", of(elem)),
        Space::Tuple(items) => {
            format!("({})", items.iter().map(of).collect::<Vec<_>>().join(", "))
        }
        Space::Record(fields) => {
            let fields = fields.iter().map(|(label, space)| format!("{label} : {}", of(space)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
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
