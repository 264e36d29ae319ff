//! The text of a check: words, and expressions in braces.

use std::rc::Rc;

use lambada_source::{Problem, Span};

use super::Parser;
use crate::ast::{Expr, ExprKind};
use crate::lexer::tokenize_from;
use crate::messages::forms;
use crate::token::TokenKind;

impl Parser<'_> {
    /// `"tolerance {tol}"` after `check`; `{{` and `}}` stand for braces.
    pub(super) fn check_text(&mut self) -> ExprKind {
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
                    self.report(forms::open_brace_in_text(place));
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
        ExprKind::Check(words, values)
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
            inner.report(forms::not_one_expression(span));
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
