//! Application and suffixes of expressions: `;`, `with`, `+=`, prefix operators, arguments,
//! `xs[i]`, `.x`.
//!
//! Parentheses recurse through all functions of this file, so expressions are boxed to keep stack
//! frames small.

use lambada_source::Fix;

use super::{Halt, Parse, Parser, foreign};
use crate::ast::{BinaryOp, Expr, ExprKind, Name, UnaryOp};
use crate::messages::syntax::Missing;
use crate::messages::{forms, items, lexical, syntax};
use crate::token::{Bracket, Keyword, TokenKind};

impl BinaryOp {
    /// Its precedence; the levels below and above belong to [`crate::print`].
    pub fn level(self) -> u8 {
        match self {
            BinaryOp::Pipe => PIPE,
            BinaryOp::Compose => 3,
            BinaryOp::Or => 4,
            BinaryOp::And => 5,
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => COMPARISON,
            BinaryOp::Add | BinaryOp::Sub => ADDITIVE,
            BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::FloorDiv
            | BinaryOp::Rem
            | BinaryOp::MatMul => PRODUCT,
            BinaryOp::Pow => POWER,
        }
    }
}

/// `|>`, the loosest operator.
pub(crate) const PIPE: u8 = 2;
pub(crate) const COMPARISON: u8 = 6;
/// `a & b`, tighter than a comparison.
pub(super) const BITS: u8 = 7;
pub(crate) const ADDITIVE: u8 = 8;
pub(super) const PRODUCT: u8 = 9;
/// `-x` and `not x`.
pub(crate) const UNARY: u8 = 10;
pub(crate) const POWER: u8 = 11;

pub(super) const SOLVE: &str =
    "the solution of `a @ x = b` is `solve a b`; a function is written `\\x -> e`";

/// The content of index brackets.
pub(super) enum Subscript {
    Index(Box<Expr>),
    Slice(Option<Box<Expr>>, Option<Box<Expr>>),
}

/// The content of the brackets of `xs[…]`.
pub(super) enum Subscripts {
    Index(Vec<Expr>),
    Slice(Option<Box<Expr>>, Option<Box<Expr>>),
    Error,
}

impl Parser<'_> {
    pub(super) fn make(&self, start: usize, kind: ExprKind) -> Box<Expr> {
        Box::new(Expr { kind, span: self.span_from(start) })
    }

    /// Any expression: `a; b`.
    pub(super) fn expr(&mut self) -> Parse<Box<Expr>> {
        self.nested(|p| {
            let first = p.single()?;
            p.find(|kind| kind == TokenKind::Semicolon);
            if !p.lost && p.kind() == TokenKind::Semicolon { p.sequence(first) } else { Ok(first) }
        })
    }

    fn sequence(&mut self, first: Box<Expr>) -> Parse<Box<Expr>> {
        let mut parts = vec![first];
        while !self.lost && self.kind() == TokenKind::Semicolon {
            let semicolon = self.bump().span;
            if self.at_negative_body() {
                self.report(forms::semicolon_after_let(semicolon));
                break;
            }
            if self.ends_item() || matches!(self.kind(), TokenKind::Close(_) | TokenKind::Bar) {
                return self.halt(forms::trailing_semicolon(semicolon));
            }
            parts.push(self.single()?);
            self.find(|kind| kind == TokenKind::Semicolon);
        }
        let last = parts.pop().ok_or(Halt)?;
        Ok(parts.into_iter().rfold(last, |rest, part| {
            let span = part.span.to(rest.span);
            Box::new(Expr { kind: ExprKind::Sequence(part, rest), span })
        }))
    }

    /// An expression without `;`: `xs with [i] = e`, `h[i] += e`.
    pub(super) fn single(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        let left = self.binary(PIPE)?;
        match self.kind() {
            _ if self.lost => Ok(left),
            TokenKind::Keyword(Keyword::If)
                if !self.in_clause && !self.in_case && self.at_condition_between() =>
            {
                self.condition_between(left)
            }
            TokenKind::Keyword(Keyword::With) => {
                let updated = self.updates(start, left);
                Ok(self.or_error(start, updated))
            }
            TokenKind::PlusEquals => {
                let added = self.addition(start, left);
                Ok(self.or_error(start, added))
            }
            _ => Ok(left),
        }
    }

    fn updates(&mut self, start: usize, mut left: Box<Expr>) -> Parse<Box<Expr>> {
        let mut length = 0;
        while self.is(Keyword::With) && self.update_follows()? {
            self.count(&mut length)?;
            self.bump();
            let subscripts = self.subscripts()?;
            self.equals("an update is written `xs with [i] = e`")?;
            let value = self.binary(PIPE)?;
            let kind = match subscripts {
                Subscripts::Index(subscripts) => ExprKind::Update(left, subscripts, value),
                Subscripts::Slice(from, to) => ExprKind::UpdateSlice(left, from, to, value),
                Subscripts::Error => ExprKind::Error,
            };
            left = self.make(start, kind);
        }
        if self.kind() == TokenKind::PlusEquals { self.addition(start, left) } else { Ok(left) }
    }

    /// Whether an update follows; `with` may also start a rule or the fields of a record.
    fn update_follows(&mut self) -> Parse<bool> {
        let next = self.ahead(1);
        match next.kind {
            TokenKind::Open(Bracket::Square) => Ok(!self.case_follows()),
            TokenKind::Lower if self.open.last() != Some(&Bracket::Curly) => {
                let rule = matches!(self.text_at(self.at + 1), "jvp" | "vjp" | "pseudo");
                if !rule && self.ahead(2).kind == TokenKind::Equals {
                    return self.halt(forms::update_brackets(next.span));
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    /// Whether the bracket after this `with` is the first pattern of a `match`.
    fn case_follows(&self) -> bool {
        let (mut at, mut depth) = (self.at + 1, 0_usize);
        loop {
            match self.tokens[at].kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) => depth -= 1,
                TokenKind::End => return false,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                let next = self.tokens[at].kind;
                let when = next == TokenKind::Lower && self.text_at(at) == "when";
                return when
                    || matches!(
                        next,
                        TokenKind::Arrow | TokenKind::Bar | TokenKind::Keyword(Keyword::If)
                    );
            }
        }
    }

    /// `=`, or `==` with a problem; `form` is an example of the construct.
    pub(super) fn equals(&mut self, form: &str) -> Parse<()> {
        if self.kind() == TokenKind::Op(BinaryOp::Eq) {
            let span = self.bump().span;
            self.report(forms::double_equals(span));
            return Ok(());
        }
        let arrow = self.kind() == TokenKind::Op(BinaryOp::Lt)
            && self.ahead(1).kind == TokenKind::Op(BinaryOp::Sub)
            && self.ahead(1).touches;
        if arrow {
            let span = self.bump().span.to(self.bump().span);
            self.report(forms::left_arrow(span));
            return Ok(());
        }
        if self.eat(TokenKind::Equals) {
            Ok(())
        } else {
            Err(self.expected_in(Missing::Sign, "`=`", form))
        }
    }

    fn addition(&mut self, start: usize, mut left: Box<Expr>) -> Parse<Box<Expr>> {
        let sign = self.bump().span;
        let place = left.span;
        let (base, subscripts) = match &mut left.kind {
            ExprKind::Index(base, subscripts) => (&mut **base, std::mem::take(subscripts)),
            ExprKind::Slice(..) => return self.halt(forms::slice_addition(place)),
            _ => (&mut *left, Vec::new()),
        };
        let (ExprKind::Var(text) | ExprKind::Con(text)) = &base.kind else {
            return self.halt(forms::not_an_accumulator(sign, place));
        };
        let name = Name { text: text.clone(), span: base.span };
        let value = self.nested(Self::single)?;
        Ok(self.make(start, ExprKind::Add(name, subscripts, value)))
    }

    /// An operand of operators; `Error` if it has a problem.
    pub(super) fn operand(&mut self) -> Box<Expr> {
        let start = self.at;
        let operand = self.unary();
        self.or_error(start, operand)
    }

    /// `-e`, `not e`, and the forms that extend as far right as possible.
    fn unary(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        match self.kind() {
            TokenKind::Op(BinaryOp::Sub) => {
                self.bump();
                if self.kind() == TokenKind::Int(1 << 63) {
                    return self.power(start);
                }
                self.prefix(start, UnaryOp::Neg)
            }
            TokenKind::Keyword(Keyword::Not) => {
                self.bump();
                if self.without_operand() {
                    return Ok(self.not_function(start));
                }
                self.prefix(start, UnaryOp::Not)
            }
            TokenKind::Backslash => self.nested(Self::lambda),
            TokenKind::Keyword(_) if self.at_form() => self.nested(Self::form),
            _ => self.power(start),
        }
    }

    /// Whether `not` is a function here, as in `not >> f` and `[not]`.
    fn without_operand(&self) -> bool {
        match self.kind() {
            TokenKind::Op(op) => op != BinaryOp::Sub,
            TokenKind::Keyword(keyword) => matches!(
                keyword,
                Keyword::Then | Keyword::Else | Keyword::In | Keyword::Do | Keyword::With
            ),
            TokenKind::Close(_) | TokenKind::Comma | TokenKind::Bar | TokenKind::Semicolon => true,
            TokenKind::Lower
            | TokenKind::Upper
            | TokenKind::Int(_)
            | TokenKind::Real(_)
            | TokenKind::Text
            | TokenKind::Open(_) => false,
            TokenKind::Borrowed(_) => true,
            TokenKind::Equals
            | TokenKind::PlusEquals
            | TokenKind::Arrow
            | TokenKind::FatArrow
            | TokenKind::Colon => false,
            TokenKind::Dot
            | TokenKind::DotDot
            | TokenKind::Backslash
            | TokenKind::Bad
            | TokenKind::End => false,
        }
    }

    fn prefix(&mut self, start: usize, op: UnaryOp) -> Parse<Box<Expr>> {
        let operand = self.nested(Self::unary)?;
        Ok(self.make(start, ExprKind::Unary(op, operand)))
    }

    /// `a ** b`, right-associative; `b` may have a sign.
    fn power(&mut self, start: usize) -> Parse<Box<Expr>> {
        if self.at_factor() {
            return self.product(start, |p| p.power(p.at));
        }
        let base = self.application(start)?;
        if self.kind() != TokenKind::Op(BinaryOp::Pow)
            || self.ahead(1).kind == TokenKind::Close(Bracket::Round)
        {
            return Ok(base);
        }
        self.exponent(start, base)
    }

    /// Whether a number stands directly before a name or a parenthesis: `2k`, `2(x + 1)`.
    fn at_factor(&self) -> bool {
        let next = self.ahead(1);
        matches!(self.kind(), TokenKind::Int(_) | TokenKind::Real(_))
            && next.touches
            && matches!(
                next.kind,
                TokenKind::Lower | TokenKind::Upper | TokenKind::Open(Bracket::Round)
            )
    }

    /// `2k`: the product of a number and its factor, which binds tighter than `*`.
    fn product(
        &mut self,
        start: usize,
        factor: impl FnOnce(&mut Self) -> Parse<Box<Expr>>,
    ) -> Parse<Box<Expr>> {
        let number = match self.kind() {
            TokenKind::Int(value) => self.int(value),
            TokenKind::Real(value) => self.literal(ExprKind::Real(value)),
            _ => return self.no_expression(),
        };
        let number = self.make(start, number);
        let factor = self.nested(factor)?;
        Ok(self.make(start, ExprKind::Binary(BinaryOp::Mul, number, factor)))
    }

    fn exponent(&mut self, start: usize, base: Box<Expr>) -> Parse<Box<Expr>> {
        self.bump();
        let exponent = self.nested(Self::unary)?;
        Ok(self.make(start, ExprKind::Binary(BinaryOp::Pow, base, exponent)))
    }

    fn application(&mut self, start: usize) -> Parse<Box<Expr>> {
        let mut function = self.postfix()?;
        let mut length = 0;
        while !self.lost && self.token().touches && self.kind() == TokenKind::Open(Bracket::Round) {
            self.count(&mut length)?;
            function = self.touching_call(start, function)?;
        }
        while self.at != self.barrier && !self.lost && !self.at_let_column() {
            let last = !self.starts_atom() && self.kind() != TokenKind::Keyword(Keyword::Not);
            let Some(argument) = self.argument()? else { break };
            self.count(&mut length)?;
            function = self.make(start, ExprKind::Apply(function, argument));
            if last {
                break;
            }
        }
        Ok(function)
    }

    /// `f(x)`, where an index or a field that touches the parenthesis belongs to the call.
    fn touching_call(&mut self, start: usize, function: Box<Expr>) -> Parse<Box<Expr>> {
        let argument = self.atom()?;
        let call = self.make(start, ExprKind::Apply(function, argument));
        let token = self.token();
        match token.kind {
            TokenKind::Dot | TokenKind::Open(Bracket::Square) if token.touches => {
                self.suffixes(start, call)
            }
            _ => Ok(call),
        }
    }

    fn argument(&mut self) -> Parse<Option<Box<Expr>>> {
        match self.kind() {
            TokenKind::Lower
                if self.in_then && matches!(self.here(), "elif" | "elsif" | "elseif") =>
            {
                Ok(None)
            }
            TokenKind::Lower if self.at_or() => Ok(None),
            TokenKind::Lower if self.here() == "where" && self.where_follows() => {
                self.halt(items::where_clause(self.span()))
            }
            TokenKind::Lower if self.lambda_word() => self.lambda_with_word().map(Some),
            TokenKind::Backslash if self.at_system() => Ok(None),
            TokenKind::Backslash if self.is_division() => {
                self.halt(lexical::foreign_sign(self.span(), "\\", SOLVE, None))
            }
            TokenKind::Backslash => self.nested(Self::lambda).map(Some),
            TokenKind::Keyword(Keyword::If) if self.in_clause || self.at_condition_between() => {
                Ok(None)
            }
            TokenKind::Keyword(_)
                if self.at_form() && self.token().starts_line && self.in_value() =>
            {
                Ok(None)
            }
            TokenKind::Keyword(
                Keyword::If | Keyword::Match | Keyword::Loop | Keyword::Accumulate,
            ) => {
                let problem = forms::argument_needs_parentheses(self.span(), self.here());
                let told = self.problems.len();
                self.report(problem);
                let reported = self.problems.get(told).is_some();
                let form = self.nested(Self::form)?;
                if reported && let Some(hint) = self.problems[told].hints.first_mut() {
                    hint.fix = Some(Fix::parentheses(form.span));
                }
                Ok(Some(form))
            }
            TokenKind::Keyword(Keyword::Not) => self.not_argument().map(Some),
            _ if self.starts_atom() => self.postfix().map(Some),
            _ => Ok(None),
        }
    }

    /// `map not xs`. In `f !x`, which the lexer has reported, the sign stands before its operand.
    fn not_argument(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        let word = self.here() == "not";
        self.bump();
        if word {
            return Ok(self.not_function(start));
        }
        let operand = self.postfix()?;
        Ok(self.make(start, ExprKind::Unary(UnaryOp::Not, operand)))
    }

    /// Whether `where x = …` follows.
    fn where_follows(&self) -> bool {
        let mut at = self.at + 1;
        while self.tokens[at].kind == TokenKind::Lower {
            at += 1;
        }
        at > self.at + 1 && self.tokens[at].kind == TokenKind::Equals
    }

    pub(super) fn starts_atom(&self) -> bool {
        match self.kind() {
            TokenKind::Lower
            | TokenKind::Upper
            | TokenKind::Int(_)
            | TokenKind::Real(_)
            | TokenKind::Text
            | TokenKind::Open(_) => true,
            TokenKind::Keyword(keyword) => matches!(keyword, Keyword::True | Keyword::False),
            TokenKind::Op(_)
            | TokenKind::Borrowed(_)
            | TokenKind::Close(_)
            | TokenKind::Equals
            | TokenKind::PlusEquals
            | TokenKind::Arrow => false,
            TokenKind::FatArrow
            | TokenKind::Bar
            | TokenKind::Comma
            | TokenKind::Semicolon
            | TokenKind::Colon => false,
            TokenKind::Dot
            | TokenKind::DotDot
            | TokenKind::Backslash
            | TokenKind::Bad
            | TokenKind::End => false,
        }
    }

    /// An atom with its indices, fields and components.
    fn postfix(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        if self.at_factor() {
            return self.product(start, Self::postfix);
        }
        let atom = self.atom()?;
        self.suffixes(start, atom)
    }

    /// The indices, fields and components after an expression.
    fn suffixes(&mut self, start: usize, mut expr: Box<Expr>) -> Parse<Box<Expr>> {
        let mut length = 0;
        loop {
            let kind = match self.kind() {
                _ if self.lost => return Ok(expr),
                TokenKind::Open(Bracket::Square) if self.token().touches => self.indexed(expr)?,
                TokenKind::Dot => self.selected(expr)?,
                _ => return Ok(expr),
            };
            self.count(&mut length)?;
            expr = self.make(start, kind);
        }
    }

    fn indexed(&mut self, array: Box<Expr>) -> Parse<ExprKind> {
        Ok(match self.subscripts()? {
            Subscripts::Index(subscripts) => ExprKind::Index(array, subscripts),
            Subscripts::Slice(from, to) => ExprKind::Slice(array, from, to),
            Subscripts::Error => ExprKind::Error,
        })
    }

    /// `.x`, `.0`
    fn selected(&mut self, inner: Box<Expr>) -> Parse<ExprKind> {
        let dot = self.bump();
        let token = self.token();
        let name = matches!(token.kind, TokenKind::Lower | TokenKind::Upper | TokenKind::Int(_));
        if name && !(dot.touches && token.touches) {
            let before = self.tokens[self.at - 2].span;
            self.report(forms::space_before_dot(dot.span, before.between(token.span)));
        }
        match token.kind {
            TokenKind::Lower | TokenKind::Upper => Ok(ExprKind::Field(inner, self.bump_name())),
            TokenKind::Int(k) => Ok(ExprKind::Component(inner, k as usize, self.bump().span)),
            TokenKind::Keyword(keyword) if token.touches => {
                self.report_reserved(keyword);
                Ok(ExprKind::Field(inner, self.bump_name()))
            }
            TokenKind::Open(Bracket::Square) => {
                self.report(forms::dotted_index(dot.span));
                self.indexed(inner)
            }
            _ => {
                Err(self
                    .expected(Missing::Name, "the name of a field or the number of a component"))
            }
        }
    }

    /// `[i, j]`, `[a:b]`
    pub(super) fn subscripts(&mut self) -> Parse<Subscripts> {
        let start = self.span();
        if self.kind() != TokenKind::Open(Bracket::Square) {
            return Err(self.expected(Missing::Sign, "`[`"));
        }
        let subscripts = self.brackets("`,`", |p| {
            if p.kind() == TokenKind::Close(Bracket::Square) {
                return p.halt(forms::empty_index(start.to(p.span())));
            }
            let all = p.separated_from(usize::MAX, Self::index_or_slice)?;
            match p.kind() {
                TokenKind::Colon => {
                    let bounds = match &all[..] {
                        [Subscript::Slice(from, to)] => Some((from.as_deref(), to.as_deref())),
                        _ => None,
                    };
                    let problem = foreign::stepped_slice(p, bounds);
                    p.halt(problem)
                }
                TokenKind::DotDot => p.halt(forms::range_for(p.span(), None)),
                _ => Ok(all),
            }
        })?;
        let Some(subscripts) = subscripts else { return Ok(Subscripts::Error) };
        self.one_slice(subscripts, start)
    }

    fn one_slice(
        &mut self,
        mut subscripts: Vec<Subscript>,
        start: lambada_source::Span,
    ) -> Parse<Subscripts> {
        if subscripts.len() == 1
            && let Some(Subscript::Slice(from, to)) =
                subscripts.pop_if(|subscript| matches!(subscript, Subscript::Slice(..)))
        {
            return Ok(Subscripts::Slice(from, to));
        }
        let mut indices = Vec::new();
        for subscript in subscripts {
            match subscript {
                Subscript::Index(index) => indices.push(*index),
                Subscript::Slice(..) => {
                    let span = start.to(self.tokens[self.at - 1].span);
                    self.report(forms::slice_of_many(span));
                    return Ok(Subscripts::Error);
                }
            }
        }
        Ok(Subscripts::Index(indices))
    }

    fn index_or_slice(&mut self) -> Parse<Subscript> {
        let from =
            if self.kind() == TokenKind::Colon { None } else { Some(self.nested(Self::single)?) };
        if !self.eat(TokenKind::Colon) {
            return from.map(Subscript::Index).ok_or(Halt);
        }
        let ends = matches!(self.kind(), TokenKind::Close(_) | TokenKind::Comma | TokenKind::Colon);
        let to = if ends { None } else { Some(self.nested(Self::single)?) };
        Ok(Subscript::Slice(from, to))
    }

    /// Reports a missing expression.
    pub(super) fn no_expression<T>(&mut self) -> Parse<T> {
        let span = self.span();
        match self.kind() {
            TokenKind::Keyword(Keyword::Def) if !self.ends_item() && self.token().starts_line => {
                self.halt(items::nested_def(span))
            }
            TokenKind::Close(bracket) if self.open.last() != Some(&bracket) => {
                self.halt(syntax::unopened(span, bracket))
            }
            TokenKind::DotDot => self.halt(forms::range_for(span, None)),
            TokenKind::Text => self.halt(forms::text_value(span)),
            _ => Err(self.expected(Missing::Expression, "an expression")),
        }
    }
}
