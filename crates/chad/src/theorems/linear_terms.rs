//! Random well-typed terms of the linear target language, in both judgements: derivatives use a
//! part of it only, the theorems about the language are about all of it.
//!
//! Every construct occurs (see the test below), linear functions among the variables, the arguments
//! and the results. Most linear terms are built from `v` and back to front, so that few of them are
//! 0 in disguise.

use crate::generate::Generator;
use crate::linear::*;
use crate::op::{LOp, Op};
use crate::primitives::{LPrim, Primitive};
use crate::value::Value;
use crate::var::Env;
use lambada_prim::Prim;

impl Generator {
    /// A Cartesian type of at most this order, linear functions included.
    pub(super) fn cartesian_ty(&mut self, order: usize) -> Ty {
        match self.below(if order == 0 { 7 } else { 12 }) {
            0..4 => Ty::Real(1),
            4 => Ty::Real(2),
            5 if self.below(3) == 0 => Ty::Unit,
            5 => Ty::Real(1),
            6 => self.cartesian_ty(order.min(1)).times(self.cartesian_ty(0)),
            7..9 => self.cartesian_ty(order - 1).to(self.cartesian_ty(order.min(1))),
            _ => self.linear_ty(order - 1).lolli(self.linear_ty(order - 1)),
        }
    }

    /// A linear type of at most this order.
    pub(super) fn linear_ty(&mut self, order: usize) -> LTy {
        match self.below(if order == 0 { 7 } else { 12 }) {
            0..3 => LTy::Real(1),
            3 => LTy::Real(2),
            4 if self.below(3) == 0 => LTy::Unit,
            4 => LTy::Real(1),
            5 | 6 => self.linear_ty(order.min(1)).times(self.linear_ty(0)),
            7..9 => self.linear_ty(order - 1).under(self.cartesian_ty(order - 1)),
            _ => self.linear_ty(order - 1).tensor(self.cartesian_ty(order - 1)),
        }
    }

    /// A context of variables, the first of function type and the second of linear function type.
    pub(super) fn linear_context(&mut self, order: usize) -> Vec<Var> {
        let f = self.cartesian_ty(order - 1).to(self.cartesian_ty(0));
        let m = self.linear_ty(order - 1).lolli(self.linear_ty(order - 1));
        [f, m, self.cartesian_ty(order)]
            .into_iter()
            .enumerate()
            .map(|(k, ty)| Var::fresh(["f", "m", "x"][k], ty))
            .collect()
    }

    /// `Γ ⊢ t : T`, of at most this many nodes.
    pub(super) fn cartesian(&mut self, context: &[Var], ty: &Ty, size: usize) -> Term {
        let found = fuels(size)
            .map(|fuel| self.cartesian_term(context, ty, fuel))
            .find(|t| t.size() <= size);
        found.unwrap_or_else(|| self.intro(context, ty, 0))
    }

    /// `Γ; v : σ ⊢ l : τ`, of at most this many nodes.
    pub(super) fn linear(&mut self, context: &[Var], from: &LTy, to: &LTy, size: usize) -> Lin {
        let found = fuels(size)
            .map(|fuel| self.linear_term(context, from, to, fuel))
            .find(|l| l.size() <= size);
        found.unwrap_or_else(|| self.consume(context, v(from.clone()), to))
    }

    fn cartesian_term(&mut self, context: &[Var], ty: &Ty, fuel: usize) -> Term {
        match self.below(10) {
            0..4 => {
                self.in_context(context, ty, fuel).unwrap_or_else(|| self.intro(context, ty, fuel))
            }
            4..7 if fuel > 0 => self.redex_of(context, ty, fuel - 1),
            _ => self.intro(context, ty, fuel),
        }
    }

    /// `\y. …`, `<.., ..>`, `\_v. …` or an operation.
    fn intro(&mut self, context: &[Var], ty: &Ty, fuel: usize) -> Term {
        let less = fuel.saturating_sub(1);
        match ty {
            Ty::Real(n) if fuel == 0 => {
                let constant =
                    op(Op::constant((0..*n).map(|_| self.number()).collect::<Vec<_>>()), unit());
                if self.below(4) > 0 {
                    self.in_context(context, ty, 0).unwrap_or(constant)
                } else {
                    constant
                }
            }
            Ty::Real(n @ (1 | 2)) if self.below(2) == 0 => {
                let p = self.any_primitive();
                let t = prim(p, self.cartesian_term(context, &of_source_ty(&p.from()), less));
                let t = if let Ty::Prod(..) = t.ty() { fst(t) } else { t };
                if *n == 1 { op(Op::Sum(2), t) } else { t }
            }
            Ty::Real(n) => {
                let prim = [Prim::Add, Prim::Mul, Prim::Sin, Prim::Tanh][self.below(4)];
                let args: Vec<Term> =
                    prim.args().iter().map(|_| self.cartesian_term(context, ty, less)).collect();
                op(Op::Each(prim, *n), tuple(&args))
            }
            Ty::Unit => unit(),
            Ty::Prod(a, b) => {
                pair(self.cartesian_term(context, a, less), self.cartesian_term(context, b, less))
            }
            Ty::Fun(a, b) => {
                let y = Var::fresh("y", (**a).clone());
                let inside = [context, std::slice::from_ref(&y)].concat();
                abs(y, self.cartesian_term(&inside, b, less))
            }
            Ty::Own(Lolli(a, b)) => linlam(self.linear_term(context, a, b, less)),
        }
    }

    /// A variable, taken apart as far as it takes; applied to generated arguments.
    fn in_context(&mut self, context: &[Var], ty: &Ty, fuel: usize) -> Option<Term> {
        let fitting: Vec<Term> =
            context.iter().flat_map(|x| self.parts(context, var(x), ty, fuel)).collect();
        if fitting.is_empty() { None } else { Some(fitting[self.below(fitting.len())].clone()) }
    }

    fn parts(&mut self, context: &[Var], t: Term, ty: &Ty, fuel: usize) -> Vec<Term> {
        if t.ty() == ty {
            return vec![t];
        }
        match t.ty().clone() {
            Ty::Prod(..) => [
                self.parts(context, fst(t.clone()), ty, fuel),
                self.parts(context, snd(t), ty, fuel),
            ]
            .concat(),
            Ty::Fun(a, b) if fuel > 0 && ends_in(&b, ty) => {
                let s = self.cartesian_term(context, &a, fuel / 2);
                self.parts(context, app(t, s), ty, fuel - 1)
            }
            Ty::Real(_) | Ty::Unit | Ty::Fun(..) | Ty::Own(Lolli(..)) => vec![],
        }
    }

    fn redex_of(&mut self, context: &[Var], ty: &Ty, fuel: usize) -> Term {
        let other = self.cartesian_ty(1);
        match self.below(5) {
            0 => fst(self.cartesian_term(context, &ty.clone().times(other), fuel)),
            1 => snd(self.cartesian_term(context, &other.times(ty.clone()), fuel)),
            _ => {
                let f = self.cartesian_term(context, &other.clone().to(ty.clone()), fuel);
                app(f, self.cartesian_term(context, &other, fuel / 2))
            }
        }
    }

    fn linear_term(&mut self, context: &[Var], from: &LTy, to: &LTy, fuel: usize) -> Lin {
        if fuel == 0 {
            return self.consume(context, v(from.clone()), to);
        }
        let less = fuel - 1;
        match self.below(14) {
            0..4 => self.linear_intro(context, from, to, less),
            4 | 5 => plus(
                self.linear_term(context, from, to, less),
                self.linear_term(context, from, to, less),
            ),
            6 => {
                let other = self.linear_ty(1);
                lfst(self.linear_term(context, from, &to.clone().times(other), less))
            }
            7 => {
                let other = self.linear_ty(1);
                lsnd(self.linear_term(context, from, &other.times(to.clone()), less))
            }
            8 => {
                let key = self.cartesian_ty(1);
                let f = self.linear_term(context, from, &to.clone().under(key.clone()), less);
                lapp(f, self.cartesian_term(context, &key, less))
            }
            9 | 10 => self.linear_case(context, from, to, less),
            11 | 12 => self.call(context, from, to, less),
            _ if self.below(4) == 0 => zero_lin(from.clone(), to.clone()),
            _ => {
                let middle = self.linear_ty(1);
                let l = self.linear_term(context, from, &middle, less);
                self.linear_term(context, &middle, to, less).after(&l)
            }
        }
    }

    fn linear_case(&mut self, context: &[Var], from: &LTy, to: &LTy, fuel: usize) -> Lin {
        let y = Var::fresh("y", self.cartesian_ty(1));
        let part = self.linear_ty(1);
        let l = self.linear_term(context, from, &part.clone().tensor(y.ty.clone()), fuel);
        let inside = [context, std::slice::from_ref(&y)].concat();
        case(l, y, self.linear_term(&inside, &part, to, fuel))
    }

    /// `t{l}`, for a variable of linear function type or any term of such a type.
    fn call(&mut self, context: &[Var], from: &LTy, to: &LTy, fuel: usize) -> Lin {
        let functions: Vec<&Var> =
            context.iter().filter(|x| matches!(x.ty, Ty::Own(Lolli(..)))).collect();
        if !functions.is_empty() && self.below(2) == 0 {
            let f = functions[self.below(functions.len())];
            let Ty::Own(Lolli(middle, _)) = &f.ty else { unreachable!("it is a linear function") };
            let result = linapp(var(f), self.linear_term(context, from, middle, fuel));
            return self.consume(context, result, to);
        }
        let middle = self.linear_ty(1);
        let t = self.cartesian_term(context, &middle.clone().lolli(to.clone()), fuel);
        linapp(t, self.linear_term(context, from, &middle, fuel))
    }

    fn linear_intro(&mut self, context: &[Var], from: &LTy, to: &LTy, fuel: usize) -> Lin {
        match to {
            LTy::Real(_) if fuel > 0 && self.below(2) == 0 => {
                let p = self.linear_primitive();
                let t = self.cartesian_term(context, &p.dom(), fuel - 1);
                let l = lprim(p, t, self.linear_term(context, from, &p.ldom(), fuel - 1));
                self.consume(context, l, to)
            }
            LTy::Real(n) => {
                let m = 1 + self.below(2);
                let l = self.linear_term(context, from, &LTy::Real(m), fuel);
                self.resize(context, l, *n, fuel)
            }
            LTy::Unit => lunit(from.clone()),
            LTy::Prod(a, b) => lpair(
                self.linear_term(context, from, a, fuel),
                self.linear_term(context, from, b, fuel),
            ),
            LTy::Fun(key, to) => {
                let y = Var::fresh("y", (**key).clone());
                let inside = [context, std::slice::from_ref(&y)].concat();
                labs(y, self.linear_term(&inside, from, to, fuel))
            }
            LTy::Tensor(key, to) => {
                let t = self.cartesian_term(context, key, fuel);
                tensor(t, self.linear_term(context, from, to, fuel))
            }
        }
    }

    /// A linear operation that ends in `real^n`.
    fn resize(&mut self, context: &[Var], l: Lin, n: usize, fuel: usize) -> Lin {
        let LTy::Real(m) = *l.to() else { unreachable!("a vector") };
        let all = linear_operations(m, n);
        let o = all[self.below(all.len())];
        let t = self.cartesian_term(context, &Ty::dom(&o.dom()), fuel);
        lop(o, t, l)
    }

    /// A primitive on two numbers.
    pub(super) fn any_primitive(&mut self) -> Primitive {
        [
            Primitive::Map { arity: 1, n: 2 },
            Primitive::Map { arity: 2, n: 2 },
            Primitive::Scan { n: 2 },
        ][self.below(3)]
    }

    /// A linear primitive on two numbers.
    pub(super) fn linear_primitive(&mut self) -> LPrim {
        let all = linear_primitives();
        all[self.below(all.len())]
    }

    /// A linear operation between small vectors.
    pub(super) fn linear_operation(&mut self) -> LOp {
        let all = linear_operations(1 + self.below(2), 1 + self.below(2));
        all[self.below(all.len())]
    }

    /// A term of type τ from the result of `l`: the shortest that uses it.
    fn consume(&mut self, context: &[Var], l: Lin, to: &LTy) -> Lin {
        if l.to() == to && self.below(4) > 0 {
            return l;
        }
        match (to, l.to().clone()) {
            (LTy::Unit, _) => lunit(l.from().clone()),
            (LTy::Prod(a, b), _) => {
                lpair(self.consume(context, l.clone(), a), self.consume(context, l, b))
            }
            (LTy::Fun(key, to), _) => {
                let y = Var::fresh("y", (**key).clone());
                let inside = [context, std::slice::from_ref(&y)].concat();
                labs(y, self.consume(&inside, l, to))
            }
            (LTy::Tensor(key, to), _) => {
                tensor(self.cartesian_term(context, key, 0), self.consume(context, l, to))
            }
            (LTy::Real(n), LTy::Real(_)) => self.resize(context, l, *n, 0),
            (LTy::Real(_), LTy::Unit) => zero_lin(l.from().clone(), to.clone()),
            (LTy::Real(_), LTy::Prod(..)) => match self.below(3) {
                0 => self.consume(context, lfst(l), to),
                1 => self.consume(context, lsnd(l), to),
                _ => plus(
                    self.consume(context, lfst(l.clone()), to),
                    self.consume(context, lsnd(l), to),
                ),
            },
            (LTy::Real(_), LTy::Fun(key, _)) => {
                let t = self.cartesian_term(context, &key, 0);
                self.consume(context, lapp(l, t), to)
            }
            (LTy::Real(_), LTy::Tensor(key, part)) => {
                let y = Var::fresh("y", (*key).clone());
                let inside = [context, std::slice::from_ref(&y)].concat();
                let k = self.consume(&inside, v((*part).clone()), to);
                case(l, y, k)
            }
        }
    }

    /// A closed term for each variable.
    pub(super) fn closing(&mut self, context: &[Var]) -> Vec<Term> {
        context.iter().map(|x| self.cartesian(&[], &x.ty, 20)).collect()
    }

    /// A meaning for each variable: that of a closed term.
    pub(super) fn meanings(&mut self, context: &[Var]) -> Env<Value> {
        environment(context, &self.closing(context))
    }

    /// An element of a linear type: the value of a closed linear map from `real` at a number.
    pub(super) fn element(&mut self, ty: &LTy) -> Value {
        let (one, two) =
            (self.linear(&[], &LTy::Real(1), ty, 20), self.linear(&[], &LTy::Real(1), ty, 20));
        eval_linear(&plus(one, two), &Env::default(), &Value::real([0.75]))
    }

    /// Asserts that two meanings are equal. Functions are compared at generated arguments, tensors
    /// through generated linear maps to `real^2`.
    #[track_caller]
    pub(super) fn same_linear(
        &mut self,
        ty: &LTy,
        a: &Value,
        b: &Value,
        what: &dyn std::fmt::Display,
    ) {
        match ty {
            LTy::Real(_) => super::close(&a.numbers(), &b.numbers(), 1e-9, what),
            LTy::Unit => {}
            LTy::Prod(left, right) => {
                self.same_linear(left, &a.fst(), &b.fst(), what);
                self.same_linear(right, &a.snd(), &b.snd(), what);
            }
            LTy::Fun(key, to) => {
                let argument = eval(&self.cartesian(&[], key, 12), &Env::default());
                self.same_linear(to, &a.apply(&argument), &b.apply(&argument), what);
            }
            LTy::Tensor(..) => {
                let [one, two] = [(); 2].map(|()| self.linear(&[], ty, &LTy::Real(2), 20));
                for observer in [one, two, self.consume(&[], v(ty.clone()), &LTy::Real(2))] {
                    let [a, b] = [a, b]
                        .map(|value| eval_linear(&observer, &Env::default(), value).numbers());
                    super::close(&a, &b, 1e-9, what);
                }
            }
        }
    }

    /// See [`Generator::same_linear`]; linear functions are compared at generated elements.
    #[track_caller]
    pub(super) fn same_cartesian(
        &mut self,
        ty: &Ty,
        a: &Value,
        b: &Value,
        what: &dyn std::fmt::Display,
    ) {
        match ty {
            Ty::Real(_) => super::close(&a.numbers(), &b.numbers(), 1e-9, what),
            Ty::Unit => {}
            Ty::Prod(left, right) => {
                self.same_cartesian(left, &a.fst(), &b.fst(), what);
                self.same_cartesian(right, &a.snd(), &b.snd(), what);
            }
            Ty::Fun(from, to) => {
                let argument = eval(&self.cartesian(&[], from, 12), &Env::default());
                self.same_cartesian(to, &a.apply(&argument), &b.apply(&argument), what);
            }
            Ty::Own(Lolli(from, to)) => {
                let argument = self.element(from);
                self.same_linear(to, &a.apply(&argument), &b.apply(&argument), what);
            }
        }
    }
}

/// With how much fuel a term of a size may come out, from the most.
pub(super) fn fuels(size: usize) -> impl Iterator<Item = usize> {
    (1..size.ilog2() as usize).rev()
}

/// The meanings of closed terms, as an environment.
pub(super) fn environment(context: &[Var], terms: &[Term]) -> Env<Value> {
    context
        .iter()
        .zip(terms)
        .fold(Env::default(), |env, (x, t)| env.with(x, eval(t, &Env::default())))
}

/// Whether applications and projections lead from the first type to the second.
fn ends_in(from: &Ty, to: &Ty) -> bool {
    from == to
        || match from {
            Ty::Prod(a, b) => ends_in(a, to) || ends_in(b, to),
            Ty::Fun(_, b) => ends_in(b, to),
            Ty::Real(_) | Ty::Unit | Ty::Own(Lolli(..)) => false,
        }
}

/// All linear operations from `real^m` to `real^n`.
pub(super) fn linear_operations(m: usize, n: usize) -> Vec<LOp> {
    let mut all = vec![LOp::MatVec(n, m), LOp::MatVecT(m, n)];
    let candidates = [
        LOp::Mul(n),
        LOp::Apply(n, m / n),
        LOp::Outer(m, n / m),
        LOp::Sum(m),
        LOp::Replicate(n),
        LOp::Swap,
        LOp::Inner(m),
        LOp::Scale(n),
        LOp::ScaleBy(n),
        LOp::Index(m, m - 1),
        LOp::OneHot(n, 0),
    ];
    all.extend(candidates.into_iter().filter(|o| o.ldom() == [m] && o.cod() == n));
    all
}

/// All linear primitives on two numbers, of one function and of one of two arguments.
pub(super) fn linear_primitives() -> Vec<LPrim> {
    let n = 2;
    let of_arity = |arity| {
        let zip_with = |from, to| LPrim::ZipWith { arity, from, to, n };
        [LPrim::Map { arity, n }, LPrim::Zip { arity, n }, zip_with(arity, 1), zip_with(1, arity)]
    };
    [1, 2].into_iter().flat_map(of_arity).chain([LPrim::Scan { n }, LPrim::Unscan { n }]).collect()
}

/// How often each construct occurs, by name.
pub(super) type Constructs = std::collections::BTreeMap<&'static str, usize>;

/// Counts the constructs of a linear term.
pub(super) fn count_linear(l: &Lin, seen: &mut Constructs) {
    let (name, terms, parts): (_, Vec<&Term>, Vec<&Lin>) = match l.kind() {
        LinKind::Var => ("v", vec![], vec![]),
        LinKind::LOp(_, t, l) => ("lop", vec![t], vec![l]),
        LinKind::LPrim(_, t, l) => ("lprim", vec![t], vec![l]),
        LinKind::Unit => ("<>", vec![], vec![]),
        LinKind::Pair(l, k) => ("<l, k>", vec![], vec![l, k]),
        LinKind::Fst(l) => ("fst l", vec![], vec![l]),
        LinKind::Snd(l) => ("snd l", vec![], vec![l]),
        LinKind::Lam(_, l) => ("\\y. l", vec![], vec![l]),
        LinKind::App(l, t) => ("l t", vec![t], vec![l]),
        LinKind::Tensor(t, l) => ("!t (x) l", vec![t], vec![l]),
        LinKind::Case(l, _, k) => ("case", vec![], vec![l, k]),
        LinKind::LinApp(t, l) if matches!(t.kind(), Kind::Var(_)) => ("x{l}", vec![t], vec![l]),
        LinKind::LinApp(t, l) => ("t{l}", vec![t], vec![l]),
        LinKind::Zero => ("0", vec![], vec![]),
        LinKind::Plus(l, k) => ("l + k", vec![], vec![l, k]),
    };
    *seen.entry(name).or_default() += 1;
    terms.into_iter().for_each(|t| count(t, seen));
    parts.into_iter().for_each(|l| count_linear(l, seen));
}

/// Counts the constructs of a Cartesian term.
pub(super) fn count(t: &Term, seen: &mut Constructs) {
    let (name, terms) = match t.kind() {
        Kind::Var(_) => ("x", vec![]),
        Kind::Op(_, t) => ("op", vec![t]),
        Kind::Prim(_, t) => ("prim", vec![t]),
        Kind::Unit => ("<> Cartesian", vec![]),
        Kind::Pair(t, s) => ("<t, s>", vec![t, s]),
        Kind::Fst(t) => ("fst t", vec![t]),
        Kind::Snd(t) => ("snd t", vec![t]),
        Kind::Lam(_, t) => ("\\x. t", vec![t]),
        Kind::App(t, s) => ("t s", vec![t, s]),
        Kind::Own(LinLam(l)) => {
            count_linear(l, seen);
            ("\\_v. l", vec![])
        }
    };
    *seen.entry(name).or_default() += 1;
    terms.into_iter().for_each(|t| count(t, seen));
}

/// A generated linear term over a generated context.
pub(super) struct Sample {
    /// Its context Γ.
    pub context: Vec<Var>,
    /// `Γ; v : σ ⊢ l : τ`
    pub l: Lin,
    /// For the other inputs of the test.
    pub generator: Generator,
}

/// Generated linear terms, between linear types of at most this order.
pub(super) fn samples(order: usize) -> impl Iterator<Item = Sample> {
    (0..super::TERMS).map(move |seed| {
        let mut generator = Generator::new(seed);
        let context = generator.linear_context(2);
        let (from, to) = (generator.linear_ty(order), generator.linear_ty(order));
        let l = generator.linear(&context, &from, &to, 60);
        Sample { context, l, generator }
    })
}

/// L-1 … L-15: generated terms are typed, and every construct occurs in a good part of them; none
/// dominates, and few are zero.
#[test]
fn every_construct_occurs() {
    let (mut seen, mut zero) = (Constructs::new(), 0);
    for sample in samples(2) {
        check_linear(&sample.context, &sample.l).unwrap();
        count_linear(&sample.l, &mut seen);
        zero += u64::from(matches!(normalize_linear(&sample.l).kind(), LinKind::Zero));
    }
    println!("{seen:?}, {zero} are zero");
    assert_eq!(seen.len(), 25, "{seen:?}");
    assert!(seen.values().all(|count| *count >= 100), "{seen:?}");
    assert!(zero < 300, "{zero} terms are zero");
}
