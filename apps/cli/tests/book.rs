//! Runs the shell sessions of the book, and compares their output with the pages.
//!
//! A fenced `console` block contains commands, on lines that start with `$ `, each followed by its
//! output: standard output, then standard error; trailing empty lines are ignored. The commands of
//! a page run in order, by `sh`, in one fresh folder. It contains `examples/`, and a file for every
//! earlier `lambada` block of the page whose first line is a comment `-- NAME.lam`. In a block
//! `console varies`, numbers are not compared, because draws depend on the order of summation, and
//! a line `…` stands for any lines.
//! `BLESS=1 cargo test -p lambada-cli --test book` rewrites the outputs.
#![cfg(unix)]

use std::fmt::{Display, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lambada::paper::{Mode, PaperStage};
use lambada::{Session, Unit};
use lambada_chad::combinators::of_term;
use lambada_chad::literal::{Applied, Derived};
use lambada_chad::op::Op;
use lambada_chad::pairs::{Reverse, Semantics, interpret};
use lambada_chad::shared::Lets;
use lambada_chad::value::{Value, counting};
use lambada_chad::{Env, Var, applied, closures, shared, source};
use lambada_testkit::{blessing, parallel};
use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the command lies in the repository")
        .to_path_buf()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry of a folder").path()).collect();
    paths.sort();
    paths
}

/// The readme, every page of the book, and the page of error messages of commands and data.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("tests/errors/commands.md")];
    let mut folders = vec![root().join("docs/src")];
    while let Some(folder) = folders.pop() {
        let (inside, files): (Vec<PathBuf>, Vec<PathBuf>) =
            entries(&folder).into_iter().partition(|path| path.is_dir());
        folders.extend(inside);
        pages.extend(files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "md")));
    }
    pages
}

/// A part of a page; parts can be reassembled with other outputs.
enum Part {
    /// A line outside of `lambada` and `console` blocks.
    Text(String),
    /// The contents of a `lambada` block.
    Program(String),
    /// A command of a `console` block, with its line number and its output.
    Command { line: usize, command: String, output: String, varies: bool },
}

/// The kind of block around a line.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Nothing,
    Program,
    Console { varies: bool },
    Other,
}

fn parts(page: &str) -> Vec<Part> {
    let (mut parts, mut inside) = (Vec::new(), Inside::Nothing);
    for (k, line) in page.lines().enumerate() {
        let line_text = format!("{line}\n");
        match (inside, line.strip_prefix("```"), parts.last_mut()) {
            (Inside::Nothing, Some(language), _) => {
                inside = opened(language);
                parts.push(Part::Text(line_text));
                if inside == Inside::Program {
                    parts.push(Part::Program(String::new()));
                }
            }
            (_, Some(""), _) => {
                inside = Inside::Nothing;
                parts.push(Part::Text(line_text));
            }
            (Inside::Program, _, Some(Part::Program(text))) => text.push_str(&line_text),
            (Inside::Console { varies }, _, last) => match (line.strip_prefix("$ "), last) {
                (Some(command), _) => parts.push(Part::Command {
                    line: k + 1,
                    command: command.into(),
                    output: String::new(),
                    varies,
                }),
                (None, Some(Part::Command { output, .. })) => output.push_str(&line_text),
                (None, _) => panic!("line {}: a console block starts with a command", k + 1),
            },
            (Inside::Nothing | Inside::Program | Inside::Other, _, _) => {
                parts.push(Part::Text(line_text))
            }
        }
    }
    parts.into_iter().flat_map(without_layout).collect()
}

/// Separates trailing empty lines of an output, which are only layout.
fn without_layout(part: Part) -> Vec<Part> {
    match part {
        Part::Text(_) | Part::Program(_) => vec![part],
        Part::Command { line, command, output, varies } => {
            let (text, layout) = output.split_at(trimmed(&output).len());
            let output = text.into();
            vec![Part::Command { line, command, output, varies }, Part::Text(layout.into())]
        }
    }
}

/// Removes trailing empty lines.
fn trimmed(output: &str) -> &str {
    let text = output.trim_end_matches('\n');
    &output[..text.len() + usize::from(!text.is_empty()).min(output.len() - text.len())]
}

fn opened(language: &str) -> Inside {
    match language {
        "lambada" => Inside::Program,
        "console" => Inside::Console { varies: false },
        "console varies" => Inside::Console { varies: true },
        _ => Inside::Other,
    }
}

fn together(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) | Part::Program(text) => text.clone(),
        Part::Command { command, output, .. } => format!("$ {command}\n{output}"),
    };
    parts.iter().map(text).collect()
}

/// The folder in which the commands of a page run.
struct Shell {
    folder: TempDir,
}

impl Shell {
    fn new() -> Shell {
        let folder = tempfile::tempdir().expect("a temporary folder");
        copy(&root().join("examples"), &folder.path().join("examples"));
        Shell { folder }
    }

    /// Saves a program with a file name.
    fn keep(&self, program: &str) {
        let name = program
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("-- "))
            .filter(|name| name.ends_with(".lam"));
        if let Some(name) = name {
            write(&self.folder.path().join(name), program);
        }
    }

    /// Runs a command; returns its output without the path of the folder.
    fn run(&self, command: &str) -> String {
        let binaries =
            Path::new(env!("CARGO_BIN_EXE_lambada")).parent().expect("a command lies in a folder");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(
            [binaries.to_path_buf()].into_iter().chain(std::env::split_paths(&path)),
        )
        .expect("a search path");
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command])
            .current_dir(self.folder.path())
            .env("PATH", path)
            .env("LAMBADA_CACHE", cache);
        let output = shell.output().unwrap_or_else(|e| panic!("`sh` does not start: {e}"));
        trimmed(&printed(&output).replace(&format!("{}/", self.folder.path().display()), ""))
            .to_string()
    }
}

/// Standard output, then standard error, without the warning that the interpreter runs, because
/// outputs agree otherwise.
fn printed(output: &Output) -> String {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let heard = |line: &&str| !line.starts_with("warning: no C compiler found");
    err.lines().filter(heard).fold(out.into_owned(), |text, line| text + line + "\n")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap_or_else(|e| panic!("{}: {e}", to.display()));
    for path in entries(from) {
        let target = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        }
    }
}

/// Replaces the outputs in a page, and returns the place of every difference.
fn replay(name: &str, parts: &mut [Part]) -> Vec<String> {
    let shell = Shell::new();
    let mut wrong = Vec::new();
    for part in parts {
        match part {
            Part::Text(_) => {}
            Part::Program(text) => shell.keep(text),
            Part::Command { line, command, output, varies } => {
                let found = shell.run(command);
                assert!(!found.contains("panicked"), "{name}:{line}: `{command}` panics:\n{found}");
                let agrees = if *varies { alike } else { same };
                if !agrees(output, &found) {
                    wrong.push(format!(
                        "{name}:{line}: $ {command}\n{}",
                        difference(output, &found)
                    ));
                    *output = found;
                }
            }
        }
    }
    wrong
}

/// Whether two outputs agree up to the last digits of reals, which depend on the processor's vector
/// length through the order of summation.
fn same(expected: &str, found: &str) -> bool {
    let word = |c: char| !(c.is_alphanumeric() || "+-._".contains(c));
    let words = |text: &str| text.split_inclusive(word).map(String::from).collect::<Vec<_>>();
    let close = |(a, b): (&String, &String)| {
        let (x, y) = (a.trim_end_matches(word), b.trim_end_matches(word));
        let real = |text: &str| text.contains('.').then(|| text.parse::<f64>().ok()).flatten();
        let numbers = real(x).zip(real(y));
        a == b
            || a[x.len()..] == b[y.len()..]
                && numbers.is_some_and(|(x, y)| (x - y).abs() <= 1e-13 * x.abs().max(y.abs()))
    };
    let (a, b) = (words(expected), words(found));
    a.len() == b.len() && a.iter().zip(&b).all(close)
}

/// Whether two outputs agree up to numbers and spaces, and the lines for which `…` stands.
fn alike(expected: &str, found: &str) -> bool {
    let shape = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (mut shape, mut number) = (String::new(), false);
        for c in words.join(" ").chars() {
            let part = c.is_ascii_digit() || number && c == '.';
            if part && !number && shape.ends_with('-') {
                shape.pop();
            }
            if !part || !number {
                shape.push(if part { '#' } else { c });
            }
            number = part;
        }
        shape
    };
    let lines = |text: &str| text.lines().map(shape).collect::<Vec<_>>();
    let (mut found, mut gap) = (lines(found).into_iter(), false);
    for line in lines(expected) {
        match line.as_str() {
            "…" => gap = true,
            _ => {
                let found = match std::mem::take(&mut gap) {
                    true => found.any(|other| other == line),
                    false => found.next().as_ref() == Some(&line),
                };
                if !found {
                    return false;
                }
            }
        }
    }
    gap || found.next().is_none()
}

/// The differing lines, without the common ones at both ends.
fn difference(expected: &str, found: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let end =
        a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let mut text = format!("  from line {} of the output:\n", start + 1);
    a[start..a.len() - end]
        .iter()
        .for_each(|line| writeln!(text, "  - {line}").expect("a string grows"));
    b[start..b.len() - end]
        .iter()
        .for_each(|line| writeln!(text, "  + {line}").expect("a string grows"));
    text
}

/// Lock for rewriting a page, which two tests do.
fn alone() -> MutexGuard<'static, ()> {
    static PAGES: Mutex<()> = Mutex::new(());
    PAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Number of commands on a page, and the commands with another output, which are rewritten on
/// request.
fn page(path: &Path) -> (usize, Vec<String>) {
    let page = read(path);
    let mut parts = parts(&page);
    assert_eq!(together(&parts), page, "{}", path.display());
    let commands = parts.iter().filter(|part| matches!(part, Part::Command { .. })).count();
    if commands == 0 {
        return (0, Vec::new());
    }
    let name = path.strip_prefix(root()).expect("a page of the repository").display().to_string();
    let differences = replay(&name, &mut parts);
    if blessing() && !differences.is_empty() {
        write(path, &together(&parts));
        return (commands, Vec::new());
    }
    (commands, differences)
}

#[test]
fn commands_print_what_the_book_says() {
    let _alone = alone();
    let replayed = parallel(&pages(), |path| page(path));
    let commands: usize = replayed.iter().map(|(commands, _)| commands).sum();
    let wrong: Vec<String> = replayed.into_iter().flat_map(|(_, wrong)| wrong).collect();
    assert!(commands >= 130, "only {commands} commands");
    assert!(
        wrong.is_empty(),
        "BLESS=1 rewrites what these print; `-` is the book, `+` the command:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_last_digits_of_reals_may_differ() {
    assert!(same("value = 0.1353352832592232\n", "value = 0.13533528325922314\n"));
    assert!(same("[0.6931471806039797, 2]", "[0.6931471806039802, 2]"));
    assert!(!same("[0.6931471806039797, 2]", "[0.6931471806039802, 3]"));
    assert!(!same("x 0.69314718060397", "x 0.69314718061"));
    assert!(!same("a 1.5\n", "a 1.5\n\n"));
    assert!(!same("a 12\n", "a 13\n"));
}

#[test]
fn numbers_of_draws_may_differ() {
    let expected = "mu  4.38  0.044\n…\n4 chains in 0.7 s\n";
    assert!(alike(expected, "mu  -4.4   0.04\nx 1\ny 2\n4 chains in 12 s\n"));
    assert!(alike(expected, "mu  4.4   0.04\n4 chains in 12 s\n"));
    assert!(!alike(expected, "tau  4.4   0.04\n4 chains in 12 s\n"));
    assert!(!alike(expected, "mu  4.4   0.04\n4 chains in 12 s\nmore\n"));
    assert!(alike("a 1\n…\n", "a 2\nb\n") && !alike("a 1\n", "a 2\nb\n"));
}

/// Tests the harness: it reports a wrong output with its line, and leaves all else unchanged.
#[test]
fn a_wrong_output_is_told() {
    let page = "# A\n```lambada\n-- p.lam\ndef f (x : real) = x * x\n```\n```console\n$ lambada check p.lam\nf : real -> real\n$ lambada check q.lam\nfine\n```\n";
    let mut parts = parts(page);
    let wrong = replay("a.md", &mut parts);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(
        wrong[0].starts_with("a.md:9: $ lambada check q.lam")
            && wrong[0].contains("  - fine\n  + error"),
        "{wrong:?}"
    );
    let blessed = together(&parts);
    assert!(
        blessed.starts_with(page.split("fine").next().expect("a page"))
            && blessed.ends_with("```\n"),
        "{blessed}"
    );
    assert!(!blessed.contains("fine") && blessed.contains("q.lam"), "{blessed}");
}

/// `x0 : real |- let x1 = x0 * x0 in .. let x(n-1) = .. in x(n-1) * x(n-1)`, where a `let` is the
/// call of a λ: n multiplications.
fn squares(n: usize) -> (source::Var, source::Term) {
    fn body(x: source::Term, n: usize) -> source::Term {
        let square = source::op_at(Op::Each(lambada_prim::Prim::Mul, 1), &[x.clone(), x]);
        if n == 1 { square } else { source::let_("x", square, |y| body(y, n - 1)) }
    }
    let x = Var::fresh("x", source::REAL);
    (x.clone(), body(source::var(&x), n))
}

/// Operations of a gradient at 1. The transposed derivative of a multiplication counts as one, but
/// is two linear operations.
fn cost(run: impl FnOnce(&Value) -> (Value, Value)) -> u64 {
    let ((value, gradient), operations, linear) = counting(|| run(&Value::real([1.0])));
    assert_eq!(value.numbers()[0], 1.0);
    assert!(gradient.numbers()[0] >= 4.0);
    operations + linear / 2
}

/// The macro as printed, each clause a function of the primal.
fn printed_cost(x: &source::Var, t: &source::Term) -> u64 {
    let both = interpret::<Semantics, Reverse<Semantics>>(&of_term(x, t));
    cost(|at| ((both.first)(at), (both.second)(at, at)))
}

fn shared_cost(x: &source::Var, t: &source::Term, lets: Lets) -> u64 {
    let (y, both) = shared::reverse(x, t, lets);
    cost(|at| {
        let both = applied::eval(&both, &Env::default().with(&y, at.clone()));
        (both.fst(), both.snd().linear().lapp(at))
    })
}

fn row(n: usize) -> String {
    let (x, t) = squares(n);
    let [encoded, construct] =
        [Lets::Encoded, Lets::Primitive].map(|lets| shared_cost(&x, &t, lets));
    let converted = cost(|at| closures::reverse(&x, &t, at, at));
    format!("| {n} | {} | {encoded} | {construct} | {converted} |\n", printed_cost(&x, &t))
}

/// Compares the rows below the head of a table in the page on sharing, or rewrites them.
fn table(head: &str, rows: &str) {
    let _alone = alone();
    let path = root().join("docs/src/chad-sharing.md");
    let page = read(&path);
    let start =
        page.find(head).unwrap_or_else(|| panic!("the page has no table {head}")) + head.len();
    let end = start
        + page[start..]
            .split_inclusive('\n')
            .take_while(|line| line.starts_with('|'))
            .map(str::len)
            .sum::<usize>();
    if blessing() {
        write(&path, &format!("{}{rows}{}", &page[..start], &page[end..]));
    } else {
        assert_eq!(
            &page[start..end],
            rows,
            "BLESS=1 rewrites the tables of docs/src/chad-sharing.md"
        );
    }
}

/// The length of both components of a derivative, with every copy written out.
fn written(first: &impl Display, second: &impl Display) -> usize {
    format!("{first}\n{second}\n").chars().count()
}

fn lengths(unit: &Unit, entry: &str) -> String {
    let (program, id) =
        unit.definition(entry).unwrap_or_else(|problems| panic!("{entry}: {problems:?}"));
    let (x, t) =
        source::of_core(&program, id).unwrap_or_else(|outside| panic!("{entry}: {outside}"));
    let comb = of_term(&x, &t);
    let (a, c) = (Derived::reverse(&comb), Applied::reverse(&comb));
    let printed = unit
        .paper_stage(entry, Mode::Reverse, PaperStage::Linear, None)
        .unwrap_or_else(|problems| panic!("{entry}: {problems:?}"));
    let [a, c] = [written(&a.first, &a.second), written(&c.first, &c.second)];
    format!("| `{entry}` | {a} | {c} | {} |\n", printed.chars().count())
}

/// E26: checks the numbers in the tables of the page on sharing; `BLESS=1` rewrites them. A single
/// test, because both tables are on one page.
#[test]
fn the_tables_are_counted() {
    let operations: String = [2, 4, 6, 8, 10, 12].map(row).concat();
    table("|---:|---:|---:|---:|---:|\n", &operations);
    let text = read(&root().join("examples/chad.lam"));
    let unit = Session::default()
        .load_text("chad.lam", &text, None)
        .unwrap_or_else(|problems| panic!("{problems:?}"));
    let lengths: String = ["square", "scaler", "higher", "paper_ex1", "paper_ex2"]
        .map(|entry| lengths(&unit, entry))
        .concat();
    table("|---|---:|---:|---:|\n", &lengths);
}
