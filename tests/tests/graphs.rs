//! The graphs of the suite's gradient programs, as they come from the pipeline: their costs, and
//! the number of their passes over the points.

use std::path::Path;

use lambada::{Elements, Session, Tensor};
use lambada_anf as anf;
use lambada_graph::{self as graph, Graph, Nominal, Outcome, Plan, Runs};
use lambada_prim::{Precision, Scalar};
use lambada_schedule::{Distributed, Leave, best, prepared, whole, without_literals};
use lambada_testkit::{Random, Tolerance, all_close, golden};

/// A program of the suite as graphs, without and with the optimizer.
struct Program {
    name: String,
    stages: Vec<(&'static str, anf::Function, Distributed)>,
}

fn program(file: &str, entry: &str) -> Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/gradbench");
    let path = folder.join(format!("{file}.lam"));
    let unit = Session::new().load(&path).unwrap_or_else(|p| panic!("{p:?}"));
    let (program, id) = unit.definition(entry).expect("a definition");
    let arrays = lambada::arrays(&program, id).expect("array code");
    let stages = [("normalized", &arrays.normalized.function), ("optimized", &*arrays.optimized)]
        .map(|(stage, f)| {
            let whole = whole(f).unwrap_or_else(|| panic!("{file}, {stage}: is not one region"));
            graph::check(&whole.graph).unwrap_or_else(|e| panic!("{file}, {stage}: {e}"));
            (stage, f.clone(), whole)
        });
    Program { name: file.into(), stages: stages.into() }
}

/// Arguments of a function for its sizes, which are given by their names in the source.
struct Case {
    args: Vec<Tensor>,
}

fn reals(random: &mut Random, dims: &[usize]) -> Tensor {
    let data = (0..dims.iter().product()).map(|_| random.between(-1.0, 1.0)).collect();
    Tensor::reals(dims.to_vec(), data)
}

fn int(value: usize) -> Tensor {
    Tensor::scalar(Scalar::Int(value as i64))
}

/// The inputs of a graph.
fn inputs(f: &anf::Function, whole: &Distributed, args: &[Tensor]) -> Vec<Tensor> {
    let size = |var: &anf::Var| {
        f.params.iter().zip(args).find_map(|(p, arg)| {
            let k = p.ty.dims.iter().position(|dim| *dim == anf::Atom::Var(*var))?;
            Some(int(arg.dims[k]))
        })
    };
    let param =
        |var: &anf::Var| f.params.iter().position(|p| p.var == *var).map(|k| args[k].clone());
    whole.inputs.iter().map(|var| param(var).or_else(|| size(var)).expect("an input")).collect()
}

/// The results of a graph, in the order of the function's results.
fn results(f: &anf::Function, whole: &Distributed, given: &Outcome) -> Vec<Tensor> {
    let result = |atom: &anf::Atom| {
        let output = whole.outputs.iter().position(|var| anf::Atom::Var(*var) == *atom);
        given.results[output.expect("an output")].clone()
    };
    f.body.results.iter().map(result).collect()
}

fn nominal(inputs: &[Tensor]) -> Nominal {
    let size = |t: &Tensor| match &t.data {
        Elements::Int(xs) if t.dims.is_empty() => xs[0],
        Elements::Int(_) | Elements::Real(_) | Elements::Bool(_) => 1,
    };
    Nominal::of((0..).zip(inputs.iter().map(size)))
}

fn run(what: &str, graph: &Graph, inputs: &[Tensor]) -> Outcome {
    graph::check(graph).unwrap_or_else(|e| panic!("{what}: {e}\n{}", graph::print(graph)));
    graph::eval(graph, inputs).unwrap_or_else(|e| panic!("{what}: {}", e.message))
}

fn same(what: &str, expected: &[Tensor], found: &[Tensor]) {
    for (a, b) in expected.iter().zip(found) {
        assert_eq!(a.dims, b.dims, "{what}");
        let reals = |t: &Tensor| match &t.data {
            Elements::Real(xs) => xs.clone(),
            Elements::Int(xs) => xs.iter().map(|x| *x as f64).collect(),
            Elements::Bool(xs) => xs.iter().map(|x| f64::from(*x)).collect(),
        };
        let compared = all_close(&"result", &reals(b), &reals(a), Tolerance::mixed(1e-9));
        compared.unwrap_or_else(|e| panic!("{what}: {e}"));
    }
}

impl Program {
    /// The operations on reals at each stage, factored.
    fn operations(&self, case: &Case, leave: Leave) -> Vec<u64> {
        let count = |(stage, f, whole): &(&'static str, anf::Function, Distributed)| {
            let what = format!("{}, {stage}, {leave:?}", self.name);
            let args = &case.args[case.args.len() - f.params.len()..];
            let expected = anf::eval(f, args).unwrap_or_else(|e| panic!("{what}: {}", e.message));
            let inputs = inputs(f, whole, args);
            let nominal = nominal(&inputs);
            let plain = run(&what, &whole.graph, &inputs);
            let graph = prepared(&whole.graph, &nominal, leave);
            let after = run(&what, &graph, &inputs);
            let results = |given: &Outcome| results(f, whole, given);
            same(&what, &expected.results, &results(&plain));
            same(&what, &expected.results, &results(&after));
            println!("{what}: {} operations, {} factored", plain.reals, after.reals);
            after.reals
        };
        self.stages.iter().map(count).collect()
    }
}

fn mixture(n: usize, k: usize, d: usize) -> Case {
    let mut random = Random(3);
    let shapes = [&[k][..], &[k, d], &[k, d], &[k, d * (d - 1) / 2], &[n, d]];
    let mut args: Vec<Tensor> = shapes.iter().map(|dims| reals(&mut random, dims)).collect();
    args.extend([Tensor::scalar(Scalar::Real(1.0)), int(0)]);
    Case { args }
}

/// The whole gradient of a Gaussian mixture: the products with a triangle are two per point, one
/// forwards and one for the triangle. The one for the means is done once for all points.
#[test]
fn the_gradient_of_a_mixture_has_two_products_per_point() {
    let gmm = program("gmm", "jacobian");
    for (n, k, d) in [(16, 3, 4), (32, 3, 4), (16, 6, 4), (16, 3, 8), (16, 3, 16), (64, 2, 12)] {
        for leave in [Leave::All, Leave::Checked] {
            for reals in gmm.operations(&mixture(n, k, d), leave) {
                let (n, k, d) = (n as u64, k as u64, d as u64);
                let pairs = d * (d - 1) / 2;
                let most =
                    n * k * (4 * pairs + 14 * d + 10) + 8 * k * (d * d + d + 1) + 8 * (n + d);
                assert!(reals <= most, "{reals} of {most} at {n} {k} {d}");
            }
        }
    }
}

fn case(file: &str) -> (Program, Case) {
    let mut random = Random(7);
    let mut real = |dims: &[usize]| reals(&mut random, dims);
    match file {
        "gmm" => (program("gmm", "jacobian"), mixture(9, 3, 4)),
        "lse" => (program("lse", "gradient"), Case { args: vec![real(&[13])] }),
        "llsq" => (program("llsq", "gradient"), Case { args: vec![real(&[6]), int(11)] }),
        "kmeans" => (program("kmeans", "dir"), Case { args: vec![real(&[17, 3]), real(&[4, 3])] }),
        "lstm" => {
            let args = vec![real(&[4, 12]), real(&[3, 3]), real(&[4, 3]), real(&[6, 3])];
            (program("lstm", "jacobian"), Case { args })
        }
        "ba" => {
            let ints = |xs: &[i64]| {
                let data = lambada::Elements::Int(xs.to_vec());
                Tensor { dims: vec![xs.len()], data }
            };
            let args = vec![
                real(&[2, 11]),
                real(&[3, 3]),
                real(&[5]),
                real(&[5, 2]),
                ints(&[0, 1, 0, 1, 1]),
                ints(&[2, 0, 1, 2, 0]),
            ];
            (program("ba", "jacobian"), Case { args })
        }
        other => panic!("no program {other}"),
    }
}

#[test]
fn all_programs_are_graphs_with_the_same_results() {
    for file in ["gmm", "lse", "llsq", "kmeans", "lstm", "ba"] {
        let (program, case) = case(file);
        for leave in [Leave::All, Leave::Checked, Leave::Finite] {
            program.operations(&case, leave);
        }
    }
}

/// The placements of the suite's gradients: the pass over the points that computes each value.
#[test]
fn placements_are_those_of_the_derivations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/graphs");
    for (file, sizes) in [
        ("gmm", &[("n", 1000), ("k", 25), ("d", 10)][..]),
        ("lse", &[("n", 100_000)]),
        ("llsq", &[("n", 16_392), ("m", 128)]),
        ("kmeans", &[("n", 10_000), ("k", 1000), ("d", 16)]),
        ("lstm", &[("c", 1024), ("b", 14), ("r", 4), ("n", 56)]),
        ("ba", &[("n", 16), ("m", 1024), ("p", 1600)]),
    ] {
        let (program, _) = case(file);
        let (_, f, whole) = &program.stages[1];
        let size = |hint: &str| sizes.iter().find(|(name, _)| *name == hint).map(|(_, k)| *k);
        let named =
            (0..).zip(&whole.inputs).filter_map(|(k, var)| Some((k, size(&f.names.hint(*var))?)));
        let nominal = Nominal::of(named);
        let graph = without_literals(&prepared(&whole.graph, &nominal, Leave::Apart));
        let placed = best(&graph, &nominal, Plan::of(8), (Precision::F64, Runs::Once));
        let text = placed.map_or_else(
            || graph::print(&graph),
            |placed| lambada_emit::explained(&placed, None, true),
        );
        golden(&folder.join(format!("{file}.txt")), &text).unwrap_or_else(|e| panic!("{e}"));
    }
}
