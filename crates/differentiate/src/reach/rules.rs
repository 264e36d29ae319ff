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

use lambada_anf::{Builder, FnId, Function, Lambda, Rules};

use crate::boundary;
use crate::derived::Context;
use crate::trim::trim_first;

/// A rule on marks: the marks that it gives.
enum Marks {
    /// Alone, at tangents of zero; the parameters with the values that these belong to.
    At(Vec<usize>),
    /// Beside the tangents.
    Beside,
}

impl Context {
    /// The rule of a function, from tangents to tangents, on marks.
    pub(crate) fn on_marks(&mut self, id: FnId, rules: &Rules, rule: FnId) -> FnId {
        let first = self.primal(id).params.len() + self.primal(id).results.len();
        let points = self.points(id, rules, "jvp");
        // Without a rule, its transposition has been refused.
        self.marked(rule, first, Marks::At(points)).unwrap_or(rule)
    }

    /// The rule with marks beside what it takes from parameter `first` on, and beside what it
    /// gives. None while the rule itself is being made.
    pub(crate) fn with_marks(&mut self, rule: FnId, first: usize) -> Option<FnId> {
        self.marked(rule, first, Marks::Beside)
    }

    fn marked(&mut self, rule: FnId, first: usize, marks: Marks) -> Option<FnId> {
        let beside = matches!(marks, Marks::Beside);
        if let Some(known) = self.marks.get(&(rule, beside)) {
            return Some(*known);
        }
        let g = self.library.function(rule).cloned()?;
        let new = self.new_function();
        self.marks.insert((rule, beside), new);
        // The inner context recomputes dependence for the callees of the rule, functions made by a
        // transposition included.
        let library = std::mem::take(&mut self.library);
        let mut inner = Context::new(library, self.precision, &g.body, self.request);
        (inner.reach, inner.in_rule) = (true, true);
        let function = inner.marks_of(g, first, &marks);
        self.library = inner.library;
        if let Some(problem) = inner.problem {
            self.refuse(*problem);
        }
        self.complete(new, function);
        Some(new)
    }

    fn marks_of(&mut self, g: Function, first: usize, with: &Marks) -> Function {
        let mut names = g.names.clone();
        let (fixed, linear) = g.params.split_at(first);
        let lambda = Lambda { params: linear.to_vec(), results: g.results, body: g.body };
        let lambda = self.prepared(&mut names, &lambda, None);
        let forward = boundary::forward(self, &mut names, &lambda);
        let (mut body, mut results) = (forward.body, forward.results);
        let mut params = [fixed, &forward.params].concat();
        if let Marks::At(points) = with {
            let mut b = Builder::new(&mut names);
            let zeros = self.zeros(&mut b, (fixed, linear), points);
            zeros.apply(&mut body);
            body.stms.splice(..0, b.stms);
            body.results.drain(..lambda.results.len());
            results.drain(..lambda.results.len());
            params.drain(first..g.params.len());
            trim_first(&mut body, &[]);
        }
        let name = format!("{}_marks", g.name);
        Function { name, params, results, body, names, ..Function::default() }
    }
}
