//! The hand-written programs under `tests/programs` (or `PROGRAMS`): their expectations, and the
//! oracle matrix for each, natively and under the sanitizers too. Those under `tests/reports` (or
//! `REPORTS`) are written after public reports of wrong derivatives in other systems; their answers
//! are worked out by hand, or with 50 digits.

use std::path::{Path, PathBuf};

use lambada::vectors::{numbers, reals, with_reals};
use lambada::{Data, Engine, Executable, Inputs, Operator, Raw, Session, Unit, operators, to_json};
use lambada_testkit::{Confirmed, blessing, parallel};
use lambada_tests::expectations::{
    Executables, Expectation, PromiseKind, agrees, agrees_in_proportion, arguments, expectations,
    groups, programs, quick,
};
use lambada_tests::natives::{Native, What, native_complaints};
use lambada_tests::oracle::{Agreement, Cases};
use lambada_tests::orders::Definitions;
use lambada_tests::sanitizer::{Sanitizers, sanitized_complaints};

/// The number of files that are compiled together.
const CHUNK: usize = 4;

fn rewritten(expectation: &Expectation, found: &str, line: &str) -> String {
    match expectation.kind {
        PromiseKind::Check => format!("-- check: {} : {found}", expectation.entry),
        PromiseKind::Oracle => line.to_string(),
        PromiseKind::Run
        | PromiseKind::Value
        | PromiseKind::Grad
        | PromiseKind::Slope
        | PromiseKind::Fails => {
            format!("{} = {found}", line.split(" = ").next().unwrap_or(line))
        }
    }
}

fn one(path: &Path, all: &mut All) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("a listed program can be read");
    let mut session = Session::new();
    let unit = match session.load(path) {
        Ok(unit) => unit,
        Err(problems) => {
            return all.complaints.push(format!("{name}:\n{}", session.render(&problems, false)));
        }
    };
    let promises = expectations(&text);
    if promises.is_empty() {
        all.complaints.push(format!("{name} promises nothing"));
    }
    let mut cases = Cases::of(&unit);
    let mut definitions = Definitions::of(&unit);
    let mut executables = Executables::of(&unit);
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for promise in &promises {
        let place = format!("{name}:{}", promise.line + 1);
        // A result that the oracle does not confirm is never blessed.
        let args = || arguments(&unit, promise);
        let verdict = match promise.kind {
            PromiseKind::Check => Ok(Agreement::default()),
            PromiseKind::Run | PromiseKind::Grad | PromiseKind::Fails | PromiseKind::Oracle => {
                args().and_then(|args| cases.at(&promise.entry, args)?.verdict())
            }
            // Differences say nothing there, but machine code has to do as the interpreter.
            PromiseKind::Value | PromiseKind::Slope => args()
                .and_then(|args| definitions.natives(&promise.entry, &args))
                .map(|natives| Agreement { natives, ..Agreement::default() }),
        };
        match verdict {
            Ok(agreement) => all.add(&place, agreement),
            Err(e) => {
                all.complaints.push(format!("{place}: {e}"));
                continue;
            }
        }
        match executables.found(promise) {
            Ok(found) if agrees(promise, &found) => {}
            Ok(found) if blessing() => {
                lines[promise.line] = rewritten(promise, &found, &lines[promise.line])
            }
            Ok(found) => {
                all.complaints.push(format!("{place}: {found} instead of {}", promise.expected))
            }
            Err(e) => all.complaints.push(format!("{place}: {e}")),
        }
    }
    if blessing() {
        std::fs::write(path, lines.join("\n") + "\n").expect("the program can be rewritten");
    }
}

/// The results of all programs.
#[derive(Default)]
struct All {
    natives: Vec<Native>,
    differences: Confirmed,
    complaints: Vec<String>,
}

impl All {
    fn add(&mut self, place: &str, agreement: Agreement) {
        self.natives.extend(agreement.natives.into_iter().map(|n| n.inside(place)));
        self.differences.add(agreement.differences);
    }

    /// Machine code against the interpreter of loops: with optimization values and gradients, and
    /// every third time several tangents, since the C compiler takes longer for these and the
    /// second order than for all else; under the sanitizers and without optimization both orders,
    /// in one direction, and of the second order one derivative of each.
    fn run(&mut self) -> [usize; 2] {
        let is_optimized = |(k, native): &(usize, &Native)| match native.what {
            What::Value | What::Vjp => true,
            What::Jvps => k.is_multiple_of(3),
            What::Jvp | What::JvpOfVjp | What::VjpOfVjp | What::JvpsOfVjp => false,
        };
        let optimized = self.natives.iter().enumerate().filter(is_optimized).map(|(_, n)| n);
        let sanitized = self.natives.iter().filter(|n| !n.what.has_rows() && n.is_chosen());
        let counts = [optimized.clone().count(), sanitized.clone().count()];
        let found = native_complaints(optimized);
        self.complaints.extend(found.iter().map(ToString::to_string));
        match sanitized_complaints(sanitized, Sanitizers::Memory) {
            Ok(found) => self.complaints.extend(found.iter().map(ToString::to_string)),
            // Natives have said so, unless there need not be one.
            Err(_) if lambada_run::Compiler::find().is_none() => {}
            Err(e) => self.complaints.push(e),
        }
        counts
    }
}

#[test]
fn all_programs_keep_their_promises() {
    let folder = std::env::var_os("PROGRAMS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"), PathBuf::from);
    let mut files = programs(&folder);
    for part in ["rules", "sparse", "exponential", "normalize"].map(|part| folder.join(part)) {
        files.extend(if part.is_dir() { programs(&part) } else { Vec::new() });
    }
    let only = std::env::var("ONLY").unwrap_or_default();
    files.retain(|file| file.to_string_lossy().contains(&only));
    let enough = if only.is_empty() { 60 } else { 1 };
    assert!(files.len() >= enough, "only {} programs", files.len());
    let count = files.len();
    let found = parallel(&groups(files, CHUNK), |files| {
        let mut all = All::default();
        files.iter().for_each(|file| one(file, &mut all));
        let counts = all.run();
        (all.differences, counts, all.complaints)
    });
    let (mut differences, mut complaints) = (Confirmed::default(), Vec::new());
    let (mut natives, mut sanitized) = (0, 0);
    for (confirmed, [compared, watched], told) in found {
        differences.add(confirmed);
        natives += compared;
        sanitized += watched;
        complaints.extend(told);
    }
    println!("{count} programs, {natives} native calls compared, {sanitized} under the sanitizers");
    println!("{differences:?}");
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
    let Confirmed { decided, undecided } = differences;
    assert!(natives >= 1000 || !only.is_empty(), "only {natives} native calls");
    assert!(sanitized >= 1000 || !only.is_empty(), "only {sanitized} under the sanitizers");
    assert!(decided > 20 * undecided || !only.is_empty(), "{differences:?}");
}

/// The gradient by forward mode: the tangent along each real of the arguments.
fn forwards(unit: &Unit, promise: &Expectation, engine: Engine) -> Result<String, String> {
    let args = arguments(unit, promise)?;
    let call = |operator| {
        unit.call(&promise.entry, operator, None).map_err(|problems| format!("{problems:?}"))
    };
    let (value, jvp) = (call(Operator::Value)?, call(Operator::Jvp)?);
    let wrt = operators::choose(&value.program, value.entry, None).unwrap_or_default();
    let point = match &wrt[..] {
        [single] => args[*single].clone(),
        several => Data::Tuple(several.iter().map(|k| args[*k].clone()).collect()),
    };
    let executable = Executable::with(jvp.program.clone(), jvp.entry, &quick(engine))
        .map_err(|problems| format!("{problems:?}"))?;
    let along = |k: usize| {
        let mut units = (0..).map(|at| f64::from(u8::from(at == k)));
        let tangent = with_reals(&point, &mut || units.next().unwrap_or_default());
        let args: Vec<Data> = args.iter().cloned().chain([tangent]).collect();
        match executable.run(&args) {
            Ok(Data::Tuple(pair)) => Ok(numbers(&pair[1])),
            other => Err(format!("{other:?}")),
        }
    };
    let slopes = (0..reals(&point).len()).map(along).collect::<Result<Vec<_>, String>>()?;
    let mut slopes = slopes.concat().into_iter();
    let gradient = with_reals(&point, &mut || slopes.next().unwrap_or(f64::NAN));
    Ok(to_json(&gradient).to_string())
}

/// Every engine by itself gives the answer, and each report begins with a line that names its
/// subject.
fn answered(path: &Path) -> Vec<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("a listed program can be read");
    let unit = match Session::new().load(path) {
        Ok(unit) => unit,
        Err(problems) => return vec![format!("{name}: {problems:?}")],
    };
    let is_told =
        text.lines().next().is_some_and(|line| line.starts_with("-- ") && line.contains(':'));
    let untold = (!is_told).then(|| format!("{name} does not begin with what it is about"));
    let mut complaints: Vec<String> = untold.into_iter().collect();
    let engines = [Engine::Core, Engine::Anf, Engine::Loops, Engine::Jit, Engine::Native];
    let mut executables = Executables::of(&unit);
    for promise in expectations(&text).iter().filter(|promise| promise.kind != PromiseKind::Oracle)
    {
        if matches!(promise.kind, PromiseKind::Grad | PromiseKind::Slope) {
            for engine in [Engine::Core, Engine::Jit] {
                let forwards = forwards(&unit, promise, engine);
                if !forwards.as_ref().is_ok_and(|found| agrees_in_proportion(promise, found)) {
                    let place = format!("{name}:{}, {engine:?}, forwards", promise.line + 1);
                    complaints
                        .push(format!("{place}: {forwards:?} instead of {}", promise.expected));
                }
            }
        }
        for engine in engines {
            let place = format!("{name}:{}, {engine:?}", promise.line + 1);
            match executables.found_with(promise, &[engine]) {
                Ok(found) if agrees_in_proportion(promise, &found) => {}
                Ok(found) => {
                    complaints.push(format!("{place}: {found} instead of {}", promise.expected))
                }
                Err(e) => complaints.push(format!("{place}: {e}")),
            }
        }
    }
    complaints
}

/// How many of the guessed programs have types. The number only grows.
const GUESSED: usize = 52;

#[test]
fn reports_of_other_systems_are_answered() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let folder = std::env::var_os("REPORTS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("reports"), PathBuf::from);
    let mut files = programs(&folder);
    files.retain(|file| file.to_string_lossy().contains(&only));
    assert!(files.len() >= 40 || !only.is_empty(), "only {} reports", files.len());
    let found = parallel(&groups(files, CHUNK), |files| {
        // Machine code is asked for each answer by itself, not in the groups of `All::run`.
        let mut all = All::default();
        files.iter().for_each(|file| one(file, &mut all));
        all.complaints.extend(files.iter().flat_map(|file| answered(file)));
        all.complaints
    });
    let complaints = found.concat();
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// Programs as one would guess them: those that have types give what was worked out for them, at
/// the types of the data.
#[test]
fn guessed_programs_give_their_values() {
    let files = programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("guessed"));
    let found = parallel(&files, |file| {
        let text = std::fs::read_to_string(file).expect("a program");
        let unit = Session::new().load_text(&file.to_string_lossy(), &text, None).ok()?;
        let promises = expectations(&text).into_iter();
        let values = promises.filter(|promise| promise.kind == PromiseKind::Run);
        Some(values.flat_map(|promise| guessed_complaints(&unit, &promise)).collect::<Vec<_>>())
    });
    let found: Vec<Vec<String>> = found.into_iter().flatten().collect();
    assert!(found.len() >= GUESSED, "only {} have types", found.len());
    let complaints = found.concat();
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

fn guessed_complaints(unit: &Unit, promise: &Expectation) -> Vec<String> {
    let value = |engine: Engine| -> Result<String, String> {
        let told = |problems| format!("{problems:?}");
        let call = unit.call(&promise.entry, Operator::Value, None).map_err(told)?;
        let mut inputs = Inputs::new();
        for (name, value) in call.parameters().iter().zip(&promise.args) {
            inputs.insert(&**name, Raw::Json(value.clone().into()), "the comment");
        }
        let call = unit.call_at(&promise.entry, Operator::Value, None, &inputs).map_err(told)?;
        let args = call.arguments(&inputs).map_err(|problem| format!("{problem:?}"))?;
        let executable =
            Executable::with(call.program.clone(), call.entry, &quick(engine)).map_err(told)?;
        executable.run(&args).map(|v| to_json(&v).to_string()).map_err(|e| format!("{e:?}"))
    };
    let wrong = |engine: Engine| match value(engine) {
        Ok(found) if agrees_in_proportion(promise, &found) => None,
        other => Some(format!(
            "{}, {engine:?}: {other:?} instead of {}",
            promise.entry, promise.expected
        )),
    };
    [Engine::Core, Engine::Jit].into_iter().filter_map(wrong).collect()
}
