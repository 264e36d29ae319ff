//! Sources of inputs: a terminal with history and completion, or a file, in which each complete
//! paragraph is an input.

use std::collections::VecDeque;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use rustyline::completion::{Completer, FilenameCompleter};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::commands::COMMANDS;
use crate::messages;
use crate::report::Report;

const PROMPT: &str = "> ";

/// A source of inputs.
pub enum Input {
    /// A terminal with its history file, and inputs typed or pasted together with an earlier one.
    Terminal(Box<Editor<Names, FileHistory>>, Option<PathBuf>, VecDeque<String>),
    /// Lines from a file or pipe.
    Lines(VecDeque<String>),
}

/// Result of reading.
pub enum Read {
    /// An input.
    Text(String),
    /// An abandoned line.
    Nothing,
    /// The end of the inputs.
    End,
}

/// Whether inputs come from a terminal.
pub fn is_interactive() -> bool {
    std::io::stdin().is_terminal()
}

impl Input {
    /// A terminal if standard input is one, else all lines of standard input.
    pub fn new() -> Result<Input, Report> {
        if !is_interactive() {
            let text = std::io::read_to_string(std::io::stdin())
                .map_err(|error| messages::not_read("<stdin>", &error))?;
            return Ok(Input::Lines(text.lines().map(str::to_string).collect()));
        }
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .auto_add_history(true)
            .history_ignore_space(true)
            .build();
        let no_terminal = |error: ReadlineError| messages::no_terminal(&error);
        let mut editor = Editor::with_config(config).map_err(no_terminal)?;
        editor.set_helper(Some(Names::default()));
        let history = history_file();
        if let Some(file) = &history {
            // A missing history is no error.
            let _ = editor.load_history(file);
        }
        Ok(Input::Terminal(Box::new(editor), history, VecDeque::new()))
    }

    /// Whether inputs come from a terminal.
    pub fn terminal(&self) -> bool {
        matches!(self, Input::Terminal(..))
    }

    /// The next input; `names` are offered for completion.
    pub fn read(&mut self, names: &[String]) -> Result<Read, Report> {
        match self {
            Input::Lines(lines) => Ok(paragraph(lines)),
            Input::Terminal(editor, history, waiting) => {
                if let Some(text) = waiting.pop_front() {
                    return Ok(Read::Text(text));
                }
                if let Some(helper) = editor.helper_mut() {
                    helper.names = names.to_vec();
                }
                let read = match editor.readline(PROMPT) {
                    Ok(text) => {
                        waiting.extend(paragraphs(&text));
                        waiting.pop_front().map_or(Read::Nothing, Read::Text)
                    }
                    Err(ReadlineError::Interrupted) => Read::Nothing,
                    Err(ReadlineError::Eof) => Read::End,
                    Err(error) => return Err(messages::no_terminal(&error)),
                };
                if let Some(file) = history {
                    // A failure to save the history is ignored.
                    let _ = editor.save_history(file);
                }
                Ok(read)
            }
        }
    }
}

/// The inputs in a text, without those that consist of comments.
fn paragraphs(text: &str) -> Vec<String> {
    let mut lines: VecDeque<String> = text.lines().map(str::to_string).collect();
    let mut found = Vec::new();
    while let Read::Text(text) = paragraph(&mut lines) {
        found.push(text);
    }
    found.retain(|text| !text.lines().all(|line| line.trim_start().starts_with("--")));
    found
}

/// The next paragraph: ends at an empty line, or at a complete line that no indented line follows.
fn paragraph(lines: &mut VecDeque<String>) -> Read {
    let mut text = String::new();
    while let Some(line) = lines.pop_front() {
        if line.trim().is_empty() {
            if text.is_empty() {
                continue;
            }
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
        let goes_on = lines.front().is_some_and(|next| continues(next));
        let comment = line.starts_with("--");
        if !goes_on && !comment && !unfinished(&text) {
            break;
        }
    }
    if text.is_empty() { Read::End } else { Read::Text(text) }
}

/// Words that never begin an input.
const INSIDE: [&str; 7] = ["in", "then", "else", "with", "and", "do", "|"];

/// Whether the line continues the one above it.
fn continues(line: &str) -> bool {
    let word = line.split_whitespace().next();
    word.is_some_and(|word| line.starts_with(char::is_whitespace) || INSIDE.contains(&word))
}

/// Whether the input is incomplete. `let x = 1` may be complete, and `f x =` begins a definition.
fn unfinished(text: &str) -> bool {
    let binding = text.strip_prefix("let ").map(|rest| format!("def {rest}"));
    let command = text.trim_start().starts_with(':');
    let complete = binding.is_some_and(|definition| lambada::items(&definition).is_some());
    let definition = || text.contains('=') && lambada::is_incomplete(&format!("def {text}"));
    let begins = || lambada::is_incomplete(text) || definition();
    !command && !complete && !text.trim().is_empty() && begins()
}

/// The path of the history.
fn history_file() -> Option<PathBuf> {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).or_else(home)?;
    let folder = state.join("lambada");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

/// Completer of names and files.
#[derive(Default)]
pub struct Names {
    names: Vec<String>,
    files: FilenameCompleter,
}

impl Names {
    /// The modules of the library.
    fn modules(&self) -> Vec<String> {
        let module = |name: &String| Some(format!("std/{}", name.split_once('.')?.0));
        let mut modules: Vec<String> = self.names.iter().filter_map(module).collect();
        modules.sort_unstable();
        modules.dedup();
        modules
    }

    /// Completions inside a string: modules and files.
    fn imports(&self, line: &str, at: usize) -> rustyline::Result<(usize, Vec<String>)> {
        let start = line[..at].rfind('"').map_or(at, |k| k + 1);
        let typed = &line[start..at];
        let found: Vec<String> =
            self.modules().into_iter().filter(|module| module.starts_with(typed)).collect();
        if found.is_empty() { self.files_at(line, at) } else { Ok((start, found)) }
    }

    fn files_at(&self, line: &str, at: usize) -> rustyline::Result<(usize, Vec<String>)> {
        let (start, found) = self.files.complete_path(line, at)?;
        Ok((start, found.into_iter().map(|pair| pair.replacement).collect()))
    }
}

impl Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        if line[..at].matches('"').count() % 2 == 1 {
            return self.imports(line, at);
        }
        if line.starts_with(":l") && line[..at].contains(' ') {
            return self.files_at(line, at);
        }
        let part = |c: char| c.is_alphanumeric() || "_.':".contains(c);
        let start = line[..at]
            .rfind(|c| !part(c))
            .map_or(0, |k| k + line[k..].chars().next().map_or(1, char::len_utf8));
        let word = &line[start..at];
        let commands = COMMANDS.iter().map(|command| command.name.to_string());
        let commands = commands.filter(|_| start == 0);
        let all = self.names.iter().cloned().chain(commands);
        let mut found: Vec<String> =
            all.filter(|name| !word.is_empty() && name.starts_with(word)).collect();
        found.sort_unstable();
        found.dedup();
        Ok((start, found))
    }
}

impl Validator for Names {
    /// An input of several lines ends with an empty line, or before a line that is not indented,
    /// which begins the next input.
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        let open = is_open(text);
        Ok(if open { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

/// Whether the typed text continues.
fn is_open(text: &str) -> bool {
    let last = text.rsplit('\n').next().unwrap_or_default();
    if last.trim().is_empty() {
        return false;
    }
    let documents = last.starts_with("--|");
    let inside = text.contains('\n') && continues(last);
    let own = paragraphs(text).pop().unwrap_or_default();
    documents || inside || unfinished(&own)
}

impl Highlighter for Names {}

impl Hinter for Names {
    type Hint = String;
}

impl Helper for Names {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_belong_together() {
        let check = |text: &str, expect: &[&str]| {
            let mut lines: VecDeque<String> = text.lines().map(str::to_string).collect();
            let mut found = Vec::new();
            while let Read::Text(text) = paragraph(&mut lines) {
                found.push(text);
            }
            assert_eq!(found, expect, "{text}");
        };
        check("1 + 1\n2", &["1 + 1", "2"]);
        check("def f x =\n  x\nf 2", &["def f x =\n  x", "f 2"]);
        check("(1,\n2)\n:help", &["(1,\n2)", ":help"]);
        check("let x = 1\nin x + 1", &["let x = 1\nin x + 1"]);
        check(
            "def g s = match s\n| 0 -> 1\n| _ -> 2\ng 0",
            &["def g s = match s\n| 0 -> 1\n| _ -> 2", "g 0"],
        );
        check("1 +\n\n3", &["1 +", "3"]);
        check("let y = 4\ny", &["let y = 4", "y"]);
    }

    #[test]
    fn names_are_completed() {
        let names = vec!["softmax".into(), "sort".into(), "linalg.solve".into()];
        let names = Names { names, files: FilenameCompleter::new() };
        let history = FileHistory::new();
        let complete =
            |line: &str| names.complete(line, line.len(), &Context::new(&history)).expect("names");
        assert_eq!(complete("1 + so"), (4, vec!["softmax".to_string(), "sort".to_string()]));
        assert_eq!(complete("(linalg.s"), (1, vec!["linalg.solve".to_string()]));
        assert_eq!(complete(":ty"), (0, vec![":type".to_string()]));
        assert_eq!(complete("").1, Vec::<String>::new());
        assert_eq!(complete("import \"std/li"), (8, vec!["std/linalg".to_string()]));
    }

    #[test]
    fn what_is_typed_goes_on() {
        for open in [
            "f x =",
            "def g x =\n  let a = x",
            "(1,",
            "--| doc",
            "1 + 1\n  + 2",
            "def g x =\n  x\nh y =",
        ] {
            assert!(is_open(open), "{open}");
        }
        for complete in
            ["", "-- a comment", "1 + 1", "def g x =\n  x\ng 2", "def g x =\n  x\n", ":type 1"]
        {
            assert!(!is_open(complete), "{complete}");
        }
        assert_eq!(paragraphs("def g x =\n  x\ng 2\n-- no\n"), ["def g x =\n  x", "g 2"]);
    }
}
