//! Syntax of the linear target language: two judgements, two Rust types.
//!
//! `Term` is `Γ ⊢ t : T`, and `Lin` is `Γ; v : σ ⊢ l : τ`. There is exactly one linear variable, so
//! it needs no name: a `Lin` is a morphism from σ to τ, and `v` is the identity. Cartesian
//! positions hold a `Term`, which has no way to mention `v`, and each binder of a linear variable
//! (`\_v. l`, `case`) takes a whole `Lin`, whose `v` is its own. So a term that is not linear in
//! `v` cannot be built.

use std::rc::Rc;

use super::{LTy, Lolli, Ty, check, eval_linear, print};
use crate::lambda::{self, Construct, Language, LinearTerm, Node, Parts, Rewrite, Substitution};
pub use crate::lambda::{abs, app, fst, lam, op, pair, prim, snd, tuple, unit, var};
use crate::op::LOp;
use crate::primitives::LPrim;
use crate::print::Look;
use crate::value::Value;
use crate::var::Env;

/// The linear target language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Linear {}

impl Language for Linear {
    type Ty = Lolli;
    type Own = LinLam;
    type Lin = Lin;
}

/// A Cartesian variable.
pub type Var = lambda::Var<Linear>;

/// `Γ ⊢ t : T`
pub type Term = lambda::Term<Linear>;

/// A construct of Cartesian terms.
pub type Kind = lambda::Kind<Linear>;

/// `\_v. l` (L-11)
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinLam(pub Lin);

impl Construct<Linear> for LinLam {
    fn parts(&self) -> Parts<'_, Linear> {
        (vec![], vec![&self.0])
    }

    fn map(&self, to: &mut dyn Rewrite<Linear>) -> LinLam {
        LinLam(to.linear(&self.0))
    }

    fn infer(&self, context: &mut Vec<Var>, _: &Ty) -> Result<Ty, String> {
        check::infer_linlam(context, &self.0)
    }

    fn eval(&self, env: &Env<Value>, _: &Ty) -> Value {
        let (l, env) = (self.0.clone(), env.clone());
        Value::fun(move |argument| eval_linear(&l, &env, argument))
    }

    fn look(&self) -> Look<Node<Linear>> {
        Look::LinearLambda(Node::Lin(self.0.clone()))
    }
}

/// `Γ; v : from ⊢ l : to`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lin {
    kind: Rc<LinKind>,
    from: LTy,
    to: LTy,
}

/// The linear terms. Erratum E8: the paper's grammar omits `case` and the linear versions of `<>`,
/// pairs, projections, λ and application.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinKind {
    /// `v` (L-1)
    Var,
    /// `lop(t; l)` (L-2)
    LOp(LOp, Term, Lin),
    /// `lprim(t; l)` (Appendix F)
    LPrim(LPrim, Term, Lin),
    /// `<>` (L-3)
    Unit,
    /// `<l, k>` (L-4): both mention `v`, contexts are additive
    Pair(Lin, Lin),
    /// `fst l` (L-5)
    Fst(Lin),
    /// `snd l` (L-6)
    Snd(Lin),
    /// `\y. l` (L-7)
    Lam(Var, Lin),
    /// `l t` (L-8)
    App(Lin, Term),
    /// `!t (x) l` (L-9)
    Tensor(Term, Lin),
    /// `case l of !y (x) v -> k` (L-10)
    Case(Lin, Var, Lin),
    /// `t{l}` (L-12)
    LinApp(Term, Lin),
    /// `0` (L-13)
    Zero,
    /// `l + k` (L-14)
    Plus(Lin, Lin),
}

impl Lin {
    fn new(kind: LinKind, from: LTy, to: LTy) -> Lin {
        Lin { kind: Rc::new(kind), from, to }
    }

    /// The construct.
    pub fn kind(&self) -> &LinKind {
        &self.kind
    }

    /// The type of the linear variable.
    pub fn from(&self) -> &LTy {
        &self.from
    }

    /// The type.
    pub fn to(&self) -> &LTy {
        &self.to
    }

    /// The number of nodes.
    pub fn size(&self) -> usize {
        lambda::size::<Linear>(self.parts())
    }

    /// Whether the Cartesian variable occurs.
    pub fn mentions(&self, x: &Var) -> bool {
        lambda::mentions::<Linear>(self.parts(), x)
    }

    /// `l[t/x]` for a Cartesian variable.
    pub fn subst(&self, x: &Var, t: &Term) -> Lin {
        self.substitute(&Env::default().with(x, t.clone()))
    }

    /// Simultaneous substitution for Cartesian variables.
    pub fn substitute(&self, terms: &Env<Term>) -> Lin {
        self.replace(&Substitution { terms: terms.clone(), level: None })
    }

    /// `l[k/v]`: substitution for the linear variable, which is composition.
    pub fn after(&self, k: &Lin) -> Lin {
        assert_eq!(self.from, k.to, "`{self}` after `{k}`");
        self.at(&Substitution { terms: Env::default(), level: None }, k)
    }

    /// Simultaneous substitution for Cartesian variables and for `v`. Sums of canonical terms are
    /// flat, without zeros and sorted.
    fn at(&self, terms: &Substitution<Linear>, k: &Lin) -> Lin {
        let term = |t: &Term| t.replace(terms);
        let go = |l: &Lin| l.at(terms, k);
        match self.kind() {
            LinKind::Var => k.clone(),
            LinKind::LOp(o, t, l) => lop(*o, term(t), go(l)),
            LinKind::LPrim(p, t, l) => lprim(*p, term(t), go(l)),
            LinKind::Unit => lunit(k.from.clone()),
            LinKind::Pair(a, b) => lpair(go(a), go(b)),
            LinKind::Fst(l) => lfst(go(l)),
            LinKind::Snd(l) => lsnd(go(l)),
            LinKind::Lam(x, l) => {
                let (y, inside) = terms.below(x);
                labs(y, l.at(&inside, k))
            }
            LinKind::App(l, t) => lapp(go(l), term(t)),
            LinKind::Tensor(t, l) => tensor(term(t), go(l)),
            LinKind::Case(l, x, body) => {
                let (y, inside) = terms.below(x);
                case(go(l), y, body.replace(&inside))
            }
            LinKind::LinApp(t, l) => linapp(term(t), go(l)),
            LinKind::Zero => zero_lin(k.from.clone(), self.to.clone()),
            LinKind::Plus(a, b) if terms.level.is_none() => plus(go(a), go(b)),
            LinKind::Plus(a, b) => {
                let (a, b) = (go(a), go(b));
                let mut summands = [summands(&a), summands(&b)].concat();
                summands.sort();
                let sum = summands.into_iter().cloned().reduce(plus);
                sum.unwrap_or_else(|| zero_lin(k.from.clone(), self.to.clone()))
            }
        }
    }
}

/// The terms of a sum, without zeros.
fn summands(l: &Lin) -> Vec<&Lin> {
    if let LinKind::Plus(l, k) = l.kind() {
        [summands(l), summands(k)].concat()
    } else if let LinKind::Zero = l.kind() {
        vec![]
    } else {
        vec![l]
    }
}

impl LinearTerm<Linear> for Lin {
    fn parts(&self) -> Parts<'_, Linear> {
        match self.kind() {
            LinKind::Var | LinKind::Unit | LinKind::Zero => (vec![], vec![]),
            LinKind::LOp(_, t, l) | LinKind::LPrim(_, t, l) => (vec![t], vec![l]),
            LinKind::App(l, t) | LinKind::Tensor(t, l) | LinKind::LinApp(t, l) => {
                (vec![t], vec![l])
            }
            LinKind::Pair(l, k) | LinKind::Plus(l, k) | LinKind::Case(l, _, k) => {
                (vec![], vec![l, k])
            }
            LinKind::Fst(l) | LinKind::Snd(l) | LinKind::Lam(_, l) => (vec![], vec![l]),
        }
    }

    fn replace(&self, terms: &Substitution<Linear>) -> Lin {
        self.at(terms, &v(self.from.clone()))
    }

    fn node(&self) -> usize {
        std::ptr::from_ref(self.kind()).addr()
    }

    fn typing(&self) -> String {
        format!("{} -o {}", self.from, self.to)
    }

    fn look(&self) -> Look<Node<Linear>> {
        print::look(self)
    }
}

/// `\_v. l` (L-11)
pub fn linlam(l: Lin) -> Term {
    let ty = l.from.clone().lolli(l.to.clone());
    Term::new(Kind::Own(LinLam(l)), ty)
}

/// `v` (L-1)
pub fn v(ty: LTy) -> Lin {
    Lin::new(LinKind::Var, ty.clone(), ty)
}

/// `lop(t; l)` (L-2)
pub fn lop(o: LOp, t: Term, l: Lin) -> Lin {
    let from = l.from.clone();
    Lin::new(LinKind::LOp(o, t, l), from, LTy::Real(o.cod()))
}

/// `lprim(t; l)` (Appendix F)
pub fn lprim(p: LPrim, t: Term, l: Lin) -> Lin {
    let from = l.from.clone();
    Lin::new(LinKind::LPrim(p, t, l), from, p.cod())
}

/// `<>` (L-3)
pub fn lunit(from: LTy) -> Lin {
    Lin::new(LinKind::Unit, from, LTy::Unit)
}

/// `<l, k>` (L-4)
pub fn lpair(l: Lin, k: Lin) -> Lin {
    assert_eq!(l.from, k.from, "`<{l}, {k}>` has two linear variables");
    let (from, to) = (l.from.clone(), l.to.clone().times(k.to.clone()));
    Lin::new(LinKind::Pair(l, k), from, to)
}

/// `fst l` (L-5)
pub fn lfst(l: Lin) -> Lin {
    let (from, to) = (l.from.clone(), l.to.components().0);
    Lin::new(LinKind::Fst(l), from, to)
}

/// `snd l` (L-6)
pub fn lsnd(l: Lin) -> Lin {
    let (from, to) = (l.from.clone(), l.to.components().1);
    Lin::new(LinKind::Snd(l), from, to)
}

/// `\y. l` (L-7)
pub fn labs(y: Var, l: Lin) -> Lin {
    let (from, to) = (l.from.clone(), l.to.clone().under(y.ty.clone()));
    Lin::new(LinKind::Lam(y, l), from, to)
}

/// `\y. l`, for a fresh variable
pub fn llam(hint: &str, ty: Ty, body: impl FnOnce(Term) -> Lin) -> Lin {
    let y = Var::fresh(hint, ty);
    let l = body(var(&y));
    labs(y, l)
}

/// `l t` (L-8)
pub fn lapp(l: Lin, t: Term) -> Lin {
    let LTy::Fun(_, to) = &l.to else { panic!("{} is not a function type", l.to) };
    let (from, to) = (l.from.clone(), (**to).clone());
    Lin::new(LinKind::App(l, t), from, to)
}

/// `!t (x) l` (L-9)
pub fn tensor(t: Term, l: Lin) -> Lin {
    let (from, to) = (l.from.clone(), l.to.clone().tensor(t.ty().clone()));
    Lin::new(LinKind::Tensor(t, l), from, to)
}

/// `case l of !y (x) v -> k` (L-10)
pub fn case(l: Lin, y: Var, k: Lin) -> Lin {
    let (from, to) = (l.from.clone(), k.to.clone());
    Lin::new(LinKind::Case(l, y, k), from, to)
}

/// `t{l}` (L-12)
pub fn linapp(t: Term, l: Lin) -> Lin {
    let Ty::Own(Lolli(_, to)) = t.ty() else { panic!("{} is not a linear function type", t.ty()) };
    let (from, to) = (l.from.clone(), (**to).clone());
    Lin::new(LinKind::LinApp(t, l), from, to)
}

/// `0` (L-13)
pub fn zero_lin(from: LTy, to: LTy) -> Lin {
    Lin::new(LinKind::Zero, from, to)
}

/// `l + k` (L-14)
pub fn plus(l: Lin, k: Lin) -> Lin {
    assert_eq!((&l.from, &l.to), (&k.from, &k.to), "`{l}` and `{k}` cannot be added");
    let (from, to) = (l.from.clone(), l.to.clone());
    Lin::new(LinKind::Plus(l, k), from, to)
}

/// `let y = t in l := (\y. l) t` (L-15)
pub fn let_lin(hint: &str, t: Term, body: impl FnOnce(Term) -> Lin) -> Lin {
    lapp(llam(hint, t.ty().clone(), body), t)
}

#[cfg(test)]
mod tests;
