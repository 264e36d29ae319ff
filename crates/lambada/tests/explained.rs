//! The explanations of codes. Each wrong program has its mistake and no other, with the message in
//! `tests/errors/codes` (`BLESS=1` writes it); each corrected program has none. The test of the
//! book runs the sessions.

use std::path::Path;

use lambada::{Example, Explanation, Session, explain_code, explanations};
use lambada_testkit::golden;

/// The codes and the rendered problems of a program.
fn problems(name: &str, text: &str) -> (Vec<&'static str>, String) {
    let mut session = Session::new();
    let problems = match session.load_text(name, text, None) {
        Ok(unit) => unit.warnings,
        Err(problems) => problems,
    };
    let mut codes: Vec<&'static str> = problems.iter().map(|problem| problem.code).collect();
    codes.dedup();
    (codes, session.render(&problems, false))
}

fn check(explanation: &Explanation) -> Result<(), String> {
    let code = explanation.code;
    for example in &explanation.examples {
        match example {
            Example::Wrong(text) => {
                let (codes, found) = problems(&format!("{code}.lam"), text);
                if codes != [code] {
                    return Err(format!("{code}: the wrong program has {codes:?}\n{found}"));
                }
                let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/errors/codes");
                golden(&folder.join(format!("{code}.stderr")), &found)?;
            }
            Example::Right(text) => {
                let (codes, found) = problems(&format!("{code}.lam"), text);
                if !codes.is_empty() {
                    return Err(format!("{code}: the right program has {codes:?}\n{found}"));
                }
            }
            Example::Session(text) => {
                let last = text.split("\n$ ").last().unwrap_or_default();
                if !text.contains(&format!("[{code}]")) || last.contains("error[") {
                    return Err(format!("{code}: the session does not show it\n{text}"));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn each_wrong_program_has_its_mistake_and_the_right_one_has_none() {
    let all = explanations();
    assert!(all.len() > 150, "only {} explanations", all.len());
    let wrong: Vec<String> = all.iter().filter_map(|one| check(one).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn codes_are_in_order_and_have_both_sides() {
    let all = explanations();
    assert!(all.windows(2).all(|pair| pair[0].code < pair[1].code));
    for Explanation { code, title, meaning, examples } in &all {
        assert!(!title.is_empty() && !meaning.is_empty(), "{code}");
        let sides = |side: fn(&Example) -> bool| examples.iter().filter(|e| side(e)).count();
        let wrong = sides(|example| matches!(example, Example::Wrong(_)));
        assert_eq!(wrong, sides(|example| matches!(example, Example::Right(_))), "{code}");
    }
}

#[test]
fn a_code_is_explained() {
    let text = explain_code("e0301").expect("there is such a code");
    assert!(text.starts_with("E0301: independent sizes"), "{text}");
    assert!(text.contains("\nWrong:\n\n    def f [n][m]") && text.contains("\nRight:\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 90), "{text}");
}

#[test]
fn codes_near_one_that_does_not_exist() {
    let problem = explain_code("E0308x").expect_err("no code");
    assert!(problem.hints[0].text.contains("lambada explain"), "{problem:?}");
    let problem = explain_code("E9999").expect_err("there is no such code");
    assert!(problem.title.contains("`E9999`") && problem.hints[0].text.contains("`E0959`"));
    let problem = explain_code("E0399").expect_err("there is no such code");
    assert!(problem.hints[0].text.contains("`E0401`"), "{problem:?}");
}
