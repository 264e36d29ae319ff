//! Finds the first operation that makes a NaN: adds a check after every operation on reals that it
//! has not made a NaN out of numbers.
//!
//! NaN operands may give a NaN, so data may hold NaNs. The check compares the result with the
//! operands: scalars for a primitive, elements for a reduction, arguments for an array primitive.
//! An accumulator cannot be read while it is added to; if neither the arguments nor the text of the
//! program hold a NaN, one in its final value is new. Infinities are numbers: the operations that
//! make them are not reported.
//!
//! Assumes: a function that [`crate::check()`] accepts, which is not optimized any more. Gives: one
//! that fails at the first operation that makes a NaN. Keeps: all else.

use std::collections::HashMap;

use lambada_prim::{ArrayPrim, Prim, ReduceOp, Scalar, ScalarTy, Surface, made_nan, made_nan_by};
use lambada_source::{Site, Span};

use crate::{
    Atom, Block, Builder, Exp, Function, LoopKind, Names, Nest, Op, Out, Param, Stm, Ty, Var,
};

/// Adds the checks, to the function and to those of its library.
pub fn trap(function: &mut Function) {
    for callee in function.library.functions.iter_mut().flatten() {
        trap_in(callee, false);
    }
    trap_in(function, true);
}

fn trap_in(function: &mut Function, is_entry: bool) {
    let mut body = std::mem::take(&mut function.body);
    let mut traps = Traps {
        types: HashMap::new(),
        clean: None,
        near: Span::default(),
        names: &mut function.names,
    };
    for p in function.params.iter().chain(&function.accumulators) {
        traps.types.insert(p.var, p.ty.clone());
    }
    let mut first = Vec::new();
    if is_entry && !mentions_nan(&body) && freezes(&body) {
        first = traps.arguments(&function.params);
    }
    traps.block(&mut body);
    body.stms.splice(0..0, first);
    function.body = body;
}

struct Traps<'a> {
    names: &'a mut Names,
    types: HashMap<Var, Ty>,
    /// Whether the arguments hold no NaN; `None` if unknown.
    clean: Option<Atom>,
    /// The place of the last statement that has one.
    near: Span,
}

impl Traps<'_> {
    /// Statements that compute whether the arguments hold NaNs.
    fn arguments(&mut self, params: &[Param]) -> Vec<Stm> {
        let mut b = Builder::new(self.names);
        let mut clean = Atom::bool(true);
        for p in params.iter().filter(|p| p.ty.elem == ScalarTy::Real) {
            let some = any_nan(&mut b, p.var.into(), &p.ty);
            let none = b.prim(Prim::Not, [some]);
            clean = b.prim(Prim::And, [clean, none]);
        }
        self.clean = Some(clean);
        b.stms
    }

    fn block(&mut self, block: &mut Block) {
        for mut stm in std::mem::take(&mut block.stms) {
            self.declare(&stm);
            let around = self.near;
            let counted = self.nested(&mut stm);
            self.near = around;
            if let Some(span) = stm.binds.first().and_then(|p| self.names.origin(p.var)) {
                self.near = span;
            }
            let checks = self.checks(&stm, &counted);
            block.stms.push(stm);
            block.stms.extend(checks);
        }
    }

    fn declare(&mut self, stm: &Stm) {
        let params = match &stm.exp {
            Exp::Nest(Nest::Loop { params, .. }) => &params[..],
            Exp::Op(_) | Exp::Nest(Nest::For { .. } | Nest::If { .. }) => &[],
        };
        for p in stm.binds.iter().chain(params) {
            self.types.insert(p.var, p.ty.clone());
        }
    }

    /// Adds the checks inside. By result of a `for`: the variable for whether an element of a sum
    /// or product is NaN.
    fn nested(&mut self, stm: &mut Stm) -> Vec<Option<Var>> {
        let Exp::Nest(nest) = &mut stm.exp else { return Vec::new() };
        match nest {
            Nest::For { outs, body, .. } => {
                self.block(body);
                let mut counted = Vec::new();
                for k in 0..stm.binds.len() {
                    let sums = matches!(outs[k], Out::Reduce(ReduceOp::Add | ReduceOp::Mul));
                    let is_real = stm.binds[k].ty.elem == ScalarTy::Real;
                    counted.push((sums && is_real).then(|| {
                        let mut b = Builder::new(self.names);
                        let is_nan = is_nan(&mut b, body.results[k]);
                        body.stms.append(&mut b.stms);
                        body.results.push(is_nan);
                        outs.push(Out::Reduce(ReduceOp::Or));
                        let var = self.names.fresh("some_nan");
                        stm.binds.push(Param { var, ty: Ty::bool() });
                        var
                    }));
                }
                counted
            }
            Nest::Loop { kind, body, .. } => {
                if let LoopKind::While(cond) = kind {
                    self.block(cond);
                }
                self.block(body);
                Vec::new()
            }
            Nest::If { then, otherwise, .. } => {
                self.block(then);
                self.block(otherwise);
                Vec::new()
            }
        }
    }

    /// The checks after a statement.
    fn checks(&mut self, stm: &Stm, counted: &[Option<Var>]) -> Vec<Stm> {
        let mut b = Builder::new(self.names);
        let at = self.near;
        match &stm.exp {
            Exp::Op(Op::Prim(op, args)) if op.result() == ScalarTy::Real => {
                let reals: Vec<Atom> = (args.iter().zip(op.args()))
                    .filter(|(_, ty)| **ty == ScalarTy::Real)
                    .map(|(arg, _)| *arg)
                    .collect();
                if !chooses(*op) && !reals.iter().any(|a| is_nan_literal(*a)) {
                    let old = reals.into_iter().map(|a| is_nan(&mut b, a)).collect();
                    let new = is_nan(&mut b, stm.binds[0].var.into());
                    check(&mut b, new, old, at, made_nan(*op));
                }
            }
            Exp::Op(Op::ArrayPrim(prim, args)) => {
                let old = args
                    .iter()
                    .filter_map(|arg| Some((*arg, self.types.get(arg)?.clone())))
                    .map(|(arg, ty)| any_nan(&mut b, arg.into(), &ty))
                    .collect();
                let reals = stm.binds.iter().filter(|p| p.ty.elem == ScalarTy::Real);
                let new = reals.map(|p| any_nan(&mut b, p.var.into(), &p.ty)).collect::<Vec<_>>();
                let either = |x, y| b.prim(Prim::Or, [x, y]);
                if let Some(new) = new.into_iter().reduce(either) {
                    check(&mut b, new, old, at, made_nan_of(*prim));
                }
            }
            Exp::Op(Op::Freeze(_)) if stm.binds[0].ty.elem == ScalarTy::Real => {
                if let Some(clean) = self.clean {
                    let p = &stm.binds[0];
                    let new = any_nan(&mut b, p.var.into(), &p.ty);
                    let unclean = b.prim(Prim::Not, [clean]);
                    check(&mut b, new, vec![unclean], at, made_nan(Prim::Add));
                }
            }
            Exp::Nest(Nest::For { outs, .. }) => {
                for ((p, out), some) in stm.binds.iter().zip(outs).zip(counted) {
                    let (Some(some), Out::Reduce(op)) = (some, out) else { continue };
                    let new = is_nan(&mut b, p.var.into());
                    let message = made_nan(op.prim(ScalarTy::Real));
                    check(&mut b, new, vec![(*some).into()], at, message);
                }
            }
            Exp::Op(_) | Exp::Nest(Nest::Loop { .. } | Nest::If { .. }) => {}
        }
        b.stms
    }
}

/// Whether the result is one of the operands.
fn chooses(op: Prim) -> bool {
    op.row().surface == Surface::If
}

fn is_nan_literal(atom: Atom) -> bool {
    matches!(atom, Atom::Lit(Scalar::Real(x)) if x.is_nan())
}

/// `not (x == x)`
fn is_nan(b: &mut Builder, x: Atom) -> Atom {
    let same = b.prim(Prim::Eq, [x, x]);
    b.prim(Prim::Not, [same])
}

/// Whether a value holds a NaN.
fn any_nan(b: &mut Builder, x: Atom, ty: &Ty) -> Atom {
    let Some(var) = x.as_var().filter(|_| !ty.dims.is_empty()) else { return is_nan(b, x) };
    let mut at = Vec::new();
    any_nan_in(b, var, ty, &mut at)
}

fn any_nan_in(b: &mut Builder, x: Var, ty: &Ty, at: &mut Vec<Atom>) -> Atom {
    if at.len() == ty.dims.len() {
        let element = b.index(x, ty, at.clone());
        return is_nan(b, element);
    }
    let (index, extent) = (b.names.fresh("i"), ty.dims[at.len()]);
    at.push(index.into());
    let body = b.block(|b| vec![any_nan_in(b, x, ty, at)]);
    at.pop();
    let outs = vec![Out::Reduce(ReduceOp::Or)];
    b.bind("some_nan", Ty::bool(), Nest::For { index, extent, outs, body })
}

/// Fails if there is a new NaN and no old one.
fn check(b: &mut Builder, new: Atom, old: Vec<Atom>, span: Span, message: String) {
    let mut cond = b.prim(Prim::Not, [new]);
    for nan in old {
        cond = b.prim(Prim::Or, [cond, nan]);
    }
    let site = Site::new(span, message);
    b.effect(Op::Check { cond, site, values: Vec::new() });
}

/// The message for a contraction names the product of its elements, that for any other primitive
/// its name.
fn made_nan_of(prim: ArrayPrim) -> String {
    if prim.is_contraction() { made_nan(Prim::Mul) } else { made_nan_by(prim.name()) }
}

/// Whether the text holds a NaN.
fn mentions_nan(block: &Block) -> bool {
    block.any(&mut |stm| {
        let mut found = false;
        stm.exp.atoms(&mut |atom| found |= is_nan_literal(atom));
        for inner in stm.exp.blocks() {
            found |= inner.results.iter().any(|atom| is_nan_literal(*atom));
        }
        found |= match &stm.exp {
            Exp::Op(Op::Constant(tensor)) => (0..tensor.data.len())
                .any(|k| matches!(tensor.data.get(k), Scalar::Real(x) if x.is_nan())),
            Exp::Op(_) | Exp::Nest(_) => false,
        };
        found
    })
}

fn freezes(block: &Block) -> bool {
    block.any(&mut |stm| matches!(stm.exp, Exp::Op(Op::Freeze(_))))
}
