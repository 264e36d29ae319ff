//! The cheap gradient, counted: the derivatives do at most a constant times the work of the
//! program, at every size and depth of nesting.

use lambada_anf::Atom;
use lambada_prim::{Scalar, ScalarTy, Tensor};

use crate::program::{Point, Program, elements};

struct Ratio {
    reals: f64,
    memory: f64,
    /// Peak of live bytes; the value's bytes include its writes.
    peak: f64,
}

/// Ratios of the reverse derivative's work to the program's, at a point where all sizes are equal.
fn ratio(program: &Program, size: usize) -> Ratio {
    let fill = |dims: &[Atom]| {
        let dims = vec![size; dims.len()];
        let len: usize = dims.iter().product();
        Tensor::reals(dims, (0..len).map(|k| 0.3 + 0.1 * (k % 7) as f64).collect())
    };
    let params: Vec<Tensor> = program.f.params.iter().map(|p| fill(&p.ty.dims)).collect();
    let point = Point { constants: vec![], params };
    let (results, primal) = program.run(&point).expect("the program runs");
    let ones = results
        .iter()
        .filter(|t| t.elem() == ScalarTy::Real)
        .map(|t| Tensor::reals(t.dims.clone(), vec![1.0; elements(t).len()]));
    let seeded = Point { params: point.params.iter().cloned().chain(ones).collect(), ..point };
    let (_, reverse) = program.reverse().run(&seeded).expect("the derivative runs");
    // A program may have no memory accesses although its derivative must store its values.
    let all = (primal.reals + primal.loads + primal.stores) as f64;
    Ratio {
        reals: reverse.reals as f64 / primal.reals as f64,
        memory: (reverse.loads + reverse.stores) as f64 / all,
        peak: reverse.peak as f64 / (primal.peak + primal.written) as f64,
    }
}

/// The ratios of a program stay below the bounds at all sizes, and those of
/// operations and memory accesses do not grow.
fn cheap(name: &str, sizes: [usize; 3], [reals, memory, peak]: [f64; 3]) {
    let program = Program::named(name);
    let ratios = sizes.map(|size| ratio(&program, size));
    let text = ratios.each_ref().map(|r| format!("{:.2}/{:.2}/{:.2}", r.reals, r.memory, r.peak));
    eprintln!("{name}: {}", text.join(" "));
    let fine = |r: &Ratio| r.reals <= reals && r.memory <= memory && r.peak <= peak;
    assert!(ratios.iter().all(fine), "{name}: reals/memory/peak {}", text.join(" "));
    let [first, _, last] = &ratios;
    assert!(
        last.reals <= 1.2 * first.reals && last.memory <= 1.2 * first.memory,
        "{name} grows: {}",
        text.join(" ")
    );
}

#[test]
fn gradients_are_cheap() {
    // No bound on the peak.
    let any = f64::INFINITY;
    cheap("cost/triple_nest", [4, 8, 16], [6.0, 10.0, any]);
    cheap("laws/scans", [8, 16, 64], [6.0, 12.0, any]);
    cheap("cost/loop_in_for", [8, 16, 64], [6.0, 10.0, any]);
    cheap("cost/for_in_loop", [8, 16, 64], [6.0, 12.0, any]);
    cheap("cost/state_in_place", [50, 100, 800], [7.0, 14.0, any]);
    cheap("cost/triangles", [8, 16, 32], [7.0, 14.0, any]);
    cheap("cost/extrema", [4, 8, 16], [6.0, 12.0, any]);
    cheap("cost/while_in_for", [8, 16, 64], [7.0, 14.0, any]);
    cheap("cost/while_in_place", [16, 64, 256], [6.0, 14.0, 5.0]);
    cheap("cost/while_in_a_loop_in_place", [8, 16, 64], [6.0, 14.0, 6.0]);
    cheap("laws/cholesky", [8, 16, 32], [6.0, 14.0, any]);
    cheap("cost/cholesky_flat", [6, 12, 24], [6.0, 14.0, 3.0]);
    cheap("cost/cholesky_by_columns", [6, 12, 24], [6.0, 14.0, 3.0]);
    cheap("cost/rows_in_place", [6, 12, 24], [8.0, 16.0, 3.0]);
}

/// The ratio of a nest of maps of depth d, each level with costly code before the inner nest.
#[test]
fn depth_of_nesting_does_not_matter() {
    fn nest(depth: usize) -> String {
        if depth == 0 {
            return "s : real = sin x".into();
        }
        let inner = nest(depth - 1);
        format!(
            "sum : real = for i < 3 (reduce add) {{
            t : real = to_real i
            u : real = add x, t
            v : real = exp u
            x : real = tanh v
            {inner}
            => s
            }}
            s : real = mul sum, x"
        )
    }
    let ratios: Vec<Ratio> = (1..=6)
        .map(|depth| {
            let text = format!("f (x : real) {{\n {}\n => s : real\n}}\n", nest(depth));
            ratio(&Program::read(&text), 0)
        })
        .collect();
    let reals: Vec<f64> = ratios.iter().map(|r| r.reals).collect();
    assert!(reals.iter().all(|r| *r < 5.0), "{reals:?}");
    assert!(reals[5] < 1.1 * reals[1], "{reals:?}");
}

/// The array grows while the loop does not.
#[test]
fn arrays_that_are_read_cost_nothing() {
    let derivative = Program::named("cost/arrays_that_are_read").reverse();
    let [small, large] = [100, 10_000].map(|n| {
        let params = vec![Tensor::reals(vec![n], vec![0.9; n]), Tensor::scalar(Scalar::Real(1.0))];
        derivative.run(&Point { constants: vec![], params }).expect("runs").1
    });
    assert_eq!(small.reals, large.reals);
    // One array of zeros is made, once.
    assert_eq!(large.stores - small.stores, 9_900);
    assert_eq!(small.loads, large.loads);
}

/// Long programs are walked with loops, in linear time.
#[test]
fn long_programs() {
    let steps = "  x : real = sin x\n".repeat(20_000);
    let program = Program::read(&format!("f (x : real) {{\n{steps}  => x : real\n}}\n"));
    let point = |extra: usize| Point {
        constants: vec![],
        params: vec![Tensor::scalar(Scalar::Real(1.0)); 1 + extra],
    };
    for derivative in [program.forward(), program.reverse()] {
        assert!(derivative.run(&point(1)).is_ok());
    }
}
