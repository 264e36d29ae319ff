//! Users' programs in the executable paper keep their meaning in every stage and mode.

use lambada::paper::{Derivation, Mode, PaperStage};
use lambada::{Data, Session, Unit};
use lambada_chad::source;
use lambada_chad::value::Value;
use lambada_chad::{Env, closures};
use lambada_core::eval::run;
use lambada_testkit::{Tolerance, all_close};

fn load(text: &str) -> Unit {
    Session::default()
        .load_text("test", text, None)
        .unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

fn numbers(data: &Data) -> Vec<f64> {
    match data {
        Data::Tensor(tensor) => (0..tensor.data.len()).map(|i| tensor.data.get(i).real()).collect(),
        Data::Tuple(items) => items.iter().flat_map(numbers).collect(),
        Data::Record(fields) => fields.iter().flat_map(|(_, item)| numbers(item)).collect(),
        Data::Array(items) => items.iter().flat_map(numbers).collect(),
        Data::Con { .. } => panic!("{data} is not made of numbers"),
    }
}

fn value(data: &Data) -> Value {
    match data {
        Data::Tuple(items) => items.iter().map(value).reduce(Value::pair).unwrap_or(Value::Unit),
        Data::Record(fields) => {
            value(&Data::Tuple(fields.iter().map(|(_, item)| item.clone()).collect()))
        }
        other => Value::real(numbers(other)),
    }
}

fn close(a: &[f64], b: &[f64], what: &str) {
    all_close(&what, a, b, Tolerance::mixed(1e-12)).unwrap_or_else(|e| panic!("{e}"));
}

const DERIVED: [PaperStage; 3] = [PaperStage::Linear, PaperStage::Applied, PaperStage::Shared];

/// Every step has a place, a clause and a derivative, and every format has all steps.
fn explained(unit: &Unit, mode: Mode, stage: PaperStage) {
    let all = unit.derivation("f", mode, stage, None).unwrap();
    let one = unit.derivation("f", mode, stage, Some(1)).unwrap();
    assert_eq!((all.count, &all.steps[..1]), (all.steps.len(), &one.steps[..]));
    for step in &all.steps {
        assert!(!step.places.is_empty() && !step.clause.is_empty(), "{step:?}");
        assert!(step.parts.iter().all(|part| *part < step.number), "{step:?}");
        assert_eq!(step.name.is_some(), !step.here.is_empty(), "{step:?}");
    }
    // The last step is the stage that `derive` prints.
    let last = &all.steps.last().unwrap().components;
    let derived = unit.paper_stage("f", mode, stage, None).unwrap();
    for component in last {
        assert!(derived.contains(&component.term), "{}\n{derived}", component.term);
    }
    let read: Derivation = serde_json::from_str(&all.json()).unwrap();
    assert_eq!(read, all);
    let (text, html, latex) = (all.text(), all.html(), all.latex());
    for step in &all.steps {
        assert!(text.contains(&format!("{}. ", step.number)), "{text}");
        assert!(html.contains(&format!("id=\"step-{}\"", step.number)), "{html}");
        assert!(latex.contains(&format!("subsubsection*{{{}. ", step.number)), "{latex}");
    }
    balanced(&latex);
    for outside in [0, 100_000] {
        let problems = unit.derivation("f", mode, stage, Some(outside)).unwrap_err();
        assert_eq!(problems[0].code, "E0522");
    }
}

/// Groups and environments of LaTeX end as they begin.
fn balanced(latex: &str) {
    let (mut open, mut escaped) = (0_i32, false);
    for c in latex.chars() {
        match c {
            '{' if !escaped => open += 1,
            '}' if !escaped => open -= 1,
            _ => {}
        }
        assert!(open >= 0, "{latex}");
        escaped = c == '\\' && !escaped;
    }
    assert_eq!(open, 0, "{latex}");
    for environment in ["document", "align*", "flalign*"] {
        let count = |word: &str| latex.matches(&format!("\\{word}{{{environment}}}")).count();
        assert_eq!(count("begin"), count("end"), "{latex}");
    }
}

/// Checks the value and the cotangent of `f`, and that every stage prints.
fn check(text: &str, args: &[Data]) {
    let unit = load(text);
    let (program, id) = unit.definition("f").unwrap();
    let (x, t) =
        source::of_core(&program, id).unwrap_or_else(|outside| panic!("{text}: {outside}"));
    source::check(std::slice::from_ref(&x), &t).unwrap();
    let at = args.iter().map(value).reduce(Value::pair).unwrap_or(Value::Unit);
    let result = source::eval(&t, &Env::default().with(&x, at.clone())).flatten().unwrap();
    close(&result, &numbers(&run(&program, id, args).unwrap()), text);
    pulled_back(text, &x, &t, args, &at);
    for mode in [Mode::Forward, Mode::Reverse] {
        for stage in
            [PaperStage::Combinators, PaperStage::Linear, PaperStage::Applied, PaperStage::Shared]
        {
            assert!(!unit.paper_stage("f", mode, stage, None).unwrap().is_empty());
        }
        for stage in DERIVED {
            explained(&unit, mode, stage);
        }
    }
}

/// The cotangent of a real result equals the gradient of the language's `grad`.
fn pulled_back(text: &str, x: &source::Var, t: &source::Term, args: &[Data], at: &Value) {
    if *t.ty() != source::REAL || args.len() != 1 {
        return;
    }
    let unit = load(&format!("{text}\ndef g x = grad f x"));
    let (program, id) = unit.definition("g").unwrap();
    let (_, pulled) = closures::reverse(x, t, at, &Value::real([1.0]));
    close(&pulled.flatten().unwrap(), &numbers(&run(&program, id, args).unwrap()), text);
}

fn reals(n: usize) -> Data {
    (0..n).map(|i| 0.3 + 0.4 * i as f64).collect::<Vec<_>>().into()
}

/// The paper's examples, and `map` as in Appendix F.
#[test]
fn examples_of_the_paper() {
    let one = [0.7.into()];
    check("def f (x : real) = let y = 2*x in let z = x*y in let w = cos z in ((y, z), w)", &one);
    let four = [0.7.into(), 0.2.into(), 1.1.into(), 0.4.into()];
    check(
        "def f (a : real) (b : real) (c : real) (d : real) = let y = a*d + 2*b in let z = y*c in let w = z + d in sin w",
        &four,
    );
    check("def f (x : real) = map (\\z -> x*z + 1.0) (replicate 3 x)", &one);
    check("def f (x1 : real) (x2 : [4]real) = sum (map (\\z -> x1*z) x2)", &[0.7.into(), reals(4)]);
}

/// The derivative of `map`, as in Appendix F, for captured variables: the copower collects their
/// cotangents.
#[test]
fn derivatives_of_primitives() {
    let second = |text: &str, mode| {
        let stage = load(text).paper_stage("f", mode, PaperStage::Linear, None).unwrap();
        let (_, second) = stage.split_once("\n\n").unwrap();
        second.lines().skip(1).map(str::trim).collect::<Vec<_>>().join(" ")
    };
    let ex3 = "def f (x : real) = map (\\z -> x*z + 1.0) (replicate 3 x)";
    assert_eq!(
        second(ex3, Mode::Forward),
        "let t = replicate(x) in lmap(t; \\z. lmul(z; v)) + lzipWith(<\\z. \\_v2. lmul(x; v2), t>; lreplicate(v))"
    );
    assert_eq!(
        second(ex3, Mode::Reverse),
        "let t = replicate(x) in (case lzip(t; v) of !z (x) w -> lmul(z; w)) + lsum(lzipWith(<\\z. \\_v2. lmul(x; v2), t>; v))"
    );
    assert_eq!(
        second("def f (xs : [3]real) = fold (\\a x -> a * x) 1.0 xs", Mode::Forward),
        "snd lscan( <\\p. \\_v2. lmul(snd p; fst v2) + lmul(fst p; snd v2), <fst scan(<\\p. fst p * snd p, <1, xs>>), xs>>; <<0, v>, 0>)"
    );
}

/// Loops over one or several vectors in all notations.
#[test]
fn arrays() {
    for body in [
        "sum (map sin x)",
        "let g = \\z -> z * x[0] in sum (map g x)",
        "sum (map (\\a -> let h = \\b -> a * b in h (h a)) x)",
        "dot x x + sqrt (dot x x) + mean x",
        "sum (for y in x => y * sin y)",
        "sum (for (a, b) in zip x (map cos x) => a * b + a)",
        "sum (for i < 3 => x[i] * real i + x[2 - i])",
        "sum (for i < 2 => x[i] * x[i + 1] - x[i + 1] ** 3)",
        "sum (2 * x + 1)",
        "sum (x * x - exp x)",
        "sum x[1:] * x[0]",
        "sum [x[0], 2.0, x[2] * x[1]] + sum [1.0, 2.0]",
        "sum (reverse x * x)",
        "sum (for i < 3 => 2.0) + sum (for i < 3 => x[0])",
        "sum (map (\\a -> sum (map (\\b -> a * b * x[1]) x)) x)",
        "sum (for i < 3 => let y = sin x[i] in y * y)",
        "(let (a, b) = (x, 3.0) in sum (map (\\c -> b * c) a))",
        "(let g = \\ys -> sum (ys * ys) in g x + g (map sin x))",
        "sum (map real (iota 3) * x)",
        "sum (map (sin >> exp) x)",
        "sum (x ** 2) * product x",
    ] {
        check(&format!("def f (x : [3]real) = {body}"), &[reals(3)]);
    }
    check("def f (x : [3]real) = for (a, b, c) in zip3 x x (map sin x) => a * b + c", &[reals(3)]);
    check(
        "def f (x : [3]real) (y : [3]real) (r : {a : real, b : real}) = (r.a * x + y, r.b)",
        &[reals(3), reals(3), record()],
    );
    let m = Data::Tensor(lambada::Tensor::reals(vec![2, 3], vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6]));
    check(
        "def f (m : [2][3]real) (x : [3]real) = (m @ x, sum (for i < 2 => m[i, i + 1]), m[1, 2])",
        &[m, reals(3)],
    );
}

fn record() -> Data {
    Data::Record(vec![("a".into(), 0.5.into()), ("b".into(), 0.25.into())])
}

/// Folds with a single real state: `fold`, `reduce`, `loop`.
#[test]
fn folds() {
    for body in [
        "fold (\\a y -> a * sin y) 1.0 x",
        "reduce (\\a y -> a + x[1] * y) x[0] x",
        "loop a = 1.0 for y in x do tanh (a * y + x[0])",
        "loop a = x[0] for i < 3 do a * x[i] + 0.5",
        "loop a = x[0] for i < 5 do a * a",
        "loop a = x[0] for i < 0 do a * a",
        "fold (\\a y -> fold (\\b z -> b * y + z) a x) 0.5 x",
        "product x + reduce max x[0] x",
    ] {
        check(&format!("def f (x : [3]real) = {body}"), &[reals(3)]);
    }
}

/// Constructs outside the fragment are reported at their place.
#[test]
fn outside() {
    for (text, construct) in [
        (
            "def f [n] (x : [n]real) = sum x",
            "the parameter `x` is an array without a literal size such as `[3]real`",
        ),
        (
            "def f (x : [3]int) (y : real) = y",
            "the parameter `x` is an array of something else than reals",
        ),
        ("def f (x : real) = sum (replicate (int x) x)", "the operation `int`"),
        ("def f (x : [3]real) = cumsum x", "a `loop` whose state is not one real number"),
        (
            "def f (x : [3]real) (y : [3]real) = loop a = 0.0 for i < 3 do a * x[i] + y[i]",
            "a `loop` over several arrays",
        ),
        (
            "def f (x : [3]real) = for i < 3 => for j < 3 => x[i] * x[j]",
            "a `for` that makes something else than real numbers",
        ),
        ("def f (x : real) = loop a = x while a < 1 do a + 1", "`while`"),
        (
            "def f (x : [3]real) = for i < 3 => (let y = map sin x in y[i])",
            "an index into an array that is made inside of the loop",
        ),
        ("def f (x : [3]real) = x with [0] = 1.0", "an update"),
        ("def f (x : [3]real) = if x[0] > 0 then 1.0 else 2.0", "`if`"),
        (
            "def f (x : [3]real) = sum (for i < 2 => x[i + 2])",
            "an index that is out of range or depends on more than the index of one loop",
        ),
        (
            "def f (x : [2000000]real) = sum x",
            "the parameter `x` is an array of more than 1048576 elements",
        ),
        (
            "def f (x : real) = loop a = x for i < 2000000 do a * a",
            "a loop of more than 1048576 iterations",
        ),
        ("def f (x : [2][3]real) = sum x[0]", "a row of a matrix"),
    ] {
        let (program, id) = load(text).definition("f").unwrap();
        assert_eq!(source::of_core(&program, id).unwrap_err().construct, construct, "{text}");
        let problems =
            load(text).paper_stage("f", Mode::Reverse, PaperStage::Linear, None).unwrap_err();
        assert_eq!(problems[0].title, "`f` is outside the fragment of the executable paper");
    }
}

fn stage(text: &str, mode: Mode, stage: PaperStage, wrt: Option<&[&str]>) -> String {
    let names: Option<Vec<String>> =
        wrt.map(|names| names.iter().map(|name| name.to_string()).collect());
    load(text)
        .paper_stage("f", mode, stage, names.as_deref())
        .unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

/// Names of the program are kept in every stage that prints them; names invented by the printer
/// differ from them.
#[test]
fn names() {
    let text = "def square (r : real) = r * r\n\
                def twice (g : real -> real) (start : real) = g (g start)\n\
                def f (t : real) (w : real) = let big = exp (t * w) in big * twice square big + big";
    let linear = "t : real, w : real |- real\n\
        let square =\n  \\r.\n    <r * r,\n     \\_v.\n       let w2 = lmul(r; v) in\n       w2 + w2> in\n\
        let big = exp(t * w) in\n\
        big * fst (square (fst (square big))) + big\n";
    let shown = stage(text, Mode::Reverse, PaperStage::Linear, None);
    assert!(shown.starts_with(linear), "{shown}");
    for mode in [Mode::Forward, Mode::Reverse] {
        for part in [PaperStage::Linear, PaperStage::Applied, PaperStage::Shared] {
            let shown = stage(text, mode, part, None);
            let shown = shown.rsplit_once("|- ").map_or(&*shown, |(_, second)| second);
            for line in ["let square =", "let big = exp(t * w) in", "\\r."] {
                assert_eq!(shown.matches(line).count(), 1, "{shown}");
            }
            for line in ["let t =", "let w ="] {
                assert!(!shown.contains(line), "{shown}");
            }
        }
    }
}

/// `--wrt`: other parameters have neither tangents nor cotangents.
#[test]
fn some_parameters() {
    let text = "def f (a : real) (b : [2]real) (c : real) = (a * b[1] + c * c, a)";
    let context = "a : real, b : real^2, c : real";
    let second = |mode, part, wrt| {
        let shown = stage(text, mode, part, Some(wrt));
        shown.split_once("\n\n").map_or(shown.clone(), |(_, second)| second.to_string())
    };
    assert_eq!(
        second(Mode::Forward, PaperStage::Linear, &["c", "a"]),
        format!(
            "{context}; v : real * real |- real * real\n\
             let w = lmul(c; fst v) in\n<lmul(index_1(b); snd v) + w + w, snd v>\n"
        )
    );
    assert_eq!(
        second(Mode::Reverse, PaperStage::Linear, &["c"]),
        format!("{context}; v : real * real |- real\nlet w = lmul(c; fst v) in\nw + w\n")
    );
    assert_eq!(
        second(Mode::Reverse, PaperStage::Applied, &["b"]),
        format!("{context} |- LFun(real * real, real^2)\nlfst;;lmul(a);;lonehot_1\n")
    );
    assert_eq!(
        second(Mode::Forward, PaperStage::Shared, &["a"]),
        format!(
            "{context} |- real * real * LFun(real, real * real)\n\
             let t = index_1(b) in\n<<a * t + c * c, a>, lpair(lmul(t), lid)>\n"
        )
    );
    let refused = |wrt: &str, part| {
        let wrt = [wrt.to_string()];
        load(text).paper_stage("f", Mode::Reverse, part, Some(&wrt)).unwrap_err().remove(0)
    };
    assert_eq!(refused("d", PaperStage::Linear).code, "E0510");
    assert_eq!(refused("a", PaperStage::Combinators).code, "E0523");
}

/// A message names the construct that a stage cannot show, and a replacement.
#[test]
fn messages() {
    for (text, construct, instead) in [
        (
            "def f [n] (x : [n]real) = sum x",
            "the parameter `x` is an array without a literal size such as `[3]real`",
            "literal sizes",
        ),
        (
            "def f (x : real) (n : int) = x ** n",
            "the parameter `n` is of type `int`",
            "calls this one",
        ),
        ("def f (x : real) = grad (\\y -> y * y) x", "`vjp`", "without derivatives"),
        ("def f (x : real) = if x < 1 then x else 1.0", "`if`", "no conditionals"),
    ] {
        let problems =
            load(text).paper_stage("f", Mode::Reverse, PaperStage::Shared, None).unwrap_err();
        let label = &problems[0].labels[0].text;
        assert_eq!(label, construct);
        assert!(problems[0].hints[0].text.contains(instead), "{:?}", problems[0].hints);
        let extended = problems[0].hints.iter().any(|hint| hint.text.contains("[t_1, t_2]_2"));
        assert_eq!(extended, construct == "`if`", "{:?}", problems[0].hints);
        for stage in DERIVED {
            let steps = load(text).derivation("f", Mode::Forward, stage, None).unwrap_err();
            assert_eq!(steps[0].title, problems[0].title);
        }
    }
}

/// Variables have their names in the program, and steps the places of their constructs, in the
/// definitions that are called too, but not in the library.
#[test]
fn steps_have_names_and_places() {
    let text = "def twice (w : real) = w + w\n\ndef f (x : real) (k : real -> real) =\n  let y = k x\n  twice (x * y) + sum (map (\\z -> z * x) [y, 1.0])";
    let unit = load(text);
    let all = |stage| unit.derivation("f", Mode::Reverse, stage, None).unwrap();
    for stage in DERIVED {
        let derivation = all(stage);
        let written = |step: &lambada::paper::Step| -> Vec<String> {
            step.places.iter().map(|place| place.excerpt(&derivation.source)).collect()
        };
        let of = |construct: &str| {
            let found =
                derivation.steps.iter().rfind(|step| written(step).contains(&construct.into()));
            let found =
                found.unwrap_or_else(|| panic!("{stage:?}: no step is about `{construct}`"));
            found.context.iter().map(|x| x.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(of("(x * y)"), ["x", "k", "y"]);
        assert_eq!(of("k x"), ["x", "k"]);
        assert_eq!(of("w + w"), ["x", "k", "y", "w"]);
        // The argument of the call of `twice` is named for all that follows.
        assert_eq!(of("z * x"), ["x", "k", "y", "w", "z"]);
        let (last, line) = (derivation.steps.last().unwrap(), |k: usize| text.lines().nth(k - 1));
        assert!(last.places.iter().all(|place| line(place.line).is_some()), "{last:?}");
    }
    let shadowed = load("def f (x : real) = let x = sin x in let x = x * x in x + 1");
    let steps = shadowed.derivation("f", Mode::Forward, PaperStage::Linear, None).unwrap().steps;
    let names = |step: &lambada::paper::Step| step.context.iter().map(|x| x.name.clone()).collect();
    assert!(steps.iter().map(names).any(|names: Vec<String>| names == ["x", "x2", "x3"]));
}

/// LaTeX compiles, where it is installed: names with numbers and underscores, all stages, text of
/// programs with characters that LaTeX reads, or lacks.
#[test]
fn latex_compiles() {
    let text = "-- 100 % of {x_1} & \\alpha^2 ~ #1 $ α…\ndef f (x_1 : real) (y2 : [3]real) =\n  -- ∂ % \\\n  (\\g -> g (g x_1)) (\\y -> x_1 * y) + sum (map (\\z -> z * x_1) y2)";
    if std::process::Command::new("pdflatex").arg("--version").output().is_err() {
        println!("skipped: there is no pdflatex");
        return;
    }
    let (unit, folder) = (load(text), tempfile::tempdir().unwrap());
    for mode in [Mode::Forward, Mode::Reverse] {
        for stage in DERIVED {
            let latex = unit.derivation("f", mode, stage, None).unwrap().latex();
            std::fs::write(folder.path().join("f.tex"), &latex).unwrap();
            let mut command = std::process::Command::new("pdflatex");
            command.args(["-interaction=nonstopmode", "-halt-on-error", "f.tex"]);
            let output = command.current_dir(folder.path()).output().unwrap();
            let told = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{told}\n{latex}");
        }
    }
}

/// The book lists every field of the data.
#[test]
fn the_book_has_the_fields_of_a_derivation() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/chad-derivations.md");
    let page = std::fs::read_to_string(page).unwrap();
    let unit = load("def f (x : real) = (\\g -> g (g x)) (\\y -> x * y)");
    let json = unit.derivation("f", Mode::Reverse, PaperStage::Linear, None).unwrap().json();
    let mut rest = vec![serde_json::from_str::<serde_json::Value>(&json).unwrap()];
    let mut fields = std::collections::BTreeSet::new();
    while let Some(value) = rest.pop() {
        if let serde_json::Value::Object(members) = &value {
            fields.extend(members.keys().cloned());
            rest.extend(members.values().cloned());
        } else if let serde_json::Value::Array(items) = value {
            rest.extend(items);
        }
    }
    assert!(fields.len() > 20, "{fields:?}");
    let listed = |field: &&String| {
        page.contains(&format!("| `{field}`")) || page.contains(&format!(", `{field}`"))
    };
    let missing: Vec<&String> = fields.iter().filter(|field| !listed(field)).collect();
    assert!(missing.is_empty(), "the page lacks {missing:?}");
}

#[test]
fn a_field_of_a_parameter_is_a_parameter_of_its_own() {
    let unit = load("def f (p : {mu : real, b : real}) (x : real) = p.mu * x + p.b");
    let wrt = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    for mode in [Mode::Forward, Mode::Reverse] {
        for stage in [PaperStage::Linear, PaperStage::Applied, PaperStage::Shared] {
            let text = unit.paper_stage("f", mode, stage, Some(&wrt(&["p.mu"]))).unwrap();
            assert!(text.contains("mu"), "{text}");
        }
    }
    let at = |names: &[&str]| {
        let (mode, stage) = (Mode::Reverse, PaperStage::Shared);
        unit.paper_stage("f", mode, stage, Some(&wrt(names))).map_err(|problems| problems[0].code)
    };
    assert_eq!(at(&["p.nu"]), Err("E0510"));
    assert!(at(&["p", "p.mu"]).is_err());
}
