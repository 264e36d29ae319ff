//! The campaign: new random programs, texts and data until it is stopped, and its findings as test
//! files.
//!
//! Each job draws its own seed. A job is one of
//! - some programs, through the oracle matrix ([`crate::oracle`]), at special values
//!   ([`crate::special`]), through the paper's engine where they are in its language
//!   ([`crate::paper`]), natively, and under the sanitizers;
//! - some programs of the paper's language, through all of its ways and the compiler's;
//! - some mutated texts, and some mutated data, through the whole compiler ([`crate::texts`]).
//!
//! Failures are reduced ([`crate::reduce`], [`crate::mutate::shrink`]) while they fail in the same
//! way, and written.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lambada::Session;
use lambada_testkit::{Random, parallel};
use serde_json::json;

use crate::draw::{self, draw, draw_wild};
use crate::mutate::{bytes, mutant, other_value, shrink};
use crate::natives::{Native, native_complaints};
use crate::oracle::Agreement;
use crate::panics::caught;
use crate::paper::Subject;
use crate::reduce::{Program, reduce};
use crate::sanitizer::{Sanitizers, sanitized_complaints};
use crate::special;
use crate::texts::{Call, calls, corpus, data_outcome, outcome};
use crate::watch::watched;

/// How long a campaign goes on, and where it begins.
pub struct Settings {
    /// No job starts later than this.
    pub duration: Duration,
    /// Jobs take their seeds from here on.
    pub seed: u64,
    /// The greatest number of jobs.
    pub jobs: u64,
    /// Files are written here, in folders named like those of `tests`; into `tests` itself they are
    /// tests at once.
    pub folder: PathBuf,
    /// The command, to be asked for its exit code; without it, only the library is.
    pub command: Option<PathBuf>,
    /// How long a failure is reduced.
    pub patience: Duration,
}

/// How a program is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// The oracle matrix.
    Oracle,
    /// All evaluators at special values.
    Special,
    /// The paper's derivatives.
    Paper,
    /// Native code.
    Native,
    /// Native code under the sanitizers.
    Sanitized,
}

impl Way {
    const ALL: [Way; 5] = [Way::Oracle, Way::Special, Way::Paper, Way::Native, Way::Sanitized];
}

/// Counts of the work done.
#[derive(Debug, Default)]
pub struct Counts {
    counts: Mutex<BTreeMap<&'static str, usize>>,
}

impl Counts {
    fn add(&self, what: &'static str, count: usize) {
        *self.counts.lock().expect("no thread panics here").entry(what).or_default() += count;
    }

    /// How often.
    pub fn of(&self, what: &str) -> usize {
        self.counts.lock().expect("no thread panics here").get(what).copied().unwrap_or_default()
    }

    /// All of them in a line.
    pub fn line(&self) -> String {
        let counts = self.counts.lock().expect("no thread panics here");
        let all: Vec<String> = counts.iter().map(|(what, n)| format!("{n} {what}")).collect();
        all.join(", ")
    }
}

/// A failure, reduced.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Where it was written.
    pub path: PathBuf,
    /// The message of the failure.
    pub complaint: String,
}

/// The programs of a job, and the texts.
const PROGRAMS: u64 = 20;
const TEXTS: u64 = 100;
const DATA: u64 = 100;

/// The greatest number of failures of one kind that are reduced; more are only counted.
const OF_A_KIND: usize = 2;

/// Runs a campaign on all cores; reports its progress once a minute.
pub fn run(settings: &Settings) -> (Counts, Vec<Finding>) {
    let campaign = Campaign {
        settings,
        start: Instant::now(),
        next: AtomicU64::new(0),
        told: AtomicUsize::new(0),
        counts: Counts::default(),
        found: Mutex::default(),
        kinds: Mutex::default(),
        texts: corpus(),
        calls: calls(),
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    parallel(&vec![(); cores], |()| campaign.work());
    let found = campaign.found.into_inner().expect("no thread panics here");
    (campaign.counts, found)
}

struct Campaign<'a> {
    settings: &'a Settings,
    start: Instant,
    next: AtomicU64,
    /// Minutes.
    told: AtomicUsize,
    counts: Counts,
    found: Mutex<Vec<Finding>>,
    kinds: Mutex<BTreeMap<String, usize>>,
    texts: Vec<String>,
    calls: Vec<Call>,
}

impl Campaign<'_> {
    fn work(&self) {
        while self.start.elapsed() < self.settings.duration {
            let job = self.next.fetch_add(1, Ordering::Relaxed);
            if job >= self.settings.jobs {
                return;
            }
            let seed = self.settings.seed.wrapping_add(job * 1000);
            match job % 8 {
                0..=4 => self.programs(seed),
                5 => self.paper(seed),
                6 => self.mutants(seed),
                _ => self.data(seed),
            }
            self.tell();
        }
    }

    fn tell(&self) {
        let minutes = (self.start.elapsed().as_secs() / 60) as usize;
        if self.told.fetch_max(minutes, Ordering::Relaxed) < minutes {
            println!("{minutes} min: {}", self.counts.line());
        }
    }

    /// Drawn programs.
    fn programs(&self, first: u64) {
        let mut natives: Vec<(Program, Native)> = Vec::new();
        for seed in first..first + PROGRAMS {
            let drawn = if seed % 4 == 0 { draw(seed) } else { draw_wild(seed) };
            let program = Program { text: drawn.text, args: drawn.args };
            self.counts.add("programs", 1);
            match oracle(&program) {
                Ok(agreement) => {
                    self.counts.add("of them fail", usize::from(agreement.fails));
                    let all = agreement.natives.into_iter();
                    natives.extend(all.map(|native| (program.clone(), native)));
                }
                Err(complaint) => self.program(seed, Way::Oracle, &program, &complaint),
            }
            match paper(&program, seed) {
                Ok(in_its_language) => {
                    self.counts.add("in the paper's language", usize::from(in_its_language))
                }
                Err(complaint) => self.program(seed, Way::Paper, &program, &complaint),
            }
            let mut random = Random(seed);
            let spice = |arg: &String| {
                serde_json::from_str(arg)
                    .map_or(arg.clone(), |arg| special::spiced(&arg, &mut random).to_string())
            };
            let program = Program { args: program.args.iter().map(spice).collect(), ..program };
            self.counts.add("at special values", 1);
            if let Err(complaint) = look(Way::Special, &program) {
                self.program(seed, Way::Special, &program, &complaint);
            }
        }
        let (programs, natives): (Vec<Program>, Vec<Native>) = natives.into_iter().unzip();
        self.counts.add("native calls", natives.len());
        // The C compiler takes most of the time, so a call is made with or without the sanitizers.
        let (way, found) = if first.is_multiple_of(3) {
            (Way::Sanitized, sanitized_complaints(&natives, Sanitizers::Memory))
        } else {
            (Way::Native, Ok(native_complaints(&natives)))
        };
        match found {
            Ok(complaints) => complaints.iter().for_each(|complaint| {
                self.program(first, way, &programs[complaint.number], &complaint.text);
            }),
            Err(why) => self.write(first, "programs", "sanitizer.lam", "", &why),
        }
    }

    /// A program fails: it is reduced, and written as a test.
    fn program(&self, seed: u64, way: Way, program: &Program, complaint: &str) {
        let kind = kind(complaint);
        if !self.is_new(&format!("{way:?} {kind}")) {
            return;
        }
        let until = Instant::now() + self.settings.patience;
        let small = reduce(program, until, &mut |program| {
            apart(way, program).is_err_and(|complaint| self::kind(&complaint) == kind)
        });
        let complaint = apart(way, &small).err().unwrap_or_else(|| complaint.to_string());
        let promise = format!("-- oracle f {}\n", small.args.join(" "));
        let name = format!("{way:?}_{seed}").to_lowercase();
        self.write(
            seed,
            "programs",
            &format!("{name}.lam"),
            &format!("{promise}{}", small.text),
            &complaint,
        );
    }

    /// Generated programs of the paper's language.
    fn paper(&self, first: u64) {
        let mut natives = Vec::new();
        let mut programs = Vec::new();
        for seed in first..first + PROGRAMS {
            let Some(subject) = Subject::new(seed) else {
                self.counts.add("of the paper too large", 1);
                continue;
            };
            self.counts.add("of the paper", 1);
            match caught(|| subject.verdict()).and_then(|verdict| verdict) {
                Ok(found) => {
                    programs.extend(found.iter().map(|_| seed));
                    natives.extend(found);
                }
                Err(complaint) => self.subject(seed, &subject, &complaint),
            }
        }
        for complaint in native_complaints(&natives) {
            let seed = programs[complaint.number];
            if let Some(subject) = Subject::new(seed) {
                self.subject(seed, &subject, &complaint.text);
            }
        }
    }

    /// As a program of users it can be reduced, if it fails as such.
    fn subject(&self, seed: u64, subject: &Subject, complaint: &str) {
        let text = subject.text().unwrap_or_default();
        let program = Program { text, args: Vec::new() };
        match look(Way::Paper, &program) {
            Err(complaint) => self.program(seed, Way::Paper, &program, &complaint),
            Ok(()) => {
                self.write(seed, "programs", &format!("paper_{seed}.lam"), &program.text, complaint)
            }
        }
    }

    /// Mutated texts: tokens, and bytes for the command.
    fn mutants(&self, first: u64) {
        for seed in first..first + TEXTS {
            let text = mutant(&self.texts, seed);
            self.counts.add("texts", 1);
            match outcome(&text) {
                Ok(is_program) => self.counts.add("of them programs", usize::from(is_program)),
                Err(complaint) => self.text(seed, &text, &complaint, &|text| outcome(text).err()),
            }
            if seed % 10 == 0 {
                let damaged = bytes(text.as_bytes(), &mut Random(seed));
                if let Err(complaint) = self.command(&damaged, None) {
                    let text = String::from_utf8_lossy(&damaged);
                    self.write(
                        seed,
                        "errors/syntax",
                        &format!("command_{seed}.lam"),
                        &text,
                        &complaint,
                    );
                }
            }
        }
    }

    fn text(&self, seed: u64, text: &str, complaint: &str, look: &dyn Fn(&str) -> Option<String>) {
        let kind = kind(complaint);
        if !self.is_new(&kind) {
            return;
        }
        let until = Instant::now() + self.settings.patience;
        let small = shrink(text, &mut |text| {
            Instant::now() < until && look(text).is_some_and(|found| self::kind(&found) == kind)
        });
        let has_a_tree =
            caught(|| Session::new().load_text("small.lam", &small, None).is_ok()) == Ok(true);
        let folder = if has_a_tree { "errors/compile" } else { "errors/types" };
        let complaint = look(&small).unwrap_or_else(|| complaint.to_string());
        self.write(seed, folder, &format!("mutant_{seed}.lam"), &small, &complaint);
    }

    /// Mutated data.
    fn data(&self, first: u64) {
        let texts: Vec<String> = self.calls.iter().map(|call| call.data.clone()).collect();
        let values: Vec<serde_json::Value> =
            texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
        for seed in first..first + DATA {
            let mut random = Random(seed);
            let call = random.pick(&self.calls);
            let data = match serde_json::from_str(&call.data) {
                // Nearly all of it fits.
                Ok(value) if !random.once_in(3) => {
                    other_value(&value, &values, &mut random).to_string()
                }
                Ok(_) | Err(_) => {
                    mutant(&[&texts[..], std::slice::from_ref(&call.data)].concat(), seed)
                }
            };
            let call = Call { data, ..call };
            self.counts.add("data", 1);
            match data_outcome(&call) {
                Ok(fits) => self.counts.add("of them fit", usize::from(fits)),
                Err(complaint) => self.datum(seed, &call, &complaint),
            }
            if seed % 10 == 0 {
                let damaged = bytes(call.data.as_bytes(), &mut random);
                if let Err(complaint) =
                    self.command(call.program.as_bytes(), Some((&call.entry, &damaged)))
                {
                    let data = String::from_utf8_lossy(&damaged).into_owned();
                    self.datum(seed, &Call { data, ..call }, &complaint);
                }
            }
        }
    }

    fn datum(&self, seed: u64, call: &Call, complaint: &str) {
        let kind = kind(complaint);
        if !self.is_new(&kind) {
            return;
        }
        let until = Instant::now() + self.settings.patience;
        let with = |data: &str| Call { data: data.to_string(), ..call.clone() };
        let small = shrink(&call.data, &mut |data| {
            Instant::now() < until
                && data_outcome(&with(data)).is_err_and(|found| self::kind(&found) == kind)
        });
        let text = format!("-- the data of `{}`: {small}\n{}", call.entry, call.program);
        self.write(seed, "errors/data", &format!("mutant_{seed}.lam"), &text, complaint);
    }

    /// The command checks a file, or runs a definition of it on data: the exit code is 0, or 1 with
    /// a message that names its subject.
    fn command(&self, file: &[u8], run: Option<(&str, &[u8])>) -> Result<(), String> {
        let Some(command) = &self.settings.command else { return Ok(()) };
        let unusable = |e: std::io::Error| format!("{}: {e}", command.display());
        let folder = tempfile::tempdir().map_err(unusable)?;
        let (program, data) = (folder.path().join("program.lam"), folder.path().join("data.json"));
        std::fs::write(&program, file).map_err(unusable)?;
        let mut command = Command::new(command);
        let about = match run {
            None => {
                command.arg("check").arg(&program);
                "program.lam"
            }
            Some((entry, bytes)) => {
                std::fs::write(&data, bytes).map_err(unusable)?;
                command.arg("run").arg(&program).arg(entry).arg("--data").arg(&data);
                command.args(["--engine", "loops", "--max-memory", "256MB"]);
                "`"
            }
        };
        let errors = std::fs::File::create(folder.path().join("errors")).map_err(unusable)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
        let Some(status) = within(&mut command, SLOW).map_err(unusable)? else {
            // Data may ask for any number of iterations; a check has to end.
            self.counts.add("commands stopped", 1);
            return if run.is_some() { Ok(()) } else { Err(format!("takes more than {SLOW:?}")) };
        };
        self.counts.add("commands", 1);
        let told = std::fs::read(folder.path().join("errors")).map_err(unusable)?;
        let told = String::from_utf8_lossy(&told);
        match status.code() {
            Some(0) => Ok(()),
            Some(1) if told.starts_with("error") && told.contains(about) => Ok(()),
            _ => Err(format!("{status}: {told}")),
        }
    }

    /// Whether this kind of failure is worth another file.
    fn is_new(&self, kind: &str) -> bool {
        let mut kinds = self.kinds.lock().expect("no thread panics here");
        let count = kinds.entry(kind.to_string()).or_default();
        *count += 1;
        self.counts.add("failures", 1);
        *count <= OF_A_KIND
    }

    /// Writes a test file, with the complaint in front.
    fn write(&self, seed: u64, folder: &str, name: &str, text: &str, complaint: &str) {
        let first = complaint.lines().next().unwrap_or_default();
        let text = format!("-- Found by the campaign, seed {seed}: {first}\n{text}");
        let path = self.settings.folder.join(folder).join(name);
        let written = std::fs::create_dir_all(self.settings.folder.join(folder))
            .and_then(|()| std::fs::write(&path, &text));
        println!("{}: {complaint}\n{text}", path.display());
        if let Err(e) = written {
            eprintln!("{}: {e}", path.display());
        }
        let complaint = complaint.to_string();
        self.found.lock().expect("no thread panics here").push(Finding { path, complaint });
    }
}

/// A command that takes longer is stopped, and a program that is looked at apart.
const SLOW: Duration = Duration::from_secs(20);

/// The oracle matrix.
fn oracle(program: &Program) -> Result<Agreement, String> {
    let verdict =
        watched(&program.text, || caught(|| draw::case(&program.text, &program.args)?.verdict()));
    match verdict.and_then(|verdict| verdict) {
        Err(complaint) if draw::of_nothing(&program.args, &complaint) => Ok(Agreement::default()),
        verdict => verdict,
    }
}

/// Compares the paper's derivatives. Gives whether the program is in the paper's language.
fn paper(program: &Program, seed: u64) -> Result<bool, String> {
    let verdict = || {
        let unit = Session::new().load_text("paper.lam", &program.text, None);
        let Ok((program, entry)) = unit.and_then(|unit| unit.definition("f")) else {
            return Ok(false);
        };
        let Some(subject) = Subject::of(&program, entry, seed) else { return Ok(false) };
        subject.verdict().map(|_| true)
    };
    caught(verdict)?
}

/// Complains of a program.
fn look(way: Way, program: &Program) -> Result<(), String> {
    watched(&program.text, || complain(way, program))
}

/// The only argument of the process that `apart` starts.
pub const LOOK: &str = "--look";

/// Looks at the program in a process of its own, which is stopped if it takes too long: a program
/// that has lost a condition may not end.
fn apart(way: Way, program: &Program) -> Result<(), String> {
    let unusable = |e: std::io::Error| format!("a program cannot be looked at apart: {e}");
    let mut command = Command::new(std::env::current_exe().map_err(unusable)?);
    let answer = tempfile::NamedTempFile::new().map_err(unusable)?;
    let question = tempfile::NamedTempFile::new().map_err(unusable)?;
    let told = json!({"way": format!("{way:?}"), "text": program.text, "args": program.args});
    std::fs::write(question.path(), told.to_string()).map_err(unusable)?;
    command.arg(LOOK).stdin(question.reopen().map_err(unusable)?);
    command.stdout(answer.reopen().map_err(unusable)?).stderr(Stdio::null());
    let Some(status) = within(&mut command, SLOW).map_err(unusable)? else { return Ok(()) };
    let complaint = std::fs::read_to_string(answer.path()).map_err(unusable)?;
    match status.code() {
        Some(0) => Ok(()),
        Some(1) => Err(complaint),
        _ => Err(format!("{status}: {complaint}")),
    }
}

/// The other side of `apart`: reads a program and prints the complaint. Gives whether there is
/// none.
pub fn answer(question: &str) -> Option<bool> {
    let told: serde_json::Value = serde_json::from_str(question).ok()?;
    let way = Way::ALL.into_iter().find(|way| told["way"] == format!("{way:?}"))?;
    let args = told["args"].as_array()?.iter().filter_map(|arg| arg.as_str().map(String::from));
    let program = Program { text: told["text"].as_str()?.to_string(), args: args.collect() };
    let complaint = look(way, &program).err();
    print!("{}", complaint.as_deref().unwrap_or_default());
    Some(complaint.is_none())
}

/// How a process ends; nothing if it takes longer and is stopped.
fn within(command: &mut Command, time: Duration) -> std::io::Result<Option<ExitStatus>> {
    let mut process = command.spawn()?;
    let start = Instant::now();
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > time {
            process.kill()?;
            process.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn complain(way: Way, program: &Program) -> Result<(), String> {
    let first = |complaints: Vec<crate::natives::Complaint>| match complaints.first() {
        Some(complaint) => Err(complaint.text.clone()),
        None => Ok(()),
    };
    // A program with a disagreement gives no native code to compare with.
    let natives = || oracle(program).map_or_else(|_| Vec::new(), |agreement| agreement.natives);
    match way {
        Way::Oracle => oracle(program).map(|_| ()),
        Way::Special => {
            let special = || {
                let case = draw::case(&program.text, &program.args)?;
                special::complaint(&case).map_or(Ok(()), Err)
            };
            caught(special)?
        }
        Way::Paper => paper(program, 0).map(|_| ()),
        Way::Native => first(native_complaints(&natives())),
        Way::Sanitized => sanitized_complaints(&natives(), Sanitizers::Memory).and_then(first),
    }
}

/// The kind of a failure: the place of a panic, or the two sides of a comparison. Numbers do not
/// count.
fn kind(complaint: &str) -> String {
    let code = complaint.find("E0").map(|at| complaint[at..].chars().take(5).collect::<String>());
    let parts: Vec<&str> = complaint.split(": ").take(2).collect();
    let words = parts.join(": ");
    let words: String = if complaint.starts_with("panic at ") {
        parts[0].to_string()
    } else {
        words.chars().filter(|c| !c.is_ascii_digit()).take(60).collect()
    };
    format!("{words} {}", code.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn numbers_make_no_kind() {
        let same = |a: &str, b: &str| kind(a) == kind(b);
        assert!(same("f: value, loops: 1.5 and 2 differ", "f: value, loops: 7 and 2.25 differ"));
        assert!(!same("f: value, loops: 1 and 2 differ", "f: jvp, loops: 1 and 2 differ"));
        assert!(!same("panic at a.rs:1:2: x", "panic at a.rs:11:2: x"));
        assert!(!same("error[E0201]: expected", "error[E0301]: expected"));
    }
}
