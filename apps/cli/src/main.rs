//! The `lambada` command.
fn main() {}
