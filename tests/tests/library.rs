//! The standard library: all of it checks, the examples of its doc comments are right, and so are the programs under `tests/std`.

use std::path::Path;

use lambada::{Engine, Executable, MODULES, PRELUDE, Session, Unit};
use lambada_surface::ast::{Def, Item};
use lambada_testkit::parallel;
use lambada_tests::expectations::programs;

fn load(name: &str, text: &str) -> Result<Unit, String> {
    let mut session = Session::new();
    let unit = session.load_text(name, text, None);
    unit.map_err(|problems| format!("{name}:\n{}", session.render(&problems, false)))
}

fn run(unit: &Unit, entry: &str, engine: Engine) -> Result<String, String> {
    let (program, id) = unit.definition(entry).map_err(|p| format!("{entry}: {p:?}"))?;
    let executable =
        Executable::new(program, id, engine).map_err(|p| format!("{entry}, {engine:?}: {p:?}"))?;
    let value = executable.run(&[]).map_err(|f| format!("{entry}, {engine:?}: {}", f.message))?;
    Ok(value.to_string())
}

/// The definitions of a text that are meant for users.
fn public(text: &str) -> Vec<Def> {
    let (module, problems) = lambada_surface::parse(text, lambada_source::FileId(0));
    assert!(problems.is_empty(), "{problems:?}");
    let defs = module.items.into_iter().filter_map(|item| match item {
        Item::Def(def) => Some(def),
        Item::Type(_) | Item::Import { .. } => None,
    });
    defs.filter(|def| !def.name.text.starts_with(['_'])).collect()
}

/// What a doc comment says in the form `` `call` is `value` ``.
fn examples(doc: &str) -> Vec<(String, String)> {
    let doc = doc.replace('\n', " ");
    let parts: Vec<&str> = doc.split('`').collect();
    let stated = parts.windows(3).skip(1).step_by(2).filter(|three| three[1].trim() == "is");
    stated.map(|three| (three[0].to_string(), three[2].to_string())).collect()
}

/// Are the texts equal, but for the last digits of reals?
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
fn every_module_checks_and_its_examples_are_right() {
    let mut complaints = wrong_examples("prelude", PRELUDE, "");
    for (name, text) in MODULES {
        // As the program itself, a module is elaborated as a whole.
        complaints.extend(load(&format!("<std>/{name}"), text).err());
        complaints.extend(wrong_examples(name, text, &format!("import \"std/{name}\"\n")));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn modules_are_in_order() {
    assert!(MODULES.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

/// `-- below NAME LIMIT`: the definition, an error measured against values from elsewhere, is at most that on each engine.
#[test]
fn errors_are_below_their_limits() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("std");
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut cases = Vec::new();
    for path in programs(&folder) {
        let text = std::fs::read_to_string(&path).expect("a listed program can be read");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for line in text.lines().filter_map(|line| line.strip_prefix("-- below ")) {
            let (entry, limit) = line.split_once(' ').expect("a name and a limit");
            let limit: f64 = limit.trim().parse().expect("a limit is a number");
            if format!("{name}:{entry}").contains(&only) {
                cases.push((path.clone(), name.clone(), entry.to_string(), limit));
            }
        }
    }
    assert!(cases.len() > 20 || !only.is_empty(), "only {} errors", cases.len());
    let found = parallel(&cases, |(path, name, entry, limit)| {
        let mut session = Session::new();
        let unit = match session.load(path) {
            Ok(unit) => unit,
            Err(problems) => return vec![format!("{name}:\n{}", session.render(&problems, false))],
        };
        let mut complaints = Vec::new();
        for engine in [Engine::Core, Engine::Native] {
            match run(&unit, entry, engine).map(|text| text.parse::<f64>().unwrap_or(f64::NAN)) {
                Ok(error) if error <= *limit => {}
                Ok(error) => {
                    complaints.push(format!("{name}: `{entry}` is {error:e}, {engine:?}"));
                }
                Err(e) => complaints.push(format!("{name}: {e}")),
            }
        }
        complaints
    });
    let complaints: Vec<String> = found.into_iter().flatten().collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
