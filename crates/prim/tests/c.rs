//! The C text of every primitive agrees with its row's evaluation. Needs a C compiler.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use lambada_prim::{Helper, Precision, Prim, Scalar, ScalarTy, c_helper};

const REALS: [f64; 25] = [
    f64::NEG_INFINITY,
    -1e19,
    -1000.5,
    -7.25,
    -3.0,
    -2.5,
    -1.5,
    -1.0,
    -0.3,
    -1e-9,
    -0.0,
    0.0,
    1e-9,
    0.25,
    0.5,
    1.0,
    1.5,
    2.5,
    3.0,
    10.0,
    33.3,
    1000.5,
    1e19,
    f64::INFINITY,
    f64::NAN,
];
const INTS: [i64; 13] = [i64::MIN, i64::MIN + 1, -1000, -7, -2, -1, 0, 1, 2, 3, 7, 1000, i64::MAX];

#[test]
fn c_agrees_with_eval() {
    let Some(outputs) = compile_and_run(&program()) else {
        assert!(lambada_testkit::may_lack_c_compiler(), "{}", lambada_testkit::NO_C_COMPILER);
        return;
    };
    let mut outputs = outputs.lines();
    for &prim in Prim::ALL {
        for args in grid(prim) {
            let line = outputs.next().expect("a line for each point");
            check(prim, &args, prim.eval(&args), line);
        }
    }
    assert_eq!(outputs.next(), None);
}

/// All points at which a primitive is tried.
fn grid(prim: Prim) -> Vec<Vec<Scalar>> {
    let values = |ty: &ScalarTy| -> Vec<Scalar> {
        match ty {
            ScalarTy::Real => REALS.iter().copied().map(Scalar::Real).collect(),
            ScalarTy::Int => INTS.iter().copied().map(Scalar::Int).collect(),
            ScalarTy::Bool => vec![Scalar::Bool(false), Scalar::Bool(true)],
        }
    };
    let extend = |points: Vec<Vec<Scalar>>, ty| -> Vec<Vec<Scalar>> {
        let values = values(ty);
        points
            .iter()
            .flat_map(|point| values.iter().map(|value| [&point[..], &[*value]].concat()))
            .collect()
    };
    prim.args().iter().fold(vec![Vec::new()], extend)
}

/// A C program that prints a primitive's result at each point of its grid: reals as bits.
fn program() -> String {
    let mut text = String::from(
        "#include <inttypes.h>\n#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n",
    );
    let mut written = Vec::new();
    Prim::ALL
        .iter()
        .filter_map(|prim| prim.row().c.helper())
        .for_each(|helper| write_helper(helper, &mut written, &mut text));
    text += "static double of_bits(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }\n";
    text += "static void put_real(double x) { uint64_t bits; memcpy(&bits, &x, 8); printf(\"%\" PRIu64 \"\\n\", bits); }\n";
    text += "static void put_int(int64_t x) { printf(\"%\" PRId64 \"\\n\", x); }\n";
    for &prim in Prim::ALL {
        write_function(prim, &mut text);
    }
    text += "int main(void) {\n";
    for &prim in Prim::ALL {
        for args in grid(prim) {
            let args: Vec<String> = args.iter().map(|arg| c_literal(*arg)).collect();
            writeln!(text, "  p_{}({});", prim.name(), args.join(", ")).unwrap();
        }
    }
    text + "  return 0;\n}\n"
}

fn write_helper(helper: &'static Helper, written: &mut Vec<&'static str>, text: &mut String) {
    if written.contains(&helper.name) {
        return;
    }
    written.push(helper.name);
    helper
        .needs
        .iter()
        .filter_map(|need| c_helper(need))
        .for_each(|need| write_helper(need, written, text));
    text.push_str(&helper.c(Precision::F64));
}

/// A function that prints the result of a primitive. It takes its arguments at run time, so nothing
/// is folded.
fn write_function(prim: Prim, text: &mut String) {
    let names: Vec<String> = (0..prim.args().len()).map(|k| format!("x{k}")).collect();
    let params: Vec<String> = prim
        .args()
        .iter()
        .zip(&names)
        .map(|(ty, name)| format!("{} {name}", c_type(*ty)))
        .collect();
    let put = if prim.result() == ScalarTy::Real { "put_real" } else { "put_int" };
    let body = prim.row().c.apply(&names);
    writeln!(
        text,
        "static void __attribute__((noinline)) p_{}({}) {{ {put}({body}); }}",
        prim.name(),
        params.join(", ")
    )
    .unwrap();
}

fn c_type(ty: ScalarTy) -> &'static str {
    match ty {
        ScalarTy::Real => "double",
        ScalarTy::Int => "int64_t",
        ScalarTy::Bool => "_Bool",
    }
}

fn c_literal(value: Scalar) -> String {
    match value {
        Scalar::Real(x) => format!("of_bits(UINT64_C({}))", x.to_bits()),
        Scalar::Int(n) => format!("(int64_t)UINT64_C({})", n as u64),
        Scalar::Bool(b) => u8::from(b).to_string(),
    }
}

/// The program's output; `None` without a C compiler.
fn compile_and_run(program: &str) -> Option<String> {
    let folder = std::env::temp_dir().join(format!("lambada-prim-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, binary) = (folder.join("prims.c"), folder.join("prims"));
    std::fs::write(&source, program).unwrap();
    let found = Command::new("cc")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    let output = found.then(|| {
        let flags = [
            "-O1",
            "-fwrapv",
            "-ffp-contract=off",
            "-Wall",
            "-Werror",
            "-Wno-bool-operation",
            "-Wno-unused-function",
        ];
        let status = Command::new("cc")
            .args(flags)
            .arg(&source)
            .arg("-o")
            .arg(&binary)
            .arg("-lm")
            .status()
            .unwrap();
        assert!(status.success(), "the C text does not compile");
        String::from_utf8(Command::new(&binary).output().unwrap().stdout).unwrap()
    });
    std::fs::remove_dir_all(&folder).unwrap();
    output
}

fn check(prim: Prim, args: &[Scalar], expected: Scalar, line: &str) {
    let what = || format!("{} {args:?} is {expected:?}", prim.name());
    match expected {
        Scalar::Int(n) => assert_eq!(line.parse(), Ok(n), "{}", what()),
        Scalar::Bool(b) => assert_eq!(line.parse(), Ok(u8::from(b)), "{}", what()),
        Scalar::Real(x) => {
            let found = f64::from_bits(line.parse().unwrap());
            let near = (found - x).abs() <= 1e-13 * x.abs().max(1e-3);
            assert!(
                near || found == x || found.is_nan() && x.is_nan(),
                "{}, but C says {found:e}",
                what()
            );
        }
    }
}
