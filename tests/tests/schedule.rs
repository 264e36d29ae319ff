//! Programs as graphs of scalar definitions: each program under `tests/programs` and its first derivatives give the same when their regions become
//! graphs and come back; one that is a single region gives the same as a graph.

use std::collections::HashMap;
use std::path::Path;

use lambada::operators::{self, Operator};
use lambada::{Data, Executable, Session, Tensor};
use lambada_anf as anf;
use lambada_core::{self as core, DefId, Program};
use lambada_lower::{Kernel, Nests, lower_with};
use lambada_prim::Scalar;
use lambada_schedule::{
    Distributed, Leave, Nominal, graph, kernels, prepared, through_graphs, whole,
};
use lambada_testkit::{Random, Tolerance, all_close, parallel};
use lambada_tests::expectations::{Expectation, Kind, arguments, expectations, programs};
use lambada_tests::oracle::differentiable;

/// Nests with four lanes.
struct Lanes;

impl Nests for Lanes {
    fn of(&self, function: &anf::Function) -> HashMap<anf::Var, Kernel> {
        let kernel = |(var, kernel): (anf::Var, lambada_schedule::Kernel)| {
            let lambada_schedule::Kernel { statements, before, inputs, outputs, added, code } =
                kernel;
            (var, Kernel { statements, before, inputs, outputs, added, code })
        };
        kernels(function, 4).into_iter().map(kernel).collect()
    }
}

/// A program with arguments.
struct Case {
    name: String,
    program: Program,
    entry: DefId,
    args: Vec<Data>,
}

/// How many programs were compared, and how many of them are one region.
#[derive(Default)]
struct Count {
    compared: usize,
    whole: usize,
    nests: usize,
    failures: usize,
}

/// The results, or the message of the failure.
type Given = Result<Vec<Tensor>, String>;

fn same(what: &str, expected: &Given, found: &Given) {
    match (expected, found) {
        (Ok(a), Ok(b)) => {
            for (k, (a, b)) in a.iter().zip(b).enumerate() {
                assert_eq!(a.dims, b.dims, "{what}: the sizes of result {k}");
                let reals = |t: &Tensor| match &t.data {
                    lambada::Elements::Real(xs) => xs.clone(),
                    lambada::Elements::Int(xs) => xs.iter().map(|x| *x as f64).collect(),
                    lambada::Elements::Bool(xs) => xs.iter().map(|x| f64::from(*x)).collect(),
                };
                let compared = all_close(&"result", &reals(b), &reals(a), Tolerance::mixed(1e-9));
                compared.unwrap_or_else(|e| panic!("{what}: {e}"));
            }
        }
        (Err(a), Err(b)) if a == b => {}
        (_, _) => panic!("{what}: {found:?} instead of {expected:?}"),
    }
}

/// What the graph of a whole program gives.
fn run_graph(f: &anf::Function, whole: &Distributed, args: &[Tensor]) -> Given {
    let value = |var: anf::Var| {
        let size = |(p, arg): (&anf::Param, &Tensor)| {
            let k = p.ty.dims.iter().position(|d| *d == anf::Atom::Var(var))?;
            Some(Tensor::scalar(Scalar::Int(arg.dims[k] as i64)))
        };
        let param = f.params.iter().position(|p| p.var == var).map(|k| args[k].clone());
        param.or_else(|| f.params.iter().zip(args).find_map(size))
    };
    let inputs: Vec<Tensor> =
        whole.inputs.iter().map(|var| value(*var).expect("an input of the program")).collect();
    let found = graph::eval(&whole.graph, &inputs).map_err(|failure| failure.message)?.results;
    let result = |atom: &anf::Atom| match atom {
        anf::Atom::Lit(value) => Tensor::scalar(*value),
        anf::Atom::Var(var) => {
            let output = whole.outputs.iter().position(|known| known == var);
            output.map(|k| found[k].clone()).or_else(|| value(*var)).expect("a result")
        }
    };
    Ok(f.body.results.iter().map(result).collect())
}

fn compare(case: &Case, count: &mut Count) {
    let Ok(arrays) = lambada::arrays(&case.program, case.entry) else { return };
    let [_, optimized, _] = Executable::stages(&arrays);
    let Ok(tensors) = optimized.tensors(&case.args) else { return };
    for (stage, f) in
        [("normalized", &arrays.normalized.function), ("optimized", &*arrays.optimized)]
    {
        let what = format!("{}, {stage}", case.name);
        // Sizes come first.
        let args = &tensors[tensors.len() - f.params.len()..];
        let run = |f: &anf::Function| -> Given {
            anf::eval(f, args).map(|o| o.results).map_err(|failure| failure.message)
        };
        let expected = run(f);
        let mut back = f.clone();
        let well_formed = |region: &graph::Graph| {
            let checked = graph::check(region);
            checked.unwrap_or_else(|e| panic!("{what}: {e}\n{}", graph::print(region)));
        };
        // What is optimized is prepared; what is not stays as it is.
        let rewrite = |region: &graph::Graph| {
            well_formed(region);
            if stage == "normalized" {
                return region.clone();
            }
            let prepared = prepared(region, &Nominal::default(), Leave::Checked);
            well_formed(&prepared);
            prepared
        };
        through_graphs(&mut back, &mut |region| rewrite(&region));
        anf::check(&back).unwrap_or_else(|e| {
            panic!("{what}: {e}\nbefore:\n{}\nafter:\n{}", anf::print(f), anf::print(&back))
        });
        same(&format!("{what}, there and back"), &expected, &run(&back));
        if let Some(mut graph) = whole(f) {
            graph.graph = rewrite(&graph.graph);
            same(&format!("{what}, as a graph"), &expected, &run_graph(f, &graph, args));
            count.whole += 1;
        }
        if stage == "optimized" {
            let lowered = lower_with(f, &Lanes);
            lambada_loops::check(&lowered).unwrap_or_else(|e| panic!("{what}: {e}"));
            let found = lambada_loops::eval(&lowered, &tensors).map_err(|failure| failure.message);
            same(&format!("{what}, with nests"), &expected, &found);
            count.nests += usize::from(lowered != lambada_lower::lower(f));
        }
        count.compared += 1;
        count.failures += usize::from(expected.is_err());
    }
}

/// The value and, where there are any, the forward and the reverse derivative.
fn cases(name: &str, program: Program, entry: DefId, args: Vec<Data>) -> Vec<Case> {
    let mut cases = Vec::new();
    let wrt = differentiable(&program, entry).unwrap_or_default();
    let value = core::eval::run(&program, entry, &args);
    let mut random = Random(11);
    let mut like =
        |data: &Data| lambada::vectors::with_reals(data, &mut || random.between(-1.0, 1.0));
    if let (Ok(value), false) = (&value, wrt.is_empty()) {
        let point = match &wrt[..] {
            [single] => args[*single].clone(),
            several => Data::Tuple(several.iter().map(|k| args[*k].clone()).collect()),
        };
        for (operator, seed) in [(Operator::Jvp, like(&point)), (Operator::Vjp, like(value))] {
            let mut program = program.clone();
            if let Ok(entry) = operators::derive(&mut program, entry, operator, &wrt) {
                let args = args.iter().cloned().chain([seed]).collect();
                cases.push(Case { name: format!("{name} {operator:?}"), program, entry, args });
            }
        }
    }
    cases.push(Case { name: name.into(), program, entry, args });
    cases
}

fn file(path: &Path) -> Count {
    let mut count = Count::default();
    let text = std::fs::read_to_string(path).expect("a listed program can be read");
    let unit = Session::new().load(path).unwrap_or_else(|p| panic!("{}: {p:?}", path.display()));
    let runs = |e: &Expectation| !matches!(e.kind, Kind::Check);
    for promise in expectations(&text).iter().filter(|e| runs(e)) {
        let name = format!("{}:{}", path.display(), promise.line + 1);
        let args = arguments(&unit, promise).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (program, entry) = unit.definition(&promise.entry).expect("a definition");
        cases(&name, program, entry, args).iter().for_each(|case| compare(case, &mut count));
    }
    count
}

#[test]
fn programs_come_back_from_graphs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut files = [programs(&folder), programs(&folder.join("recursion"))].concat();
    files.retain(|path| path.to_string_lossy().contains(&only));
    let counts = parallel(&files, |path| file(path));
    let total = counts.iter().fold(Count::default(), |all, count| Count {
        compared: all.compared + count.compared,
        whole: all.whole + count.whole,
        nests: all.nests + count.nests,
        failures: all.failures + count.failures,
    });
    println!(
        "{} programs, {} graphs, {} nests, {} failures",
        total.compared, total.whole, total.nests, total.failures
    );
    assert!(total.compared > 1000 && total.whole > 500 && total.nests > 50 || !only.is_empty());
}
