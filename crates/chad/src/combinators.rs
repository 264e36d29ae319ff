//! §3, C-1 … C-10: the source language as categorical combinators, and back.
//!
//! A combinator is a morphism `T -> S`, without variables: this is the form on which the macros of
//! Appendices A and C are defined.

use std::fmt;
use std::rc::Rc;

use crate::op::Op;
use crate::primitives::{Denotation, Primitive};
use crate::print::{self, Look, Written, level};
use crate::source::{self, Kind as Source, Term, Ty, Var};
use crate::value::{Value, eval_op};
use crate::var::{Name, Remark};

/// A morphism `from -> to`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Comb {
    kind: Rc<CombKind>,
    from: Ty,
    to: Ty,
    name: Name,
    parameter: Name,
    scope: Remark<Option<Scope>>,
}

/// The names of the variables whose tuple, nested to the left, a morphism takes.
pub(crate) type Scope = Rc<[Rc<str>]>;

/// `t ::= id | t; s | <> | <t, s> | fst | snd | ev | Λ(t) | op | prim`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CombKind {
    /// C-1: `id_T : T -> T`
    Id,
    /// C-2: `t; s`, first `t`
    Then(Comb, Comb),
    /// C-3: `<>_T : T -> 1`
    Unit,
    /// C-4: `<t, s> : T -> S * R`
    Pair(Comb, Comb),
    /// C-5: `fst : T * S -> T`
    Fst,
    /// C-6: `snd : T * S -> S`
    Snd,
    /// C-7: `ev : (T -> S) * T -> S`
    Ev,
    /// C-8: `Λ(t) : T -> (S -> R)` for `t : T * S -> R`
    Curry(Comb),
    /// C-9: `op : Dom(op) -> real^m`
    Op(Op),
    /// `prim : Dom(prim) -> Cod(prim)` (Appendix F)
    Prim(Primitive),
}

impl Comb {
    fn new(kind: CombKind, from: Ty, to: Ty) -> Comb {
        let (name, parameter) = (Name::default(), Name::default());
        Comb { kind: Rc::new(kind), from, to, name, parameter, scope: Remark(None) }
    }

    /// The construct.
    pub fn kind(&self) -> &CombKind {
        &self.kind
    }

    /// The type of the argument.
    pub fn from(&self) -> &Ty {
        &self.from
    }

    /// The type of the result.
    pub fn to(&self) -> &Ty {
        &self.to
    }

    /// The program's name for the result.
    pub(crate) fn name(&self) -> &Name {
        &self.name
    }

    /// For `Λ(t)`: the program's name for the parameter [default: `y`].
    pub(crate) fn parameter(&self) -> &str {
        self.parameter.get().map_or("y", |name| name)
    }

    /// The names of the variables in scope, if the argument is their tuple.
    pub(crate) fn scope(&self) -> Option<&Scope> {
        self.scope.0.as_ref()
    }

    /// Names the variables in scope, where they have no names yet.
    fn under(mut self, scope: Option<&Scope>) -> Comb {
        self.scope.0 = self.scope.0.or_else(|| scope.cloned());
        self
    }

    /// Names the result and the parameter, where they have no name yet.
    fn called(mut self, name: &Name, parameter: &Name) -> Comb {
        self.name = self.name.or(name);
        self.parameter = self.parameter.or(parameter);
        self
    }

    /// The parts.
    pub fn children(&self) -> Vec<&Comb> {
        match self.kind() {
            CombKind::Id
            | CombKind::Unit
            | CombKind::Fst
            | CombKind::Snd
            | CombKind::Ev
            | CombKind::Op(_)
            | CombKind::Prim(_) => vec![],
            CombKind::Then(t, s) | CombKind::Pair(t, s) => vec![t, s],
            CombKind::Curry(t) => vec![t],
        }
    }

    /// The number of nodes.
    pub fn size(&self) -> usize {
        1 + self.children().into_iter().map(Comb::size).sum::<usize>()
    }
}

/// C-1: `id_T`
pub fn id(ty: Ty) -> Comb {
    Comb::new(CombKind::Id, ty.clone(), ty)
}

/// C-2: `t; s`, in diagrammatic order
pub fn then(t: Comb, s: Comb) -> Comb {
    assert_eq!(t.to, s.from, "the ends of `{t}; {s}` do not meet");
    let (from, to) = (t.from.clone(), s.to.clone());
    let scope = t.scope.0.clone();
    Comb::new(CombKind::Then(t, s), from, to).under(scope.as_ref())
}

/// C-3: `<>_T`
pub fn unit(from: Ty) -> Comb {
    Comb::new(CombKind::Unit, from, Ty::Unit)
}

/// C-4: `<t, s>`
pub fn pair(t: Comb, s: Comb) -> Comb {
    assert_eq!(t.from, s.from, "`{t}` and `{s}` do not start together");
    let (from, to) = (t.from.clone(), t.to.clone().times(s.to.clone()));
    let scope = t.scope().or(s.scope()).cloned();
    Comb::new(CombKind::Pair(t, s), from, to).under(scope.as_ref())
}

/// C-5: `fst_{T,S}`
pub fn fst(t: Ty, s: Ty) -> Comb {
    Comb::new(CombKind::Fst, t.clone().times(s), t)
}

/// C-6: `snd_{T,S}`
pub fn snd(t: Ty, s: Ty) -> Comb {
    Comb::new(CombKind::Snd, t.times(s.clone()), s)
}

/// C-7: `ev_{T,S}`
pub fn ev(t: Ty, s: Ty) -> Comb {
    Comb::new(CombKind::Ev, t.clone().to(s.clone()).times(t), s)
}

/// C-8: `Λ(t)`
pub fn curry(t: Comb) -> Comb {
    let Ty::Prod(a, b) = &t.from else { panic!("Λ of a morphism from {}", t.from) };
    let (from, to) = ((**a).clone(), (**b).clone().to(t.to.clone()));
    let scope = t.scope().map(|scope| Scope::from(&scope[..scope.len() - 1]));
    Comb::new(CombKind::Curry(t), from, to).under(scope.as_ref())
}

/// C-9: `op`
pub fn op(op: Op) -> Comb {
    let (from, to) = (Ty::dom(&op.dom()), Ty::Real(op.cod()));
    Comb::new(CombKind::Op(op), from, to)
}

/// `prim`
pub fn prim(p: Primitive) -> Comb {
    Comb::new(CombKind::Prim(p), p.from(), p.to())
}

/// C-10: λ-calculus to combinators: `x : T ⊢ t : S` becomes a morphism `T -> S`.
pub fn of_term(x: &Var, t: &Term) -> Comb {
    of_definition(x, std::slice::from_ref(&x.hint), t)
}

/// A definition, where x is the tuple of parameters with these names.
pub fn of_definition(x: &Var, parameters: &[Rc<str>], t: &Term) -> Comb {
    let names = if parameters.is_empty() { vec![x.hint.clone()] } else { parameters.to_vec() };
    Variables { variables: vec![x.clone()], names: names.into() }.compile(t)
}

/// n ≥ 1 variables, as their product, nested to the left.
struct Variables {
    variables: Vec<Var>,
    /// The names in scope, which are more if the first variable is a tuple of parameters.
    names: Scope,
}

impl Variables {
    fn with(&self, x: &Var) -> Variables {
        let variables = self.variables.iter().cloned().chain([x.clone()]).collect();
        let taken = |name: &Rc<str>| self.names.contains(name);
        let numbered = (2..).map(|k| format!("{}{k}", x.hint).into());
        let name = std::iter::once(x.hint.clone()).chain(numbered).find(|name| !taken(name));
        Variables { variables, names: self.names.iter().cloned().chain(name).collect() }
    }

    /// The names of the first n variables.
    fn scope(&self, n: usize) -> Scope {
        self.names[..self.names.len() - (self.variables.len() - n)].into()
    }

    /// A term as a morphism from the product of the variables.
    fn compile(&self, t: &Term) -> Comb {
        let go = |t: &Term| self.compile(t);
        // A combinator of its own for the construct has its place too.
        let here = |comb: Comb| comb.called(t.name(), &Name::default());
        let comb = match t.kind() {
            Source::Var(x) => self.lookup(self.variables.len(), x),
            Source::Op(o, t) => then(go(t), here(op(o.clone()))),
            Source::Prim(p, t) => then(go(t), here(prim(*p))),
            Source::Unit => unit(product(&self.variables)).under(Some(&self.names)),
            Source::Pair(t, s) => pair(go(t), go(s)),
            Source::Fst(t) => then(go(t), here(self.component(t, fst))),
            Source::Snd(t) => then(go(t), here(self.component(t, snd))),
            Source::Lam(x, t) => {
                curry(self.with(x).compile(t)).called(&Name::default(), &Name::new(&x.hint))
            }
            Source::App(t, s) => {
                then(pair(go(t), go(s)), here(ev(s.ty().clone(), t.ty().arrow().1)))
            }
            Source::Own(never) => match *never {},
        };
        here(comb)
    }

    /// A projection from a term, which may be the tuple of some first parameters.
    fn component(&self, t: &Term, projection: fn(Ty, Ty) -> Comb) -> Comb {
        let (a, b) = t.ty().components();
        let (mut inside, mut count) = (t, self.scope(1).len());
        while let Source::Fst(outer) = inside.kind() {
            (inside, count) = (outer, count.saturating_sub(1));
        }
        let is_context = matches!(inside.kind(), Source::Var(x) if *x == self.variables[0]);
        // A single parameter may be a pair itself.
        let scope = (is_context && count > 1).then(|| Scope::from(&self.names[..count]));
        projection(a, b).under(scope.as_ref())
    }

    /// A variable is a projection from the first n: de Bruijn indices count how often `fst` comes
    /// before `snd`.
    fn lookup(&self, n: usize, x: &Var) -> Comb {
        let context = &self.variables[..n];
        let (last, outer) =
            context.split_last().unwrap_or_else(|| panic!("{} is not in scope", x.hint));
        let scope = self.scope(n);
        let under = |comb: Comb| comb.under(Some(&scope));
        match (outer.is_empty(), last == x) {
            (true, true) => under(id(x.ty.clone())),
            (true, false) => panic!("{} is not in scope", x.hint),
            (false, true) => under(snd(product(outer), x.ty.clone())),
            (false, false) => {
                let outwards = under(fst(product(outer), last.ty.clone()));
                if outer.len() == 1 { outwards } else { then(outwards, self.lookup(n - 1, x)) }
            }
        }
    }
}

fn product(context: &[Var]) -> Ty {
    context.iter().map(|x| x.ty.clone()).reduce(Ty::times).unwrap_or(Ty::Unit)
}

/// C-10: combinators to λ-calculus: a morphism `T -> S` becomes `x : T ⊢ t : S`; `x` is given as a
/// term, so this is `t[s/x]`.
pub fn to_term(t: &Comb, x: &Term) -> Term {
    let parameter = t.parameter();
    match t.kind() {
        CombKind::Id => x.clone(),
        CombKind::Then(t, s) => to_term(s, &to_term(t, x)),
        CombKind::Unit => source::unit(),
        CombKind::Pair(t, s) => source::pair(to_term(t, x), to_term(s, x)),
        CombKind::Fst => source::fst(x.clone()),
        CombKind::Snd => source::snd(x.clone()),
        CombKind::Ev => source::app(source::fst(x.clone()), source::snd(x.clone())),
        CombKind::Curry(t) => {
            let Ty::Prod(_, b) = t.from() else { panic!("Λ of a morphism from {}", t.from()) };
            source::lam(parameter, (**b).clone(), |y| to_term(t, &source::pair(x.clone(), y)))
        }
        CombKind::Op(o) => source::op(o.clone(), x.clone()),
        CombKind::Prim(p) => source::prim(*p, x.clone()),
    }
}

/// Tidies a morphism; the printed stages start from the result. The laws, from left to right: `id`
/// is the unit of `;`, which nests to the right, and `<Λ(s), t>; ev = <id, t>; s`, so that a `let`
/// is no call of a function.
pub fn tidy(t: &Comb) -> Comb {
    let tidied = match t.kind() {
        CombKind::Then(t, s) => match (tidy(t), tidy(s)) {
            (t, s) if *t.kind() == CombKind::Id => s,
            (t, s) if *s.kind() == CombKind::Id => t,
            (t, s) => call(&t, &s).unwrap_or_else(|| chain(t, s)),
        },
        CombKind::Pair(t, s) => pair(tidy(t), tidy(s)),
        CombKind::Curry(t) => curry(tidy(t)),
        CombKind::Id
        | CombKind::Unit
        | CombKind::Fst
        | CombKind::Snd
        | CombKind::Ev
        | CombKind::Op(_)
        | CombKind::Prim(_) => t.clone(),
    };
    tidied.called(&t.name, &t.parameter).under(t.scope())
}

/// `t; s`, nested to the right.
fn chain(t: Comb, s: Comb) -> Comb {
    if let CombKind::Then(first, second) = t.kind() {
        then(first.clone(), chain(second.clone(), s))
    } else {
        then(t, s)
    }
}

/// `<id, t>; s` for `<Λ(s), t>; ev`.
fn call(t: &Comb, s: &Comb) -> Option<Comb> {
    if let (CombKind::Pair(f, argument), CombKind::Ev) = (t.kind(), s.kind())
        && let CombKind::Curry(body) = f.kind()
    {
        let argument = argument.clone().called(&f.parameter, &Name::default());
        let all = id(argument.from().clone()).under(argument.scope());
        return Some(then(pair(all, argument), body.clone()));
    }
    None
}

/// `⟦t⟧`, directly.
pub fn eval(t: &Comb, x: &Value) -> Value {
    match t.kind() {
        CombKind::Id => x.clone(),
        CombKind::Then(t, s) => eval(s, &eval(t, x)),
        CombKind::Unit => Value::Unit,
        CombKind::Pair(t, s) => Value::pair(eval(t, x), eval(s, x)),
        CombKind::Fst => x.fst(),
        CombKind::Snd => x.snd(),
        CombKind::Ev => x.fst().apply(&x.snd()),
        CombKind::Curry(t) => {
            let (t, x) = (t.clone(), x.clone());
            Value::fun(move |y| eval(&t, &Value::pair(x.clone(), y.clone())))
        }
        CombKind::Op(op) => eval_op(op, x),
        CombKind::Prim(p) => p.eval::<Denotation>(x),
    }
}

impl fmt::Display for Comb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print::line(self))
    }
}

impl Comb {
    /// In lines.
    pub fn page(&self) -> String {
        print::lines(self)
    }
}

impl Written for Comb {
    fn node(&self) -> usize {
        std::ptr::from_ref(self.kind()).addr()
    }

    fn typing(&self) -> String {
        format!("{} -> {}", self.from(), self.to())
    }

    fn name(&self) -> Name {
        self.name.clone()
    }

    fn look(&self) -> Look<Comb> {
        match self.kind() {
            CombKind::Id => Look::Word("id".into()),
            CombKind::Then(t, s) => {
                Look::Infix(level::THEN, [(t.clone(), level::APPLY), (s.clone(), level::THEN)], ";")
            }
            CombKind::Unit => Look::Word("<>".into()),
            CombKind::Pair(t, s) => Look::Angles(t.clone(), s.clone()),
            CombKind::Fst => Look::Word("fst".into()),
            CombKind::Snd => Look::Word("snd".into()),
            CombKind::Ev => Look::Word("ev".into()),
            CombKind::Curry(t) => Look::Call("cur".into(), vec![t.clone()], ","),
            CombKind::Op(op) => Look::Word(op.to_string()),
            CombKind::Prim(p) => Look::Word(p.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::source::{normalize, var};

    /// C-10: the laws that tidy a morphism are laws.
    #[test]
    fn tidied_is_equal() {
        for seed in 0..1000 {
            let (x, t) = Generator::new(seed).program();
            let comb = of_term(&x, &t);
            equal(&tidy(&comb), &comb);
        }
    }

    /// Equal as λ-terms, up to βη.
    fn equal(t: &Comb, s: &Comb) {
        assert_eq!((t.from(), t.to()), (s.from(), s.to()));
        let x = var(&Var::fresh("x", t.from().clone()));
        assert_eq!(normalize(&to_term(t, &x)), normalize(&to_term(s, &x)), "{t} and {s} differ");
    }

    /// C-10: λ → combinators → λ, from and to types of order up to 3; and both mean the same where
    /// that is numbers.
    #[test]
    fn round_trip() {
        for seed in 0..1000 {
            let mut g = Generator::new(seed);
            let (x, t) = g.program();
            let at = g.value(&x.ty);
            let env = crate::var::Env::default().with(&x, at.clone());
            assert_eq!(
                eval(&of_term(&x, &t), &at).flatten(),
                source::eval(&t, &env).flatten(),
                "{t}"
            );
            goes_back(&x, &t);
            let (x, to) = (Var::fresh("x", g.ty(3)), g.ty(3));
            goes_back(&x, &g.bounded(std::slice::from_ref(&x), &to, 5, 24));
        }
    }

    fn goes_back(x: &Var, t: &Term) {
        let back = to_term(&of_term(x, t), &var(x));
        source::check(std::slice::from_ref(x), &back).unwrap();
        assert_eq!(normalize(t), normalize(&back), "{t}");
    }

    /// C-1 … C-9: each combinator as a term.
    #[test]
    fn each_combinator() {
        let r = source::REAL;
        let sin = || op(Op::Each(lambada_prim::Prim::Sin, 1));
        let text = |t: Comb| {
            format!(
                "{} -> {}: {}",
                t.from(),
                t.to(),
                to_term(&t, &var(&Var::fresh("x", t.from().clone())))
            )
        };
        assert_eq!(text(id(r.clone())), "real -> real: x");
        assert_eq!(text(then(sin(), op(Op::Sigmoid))), "real -> real: sigmoid(sin(x))");
        assert_eq!(text(unit(r.clone())), "real -> 1: <>");
        assert_eq!(text(pair(sin(), id(r.clone()))), "real -> real * real: <sin(x), x>");
        assert_eq!(text(fst(r.clone(), Ty::Unit)), "real * 1 -> real: fst x");
        assert_eq!(text(snd(r.clone(), Ty::Unit)), "real * 1 -> 1: snd x");
        assert_eq!(
            text(ev(r.clone(), Ty::Real(2))),
            "(real -> real^2) * real -> real^2: fst x (snd x)"
        );
        assert_eq!(text(curry(op(Op::MatVec(1, 1)))), "real -> real -> real: \\y. matvec(<x, y>)");
        assert_eq!(text(op(Op::Sum(3))), "real^3 -> real: sum(x)");
    }

    /// C-1 … C-8: the laws of a Cartesian closed category, at types of order up to 3, decided by
    /// the normalizer.
    #[test]
    fn cartesian_closed() {
        for seed in 0..1000 {
            let mut g = Generator::new(seed);
            let [a, b, c, d] = [2, 1, 2, 3].map(|order| g.ty(order));
            let (t, s, r) = (g.morphism(&a, &b), g.morphism(&b, &c), g.morphism(&c, &d));
            equal(&then(id(a.clone()), t.clone()), &t);
            equal(&then(t.clone(), id(b.clone())), &t);
            equal(
                &then(then(t.clone(), s.clone()), r.clone()),
                &then(t.clone(), then(s.clone(), r)),
            );
            let u = g.morphism(&a, &c);
            let both = pair(t.clone(), u.clone());
            equal(&then(both.clone(), fst(b.clone(), c.clone())), &t);
            equal(&then(both.clone(), snd(b.clone(), c.clone())), &u);
            let before = g.morphism(&d, &a);
            equal(
                &then(before.clone(), both),
                &pair(then(before.clone(), t.clone()), then(before, u)),
            );
            equal(
                &pair(fst(a.clone(), b.clone()), snd(a.clone(), b.clone())),
                &id(a.clone().times(b.clone())),
            );
            equal(&then(t, unit(b.clone())), &unit(a.clone()));
            exponential(
                &g.morphism(&a.clone().times(b.clone()), &c),
                &g.morphism(&a, &b.clone().to(c.clone())),
                &a,
                &b,
                &c,
            );
        }
    }

    fn exponential(t: &Comb, f: &Comb, a: &Ty, b: &Ty, c: &Ty) {
        let apply = |f: Comb| {
            then(
                pair(then(fst(a.clone(), b.clone()), f), snd(a.clone(), b.clone())),
                ev(b.clone(), c.clone()),
            )
        };
        equal(&apply(curry(t.clone())), t);
        equal(&curry(apply(f.clone())), f);
    }
}
