//! The table of passes, in the book and in the arguments of `show`.

use std::path::Path;

use lambada::{Operator, Session, Stage, passes, table};

#[test]
fn the_book_has_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/passes.md");
    let text = std::fs::read_to_string(&page).expect("the page");
    let (before, rest) = text.split_once("| pass |").expect("a table");
    let after = rest.split_once("\n\n").expect("text after the table").1;
    let expected = format!("{before}{}\n{after}", table());
    if lambada_testkit::blessing() {
        std::fs::write(&page, &expected).expect("the page can be written");
    } else {
        assert!(text == expected, "BLESS=1 puts this into the book:\n{}", table());
    }
}

#[test]
fn every_pass_of_the_optimizer_can_be_shown() {
    let mut session = Session::new();
    let text = "def f [n] (x : [n]real) : real = sum (for i < n => x[i] * x[i])\n";
    let unit = session.load_text("f.lam", text, None).expect("it is well typed");
    let show = |pass: &str| unit.show("f", Stage::Anf, Operator::Grad, None, Some(pass));
    let last = unit.show("f", Stage::Anf, Operator::Grad, None, None).expect("it compiles");
    for pass in passes().iter().filter(|p| p.languages == "anf → anf") {
        let inside_of_normalize = ["simplify-derivand", "forward", "reverse"].contains(&pass.name);
        assert_eq!(show(pass.name).is_err(), inside_of_normalize, "{}", pass.name);
    }
    assert_eq!(show("none").expect("it compiles"), show("normalize").expect("it compiles"));
    assert_ne!(show("none").expect("it compiles"), last);
    // The last pass prints the compiled function, since the last round changes nothing.
    for pass in ["read-before-update", "simplify", "loop-fusion"] {
        assert_eq!(show(pass).expect("it compiles"), last, "{pass}");
    }
}
