//! The missing rule of a function, by transposition of the linear map that its other rule is.
//!
//! ```text
//!   r : (p…, d…) -> e…   linear in d…
//!   becomes   rᵀ : (p…, ē…) -> d̄…  =  the pullback of r at d = 0
//! ```
//!
//! * Assumes: the rule is complete. [`crate::linear`] decides whether it is linear.
//! * Gives: a function of the library, once for each rule. If a rule applies its own function to
//!   linear arguments, its transpose would call itself without end unless the function is
//!   recursive. So such a rule is refused, and so are rules that apply each other's functions.

use lambada_anf::{Block, Builder, FnId, Function, Lambda, Reverse, Rule};

use crate::boundary;
use crate::derived::Context;
use crate::linear::linearity;
use crate::messages;
use crate::trim::trim_first;

/// The name of the missing rule, from that of the existing one.
fn missing(given: &str) -> &'static str {
    if given == "jvp" { "vjp" } else { "jvp" }
}

impl Context {
    /// The transpose of the rule named `given`, `jvp` or `vjp`, of a function.
    pub(crate) fn transposed(&mut self, id: FnId, rule: &Rule, given: &'static str) -> FnId {
        let f = self.primal(id).clone();
        let without_end = messages::without_end(&f.name, rule.span, given, missing(given));
        if let Some(known) = self.transposes.get(&rule.function).copied() {
            if self.transposing.contains(&rule.function) {
                self.refuse(without_end);
            }
            return known;
        }
        let new = self.new_function();
        self.transposes.insert(rule.function, new);
        let first = f.params.len() + f.results.len();
        let g = self.primal(rule.function).clone();
        let linearity = linearity(&self.library, &g, first);
        if let Some(place) = linearity.fault {
            let problem = messages::not_linear(&f.name, rule.span, given, missing(given), place);
            self.refuse(problem);
        } else if linearity.applied.contains(&id) {
            self.refuse(without_end);
        }
        let points = f.rules.map_or_else(Vec::new, |rules| self.points(id, &rules, given));
        // The queue of functions to derive is no part of the rule, though it may apply the
        // function.
        let waiting = std::mem::take(&mut self.queue);
        self.transposing.push(rule.function);
        let function = self.transpose(g, first, &points);
        self.transposing.pop();
        self.queue = waiting;
        self.complete(new, function);
        new
    }

    fn transpose(&mut self, g: Function, first: usize, points: &[usize]) -> Function {
        let mut names = g.names.clone();
        let (fixed, linear) = g.params.split_at(first);
        let lambda = Lambda { params: linear.to_vec(), results: g.results, body: g.body };
        let lambda = self.prepared(&mut names, &lambda, None);
        let Reverse { forward, pullback, .. } = boundary::reverse(self, &mut names, &lambda);
        let mut b = Builder::new(&mut names);
        let zeros = self.zeros(&mut b, (fixed, linear), points);
        let (mut first, mut second) = (forward.body, pullback.body);
        zeros.apply(&mut first);
        zeros.apply(&mut second);
        let mut stms = b.stms;
        stms.extend(first.stms);
        stms.extend(second.stms);
        let mut body = Block { stms, results: second.results };
        trim_first(&mut body, &[]);
        Function {
            name: format!("{}_transposed", g.name),
            params: fixed.iter().cloned().chain(pullback.params).collect(),
            results: linear.iter().map(|p| p.ty.clone()).collect(),
            body,
            names,
            ..Function::default()
        }
    }
}
