//! Equations that make derivatives readable, used by the printed stages only. Read beside `linear::tidy`.
//!
//! Projections of pairs (S-11, S-12), `let`s whose terms could stand in their places (S-14), and the laws of linear functions: `lid` is the
//! unit of `;;`, `0` its zero, `;;` nests to the right, `lpair(t, s);;lfst = t`, `lpair(t, s);;(lfst;;r + lsnd;;q) = t;;r + s;;q`,
//! `r;;lpair(0, s) = lpair(0, r;;s)`, and `lswap (\y. r);;leval t = r[t/y]`.

use std::collections::HashMap;

use super::*;

/// The same term, tidied.
pub fn tidy(t: &Term) -> Term {
    Tidy::default().term(t)
}

#[derive(Default)]
struct Tidy {
    done: HashMap<usize, Term>,
    /// What the variables of `let`s stand for.
    lets: HashMap<u32, Term>,
}

impl Tidy {
    /// Each node is rewritten once, so what was shared in memory remains shared.
    fn term(&mut self, t: &Term) -> Term {
        let address = std::ptr::from_ref(t.kind()).addr();
        if let Some(done) = self.done.get(&address) {
            return done.clone();
        }
        let done = self.rewrite(t);
        self.done.insert(address, done.clone());
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
        simplify(t.map_children(&mut |part| self.term(part)))
    }
}

/// One construct, whose parts are tidy.
fn simplify(t: Term) -> Term {
    if let Kind::Fst(pair) = t.kind()
        && let Kind::Pair(a, _) = pair.kind()
    {
        a.clone()
    } else if let Kind::Snd(pair) = t.kind()
        && let Kind::Pair(_, b) = pair.kind()
    {
        b.clone()
    } else if let Kind::LThen(a, b) = t.kind() {
        after(a, b)
    } else if let Kind::Plus(a, b) = t.kind() {
        sum(a, b)
    } else if let Kind::LPair(a, b) = t.kind() {
        both(a.clone(), b.clone())
    } else {
        t
    }
}

fn is_zero(t: &Term) -> bool {
    matches!(t.kind(), Kind::Zero)
}

/// Does it take a pair apart, and nothing more?
fn is_projection(t: &Term) -> bool {
    matches!(t.kind(), Kind::LFst | Kind::LSnd)
}

/// `body[t/y]`, where what does not mention `y` stays the same node.
fn instance(body: &Term, y: &Var, t: &Term, done: &mut HashMap<usize, Term>) -> Term {
    let address = std::ptr::from_ref(body.kind()).addr();
    if let Some(found) = done.get(&address) {
        return found.clone();
    }
    let mut changed = false;
    let rebuilt = body.map_children(&mut |part| {
        let new = instance(part, y, t, done);
        changed |= !std::ptr::eq(new.kind(), part.kind());
        new
    });
    let result = if *body.kind() == Kind::Var(y.clone()) {
        t.clone()
    } else if changed {
        simplify(rebuilt)
    } else {
        body.clone()
    };
    done.insert(address, result.clone());
    result
}

/// Does it begin with one?
fn projects(t: &Term) -> bool {
    if let Kind::LThen(first, _) = t.kind() { is_projection(first) } else { is_projection(t) }
}

/// `a;;b`
fn after(a: &Term, b: &Term) -> Term {
    if is_zero(a) || is_zero(b) {
        return zero(a.ty().ends().0.lfun(b.ty().ends().1));
    }
    if matches!(a.kind(), Kind::LId) {
        return b.clone();
    }
    if matches!(b.kind(), Kind::LId) {
        return a.clone();
    }
    if let Kind::LThen(first, second) = a.kind() {
        return after(first, &after(second, b));
    }
    if let (Kind::Plus(x, y), true) = (a.kind(), is_projection(b)) {
        return sum(&after(x, b), &after(y, b));
    }
    if let Kind::LPair(x, y) = b.kind()
        && (is_zero(x) || is_zero(y) || (matches!(a.kind(), Kind::LPair(..)) && projects(x) && projects(y)))
    {
        return both(after(a, x), after(a, y));
    }
    if let Kind::LPair(x, y) = a.kind() {
        return after_pair(a, [x, y], b);
    }
    if let Kind::LSwap(f) = a.kind()
        && let Kind::Lam(y, body) = f.kind()
    {
        if let Kind::LEval(t) = b.kind() {
            return instance(body, y, t, &mut HashMap::new());
        }
        if let Kind::LThen(first, rest) = b.kind()
            && let Kind::LEval(t) = first.kind()
        {
            return after(&instance(body, y, t, &mut HashMap::new()), rest);
        }
    }
    lthen(a.clone(), b.clone())
}

/// `lpair(x, y);;b`, where `a` is the pair.
fn after_pair(a: &Term, [x, y]: [&Term; 2], b: &Term) -> Term {
    if let Kind::LFst = b.kind() {
        return x.clone();
    }
    if let Kind::LSnd = b.kind() {
        return y.clone();
    }
    if let Kind::Plus(s, t) = b.kind() {
        return sum(&after(a, s), &after(a, t));
    }
    if let Kind::LThen(s, t) = b.kind()
        && (is_projection(s) || matches!(s.kind(), Kind::Plus(..)))
    {
        return after(&after(a, s), t);
    }
    lthen(a.clone(), b.clone())
}

fn both(a: Term, b: Term) -> Term {
    if is_zero(&a) && is_zero(&b) {
        zero(a.ty().ends().0.lfun(a.ty().ends().1.times(b.ty().ends().1)))
    } else if let (Kind::LFst, Kind::LSnd) = (a.kind(), b.kind()) {
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
    } else if let (Kind::LPair(a1, a2), Kind::LPair(b1, b2)) = (a.kind(), b.kind()) {
        both(sum(a1, b1), sum(a2, b2))
    } else if let Kind::Plus(b, c) = b.kind() {
        sum(&sum(a, b), c)
    } else {
        plus(a.clone(), b.clone())
    }
}
