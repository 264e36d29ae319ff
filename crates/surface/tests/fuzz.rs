//! No input makes the parser panic, loop or overflow the stack, and its problems can be rendered.

use lambada_source::{FileId, Sources, render, stack};
use lambada_surface::ast::Module;
use lambada_surface::{erase_spans, parse, parse_expr, print_module};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Parses and renders; returns the tree and the number of problems.
fn check(text: &str) -> (Module, usize) {
    let mut sources = Sources::new();
    let file = sources.add("fuzz.lam", text);
    let (module, problems) = parse(text, file);
    render(&sources, &problems, false);
    print_module(&module);
    let _ = parse_expr(text, file);
    (module, problems.len())
}

/// Like `check`; a text without problems is also printed and parsed back.
fn check_small(text: &str) {
    let (mut tree, problems) = check(text);
    if problems == 0 {
        let printed = print_module(&tree);
        let (mut again, problems) = parse(&printed, FileId(0));
        assert!(problems.is_empty(), "{printed}");
        erase_spans(&mut tree);
        erase_spans(&mut again);
        assert!(tree == again, "{printed}");
    }
}

const WORDS: &[&str] = &[
    "def ",
    "\ndef ",
    "\ntype ",
    "\nimport ",
    "rec ",
    "let ",
    "in ",
    "if ",
    "then ",
    "else ",
    "match ",
    "for ",
    "loop ",
    "checkpoint ",
    "do ",
    "while ",
    "with ",
    "accumulate ",
    "true ",
    "false ",
    "not ",
    "and ",
    "f ",
    "x ",
    "X ",
    "_ ",
    "xs",
    "1 ",
    "1.5 ",
    ".5 ",
    "9999999999999999999 ",
    "\"p\" ",
    "\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "=",
    "==",
    "+=",
    "->",
    "=>",
    "|",
    ",",
    ";",
    ":",
    ".",
    "..",
    "\\",
    "+",
    "-",
    "*",
    "**",
    "/",
    "//",
    "%",
    "@",
    "<",
    "<=",
    "!=",
    "&&",
    "||",
    ">>",
    "|>",
    "--| doc\n",
    "-- c\n",
    "#",
    "//",
    "/*",
    "*/",
    "\n",
    "\n  ",
    " ",
    "é",
    "λ",
    "→",
    "\u{0}",
    "jvp ",
    "elif ",
    "where ",
    "fun ",
    "when ",
    "^",
    "\n  let x = ",
    "\n  x",
    "(x)",
    "[x]",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn token_soup(words in proptest::collection::vec(0..WORDS.len(), 0..120)) {
        let text: String = words.iter().map(|k| WORDS[*k]).collect();
        check_small(&text);
    }

    #[test]
    fn bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        check_small(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn damaged_programs(start in 0usize..2000, length in 0usize..40, word in 0..WORDS.len()) {
        let text = include_str!("programs/everything.lam");
        let start = text.floor_char_boundary(start);
        let end = text.floor_char_boundary(start + length);
        check_small(&format!("{}{}{}", &text[..start], WORDS[word], &text[end.max(start)..]));
    }
}

/// One problem, not a thousand.
fn check_deep(text: &str) {
    let (_, problems) = stack::roomy(|| check(text));
    assert!((1..=3).contains(&problems), "{problems} problems");
}

#[test]
fn deep_nesting_is_a_problem() {
    let n = 100_000;
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("-", ""),
        ("not ", ""),
        ("f (", ")"),
        ("\\x -> ", ""),
        ("{x = ", "}"),
        ("2 ** ", ""),
        ("xs[", "]"),
    ] {
        check_deep(&format!("def f = {}1{}", open.repeat(n), close.repeat(n)));
        check_deep(&format!("def f = {}1", open.repeat(n)));
    }
    for (open, close) in [("(", ")"), ("[2]", ""), ("list (", ")"), ("{x : ", "}"), ("[a[", "]]")] {
        check_deep(&format!("def f (x : {}real{}) = 1", open.repeat(n), close.repeat(n)));
    }
    for open in [
        "if a then ",
        "match x | y -> ",
        "for i < n => ",
        "match ",
        "loop x = ",
        "accumulate h = 0 in ",
        "if ",
    ] {
        check_deep(&format!("def f = {}1", open.repeat(n)));
    }
    check_deep(&format!("def f {}x{} = 1", "(".repeat(n), ")".repeat(n)));
    check_deep(&format!("def f = {}", ")".repeat(n)));
    check_deep(&format!("def f = 1{}", " + 1".repeat(n)));
    check_deep(&format!("def f = f{}", " x".repeat(n)));
    check_deep(&format!("def f = x{}", ".y".repeat(n)));
}

#[test]
fn long_is_not_deep() {
    let n = 10_000;
    let lets: String = (0..n).map(|k| format!("let x{k} = x + 1\n")).collect();
    let (module, problems) = check(&format!("def f x = {lets} in x"));
    assert_eq!((module.items.len(), problems), (1, 0));
    let ins: String = (0..n).map(|k| format!("let f{k} y = y in\n")).collect();
    assert_eq!(check(&format!("def f x = {ins} x")).1, 0);
    assert_eq!(check(&format!("def f x = {} 0", "if x then 1 else ".repeat(n))).1, 0);
    assert_eq!(
        check(&format!("def f x = accumulate h = 0 in h += 1{}", "; h += 1".repeat(n))).1,
        0
    );
    assert_eq!(check(&format!("def f x = [0{}]", ", 1".repeat(n))).1, 0);
    assert_eq!(check(&"def f = 1\n".repeat(n)).1, 0);
}
