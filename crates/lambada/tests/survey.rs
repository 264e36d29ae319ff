//! Analysis of files that contain errors.

use lambada::{Occurrence, Session, Survey, Symbol};
use lambada_source::{Severity, Span};

const FIRST: &str = "def first [n] (xs : [n]real) : real = sum (for x in xs => x ** 2)\n";
const BROKEN: &str = "def middle (x : real) (k : int) : real =\n  let y = if k > 0 then x * 2 else -x\n  \
    let s = loop a = [y, x][0] for i < k do a + (match (i, y) | (0, b) -> b | _ -> 1)\n  in s + y\n";
const LAST: &str = "def last (x : real) = middle x 2 + first [x, 1]\n";

fn types(survey: &Survey) -> Vec<(&str, &str)> {
    survey.definitions.iter().map(|def| (&*def.name, &*def.scheme)).collect()
}

#[test]
fn what_is_known_of_a_broken_file() {
    let text = format!(
        "{FIRST}def middle (x : real) (k : int) : real = let y = x * in y + real k\n{LAST}"
    );
    let survey = Session::new().survey_text("broken.lam", &text, None);
    let codes: Vec<&str> = survey.problems.iter().map(|problem| problem.code).collect();
    assert!(!survey.is_sound() && codes == ["E0010"], "{codes:?}");
    assert_eq!(
        types(&survey),
        [("first", "[n]real -> real"), ("middle", "real -> int -> real"), ("last", "real -> real")]
    );
    let written = survey.written("middle");
    let expect = "def middle (x : real) (k : int) : real =\n  let y = x * _\n  in y + real k\n";
    assert_eq!((written.as_deref(), survey.written("none")), (Some(expect), None));
}

/// A missing token in one definition causes no problems in others.
#[test]
fn types_of_other_definitions_stay() {
    let (mut session, mut broken) = (Session::new(), 0);
    let tokens = lambada_surface::lexer::tokenize(BROKEN, Default::default()).tokens;
    for token in &tokens[2..tokens.len() - 1] {
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        let text = format!("{FIRST}{} {}{LAST}", &BROKEN[..start], &BROKEN[end..]);
        if lambada_surface::parse(&text, Default::default()).1.is_empty() {
            continue; // another program, and none that is broken
        }
        broken += 1;
        let survey = session.survey_text("broken.lam", &text, None);
        let known = types(&survey);
        assert_eq!(known[0], ("first", "[n]real -> real"), "{text}");
        assert_eq!((known.len(), known[2].0), (3, "last"), "{text}");
        let here = FIRST.len()..FIRST.len() + BROKEN.len();
        for problem in survey.problems.iter().filter(|problem| problem.severity == Severity::Error)
        {
            let place = problem.labels[0].span.start as usize;
            assert!(here.contains(&place), "{}: {text}", problem.title);
        }
    }
    assert!(broken > 40, "{broken}");
}

/// Each name with its meaning, in a broken file too, and types by place.
#[test]
fn names_and_types_by_place() {
    let text = "import \"std/linalg\" as la\n\
        def f {m, k} = (la.svd m).1 * k\n\
        def g (k : real) = let z = sin k in z\n\
        def h y = f y + (\n";
    let survey = Session::new().survey_text("names.lam", text, None);
    let names = survey.occurrences();
    let shown = |one: &Occurrence| {
        let name = survey.sources.text(one.span);
        let meaning = match &one.symbol {
            Symbol::Local(place, _) => format!("local {}", survey.sources.line_column(*place).1),
            Symbol::Definition(place) => survey.sources.get(place.file).name.clone(),
            Symbol::Field(_) => "field".to_string(),
            Symbol::Module(_) => "module".to_string(),
            Symbol::Builtin(_) => "builtin".to_string(),
            Symbol::Type(_) | Symbol::Constructor(_) => "type".to_string(),
        };
        format!("{name} {}{meaning}", if one.binds { "is " } else { "" })
    };
    let found: Vec<String> = names.iter().map(shown).collect();
    let expect = "std/linalg module; la is module; f is names.lam; m is local 8; m field; \
        k is local 11; k field; la module; svd <std>/linalg; m local 8; k local 11; \
        g is names.lam; k is local 8; real builtin; z is local 24; sin builtin; k local 8; \
        z local 24; h is names.lam; y is local 7; f names.lam; y local 7";
    assert_eq!(found.join("; "), expect);
    let z = text.find("z = sin").expect("it is there");
    let place = Span::new(survey.file, z, z + 1);
    assert_eq!(survey.type_at(place).as_deref(), Some("real"));
    assert!(survey.variables().contains(&(place, "real".to_string())));
    let edit = survey.import_edit("std/dist");
    assert_eq!((edit.span.start, &*edit.text), (25, "\nimport \"std/dist\""));
}
