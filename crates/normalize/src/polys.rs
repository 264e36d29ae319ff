//! Integers as polynomials, and polynomials as code.

use lambada_anf::bounds::Comparison;
use lambada_anf::{Atom, Block, Param, Poly, Var, free_vars, guard_block};
use lambada_prim::Prim;

use crate::emit::Emit;

impl Emit {
    /// Adds the missing checks of a block that the innermost block is about to use.
    pub fn guard(&mut self, block: &mut Block) {
        let known = self.facts.known();
        let param = |var: Var| Param { var, ty: self.ty(var.into()) };
        let free: Vec<Param> = free_vars(block).into_iter().map(param).collect();
        guard_block(&mut self.names, known, &free, block);
    }

    /// Records that the condition has the value `holds` in the rest of this block.
    pub fn learn(&mut self, cond: Atom, holds: bool) {
        for comparison in self.facts.comparisons(cond, holds) {
            let is_known = match comparison {
                Comparison::AtLeast(a, b, _)
                | Comparison::Equal(a, b)
                | Comparison::Differ(a, b) => self.is_known_here(a) && self.is_known_here(b),
                Comparison::Never => false, // decided, and folded away
            };
            if is_known {
                self.facts.learn(comparison);
            }
        }
    }

    /// Whether an integer is a polynomial over variables in scope. Variables of a branch that has
    /// been left are not.
    fn is_known_here(&self, atom: Atom) -> bool {
        self.facts.poly(atom).vars().all(|v| self.in_scope(v))
    }

    /// Whether the polynomial's variables are all bound outside the block of level `level`.
    pub fn poly_is_outside(&self, poly: &Poly, level: usize) -> bool {
        poly.vars().all(|v| self.is_outside(v.into(), level))
    }

    /// The outer form of a size that is bound in the block of level `level`. Outside, where the
    /// block may not run, a negative value becomes 0.
    pub fn outer_size(&mut self, size: Atom, level: usize) -> Option<Atom> {
        let outer = self.outer_form(size, level)?;
        Some(self.outside(level - 1, |emit| emit.not_negative(outer)))
    }

    /// The integer, or 0 if negative.
    pub fn not_negative(&mut self, atom: Atom) -> Atom {
        self.prim(Prim::MaxInt, &[atom, Atom::int(0)])
    }

    /// The outer form of an integer that is bound in the block of level `level`.
    pub fn outer_form(&mut self, atom: Atom, level: usize) -> Option<Atom> {
        if self.is_outside(atom, level) {
            return Some(atom);
        }
        let poly = self.facts.poly(atom);
        self.poly_is_outside(&poly, level)
            .then(|| self.outside(level - 1, |emit| emit.write(&poly)))
    }

    /// The polynomial as code.
    pub fn write(&mut self, poly: &Poly) -> Atom {
        if let Some(value) = poly.as_constant() {
            return Atom::int(value);
        }
        if let Some(atom) = self.written(poly) {
            return atom;
        }
        let mut sum: Option<Atom> = None;
        for (monomial, k) in poly.terms().collect::<Vec<_>>().into_iter().rev() {
            let factors = monomial
                .iter()
                .map(|v| Atom::from(*v))
                .chain((k != 1 || monomial.is_empty()).then_some(Atom::int(k as i64)));
            let term = factors
                .collect::<Vec<_>>()
                .into_iter()
                .reduce(|a, b| self.prim(Prim::MulInt, &[a, b]))
                .unwrap_or(Atom::int(k as i64));
            sum = Some(sum.map_or(term, |s| self.prim(Prim::AddInt, &[s, term])));
        }
        sum.unwrap_or(Atom::int(0))
    }

    /// A variable in scope with the value of the polynomial.
    pub fn written(&self, poly: &Poly) -> Option<Atom> {
        self.facts.holder(poly).filter(|var| self.in_scope(*var)).map(Atom::from)
    }
}
