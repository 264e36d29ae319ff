//! Statements.

use std::rc::Rc;

use lambada_source::Span;

use super::scope::{Done, Info, Scope};
use crate::ast::Base;
use crate::ast::{BinaryOp, Decl, Expr, ExprKind, Index, Name, Stmt, StmtKind, Type};
use crate::messages;
use crate::raise::{Bind, LEFT_OUT, Place, TARGET};
use crate::term::{Names, Op, Term, bin, call, filled, index, neg, simplify, var};
use crate::types::{Dim, Ty};

impl Scope {
    /// The statements of a block, in the current scope.
    pub fn statements(&mut self, stmts: &[Stmt]) -> Done<Vec<Bind>> {
        let mut out = Vec::new();
        for stmt in stmts {
            self.statement(stmt, &mut out)?;
        }
        Ok(out)
    }

    fn block(&mut self, stmts: &[Stmt]) -> Done<Vec<Bind>> {
        self.inner(|scope| scope.statements(stmts))
    }

    fn statement(&mut self, stmt: &Stmt, out: &mut Vec<Bind>) -> Done<()> {
        let outer = std::mem::take(&mut self.pending);
        let mut own = Vec::new();
        let done = self.statement_kind(stmt, &mut own);
        let hoisted = std::mem::replace(&mut self.pending, outer);
        match (done, self.partly.clone()) {
            (Ok(()), _) => {
                out.extend(hoisted);
                out.extend(own);
            }
            (Err(problem), None) => return Err(problem),
            (Err(problem), Some(text)) => {
                self.problems.push(problem);
                self.left_out(stmt, &text, out)?;
            }
        }
        Ok(())
    }

    /// A statement without a translation as a comment: it changes nothing.
    fn left_out(&mut self, stmt: &Stmt, text: &str, out: &mut Vec<Bind>) -> Done<()> {
        let range = stmt.span.start as usize..stmt.span.end as usize;
        let lines = text.get(range).unwrap_or_default().lines();
        let mut doc = vec![LEFT_OUT.to_string()];
        doc.extend(lines.map(|line| format!("  {}", line.trim_end())));
        let name = match &stmt.kind {
            StmtKind::Assign { target, .. } => self.find(&target.text, target.span)?.name.clone(),
            StmtKind::Declare(decl) => {
                let ty = self.declared(&decl.ty)?;
                let value = self.first_value(&ty);
                let name = self.declare(&decl.name.text, ty).name;
                out.push(Bind::Blank { name: name.clone(), value });
                name
            }
            _ => {
                out.push(Bind::Add { name: TARGET.into(), value: Term::Real(0.0), doc });
                return Ok(());
            }
        };
        out.push(Bind::Let { value: Term::Var(name.clone()), name, declares: false, doc });
        Ok(())
    }

    fn statement_kind(&mut self, stmt: &Stmt, out: &mut Vec<Bind>) -> Done<()> {
        let doc = stmt.doc.clone();
        match &stmt.kind {
            StmtKind::Declare(decl) => return self.declaration(decl, out),
            StmtKind::Assign { target, indices, op, value } => {
                let bind = self.assignment(target, indices, *op, value, doc)?;
                out.push(bind);
            }
            StmtKind::Target(value) => {
                let (mut term, ty) = self.number(value)?;
                if ty.rank() > 0 {
                    term = call("sum", [term]);
                }
                self.add_to_target(term, doc, out);
            }
            StmtKind::Tilde { value, name, args, truncation } => {
                let term = self.tilde(value, name, args, truncation.as_ref())?;
                self.add_to_target(term, doc, out);
            }
            StmtKind::Call(name, args) => self.statement_call(name, args, doc, stmt.span, out)?,
            StmtKind::For { var, from, to, body } => {
                // A loop from 0 counts as in Stan.
                let from_zero = matches!(from.kind, ExprKind::Int(0));
                let (mut from, mut to) = (self.place(from)?, self.term(to)?);
                if from_zero {
                    (from, to) = (Term::Int(0), simplify(bin(Op::Add, to, Term::Int(1))));
                }
                let bind = self.inner(|scope| {
                    let name = super::scope::lambada_name(&var.text);
                    let term = bin(Op::Add, Term::Var(name.clone()), Term::Int(1));
                    let term = if from_zero { None } else { Some(term) };
                    let info = Info { ty: Ty::Int, name: name.clone(), term, zero_based: false };
                    scope.bind(&var.text, info);
                    scope.loops.push(Some(name.clone()));
                    let body = scope.statements(body);
                    scope.loops.pop();
                    Ok(Bind::For { var: name, from, to, body: body?, blank: Names::new() })
                })?;
                out.push(bind);
            }
            StmtKind::Each { var, over, body } => self.each(var, over, body, out)?,
            StmtKind::While(condition, body) => {
                let condition = self.condition(condition)?;
                self.loops.push(None);
                let body = self.block(body);
                self.loops.pop();
                out.push(Bind::While { condition, body: body? });
            }
            StmtKind::If(condition, yes, no) => {
                let condition = self.condition(condition)?;
                if let [Stmt { kind: StmtKind::Reject(args), .. }] = &yes[..]
                    && no.is_empty()
                {
                    out.push(Bind::Check { condition: negated(condition), text: rejection(args) });
                    return Ok(());
                }
                let (yes, no) = (self.block(yes)?, self.block(no)?);
                out.push(Bind::If { condition, yes, no, doc });
            }
            StmtKind::Block(stmts) => {
                let binds = self.block(stmts)?;
                out.extend(binds);
            }
            StmtKind::Return(_) => return Err(messages::return_in_loop(stmt.span)),
            StmtKind::Jump(word) => return Err(messages::jump(word, stmt.span)),
            StmtKind::Print => {}
            StmtKind::Reject(args) => {
                out.push(Bind::Check { condition: Term::Bool(false), text: rejection(args) });
            }
        }
        Ok(())
    }

    /// Adds each summand of a term of the log density by itself.
    fn add_to_target(&mut self, term: Term, doc: Vec<String>, out: &mut Vec<Bind>) {
        match term {
            Term::Bin(Op::Add, a, b) => {
                self.add_to_target(*a, doc, out);
                self.add_to_target(*b, Vec::new(), out);
            }
            Term::Bin(Op::Sub, a, b) => {
                self.add_to_target(*a, doc, out);
                let b = match *b {
                    Term::Bin(Op::Mul, one, b) if *one == Term::Int(1) => *b,
                    b => b,
                };
                out.push(Bind::Add { name: TARGET.into(), value: neg(b), doc: Vec::new() });
            }
            term => out.push(Bind::Add { name: TARGET.into(), value: term, doc }),
        }
    }

    fn each(&mut self, var_: &Name, over: &Expr, body: &[Stmt], out: &mut Vec<Bind>) -> Done<()> {
        let (array, ty) = self.number(over)?;
        let array = self.hoist(array, "elements");
        let Some((dim, elem)) = ty.outer() else {
            return Err(messages::expression("a loop over a number", over.span));
        };
        let to = dim.unwrap_or_else(|| call("length", [array.clone()]));
        let bind = self.inner(|scope| {
            let name = scope.index_name(&[]);
            let term = index(array, vec![var(&name)]);
            // Indices in an array that counts from 0 do so too.
            let from_zero = |name: &String| scope.zero_based.contains(name);
            let zero_based = matches!(&over.kind, ExprKind::Name(over) if from_zero(over));
            let info = Info { ty: elem, name: name.clone(), term: Some(term), zero_based };
            scope.bind(&var_.text, info);
            scope.loops.push(Some(name.clone()));
            let body = scope.statements(body);
            scope.loops.pop();
            Ok(Bind::For { var: name, from: Term::Int(0), to, body: body?, blank: Names::new() })
        })?;
        out.push(bind);
        Ok(())
    }

    /// A declaration; without a definition it binds an arbitrary value, which is left out unless a
    /// part of it is read.
    fn declaration(&mut self, decl: &Decl, out: &mut Vec<Bind>) -> Done<()> {
        let ty = self.declared(&decl.ty)?;
        let start = self.first_value(&ty);
        let value = match &decl.value {
            Some(value) => Some(self.assigned(value, &ty)?),
            None => None,
        };
        let info = self.declare(&decl.name.text, ty);
        let value = match value {
            // An array of zeros that loops fill.
            Some(value) if info.ty.rank() > 0 && value == start => {
                out.push(Bind::Blank { name: info.name, value });
                return Ok(());
            }
            Some(value) if info.zero_based => simplify(bin(Op::Sub, value, Term::Int(1))),
            Some(value) => value,
            None => {
                out.push(Bind::Blank { name: info.name, value: start });
                return Ok(());
            }
        };
        out.push(Bind::Let { name: info.name, value, declares: true, doc: decl.doc.clone() });
        Ok(())
    }

    fn first_value(&self, ty: &Ty) -> Term {
        let dims: Option<Vec<Term>> = ty.dims().into_iter().collect();
        let zero =
            if ty.rank() == 0 && ty.scalar() != Ty::Int { Term::Real(0.0) } else { Term::Int(0) };
        filled(&dims.unwrap_or_default(), zero)
    }

    /// A value for a variable: integers as reals for a real.
    fn assigned(&mut self, value: &Expr, ty: &Ty) -> Done<Term> {
        let (term, found) = self.number(value)?;
        Ok(match (ty, found, term) {
            (Ty::Real, Ty::Int, Term::Int(k)) => Term::Real(k as f64),
            (_, _, term) => term,
        })
    }

    fn assignment(
        &mut self,
        target: &Name,
        indices: &[Index],
        op: Option<BinaryOp>,
        value: &Expr,
        doc: Vec<String>,
    ) -> Done<Bind> {
        let info = self.find(&target.text, target.span)?.clone();
        let name = info.name.clone();
        // `x += e` and `x = x + e`.
        if indices.is_empty() && info.ty.rank() == 0 && !info.zero_based {
            let added = match (op, &value.kind) {
                (Some(BinaryOp::Add), _) => Some(value),
                (None, ExprKind::Binary(BinaryOp::Add, a, b)) if is_name(a, &target.text) => {
                    Some(&**b)
                }
                _ => None,
            };
            if let Some(added) = added
                && !self.term(added)?.mentions(&name)
            {
                let value = self.assigned(added, &info.ty)?;
                return Ok(Bind::Add { name, value, doc });
            }
            // `x = x + a + b`
            if op.is_none()
                && let (Term::Bin(..), _) = self.number(value)?
                && let Some(rest) = rest_of_sum(value, &target.text)
            {
                let value = self.assigned(&rest, &info.ty)?;
                if !value.mentions(&name) {
                    return Ok(Bind::Add { name, value, doc });
                }
            }
        }
        let value = match op {
            None => value.clone(),
            Some(op) => {
                let name = Expr { kind: ExprKind::Name(target.text.clone()), span: target.span };
                let old = if indices.is_empty() {
                    name
                } else {
                    let kind = ExprKind::Index(Box::new(name), indices.to_vec());
                    Expr { kind, span: target.span }
                };
                let kind = ExprKind::Binary(op, Box::new(old), Box::new(value.clone()));
                Expr { kind, span: target.span.to(value.span) }
            }
        };
        if let [Index::At(list)] = indices
            && self.ty(list)?.rank() == 1
            && info.ty.rank() == 1
        {
            return self.scattered(name, list, &value, doc);
        }
        let (places, ty) = self.places_of(&info.ty, indices, target.span)?;
        let mut term = self.assigned(&value, &ty)?;
        if info.zero_based {
            term = simplify(bin(Op::Sub, term, Term::Int(1)));
        }
        if places.is_empty() {
            return Ok(Bind::Let { name, value: term, declares: false, doc });
        }
        let column = matches!(places[..], [Place::Range(..), Place::At(_)]);
        if column && !matches!(&term, Term::Call(f, _) if ["replicate", "zeros"].contains(&&**f)) {
            term = self.hoist(term, &format!("{}_column", target.text));
        }
        Ok(Bind::Set { name, places, value: term, doc })
    }

    /// `x[{1, 3}] = v` as a loop over the places.
    fn scattered(
        &mut self,
        name: Rc<str>,
        list: &Expr,
        value: &Expr,
        doc: Vec<String>,
    ) -> Done<Bind> {
        let var = self.index_name(&[]);
        let at = Term::Var(var.clone());
        let place = simplify(bin(Op::Sub, self.element(list, &at, "places")?, Term::Int(1)));
        let value = self.element(value, &at, "values")?;
        let to = self.length(list)?;
        let body = vec![Bind::Set { name, places: vec![Place::At(place)], value, doc }];
        Ok(Bind::For { var, from: Term::Int(0), to, body, blank: Names::new() })
    }

    fn places_of(&mut self, ty: &Ty, indices: &[Index], span: Span) -> Done<(Vec<Place>, Ty)> {
        let mut ty = ty.clone();
        let mut places = Vec::new();
        for one in indices {
            let Some((_, elem)) = ty.outer() else { return Err(messages::index(span)) };
            places.push(match one {
                Index::At(e) if self.ty(e)?.rank() == 0 => Place::At(self.place(e)?),
                Index::At(e) => return Err(messages::index(e.span)),
                Index::Range(from, to) => {
                    let (from, to) = self.range(from.as_ref(), to.as_ref())?;
                    Place::Range(from, to)
                }
            });
            ty = elem;
        }
        while places.len() > 1 && places.last() == Some(&Place::Range(None, None)) {
            places.pop();
        }
        if places == [Place::Range(None, None)] {
            places.clear();
        }
        Ok((places, ty))
    }

    /// A call of a function without a result: one that adds to the log density.
    fn statement_call(
        &mut self,
        name: &Name,
        args: &[Expr],
        doc: Vec<String>,
        span: Span,
        out: &mut Vec<Bind>,
    ) -> Done<()> {
        let Some(found) = self.functions.get(&name.text) else {
            return Err(messages::function(&name.text, span));
        };
        if !name.text.ends_with("_lp") {
            return if found.result.is_none() {
                Ok(())
            } else {
                Err(messages::function(&name.text, span))
            };
        }
        let (term, _) = self.call(name, args, span)?;
        out.push(Bind::Add { name: TARGET.into(), value: term, doc });
        Ok(())
    }

    /// The type of a declaration.
    pub fn declared(&mut self, ty: &Type) -> Done<Ty> {
        let size = |scope: &mut Scope, e: &Option<Expr>| -> Done<Dim> {
            e.as_ref().map(|e| scope.term(e)).transpose()
        };
        let first = ty.sizes.first().map(|e| size(self, e)).transpose()?.flatten();
        let second = ty.sizes.get(1).map(|e| size(self, e)).transpose()?.flatten();
        let mut out = match ty.base {
            Base::Int => Ty::Int,
            Base::Real => Ty::Real,
            Base::Vector
            | Base::Simplex
            | Base::UnitVector
            | Base::SumToZero
            | Base::Ordered
            | Base::PositiveOrdered => Ty::Vector(first),
            Base::RowVector => Ty::Row(first),
            Base::Matrix | Base::CholeskyCov => Ty::Matrix(first, second),
            Base::Corr | Base::Cov | Base::CholeskyCorr => Ty::Matrix(first.clone(), first),
        };
        for dim in ty.dims.iter().rev() {
            let dim = size(self, dim)?;
            out = Ty::Array(dim, Box::new(out));
        }
        Ok(out)
    }
}

fn is_name(e: &Expr, name: &str) -> bool {
    matches!(&e.kind, ExprKind::Name(found) if found == name)
}

/// `a + b` of `x + a + b`.
fn rest_of_sum(e: &Expr, name: &str) -> Option<Expr> {
    let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) = &e.kind else { return None };
    if is_name(a, name) {
        return match op {
            BinaryOp::Add => Some((**b).clone()),
            _ => Some(Expr { kind: ExprKind::Neg(b.clone()), span: b.span }),
        };
    }
    let rest = rest_of_sum(a, name)?;
    Some(Expr { kind: ExprKind::Binary(*op, Box::new(rest), b.clone()), span: e.span })
}

fn negated(condition: Term) -> Term {
    match condition {
        Term::Not(inner) => *inner,
        Term::Bin(Op::Lt, a, b) => bin(Op::Ge, *a, *b),
        Term::Bin(Op::Gt, a, b) => bin(Op::Le, *a, *b),
        Term::Bin(Op::Le, a, b) => bin(Op::Gt, *a, *b),
        Term::Bin(Op::Ge, a, b) => bin(Op::Lt, *a, *b),
        Term::Bin(Op::Eq, a, b) => bin(Op::Ne, *a, *b),
        Term::Bin(Op::Ne, a, b) => bin(Op::Eq, *a, *b),
        other => Term::Not(Box::new(other)),
    }
}

/// The texts of a `reject`.
fn rejection(args: &[Expr]) -> Rc<str> {
    let texts = args.iter().filter_map(|arg| match &arg.kind {
        ExprKind::Text(text) => Some(text.replace('{', "{{").replace('}', "}}")),
        _ => None,
    });
    texts.collect::<Vec<_>>().join(" ").trim().into()
}
