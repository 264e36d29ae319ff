//! The lines of a block being printed.

use std::rc::Rc;

use lambada_anf::Var;
use lambada_surface::ast::{Expr, Pattern};
use lambada_surface::build;

/// A line of a block.
pub(crate) enum Line {
    /// `let pattern = value`; `vars` if the pattern consists of exactly these variables.
    Let { comment: Option<Rc<str>>, pattern: Pattern, value: Expr, vars: Vec<Var> },
    /// An expression of type `()`, or an array of units if `unit` is false.
    Effect { value: Expr, unit: bool },
}

impl Line {
    /// `let name = value`
    pub(crate) fn named(name: &Rc<str>, value: Expr, var: Option<Var>) -> Line {
        let vars = var.into_iter().collect();
        Line::Let { comment: None, pattern: build::binds(name.clone()), value, vars }
    }

    /// `let (a, b) = value`; `vars` if the pattern consists of exactly these variables.
    pub(crate) fn several(names: Vec<Rc<str>>, value: Expr, vars: Vec<Var>) -> Line {
        let pattern = build::tuple_pattern(names.into_iter().map(build::binds).collect());
        Line::Let { comment: None, pattern, value, vars }
    }
}
