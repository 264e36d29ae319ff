//! Signals that a process was started to ignore: by `nohup`, or in the background of a shell.

#![allow(unsafe_code)]

/// Whether a signal is ignored.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: zeros are a valid `sigaction`; without a new action nothing but `old` is written.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut old) == 0
            && old.sa_sigaction == libc::SIG_IGN
    }
}
