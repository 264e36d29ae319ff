//! Rules on marks. A derivative sees a function with rules only through its rule, so the function
//! depends on the arguments whose tangents the rule uses.
//!
//! ```text
//!   r : (p…, ẋ…) -> ẏ…   linear in ẋ…
//!   becomes   r→ : (p…, marks of ẋ…) -> marks of ẏ…  =  reach of r by ẋ… at 0
//! ```
//!
//! In a rule, a call of a function with rules marks all its results, because rules may call
//! functions with rules without end: the rule of `solve` calls `solve`.
//!
//! * Assumes: the rule is complete; a `vjp` rule has been transposed.
//! * Gives: a function of the library, once for each rule.

use lambada_anf::{Block, Builder, FnId, Function, Lambda, Rules};

use crate::boundary;
use crate::derived::Context;
use crate::trim::trim_first;

impl Context {
    /// The rule of a function, from tangents to tangents, on marks.
    pub(crate) fn on_marks(&mut self, id: FnId, rules: &Rules, rule: FnId) -> FnId {
        if let Some(known) = self.marks.get(&rule) {
            return *known;
        }
        let Some(g) = self.library.function(rule).cloned() else {
            return rule; // its transposition has been refused
        };
        let new = self.new_function();
        self.marks.insert(rule, new);
        let first = self.primal(id).params.len() + self.primal(id).results.len();
        let points = self.points(id, rules, "jvp");
        // The inner context recomputes dependence for the callees of the rule, functions made by a
        // transposition included.
        let library = std::mem::take(&mut self.library);
        let mut inner = Context::new(library, self.precision, &g.body, self.request);
        (inner.reach, inner.in_rule) = (true, true);
        let function = inner.marks_of(g, first, &points);
        self.library = inner.library;
        if let Some(problem) = inner.problem {
            self.refuse(*problem);
        }
        self.complete(new, function);
        new
    }

    fn marks_of(&mut self, g: Function, first: usize, points: &[usize]) -> Function {
        let mut names = g.names.clone();
        let (fixed, linear) = g.params.split_at(first);
        let lambda = Lambda { params: linear.to_vec(), results: g.results, body: g.body };
        let lambda = self.prepared(&mut names, &lambda, None);
        let forward = boundary::forward(self, &mut names, &lambda);
        let mut b = Builder::new(&mut names);
        let zeros = self.zeros(&mut b, (fixed, linear), points);
        let mut body = forward.body;
        zeros.apply(&mut body);
        let mut stms = b.stms;
        stms.extend(body.stms);
        let results = body.results.split_off(lambda.results.len());
        let mut body = Block { stms, results };
        trim_first(&mut body, &[]);
        let marks = &forward.params[linear.len()..];
        Function {
            name: format!("{}_marks", g.name),
            params: fixed.iter().chain(marks).cloned().collect(),
            results: forward.results[lambda.results.len()..].to_vec(),
            body,
            names,
            ..Function::default()
        }
    }
}
