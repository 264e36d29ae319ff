//! `--precision f32`: all programs under `tests/programs` with reals of 32 bits. Natively and in
//! the interpreter of loops, results agree up to a few units in the last place where sums keep
//! their order; and they agree with those of 64 bits as closely as 32 bits allow.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lambada::operators::Operator;
use lambada::{
    Data, Disk, Elements, Engine, Executable, MODULES, Options, PRELUDE, Precision, Session,
    Target, Tensor, Unit, lower, lower_for,
};
use lambada_loops as loops;
use lambada_run::{Kernel, Settings};
use lambada_surface::ast::Item;
use lambada_testkit::{Tolerance, parallel};
use lambada_tests::expectations::{Expectation, PromiseKind, arguments, expectations, programs};

/// Native code against the interpreter, where no sum is reordered: a few units in the last place of
/// 32 bits for each operation that is not exact.
const SAME: Tolerance = Tolerance::mixed(2e-5);

/// Against reals of 64 bits.
const CLOSE: Tolerance = Tolerance::mixed(2e-3);

/// Promises that reals of 32 bits cannot keep, and why.
const BEYOND: &[(&str, &str)] = &[
    ("matrices.lam: products", "compares within 1e-9 itself"),
    ("matrices.lam: systems", "compares within 1e-9 itself"),
];

fn options(precision: Precision) -> Options {
    Options { precision, ..Options::default() }
}

fn session(precision: Precision) -> Session {
    Session::with(Arc::new(Disk), options(precision))
}

fn load(path: &Path, precision: Precision) -> Unit {
    let mut session = session(precision);
    match session.load(path) {
        Ok(unit) => unit,
        Err(problems) => panic!("{}", session.render(&problems, false)),
    }
}

/// A definition or its gradient: code without nests and with them.
struct Compiled {
    interpreted: Executable,
    plain: loops::Function,
    nests: loops::Function,
}

/// The promises of a file: its definitions, each compiled once because the C compiler is slow, and
/// for each promise the number of its definition and the arguments.
struct Prepared {
    compiled: Vec<Compiled>,
    calls: Vec<(usize, Vec<Tensor>)>,
}

impl Prepared {
    fn of(path: &Path, promises: &[Expectation], precision: Precision) -> Prepared {
        let unit = load(path, precision);
        let (mut compiled, mut calls, mut known) = (Vec::new(), Vec::new(), HashMap::new());
        for promise in promises {
            let operator = match promise.kind {
                PromiseKind::Grad | PromiseKind::Slope => Operator::Grad,
                PromiseKind::Run
                | PromiseKind::Value
                | PromiseKind::Fails
                | PromiseKind::Oracle
                | PromiseKind::Check => Operator::Value,
            };
            let function = *known.entry((&promise.entry, operator)).or_insert_with(|| {
                let call = unit.call(&promise.entry, operator, None);
                let call = call.expect("a promise is of a definition");
                let arrays = lambada::arrays(&call.program, call.entry).expect("it compiles");
                let [_, _, interpreted] = Executable::stages(&arrays);
                let nests = lower_for(&arrays, &options(precision), Target::Here);
                compiled.push(Compiled { interpreted, plain: lower(&arrays), nests });
                compiled.len() - 1
            });
            let args = arguments(&unit, promise)
                .unwrap_or_else(|e| panic!("{}:{}: {e}", path.display(), promise.line + 1));
            let args = compiled[function].interpreted.tensors(&args).expect("the arguments fit");
            calls.push((function, args));
        }
        Prepared { compiled, calls }
    }

    /// A promise.
    fn at(&self, promise: usize) -> (&Compiled, &[Tensor]) {
        let (function, args) = &self.calls[promise];
        (&self.compiled[*function], args)
    }
}

/// The first difference between results beyond rounding. Integers and truth values must be equal.
fn differ(found: &[Tensor], expected: &[Tensor], tolerance: Tolerance) -> Option<String> {
    if found.len() != expected.len() {
        return Some("another number of results".into());
    }
    for (x, y) in found.iter().zip(expected) {
        if x.dims != y.dims {
            return Some(format!("sizes {:?} instead of {:?}", x.dims, y.dims));
        }
        let equal = match (&x.data, &y.data) {
            (Elements::Real(x), Elements::Real(y)) => {
                // Errors are relative to the largest element: sums cancel.
                let largest =
                    y.iter().filter(|y| y.is_finite()).fold(1.0f64, |m, y| m.max(y.abs()));
                let scaled = Tolerance { absolute: tolerance.absolute * largest, ..tolerance };
                x.iter().zip(y).find(|(x, y)| !scaled.accepts(**x, **y))
            }
            (x, y) if x == y => None,
            _ => return Some(format!("{:?} instead of {:?}", x.data, y.data)),
        };
        if let Some((x, y)) = equal {
            return Some(format!("{x:?} instead of {y:?}"));
        }
    }
    None
}

fn is_single(results: &[Tensor]) -> bool {
    results.iter().all(|tensor| match &tensor.data {
        Elements::Real(xs) => xs.iter().all(|x| x.is_nan() || f64::from(*x as f32) == *x),
        Elements::Int(_) | Elements::Bool(_) => true,
    })
}

fn complaints(path: &Path) -> Vec<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("a listed program can be read");
    let promises: Vec<Expectation> = expectations(&text)
        .into_iter()
        .filter(|p| {
            matches!(
                p.kind,
                PromiseKind::Run | PromiseKind::Value | PromiseKind::Grad | PromiseKind::Slope
            )
        })
        .collect();
    let [double, single] =
        [Precision::F64, Precision::F32].map(|precision| Prepared::of(path, &promises, precision));
    let plain: Vec<&loops::Function> = single.compiled.iter().map(|each| &each.plain).collect();
    let nests: Vec<&loops::Function> = single.compiled.iter().map(|each| &each.nests).collect();
    let settings = Settings { quick: true, contract: false, ..Settings::default() };
    let compiled = [plain, nests].map(|functions| {
        Kernel::compile_with(&functions, settings).unwrap_or_else(|e| panic!("{name}: {e}"))
    });
    let [plain, nests] = &compiled;
    let mut complaints = Vec::new();
    for (k, promise) in promises.iter().enumerate() {
        let function = single.calls[k].0;
        let ((double, double_args), (single, args)) = (double.at(k), single.at(k));
        let beyond = |what: &str| {
            BEYOND.iter().any(|(place, _)| *place == format!("{name}: {} {what}", promise.entry))
                || BEYOND.iter().any(|(place, _)| *place == format!("{name}: {}", promise.entry))
        };
        let mut complain = |what: &str, why: Option<String>| {
            if let Some(why) = why.filter(|_| !beyond(what)) {
                let line = promise.line + 1;
                complaints.push(format!("{name}:{line} {} {what}: {why}", promise.entry));
            }
        };
        let meaning = loops::eval(&double.plain, double_args).expect("it runs with 64 bits");
        let interpreted = match loops::eval(&single.plain, args) {
            Ok(interpreted) => interpreted,
            Err(failure) => {
                complain("interpreted", Some(failure.message));
                continue;
            }
        };
        if !is_single(&interpreted) {
            complain("interpreted", Some(format!("{interpreted:?} is not rounded")));
        }
        complain("interpreted", differ(&interpreted, &meaning, CLOSE));
        match plain[function].call(args) {
            Ok(found) => complain("native", differ(&found, &interpreted, SAME)),
            Err(failure) => complain("native", Some(failure.message)),
        }
        match nests[function].call(args) {
            Ok(found) => complain("nests", differ(&found, &meaning, CLOSE)),
            Err(failure) => complain("nests", Some(failure.message)),
        }
    }
    complaints
}

fn all(folder: &str) -> Vec<PathBuf> {
    programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
}

#[test]
fn programs_compute_with_32_bits() {
    let found: Vec<String> =
        parallel(&all("programs"), |path| complaints(path)).into_iter().flatten().collect();
    assert!(found.is_empty(), "{} complaints\n{}", found.len(), found.join("\n"));
}

/// The calls in a doc comment's statements of the form `` `call` is `value` ``.
fn examples(doc: &str) -> Vec<String> {
    let doc = doc.replace('\n', " ");
    let parts: Vec<&str> = doc.split('`').collect();
    let stated = parts.windows(3).skip(1).step_by(2).filter(|three| three[1].trim() == "is");
    stated.map(|three| three[0].to_string()).collect()
}

/// Examples of the library that are about numbers beyond the range of 32 bits, or about their last
/// digits.
const EXTREME: &[&str] =
    &["dist.gamma_lcdf 1e-300 2 1", "dist.weibull_lcdf 1e-200 2 1", "dist.beta_lcdf 1e-200 2 1"];

fn library_complaints((name, text): &(&str, &str)) -> Vec<String> {
    let (module, _) = lambada_surface::parse(text, lambada_source::FileId(0));
    let mut program = match *name {
        "prelude" => String::new(),
        name => format!("import \"std/{name}\"\n"),
    };
    let mut calls = Vec::new();
    for item in module.items {
        let Item::Def(def) = item else { continue };
        for call in examples(def.doc.as_deref().unwrap_or_default()) {
            if !EXTREME.contains(&&*call) && !def.name.text.starts_with('_') {
                program.push_str(&format!("def example_{} = {call}\n", calls.len()));
                calls.push(call);
            }
        }
    }
    let units = [Precision::F64, Precision::F32].map(|precision| {
        let mut session = session(precision);
        session.load_text(name, &program, None).expect("the examples have no problems")
    });
    let run = |unit: &Unit, precision, k: usize, engine| -> Result<Data, String> {
        let (program, id) = unit.definition(&format!("example_{k}")).expect("it is defined");
        let options = Options { engine, ..options(precision) };
        let executable =
            Executable::with(program, id, &options).map_err(|problems| format!("{problems:?}"))?;
        executable.run(&[]).map_err(|failure| failure.message)
    };
    let mut complaints = Vec::new();
    for (k, call) in calls.iter().enumerate() {
        let expected = run(&units[0], Precision::F64, k, Engine::Core).expect("it runs");
        for engine in [Engine::Core, Engine::Loops] {
            match run(&units[1], Precision::F32, k, engine) {
                Ok(found) if near(&found, &expected) => {}
                Ok(found) => complaints.push(format!("{name}: `{call}` is {found}, {engine:?}")),
                Err(why) => complaints.push(format!("{name}: `{call}`: {why}, {engine:?}")),
            }
        }
    }
    complaints
}

/// Whether the values agree up to the precision of 32 bits.
fn near(found: &Data, expected: &Data) -> bool {
    let all =
        |x: &[Data], y: &[Data]| x.len() == y.len() && x.iter().zip(y).all(|(x, y)| near(x, y));
    match (found, expected) {
        (Data::Tensor(x), Data::Tensor(y)) => {
            let (x, y) = (std::slice::from_ref(x), std::slice::from_ref(y));
            differ(x, y, Tolerance { relative: 1e-3, absolute: 1e-4 }).is_none()
        }
        (Data::Tuple(x), Data::Tuple(y)) | (Data::Array(x), Data::Array(y)) => all(x, y),
        (Data::Record(x), Data::Record(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|((a, x), (b, y))| a == b && near(x, y))
        }
        (Data::Con { name: a, args: x, .. }, Data::Con { name: b, args: y, .. }) => {
            a == b && all(x, y)
        }
        (
            Data::Tensor(_) | Data::Tuple(_) | Data::Array(_) | Data::Record(_) | Data::Con { .. },
            _,
        ) => false,
    }
}

#[test]
fn the_library_converges_with_32_bits() {
    let texts: Vec<(&str, &str)> = std::iter::once(("prelude", PRELUDE)).chain(MODULES).collect();
    let found: Vec<String> = parallel(&texts, library_complaints).into_iter().flatten().collect();
    assert!(found.is_empty(), "{} complaints\n{}", found.len(), found.join("\n"));
}
