//! Equations that make derivatives readable, used by the printed stages only.
//!
//! The macros substitute, and leave behind projections of pairs (S-11, S-12, and L-20), `let`s
//! whose terms could stand in their places (S-14), `f;fst` and `f;snd` of a small known f (S-14),
//! entries that are taken apart at once (L-21), linear functions that are applied at once (L-23),
//! and sums with zeros (L-25, L-26, and the laws that the paper derives). All of these are
//! equations of Figures 2 and 4, from left to right. Otherwise the argument of a λ stays in place,
//! unless the application is a `let`: functions remain functions.
//!
//! Nodes shared in memory remain shared, because each is rewritten once for each linear term that
//! `v` stands for.

use std::collections::{HashMap, HashSet};

use super::*;
use crate::lambda::{self, Rewrite};

/// Tidies a Cartesian term.
pub fn tidy(t: &Term) -> Term {
    Tidy::default().term(t, Visit::First)
}

/// Tidies a linear term.
pub fn tidy_linear(l: &Lin) -> Lin {
    Tidy::default().lin(l, &v(l.from().clone()), Visit::First)
}

/// The address of a node. All nodes with addresses in tables outlive the traversal.
fn address<T>(node: &T) -> usize {
    std::ptr::from_ref(node).addr()
}

/// Whether a term comes from the macros, where a λ that is applied at once is a `let`, or has been
/// tidied before.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Visit {
    First,
    Again,
}

#[derive(Default)]
struct Tidy {
    terms: HashMap<(usize, Visit), Term>,
    lins: HashMap<(usize, usize, Visit), Lin>,
    /// The terms bound by `let`s, by variable.
    lets: HashMap<u32, Term>,
    /// The variables of λs.
    bound: HashSet<u32>,
    /// Keeps nodes alive whose addresses are keys.
    kept: Vec<(Lin, Lin)>,
}

/// The parts of a Cartesian term.
struct Parts<'a>(&'a mut Tidy, Visit);

impl Rewrite<Linear> for Parts<'_> {
    fn term(&mut self, t: &Term) -> Term {
        self.0.term(t, self.1)
    }

    fn linear(&mut self, l: &Lin) -> Lin {
        self.0.lin(l, &v(l.from().clone()), self.1)
    }
}

impl Tidy {
    fn term(&mut self, t: &Term, visit: Visit) -> Term {
        if let Some(done) = self.terms.get(&(address(t.kind()), visit)) {
            return done.clone().called(t.name());
        }
        let done = self.rewrite_term(t, visit).called(t.name());
        self.terms.insert((address(t.kind()), visit), done.clone());
        done
    }

    fn rewrite_term(&mut self, t: &Term, visit: Visit) -> Term {
        if let Kind::Var(x) = t.kind() {
            return self.lets.get(&x.id).cloned().unwrap_or_else(|| t.clone());
        }
        if let (Kind::App(f, s), Visit::First) = (t.kind(), visit)
            && let Kind::Lam(x, body) = f.kind()
        {
            let s = self.term(s, visit);
            self.lets.insert(x.id, s);
            return self.term(body, visit);
        }
        if let Kind::Lam(x, body) = t.kind() {
            self.bound.insert(x.id);
            let tidied = self.term(body, visit);
            return abs(lambda::half_name(x, body, |f| self.term(f, visit)), tidied);
        }
        let t = t.map(&mut Parts(self, visit));
        match lambda::half(&t, &self.bound) {
            Some((half, x, argument)) => half.subst(x, argument),
            None => lambda::projected(&t).unwrap_or(t),
        }
    }

    /// `l[k/v]`, where `k` is tidy.
    fn lin(&mut self, l: &Lin, k: &Lin, visit: Visit) -> Lin {
        let key = (address(l.kind()), address(k.kind()), visit);
        if let Some(done) = self.lins.get(&key) {
            return done.clone();
        }
        let done = self.rewrite(l, k, visit);
        self.lins.insert(key, done.clone());
        self.kept.push((l.clone(), k.clone()));
        done
    }

    fn rewrite(&mut self, l: &Lin, k: &Lin, visit: Visit) -> Lin {
        match l.kind() {
            LinKind::Var => k.clone(),
            LinKind::LOp(o, t, l) => match self.lin(l, k, visit) {
                l if l.is_zero() => zero_lin(k.from().clone(), LTy::Real(o.cod())),
                l => lop(*o, self.term(t, visit), l),
            },
            LinKind::LPrim(p, t, l) => match self.lin(l, k, visit) {
                l if l.is_zero() => zero_lin(k.from().clone(), p.cod()),
                l => lprim(*p, self.term(t, visit), l),
            },
            LinKind::Unit => lunit(k.from().clone()),
            LinKind::Pair(a, b) => both(self.lin(a, k, visit), self.lin(b, k, visit)),
            LinKind::Fst(l) => linear_first(self.lin(l, k, visit)),
            LinKind::Snd(l) => linear_second(self.lin(l, k, visit)),
            LinKind::Lam(y, l) => match self.lin(l, k, visit) {
                l if l.is_zero() => zero_lin(k.from().clone(), l.to().clone().under(y.ty.clone())),
                l => labs(y.clone(), l),
            },
            LinKind::App(f, t) => {
                let t = self.term(t, visit);
                if let (LinKind::Lam(y, body), Visit::First) = (f.kind(), visit) {
                    self.lets.insert(y.id, t);
                    self.lin(body, k, visit)
                } else {
                    let f = self.lin(f, k, visit);
                    self.apply(f, t)
                }
            }
            LinKind::Tensor(t, l) => tensor(self.term(t, visit), self.lin(l, k, visit)),
            LinKind::Case(l, y, body) => {
                let l = self.lin(l, k, visit);
                self.case(l, y, body, visit)
            }
            LinKind::LinApp(f, l) => {
                let (f, l) = (self.term(f, visit), self.lin(l, k, visit));
                if let Kind::Own(LinLam(body)) = f.kind() {
                    self.lin(body, &l, Visit::Again)
                } else if l.is_zero() {
                    zero_lin(k.from().clone(), linapp(f, l).to().clone())
                } else {
                    linapp(f, l)
                }
            }
            LinKind::Zero => zero_lin(k.from().clone(), l.to().clone()),
            LinKind::Plus(a, b) => sum(self.lin(a, k, visit), self.lin(b, k, visit)),
        }
    }

    /// `f t`; a λ by β (L-20).
    fn apply(&mut self, f: Lin, t: Term) -> Lin {
        if let LinKind::Lam(y, body) = f.kind() {
            let body = self.instance(body, y, t);
            return self.lin(&body, &v(body.from().clone()), Visit::Again);
        }
        let at_zero = f.is_zero();
        let result = lapp(f, t);
        if at_zero { zero_lin(result.from().clone(), result.to().clone()) } else { result }
    }

    /// A copy in which `y` stands for `t`, when it is next visited: at another `t` it is another
    /// term.
    fn instance(&mut self, l: &Lin, y: &Var, t: Term) -> Lin {
        let z = y.refresh();
        self.lets.insert(z.id, t);
        l.subst(y, &var(&z))
    }

    fn case(&mut self, l: Lin, y: &Var, body: &Lin, visit: Visit) -> Lin {
        if l.is_zero() {
            return zero_lin(l.from().clone(), body.to().clone());
        }
        if let LinKind::Tensor(t, l) = l.kind() {
            let body = self.instance(body, y, t.clone());
            return self.lin(&body, l, visit);
        }
        if let LinKind::Plus(a, b) = l.kind()
            && (is_entry(a) || is_entry(b))
        {
            return sum(self.case(a.clone(), y, body, visit), self.case(b.clone(), y, body, visit));
        }
        split(&l, y, self.lin(body, &v(body.from().clone()), visit))
    }
}

/// Whether it is a sum with an entry that a `case` can take apart.
fn is_entry(l: &Lin) -> bool {
    if let LinKind::Plus(a, b) = l.kind() {
        is_entry(a) || is_entry(b)
    } else {
        matches!(l.kind(), LinKind::Tensor(..))
    }
}

impl Lin {
    fn is_zero(&self) -> bool {
        matches!(self.kind(), LinKind::Zero)
    }
}

/// `fst l`, moved into a `case`, because a `case` is the sum of its body's values.
fn linear_first(l: Lin) -> Lin {
    if let LinKind::Pair(a, _) = l.kind() {
        a.clone()
    } else if let LinKind::Case(l, y, body) = l.kind() {
        split(l, y, linear_first(body.clone()))
    } else if l.is_zero() {
        zero_lin(l.from().clone(), l.to().components().0)
    } else {
        lfst(l)
    }
}

/// `snd l`, likewise.
fn linear_second(l: Lin) -> Lin {
    if let LinKind::Pair(_, b) = l.kind() {
        b.clone()
    } else if let LinKind::Case(l, y, body) = l.kind() {
        split(l, y, linear_second(body.clone()))
    } else if l.is_zero() {
        zero_lin(l.from().clone(), l.to().components().1)
    } else {
        lsnd(l)
    }
}

/// `case l of !y (x) v -> body`
fn split(l: &Lin, y: &Var, body: Lin) -> Lin {
    if body.is_zero() {
        zero_lin(l.from().clone(), body.to().clone())
    } else {
        case(l.clone(), y.clone(), body)
    }
}

fn both(a: Lin, b: Lin) -> Lin {
    if a.is_zero() && b.is_zero() {
        zero_lin(a.from().clone(), a.to().clone().times(b.to().clone()))
    } else {
        lpair(a, b)
    }
}

fn sum(a: Lin, b: Lin) -> Lin {
    if a.is_zero() {
        b
    } else if b.is_zero() {
        a
    } else if let (LinKind::Pair(a1, a2), LinKind::Pair(b1, b2)) = (a.kind(), b.kind()) {
        both(sum(a1.clone(), b1.clone()), sum(a2.clone(), b2.clone()))
    } else {
        plus(a, b)
    }
}
