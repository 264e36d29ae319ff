//! The standard library: the examples of its doc comments are right, and the errors that the
//! programs under `tests/std` measure are small.

use std::path::{Path, PathBuf};

use lambada::operators::Operator;
use lambada::{
    Data, Engine, Executable, MODULES, PRELUDE, Precision, Scalar, Session, Tensor, Unit, arrays,
};
use lambada_prim::Prim;
use lambada_surface::ast::{Def, Item};
use lambada_testkit::parallel;
use lambada_tests::accuracy;
use lambada_tests::expectations::{programs, quick};

fn load(name: &str, text: &str) -> Result<Unit, String> {
    let mut session = Session::new();
    let unit = session.load_text(name, text, None);
    unit.map_err(|problems| format!("{name}:\n{}", session.render(&problems, false)))
}

fn run(unit: &Unit, entry: &str, engine: Engine) -> Result<String, String> {
    let (program, id) = unit.definition(entry).map_err(|p| format!("{entry}: {p:?}"))?;
    let executable = Executable::with(program, id, &quick(engine))
        .map_err(|p| format!("{entry}, {engine:?}: {p:?}"))?;
    let value = executable.run(&[]).map_err(|f| format!("{entry}, {engine:?}: {}", f.message))?;
    Ok(value.to_string())
}

/// The definitions of a text that are meant for users.
fn public(text: &str) -> Vec<Def> {
    let (module, problems) = lambada_surface::parse(text, lambada_source::FileId(0));
    assert!(problems.is_empty(), "{problems:?}");
    let defs = module.items.into_iter().filter_map(|item| match item {
        Item::Def(def) => Some(def),
        Item::Type(_) | Item::Import(_) => None,
    });
    defs.filter(|def| !def.name.text.starts_with('_')).collect()
}

/// The statements of a doc comment in the form `` `call` is `value` ``.
fn examples(doc: &str) -> Vec<(String, String)> {
    let doc = doc.replace('\n', " ");
    let parts: Vec<&str> = doc.split('`').collect();
    let stated = parts.windows(3).skip(1).step_by(2).filter(|three| three[1].trim() == "is");
    stated.map(|three| (three[0].to_string(), three[2].to_string())).collect()
}

/// Whether the texts are equal, but for the last digits of reals.
fn agree(found: &str, stated: &str) -> bool {
    let numeric = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    let split = |text: &str| -> Vec<String> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        text.split_inclusive(|c| !numeric(c)).map(str::to_string).collect()
    };
    let number = |part: &str| part.trim_end_matches(|c| !numeric(c)).parse::<f64>().ok();
    let (found, stated) = (split(found), split(stated));
    found.len() == stated.len()
        && found.iter().zip(&stated).all(|(a, b)| match (number(a), number(b)) {
            (Some(x), Some(y)) => x == y || (x - y).abs() <= 1e-13 * x.abs().max(y.abs()),
            _ => a == b,
        })
}

/// The complaints about the examples of a text.
fn wrong_examples(name: &str, text: &str, import: &str) -> Vec<String> {
    let mut program = import.to_string();
    let mut stated = Vec::new();
    let mut complaints = Vec::new();
    for def in public(text) {
        let found = examples(def.doc.as_deref().unwrap_or_default());
        if found.is_empty() && !import.is_empty() {
            complaints.push(format!("{name}: `{}` has no example", def.name.text));
        }
        for (call, value) in found {
            program.push_str(&format!("def example_{} = {call}\n", stated.len()));
            stated.push((call, value));
        }
    }
    match load(name, &program) {
        Err(e) => complaints.push(e),
        Ok(unit) => {
            for (k, (call, value)) in stated.iter().enumerate() {
                match run(&unit, &format!("example_{k}"), Engine::Core) {
                    Ok(found) if agree(&found, value) => {}
                    Ok(found) => complaints.push(format!("{name}: `{call}` is {found}")),
                    Err(e) => complaints.push(format!("{name}: `{call}`: {e}")),
                }
            }
        }
    }
    complaints
}

#[test]
fn the_examples_of_doc_comments_are_right() {
    let mut complaints = wrong_examples("prelude", PRELUDE, "");
    for (name, text) in MODULES {
        complaints.extend(wrong_examples(name, text, &format!("import \"std/{name}\"\n")));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_modules_are_the_files_of_the_folder_in_order() {
    let files =
        programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/lambada/library/std"));
    let names: Vec<_> = files.iter().filter_map(|file| file.file_stem()?.to_str()).collect();
    assert_eq!(names, MODULES.map(|(name, _)| name));
}

/// A definition that is an error, measured against values from elsewhere.
struct Case {
    path: PathBuf,
    name: String,
    entry: String,
    limit: f64,
    engines: &'static [Engine],
}

/// The cases of a program: `-- below ENTRY LIMIT`, or `-- below ENTRY LIMIT on core`.
fn cases(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).expect("a listed program can be read");
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let case = |line: &str| {
        let (entry, rest) = line.split_once(' ').expect("a name and a limit");
        let limit = rest.strip_suffix(" on core");
        let engines: &[Engine] =
            if limit.is_some() { &[Engine::Core] } else { &[Engine::Core, Engine::Native] };
        let limit = limit.unwrap_or(rest).parse().expect("a limit is a number");
        Case {
            path: path.to_path_buf(),
            name: name.clone(),
            entry: entry.to_string(),
            limit,
            engines,
        }
    };
    text.lines().filter_map(|line| line.strip_prefix("-- below ")).map(case).collect()
}

fn complaints(case: &Case) -> Vec<String> {
    let Case { path, name, entry, limit, engines } = case;
    let mut session = Session::new();
    let unit = match session.load(path) {
        Ok(unit) => unit,
        Err(problems) => return vec![format!("{name}:\n{}", session.render(&problems, false))],
    };
    let wrong = |engine: &Engine| {
        let found = run(&unit, entry, *engine);
        match found.map(|text| text.parse::<f64>().unwrap_or(f64::NAN)) {
            Ok(error) if error <= *limit => None,
            Ok(error) => Some(format!("{name}: `{entry}` is {error:e}, {engine:?}")),
            Err(e) => Some(format!("{name}: {e}")),
        }
    };
    engines.iter().filter_map(wrong).collect()
}

/// Each error is at most its limit, on each engine.
#[test]
fn errors_are_below_their_limits() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("std");
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut all: Vec<Case> = programs(&folder).iter().flat_map(|path| cases(path)).collect();
    all.retain(|case| format!("{}:{}", case.name, case.entry).contains(&only));
    assert!(all.len() > 100 || !only.is_empty(), "only {} errors", all.len());
    let found = parallel(&all, complaints);
    let complaints: Vec<String> = found.into_iter().flatten().collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn accuracy_table() -> (Vec<accuracy::Block>, accuracy::Page) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("it can be read");
    let page = accuracy::page(&read("../docs/src/accuracy.md"));
    (accuracy::blocks(&read("accuracy/references.txt")), page)
}

/// No value and no derivative is farther from its reference than the page *Accuracy* says.
/// `ONLY=NAME` chooses functions, `ENGINE=jit` another engine, and `MEASURE=1` prints the largest
/// errors.
#[test]
fn values_and_derivatives_are_accurate() {
    let wish = |name: &str| std::env::var(name).ok();
    let (mut blocks, page) = accuracy_table();
    blocks.retain(|block| wish("ONLY").is_none_or(|only| block.expression.contains(&only)));
    let engine = match wish("ENGINE").as_deref() {
        Some("jit") => Engine::Jit,
        Some("native") => Engine::Native,
        Some(_) | None => Engine::Core,
    };
    let chunks = |precision| blocks.chunks(8).map(move |chunk| (precision, chunk));
    let work: Vec<(Precision, &[accuracy::Block])> =
        Precision::ALL.into_iter().flat_map(chunks).collect();
    let found = parallel(&work, |(precision, chunk)| {
        let limits = |block: &accuracy::Block| {
            let limits = page.limits(&block.expression, *precision);
            limits.unwrap_or_else(|| panic!("{} is in no row of the page", block.expression))
        };
        let limits: Vec<[accuracy::Limit; 3]> = chunk.iter().map(limits).collect();
        let errors = accuracy::errors(chunk, &limits, *precision, engine);
        let mut complaints = Vec::new();
        for ((block, limits), worst) in chunk.iter().zip(&limits).zip(errors) {
            for (order, (limit, worst)) in limits.iter().zip(worst).enumerate() {
                let Some(w) = worst else { continue };
                let text = format!(
                    "{} | {} | derivative {order} | {:.1} ulps for {}: {:e} instead of {:e} at {:e}",
                    block.expression,
                    precision.name(),
                    w.ulps,
                    limit.ulps,
                    w.found,
                    w.wanted,
                    w.x
                );
                if wish("MEASURE").is_some() {
                    println!("{text}");
                }
                if w.ulps > limit.ulps {
                    complaints.push(text);
                }
            }
        }
        complaints
    });
    let complaints: Vec<String> = found.into_iter().flatten().collect();
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
}

/// A new function comes with references and a row of the page, or the page says that it has none.
#[test]
fn every_function_is_in_the_table_of_accuracy() {
    let (blocks, page) = accuracy_table();
    let module = |name: &str| {
        MODULES.iter().find(|module| module.0 == name).expect("there is such a module").1
    };
    let defs = [PRELUDE, module("special"), module("dist")];
    let defs = defs.into_iter().flat_map(public).map(|def| def.name.text.to_string());
    let smooth =
        Prim::ALL.iter().filter(|prim| (prim.row().partials)().iter().any(Option::is_some));
    let prims = smooth.filter_map(|prim| prim.row().surface.spelling().map(str::to_string));
    let missing =
        page.missing(&blocks, defs.chain(prims).filter(|name| !name.starts_with("prelude_")));
    assert!(missing.is_empty(), "in no row: {missing:?}");
    assert_eq!(page.idle(&blocks), Vec::<&str>::new(), "rows about nothing");
}

/// Bytes in use at a time, and operations on reals, of a definition of a time.
fn costs_until(session: &mut Session, entry: &str, time: f64) -> (u64, u64) {
    const PROGRAM: &str = "\
import \"std/ode\"
def end solve (k : real) (t : real) : real = (solve (\\(y : [2]real) t -> [y[1] * (1 + 0.1 * sin t), -k * y[0]]) [1.0, 0.5] [0.0, t])[1, 0]
def steps (t : real) = grad (\\k -> end (\\f y0 ts -> ode.dopri5 1e-6 1e-6 f y0 ts) k t) 1
def adjoint (t : real) = grad (\\k -> end (\\f y0 ts -> ode.dopri5_adjoint 1e-6 1e-6 f y0 ts) k t) 1
def tangent (t : real) = (jvp (\\k -> end (\\f y0 ts -> ode.dopri5_adjoint 1e-6 1e-6 f y0 ts) k t) 1 1).1
";
    let unit = session
        .load_text("steps.lam", PROGRAM, None)
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let call = unit.call(entry, Operator::Value, None).expect("it is a definition");
    let arrays = arrays(&call.program, call.entry).expect("it normalizes");
    let (_, layout) = &arrays.normalized.params[0];
    let time = Data::Tensor(Tensor::scalar(Scalar::Real(time)));
    let leaves = layout.flatten(&time).expect("a real");
    let ran = lambada_anf::eval(&arrays.optimized, &leaves).expect("it runs");
    (ran.counts.peak, ran.counts.reals)
}

#[test]
fn the_adjoint_of_a_differential_equation_stores_no_steps() {
    let mut session = Session::new();
    let mut growth = |entry: &str| {
        let [few, many] = [20.0, 320.0].map(|t| costs_until(&mut session, entry, t));
        println!("{entry}: {few:?}, {many:?}");
        assert!(many.1 > 8 * few.1, "{entry}: sixteen times the time has more steps");
        many.0 as f64 / few.0 as f64
    };
    assert!(growth("steps") > 8.0);
    assert_eq!(growth("adjoint"), 1.0);
    assert_eq!(growth("tangent"), 1.0);
}

/// Derivatives of all definitions of the library have a form as source text.
#[test]
fn derivatives_of_the_library_can_be_printed() {
    let printed = parallel(&MODULES, |(name, text)| {
        let mut program = format!("import \"std/{name}\"\n");
        for def in public(text).iter().filter(|def| !def.params.is_empty()) {
            let params = (0..def.params.len()).map(|k| format!(" x{k}")).collect::<String>();
            let def = &def.name.text;
            program.push_str(&format!("def its_{def}{params} = {name}.{def}{params}\n"));
        }
        let unit = load(name, &program).unwrap_or_else(|e| panic!("{e}"));
        let mut count = 0;
        for def in public(text).iter().filter(|def| !def.params.is_empty()) {
            let entry = format!("its_{}", def.name.text);
            for operator in [Operator::Jvp, Operator::Vjp] {
                // Functions that take functions or no reals have no derivative.
                if unit.call(&entry, operator, None).is_ok() {
                    let text = unit.derivative_source(&entry, operator, None);
                    text.unwrap_or_else(|p| panic!("{name}.{}: {p:?}", def.name.text));
                    count += 1;
                }
            }
        }
        count
    });
    assert!(printed.iter().sum::<usize>() >= 180, "{printed:?}");
}
