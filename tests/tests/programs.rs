//! The hand-written programs under `tests/programs`: their expectations, and the oracle matrix for each, natively too.

use std::path::Path;

use lambada::operators::Operator;
use lambada::{Data, Engine, Executable, Session, Unit, to_json};
use lambada_tests::expectations::{Expectation, Kind, arguments, close, expectations, programs};
use lambada_tests::on_big_stack;
use lambada_tests::oracle::{Case, Native, native_complaints, same};

/// What the program gives for the expectation, as the text that belongs after `=` or `:`.
fn found(unit: &Unit, expectation: &Expectation) -> Result<String, String> {
    let operator = match expectation.kind {
        Kind::Check => {
            let definitions = unit.definitions();
            let definition = definitions.iter().find(|d| *d.name == *expectation.entry).ok_or("no such definition")?;
            return Ok(definition.scheme.clone());
        }
        Kind::Oracle => return Ok(String::new()),
        Kind::Grad | Kind::Slope => Operator::Grad,
        Kind::Run | Kind::Value | Kind::Fails => Operator::Value,
    };
    let args = arguments(unit, expectation)?;
    let call = unit.call(&expectation.entry, operator, None).map_err(|p| format!("{p:?}"))?;
    let engines = [Engine::Core, Engine::Anf, Engine::Loops];
    let run = |engine| Ok(Executable::new(call.program.clone(), call.entry, engine).map_err(|p| format!("{p:?}"))?.run(&args));
    let results = engines.into_iter().map(run).collect::<Result<Vec<_>, String>>()?;
    for other in &results[1..] {
        same("an engine against the meaning", &results[0], other)?;
    }
    match (results[0].clone(), expectation.kind) {
        (Ok(Data::Tuple(pair)), Kind::Grad | Kind::Slope) => Ok(to_json(&pair[1]).to_string()),
        (Ok(value), Kind::Run | Kind::Value) => Ok(to_json(&value).to_string()),
        (Err(failure), Kind::Fails) => Ok(failure.message),
        (Ok(value), _) => Err(format!("gives {value}")),
        (Err(failure), _) => Err(format!("fails: {}", failure.message)),
    }
}

fn agrees(expectation: &Expectation, found: &str) -> bool {
    match expectation.kind {
        Kind::Run | Kind::Value | Kind::Grad | Kind::Slope => {
            match (serde_json::from_str(found), serde_json::from_str(&expectation.expected)) {
                (Ok(a), Ok(b)) => close(&a, &b),
                _ => false,
            }
        }
        Kind::Check | Kind::Fails => found == expectation.expected,
        Kind::Oracle => true,
    }
}

fn rewritten(expectation: &Expectation, found: &str, line: &str) -> String {
    match expectation.kind {
        Kind::Check => format!("-- check: {} : {found}", expectation.entry),
        Kind::Oracle => line.to_string(),
        Kind::Run | Kind::Value | Kind::Grad | Kind::Slope | Kind::Fails => {
            format!("{} = {found}", line.split(" = ").next().unwrap_or(line))
        }
    }
}

fn one(path: &Path, natives: &mut Vec<Native>, complaints: &mut Vec<String>) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("a listed program can be read");
    let mut session = Session::new();
    let unit = match session.load(path) {
        Ok(unit) => unit,
        Err(problems) => return complaints.push(format!("{name}:\n{}", session.render(&problems, false))),
    };
    let promises = expectations(&text);
    if promises.is_empty() {
        complaints.push(format!("{name} promises nothing"));
    }
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for promise in &promises {
        let place = format!("{name}:{}", promise.line + 1);
        match found(&unit, promise) {
            Ok(found) if agrees(promise, &found) => {}
            Ok(found) if std::env::var_os("BLESS").is_some() => lines[promise.line] = rewritten(promise, &found, &lines[promise.line]),
            Ok(found) => complaints.push(format!("{place}: {found} instead of {}", promise.expected)),
            Err(e) => complaints.push(format!("{place}: {e}")),
        }
        if matches!(promise.kind, Kind::Run | Kind::Grad | Kind::Fails | Kind::Oracle) {
            let verdict = arguments(&unit, promise).and_then(|args| Case::new(&unit, &promise.entry, args)).and_then(|case| case.verdict());
            match verdict {
                Ok(found) => natives.extend(found.into_iter().map(|n| Native { name: format!("{place}: {}", n.name), ..n })),
                Err(e) => complaints.push(format!("{place}: {e}")),
            }
        }
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, lines.join("\n") + "\n").expect("the program can be rewritten");
    }
}

#[test]
fn all_programs_keep_their_promises() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let files = programs(&folder);
    let only = std::env::var("ONLY").unwrap_or_default();
    assert!(files.len() >= 60 || !only.is_empty(), "only {} programs", files.len());
    let complaints = on_big_stack(|| {
        let (mut natives, mut complaints) = (Vec::new(), Vec::new());
        files.iter().filter(|f| f.to_string_lossy().contains(&only)).for_each(|file| one(file, &mut natives, &mut complaints));
        complaints.extend(native_complaints(&natives));
        println!("{} programs, {} native functions compared", files.len(), natives.len());
        complaints
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}
