//! Expressions.

use lambada_source::Span;

use super::scope::{Done, Scope};
use crate::ast::{BinaryOp, Expr, ExprKind, Index};
use crate::messages;
use crate::term::{Clause, Op, Term, bin, call, for_, for_range, index, neg, simplify};
use crate::types::{Dim, Ty};

/// An expression with its type.
pub(crate) type Typed = (Term, Ty);

impl Scope {
    /// The expression, with conditions as integers.
    pub fn number(&mut self, e: &Expr) -> Done<Typed> {
        match self.expr(e)? {
            (term, Ty::Bool) => Ok((call("int", [term]), Ty::Int)),
            typed => Ok(typed),
        }
    }

    pub fn term(&mut self, e: &Expr) -> Done<Term> {
        self.number(e).map(|typed| typed.0)
    }

    /// The type alone.
    pub fn ty(&mut self, e: &Expr) -> Done<Ty> {
        // The pieces that the translation would put before the statement are not wanted.
        let (pending, keys, taken) = (self.pending.len(), self.keys, self.taken.clone());
        let typed = self.number(e);
        self.pending.truncate(pending);
        (self.keys, self.taken) = (keys, taken);
        typed.map(|typed| typed.1)
    }

    pub fn condition(&mut self, e: &Expr) -> Done<Term> {
        match self.expr(e)? {
            (term, Ty::Bool) => Ok(term),
            (term, _) => Ok(bin(Op::Ne, term, Term::Int(0))),
        }
    }

    /// An index from 0.
    pub fn place(&mut self, e: &Expr) -> Done<Term> {
        Ok(simplify(bin(Op::Sub, self.term(e)?, Term::Int(1))))
    }

    /// Indices from 0 of an array of indices: an array.
    pub fn places(&mut self, e: &Expr) -> Done<Term> {
        if let ExprKind::Name(name) = &e.kind
            && self.find(name, e.span)?.zero_based
        {
            return self.term(e);
        }
        if let ExprKind::Array(items) | ExprKind::Row(items) = &e.kind {
            return Ok(Term::Array(
                items.iter().map(|item| self.place(item)).collect::<Done<_>>()?,
            ));
        }
        let name = self.element_name();
        let body = bin(Op::Sub, Term::Var(name.clone()), Term::Int(1));
        Ok(for_(Clause::In(name, Box::new(self.term(e)?)), body))
    }

    pub fn expr(&mut self, e: &Expr) -> Done<Typed> {
        match &e.kind {
            ExprKind::Int(k) => Ok((Term::Int(*k), Ty::Int)),
            ExprKind::Real(x) => Ok((Term::Real(*x), Ty::Real)),
            ExprKind::Text(_) => Err(messages::expression("a text", e.span)),
            ExprKind::Tuple(_) => Err(messages::expression("a tuple", e.span)),
            ExprKind::Name(name) => self.name(name, e.span),
            ExprKind::Neg(a) => {
                let (term, ty) = self.number(a)?;
                Ok((if ty == Ty::Int { simplify(neg(term)) } else { neg(term) }, ty))
            }
            ExprKind::Not(a) => Ok(match self.expr(a)? {
                (term, Ty::Bool) => (Term::Not(Box::new(term)), Ty::Bool),
                (term, _) => (bin(Op::Eq, term, Term::Int(0)), Ty::Bool),
            }),
            ExprKind::Transpose(a) => {
                let (term, ty) = self.number(a)?;
                transpose(term, &ty, e.span)
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e.span),
            ExprKind::If(c, a, b) => {
                let c = self.condition(c)?;
                let (a, ty) = self.number(a)?;
                let (b, other) = self.number(b)?;
                let ty = if ty == Ty::Int { other } else { ty };
                Ok((Term::If(Box::new(c), Box::new(a), Box::new(b)), ty))
            }
            ExprKind::Call(name, args) => self.call(name, args, e.span),
            ExprKind::Index(base, indices) => self.index(base, indices, e.span),
            ExprKind::Array(items) => {
                let (items, ty) = self.items(items)?;
                let size = Some(Term::Int(items.len() as i64));
                Ok((Term::Array(items), Ty::Array(size, Box::new(ty))))
            }
            ExprKind::Row(items) => {
                let (items, ty) = self.items(items)?;
                let size = Some(Term::Int(items.len() as i64));
                let ty = match ty {
                    Ty::Row(n) | Ty::Vector(n) => Ty::Matrix(size, n),
                    _ => Ty::Row(size),
                };
                Ok((Term::Array(items), ty))
            }
        }
    }

    fn items(&mut self, items: &[Expr]) -> Done<(Vec<Term>, Ty)> {
        let typed = items.iter().map(|item| self.number(item)).collect::<Done<Vec<_>>>()?;
        let is_int = typed.iter().all(|(_, ty)| *ty == Ty::Int);
        let ty =
            typed.first().map_or(Ty::Real, |(_, ty)| if is_int { ty.clone() } else { ty.real() });
        Ok((typed.into_iter().map(|(term, _)| term).collect(), ty))
    }

    fn name(&mut self, name: &str, span: Span) -> Done<Typed> {
        let info = self.find(name, span)?;
        let term = info.term.clone().unwrap_or_else(|| Term::Var(info.name.clone()));
        let ty = info.ty.clone();
        // Arrays of indices are read element by element, or by `places`.
        let shifted = info.zero_based && ty.rank() == 0;
        Ok((if shifted { simplify(bin(Op::Add, term, Term::Int(1))) } else { term }, ty))
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span) -> Done<Typed> {
        let compare = match op {
            BinaryOp::Or | BinaryOp::And => {
                let op = if op == BinaryOp::Or { Op::Or } else { Op::And };
                let (a, b) = (self.condition(a)?, self.condition(b)?);
                return Ok((bin(op, a, b), Ty::Bool));
            }
            BinaryOp::Eq => Some(Op::Eq),
            BinaryOp::Ne => Some(Op::Ne),
            BinaryOp::Lt => Some(Op::Lt),
            BinaryOp::Le => Some(Op::Le),
            BinaryOp::Gt => Some(Op::Gt),
            BinaryOp::Ge => Some(Op::Ge),
            _ => None,
        };
        let left = self.number(a)?;
        let right = self.number(b)?;
        if let Some(op) = compare {
            let (a, b) = lowered(left.0, right.0);
            return Ok((bin(op, a, b), Ty::Bool));
        }
        operation(op, left, right).ok_or_else(|| {
            let (a, b) = (self.ty(a), self.ty(b));
            let text = |ty: Done<Ty>| ty.map_or(String::new(), |ty| ty.describe());
            messages::operands(spelling(op), &text(a), &text(b), span)
        })
    }

    fn index(&mut self, base: &Expr, indices: &[Index], span: Span) -> Done<Typed> {
        let zero_based = match &base.kind {
            ExprKind::Name(name) => self.find(name, span)?.zero_based,
            _ => false,
        };
        let (term, ty) = self.number(base)?;
        let mut indices = indices.to_vec();
        while matches!(indices.last(), Some(Index::Range(None, None))) && indices.len() > 1 {
            indices.pop();
        }
        let (term, ty) = self.select(term, &ty, &indices, span)?;
        if zero_based && ty.rank() == 0 {
            return Ok((simplify(bin(Op::Add, term, Term::Int(1))), ty));
        }
        Ok((term, ty))
    }

    /// `base[indices]`
    fn select(&mut self, base: Term, ty: &Ty, indices: &[Index], span: Span) -> Done<Typed> {
        let mut places = Vec::new();
        let mut ty = ty.clone();
        for (k, one) in indices.iter().enumerate() {
            let Some((dim, elem)) = ty.outer() else { return Err(messages::index(span)) };
            if let Index::At(e) = one
                && self.ty(e)?.rank() == 0
            {
                places.push(self.place(e)?);
                ty = elem;
                continue;
            }
            let base = index(base, places);
            return self.several(base, &ty, (one, &indices[k + 1..]), (dim, elem), span);
        }
        Ok((index(base, places), ty))
    }

    /// `base[one, rest]`, where `one` selects several elements.
    fn several(
        &mut self,
        base: Term,
        ty: &Ty,
        (one, rest): (&Index, &[Index]),
        (dim, elem): (Dim, Ty),
        span: Span,
    ) -> Done<Typed> {
        // The selected elements make an array of the same kind.
        let whole = |selected: Ty, size: Dim| match (ty, selected) {
            (Ty::Matrix(..), Ty::Real) => Ty::Vector(size),
            (Ty::Matrix(..), Ty::Row(m) | Ty::Vector(m)) => Ty::Matrix(size, m),
            (Ty::Array(..), selected) => Ty::Array(size, Box::new(selected)),
            (_, _) => ty.resized(size),
        };
        match one {
            Index::At(list) => {
                let size = self.ty(list)?.outer().and_then(|(dim, _)| dim);
                let places = self.places(list)?;
                let name = self.index_name(&[]);
                let at = index(base, vec![Term::Var(name.clone())]);
                let (body, selected) = self.select(at, &elem, rest, span)?;
                Ok((for_(Clause::In(name, Box::new(places)), body), whole(selected, size)))
            }
            Index::Range(from, to) => {
                let (from, to) = self.range(from.as_ref(), to.as_ref())?;
                let size = match (&from, &to, dim) {
                    (None, None, dim) => dim,
                    (from, to, dim) => to
                        .clone()
                        .or(dim)
                        .map(|to| simplify(bin(Op::Sub, to, from.clone().unwrap_or(Term::Int(0))))),
                };
                if rest.is_empty() {
                    let end = |end: Option<Term>| end.map(Box::new);
                    let ty = ty.resized(size);
                    return Ok(match (from, to) {
                        (None, None) => (base, ty),
                        (from, to) => (Term::Slice(Box::new(base), end(from), end(to)), ty),
                    });
                }
                let name = self.index_name(&[]);
                let at = index(base.clone(), vec![Term::Var(name.clone())]);
                let (body, selected) = self.select(at, &elem, rest, span)?;
                let low = from.unwrap_or(Term::Int(0));
                let high = to.or_else(|| ty.outer().and_then(|(dim, _)| dim));
                let high = high.unwrap_or_else(|| call("length", [base]));
                let clause = Clause::Range(name, Box::new(low), Box::new(high));
                Ok((for_(clause, body), whole(selected, size)))
            }
        }
    }

    /// The ends of a range: the first index from 0, and one past the last.
    pub fn range(&mut self, from: Option<&Expr>, to: Option<&Expr>) -> Done<(Dim, Dim)> {
        let from = from.map(|from| self.place(from)).transpose()?;
        let to = to.map(|to| self.term(to)).transpose()?;
        Ok((from.filter(|from| *from != Term::Int(0) || to.is_some()), to))
    }

    /// The outermost size.
    pub fn length(&mut self, e: &Expr) -> Done<Term> {
        let (term, ty) = self.number(e)?;
        let known = ty.outer().and_then(|(dim, _)| dim);
        Ok(known.unwrap_or_else(|| call("length", [term])))
    }

    /// The element at an index from 0 of an expression that is an array: the index moves inwards,
    /// as far as operations are elementwise.
    pub fn element(&mut self, e: &Expr, at: &Term, hint: &str) -> Done<Term> {
        if self.ty(e)?.rank() == 0 {
            return self.term(e);
        }
        match &e.kind {
            ExprKind::Name(name) => {
                let info = self.find(name, e.span)?.clone();
                let base = info.term.unwrap_or_else(|| Term::Var(info.name.clone()));
                let elem = index(base, vec![at.clone()]);
                let shifted = info.zero_based && info.ty.rank() == 1;
                return Ok(if shifted { simplify(bin(Op::Add, elem, Term::Int(1))) } else { elem });
            }
            ExprKind::Neg(a) => return Ok(neg(self.element(a, at, hint)?)),
            ExprKind::Transpose(a) if self.ty(a)?.rank() == 1 => return self.element(a, at, hint),
            ExprKind::If(c, a, b) => {
                let c = self.condition(c)?;
                let (a, b) = (self.element(a, at, hint)?, self.element(b, at, hint)?);
                return Ok(Term::If(Box::new(c), Box::new(a), Box::new(b)));
            }
            ExprKind::Binary(op, a, b) => {
                if let Some(term) = self.element_of_operation(*op, a, b, at, hint)? {
                    return Ok(term);
                }
            }
            ExprKind::Call(name, args) => {
                if let Some(term) = self.element_of_call(&name.text, args, at, hint)? {
                    return Ok(term);
                }
            }
            ExprKind::Index(base, indices) => {
                if let Some(term) = self.element_of_index(base, indices, at, e.span)? {
                    return Ok(term);
                }
            }
            _ => {}
        }
        let whole = self.term(e)?;
        let whole = if at_is_free(&whole, at) { whole } else { self.hoist(whole, hint) };
        Ok(index(whole, vec![at.clone()]))
    }

    fn element_of_operation(
        &mut self,
        op: BinaryOp,
        a: &Expr,
        b: &Expr,
        at: &Term,
        hint: &str,
    ) -> Done<Option<Term>> {
        let (left, right) = (self.ty(a)?, self.ty(b)?);
        if let (BinaryOp::Mul, Ty::Matrix(..), Ty::Vector(_)) = (op, &left, &right) {
            let row = self.element(a, at, hint)?;
            let b = self.term(b)?;
            let b = self.hoist(b, "weights");
            return Ok(Some(call("dot", [row, b])));
        }
        let scalars = left.rank() == 0 || right.rank() == 0;
        let each = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::TimesEach | BinaryOp::DivEach => true,
            BinaryOp::Pow | BinaryOp::PowEach => true,
            BinaryOp::Mul => scalars,
            BinaryOp::Div => right.rank() == 0,
            _ => false,
        };
        if !each || (left.rank() > 0 && right.rank() > 0 && left.rank() != right.rank()) {
            return Ok(None);
        }
        let a = self.element(a, at, hint)?;
        let b = self.element(b, at, hint)?;
        let one = |ty: &Ty| ty.outer().map_or(ty.clone(), |(_, elem)| elem);
        let op = if op == BinaryOp::DivEach { BinaryOp::DivEach } else { op };
        Ok(operation(op, (a, one(&left)), (b, one(&right))).map(|typed| typed.0))
    }

    fn element_of_index(
        &mut self,
        base: &Expr,
        indices: &[Index],
        at: &Term,
        span: Span,
    ) -> Done<Option<Term>> {
        // Expressions whose elements are found by an index of their own.
        let several = indices.iter().position(|one| match one {
            Index::At(e) => self.ty(e).is_ok_and(|ty| ty.rank() > 0),
            Index::Range(..) => true,
        });
        let zero_based = match &base.kind {
            ExprKind::Name(name) => self.find(name, span)?.zero_based,
            _ => false,
        };
        let mut places = Vec::new();
        for (k, one) in indices.iter().enumerate() {
            places.push(match one {
                Index::At(e) if Some(k) == several => {
                    let elem = self.element(e, at, "places")?;
                    simplify(bin(Op::Sub, elem, Term::Int(1)))
                }
                Index::At(e) if self.ty(e)?.rank() == 0 => self.place(e)?,
                Index::Range(from, _) if Some(k) == several => {
                    let (from, _) = self.range(from.as_ref(), None)?;
                    simplify(bin(Op::Add, from.unwrap_or(Term::Int(0)), at.clone()))
                }
                Index::Range(None, None) if k + 1 == indices.len() => continue,
                _ => return Ok(None),
            });
        }
        let base = match (&base.kind, &places[..], several) {
            (ExprKind::Name(_) | ExprKind::Index(..), ..) => self.term(base)?,
            // `(a + b)[ii]`: the element of the sum.
            (_, [place], Some(0)) => return self.element(base, place, "values").map(Some),
            _ => {
                let base = self.term(base)?;
                self.hoist(base, "values")
            }
        };
        if several.is_none() {
            places.push(at.clone());
        }
        let elem = index(base, places);
        Ok(Some(if zero_based { simplify(bin(Op::Add, elem, Term::Int(1))) } else { elem }))
    }
}

/// Whether the variable of an index occurs in an array, so that the array cannot be bound before.
fn at_is_free(array: &Term, at: &Term) -> bool {
    at.free().iter().any(|name| array.mentions(name))
}

/// Both sides of a comparison less by one, if both are indices more one.
fn lowered(a: Term, b: Term) -> (Term, Term) {
    let shifted = |t: &Term| matches!(t, Term::Bin(Op::Add, _, one) if **one == Term::Int(1));
    let constant = |t: &Term| matches!(t, Term::Int(_));
    if (shifted(&a) && (shifted(&b) || constant(&b))) || (constant(&a) && shifted(&b)) {
        let less = |t: Term| simplify(bin(Op::Sub, t, Term::Int(1)));
        return (less(a), less(b));
    }
    (a, b)
}

pub(crate) fn transpose(term: Term, ty: &Ty, span: Span) -> Done<Typed> {
    match ty {
        Ty::Vector(n) => Ok((term, Ty::Row(n.clone()))),
        Ty::Row(n) => Ok((term, Ty::Vector(n.clone()))),
        Ty::Matrix(n, m) => Ok((call("transpose", [term]), Ty::Matrix(m.clone(), n.clone()))),
        Ty::Array(n, elem) if elem.rank() == 1 => {
            let m = elem.outer().and_then(|(m, _)| m);
            Ok((call("transpose", [term]), Ty::Matrix(m, n.clone())))
        }
        _ => Err(messages::expression("the transpose of a number", span)),
    }
}

/// An operation of numbers and arrays; none if Stan has none.
fn operation(op: BinaryOp, (a, left): Typed, (b, right): Typed) -> Option<Typed> {
    let ints = left == Ty::Int && right == Ty::Int;
    let wider = || match (left.rank(), right.rank()) {
        (0, 0) if ints => Ty::Int,
        (0, 0) => Ty::Real,
        (0, _) => right.real(),
        (_, 0) => left.real(),
        _ => known(&left, &right).real(),
    };
    Some(match op {
        BinaryOp::Add | BinaryOp::Sub => {
            let op = if op == BinaryOp::Add { Op::Add } else { Op::Sub };
            let ty = wider();
            let sum = bin(op, a, b);
            (if ints { simplify(sum) } else { sum }, ty)
        }
        BinaryOp::Mul => match (&left, &right) {
            (Ty::Row(_), Ty::Vector(_)) => (call("dot", [a, b]), Ty::Real),
            (Ty::Vector(n), Ty::Row(m)) => {
                (call("outer", [a, b]), Ty::Matrix(n.clone(), m.clone()))
            }
            (Ty::Matrix(n, _), Ty::Vector(_)) => (bin(Op::MatMul, a, b), Ty::Vector(n.clone())),
            (Ty::Row(_), Ty::Matrix(_, m)) => (bin(Op::MatMul, a, b), Ty::Row(m.clone())),
            (Ty::Matrix(n, _), Ty::Matrix(_, m)) => {
                (bin(Op::MatMul, a, b), Ty::Matrix(n.clone(), m.clone()))
            }
            _ if left.rank() == 0 || right.rank() == 0 => (bin(Op::Mul, a, b), wider()),
            _ => return None,
        },
        BinaryOp::TimesEach => (bin(Op::Mul, a, b), wider()),
        BinaryOp::Div if ints => (bin(Op::FloorDiv, a, b), Ty::Int),
        BinaryOp::Div if right.rank() == 0 => (bin(Op::Div, a, b), wider().real()),
        BinaryOp::Div if left.rank() == 0 && right.rank() == 1 => (bin(Op::Div, a, b), wider()),
        BinaryOp::DivEach => (bin(Op::Div, a, b), wider().real()),
        BinaryOp::IntDiv => (bin(Op::FloorDiv, a, b), Ty::Int),
        BinaryOp::Rem => (bin(Op::Rem, a, b), Ty::Int),
        BinaryOp::LeftDiv => match (&left, &right) {
            (Ty::Matrix(..), Ty::Vector(_) | Ty::Matrix(..)) => (call("solve", [a, b]), right),
            _ => return None,
        },
        BinaryOp::Pow | BinaryOp::PowEach => (bin(Op::Pow, a, b), wider().real()),
        _ => return None,
    })
}

/// The type of the two whose sizes are known.
fn known(left: &Ty, right: &Ty) -> Ty {
    let unknown = |ty: &Ty| ty.dims().iter().filter(|dim| dim.is_none()).count();
    if unknown(right) < unknown(left) { right.clone() } else { left.clone() }
}

fn spelling(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::LeftDiv => "\\",
        _ => "this operation",
    }
}

/// `for i < n => body i`
pub(crate) fn tabulated(name: &str, size: Term, body: impl FnOnce(Term) -> Term) -> Term {
    let at = Term::Var(name.into());
    for_range(name, size, body(at))
}
