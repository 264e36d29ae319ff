//! Erratum E26: the macros that do not blow up. They give `<primal, linear function>` once, under
//! `let`s.
//!
//! The pair category makes it right: each clause computes `<D(t)_1, D(t)_2>`, with `t_1` named
//! instead of substituted. Sharing leaves one cost: in reverse, a call of a closure runs the
//! pullback of its body twice, once for the argument and once for the captured variables.
//! `closures` removes it.

mod forward;
mod reverse;

pub use forward::forward;
pub use reverse::reverse;

use crate::applied::{Term, Ty};
use crate::source;

/// Whether `let x = t in s` is a construct of its own, or the call of a closure that it abbreviates
/// (S-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lets {
    /// A construct: its body's linear function takes or gives the tangents or cotangents of `x` and
    /// of the context together, and runs once.
    Primitive,
    /// As the paper has it.
    Encoded,
}

/// The variables in scope, each with its primal, outermost first.
#[derive(Clone)]
struct Context {
    vars: Vec<(source::Var, Term)>,
    lets: Lets,
}

impl Context {
    fn with(&self, x: &source::Var, primal: Term) -> Context {
        let mut inside = self.clone();
        inside.vars.push((x.clone(), primal));
        inside
    }

    fn primal(&self, x: &source::Var) -> Term {
        let found = self.vars.iter().rfind(|(y, _)| x == y);
        found.unwrap_or_else(|| panic!("{} is not in scope", x.hint)).1.clone()
    }
}

/// D→ of a term under several variables, each with its primal; `let` is a construct.
pub(crate) fn forward_under(scope: &[(source::Var, Term)], t: &source::Term) -> Term {
    Context { vars: scope.to_vec(), lets: Lets::Primitive }.push(t)
}

/// D← of a term under several variables, each with its primal; `let` is a construct.
pub(crate) fn reverse_under(scope: &[(source::Var, Term)], t: &source::Term) -> Term {
    Context { vars: scope.to_vec(), lets: Lets::Primitive }.pull(t)
}

/// `D(Γ)_2`, a product that nests to the left, from `D(-)_2`.
fn product(vars: &[(source::Var, Term)], second: fn(&source::Ty) -> Ty) -> Ty {
    vars.iter().map(|(x, _)| second(&x.ty)).reduce(Ty::times).unwrap_or(Ty::Unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::applied::{Var, check, eval};
    use crate::combinators::of_term;
    use crate::generate::Generator;
    use crate::literal::Applied;
    use crate::value::Value;
    use crate::{closures, var::Env};

    fn run((x, t): &(Var, Term), at: &Value, v: &Value) -> (Value, Value) {
        check(std::slice::from_ref(x), t).unwrap();
        let both = eval(t, &Env::default().with(x, at.clone()));
        (both.fst(), both.snd().linear().lapp(v))
    }

    #[track_caller]
    fn same(found: (Value, Value), expect: &(Value, Value), t: &source::Term) {
        assert_eq!(found.0.flatten(), expect.0.flatten(), "{t}");
        let pairs = found.1.flatten().unwrap().into_iter().zip(expect.1.flatten().unwrap());
        pairs.for_each(|(a, b)| {
            assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{a} and {b}: {t}")
        });
    }

    /// E26: literal, shared and closure-converted agree, in both modes.
    #[test]
    fn agreement() {
        for seed in 0..1000 {
            let mut g = Generator::new(seed);
            let (x, t) = g.program();
            let (at, v, w) = (g.value(&x.ty), g.value(&x.ty), g.value(t.ty()));
            let [push, pull] = Applied::both(&of_term(&x, &t));
            let (pushed, pulled) =
                ((push.first(&at), push.second(&at, &v)), (pull.first(&at), pull.second(&at, &w)));
            for lets in [Lets::Primitive, Lets::Encoded] {
                same(run(&forward(&x, &t, lets), &at, &v), &pushed, &t);
                same(run(&reverse(&x, &t, lets), &at, &w), &pulled, &t);
            }
            same(closures::reverse(&x, &t, &at, &w), &pulled, &t);
        }
    }
}
