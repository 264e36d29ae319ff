//! The options that a command line gives, for processes that do a part of its work.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{CommandFactory as _, FromArgMatches as _};

use super::Args;

/// Options that are about this process: its messages, and limits that children have of their own.
const OWN: [&str; 3] = ["color", "timings", "max_memory"];

impl Args {
    /// Reads a command line, whose first word is the name of the program.
    ///
    /// # Errors
    /// Wrong command lines, and those that ask for help.
    pub fn of(words: impl IntoIterator<Item = OsString>) -> Result<Args, clap::Error> {
        let mut command = Args::command();
        let matches = command.try_get_matches_from_mut(words)?;
        let args = Args::from_arg_matches(&matches);
        let args = args.map_err(|error| error.format(&mut command))?;
        let mut given = Vec::new();
        for option in command.get_arguments() {
            let id = option.get_id();
            let is_given = matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
            let is_meant = option.is_global_set() && !OWN.contains(&id.as_str());
            let (true, true, Some(name)) = (is_given, is_meant, option.get_long()) else {
                continue;
            };
            given.push(format!("--{name}").into());
            if option.get_action().takes_values() {
                given
                    .extend(matches.get_raw(id.as_str()).into_iter().flatten().map(OsString::from));
            }
        }
        Ok(Args { given, ..args })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(words: &[&str]) -> Vec<OsString> {
        let words = ["lambada", "play"].iter().chain(words).map(OsString::from);
        Args::of(words).expect("a command line").given
    }

    #[test]
    fn options_of_programs_are_handed_on_wherever_they_stand() {
        assert!(given(&[]).is_empty());
        let words = ["--effort", "full", "--no-nests", "--threads=3", "--port", "0"];
        assert_eq!(given(&words), ["--no-nests", "--effort", "full", "--threads", "3"]);
        assert!(given(&["--color", "never", "--timings", "--max-memory", "1GB"]).is_empty());
        let words = ["lambada", "--precision", "f32", "play"].map(OsString::from);
        assert_eq!(Args::of(words).expect("a command line").given, ["--precision", "f32"]);
    }

    /// None is forgotten, and each reads back as it was given.
    #[test]
    fn every_option_is_handed_on() {
        let command = Args::command();
        for option in command.get_arguments().filter(|option| option.is_global_set()) {
            let name = format!("--{}", option.get_long().expect("a name"));
            let own = OWN.contains(&option.get_id().as_str());
            let value = match option.get_value_parser().possible_values() {
                _ if !option.get_action().takes_values() => None,
                Some(mut values) => values.next().map(|value| value.get_name().to_string()),
                None if name == "--precision" => Some("f32".to_string()),
                None => Some("2".to_string()),
            };
            let words: Vec<String> = [name].into_iter().chain(value).collect();
            let given = given(&words.iter().map(String::as_str).collect::<Vec<_>>());
            let expected: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert_eq!(given, if own { Vec::new() } else { expected });
        }
    }
}
