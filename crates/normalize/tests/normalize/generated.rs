//! Generated programs: the normalized program agrees with the meaning of core.

use lambada_anf::Random;
use lambada_core::{
    Arm, Checkpoint, LoopKind, Term, TermKind, TypeDecl, TypeId, app, dim, first_order, for_, if_,
    index, int, lit, loop_, match_, proj, reduce, tuple, update,
};
use lambada_prim::{ReduceOp, Scalar, ScalarTy};

use super::*;

/// Draws well-typed terms.
struct Draw {
    program: Program,
    random: Random,
    /// Variables in scope.
    scope: Vec<Var>,
    figure: Ty,
}

fn reals() -> Ty {
    Ty::array(Ty::REAL)
}

fn array(items: Vec<Term>) -> Term {
    let ty = Ty::array(items[0].ty().clone());
    Term::new(TermKind::Array(items), ty, Span::default())
}

fn con(ty: &Ty, tag: usize, args: Vec<Term>) -> Term {
    Term::new(TermKind::Con(tag, args), ty.clone(), Span::default())
}

/// The drawn types, functions among them.
fn types(figure: &Ty) -> Vec<Ty> {
    let real_pair = Ty::tuple([Ty::REAL, reals()]);
    let endo = Ty::fun(Ty::REAL, Ty::REAL);
    vec![
        Ty::REAL,
        Ty::INT,
        Ty::BOOL,
        reals(),
        Ty::array(reals()),
        endo.clone(),
        Ty::fun(reals(), Ty::REAL),
        Ty::fun(Ty::REAL, reals()),
        figure.clone(),
        Ty::tuple([endo.clone(), Ty::INT]),
        real_pair,
        Ty::array(endo),
        Ty::array(figure.clone()),
        Ty::array(Ty::tuple([Ty::REAL, Ty::INT])),
    ]
}

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn bound<T>(&mut self, x: &Var, inside: impl FnOnce(&mut Draw) -> T) -> T {
        self.scope.push(x.clone());
        let result = inside(self);
        self.scope.pop();
        result
    }

    fn lambda(&mut self, from: &Ty, to: &Ty, fuel: usize) -> Term {
        let x = self.program.fresh("x", from.clone());
        let body = self.bound(&x, |d| d.term(to, fuel));
        lam(x, body)
    }

    /// A term of the type.
    fn term(&mut self, ty: &Ty, fuel: usize) -> Term {
        if fuel == 0 || self.below(6) == 0 {
            return self.leaf(ty);
        }
        let fuel = fuel - 1;
        match self.below(9) {
            0 => {
                let all = types(&self.figure);
                let bound = all[self.below(all.len())].clone();
                let value = self.term(&bound, fuel);
                let x = self.program.fresh("v", bound);
                let body = self.bound(&x, |d| d.term(ty, fuel));
                let_(x, value, body)
            }
            1 => if_(self.term(&Ty::BOOL, fuel), self.term(ty, fuel), self.term(ty, fuel)),
            2 => {
                let from = if self.below(2) == 0 { Ty::REAL } else { reals() };
                let (f, x) =
                    (self.term(&Ty::fun(from.clone(), ty.clone()), fuel), self.term(&from, fuel));
                app(f, x)
            }
            3 => {
                let xs = self.term(&Ty::array(ty.clone()), fuel);
                let k = self.below(3) as i64;
                index(xs, vec![int(k)], Span::default())
            }
            4 => {
                let (s, i) =
                    (self.program.fresh("s", ty.clone()), self.program.fresh("i", Ty::INT));
                let init = self.term(ty, fuel);
                let n = self.below(3) as i64;
                let body = self.bound(&s, |d| d.bound(&i, |d| d.term(ty, fuel)));
                loop_(s, init, LoopKind::For(i, int(n), Checkpoint::All), body)
            }
            5 => self.matched(ty, fuel),
            6..9 => self.introduced(ty, fuel),
            _ => unreachable!(),
        }
    }

    fn binary(&mut self, op: Prim, ty: &Ty, fuel: usize) -> Term {
        prim(op, vec![self.term(ty, fuel), self.term(ty, fuel)])
    }

    fn matched(&mut self, ty: &Ty, fuel: usize) -> Term {
        let figure = self.figure.clone();
        let t = self.term(&figure, fuel);
        let (r, xs) = (self.program.fresh("r", Ty::REAL), self.program.fresh("xs", reals()));
        let circle = self.bound(&r, |d| d.term(ty, fuel));
        let poly = self.bound(&xs, |d| d.term(ty, fuel));
        let dot = self.term(ty, fuel);
        match_(
            t,
            vec![
                Arm { vars: vec![r], body: circle },
                Arm { vars: vec![xs], body: poly },
                Arm { vars: vec![], body: dot },
            ],
        )
    }

    /// A term by a construct of the type.
    fn introduced(&mut self, ty: &Ty, fuel: usize) -> Term {
        match ty {
            Ty::Scalar(ScalarTy::Real) => match self.below(6) {
                4 => self.derivative(ty, fuel),
                5 => {
                    let factors = [0, 1].map(|_| prim(Prim::Sin, vec![self.term(ty, fuel)]));
                    prim(Prim::Mul, factors.to_vec())
                }
                0 => reduce(ReduceOp::Add, self.term(&reals(), fuel)),
                1 => prim(Prim::ToReal, vec![self.term(&Ty::INT, fuel)]),
                2 => self.binary(Prim::Add, ty, fuel),
                _ => prim(Prim::Sin, vec![self.term(ty, fuel)]),
            },
            Ty::Scalar(ScalarTy::Int) => match self.below(3) {
                0 => dim(self.term(&reals(), fuel), 0),
                1 => self.binary(Prim::AddInt, ty, fuel),
                _ => self.binary(Prim::SubInt, ty, fuel),
            },
            Ty::Scalar(ScalarTy::Bool) if self.below(2) == 0 => {
                self.binary(Prim::Lt, &Ty::REAL, fuel)
            }
            Ty::Scalar(ScalarTy::Bool) => self.binary(Prim::LtInt, &Ty::INT, fuel),
            Ty::Array(elem) if **elem == Ty::REAL && self.below(3) == 0 => match self.below(2) {
                0 => self.derivative(ty, fuel),
                _ => self.accumulated(fuel),
            },
            Ty::Array(elem) => self.array(elem, fuel),
            Ty::Fun(from, to) => self.lambda(from, to, fuel),
            Ty::Tuple(items) => tuple(items.iter().map(|t| self.term(t, fuel)).collect()),
            Ty::Variant(_) => match self.below(3) {
                0 => con(ty, 0, vec![self.term(&Ty::REAL, fuel)]),
                1 => con(ty, 1, vec![self.term(&reals(), fuel)]),
                _ => con(ty, 2, vec![]),
            },
            Ty::Record(_) => unreachable!("records are not drawn"),
        }
    }

    /// A derivative by or along a value of the type, which holds reals only.
    fn derivative(&mut self, ty: &Ty, fuel: usize) -> Term {
        if self.below(2) == 0 {
            let f = self.term(&Ty::fun(ty.clone(), Ty::REAL), fuel);
            let (x, d) = (self.term(ty, fuel), self.term(&Ty::REAL, fuel));
            app(proj(lambada_core::vjp(f, x, Span::default()), 1), d)
        } else {
            let f = self.term(&Ty::fun(Ty::REAL, ty.clone()), fuel);
            let (x, d) = (self.term(&Ty::REAL, fuel), self.term(&Ty::REAL, fuel));
            proj(lambada_core::jvp(f, x, d, Span::default()), 1)
        }
    }

    /// `(accumulate h = xs in for i < 2 => h[i] += x).1`
    fn accumulated(&mut self, fuel: usize) -> Term {
        let (init, acc, i) = (
            self.term(&reals(), fuel),
            self.program.fresh("h", reals()),
            self.program.fresh("i", Ty::INT),
        );
        let value = self.bound(&i, |d| d.term(&Ty::REAL, fuel));
        let add = TermKind::Add { acc: acc.clone(), index: vec![var(&i)], value };
        let body = for_(i, int(2), Term::new(add, Ty::unit(), Span::default()));
        let ty = Ty::tuple([body.ty().clone(), reals()]);
        proj(Term::new(TermKind::Accumulate { acc, init, body }, ty, Span::default()), 1)
    }

    fn array(&mut self, elem: &Ty, fuel: usize) -> Term {
        match self.below(4) {
            0 => array((0..1 + self.below(3)).map(|_| self.term(elem, fuel)).collect()),
            // the meaning compares a new element only with the one that it replaces, and variants
            // differ in their sizes
            1 if *elem != self.figure => {
                let xs = self.term(&Ty::array(elem.clone()), fuel);
                let k = self.below(2) as i64;
                update(xs, vec![int(k)], self.term(elem, fuel), Span::default())
            }
            _ => {
                let i = self.program.fresh("i", Ty::INT);
                let n = match elem {
                    Ty::Scalar(_) if self.below(3) == 0 => dim(self.term(&reals(), fuel), 0),
                    Ty::Scalar(_) => int(self.below(4) as i64),
                    _ => int(1 + self.below(3) as i64), // the sizes of elements that are not there are not compared
                };
                let body = self.bound(&i, |d| d.term(elem, fuel));
                for_(i, n, body)
            }
        }
    }

    /// A small term: a variable, if one of the type is in scope.
    fn leaf(&mut self, ty: &Ty) -> Term {
        let fitting: Vec<Var> = self.scope.iter().filter(|x| x.ty == *ty).cloned().collect();
        if !fitting.is_empty() && self.below(5) > 0 {
            return var(&fitting[self.below(fitting.len())]);
        }
        match ty {
            Ty::Scalar(ScalarTy::Real) => real(self.below(5) as f64 - 2.0),
            Ty::Scalar(ScalarTy::Int) => int(self.below(4) as i64),
            Ty::Scalar(ScalarTy::Bool) => lit(Scalar::Bool(self.below(2) == 0)),
            Ty::Array(elem) => {
                let items = (0..2).map(|_| self.leaf(elem)).collect();
                array(items)
            }
            Ty::Fun(from, to) => self.lambda(from, to, 0),
            Ty::Tuple(items) => tuple(items.iter().map(|t| self.leaf(t)).collect()),
            Ty::Variant(_) => con(ty, 2, vec![]),
            Ty::Record(_) => unreachable!("records are not drawn"),
        }
    }
}

/// A function of a real, an integer and an array: its program, and its normalized code.
fn draw(seed: u64, fuel: usize) -> (Program, Normalized) {
    let mut program = Program::default();
    let constructors = [("Circle", vec![Ty::REAL]), ("Poly", vec![reals()]), ("Dot", vec![])];
    program.types.push(TypeDecl {
        name: "figure".into(),
        constructors: constructors.map(|(name, args)| (name.into(), args)).to_vec(),
        ..TypeDecl::default()
    });
    let params = [("x", Ty::REAL), ("k", Ty::INT), ("xs", reals())];
    let scope = params.map(|(name, ty)| program.fresh(name, ty)).to_vec();
    let figure = Ty::Variant(TypeId(0));
    let mut d = Draw { program, random: Random(seed), scope: scope.clone(), figure };
    let mut all = types(&d.figure);
    all.retain(|ty| first_order(&d.program, ty));
    let ty = all[d.below(all.len())].clone();
    let body = d.term(&ty, fuel);
    let main = scope.into_iter().rev().fold(body, |body, x| lam(x, body));
    let code = normalized(&mut d.program, main);
    (d.program, code)
}

/// The value without the sizes that elements of empty arrays would have: the meaning of core knows
/// them if the first element could be computed, the normalized program if they follow without it.
fn settled(data: Data) -> Data {
    let all = |items: Vec<Data>| items.into_iter().map(settled).collect();
    match data {
        Data::Tensor(mut tensor) => {
            if let Some(k) = tensor.dims.iter().position(|d| *d == 0) {
                tensor.dims[k..].fill(0);
            }
            Data::Tensor(tensor)
        }
        Data::Tuple(items) => Data::Tuple(all(items)),
        Data::Record(fields) => {
            Data::Record(fields.into_iter().map(|(name, value)| (name, settled(value))).collect())
        }
        Data::Array(items) => Data::Array(all(items)),
        Data::Con { name, tag, args } => Data::Con { name, tag, args: all(args.into_vec()).into() },
    }
}

/// Whether the failure is about a variant that a loop carries. Its sizes are those of the initial
/// state, even if that has another constructor.
fn is_about_start(message: &str) -> bool {
    message.starts_with("the loop's state changes size")
}

fn compare(seed: u64, fuel: usize) {
    let (program, normalized) = draw(seed, fuel);
    lambada_core::check(&program).expect("core is well typed");
    for (x, k, xs) in [(0.5, 1, vec![1.0, 2.0]), (-1.0, 0, vec![]), (1.5, 3, vec![3.0, -1.0, 0.5])]
    {
        let args = [x.into(), Data::from(k), xs.into()];
        let (actual, meaning) = (run(&normalized, &args), eval::run(&program, DefId(0), &args));
        let text = || {
            format!(
                "seed {seed}\n{}\n{}",
                lambada_core::print_program(&program),
                anf::print(&normalized.function)
            )
        };
        match (actual, meaning) {
            (Ok(a), Ok(b)) => settled(a.clone())
                .close(&settled(b.clone()), 1e-9)
                .unwrap_or_else(|e| panic!("{e}: {a} is not {b}\n{}", text())),
            (Err(_), Err(_)) => {} // which of several failures comes first, iterations do not say
            (Err(f), Ok(_)) if is_about_start(&f.message) && text().matches("Poly").count() > 1 => {
            }
            (actual, meaning) => panic!("{actual:?} is not {meaning:?}\n{}", text()),
        }
    }
}

#[test]
fn normalized_programs_keep_their_meaning() {
    (0..4000).for_each(|seed| compare(seed, 5));
}
