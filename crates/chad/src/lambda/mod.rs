//! §3: the simply typed λ-calculus with products over `real^n`, once for the three languages.
//!
//! It is the whole source language, and a part of both target languages: a [`Language`] declares
//! its own types and constructs. Binding, substitution, typing, meaning, normal forms and printing
//! of the common part are written here.

mod check;
mod equations;
mod eval;
mod normalize;
mod primal;
mod print;
mod term;
mod tidy;
mod translate;
mod ty;

use std::fmt::Debug;

pub use check::check;
pub(crate) use check::{infer, same};
pub use equations::{Equation, Instance, equations};
pub use eval::{Meaning, eval};
pub use normalize::{Normal, Sem, normalize};
pub(crate) use normalize::{eval as eval_sem, reflect, reify};
pub use primal::primal_prim;
pub(crate) use primal::{component, points};
pub use print::Node;
pub(crate) use print::{t, ty_text};
pub use term::*;
pub(crate) use tidy::{half, half_name, projected};
pub(crate) use translate::Translation;
pub use ty::{REAL, Ty, of_source_ty};

use crate::print::Look;
use crate::value::Value;
use crate::var::Env;

/// A variable.
pub type Var<L> = crate::var::Var<Ty<L>>;

/// The types and constructs that a language adds to the λ-calculus.
pub trait Language: Copy + Debug + Ord + 'static {
    /// Types.
    type Ty: OwnTy;
    /// Constructs.
    type Own: Construct<Self>;
    /// Linear terms, which are parts of its constructs.
    type Lin: LinearTerm<Self>;
}

/// Types that only one language has.
pub trait OwnTy: Clone + Debug + Ord + 'static {
    /// As it is printed. Levels: 0 anything, 1 no arrow, 2 neither arrow nor product.
    fn text(&self, level: u8) -> String;
}

/// Constructs that only one language has. They bind no Cartesian variables of their own.
pub trait Construct<L: Language>: Clone + Debug + Ord + 'static {
    /// The immediate parts.
    fn parts(&self) -> Parts<'_, L>;
    /// Replaces the parts, by parts of the same types.
    fn map(&self, to: &mut dyn Rewrite<L>) -> Self;
    /// The typing rule, for a term that says it has this type: `0`, `lid`, … have many.
    fn infer(&self, context: &mut Vec<Var<L>>, ty: &Ty<L>) -> Result<Ty<L>, String>;
    /// The meaning, for a term of this type.
    fn eval(&self, env: &Env<Value>, ty: &Ty<L>) -> Value;
    /// Its notation.
    fn look(&self) -> Look<Node<L>>;
}

/// Terms of a linear judgement.
pub trait LinearTerm<L: Language>: Clone + Debug + Ord + 'static {
    /// The immediate parts.
    fn parts(&self) -> Parts<'_, L>;
    /// Replaces Cartesian variables by terms.
    fn replace(&self, terms: &Substitution<L>) -> Self;
    /// The identity of the node in memory.
    fn node(&self) -> usize;
    /// Its types, for printing.
    fn typing(&self) -> String;
    /// Its notation.
    fn look(&self) -> Look<Node<L>>;
}

/// Cartesian and linear parts of a term.
pub type Parts<'a, L> = (Vec<&'a Term<L>>, Vec<&'a <L as Language>::Lin>);

/// A rewriting of the parts of a term.
pub trait Rewrite<L: Language> {
    /// For a Cartesian one.
    fn term(&mut self, t: &Term<L>) -> Term<L>;
    /// For a linear one.
    fn linear(&mut self, l: &L::Lin) -> L::Lin;
}

/// Where there are no linear terms.
impl<L: Language<Lin = Never>, F: FnMut(&Term<L>) -> Term<L>> Rewrite<L> for F {
    fn term(&mut self, t: &Term<L>) -> Term<L> {
        self(t)
    }

    fn linear(&mut self, l: &Never) -> Never {
        *l
    }
}

/// The source language: nothing beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {}

impl Language for Source {
    type Ty = Never;
    type Own = Never;
    type Lin = Never;
}

/// The empty type, for a language without types, constructs or linear terms of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Never {}

impl OwnTy for Never {
    fn text(&self, _: u8) -> String {
        match *self {}
    }
}

impl<L: Language> Construct<L> for Never {
    fn parts(&self) -> Parts<'_, L> {
        match *self {}
    }
    fn map(&self, _: &mut dyn Rewrite<L>) -> Never {
        *self
    }
    fn infer(&self, _: &mut Vec<Var<L>>, _: &Ty<L>) -> Result<Ty<L>, String> {
        match *self {}
    }
    fn eval(&self, _: &Env<Value>, _: &Ty<L>) -> Value {
        match *self {}
    }
    fn look(&self) -> Look<Node<L>> {
        match *self {}
    }
}

impl<L: Language> LinearTerm<L> for Never {
    fn parts(&self) -> Parts<'_, L> {
        match *self {}
    }
    fn replace(&self, _: &Substitution<L>) -> Never {
        *self
    }
    fn node(&self) -> usize {
        match *self {}
    }
    fn typing(&self) -> String {
        match *self {}
    }
    fn look(&self) -> Look<Node<L>> {
        match *self {}
    }
}
