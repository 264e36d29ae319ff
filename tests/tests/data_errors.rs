//! Bad data, each with the exact message that a user sees: `tests/errors/data/ENTRY__WHAT.json`
//! with `….stderr`. `BLESS=1` rewrites them.

use std::path::Path;

use lambada::operators::Operator;
use lambada::{Engine, Executable, Inputs, Session};

/// The message of a run with this data, or the result if there is no error.
fn message(folder: &Path, file: &Path) -> String {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let entry = name.split("__").next().unwrap_or_default();
    let mut session = Session::new();
    let program =
        std::fs::read_to_string(folder.join("program.lam")).expect("the program is there");
    let unit = session
        .load_text("program.lam", &program, None)
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let call = unit
        .call(entry, Operator::Value, None)
        .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let mut inputs = Inputs::new();
    let text = std::fs::read_to_string(file).expect("the data is there");
    if let Err(problem) = inputs.read_json(&text, "`data.json`") {
        return session.render(&[problem], false);
    }
    match call.arguments(&inputs) {
        Err(problems) => session.render(&problems, false),
        Ok(args) => {
            let executable = Executable::new(call.program, call.entry, Engine::Anf)
                .unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
            executable.run(&args).map_or_else(
                |f| session.render_failure(&f, false),
                |value| format!("no complaint, but {value}"),
            )
        }
    }
}

#[test]
fn bad_data_is_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("errors/data");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder is there")
        .flatten()
        .map(|e| e.path())
        .collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "json"));
    files.sort();
    assert!(files.len() >= 20);
    let mut wrong = Vec::new();
    for file in &files {
        let (found, expected) = (message(&folder, file), file.with_extension("stderr"));
        wrong.extend(lambada_testkit::golden(&expected, &found).err());
        if found.starts_with("no complaint") {
            wrong.push(format!("{}: {found}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
