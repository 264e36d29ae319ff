//! `cargo xtask mutants`: mutation testing.
//!
//! Some expressions of some crates are chosen at random. In a copy of the repository each becomes
//! `if mutant(k) { a mistake } else { the expression }`, so that all mutants are built at once; a
//! variable of the environment activates one. Choices that do not compile are dropped. The tests
//! first run without any mutant, in small cases, and report the places that each case reaches. Then
//! each mutant runs in the cases that reach its place, the cheap ones first, until one fails.
//! Mutants that survive all of them are listed.

mod sites;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use sites::{Site, instrumented, sites};

/// The crates that are mutated unless others are named.
const CRATES: &str = "differentiate,normalize,optimize,lower";

/// The variable that activates a mutant.
const VARIABLE: &str = "LAMBADA_MUTANT";

/// The line that a program prints, with the number of the mutant, when it first gets to a place.
const REACHED: &str = "reaches mutant";

/// The tests: package and test program. A variable of the environment cuts some into cases.
const TESTS: [(&str, &str); 11] = [
    ("differentiate", "derivatives"),
    ("normalize", "lambada_normalize"),
    ("optimize", "lambada_optimize"),
    ("lower", "lambada_lower"),
    ("tests", "programs"),
    ("tests", "drawn"),
    ("tests", "recursion"),
    ("tests", "costs"),
    ("tests", "passes"),
    ("tests", "graphs"),
    ("tests", "special_values"),
];

/// Each round gives a mutant that lives so much more time, as the cases take without it.
const SHARES: [Duration; 4] =
    [Duration::from_secs(15), Duration::from_secs(45), Duration::from_secs(180), Duration::MAX];

/// The number of seeds of drawn programs, and the number of seeds in a case.
const DRAWN: (u64, usize) = (60, 6);

/// A test program, or a part of its work.
#[derive(Clone)]
struct Case {
    package: &'static str,
    test: &'static str,
    variable: Option<(&'static str, String)>,
}

struct Mutant {
    file: PathBuf,
    site: Site,
}

/// The fate of a mutant.
enum Fate {
    /// By this case.
    Killed(String),
    /// `tried` cases did not kill it, `of` all cases that come to its place.
    Survives { tried: usize, of: usize },
}

/// Mutates and tests; fails if a mutant survives.
pub fn run(root: &Path, words: &[String]) -> ExitCode {
    match work(root, words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("mutants: {why}");
            ExitCode::from(2)
        }
    }
}

fn work(root: &Path, words: &[String]) -> Result<bool, String> {
    let mut options: BTreeMap<&str, &str> = BTreeMap::from([
        ("--crates", CRATES),
        ("--count", "200"),
        ("--seed", "1"),
        ("--minutes", "600"),
        ("--folder", ""),
    ]);
    for pair in words.chunks(2) {
        match pair {
            [name, value] if options.contains_key(&**name) => drop(options.insert(name, value)),
            _ => return Err("usage: cargo xtask mutants [--crates A,B] [--count N] [--seed S] [--minutes N] [--folder DIR]".into()),
        }
    }
    let number = |name: &str| options[name].parse::<u64>().map_err(|e| format!("{name}: {e}"));
    let until = Instant::now() + Duration::from_secs(60 * number("--minutes")?);
    let crates: Vec<&str> = options["--crates"].split(',').collect();
    let copy = match options["--folder"] {
        "" => root.join("target/mutants"),
        folder => PathBuf::from(folder),
    };
    copied(root, &copy)?;
    let count = number("--count")? as usize;
    // Some do not compile.
    let mut mutants = chosen(&copy, &crates, 2 * count, number("--seed")?)?;
    let originals = originals(&copy, &mutants, &crates)?;
    drop_what_does_not_compile(&copy, &originals, &mut mutants)?;
    // As many of each crate as there are.
    let all = mutants.len();
    let mut k = 0;
    mutants.retain(|_| {
        k += 1;
        all <= count || k * count / all != (k - 1) * count / all
    });
    write(&originals, &mutants)?;
    println!("{} mutants", mutants.len());
    let programs = build(&copy)?;
    let start = Instant::now();
    let known = surveyed(&copy, &programs, cases(&copy)?)?;
    println!("{} cases in {} s", known.len(), start.elapsed().as_secs());
    let fates = all_fates(&copy, &programs, mutants.len(), &known, until, &|k, fate| {
        println!("{}: {}", mutants[k].line(&copy), told(fate));
    });
    Ok(report(&copy, &mutants, &fates))
}

/// The files that git knows, where they have changed since the last copy.
fn copied(root: &Path, copy: &Path) -> Result<(), String> {
    let output = Command::new("git").current_dir(root).arg("ls-files").output();
    let output = output.map_err(|e| format!("git: {e}"))?;
    for name in String::from_utf8_lossy(&output.stdout).lines() {
        let (from, to) = (root.join(name), copy.join(name));
        let Ok(bytes) = fs::read(&from) else { continue }; // deleted, and not yet told to git
        if fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        let folder = to.parent().unwrap_or(copy);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&to, bytes))
            .map_err(|e| format!("{}: {e}", to.display()))?;
    }
    Ok(())
}

/// `count` sites of the crates' code outside of tests, drawn at random.
fn chosen(copy: &Path, crates: &[&str], count: usize, seed: u64) -> Result<Vec<Mutant>, String> {
    let mut all = Vec::new();
    for name in crates {
        let folder = copy.join("crates").join(name).join("src");
        let mut files = Vec::new();
        crate::tidy::collect(&folder, &mut files);
        files.sort();
        for file in files {
            let is_test = |part: &std::ffi::OsStr| part == "tests" || part == "tests.rs";
            if file.iter().any(is_test) {
                continue;
            }
            let text = read(&file)?;
            let found = sites(&text).map_err(|e| format!("{}: {e}", file.display()))?;
            all.extend(found.into_iter().map(|site| Mutant { file: file.clone(), site }));
        }
    }
    println!("{} places in {}", all.len(), crates.join(", "));
    // Equal seeds choose equal mutants (splitmix64).
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB)
    };
    let mut keyed: Vec<(u64, Mutant)> = all.into_iter().map(|mutant| (next(), mutant)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    let mut mutants: Vec<Mutant> =
        keyed.into_iter().take(count).map(|(_, mutant)| mutant).collect();
    mutants.sort_by(|a, b| (&a.file, a.site.range.start).cmp(&(&b.file, b.site.range.start)));
    Ok(mutants)
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))
}

/// The texts of the files to be changed, and of the roots of their crates.
fn originals(
    copy: &Path,
    mutants: &[Mutant],
    crates: &[&str],
) -> Result<BTreeMap<PathBuf, String>, String> {
    let roots = crates.iter().map(|name| copy.join("crates").join(name).join("src/lib.rs"));
    let files = mutants.iter().map(|mutant| mutant.file.clone()).chain(roots);
    files.map(|file| Ok((file.clone(), read(&file)?))).collect()
}

/// Writes the files with all mutants in them. Gives the range of each mutant in the written text.
fn write(
    originals: &BTreeMap<PathBuf, String>,
    mutants: &[Mutant],
) -> Result<Vec<std::ops::Range<usize>>, String> {
    let mut places = vec![0..0; mutants.len()];
    for (file, text) in originals {
        let here: Vec<(usize, &Site)> = mutants
            .iter()
            .enumerate()
            .filter(|(_, mutant)| mutant.file == *file)
            .map(|(k, mutant)| (k, &mutant.site))
            .collect();
        let (mut text, found) = instrumented(text, &here);
        found.into_iter().for_each(|(k, place)| places[k] = place);
        if file.ends_with("src/lib.rs") {
            text += &format!(
                "\n/// Does this mutant live? Without any, tells which places are reached.\n\
                 pub(crate) fn mutant(k: u32) -> bool {{\n    \
                 use std::io::Write as _;\n    \
                 use std::sync::atomic::{{AtomicBool, Ordering}};\n    \
                 static LIVES: std::sync::LazyLock<Option<u32>> =\n        \
                 std::sync::LazyLock::new(|| std::env::var(\"{VARIABLE}\").ok()?.parse().ok());\n    \
                 static TOLD: [AtomicBool; {count}] = [const {{ AtomicBool::new(false) }}; {count}];\n    \
                 if LIVES.is_none() && !TOLD[k as usize].swap(true, Ordering::Relaxed) {{\n        \
                 let _ = writeln!(std::io::stderr(), \"{REACHED} {{k}}\");\n    }}\n    \
                 *LIVES == Some(k)\n}}\n",
                count = mutants.len().max(1),
            );
        }
        fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(places)
}

/// Compiles, and leaves out the mutants that the compiler complains of, until it does not.
fn drop_what_does_not_compile(
    copy: &Path,
    originals: &BTreeMap<PathBuf, String>,
    mutants: &mut Vec<Mutant>,
) -> Result<(), String> {
    loop {
        let places = write(originals, mutants)?;
        let output = cargo(copy, &["check", "--package", "lambada", "--message-format=json"])?;
        if output.status.success() {
            return Ok(());
        }
        let errors: Vec<Value> = messages(&output.stdout)
            .into_iter()
            .map(|mut message| message["message"].take())
            .filter(|error| error["level"] == "error")
            .collect();
        // A mutant may only be the reason why another place has a wrong type, where the compiler
        // points too.
        let mut bad = blamed(copy, mutants, &places, &errors, true);
        if bad.is_empty() {
            bad = blamed(copy, mutants, &places, &errors, false);
        }
        if bad.is_empty() {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("the copy does not compile, and no mutant is to blame: {text}"));
        }
        println!("{} mutants do not compile", bad.len());
        let mut k = 0;
        mutants.retain(|_| {
            k += 1;
            !bad.contains(&(k - 1))
        });
    }
}

/// The mutants at the places that errors are about: those around, the innermost for each, or all
/// inside. `primary`: no places but the first.
fn blamed(
    copy: &Path,
    mutants: &[Mutant],
    places: &[std::ops::Range<usize>],
    errors: &[Value],
    primary: bool,
) -> BTreeSet<usize> {
    let mut bad = BTreeSet::new();
    for error in errors {
        let spans = error["spans"].as_array().cloned().unwrap_or_default();
        let spans = spans.into_iter().filter(|span| !primary || span["is_primary"] == true);
        for span in spans.flat_map(expanded) {
            let file = copy.join(span["file_name"].as_str().unwrap_or_default());
            let at = |key: &str| span[key].as_u64().unwrap_or(0) as usize;
            let (from, to) = (at("byte_start"), at("byte_end"));
            let here = |k: &usize| mutants[*k].file == file;
            let around = (0..mutants.len())
                .filter(here)
                .filter(|k| places[*k].start <= from && to <= places[*k].end)
                .min_by_key(|k| places[*k].len());
            // The whole of a function is no place that says something.
            let inside = (0..mutants.len())
                .filter(here)
                .filter(|_| primary)
                .filter(|k| from <= places[*k].start && places[*k].end <= to);
            bad.extend(inside);
            bad.extend(around);
        }
    }
    bad
}

/// A place, and those of the macros around it.
fn expanded(span: Value) -> Vec<Value> {
    let outer = &span["expansion"]["span"];
    let around = if outer.is_object() { expanded(outer.clone()) } else { Vec::new() };
    std::iter::once(span).chain(around).collect()
}

fn cargo(copy: &Path, words: &[&str]) -> Result<std::process::Output, String> {
    Command::new("cargo")
        .current_dir(copy)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("cargo: {e}"))
}

fn messages(stdout: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(stdout);
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The test programs by package folder and name.
fn build(copy: &Path) -> Result<BTreeMap<(String, String), PathBuf>, String> {
    let mut programs = BTreeMap::new();
    for (package, name) in TESTS {
        let long = format!("lambada-{package}");
        let mut words = vec!["test", "--no-run", "--message-format=json", "--package", &long];
        words.extend(if name.starts_with("lambada_") {
            vec!["--lib"]
        } else {
            vec!["--test", name]
        });
        let output = cargo(copy, &words)?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("the tests do not build: {told}"));
        }
        for message in messages(&output.stdout) {
            let tests = message["profile"]["test"] == true && message["target"]["name"] == name;
            if let Some(program) = message["executable"].as_str().filter(|_| tests) {
                programs.insert((package.to_string(), name.to_string()), PathBuf::from(program));
            }
        }
    }
    Ok(programs)
}

/// All cases: the programs one by one, and some seeds of drawn programs.
fn cases(copy: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (package, test) in TESTS {
        let mut case = |variable| cases.push(Case { package, test, variable });
        match test {
            "derivatives" => case(Some(("SEEDS", "40".into()))),
            "drawn" => {
                for from in (0..DRAWN.0).step_by(DRAWN.1) {
                    case(Some(("SEEDS", format!("{from}..{}", from + DRAWN.1 as u64))));
                }
            }
            "programs" => {
                for folder in
                    ["programs", "programs/rules", "programs/sparse", "programs/exponential"]
                {
                    for name in lam_files(&copy.join("tests").join(folder))? {
                        case(Some(("ONLY", format!("{folder}/{name}"))));
                    }
                }
            }
            _ => case(None),
        }
    }
    Ok(cases)
}

fn lam_files(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let names = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".lam")).collect();
    names.sort();
    Ok(names)
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.test)?;
        self.variable.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

/// A case that passes without any mutant.
struct PassingCase {
    case: Case,
    took: Duration,
    /// The mutants whose places it comes to.
    reaches: BTreeSet<usize>,
}

/// Runs all cases without any mutant; gives the cheap ones first.
fn surveyed(
    copy: &Path,
    programs: &BTreeMap<(String, String), PathBuf>,
    cases: Vec<Case>,
) -> Result<Vec<PassingCase>, String> {
    let runs = on_all_cores(cases.len(), |k| run_case(copy, programs, &cases[k], None));
    let mut known = Vec::new();
    for (case, run) in cases.into_iter().zip(runs) {
        let Run { passes, reaches, took } = run?;
        if !passes {
            return Err(format!("{case} fails without any mutant"));
        }
        known.push(PassingCase { case, took, reaches });
    }
    known.sort_by_key(|known| known.took);
    Ok(known)
}

/// The results of a function for each number below `count`, computed by one thread per core.
fn on_all_cores<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, T>> = Mutex::default();
    let worker = || {
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= count {
                return;
            }
            let result = work(k);
            done.lock().expect("no thread panics here").insert(k, result);
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(worker))));
    done.into_inner().expect("no thread panics here").into_values().collect()
}

struct Run {
    passes: bool,
    reaches: BTreeSet<usize>,
    took: Duration,
}

fn run_case(
    copy: &Path,
    programs: &BTreeMap<(String, String), PathBuf>,
    case: &Case,
    mutant: Option<(usize, Duration)>,
) -> Result<Run, String> {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let Case { package, test, variable } = case;
    let program = programs
        .get(&(package.to_string(), test.to_string()))
        .ok_or_else(|| format!("there is no test {test} of {package}"))?;
    let folder =
        if *package == "tests" { copy.join("tests") } else { copy.join("crates").join(package) };
    let errors = copy.join(format!("errors-{}", RUNS.fetch_add(1, Ordering::Relaxed)));
    let file = fs::File::create(&errors).map_err(|e| format!("{}: {e}", errors.display()))?;
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file);
    command.env_remove("SEEDS").env_remove("ONLY").env_remove(VARIABLE);
    command.envs(variable.iter().map(|(name, value)| (name, value)));
    if let Some((k, _)) = mutant {
        command.env(VARIABLE, k.to_string());
    }
    let start = Instant::now();
    let mut process = command.spawn().map_err(|e| format!("{case}: {e}"))?;
    // The first test that fails says enough.
    let failed = Arc::new(AtomicBool::new(false));
    let lines = process.stdout.take().map(|out| BufReader::new(out).lines());
    let reader = std::thread::spawn({
        let failed = failed.clone();
        move || {
            for line in lines.into_iter().flatten().map_while(Result::ok) {
                if line.starts_with("test ") && line.ends_with("FAILED") {
                    failed.store(true, Ordering::Relaxed);
                }
            }
        }
    });
    let passes = loop {
        if let Some(status) = process.try_wait().map_err(|e| format!("{case}: {e}"))? {
            break status.success();
        }
        let late = mutant.is_some_and(|(_, patience)| start.elapsed() > patience);
        if late || failed.load(Ordering::Relaxed) {
            process.kill().and_then(|()| process.wait()).map_err(|e| format!("{case}: {e}"))?;
            break false;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    // Its child processes may still hold its output.
    drop(reader);
    let text = fs::read(&errors).unwrap_or_default();
    let _ = fs::remove_file(&errors);
    let text = String::from_utf8_lossy(&text);
    let reaches = text.lines().filter_map(|line| line.strip_prefix(REACHED)?.trim().parse().ok());
    Ok(Run { passes, reaches: reaches.collect(), took: start.elapsed() })
}

/// Cheap cases for all mutants come before dear ones for any: whenever the time is over, each has
/// had its share.
fn all_fates(
    copy: &Path,
    programs: &BTreeMap<(String, String), PathBuf>,
    count: usize,
    known: &[PassingCase],
    until: Instant,
    tell: &(impl Fn(usize, &Fate) + Sync),
) -> Vec<Fate> {
    let mut fates: Vec<Fate> =
        (0..count).map(|k| Fate::Survives { tried: 0, of: reaching(known, k).count() }).collect();
    for share in SHARES {
        let left: Vec<(usize, usize)> = fates
            .iter()
            .enumerate()
            .filter_map(|(k, fate)| match fate {
                Fate::Survives { tried, of } if tried < of => Some((k, *tried)),
                _ => None,
            })
            .collect();
        let found = on_all_cores(left.len(), |turn| {
            let (k, tried) = left[turn];
            let fate = fate(copy, programs, k, known, tried, share, until);
            tell(k, &fate);
            fate
        });
        left.into_iter().zip(found).for_each(|((k, _), fate)| fates[k] = fate);
    }
    fates
}

/// The cases that come to a mutant's place, the cheap ones first.
fn reaching(known: &[PassingCase], k: usize) -> impl Iterator<Item = &PassingCase> {
    known.iter().filter(move |known| known.reaches.contains(&k))
}

/// The fate of a mutant that has survived `tried` cases, after more: as many as take `share`
/// without the mutant.
fn fate(
    copy: &Path,
    programs: &BTreeMap<(String, String), PathBuf>,
    k: usize,
    known: &[PassingCase],
    mut tried: usize,
    share: Duration,
    until: Instant,
) -> Fate {
    let mut spent = Duration::ZERO;
    for PassingCase { case, took, .. } in reaching(known, k).skip(tried) {
        spent += *took;
        if spent > share || Instant::now() > until {
            break;
        }
        let patience = 5 * *took + Duration::from_secs(60);
        tried += 1;
        match run_case(copy, programs, case, Some((k, patience))) {
            Ok(run) if run.passes => {}
            Ok(_) | Err(_) => return Fate::Killed(case.to_string()),
        }
    }
    Fate::Survives { tried, of: reaching(known, k).count() }
}

fn told(fate: &Fate) -> String {
    match fate {
        Fate::Killed(case) => format!("killed by {case}"),
        Fate::Survives { of: 0, .. } => "SURVIVES, never reached".into(),
        Fate::Survives { tried, of } if tried == of => format!("SURVIVES {of} cases"),
        Fate::Survives { tried, of } => format!("SURVIVES {tried} cases of {of}"),
    }
}

impl Mutant {
    fn line(&self, copy: &Path) -> String {
        let name = self.file.strip_prefix(copy).unwrap_or(&self.file).display();
        format!("{name}:{}: {}", self.site.line, self.site.what)
    }
}

/// Lists the survivors. Gives whether there are none.
fn report(copy: &Path, mutants: &[Mutant], fates: &[Fate]) -> bool {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for fate in fates {
        let kind = match fate {
            Fate::Killed(_) => "killed",
            Fate::Survives { tried, of } if tried < of => "not killed by the cases tried",
            Fate::Survives { .. } => "survive",
        };
        *counts.entry(kind).or_default() += 1;
    }
    println!("\n{} mutants", mutants.len());
    counts.iter().for_each(|(what, count)| println!("{count} {what}"));
    let survivors = mutants.iter().zip(fates).filter(|(_, f)| matches!(f, Fate::Survives { .. }));
    let mut none = true;
    for (mutant, fate) in survivors {
        none = false;
        println!("{}: {}", mutant.line(copy), told(fate));
    }
    none
}
