//! Erratum E26: the macro that does not blow up. It gives `<primal, pullback>` once, under `let`s (theory-to-practice §3.1).
//!
//! D←: `Γ ⊢ t : T` becomes `D←(Γ)_1 ⊢ D[t] : D←(T)_1 * LFun(D←(T)_2, D←(Γ)_2)`, where `D←(Γ)_2` is a product that nests to the left.
//!
//! The pair category makes it right: `<D←(t)_1, D←(t)_2>` is what each clause computes, with `t_1` named instead of substituted. What sharing
//! does not cure is that a call of a closure runs the pullback of its body twice, once for the argument and once for the captured variables;
//! for that, see `closures`.

use crate::applied::*;
use crate::applied_reverse::{cotangent_ty, primal_ty, reverse_op};
use crate::op::Op;
use crate::source::{self, Kind as Source};

/// Is `let x = t in s` a construct of its own, or the call of a closure that it abbreviates (S-9)?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lets {
    /// Its body's pullback gives the cotangents of `x` and of the context together, and runs once.
    Primitive,
    /// As the paper has it.
    Encoded,
}

/// `x : T ⊢ t : S` as `x : D←(T)_1 ⊢ D[t] : D←(S)_1 * LFun(D←(S)_2, D←(T)_2)`.
pub fn reverse(x: &source::Var, t: &source::Term, lets: Lets) -> (Var, Term) {
    let y = Var::fresh(&x.hint, primal_ty(&x.ty));
    let context = Context { vars: vec![(x.clone(), var(&y))], lets };
    let t = context.derive(t);
    (y, t)
}

/// The variables in scope, each with its primal, outermost first.
#[derive(Clone)]
struct Context {
    vars: Vec<(source::Var, Term)>,
    lets: Lets,
}

impl Context {
    /// `D←(Γ)_2`
    fn ty(&self) -> Ty {
        product(&self.vars)
    }

    fn with(&self, x: &source::Var, primal: Term) -> Context {
        let mut inside = self.clone();
        inside.vars.push((x.clone(), primal));
        inside
    }

    fn derive(&self, t: &source::Term) -> Term {
        match t.kind() {
            Source::Var(x) => pair(self.primal(x), one_hot(&self.vars, x)),
            Source::Op(o @ Op::Const(_), _) => pair(op(o.clone(), unit()), zero(Ty::Real(o.cod()).lfun(self.ty()))),
            Source::Op(o, t) => let_("a", self.derive(t), |a| {
                let pullback = lthen(reverse_op(o, &fst(a.clone())), snd(a.clone()));
                pair(op(o.clone(), fst(a)), pullback)
            }),
            Source::Prim(p, t) => let_("a", self.derive(t), |a| {
                let_("x", fst(a.clone()), |x| {
                    let_("r", primal_prim(*p, &x), |r| pair(r.clone(), lthen(reverse_prim_from(*p, &x, &r), snd(a))))
                })
            }),
            Source::Unit => pair(unit(), zero(Ty::Unit.lfun(self.ty()))),
            Source::Pair(t, s) => let_("a", self.derive(t), |a| {
                let_("b", self.derive(s), |b| {
                    let (ta, tb) = (cotangent_ty(t.ty()), cotangent_ty(s.ty()));
                    let left = lthen(lfst(ta.clone(), tb.clone()), snd(a.clone()));
                    let right = lthen(lsnd(ta, tb), snd(b.clone()));
                    pair(pair(fst(a), fst(b)), plus(left, right))
                })
            }),
            Source::Fst(t) => let_("a", self.derive(t), |a| {
                let (b, c) = parts(t.ty());
                pair(fst(fst(a.clone())), lthen(lpair(lid(b.clone()), zero(b.lfun(c))), snd(a)))
            }),
            Source::Snd(t) => let_("a", self.derive(t), |a| {
                let (b, c) = parts(t.ty());
                pair(snd(fst(a.clone())), lthen(lpair(zero(c.clone().lfun(b)), lid(c)), snd(a)))
            }),
            Source::Lam(x, t) => self.lambda(x, t),
            Source::App(f, s) => {
                if let (Source::Lam(x, t), Lets::Primitive) = (f.kind(), self.lets) {
                    self.let_in(x, s, t)
                } else {
                    self.call(f, s)
                }
            }
        }
    }

    fn primal(&self, x: &source::Var) -> Term {
        let found = self.vars.iter().rfind(|(y, _)| x == y);
        found.unwrap_or_else(|| panic!("{} is not in scope", x.hint)).1.clone()
    }

    /// `let f = \y. D[t] in <\y. let r = f y in <fst r, snd r;;lsnd>, lcur^-1 (\y. snd (f y);;lfst)>`
    fn lambda(&self, x: &source::Var, t: &source::Term) -> Term {
        let y = Var::fresh(&x.hint, primal_ty(&x.ty));
        let body = self.with(x, var(&y)).derive(t);
        let (context, argument) = (self.ty(), cotangent_ty(&x.ty));
        let_("f", abs(y.clone(), body), |f| {
            let first = lam("y", y.ty.clone(), |y| {
                let_("r", app(f.clone(), y), |r| pair(fst(r.clone()), lthen(snd(r), lsnd(context.clone(), argument.clone()))))
            });
            let second = lam("y", y.ty.clone(), |y| lthen(snd(app(f.clone(), y)), lfst(context.clone(), argument.clone())));
            pair(first, lcur_inv(second))
        })
    }

    /// `let a = D[s] in let r = D[t] in <fst r, snd r;;(lfst + lsnd;;snd a)>`
    fn let_in(&self, x: &source::Var, s: &source::Term, t: &source::Term) -> Term {
        let_("a", self.derive(s), |a| {
            let_(&x.hint, fst(a.clone()), |y| {
                let_("r", self.with(x, y).derive(t), |r| {
                    let (context, argument) = (self.ty(), cotangent_ty(&x.ty));
                    let rest = plus(lfst(context.clone(), argument.clone()), lthen(lsnd(context, argument), snd(a)));
                    pair(fst(r.clone()), lthen(snd(r), rest))
                })
            })
        })
    }

    /// `let f = D[t] in let a = D[s] in let r = fst f (fst a) in <fst r, snd r;;snd a + {(fst a,-)};;snd f>`
    fn call(&self, t: &source::Term, s: &source::Term) -> Term {
        let_("f", self.derive(t), |f| {
            let_("a", self.derive(s), |a| {
                let_("r", app(fst(f.clone()), fst(a.clone())), |r| {
                    let result = snd(r.clone()).ty().ends().0;
                    let captured = lthen(singleton(fst(a.clone()), result), snd(f));
                    pair(fst(r.clone()), plus(lthen(snd(r), snd(a)), captured))
                })
            })
        })
    }
}

fn parts(ty: &source::Ty) -> (Ty, Ty) {
    cotangent_ty(ty).components()
}

fn product(vars: &[(source::Var, Term)]) -> Ty {
    vars.iter().map(|(x, _)| cotangent_ty(&x.ty)).reduce(Ty::times).unwrap_or(Ty::Unit)
}

/// `\w. <0, .., w, .., 0>`, with `w` in the place of `x`.
fn one_hot(vars: &[(source::Var, Term)], x: &source::Var) -> Term {
    let w = cotangent_ty(&x.ty);
    let Some(((last, _), outer)) = vars.split_last() else { panic!("{} is not in scope", x.hint) };
    match (outer.is_empty(), last == x) {
        (true, _) => lid(w),
        (false, true) => lpair(zero(w.clone().lfun(product(outer))), lid(w)),
        (false, false) => lpair(one_hot(outer, x), zero(w.lfun(cotangent_ty(&last.ty)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::applied_reverse;
    use crate::combinators::{Comb, of_term};
    use crate::generate::Generator;
    use crate::value::{Value, counting};
    use crate::{closures, var::Env};
    use lambada_prim::Prim;

    fn run(x: &Var, t: &Term, at: &Value, w: &Value) -> (Value, Value) {
        let both = eval(t, &Env::default().with(x, at.clone()));
        (both.fst(), both.snd().linear().lapp(w))
    }

    /// The literal macro as a pair.
    fn literal(t: &Comb) -> (Var, Term) {
        let x = Var::fresh("x", primal_ty(t.from()));
        let both = pair(applied_reverse::primal(t, &var(&x)), applied_reverse::cotangent(t, &var(&x)));
        (x, both)
    }

    /// Literal, shared and closure-converted agree.
    #[test]
    fn agreement() {
        for seed in 0..1000 {
            let mut g = Generator::new(seed);
            let (x, t) = g.program();
            let (at, w) = (g.value(&x.ty), g.value(t.ty()));
            let (y, expect) = literal(&of_term(&x, &t));
            let (value, pulled) = run(&y, &expect, &at, &w);
            let check = |first: Value, second: Value| {
                assert_eq!(first.flatten(), value.flatten(), "{t}");
                let pairs = second.flatten().unwrap().into_iter().zip(pulled.flatten().unwrap());
                pairs.for_each(|(a, b)| assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{a} and {b}: {t}"));
            };
            for lets in [Lets::Primitive, Lets::Encoded] {
                let (y, shared) = reverse(&x, &t, lets);
                check_typed(&y, &shared);
                let (first, second) = run(&y, &shared, &at, &w);
                check(first, second);
            }
            let (first, second) = closures::reverse(&x, &t, &at, &w);
            check(first, second);
        }
    }

    fn check_typed(y: &Var, t: &Term) {
        crate::applied::check(std::slice::from_ref(y), t).unwrap();
    }

    /// `let x1 = x0 * x0 in .. let xn = .. in xn`, the lets encoded.
    fn squares(n: usize) -> (source::Var, source::Term) {
        let x = source::Var::fresh("x", source::REAL);
        fn body(x: source::Term, n: usize) -> source::Term {
            let square = |x: source::Term| source::op_at(Op::Each(Prim::Mul, 1), &[x.clone(), x]);
            if n == 0 { x } else { source::let_("x", square(x), |y| body(y, n - 1)) }
        }
        (x.clone(), body(source::var(&x), n))
    }

    /// Evaluated operations: an operation counts one, so does its transposed derivative, which is two linear operations.
    fn cost(run: impl FnOnce() -> (Value, Value)) -> u64 {
        let ((value, pulled), ops, lops) = counting(run);
        assert!(value.numbers()[0].is_finite() && pulled.numbers()[0].is_finite());
        ops + lops / 2
    }

    fn costs(n: usize) -> [u64; 4] {
        let (x, t) = squares(n);
        let (at, w) = (Value::real([1.0]), Value::real([1.0]));
        let shared = |lets| {
            let (y, t) = reverse(&x, &t, lets);
            cost(|| run(&y, &t, &at, &w))
        };
        let (y, both) = literal(&of_term(&x, &t));
        let literal = cost(|| {
            let env = Env::default().with(&y, at.clone());
            let pullback = eval(&both, &env).snd();
            (at.clone(), pullback.linear().lapp(&w))
        });
        [literal, shared(Lets::Encoded), shared(Lets::Primitive), cost(|| closures::reverse(&x, &t, &at, &w))]
    }

    /// Appendix F: closure-converted, the pullback of each call of a primitive's function runs once: in a `map` below a `map`, an operation
    /// is evaluated as often as in the program, and its transposed derivative as often as that.
    #[test]
    fn nested_maps() {
        for n in [2, 4, 8] {
            let v = source::Var::fresh("v", source::Ty::Real(n));
            let total = |body: &dyn Fn(source::Term) -> source::Term| {
                let f = source::lam("x", source::REAL, body);
                source::op(Op::Sum(n), source::map(f, &[source::var(&v)]))
            };
            let t = total(&|a| total(&|b| source::op_at(Op::Each(Prim::Mul, 1), &[a.clone(), b])));
            let at = Value::real(vec![1.0; n]);
            let ((_, pulled), ops, lops) = counting(|| closures::reverse(&v, &t, &at, &Value::real([1.0])));
            assert_eq!(pulled.numbers().to_vec(), vec![2.0 * n as f64; n]);
            let (products, sums) = ((n * n) as u64, n as u64 + 1);
            assert_eq!((ops, lops), (products + sums, 2 * products + sums));
        }
    }

    /// E26: literal about 4^(n/2), shared 2^(n+1) - 2, with `let` as a construct or with closures converted 2n.
    #[test]
    fn operation_counts() {
        for n in [2, 4, 6, 8] {
            let [literal, shared, primitive, converted] = costs(n);
            println!("{n}: literal {literal}, shared {shared}, primitive lets {primitive}, closure-converted {converted}");
            assert_eq!((shared, primitive, converted), ((2 << n) - 2, 2 * n as u64, 2 * n as u64));
            assert!(literal as f64 >= 4f64.powf(n as f64 / 2.0), "{literal}");
        }
    }
}
