//! The commands of the prompt: words that begin with a colon.

use std::path::PathBuf;

use lambada::Operator;

use super::Next;
use super::state::State;
use crate::messages;
use crate::report::Report;

/// A command, as `:help` lists it.
pub struct Command {
    /// The word, with its colon.
    pub name: &'static str,
    /// The argument.
    argument: &'static str,
    /// A description.
    about: &'static str,
    does: Does,
}

#[derive(Clone, Copy)]
enum Does {
    Type,
    Derive,
    Time,
    Plot,
    Doc,
    Load,
    Help,
    Quit,
}

/// All commands.
pub const COMMANDS: [Command; 8] = [
    command(":type", "EXPR", "the type of an expression", Does::Type),
    command(
        ":derive",
        "F [forward|reverse]",
        "the derivative of a function, as source",
        Does::Derive,
    ),
    command(":time", "EXPR", "how long an expression takes, as native code", Does::Time),
    command(
        ":plot",
        "EXPR [FROM..TO]",
        "an array over its index, or a function over a range",
        Does::Plot,
    ),
    command(":doc", "[NAME]", "what a name of the library, or one of yours, is for", Does::Doc),
    command(":load", "FILE", "take in the definitions of a file", Does::Load),
    command(":help", "", "this list", Does::Help),
    command(":quit", "", "the end; so is Ctrl-D", Does::Quit),
];

const fn command(
    name: &'static str,
    argument: &'static str,
    about: &'static str,
    does: Does,
) -> Command {
    Command { name, argument, about, does }
}

impl State<'_> {
    /// Answers a line that begins with a colon; commands may be abbreviated.
    pub(super) fn command(&mut self, line: &str) -> Result<(String, Next), Report> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let found = COMMANDS.iter().find(|command| command.name == word).or_else(|| {
            COMMANDS.iter().find(|command| word.len() > 1 && command.name.starts_with(word))
        });
        let Some(command) = found else {
            let near = lambada::suggest(word, COMMANDS.iter().map(|command| command.name));
            return Err(messages::no_such_command(word, near.as_deref()));
        };
        let needs = !command.argument.is_empty() && !command.argument.starts_with('[');
        if needs && rest.is_empty() {
            return Err(messages::needs_an_argument(command.name, command.argument));
        }
        let answer = match command.does {
            Does::Type => self.type_of(rest),
            Does::Derive => {
                let (function, operator) = mode(rest, &self.names())?;
                self.derive(function, operator)
            }
            Does::Time => self.time(rest),
            Does::Plot => self.plot(rest),
            Does::Doc => self.doc(rest),
            Does::Load => self.load(&file(rest)),
            Does::Help => Ok(help()),
            Does::Quit => return Ok((String::new(), Next::Quit)),
        };
        Ok((answer?, Next::Continue))
    }
}

/// Splits the function to derive from the mode. `names` are in scope.
fn mode<'t>(text: &'t str, names: &[String]) -> Result<(&'t str, Operator), Report> {
    let Some((function, last)) = text.rsplit_once(char::is_whitespace) else {
        return Ok((text, Operator::Vjp));
    };
    let word = |c: char| c.is_alphabetic() || c == '_';
    match last {
        "forward" => Ok((function.trim_end(), Operator::Jvp)),
        "reverse" => Ok((function.trim_end(), Operator::Vjp)),
        // A last word that names something is an argument.
        _ if last.chars().all(word)
            && !names.iter().any(|name| name == last)
            && names.iter().any(|name| name == function.trim()) =>
        {
            Err(messages::no_such_mode(last))
        }
        _ => Ok((text, Operator::Vjp)),
    }
}

/// A file name, possibly in quotes or in the home folder.
fn file(text: &str) -> PathBuf {
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let text = quoted.unwrap_or(text);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(text.strip_prefix("~/")?));
    home().unwrap_or_else(|| text.into())
}

fn help() -> String {
    let head = |command: &Command| format!("{} {}", command.name, command.argument);
    let width = COMMANDS.iter().map(|command| head(command).len()).max().unwrap_or(0);
    let line = |command: &Command| format!("  {:<width$}  {}\n", head(command), command.about);
    let commands: String = COMMANDS.iter().map(line).collect();
    format!("{}{commands}", messages::WHAT_TO_TYPE)
}
