//! Declarations and types.

use super::{Parsed, Parser};
use crate::ast::{Base, Bounds, Decl, Expr, Stmt, StmtKind, Type};
use crate::lexer::Kind;
use crate::messages;

const BASES: [(&str, Base, usize); 16] = [
    ("int", Base::Int, 0),
    ("real", Base::Real, 0),
    ("vector", Base::Vector, 1),
    ("row_vector", Base::RowVector, 1),
    ("matrix", Base::Matrix, 2),
    ("simplex", Base::Simplex, 1),
    ("unit_vector", Base::UnitVector, 1),
    ("sum_to_zero_vector", Base::SumToZero, 1),
    ("ordered", Base::Ordered, 1),
    ("positive_ordered", Base::PositiveOrdered, 1),
    ("corr_matrix", Base::Corr, 1),
    ("cov_matrix", Base::Cov, 1),
    ("cholesky_factor_corr", Base::CholeskyCorr, 1),
    ("cholesky_factor_cov", Base::CholeskyCov, 2),
    ("column_stochastic_matrix", Base::Matrix, 2),
    ("row_stochastic_matrix", Base::Matrix, 2),
];

/// Types that are refused by name.
const REFUSED: [&str; 8] = [
    "complex",
    "complex_vector",
    "complex_row_vector",
    "complex_matrix",
    "tuple",
    "sum_to_zero_matrix",
    "column_stochastic_matrix",
    "row_stochastic_matrix",
];

fn base(word: &str) -> Option<(Base, usize)> {
    BASES.iter().find(|row| row.0 == word).map(|row| (row.1, row.2))
}

impl Parser<'_> {
    /// Declarations up to the closing brace.
    pub(super) fn declarations(&mut self) -> Parsed<Vec<Decl>> {
        let mut decls = Vec::new();
        while !self.is("}") {
            let start = self.peek().span;
            if !self.begins_type() {
                return Err(self.expected("a declaration"));
            }
            let mut stmts = Vec::new();
            self.declaration(&mut stmts)?;
            for Stmt { kind, .. } in stmts {
                match kind {
                    StmtKind::Declare(decl) => decls.push(decl),
                    _ => return Err(messages::expected("a declaration", "", start)),
                }
            }
        }
        self.comments_before();
        self.expect("}")?;
        Ok(decls)
    }

    /// Whether a declaration begins here.
    pub(super) fn begins_type(&self) -> bool {
        let Kind::Word(word) = &self.peek().kind else { return false };
        match word.as_str() {
            "array" => matches!(self.after(1), Kind::Sign("[")),
            word => base(word).is_some() || REFUSED.contains(&word),
        }
    }

    /// `array[N] real<lower=0> x = e, y;`, also `real x[N];`
    pub(super) fn declaration(&mut self, out: &mut Vec<Stmt>) -> Parsed<()> {
        let mut doc = self.comments_before();
        let start = self.peek().span;
        let ty = self.sized_type()?;
        let first = out.len();
        loop {
            let name = self.name()?;
            let mut ty = ty.clone();
            if self.take("[") {
                ty.dims = self.sizes("]")?;
            }
            let value = if self.take("=") { Some(self.expr()?) } else { None };
            let span = start.to(self.last_end());
            let decl = Decl { name, ty, value, doc: std::mem::take(&mut doc) };
            out.push(Stmt { kind: StmtKind::Declare(decl), span, doc: Vec::new() });
            if !self.take(",") {
                break;
            }
        }
        self.expect(";")?;
        let behind = self.comment_after();
        if let StmtKind::Declare(decl) = &mut out[first].kind {
            decl.doc.extend(behind);
        }
        Ok(())
    }

    fn sizes(&mut self, close: &str) -> Parsed<Vec<Option<Expr>>> {
        let mut sizes = Vec::new();
        loop {
            sizes.push(Some(self.expr()?));
            if !self.take(",") {
                break;
            }
        }
        self.expect(close)?;
        Ok(sizes)
    }

    fn sized_type(&mut self) -> Parsed<Type> {
        let start = self.peek().span;
        let mut dims = Vec::new();
        if self.take_word("array") {
            self.expect("[")?;
            dims = self.sizes("]")?;
        }
        let (base, rank) = self.base()?;
        let bounds = if self.take("<") { self.bounds()? } else { Bounds::default() };
        let mut sizes = Vec::new();
        if rank > 0 {
            self.expect("[")?;
            sizes = self.sizes("]")?;
            // `cholesky_factor_cov[N]` is square.
            if base == Base::CholeskyCov && sizes.len() == 1 {
                sizes.push(sizes[0].clone());
            }
            if sizes.len() != rank {
                return Err(messages::sizes(rank, sizes.len(), start.to(self.last_end())));
            }
        }
        Ok(Type { dims, base, sizes, bounds })
    }

    fn base(&mut self) -> Parsed<(Base, usize)> {
        let name = self.name()?;
        if REFUSED.contains(&name.text.as_str()) {
            return Err(messages::refused_type(&name.text, name.span));
        }
        base(&name.text).ok_or_else(|| messages::unknown_type(&name.text, name.span))
    }

    /// The bounds after `<`, up to the `>`.
    fn bounds(&mut self) -> Parsed<Bounds> {
        let mut bounds = Bounds::default();
        loop {
            let name = self.name()?;
            self.expect("=")?;
            let value = Some(self.bound()?);
            match name.text.as_str() {
                "lower" => bounds.lower = value,
                "upper" => bounds.upper = value,
                "offset" => bounds.offset = value,
                "multiplier" => bounds.multiplier = value,
                _ => return Err(messages::bound(&name.text, name.span)),
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(">")?;
        Ok(bounds)
    }

    /// A type of a function: `array[,] real`, `vector`, also `real[,]`.
    pub(super) fn unsized_type(&mut self) -> Parsed<Type> {
        let mut dims = Vec::new();
        let commas = |parser: &mut Self, dims: &mut Vec<Option<Expr>>| -> Parsed<()> {
            parser.expect("[")?;
            dims.push(None);
            while parser.take(",") {
                dims.push(None);
            }
            parser.expect("]").map(|_| ())
        };
        if self.take_word("array") {
            commas(self, &mut dims)?;
        }
        let (base, rank) = self.base()?;
        if self.is("[") {
            commas(self, &mut dims)?;
        }
        let sizes = vec![None; rank];
        Ok(Type { dims, base, sizes, bounds: Bounds::default() })
    }
}
