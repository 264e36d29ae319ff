//! Source terms as terms of `core`: `real` stays, `real^n` for other n becomes an array of n reals.
//! Core types have no sizes; the signature of the definition has.

use std::collections::HashMap;

use lambada_core::{
    self as core, Checkpoint, Data, DefId, LoopKind, Program, Signature, Size, SizedTy, TermKind,
};
use lambada_prim::{Prim, ReduceOp, ScalarTy};
use lambada_source::Span;

use super::{Kind, Term, Ty, Var};
use crate::op::Op;
use crate::primitives::Primitive;
use crate::value::Value;

/// `Γ ⊢ t : T` as a closed term of `core`, a function of the variables of Γ one after the other.
/// The program gives fresh variables.
pub fn to_core(program: &mut Program, context: &[Var], t: &Term) -> Result<core::Term, String> {
    let mut writer = Writer { program, vars: HashMap::new() };
    let params: Vec<core::Var> = context.iter().map(|x| writer.bind(x)).collect();
    let body = writer.term(t)?;
    Ok(params.into_iter().rev().fold(body, |body, x| core::lam(x, body)))
}

/// Adds `Γ ⊢ t : T` to a program as a definition of this name, whose signature tells all sizes.
pub fn define(
    program: &mut Program,
    name: &str,
    context: &[Var],
    t: &Term,
) -> Result<DefId, String> {
    let body = to_core(program, context, t)?;
    let params = context.iter().map(|x| (x.hint.clone(), sized(&x.ty))).collect();
    let signature = Signature { params, result: Some(sized(t.ty())) };
    Ok(program.define(name, body, signature, Span::default()))
}

/// A first-order value as `core` takes and gives it; `None` if it contains a function.
pub fn data(value: &Value) -> Option<Data> {
    match value {
        Value::Real(values) if values.len() == 1 => Some(values[0].into()),
        Value::Real(values) => Some(values.to_vec().into()),
        Value::Unit => Some(Data::unit()),
        Value::Pair(both) => Some(Data::Tuple(vec![data(&both.0)?, data(&both.1)?])),
        Value::Fun(_) | Value::Sum(_) | Value::LinFun(_) | Value::Copower(_) => None,
    }
}

struct Writer<'a> {
    program: &'a mut Program,
    vars: HashMap<u32, core::Var>,
}

impl Writer<'_> {
    fn bind(&mut self, x: &Var) -> core::Var {
        let new = self.program.fresh(&x.hint, ty(&x.ty));
        self.vars.insert(x.id, new.clone());
        new
    }

    fn term(&mut self, t: &Term) -> Result<core::Term, String> {
        match t.kind() {
            Kind::Var(x) => self
                .vars
                .get(&x.id)
                .map(core::var)
                .ok_or_else(|| format!("{} is not in scope", x.hint)),
            Kind::Op(op, t) => {
                let argument = self.term(t)?;
                self.op(op, argument)
            }
            Kind::Prim(p, t) => {
                let argument = self.term(t)?;
                Ok(self.prim(*p, argument))
            }
            Kind::Unit => Ok(core::tuple(vec![])),
            Kind::Pair(t, s) => Ok(core::tuple(vec![self.term(t)?, self.term(s)?])),
            Kind::Fst(t) => Ok(core::proj(self.term(t)?, 0)),
            Kind::Snd(t) => Ok(core::proj(self.term(t)?, 1)),
            Kind::Lam(x, t) => {
                let x = self.bind(x);
                Ok(core::lam(x, self.term(t)?))
            }
            Kind::App(t, s) => Ok(core::app(self.term(t)?, self.term(s)?)),
            Kind::Own(never) => match *never {},
        }
    }

    /// `let p = t in op(p)`: an argument is evaluated once, however often its elements are read.
    fn op(&mut self, op: &Op, argument: core::Term) -> Result<core::Term, String> {
        let whole = self.program.fresh("p", argument.ty().clone());
        let sizes = op.dom();
        let part = |(k, n): (usize, &usize)| Vector {
            term: component(core::var(&whole), k, sizes.len()),
            size: *n,
        };
        let args: Vec<Vector> = sizes.iter().enumerate().map(part).collect();
        let body = self.at_vectors(op, &args)?;
        Ok(if args.is_empty() { body } else { core::let_(whole, argument, body) })
    }

    /// `op` at as many vectors as it takes.
    fn at_vectors(&mut self, op: &Op, args: &[Vector]) -> Result<core::Term, String> {
        let mul = |a, b| core::prim(Prim::Mul, vec![a, b]);
        let first = |x: &Vector| x.at(&core::int(0));
        Ok(match op {
            Op::Const(values) => literal(&values.0),
            Op::Each(prim, n) => {
                self.build(*n, |_, i| core::prim(*prim, args.iter().map(|x| x.at(i)).collect()))
            }
            Op::Partial(..) => {
                return Err(format!(
                    "{op} is written by derivatives alone, never in the source language"
                ));
            }
            Op::MatVec(n, m) => self.build(*n, |w, i| {
                w.sum(*m, |_, j| mul(args[0].at(&offset(i, *m, j)), args[1].at(j)))
            }),
            Op::Sum(n) => self.sum(*n, |_, i| args[0].at(i)),
            Op::Replicate(n) => self.build(*n, |_, _| args[0].term.clone()),
            Op::Index(_, i) => args[0].at(&core::int(*i as i64)),
            Op::Vector(1) => args[0].term.clone(),
            Op::Vector(_) => array(args.iter().map(|x| x.term.clone()).collect()),
            Op::Sigmoid => sigmoid(first(&args[0])),
            Op::Swap => array(vec![args[0].at(&core::int(1)), first(&args[0])]),
            Op::Inner(n) => self.sum(*n, |_, i| mul(args[0].at(i), args[1].at(i))),
            Op::Scale(n) => self.build(*n, |_, i| mul(first(&args[0]), args[1].at(i))),
            Op::Product => mul(first(&args[0]), args[0].at(&core::int(1))),
        })
    }

    /// `let p = <f, args> in prim(p)`.
    fn prim(&mut self, prim: Primitive, argument: core::Term) -> core::Term {
        let whole = self.program.fresh("p", argument.ty().clone());
        let (f, vectors) = (core::proj(core::var(&whole), 0), core::proj(core::var(&whole), 1));
        let sizes = prim.args();
        let part = |(k, n): (usize, &usize)| Vector {
            term: component(vectors.clone(), k, sizes.len()),
            size: *n,
        };
        let args: Vec<Vector> = sizes.iter().enumerate().map(part).collect();
        let body = match prim {
            Primitive::Map { n, .. } => {
                self.build(n, |_, i| core::app(f, point(args.iter().map(|x| x.at(i)))))
            }
            Primitive::Scan { n } => self.scan(n, f, &args[0], &args[1]),
        };
        core::let_(whole, argument, body)
    }

    /// The states that a loop visits, and the last:
    /// `loop <visited, s> = <0, z> for i < n do <visited with [i] = s, f <s, v[i]>>`.
    fn scan(&mut self, n: usize, f: core::Term, start: &Vector, v: &Vector) -> core::Term {
        let start = start.term.clone();
        if n == 1 {
            return core::tuple(vec![
                start.clone(),
                core::app(f, point([start, v.term.clone()].into_iter())),
            ]);
        }
        let zeros = self.build(n, |_, _| core::real(0.0));
        let init = core::tuple(vec![zeros, start]);
        let (state, i) =
            (self.program.fresh("s", init.ty().clone()), self.program.fresh("i", core::Ty::INT));
        let (visited, last) = (core::proj(core::var(&state), 0), core::proj(core::var(&state), 1));
        let visited = core::update(visited, vec![core::var(&i)], last.clone(), Span::default());
        let next = core::app(f, point([last, v.at(&core::var(&i))].into_iter()));
        core::loop_(
            state,
            init,
            LoopKind::For(i, core::int(n as i64), Checkpoint::All),
            core::tuple(vec![visited, next]),
        )
    }

    /// The vector whose elements the body gives.
    fn build(
        &mut self,
        n: usize,
        body: impl FnOnce(&mut Self, &core::Term) -> core::Term,
    ) -> core::Term {
        if n == 1 {
            return body(self, &core::int(0));
        }
        let i = self.program.fresh("i", core::Ty::INT);
        let element = body(self, &core::var(&i));
        core::for_(i, core::int(n as i64), element)
    }

    /// The sum of the body's values.
    fn sum(
        &mut self,
        n: usize,
        body: impl FnOnce(&mut Self, &core::Term) -> core::Term,
    ) -> core::Term {
        let terms = self.build(n, body);
        if n == 1 { terms } else { core::reduce(ReduceOp::Add, terms) }
    }
}

/// A term for a vector, and its size.
struct Vector {
    term: core::Term,
    size: usize,
}

impl Vector {
    /// `real^1` is `real`: its only element is itself.
    fn at(&self, i: &core::Term) -> core::Term {
        if self.size == 1 {
            self.term.clone()
        } else {
            core::index(self.term.clone(), vec![i.clone()], Span::default())
        }
    }
}

/// A product that nests to the left.
fn point(items: impl Iterator<Item = core::Term>) -> core::Term {
    items.reduce(|a, b| core::tuple(vec![a, b])).unwrap_or_else(|| core::tuple(vec![]))
}

/// The k-th of n components of a product that nests to the left.
fn component(t: core::Term, k: usize, n: usize) -> core::Term {
    match (n, k + 1 == n) {
        (1, _) => t,
        (_, true) => core::proj(t, 1),
        (_, false) => component(core::proj(t, 0), k, n - 1),
    }
}

/// `i * m + j`: where a matrix of rows of m has its element `i, j`.
fn offset(i: &core::Term, m: usize, j: &core::Term) -> core::Term {
    let row = core::prim(Prim::MulInt, vec![i.clone(), core::int(m as i64)]);
    core::prim(Prim::AddInt, vec![row, j.clone()])
}

fn literal(values: &[f64]) -> core::Term {
    if let [value] = values {
        core::real(*value)
    } else {
        array(values.iter().map(|x| core::real(*x)).collect())
    }
}

fn array(items: Vec<core::Term>) -> core::Term {
    core::Term::new(TermKind::Array(items), core::Ty::array(core::Ty::REAL), Span::default())
}

fn sigmoid(x: core::Term) -> core::Term {
    let negative = core::prim(Prim::Neg, vec![x]);
    let below = core::prim(Prim::Add, vec![core::real(1.0), core::prim(Prim::Exp, vec![negative])]);
    core::prim(Prim::Div, vec![core::real(1.0), below])
}

fn ty(t: &Ty) -> core::Ty {
    match t {
        Ty::Real(1) => core::Ty::REAL,
        Ty::Real(_) => core::Ty::array(core::Ty::REAL),
        Ty::Unit => core::Ty::unit(),
        Ty::Prod(a, b) => core::Ty::tuple([ty(a), ty(b)]),
        Ty::Fun(a, b) => core::Ty::fun(ty(a), ty(b)),
        Ty::Own(never) => match *never {},
    }
}

/// A type with its sizes, as a signature has it.
fn sized(t: &Ty) -> SizedTy {
    match t {
        Ty::Real(1) => SizedTy::Scalar(ScalarTy::Real),
        Ty::Real(n) => {
            SizedTy::Array(Size::Const(*n as u64), Box::new(SizedTy::Scalar(ScalarTy::Real)))
        }
        Ty::Unit => SizedTy::Tuple(vec![]),
        Ty::Prod(a, b) => SizedTy::Tuple(vec![sized(a), sized(b)]),
        Ty::Fun(a, b) => SizedTy::Fun(Box::new(sized(a)), Box::new(sized(b))),
        Ty::Own(never) => match *never {},
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::source::{constant, eval, normalize, of_core, op_at, pair, var};
    use crate::var::Env;

    fn written(x: &Var, t: &Term) -> (Program, DefId) {
        let mut program = Program::default();
        let id = define(&mut program, "f", std::slice::from_ref(x), t).unwrap();
        core::check(&program).unwrap_or_else(|e| panic!("{t}: {e}"));
        (program, id)
    }

    /// The written program has the meaning of the term.
    #[track_caller]
    fn check_meaning(x: &Var, t: &Term, at: &Value) {
        let (program, id) = written(x, t);
        let found = core::eval::run(&program, id, &[data(at).unwrap()])
            .unwrap_or_else(|f| panic!("{t}: {}", f.message));
        let expect = data(&eval(t, &Env::default().with(x, at.clone()))).unwrap();
        found
            .close(&expect, 1e-12)
            .unwrap_or_else(|e| panic!("{t}: {e}\n{}", core::print_program(&program)));
    }

    /// Whether the term, or the type of one of its variables, has a vector. `of_core` knows none.
    fn has_vectors(t: &Term) -> bool {
        fn within(ty: &Ty) -> bool {
            match ty {
                Ty::Real(n) => *n != 1,
                Ty::Unit => false,
                Ty::Prod(a, b) | Ty::Fun(a, b) => within(a) || within(b),
                Ty::Own(never) => match *never {},
            }
        }
        within(t.ty()) || t.children().into_iter().any(has_vectors)
    }

    fn generated(
        programs: usize,
        chosen: fn(&Var, &Term) -> bool,
    ) -> impl Iterator<Item = (Generator, Var, Term)> {
        let all = (0..).map(|seed| {
            let mut g = Generator::new(seed);
            let (x, t) = g.program();
            (g, x, t)
        });
        all.filter(move |(_, x, t)| chosen(x, t)).take(programs)
    }

    /// There and back: the same program, up to the equations of the language. (The expansion of
    /// `sigmoid` is not among them.)
    #[test]
    fn round_trip() {
        for (mut g, x, t) in generated(1000, |x, t| {
            !has_vectors(t) && !has_vectors(&var(x)) && !t.to_string().contains("sigmoid")
        }) {
            check_meaning(&x, &t, &g.value(&x.ty));
            let (program, id) = written(&x, &t);
            let (y, back) = of_core(&program, id).unwrap();
            let back = back.subst(&y, &var(&x));
            assert_eq!(normalize(&back), normalize(&t), "{t} came back as {back}");
        }
    }

    /// Vectors as arrays have the meaning that they have in the source language.
    #[test]
    fn vectors() {
        for (mut g, x, t) in generated(1000, |x, t| has_vectors(t) || has_vectors(&var(x))) {
            check_meaning(&x, &t, &g.value(&x.ty));
        }
    }

    /// Every operation, at sizes that tell rows from columns, and at the sizes 0 and 1.
    #[test]
    fn operations() {
        let mut ops = vec![
            Op::Sigmoid,
            Op::Swap,
            Op::Product,
            Op::constant([]),
            Op::constant([1.5]),
            Op::constant([1.0, -2.0, 3.0]),
        ];
        for n in 0..4 {
            ops.extend([
                Op::Sum(n),
                Op::Inner(n),
                Op::Scale(n),
                Op::Each(Prim::Sub, n),
                Op::Each(Prim::Sin, n),
            ]);
            ops.extend((0..4).map(|m| Op::MatVec(n, m)));
        }
        for op in ops {
            let mut g = Generator::new(7);
            let x = Var::fresh("x", Ty::dom(&op.dom()));
            let at = g.value(&x.ty);
            check_meaning(&x, &super::super::op(op, var(&x)), &at);
        }
    }

    /// Operations that only derivatives write are refused by name.
    #[test]
    fn partials() {
        let x = Var::fresh("x", Ty::Real(2));
        let t = op_at(Op::Partial(Prim::Abs, 0, 2), &[var(&x)]);
        let error = to_core(&mut Program::default(), std::slice::from_ref(&x), &t).unwrap_err();
        assert_eq!(error, "d1_abs is written by derivatives alone, never in the source language");
        let free = pair(var(&x), constant([1.0]));
        assert_eq!(to_core(&mut Program::default(), &[], &free).unwrap_err(), "x is not in scope");
    }

    /// Interfaces and native code know the sizes from the signature.
    #[test]
    fn signatures() {
        let x = Var::fresh("x", Ty::Real(3).times(Ty::Unit));
        let (program, id) = written(&x, &var(&x));
        let signature = &program.def(id).signature;
        let real = Box::new(SizedTy::Scalar(ScalarTy::Real));
        let expect =
            SizedTy::Tuple(vec![SizedTy::Array(Size::Const(3), real), SizedTy::Tuple(vec![])]);
        assert_eq!((&signature.params[0].1, &signature.result), (&expect, &Some(expect.clone())));
    }

    /// Constructs of `core` beyond §3 are refused by name.
    #[test]
    fn outside() {
        let mut program = Program::default();
        let x = program.fresh("x", core::Ty::REAL);
        let less = core::prim(Prim::Lt, vec![core::var(&x), core::real(0.0)]);
        let body = core::lam(x, core::if_(less, core::real(1.0), core::real(2.0)));
        program.define("f", body, Default::default(), Default::default());
        let error = of_core(&program, DefId(0)).unwrap_err();
        assert_eq!(error.construct, "`if`");
        assert!(error.instead.contains("no conditionals"), "{}", error.instead);
    }
}
