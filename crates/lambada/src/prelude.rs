//! The standard library, in Lambada itself.

/// Its text.
pub const PRELUDE: &str = include_str!("../../../prelude/prelude.lam");
