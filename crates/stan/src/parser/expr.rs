//! Expressions, by precedence climbing.

use lambada_source::Span;

use super::{Parsed, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind, Index};
use crate::lexer::{Kind, Token};

/// Infix operators with their levels; a higher level binds tighter.
const OPERATORS: [(&str, BinaryOp, u8); 17] = [
    ("||", BinaryOp::Or, 1),
    ("&&", BinaryOp::And, 2),
    ("==", BinaryOp::Eq, 3),
    ("!=", BinaryOp::Ne, 3),
    ("<", BinaryOp::Lt, 4),
    ("<=", BinaryOp::Le, 4),
    (">", BinaryOp::Gt, 4),
    (">=", BinaryOp::Ge, 4),
    ("+", BinaryOp::Add, ADDITIVE),
    ("-", BinaryOp::Sub, ADDITIVE),
    ("*", BinaryOp::Mul, 6),
    ("/", BinaryOp::Div, 6),
    ("%", BinaryOp::Rem, 6),
    (".*", BinaryOp::TimesEach, 6),
    ("./", BinaryOp::DivEach, 6),
    ("%/%", BinaryOp::IntDiv, 7),
    ("\\", BinaryOp::LeftDiv, 7),
];

const ADDITIVE: u8 = 5;

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| {
            let condition = parser.operation(0)?;
            if !parser.take("?") {
                return Ok(condition);
            }
            let yes = parser.expr()?;
            parser.expect(":")?;
            let no = parser.expr()?;
            let span = condition.span.to(no.span);
            let kind = ExprKind::If(Box::new(condition), Box::new(yes), Box::new(no));
            Ok(Expr { kind, span })
        })
    }

    /// A bound in `<lower=e>`, which a `>` ends.
    pub(super) fn bound(&mut self) -> Parsed<Expr> {
        self.operation(ADDITIVE)
    }

    fn operation(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Kind::Sign(sign) = self.peek().kind
            && let Some(&(_, op, level)) = OPERATORS.iter().find(|row| row.0 == sign)
            && level >= least
        {
            self.next();
            let right = self.operation(level + 1)?;
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.peek().span;
        let form = match self.peek().kind {
            Kind::Sign("-") => ExprKind::Neg,
            Kind::Sign("!") => ExprKind::Not,
            Kind::Sign("+") => {
                self.next();
                return self.deeper(Parser::unary);
            }
            _ => return self.power(),
        };
        self.next();
        let inner = self.deeper(Parser::unary)?;
        let span = start.to(inner.span);
        Ok(Expr { kind: form(Box::new(inner)), span })
    }

    fn power(&mut self) -> Parsed<Expr> {
        let base = self.postfix()?;
        let op = match self.peek().kind {
            Kind::Sign("^") => BinaryOp::Pow,
            Kind::Sign(".^") => BinaryOp::PowEach,
            _ => return Ok(base),
        };
        self.next();
        let exponent = self.deeper(Parser::unary)?;
        let span = base.span.to(exponent.span);
        Ok(Expr { kind: ExprKind::Binary(op, Box::new(base), Box::new(exponent)), span })
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut e = self.atom()?;
        loop {
            let start = e.span;
            if self.take("'") {
                e = Expr {
                    kind: ExprKind::Transpose(Box::new(e)),
                    span: start.to(self.last_end()),
                };
            } else if self.take("[") {
                let indices = self.indices()?;
                let span = start.to(self.last_end());
                e = Expr { kind: ExprKind::Index(Box::new(e), indices), span };
            } else {
                return Ok(e);
            }
        }
    }

    /// Indices after `[`, up to the `]`.
    pub(super) fn indices(&mut self) -> Parsed<Vec<Index>> {
        let mut indices = Vec::new();
        loop {
            let ends = |parser: &Self| parser.is(",") || parser.is("]");
            if ends(self) {
                indices.push(Index::Range(None, None));
            } else {
                let from = if self.is(":") { None } else { Some(self.expr()?) };
                if self.take(":") {
                    let to = if ends(self) { None } else { Some(self.expr()?) };
                    indices.push(Index::Range(from, to));
                } else if let Some(at) = from {
                    indices.push(Index::At(at));
                }
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(indices)
    }

    /// Expressions separated by commas, up to a sign.
    pub(super) fn arguments(&mut self, close: &str) -> Parsed<Vec<Expr>> {
        let mut args = Vec::new();
        while !self.take(close) {
            args.push(self.expr()?);
            let separated = self.take(",") || (close == ")" && self.take("|"));
            if !separated && !self.is(close) {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
        Ok(args)
    }

    fn atom(&mut self) -> Parsed<Expr> {
        let Token { kind, span } = self.peek().clone();
        let kind = match kind {
            Kind::Int(value) => ExprKind::Int(value),
            Kind::Real(value) => ExprKind::Real(value),
            Kind::Text(text) => ExprKind::Text(text),
            Kind::Word(_) => {
                let name = self.name()?;
                if !self.take("(") {
                    return Ok(Expr { kind: ExprKind::Name(name.text), span });
                }
                let args = self.arguments(")")?;
                return Ok(self.made(ExprKind::Call(name, args), span));
            }
            Kind::Sign("(") => {
                self.next();
                let mut parts = self.arguments(")")?;
                if parts.len() == 1 {
                    return Ok(parts.remove(0));
                }
                return Ok(self.made(ExprKind::Tuple(parts), span));
            }
            Kind::Sign("{") => {
                self.next();
                let parts = self.arguments("}")?;
                return Ok(self.made(ExprKind::Array(parts), span));
            }
            Kind::Sign("[") => {
                self.next();
                let parts = self.arguments("]")?;
                return Ok(self.made(ExprKind::Row(parts), span));
            }
            _ => return Err(self.expected("an expression")),
        };
        self.next();
        Ok(Expr { kind, span })
    }

    fn made(&self, kind: ExprKind, start: Span) -> Expr {
        Expr { kind, span: start.to(self.last_end()) }
    }
}
