//! A problem costs no more than the expression around it, is reported once, and leaves the other
//! definitions unchanged.

use std::path::{Path, PathBuf};

use lambada_source::{FileId, Sources, render};
use lambada_surface::ast::{Item, Module};
use lambada_surface::lexer::tokenize;
use lambada_surface::{erase_spans, parse, print_module};

/// The readable part on one line, with `_` in place of unreadable parts, and the codes of the
/// problems.
#[track_caller]
fn check(text: &str, expect: &str, codes: &[&str]) {
    let mut sources = Sources::new();
    let file = sources.add("broken.lam", text);
    let (mut module, problems) = parse(text, file);
    module.written = None;
    let printed = print_module(&module);
    let words: Vec<&str> = printed.split_whitespace().collect();
    let found: Vec<&str> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!((words.join(" "), found), (expect.to_string(), codes.to_vec()), "{}", {
        render(&sources, &problems, false)
    });
}

#[test]
fn a_problem_costs_the_expression_around_it() {
    check("def f x = x + ", "def f x = x + _", &["E0010"]);
    check("def f x = let y = x + in y", "def f x = let y = x + _ in y", &["E0010"]);
    check(
        "def f x =\n  let a = 1 + }\n  let b = 2\n  in a + b",
        "def f x = let a = 1 + _ let b = 2 a + b",
        &["E0056"],
    );
    check("def f x = if x > then 1 else 2", "def f x = if x > _ then 1 else 2", &["E0010"]);
    check("def f x = if x then * else 2", "def f x = if x then _ else 2", &["E0010"]);
    check("def f x = [1, 2 +, 3]", "def f x = [1, 2 + _, 3]", &["E0010"]);
    check("def f x = (1, *, 3)", "def f x = (1, _, 3)", &["E0010"]);
    check(
        "def f x = match x | A -> 1 + | B -> 2",
        "def f x = match x | A -> 1 + _ | B -> 2",
        &["E0010"],
    );
    check("def f n = for i < , j < n => i + j", "def f n = for i < _, j < n => i + j", &["E0010"]);
    check(
        "def f n = loop s = * for i < n do s + i",
        "def f n = loop s = _ for i < n do s + i",
        &["E0010"],
    );
    check("def f n = let x = (1 + \n in x", "def f n = let x = 1 + _ in x", &["E0010"]);
}

#[test]
fn each_problem_of_a_definition_is_told_once() {
    check(
        "def f x = let a = 1 + in let b = if then 1 else 2 in [a, *, b]",
        "def f x = let a = 1 + _ let b = if _ then 1 else 2 [a, _, b]",
        &["E0010", "E0010", "E0010"],
    );
    check(
        "def f x = if let y = * in y then (1 +, 2) else\ndef g x = x",
        "def f x = if let y = _ in y then (1 + _, 2) else _ def g x = x",
        &["E0010", "E0010", "E0010"],
    );
}

/// Every `.lam` file of the repository.
fn programs() -> Vec<String> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")];
    let mut found: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("the folder is readable").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".lam") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

fn rendered(text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add("broken.lam", text);
    render(&sources, &parse(text, file).1, false)
}

fn without_places(text: &str) -> (Module, usize) {
    let (mut module, problems) = parse(text, FileId(0));
    erase_spans(&mut module);
    (module, problems.len())
}

/// A definition that ends early, or lacks a token, leaves the next one unchanged, and causes few
/// problems.
#[test]
fn broken_definitions_leave_the_next_one_alone() {
    const NEXT: &str = "\ndef next_one x = x + 1\n";
    let next = without_places(NEXT).0.items;
    let (mut tried, mut many) = (0, 0);
    for (k, text) in programs().iter().enumerate() {
        let (module, problems) = parse(text, FileId(0));
        for item in &module.items {
            let Item::Def(def) = item else { continue };
            if problems.is_empty() && def.span.end - def.span.start < 1500 {
                let own = &text[def.span.start as usize..def.span.end as usize];
                let tokens = tokenize(own, FileId(0)).tokens;
                for at in (2 + k % 7..tokens.len().saturating_sub(1)).step_by(7) {
                    let span = tokens[at].span;
                    let (before, after) = (&own[..span.start as usize], &own[span.end as usize..]);
                    for broken in [before.to_string(), format!("{before} {after}")] {
                        let (module, problems) = without_places(&(broken.clone() + NEXT));
                        assert_eq!(module.items.last(), next.last(), "{broken}");
                        assert!(problems <= 6, "{}", rendered(&broken));
                        tried += 1;
                        many += usize::from(problems > 1);
                    }
                }
            }
        }
    }
    assert!(tried > 5_000 && many * 40 < tried, "{many} of {tried} have more than one problem");
}
