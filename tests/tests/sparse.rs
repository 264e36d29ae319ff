//! Sparse Jacobians and Hessians have the entries of the dense ones: of all programs under
//! `tests/programs`, of functions that tests of the library measure, and of drawn programs.
//!
//! The costs of sparse Jacobians and Hessians, also with a full row: operations and peak memory
//! grow as n log n in the number of entries, while the dense matrix grows with the square.

use std::path::Path;

use lambada::operators::Operator;
use lambada::{Data, Engine, Executable, Scalar, Session, Sparse, Tensor, Unit, arrays};
use lambada_core::{SizedTy, eval};
use lambada_prim::ScalarTy;
use lambada_testkit::parallel;
use lambada_tests::draw::{case, draw};
use lambada_tests::expectations::{
    Executables, Expectation, PromiseKind, agrees, arguments, expectations, longest_first,
    programs, quick,
};
use lambada_tests::oracle::Case;
use lambada_tests::panics::caught;
use lambada_tests::seeds;
use lambada_tests::sparsity::{Marked, marked};

/// A band, the Hessian of a chain, a few cameras that see many points, and one result of many
/// parameters. All take a size.
const PROGRAMS: &str = "\
def at n = for i < n => 1 + 0.5 * sin (real i)
def band (n : int) = sparse_jacobian (\\x -> for i < n => x[i] ** 2 + (if i > 0 then sin x[i - 1] * x[i] else 0.0)) (at n)
def chain (n : int) = sparse_hessian (\\x -> sum (for i < n - 1 => (x[i + 1] - x[i] ** 2) ** 2)) (at n)
def arrow (n : int) = sparse_hessian (\\x -> sum (for i < n => x[n - 1] ** 2 * x[i] ** 2)) (at n)
def tied (n : int) = sparse_hessian (\\x -> sum (for i < n - 1 => (x[i + 1] - x[i] ** 2) ** 2 * x[0] ** 2)) (at n)
def diagonal (n : int) = sparse_hessian (\\x -> sum (exp x)) (at n)
def sights (n : int) =
  let (cameras, points) = (n // 8 + 1, n // 4 + 1)
  let size = 3 * cameras + 2 * points + n
  let errors = \\(x : [size]real) ->
    flatten (for o < n =>
      let (c, p) = (3 * (o * 7 % cameras), 3 * cameras + 2 * (o * 5 % points))
      let weight = x[3 * cameras + 2 * points + o]
      let depth = sqrt (x[c] ** 2 + x[c + 1] ** 2 + x[c + 2] ** 2)
      in [weight * (depth * x[p] - x[c]), weight * (depth * x[p + 1] - x[c + 1]), 1 - weight ** 2])
  in sparse_jacobian errors (at size)
def total (n : int) = sparse_jacobian (\\x -> [sum (for i < n => x[i] ** 3)]) (at n)
";

/// Operations on reals and bytes at a time, and how many entries there are.
fn cost(session: &mut Session, entry: &str, n: usize) -> (f64, f64, usize) {
    let unit = session
        .load_text("sparse.lam", PROGRAMS, None)
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let call = unit.call(entry, Operator::Value, None).expect("it is a definition");
    let arrays = arrays(&call.program, call.entry).expect("it normalizes");
    let (_, layout) = &arrays.normalized.params[0];
    let size = Data::Tensor(Tensor::scalar(Scalar::Int(n as i64)));
    let leaves = layout.flatten(&size).expect("an int");
    let ran = lambada_anf::eval(&arrays.optimized, &leaves).expect("it runs");
    let entries = ran
        .results
        .iter()
        .map(|leaf| leaf.dims.iter().product::<usize>())
        .max()
        .unwrap_or_default();
    (ran.counts.reals as f64, ran.counts.peak as f64, entries)
}

#[test]
fn sparse_matrices_cost_their_entries() {
    let expected = [
        ("band", [64, 512, 4096], 2.0),
        ("chain", [64, 512, 4096], 3.0),
        ("arrow", [64, 512, 4096], 3.0),
        ("tied", [64, 512, 4096], 5.0),
        ("diagonal", [64, 512, 4096], 1.0),
        ("sights", [32, 256, 2048], 11.0),
        ("total", [64, 512, 4096], 1.0),
    ];
    parallel(&expected, |&(entry, sizes, each)| {
        let mut session = Session::new();
        let costs = sizes.map(|n| cost(&mut session, entry, n));
        println!("{entry}: {costs:?}");
        for (pair, n) in costs.windows(2).zip(&sizes[1..]) {
            // Eight times the size: eight times the work on each level, and one level more.
            let (operations, bytes) = (pair[1].0 / pair[0].0, pair[1].1 / pair[0].1);
            assert!(operations <= 13.0, "{entry} of {n}: {operations} times the operations");
            assert!(bytes <= 13.0, "{entry} of {n}: {bytes} times the memory");
            let entries = pair[1].2 as f64 / *n as f64;
            assert!((entries - each).abs() < 0.2 * each, "{entry} of {n}: {entries} for each");
        }
    });
}

/// The definition of the prelude, and those private ones that it mentions, under names that users
/// may give.
fn from_the_prelude(name: &str) -> String {
    let (mut text, mut seen, mut open) = (String::new(), Vec::new(), vec![name.to_string()]);
    while let Some(name) = open.pop() {
        if seen.contains(&name) {
            continue;
        }
        let from =
            lambada::PRELUDE.find(&format!("\ndef {name} ")).expect("the prelude has it") + 1;
        let definition = &lambada::PRELUDE[from..];
        let definition = definition.split("\n\n").next().unwrap_or_default();
        let code = definition.lines().filter(|line| !line.starts_with("--"));
        let code = code.collect::<Vec<&str>>().join("\n");
        open.extend(
            code.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .filter(|word| word.starts_with("prelude_"))
                .map(str::to_string),
        );
        text += &code.replace("prelude_", "own_");
        text += "\n\n";
        seen.push(name);
    }
    text
}

/// A symmetric pattern with its diagonal, as rows of columns.
fn symmetric(n: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut rows: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
    for (i, j) in edges {
        rows[i].push(j);
        rows[j].push(i);
    }
    for row in &mut rows {
        row.sort_unstable();
        row.dedup();
    }
    rows
}

fn ints(values: impl IntoIterator<Item = usize>) -> Data {
    let values: Vec<i64> = values.into_iter().map(|value| value as i64).collect();
    let dims = vec![values.len()];
    Data::Tensor(Tensor { data: lambada_prim::Data::Int(values), dims })
}

/// Each entry of a symmetric matrix can be read from products with one vector per color: one of the
/// two rows that have it has no other entry in columns of that color. The colors are few: those
/// that are needed for bands, trees and arrows, and never more than the square of the longest short
/// row asks for.
#[test]
fn star_colors_tell_entries_apart() {
    let mut session = Session::new();
    let text = from_the_prelude("prelude_star_colors");
    let unit = session
        .load_text("colors.lam", &text, None)
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let call = unit.call("own_star_colors", Operator::Value, None).expect("it is a definition");
    let arrays = arrays(&call.program, call.entry).expect("it normalizes");
    let colors_of = |rows: &[Vec<usize>]| -> Vec<usize> {
        let mut starts = vec![0];
        rows.iter().for_each(|row| starts.push(starts[starts.len() - 1] + row.len()));
        let args = [ints(starts), ints(rows.iter().flatten().copied())];
        let leaves = arrays.normalized.params.iter().zip(&args);
        let leaves = leaves.flat_map(|((_, layout), data)| layout.flatten(data).expect("ints"));
        let leaves: Vec<Tensor> = leaves.collect();
        let ran = lambada_anf::eval(&arrays.optimized, &leaves).expect("it runs");
        let color = &ran.results[1];
        let color: Vec<usize> =
            (0..rows.len()).map(|j| color.data.get(j).int().try_into().expect("a color")).collect();
        let count = ran.results[0].data.get(0).int() as usize;
        assert_eq!(count, color.iter().max().map_or(0, |most| most + 1), "all colors are used");
        for (i, row) in rows.iter().enumerate() {
            for &j in row {
                let alone = |i: usize, j: usize| {
                    rows[i].iter().filter(|k| color[**k] == color[j]).count() == 1
                };
                assert!(alone(i, j) || alone(j, i), "entry {i}, {j} of {rows:?}: {color:?}");
            }
        }
        color
    };
    let count = |rows: &[Vec<usize>]| colors_of(rows).into_iter().max().map_or(0, |c| c + 1);
    assert_eq!(count(&symmetric(40, [])), 1, "a diagonal");
    assert_eq!(count(&symmetric(40, (1..40).map(|i| (i - 1, i)))), 3, "a chain");
    assert_eq!(count(&symmetric(40, (1..40).map(|i| (0, i)))), 2, "an arrow");
    let tied = (1..40).flat_map(|i| [(0, i), (i - 1, i)]);
    assert_eq!(count(&symmetric(40, tied)), 4, "a chain with one parameter of all");
    assert!(count(&symmetric(63, (1..63).map(|i| ((i - 1) / 2, i)))) <= 4, "a tree");
    let mut random = lambada_testkit::Random(8);
    for n in 1..60 {
        let edges = random.below(3 * n);
        let edges: Vec<(usize, usize)> =
            (0..edges).map(|_| (random.below(n), random.below(n))).collect();
        let rows = symmetric(n, edges);
        let longest = rows.iter().map(Vec::len).max().unwrap_or_default();
        assert!(count(&rows) <= longest * longest + 1);
    }
}

/// Functions with rules, those of the library and those of users: the promises of the programs
/// under `tests/sparse`, on core and compiled.
#[test]
fn sparse_matrices_of_functions_with_rules() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sparse");
    let mut all: Vec<(std::path::PathBuf, Expectation)> = Vec::new();
    for path in programs(&folder) {
        let text = std::fs::read_to_string(&path).expect("a listed program can be read");
        all.extend(expectations(&text).into_iter().map(|promise| (path.clone(), promise)));
    }
    assert!(all.len() >= 45, "only {} promises", all.len());
    let complaints = parallel(&all, |(path, promise)| {
        let mut session = Session::new();
        let found = match session.load(path) {
            Ok(unit) => {
                let engines = [Engine::Core, Engine::Anf];
                caught(|| Executables::of(&unit).found_with(promise, &engines))
                    .and_then(|found| found)
            }
            Err(problems) => Err(session.render(&problems, false)),
        };
        let place = format!("{}:{}", path.display(), promise.line + 1);
        if std::env::var_os("SHOW").is_some() {
            println!("{place}");
        }
        match found {
            Ok(found) if agrees(promise, &found) => None,
            Ok(found) => Some(format!("{place}: {found}, not {}", promise.expected)),
            Err(e) => Some(format!("{place}: {e}")),
        }
    });
    let complaints: Vec<String> = complaints.into_iter().flatten().collect();
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), shown(&complaints));
}

/// The results of the programs of some folders.
#[derive(Default)]
struct Found {
    marked: Marked,
    matrices: usize,
    complaints: Vec<String>,
}

/// The programs whose marks take longer than all others together, because their derivatives are
/// large: those that make sparse matrices themselves, for one.
fn is_large(name: &str) -> bool {
    ["cost", "exponential", "sparse"].iter().any(|folder| name.contains(&format!("/{folder}/")))
}

/// The number of compared definitions of each program; all of them, and gradients, if `ALL=1`.
const EACH: usize = 1;

fn of_file(path: &Path) -> Found {
    let (mut found, name) = (Found::default(), path.display().to_string());
    let text = std::fs::read_to_string(path).expect("a listed program can be read");
    let mut session = Session::new();
    let unit = match session.load(path) {
        Ok(unit) => unit,
        Err(problems) => {
            found.complaints.push(format!("{name}: {}", session.render(&problems, false)));
            return found;
        }
    };
    let mut seen: Vec<String> = Vec::new();
    for promise in expectations(&text) {
        let most = if std::env::var_os("ALL").is_some() { usize::MAX } else { EACH };
        let asked = seen.len() < most
            && matches!(
                promise.kind,
                PromiseKind::Run
                    | PromiseKind::Value
                    | PromiseKind::Grad
                    | PromiseKind::Slope
                    | PromiseKind::Oracle
            );
        // One point of each definition; its kinks have programs of their own.
        if !asked || seen.contains(&promise.entry) {
            continue;
        }
        seen.push(promise.entry.clone());
        let place = format!("{name}:{}", promise.line + 1);
        let before = std::time::Instant::now();
        let one = caught(|| {
            let args = arguments(&unit, &promise)?;
            let case = Case::new(&unit, &promise.entry, args.clone())?;
            let found = marked(&case, most == usize::MAX)?;
            Ok::<_, String>((found, matrices(&unit, &promise, &args)?))
        });
        if std::env::var_os("SHOW").is_some() && before.elapsed().as_secs() >= 2 {
            println!("{place}: {:?}", before.elapsed());
        }
        match one.and_then(|found| found) {
            Ok((marks, matrices)) => {
                found.marked.add(marks);
                found.matrices += matrices;
            }
            Err(e) => found.complaints.push(format!("{place}: {e}")),
        }
    }
    found
}

fn is_vector(ty: &SizedTy) -> bool {
    if let SizedTy::Array(_, elem) = ty { **elem == SizedTy::Scalar(ScalarTy::Real) } else { false }
}

/// Compares the sparse matrix by each parameter that is a vector with the dense one, on core and as
/// array code. Gives how many there are.
fn matrices(unit: &Unit, promise: &Expectation, args: &[Data]) -> Result<usize, String> {
    let (program, id) = unit.definition(&promise.entry).map_err(|p| format!("{p:?}"))?;
    if eval::run(&program, id, args).is_err() {
        return Ok(0);
    }
    let signature = &program.def(id).signature;
    let matrix = match &signature.result {
        Some(ty) if is_vector(ty) => (Sparse::Jacobian, Operator::Jacobian),
        Some(ty) if *ty == SizedTy::Scalar(ScalarTy::Real) => (Sparse::Hessian, Operator::Hessian),
        Some(_) | None => return Ok(0),
    };
    let mut count = 0;
    for (name, ty) in &signature.params {
        if !is_vector(ty) {
            continue;
        }
        let wrt = [name.to_string()];
        let call = unit.call(&promise.entry, matrix.1, Some(&wrt)).map_err(|p| format!("{p:?}"))?;
        let dense = run(&call.program, call.entry, Engine::Core, args)?;
        let call =
            unit.sparse(&promise.entry, matrix.0, Some(&wrt)).map_err(|p| format!("{p:?}"))?;
        for engine in [Engine::Core, Engine::Anf] {
            let sparse = run(&call.program, call.entry, engine, args)?;
            compare(&dense, &sparse).map_err(|e| format!("by {name}, {engine:?}: {e}"))?;
        }
        count += 1;
    }
    Ok(count)
}

/// The matrix of derivatives, the second of a pair.
fn run(
    program: &lambada_core::Program,
    entry: lambada_core::DefId,
    engine: Engine,
    args: &[Data],
) -> Result<Data, String> {
    let made = Executable::with(program.clone(), entry, &quick(engine));
    match made.map_err(|p| format!("{p:?}"))?.run(args).map_err(|f| f.message)? {
        Data::Tuple(mut pair) => Ok(pair.remove(1)),
        other => Err(format!("a pair was expected, not {other}")),
    }
}

fn compare(dense: &Data, sparse: &Data) -> Result<(), String> {
    let Data::Tensor(dense) = dense else { return Err(format!("no matrix: {dense}")) };
    let Data::Record(fields) = sparse else { return Err(format!("no record: {sparse}")) };
    let field = |name: &str| {
        let found = fields.iter().find(|(label, _)| &**label == name);
        found.map(|(_, value)| value).ok_or(format!("no field {name}"))
    };
    let tensor = |name: &str| match field(name)? {
        Data::Tensor(tensor) => Ok(tensor),
        other => Err(format!("{name} is {other}")),
    };
    let [rows, cols, values] = [tensor("rows")?, tensor("cols")?, tensor("values")?];
    let width = dense.dims.get(1).copied().unwrap_or_default();
    let mut all = vec![None; dense.data.len()];
    for e in 0..values.data.len() {
        let at = rows.data.get(e).int() as usize * width + cols.data.get(e).int() as usize;
        if all[at].replace(values.data.get(e).real()).is_some() {
            return Err(format!("entry {at} stands there twice"));
        }
    }
    let reals = (0..all.len()).map(|k| dense.data.get(k).real());
    let largest = reals.clone().filter(|x| x.is_finite()).fold(1e-300, |m: f64, x| m.max(x.abs()));
    for (k, (expected, entry)) in reals.zip(all).enumerate() {
        let good = match entry {
            Some(x) => {
                x == expected
                    || x.is_nan() && expected.is_nan()
                    || (x - expected).abs() <= 1e-9 * (expected.abs() + 1e-3 * largest)
            }
            // A zero times an infinity, where nothing depends on anything.
            None => expected == 0.0 || expected.is_nan(),
        };
        if !good {
            return Err(format!(
                "entry {}, {} is {entry:?} and not {expected}",
                k / width,
                k % width
            ));
        }
    }
    Ok(())
}

#[test]
fn sparse_matrices_of_all_programs_are_the_dense_ones() {
    let mut files = Vec::new();
    for folder in ["programs", "std"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut open = vec![root];
        while let Some(folder) = open.pop() {
            files.extend(programs(&folder));
            let inside = std::fs::read_dir(&folder).expect("a folder of programs").flatten();
            open.extend(inside.map(|e| e.path()).filter(|path| path.is_dir()));
        }
    }
    let chosen = std::env::var("ONLY").ok();
    files.retain(|path| {
        let name = path.display().to_string();
        !is_large(&name) && chosen.as_ref().is_none_or(|part| name.contains(part))
    });
    let all = parallel(&longest_first(files), |path| of_file(path));
    let mut total = Found::default();
    for found in all {
        total.marked.add(found.marked);
        total.matrices += found.matrices;
        total.complaints.extend(found.complaints);
    }
    let Found { marked, matrices, complaints } = total;
    println!("{marked:?}, {matrices} matrices");
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), shown(&complaints));
    if chosen.is_none() {
        assert!(marked.functions >= 90, "{marked:?}");
        assert!(marked.dependent >= 300 && marked.independent >= 100, "{marked:?}");
        assert!(matrices >= 20, "only {matrices} matrices");
    }
}

fn shown(complaints: &[String]) -> String {
    complaints.iter().take(20).map(String::as_str).collect::<Vec<&str>>().join("\n")
}

/// The number of drawn programs whose marks are compared.
const DRAWN: u64 = 150;

#[test]
fn marks_of_drawn_programs() {
    let seeds: Vec<u64> = seeds(DRAWN).collect();
    let all = parallel(&seeds, |seed| {
        let drawn = draw(*seed);
        if std::env::var_os("SHOW").is_some() {
            println!("seed {seed}\n{}\n-- {:?}", drawn.text, drawn.args);
        }
        let found = caught(|| marked(&case(&drawn.text, &drawn.args)?, true));
        found.and_then(|found| found).map_err(|e| format!("seed {seed}: {e}"))
    });
    let (mut total, mut complaints) = (Marked::default(), Vec::new());
    for found in all {
        match found {
            Ok(found) => total.add(found),
            Err(e) => complaints.push(e),
        }
    }
    println!("{total:?}");
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), shown(&complaints));
    assert!(total.functions >= 100 || seeds.len() < DRAWN as usize, "{total:?}");
}
