//! Programs with libraries: functions that call themselves, nodes, arrays by reference.

use lambada_loops::{Function, Program, Terms, check, eval, eval_counted, print, read};
use lambada_prim::{Data, Memory, Scalar, Tensor};

fn program(text: &str) -> Function {
    let function = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    check(&function).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(print(&function), text, "what is read prints as the text");
    function
}

macro_rules! program {
    ($name:literal) => {
        program(include_str!(concat!("programs/", $name, ".loops")))
    };
}

fn int(value: i64) -> Tensor {
    Tensor::scalar(Scalar::Int(value))
}

fn real(value: f64) -> Tensor {
    Tensor::scalar(Scalar::Real(value))
}

fn bool(value: bool) -> Tensor {
    Tensor::scalar(Scalar::Bool(value))
}

#[test]
fn functions_call_themselves() {
    assert_eq!(eval(&program!("factorial"), &[int(10)]), Ok(vec![int(3_628_800)]));
}

#[test]
fn functions_call_each_other() {
    let parity = program!("parity");
    assert_eq!(eval(&parity, &[int(9)]), Ok(vec![bool(false)]));
    assert_eq!(eval(&parity, &[int(10)]), Ok(vec![bool(true)]));
}

#[test]
fn lists_may_be_long() {
    let n = 1_000_000;
    let sum = (n * (n + 1) / 2) as f64;
    assert_eq!(eval(&program!("list"), &[int(n)]), Ok(vec![real(sum), real(0.0), int(-1)]));
}

#[test]
fn arrays_go_by_reference() {
    let vector =
        |values: &[f64]| Tensor { dims: vec![values.len()], data: Data::Real(values.into()) };
    let expected = vec![
        vector(&[0.0, 2.0, 4.0]),
        vector(&[1.75; 3]),
        real(2.25),
        bool(true),
        vector(&[0.0; 3]),
    ];
    assert_eq!(eval(&program!("vectors"), &[int(3)]), Ok(expected));
}

#[test]
fn scopes_release_nodes() {
    let scopes = program!("scopes");
    let peak = |n| eval_counted(&scopes, &[int(n)]).expect("it runs").1.peak;
    assert_eq!(peak(10), peak(1000));
}

#[test]
fn endless_recursion_ends_with_the_memory() {
    let text = "function f(n : int)\n  cell c = 0\n  call f(n) => c\n  c_2 = c\n  return c_2\n\nf(n : int)\n  cell c = 0\n  call f(n) => c\n  c_2 = c\n  return c_2\n";
    let terms = Terms { memory: Memory { limit: 1 << 20 }, ..Terms::default() };
    let failure = Program::new(&program(text)).run_within(&[int(1)], &terms);
    let message = failure.expect_err("it never ends").message;
    assert!(message.contains("too deep"), "{message}");
}

#[test]
fn nodes_count_as_memory() {
    let text = "type list\n  0(int, int)\n\nf(n : int)\n  cell t = 0\n  for i in 0 .. n\n    t_2 = t\n    t_3 = node list:0(i, t_2)\n    t := t_3\n  return\n";
    let program = Program::new(&program(text));
    let terms = Terms { memory: Memory { limit: 24_000 }, ..Terms::default() };
    assert_eq!(program.run_within(&[int(1000)], &terms), Ok(vec![]));
    let failure = program.run_within(&[int(1001)], &terms);
    let message = failure.expect_err("there is no room").message;
    assert!(message.contains("this value needs 24 bytes"), "{message}");
}

#[test]
fn mistakes_are_told() {
    let wrong = |text: &str, why: &str| {
        let function = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let problem = check(&function).expect_err(text);
        assert!(problem.contains(why), "{problem}\n{text}");
    };
    let head = "type t\n  0(real, cell real, []int)\n\nfunction g(n : int, xs : own []real)\n  return n\n\n";
    let f = |body: &str| format!("{head}f(n : int, ys : []real)\n{body}  return\n");
    wrong(&f("  call g(n)\n"), "1 arguments instead of 2");
    wrong(&f("  call g(n, ys)\n"), "only read");
    wrong(&f("  xs = alloc real[n]\n  call g(n, xs)\n"), "0 results instead of 1");
    wrong(&f("  xs = alloc real[n]\n  cell c = 0.0\n  call g(n, xs) => c\n"), "int where real");
    wrong(&f("  a = node t:0(1.0, 2.0)\n"), "2 fields instead of 3");
    wrong(&f("  a = node t:0(1, 2.0, 3)\n"), "int where real");
    wrong(&f("  a = node t:0(1.0, 2.0, ys[n])\n"), "real where int");
    wrong(&f("  a = node t:1()\n"), "no such constructor");
    wrong(&f("  a = field t:0:1 n\n"), "that field is opened");
    wrong(&f("  a = open t:0:0 n [1]\n"), "that field is a value");
    wrong(&f("  a = open t:0:2 n [n]\n  a[0] := 1\n"), "only read");
    wrong("f(xs : own []real)\n  return\n", "may not write");
}
