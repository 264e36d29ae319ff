//! Derivatives as people read them: `tests/golden/derivatives/NAME.lam` is a program, and
//! `NAME.reverse.lam` and `NAME.forward.lam` are the output of `derive` for its last definition,
//! read aloud before they were accepted. `BLESS=1` rewrites them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lambada::Session;
use lambada::operators::Operator;
use lambada_testkit::golden;

/// A printed derivative, or an error if it does not check.
fn derivative(program: &Path, operator: Operator) -> Result<String, String> {
    let file = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
    let mut session = Session::new();
    let unit = session.load_text(&file, &text, None).map_err(|p| format!("{file}: {:?}", p))?;
    let entry = unit.definitions().last().map(|d| d.name.to_string()).unwrap_or_default();
    let told = |p: Vec<lambada::Problem>| format!("{file}: {p:?}");
    let derived = unit.derivative_source(&entry, operator, None).map_err(told)?;
    let again = Session::new().load_text("derived.lam", &derived, None);
    again.map_err(|p| format!("{file}: the derivative does not check: {p:?}\n{derived}"))?;
    // An absent cotangent adds nothing.
    match derived.contains("+ 0.0") {
        true => Err(format!("{file}: a zero is added\n{derived}")),
        false => Ok(derived),
    }
}

#[test]
fn derivatives_read_well() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/derivatives");
    let files = std::fs::read_dir(&folder).expect("the folder is there");
    let names: BTreeSet<PathBuf> = files.map(|f| f.expect("a file").path()).collect();
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let programs: Vec<&PathBuf> = names.iter().filter(|p| !stem(p).contains('.')).collect();
    assert!(programs.len() >= 12, "only {} programs", programs.len());
    let mut complaints = Vec::new();
    for program in programs {
        for (mode, operator) in [("reverse", Operator::Vjp), ("forward", Operator::Jvp)] {
            let path = folder.join(format!("{}.{mode}.lam", stem(program)));
            // Forward derivatives are shown where they show something.
            if mode == "reverse" || path.exists() {
                let checked =
                    derivative(program, operator).and_then(|derived| golden(&path, &derived));
                complaints.extend(checked.err());
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
