//! `cargo xtask campaign` starts this: random programs, texts and data, until the time is over.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use lambada_tests::campaign::{LOOK, Settings, answer, run};

const USAGE: &str =
    "usage: campaign --minutes N [--seed S] [--jobs J] [--folder DIR] [--command LAMBADA]";

fn settings(words: &[String]) -> Option<Settings> {
    let mut settings = Settings {
        duration: Duration::ZERO,
        // Another one each time, so that campaigns add up; it is printed, so that they can be
        // repeated.
        seed: std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?.as_secs()
            * 1_000_000,
        jobs: u64::MAX,
        folder: Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf(),
        command: None,
        patience: Duration::from_secs(120),
    };
    for pair in words.chunks(2) {
        let [name, value] = pair else { return None };
        match &**name {
            "--minutes" => {
                let minutes: f64 = value.parse().ok().filter(|minutes| *minutes > 0.0)?;
                settings.duration = Duration::try_from_secs_f64(60.0 * minutes).ok()?;
            }
            "--seed" => settings.seed = value.parse().ok()?,
            "--jobs" => settings.jobs = value.parse().ok()?,
            "--folder" => settings.folder = PathBuf::from(value),
            "--command" => settings.command = Some(PathBuf::from(value)),
            _ => return None,
        }
    }
    (settings.duration > Duration::ZERO).then_some(settings)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == [LOOK] {
        let question = std::io::read_to_string(std::io::stdin()).ok();
        return match question.and_then(|question| answer(&question)) {
            Some(true) => ExitCode::SUCCESS,
            Some(false) => ExitCode::from(1),
            None => ExitCode::from(2),
        };
    }
    let Some(settings) = settings(&words) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    println!("seed {}", settings.seed);
    let (counts, found) = run(&settings);
    println!("{}", counts.line());
    for finding in &found {
        let first = finding.complaint.lines().next().unwrap_or_default();
        println!("{}: {first}", finding.path.display());
    }
    println!("{} files written", found.len());
    if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
