//! The system's C compiler.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use lambada_codegen::Shares;

use crate::{Children, Settings};

/// A working C compiler.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The program and its leading arguments.
    command: Vec<String>,
    /// The first line of its `--version`.
    identity: String,
}

impl Compiler {
    /// The first working command among `$LAMBADA_CC`, `$CC`, `cc`, `gcc`, `clang`; no other than
    /// `$LAMBADA_CC` if that is set. Searched for once.
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

    /// The compiler of a command line, if it works.
    fn try_command(command: &str) -> Option<Compiler> {
        let command: Vec<String> = command.split_whitespace().map(str::to_string).collect();
        let (program, args) = command.split_first()?;
        let output =
            Command::new(program).args(args).arg("--version").stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let identity = text.lines().next().unwrap_or_default().to_string();
        output.status.success().then_some(Compiler { command, identity })
    }

    /// The command without flags, for tests that add their own.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        command
    }

    /// The command line without flags.
    pub(crate) fn name(&self) -> String {
        self.command.join(" ")
    }

    /// Whether it is Clang, which contracts at all levels and knows fewer flags.
    fn is_clang(&self) -> bool {
        self.identity.contains("clang")
    }

    /// The flags of every unit, independent of the target.
    pub fn flags(&self) -> impl Iterator<Item = &'static str> {
        let own = if self.is_clang() { &[] } else { lambada_codegen::GCC_FLAGS };
        lambada_codegen::FLAGS.iter().chain(own).copied()
    }

    /// All arguments of a unit except file names.
    pub(crate) fn flags_for(&self, settings: Settings) -> Vec<&'static str> {
        let flag = |flag: &'static str| {
            let off = flag == "-ffp-contract=fast" && !settings.contract;
            if off { "-ffp-contract=off" } else { flag }
        };
        let target = settings.target.flags().iter().copied();
        let effort = match settings.quick {
            true if self.is_clang() => QUICK_CLANG,
            true => QUICK,
            false => &[],
        };
        let effort = effort.iter().copied();
        self.flags().map(flag).chain(target).chain(effort).collect()
    }

    /// All that machine code depends on besides the C text: compiler, flags, and the machine that
    /// `native` stands for.
    pub(crate) fn identity(&self, settings: Settings) -> String {
        format!(
            "{} | {} | {} | {}",
            self.command.join(" "),
            self.identity,
            self.flags_for(settings).join(" "),
            machine()
        )
    }

    /// Compiles a C file to a shared library, its shares in parallel. On failure returns the
    /// compiler's messages.
    pub(crate) fn compile(
        &self,
        source: &Path,
        library: &Path,
        settings: Settings,
        shares: Shares,
    ) -> Result<(), String> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = jobs(shares, cores);
        let run = |command| self.run(Children::one(command));
        if jobs.is_empty() {
            return run(self.compiles(settings, &[], &[source.to_path_buf()], library));
        }
        let objects: Vec<PathBuf> =
            (0..jobs.len()).map(|k| library.with_extension(format!("{k}.o"))).collect();
        let source = [source.to_path_buf()];
        let mut children = Children::default();
        for (flags, object) in jobs.iter().zip(&objects) {
            children.push(self.compiles(settings, flags, &source, object));
        }
        self.run(children)?;
        run(self.compiles(settings, &[], &objects, library))?;
        // Remaining object files would only be litter in the cache.
        objects.iter().for_each(|object| drop(std::fs::remove_file(object)));
        Ok(())
    }

    /// The command that compiles or links sources.
    fn compiles(
        &self,
        settings: Settings,
        flags: &[String],
        sources: &[PathBuf],
        output: &Path,
    ) -> Command {
        let mut command = self.command();
        command.args(self.flags_for(settings)).args(flags).args(sources);
        command.arg("-o").arg(output).arg("-lm");
        command
    }

    /// Runs compilers to completion; on failure returns the messages of the first that fails.
    fn run(&self, children: Children) -> Result<(), String> {
        let ended = children.outputs().into_iter().map(|output| {
            let output =
                output.map_err(|error| format!("cannot run {}: {error}", self.command[0]))?;
            match output.status.success() {
                true => Ok(()),
                false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            }
        });
        ended.collect()
    }
}

/// Smallest shares that justify another process.
const LOOPS: usize = 2;
const LINES: usize = 8;

/// Effort for straight-line parts: half the usual compile time, for hardly slower code. At this
/// level GCC contracts multiply-adds only on request.
const STRAIGHT: [&str; 2] = ["-O1", "-fexpensive-optimizations"];

/// Effort for quick compilation: a third of GCC's usual time, for code that runs about a fifth
/// longer. It omits passes over loops and blocks that cost much and gain little on code that
/// `schedule` has arranged. It contracts multiply-adds like the usual level, so nearly all results
/// agree with that level to the last digit; with `-Og`, which takes equally long, most differ.
const QUICK: &[&str] = &[
    "-O1",
    "-fexpensive-optimizations",
    "-fno-tree-loop-optimize",
    "-fno-tree-dominator-opts",
    "-fno-thread-jumps",
    "-fno-tree-pta",
    "-fno-ipa-modref",
    "-fno-tree-dse",
    "-fno-dse",
    "-fno-tree-ch",
    "-fno-forward-propagate",
    "-fno-if-conversion",
    "-fno-if-conversion2",
    "-fno-guess-branch-probability",
    "-fira-region=one",
];
const QUICK_CLANG: &[&str] = &["-O1"];

/// Limit for the processes of a unit.
const PROCESSES: usize = 8;

/// The flags of each share, for a number of cores; empty if the unit is compiled as a whole. The
/// effort for a part does not depend on the number of cores.
fn jobs(shares: Shares, cores: usize) -> Vec<Vec<String>> {
    let Shares { loops, lines } = shares;
    let straight = lines >= LINES;
    if !straight && (loops + lines < 2 * LOOPS || cores == 1) {
        return Vec::new();
    }
    let cores = cores.min(PROCESSES);
    let of = |parts: usize, least: usize| (parts / least).clamp(1, cores);
    let shares = |straight: bool, of: usize, more: &[&str]| -> Vec<Vec<String>> {
        let job = |share| -> Vec<String> {
            let more = more.iter().map(|flag| flag.to_string());
            let macros = Shares::macros(straight, of, share).into_iter();
            std::iter::once("-c".to_string()).chain(macros).chain(more).collect()
        };
        (0..of).map(job).collect()
    };
    let mut jobs = shares(false, of(loops, LOOPS), &[]);
    if lines > 0 {
        jobs.extend(shares(true, of(lines, LINES), if straight { &STRAIGHT } else { &[] }));
    }
    jobs
}

fn candidates(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let set = |name| variable(name).filter(|value| !value.trim().is_empty());
    if let Some(command) = set("LAMBADA_CC") {
        return vec![command];
    }
    set("CC").into_iter().chain(["cc", "gcc", "clang"].map(str::to_string)).collect()
}

/// Flags for code that runs on this processor only.
pub(crate) fn flags_here() -> &'static [&'static str] {
    if cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
        &["-march=native"]
    } else if cfg!(target_arch = "aarch64") {
        &["-mcpu=native"]
    } else {
        &[]
    }
}

/// Identifies the processor, as far as the system tells.
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
    fn large_units_are_shared_among_the_cores() {
        let count = |loops, lines, cores| jobs(Shares { loops, lines }, cores).len();
        assert_eq!((count(0, 0, 8), count(3, 0, 8), count(6, 0, 1)), (0, 0, 0));
        assert_eq!((count(6, 0, 2), count(6, 0, 8), count(100, 0, 64)), (2, 3, 8));
        // The kernel itself is always compiled with the parts that contain loops.
        assert_eq!((count(0, 150, 1), count(0, 150, 2), count(4, 3, 2)), (2, 3, 3));
        let straight = jobs(Shares { loops: 0, lines: 150 }, 2);
        assert!(!straight[0].contains(&"-O1".to_string()), "{straight:?}");
        assert_eq!(straight[2][1..4], ["-DLAM_STRAIGHT=1", "-DLAM_SHARES=2", "-DLAM_SHARE=1"]);
        assert!(straight[2].contains(&"-O1".to_string()), "{straight:?}");
    }

    #[test]
    fn quick_code_is_contracted_by_either_compiler() {
        let of = |identity: &str| {
            let identity = identity.to_string();
            let quick = Settings { quick: true, ..Settings::default() };
            Compiler { command: vec!["cc".into()], identity }.flags_for(quick)
        };
        let (gcc, clang) = (of("cc (Debian 12.2.0-14) 12.2.0"), of("Debian clang version 14.0.6"));
        let at = |flag: &str| gcc.iter().position(|each| *each == flag);
        // The last level wins; at the first level GCC contracts only on request.
        assert!(at("-O2") < at("-O1") && at("-fexpensive-optimizations").is_some(), "{gcc:?}");
        assert!(gcc.contains(&"-ffp-contract=fast") && clang.contains(&"-ffp-contract=fast"));
        assert_eq!(clang.last(), Some(&"-O1"));
    }

    /// Clang refuses unknown flags.
    #[test]
    fn clang_is_given_no_flags_of_gcc() {
        let identity = "Apple clang version 15.0.0 (clang-1500.3.9.4)".to_string();
        let clang = Compiler { command: vec!["cc".into()], identity };
        for quick in [false, true] {
            let flags = clang.flags_for(Settings { quick, ..Settings::default() });
            assert!(
                lambada_codegen::GCC_FLAGS.iter().all(|flag| !flags.contains(flag)),
                "{flags:?}"
            );
            let refused = |flag: &&str| QUICK.contains(flag) && !QUICK_CLANG.contains(flag);
            assert!(!flags.iter().any(refused), "{flags:?}");
        }
    }

    #[test]
    fn what_does_not_run_is_no_compiler() {
        assert!(Compiler::try_command("/nonexistent/cc").is_none());
        assert!(Compiler::try_command("").is_none());
    }
}
