//! Programs as graphs of scalar definitions: each program under `tests/programs` and its first
//! derivatives give the same when their regions become graphs and come back; one that is a single
//! region gives the same as a graph.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use lambada::operators::{self, Operator};
use lambada::{Arrays, Data, Elements, Executable, Session, Tensor};
use lambada_anf as anf;
use lambada_core::{self as core, DefId, Program};
use lambada_graph::{self as graph, Mechanism, Mechanisms, Nominal, Plan};
use lambada_loops as loops;
use lambada_prim::{Scalar, ScalarTy};
use lambada_schedule::{
    Along, Choice, Distributed, Leave, prepared, schedule, through_graphs, whole,
};
use lambada_testkit::{Random, Tolerance, all_close, parallel};
use lambada_tests::expectations::{PromiseKind, arguments, expectations, programs};
use lambada_tests::nests::lowered;
use lambada_tests::oracle::differentiable;

/// A definition, or a derivative of it, compiled once, with the arguments of all its promises.
struct Case {
    name: String,
    program: Program,
    entry: DefId,
    arrays: Arrays,
    calls: Vec<Vec<Data>>,
}

/// Counts of compared calls, and of programs that are one region or have nests.
#[derive(Default)]
struct Count {
    compared: usize,
    whole: usize,
    nests: usize,
    failures: usize,
}

/// The results, or the message of the failure.
type RunResult = Result<Vec<Tensor>, String>;

fn same(what: &str, expected: &RunResult, found: &RunResult) {
    if let Err(how) = agree(expected, found) {
        panic!("{what}: {how}");
    }
}

/// Whether results agree up to the order of sums, or the failures are equal.
fn agree(expected: &RunResult, found: &RunResult) -> Result<(), String> {
    match (expected, found) {
        (Ok(a), Ok(b)) => a.iter().zip(b).try_for_each(|(a, b)| {
            if a.dims != b.dims {
                return Err(format!("the sizes {:?} instead of {:?}", b.dims, a.dims));
            }
            let reals = |t: &Tensor| match &t.data {
                Elements::Real(xs) => xs.clone(),
                Elements::Int(xs) => xs.iter().map(|x| *x as f64).collect(),
                Elements::Bool(xs) => xs.iter().map(|x| f64::from(*x)).collect(),
            };
            all_close(&"result", &reals(b), &reals(a), Tolerance::mixed(1e-9))
        }),
        (Err(a), Err(b)) if a == b => Ok(()),
        (_, _) => Err(format!("{found:?} instead of {expected:?}")),
    }
}

/// The results of the graph of a whole program.
fn run_graph(f: &anf::Function, whole: &Distributed, args: &[Tensor]) -> RunResult {
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
    let arrays = &case.arrays;
    let [_, optimized, _] = Executable::stages(arrays);
    let calls: Vec<Vec<Tensor>> =
        case.calls.iter().filter_map(|args| optimized.tensors(args).ok()).collect();
    for (stage, f) in
        [("normalized", &arrays.normalized.function), ("optimized", &*arrays.optimized)]
    {
        let what = format!("{}, {stage}", case.name);
        let mut back = f.clone();
        let well_formed = |region: &graph::Graph| {
            let checked = graph::check(region);
            checked.unwrap_or_else(|e| panic!("{what}: {e}\n{}", graph::print(region)));
        };
        // Regions of optimized functions are prepared; others stay unchanged.
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
        let graph = whole(f).map(|found| Distributed { graph: rewrite(&found.graph), ..found });
        let scheduled = schedule(f, Plan::of(4), Choice::Any(0, Along::Block));
        anf::check(&scheduled)
            .unwrap_or_else(|e| panic!("{what}: {e}\n{}", anf::print(&scheduled)));
        let lowered = (stage == "optimized").then(|| {
            let lowered = lowered(f, Plan::of(4), Choice::Best);
            loops::check(&lowered).unwrap_or_else(|e| panic!("{what}: {e}"));
            lowered
        });
        for (call, tensors) in calls.iter().enumerate() {
            let what = format!("{what}, call {call}");
            // Sizes come first.
            let args = &tensors[tensors.len() - f.params.len()..];
            let run = |f: &anf::Function| -> RunResult {
                anf::eval(f, args).map(|o| o.results).map_err(|failure| failure.message)
            };
            let expected = run(f);
            same(&format!("{what}, there and back"), &expected, &run(&back));
            if call == 0 {
                same(&format!("{what}, with kernels"), &expected, &run(&scheduled));
            }
            if let Some(graph) = &graph {
                same(&format!("{what}, as a graph"), &expected, &run_graph(f, graph, args));
            }
            if let Some(lowered) = &lowered {
                let found = loops::eval(lowered, tensors).map_err(|failure| failure.message);
                same(&format!("{what}, with nests"), &expected, &found);
            }
            count.compared += 1;
            count.failures += usize::from(expected.is_err());
        }
        count.whole += usize::from(graph.is_some());
        count.nests += usize::from(lowered.is_some_and(|l| l != lambada_lower::lower(f)));
    }
}

/// The value and, where there are any, the forward and the reverse derivative. None is there that
/// the compiler refuses.
fn cases(name: &str, program: Program, entry: DefId, calls: Vec<Vec<Data>>) -> Vec<Case> {
    let mut random = Random(11);
    let mut like =
        |data: &Data| lambada::vectors::with_reals(data, &mut || random.between(-1.0, 1.0));
    let wrt = differentiable(&program, entry).unwrap_or_default();
    let mut seeded = [Vec::new(), Vec::new()];
    for args in calls.iter().filter(|_| !wrt.is_empty()) {
        let Ok(value) = core::eval::run(&program, entry, args) else { continue };
        let point = match &wrt[..] {
            [single] => args[*single].clone(),
            several => Data::Tuple(several.iter().map(|k| args[*k].clone()).collect()),
        };
        for (calls, seed) in seeded.iter_mut().zip([like(&point), like(&value)]) {
            calls.push(args.iter().cloned().chain([seed]).collect());
        }
    }
    let mut all = Vec::new();
    let mut case = |name, program, entry, calls| {
        if let Ok(arrays) = lambada::arrays(&program, entry) {
            all.push(Case { name, program, entry, arrays, calls });
        }
    };
    for (operator, calls) in [Operator::Jvp, Operator::Vjp].into_iter().zip(seeded) {
        let mut program = program.clone();
        if !calls.is_empty()
            && let Ok(entry) = operators::derive(&mut program, entry, operator, &wrt)
        {
            case(format!("{name} {operator:?}"), program, entry, calls);
        }
    }
    case(name.into(), program, entry, calls);
    all
}

/// The cases of a file of programs.
fn of_file(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).expect("a listed program can be read");
    let unit = Session::new().load(path).unwrap_or_else(|p| panic!("{}: {p:?}", path.display()));
    let mut calls: BTreeMap<String, Vec<Vec<Data>>> = BTreeMap::new();
    for promise in expectations(&text).iter().filter(|e| !matches!(e.kind, PromiseKind::Check)) {
        let args = arguments(&unit, promise)
            .unwrap_or_else(|e| panic!("{}:{}: {e}", path.display(), promise.line + 1));
        calls.entry(promise.entry.clone()).or_default().push(args);
    }
    let of = |(name, calls): (String, Vec<Vec<Data>>)| {
        let (program, entry) = unit.definition(&name).expect("a definition");
        cases(&format!("{}: {name}", path.display()), program, entry, calls)
    };
    calls.into_iter().flat_map(of).collect()
}

/// The files with programs, or some of them.
fn files() -> (Vec<PathBuf>, bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut files = [programs(&folder), programs(&folder.join("recursion"))].concat();
    // It is deep, which says nothing of regions, and takes long in evaluators.
    files.retain(|path| path.file_stem().is_none_or(|name| name != "deep"));
    files.retain(|path| path.to_string_lossy().contains(&only));
    (files, only.is_empty())
}

/// Sizes around the numbers of lanes, and around those of the smallest block.
const RAGGED: [i64; 8] = [0, 1, 3, 5, 7, 9, 31, 33];
/// Sizes of one axis while the others have another size, and sizes for functions without a
/// mechanism.
const FEW: [i64; 5] = [0, 1, 3, 9, 33];
/// The size of the other axes meanwhile.
const OTHER: i64 = 3;

/// Arguments for given sizes: first the sizes, then the parameters.
fn drawn(f: &anf::Function, size: &dyn Fn(anf::Var) -> i64, random: &mut Random) -> Vec<Tensor> {
    let sizes = f.sizes.iter().map(|s| Tensor::scalar(Scalar::Int(size(*s))));
    let mut all: Vec<Tensor> = sizes.collect();
    for p in &f.params {
        let dim = |d: &anf::Atom| match d {
            anf::Atom::Var(var) => size(*var) as usize,
            anf::Atom::Lit(value) => value.int() as usize,
        };
        let dims: Vec<usize> = p.ty.dims.iter().map(dim).collect();
        let mut tensor = Tensor::zeros(p.ty.elem.scalar(), dims);
        for k in 0..tensor.data.len() {
            let value = match p.ty.elem.scalar() {
                ScalarTy::Real => Scalar::Real(random.between(0.2, 1.8)),
                ScalarTy::Int => Scalar::Int(random.between(0.0, 3.0) as i64),
                ScalarTy::Bool => Scalar::Bool(random.between(0.0, 1.0) < 0.5),
            };
            tensor.data.set(k, value);
        }
        all.push(tensor);
    }
    all
}

/// Whether a change in the last digits of the arguments changes more than the last digits of the
/// results: then the order of a sum may, too.
fn is_ill_conditioned(f: &anf::Function, args: &[Tensor], expected: &RunResult) -> bool {
    let Ok(expected) = expected else { return false };
    let mut near = args.to_vec();
    for (k, data) in near.iter_mut().map(|t| &mut t.data).enumerate() {
        if let Elements::Real(xs) = data {
            let turn = |j: usize| if (j + k).is_multiple_of(2) { 1.0 + 2e-15 } else { 1.0 - 3e-15 };
            xs.iter_mut().enumerate().for_each(|(j, x)| *x *= turn(j));
        }
    }
    let Ok(found) = anf::eval(f, &near[f.sizes.len()..]) else { return true };
    let close = |a: &Tensor, b: &Tensor| match (&a.data, &b.data) {
        (Elements::Real(a), Elements::Real(b)) => {
            all_close(&"result", a, b, Tolerance::mixed(1e-12)).is_ok()
        }
        (Elements::Int(_) | Elements::Bool(_) | Elements::Real(_), _) => a == b,
    };
    !expected.iter().zip(&found.results).all(|(a, b)| close(a, b))
}

/// How many runs have been compared, and of how many nothing can be said.
#[derive(Default)]
struct Compared {
    runs: usize,
    ill_conditioned: usize,
}

/// Whether a parameter is of a recursive type, or has parts of one.
fn takes_trees(case: &Case) -> bool {
    let mut ty = case.program.def(case.entry).body.ty();
    while let core::Ty::Fun(from, to) = ty {
        if case.program.has_recursive_type(from) {
            return true;
        }
        ty = to;
    }
    false
}

/// Any axis in blocks, any lanes, without any one of the mechanisms, at ragged sizes of each axis.
fn ragged(case: &Case) -> Compared {
    let mut compared = Compared::default();
    // The arrays of which a list or a tree is made cannot be drawn: where each node is its own
    // part, it has no end.
    if takes_trees(case) {
        return compared;
    }
    let f = &*case.arrays.optimized;
    let choices = [
        Choice::Best,
        Choice::Any(usize::MAX, Along::Rows),
        Choice::Any(0, Along::Block),
        Choice::Any(0, Along::Rows),
        Choice::Any(1, Along::Block),
        Choice::Any(1, Along::Rows),
    ];
    let whole = choices.into_iter().flat_map(|c| [1, 2, 4, 8].map(|lanes| (c, Plan::of(lanes))));
    let without = |mechanism: &Mechanism| {
        let mechanisms = Mechanisms::ALL.without(*mechanism);
        (Choice::Any(0, Along::Block), Plan { mechanisms, ..Plan::of(4) })
    };
    let ways = whole.chain(Mechanism::ALL.iter().map(without));
    // Most mechanisms make no difference to most programs.
    let mut seen = HashSet::from([loops::print(&lambada_lower::lower(f))]);
    let lowered = ways.map(|(choice, plan)| (choice, plan, lowered(f, plan, choice)));
    let lowered = lowered.filter(|(.., loops)| seen.insert(loops::print(loops)));
    let programs = |(choice, plan, lowered): (Choice, Plan, loops::Function)| {
        // With four lanes, as machine code too.
        let translator =
            if plan.lanes == lambada_jit::LANES { lambada_jit::translator(true) } else { None };
        let translated =
            translator.map(|translator| loops::Program::translated(&lowered, translator));
        let programs = [Some(loops::Program::new(&lowered)), translated].into_iter().flatten();
        programs.map(move |program| (choice, plan, program)).collect::<Vec<_>>()
    };
    let lowered: Vec<_> = lowered.flat_map(programs).collect();
    if lowered.is_empty() {
        return compared;
    }
    let told = |failure: lambada_source::Failure| failure.message;
    let axes: Vec<Option<anf::Var>> = f.sizes.iter().map(|s| Some(*s)).chain([None]).collect();
    for (axis, at) in axes.iter().flat_map(|axis| RAGGED.map(|at| (*axis, at))) {
        if axis.is_some() && !FEW.contains(&at) {
            continue;
        }
        let size = |s: anf::Var| if axis.is_none_or(|axis| axis == s) { at } else { OTHER };
        let args = drawn(f, &size, &mut Random(at as u64 + 1));
        let expected = anf::eval(f, &args[f.sizes.len()..]).map(|o| o.results).map_err(told);
        for (choice, plan, loops) in &lowered {
            // Without a mechanism, at few sizes.
            if plan.mechanisms != Mechanisms::ALL && (axis.is_some() || !FEW.contains(&at)) {
                continue;
            }
            let found = loops.run(&args).map_err(told);
            compared.runs += 1;
            if let Err(how) = agree(&expected, &found) {
                let what = format!("{} by {plan:?}, {choice:?}, {axis:?} = {at}", case.name);
                assert!(is_ill_conditioned(f, &args, &expected), "{what}: {how}");
                compared.ill_conditioned += 1;
            }
        }
    }
    compared
}

#[test]
fn programs_come_back_from_graphs_and_any_sizes_and_lanes_give_the_same() {
    let (files, all) = files();
    let counts = parallel(&files, |path| {
        let (cases, mut count) = (of_file(path), Count::default());
        cases.iter().for_each(|case| compare(case, &mut count));
        (count, cases.iter().map(ragged).collect::<Vec<_>>())
    });
    let sum = |of: &dyn Fn(&Count) -> usize| -> usize { counts.iter().map(|(c, _)| of(c)).sum() };
    let [compared, whole, nests, failures] =
        [sum(&|c| c.compared), sum(&|c| c.whole), sum(&|c| c.nests), sum(&|c| c.failures)];
    println!("{compared} calls, {whole} graphs, {nests} nests, {failures} failures");
    assert!(compared > 1000 && whole > 500 && nests > 50 || !all);
    let ragged = || counts.iter().flat_map(|(_, ragged)| ragged);
    let runs: usize = ragged().map(|count| count.runs).sum();
    let ill: usize = ragged().map(|count| count.ill_conditioned).sum();
    println!("{runs} runs, {ill} of them ill-conditioned");
    assert!(runs > 20_000 && ill < runs / 200 || !all);
}
