//! Files and folders under construction. Their creator removes them or moves them into place; if
//! the process has to exit in between, it first removes the remaining ones.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Number of times that a removal is tried, and the time between.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(5);

static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn made() -> MutexGuard<'static, Vec<PathBuf>> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a file or folder under construction while it lives.
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Registers a present or future path.
    pub fn at(path: &Path) -> Unfinished {
        made().push(path.to_path_buf());
        Unfinished(path.to_path_buf())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut made = made();
        if let Some(at) = made.iter().position(|path| *path == self.0) {
            made.swap_remove(at);
        }
    }
}

/// Ends children and removes unfinished files, in a process that is about to exit. From then on,
/// threads that begin or finish a file block forever.
pub fn remove_unfinished() {
    // Children first, because they would go on writing.
    crate::children::end_children();
    let made = made();
    made.iter().for_each(|path| remove(path));
    std::mem::forget(made);
}

/// Removes a file or folder, and tries again, because other threads may still be writing into the
/// folder. A remaining file is only litter.
fn remove(path: &Path) {
    for _ in 0..TRIES {
        let removed = match path.is_dir() {
            true => std::fs::remove_dir_all(path),
            false => std::fs::remove_file(path),
        };
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                std::thread::sleep(PAUSE);
            }
            Ok(()) | Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_finished_is_forgotten() {
        let (one, other) = (Path::new("lambada-one"), Path::new("lambada-other"));
        let first = Unfinished::at(one);
        let second = Unfinished::at(other);
        drop(first);
        assert!(!made().iter().any(|path| path == one));
        assert!(made().iter().any(|path| path == other));
        drop(second);
    }
}
