//! Oracle tests: `core::eval = anf::eval ∘ normalize`, failures included, on programs built by hand.

mod arrays;
mod control;
mod derivatives;
mod functions;
mod generated;
mod recursion;
mod sizes;
mod variants;

use std::rc::Rc;

use lambada_anf as anf;
use lambada_core::{
    Arm, Checkpoint, Data, DefId, LoopKind, Program, Signature, Size, SizedTy, Term, TermKind, Ty,
    TypeDecl, TypeId, Var,
};
use lambada_core::{
    app, dim, eval, for_, if_, index, int, lam, let_, lit, loop_, match_, prim, proj, real, reduce,
    tuple, update, var,
};
use lambada_differentiate::Differentiate;
use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy, Tensor};
use lambada_source::{Failure, FileId, Problem, Span};

use crate::{Normalized, normalize};

/// A program under construction.
#[derive(Default)]
struct Make {
    program: Program,
}

impl Make {
    fn new() -> Make {
        Make::default()
    }

    fn var(&mut self, hint: &str, ty: Ty) -> Var {
        self.program.fresh(hint, ty)
    }

    /// `\x -> body x`
    fn lam(&mut self, hint: &str, ty: Ty, body: impl FnOnce(&mut Make, Term) -> Term) -> Term {
        let x = self.var(hint, ty);
        let inner = body(self, var(&x));
        lam(x, inner)
    }

    /// `let x = t in body x`
    fn let_(&mut self, hint: &str, t: Term, body: impl FnOnce(&mut Make, Term) -> Term) -> Term {
        let x = self.var(hint, t.ty().clone());
        let inner = body(self, var(&x));
        let_(x, t, inner)
    }

    /// `for i < n => body i`
    fn for_(&mut self, n: Term, body: impl FnOnce(&mut Make, Term) -> Term) -> Term {
        let i = self.var("i", Ty::INT);
        let inner = body(self, var(&i));
        for_(i, n, inner)
    }

    /// `loop s = init for i < n do body s i`
    fn loop_(
        &mut self,
        init: Term,
        n: Term,
        body: impl FnOnce(&mut Make, Term, Term) -> Term,
    ) -> Term {
        let (s, i) = (self.var("s", init.ty().clone()), self.var("i", Ty::INT));
        let inner = body(self, var(&s), var(&i));
        loop_(s, init, LoopKind::For(i, n, Checkpoint::All), inner)
    }

    /// `loop s = init while cond s do body s`
    fn while_(
        &mut self,
        init: Term,
        cond: impl FnOnce(Term) -> Term,
        body: impl FnOnce(&mut Make, Term) -> Term,
    ) -> Term {
        let s = self.var("s", init.ty().clone());
        let (c, inner) = (cond(var(&s)), body(self, var(&s)));
        loop_(s, init, LoopKind::While(c), inner)
    }

    fn type_(&mut self, name: &str, constructors: &[(&str, &[Ty])]) -> Ty {
        let constructors =
            constructors.iter().map(|(name, args)| (Rc::from(*name), args.to_vec())).collect();
        self.program.types.push(TypeDecl {
            name: name.into(),
            constructors,
            ..TypeDecl::default()
        });
        Ty::Variant(TypeId(self.program.types.len() as u32 - 1))
    }

    fn def(&mut self, name: &str, body: Term) -> Term {
        self.def_with(name, body, Signature::default())
    }

    fn def_with(&mut self, name: &str, body: Term, signature: Signature) -> Term {
        let ty = body.ty().clone();
        let id = self.program.define(name, body, signature, Span::default());
        Term::new(TermKind::Global(id), ty, Span::default())
    }

    /// Normalizes the last definition.
    fn normalized(&self) -> Result<Normalized, Vec<Problem>> {
        lambada_core::check(&self.program).expect("core is well typed");
        normalize(&self.program, self.entry(), &Differentiate)
    }

    fn entry(&self) -> DefId {
        DefId(self.program.defs.len() as u32 - 1)
    }

    /// Runs the last definition, and checks that it does what its meaning is.
    fn run(&self, args: &[Data]) -> Result<Data, Failure> {
        let normalized = self.normalized().expect("it can be normalized");
        let (actual, meaning) =
            (run(&normalized, args), eval::run(&self.program, self.entry(), args));
        match (&actual, &meaning) {
            (Ok(a), Ok(b)) => a.close(b, 1e-12).unwrap_or_else(|e| {
                panic!("{e}: {a} is not {b}\n{}", anf::print(&normalized.function))
            }),
            (Ok(_), Err(_)) | (Err(_), _) => {
                assert_eq!(actual, meaning, "{}", anf::print(&normalized.function))
            }
        }
        actual
    }

    /// The body of the last definition with these arguments gives this value.
    fn check(&self, args: &[Data], expect: impl Into<Data>) {
        assert_eq!(self.run(args), Ok(expect.into()));
    }

    /// It fails with this message.
    fn check_fails(&self, args: &[Data], expect: &str) {
        assert_eq!(self.run(args).map_err(|f| f.message), Err(expect.to_string()));
    }

    /// How many statements there are, nested ones included.
    fn size(&self) -> usize {
        fn count(block: &anf::Block) -> usize {
            block
                .stms
                .iter()
                .map(|s| 1 + s.exp.blocks().into_iter().map(count).sum::<usize>())
                .sum()
        }
        count(&self.normalized().expect("it can be normalized").function.body)
    }
}

/// The function on data; its code is checked.
fn run(normalized: &Normalized, args: &[Data]) -> Result<Data, Failure> {
    let function = &normalized.function;
    if let Err(message) = anf::check(function) {
        panic!("{message}\n{}", anf::print(function));
    }
    let tensors: Vec<Tensor> = normalized
        .params
        .iter()
        .zip(args)
        .flat_map(|((_, layout), data)| layout.flatten(data).expect("the argument fits"))
        .collect();
    let outcome = anf::eval(function, &tensors)?;
    Ok(normalized.result.unflatten(&mut outcome.results.into_iter()))
}

// Short names for terms

fn add(a: Term, b: Term) -> Term {
    let op = if *a.ty() == Ty::INT { Prim::AddInt } else { Prim::Add };
    prim(op, vec![a, b])
}

fn mul(a: Term, b: Term) -> Term {
    let op = if *a.ty() == Ty::INT { Prim::MulInt } else { Prim::Mul };
    prim(op, vec![a, b])
}

fn sub(a: Term, b: Term) -> Term {
    let op = if *a.ty() == Ty::INT { Prim::SubInt } else { Prim::Sub };
    prim(op, vec![a, b])
}

fn less(a: Term, b: Term) -> Term {
    let op = if *a.ty() == Ty::INT { Prim::LtInt } else { Prim::Lt };
    prim(op, vec![a, b])
}

fn at(xs: Term, i: Term) -> Term {
    index(xs, vec![i], Span::default())
}

fn length(xs: Term) -> Term {
    dim(xs, 0)
}

fn array(items: Vec<Term>) -> Term {
    let ty = Ty::array(items[0].ty().clone());
    Term::new(TermKind::Array(items), ty, Span::default())
}

fn con(ty: &Ty, tag: usize, args: Vec<Term>) -> Term {
    Term::new(TermKind::Con(tag, args), ty.clone(), Span::default())
}

fn reals() -> Ty {
    Ty::array(Ty::REAL)
}

fn pair(a: impl Into<Data>, b: impl Into<Data>) -> Data {
    Data::Tuple(vec![a.into(), b.into()])
}
