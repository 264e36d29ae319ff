//! Handles that functions only hand on to each other.

use lambada_anf::{Audience, check, print, read};

use lambada_optimize::{handed_on, optimize_observed};

/// The text for people of a program in which `even` and `odd` hand `h` to each other and give tapes
/// of tapes; `body` is further code of `odd`.
fn read_by_people(body: &str) -> String {
    let text = format!(
        "type tape {{
  Tape (inside : ref tape, x : real)
}}
def even (n : int) (h : ref tape) {{
  ends : bool = eq_int n, 0
  y : real, t : ref tape = if ends {{
    => 1.0, 0
  }} else {{
    less : int = sub_int n, 1
    z : real, inside : ref tape = call odd (less, h)
    => z, inside
  }}
  tape : ref tape = node tape.Tape (t, y)
  => y : real, tape : ref tape
}}
def odd (n : int) (h : ref tape) {{
  ends : bool = eq_int n, 0
  y : real, t : ref tape = if ends {{
    => 0.0, 0
  }} else {{
    less : int = sub_int n, 1
    z : real, inside : ref tape = call even (less, h)
    => z, inside
  }}
{body}  tape : ref tape = node tape.Tape (t, w)
  => w : real, tape : ref tape
}}
main (n : int) {{
  h : ref tape = node tape.Tape (0, 2.0)
  y : real, t : ref tape = call even (n, h)
  => y : real
}}
"
    );
    let mut program = read(&text).unwrap_or_else(|message| panic!("{message}\n{text}"));
    check(&program).unwrap_or_else(|message| panic!("{message}\n{text}"));
    if handed_on(&mut program) {
        check(&program).unwrap_or_else(|message| panic!("{message}\n{}", print(&program)));
        program = optimize_observed(program, Audience::People, &mut |_, _, _| {});
    }
    print(&program)
}

#[test]
fn what_nobody_reads_goes_from_all_functions_together() {
    let after = read_by_people("  w : real = sin y\n");
    assert!(after.contains("def even (n : int) {") && after.contains("def odd (n : int) {"));
    assert!(!after.contains("node tape"), "{after}");
}

#[test]
fn what_one_of_them_reads_stays() {
    let after = read_by_people("  x : real = field h Tape.x\n  w : real = mul y, x\n");
    assert!(after.contains("def even (n : int) (h : ref tape) {"), "{after}");
    assert!(!after.contains("t : ref tape"), "{after}");
}
