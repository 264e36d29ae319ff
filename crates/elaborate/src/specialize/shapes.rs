//! Evident sizes of the variables of a core term, enough to omit checks of equations that hold by
//! construction. Sound by itself: it relies on values, not on inference.

use std::collections::HashMap;

use lambada_core::{Term, TermKind, Ty, Var};
use lambada_prim::{Prim, Scalar};

use crate::solve::size::{Atom, Poly};

/// Meaning of a symbolic number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Symbol {
    /// The value of an `int` variable.
    Value(u32),
    /// The size of an array variable along an axis.
    Axis(u32, usize),
}

/// Sizes of variables, as polynomials over symbols.
#[derive(Default)]
pub(super) struct Shapes {
    values: HashMap<u32, Poly>,
    axes: HashMap<(u32, usize), Poly>,
    symbols: HashMap<Symbol, Atom>,
}

impl Shapes {
    fn symbol(&mut self, symbol: Symbol) -> Poly {
        let next = Atom(self.symbols.len() as u32);
        Poly::var(*self.symbols.entry(symbol).or_insert(next))
    }

    /// The size of a variable.
    pub fn axis(&mut self, var: &Var, axis: usize) -> Poly {
        match self.axes.get(&(var.id, axis)) {
            Some(size) => size.clone(),
            None => self.symbol(Symbol::Axis(var.id, axis)),
        }
    }

    /// Records a checked size of a variable.
    pub fn assume(&mut self, var: &Var, axis: usize, size: Poly) {
        self.axes.insert((var.id, axis), size);
    }

    /// The value of an integer term.
    pub fn value(&mut self, term: &Term) -> Option<Poly> {
        match term.kind() {
            TermKind::Lit(Scalar::Int(value)) => Some(Poly::constant(*value)),
            TermKind::Var(x) => match self.values.get(&x.id) {
                Some(value) => Some(value.clone()),
                None => Some(self.symbol(Symbol::Value(x.id))),
            },
            TermKind::Dim(xs, axis) => self.size(xs, *axis),
            TermKind::Prim(op @ (Prim::AddInt | Prim::SubInt | Prim::MulInt), args) => {
                let (a, b) = (self.value(&args[0])?, self.value(&args[1])?);
                a.has_short_product(&b).then(|| match op {
                    Prim::AddInt => a.plus(&b, 1),
                    Prim::SubInt => a.plus(&b, -1),
                    _ => a.times(&b),
                })
            }
            TermKind::Lit(Scalar::Real(_) | Scalar::Bool(_))
            | TermKind::Never
            | TermKind::Prim(..)
            | TermKind::Let(..)
            | TermKind::LetRec(..)
            | TermKind::Array(_)
            | TermKind::For(..)
            | TermKind::Index(..)
            | TermKind::Update(..)
            | TermKind::Check { .. }
            | TermKind::Global(_)
            | TermKind::Lam(..)
            | TermKind::App(..)
            | TermKind::Tuple(_)
            | TermKind::Proj(..)
            | TermKind::Con(..)
            | TermKind::Match(..)
            | TermKind::If(..)
            | TermKind::Reduce(..)
            | TermKind::Inspect(..)
            | TermKind::ArrayPrim(..)
            | TermKind::Loop { .. }
            | TermKind::Accumulate { .. }
            | TermKind::Add { .. }
            | TermKind::Jvp(..)
            | TermKind::Vjp(..)
            | TermKind::Ruled(_)
            | TermKind::Reach(..)
            | TermKind::Band(..) => None,
        }
    }

    /// The size of a term along an axis.
    pub fn size(&mut self, term: &Term, axis: usize) -> Option<Poly> {
        let mut at = term;
        loop {
            match at.kind() {
                TermKind::Let(_, _, body) | TermKind::Check { body, .. } => at = body,
                TermKind::Var(x) => return Some(self.axis(x, axis)),
                TermKind::For(_, n, _) if axis == 0 => return self.extent(n),
                TermKind::For(_, _, body) => return self.size(body, axis - 1),
                TermKind::Array(items) if axis == 0 => {
                    return Some(Poly::constant(items.len() as i64));
                }
                TermKind::Array(items) => return self.size(items.first()?, axis - 1),
                TermKind::Index(xs, indices) => return self.size(xs, axis + indices.len()),
                TermKind::Update(xs, _, _) | TermKind::Inspect(_, xs) => at = xs,
                TermKind::Lit(_)
                | TermKind::Never
                | TermKind::LetRec(..)
                | TermKind::Prim(..)
                | TermKind::Dim(..)
                | TermKind::Global(_)
                | TermKind::Lam(..)
                | TermKind::App(..)
                | TermKind::Tuple(_)
                | TermKind::Proj(..)
                | TermKind::Con(..)
                | TermKind::Match(..)
                | TermKind::If(..)
                | TermKind::Reduce(..)
                | TermKind::ArrayPrim(..)
                | TermKind::Loop { .. }
                | TermKind::Accumulate { .. }
                | TermKind::Add { .. }
                | TermKind::Jvp(..)
                | TermKind::Vjp(..)
                | TermKind::Ruled(_)
                | TermKind::Reach(..)
                | TermKind::Band(..) => return None,
            }
        }
    }

    /// The size of `for i < n`. A negative bound gives an empty array, so only a number that cannot
    /// be negative is a size.
    fn extent(&mut self, n: &Term) -> Option<Poly> {
        let value = self.value(n)?;
        let evident = value.as_constant().is_some_and(|k| k >= 0) || self.is_size(&value);
        evident.then_some(value)
    }

    fn is_size(&self, value: &Poly) -> bool {
        let axis = |atom: Atom| {
            self.symbols
                .iter()
                .any(|(symbol, known)| *known == atom && matches!(symbol, Symbol::Axis(..)))
        };
        value.terms().all(|(atoms, count)| count > 0 && atoms.iter().all(|atom| axis(*atom)))
    }

    /// Records the evident sizes, or the evident integer value, of a variable.
    pub fn record(&mut self, var: &Var, value: &Term) {
        if var.ty == Ty::INT {
            if let Some(known) = self.value(value) {
                self.values.insert(var.id, known);
            }
            return;
        }
        let (mut axis, mut ty) = (0, &var.ty);
        while let Ty::Array(elem) = ty {
            if let Some(size) = self.size(value, axis) {
                self.axes.insert((var.id, axis), size);
            }
            axis += 1;
            ty = elem;
        }
    }
}
