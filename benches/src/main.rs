//! `cargo run --release -p lambada-benches`: the gradient of examples/gmm.lam against the same derivative written by hand in C (gmm.c), compiled
//! with the same compiler and flags, called in turn in one process. What counts is the ratio; the machine may be busy.

#![allow(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use lambada::operators::Operator;
use lambada::{Data, Engine, Executable, Scalar, Session, Tensor};

/// The C compiler's flags, those of generated code.
const FLAGS: [&str; 8] = [
    "-std=gnu99",
    "-O2",
    "-march=native",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fPIC",
    "-shared",
];

type GmmGradient = unsafe extern "C" fn(
    i32,
    i32,
    i32,
    *const f64,
    *const f64,
    *const f64,
    *const f64,
    *const f64,
    f64,
    i32,
    *mut f64,
    *mut f64,
    *mut f64,
    *mut f64,
) -> f64;

struct Problem {
    d: usize,
    k: usize,
    n: usize,
    alpha: Vec<f64>,
    mu: Vec<f64>,
    q: Vec<f64>,
    l: Vec<f64>,
    x: Vec<f64>,
}

fn problem(d: usize, k: usize, n: usize) -> Problem {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut numbers = |len: usize| {
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        (0..len).map(|_| next()).collect::<Vec<f64>>()
    };
    Problem {
        d,
        k,
        n,
        alpha: numbers(k),
        mu: numbers(k * d),
        q: numbers(k * d),
        l: numbers(k * d * (d - 1) / 2),
        x: numbers(n * d),
    }
}

impl Problem {
    fn arguments(&self) -> Vec<Data> {
        let tri = self.d * (self.d - 1) / 2;
        let reals =
            |dims: &[usize], v: &[f64]| Data::Tensor(Tensor::reals(dims.to_vec(), v.to_vec()));
        vec![
            reals(&[self.k], &self.alpha),
            reals(&[self.k, self.d], &self.mu),
            reals(&[self.k, self.d], &self.q),
            reals(&[self.k, tri], &self.l),
            reals(&[self.n, self.d], &self.x),
            reals(&[], &[1.0]),
            Data::Tensor(Tensor::scalar(Scalar::Int(0))),
        ]
    }
}

struct Manual {
    library: libloading::Library,
    _folder: tempfile::TempDir,
}

impl Manual {
    fn compile(source: &Path) -> Manual {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let library = folder.path().join("gmm.so");
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
        let status = Command::new(compiler)
            .args(FLAGS)
            .arg(source)
            .arg("-o")
            .arg(&library)
            .arg("-lm")
            .status()
            .expect("a C compiler");
        assert!(status.success(), "the hand-written C does not compile");
        // SAFETY: the library was compiled from gmm.c a line above and runs no code when it is loaded.
        let library =
            unsafe { libloading::Library::new(&library) }.expect("a compiled library loads");
        Manual { library, _folder: folder }
    }

    fn run(&self, p: &Problem, gradient: &mut [Vec<f64>; 4]) -> f64 {
        let [alpha, mu, q, l] = gradient;
        // SAFETY: the signature is that of `gmm_gradient` in gmm.c, and every array has the length that it states.
        unsafe {
            let f: libloading::Symbol<GmmGradient> =
                self.library.get(b"gmm_gradient").expect("gmm.c defines it");
            f(
                p.d as i32,
                p.k as i32,
                p.n as i32,
                p.alpha.as_ptr(),
                p.mu.as_ptr(),
                p.q.as_ptr(),
                p.l.as_ptr(),
                p.x.as_ptr(),
                1.0,
                0,
                alpha.as_mut_ptr(),
                mu.as_mut_ptr(),
                q.as_mut_ptr(),
                l.as_mut_ptr(),
            )
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("benches lie in the repository")
        .to_path_buf()
}

fn main() {
    let manual = Manual::compile(&root().join("benches/src/gmm.c"));
    let mut session = Session::new();
    let unit = session
        .load(&root().join("examples/gmm.lam"))
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let wrt: Vec<String> = ["alpha", "mu", "q", "l"].map(String::from).to_vec();
    let value = unit.call("objective", Operator::Value, None).expect("it is there");
    let grad =
        unit.call("objective", Operator::Grad, Some(&wrt)).expect("it can be differentiated");
    let value = Executable::new(value.program, value.entry, Engine::Native)
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let grad = Executable::new(grad.program, grad.entry, Engine::Native)
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    println!(
        "{:<24} {:>12} {:>12} {:>12} {:>10}",
        "gmm", "value ms", "gradient ms", "by hand ms", "ratio"
    );
    for (d, k, n) in [(2, 5, 1000), (10, 5, 1000), (10, 25, 1000), (32, 25, 1000), (64, 25, 1000)] {
        let p = problem(d, k, n);
        let args = p.arguments();
        let mut by_hand =
            [vec![0.0; k], vec![0.0; k * d], vec![0.0; k * d], vec![0.0; k * d * (d - 1) / 2]];
        let expected = manual.run(&p, &mut by_hand);
        let Data::Tuple(pair) = grad.run(&args).expect("it runs") else {
            panic!("value and gradient")
        };
        assert!(close(&pair[0], &[expected]), "the values differ");
        let Data::Tuple(parts) = &pair[1] else { panic!("four gradients") };
        assert!(parts.iter().zip(&by_hand).all(|(a, b)| close(a, b)), "the gradients differ");
        let (mut values, mut gradients, mut hands) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..30 {
            values.extend(value.time(&args, 1).expect("it runs"));
            gradients.extend(grad.time(&args, 1).expect("it runs"));
            let start = Instant::now();
            manual.run(&p, &mut by_hand);
            hands.push(start.elapsed().as_nanos() as u64);
        }
        let (value, gradient, hand) = (median(values), median(gradients), median(hands));
        println!(
            "{:<24} {value:>12.3} {gradient:>12.3} {hand:>12.3} {:>10.2}",
            format!("d={d} k={k} n={n}"),
            gradient / hand
        );
    }
}

/// In milliseconds.
fn median(mut nanoseconds: Vec<u64>) -> f64 {
    nanoseconds.sort_unstable();
    nanoseconds[nanoseconds.len() / 2] as f64 / 1e6
}

fn close(data: &Data, expected: &[f64]) -> bool {
    let Data::Tensor(tensor) = data else { return false };
    let lambada::Elements::Real(found) = &tensor.data else { return false };
    found.len() == expected.len()
        && found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs().max(1.0))
}
