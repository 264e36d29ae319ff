//! Persistent cache of compiled units. An entry is a directory named by a hash, with the C text,
//! the library compiled from it, and the library's seal. Processes may share a cache, because
//! entries are built aside and renamed into place as a whole. A hit compares the whole text, so a
//! hash collision is only a miss. If no cache is writable, units are compiled in a temporary
//! directory. [`crate::prune`] removes unused entries.
//!
//! Nothing in a cache is trusted: an entry counts only if nobody else can write to it
//! ([`crate::owner`]) and its seal fits ([`crate::seal`]). A new entry replaces anything else in
//! its place, even a directory or a pipe. The library is loaded through the descriptor that its
//! seal was compared with ([`crate::opened`]), because its name may refer to another file by then.
//! A newly compiled library is loaded before others can reach it, so that a run depends on nobody.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lambada_codegen::{Shares, Unit};

use crate::opened::path_of;
use crate::owner::{discard, is_our_directory, only_ours, open_ours};
use crate::prune::{claim, hold, prune, release, remove_abandoned};
use crate::seal::{is_whole, seal};
use crate::{Cancel, CompileError, Compiler, Settings, Unfinished, messages};

pub(crate) const SOURCE: &str = "kernel.c";
const LIBRARY: &str = if cfg!(target_os = "macos") { "kernel.dylib" } else { "kernel.so" };

/// Name prefix of directories in which entries are built.
pub(crate) const SCRATCH: &str = "lambada-tmp-";

/// Loads the library of a unit, from the cache or compiled now.
pub(crate) fn library<L>(
    compiler: &Compiler,
    unit: &Unit,
    settings: Settings,
    kept: Option<&Path>,
    load: impl Fn(&Path) -> Result<L, libloading::Error>,
) -> Result<L, CompileError> {
    let (text, key) = keyed(compiler, unit, settings);
    let home = kept.map(Path::to_path_buf).or_else(directory);
    if let Some(home) = &home
        && let Some(library) = find(&home.join(&key), &text, &load)
    {
        return Ok(library);
    }
    if let Some(error) = Failing::known() {
        return Err(error);
    }
    home.as_deref().into_iter().for_each(remove_abandoned);
    // A cache that is not writable must not prevent a run.
    let scratch = home
        .as_deref()
        .and_then(|home| Scratch::inside(home).ok())
        .map_or_else(|| Scratch::inside(&std::env::temp_dir()), Ok);
    let scratch = scratch.map_err(|error| messages::no_directory(&error))?;
    make(compiler, &scratch, &text, unit.shares, settings)?;
    let made = scratch.path.join(LIBRARY);
    let library = load(&made).map_err(|error| messages::not_loaded(&made, &error))?;
    if let Some(home) = home
        && publish(&scratch, &home.join(&key), &text)
    {
        prune(&home);
    }
    Ok(library)
}

/// Loads the library of a unit from the cache, if it is there.
pub(crate) fn known<L>(
    compiler: &Compiler,
    unit: &Unit,
    settings: Settings,
    kept: Option<&Path>,
    load: impl Fn(&Path) -> Result<L, libloading::Error>,
) -> Option<L> {
    let (text, key) = keyed(compiler, unit, settings);
    find(&kept.map(Path::to_path_buf).or_else(directory)?.join(key), &text, load)
}

/// The text of a unit with all that its library depends on, and the name of its entry.
fn keyed(compiler: &Compiler, unit: &Unit, settings: Settings) -> (String, String) {
    let identity = compiler.identity(settings).replace("*/", "* /");
    let text = format!("/* {identity} */\n{}", unit.text);
    let key = format!("{:032x}", hash(text.as_bytes()));
    (text, key)
}

/// Loads the library of an entry, if the entry is complete and has this text.
fn find<L>(
    place: &Path,
    text: &str,
    load: impl Fn(&Path) -> Result<L, libloading::Error>,
) -> Option<L> {
    let entry = Entry::of(place, text)?;
    load(&path_of(&entry.library, &place.join(LIBRARY))).ok()
}

/// A complete entry.
struct Entry {
    library: fs::File,
    /// While it is open, no process removes the entry.
    _source: fs::File,
}

impl Entry {
    /// The entry of a text, if its library can be loaded.
    fn of(place: &Path, text: &str) -> Option<Entry> {
        let path = place.join(LIBRARY);
        let source = is_our_directory(place).then(|| hold(place)).flatten()?;
        let library = has_text(&source, text).then(|| open_ours(&path)).flatten()?;
        is_whole(&library, &path).then_some(Entry { library, _source: source })
    }
}

fn has_text(file: &fs::File, text: &str) -> bool {
    let (length, mut found) = (text.len() as u64, Vec::new());
    file.metadata().is_ok_and(|file| file.len() == length)
        && file.take(length).read_to_end(&mut found).is_ok()
        && found == text.as_bytes()
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
        Ok(()) => Err(Failing::told(messages::broken_compiler(&compiler.name(), ""))),
        // The output of a compiler killed by Ctrl-C does not concern the text.
        Err(said) if is_cancelled() => Err(messages::broken_compiler(&compiler.name(), &said)),
        Err(said) if works(compiler, scratch, text.len()) => Err(failed(&source, &said)),
        Err(said) => Err(Failing::told(messages::broken_compiler(&compiler.name(), &said))),
    }
}

/// A broken compiler, for example on a full disk. It is not tried for a while, because finding out
/// takes longer than running without it.
struct Failing {
    since: Instant,
    error: CompileError,
}

static FAILING: Mutex<Option<Failing>> = Mutex::new(None);

impl Failing {
    /// Time without further attempts.
    const REST: Duration = Duration::from_secs(60);

    /// The error of a recent attempt.
    fn known() -> Option<CompileError> {
        let failing = FAILING.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = failing.as_ref().filter(|failing| failing.since.elapsed() < Failing::REST);
        recent.map(|failing| failing.error.clone())
    }

    /// Remembers the error, unless the call was cancelled.
    fn told(error: CompileError) -> CompileError {
        if !is_cancelled() {
            let failing = Failing { since: Instant::now(), error: error.clone() };
            *FAILING.lock().unwrap_or_else(PoisonError::into_inner) = Some(failing);
        }
        error
    }
}

fn is_cancelled() -> bool {
    Cancel::current().is_some_and(|cancel| cancel.is_cancelled())
}

/// Whether the compiler can compile a valid unit. The library is about as large as that of `length`
/// bytes of text, because the disk may be full.
fn works(compiler: &Compiler, scratch: &Scratch, length: usize) -> bool {
    let (source, library) = (scratch.path.join("probe.c"), scratch.path.join("probe.so"));
    let text = format!("const char lambada_probe[{}] = {{1}};\n", 16 * length);
    fs::write(&source, text).is_ok()
        && compiler.compile(&source, &library, Settings::default(), Shares::default()).is_ok()
        && library.is_file()
}

/// The error of a working compiler that rejects the text; keeps the text for a bug report.
fn failed(source: &Path, said: &str) -> CompileError {
    let kept =
        std::env::temp_dir().join(format!("lambada-failed-{}-{}.c", std::process::id(), unique()));
    let place = match fs::copy(source, &kept) {
        Ok(_) => format!("the C file is kept in {}", kept.display()),
        Err(error) => format!("the C file could not be kept: {error}"),
    };
    messages::rejected(&place, said)
}

/// Moves a new entry into the cache. If another process was faster, its entry is just as good.
fn publish(scratch: &Scratch, place: &Path, text: &str) -> bool {
    let library = scratch.path.join(LIBRARY);
    release(&scratch.path);
    only_ours(&library).is_ok()
        && seal(&library).is_ok()
        && (fs::rename(&scratch.path, place).is_ok()
            || Entry::of(place, text).is_some()
            || replace(scratch, place))
}

/// Replaces an entry that is damaged or has another text. Moves it aside first, so that other
/// processes find a complete entry or none.
fn replace(scratch: &Scratch, place: &Path) -> bool {
    let aside = scratch.path.with_extension("damaged");
    let _unfinished = Unfinished::at(&aside);
    let replaced = fs::rename(place, &aside).is_ok() && fs::rename(&scratch.path, place).is_ok();
    // A remaining directory is only litter.
    let _ = discard(&aside);
    replaced
}

/// The cache directory: `$LAMBADA_CACHE`, or `lambada` in the user's cache directory.
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

/// A private directory that is removed when dropped, unless it has been renamed.
struct Scratch {
    path: PathBuf,
    _unfinished: Unfinished,
    /// Shows other processes that this one is alive, where files can be locked.
    _lock: Option<fs::File>,
}

impl Scratch {
    fn inside(home: &Path) -> io::Result<Scratch> {
        fs::create_dir_all(home)?;
        let path = home.join(format!("{SCRATCH}{}-{}", std::process::id(), unique()));
        let unfinished = Unfinished::at(&path);
        private_directory(&path)?;
        let lock = claim(&path).ok();
        Ok(Scratch { path, _unfinished: unfinished, _lock: lock })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The directory is gone if it has been renamed; otherwise a remaining one is only litter.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Creates a directory that nobody else can write to, because libraries in it will be loaded. Fails
/// if it exists.
fn private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// A text that is unique in this process, and almost certainly among the remains of other processes
/// with the same id.
fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |now| now.as_nanos());
    format!("{now:x}-{count}")
}

/// FNV-1a with 128 bits. It need not be cryptographic, because hits compare the whole text.
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
        let cache = home.path.join("cache");
        let place = cache.join("key");
        let offer = |text: &str| {
            let scratch = Scratch::inside(&cache).unwrap();
            fs::write(scratch.path.join(SOURCE), text).unwrap();
            fs::write(scratch.path.join(LIBRARY), text).unwrap();
            publish(&scratch, &place, text)
        };
        let is_there = |text: &str| Entry::of(&place, text).is_some();
        assert!(offer("one"));
        assert!(offer("one"));
        assert!(is_there("one") && !is_there("two"));
        for damage in damages() {
            damage(&place);
            assert!(!is_there("one"));
            assert!(offer("one") && is_there("one"));
            assert_eq!(fs::read_dir(&cache).unwrap().count(), 1);
        }
    }

    /// Kinds of damage to an entry.
    fn damages() -> Vec<fn(&Path)> {
        let mut damages: Vec<fn(&Path)> = vec![
            |entry| fs::remove_file(entry.join(LIBRARY)).unwrap(),
            |entry| fs::remove_file(entry.join(SOURCE)).unwrap(),
            |entry| fs::remove_file(entry.join("kernel.seal")).unwrap(),
            |entry| fs::write(entry.join(LIBRARY), "").unwrap(),
            |entry| fs::write(entry.join(LIBRARY), "on").unwrap(),
            |entry| fs::write(entry.join(LIBRARY), "onf").unwrap(),
            |entry| fs::write(entry.join(SOURCE), "").unwrap(),
            |entry| fs::write(entry.join("kernel.seal"), "").unwrap(),
            |entry| fs::write(entry.join("kernel.seal"), [0xff; 1000]).unwrap(),
            |entry| fs::remove_dir_all(entry).unwrap(),
            |entry| {
                fs::remove_file(entry.join(LIBRARY)).unwrap();
                fs::create_dir(entry.join(LIBRARY)).unwrap();
            },
            |entry| {
                fs::remove_dir_all(entry).unwrap();
                fs::write(entry, "a file").unwrap();
            },
            |entry| {
                fs::remove_dir_all(entry).unwrap();
                fs::create_dir(entry).unwrap();
                fs::create_dir(entry.join(SOURCE)).unwrap();
            },
        ];
        #[cfg(unix)]
        damages.extend(of_unix());
        damages
    }

    #[cfg(unix)]
    fn of_unix() -> Vec<fn(&Path)> {
        use std::os::unix::fs::{PermissionsExt, symlink};
        fn pipe(path: &Path) {
            fs::remove_file(path).unwrap();
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
        }
        fn permit(path: &Path, mode: u32) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        vec![
            |entry| pipe(&entry.join(SOURCE)),
            |entry| pipe(&entry.join(LIBRARY)),
            |entry| pipe(&entry.join("kernel.seal")),
            |entry| {
                fs::rename(entry.join(LIBRARY), entry.join("elsewhere")).unwrap();
                symlink(entry.join("elsewhere"), entry.join(LIBRARY)).unwrap();
            },
            |entry| permit(&entry.join(LIBRARY), 0o777),
            |entry| permit(entry, 0o777),
            |entry| {
                fs::remove_dir_all(entry).unwrap();
                symlink("/nowhere", entry).unwrap();
            },
        ]
    }
}
