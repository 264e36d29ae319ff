//! The definitions and derivatives that `lambada build` offers, whose order on the command line
//! matters.

use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args as ArgGroup, Command as Interface, FromArgMatches};
use lambada::Operator;
use lambada_build::Entry;

use super::names;

/// The definitions and derivatives of a library, in the order of the command line.
#[derive(Clone, Debug)]
pub struct Offered {
    /// The definitions.
    pub entries: Vec<Entry>,
}

/// The options for derivatives.
const DERIVATIVES: [(&str, Operator, &str); 3] = [
    ("grad", Operator::Grad, "Offer value and gradient, by these parameters"),
    (
        "jvp",
        Operator::Jvp,
        "Offer value and tangent (forward mode), for tangents of these parameters",
    ),
    ("vjp", Operator::Vjp, "Offer value and cotangents (reverse mode) of these parameters"),
];

impl ArgGroup for Offered {
    fn augment_args(interface: Interface) -> Interface {
        let entries = Arg::new("entries")
            .value_name("ENTRY")
            .num_args(1..)
            .required(true)
            .action(ArgAction::Append)
            .help("The definitions");
        let derivative = |(name, _, help): (&'static str, Operator, &'static str)| {
            Arg::new(name)
                .long(name)
                .value_name("NAMES")
                .value_parser(names)
                .action(ArgAction::Append)
                .help(help)
        };
        interface.arg(entries).args(DERIVATIVES.map(derivative))
    }

    fn augment_args_for_update(interface: Interface) -> Interface {
        Offered::augment_args(interface)
    }
}

/// An item of the command line.
enum Word {
    Entry(String),
    Derivative(Operator, String),
}

impl FromArgMatches for Offered {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Offered, Error> {
        let of = |name: &str| -> Vec<(usize, String)> {
            let places = matches.indices_of(name).into_iter().flatten();
            places.zip(matches.get_many(name).into_iter().flatten().cloned()).collect()
        };
        let mut words: Vec<(usize, Word)> =
            of("entries").into_iter().map(|(k, name)| (k, Word::Entry(name))).collect();
        for (name, operator, _) in DERIVATIVES {
            let options = of(name).into_iter();
            words.extend(options.map(|(k, names)| (k, Word::Derivative(operator, names))));
        }
        words.sort_by_key(|(k, _)| *k);
        Ok(Offered { entries: grouped(words.into_iter().map(|(_, word)| word)) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Offered::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Groups derivatives with the run of definitions before them; derivatives before all definitions
/// belong to the first run.
fn grouped(words: impl Iterator<Item = Word>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let (mut first, mut open, mut early) = (0, false, Vec::new());
    for word in words {
        match word {
            Word::Entry(name) => {
                if !open {
                    (first, open) = (entries.len(), true);
                }
                let mut entry = Entry::new(name);
                if first == 0 {
                    let all: &[(Operator, String)] = &early;
                    all.iter().for_each(|(operator, names)| entry.derive(*operator, wrt(names)));
                }
                entries.push(entry);
            }
            Word::Derivative(operator, names) if entries.is_empty() => {
                early.push((operator, names))
            }
            Word::Derivative(operator, names) => {
                open = false;
                entries[first..].iter_mut().for_each(|entry| entry.derive(operator, wrt(&names)));
            }
        }
    }
    entries
}

/// The parameters of these names; `None` for `all`, which selects all that hold reals.
fn wrt(names: &str) -> Option<Vec<String>> {
    (names != "all").then(|| lambada::split_names(names))
}
