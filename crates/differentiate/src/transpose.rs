//! The mode for which a function has no rule, from the rule that it has: a linear map, transposed.
//!
//! ```text
//!   r : (p…, d…) -> e…   linear in d…   becomes   rᵀ : (p…, ē…) -> d̄…  =  the pullback of r at d = 0
//! ```
//!
//! * Assumes: the rule is complete. Whether it is linear is decided by [`crate::linear`].
//! * Gives: a function of the library, once for each rule; while it is being made it can be called.

use lambada_anf::{Atom, Block, Builder, FnId, Function, Lambda, Renaming, Reverse, Rule};

use crate::boundary;
use crate::derived::Context;
use crate::linear::fault;
use crate::messages;
use crate::trim::trim_first;

impl Context {
    /// The transpose of the given rule, `jvp` or `vjp`, of a function.
    pub(crate) fn transposed(&mut self, id: FnId, rule: &Rule, given: &'static str) -> FnId {
        if let Some(known) = self.transposes.get(&rule.function) {
            return *known;
        }
        let new = self.new_function();
        self.transposes.insert(rule.function, new);
        let f = self.primal(id).clone();
        let first = f.params.len() + f.results.len();
        let g = self.primal(rule.function).clone();
        if let Some(place) = fault(&self.library, &g, first) {
            let missing = if given == "jvp" { "vjp" } else { "jvp" };
            let problem = messages::not_linear(&f.name, rule.span, given, missing, place);
            self.refuse(problem);
        }
        let points = f.rules.map_or_else(Vec::new, |rules| self.points(id, &rules, given));
        let function = self.transpose(g, first, &points);
        self.complete(new, function);
        new
    }

    fn transpose(&mut self, g: Function, first: usize, points: &[usize]) -> Function {
        let mut names = g.names.clone();
        let (fixed, linear) = g.params.split_at(first);
        let lambda = Lambda { params: linear.to_vec(), results: g.results, body: g.body };
        let lambda = (self.prepare)(&self.library, &mut names, &lambda);
        let Reverse { forward, pullback, .. } = boundary::reverse(self, &mut names, &lambda);
        let mut b = Builder::new(&mut names);
        let mut zeros = Renaming::new();
        for (p, point) in linear.iter().zip(points) {
            let of: Atom = fixed[*point].var.into();
            let zero = self.zero_of(&mut b, &p.ty, of);
            zeros.insert(p.var, zero);
        }
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
