//! Limits the growth of the cache. It is searched at most once a day, after a compilation for it,
//! which takes longer than the search, and only if it has [`FEW`] entries or more. Then these go,
//! unless they are in use:
//! - entries unused for [`UNUSED`];
//! - then the least recently used ones, until the total size is below [`SIZE`];
//! - unfinished entries of killed processes, after [`LITTER`].
//!
//! Most unfinished entries go earlier: a process holds an exclusive lock in each entry that it
//! builds, and the system frees the lock when the process ends, however it ends. The process that
//! builds the next entry removes those with a free lock.
//!
//! A user of an entry holds a shared lock on its C file from before it reads the entry until the
//! library is loaded; from then on the system keeps the library. Removal requires the exclusive
//! lock. Where files cannot be locked, no entry is removed.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::cache::{SCRATCH, SOURCE};
use crate::owner::{discard, open_regular};

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Time until an unused entry goes.
const UNUSED: Duration = Duration::from_secs(30 * DAY.as_secs());

/// Limit for the bytes of all entries.
const SIZE: u64 = 256 << 20;

/// Age at which an unfinished entry is abandoned.
const LITTER: Duration = DAY;

/// Minimal number of entries for a search.
const FEW: usize = 256;

/// File in an unfinished entry, locked by its process.
const LOCK: &str = "lock";

/// File in the cache; its modification time is the time of the last search.
const STAMP: &str = "pruned";

/// Opens the C file of an entry, which protects the entry from removal while it is open, and
/// records the use. `None` if the entry is being removed or has no such file.
pub(crate) fn hold(entry: &Path) -> Option<File> {
    let file = open_regular(&entry.join(SOURCE)).ok()?;
    // Where files cannot be locked, no entry is removed.
    if matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        return None;
    }
    let now = SystemTime::now();
    if age(&file, now).is_some_and(|age| age > HOUR) {
        // If the time cannot be recorded, the entry goes too early and will be recompiled.
        let _ = file.set_modified(now);
    }
    Some(file)
}

/// Locks an unfinished entry until the file is closed. Locks the file before it gets its name, so
/// that no process considers the entry abandoned.
pub(crate) fn claim(scratch: &Path) -> io::Result<File> {
    let hidden = scratch.join("lock.new");
    let file = File::create_new(&hidden)?;
    file.lock()?;
    fs::rename(hidden, scratch.join(LOCK))?;
    Ok(file)
}

/// Removes the lock file, which is no part of the entry.
pub(crate) fn release(scratch: &Path) {
    // Where files cannot be locked, the file does not exist.
    let _ = fs::remove_file(scratch.join(LOCK));
}

/// Removes the unfinished entries of processes that have ended.
pub(crate) fn remove_abandoned(home: &Path) {
    for item in fs::read_dir(home).into_iter().flatten().flatten() {
        let is_half_made = item.file_name().to_str().is_some_and(|name| name.starts_with(SCRATCH));
        if is_half_made
            && let Ok(lock) = open_regular(&item.path().join(LOCK))
            && lock.try_lock().is_ok()
        {
            // The next process tries again.
            let _ = discard(&item.path());
        }
    }
}

/// Searches the cache if that is due.
pub(crate) fn prune(home: &Path) {
    let now = SystemTime::now();
    let stamp = home.join(STAMP);
    let recent = fs::symlink_metadata(&stamp)
        .is_ok_and(|stamp| since(&stamp, now).is_none_or(|age| age < DAY));
    let Ok(items) = fs::read_dir(home) else { return };
    let items: Vec<PathBuf> = items.flatten().map(|item| item.path()).collect();
    if recent
        || items.len() < FEW
        || fs::write(&stamp, "The cache was last looked through when this file was written.\n")
            .is_err()
    {
        return;
    }
    sweep(&items, now, UNUSED, SIZE);
}

/// Time since the last change; `None` if unknown or negative.
fn age(file: &File, now: SystemTime) -> Option<Duration> {
    since(&file.metadata().ok()?, now)
}

fn since(data: &Metadata, now: SystemTime) -> Option<Duration> {
    now.duration_since(data.modified().ok()?).ok()
}

/// Metadata with the time of the last use of an entry, or of the creation of a foreign file.
fn used(item: &Path) -> io::Result<Metadata> {
    fs::symlink_metadata(item.join(SOURCE)).or_else(|_| fs::symlink_metadata(item))
}

fn sweep(items: &[PathBuf], now: SystemTime, unused: Duration, size: u64) {
    let mut entries = Vec::new();
    for item in items {
        let Some(age) = used(item).ok().and_then(|used| since(&used, now)) else { continue };
        match item.file_name().and_then(|name| name.to_str()) {
            Some(name) if name.starts_with(SCRATCH) => _ = (age > LITTER).then(|| discard(item)),
            Some(name) if is_key(name) => entries.push((age, item)),
            Some(_) | None => {} // not ours
        }
    }
    entries.sort_unstable();
    let mut total = 0;
    for (age, entry) in entries {
        total += bytes(entry);
        if age > unused || total > size {
            remove(entry, age, now);
        }
    }
}

/// Whether the name is that of an entry.
fn is_key(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|c| c.is_ascii_hexdigit())
}

fn bytes(entry: &Path) -> u64 {
    let files = fs::read_dir(entry).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum()
}

/// Removes an entry, unless it is in use or was used since its age was determined.
fn remove(entry: &Path, known: Duration, now: SystemTime) {
    // No process uses an entry without its C file.
    let source = open_regular(&entry.join(SOURCE)).ok();
    let is_free = source.as_ref().is_none_or(|file| {
        file.try_lock().is_ok() && age(file, now).is_some_and(|age| age >= known)
    });
    if is_free {
        // A failed removal is repeated another day.
        let _ = discard(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(name: &str) -> PathBuf {
        let home =
            std::env::temp_dir().join(format!("lambada-prune-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home).unwrap();
        home
    }

    /// An entry of 1000 bytes that was last used `days` days ago.
    fn entry(home: &Path, name: &str, days: u32) -> PathBuf {
        let entry = home.join(name);
        fs::create_dir(&entry).unwrap();
        fs::write(entry.join(SOURCE), [b' '; 400]).unwrap();
        fs::write(entry.join("kernel.so"), [0; 600]).unwrap();
        File::options()
            .write(true)
            .open(entry.join(SOURCE))
            .unwrap()
            .set_modified(SystemTime::now() - days * DAY)
            .unwrap();
        entry
    }

    fn items(home: &Path) -> Vec<PathBuf> {
        fs::read_dir(home).unwrap().map(|item| item.unwrap().path()).collect()
    }

    fn key(k: u32) -> String {
        format!("{k:032x}")
    }

    #[test]
    fn what_is_old_goes_and_then_what_is_oldest() {
        let home = cache("old");
        let [today, week, month] =
            [(1, 0), (2, 7), (3, 31)].map(|(k, days)| entry(&home, &key(k), days));
        let other = entry(&home, "somebody else's", 400);
        let [made, left] = [("a", 0), ("b", 2)]
            .map(|(name, days)| entry(&home, &format!("{SCRATCH}{name}"), days));
        sweep(&items(&home), SystemTime::now(), UNUSED, SIZE);
        assert_eq!(
            [&today, &week, &month, &other, &made, &left].map(|entry| entry.is_dir()),
            [true, true, false, true, true, false]
        );
        sweep(&items(&home), SystemTime::now(), UNUSED, 1500);
        assert!(today.is_dir() && !week.is_dir());
        fs::remove_dir_all(home).unwrap();
    }

    /// Using an entry renews it; an entry in use stays however large the cache is.
    #[test]
    fn what_is_used_stays() {
        let home = cache("used");
        let [held, used] = [(1, 100), (2, 50)].map(|(k, days)| entry(&home, &key(k), days));
        let lock = hold(&held).unwrap();
        drop(hold(&used));
        sweep(&items(&home), SystemTime::now(), UNUSED, SIZE);
        assert!(held.is_dir() && used.is_dir());
        sweep(&items(&home), SystemTime::now() + HOUR, UNUSED, 0);
        assert!(held.is_dir() && !used.is_dir());
        drop(lock);
        sweep(&items(&home), SystemTime::now() + HOUR, UNUSED, 0);
        assert!(!held.is_dir());
        fs::remove_dir_all(home).unwrap();
    }

    #[test]
    fn what_a_dead_process_was_making_goes_at_once() {
        let home = cache("abandoned");
        let made = |name: &str| {
            let path = home.join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let [dead, alive, new] = ["a", "b", "c"].map(|name| made(&format!("{SCRATCH}{name}")));
        let other = made("somebody else's");
        drop([claim(&dead).unwrap(), claim(&other).unwrap()]);
        let lock = claim(&alive).unwrap();
        remove_abandoned(&home);
        let left = || [&dead, &alive, &new, &other].map(|path| path.is_dir());
        assert_eq!(left(), [false, true, true, true]);
        drop(lock);
        remove_abandoned(&home);
        assert_eq!(left(), [false, false, true, true]);
        fs::remove_dir_all(home).unwrap();
    }

    #[test]
    fn a_large_cache_is_looked_through_once_a_day() {
        let home = cache("stamp");
        let old = entry(&home, &key(0), 31);
        prune(&home);
        assert!(old.is_dir(), "a small cache is left alone");
        (1..FEW as u32).for_each(|k| _ = entry(&home, &key(k), 0));
        prune(&home);
        assert!(!old.is_dir());
        let old = entry(&home, &key(0), 31);
        prune(&home);
        assert!(old.is_dir(), "a second time on the same day");
        File::options()
            .write(true)
            .open(home.join(STAMP))
            .unwrap()
            .set_modified(SystemTime::now() - 2 * DAY)
            .unwrap();
        prune(&home);
        assert!(!old.is_dir());
        assert_eq!(items(&home).len(), FEW);
        fs::remove_dir_all(home).unwrap();
    }
}
