//! βη+ for the linear target language: normalization by evaluation.
//!
//! Since every map is additive, a linear term is a sum of *paths* from `v`: destructors, linear
//! operations and linear functions applied to one-hot arguments. An element of the model at
//! `real^n` is a list of paths; at `!T (x) τ` a list of entries. A path may go through `case`s;
//! they are kept on a stack beside it and come out as far outside as their scrutinees allow (the η
//! law, L-22). Sums are sorted.

use std::rc::Rc;

use super::*;
use crate::lambda::{LinearTerm, Normal, Substitution, eval_sem as eval, reflect, reify};
use crate::var::Env;

/// A Cartesian element.
type Sem = crate::lambda::Sem<Linear>;

/// A linear element, over the linear variable in scope.
#[derive(Clone)]
pub enum LinSem {
    Ground(Vec<Path>),
    Unit,
    Pair(Rc<(LinSem, LinSem)>),
    Fun(Rc<dyn Fn(&Sem) -> LinSem>),
    Tensor(Vec<Summand>),
}

/// `case l of !y (x) v -> …`: its successors are over the `v` that it binds.
type Case = (Lin, Var);

/// Cases, and a term without sums below them.
#[derive(Clone)]
pub struct Path {
    cases: Vec<Case>,
    end: Lin,
}

/// Cases, and `!key (x) value` below them.
#[derive(Clone)]
pub struct Summand {
    cases: Vec<Case>,
    key: Sem,
    value: LinSem,
}

/// The βη+-normal form of a linear term.
pub fn normalize_linear(l: &Lin) -> Lin {
    let v = reflect_linear(l.from(), v(l.from().clone()));
    let paths = reify_linear(l.to(), &eval_linear(l, &Env::default(), &v));
    sum(l.from(), l.to(), paths).replace(&Substitution::canonical())
}

impl Normal for Linear {
    type Sem = Rc<dyn Fn(&LinSem) -> LinSem>;

    fn eval(LinLam(l): &LinLam, env: &Env<Sem>) -> Sem {
        let (l, env) = (l.clone(), env.clone());
        Sem::Own(Rc::new(move |v| eval_linear(&l, &env, v)))
    }

    fn reflect(Lolli(a, b): &Lolli, t: Term) -> Self::Sem {
        let (a, b) = (a.clone(), b.clone());
        Rc::new(move |s| image(&a, &b, s, &|k| linapp(t.clone(), k)))
    }

    fn reify(Lolli(a, b): &Lolli, f: &Self::Sem) -> Term {
        let result = f(&reflect_linear(a, v((**a).clone())));
        linlam(sum(a, b, reify_linear(b, &result)))
    }
}

fn eval_linear(l: &Lin, env: &Env<Sem>, v: &LinSem) -> LinSem {
    let go = |l: &Lin| eval_linear(l, env, v);
    match l.kind() {
        LinKind::Var => v.clone(),
        LinKind::LOp(o, t, k) => {
            let t = reify(t.ty(), &eval(t, env));
            LinSem::Ground(distribute(k.to(), &go(k), &|k| lop(*o, t.clone(), k)))
        }
        LinKind::LPrim(p, t, k) => {
            let t = reify(t.ty(), &eval(t, env));
            image(k.to(), &p.cod(), &go(k), &|k| lprim(*p, t.clone(), k))
        }
        LinKind::Unit => LinSem::Unit,
        LinKind::Pair(l, k) => LinSem::Pair(Rc::new((go(l), go(k)))),
        LinKind::Fst(l) => go(l).components().0.clone(),
        LinKind::Snd(l) => go(l).components().1.clone(),
        LinKind::Lam(y, l) => {
            let (y, l, env, v) = (y.clone(), l.clone(), env.clone(), v.clone());
            LinSem::Fun(Rc::new(move |t| eval_linear(&l, &env.with(&y, t.clone()), &v)))
        }
        LinKind::App(l, t) => go(l).apply(&eval(t, env)),
        LinKind::Tensor(t, l) => {
            LinSem::Tensor(vec![Summand { cases: vec![], key: eval(t, env), value: go(l) }])
        }
        LinKind::Case(l, y, k) => {
            let each = go(l).entries().into_iter();
            let each = each.map(|entry| {
                under(&entry.cases, &eval_linear(k, &env.with(y, entry.key), &entry.value))
            });
            each.fold(zero(k.to()), |sum, value| add(&sum, &value))
        }
        LinKind::LinApp(t, l) => match eval(t, env) {
            Sem::Own(f) => f(&go(l)),
            Sem::Ground(_) | Sem::Unit | Sem::Pair(_) | Sem::Fun(_) => {
                unreachable!("a typed term applies linear functions only")
            }
        },
        LinKind::Zero => zero(l.to()),
        LinKind::Plus(l, k) => add(&go(l), &go(k)),
    }
}

impl LinSem {
    fn components(&self) -> &(LinSem, LinSem) {
        match self {
            LinSem::Pair(both) => both,
            LinSem::Ground(_) | LinSem::Unit | LinSem::Fun(_) | LinSem::Tensor(_) => {
                unreachable!("a typed term projects pairs only")
            }
        }
    }

    fn apply(&self, argument: &Sem) -> LinSem {
        match self {
            LinSem::Fun(f) => f(argument),
            LinSem::Ground(_) | LinSem::Unit | LinSem::Pair(_) | LinSem::Tensor(_) => {
                unreachable!("a typed term applies functions only")
            }
        }
    }

    fn entries(self) -> Vec<Summand> {
        match self {
            LinSem::Tensor(entries) => entries,
            LinSem::Ground(_) | LinSem::Unit | LinSem::Pair(_) | LinSem::Fun(_) => {
                unreachable!("a case is on a tensor")
            }
        }
    }
}

fn zero(ty: &LTy) -> LinSem {
    match ty {
        LTy::Real(_) => LinSem::Ground(vec![]),
        LTy::Unit => LinSem::Unit,
        LTy::Prod(a, b) => LinSem::Pair(Rc::new((zero(a), zero(b)))),
        LTy::Fun(_, to) => {
            let to = to.clone();
            LinSem::Fun(Rc::new(move |_| zero(&to)))
        }
        LTy::Tensor(..) => LinSem::Tensor(vec![]),
    }
}

/// L-25 … L-28, and the derived laws: `+` is pointwise.
fn add(a: &LinSem, b: &LinSem) -> LinSem {
    match (a, b) {
        (LinSem::Ground(a), LinSem::Ground(b)) => LinSem::Ground([a.as_slice(), b].concat()),
        (LinSem::Unit, LinSem::Unit) => LinSem::Unit,
        (LinSem::Pair(a), LinSem::Pair(b)) => {
            LinSem::Pair(Rc::new((add(&a.0, &b.0), add(&a.1, &b.1))))
        }
        (LinSem::Fun(f), LinSem::Fun(g)) => {
            let (f, g) = (f.clone(), g.clone());
            LinSem::Fun(Rc::new(move |t| add(&f(t), &g(t))))
        }
        (LinSem::Tensor(a), LinSem::Tensor(b)) => LinSem::Tensor([a.as_slice(), b].concat()),
        (
            LinSem::Ground(_) | LinSem::Unit | LinSem::Pair(_) | LinSem::Fun(_) | LinSem::Tensor(_),
            _,
        ) => {
            unreachable!("summands have one type")
        }
    }
}

/// The element below some cases.
fn under(cases: &[Case], sem: &LinSem) -> LinSem {
    if cases.is_empty() {
        return sem.clone();
    }
    let below = |inner: &[Case]| [cases, inner].concat();
    match sem {
        LinSem::Ground(paths) => LinSem::Ground(
            paths.iter().map(|p| Path { cases: below(&p.cases), end: p.end.clone() }).collect(),
        ),
        LinSem::Unit => LinSem::Unit,
        LinSem::Pair(both) => LinSem::Pair(Rc::new((under(cases, &both.0), under(cases, &both.1)))),
        LinSem::Fun(f) => {
            let (f, cases) = (f.clone(), cases.to_vec());
            LinSem::Fun(Rc::new(move |t| under(&cases, &f(t))))
        }
        LinSem::Tensor(entries) => LinSem::Tensor(
            entries.iter().map(|e| Summand { cases: below(&e.cases), ..e.clone() }).collect(),
        ),
    }
}

/// L-29, L-30: a map distributes over the paths of its argument.
fn distribute(ty: &LTy, argument: &LinSem, map: &dyn Fn(Lin) -> Lin) -> Vec<Path> {
    reify_linear(ty, argument)
        .into_iter()
        .map(|path| Path { cases: path.cases, end: map(path.end) })
        .collect()
}

/// [`distribute`], with the values of the map as elements, summed.
fn image(from: &LTy, to: &LTy, argument: &LinSem, map: &dyn Fn(Lin) -> Lin) -> LinSem {
    let results = distribute(from, argument, map)
        .into_iter()
        .map(|path| under(&path.cases, &reflect_linear(to, path.end)));
    results.fold(zero(to), |sum, value| add(&sum, &value))
}

/// A neutral linear term as an element.
fn reflect_linear(ty: &LTy, l: Lin) -> LinSem {
    match ty {
        LTy::Real(_) => LinSem::Ground(vec![Path { cases: vec![], end: l }]),
        LTy::Unit => LinSem::Unit,
        LTy::Prod(a, b) => {
            LinSem::Pair(Rc::new((reflect_linear(a, lfst(l.clone())), reflect_linear(b, lsnd(l)))))
        }
        LTy::Fun(a, b) => {
            let (a, b) = (a.clone(), b.clone());
            LinSem::Fun(Rc::new(move |s| reflect_linear(&b, lapp(l.clone(), reify(&a, s)))))
        }
        LTy::Tensor(key, z) => {
            let y = Var::fresh("y", (**key).clone());
            let value = reflect_linear(z, v((**z).clone()));
            LinSem::Tensor(vec![Summand {
                cases: vec![(l, y.clone())],
                key: reflect(key, var(&y)),
                value,
            }])
        }
    }
}

/// The summands of an element.
fn reify_linear(ty: &LTy, sem: &LinSem) -> Vec<Path> {
    match (ty, sem) {
        (LTy::Real(_), LinSem::Ground(paths)) => paths.clone(),
        (LTy::Unit, _) => vec![],
        (LTy::Prod(a, b), LinSem::Pair(both)) => {
            let first = distribute(a, &both.0, &|l| {
                lpair(l.clone(), zero_lin(l.from().clone(), (**b).clone()))
            });
            let second =
                distribute(b, &both.1, &|l| lpair(zero_lin(l.from().clone(), (**a).clone()), l));
            [first, second].concat()
        }
        (LTy::Fun(a, b), LinSem::Fun(f)) => {
            let y = Var::fresh("y", (**a).clone());
            reify_linear(b, &f(&reflect(a, var(&y))))
                .into_iter()
                .map(|path| abstracted(&y, path))
                .collect()
        }
        (LTy::Tensor(key, z), LinSem::Tensor(entries)) => {
            entries.iter().flat_map(|entry| keyed(key, z, entry)).collect()
        }
        (LTy::Real(_) | LTy::Prod(..) | LTy::Fun(..) | LTy::Tensor(..), _) => {
            unreachable!("an element has the form that its type says")
        }
    }
}

/// `\y. path`, where the cases that do not mention `y` stay outside.
fn abstracted(y: &Var, path: Path) -> Path {
    let outside = path.cases.iter().take_while(|(l, _)| !l.mentions(y)).count();
    let (outer, inner) = path.cases.split_at(outside);
    Path { cases: outer.to_vec(), end: labs(y.clone(), wrap(inner, path.end)) }
}

fn keyed(key: &Ty, value: &LTy, entry: &Summand) -> Vec<Path> {
    let t = reify(key, &entry.key);
    let paths = distribute(value, &entry.value, &|l| tensor(t.clone(), l)).into_iter();
    paths
        .map(|path| Path { cases: [entry.cases.clone(), path.cases].concat(), end: path.end })
        .collect()
}

fn wrap(cases: &[Case], end: Lin) -> Lin {
    cases.iter().rev().fold(end, |body, (l, y)| case(l.clone(), y.clone(), body))
}

fn sum(from: &LTy, to: &LTy, paths: Vec<Path>) -> Lin {
    let terms = paths.into_iter().map(|path| wrap(&path.cases, path.end));
    terms.reduce(plus).unwrap_or_else(|| zero_lin(from.clone(), to.clone()))
}
