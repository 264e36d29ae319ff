//! Files that nobody but their owner can change, who is the user or the system's administrator:
//! what is in them will be loaded.

#![cfg_attr(unix, allow(unsafe_code))]

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// No seal is larger, in bytes.
const SMALL: u64 = 256;

/// Opens a regular file that only we can change.
pub(crate) fn open_ours(path: &Path) -> Option<File> {
    let file = open_regular(path).ok()?;
    file.metadata().is_ok_and(|data| data.is_file() && is_ours(&data)).then_some(file)
}

/// Whether this is a directory that only we can change.
pub(crate) fn is_our_directory(path: &Path) -> bool {
    // Links are not followed: they may lead anywhere.
    fs::symlink_metadata(path).is_ok_and(|data| data.is_dir() && is_ours(&data))
}

/// Opens a regular file. Opening a pipe would wait for its other end.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    File::open(path)
}

/// The text of a small regular file.
pub(crate) fn read_small(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.take(SMALL).read_to_string(&mut text)?;
    Ok(text)
}

/// Takes the right to change a file from all but its owner.
pub(crate) fn only_ours(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Removes a file, or a directory with all that is in it, whatever its permissions.
pub(crate) fn discard(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        // If this is refused, so is what follows.
        let _ = only_ours(path);
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

#[cfg(unix)]
fn is_ours(data: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    /// Of the group, and of all others.
    const WRITABLE: u32 = 0o022;
    // SAFETY: it only reads who runs the process.
    let user = unsafe { libc::geteuid() };
    (data.uid() == user || data.uid() == 0) && data.mode() & WRITABLE == 0
}

#[cfg(not(unix))]
fn is_ours(_: &Metadata) -> bool {
    true
}
