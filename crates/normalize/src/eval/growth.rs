//! Limits of inlining. Every call is written out, so a short program can stand for more code than any computer could hold: each `twice` squares
//! what the one before it does. What becomes too large is found while it grows, and the message says which function is called so often.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_core::TermKind;
use lambada_source::Problem;

use crate::Eval;
use crate::val::{Code, CodeKind, Val};

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
    /// The name of a function, unless it has one. All that it takes one after the other belongs to it.
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
        let mut body = body;
        while let TermKind::Lam(var, inner) = body.kind() {
            self.names.insert(var.id, number);
            body = inner;
        }
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
            return Err(Box::new(self.too_deep()));
        }
        if statements > STATEMENTS {
            return Err(Box::new(self.too_large("statements", STATEMENTS)));
        }
        if self.calls > CALLS {
            return Err(Box::new(self.too_large("calls", CALLS)));
        }
        Ok(())
    }

    /// The call has been written out.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    fn too_deep(&self) -> Problem {
        let title =
            format!("calls are nested too deeply: more than {} inside each other", grouped(DEPTH));
        self.explained(Problem::general("E0506", title))
    }

    fn too_large(&self, what: &str, limit: usize) -> Problem {
        let title = format!(
            "the program is too large: more than {} {what}, when all calls are written out",
            grouped(limit)
        );
        self.explained(Problem::general("E0505", title))
    }

    /// Which function it is that is called so often, and what to do.
    fn explained(&self, problem: Problem) -> Problem {
        // of equal counts, the function that was named first
        let problem = match self.called.iter().rev().max_by_key(|(_, count)| *count) {
            Some((name, count)) => problem.hint(format!(
                "the function that is called most is `{name}`: {} times before this",
                grouped(*count)
            )),
            None => problem,
        };
        problem
            .hint("a `loop` applies a function many times, and its body is written out once")
            .hint("`--engine core` runs the program without compiling it")
    }
}

/// With a space between groups of three digits.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}
