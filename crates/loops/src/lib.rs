//! Language 4: counted loops over buffers. The only form from which code is printed or interpreted.

mod check;
mod eval;
mod library;
mod names;
mod nodes;
mod print;
mod read;
mod rename;
mod syntax;
mod walk;

pub use check::check;
pub use eval::{
    CANCELLED, Counts, EXHAUSTED, Fuel, LANES, Outcome, Program, Range, Region, Regions, Room,
    Seen, State, Stop, Terms, Translate, check_arguments, eval, eval_counted, internal,
    param_types, scalar, sizes, word,
};
pub use names::{Names, identifier};
pub use nodes::{Field, FieldId, FnId, NodeId, NodeType};
pub use print::print;
pub use read::read;
pub use rename::Renaming;
pub use syntax::{
    Arg, Buf, Cell, FieldValue, Function, Library, Mode, Nest, Op, Operand, Param, Reg, Release,
    ResultTarget, Return, Step, Stmt, Ty, While,
};
pub use walk::{Binding, is_parallel, uses, visit};
