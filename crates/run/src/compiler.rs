//! The C compiler of the system.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::Settings;

/// A C compiler that runs.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The program and arguments that come first.
    command: Vec<String>,
    /// What it says it is: the first line of its `--version`.
    identity: String,
}

impl Compiler {
    /// The first that runs of `$LAMBADA_CC`, `$CC`, `cc`, `gcc`, `clang`; only the first of these if it is set. Looked for once.
    pub fn find() -> Option<&'static Compiler> {
        static FOUND: OnceLock<Option<Compiler>> = OnceLock::new();
        FOUND
            .get_or_init(|| {
                candidates(|name| std::env::var(name).ok())
                    .iter()
                    .find_map(|command| Compiler::try_command(command))
            })
            .as_ref()
    }

    /// The compiler of this command line, if it runs.
    fn try_command(command: &str) -> Option<Compiler> {
        let command: Vec<String> = command.split_whitespace().map(str::to_string).collect();
        let (program, args) = command.split_first()?;
        let output =
            Command::new(program).args(args).arg("--version").stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let identity = text.lines().next().unwrap_or_default().to_string();
        output.status.success().then_some(Compiler { command, identity })
    }

    /// The command without any flags, for tests that compile in their own way.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        command
    }

    /// The command line without flags.
    pub(crate) fn name(&self) -> String {
        self.command.join(" ")
    }

    /// All arguments for a unit but those that name files.
    pub(crate) fn flags(&self, settings: Settings) -> Vec<&'static str> {
        let flag = |flag: &'static str| {
            let off = flag == "-ffp-contract=fast" && !settings.contract;
            if off { "-ffp-contract=off" } else { flag }
        };
        let target = settings.target.flags().iter().copied();
        lambada_codegen::FLAGS.iter().copied().map(flag).chain(target).collect()
    }

    /// All that machine code depends on besides the C text: compiler, flags, and the machine that `native` stands for.
    pub(crate) fn identity(&self, settings: Settings) -> String {
        format!(
            "{} | {} | {} | {}",
            self.command.join(" "),
            self.identity,
            self.flags(settings).join(" "),
            machine()
        )
    }

    /// Compiles a file of C to a shared library. On failure gives what the compiler says.
    pub(crate) fn compile(
        &self,
        source: &Path,
        library: &Path,
        settings: Settings,
    ) -> Result<(), String> {
        let output = self
            .command()
            .args(self.flags(settings))
            .arg(source)
            .arg("-o")
            .arg(library)
            .arg("-lm")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cannot run {}: {error}", self.command[0]))?;
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }
}

fn candidates(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let set = |name| variable(name).filter(|value| !value.trim().is_empty());
    if let Some(command) = set("LAMBADA_CC") {
        return vec![command];
    }
    set("CC").into_iter().chain(["cc", "gcc", "clang"].map(str::to_string)).collect()
}

/// Code for the processor that it will run on.
pub(crate) fn flags_here() -> &'static [&'static str] {
    if cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
        &["-march=native"]
    } else if cfg!(target_arch = "aarch64") {
        &["-mcpu=native"]
    } else {
        &[]
    }
}

/// What tells processors apart, as far as the system says.
fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let first = info.split("\n\n").next().unwrap_or_default();
        let telling = |line: &&str| {
            ["vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU part", "isa"]
                .iter()
                .any(|key| line.starts_with(key))
        };
        let lines: Vec<&str> = first.lines().filter(telling).collect();
        format!("{} {}", std::env::consts::ARCH, lines.join(";"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_of_lambada_decides_alone() {
        let both = |name: &str| Some(format!("from-{name} -m64"));
        assert_eq!(candidates(both), ["from-LAMBADA_CC -m64"]);
        assert_eq!(
            candidates(|name| (name == "CC").then(|| "tcc".to_string())),
            ["tcc", "cc", "gcc", "clang"]
        );
        assert_eq!(candidates(|_| Some(" ".to_string())), ["cc", "gcc", "clang"]);
    }

    #[test]
    fn what_does_not_run_is_no_compiler() {
        assert!(Compiler::try_command("/nonexistent/cc").is_none());
        assert!(Compiler::try_command("").is_none());
    }
}
