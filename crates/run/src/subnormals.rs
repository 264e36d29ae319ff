//! Whether the processor computes with subnormal numbers or flushes them to zero, which is many
//! times faster on most. The mode belongs to a thread. Machine code runs in the requested mode,
//! Rust code in the default mode that Rust requires.

#![allow(unsafe_code)]

/// The floating-point control register of a thread: rounding, exceptions, subnormal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode(u64);

impl Mode {
    /// The mode of this thread.
    pub fn current() -> Mode {
        Mode(register::read())
    }

    /// The mode with subnormal arguments and results flushed to zero, if the processor supports
    /// that.
    pub fn flushing(self) -> Mode {
        Mode(self.0 | register::FLUSH)
    }

    /// The mode without flushing.
    pub fn keeping(self) -> Mode {
        Mode(self.0 & !register::FLUSH)
    }

    /// Calls a function in this mode. Besides calls of machine code, it must not compute with
    /// reals.
    #[inline]
    pub fn during<R>(self, call: impl FnOnce() -> R) -> R {
        let before = Mode::current();
        if before == self {
            return call();
        }
        let _back = Back(before);
        // SAFETY: the mode was read from the register, except for the flush bits. `_back` restores
        // the previous one.
        unsafe { register::write(self.0) };
        call()
    }
}

/// Restores a mode when dropped.
struct Back(Mode);

impl Drop for Back {
    fn drop(&mut self) {
        // SAFETY: this is the mode before the call.
        unsafe { register::write(self.0.0) };
    }
}

#[cfg(target_arch = "x86_64")]
mod register {
    use std::arch::asm;

    /// `FTZ`, for results, and `DAZ`, for arguments.
    pub const FLUSH: u64 = 0x8040;

    #[inline]
    pub fn read() -> u64 {
        let mut found = 0_u32;
        // SAFETY: `stmxcsr` stores 32 bits.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut found, options(nostack, preserves_flags)) };
        // The status flags of past operations are not part of the mode.
        u64::from(found & !0x3f)
    }

    /// # Safety
    /// The value was read from the register, except for the bits of `FLUSH`.
    #[inline]
    pub unsafe fn write(value: u64) {
        let value = value as u32;
        // SAFETY: `ldmxcsr` loads 32 bits, none of which is reserved.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags))
        };
    }
}

#[cfg(target_arch = "aarch64")]
mod register {
    use std::arch::asm;

    /// `FZ`, for arguments and results.
    pub const FLUSH: u64 = 1 << 24;

    #[inline]
    pub fn read() -> u64 {
        let found;
        // SAFETY: every program may read the register.
        unsafe { asm!("mrs {}, fpcr", out(reg) found, options(nostack, nomem, preserves_flags)) };
        found
    }

    /// # Safety
    /// The value was read from the register, except for the bits of `FLUSH`.
    #[inline]
    pub unsafe fn write(value: u64) {
        // SAFETY: every program may write the register. Not `nomem`, so that arithmetic is not
        // moved across it.
        unsafe { asm!("msr fpcr, {}", in(reg) value, options(nostack, preserves_flags)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod register {
    pub const FLUSH: u64 = 0;

    pub fn read() -> u64 {
        0
    }

    pub unsafe fn write(_: u64) {}
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    /// Half of the least normal number. Uses assembly where a mode exists, because Rust may fold
    /// constants without regard to the mode.
    fn half() -> f64 {
        #[cfg(target_arch = "x86_64")]
        {
            let mut x = black_box(f64::MIN_POSITIVE);
            // SAFETY: `mulsd` only changes a register.
            unsafe { std::arch::asm!("mulsd {x}, {y}", x = inout(xmm_reg) x, y = in(xmm_reg) 0.5) };
            x
        }
        #[cfg(target_arch = "aarch64")]
        {
            let mut x = black_box(f64::MIN_POSITIVE);
            // SAFETY: `fmul` only changes a register.
            unsafe {
                std::arch::asm!("fmul {x:d}, {x:d}, {y:d}", x = inout(vreg) x, y = in(vreg) 0.5);
            }
            x
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            black_box(f64::MIN_POSITIVE) * 0.5
        }
    }

    #[test]
    fn modes_nest_and_end() {
        let usual = Mode::current();
        let subnormal = f64::from_bits(1 << 51);
        let flushed = if register::FLUSH == 0 { subnormal } else { 0.0 };
        assert_eq!(usual.keeping(), usual);
        let inside = usual.flushing().during(|| {
            let kept = Mode::current().keeping().during(half);
            [half(), kept, half()].map(f64::to_bits)
        });
        assert_eq!(inside.map(f64::from_bits), [flushed, subnormal, flushed]);
        assert_eq!(half(), subnormal);
        assert_eq!(Mode::current(), usual);
    }

    #[test]
    fn a_panic_ends_a_mode() {
        let usual = Mode::current();
        let ended = std::panic::catch_unwind(|| {
            usual.flushing().during(|| std::panic::resume_unwind(Box::new(())))
        });
        assert!(ended.is_err());
        assert_eq!(Mode::current(), usual);
    }
}
