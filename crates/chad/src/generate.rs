//! Random well-typed terms of the source language, with types up to order 3: the test cases of the
//! theorems.
//!
//! A term is an introduction (an operation, a pair, a λ), an elimination of something in the
//! context (projections and applications, with generated arguments), or a redex, whose function may
//! itself come out of anything. The same seed gives the same term.

use lambada_prim::Prim;

use crate::combinators::{self, Comb};
use crate::op::Op;
use crate::primitives::Primitive;
use crate::source::{self, Kind, REAL, Term, Ty, Var};
use crate::value::Value;

/// A source of random terms.
#[derive(Clone, Debug)]
pub struct Generator {
    state: u64,
}

/// Numbers of generated terms, by the features that they exercise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// All of them.
    pub terms: usize,
    /// Terms that apply something else than a λ.
    pub unknown_calls: usize,
    /// Terms that pass a function to a function.
    pub function_arguments: usize,
    /// Terms in which a function returns a function.
    pub function_results: usize,
    /// Terms in which a λ captures a function.
    pub captured_functions: usize,
    /// Terms with a primitive whose function captures a variable.
    pub capturing_primitives: usize,
    /// The highest order of a type in any of them.
    pub highest_order: usize,
}

impl Generator {
    /// The generator with this seed.
    pub fn new(seed: u64) -> Generator {
        let mut generator =
            Generator { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678_9ABC_DEF1 };
        for _ in 0..4 {
            generator.next();
        }
        generator
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A number between -1 and 1, a multiple of 1/16.
    pub fn number(&mut self) -> f64 {
        (self.below(33) as f64 - 16.0) / 16.0
    }

    /// A type of at most this order.
    pub fn ty(&mut self, order: usize) -> Ty {
        match self.below(if order == 0 { 7 } else { 11 }) {
            0..4 => REAL,
            4 => Ty::Real(2),
            5 => {
                if self.below(2) == 0 {
                    Ty::Unit
                } else {
                    REAL
                }
            }
            6 | 7 => self.ty(order.min(1)).times(self.ty(0)),
            _ => self.ty(order - 1).to(self.ty(order.min(1))),
        }
    }

    /// A first-order value of this type.
    pub fn value(&mut self, ty: &Ty) -> Value {
        match ty {
            Ty::Real(n) => Value::real((0..*n).map(|_| self.number()).collect::<Vec<_>>()),
            Ty::Unit => Value::Unit,
            Ty::Prod(a, b) => Value::pair(self.value(a), self.value(b)),
            Ty::Fun(..) => panic!("{ty} is not first-order"),
            Ty::Own(never) => match *never {},
        }
    }

    /// A term in one variable between first-order types, with anything inside, of at most 24 nodes:
    /// the derivatives of the paper are exponentially larger (E26).
    pub fn program(&mut self) -> (Var, Term) {
        let (from, to) = (self.ty(0), self.ty(0));
        let x = Var::fresh("x", from);
        let fuel = 6 + self.below(8);
        let t = self.bounded(std::slice::from_ref(&x), &to, fuel, 24);
        (x, t)
    }

    /// A term of at most this many nodes, or one without fuel.
    pub fn bounded(&mut self, context: &[Var], ty: &Ty, fuel: usize, size: usize) -> Term {
        let mut fuel = fuel;
        loop {
            let t = self.term(context, ty, fuel);
            if t.size() <= size || fuel == 0 {
                return t;
            }
            fuel -= 1;
        }
    }

    /// A morphism between any types.
    pub fn morphism(&mut self, from: &Ty, to: &Ty) -> Comb {
        let x = Var::fresh("x", from.clone());
        let t = self.bounded(std::slice::from_ref(&x), to, 3, 9);
        combinators::of_term(&x, &t)
    }

    /// A term of this type in this context, of a size that grows with the fuel.
    pub fn term(&mut self, context: &[Var], ty: &Ty, fuel: usize) -> Term {
        if fuel == 0 {
            return self.leaf(context, ty);
        }
        match self.below(10) {
            0..4 => self
                .elimination(context, ty, fuel)
                .unwrap_or_else(|| self.introduction(context, ty, fuel)),
            4..7 => self.redex(context, ty, fuel - 1),
            _ => self.introduction(context, ty, fuel),
        }
    }

    fn leaf(&mut self, context: &[Var], ty: &Ty) -> Term {
        let fitting: Vec<&Var> = context.iter().filter(|x| x.ty == *ty).collect();
        if !fitting.is_empty() && self.below(4) > 0 {
            return source::var(fitting[self.below(fitting.len())]);
        }
        match ty {
            Ty::Real(n) => self.real_leaf(context, *n),
            Ty::Unit | Ty::Prod(..) | Ty::Fun(..) | Ty::Own(_) => self.introduction(context, ty, 0),
        }
    }

    fn real_leaf(&mut self, context: &[Var], n: usize) -> Term {
        match self.elimination(context, &Ty::Real(n), 0) {
            Some(t) if self.below(4) > 0 => t,
            _ => source::constant((0..n).map(|_| self.number()).collect::<Vec<_>>()),
        }
    }

    fn introduction(&mut self, context: &[Var], ty: &Ty, fuel: usize) -> Term {
        match ty {
            Ty::Real(n) if fuel == 0 => self.real_leaf(context, *n),
            Ty::Real(n) => {
                if self.below(2) == 0 {
                    return self.primitive(context, *n, fuel - 1);
                }
                let op = self.op(*n);
                let sizes = op.dom();
                let args: Vec<Term> = sizes
                    .iter()
                    .map(|n| self.term(context, &Ty::Real(*n), (fuel - 1) / sizes.len()))
                    .collect();
                source::op_at(op, &args)
            }
            Ty::Unit => source::unit(),
            Ty::Prod(a, b) => {
                source::pair(self.term(context, a, fuel / 2), self.term(context, b, fuel / 2))
            }
            Ty::Fun(a, b) => {
                let y = Var::fresh("y", (**a).clone());
                let inside = [context, std::slice::from_ref(&y)].concat();
                source::abs(y, self.term(&inside, b, fuel.saturating_sub(1)))
            }
            Ty::Own(never) => match *never {},
        }
    }

    /// A primitive whose function may capture any variable in scope, and the vector of this size
    /// among its results.
    fn primitive(&mut self, context: &[Var], n: usize, fuel: usize) -> Term {
        let p = match self.below(3) {
            k if n > 1 && k > 0 => Primitive::Map { arity: k, n },
            _ => Primitive::Scan { n: n.max(2) },
        };
        let t = source::prim(p, self.term(context, &p.from(), fuel));
        match p {
            Primitive::Map { .. } => t,
            Primitive::Scan { .. } if n == 1 => source::snd(t),
            Primitive::Scan { .. } => source::fst(t),
        }
    }

    /// An operation with a result of this size.
    fn op(&mut self, n: usize) -> Op {
        let each = [
            Prim::Add,
            Prim::Mul,
            Prim::Sub,
            Prim::Sin,
            Prim::Cos,
            Prim::Tanh,
            Prim::Mul,
            Prim::Neg,
        ];
        let choice = self.below(each.len() + 6);
        match (choice, n) {
            (8, 1) => Op::Sum(2),
            (9, 1) => Op::Inner(2),
            (10, 1) => Op::Sigmoid,
            (11, 1) => Op::Product,
            (12, 1) => Op::MatVec(1, 2),
            (13, 1) => Op::Index(2, self.below(2)),
            (13, n) if self.below(2) == 0 => Op::Replicate(n),
            (13, n) => Op::Vector(n),
            (8, 2) => Op::Swap,
            (9 | 10, 2) => Op::Scale(2),
            (11 | 12, 2) => Op::MatVec(2, 1),
            (choice, n) => Op::Each(each[choice % each.len()], n),
        }
    }

    /// Projections and applications that lead from a variable to the type.
    fn elimination(&mut self, context: &[Var], ty: &Ty, fuel: usize) -> Option<Term> {
        let mut ways = Vec::new();
        for x in context {
            paths(
                &source::var(x).ty().clone(),
                ty,
                &mut vec![],
                &mut |path| ways.push((x.clone(), path.to_vec())),
                fuel > 0,
            );
        }
        if ways.is_empty() {
            return None;
        }
        let calls: Vec<usize> = (0..ways.len())
            .filter(|k| ways[*k].1.iter().any(|step| matches!(step, Step::App)))
            .collect();
        let chosen = if !calls.is_empty() && self.below(4) > 0 {
            calls[self.below(calls.len())]
        } else {
            self.below(ways.len())
        };
        let (x, path) = ways.swap_remove(chosen);
        Some(path.into_iter().fold(source::var(&x), |t, step| {
            self.step(context, t, step, fuel.saturating_sub(1) / 2)
        }))
    }

    fn step(&mut self, context: &[Var], t: Term, step: Step, fuel: usize) -> Term {
        match (step, t.ty().clone()) {
            (Step::Fst, _) => source::fst(t),
            (Step::Snd, _) => source::snd(t),
            (Step::App, Ty::Fun(from, _)) => {
                let s = self.term(context, &from, fuel);
                source::app(t, s)
            }
            (Step::App, other) => panic!("{other} is not a function type"),
        }
    }

    /// An application of any term of function type, or a projection out of any pair.
    fn redex(&mut self, context: &[Var], ty: &Ty, fuel: usize) -> Term {
        match self.below(8) {
            0 => {
                let other = self.ty(1);
                source::fst(self.term(context, &ty.clone().times(other), fuel))
            }
            1 => {
                let other = self.ty(1);
                source::snd(self.term(context, &other.times(ty.clone()), fuel))
            }
            2 | 3 => self.capture(context, ty, fuel),
            _ => {
                let from = if self.below(2) == 0 { self.ty(1).to(self.ty(0)) } else { self.ty(2) };
                let f = self.term(context, &from.clone().to(ty.clone()), fuel / 2);
                let s = self.term(context, &from, fuel / 2);
                source::app(f, s)
            }
        }
    }

    /// `(\f. (\z. t) s) g`, where `t` calls `f`.
    fn capture(&mut self, context: &[Var], ty: &Ty, fuel: usize) -> Term {
        let f = Var::fresh("f", self.ty(0).to(ty.clone()));
        let z = Var::fresh("z", self.ty(0));
        let inside = [context, &[f.clone(), z.clone()]].concat();
        let body = self.step(&inside, source::var(&f), Step::App, fuel / 3);
        let (s, g) = (self.term(context, &z.ty, fuel / 3), self.term(context, &f.ty, fuel / 3));
        source::app(source::abs(f, source::app(source::abs(z, body), s)), g)
    }
}

/// A way to take something apart.
#[derive(Clone, Copy, Debug)]
enum Step {
    Fst,
    Snd,
    App,
}

/// All ways from a type to one of its parts.
fn paths(
    from: &Ty,
    to: &Ty,
    path: &mut Vec<Step>,
    found: &mut dyn FnMut(&[Step]),
    applications: bool,
) {
    if from == to {
        found(path);
    }
    let mut below = |step: Step, part: &Ty, found: &mut dyn FnMut(&[Step])| {
        path.push(step);
        paths(part, to, path, found, applications);
        path.pop();
    };
    match from {
        Ty::Real(_) | Ty::Unit | Ty::Own(_) => {}
        Ty::Prod(a, b) => {
            below(Step::Fst, a, found);
            below(Step::Snd, b, found);
        }
        Ty::Fun(_, b) if applications => below(Step::App, b, found),
        Ty::Fun(..) => {}
    }
}

/// Whether all variables are bound inside of the term.
fn closed(t: &Term, bound: &mut Vec<Var>) -> bool {
    match t.kind() {
        Kind::Var(x) => bound.contains(x),
        Kind::Lam(x, body) => {
            bound.push(x.clone());
            let inside = closed(body, bound);
            bound.pop();
            inside
        }
        Kind::Fst(_)
        | Kind::Op(..)
        | Kind::Prim(..)
        | Kind::Unit
        | Kind::Pair(..)
        | Kind::Snd(_)
        | Kind::App(..)
        | Kind::Own(_) => t.children().into_iter().all(|t| closed(t, bound)),
    }
}

impl Statistics {
    /// Counts one more term.
    pub fn add(&mut self, t: &Term) {
        let mut seen = Statistics::default();
        seen.visit(t, &mut vec![]);
        self.merge(&Statistics {
            terms: 1,
            unknown_calls: seen.unknown_calls.min(1),
            function_arguments: seen.function_arguments.min(1),
            function_results: seen.function_results.min(1),
            captured_functions: seen.captured_functions.min(1),
            capturing_primitives: seen.capturing_primitives.min(1),
            highest_order: seen.highest_order,
        });
    }

    /// Counts the terms that others have counted.
    pub fn merge(&mut self, other: &Statistics) {
        self.terms += other.terms;
        self.unknown_calls += other.unknown_calls;
        self.function_arguments += other.function_arguments;
        self.function_results += other.function_results;
        self.captured_functions += other.captured_functions;
        self.capturing_primitives += other.capturing_primitives;
        self.highest_order = self.highest_order.max(other.highest_order);
    }

    /// `bound` are the variables bound by λs around, each with the number of λs around it.
    fn visit(&mut self, t: &Term, bound: &mut Vec<Var>) {
        self.highest_order = self.highest_order.max(t.ty().order());
        match t.kind() {
            Kind::App(f, s) => {
                self.unknown_calls += usize::from(!matches!(f.kind(), Kind::Lam(..)));
                self.function_arguments += usize::from(matches!(s.ty(), Ty::Fun(..)));
                self.function_results += usize::from(matches!(t.ty(), Ty::Fun(..)));
            }
            Kind::Lam(_, body) => {
                let captured =
                    bound.iter().any(|y| matches!(y.ty, Ty::Fun(..)) && body.mentions(y));
                self.captured_functions += usize::from(captured);
            }
            Kind::Prim(_, args) => {
                let captures = matches!(args.kind(), Kind::Pair(f, _) if !closed(f, &mut vec![]));
                self.capturing_primitives += usize::from(captures);
            }
            Kind::Var(_)
            | Kind::Op(..)
            | Kind::Unit
            | Kind::Pair(..)
            | Kind::Fst(_)
            | Kind::Snd(_)
            | Kind::Own(_) => {}
        }
        if let Kind::Lam(x, body) = t.kind() {
            bound.push(x.clone());
            self.visit(body, bound);
            bound.pop();
        } else {
            t.children().into_iter().for_each(|child| self.visit(child, bound));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_typed() {
        for seed in 0..2000 {
            let (x, t) = Generator::new(seed).program();
            source::check(&[x], &t).unwrap();
        }
    }

    /// The generated terms really exercise higher order.
    #[test]
    fn terms_are_of_higher_order() {
        let mut seen = Statistics::default();
        for seed in 0..1000 {
            seen.add(&Generator::new(seed).program().1);
        }
        println!("{seen:?}");
        assert!(
            seen.unknown_calls > 200
                && seen.function_arguments > 200
                && seen.function_results > 100
                && seen.captured_functions > 60
        );
        assert!(seen.capturing_primitives > 100, "{seen:?}");
        assert!(seen.highest_order >= 3, "{seen:?}");
    }
}
