//! The hand-written programs under `tests/programs` (or `PROGRAMS`): their expectations, and the oracle matrix for each, natively too.

use std::path::{Path, PathBuf};

use lambada::Session;
use lambada_tests::expectations::{
    Expectation, Kind, agrees, arguments, expectations, found, programs,
};
use lambada_tests::on_big_stack;
use lambada_tests::oracle::{Case, Native, native_complaints};

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
        Err(problems) => {
            return complaints.push(format!("{name}:\n{}", session.render(&problems, false)));
        }
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
            Ok(found) if std::env::var_os("BLESS").is_some() => {
                lines[promise.line] = rewritten(promise, &found, &lines[promise.line])
            }
            Ok(found) => {
                complaints.push(format!("{place}: {found} instead of {}", promise.expected))
            }
            Err(e) => complaints.push(format!("{place}: {e}")),
        }
        if matches!(promise.kind, Kind::Run | Kind::Grad | Kind::Fails | Kind::Oracle) {
            let verdict = arguments(&unit, promise)
                .and_then(|args| Case::new(&unit, &promise.entry, args))
                .and_then(|case| case.verdict());
            match verdict {
                Ok(found) => natives.extend(
                    found.into_iter().map(|n| Native { name: format!("{place}: {}", n.name), ..n }),
                ),
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
    let folder = std::env::var_os("PROGRAMS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"), PathBuf::from);
    let files = programs(&folder);
    let only = std::env::var("ONLY").unwrap_or_default();
    assert!(files.len() >= 60 || !only.is_empty(), "only {} programs", files.len());
    let complaints = on_big_stack(|| {
        let (mut natives, mut complaints) = (Vec::new(), Vec::new());
        files
            .iter()
            .filter(|f| f.to_string_lossy().contains(&only))
            .for_each(|file| one(file, &mut natives, &mut complaints));
        complaints.extend(native_complaints(&natives));
        println!("{} programs, {} native functions compared", files.len(), natives.len());
        complaints
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}
