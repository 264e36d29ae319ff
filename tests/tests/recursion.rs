//! The programs of `tests/programs/recursion`, on every engine: their expectations; and with the
//! evaluator that is the meaning of the language, that both modes and differences agree with each
//! gradient.

use std::path::Path;

use lambada::operators::Operator;
use lambada::vectors::{moved, reals, with_reals};
use lambada::{Data, Engine, Executable, Session, Unit};
use lambada_testkit::{Random, Tolerance, parallel};
use lambada_tests::expectations::{
    Executables, Expectation, PromiseKind, agrees, arguments, expectations, programs,
};

/// All of them promise the same.
const ENGINES: [Engine; 5] =
    [Engine::Core, Engine::Anf, Engine::Loops, Engine::Jit, Engine::Native];

/// A step of differences, and how far they may be from the derivative.
const STEP: f64 = 1e-6;
const NEAR: Tolerance = Tolerance::relative(1e-5).and_absolute(1e-6);

fn run(unit: &Unit, entry: &str, operator: Operator, args: &[Data]) -> Result<Data, String> {
    let call = unit.call(entry, operator, None).map_err(|p| format!("{p:?}"))?;
    let executable = Executable::new(call.program, call.entry, Engine::Core);
    executable.map_err(|p| format!("{p:?}"))?.run(args).map_err(|failure| failure.message)
}

/// ⟨gradient, tangent⟩, by reverse mode, by forward mode and by differences.
fn derivatives_agree(unit: &Unit, promise: &Expectation) -> Result<(), String> {
    let args = arguments(unit, promise)?;
    let call = unit.call(&promise.entry, Operator::Grad, None).map_err(|p| format!("{p:?}"))?;
    let names = call.parameters();
    let wrt: Vec<usize> = call
        .wrt_names()
        .iter()
        .map(|name| names.iter().position(|known| known == name).expect("it is a parameter"))
        .collect();
    let mut random = Random(11);
    let tangents: Vec<Data> =
        wrt.iter().map(|k| with_reals(&args[*k], &mut || random.between(-1.0, 1.0))).collect();
    let whole = |parts: &[Data]| match parts {
        [part] => part.clone(),
        _ => Data::Tuple(parts.to_vec()),
    };
    let Data::Tuple(pair) = run(unit, &promise.entry, Operator::Grad, &args)? else {
        return Err("no pair".to_string());
    };
    let tangent = reals(&whole(&tangents));
    let reverse: f64 = reals(&pair[1]).iter().zip(&tangent).map(|(g, d)| g * d).sum();
    let both: Vec<Data> = args.iter().cloned().chain([whole(&tangents)]).collect();
    let Data::Tuple(pushed) = run(unit, &promise.entry, Operator::Jvp, &both)? else {
        return Err("no pair".to_string());
    };
    let forward = reals(&pushed[1])[0];
    let beside = |step: f64| {
        let mut args = args.clone();
        for (k, tangent) in wrt.iter().zip(&tangents) {
            args[*k] = moved(&args[*k], step, tangent);
        }
        Ok::<f64, String>(reals(&run(unit, &promise.entry, Operator::Value, &args)?)[0])
    };
    let differences = (beside(STEP)? - beside(-STEP)?) / (2.0 * STEP);
    if !Tolerance::relative(1e-9).and_absolute(1e-12).accepts(forward, reverse) {
        return Err(format!("forward {forward} and reverse {reverse}"));
    }
    if !NEAR.accepts(reverse, differences) {
        return Err(format!("reverse {reverse} and differences {differences}"));
    }
    Ok(())
}

fn complaints(path: &Path) -> Vec<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("a listed program can be read");
    let mut session = Session::new();
    let unit = match session.load(path) {
        Ok(unit) => unit,
        Err(problems) => return vec![format!("{name}:\n{}", session.render(&problems, false))],
    };
    let promises = expectations(&text);
    assert!(!promises.is_empty(), "{name} promises nothing");
    let mut executables = Executables::of(&unit);
    let mut complaints = Vec::new();
    for promise in &promises {
        let place = format!("{name}:{}", promise.line + 1);
        match executables.found_with(promise, &ENGINES) {
            Ok(found) if agrees(promise, &found) => {}
            Ok(found) => complaints.push(format!("{place}: {found}, not {}", promise.expected)),
            Err(why) => complaints.push(format!("{place}: {why}")),
        }
        if promise.kind == PromiseKind::Grad
            && let Err(why) = derivatives_agree(&unit, promise)
        {
            complaints.push(format!("{place}: {why}"));
        }
    }
    complaints
}

#[test]
fn programs_that_call_themselves() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/recursion");
    let files = programs(&folder);
    assert!(files.len() >= 14);
    let all: Vec<String> =
        parallel(&files, |path| complaints(path)).into_iter().flatten().collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// Programs whose order of differentiation only run time knows.
const OF_UNKNOWN_ORDER: &str = "\
def rec d (n : int) (f : real -> real) (x : real) : real = if n == 0 then f x else grad (d (n - 1) f) x
def depth (n : int) (x : real) = d n exp x
def smallest (n : int) (x : real) = d (min n 3) exp x
def sums (n : int) (x : real) = loop s = 0.0 for k < n do s + d k exp x
def many (x : real) = for k < 1000 => d k exp x
def rec even (n : int) (x : real) : real = if n == 0 then x ** 3 else (jvp (odd (n - 1)) x 1.0).1
def rec odd (n : int) (x : real) : real = if n == 0 then x ** 4 else grad (even (n - 1)) x
def in_turn (n : int) (x : real) = even n x
def local (n : int) (x : real) : real =
  let rec g (n : int) (y : real) : real = if n == 0 then y ** 4 else grad (g (n - 1)) y
  in g n x
def by_state (n : int) (x : real) : real =
  let f = loop f = (\\(y : real) -> y ** 5) for _k < n do grad f
  in f x
type nat = Z | S nat
def rec times (n : nat) (x : real) : real = match n | Z -> exp x | S m -> grad (times m) x
def in_data (n : nat) (x : real) = times n x
";

/// A count without a type is a real, which the message says.
#[test]
fn a_count_that_is_a_real_is_named() {
    let program = "\
def rec d n f x = if n == 0 then f x else grad (d (n - 1) f) x
def cube (x : real) : real = x * x * x
def top (x : real) : real = d 2 cube x
def inside (x : real) : real =
  let rec g n (y : real) : real = if n == 0 then y ** 4 else grad (g (n - 1)) y
  in g 2 x
";
    let mut session = Session::new();
    let unit = session.load_text("counts.lam", program, None).expect("the program checks");
    for entry in ["top", "inside"] {
        for engine in ENGINES {
            let call = unit.call(entry, Operator::Value, None).expect("it is a definition");
            let problems = Executable::new(call.program, call.entry, engine).err();
            let told = session.render(&problems.expect("the order is not known"), false);
            assert!(told.contains("E0530") && told.contains("write `(n : int)`"), "{told}");
        }
    }
}

/// Core could run them, and refuses them as all other engines do.
#[test]
fn an_unknown_order_is_refused_by_every_engine() {
    let mut session = Session::new();
    let unit = session
        .load_text("orders.lam", OF_UNKNOWN_ORDER, None)
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    for entry in ["depth", "smallest", "sums", "many", "in_turn", "local", "by_state", "in_data"] {
        let told = ENGINES.map(|engine| {
            let call = unit.call(entry, Operator::Value, None).expect("it is a definition");
            match Executable::new(call.program, call.entry, engine) {
                Err(problems) => session.render(&problems, false),
                Ok(_) => panic!("{entry} runs on {engine:?}"),
            }
        });
        assert!(told[0].contains("E0530"), "{entry}: {}", told[0]);
        assert!(told.iter().all(|one| *one == told[0]), "{entry}: {told:#?}");
    }
}
