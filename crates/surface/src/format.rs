//! The canonical layout of a file. It keeps all comments, parentheses and spellings of numbers.

use lambada_source::{FileId, Problem, Span};

use crate::lexer::tokenize;
use crate::parser::parse;
use crate::print::print_module;
use crate::spans::erase_spans;

/// The text in canonical layout, or its problems. Formatting is idempotent.
///
/// The result is parsed to verify it: if its program or comments differ, the original text is
/// returned.
pub fn format(text: &str, file: FileId) -> Result<String, Vec<Problem>> {
    let (mut module, problems) = parse(text, file);
    if !problems.is_empty() {
        return Err(problems);
    }
    let out = print_module(&module);
    let (mut again, problems) = parse(&out, file);
    let same = problems.is_empty() && comments(&out) == comments(text) && {
        erase_spans(&mut again);
        erase_spans(&mut module);
        again == module
    };
    Ok(if same { out } else { text.to_string() })
}

/// The comments of a text.
fn comments(text: &str) -> Vec<&str> {
    let spans = tokenize(text, FileId::default()).comments;
    let comment = |span: &Span| text[span.start as usize..span.end as usize].trim_end();
    spans.iter().map(comment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let (module, problems) = parse(text, FileId(0));
        assert!(problems.is_empty(), "{text}");
        assert_eq!(print_module(&module), expect);
        assert_eq!(format(text, FileId(0)).as_deref(), Ok(expect));
        assert_eq!(format(expect, FileId(0)).as_deref(), Ok(expect));
    }

    #[test]
    fn comments_between_items() {
        check(
            "-- a\n\n\n--| b\ndef  f=1 -- c\n  -- d\ndef g=2\n-- e\n\n",
            "-- a\n\n--| b\ndef f = 1 -- c\n-- d\ndef g = 2\n-- e\n",
        );
        check(
            "import \"a\"\n\n\nimport \"b\"\n-- c\nimport \"d\"",
            "import \"a\"\nimport \"b\"\n-- c\nimport \"d\"\n",
        );
        check("", "");
        check("  -- only\n", "-- only\n");
        check("--| File.\n\ndef f = 1", "--| File.\n\ndef f = 1\n");
        check("\u{feff}def f = 1\r\n-- x\r\ndef g = 2\r\n", "def f = 1\n-- x\ndef g = 2\n");
    }

    #[test]
    fn comments_inside_of_items() {
        check(
            "def f =   -- why\n   1+1  \ndef g=1+1",
            "def f = -- why\n  1 + 1\n\ndef g = 1 + 1\n",
        );
        check(
            "def f x =\n  -- one\n  let a = x -- two\n\n  -- three\n  let b = a in\n  -- four\n  a + -- five\n  b",
            "def f x =\n  -- one\n  let a = x -- two\n\n  -- three\n  let b = a\n  -- four\n  a + b -- five\n",
        );
        check(
            "def t = [1, -- one\n 2 -- two\n -- end\n]",
            "def t =\n  [1, -- one\n   2] -- two\n-- end\n",
        );
        check(
            "def f s = match s\n  -- round\n  | A -> 1 -- a\n  | B -> 2",
            "def f s =\n  match s\n  -- round\n  | A -> 1 -- a\n  | B -> 2\n",
        );
        check(
            "type t =\n  | A -- first\n  | B real -- second",
            "type t =\n  | A -- first\n  | B real -- second\n",
        );
    }

    #[test]
    fn parentheses_and_numbers_stay() {
        check("def f = (a * b) + (c)", "def f = (a * b) + (c)\n");
        check("def f = ((a + b) * c) - ((d))", "def f = ((a + b) * c) - (d)\n");
        check("def f = map (\\x -> 1_000 * x) (xs) ", "def f = map (\\x -> 1_000 * x) (xs)\n");
        check("def f = t.0.1 + 1e-3 + -0.50", "def f = t.0.1 + 1e-3 + -0.50\n");
        check("def f = g ((a, b)) ()", "def f = g (a, b) ()\n");
    }

    #[test]
    fn empty_lines_between_bindings_stay() {
        check(
            "def f =\n\n  let a = 1\n\n\n  let b = 2\n  in a",
            "def f =\n  let a = 1\n\n  let b = 2\n  a\n",
        );
    }

    #[test]
    fn short_items_stand_together() {
        check("def f=1\ndef g =2\n\ndef h = 3", "def f = 1\ndef g = 2\n\ndef h = 3\n");
        check(
            "def f = 1\ndef g = match 1\n| _ -> 2",
            "def f = 1\n\ndef g =\n  match 1\n  | _ -> 2\n",
        );
    }

    #[test]
    fn comments_below_an_item_stay_with_it() {
        check("def f = 1\n-- f = 1\n\ndef g = 2", "def f = 1\n-- f = 1\n\ndef g = 2\n");
        check("def f = 1\n\n-- of g\ndef g = 2", "def f = 1\n\n-- of g\ndef g = 2\n");
        let long = "def g =\n  match 1\n  | _ -> 2\n";
        check(&format!("{long}-- of h\ndef h = 2"), &format!("{long}\n-- of h\ndef h = 2\n"));
        check(&format!("{long}-- g = 2\n\ndef h = 2"), &format!("{long}-- g = 2\n\ndef h = 2\n"));
    }

    #[test]
    fn problems_are_told() {
        assert!(format("def f = (", FileId(0)).is_err());
    }
}
