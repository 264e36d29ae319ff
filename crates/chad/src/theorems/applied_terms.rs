//! Random well-typed terms of the applied target language: every construct of A-1 … A-13 at every
//! type, `0` and `+` included. The image of `†` is a part of it.

use super::linear_terms::Constructs;
use crate::applied::*;
use crate::generate::Generator;
use crate::linear::of_source_ty;
use crate::linfun::zero as zero_value;
use crate::op::Op;
use crate::primitives::LPrim;
use crate::value::Value;
use crate::var::Env;
use lambada_prim::Prim;

impl Generator {
    /// A type of at most this order: function types of all three kinds count.
    pub(crate) fn applied_ty(&mut self, order: usize) -> Ty {
        match self.below(if order == 0 { 7 } else { 13 }) {
            0..4 => Ty::Real(1),
            4 => Ty::Real(2),
            5 if self.below(3) == 0 => Ty::Unit,
            5 => Ty::Real(1),
            6 => self.applied_ty(order.min(1)).times(self.applied_ty(0)),
            7 | 8 => self.applied_ty(order - 1).to(self.applied_ty(order.min(1))),
            9 | 10 => self.applied_ty(order - 1).lfun(self.applied_ty(order - 1)),
            _ => self.applied_ty(order - 1).tens(self.applied_ty(order - 1)),
        }
    }

    /// `Γ ⊢ t : T`, of at most this many nodes, or one without fuel.
    pub(super) fn applied(&mut self, context: &[Var], ty: &Ty, size: usize) -> Term {
        let found = super::linear_terms::fuels(size)
            .map(|fuel| self.applied_term(context, ty, fuel))
            .find(|t| t.size() <= size);
        found.unwrap_or_else(|| self.applied_term(context, ty, 0))
    }

    fn applied_term(&mut self, context: &[Var], ty: &Ty, fuel: usize) -> Term {
        let fitting: Vec<&Var> = context.iter().filter(|x| x.ty == *ty).collect();
        if !fitting.is_empty() && self.below(3) == 0 {
            return var(fitting[self.below(fitting.len())]);
        }
        if fuel == 0 {
            return self.applied_intro(context, ty, 0);
        }
        let less = fuel - 1;
        match self.below(20) {
            0..9 => self.applied_intro(context, ty, less),
            9 | 10 => {
                plus(self.applied_term(context, ty, less), self.applied_term(context, ty, less))
            }
            11 if self.below(2) == 0 => zero(ty.clone()),
            11 | 12 => {
                let other = self.applied_ty(1);
                fst(self.applied_term(context, &ty.clone().times(other), less))
            }
            13 => {
                let other = self.applied_ty(1);
                snd(self.applied_term(context, &other.times(ty.clone()), less))
            }
            14..17 => {
                let from = self.applied_ty(2);
                let f = self.applied_term(context, &from.clone().to(ty.clone()), less);
                app(f, self.applied_term(context, &from, less / 2))
            }
            _ => {
                let from = self.applied_ty(2);
                let f = self.applied_term(context, &from.clone().lfun(ty.clone()), less);
                lapp(f, self.applied_term(context, &from, less / 2))
            }
        }
    }

    fn applied_intro(&mut self, context: &[Var], ty: &Ty, fuel: usize) -> Term {
        let less = fuel.saturating_sub(1);
        match ty {
            Ty::Real(n) if fuel == 0 => {
                constant((0..*n).map(|_| self.number()).collect::<Vec<_>>())
            }
            Ty::Real(n @ (1 | 2)) if self.below(2) == 0 => {
                self.applied_primitive(context, *n, less)
            }
            Ty::Real(n) => {
                let prim = [Prim::Add, Prim::Mul, Prim::Sin, Prim::Tanh][self.below(4)];
                let args =
                    prim.args().iter().map(|_| self.applied_term(context, ty, less)).reduce(pair);
                op(Op::Each(prim, *n), args.unwrap_or_else(unit))
            }
            Ty::Unit => unit(),
            Ty::Prod(a, b) => {
                pair(self.applied_term(context, a, less), self.applied_term(context, b, less))
            }
            Ty::Fun(a, b) => {
                self.applied_lambda(context, a, |g, context| g.applied_term(context, b, less))
            }
            Ty::Own(Abstract::LFun(a, b)) => self.linear_map(context, a, b, fuel),
            Ty::Own(Abstract::Tens(key, value)) => {
                let t = self.applied_term(context, key, less);
                lapp(singleton(t, (**value).clone()), self.applied_term(context, value, less))
            }
        }
    }

    /// A primitive that gives two numbers, somewhere in its result, or their sum.
    fn applied_primitive(&mut self, context: &[Var], n: usize, fuel: usize) -> Term {
        let p = self.any_primitive();
        let t = prim(p, self.applied_term(context, &dagger_ty(&of_source_ty(&p.from())), fuel));
        let t = if let Ty::Prod(..) = t.ty() { fst(t) } else { t };
        if n == 1 { op(Op::Sum(2), t) } else { t }
    }

    fn applied_lambda(
        &mut self,
        context: &[Var],
        from: &Ty,
        body: impl FnOnce(&mut Generator, &[Var]) -> Term,
    ) -> Term {
        let y = Var::fresh("y", from.clone());
        let inside = [context, std::slice::from_ref(&y)].concat();
        abs(y, body(self, &inside))
    }

    /// A linear function, by the shape of its end, then of its start.
    fn linear_map(&mut self, context: &[Var], from: &Ty, to: &Ty, fuel: usize) -> Term {
        if from == to && self.below(2) == 0 {
            return lid(from.clone());
        }
        if fuel > 0 && self.below(3) == 0 {
            let middle = self.applied_ty(1);
            let first = self.linear_map(context, from, &middle, fuel - 1);
            return lthen(first, self.linear_map(context, &middle, to, fuel - 1));
        }
        let ends = |p: &LPrim| [p.ldom(), p.cod()].map(|ty| dagger_linear_ty(&ty));
        if let Some(p) = super::linear_terms::linear_primitives()
            .into_iter()
            .find(|p| ends(p) == [from.clone(), to.clone()])
            && self.below(2) == 0
        {
            return lprim(p, self.applied_term(context, &dagger_ty(&p.dom()), fuel.min(1)));
        }
        if fuel > 0 && self.below(4) == 0 {
            let p = self.linear_primitive();
            let [start, end] = ends(&p);
            let one = lprim(p, self.applied_term(context, &dagger_ty(&p.dom()), fuel.min(1)));
            let before = self.linear_map(context, from, &start, fuel - 1);
            return lthen(lthen(before, one), self.linear_map(context, &end, to, fuel - 1));
        }
        match (to, from) {
            (Ty::Prod(a, b), _) => lpair(
                self.linear_map(context, from, a, fuel),
                self.linear_map(context, from, b, fuel),
            ),
            (Ty::Fun(key, to), _) => {
                lswap(self.applied_lambda(context, key, |g, context| {
                    g.linear_map(context, from, to, fuel)
                }))
            }
            (Ty::Own(Abstract::Tens(key, value)), _) => {
                let one =
                    singleton(self.applied_term(context, key, fuel.min(1)), (**value).clone());
                self.linear_then(context, from, value, fuel, one)
            }
            (Ty::Unit | Ty::Own(Abstract::LFun(..)), _)
            | (Ty::Real(_), Ty::Unit | Ty::Own(Abstract::LFun(..))) => {
                zero(from.clone().lfun(to.clone()))
            }
            (Ty::Real(n), Ty::Real(m)) => {
                let all = super::linear_terms::linear_operations(*m, *n);
                let o = all[self.below(all.len())];
                lop(o, self.applied_term(context, &Ty::dom(&o.dom()), fuel.min(1)))
            }
            (Ty::Real(_), Ty::Prod(a, b)) if self.below(2) == 0 => {
                self.then_linear(context, lfst((**a).clone(), (**b).clone()), to, fuel)
            }
            (Ty::Real(_), Ty::Prod(a, b)) => {
                self.then_linear(context, lsnd((**a).clone(), (**b).clone()), to, fuel)
            }
            (Ty::Real(_), Ty::Fun(key, value)) => {
                let at = leval(self.applied_term(context, key, fuel.min(1)), (**value).clone());
                self.then_linear(context, at, to, fuel)
            }
            (Ty::Real(_), Ty::Own(Abstract::Tens(key, value))) => {
                lcur_inv(self.applied_lambda(context, key, |g, context| {
                    g.linear_map(context, value, to, fuel)
                }))
            }
        }
    }

    /// A linear function, and then this one.
    fn linear_then(
        &mut self,
        context: &[Var],
        from: &Ty,
        middle: &Ty,
        fuel: usize,
        last: Term,
    ) -> Term {
        if from == middle && self.below(3) > 0 {
            last
        } else {
            lthen(self.linear_map(context, from, middle, fuel), last)
        }
    }

    /// This linear function, and then one to the type.
    fn then_linear(&mut self, context: &[Var], first: Term, to: &Ty, fuel: usize) -> Term {
        let Ty::Own(Abstract::LFun(_, middle)) = first.ty().clone() else {
            unreachable!("it is a linear function")
        };
        if *middle == *to && self.below(3) > 0 {
            first
        } else {
            lthen(first, self.linear_map(context, &middle, to, fuel))
        }
    }

    /// An observer: a variable of the type, and a first-order term that uses it as far as its type
    /// goes.
    pub(super) fn observer(&mut self, ty: &Ty) -> (Var, Term) {
        let x = Var::fresh("x", ty.clone());
        let result = self.observed(var(&x));
        (x, result)
    }

    fn observed(&mut self, t: Term) -> Term {
        match t.ty().clone() {
            Ty::Real(_) | Ty::Unit => t,
            Ty::Prod(..) => pair(self.observed(fst(t.clone())), self.observed(snd(t))),
            Ty::Fun(from, _) => {
                let s = self.applied(&[], &from, 10);
                self.observed(app(t, s))
            }
            Ty::Own(Abstract::LFun(from, _)) => {
                let s = self.applied(&[], &from, 10);
                self.observed(lapp(t, s))
            }
            Ty::Own(Abstract::Tens(..)) => {
                let f = self.linear_map(&[], t.ty(), &Ty::Real(2), 2);
                lapp(f, t)
            }
        }
    }

    /// Asserts that generated observers cannot distinguish two meanings of a type.
    #[track_caller]
    pub(super) fn same_applied(
        &mut self,
        ty: &Ty,
        a: &Value,
        b: &Value,
        what: &dyn std::fmt::Display,
    ) {
        for _ in 0..2 {
            let (x, observer) = self.observer(ty);
            let [a, b] = [a, b].map(|value| {
                super::numbers(&eval(&observer, &Env::default().with(&x, value.clone())))
            });
            super::close(&a, &b, 1e-9, what);
        }
    }

    /// An element of a type: the value of a closed term.
    pub(super) fn applied_element(&mut self, ty: &Ty) -> Value {
        let value = eval(&self.applied(&[], ty, 12), &Env::default());
        if self.below(4) == 0 { value.plus(&zero_value(ty)) } else { value }
    }
}

/// Counts the constructs of a term.
pub(super) fn count(t: &Term, seen: &mut Constructs) {
    let name = match t.kind() {
        Kind::Var(_) => "x",
        Kind::Op(..) => "op",
        Kind::Prim(..) => "prim",
        Kind::Unit => "<>",
        Kind::Pair(..) => "<t, s>",
        Kind::Fst(_) => "fst",
        Kind::Snd(_) => "snd",
        Kind::Lam(..) => "lambda",
        Kind::App(..) => "t s",
        Kind::Own(Api::LOp(..)) => "lop",
        Kind::Own(Api::LPrim(..)) => "lprim",
        Kind::Own(Api::Zero) => "0",
        Kind::Own(Api::Plus(..)) => "+",
        Kind::Own(Api::LId) => "lid",
        Kind::Own(Api::LThen(..)) => ";;",
        Kind::Own(Api::LApp(..)) => "lapp",
        Kind::Own(Api::LSwap(_)) => "lswap",
        Kind::Own(Api::LEval(_)) => "leval",
        Kind::Own(Api::Singleton(_)) => "{(t,-)}",
        Kind::Own(Api::LCurInv(_)) => "lcur^-1",
        Kind::Own(Api::LFst) => "lfst",
        Kind::Own(Api::LSnd) => "lsnd",
        Kind::Own(Api::LPair(..)) => "lpair",
    };
    *seen.entry(name).or_default() += 1;
    t.children().into_iter().for_each(|t| count(t, seen));
}

/// Generated closed terms of types of order up to 3, each with its generator; every third is a
/// linear function.
pub(super) fn closed() -> impl Iterator<Item = (Term, Generator)> {
    (0..super::TERMS).map(|seed| {
        let mut g = Generator::new(seed);
        let p = g.linear_primitive();
        let ty = match seed % 9 {
            0 => dagger_linear_ty(&p.ldom()).lfun(dagger_linear_ty(&p.cod())),
            3 => {
                let part = g.applied_ty(0);
                part.clone().times(g.applied_ty(1)).lfun(part)
            }
            6 => g.applied_ty(1).lfun(g.applied_ty(2)),
            _ => g.applied_ty(3),
        };
        (g.applied(&[], &ty, 60), g)
    })
}

/// A-1 … A-13: generated terms are typed, and every construct occurs in a good part of them.
#[test]
fn every_construct_occurs() {
    let mut seen = Constructs::new();
    for (t, _) in closed() {
        check(&[], &t).unwrap();
        count(&t, &mut seen);
    }
    println!("{seen:?}");
    assert_eq!(seen.len(), 23, "{seen:?}");
    assert!(seen.values().all(|count| *count >= 80), "{seen:?}");
}
