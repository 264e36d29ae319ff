//! Equations that make derivatives readable, used by the printed stages only. Read beside
//! `linear::tidy`.
//!
//! Projections of pairs (S-11, S-12), `let`s whose terms could stand in their places (S-14), and
//! the laws of linear functions: `lid` is the unit of `;;`, `0` its zero, `;;` nests to the right,
//! `lpair(t, s);;lfst = t`, `lpair(t, s);;(lfst;;r + lsnd;;q) = t;;r + s;;q`,
//! `r;;lpair(0, s) = lpair(0, r;;s)`, `lswap (\y. r);;leval t = r[t/y]`, and
//! `lcur^-1 (\y. lpair(r, s));;lfst = lcur^-1 (\y. r)`.

use std::collections::{HashMap, HashSet};

use super::*;
use crate::lambda;

/// Tidies a term.
pub fn tidy(t: &Term) -> Term {
    Tidy::default().term(t)
}

#[derive(Default)]
struct Tidy {
    done: HashMap<usize, Term>,
    /// The terms bound by `let`s, by variable.
    lets: HashMap<u32, Term>,
    /// The variables of λs.
    bound: HashSet<u32>,
    composed: HashMap<(usize, usize), Term>,
    /// Keeps nodes alive whose addresses are keys of `composed`.
    kept: Vec<(Term, Term)>,
}

/// The address of a node.
fn address(t: &Term) -> usize {
    std::ptr::from_ref(t.kind()).addr()
}

impl Tidy {
    /// Rewrites each node once, so that nodes shared in memory remain shared.
    fn term(&mut self, t: &Term) -> Term {
        if let Some(done) = self.done.get(&address(t)) {
            return done.clone().called(t.name());
        }
        let done = self.rewrite(t).called(t.name());
        self.done.insert(address(t), done.clone());
        done
    }

    fn rewrite(&mut self, t: &Term) -> Term {
        if let Kind::Var(x) = t.kind() {
            return self.lets.get(&x.id).cloned().unwrap_or_else(|| t.clone());
        }
        if let Kind::App(f, s) = t.kind()
            && let Kind::Lam(x, body) = f.kind()
        {
            let s = self.term(s);
            self.lets.insert(x.id, s);
            return self.term(body);
        }
        if let Kind::Lam(x, body) = t.kind() {
            self.bound.insert(x.id);
            let tidied = self.term(body);
            return abs(lambda::half_name(x, body, |f| self.term(f)), tidied);
        }
        let t = t.map(&mut |part: &Term| self.term(part));
        match lambda::half(&t, &self.bound) {
            Some((half, x, argument)) => self.instance(half, x, argument, &mut HashMap::new()),
            None => self.simplify(t),
        }
    }

    /// One construct, whose parts are tidy.
    fn simplify(&mut self, t: Term) -> Term {
        if let Some(part) = lambda::projected(&t) {
            part
        } else if let Kind::Own(Api::LThen(a, b)) = t.kind() {
            self.after(a, b)
        } else if let Kind::Own(Api::Plus(a, b)) = t.kind() {
            sum(a, b)
        } else if let Kind::Own(Api::LPair(a, b)) = t.kind() {
            both(a.clone(), b.clone())
        } else if let Kind::Own(Api::LSwap(f) | Api::LCurInv(f)) = t.kind()
            && let Kind::Lam(_, body) = f.kind()
            && is_zero(body)
        {
            zero(t.ty().clone())
        } else {
            t
        }
    }

    /// `body[t/y]`; subterms that do not mention `y` stay the same nodes.
    fn instance(
        &mut self,
        body: &Term,
        y: &Var,
        t: &Term,
        done: &mut HashMap<usize, Term>,
    ) -> Term {
        if let Some(found) = done.get(&address(body)) {
            return found.clone();
        }
        let mut changed = false;
        let rebuilt = body.map(&mut |part: &Term| {
            let new = self.instance(part, y, t, done);
            changed |= !std::ptr::eq(new.kind(), part.kind());
            new
        });
        let result = if *body.kind() == Kind::Var(y.clone()) {
            t.clone()
        } else if changed {
            self.simplify(rebuilt).called(body.name())
        } else {
            body.clone()
        };
        done.insert(address(body), result.clone());
        result
    }

    /// `a;;b`, once for each two nodes.
    fn after(&mut self, a: &Term, b: &Term) -> Term {
        let key = (address(a), address(b));
        if let Some(done) = self.composed.get(&key) {
            return done.clone();
        }
        let done = self.compose(a, b);
        self.composed.insert(key, done.clone());
        self.kept.push((a.clone(), b.clone()));
        done
    }

    fn compose(&mut self, a: &Term, b: &Term) -> Term {
        if is_zero(a) || is_zero(b) {
            return zero(a.ty().ends().0.lfun(b.ty().ends().1));
        }
        if matches!(a.kind(), Kind::Own(Api::LId)) {
            return b.clone();
        }
        if matches!(b.kind(), Kind::Own(Api::LId)) {
            return a.clone();
        }
        if let Kind::Own(Api::LThen(first, second)) = a.kind() {
            let rest = self.after(second, b);
            return self.after(first, &rest);
        }
        if let (Kind::Own(Api::Plus(x, y)), true) = (a.kind(), is_projection(b)) {
            return sum(&self.after(x, b), &self.after(y, b));
        }
        if let (Kind::Own(Api::Plus(..)), true) = (a.kind(), only_projects(b)) {
            if let Kind::Own(Api::LPair(x, y)) = b.kind() {
                return both(self.after(a, x), self.after(a, y));
            }
            if let Kind::Own(Api::LThen(first, rest)) = b.kind() {
                let first = self.after(a, first);
                return self.after(&first, rest);
            }
        }
        if let Kind::Own(Api::LPair(x, y)) = b.kind()
            && (is_zero(x)
                || is_zero(y)
                || (matches!(a.kind(), Kind::Own(Api::LPair(..))) && projects(x) && projects(y)))
        {
            return both(self.after(a, x), self.after(a, y));
        }
        if let Kind::Own(Api::LPair(x, y)) = a.kind() {
            return self.after_pair(a, [x, y], b);
        }
        if let (Kind::Own(Api::LCurInv(f)), true) = (a.kind(), is_projection(b))
            && let Kind::Lam(y, body) = f.kind()
            && let Kind::Own(Api::LPair(..)) = body.kind()
        {
            let body = self.after(body, b);
            return self.simplify(lcur_inv(abs(y.clone(), body)));
        }
        if let Kind::Own(Api::LSwap(f)) = a.kind()
            && let Kind::Lam(y, body) = f.kind()
        {
            if let Kind::Own(Api::LEval(t)) = b.kind() {
                return self.instance(body, y, t, &mut HashMap::new());
            }
            if let Kind::Own(Api::LThen(first, rest)) = b.kind()
                && let Kind::Own(Api::LEval(t)) = first.kind()
            {
                let body = self.instance(body, y, t, &mut HashMap::new());
                return self.after(&body, rest);
            }
        }
        lthen(a.clone(), b.clone())
    }

    /// `lpair(x, y);;b`, where `a` is the pair.
    fn after_pair(&mut self, a: &Term, [x, y]: [&Term; 2], b: &Term) -> Term {
        if let Kind::Own(Api::LFst) = b.kind() {
            return x.clone();
        }
        if let Kind::Own(Api::LSnd) = b.kind() {
            return y.clone();
        }
        if let Kind::Own(Api::Plus(s, t)) = b.kind() {
            return sum(&self.after(a, s), &self.after(a, t));
        }
        if let Kind::Own(Api::LThen(s, t)) = b.kind()
            && (is_projection(s) || matches!(s.kind(), Kind::Own(Api::Plus(..))))
        {
            let first = self.after(a, s);
            return self.after(&first, t);
        }
        lthen(a.clone(), b.clone())
    }
}

fn is_zero(t: &Term) -> bool {
    matches!(t.kind(), Kind::Own(Api::Zero))
}

/// Whether the term is `lfst` or `lsnd`.
fn is_projection(t: &Term) -> bool {
    matches!(t.kind(), Kind::Own(Api::LFst | Api::LSnd))
}

/// Whether the term is composed of projections and pairs alone.
fn only_projects(t: &Term) -> bool {
    if let Kind::Own(Api::LThen(a, b) | Api::LPair(a, b)) = t.kind() {
        only_projects(a) && only_projects(b)
    } else {
        is_projection(t)
    }
}

/// Whether all parts of the term begin with a projection.
fn projects(t: &Term) -> bool {
    if let Kind::Own(Api::LThen(first, _)) = t.kind() {
        is_projection(first)
    } else if let Kind::Own(Api::LPair(a, b) | Api::Plus(a, b)) = t.kind() {
        [a, b].into_iter().all(|part| is_zero(part) || projects(part))
    } else {
        is_projection(t)
    }
}

fn both(a: Term, b: Term) -> Term {
    if is_zero(&a) && is_zero(&b) {
        zero(a.ty().ends().0.lfun(a.ty().ends().1.times(b.ty().ends().1)))
    } else if let (Kind::Own(Api::LFst), Kind::Own(Api::LSnd)) = (a.kind(), b.kind()) {
        lid(a.ty().ends().0)
    } else {
        lpair(a, b)
    }
}

fn sum(a: &Term, b: &Term) -> Term {
    if is_zero(a) {
        b.clone()
    } else if is_zero(b) {
        a.clone()
    } else if let (Kind::Own(Api::LPair(a1, a2)), Kind::Own(Api::LPair(b1, b2))) =
        (a.kind(), b.kind())
    {
        both(sum(a1, b1), sum(a2, b2))
    } else {
        plus(a.clone(), b.clone())
    }
}
