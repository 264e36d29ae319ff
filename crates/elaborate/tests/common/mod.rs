//! What the tests share: programs as text, with the prelude of the repository.
#![allow(dead_code)] // each test file uses its own part

use lambada_core::Data;
use lambada_elaborate::{Checked, Input, elaborate};
use lambada_source::{Problem, Severity, Sources, render};

pub const PRELUDE: &str = include_str!("../../../../prelude/prelude.lam");

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
    let input = Input { prelude: &prelude, imports: Vec::new(), main: &main, whole_library: true };
    let (checked, found) = elaborate(&input);
    problems.extend(found);
    (sources, checked, problems)
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

/// The value of a definition at arguments, or what it fails with.
pub fn run(text: &str, entry: &str, args: &[Data]) -> Result<Data, String> {
    let program = program(text, entry);
    let id = program.find(entry).expect("the entry is in its program");
    lambada_core::eval::run(&program, id, args).map_err(|failure| failure.message)
}
