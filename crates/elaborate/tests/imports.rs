//! Definitions, types and constructors of imported files.

mod common;

use lambada_elaborate::{Input, elaborate, import_key};
use lambada_source::{Sources, render};
use lambada_surface::parse;

fn with_import(linalg: &str, main: &str) -> Result<Vec<(String, String)>, Vec<String>> {
    let mut sources = Sources::new();
    let mut module = |name: &str, text: &str| {
        let file = sources.add(name, text);
        parse(text, file).0
    };
    let (prelude, linalg, main) = (
        module("prelude", common::PRELUDE),
        module("linalg.lam", linalg),
        module("main.lam", main),
    );
    let (checked, problems) = elaborate(&Input {
        prelude: &prelude,
        imports: vec![("linalg".into(), &linalg)],
        main: &main,
        whole_library: false,
        divides_ints: false,
    });
    if !problems.is_empty() {
        return Err(problems.into_iter().map(|problem| problem.title).collect());
    }
    let definitions = checked.definitions();
    for definition in &definitions {
        lambada_core::check(&checked.program(&definition.name).expect("a program"))
            .expect("core accepts it");
    }
    Ok(definitions.into_iter().map(|d| (d.name.to_string(), d.scheme)).collect())
}

const LINALG: &str = "type shape = Circle real | Point\ntype vec3 = [3]real\ndef scale k x = k * x\ndef twice x = scale 2 x\n";

#[test]
fn members_are_used_under_the_name_of_the_file() {
    let found = with_import(
        LINALG,
        "import \"./linalg.lam\"\ndef f (x : vec3) = linalg.scale 2 (linalg.twice x)\ndef g = match Circle 1 | Circle r -> r | Point -> 0",
    );
    let expected = [("f", "[3]real -> [3]real"), ("g", "real")];
    assert_eq!(found, Ok(expected.map(|(a, b)| (a.to_string(), b.to_string())).to_vec()));
}

#[test]
fn types_and_constructors_may_say_their_file() {
    let found = with_import(
        &format!("{LINALG}type pair = (vec3, vec3)\n"),
        "import \"linalg\"\ntype vec3 = linalg.vec3\ntype shape = Circle int\ndef f (p : linalg.pair) : vec3 = p.0
def g (s : linalg.shape) = match s | linalg.Circle r -> r | linalg.Point -> 0
def h = (linalg.Circle 1.0, linalg.Point, Circle 1)",
    );
    let expected = [
        ("f", "([3]real, [3]real) -> [3]real"),
        ("g", "shape -> real"),
        ("h", "(shape, shape, shape)"),
    ];
    assert_eq!(found, Ok(expected.map(|(a, b)| (a.to_string(), b.to_string())).to_vec()));
}

#[test]
fn aliases_mean_the_types_of_their_file() {
    let found = with_import(
        "type t = real\ntype pair = (t, t)\n",
        "import \"linalg\"\ntype t = bool\ndef f (p : linalg.pair) = p.0",
    );
    assert_eq!(found, Ok(vec![("f".to_string(), "(real, real) -> real".to_string())]));
    let missing = with_import(LINALG, "import \"linalg\"\ndef f (x : linalg.vec4) = x");
    assert_eq!(missing, Err(vec!["unknown type `linalg.vec4`".to_string()]));
}

#[test]
fn what_is_not_there_is_said() {
    let found = with_import(
        LINALG,
        "import \"linalg\"\ndef f = linalg.scal 2.0\ndef g = linalg\ndef h = scale 1.0",
    );
    let expected = [
        "`linalg` does not define `scal`",
        "`linalg` is an imported file, not a value",
        "unknown name `scale`",
    ];
    assert_eq!(found, Err(expected.map(str::to_string).to_vec()));
}

#[test]
fn own_definitions_win() {
    let found =
        with_import(LINALG, "import \"linalg\"\ndef linalg = {scale = 1.0}\ndef f = linalg.scale");
    assert!(found.is_ok(), "{found:?}");
}

#[test]
fn an_import_has_the_name_after_as() {
    let found = with_import(
        LINALG,
        "import \"linalg\" as la\ndef f (x : vec3) = la.scale 2 x
def g (s : la.shape) = match s | la.Circle r -> r | Point -> 0",
    );
    let expected = [("f", "[3]real -> [3]real"), ("g", "shape -> real")];
    assert_eq!(found, Ok(expected.map(|(a, b)| (a.to_string(), b.to_string())).to_vec()));
    let other = with_import(LINALG, "import \"linalg\" as la\ndef f = linalg.scale");
    assert_eq!(other, Err(vec!["unknown name `linalg`".to_string()]));
}

#[test]
fn listed_names_need_no_module() {
    let found = with_import(
        LINALG,
        "import \"linalg\" (scale, shape)\nimport \"linalg\" as la
def f (x : real) = scale 2 (la.twice x)\ndef g (s : shape) = match s | Circle r -> r | Point -> 0",
    );
    let expected = [("f", "real -> real"), ("g", "shape -> real")];
    assert_eq!(found, Ok(expected.map(|(a, b)| (a.to_string(), b.to_string())).to_vec()));
}

#[test]
fn only_listed_names_are_known() {
    let found = with_import(
        LINALG,
        "import \"linalg\" (scale)\ndef f = twice 1.0\ndef g = Point\ndef h = linalg.twice 1.0",
    );
    let expected = ["unknown name `twice`", "unknown constructor `Point`", "unknown name `linalg`"];
    assert_eq!(found, Err(expected.map(str::to_string).to_vec()));
}

#[test]
fn lists_are_checked() {
    let found = with_import(
        LINALG,
        "import \"linalg\" (scal, twice, Circle, shape)\nimport \"linalg\" (twice)\ndef twice x = x + x",
    );
    let expected = [
        "`linalg` does not define `scal`",
        "`twice` would mean two things",
        "`twice` would mean two things",
    ];
    assert_eq!(found, Err(expected.map(str::to_string).to_vec()));
}

#[test]
fn a_list_hides_the_prelude() {
    let found = with_import(
        "def sum x = x + 1\ntype option = Full real\n",
        "import \"linalg\" (sum, option)\ndef f = sum 1.0\ndef g (o : option) = match o | Full x -> x",
    );
    let expected = [("f", "real"), ("g", "option -> real")];
    assert_eq!(found, Ok(expected.map(|(a, b)| (a.to_string(), b.to_string())).to_vec()));
}

/// All of the library, whether a program uses it or not.
#[test]
fn the_whole_library_is_sound() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = crates.join("lambada/library/std");
    let mut sources = Sources::new();
    let mut problems = Vec::new();
    let mut module = |name: &str, text: &str| {
        let file = sources.add(name, text);
        let (module, found) = parse(text, file);
        problems.extend(found);
        module
    };
    let prelude = module("<prelude>", common::PRELUDE);
    let main = module("main.lam", "");
    let mut modules = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of the library").flatten() {
        let name = entry.file_name().to_string_lossy().replace(".lam", "");
        let text = std::fs::read_to_string(entry.path()).expect("a module can be read");
        modules.push((import_key(None, &format!("std/{name}")), module(&name, &text)));
    }
    assert!(modules.len() > 3);
    let imports = modules.iter().map(|(key, module)| (key.as_str().into(), module)).collect();
    let input =
        Input { prelude: &prelude, imports, main: &main, whole_library: true, divides_ints: false };
    problems.extend(elaborate(&input).1);
    assert!(problems.is_empty(), "{}", render(&sources, &problems, false));
}
