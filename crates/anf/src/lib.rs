//! Language 3: first-order array programs in administrative normal form.

pub mod bounds;
mod build;
mod check;
mod circles;
mod code;
mod counts;
mod derivative;
mod effects;
mod eval;
#[cfg(feature = "generate")]
mod generate;
mod guard;
mod hints;
mod inline;
mod known;
mod labels;
mod names;
mod naming;
mod print;
mod read;
mod room;
mod rules;
mod syntax;
mod trap;
mod walk;

pub use build::Builder;
pub use check::{check, check_callee, check_entry};
pub use circles::Circles;
pub use counts::Counts;
pub use derivative::{Audience, Derivatives, Lambda, Reverse, Subject};
pub use effects::Effect;
pub use eval::{Outcome, eval, eval_within};
#[cfg(feature = "generate")]
pub use generate::{Random, generate, generate_with_library};
pub use guard::{guard, guard_block};
pub use hints::{NAMELESS, name_values, negative};
pub use inline::{without_rules, written_out};
pub use known::{Argument, Derivative, Known, Role};
pub use labels::Labels;
pub use names::{Names, Var};
pub use naming::{Naming, identifier, numbered};
pub use print::{print, print_block};
pub use read::read;
pub use rules::{Rule, Rules, differentiable};
pub use syntax::{
    Atom, Block, Checkpoint, Constructor, Elem, Exp, Field, FnId, Function, Kernel, Library,
    LoopKind, Nest, NodeId, NodeType, Op, Out, Param, Scheduled, Stm, Ty,
};
pub use trap::trap;
pub use walk::{Renaming, free_vars, uses};

/// A size or an index, as a polynomial. Coefficients are wider than the integers of the language,
/// so that an inequality can be derived from others without overflow.
pub type Poly = lambada_prim::Poly<Var, i128>;
