//! Rules in the text, and messages of the checker about rules of other types.

use lambada_anf::{check, print, read};

const SQUARE: &str = "\
def square (a : real) (n : int) (xs : [n]real) {
  ys : [n]real = for i < n (collect) {
    x : real = xs[i]
    y : real = mul x, a
    => y
  }
  => n : int, ys : [n]real
} captures 1 jvp square_jvp vjp square_vjp
def square_jvp (a : real) (n : int) (xs : [n]real) (m : int) (ys : [n]real) (xs_tan : [n]real) {
  => xs_tan : [n]real
}
def square_vjp (a : real) (n : int) (xs : [n]real) (m : int) (ys : [n]real) (ys_ct : [n]real) {
  => ys_ct : [n]real
}
f [n] (xs : [n]real) {
  m : int, ys : [n]real = call square (2.0, n, xs)
  => ys : [n]real
}
";

#[test]
fn rules_are_printed_and_read() {
    let program = read(SQUARE).expect("a program");
    assert_eq!(print(&program), SQUARE);
    let rules = program.library.functions[0].as_ref().and_then(|f| f.rules.clone());
    assert_eq!(rules.map(|rules| (rules.captured, rules.all().count())), Some((1, 2)));
    check(&program).expect("well formed");
}

#[test]
fn rules_have_the_types_that_belong_to_their_function() {
    let complaint = |from: &str, to: &str| {
        let text = SQUARE.replacen(from, to, 1);
        assert_ne!(text, SQUARE, "{from}");
        check(&read(&text).expect("a program")).expect_err(to)
    };
    let without_value = complaint("(m : int) (ys : [n]real) (xs_tan", "(m : int) (xs_tan");
    assert!(without_value.contains("takes too little"), "{without_value}");
    let of_captured = complaint("captures 1 ", "");
    assert!(of_captured.contains("square_jvp has"), "{of_captured}");
    let too_many = complaint("captures 1 ", "captures 4 ");
    assert!(too_many.contains("captures more than"), "{too_many}");
    let scalar = complaint("=> ys_ct : [n]real", "=> a : real");
    assert!(scalar.contains("square_vjp has"), "{scalar}");
    let with_rules = complaint("=> xs_tan : [n]real\n}", "=> xs_tan : [n]real\n} vjp square_vjp");
    assert!(with_rules.contains("has rules"), "{with_rules}");
}
