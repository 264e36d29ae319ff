//! Helpers of the tests: programs as text, with the prelude of the repository.
#![allow(dead_code)] // each test file uses its own part

use lambada_core::Data;
use std::rc::Rc;

use lambada_elaborate::{Checked, Input, elaborate, import_key};
use lambada_source::{Problem, Severity, Sources, render};
use lambada_surface::ast::{Import, Item, Module};

pub const PRELUDE: &str = include_str!("../../../lambada/library/prelude.lam");

/// Runs on a stack that is large enough for deep programs, as the compiler does.
pub fn on_big_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(run).expect("a thread");
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A program and its problems.
pub fn checked(name: &str, text: &str) -> (Sources, Checked, Vec<Problem>) {
    let mut sources = Sources::new();
    let prelude_file = sources.add("<prelude>", PRELUDE);
    let (prelude, problems) = lambada_surface::parse(PRELUDE, prelude_file);
    assert!(problems.is_empty(), "{}", render(&sources, &problems, false));
    let file = sources.add(name, text);
    let (main, mut problems) = lambada_surface::parse(text, file);
    let modules = library(&mut sources, &main);
    let imports = modules.iter().map(|(key, module)| (key.clone(), module)).collect();
    let input =
        Input { prelude: &prelude, imports, main: &main, whole_library: true, divides_ints: false };
    let (checked, found) = elaborate(&input);
    problems.extend(found);
    (sources, checked, problems)
}

/// The library modules and examples that a module imports, each after its own imports.
fn library(sources: &mut Sources, main: &Module) -> Vec<(Rc<str>, Module)> {
    let mut found: Vec<(Rc<str>, Module)> = Vec::new();
    for item in &main.items {
        let Item::Import(Import { path, .. }) = item else { continue };
        let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let folders = ["lambada/library", "../examples"];
        let places = folders.map(|folder| format!("{crates}/{folder}/{path}.lam"));
        let mut texts = places.iter().filter_map(|place| std::fs::read_to_string(place).ok());
        let Some(text) = texts.next() else { continue };
        let file = sources.add(path.to_string(), text.clone());
        let (module, _) = lambada_surface::parse(&text, file);
        for (key, module) in library(sources, &module) {
            if found.iter().all(|(known, _)| *known != key) {
                found.push((key, module));
            }
        }
        found.push((import_key(None, path).into(), module));
    }
    found
}

/// A program without errors.
pub fn sound(text: &str) -> Checked {
    let (sources, checked, problems) = checked("test.lam", text);
    assert!(
        problems.iter().all(|p| p.severity == Severity::Warning),
        "{}",
        render(&sources, &problems, false)
    );
    checked
}

/// The type of a definition.
pub fn scheme(text: &str, name: &str) -> String {
    let definitions = sound(text).definitions();
    definitions.into_iter().find(|d| &*d.name == name).expect("the definition is there").scheme
}

/// The program of a definition, accepted by the checker of core.
pub fn program(text: &str, entry: &str) -> lambada_core::Program {
    let program = sound(text).program(entry).expect("a program without problems");
    if let Err(complaint) = lambada_core::check(&program) {
        panic!("{complaint}\n{}", lambada_core::print_program(&program));
    }
    program
}

/// The value of a definition at arguments, or the message of its failure.
pub fn run(text: &str, entry: &str, args: &[Data]) -> Result<Data, String> {
    let program = program(text, entry);
    let id = program.find(entry).expect("the entry is in its program");
    lambada_core::eval::run(&program, id, args).map_err(|failure| failure.message)
}
