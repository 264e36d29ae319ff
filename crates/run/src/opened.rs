//! Paths of open files, so that the checked file is the one that is loaded: between a check and
//! `dlopen`, another process may rename a different file into place.
//!
//! The dynamic loader compares names before device and inode. Descriptor numbers are reused, so
//! `/proc/self/fd/7` may name a library that is already loaded; therefore each path is spelled
//! differently.

use std::fs::File;
use std::path::{Path, PathBuf};

/// A new path to an open file; its own path if the system has no paths of descriptors.
pub(crate) fn path_of(file: &File, path: &Path) -> PathBuf {
    by_descriptor(file).unwrap_or_else(|| path.to_path_buf())
}

#[cfg(target_os = "linux")]
fn by_descriptor(file: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = PathBuf::from(spelled(count, file.as_raw_fd()));
    path.exists().then_some(path)
}

#[cfg(not(target_os = "linux"))]
fn by_descriptor(_: &File) -> Option<PathBuf> {
    None
}

/// The path of a descriptor; its slashes encode the bits of `count`: `/` for 0, `/.` for 1.
#[cfg(any(target_os = "linux", test))]
fn spelled(count: u64, descriptor: i32) -> String {
    let digits = (0..u64::BITS - count.leading_zeros()).map(|k| count >> k & 1);
    let digits: String = digits.map(|digit| if digit == 0 { "/" } else { "/." }).collect();
    format!("/proc/self/fd{digits}/{descriptor}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_differ_and_lead_to_the_same_file() {
        let names: Vec<String> = (0..9).map(|count| spelled(count, 7)).collect();
        assert_eq!(names[0], "/proc/self/fd/7");
        assert_eq!(names[6], "/proc/self/fd//././7");
        let different: std::collections::HashSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len());
        let same: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        assert!(same.iter().all(|path| path.components().eq(same[0].components())));
    }

    /// The path refers to the opened file even if another one takes its name.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_path_follows_the_file() {
        let path = std::env::temp_dir().join(format!("lambada-opened-{}", std::process::id()));
        std::fs::write(&path, "one").unwrap();
        let file = File::open(&path).unwrap();
        let aside = path.with_extension("aside");
        std::fs::write(&aside, "other").unwrap();
        std::fs::rename(&aside, &path).unwrap();
        assert_eq!(std::fs::read_to_string(path_of(&file, &path)).unwrap(), "one");
        std::fs::remove_file(path).unwrap();
    }
}
