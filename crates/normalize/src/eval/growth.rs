//! Limits of inlining. Every call is written out, so a short program can stand for more code than
//! any computer could hold: each `twice` squares what the one before it does. What becomes too
//! large is found while it grows, and the message says which function is called so often.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_source::Problem;

use crate::messages;
use crate::val::{Code, CodeKind, Val};
use crate::{Eval, lambdas};

/// The most statements that a definition may consist of when all calls are written out.
pub(crate) const STATEMENTS: usize = 1_000_000;

/// The most calls that may be written out, also where nothing is left of them.
pub(crate) const CALLS: usize = 2_000_000;

/// How deep calls may be nested.
pub(crate) const DEPTH: usize = 20_000;

/// What has been written out.
#[derive(Debug, Default)]
pub(super) struct Growth {
    calls: usize,
    depth: usize,
    /// By the variable of a λ: the name of the function that it is part of, a number.
    names: HashMap<u32, usize>,
    /// By that number: the name, and how often the function has been called.
    called: Vec<(Rc<str>, usize)>,
}

impl Growth {
    /// The name of a function, unless it has one. All that it takes one after the other belongs to
    /// it.
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

    /// A call is about to be written out, after so many statements.
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

    /// There are more functions than this.
    pub fn too_many(&self, functions: usize) -> Box<Problem> {
        Box::new(messages::too_large("functions", functions, self.most()))
    }

    /// How many calls are around.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The calls inside have been undone.
    pub fn return_to(&mut self, depth: usize) {
        self.depth = depth;
    }

    /// The call has been written out.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// The function that is called most, and how often; of equal counts, the one that was named
    /// first.
    fn most(&self) -> Option<(&str, usize)> {
        self.called
            .iter()
            .rev()
            .max_by_key(|(_, count)| *count)
            .map(|(name, count)| (&**name, *count))
    }
}
