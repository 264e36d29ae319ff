//! Whether standard output was open when the process began. Before `main`, Rust replaces a closed
//! stream by the null device, so that a result would vanish silently; this check runs earlier.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the process began; false if unknown.
pub fn output_was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod early {
    use std::sync::atomic::Ordering;

    const OUTPUT: i32 = 1;
    const F_GETFD: i32 = 1;

    unsafe extern "C" {
        fn fcntl(descriptor: i32, command: i32, ...) -> i32;
    }

    extern "C" fn look() {
        // SAFETY: the command only reads the flags of a descriptor, and fails if that is closed.
        if unsafe { fcntl(OUTPUT, F_GETFD) } == -1 {
            super::CLOSED.store(true, Ordering::Relaxed);
        }
    }

    // SAFETY: the loader calls the functions of this section once, before `main`; this one takes no
    // arguments and needs nothing that `main` sets up.
    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    static LOOK: extern "C" fn() = look;
}
