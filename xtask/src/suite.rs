//! `cargo xtask suite`: the whole test suite, with the time of each test program beside its budget,
//! which stands in ARCHITECTURE.md.
//!
//! It counts the processor's time, of all cores and of the C compilers that a test starts, so that
//! other load on the machine does not matter.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use serde_json::Value;

/// A test program.
struct Test {
    /// Its package and its name.
    name: String,
    folder: PathBuf,
    program: PathBuf,
}

/// Builds and runs everything; warns of test programs beyond their budgets.
pub fn run(root: &Path) -> ExitCode {
    let budgets =
        budgets(&std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default());
    let start = (Instant::now(), processor_seconds());
    let tests = match build(root) {
        Ok(tests) => tests,
        Err(why) => {
            eprintln!("suite: {why}");
            return ExitCode::from(1);
        }
    };
    report("build", start, None);
    let begun = (Instant::now(), processor_seconds());
    let mut fails = Vec::new();
    for test in &tests {
        let start = (Instant::now(), processor_seconds());
        let output = Command::new(&test.program)
            .current_dir(&test.folder)
            .env("CARGO_MANIFEST_DIR", &test.folder)
            .stdin(Stdio::null())
            .output();
        match output {
            Ok(output) if output.status.success() => {}
            Ok(output) => {
                println!("{}", String::from_utf8_lossy(&output.stdout));
                fails.push(test.name.clone());
            }
            Err(e) => fails.push(format!("{}: {e}", test.name)),
        }
        report(&test.name, start, Some(budget(&budgets, &test.name)));
    }
    let start = (Instant::now(), processor_seconds());
    let documentation = Command::new("cargo")
        .current_dir(root)
        .args(["test", "--quiet", "--workspace", "--doc"])
        .status();
    if !documentation.is_ok_and(|status| status.success()) {
        fails.push("examples in documentation".into());
    }
    report("examples in documentation", start, Some(budget(&budgets, "documentation")));
    report("all tests", begun, budgets.get("all tests").copied());
    fails.iter().for_each(|name| eprintln!("suite: {name} fails"));
    if fails.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Tells how long something took since it started, and warns if that is longer than it may.
fn report(name: &str, (start, before): (Instant, Option<f64>), budget: Option<f64>) {
    let wall = start.elapsed().as_secs_f64();
    let seconds = processor_seconds().zip(before).map_or(wall, |(now, before)| now - before);
    if seconds >= 1.0 || budget.is_none() {
        println!("{name}: {seconds:.0} s of the processor, {wall:.0} s");
    }
    if let Some(budget) = budget.filter(|budget| seconds > *budget) {
        println!("warning: {name} takes {seconds:.0} s, its budget is {budget:.0} s");
    }
}

/// The budget of a test: its own, or that of all others.
fn budget(budgets: &BTreeMap<String, f64>, name: &str) -> f64 {
    let own = budgets.get(name).or_else(|| budgets.get("any other"));
    own.copied().unwrap_or(f64::INFINITY)
}

/// The rows `| test | seconds |` of the section on the suite's time.
fn budgets(text: &str) -> BTreeMap<String, f64> {
    let section = text.split("\n## ").find(|part| part.starts_with("The suite's time"));
    let rows = section.unwrap_or_default().lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [name, seconds] = cells[..] else { return None };
        Some((name.trim_matches('`').to_string(), seconds.parse().ok()?))
    });
    rows.collect()
}

/// All test programs of the workspace.
fn build(root: &Path) -> Result<Vec<Test>, String> {
    let output = Command::new("cargo")
        .current_dir(root)
        .args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    if !output.status.success() {
        return Err("the tests do not build".into());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let test = |message: Value| {
        let program = PathBuf::from(message["executable"].as_str()?);
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_path_buf();
        let package = folder.file_name()?.to_string_lossy().into_owned();
        let target = message["target"]["name"].as_str()?;
        let unit = message["target"]["kind"][0] != "test";
        let name =
            if unit { format!("{package} (unit tests)") } else { format!("{package} {target}") };
        message["profile"]["test"].as_bool()?.then_some(Test { name, folder, program })
    };
    Ok(messages.filter_map(test).collect())
}

/// The processor time of finished child processes and theirs, if the system provides it.
pub(crate) fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name, which stands in parentheses, cutime and cstime are the 14th and 15th, in
    // hundredths of a second.
    let fields: Vec<&str> = stat.rsplit(") ").next()?.split(' ').collect();
    let ticks = |k: usize| fields.get(k).and_then(|field| field.parse::<f64>().ok());
    Some((ticks(13)? + ticks(14)?) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::{budget, budgets};

    #[test]
    fn budgets_stand_in_a_section_of_their_own() {
        let text = "# A\n\n| `other` | 3 |\n\n## The suite's time\n\n| test | budget |\n|---|--:|\n| `tests drawn` | 120 |\n| any other | 20 |\n\n## B\n\n| `c` | 1 |\n";
        let budgets = budgets(text);
        assert_eq!(budget(&budgets, "tests drawn"), 120.0);
        assert_eq!(budget(&budgets, "core (unit tests)"), 20.0);
        assert_eq!(budgets.len(), 2);
    }
}
