//! Files that only their owner can change, where the owner is the user or the administrator,
//! because libraries in them will be loaded.

#![cfg_attr(unix, allow(unsafe_code))]

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// Limit for the bytes of a seal.
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

/// Opens a regular file. Opening a pipe would block until its other end is opened.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    File::open(path)
}

/// Reads a small regular file.
pub(crate) fn read_small(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.take(SMALL).read_to_string(&mut text)?;
    Ok(text)
}

/// Makes a file writable by its owner only.
pub(crate) fn only_ours(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Removes a file, or a directory with its contents, regardless of permissions.
pub(crate) fn discard(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        // If this fails, so does the removal.
        let _ = only_ours(path);
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

#[cfg(unix)]
fn is_ours(data: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    /// Writable by the group or by others.
    const WRITABLE: u32 = 0o022;
    // SAFETY: the function only reads the id of the user.
    let user = unsafe { libc::geteuid() };
    (data.uid() == user || data.uid() == 0) && data.mode() & WRITABLE == 0
}

#[cfg(not(unix))]
fn is_ours(_: &Metadata) -> bool {
    true
}
