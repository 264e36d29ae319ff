//! Numbers and derivatives against references. It knows no language: `lambada verify` and the tests
//! of all crates compare with it.
//!
//! - [`Random`]: the one generator of random numbers;
//! - [`Tolerance`], [`all_close`]: the one comparison of reals, in which NaN equals NaN and nothing
//!   else;
//! - [`confirm`]: derivatives against differences, component by component.

mod close;
mod differences;
mod random;

pub use close::{Tolerance, all_close, close};
pub use differences::{Confirmed, confirm, confirm_above, confirm_within};
pub use random::Random;
