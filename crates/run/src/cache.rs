//! Compiled units, kept from run to run. An entry is a directory named by a hash, with the C text and the library made of it. Entries are made aside
//! and renamed into place as a whole, so that processes may share a cache. A hit compares the whole text, so that a collision of hashes is
//! only a miss. Where no cache can be written, units are compiled in a directory that goes away again. What is no longer used goes
//! ([`crate::prune`]).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use lambada_codegen::{Shares, Unit};

use crate::prune::{hold, prune};
use crate::{Cancel, CompileError, Compiler, Settings, Unfinished, messages};

/// A library that is ready to be loaded.
pub(crate) struct Entry {
    pub library: PathBuf,
    /// Keeps the entry in the cache until the library has been loaded.
    _held: Option<File>,
    /// Goes away when the library has been loaded.
    _scratch: Option<Scratch>,
}

pub(crate) const SOURCE: &str = "kernel.c";
const LIBRARY: &str = if cfg!(target_os = "macos") { "kernel.dylib" } else { "kernel.so" };

/// How names of directories start in which entries are made.
pub(crate) const SCRATCH: &str = "lambada-tmp-";

/// Finds or makes the library of a unit.
pub(crate) fn library(
    compiler: &Compiler,
    unit: &Unit,
    settings: Settings,
    kept: Option<&Path>,
) -> Result<Entry, CompileError> {
    let identity = compiler.identity(settings).replace("*/", "* /");
    let text = format!("/* {identity} */\n{}", unit.text);
    let key = format!("{:032x}", hash(text.as_bytes()));
    let home = kept.map(Path::to_path_buf).or_else(directory);
    if let Some(home) = &home
        && let Some(entry) = find(&home.join(&key), &text)
    {
        return Ok(entry);
    }
    // A cache that cannot be written is no reason not to run.
    let scratch = home
        .as_deref()
        .and_then(|home| Scratch::inside(home).ok())
        .map_or_else(|| Scratch::inside(&std::env::temp_dir()), Ok);
    let scratch = scratch.map_err(|error| messages::no_directory(&error))?;
    make(compiler, &scratch, &text, unit.shares, settings)?;
    match home.filter(|home| publish(&scratch, &home.join(&key), &text)) {
        Some(home) => {
            let place = home.join(&key);
            let held = hold(&place);
            prune(&home);
            Ok(Entry { library: place.join(LIBRARY), _held: held, _scratch: None })
        }
        None => {
            Ok(Entry { library: scratch.path.join(LIBRARY), _held: None, _scratch: Some(scratch) })
        }
    }
}

/// Forgets an entry that could not be loaded.
pub(crate) fn forget(entry: &Entry) {
    if let Some(place) = entry.library.parent() {
        // If it cannot be removed, it is compiled elsewhere next.
        let _ = fs::remove_dir_all(place);
    }
}

fn find(place: &Path, text: &str) -> Option<Entry> {
    let library = place.join(LIBRARY);
    let held = hold(place);
    let same = fs::read(place.join(SOURCE)).is_ok_and(|found| found == text.as_bytes());
    (same && library.is_file()).then_some(Entry { library, _held: held, _scratch: None })
}

fn make(
    compiler: &Compiler,
    scratch: &Scratch,
    text: &str,
    shares: Shares,
    settings: Settings,
) -> Result<(), CompileError> {
    let source = scratch.path.join(SOURCE);
    let library = scratch.path.join(LIBRARY);
    fs::write(&source, text).map_err(|error| messages::not_written(&source, &error))?;
    match compiler.compile(&source, &library, settings, shares) {
        Ok(()) if library.is_file() => Ok(()),
        Ok(()) => Err(messages::broken_compiler(&compiler.name(), "")),
        // A compiler that Ctrl-C has ended says nothing of the text.
        Err(said) if !is_cancelled() && works(compiler, scratch, text.len()) => {
            Err(failed(&source, &said))
        }
        Err(said) => Err(messages::broken_compiler(&compiler.name(), &said)),
    }
}

fn is_cancelled() -> bool {
    Cancel::current().is_some_and(|cancel| cancel.is_cancelled())
}

/// Does the compiler make a library of a unit that is in order? One about as large as that of `length` bytes of text, since the disk may be full.
fn works(compiler: &Compiler, scratch: &Scratch, length: usize) -> bool {
    let (source, library) = (scratch.path.join("probe.c"), scratch.path.join("probe.so"));
    let text = format!("const char lambada_probe[{}] = {{1}};\n", 16 * length);
    fs::write(&source, text).is_ok()
        && compiler.compile(&source, &library, Settings::default(), Shares::default()).is_ok()
        && library.is_file()
}

/// A C compiler that works rejects the text, which is kept for the report.
fn failed(source: &Path, said: &str) -> CompileError {
    let kept =
        std::env::temp_dir().join(format!("lambada-failed-{}-{}.c", std::process::id(), unique()));
    let place = match fs::copy(source, &kept) {
        Ok(_) => format!("the C file is kept in {}", kept.display()),
        Err(error) => format!("the C file could not be kept: {error}"),
    };
    messages::rejected(&place, said)
}

/// Moves what has been made into the cache. Another process may have been faster; then its entry is as good.
fn publish(scratch: &Scratch, place: &Path, text: &str) -> bool {
    fs::rename(&scratch.path, place).is_ok()
        || find(place, text).is_some()
        || replace(scratch, place)
}

/// An entry that is damaged, or has the same hash, gives way.
fn replace(scratch: &Scratch, place: &Path) -> bool {
    place.exists() && fs::remove_dir_all(place).is_ok() && fs::rename(&scratch.path, place).is_ok()
}

/// Where the cache is: `$LAMBADA_CACHE`, or `lambada` in the user's directory for caches.
fn directory() -> Option<PathBuf> {
    let set =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let user = || match std::env::consts::OS {
        "macos" => set("HOME").map(|home| home.join("Library/Caches")),
        _ => set("XDG_CACHE_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| set("HOME").map(|home| home.join(".cache"))),
    };
    set("LAMBADA_CACHE").or_else(|| user().map(|caches| caches.join("lambada")))
}

/// A directory of one's own that is removed in the end, unless it has been renamed.
struct Scratch {
    path: PathBuf,
    _unfinished: Unfinished,
}

impl Scratch {
    fn inside(home: &Path) -> io::Result<Scratch> {
        fs::create_dir_all(home)?;
        let path = home.join(format!("{SCRATCH}{}-{}", std::process::id(), unique()));
        let unfinished = Unfinished::at(&path);
        private_directory(&path)?;
        Ok(Scratch { path, _unfinished: unfinished })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It is gone if it has been renamed; if it cannot be removed, it is only litter.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A new directory that nobody else can write to: what is in it will be loaded. Fails if it exists.
fn private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Different in every call of the process, and most likely from what other processes with the same number have left.
fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |now| now.as_nanos());
    format!("{now:x}-{count}")
}

/// FNV-1a with 128 bits. It need not resist anyone: hits compare the whole text.
fn hash(bytes: &[u8]) -> u128 {
    const BASIS: u128 = 0x6c62272e07bb014262b821756295c58d;
    const PRIME: u128 = 0x0000000001000000000000000000013b;
    bytes.iter().fold(BASIS, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_fnv() {
        assert_eq!(hash(b""), 0x6c62272e07bb014262b821756295c58d);
        assert_eq!(hash(b"a"), 0xd228cb696f1a8caf78912b704e4a8964);
    }

    #[test]
    fn scratch_directories_go_away() {
        let scratch = Scratch::inside(&std::env::temp_dir()).unwrap();
        let path = scratch.path.clone();
        fs::write(path.join("x"), "x").unwrap();
        assert!(path.is_dir());
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn the_first_to_publish_wins_and_damage_is_repaired() {
        let home = Scratch::inside(&std::env::temp_dir()).unwrap();
        let place = home.path.join("key");
        let offer = |text: &str| {
            let scratch = Scratch::inside(&home.path).unwrap();
            fs::write(scratch.path.join(SOURCE), text).unwrap();
            fs::write(scratch.path.join(LIBRARY), text).unwrap();
            publish(&scratch, &place, text)
        };
        assert!(offer("one"));
        assert!(offer("one"));
        assert!(find(&place, "one").is_some());
        assert!(find(&place, "two").is_none());
        fs::remove_file(place.join(LIBRARY)).unwrap();
        assert!(find(&place, "one").is_none());
        assert!(offer("one"));
        assert!(find(&place, "one").is_some());
        assert_eq!(fs::read_dir(&home.path).unwrap().count(), 1);
    }
}
