//! Programs of several files: transitive imports, cycles, and stand-alone source of derivatives.

use lambada::operators::Operator;
use lambada::{Engine, Executable, Inputs, Session, Unit};

/// Writes files into a folder, and loads `main.lam`.
fn load(files: &[(&str, &str)]) -> Result<Unit, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder"))
            .expect("a temporary folder can be made");
        std::fs::write(path, text).expect("a temporary file can be written");
    }
    let mut session = Session::new();
    let unit = session.load(&folder.path().join("main.lam"));
    unit.map_err(|problems| {
        session.render(&problems, false).replace(&folder.path().display().to_string(), ".")
    })
}

fn run(unit: &Unit, entry: &str, operator: Operator, args: &[&str]) -> String {
    let call = unit.call(entry, operator, None).unwrap_or_else(|p| panic!("{p:?}"));
    let mut inputs = Inputs::new();
    args.iter().for_each(|arg| inputs.read_argument(arg).expect("an argument"));
    let args = call.arguments(&inputs).unwrap_or_else(|p| panic!("{p:?}"));
    let executable =
        Executable::new(call.program, call.entry, Engine::Anf).unwrap_or_else(|p| panic!("{p:?}"));
    executable.run(&args).unwrap_or_else(|f| panic!("{}", f.message)).to_string()
}

const SHAPES: &str = "import \"sizes\"\ntype pair = (real, real)\ntype shape = Circle real | Rect pair | Many (sizes.list real)
def area (s : shape) = match s | Circle r -> pi * r ** 2 | Rect p -> p.0 * p.1 | Many xs -> sizes.total xs\n";
const SIZES: &str = "type list a = Two a a | Three a a a\ntype unused = Unused\ndef total (xs : list real) = match xs | Two a b -> a + b | Three a b c -> a * b * c\n";

/// Paths are relative to the importing file; each file is read once; names of indirect imports are
/// not visible.
#[test]
fn imports_of_imports() {
    let shapes = SHAPES.replace("\"sizes\"", "\"../sizes.lam\"");
    let main = "import \"lib/shapes\"\nimport \"sizes\"\ndef f (s : shape) = shapes.area s + sizes.total (Two 1.0 2.0)
def g x = f (Many (sizes.Three x x 2.0))\n";
    let unit = load(&[("lib/shapes.lam", &shapes), ("sizes.lam", SIZES), ("main.lam", main)])
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(run(&unit, "f", Operator::Value, &[r#"s={"Rect": [[2, 3]]}"#]), "9.0");
    assert_eq!(run(&unit, "g", Operator::Grad, &["3"]), "(21.0, 12.0)");
    let hidden = load(&[
        ("lib/shapes.lam", &shapes),
        ("sizes.lam", SIZES),
        ("main.lam", "import \"lib/shapes\"\ndef f = sizes.total\n"),
    ]);
    assert!(hidden.is_err_and(|e| e.contains("unknown name `sizes`")));
}

#[test]
fn circles_are_errors() {
    let files = [
        ("main.lam", "import \"a\"\ndef f = 1\n"),
        ("a.lam", "import \"b\"\n"),
        ("b.lam", "import \"a\"\n"),
    ];
    let error = load(&files).err().expect("a circle");
    assert!(
        error.contains("the import `a` goes around in a circle") && error.contains("b.lam:1:1"),
        "{error}"
    );
    assert!(error.contains("`a.lam` imports `b.lam` imports `a.lam`"), "{error}");
    let own = load(&[("main.lam", "import \"main\"\ndef f = 1\n")]).err().expect("a circle");
    assert!(own.contains("`main.lam` imports `main.lam`"), "{own}");
}

#[test]
fn files_of_one_name() {
    let (a, b) = (("x/util.lam", "def one = 1\n"), ("y/util.lam", "def one = 2\n"));
    let both = load(&[a, b, ("main.lam", "import \"x/util\"\nimport \"y/util\"\n")])
        .err()
        .expect("an ambiguous name");
    assert!(both.contains("two imports are called `util`"), "{both}");
    let inner = ("x/inner.lam", "import \"util\"\ndef two = util.one + util.one\n");
    let apart = load(&[
        a,
        b,
        inner,
        ("main.lam", "import \"y/util\"\nimport \"x/inner\"\ndef f = 10 * util.one + inner.two\n"),
    ]);
    assert_eq!(run(&apart.unwrap_or_else(|e| panic!("{e}")), "f", Operator::Value, &[]), "22.0");
}

/// A file that is imported under a name and by a list, in a module that is imported itself.
#[test]
fn names_and_lists() {
    let inner = ("inner.lam", "import \"x/util\" as u (two)\ndef four = two + u.two\n");
    let util = ("x/util.lam", "def two = 2.0\ndef three = 3.0\n");
    let main =
        ("main.lam", "import \"inner\" (four)\nimport \"x/util\" as v\ndef f = four * v.three\n");
    let unit = load(&[util, inner, main]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(run(&unit, "f", Operator::Value, &[]), "12.0");
}

#[test]
fn derived_source_brings_listed_types() {
    let main = "import \"shapes\" as s (shape)\ndef f (a : shape) = 2.0 * s.area a\n";
    let unit = load(&[("shapes.lam", SHAPES), ("sizes.lam", SIZES), ("main.lam", main)])
        .unwrap_or_else(|e| panic!("{e}"));
    let text = unit.derivative_source("f", Operator::Vjp, None).unwrap_or_else(|p| panic!("{p:?}"));
    assert!(text.contains("type shape ="), "{text}");
}

/// The derivative comes with the types that it mentions, directly or through others, and with no
/// other types.
#[test]
fn derived_source_brings_the_types_of_imports() {
    let main = "import \"shapes\"\ntype other = Circle real\ndef f (s : shapes.shape) = 2.0 * shapes.area s\n";
    let unit = load(&[("shapes.lam", SHAPES), ("sizes.lam", SIZES), ("main.lam", main)])
        .unwrap_or_else(|e| panic!("{e}"));
    let text = unit.derivative_source("f", Operator::Vjp, None).unwrap_or_else(|p| panic!("{p:?}"));
    assert!(
        text.contains("type list a =")
            && text.contains("type pair =")
            && !text.contains("Unused")
            && !text.contains("other"),
        "{text}"
    );
    let mut session = Session::new();
    let derived = session
        .load_text("derived.lam", &text, None)
        .unwrap_or_else(|p| panic!("{}\n{text}", session.render(&p, false)));
    let value = r#"{"Many": [{"Three": [2, 3, 4]}]}"#;
    assert_eq!(
        run(&derived, "f_reverse", Operator::Value, &[value, "1"]),
        "(48.0, Many (Three 24.0 16.0 12.0))"
    );
    assert_eq!(run(&unit, "f", Operator::Grad, &[value]), "(48.0, Many (Three 24.0 16.0 12.0))");
}

#[test]
fn derived_source_has_one_type_of_a_name() {
    let main = "import \"shapes\"\ntype other = Circle real\ndef f (o : other) (s : shapes.shape) = match o | Circle r -> r * shapes.area s\n";
    let unit = load(&[("shapes.lam", SHAPES), ("sizes.lam", SIZES), ("main.lam", main)])
        .unwrap_or_else(|e| panic!("{e}"));
    let problems =
        unit.derivative_source("f", Operator::Vjp, None).expect_err("two constructors of one name");
    assert!(problems[0].title.contains("two files that both define `Circle`"), "{problems:?}");
    let twins = "import \"one\"\ntype t = A real\ndef f (x : one.t) (y : real) = match x | one.A v -> y * sum v\n";
    let unit = load(&[("one.lam", "type t = A [3]real\n"), ("main.lam", twins)])
        .unwrap_or_else(|e| panic!("{e}"));
    let problems = unit
        .derivative_source("f", Operator::Vjp, None)
        .expect_err("two types of one name and one constructor");
    assert!(problems[0].title.contains("two files that both define `t`"), "{problems:?}");
}
