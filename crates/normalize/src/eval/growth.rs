//! Limits of inlining. Every call is written out, so a short program can stand for more code than any computer could hold: each `twice` squares
//! what the one before it does. What becomes too large is found while it grows, and the message says which function is called so often.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_source::Problem;

use crate::Eval;
use crate::val::{Code, Val};

/// The most statements that a definition may consist of when all calls are written out.
pub(crate) const STATEMENTS: usize = 1_000_000;

/// The most calls that may be written out, also where nothing is left of them.
pub(crate) const CALLS: usize = 5_000_000;

/// How deep calls may be nested.
pub(crate) const DEPTH: usize = 20_000;

/// What has been written out.
#[derive(Debug, Default)]
pub(super) struct Growth {
    calls: usize,
    depth: usize,
    /// By the number of a function's code: its name, and how often it has been called.
    names: HashMap<i64, Rc<str>>,
    counts: HashMap<i64, usize>,
}

impl Growth {
    /// The name of a function, unless it has one.
    pub fn name(&mut self, value: &Val, name: &Rc<str>) {
        if let Val::Fun(fun) = value
            && let Some(closure) = fun.known()
        {
            self.names.entry(closure.code.number).or_insert_with(|| name.clone());
        }
    }

    /// A call is about to be written out, after so many statements.
    pub fn enter(&mut self, code: &Rc<Code>, statements: usize) -> Eval<()> {
        self.calls += 1;
        self.depth += 1;
        *self.counts.entry(code.number).or_default() += 1;
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
        let title = format!("calls are nested too deeply: more than {} inside each other", grouped(DEPTH));
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
        let named = self.counts.iter().filter(|(code, _)| self.names.contains_key(code));
        // of equal counts, the function that came first
        let most = named.max_by_key(|(code, count)| (**count, -**code));
        let problem = match most {
            Some((code, count)) => problem.hint(format!(
                "the function that is called most is `{}`: {} times before this",
                self.names[code],
                grouped(*count)
            )),
            None => problem,
        };
        problem.hint("a `loop` applies a function many times, and its body is written out once")
            .hint("`--engine core` runs the program without compiling it")
    }
}

/// With a space between groups of three digits.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k) % 3 == 0 {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}
