//! Programs with libraries of functions: machine code agrees with the interpreter, and recursion is
//! limited by memory only.

mod common;

use common::{agree, compare, exact, exact_in_parts};
use lambada_loops::{Function, read};
use lambada_prim::{Memory, Scalar, Tensor};

fn program(text: &str) -> Function {
    let function = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    lambada_loops::check(&function).unwrap_or_else(|e| panic!("{e}\n{text}"));
    function
}

fn programs() -> Vec<(Function, i64)> {
    [
        (include_str!("../../loops/tests/programs/factorial.loops"), 20),
        (include_str!("../../loops/tests/programs/parity.loops"), 101),
        (include_str!("../../loops/tests/programs/list.loops"), 1_000_000),
        (include_str!("../../loops/tests/programs/vectors.loops"), 100),
        (include_str!("../../loops/tests/programs/scopes.loops"), 1000),
    ]
    .map(|(text, n)| (program(text), n))
    .into()
}

fn int(value: i64) -> Tensor {
    Tensor::scalar(Scalar::Int(value))
}

#[test]
fn machine_code_does_as_the_interpreter() {
    let programs = programs();
    let functions: Vec<&Function> = programs.iter().map(|(function, _)| function).collect();
    for (kernel, (function, n)) in exact(&functions).iter().zip(&programs) {
        for n in [*n, 0, 1, 3] {
            compare(function, kernel, &[int(n)], 0.0).expect("it runs");
        }
    }
    for (kernel, (function, n)) in exact_in_parts(&functions, 1).iter().zip(&programs) {
        compare(function, kernel, &[int(*n)], 0.0).expect("it runs in parts");
    }
}

#[test]
fn endless_recursion_is_a_failure() {
    let text = "function g(n : int)\n  cell c = 0\n  m = n + 1\n  call g(m) => c\n  c_2 = c\n  d = c_2 + n\n  return d\n\nf(n : int)\n  cell c = 0\n  call g(n) => c\n  c_2 = c\n  return c_2\n";
    let function = program(text);
    let mut kernel = exact(&[&function]).remove(0);
    kernel.limit(Memory { limit: 1 << 24 });
    for _ in 0..2 {
        let failure = kernel.call(&[int(1)]).expect_err("it never ends");
        assert!(failure.message.contains("too deep"), "{failure:?}");
    }
}

#[test]
fn there_may_be_no_memory_for_a_node() {
    let function = programs().remove(2).0;
    let mut kernel = exact(&[&function]).remove(0);
    kernel.limit(Memory { limit: 1 << 20 });
    let failure = kernel.call(&[int(1_000_000)]).expect_err("there is no room");
    let told = ["too deep", "this value needs 24 bytes"];
    assert!(told.iter().any(|text| failure.message.contains(text)), "{failure:?}");
    assert!(kernel.call(&[int(100)]).is_ok(), "less fits");
}

#[test]
fn scopes_release_nodes() {
    let function = programs().remove(4).0;
    let peak = |n| {
        let kernel = exact(&[&function]).remove(0);
        kernel.call(&[int(n)]).expect("it runs");
        kernel.peak()
    };
    assert_eq!(peak(10), peak(1_000_000));
}

#[test]
fn a_library_of_two_programs_in_one_unit_is_not_mixed_up() {
    let both: Vec<Function> = programs().into_iter().map(|(f, _)| f).take(2).collect();
    let again: Vec<&Function> = both.iter().chain(&both).collect();
    let kernels = exact(&again);
    for (kernel, function) in kernels.iter().zip(&again) {
        compare(function, kernel, &[int(6)], 0.0).expect("it runs");
    }
    agree(&both[0], &[int(5)]).expect("it runs");
}
