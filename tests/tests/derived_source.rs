//! Derivatives as source: the output of `derive` for every definition that the programs try parses,
//! checks, gives the numbers of `jvp` and `vjp`, and can be differentiated.

use std::path::{Path, PathBuf};

use lambada::operators::Operator;
use lambada::vectors::{numbers, with_reals};
use lambada::{Data, Engine, Executable, Inputs, Problem, Raw, Session, Unit};
use lambada_testkit::{Random, Tolerance, all_close, parallel};
use lambada_tests::draw::{Feature, draw};
use lambada_tests::expectations::{
    Expectation, PromiseKind, arguments, expectations, longest_first, programs,
};
use lambada_tests::oracle::differentiable;
use lambada_tests::seeds;
use lambada_tests::untyped::{self, untyped};

const MODES: [Operator; 2] = [Operator::Jvp, Operator::Vjp];

/// Derivatives of derivatives are compared too, up to this order.
const ORDERS: usize = 2;

/// The meaning of a program, and its optimized form.
const BOTH: [Engine; 2] = [Engine::Core, Engine::Anf];

/// Reasons why the language has no form for a derivative yet.
const WITHOUT_A_FORM: [&str; 4] = [
    "the state of a loop changes its size",
    "has sizes that its type takes",
    "an array has a size there that the types refuse",
    "would have to be written inside of itself without end",
];

fn has_no_form(problem: &Problem) -> bool {
    problem.code == "E0532" && WITHOUT_A_FORM.iter().any(|why| problem.title.contains(why))
}

/// Compares the printed derivatives of a definition with the built-in ones, and theirs; gives the
/// number of comparisons. `engines` run the printed ones. `some`: only of those that have a form as
/// source.
fn compare(
    unit: &Unit,
    entry: &str,
    args: &[Data],
    order: usize,
    engines: &[Engine],
    some: bool,
) -> Result<usize, String> {
    let mut compared = 0;
    let (program, id) = unit.definition(entry).map_err(|p| format!("{entry}: {p:?}"))?;
    if differentiable(&program, id)?.is_empty() {
        return Ok(0);
    }
    for operator in MODES {
        let told = |p: Vec<lambada::Problem>| format!("{entry}, {operator:?}: {p:?}");
        let call = unit.call(entry, operator, None).map_err(told)?;
        let extended = with_seed(unit, entry, operator, args)?;
        let expected = run(&call.program, call.entry, Engine::Anf, &extended)
            .map_err(|e| format!("{entry}, {operator:?} itself: {e}"))?;
        let text = match unit.derivative_source(entry, operator, None) {
            // It says that there is none.
            Err(problems) if some && problems.iter().all(has_no_form) => continue,
            printed => printed.map_err(told)?,
        };
        let name =
            format!("{entry}_{}", if operator == Operator::Jvp { "forward" } else { "reverse" });
        let place = |e: String| format!("{name}: {e}\n{text}");
        let mut session = Session::new();
        let derived = session
            .load_text("derived.lam", &text, None)
            .map_err(|p| place(session.render(&p, false)))?;
        if !derived.warnings.is_empty() {
            return Err(place(session.render(&derived.warnings, false)));
        }
        let again = derived
            .call(&name, Operator::Value, None)
            .map_err(|p| place(session.render(&p, false)))?;
        for engine in engines {
            let found = run(&again.program, again.entry, *engine, &extended).map_err(place)?;
            let what = format!("{engine:?}");
            all_close(&what, &numbers(&found), &numbers(&expected), Tolerance::mixed(1e-9))
                .map_err(place)?;
        }
        compared += 1;
        if order < ORDERS {
            // By meaning alone: the optimizer is tested on a text of the first order.
            let core = &[Engine::Core];
            compared +=
                compare(&derived, &name, &extended, order + 1, core, some).map_err(place)?;
        }
    }
    Ok(compared)
}

/// The arguments, and a tangent or a cotangent of random numbers.
fn with_seed(
    unit: &Unit,
    entry: &str,
    operator: Operator,
    args: &[Data],
) -> Result<Vec<Data>, String> {
    let mut random = Random(11);
    let value = unit.call(entry, Operator::Value, None).map_err(|p| format!("{p:?}"))?;
    let seed = if operator == Operator::Jvp {
        let chosen = unit.call(entry, operator, None).map_err(|p| format!("{p:?}"))?.wrt_names();
        let named = value.parameters().into_iter().zip(args);
        let mut point: Vec<Data> =
            named.filter(|(name, _)| chosen.contains(name)).map(|(_, arg)| arg.clone()).collect();
        if point.len() == 1 { point.remove(0) } else { Data::Tuple(point) }
    } else {
        run(&value.program, value.entry, Engine::Anf, args)?
    };
    let seed = with_reals(&seed, &mut || random.between(-1.0, 1.0));
    Ok(args.iter().cloned().chain([seed]).collect())
}

fn run(
    program: &lambada_core::Program,
    entry: lambada_core::DefId,
    engine: Engine,
    args: &[Data],
) -> Result<Data, String> {
    let executable =
        Executable::new(program.clone(), entry, engine).map_err(|p| format!("{p:?}"))?;
    executable.run(args).map_err(|f| format!("fails: {}", f.message))
}

/// How many derivatives of a program were compared, and complaints.
fn one(path: &Path, some: bool) -> (usize, Vec<String>) {
    let mut complaints = Vec::new();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("a listed program can be read");
    let unit = match Session::new().load(path) {
        Ok(unit) => unit,
        Err(problems) => {
            return (0, vec![format!("{name}: {problems:?}")]);
        }
    };
    let tried = |e: &Expectation| {
        matches!(e.kind, PromiseKind::Run | PromiseKind::Grad | PromiseKind::Oracle)
    };
    let mut seen: Vec<String> = Vec::new();
    let mut compared = 0;
    for promise in expectations(&text).into_iter().filter(tried) {
        if seen.contains(&promise.entry) {
            continue;
        }
        seen.push(promise.entry.clone());
        let compare = |args: Vec<Data>| compare(&unit, &promise.entry, &args, 1, &BOTH, some);
        match arguments(&unit, &promise).and_then(compare) {
            Ok(n) => compared += n,
            Err(e) => complaints.push(format!("{name}:{}: {e}", promise.line + 1)),
        }
    }
    (compared, complaints)
}

/// Compares the printed derivatives of the programs, or of those that `ONLY` names: at least
/// `least` comparisons.
fn all(mut files: Vec<PathBuf>, some: bool, least: usize) {
    let only = std::env::var("ONLY").unwrap_or_default();
    files.retain(|file| file.to_string_lossy().contains(&only));
    let found = parallel(&longest_first(files), |file| one(file, some));
    let compared: usize = found.iter().map(|(compared, _)| compared).sum();
    let complaints: Vec<String> =
        found.into_iter().flat_map(|(_, complaints)| complaints).collect();
    println!("{compared} printed derivatives compared");
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
    assert!(compared >= least || !only.is_empty(), "only {compared}");
}

#[test]
fn printed_derivatives_are_the_derivatives() {
    all(programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")), false, 300);
}

/// A few have no form as source ([`WITHOUT_A_FORM`]); the others are compared.
#[test]
fn so_are_those_of_recursive_programs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let folders = ["recursion", "rules", "exponential"].map(|part| programs(&folder.join(part)));
    all(folders.concat(), true, 1130);
}

/// Whether it is drawn with recursive functions, or with data that they are about.
fn is_recursive(seed: u64) -> bool {
    let features = draw(seed).features;
    features.contains(&Feature::Recursion) || features.contains(&Feature::RecursiveData)
}

#[test]
fn so_are_those_of_drawn_programs() {
    let seeds: Vec<u64> =
        (seeds(1).start..).filter(|seed| !is_recursive(*seed)).take(200).collect();
    drawn_programs(&seeds, false, 250);
}

/// Some of these have no form as source.
#[test]
fn so_are_those_of_drawn_recursive_programs() {
    let seeds: Vec<u64> = (seeds(1).start..).filter(|seed| is_recursive(*seed)).take(150).collect();
    drawn_programs(&seeds, true, 250);
}

fn drawn_programs(seeds: &[u64], some: bool, least: usize) {
    let (mut compared, mut failing, mut complaints) = (0, 0, Vec::new());
    for (seed, found) in seeds.iter().zip(parallel(seeds, |seed| drawn(*seed, some))) {
        match found {
            Ok(Some(count)) => compared += count,
            Ok(None) => failing += 1,
            Err(e) => complaints.push(format!("seed {seed}: {e}")),
        }
    }
    let shown: Vec<&str> = complaints.iter().take(5).map(String::as_str).collect();
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), shown.join("\n"));
    println!("{compared} printed derivatives compared, {failing} programs fail");
    assert!(compared >= least, "{compared} compared");
    assert!(failing * 5 <= seeds.len() * 2, "{failing} fail");
}

/// How many derivatives were compared; nothing where the program fails.
fn drawn(seed: u64, some: bool) -> Result<Option<usize>, String> {
    let program = draw(seed);
    let unit =
        Session::new().load_text("drawn.lam", &program.text, None).map_err(|p| format!("{p:?}"))?;
    let args = program
        .args
        .iter()
        .map(|arg| serde_json::from_str(arg).expect("drawn arguments are JSON"))
        .collect();
    let promise = Expectation {
        line: 0,
        kind: PromiseKind::Oracle,
        entry: "f".into(),
        args,
        expected: String::new(),
    };
    let args = arguments(&unit, &promise)?;
    let value = unit.call("f", Operator::Value, None).map_err(|p| format!("{p:?}"))?;
    if run(&value.program, value.entry, Engine::Core, &args).is_err() {
        return Ok(None);
    }
    compare(&unit, "f", &args, ORDERS, &BOTH, some).map(Some)
}

/// The value and its derivative stay apart, whatever the value is: `(value, derivative)`, or, for a
/// plain value, `(value, x_ct, y_ct)`.
#[test]
fn values_are_apart_from_their_derivatives() {
    let text = "def pair (x : real) = (x, x * x)\ndef plain (x : real) (y : real) = x * y\n";
    let unit = Session::new().load_text("pair.lam", text, None).expect("it is well typed");
    let real = |x: f64| Data::from(x);
    let tuple = |items: &[Data]| Data::Tuple(items.to_vec());
    let (point, value) = (tuple(&[real(1.0), real(1.0)]), tuple(&[real(3.0), real(9.0)]));
    for (entry, operator, args, expected) in [
        (
            "pair",
            Operator::Jvp,
            vec![real(3.0), real(1.0)],
            tuple(&[value.clone(), tuple(&[real(1.0), real(6.0)])]),
        ),
        ("pair", Operator::Vjp, vec![real(3.0), point], tuple(&[value, real(7.0)])),
        (
            "plain",
            Operator::Vjp,
            vec![real(3.0), real(5.0), real(1.0)],
            tuple(&[real(15.0), real(5.0), real(3.0)]),
        ),
    ] {
        let source =
            unit.derivative_source(entry, operator, None).expect("it can be differentiated");
        let derived = Session::new()
            .load_text("derived.lam", &source, None)
            .unwrap_or_else(|p| panic!("{p:?}: {source}"));
        let name =
            format!("{entry}_{}", if operator == Operator::Jvp { "forward" } else { "reverse" });
        let call = derived.call(&name, Operator::Value, None).expect("it is there");
        assert_eq!(
            run(&call.program, call.entry, Engine::Anf, &args).expect("it runs"),
            expected,
            "{source}"
        );
    }
}

/// With respect to fields, the printed derivative has the parameters of the definition, and the
/// numbers of the built-in one, in the order of the names.
#[test]
fn so_are_those_by_fields() {
    let text = "type inner = {a : real, b : [2]real}
def f [n] (p : {mu : real, w : [n]real, q : inner}) (x : real) (k : int) : real =
  p.mu * x + sum p.w * p.q.a * x + p.q.b[0] * p.mu * real k
";
    let unit = Session::new().load_text("fields.lam", text, None).expect("it is well typed");
    let json = |text: &str| serde_json::from_str(text).expect("it is JSON");
    let args = [r#"{"mu": 0.3, "w": [1.5, -0.5], "q": {"a": 0.7, "b": [0.2, 0.4]}}"#, "1.1", "2"];
    let promise = Expectation {
        line: 0,
        kind: PromiseKind::Oracle,
        entry: "f".into(),
        args: args.map(json).to_vec(),
        expected: String::new(),
    };
    let args = arguments(&unit, &promise).expect("the arguments fit");
    for wrt in ["p.mu", "p.w", "p.q", "x,p.q.b", "p.w,x,p.q.a", "x,p"] {
        let wrt: Vec<String> = wrt.split(',').map(String::from).collect();
        for operator in MODES {
            let call = unit.call("f", operator, Some(&wrt)).expect("it can be differentiated");
            let mut chosen: Vec<Data> = wrt.iter().map(|name| part(&args, name)).collect();
            let seed = if operator == Operator::Vjp {
                Data::from(1.0)
            } else if chosen.len() == 1 {
                chosen.remove(0)
            } else {
                Data::Tuple(chosen)
            };
            let mut random = Random(5);
            let seed = with_reals(&seed, &mut || random.between(-1.0, 1.0));
            let given: Vec<Data> = args.iter().cloned().chain([seed]).collect();
            let expected = run(&call.program, call.entry, Engine::Anf, &given).expect("it runs");
            let source = unit.derivative_source("f", operator, Some(&wrt)).expect("it has a form");
            let mut session = Session::new();
            let derived = session.load_text("derived.lam", &source, None).expect("it is a program");
            let name = if operator == Operator::Jvp { "f_forward" } else { "f_reverse" };
            let again = derived.call(name, Operator::Value, None).expect("it is there");
            for engine in BOTH {
                let found = run(&again.program, again.entry, engine, &given).expect("it runs");
                all_close(&name, &numbers(&found), &numbers(&expected), Tolerance::mixed(1e-9))
                    .unwrap_or_else(|e| panic!("{wrt:?}, {engine:?}: {e}\n{source}"));
            }
        }
    }
}

/// A parameter `p` or `x`, or a field of one.
fn part(args: &[Data], name: &str) -> Data {
    let mut names = name.split('.');
    let mut at = &args[usize::from(names.next() == Some("x"))];
    for name in names {
        let Data::Record(fields) = at else { panic!("{name} is no field of {at:?}") };
        at = &fields.iter().find(|(field, _)| **field == *name).expect("there is the field").1;
    }
    at.clone()
}

/// Texts that are drawn, and how many of them have types at least.
const UNTYPED: (u64, usize) = (1800, 1000);

#[test]
fn definitions_without_types_run_and_are_derived() {
    let seeds: Vec<u64> = lambada_tests::seeds(UNTYPED.0).collect();
    let found = parallel(&seeds, |seed| {
        let text = untyped(*seed);
        untyped_definition(&text, *seed).map_err(|complaint| format!("{seed}: {text}{complaint}"))
    });
    let wrong: Vec<&String> = found.iter().filter_map(|found| found.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), seeds.len(), join(&wrong));
    let accepted: Vec<Tried> = found.into_iter().filter_map(Result::unwrap_or_default).collect();
    let sum = |of: fn(&Tried) -> usize| accepted.iter().map(of).sum::<usize>();
    let (compared, at_data) = (sum(|tried| tried.derivatives), sum(|tried| tried.at_data));
    println!("{} have types, {compared} derivatives, {at_data} at data", accepted.len());
    assert!(accepted.len() >= UNTYPED.1 || seeds.len() < UNTYPED.0 as usize);
    assert!(compared >= accepted.len() && at_data >= accepted.len() / 4);
}

fn join(texts: &[&String]) -> String {
    texts.iter().map(|text| text.as_str()).collect::<Vec<_>>().join("\n")
}

/// Counts of comparisons of a definition without types.
struct Tried {
    derivatives: usize,
    at_data: usize,
}

/// None if the definition has no types, which is no internal error.
fn untyped_definition(text: &str, seed: u64) -> Result<Option<Tried>, String> {
    let mut session = Session::new();
    let unit = match session.load_text("untyped.lam", text, None) {
        Ok(unit) => unit,
        Err(problems) if problems.iter().any(Problem::is_internal) => {
            return Err(session.render(&problems, false));
        }
        Err(_) => return Ok(None),
    };
    let told = |p: Vec<Problem>| session.render(&p, false);
    let mut random = Random(seed);
    let call = unit.call("f", Operator::Value, None).map_err(told)?;
    let signature = &call.program.def(call.entry).signature;
    let types: Vec<_> = signature.params.iter().map(|(_, ty)| ty.clone()).collect();
    let Some(args) = untyped::arguments(&types, &mut random) else {
        return Err("it takes what cannot be drawn".to_string());
    };
    let derivatives = match agreed(&call, &args)? {
        true => compare(&unit, "f", &args, ORDERS, &BOTH, true)?,
        // Sizes that no type says must be equal are checked when it runs.
        false => 0,
    };
    let mut at_data = 0;
    for _ in 0..3 {
        let mut inputs = Inputs::new();
        for name in call.parameters().iter() {
            let value = untyped::square(random.below(3), &mut random);
            inputs.insert(&**name, Raw::Json(value.into()), "the draw");
        }
        let call = unit.call_at("f", Operator::Value, None, &inputs).map_err(told)?;
        // Data of other ranks than any instance has are an error of the data.
        if let Ok(args) = call.arguments(&inputs) {
            at_data += usize::from(agreed(&call, &args)?);
        }
    }
    Ok(Some(Tried { derivatives, at_data }))
}

/// Whether a call has a value, on which the definition of the language and compiled code agree.
fn agreed(call: &lambada::Call, args: &[Data]) -> Result<bool, String> {
    let of = |engine| run(&call.program, call.entry, engine, args);
    match (of(Engine::Core), of(Engine::Jit)) {
        (Ok(one), Ok(other)) => {
            let (one, other) = (numbers(&one), numbers(&other));
            all_close(&"compiled", &other, &one, Tolerance::mixed(1e-9)).map(|()| true)
        }
        (Err(one), Err(other)) if one == other => Ok(false),
        (one, other) => Err(format!("evaluated: {one:?}\ncompiled: {other:?}")),
    }
}
