//! Scalar primitives at emission: constants are folded, integers are compared as polynomials, and
//! equal integer operations are emitted once. All other rewriting is left to the optimizer.

use lambada_anf::bounds::arithmetic;
use lambada_anf::{Atom, NAMELESS, Op, Ty};
use lambada_prim::{Prim, Scalar, ScalarTy};

use crate::emit::Emit;

impl Emit {
    /// `op(args)`
    pub fn prim(&mut self, op: Prim, args: &[Atom]) -> Atom {
        if let Some(values) = args.iter().map(|a| a.as_lit()).collect::<Option<Vec<Scalar>>>() {
            return Atom::Lit(self.names.fold(op, &values));
        }
        if let Some(atom) = self.fold(op, args) {
            return atom;
        }
        if op.result() == ScalarTy::Real {
            return self.bind(NAMELESS, Ty::real(), Op::Prim(op, args.to_vec()));
        }
        let key = (op, args.to_vec());
        if let Some(atom) = self.prims.get(&key)
            && self.is_visible(*atom)
        {
            return *atom;
        }
        let atom = self.bind(NAMELESS, Ty::scalar(op.result()), Op::Prim(op, key.1.clone()));
        self.define(op, &key.1, atom);
        self.prims.insert(key, atom);
        atom
    }

    fn define(&mut self, op: Prim, args: &[Atom], atom: Atom) {
        let Some(var) = atom.as_var() else { return };
        self.facts.computes(var, op, args);
        if op.result() == ScalarTy::Int {
            let poly = self.facts.poly(atom);
            if self.written(&poly).is_none() {
                self.facts.remember(poly, var);
            }
        }
    }

    fn fold(&mut self, op: Prim, args: &[Atom]) -> Option<Atom> {
        match op.result() {
            ScalarTy::Real => fold_real(op, args),
            ScalarTy::Int => self.fold_int(op, args),
            ScalarTy::Bool => self.fold_bool(op, args),
        }
    }

    fn fold_int(&mut self, op: Prim, args: &[Atom]) -> Option<Atom> {
        let polys: Vec<_> = args.iter().map(|a| self.facts.poly(*a)).collect();
        if let Some(poly) = arithmetic(op, &polys).map(|p| p.wrapped()) {
            return poly.as_constant().map(Atom::int).or_else(|| self.written(&poly));
        }
        if op == Prim::MaxInt || op == Prim::MinInt {
            let larger = [(0, 1), (1, 0)]
                .into_iter()
                .find(|(a, b)| self.facts.exceeds(args[*a], args[*b], 0));
            let (a, b) = larger?;
            // A size with a name in scope keeps the name even if more is known by now, so that rows
            // have the sizes of the array's type.
            let named = self.prims.get(&(op, args.to_vec())).copied();
            let named = named.filter(|atom| self.is_visible(*atom));
            return named.or(Some(args[if op == Prim::MaxInt { a } else { b }]));
        }
        if op == Prim::SelectInt { select(args) } else { None }
    }

    fn fold_bool(&mut self, op: Prim, args: &[Atom]) -> Option<Atom> {
        match op {
            Prim::EqInt | Prim::NeInt => {
                self.compare(args).map(|equal| Atom::bool(equal == (op == Prim::EqInt)))
            }
            Prim::LtInt => self.order(args[0], args[1], 1),
            Prim::LeInt => self.order(args[0], args[1], 0),
            Prim::And | Prim::Or => connective(op, args),
            Prim::SelectBool => select(args),
            _ => None, // comparisons of reals and truth values, negation: not folded here
        }
    }

    /// Whether the integers are known to be equal, or to differ.
    fn compare(&mut self, args: &[Atom]) -> Option<bool> {
        let difference =
            self.facts.poly(args[0]).plus(&self.facts.poly(args[1]), -1).wrapped().as_constant();
        match difference {
            Some(value) => Some(value == 0),
            None => (self.facts.exceeds(args[0], args[1], 1)
                || self.facts.exceeds(args[1], args[0], 1))
            .then_some(false),
        }
    }

    /// `a + gap <= b`, if known.
    fn order(&mut self, a: Atom, b: Atom, gap: i64) -> Option<Atom> {
        if self.facts.exceeds(b, a, gap) {
            Some(Atom::bool(true))
        } else {
            self.facts.exceeds(a, b, 1 - gap).then_some(Atom::bool(false))
        }
    }
}

/// `x * 1`, `x / 1`, `x - 0`: exact for all reals.
fn fold_real(op: Prim, args: &[Atom]) -> Option<Atom> {
    let one = Atom::real(1.0);
    match op {
        Prim::Mul if args[1] == one => Some(args[0]),
        Prim::Mul if args[0] == one => Some(args[1]),
        Prim::Div if args[1] == one => Some(args[0]),
        Prim::Sub if args[1] == Atom::real(0.0) => Some(args[0]),
        Prim::Select => select(args),
        _ => None, // only the identities above are folded here
    }
}

fn select(args: &[Atom]) -> Option<Atom> {
    match args[0].as_lit() {
        Some(cond) => Some(args[if cond.bool() { 1 } else { 2 }]),
        None => (args[1] == args[2]).then_some(args[1]),
    }
}

fn connective(op: Prim, args: &[Atom]) -> Option<Atom> {
    let neutral = Atom::bool(op == Prim::And);
    let other = |a: usize, b: usize| {
        (args[a].as_lit().is_some()).then(|| if args[a] == neutral { args[b] } else { args[a] })
    };
    other(0, 1).or_else(|| other(1, 0))
}
