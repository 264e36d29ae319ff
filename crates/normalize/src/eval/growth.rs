//! Limits of inlining. Every call is inlined, so a short program can stand for more code than any
//! computer can hold: each `twice` squares the effect of the one before. Excess is detected during
//! growth, and the message names the function that is called most.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_source::Problem;

use crate::messages;
use crate::val::{Code, CodeKind, Val};
use crate::{Eval, lambdas};

/// Maximal number of statements of a definition with all calls inlined.
pub(crate) const STATEMENTS: usize = 1_000_000;

/// Maximal number of inlined calls, even if no code remains of them.
pub(crate) const CALLS: usize = 2_000_000;

/// Maximal nesting depth of calls.
pub(crate) const DEPTH: usize = 20_000;

/// The inlined calls so far.
#[derive(Debug, Default)]
pub(super) struct Growth {
    calls: usize,
    depth: usize,
    /// By the variable of a λ: the number of its function's name.
    names: HashMap<u32, usize>,
    /// By that number: the name, and the number of calls.
    called: Vec<(Rc<str>, usize)>,
}

impl Growth {
    /// Names a function that has no name yet, with all its curried parameters.
    pub fn name(&mut self, value: &Val, name: &Rc<str>) {
        let Val::Fun(fun) = value else { return };
        let Some(CodeKind::Lambda { var, body, .. }) = fun.known().map(|c| &c.code.kind) else {
            return;
        };
        if self.names.contains_key(&var.id) {
            return;
        }
        let number = self.called.len();
        self.called.push((name.clone(), 0));
        self.names.insert(var.id, number);
        self.names.extend(lambdas(body).0.into_iter().map(|var| (var.id, number)));
    }

    /// Enters an inlined call; `statements` have been written before it.
    pub fn enter(&mut self, code: &Code, statements: usize) -> Eval<()> {
        self.calls += 1;
        self.depth += 1;
        if let CodeKind::Lambda { var, .. } = &code.kind
            && let Some(number) = self.names.get(&var.id)
        {
            self.called[*number].1 += 1;
        }
        if self.depth > DEPTH {
            return Err(Box::new(messages::too_deep(DEPTH, self.most())));
        }
        if statements > STATEMENTS {
            return Err(Box::new(messages::too_large("statements", STATEMENTS, self.most())));
        }
        if self.calls > CALLS {
            return Err(Box::new(messages::too_large("calls", CALLS, self.most())));
        }
        Ok(())
    }

    /// The problem of more than this number of functions.
    pub fn too_many(&self, functions: usize) -> Box<Problem> {
        Box::new(messages::too_large("functions", functions, self.most()))
    }

    /// The number of enclosing calls.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Undoes the calls inside.
    pub fn return_to(&mut self, depth: usize) {
        self.depth = depth;
    }

    /// Leaves an inlined call.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// The most called function, and its number of calls; among equals, the one named first.
    fn most(&self) -> Option<(&str, usize)> {
        self.called
            .iter()
            .rev()
            .max_by_key(|(_, count)| *count)
            .map(|(name, count)| (&**name, *count))
    }
}
