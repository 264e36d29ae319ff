//! `let`s, and the bodies that need no `in`.
//!
//! An `in` may be left out before a body on a line of its own that begins in the column of its
//! `let`. So the parser knows the columns of the `let`s around the current
//! token, back to the last bracket: the arguments of an application end before a line in one of
//! these columns.

use lambada_source::Span;

use super::expr::Subscripts;
use super::statements::is_mutable;
use super::{Halt, Parse, Parser};
use crate::ast::{BinaryOp, Def, Expr, ExprKind, Param, Pattern, PatternKind};
use crate::messages::{forms, items, statements};
use crate::token::{Bracket, Keyword, TokenKind};

/// A `let` without its body.
enum Binding {
    Value(Param, Box<Expr>),
    Functions(Vec<Def>),
}

/// The part of a `let` around the current token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Its value.
    Value,
    /// Its body, after an `in`.
    In,
    /// Its body, without an `in`.
    Below,
}

impl Parser<'_> {
    /// Whether the body, or the next `let`, of the `let` at `start` begins here without an `in`.
    fn is_below(&self, start: usize) -> bool {
        let (first, token) = (self.tokens[start], self.token());
        let below = token.starts_line && token.column == first.column;
        below && self.has_column(start) && self.starts_expression()
    }

    /// Whether a line in the column of the `let` at `start` is no part of its value: the `let`
    /// begins its line, or the lines of its value are further to the right.
    fn has_column(&self, start: usize) -> bool {
        let first = self.tokens[start];
        let mut lines = self.tokens[start + 1..].iter().filter(|token| token.starts_line);
        first.starts_line
            || lines
                .find(|line| line.column <= first.column)
                .is_some_and(|line| line.column == first.column)
    }

    /// Enters a part of the `let` at `start`.
    pub(super) fn enter_let(&mut self, start: usize, layout: Layout) {
        if self.has_column(start) {
            self.columns.push((self.tokens[start].column, layout));
        }
    }

    /// The parts of `let`s in whose column a line begins here, innermost first. A line further to
    /// the right than a `let` belongs to it, whatever is around.
    fn let_columns(&self) -> impl Iterator<Item = Layout> {
        let token = self.token();
        let columns = self.columns.iter().rev().filter(move |_| token.starts_line);
        let outward = columns.take_while(move |(column, _)| token.column <= *column);
        outward.filter(move |(column, _)| *column == token.column).map(|(_, layout)| *layout)
    }

    /// Whether a line in the column of a `let` around it begins here.
    pub(super) fn at_let_column(&self) -> bool {
        self.let_columns().next().is_some()
    }

    /// Whether the value of a `let` has ended before this line: a `-` here does not subtract.
    pub(super) fn at_negative_body(&self) -> bool {
        self.let_columns().any(|layout| layout == Layout::Value)
    }

    /// Whether the value of a `let` is being read.
    pub(super) fn in_value(&self) -> bool {
        self.columns.iter().any(|(_, layout)| *layout == Layout::Value)
    }

    pub(super) fn starts_expression(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::Backslash | TokenKind::Op(BinaryOp::Sub) | TokenKind::Keyword(Keyword::Not)
        ) || self.at_form()
            || self.starts_atom()
    }

    /// Reads the `in` of the `let` at `start`, if there is one. `None` if no body follows.
    pub(super) fn body_follows(&mut self, start: usize) -> Option<Layout> {
        if self.lost {
            None
        } else if self.eat_keyword(Keyword::In) {
            Some(Layout::In)
        } else {
            self.is_below(start).then_some(Layout::Below)
        }
    }

    /// The body of the `let` at `start`.
    pub(super) fn body(&mut self, start: usize, layout: Layout) -> Parse<Box<Expr>> {
        let around = self.columns.len();
        if layout == Layout::Below {
            self.enter_let(start, layout);
        }
        let body = self.expr();
        self.columns.truncate(around);
        body
    }

    /// Consecutive `let`s, without recursion.
    pub(super) fn lets(&mut self) -> Parse<Box<Expr>> {
        let mut bindings = Vec::new();
        let body = loop {
            let start = self.at;
            let (keyword, around) = (self.bump().span, self.columns.len());
            self.enter_let(start, Layout::Value);
            let binding = self.binding(start).unwrap_or_else(|Halt| self.lost_binding(start));
            self.find_in(start);
            self.columns.truncate(around);
            bindings.push((keyword, binding));
            let mut body = self.body_follows(start);
            if body.is_none() && !self.lost && !self.is(Keyword::Let) {
                self.missing_in(start, keyword);
                self.find_in(start);
                body = self.body_follows(start);
            }
            if !self.lost && self.is(Keyword::Let) {
                continue;
            }
            break match body {
                Some(layout) => self.body(start, layout)?,
                None => self.nothing(),
            };
        };
        Ok(bindings.into_iter().rfold(body, |body, (keyword, binding)| {
            let span = keyword.to(body.span);
            let kind = match binding {
                Binding::Value(param, value) => ExprKind::Let(param, value, body),
                Binding::Functions(defs) => ExprKind::LetFunctions(defs, body),
            };
            Box::new(Expr { kind, span })
        }))
    }

    /// A `let` without a readable name.
    fn lost_binding(&mut self, start: usize) -> Binding {
        self.lost = true;
        let value = Box::new(self.error_expr(start));
        let pattern = Pattern { kind: PatternKind::Error, span: value.span };
        Binding::Value(Param { pattern, ty: None }, value)
    }

    /// Behind a problem, finds the `in` of a `let`, or a line in its column: the next `let`, or the
    /// body.
    pub(super) fn find_in(&mut self, start: usize) {
        self.find_where(|p| p.is(Keyword::In) || p.is_below(start));
    }

    /// Reports a missing `in`, which probably belongs before a line indented no deeper than its
    /// `let`.
    fn missing_in(&mut self, start: usize, keyword: Span) {
        let end = self.at;
        let edge = self.tokens[start].column;
        let line = (start + 1..=end)
            .find(|k| self.tokens[*k].starts_line && self.tokens[*k].column <= edge);
        if self.is(Keyword::And) {
            return self.missing(forms::and_without_rec(self.span()));
        }
        self.at = line.unwrap_or(end);
        let body = self.starts_expression() && !self.ends_item();
        let problem = forms::missing_in(keyword, &self.found(), self.gap(), body);
        self.at = end;
        self.missing(problem);
    }

    /// `p = e`, `f x = e`, `rec f x = e and g y = e`
    fn binding(&mut self, start: usize) -> Parse<Binding> {
        if self.kind() == TokenKind::Keyword(Keyword::Rec)
            && self.ahead(1).kind == TokenKind::Equals
        {
            self.report_reserved(Keyword::Rec);
            return Err(Halt);
        }
        if is_mutable(self, self.at) {
            let word = self.bump().span;
            self.report(statements::mutable(word.to(self.span().start()), word));
        }
        if self.eat_keyword(Keyword::Rec) {
            let in_rec = std::mem::replace(&mut self.in_rec, true);
            let functions = self.rec_functions(start);
            self.in_rec = in_rec;
            return Ok(Binding::Functions(functions?));
        }
        let next = self.ahead(1).kind;
        let params = matches!(
            next,
            TokenKind::Lower
                | TokenKind::Upper
                | TokenKind::Int(_)
                | TokenKind::Real(_)
                | TokenKind::Open(_)
        );
        let name = match self.kind() {
            TokenKind::Lower => self.here() != "_",
            TokenKind::Upper => !self.constructors.contains(self.here()),
            _ => false,
        };
        if name && self.at_element() {
            return self.changed_element(start);
        }
        if name && (params || matches!(next, TokenKind::Keyword(Keyword::True | Keyword::False))) {
            return Ok(Binding::Functions(vec![self.local_function(start, false)?]));
        }
        let first = self.at;
        let param = self.let_param()?;
        if self.kind() == TokenKind::Comma {
            let tuple = self.up_to_equals(first);
            return self.halt(items::tuple_pattern(self.span(), tuple));
        }
        self.find(|kind| kind == TokenKind::Equals);
        let start = self.at;
        let value = match self.equals("a local name is written `let x = e in …`") {
            Ok(()) => self.expr(),
            Err(halt) => Err(halt),
        };
        let value = self.or_error(start, value);
        Ok(Binding::Value(param, value))
    }

    /// Whether `x[i] =` begins here. A size variable, `x [n] =`, stands apart.
    fn at_element(&self) -> bool {
        if self.ahead(1).kind != TokenKind::Open(Bracket::Square) || !self.ahead(1).touches {
            return false;
        }
        let mut depth = 0_usize;
        for token in &self.tokens[self.at + 1..] {
            match token.kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) => depth -= 1,
                TokenKind::End => return false,
                kind if depth == 0 => return kind == TokenKind::Equals,
                _ => {}
            }
        }
        false
    }

    /// `let x[i] = e` is `let x = x with [i] = e`.
    fn changed_element(&mut self, start: usize) -> Parse<Binding> {
        let first = self.at;
        let name = self.value_name()?;
        let kind = ExprKind::Var(name.text.clone());
        let array = Box::new(Expr { kind, span: name.span });
        let pattern = Pattern { kind: PatternKind::Var(name.text), span: name.span };
        let subscripts = self.subscripts()?;
        self.equals("an element is changed by `let x[i] = e in …`")?;
        let value = self.single();
        let value = self.or_error(start, value);
        let kind = match subscripts {
            Subscripts::Index(at) => ExprKind::Update(array, at, value),
            Subscripts::Slice(from, to) => ExprKind::UpdateSlice(array, from, to, value),
            Subscripts::Error => ExprKind::Error,
        };
        Ok(Binding::Value(Param { pattern, ty: None }, self.make(first, kind)))
    }

    /// The place of the tokens from `first` up to the `=` on this line.
    pub(super) fn up_to_equals(&self, first: usize) -> Option<Span> {
        let line = self.tokens[self.at..].iter().take_while(|token| !token.starts_line);
        let length = line.take_while(|token| token.kind != TokenKind::Equals).count();
        let end = self.at + length;
        let found = self.tokens.get(end)?.kind == TokenKind::Equals;
        found.then(|| self.tokens[first].span.to(self.tokens[end - 1].span))
    }

    fn rec_functions(&mut self, start: usize) -> Parse<Vec<Def>> {
        let mut defs = vec![self.local_function(start, true)?];
        while self.is(Keyword::And) {
            let start = self.at;
            self.bump();
            defs.push(self.local_function(start, true)?);
        }
        Ok(defs)
    }

    /// A pattern, perhaps with a type: `x : t`, `(a, b)`.
    pub(super) fn let_param(&mut self) -> Parse<Param> {
        let mut param = Self::into_param(self.pattern()?);
        if self.eat(TokenKind::Colon) {
            param = Param { pattern: Self::from_param(param), ty: Some(self.type_expr()?) };
        }
        Ok(param)
    }
}
