//! The C compiler of the system.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use lambada_codegen::Shares;

use crate::{Children, Settings};

/// A C compiler that runs.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The program and arguments that come first.
    command: Vec<String>,
    /// What it says it is: the first line of its `--version`.
    identity: String,
}

impl Compiler {
    /// The first that runs of `$LAMBADA_CC`, `$CC`, `cc`, `gcc`, `clang`; only the first of these
    /// if it is set. Looked for once.
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

    /// Is it Clang? It contracts at all levels, and knows less flags.
    fn is_clang(&self) -> bool {
        self.identity.contains("clang")
    }

    /// The arguments for every unit, for whatever processor.
    pub fn flags(&self) -> impl Iterator<Item = &'static str> {
        let own = if self.is_clang() { &[] } else { lambada_codegen::GCC_FLAGS };
        lambada_codegen::FLAGS.iter().chain(own).copied()
    }

    /// All arguments for a unit but those that name files.
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

    /// Compiles a file of C to a shared library, its shares at the same time. On failure gives what
    /// the compiler says.
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
        // What is left of them would only be litter in the cache.
        objects.iter().for_each(|object| drop(std::fs::remove_file(object)));
        Ok(())
    }

    /// What compiles sources, or links them.
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

    /// Runs compilers to their ends; what the first one says that fails.
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

/// Less than this is not worth another process.
const LOOPS: usize = 2;
const LINES: usize = 8;

/// The effort for straight-line parts: half the time of the usual one, and hardly slower code.
/// Multiplications and additions are contracted at this level only if it is asked for.
const STRAIGHT: [&str; 2] = ["-O1", "-fexpensive-optimizations"];

/// The effort for code that is wanted soon: a third of the time of GCC, and code that takes a fifth
/// longer or so. What is left out are passes over loops and blocks that cost much and give little
/// to code that `schedule` has arranged. As at the usual level, multiplications and additions are
/// contracted, of which nearly all results agree with those of the usual level to the last digit;
/// with `-Og`, which takes as long, most differ.
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

/// More processes are not started for a unit.
const PROCESSES: usize = 8;

/// The flags of each share, for so many cores; none if the unit is compiled as a whole. Which parts
/// are compiled with which effort does not depend on the number of cores.
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
    fn large_units_are_shared_among_the_cores() {
        let count = |loops, lines, cores| jobs(Shares { loops, lines }, cores).len();
        assert_eq!((count(0, 0, 8), count(3, 0, 8), count(6, 0, 1)), (0, 0, 0));
        assert_eq!((count(6, 0, 2), count(6, 0, 8), count(100, 0, 64)), (2, 3, 8));
        // The kernel itself is compiled with the parts with loops, if there are any or not.
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
        // The last level counts; GCC contracts at the first level only if it is asked to.
        assert!(at("-O2") < at("-O1") && at("-fexpensive-optimizations").is_some(), "{gcc:?}");
        assert!(gcc.contains(&"-ffp-contract=fast") && clang.contains(&"-ffp-contract=fast"));
        assert_eq!(clang.last(), Some(&"-O1"));
    }

    /// It refuses to compile with flags that it does not know.
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
