//! Missing and broken compilers and caches. Each case runs this program again in another
//! environment, where `CHILD` selects the task.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::*;
use lambada_loops::{Function, Return};
use lambada_prim::{Precision, Prim, Scalar};
use lambada_run::{Compiler, Engine, Kernel, Settings, Target, interpreted_lanes, translates};
use libtest_mimic::{Arguments, Trial};

fn increment(by: i64) -> Function {
    let mut b = Builder::new("increment");
    let x = b.scalar(INT, "x");
    let y = b.prim(Prim::AddInt, &[x, int(by)]);
    b.finish(vec![Return::Scalar(y)])
}

/// Environment variable with the task of a child.
const CHILD: &str = "LAMBADA_TEST_CHILD";

fn main() {
    match std::env::var(CHILD).ok().as_deref() {
        Some("rejected") => rejected(),
        Some("lowered") => lowered_twice(),
        Some(by) => called_twice(by.parse().unwrap()),
        None => libtest_mimic::run(&Arguments::from_args(), tests()).exit(),
    }
}

fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| {
        Trial::test(name, move || {
            run();
            Ok(())
        })
    };
    vec![
        test(
            "without_a_compiler_it_runs_and_says_so_once",
            without_a_compiler_it_runs_and_says_so_once,
        ),
        test("units_are_cached_and_damage_is_repaired", units_are_cached_and_damage_is_repaired),
        test(
            "a_cache_that_cannot_be_written_does_not_matter",
            a_cache_that_cannot_be_written_does_not_matter,
        ),
        test("processes_share_a_cache", processes_share_a_cache),
        test("processes_share_a_damaged_cache", processes_share_a_damaged_cache),
        #[cfg(unix)]
        test("lanes_are_those_of_what_runs", lanes_are_those_of_what_runs),
        #[cfg(unix)]
        test("what_a_compiler_says_is_told", what_a_compiler_says_is_told),
        #[cfg(unix)]
        test(
            "a_compiler_that_does_not_work_is_no_mistake_of_ours",
            a_compiler_that_does_not_work_is_no_mistake_of_ours,
        ),
    ]
}

/// Child: compiles twice, and calls.
fn called_twice(by: i64) {
    for _ in 0..2 {
        let kernel = Kernel::compile(&increment(by)).unwrap();
        let result = kernel.call(&[size(40)]).unwrap()[0].as_scalar();
        assert_eq!(result, Some(Scalar::Int(40 + by)));
        println!(
            "engine={}",
            if kernel.engine() == Engine::Native { "native" } else { "interpreter" }
        );
    }
}

/// Child: uses a compiler that rejects everything.
fn rejected() {
    let message = Kernel::compile(&increment(1)).unwrap_err().to_string();
    println!("message={}", message.replace('\n', " / "));
}

/// Child: lowers and compiles twice, and prints the numbers of lanes.
fn lowered_twice() {
    for by in [7, 8] {
        let settings = Settings::default();
        let lower = |lanes| {
            println!("lanes={lanes}");
            increment(by)
        };
        let kernel = Kernel::lowered(Precision::F64, settings, None, lower).unwrap();
        println!("engine={:?}", kernel.engine());
    }
}

fn child(what: &str, set: &[(&str, &Path)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(CHILD, what).envs(set.iter().copied());
    command
}

fn command(by: i64, set: &[(&str, &Path)]) -> Command {
    child(&by.to_string(), set)
}

fn said(output: &Output) -> (String, String) {
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    assert!(output.status.success(), "{out}\n{err}");
    (out, err)
}

/// Creates an empty directory for this test.
fn directory(name: &str) -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn entries(path: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn without_a_compiler_it_runs_and_says_so_once() {
    let (out, err) =
        said(&command(2, &[("LAMBADA_CC", Path::new("/nonexistent/cc"))]).output().unwrap());
    assert_eq!(out.matches("engine=interpreter").count(), 2);
    assert_eq!(err.matches("no C compiler found; running").count(), 1, "{err}");
}

fn units_are_cached_and_damage_is_repaired() {
    let cache = directory("cache");
    let run = || said(&command(3, &[("LAMBADA_CACHE", &cache)]).output().unwrap());
    let (out, _) = run();
    assert!(out.contains("engine=native"));
    let made = entries(&cache);
    assert_eq!(made.len(), 1, "{made:?}");
    let library = made[0].join(LIBRARY);
    let time = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
    let first = time(&library);
    run();
    assert_eq!(time(&library), first, "made again");
    let whole = std::fs::read(&library).unwrap();
    for damaged in damages(&whole) {
        std::fs::write(&library, &damaged).unwrap();
        let (out, err) = run();
        assert_eq!(out.matches("engine=native").count(), 2);
        assert_eq!(err, "", "{} bytes of {}", damaged.len(), whole.len());
        assert!(std::fs::read(&library).unwrap() != damaged);
        assert_eq!(entries(&cache), made);
    }
    let other: [fn(&Path); 2] = [
        |entry| {
            let library = entry.join(LIBRARY);
            std::fs::remove_file(&library).unwrap();
            std::fs::create_dir(library).unwrap();
        },
        |entry| {
            std::fs::remove_dir_all(entry).unwrap();
            std::fs::write(entry, "no directory").unwrap();
        },
    ];
    for damage in other {
        damage(&made[0]);
        let (out, err) = run();
        assert_eq!((out.matches("engine=native").count(), &*err), (2, ""));
        assert!(library.is_file() && entries(&cache) == made);
    }
    std::fs::remove_dir_all(cache).unwrap();
}

const LIBRARY: &str = if cfg!(target_os = "macos") { "kernel.dylib" } else { "kernel.so" };

/// Truncated, extended and overwritten libraries; most would crash the process that loads them.
fn damages(whole: &[u8]) -> Vec<Vec<u8>> {
    let cut = [0, 1, 64, whole.len() / 4, whole.len() / 2, whole.len() - 1];
    let cut = cut.map(|len| whole[..len].to_vec());
    let overwritten = (0..8).map(|part| {
        let mut bytes = whole.to_vec();
        let at = part * whole.len() / 8;
        bytes[at..at + 20].iter_mut().for_each(|byte| *byte ^= 0xa5);
        bytes
    });
    let grown = [whole, b"more"].concat();
    cut.into_iter().chain(overwritten).chain([b"damaged".to_vec(), grown]).collect()
}

fn a_cache_that_cannot_be_written_does_not_matter() {
    let home = directory("file");
    let file = home.join("file");
    std::fs::write(&file, "").unwrap();
    let (out, _) =
        said(&command(4, &[("LAMBADA_CACHE", &file), ("TMPDIR", &home)]).output().unwrap());
    assert_eq!(out.matches("engine=native").count(), 2);
    assert_eq!(entries(&home).len(), 1, "litter: {:?}", entries(&home));
    std::fs::remove_dir_all(home).unwrap();
}

fn processes_share_a_cache() {
    let cache = directory("shared");
    let children: Vec<_> = (0..6)
        .map(|_| {
            command(5, &[("LAMBADA_CACHE", &cache)])
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(entries(&cache).len(), 1, "{:?}", entries(&cache));
    std::fs::remove_dir_all(cache).unwrap();
}

/// Damages an entry repeatedly while other processes use and rebuild it.
fn processes_share_a_damaged_cache() {
    let cache = directory("damaged");
    let run = || command(6, &[("LAMBADA_CACHE", &cache)]);
    said(&run().output().unwrap());
    let entry = entries(&cache).remove(0);
    for round in 0..4 {
        let mut children: Vec<_> =
            (0..4).map(|_| run().stdout(std::process::Stdio::null()).spawn().unwrap()).collect();
        // Written elsewhere and renamed, as backup programs do it, because mapped files must not
        // change.
        for part in 1..5 {
            std::thread::sleep(std::time::Duration::from_millis(5 * round));
            let Ok(whole) = std::fs::read(entry.join(LIBRARY)) else { continue };
            let aside = cache.with_extension("aside");
            std::fs::write(&aside, &whole[..whole.len() * part / 5]).unwrap();
            // The entry may be missing at the moment.
            let _ = std::fs::rename(&aside, entry.join(LIBRARY));
        }
        for child in &mut children {
            assert!(child.wait().unwrap().success());
        }
    }
    said(&run().output().unwrap());
    assert_eq!(entries(&cache).len(), 1, "{:?}", entries(&cache));
    let _ = std::fs::remove_file(cache.with_extension("aside"));
    std::fs::remove_dir_all(cache).unwrap();
}

/// The message blames Lambada, and names the C file.
#[cfg(unix)]
fn what_a_compiler_says_is_told() {
    let home = directory("rejects");
    let real = Compiler::find().expect("a C compiler").command();
    let real = real.get_program().to_string_lossy();
    let script = script(
        &home,
        &format!(
            "case \"$*\" in *kernel.c*) echo no such luck >&2; exit 1;; *) exec {real} \"$@\";; esac"
        ),
    );
    let set = [("LAMBADA_CC", &*script), ("LAMBADA_CACHE", &home.join("cache")), ("TMPDIR", &home)];
    let (out, _) = said(&child("rejected", &set).output().unwrap());
    assert!(out.contains("the C compiler rejects it") && out.contains("no such luck"), "{out}");
    let kept = out.split("kept in ").nth(1).unwrap().split(')').next().unwrap();
    assert!(std::fs::read_to_string(kept).unwrap().contains("kernel_increment"));
    std::fs::remove_dir_all(home).unwrap();
}

/// Three broken compilers: one rejects everything, as on a full disk; one produces nothing; one
/// produces an invalid library.
#[cfg(unix)]
fn a_compiler_that_does_not_work_is_no_mistake_of_ours() {
    for (what, told) in [
        ("echo no space left >&2; exit 1", "does not work: no space left"),
        ("exit 0", "does not work: it makes no library"),
        (
            "for last; do :; done; while [ \"$1\" != -o ]; do shift; done; echo > \"$2\"",
            "cannot load",
        ),
    ] {
        let home = directory("broken");
        let script = script(&home, what);
        let set =
            [("LAMBADA_CC", &*script), ("LAMBADA_CACHE", &home.join("cache")), ("TMPDIR", &home)];
        let (out, err) = said(&child("2", &set).output().unwrap());
        assert_eq!(out.matches("engine=interpreter").count(), 2, "{what}: {out}{err}");
        assert!(err.contains(told) && err.matches("warning").count() == 1, "{what}: {err}");
        std::fs::remove_dir_all(home).unwrap();
    }
}

/// A function is lowered for the C compiler, then once more if the compiler turns out to be broken,
/// which is discovered only once.
#[cfg(unix)]
fn lanes_are_those_of_what_runs() {
    let native = Target::Here.lanes(Precision::F64);
    let own = interpreted_lanes(Engine::Native, Precision::F64);
    let engine = if translates(Precision::F64) { Engine::Jit } else { Engine::Interpreter };
    let home = directory("lanes");
    let cache = home.join("cache");
    let lowered = |compiler: Option<&Path>| {
        let mut command = child("lowered", &[("LAMBADA_CACHE", &*cache), ("TMPDIR", &*home)]);
        if let Some(compiler) = compiler {
            command.env("LAMBADA_CC", compiler);
        }
        said(&command.output().unwrap()).0
    };
    let once = |lanes: &[u16], engine: Engine| {
        let lanes = lanes.iter().map(|lanes| format!("lanes={lanes}\n"));
        lanes.chain([format!("engine={engine:?}\n")]).collect::<String>()
    };
    assert_eq!(lowered(None), once(&[native], Engine::Native).repeat(2));
    assert_eq!(lowered(Some(Path::new("/nonexistent/cc"))), once(&[own], engine).repeat(2));
    let log = home.join("log");
    let broken = script(&home, &format!("echo call >> '{}'; exit 1", log.display()));
    assert_eq!(lowered(Some(&broken)), once(&[native, own], engine).repeat(2));
    let calls = std::fs::read_to_string(&log).unwrap().lines().count();
    assert_eq!(calls, 2, "the unit and the probe, once");
    std::fs::remove_dir_all(home).unwrap();
}

/// A C compiler that prints its version and otherwise runs `what`.
#[cfg(unix)]
fn script(home: &Path, what: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let script = home.join("cc");
    let text =
        format!("#!/bin/sh\n[ \"$1\" = --version ] && {{ echo odd 1.0; exit 0; }}\n{what}\n");
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    script
}
