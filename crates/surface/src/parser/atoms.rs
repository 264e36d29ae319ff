//! Names, literals and everything in brackets.

use std::rc::Rc;

use lambada_source::{Problem, Span};

use super::expr::{PIPE, POWER, UNARY};
use super::{Halt, Parse, Parser, foreign};
use crate::ast::{BinaryOp, Expr, ExprKind, Name, Param, Pattern, PatternKind, UnaryOp};
use crate::lexer::tokenize_from;
use crate::messages::syntax::Missing;
use crate::messages::{forms, lexical, syntax};
use crate::token::{Bracket, Keyword, TokenKind};

impl Parser<'_> {
    pub(super) fn atom(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        let kind = match self.kind() {
            TokenKind::Lower if self.lambda_word() => return self.lambda_with_word(),
            TokenKind::Lower if self.here() == "_" => {
                if !std::mem::replace(&mut self.wildcard, true) {
                    self.report(forms::wildcard_value(self.span()));
                }
                return Err(Halt);
            }
            TokenKind::Lower
                if self.here() == "inspect_as" && self.ahead(1).kind == TokenKind::Text =>
            {
                self.bump();
                let name = self.text();
                ExprKind::InspectAs(name)
            }
            TokenKind::Lower if self.here() == "check" && self.ahead(1).kind == TokenKind::Text => {
                self.bump();
                let (words, values) = self.check_text();
                ExprKind::Check(words, values)
            }
            TokenKind::Lower
                if matches!(self.here(), "error" | "failwith")
                    && self.ahead(1).kind == TokenKind::Text =>
            {
                self.bump();
                let (words, values) = self.check_text();
                ExprKind::Fail(words, values)
            }
            TokenKind::Lower => ExprKind::Var(self.bump_name().text),
            TokenKind::Upper => ExprKind::Con(self.bump_name().text),
            TokenKind::Int(value) => self.int(value),
            TokenKind::Real(value) => self.literal(ExprKind::Real(value)),
            TokenKind::Keyword(Keyword::True) => self.literal(ExprKind::Bool(true)),
            TokenKind::Keyword(Keyword::False) => self.literal(ExprKind::Bool(false)),
            TokenKind::Keyword(keyword) if self.is_mistaken_name(keyword) => {
                self.report_reserved(keyword);
                ExprKind::Var(self.bump_name().text)
            }
            TokenKind::Keyword(Keyword::While) => {
                return self.halt(forms::bare_for(self.span(), "while"));
            }
            TokenKind::Open(Bracket::Round) => return self.round(),
            TokenKind::Open(Bracket::Square) => self.square()?,
            TokenKind::Open(Bracket::Curly) => self.curly()?,
            TokenKind::Keyword(_)
            | TokenKind::Text
            | TokenKind::Op(_)
            | TokenKind::Borrowed(_)
            | TokenKind::Close(_)
            | TokenKind::Equals => {
                return self.no_expression();
            }
            TokenKind::PlusEquals
            | TokenKind::Arrow
            | TokenKind::FatArrow
            | TokenKind::Bar
            | TokenKind::Comma => {
                return self.no_expression();
            }
            TokenKind::Semicolon
            | TokenKind::Colon
            | TokenKind::Dot
            | TokenKind::DotDot
            | TokenKind::Backslash => {
                return self.no_expression();
            }
            TokenKind::Bad | TokenKind::End => return self.no_expression(),
        };
        Ok(self.make(start, kind))
    }

    /// `"tolerance {tol}"` after `check` or `error`; `{{` and `}}` stand for braces.
    pub(super) fn check_text(&mut self) -> (Vec<Rc<str>>, Vec<Expr>) {
        let span = self.bump().span;
        let end = span.end as usize - 1;
        let mut at = span.start as usize + 1;
        let (mut words, mut values) = (Vec::new(), Vec::new());
        let mut word = String::new();
        while at < end {
            let rest = &self.text[at..end];
            let next = rest.chars().next().unwrap_or('"');
            if rest.starts_with("{{") || rest.starts_with("}}") {
                word.push(next);
                at += 2;
            } else if next == '{' {
                let Some(length) = closing(&rest[1..]) else {
                    let place = Span::new(self.file, at, at + 1);
                    self.report(forms::braces_in_text(place));
                    break;
                };
                words.push(Rc::from(std::mem::take(&mut word)));
                values.push(self.expression_within(at + 1, at + 1 + length));
                at += length + 2;
            } else {
                word.push(next);
                at += next.len_utf8();
            }
        }
        words.push(word.into());
        (words, values)
    }

    /// The expression that the text consists of from `start` to `end`.
    fn expression_within(&mut self, start: usize, end: usize) -> Expr {
        let span = Span::new(self.file, start, end);
        let text = &self.text[..end];
        let lexed = tokenize_from(text, start, self.file);
        let mut inner = Parser::of_tokens(text, self.file, lexed, self.constructors.clone());
        inner.depth = self.depth;
        let result = inner.expr();
        if result.is_ok() && inner.kind() != TokenKind::End {
            inner.report(forms::braces_in_text(span));
        }
        let problems: Vec<Problem> = inner.problems;
        let expr = match result {
            Ok(expr) if problems.is_empty() => *expr,
            Ok(_) | Err(_) => Expr { kind: ExprKind::Error, span },
        };
        if !self.lost {
            self.problems.extend(problems);
        }
        expr
    }

    /// The content of a quoted text.
    pub(super) fn text(&mut self) -> Rc<str> {
        let text = self.intern(self.here().trim_matches('"'));
        self.bump();
        text
    }

    pub(super) fn literal(&mut self, kind: ExprKind) -> ExprKind {
        self.bump();
        kind
    }

    /// An integer. The largest one, 2⁶³, needs a minus sign.
    pub(super) fn int(&mut self, value: u64) -> ExprKind {
        let span = self.bump().span;
        let negative =
            self.at >= 2 && self.tokens[self.at - 2].kind == TokenKind::Op(BinaryOp::Sub);
        if value > i64::MAX as u64 && !negative {
            self.report(lexical::int_too_large(span));
        }
        ExprKind::Int(value as i64)
    }

    /// Whether a reserved word is read as a name: because it was reported as one, or because it
    /// cannot start anything here.
    fn is_mistaken_name(&self, keyword: Keyword) -> bool {
        let next = self.ahead(1).kind;
        let operand = matches!(
            next,
            TokenKind::Op(_)
                | TokenKind::Borrowed(_)
                | TokenKind::Comma
                | TokenKind::Close(_)
                | TokenKind::Dot
        );
        match keyword {
            Keyword::Rec | Keyword::Type | Keyword::Import | Keyword::With => {
                self.reserved.contains(&keyword) || (operand && !self.ends_item())
            }
            Keyword::Do
            | Keyword::Def
            | Keyword::While
            | Keyword::And
            | Keyword::In
            | Keyword::Checkpoint => self.reserved.contains(&keyword) && !self.ends_item(),
            Keyword::Let
            | Keyword::If
            | Keyword::Then
            | Keyword::Else
            | Keyword::Match
            | Keyword::For
            | Keyword::Loop => false,
            Keyword::Accumulate | Keyword::True | Keyword::False | Keyword::Not => false,
        }
    }

    /// Unit, parentheses, tuple, annotation, operator or section.
    fn round(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        let inside = self.brackets("an operator, `,`", Self::in_parentheses)?;
        let mut expr = inside.unwrap_or_else(|| self.make(start, ExprKind::Error));
        expr.span = self.span_from(start);
        Ok(expr)
    }

    fn in_parentheses(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        let closes = self.ahead(1).kind == TokenKind::Close(Bracket::Round);
        match self.kind() {
            TokenKind::Close(Bracket::Round) => Ok(self.make(start, ExprKind::Tuple(Vec::new()))),
            TokenKind::Op(op) if closes => {
                self.bump();
                Ok(self.make(start, ExprKind::Operator(op)))
            }
            TokenKind::Op(op) if op != BinaryOp::Sub => self.section_right(op),
            TokenKind::Keyword(Keyword::Not) if closes => {
                self.bump();
                Ok(self.not_function(start))
            }
            _ => self.elements(),
        }
    }

    /// `(not)`, and `not` as an argument, is `\x -> not x`.
    pub(super) fn not_function(&mut self, start: usize) -> Box<Expr> {
        let span = self.span_from(start);
        let x = self.intern("x");
        let pattern = Pattern { kind: PatternKind::Var(x.clone()), span };
        let body = Expr {
            kind: ExprKind::Unary(UnaryOp::Not, Box::new(Expr { kind: ExprKind::Var(x), span })),
            span,
        };
        Box::new(Expr {
            kind: ExprKind::Lambda(vec![Param { pattern, ty: None }], Box::new(body)),
            span,
        })
    }

    fn section_right(&mut self, op: BinaryOp) -> Parse<Box<Expr>> {
        let start = self.at;
        self.bump();
        let operand = self.nested(|p| p.binary(PIPE))?;
        if !may_follow(&operand, op) && !self.in_own_brackets(&operand) {
            self.report(forms::ambiguous_section(operand.span, op.spelling()));
        }
        Ok(self.make(start, ExprKind::SectionRight(op, operand)))
    }

    /// Whether this expression, which has just been read, has parentheses of its own.
    fn in_own_brackets(&self, expr: &Expr) -> bool {
        self.text[expr.span.start as usize..].starts_with('(')
            && self.text[..expr.span.end as usize].ends_with(')')
            && self.is_one_pair(expr)
    }

    /// Whether the first and the last parenthesis of an expression match.
    fn is_one_pair(&self, expr: &Expr) -> bool {
        let mut depth = 0;
        let first = self.tokens.partition_point(|token| token.span.start < expr.span.start);
        for token in &self.tokens[first..self.at] {
            match token.kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return token.span.end == expr.span.end;
            }
        }
        false
    }

    /// The elements of a tuple, or one expression, perhaps followed by an operator.
    fn elements(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        let first = self.element()?;
        self.find(|kind| kind == TokenKind::Comma);
        if self.lost {
            return Ok(first);
        }
        if let TokenKind::Op(op) = self.kind()
            && self.ahead(1).kind == TokenKind::Close(Bracket::Round)
        {
            if !may_precede(&first, op) && !self.in_own_brackets(&first) {
                self.report(forms::ambiguous_section(first.span, op.spelling()));
            }
            self.bump();
            return Ok(self.make(start, ExprKind::SectionLeft(first, op)));
        }
        if self.kind() != TokenKind::Comma {
            return Ok(first);
        }
        let mut parts = vec![*first];
        while self.another() {
            let comma = self.bump().span;
            if parts.len() > 1 && self.kind() == TokenKind::Close(Bracket::Round) {
                break;
            }
            if self.kind() == TokenKind::Close(Bracket::Round) {
                return self.halt(forms::trailing_comma(comma));
            }
            parts.push(*self.element()?);
        }
        Ok(self.make(start, ExprKind::Tuple(parts)))
    }

    /// `e` or `e : t`
    fn element(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        let expr = self.expr()?;
        if self.lost || !self.eat(TokenKind::Colon) {
            return Ok(expr);
        }
        let ty = self.type_expr()?;
        Ok(self.make(start, ExprKind::Annotated(expr, ty)))
    }

    /// `[a, b]`, or `[e for x in xs]` for `for x in xs => e`.
    fn square(&mut self) -> Parse<ExprKind> {
        let elements = self.brackets("`,`", |p| {
            if p.kind() == TokenKind::Close(Bracket::Square) {
                return Ok(ExprKind::Array(Vec::new()));
            }
            if let Some(problem) = foreign::list_without_commas(p) {
                return p.halt(problem);
            }
            let mut elements = p.separated(|p| Ok(*p.nested(Self::single)?))?;
            match p.kind() {
                _ if p.lost => Ok(ExprKind::Array(elements)),
                TokenKind::Semicolon => p.halt(forms::semicolon_in_list(p.span(), p.rows())),
                TokenKind::Keyword(Keyword::For) if elements.len() == 1 => {
                    p.bump();
                    let body = elements.pop().ok_or(Halt)?;
                    Ok(Self::array_over(p.clauses()?, Box::new(body)))
                }
                TokenKind::Keyword(Keyword::For) | TokenKind::Bar => {
                    p.halt(forms::comprehension(p.span()))
                }
                TokenKind::DotDot => {
                    let sign = p.bump().span;
                    let to = p.nested(Self::single)?;
                    let (from, to) = (elements.pop().ok_or(Halt)?, p.upper_bound(&to));
                    let from = p.text_of(from.span);
                    let problem = forms::range_array(sign, from, &to);
                    p.halt(problem)
                }
                _ => Ok(ExprKind::Array(elements)),
            }
        })?;
        Ok(elements.unwrap_or(ExprKind::Error))
    }

    /// `{x = 1.0, y}` or `{r with x = 3.0}`
    fn curly(&mut self) -> Parse<ExprKind> {
        let kind = self.brackets("`,`", |p| {
            if p.kind() == TokenKind::Close(Bracket::Curly) {
                return p.halt(forms::empty_record(p.tokens[p.at - 1].span.to(p.span())));
            }
            if p.kind() == TokenKind::DotDot {
                let problem = foreign::spread_record(p);
                return p.halt(problem);
            }
            if p.is_field() {
                let fields = p.separated(Self::field)?;
                if !p.lost && p.kind() == TokenKind::Semicolon {
                    return p.halt(forms::semicolon_in_list(p.span(), None));
                }
                return Ok(ExprKind::Record(fields));
            }
            let record = p.nested(Self::single)?;
            if p.lost {
                return Err(Halt);
            }
            if matches!(record.kind, ExprKind::Update(..) | ExprKind::UpdateSlice(..))
                && !p.is(Keyword::With)
            {
                let closes = p.kind() == TokenKind::Close(Bracket::Curly);
                let opener = p.enclosing().filter(|_| closes).map(|(opener, _)| opener);
                let braces = opener.map(|opener| [opener, p.span()]);
                return p.halt(forms::array_update_in_braces(record.span, braces));
            }
            if !p.eat_keyword(Keyword::With) {
                return if p.kind() == TokenKind::Bad {
                    Err(Halt)
                } else {
                    p.halt(forms::not_a_field(record.span))
                };
            }
            Ok(ExprKind::RecordUpdate(record, p.separated(Self::field)?))
        })?;
        Ok(kind.unwrap_or(ExprKind::Error))
    }

    /// Whether a field follows: a name and then `=`, `,` or the end, and not an expression.
    fn is_field(&self) -> bool {
        let name = matches!(self.kind(), TokenKind::Lower | TokenKind::Keyword(_));
        let next = self.ahead(1).kind;
        name && matches!(
            next,
            TokenKind::Equals
                | TokenKind::Colon
                | TokenKind::Comma
                | TokenKind::Close(_)
                | TokenKind::Op(BinaryOp::Eq)
        )
    }

    /// `x = e`; `x` is `x = x`.
    fn field(&mut self) -> Parse<(Name, Expr)> {
        let name = self.field_name()?;
        if self.kind() == TokenKind::Colon {
            let colon = self.bump();
            self.report(forms::record_colon(colon.span, colon.touches));
        } else if matches!(self.kind(), TokenKind::Comma | TokenKind::Close(Bracket::Curly)) {
            let value = Expr { kind: ExprKind::Var(name.text.clone()), span: name.span };
            return Ok((name, value));
        } else {
            self.equals("a record is written `{x = 1.0, y = 2.0}`")?;
        }
        Ok((name, *self.nested(Self::single)?))
    }

    pub(super) fn field_name(&mut self) -> Parse<Name> {
        match self.kind() {
            TokenKind::Lower => Ok(self.bump_name()),
            TokenKind::Keyword(keyword) if !self.ends_item() => {
                self.report_reserved(keyword);
                Ok(self.bump_name())
            }
            TokenKind::Close(bracket) if self.open.last() != Some(&bracket) => {
                self.halt(syntax::unopened(self.span(), bracket))
            }
            _ => Err(self.expected(Missing::Name, "the name of a field")),
        }
    }
}

/// The length of the text before the brace that closes it.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The precedence of an expression as an operand.
pub(crate) fn level(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Binary(op, ..) => op.level(),
        ExprKind::Unary(..) => UNARY,
        ExprKind::Sequence(..) => 0,
        ExprKind::Update(..) | ExprKind::UpdateSlice(..) | ExprKind::Add(..) => 1,
        ExprKind::Lambda(..)
        | ExprKind::Let(..)
        | ExprKind::LetFunctions(..)
        | ExprKind::If(..)
        | ExprKind::Match(..) => 0,
        ExprKind::For(..) | ExprKind::Loop(..) | ExprKind::Accumulate(..) => 0,
        ExprKind::Commented(_, inner) | ExprKind::Broken(inner) => level(inner),
        ExprKind::Apply(..) | ExprKind::InspectAs(_) => POWER + 1,
        ExprKind::Check(..) | ExprKind::Fail(..) => POWER + 1,
        ExprKind::Var(_)
        | ExprKind::Con(_)
        | ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Bool(_)
        | ExprKind::Tuple(_) => POWER + 2,
        ExprKind::Record(_)
        | ExprKind::RecordUpdate(..)
        | ExprKind::Field(..)
        | ExprKind::Component(..)
        | ExprKind::Operator(_) => POWER + 2,
        ExprKind::SectionLeft(..)
        | ExprKind::SectionRight(..)
        | ExprKind::Array(_)
        | ExprKind::Index(..)
        | ExprKind::Slice(..) => POWER + 2,
        ExprKind::Annotated(..) | ExprKind::Error => POWER + 2,
    }
}

/// Whether `e` may stand on the left of `op` without parentheses.
pub(crate) fn may_precede(e: &Expr, op: BinaryOp) -> bool {
    let least = match op {
        BinaryOp::Pow => POWER + 1,
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            op.level() + 1
        }
        BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::FloorDiv
        | BinaryOp::Rem
        | BinaryOp::MatMul
        | BinaryOp::Add
        | BinaryOp::Sub => op.level(),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Compose | BinaryOp::Pipe => op.level(),
    };
    level(e) >= least
}

/// Whether `e` may stand on the right of `op`, at the end, without parentheses.
pub(crate) fn may_follow(e: &Expr, op: BinaryOp) -> bool {
    is_open(e) || if op == BinaryOp::Pow { level(e) >= UNARY } else { level(e) > op.level() }
}

/// Whether the expression extends as far right as possible.
pub(crate) fn is_open(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Commented(_, inner) | ExprKind::Broken(inner) => is_open(inner),
        ExprKind::Lambda(..)
        | ExprKind::Let(..)
        | ExprKind::LetFunctions(..)
        | ExprKind::If(..)
        | ExprKind::Match(..) => true,
        ExprKind::For(..) | ExprKind::Loop(..) | ExprKind::Accumulate(..) => true,
        ExprKind::Sequence(..)
        | ExprKind::Update(..)
        | ExprKind::UpdateSlice(..)
        | ExprKind::Add(..)
        | ExprKind::Binary(..) => false,
        ExprKind::Var(_)
        | ExprKind::Con(_)
        | ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Bool(_)
        | ExprKind::InspectAs(_)
        | ExprKind::Check(..)
        | ExprKind::Fail(..)
        | ExprKind::Tuple(_) => false,
        ExprKind::Record(_)
        | ExprKind::RecordUpdate(..)
        | ExprKind::Field(..)
        | ExprKind::Component(..)
        | ExprKind::Operator(_) => false,
        ExprKind::SectionLeft(..)
        | ExprKind::SectionRight(..)
        | ExprKind::Array(_)
        | ExprKind::Index(..)
        | ExprKind::Slice(..) => false,
        ExprKind::Annotated(..) | ExprKind::Unary(..) | ExprKind::Apply(..) | ExprKind::Error => {
            false
        }
    }
}
