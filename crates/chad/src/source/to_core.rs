//! Source terms over real numbers as terms of `core`. Vectors have no counterpart there whose size is static.

use std::collections::HashMap;

use lambada_core::{self as core, Program};
use lambada_prim::Prim;

use super::{Kind, Term, Ty, Var};
use crate::op::Op;

/// `Γ ⊢ t : T` as a closed term of `core`, a function of the variables of Γ one after the other. The program gives fresh variables.
pub fn to_core(program: &mut Program, context: &[Var], t: &Term) -> Result<core::Term, String> {
    let mut writer = Writer { program, vars: HashMap::new() };
    let params = context.iter().map(|x| writer.bind(x)).collect::<Result<Vec<_>, _>>()?;
    let body = writer.term(t)?;
    Ok(params.into_iter().rev().fold(body, |body, x| core::lam(x, body)))
}

struct Writer<'a> {
    program: &'a mut Program,
    vars: HashMap<u32, core::Var>,
}

impl Writer<'_> {
    fn bind(&mut self, x: &Var) -> Result<core::Var, String> {
        let new = self.program.fresh(&x.hint, ty(&x.ty)?);
        self.vars.insert(x.id, new.clone());
        Ok(new)
    }

    fn term(&mut self, t: &Term) -> Result<core::Term, String> {
        match t.kind() {
            Kind::Var(x) => self.vars.get(&x.id).map(core::var).ok_or_else(|| format!("{} is not in scope", x.hint)),
            Kind::Op(op, t) => {
                let argument = self.term(t)?;
                self.op(op, argument)
            }
            Kind::Unit => Ok(core::tuple(vec![])),
            Kind::Pair(t, s) => Ok(core::tuple(vec![self.term(t)?, self.term(s)?])),
            Kind::Fst(t) => Ok(core::proj(self.term(t)?, 0)),
            Kind::Snd(t) => Ok(core::proj(self.term(t)?, 1)),
            Kind::Lam(x, t) => {
                let x = self.bind(x)?;
                Ok(core::lam(x, self.term(t)?))
            }
            Kind::App(t, s) => Ok(core::app(self.term(t)?, self.term(s)?)),
        }
    }

    fn op(&mut self, op: &Op, argument: core::Term) -> Result<core::Term, String> {
        match op {
            Op::Const(values) if values.0.len() == 1 => Ok(core::real(values.0[0])),
            Op::Each(prim, 1) => Ok(self.prim(*prim, argument)),
            Op::Sigmoid => {
                let negative = core::prim(Prim::Neg, vec![argument]);
                let below = core::prim(Prim::Add, vec![core::real(1.0), core::prim(Prim::Exp, vec![negative])]);
                Ok(core::prim(Prim::Div, vec![core::real(1.0), below]))
            }
            Op::Const(_) | Op::Each(..) | Op::Partial(..) | Op::MatVec(..) | Op::Sum(_) => Err(format!("{op} is on vectors")),
            Op::Swap | Op::Inner(_) | Op::Scale(_) | Op::Product => Err(format!("{op} is on vectors")),
        }
    }

    fn prim(&mut self, prim: Prim, argument: core::Term) -> core::Term {
        if prim.args().len() == 1 {
            return core::prim(prim, vec![argument]);
        }
        let both = self.program.fresh("p", argument.ty().clone());
        let args = (0..2).map(|k| core::proj(core::var(&both), k)).collect();
        core::let_(both, argument, core::prim(prim, args))
    }
}

fn ty(t: &Ty) -> Result<core::Ty, String> {
    match t {
        Ty::Real(1) => Ok(core::Ty::REAL),
        Ty::Real(n) => Err(format!("real^{n} has no counterpart in core")),
        Ty::Unit => Ok(core::Ty::unit()),
        Ty::Prod(a, b) => Ok(core::Ty::tuple([ty(a)?, ty(b)?])),
        Ty::Fun(a, b) => Ok(core::Ty::fun(ty(a)?, ty(b)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::source::{eval, normalize, of_core, var};
    use crate::value::Value;
    use crate::var::Env;
    use lambada_core::{Data, Def, DefId};

    fn numbers(data: &Data) -> Vec<f64> {
        match data {
            Data::Tensor(tensor) => vec![tensor.as_scalar().unwrap().real()],
            Data::Tuple(items) => items.iter().flat_map(numbers).collect(),
            Data::Record(_) | Data::Array(_) | Data::Con { .. } => panic!("{data} is not a tuple of numbers"),
        }
    }

    fn data(value: &Value) -> Data {
        match value {
            Value::Pair(_) => Data::Tuple(vec![data(&value.fst()), data(&value.snd())]),
            Value::Unit => Data::unit(),
            other => other.numbers()[0].into(),
        }
    }

    /// There and back, and equal in the meaning of `core`.
    #[test]
    fn round_trip() {
        let mut done = 0;
        for seed in 0..2000 {
            let mut g = Generator::new(seed);
            let (x, t) = g.program();
            let mut program = Program::default();
            let Ok(body) = to_core(&mut program, std::slice::from_ref(&x), &t) else { continue };
            program.defs.push(Def { name: "f".into(), body, signature: Default::default(), span: Default::default() });
            lambada_core::check(&program).unwrap();
            let at = g.value(&x.ty);
            let result = lambada_core::eval::run(&program, DefId(0), &[data(&at)]).unwrap();
            assert_eq!(numbers(&result), eval(&t, &Env::default().with(&x, at)).flatten().unwrap());
            let (y, back) = of_core(&program, DefId(0)).unwrap();
            let (back, sigmoid) = (back.subst(&y, &var(&x)), t.to_string().contains("sigmoid"));
            assert!(sigmoid || normalize(&back) == normalize(&t), "{t} came back as {back}");
            done += 1;
        }
        assert!(done > 300, "only {done}");
    }

    /// What `core` has beyond §2 is refused by name.
    #[test]
    fn outside() {
        let mut program = Program::default();
        let x = program.fresh("x", core::Ty::REAL);
        let less = core::prim(Prim::Lt, vec![core::var(&x), core::real(0.0)]);
        let body = core::lam(x, core::if_(less, core::real(1.0), core::real(2.0)));
        program.defs.push(Def { name: "f".into(), body, signature: Default::default(), span: Default::default() });
        let error = of_core(&program, DefId(0)).unwrap_err();
        assert!(error.to_string().starts_with("`if` is not in the source language"), "{error}");
    }
}
