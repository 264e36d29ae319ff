//! Language 4: counted loops over buffers. The only form from which code is printed or interpreted.

mod syntax;

pub use syntax::{Buf, Cell, Function, Mode, Op, Operand, Param, Reg, Return, Stmt, Ty, While};
