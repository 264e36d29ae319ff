//! core → anf: a partial evaluator in which every function is a static closure, so that β happens
//! before differentiation.
//!
//! ```text
//! ρ ⊢ t ⇓ v      t : τ in core,  v : a symbolic value of type τ
//! ```
//!
//! The evaluator emits the code for the leaves of `v` on the way.
//!
//! * *Assumes* a well-typed core program.
//! * *Gives* first-order code: no functions, no tuples; every array is an array of scalars,
//!   regular, with named sizes. Functions are inlined; where control flow joins several closures,
//!   the code has a tag and the union of their environments. Recursive functions are functions of
//!   the library; values of recursive types and functions that only run time knows are nodes.
//! * *Keeps* values and failures: only evident checks are dropped, and no check runs that the
//!   program would not have run.

mod alpha;
mod counts;
mod emit;
mod entry;
mod eval;
mod facts;
mod guards;
mod hoist;
mod join;
mod known;
mod layout;
mod lifted;
mod merge;
mod messages;
mod polys;
mod prims;
mod rehearsal;
mod repeated;
mod shape;
mod sketch;
mod tail;
mod types;
mod val;

pub use entry::{Inspection, Layouts, Normalized, layouts, normalize, normalize_for_source};
pub use known::with_known;
pub use layout::Layout;
pub use messages::is_circle;
pub use shape::{Constructor, LeafLayout, Shape, Table};

use lambada_core::{Term, TermKind, Var};

/// The result of a step that may find the program impossible to compile.
type Eval<T> = Result<T, Box<lambada_source::Problem>>;

/// The problem of values that core's checker excludes.
fn ill_typed() -> Box<lambada_source::Problem> {
    Box::new(messages::ill_typed())
}

/// The curried parameters of a function, and its body after them.
fn lambdas(term: &Term) -> (Vec<&Var>, &Term) {
    let (mut params, mut body) = (Vec::new(), term);
    while let TermKind::Lam(var, inner) = body.kind() {
        params.push(var);
        body = inner;
    }
    (params, body)
}

/// The first parameters of a function, and its body after these.
fn taken<'t>(var: &'t Var, body: &'t Term, count: usize) -> (Vec<&'t Var>, &'t Term) {
    let (mut vars, mut body) = (vec![var], body);
    while vars.len() < count
        && let TermKind::Lam(var, inner) = body.kind()
    {
        vars.push(var);
        body = inner;
    }
    (vars, body)
}
