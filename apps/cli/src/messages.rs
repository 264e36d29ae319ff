//! Messages of the command itself that do not concern a program.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use lambada::{Found, Posterior};
use lambada_draws::{Draws, Format, Wrong};
use lambada_sample::Resumed;

/// The thread that runs the command cannot be started.
pub const NO_THREAD: &str = "error: the system has no memory for another thread\n";

/// The stream of an editor ended without the request `shutdown`.
pub const NO_SHUTDOWN: &str = "error: the editor ended without `shutdown`\n";

/// The address of the playground.
pub fn plays(address: &str) -> String {
    format!(
        "{address}\nThe address holds a secret: whoever has it can run programs. Ctrl-C ends the playground.\n"
    )
}

/// A browser that cannot be opened.
pub fn no_browser(error: &std::io::Error) -> String {
    format!("note: no browser could be opened ({error}); open the address by hand\n")
}

/// The path of the command is unknown.
pub fn no_command(error: &std::io::Error) -> String {
    format!("error: cannot find the command itself, which does the work of the page: {error}\n")
}

/// Standard output cannot be written.
pub fn not_printed(error: &std::io::Error) -> String {
    format!("error: cannot write to standard output: {error}\n")
}

/// Progress message for a definition that runs at random points, possibly forever.
pub fn draws(definition: &str) -> String {
    format!(
        "running `{definition}` at points drawn at random (if it does not end, give one: lambada verify FILE {definition} …)"
    )
}

/// A bug in the compiler.
pub fn internal(place: &str, what: &str) -> String {
    format!(
        "internal error: {place}{what}; this is a bug in lambada, please report it with the program and the command\n"
    )
}

/// Removes suggestions that are too dissimilar, such as `explain` for `repl`.
pub fn without_far_suggestions(error: &mut clap::Error) {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return;
    }
    let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    let Some(ContextValue::Strings(near)) = error.get(ContextKind::SuggestedSubcommand) else {
        return;
    };
    if lambada::suggest(found, near.iter().map(String::as_str)).is_none() {
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::Suggested);
    }
}

/// A program that cannot be read.
pub fn not_read(name: &str, error: &std::io::Error) -> String {
    format!("error: cannot read `{name}`: {error}\n")
}

/// A file or folder that cannot be written.
pub fn not_written(name: &str, error: &std::io::Error) -> String {
    format!("error: cannot write `{name}`: {error}\n")
}

/// Something that is assumed.
pub fn note(text: &str) -> String {
    format!("note: {text}\n")
}

/// Number of fixes written into a file.
pub fn mended(name: &str, count: usize) -> String {
    let fixes = if count == 1 { "1 fix".to_string() } else { format!("{count} fixes") };
    format!("note: {fixes} written to `{name}`\n")
}

/// `check --fix` of standard input.
pub fn no_file_to_fix() -> String {
    "error: --fix changes a file, and standard input is none\n".to_string()
}

/// Programs that are not in canonical layout.
pub fn other_layout(count: usize) -> String {
    let (files, are) = match count {
        1 => ("1 file".to_string(), "is"),
        _ => (format!("{count} files"), "are"),
    };
    format!(
        "error: {files} {are} not in canonical layout; `lambada fmt` without --check writes it\n"
    )
}

/// A path that names no new folder.
pub fn no_folder_name(path: &str) -> String {
    format!("error: `{path}` is no name for a new folder\n")
}

/// A new project at an existing path.
pub fn there_already(path: &str) -> String {
    format!("error: `{path}` is there already; a new folder needs another name\n")
}

/// A new project.
pub fn made(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let word = match path.chars().all(plain) {
        true => path.to_string(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    };
    format!("made `{path}`; try: cd {word} && lambada run main.lam --data data.json\n")
}

/// Greeting at a terminal.
pub const WELCOME: &str = "Lambada. An expression, a definition, or :help\n";

/// An answer that Ctrl-C has ended.
pub const INTERRUPTED: &str = "interrupted\n";

/// Help on inputs besides commands.
pub const WHAT_TO_TYPE: &str = "  1 + 2                        an expression is evaluated
  f x = x * x                  a definition is remembered; a new one of the same name replaces it
  import \"std/linalg\"          so is an import
";

/// A terminal that cannot be read from.
pub fn no_terminal(error: &dyn std::fmt::Display) -> String {
    format!("error: cannot read from the terminal: {error}\n")
}

/// An unknown command of the prompt.
pub fn no_such_command(word: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("error: there is no command `{word}`; did you mean `{near}`?\n"),
        None => format!("error: there is no command `{word}`; `:help` lists them\n"),
    }
}

/// An unknown mode of differentiation.
pub fn no_such_mode(word: &str) -> String {
    format!("error: `{word}` is no mode: `:derive F forward` or `:derive F reverse`\n")
}

/// A command without its argument.
pub fn needs_an_argument(command: &str, argument: &str) -> String {
    format!("error: `{command}` needs an argument: {command} {argument}\n")
}

/// A function to draw without a range.
pub fn needs_a_range(function: &str) -> String {
    format!(
        "error: `{function}` is a function, which is drawn over a range: :plot {function} 0..10\n"
    )
}

/// Times of the steps of an evaluation.
pub fn times(checked: Duration, compiled: Duration, ran: Duration) -> String {
    format!("checked in {checked:.1?}, compiled in {compiled:.1?}, ran in {ran:.1?}\n")
}

/// A run that was interrupted before the warm-up was over.
pub const NO_DRAWS: &str = "error: interrupted in the warm-up, so there are no draws\n";

/// Number of draws, and the time they took; which parameters are estimated, and which are data.
pub fn sampled(posterior: &Posterior, draws: &Draws, compiled: Duration, all: Duration) -> String {
    let (chains, count) = (draws.chains, draws.draws);
    let listed = |names: Vec<&str>| lambada::quoted(&names);
    let estimated = listed(posterior.parameters().iter().map(|name| &**name).collect());
    let data = listed(posterior.data().iter().map(|(name, _)| &**name).collect());
    let given = if data.is_empty() { String::new() } else { format!(" given {data}") };
    format!(
        "{} of {} of {estimated}{given} in {:.1} s, {:.1} s of them to compile\n",
        counted(chains, "chain"),
        counted(count, "draw"),
        all.as_secs_f64(),
        compiled.as_secs_f64()
    )
}

/// Coordinates along which no improper posterior was looked for.
pub fn looked(looked: usize, all: usize) -> String {
    match looked {
        0 => "nothing was done to find an improper posterior, because the density has a loop without a bound, which may take long far out".into(),
        _ => format!("looked for an improper posterior along {looked} of {all} coordinates only, because that took a second"),
    }
}

/// Divergent draws of a chain so far.
pub fn divergences(count: u64) -> String {
    counted(count as usize, "divergence")
}

fn counted(count: usize, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

/// An approximation that is far from the posterior.
pub fn far(shape: f64) -> String {
    format!(
        "\nThe approximation is far from the posterior: the weights of its draws have a tail of shape k̂ = {shape:.2}, and above 0.7 the means and deviations in the table may be wrong.\n  - draw from the posterior itself: `--method nuts`\n"
    )
}

/// Chains that end early.
pub fn interrupted(made: usize, wanted: u64) -> String {
    format!("interrupted: each chain has {made} of {wanted} draws\n")
}

/// A run that ended early has left the states of its chains.
pub fn goes_on(folder: &dyn Display) -> String {
    format!("help: the same command goes on from there, by the chains in `{folder}`\n")
}

/// The folder of states has some, or cannot have any.
pub fn resumed(folder: &dyn Display, what: &Resumed) -> String {
    match what {
        Resumed::After(_) => {
            note(&format!("the chains go on from `{folder}`, where this command ended before"))
        }
        Resumed::OtherChain => note(&format!(
            "`{folder}` has chains of another program, of other data or of other settings; this \
             run replaces them"
        )),
        Resumed::NotKept(why) => note(&format!(
            "`{folder}` cannot be written ({why}); if this run is killed, its draws are lost"
        )),
    }
}

/// States of chains that are no longer needed.
pub fn not_removed(folder: &dyn Display, why: &std::io::Error) -> String {
    format!("error: `{folder}` cannot be removed: {why}\n")
}

/// A density that is finite nowhere.
pub fn no_start(entry: &str, density: f64, gradient_only: bool) -> String {
    let what = if gradient_only { "the gradient" } else { "the log density" };
    let value = if gradient_only { "not finite".into() } else { format!("{density}") };
    format!("error: {what} of `{entry}` is {value} at 100 random points, so no chain can begin\n")
}

/// A search that ended before it reached an optimum.
pub fn not_converged(found: &Found, maximizes: bool) -> String {
    let norm = found.gradient_norm;
    let mut text = format!(
        "error: the search did not converge: its end is above, with a gradient of norm {norm:.2e}\n"
    );
    if !maximizes {
        text.push_str("help: the mode of a log density is found by `--maximize`\n");
    }
    text
}

/// Searches from other points that ended elsewhere.
pub fn other_optimum(result: f64, count: usize) -> String {
    let others = if count == 1 { "another optimum" } else { "other optima" };
    format!("warning: searches from other points converged to {others}, with the result {result}\n")
}

/// A mode without standard errors.
pub const NO_ERRORS: &str = "error: the curvature at the mode is not positive in all directions, so there are no standard errors\nhelp: they are for a log density at its largest value (`--maximize`), which depends on all parameters\n";

/// A file name that tells no format of draws.
pub fn no_draws_file(path: &Path) -> String {
    let known: Vec<String> =
        Format::extensions().iter().map(|known| format!("`.{known}`")).collect();
    format!(
        "error: `{}` is no file of draws: its name should end in {}\n",
        path.display(),
        known.join(", ")
    )
}

/// A file of draws that cannot be understood.
pub fn broken_draws(name: &str, wrong: &Wrong) -> String {
    format!("error: `{name}`: {wrong}\n")
}

/// A result whose size depends on the draw.
pub fn other_sizes(name: &str, first: &[usize], other: &[usize], draw: usize) -> String {
    let shown = |dims: &[usize]| dims.iter().map(|size| format!("[{size}]")).collect::<String>();
    format!(
        "error: `{name}` has the size {} for the first draw and {} for draw {draw}; in a file of draws all have the same\n",
        shown(first),
        shown(other)
    )
}

/// A program without the definition to draw.
pub fn no_entry(file: &Path) -> String {
    format!(
        "error: name the definition of `{}` to draw: lambada plot FILE ENTRY\nhelp: draws of a posterior are in files whose names end in `.nc`, `.parquet` or `.csv`\n",
        file.display()
    )
}

/// A picture of draws without a file.
pub const NO_PICTURE: &str =
    "error: pictures of draws are files: say where to write it, as in `--output trace.svg`\n";
