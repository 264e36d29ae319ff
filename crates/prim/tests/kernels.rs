//! The kernel of every array primitive agrees with its row's evaluation, at sizes around those of
//! its blocks. Needs a C compiler.

use std::fmt::Write as _;
use std::process::Command;

use lambada_prim::{ArrayPrim, Data, Precision, ScalarTy, Version};
use lambada_testkit::{Random, Tolerance};

/// Nothing, one, and around the widths and heights of blocks.
const SIZES: [usize; 12] = [0, 1, 2, 3, 5, 8, 17, 31, 33, 48, 65, 131];

/// A call: the sizes of all axes, and the elements of the arguments.
struct Call {
    prim: ArrayPrim,
    sizes: Vec<usize>,
    args: Vec<Vec<f64>>,
}

#[test]
fn kernels_agree_with_evaluation() {
    agree(Precision::F64, TOLERANCE);
}

#[test]
fn kernels_of_single_precision_agree_with_evaluation() {
    agree(Precision::F32, Tolerance::mixed(2e-3));
}

fn agree(precision: Precision, tolerance: Tolerance) {
    let calls = calls(precision);
    let Some(outputs) = compile_and_run(&calls, precision) else {
        assert!(lambada_testkit::may_lack_c_compiler(), "{}", lambada_testkit::NO_C_COMPILER);
        return;
    };
    let mut outputs = outputs.lines();
    for call in &calls {
        let args: Vec<&[f64]> = call.args.iter().map(|arg| &arg[..]).collect();
        let expected: Vec<f64> =
            (call.prim.row().eval)(precision, &call.sizes, &args).iter().flat_map(reals).collect();
        let line = outputs.next().expect("a line for each call");
        let found: Vec<f64> = line
            .split_whitespace()
            .map(|word| f64::from_bits(u64::from_str_radix(word, 16).expect("bits of a real")))
            .collect();
        assert_eq!(found.len(), expected.len(), "{} {:?}", call.prim.name(), call.sizes);
        for (k, (x, y)) in found.iter().zip(&expected).enumerate() {
            assert!(
                tolerance.accepts(*x, *y),
                "{} of sizes {:?}: element {k} is {x}, not {y}",
                call.prim.name(),
                call.sizes
            );
        }
    }
    assert_eq!(outputs.next(), None);
}

/// The elements as reals.
fn reals(data: &Data) -> Vec<f64> {
    match data {
        Data::Real(xs) => xs.clone(),
        Data::Int(ks) => ks.iter().map(|k| *k as f64).collect(),
        Data::Bool(bits) => bits.iter().map(|bit| f64::from(*bit)).collect(),
    }
}

const TOLERANCE: Tolerance = Tolerance::mixed(1e-10);

fn calls(precision: Precision) -> Vec<Call> {
    let mut random = Random(7);
    let mut calls = Vec::new();
    for prim in ArrayPrim::all() {
        let row = prim.row();
        for version in row.versions {
            for round in 0..3 * SIZES.len() {
                // All of one size first, then drawn ones.
                let equal = SIZES.get(round).copied();
                let mut size = |name: char| match used(version, name) {
                    true => equal.unwrap_or_else(|| SIZES[random.below(SIZES.len())]),
                    false => 1,
                };
                let sizes: Vec<usize> = row.axes.chars().map(&mut size).collect();
                let mut args: Vec<Vec<f64>> = version
                    .args
                    .iter()
                    .map(|axes| {
                        let len = axes.chars().map(|name| sizes[place(prim, name)]).product();
                        (0..len).map(|_| random.between(-1.0, 1.0)).collect()
                    })
                    .collect();
                // Square matrices are well conditioned; in one call of three they have a zero on
                // the diagonal.
                if version.args[0] == "nn" {
                    let n = sizes[place(prim, 'n')];
                    (0..n).for_each(|i| args[0][i * n + i] += 2.0 * n as f64);
                    if round % 3 == 2 && n > 0 {
                        args[0][n / 2 * n + n / 2] = 0.0;
                    }
                }
                // Eigenvalues and singular values are apart, so that the vectors are known well.
                let spectral = [ArrayPrim::Eigen, ArrayPrim::Svd].contains(&prim);
                if spectral {
                    let n = sizes[place(prim, 'n')];
                    let count = args[0].len().checked_div(n).unwrap_or_default().min(n);
                    (0..count).for_each(|i| args[0][i * n + i] += (4 * n * i) as f64);
                }
                // Matrices to orthogonalize are well conditioned, too. In one call of three, a
                // column is zero, and one column or the whole second half is twice the first
                // column; in one of six, the last element is a NaN or an infinity.
                if version.args == ["mn"] {
                    let (m, n) = (sizes[place(prim, 'm')], sizes[place(prim, 'n')]);
                    (0..m.min(n)).for_each(|i| args[0][i * n + i] += 2.0 * n as f64);
                    for i in (0..m).filter(|_| round % 3 == 2 && n > 1 && !spectral) {
                        args[0][i * n + n / 3] = 0.0;
                        let doubled = if round % 2 == 0 { n / 2..n / 2 + 1 } else { n / 2..n };
                        doubled.for_each(|j| args[0][i * n + j] = 2.0 * args[0][i * n]);
                    }
                    if round % 6 == 1
                        && let Some(x) = args[0].last_mut()
                    {
                        *x = if round % 12 == 1 { f64::NAN } else { f64::INFINITY };
                    }
                }
                // In one call of three, squares overflow or vanish, for spectra only.
                if spectral {
                    let wide: f64 = if precision == Precision::F64 { 1e250 } else { 1e25 };
                    let scale = [1.0, wide, 1.0, 1.0, 1.0 / wide, 1.0][round % 6];
                    args[0].iter_mut().for_each(|x| *x *= scale);
                }
                // Vectors to sort have equal elements, and in one call of three a NaN.
                if version.args == ["n"] {
                    args[0].iter_mut().for_each(|x| *x = (*x * 20.0).round());
                    if round % 3 == 2
                        && let Some(x) = args[0].last_mut()
                    {
                        *x = f64::NAN;
                    }
                }
                args.iter_mut().flatten().for_each(|x| *x = precision.round(*x));
                calls.push(Call { prim, sizes, args });
            }
        }
    }
    calls
}

fn c_type(ty: ScalarTy) -> &'static str {
    match ty {
        ScalarTy::Real => "lam_element",
        ScalarTy::Int => "int64_t",
        ScalarTy::Bool => "unsigned char",
    }
}

fn used(version: &Version, name: char) -> bool {
    version.axes().any(|(_, _, axis)| axis == name)
}

fn place(prim: ArrayPrim, name: char) -> usize {
    prim.row().axes.find(name).expect("an axis of the row")
}

/// The results, a line for each call, as bits. All arrays have exactly their size, so that a
/// sanitizer sees the accesses of the kernels.
fn compile_and_run(calls: &[Call], precision: Precision) -> Option<String> {
    let mut text = String::from(
        "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n",
    );
    text += &format!("typedef {} lam_element;\n", precision.c());
    let mut texts: Vec<&str> = Vec::new();
    for part in ArrayPrim::all().flat_map(|prim| prim.row().kernel.texts) {
        if !texts.contains(part) {
            texts.push(part);
            text += part;
        }
    }
    text += "static lam_element *take(FILE *in, int64_t n) {\n  lam_element *x = malloc(n * sizeof *x);\n  for (int64_t k = 0; k < n; k++) {\n    double each;\n    if (fread(&each, sizeof each, 1, in) != 1) exit(1);\n    x[k] = each;\n  }\n  return x;\n}\nint main(int count, char **names) {\n  FILE *in = fopen(names[1], \"rb\");\n";
    let mut data = Vec::new();
    for call in calls {
        let row = call.prim.row();
        let len = |axes: &str| -> usize {
            axes.chars().map(|name| call.sizes[place(call.prim, name)]).product()
        };
        let mut given: Vec<String> = call.sizes.iter().map(usize::to_string).collect();
        text += "  {\n";
        for (k, arg) in call.args.iter().enumerate() {
            let _ = writeln!(text, "    lam_element *x{k} = take(in, {});", arg.len());
            given.push(format!("x{k}"));
            data.extend(arg.iter().flat_map(|x| x.to_le_bytes()));
        }
        let results = row.results.iter().zip(row.versions[0].results).enumerate();
        for (k, (ty, axes)) in results.clone() {
            let (ty, count) = (c_type(*ty), len(axes));
            let _ = writeln!(text, "    {ty} *y{k} = malloc({count} * sizeof *y{k});");
            given.push(format!("y{k}"));
        }
        let _ = writeln!(text, "    {}({});", row.kernel.name, given.join(", "));
        for (k, (_, axes)) in results.clone() {
            let count = len(axes);
            let _ = writeln!(
                text,
                "    for (int64_t k = 0; k < {count}; k++) {{ union {{ double x; uint64_t bits; }} word = {{y{k}[k]}}; printf(\"%llx \", (unsigned long long)word.bits); }}\n    free(y{k});"
            );
        }
        text += "    puts(\"\");\n";
        for k in 0..call.args.len() {
            let _ = writeln!(text, "    free(x{k});");
        }
        text += "  }\n";
    }
    text += "  return 0;\n}\n";
    let folder = format!("lambada-kernels-{}-{precision}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    std::fs::create_dir_all(&folder).expect("a folder for a C program");
    let [source, program, input] = ["k.c", "k", "data"].map(|name| folder.join(name));
    std::fs::write(&source, text).expect("the C program");
    std::fs::write(&input, data).expect("its data");
    let status = Command::new("cc")
        .args(["-std=gnu99", "-O1", "-march=native", "-fopenmp-simd", "-ffp-contract=fast"])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-w", "-o"])
        .args([&program, &source])
        .arg("-lm")
        .status()
        .ok()?;
    assert!(status.success(), "{}: the C compiler takes the kernels", source.display());
    let output = Command::new(&program).arg(&input).output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let _ = std::fs::remove_dir_all(&folder);
    Some(String::from_utf8(output.stdout).expect("text"))
}
