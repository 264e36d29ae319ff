//! Special values: zeros of both signs, infinities, NaN, denormals, the ends of the range, no
//! elements, ties. Every program of `tests/special/programs.lam` gives the same on every engine:
//! its value, both derivatives and both second derivatives. "The same" is stricter than elsewhere:
//! NaN only with NaN, an infinity only with the same infinity, and in a value the sign of a zero
//! counts, unless a sum gave it. The book states the promises: `docs/src/special-values.md`.

use std::path::Path;

use lambada::operators::{self, Operator};
use lambada::vectors::{numbers, reals, with_reals};
use lambada::{Data, Engine, Executable, Failure, Scalar, Session, Tensor, Unit};
use lambada_core::{DefId, Program, Size, SizedTy};
use lambada_prim::ScalarTy;
use lambada_run::Kernel;
use lambada_testkit::parallel;
use lambada_tests::nests;
use lambada_tests::oracle::translated;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

const REALS: [f64; 11] = [0.0, -0.0, 1.5, -2.0, INF, -INF, NAN, 1e200, -1e308, 5e-324, 1e-200];

const ARRAYS: [&[f64]; 21] = [
    &[],
    &[0.0],
    &[-0.0],
    &[NAN],
    &[INF],
    &[-INF],
    &[1.5],
    &[NAN, 1.0],
    &[1.0, NAN],
    &[INF, -INF],
    &[1.0, INF],
    &[0.0, INF],
    &[-INF, -INF],
    &[2.0, -1.0],
    &[0.0, -0.0],
    &[-0.0, 0.0],
    &[1e200, 1e200],
    &[5e-324, 0.0],
    &[2.0, 2.0, 1.0],
    &[1.0, NAN, INF],
    &[NAN, -1.0, NAN, 3.0],
];

const MATRICES: [[f64; 4]; 3] =
    [[0.0, 1.0, -2.0, 3.0], [INF, 0.0, 1.0, 1.0], [NAN, 0.0, -0.0, 1e200]];

/// How many points a program is run at, at most.
const MOST: usize = 130;

/// The number of definitions that are compiled together.
const CHUNK: usize = 20;

/// Programs whose value is a sum, which may be a zero of either sign.
const SUMS: &[&str] = &[
    "total",
    "scaled",
    "scaled_right",
    "divided",
    "opposite",
    "twice_scaled",
    "nested",
    "constant_terms",
    "loop_sum",
    "loop_sum_down",
    "inner",
    "rows",
    "average",
    "running",
    "accumulated",
    "shares",
    "truncated",
];

/// Programs whose result is not real.
const NOT_DIFFERENTIATED: &[&str] = &["place_of_largest", "place_of_smallest", "order"];

/// Programs that are third derivatives are called so; they are not differentiated again.
const HIGH: &str = "third_";

/// The callee of those programs. It takes a function, so it is not run by itself.
const CALLED: &str = "third";

/// Programs whose first derivatives are compared at the ends of the range, too.
const FAR: &[&str] = &[
    "far_angle",
    "far_length",
    "far_norm",
    "p_exp",
    "p_log",
    "p_sqrt",
    "p_atan",
    "p_tanh",
    "p_erf",
];

fn tensor(dims: &[usize], values: &[f64]) -> Data {
    Data::Tensor(Tensor::reals(dims.to_vec(), values.to_vec()))
}

/// Arguments for a parameter of a type: arrays of all sizes where the size is free.
fn choices(name: &str, ty: &SizedTy) -> Vec<Data> {
    let int = |n: i64| Data::Tensor(Tensor::scalar(Scalar::Int(n)));
    let vector = |xs: &&[f64]| tensor(&[xs.len()], xs);
    let matrix = |xs: &[f64; 4]| tensor(&[2, 2], xs);
    match ty {
        SizedTy::Scalar(ScalarTy::Real) => REALS.iter().map(|x| tensor(&[], &[*x])).collect(),
        SizedTy::Scalar(ScalarTy::Int) => [0, 1, -1, 2, -3].map(int).to_vec(),
        SizedTy::Array(size, elem) => match (size, &**elem) {
            (Size::Any | Size::Var(_), SizedTy::Scalar(ScalarTy::Real)) => {
                ARRAYS.iter().map(vector).collect()
            }
            (Size::Const(2), SizedTy::Scalar(ScalarTy::Real)) => {
                ARRAYS.iter().filter(|xs| xs.len() == 2).map(vector).collect()
            }
            (Size::Const(2), SizedTy::Array(..)) => MATRICES.iter().map(matrix).collect(),
            _ => panic!("{name}: nothing is given to a parameter of type {ty:?}"),
        },
        _ => panic!("{name}: nothing is given to a parameter of type {ty:?}"),
    }
}

/// All combinations, or evenly spaced ones where there would be more than `MOST`.
fn points(name: &str, params: &[SizedTy]) -> Vec<Vec<Data>> {
    let mut points = vec![Vec::new()];
    for ty in params {
        let choices = choices(name, ty);
        points = points
            .iter()
            .flat_map(|point: &Vec<Data>| {
                choices.iter().map(|c| point.iter().cloned().chain([c.clone()]).collect())
            })
            .collect();
    }
    let step = points.len().div_ceil(MOST);
    // A step that shares no factor with the numbers of choices meets all of them.
    let step = (step..).find(|s| s % 3 != 0 && s % 7 != 0 && s % 11 != 0).unwrap_or(step);
    points.into_iter().step_by(step).collect()
}

/// One function, on all engines.
struct Row {
    what: String,
    program: Program,
    entry: DefId,
    stages: [Executable; 3],
    function: lambada_loops::Function,
    translated: lambada_loops::Program,
    calls: Vec<Vec<Data>>,
    derivative: bool,
    /// Whether the sign of a zero counts.
    signs: bool,
}

type Numbers = Result<Vec<f64>, Failure>;

impl Row {
    fn new(
        what: String,
        (program, entry): (Program, DefId),
        calls: Vec<Vec<Data>>,
        derivative: bool,
    ) -> Row {
        let signs = !derivative && !SUMS.contains(&what.as_str());
        let arrays = lambada::arrays(&program, entry).unwrap_or_else(|p| panic!("{what}: {p:?}"));
        let (stages, function) = (Executable::stages(&arrays), nests::everywhere(&arrays));
        let translated = translated(&function);
        Row { what, program, entry, stages, function, translated, calls, derivative, signs }
    }

    /// Compares all engines, at all points: the compiled ones with each other, and the result of
    /// `normalize` with the language's meaning.
    fn complaints(&self, kernel: &Kernel) -> Vec<String> {
        let mut complaints = Vec::new();
        for args in &self.calls {
            let core = lambada_core::eval::run(&self.program, self.entry, args);
            let core = core.map(|data| numbers(&data));
            let given = |tensors: Vec<Tensor>| {
                numbers(&Data::Tuple(tensors.into_iter().map(Data::Tensor).collect()))
            };
            let tensors = self.stages[2].tensors(args);
            let own = tensors.clone().and_then(|tensors| self.translated.run(&tensors)).map(given);
            let native = tensors.and_then(|tensors| kernel.call(&tensors)).map(given);
            let [normalized, optimized, loops] =
                [0, 1, 2].map(|k| self.stages[k].run(args).map(|data| numbers(&data)));
            let nothing = |data: &Data| matches!(data, Data::Tensor(t) if t.dims == [0]);
            let special = args.iter().any(nothing)
                || args.iter().any(|data| reals(data).iter().any(|x| !x.is_finite()));
            let absent = self.derivative && special;
            let verdicts = [
                ("normalized against core", self.agree(&core, &normalized, absent)),
                ("optimized", self.agree(&normalized, &optimized, false)),
                ("loops", self.agree(&optimized, &loops, false)),
                ("jit", self.agree(&loops, &own, false)),
                ("native", self.agree(&loops, &native, false)),
            ];
            for (engine, verdict) in verdicts {
                if let Err(how) = verdict {
                    let args: Vec<String> = args.iter().map(ToString::to_string).collect();
                    complaints.push(format!("{} {}, {engine}: {how}", self.what, args.join(" ")));
                }
            }
        }
        complaints
    }

    /// `absent`: whether NaN may be found where a number is expected. The evaluator of core leaves
    /// out terms that do not depend on an argument, where compiled code may have a zero, which
    /// makes NaN of an infinity.
    fn agree(&self, expected: &Numbers, found: &Numbers, absent: bool) -> Result<(), String> {
        match (expected, found) {
            (Ok(a), Ok(b)) if a.len() == b.len() => {
                let sizes = a.iter().chain(b).map(|x| x.abs()).filter(|x| x.is_finite());
                let scale = sizes.fold(1.0, f64::max);
                let fine = |(a, b): (&f64, &f64)| {
                    same(*a, *b, self.signs, scale) || (absent && b.is_nan())
                };
                if a.iter().zip(b).all(fine) {
                    return Ok(());
                }
                Err(format!("{b:?} instead of {a:?}"))
            }
            (Err(a), Err(b)) if a.message == b.message => Ok(()),
            (_, _) => Err(format!("{found:?} instead of {expected:?}")),
        }
    }
}

fn same(a: f64, b: f64, signs: bool, scale: f64) -> bool {
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    if a == 0.0 && b == 0.0 {
        return !signs || a.is_sign_negative() == b.is_sign_negative();
    }
    // C may round `a * b + c` once: where terms cancel, the remainder is as small as a rounding.
    a == b || (a - b).abs() <= 1e-12 * a.abs().max(b.abs()) || (a - b).abs() <= 1e-15 * scale
}

/// The rows of a definition: value, both derivatives, both second derivatives.
fn rows(name: &str, program: &Program, entry: DefId) -> Vec<Row> {
    let params = program.def(entry).signature.params.clone();
    let params: Vec<SizedTy> = params.into_iter().map(|(_, ty)| ty).collect();
    let points = points(name, &params);
    let wrt = operators::choose(program, entry, None).unwrap_or_default();
    let value = (program.clone(), entry);
    let high = name.starts_with(HIGH);
    let own = points.iter().filter(|point| !high || point.iter().all(is_near)).cloned().collect();
    let mut rows = vec![Row::new(name.into(), value, own, high)];
    if wrt.is_empty() || high || NOT_DIFFERENTIATED.contains(&name) {
        return rows;
    }
    let derived = |program: &Program, entry, operator| {
        let mut program = program.clone();
        let id = operators::derive(&mut program, entry, operator, &wrt)
            .unwrap_or_else(|p| panic!("{name}: {p:?}"));
        (program, id)
    };
    let far = FAR.contains(&name);
    let mut drawn = lambada_testkit::Random(3);
    let (mut forward, mut reverse, mut mixed, mut twice) = (vec![], vec![], vec![], vec![]);
    for point in points.iter().filter(|point| far || point.iter().all(is_near)) {
        // Where the value fails, so does the derivative: the values' row has compared that.
        let Ok(value) = lambada_core::eval::run(program, entry, point) else { continue };
        let packed = match &wrt[..] {
            [single] => point[*single].clone(),
            several => Data::Tuple(several.iter().map(|k| point[*k].clone()).collect()),
        };
        let tangent = with_reals(&packed, &mut || drawn.real());
        let cotangent = with_reals(&value, &mut || drawn.real());
        let with = |more: &[&Data]| -> Vec<Data> {
            point.iter().chain(more.iter().copied()).cloned().collect()
        };
        forward.push(with(&[&tangent]));
        reverse.push(with(&[&cotangent]));
        mixed.push(with(&[&cotangent, &tangent]));
        let seeds = Data::Tuple(vec![with_reals(&value, &mut || drawn.real()), tangent.clone()]);
        twice.push(with(&[&cotangent, &seeds]));
    }
    let jvp = derived(program, entry, Operator::Jvp);
    let vjp = derived(program, entry, Operator::Vjp);
    let second = [(Operator::Jvp, "jvp of vjp", mixed), (Operator::Vjp, "vjp of vjp", twice)];
    for (operator, what, calls) in second.into_iter().filter(|_| !far) {
        let twice = derived(&vjp.0, vjp.1, operator);
        rows.push(Row::new(format!("{name}, {what}"), twice, calls, true));
    }
    rows.push(Row::new(format!("{name}, jvp"), jvp, forward, true));
    rows.push(Row::new(format!("{name}, vjp"), vjp, reverse, true));
    rows
}

/// Whether every real is a special value, or of a size at which products and squares neither
/// overflow nor vanish.
fn is_near(data: &Data) -> bool {
    numbers(data).iter().all(|x| !x.is_finite() || *x == 0.0 || (1e-60..1e60).contains(&x.abs()))
}

fn unit() -> Unit {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("special/programs.lam");
    let mut session = Session::new();
    session.load(&path).unwrap_or_else(|p| panic!("{}", session.render(&p, false)))
}

/// The number of functions, the number of calls, and the differences.
fn complaints(all: &[Row]) -> (usize, usize, Vec<String>) {
    let mut complaints = Vec::new();
    let functions: Vec<_> = all.iter().map(|row| &row.function).collect();
    let kernels = Kernel::compile_all(&functions).expect("the programs compile");
    for (row, kernel) in all.iter().zip(&kernels) {
        complaints.extend(row.complaints(kernel));
    }
    (all.len(), all.iter().map(|row| row.calls.len()).sum(), complaints)
}

#[test]
fn engines_agree_on_special_values() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut names: Vec<String> = unit().definitions().iter().map(|d| d.name.to_string()).collect();
    names.retain(|name| name.contains(&only) && name != CALLED);
    let found = parallel(&names.chunks(CHUNK).collect::<Vec<_>>(), |names| {
        let unit = unit();
        let rows_of = |name: &String| {
            let (program, entry) = unit.definition(name).expect("it is listed");
            rows(name, &program, entry)
        };
        complaints(&names.iter().flat_map(rows_of).collect::<Vec<_>>())
    });
    let mut complaints = Vec::new();
    let (mut functions, mut calls) = (0, 0);
    for found in found {
        functions += found.0;
        calls += found.1;
        complaints.extend(found.2);
    }
    println!("{functions} functions, {calls} calls");
    assert!(calls >= 15_000 || !only.is_empty(), "only {calls} calls");
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// A loop without end is not removed, whether its result is used or not, in values or derivatives.
/// Each engine runs it in a process of its own, this test's, which is stopped after a while; a loop
/// that ends shows that the process works.
#[test]
fn loops_without_end_do_not_end() {
    const WHERE: &str = "LAMBADA_ENDLESS";
    let source = "\
        def spin (x : real) : real = loop y = x while y > 0 do y\n\
        def unused (x : real) : real = let _y = loop y = x while y > 0 do y + 1 in 2 * x\n\
        def slope (x : real) : real = (jvp unused x 1.0).1\n\
        def back (x : real) : real = grad unused x\n";
    if let Ok(at) = std::env::var(WHERE) {
        let (engine, entry, x) = match at.split(' ').collect::<Vec<_>>()[..] {
            [engine, entry, x] => {
                (engine.to_string(), entry.to_string(), x.parse().expect("a real"))
            }
            _ => panic!("{at}"),
        };
        let unit = Session::new().load_text("endless.lam", source, None).expect("it is well typed");
        let (program, entry) = unit.definition(&entry).expect("it is there");
        let engine = match &*engine {
            "core" => Engine::Core,
            "anf" => Engine::Anf,
            "loops" => Engine::Loops,
            "jit" => Engine::Jit,
            _ => Engine::Native,
        };
        let executable = Executable::new(program, entry, engine).expect("it compiles");
        executable.run(&[tensor(&[], &[x])]).expect("it does not fail");
        return;
    }
    let start = |engine: &str, entry: &str, x: &str| {
        std::process::Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "loops_without_end_do_not_end", "--nocapture"])
            .env(WHERE, format!("{engine} {entry} {x}"))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("this test can be started")
    };
    let engines = ["core", "anf", "loops", "jit", "native"];
    // Long enough for the same work at -1, where the loops end.
    let before = std::time::Instant::now();
    for engine in engines {
        assert!(start(engine, "back", "-1").wait().expect("it ends").success(), "{engine}");
    }
    let patience = 2 * before.elapsed();
    for entry in ["spin", "unused", "slope", "back"] {
        let mut running: Vec<_> = engines.map(|engine| (engine, start(engine, entry, "1"))).into();
        std::thread::sleep(patience);
        for (engine, process) in &mut running {
            let status = process.try_wait().expect("it can be asked");
            process.kill().and_then(|()| process.wait().map(|_| ())).ok();
            assert!(status.is_none(), "{entry} has ended on {engine}: {status:?}");
        }
    }
}
