//! Each pass by examples that are read as documentation: `tests/passes/PASS/NAME.txt` has a
//! sentence, a program, and the pass's output. `BLESS=1` writes the last part; where the pass gives
//! a program of the same language, the two are run and must agree. Examples of `normalize` are
//! programs in Lambada, `tests/programs/normalize`, whose promises the whole oracle matrix keeps as
//! well.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lambada::{Data as Value, Failure, Session, Unit, to_json};
use lambada_anf::{self as anf, Audience, Derivatives, Function, Lambda, Param};
use lambada_anf::{Ty, check, eval, print, read};
use lambada_core::{self as core};
use lambada_differentiate::Request;
use lambada_normalize::{Normalized, normalize};
use lambada_optimize::optimize_observed;
use lambada_prim::{Data, ScalarTy, Tensor};
use lambada_testkit::{Tolerance, golden, parallel};
use lambada_tests::expectations::{self, Expectation, PromiseKind, agrees, expectations, programs};
use lambada_tests::growth::{KINDS, Subject};

/// The least number of examples of a pass.
const EXAMPLES: usize = 3;

/// The separator between the program and the pass's output.
const RULE: &str = "---\n";

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of examples");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

/// The output of the pass of this name for a program, as text; and as a program that must give
/// equal results, if it is one.
fn run(pass: &str, before: &Function) -> (String, Option<Function>) {
    match pass {
        "forward" => (print(&forward(before)), None),
        "reverse" => (print(&reverse(before)), None),
        "lower" => (lambada_loops::print(&lambada_lower::lower(before)), None),
        _ => {
            let pass = lambada_optimize::passes().find(|known| known.name == pass);
            let pass = pass.unwrap_or_else(|| panic!("there is no such pass"));
            let mut after = before.clone();
            pass.run(&mut after);
            (print(&after), Some(after))
        }
    }
}

/// The real parameters, and the others as constants.
fn derivand(f: &Function) -> (Lambda, Vec<Param>) {
    let real = |p: &Param| p.ty.elem == ScalarTy::Real;
    let (params, constants) = f.params.iter().cloned().partition(real);
    (Lambda { params, results: f.results.clone(), body: f.body.clone() }, constants)
}

/// The function to be derived, in the program that the derivative takes the place of.
fn derived<'a>(after: &'a mut Function, f: &'a Lambda) -> anf::Subject<'a> {
    anf::Subject { library: &mut after.library, names: &mut after.names, f, captured: &[] }
}

/// `x, ẋ ↦ f x, ḟ`
fn forward(f: &Function) -> Function {
    let (lambda, constants) = derivand(f);
    let mut after = f.clone();
    let derived = Request::default().forward(derived(&mut after, &lambda));
    let derived = derived.expect("rules that suffice");
    after.params = [derived.params, constants].concat();
    (after.results, after.body) = (derived.results, derived.body);
    guarded(after)
}

/// `x, ȳ ↦ f x, x̄`
fn reverse(f: &Function) -> Function {
    let (lambda, constants) = derivand(f);
    let mut after = f.clone();
    let derived = Request::default().reverse(derived(&mut after, &lambda));
    let derived = derived.expect("rules that suffice");
    let (sweep, pullback) = (derived.forward, derived.pullback);
    after.params = [sweep.params, pullback.params, constants].concat();
    after.results = [sweep.results, pullback.results].concat();
    after.body = anf::Block {
        stms: [sweep.body.stms, pullback.body.stms].concat(),
        results: [sweep.body.results, pullback.body.results].concat(),
    };
    guarded(after)
}

fn guarded(mut f: Function) -> Function {
    anf::guard(&mut f);
    f
}

/// Made-up arguments; all sizes are 4.
fn arguments(f: &Function) -> Vec<Tensor> {
    let argument = |ty: &Ty| {
        let dims = vec![4; ty.rank()];
        let mut data = Data::zeros(ty.elem.scalar(), dims.iter().product());
        match &mut data {
            Data::Real(all) => all.iter_mut().enumerate().for_each(|(k, x)| *x = 0.3 + k as f64),
            Data::Int(all) => all.iter_mut().for_each(|x| *x = 2),
            Data::Bool(all) => all.iter_mut().for_each(|x| *x = true),
        }
        Tensor { dims, data }
    };
    f.params.iter().map(|p| argument(&p.ty)).collect()
}

fn agree(before: &Function, after: &Function) -> Result<(), String> {
    let args = arguments(before);
    let results = |f: &Function| eval(f, &args).map(|run| run.results).map_err(|e| e.message);
    let (expected, found) = (results(before)?, results(after)?);
    let near = |(a, b): (&Tensor, &Tensor)| match (&a.data, &b.data) {
        (Data::Real(a), Data::Real(b)) if a.len() == b.len() => {
            a.iter().zip(b).all(|(a, b)| Tolerance::relative(1e-12).accepts(*a, *b))
        }
        _ => a == b,
    };
    if expected.len() == found.len() && expected.iter().zip(&found).all(near) {
        return Ok(());
    }
    Err(format!("it gave {expected:?} and gives {found:?}"))
}

fn example(pass: &str, path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let before = text.split(RULE).next().unwrap_or_default().trim_end();
    let (title, program) = before.split_once('\n').ok_or("a sentence, then a program")?;
    if !title.starts_with("-- ") || !title.ends_with('.') {
        return Err("the first line is a sentence: `-- …`".into());
    }
    let function = read(program)?;
    check(&function).map_err(|e| format!("before: {e}"))?;
    let (found, after) = run(pass, &function);
    if let Some(after) = after {
        check(&after).map_err(|e| format!("after: {e}\n{found}"))?;
        agree(&function, &after)?;
    }
    golden(path, &format!("{title}\n{}{RULE}{found}", print(&function)))
}

#[test]
fn passes_do_what_their_examples_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("passes");
    let mut complaints = Vec::new();
    let mut shown = Vec::new();
    for pass in entries(&folder) {
        let examples = entries(&pass);
        let pass = name(&pass);
        if examples.len() < EXAMPLES {
            complaints.push(format!("{pass}: {} examples", examples.len()));
        }
        for path in examples {
            let complaint = example(&pass, &path).err();
            complaints.extend(complaint.map(|text| format!("{pass}/{}: {text}", name(&path))));
        }
        shown.push(pass);
    }
    let passes = lambada_optimize::passes().map(|pass| pass.name);
    let missing = passes.chain(["forward", "reverse", "lower"]);
    let missing = missing.filter(|name| shown.iter().all(|known| known != name));
    complaints.extend(missing.map(|name| format!("{name}: no examples")));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// A promise takes milliseconds, unless arrays are copied that need not be.
const PATIENCE: Duration = Duration::from_secs(20);

/// The code of a definition.
fn normalized(unit: &Unit, entry: &str) -> Result<Normalized, String> {
    let (program, id) = unit.definition(entry).map_err(|problems| format!("{problems:?}"))?;
    core::check(&program)?;
    normalize(&program, id, &Request::default()).map_err(|problems| problems[0].title.clone())
}

/// Runs code that nothing has optimized.
fn run_normalized(code: &Normalized, args: &[Value]) -> Result<Result<Value, Failure>, String> {
    let function = &code.function;
    check(function).map_err(|message| format!("{message}\n{}", print(function)))?;
    let mut tensors = Vec::new();
    for ((_, layout), data) in code.params.iter().zip(args) {
        tensors.extend(layout.flatten(data)?);
    }
    let outcome = eval(function, &tensors);
    Ok(outcome.map(|outcome| code.result.unflatten(&mut outcome.results.into_iter())))
}

/// `core::eval = anf::eval ∘ normalize` at the promise's arguments, failures and their places
/// included.
fn means_the_same(unit: &Unit, promise: &Expectation) -> Result<(), String> {
    let start = Instant::now();
    let args = expectations::arguments(unit, promise)?;
    let (mut program, id) = unit.definition(&promise.entry).map_err(|p| format!("{p:?}"))?;
    // A copy with other names means the same.
    let def = program.def(id).clone();
    let copy = program.freshen(&def.body);
    if !copy.free_vars().is_empty() {
        return Err(format!("free variables in {copy:?}"));
    }
    let id = program.define(def.name, copy, def.signature, def.span);
    let code = normalized(unit, &promise.entry)?;
    let (found, meaning) = (run_normalized(&code, &args)?, core::eval::run(&program, id, &args));
    let shown = match (&found, &meaning) {
        (Ok(found), Ok(meaning)) => {
            found.close(meaning, 1e-12)?;
            to_json(found).to_string()
        }
        (Err(found), Err(meaning)) if found == meaning => found.message.clone(),
        _ => return Err(format!("{found:?} is not {meaning:?}\n{}", print(&code.function))),
    };
    if start.elapsed() > PATIENCE {
        return Err(format!("took {:?}", start.elapsed()));
    }
    let fits = (promise.kind == PromiseKind::Fails) == found.is_err() && agrees(promise, &shown);
    if fits { Ok(()) } else { Err(format!("{shown} instead of {}", promise.expected)) }
}

/// How many statements, with those in blocks, are of a kind.
fn count(block: &anf::Block, is_counted: &dyn Fn(&anf::Exp) -> bool) -> usize {
    let inside =
        |s: &anf::Stm| s.exp.blocks().into_iter().map(|b| count(b, is_counted)).sum::<usize>();
    block.stms.iter().map(|s| usize::from(is_counted(&s.exp)) + inside(s)).sum::<usize>()
}

/// A number that `-- code f = 4 statements` promises.
fn counted(f: &Function, what: &str) -> Result<usize, String> {
    use anf::{Exp, LoopKind, Nest, Op};
    let is_check = |e: &Exp| matches!(e, Exp::Op(Op::Check { .. }));
    let is_loop = |e: &Exp| matches!(e, Exp::Nest(Nest::For { .. }));
    let library = || f.library.functions.iter().flatten();
    let is_while =
        |s: &anf::Stm| matches!(&s.exp, Exp::Nest(Nest::Loop { kind: LoopKind::While(_), .. }));
    Ok(match what {
        "statements" => count(&f.body, &|_| true),
        "checks" => count(&f.body, &is_check),
        "loops outside" => count(&f.body, &is_loop),
        "loops inside" => library().map(|f| count(&f.body, &is_loop)).sum(),
        "functions" => f.library.functions.len(),
        "sizes" => f.sizes.len(),
        "functions that begin with a while" => {
            library().filter(|f| f.body.stms.first().is_some_and(is_while)).count()
        }
        _ => return Err(format!("nothing counts {what}")),
    })
}

/// `-- code f = 4 statements, 0 checks`, `-- impossible f = the title of the problem`
fn code_is_as_promised(unit: &Unit, line: &str) -> Result<usize, String> {
    let promise = |word: &str| line.strip_prefix(word)?.split_once(" = ");
    if let Some((entry, title)) = promise("-- impossible ") {
        return match normalized(unit, entry) {
            Err(found) if found == title => Ok(1),
            Err(found) => Err(found),
            Ok(code) => Err(print(&code.function)),
        };
    }
    let Some((entry, facts)) = promise("-- code ") else { return Ok(0) };
    let code = normalized(unit, entry)?;
    for fact in facts.split(", ") {
        let (expected, what) = fact.split_once(' ').ok_or("a number of something")?;
        let found = counted(&code.function, what)?;
        if expected != found.to_string() {
            return Err(format!("{found} {what}\n{}", print(&code.function)));
        }
    }
    Ok(1)
}

#[test]
fn programs_are_normalized_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/normalize");
    let (mut promises, mut complaints) = (0, Vec::new());
    for path in programs(&folder) {
        let text = std::fs::read_to_string(&path).expect("a listed program can be read");
        let mut session = Session::new();
        let unit = session.load(&path).unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
        let is_run = |p: &Expectation| {
            matches!(p.kind, PromiseKind::Run | PromiseKind::Value | PromiseKind::Fails)
        };
        // Promises that only the code of `normalize` keeps have a word that the matrix does not
        // know.
        let all = text.replace("\n-- normalized ", "\n-- value ");
        let runs = expectations(&all)
            .into_iter()
            .filter(is_run)
            .map(|promise| (promise.line, means_the_same(&unit, &promise).map(|()| 1)));
        let lines = text.lines().enumerate();
        for (line, found) in runs.chain(lines.map(|(k, l)| (k, code_is_as_promised(&unit, l)))) {
            match found {
                Ok(kept) => promises += kept,
                Err(e) => complaints.push(format!("{}:{}: {e}", name(&path), line + 1)),
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(promises >= 100, "only {promises} promises");
}

/// After this many rounds no pass has anything left to do.
const ROUNDS: usize = 9;

/// The values and derivatives in a file's programs that take more rounds.
fn without_end(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a listed program can be read");
    let mut session = Session::new();
    let unit = session.load(path).unwrap_or_else(|p| panic!("{}", session.render(&p, false)));
    let mut found = Vec::new();
    let mut entries: Vec<String> = Vec::new();
    for promise in expectations(&text).into_iter().filter(|p| p.kind != PromiseKind::Check) {
        if entries.contains(&promise.entry) {
            continue;
        }
        entries.push(promise.entry.clone());
        for kind in KINDS {
            let Ok(Some(subject)) = Subject::new(&unit, &promise, kind, 1, false) else { continue };
            let (mut rounds, mut busy) = (0, Vec::new());
            optimize_observed(subject.function, Audience::Machine, &mut |pass, _, changed| {
                if pass.name == lambada_optimize::ROUND[0].name {
                    (rounds, busy) = (rounds + 1, Vec::new());
                }
                busy.extend(changed.then_some(pass.name));
            });
            if rounds > ROUNDS {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                found.push(format!("{name}.{} {kind:?}: {rounds} rounds, {busy:?}", promise.entry));
            }
        }
    }
    found
}

/// No two passes undo what the other does.
#[test]
fn the_optimizer_comes_to_an_end() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut files = programs(&folder);
    for part in ["recursion", "exponential", "rules"] {
        files.extend(programs(&folder.join(part)));
    }
    let found = parallel(&files, |path| without_end(path)).concat();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
