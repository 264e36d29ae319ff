//! `parse(print(tree)) = tree`, on drawn trees and on programs.

mod common;

use lambada_source::{FileId, Sources, Span, render};
use lambada_surface::ast::Module;
use lambada_surface::lexer::tokenize;
use lambada_surface::token::{Bracket, Keyword, TokenKind};
use lambada_surface::{erase_spans, format, parse, print_module};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The tree of a text that has no problems, without places.
fn tree(text: &str) -> Module {
    let mut sources = Sources::new();
    let file = sources.add("program.lam", text);
    let (mut module, problems) = parse(text, file);
    assert!(problems.is_empty(), "{text}\n{}", render(&sources, &problems, false));
    erase_spans(&mut module);
    module
}

fn check_tree(module: &Module) {
    let text = print_module(module);
    let again = tree(&text);
    assert!(again == *module, "{text}\n{again:#?}\n{module:#?}");
    assert_eq!(print_module(&again), text);
    // Breaks made by the printer are kept as if an author had made them.
    assert_eq!(format(&text, FileId(0)).as_ref(), Ok(&text));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]
    #[test]
    fn drawn_trees(choices in proptest::collection::vec(any::<u8>(), 0..400)) {
        check_tree(&common::Draw::new(&choices).module());
    }
}

/// Prints as `expect`, which prints as itself.
fn check(text: &str, expect: &str) {
    assert_eq!(print_module(&tree(text)), format!("{expect}\n"));
    assert_eq!(print_module(&tree(expect)), format!("{expect}\n"));
}

#[test]
fn expressions_have_few_parentheses() {
    check("def f = ((a) + (b * c)) - (d - e)", "def f = a + b * c - (d - e)");
    check("def f = (-x) ** 2", "def f = (-x) ** 2");
    check("def f = -(x ** 2) + 2 ** (-1)", "def f = -x ** 2 + 2 ** -1");
    check("def f = -(-x)", "def f = -(-x)");
    check("def f = xs |> (map (\\x -> (x + 1)))", "def f = xs |> map \\x -> x + 1");
    check("def f = (map (\\x -> x)) xs", "def f = map (\\x -> x) xs");
    check("def f = f (xs[i]) [1, 2] t.0.1", "def f = f xs[i] [1, 2] t.0.1");
    check("def f = (if a then b else c) + 1", "def f = (if a then b else c) + 1");
    check("def f = 1 + (if a then b else c)", "def f = 1 + if a then b else c");
    check("def f = (xs with [0] = 1) with [1] = 2", "def f = xs with [0] = 1 with [1] = 2");
    check("def f = (not a) && b", "def f = not a && b");
    check("def f = {x = x, y = 1}", "def f = {x, y = 1}");
    check("def f = let a = 1 in let b = 2 in a", "def f =\n  let a = 1\n  let b = 2\n  a");
    check(
        "def f = ((2 *), (* 2), (- 2), (x - 1 *))".replace("(x - 1 *)", "((x - 1) *)").as_str(),
        "def f = ((2 *), (* 2), -2, ((x - 1) *))",
    );
}

#[test]
fn layout() {
    check(
        "--| Areas.\n\n--| One.\n--| Two.\ndef area (s : shape) : real = match s | Circle r -> pi * r ** 2 | Rect w h -> w * h\ntype shape = | Circle real | Rect real real",
        "--| Areas.\n\n--| One.\n--| Two.\ndef area (s : shape) : real =\n  match s\n  | Circle r -> pi * r ** 2\n  | Rect w h -> w * h\n\ntype shape = Circle real | Rect real real",
    );
    check(
        "def softplus (x : real) : real = if x > 30 then x else log1p (exp x) with jvp dx = sigmoid x * dx with vjp dy = sigmoid x * dy",
        "def softplus (x : real) : real = if x > 30 then x else log1p (exp x)\n  with jvp dx = sigmoid x * dx\n  with vjp dy = sigmoid x * dy",
    );
    check(
        "def f = if aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa then bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb else if cccccccccccccccccccccc then d else e",
        "def f =\n  if aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa then bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n  else if cccccccccccccccccccccc then d\n  else e",
    );
    check("import \"a\"\nimport \"b\"\ndef x = 1", "import \"a\"\nimport \"b\"\n\ndef x = 1");
}

/// Formats as `expect`, which formats as itself.
fn check_authored(text: &str, expect: &str) {
    assert_eq!(format(text, FileId(0)).as_deref(), Ok(format!("{expect}\n").as_str()));
    assert_eq!(
        format(&format!("{expect}\n"), FileId(0)).as_deref(),
        Ok(format!("{expect}\n").as_str())
    );
}

#[test]
fn a_short_let_stays_on_its_line() {
    check_authored("def f x = let y = x in y", "def f x = let y = x in y");
    check_authored("def f x =\n let y = x\n in y", "def f x =\n  let y = x\n  y");
    check_authored("def f x =\n let y = x\n in\n y", "def f x =\n  let y = x\n  y");
    check_authored("def f x =\n let y = x in\n y", "def f x =\n  let y = x\n  y");
    let long = "def f aaaaaaaa = let y = aaaaaaaa + aaaaaaaa + aaaaaaaa in y * y * y * y * y * y";
    check_authored(
        long,
        "def f aaaaaaaa =\n  let y = aaaaaaaa + aaaaaaaa + aaaaaaaa\n  y * y * y * y * y * y",
    );
    check("def f x = let y = x in y", "def f x =\n  let y = x\n  y");
}

#[test]
fn breaks_of_authors_stay() {
    check_authored("def f x =\n x", "def f x =\n  x");
    check_authored("def f x = if x then 1\n else 2", "def f x =\n  if x then 1\n  else 2");
    check_authored("def f x = if x then\n 1\n else 2", "def f x =\n  if x then\n    1\n  else 2");
    check_authored("def f xs = for x in xs =>\n x", "def f xs =\n  for x in xs =>\n    x");
    check_authored("def f a b = a\n + b", "def f a b =\n  a\n    + b");
    check_authored("def f a b = a +\n b", "def f a b = a + b");
    check_authored("def f xs = xs |> g\n |> h", "def f xs =\n  xs\n    |> g\n    |> h");
    check_authored("type t = A\n | B", "type t =\n  | A\n  | B");
    check_authored(
        "def f (a : real)\n (b : real)\n : real = a",
        "def f (a : real)\n    (b : real)\n    : real =\n  a",
    );
}

#[test]
fn lists_hang_or_stand_between_their_brackets() {
    check_authored("def f a b = (a,\n b)", "def f a b =\n  (a,\n   b)");
    check_authored("def f a b = (a, b,\n b)", "def f a b = (a, b, b)");
    check_authored("def f a b = (\n a, b)", "def f a b =\n  (\n    a,\n    b\n  )");
    check_authored("def f a = let b = a\n in {\n b }", "def f a =\n  let b = a\n  {\n    b\n  }");
    check_authored("type t = {\n a : real }", "type t = {\n  a : real\n}");
    check_authored("def f = [1, 2,\n 3, 4]", "def f =\n  [1, 2,\n   3, 4]");
}

#[test]
fn sizes_may_be_tight() {
    let tight = "def f [d] (x : [d*(d-1)//2]real) : [d + 1]real = x";
    check_authored(tight, tight);
    check_authored(
        "def f [d] (x : [d*(d - 1)]real) : [dim x 0]real = x",
        "def f [d] (x : [d*(d-1)]real) : [dim x 0]real = x",
    );
}

#[test]
fn parentheses_indent_what_they_enclose() {
    check_authored("def f x = (let y = x\n in y)", "def f x =\n  let y = x\n  y");
}

#[test]
fn programs() {
    for text in [include_str!("programs/taste.lam"), include_str!("programs/everything.lam")] {
        let module = tree(text);
        check_tree(&module);
    }
}

#[test]
fn numbers_are_read_back() {
    check("def f = [1_000, 1.50, 1e3, 2.5e-30, 0.1]", "def f = [1000, 1.5, 1000.0, 2.5e-30, 0.1]");
    check("def f = -9223372036854775808", "def f = -9223372036854775808");
    assert!(parse("def f = 9223372036854775808", FileId(0)).1.len() == 1);
}

/// The Lambada programs in a folder of the repository and below.
fn programs_in(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            programs_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "lam") {
            found.push(path);
        }
    }
}

/// The tokens that the canonical layout keeps: all except parentheses around parentheses, `in`,
/// `with` after `match`, bars and `= x` of `x = x`. Operators and `when` as the layout spells them.
fn kept(text: &str) -> Vec<String> {
    let tokens = tokenize(text, FileId(0)).tokens;
    let word = |k: usize| &text[tokens[k].span.start as usize..tokens[k].span.end as usize];
    let mut out = Vec::new();
    for k in 0..tokens.len() - 1 {
        let next = tokens[k + 1].kind;
        let dropped = match tokens[k].kind {
            TokenKind::Keyword(Keyword::In) => true,
            TokenKind::Keyword(Keyword::With) => next == TokenKind::Bar,
            TokenKind::Open(Bracket::Round) | TokenKind::Close(Bracket::Round) => true,
            TokenKind::Bar | TokenKind::Equals => true,
            _ => false,
        };
        let again = k >= 2 && tokens[k - 1].kind == TokenKind::Equals && word(k) == word(k - 2);
        if !dropped && !again {
            out.push(match (tokens[k].kind, word(k)) {
                (TokenKind::Op(op), _) => op.spelling().to_string(),
                (_, "when") => "if".to_string(),
                (_, word) => word.to_string(),
            });
        }
    }
    out
}

fn comments(text: &str) -> Vec<&str> {
    let spans = tokenize(text, FileId(0)).comments;
    let comment = |span: &Span| text[span.start as usize..span.end as usize].trim_end();
    spans.iter().map(comment).collect()
}

/// Formatting keeps the tree, the tokens and every comment, and changes nothing the second time.
fn check_format(text: &str) {
    assert_eq!(kept(&format_keeps(text)), kept(text), "{text}");
}

/// Formatting keeps the tree and every comment, and changes nothing the second time. Returns the
/// new text.
fn format_keeps(text: &str) -> String {
    let (module, _) = parse(text, FileId(0));
    let printed = print_module(&module);
    let formatted = format(text, FileId(0)).expect("no problems");
    assert_eq!(formatted, printed, "what is printed is not the same program:\n{printed}");
    assert!(tree(&formatted) == tree(text), "{formatted}");
    assert_eq!(format(&formatted, FileId(0)).as_ref(), Ok(&formatted), "not the same again");
    assert_eq!(comments(&formatted), comments(text), "{formatted}");
    formatted
}

#[test]
fn bodies_in_the_column_of_a_let_behind_something() {
    let beside = "def f x = let z = x\n          z * 2\n\n\
                  def g c x =\n  if c then let z = x\n            z * 2\n  else 0\n";
    let within = "def f x = let z = x in z * 2\n\n\
                  def g c x = if c then let z = x in z * 2 else 0\n";
    assert!(tree(beside) == tree(within));
    // The lines of a value may stand to the left of its `let`.
    let left = "def h xs = let s =\n    sum\n           xs\n  in s\n";
    assert!(tree(left) == tree("def h xs = let s = sum xs in s\n"));
}

/// The text with a comment before some of its tokens, on a line of its own or at the end of one,
/// and with empty lines.
fn commented(text: &str, seed: u64) -> String {
    let (mut out, mut end, mut random) = (String::new(), 0, seed);
    let end_of = |k: usize, comments: &[Span]| comments.iter().any(|c| c.start as usize == k);
    let tokens = tokenize(text, FileId(0));
    for (k, token) in tokens.tokens.iter().enumerate() {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let start = token.span.start as usize;
        out.push_str(&text[end..start]);
        end = start;
        let choice = (random >> 33) % 12;
        if k == 0 || token.touches || token.column == 0 || end_of(start, &tokens.comments) {
            continue;
        }
        // A line in the column of a `let` is its body: what begins a line stays in its column, and
        // other tokens move where no `let` is.
        if token.kind == TokenKind::Keyword(Keyword::Let) && !token.starts_line {
            continue;
        }
        let indent = " ".repeat(if token.starts_line { token.column as usize } else { 97 });
        match choice {
            0 => out.push_str(&format!("\n{indent}-- own {k}\n{indent}")),
            1 => out.push_str(&format!(" -- end {k}\n{indent}")),
            2 => out.push_str(&format!("\n\n{indent}")),
            _ => {}
        }
    }
    out + &text[end..]
}

/// Printing keeps every well-formed program of this repository, also with comments in odd places.
/// Programs with mistakes are recognized by their folder or their comments.
#[test]
fn repository() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    for folder in ["crates/lambada/library", "examples", "tests", "benches"] {
        programs_in(&root.join(folder), &mut paths);
    }
    paths.sort();
    assert!(paths.len() > 250, "{}", paths.len());
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("a program");
        let inside = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
        if !parse(&text, FileId(0)).1.is_empty() {
            assert!(inside("errors") || inside("guessed"), "{path:?}");
            continue;
        }
        let named = |name: &str| path.ends_with(name);
        let mut tokens = tokenize(&text, FileId(0)).tokens.into_iter();
        if inside("guessed")
            || tokens.any(|token| matches!(token.kind, TokenKind::Borrowed(_)))
            || named("guessed_calls.lam")
            || named("guesses.lam")
            || named("guessed_spellings.lam")
            || named("filters.lam")
        {
            // They have spellings that the layout replaces.
            format_keeps(&text);
            continue;
        }
        println!("{}", path.display());
        check_tree(&tree(&text));
        check_format(&text);
        // The seed depends only on the file's name, so that new files do not change it for others.
        let name = path.file_name().map(|name| name.as_encoded_bytes().to_vec());
        let seed =
            name.into_iter().flatten().fold(0, |seed, byte| (seed * 31 + u64::from(byte)) % 1_000);
        check_format(&commented(&text, seed));
    }
}

#[test]
fn bodies_without_in() {
    let expect = "def f x =\n  let y = g x\n  h y";
    check_authored("def f x =\n  let y = g x\n  h y", expect);
    check_authored("def f x =\n  let y = x\n  -y", "def f x =\n  let y = x\n  -y");
    check_authored(
        "def f x =\n  let a = x\n  let g y =\n    let z = y\n    if z then a\n    else z\n  g x",
        "def f x =\n  let a = x\n  let g y =\n    let z = y\n    if z then a\n    else z\n  g x",
    );
    check_authored(
        "def f x =\n  let rec g y = h y\n  and h y = g y\n  -- why\n  [g x]",
        "def f x =\n  let rec g y = h y\n  and h y = g y\n  -- why\n  [g x]",
    );
    // In brackets, and right of the `let`, an application continues.
    check_authored("def f x =\n  let y = (g\n  x)\n  y", "def f x =\n  let y = (g x)\n  y");
    check_authored("def f x =\n  let y = g\n   x\n  y", "def f x =\n  let y = g x\n  y");
    check_authored(
        "def f n =\n  accumulate h = n\n  h += 1",
        "def f n =\n  accumulate h = n in\n    h += 1",
    );
}

#[test]
fn spellings_of_other_languages() {
    check_authored("def f x = x ^ 2", "def f x = x ** 2");
    check_authored("def f = fun x (y, z) -> x", "def f = \\x (y, z) -> x");
    check_authored("def f = g >> (fun y -> y + 1)", "def f = g >> (\\y -> y + 1)");
    check_authored(
        "def f x = match x with | 0 -> 1 | n when n > 0 -> 2 | _ -> 3",
        "def f x =\n  match x\n  | 0 -> 1\n  | n if n > 0 -> 2\n  | _ -> 3",
    );
    check_authored(
        "def f x = match x with [] -> 1 | [a] | [a, _] -> a",
        "def f x =\n  match x\n  | [] -> 1\n  | [a] | [a, _] -> a",
    );
    check_authored(
        "def f xs = [g x for x in xs if x > 0]",
        "def f xs = for x in xs if x > 0 => g x",
    );
    check_authored(
        "def f n = [i * j for i in 0..n for j in 1..n]",
        "def f n = for i < n, 1 <= j < n => i * j",
    );
    check_authored(
        "def f n = loop s = 0 for i in a..n if i > 2 do s",
        "def f n = loop s = 0 for a <= i < n if i > 2 do s",
    );
    check_authored("def f = ([1, 2,], (x, y,), {x, y,})", "def f = ([1, 2], (x, y), {x, y})");
    check("def f g x = g(x)[0] + g(x).y", "def f g x = (g x)[0] + (g x).y");
    check("def f g x = g (x)[0]", "def f g x = g x[0]");
    check("def f = \\[a, b] -> a", "def f = \\[a, b] -> a");
    check("def f ([a]) [b, c] = a", "def f ([a]) [b, c] = a");
}

#[test]
fn capital_names() {
    let text =
        "type t = A | B real\n\ndef F [N] (X : [N]real) Y =\n  let G X = X\n  let A = Y\n  C (G N)";
    let module = tree(text);
    assert_eq!(print_module(&module), format!("{text}\n"));
    let shown = format!("{module:?}");
    // `A` is a constructor of the file, and nothing binds `C`.
    assert!(shown.contains("Var(\"N\")") && shown.contains("Var(\"G\")"), "{shown}");
    assert!(shown.contains("Con(\"C\")") && shown.contains("Con(Name { text: \"A\""), "{shown}");
}
