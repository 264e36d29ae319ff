//! Forms of other languages inside of expressions and between items: `xs[::2]`, `[1 2 3]`,
//! `{...p, x = 1}`, `f(x = 1)`, `sum(m, axis = 0)`, `f :: Real -> Real`.

use lambada_source::{Fix, Problem, Span};

use super::Parser;
use crate::ast::{BinaryOp, Expr, ExprKind};
use crate::messages::{forms, items};
use crate::token::{Bracket, Keyword, TokenKind};

/// The bounds of a slice.
type Bounds<'a> = (Option<&'a Expr>, Option<&'a Expr>);

/// The problem of a slice at the `:` before its step.
pub(super) fn stepped_slice(p: &Parser, bounds: Option<Bounds>) -> Problem {
    forms::stepped_slice(p.span(), bounds.and_then(|bounds| without_step(p, bounds)))
}

/// The elements of `xs[a:b:k]`, and the edits that write them, if the step is a number.
fn without_step(p: &Parser, (from, to): Bounds) -> Option<(String, Fix)> {
    let (opener, _) = p.enclosing()?;
    let first = p.tokens.partition_point(|token| token.span.end <= opener.start);
    let array = first.checked_sub(1).map(|at| p.tokens[at])?;
    let selected = first > 1 && p.tokens[first - 2].kind == TokenKind::Dot;
    if array.kind != TokenKind::Lower || selected {
        return None;
    }
    let xs = p.text_of(array.span);
    let negative = p.ahead(1).kind == TokenKind::Op(BinaryOp::Sub);
    let (step, closer) = (p.ahead(1 + usize::from(negative)), p.ahead(2 + usize::from(negative)));
    let TokenKind::Int(k) = step.kind else { return None };
    if closer.kind != TokenKind::Close(Bracket::Square) {
        return None;
    }
    let text = |e: Option<&Expr>| {
        e.map(|e| {
            let text = p.text_of(e.span);
            let simple = matches!(e.kind, ExprKind::Var(_) | ExprKind::Int(_));
            if simple { text.to_string() } else { format!("({text})") }
        })
    };
    let less = k.checked_sub(1).filter(|less| *less > 0);
    let better = match (negative, k, text(from), text(to)) {
        (true, 1, None, None) => format!("reverse {xs}"),
        (false, 2.., None, None) => {
            format!("for i < (length {xs} + {}) // {k} => {xs}[{k} * i]", less?)
        }
        (false, 2.., None, Some(to)) => {
            format!("for i < ({to} + {}) // {k} => {xs}[{k} * i]", less?)
        }
        (false, 2.., Some(from), to) => {
            let to = to.unwrap_or_else(|| format!("length {xs}"));
            format!("for i < ({to} - {from} + {}) // {k} => {xs}[{from} + {k} * i]", less?)
        }
        _ => return None,
    };
    let fix = Fix::replace(array.span.to(closer.span), format!("({better})"));
    Some((better, fix))
}

/// The problem of an array whose numbers have no commas between them: `[1 2 3]`, `[1 2; 3 4]`.
pub(super) fn list_without_commas(p: &Parser) -> Option<Problem> {
    let tokens: Vec<_> = p.within(p.at).map(|(_, token)| token).collect();
    let (closer, inside) = tokens.split_last()?;
    let number = |kind| matches!(kind, TokenKind::Int(_) | TokenKind::Real(_));
    let minus = TokenKind::Op(BinaryOp::Sub);
    let known = |kind| number(kind) || kind == minus || kind == TokenKind::Semicolon;
    if closer.kind != TokenKind::Close(Bracket::Square)
        || !inside.iter().all(|token| known(token.kind))
    {
        return None;
    }
    let apart = inside.windows(2).find(|pair| pair.iter().all(|token| number(token.kind)))?;
    let rows = inside.iter().any(|token| token.kind == TokenKind::Semicolon);
    let mut fix = Fix::behind(p.tokens[p.at - 1].span, if rows { "[" } else { "" });
    for pair in inside.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        let gap = before.span.between(after.span);
        let signed = after.kind == minus && !after.touches;
        if number(before.kind) && (number(after.kind) || signed) {
            fix = fix.and(Fix::replace(gap, ", "));
        } else if after.kind == TokenKind::Semicolon {
            fix = fix.and(Fix::replace(after.span, "], ["));
        }
    }
    let fix = fix.and(Fix::before(closer.span, if rows { "]" } else { "" }));
    Some(forms::spaces_in_list(apart[1].span, rows, fix))
}

/// The problem of `{...p, x = e}`, at its `...`.
pub(super) fn spread_record(p: &Parser) -> Problem {
    let (name, comma) = (p.ahead(1), p.ahead(2));
    let whole = p.span().to(comma.span);
    let fix = (name.kind == TokenKind::Lower && comma.kind == TokenKind::Comma)
        .then(|| Fix::replace(whole, format!("{} with", p.text_of(name.span))));
    forms::spread_record(p.span(), fix)
}

/// The problem of `x = e` as an argument, at its `=`.
pub(super) fn named_argument(p: &Parser) -> Option<Problem> {
    let name = p.at.checked_sub(1)?;
    if p.tokens[name].kind != TokenKind::Lower || name == 0 {
        return None;
    }
    if matches!(p.text_at(name), "axis" | "dim" | "dims") {
        return axis_argument(p, name);
    }
    let (opener, _) = p.enclosing().filter(|(_, b)| *b == Bracket::Round)?;
    let open = p.tokens.partition_point(|token| token.span.end <= opener.start);
    let call = open > 0 && p.tokens[open].touches && p.tokens[open - 1].kind == TokenKind::Lower;
    let starts = name == open + 1 || p.tokens[name - 1].kind == TokenKind::Comma;
    (call && starts).then(|| {
        let f = p.text_at(open - 1);
        forms::named_argument(p.tokens[name].span.to(p.span()), f)
    })
}

/// `sum(m, axis=0)`, `sum m axis=0`
fn axis_argument(p: &Parser, name: usize) -> Option<Problem> {
    let span = p.tokens[name].span.to(p.ahead(1).span);
    let better = without_axis(p, name);
    Some(forms::axis_argument(span, better))
}

/// The call without its axis, and the edit that writes it.
fn without_axis(p: &Parser, name: usize) -> Option<(String, Fix)> {
    let TokenKind::Int(axis @ (0 | 1)) = p.ahead(1).kind else { return None };
    let (first, last, end) = match p.enclosing() {
        Some((opener, Bracket::Round)) if p.tokens[name - 1].kind == TokenKind::Comma => {
            let open = p.tokens.partition_point(|token| token.span.end <= opener.start);
            (open.checked_sub(1)?, name - 2, p.at + 2)
        }
        _ if name > 1 => (name - 2, name - 1, p.at + 1),
        _ => return None,
    };
    let f = match p.text_at(first) {
        "max" => "maximum",
        "min" => "minimum",
        "prod" => "product",
        f @ ("sum" | "mean" | "product" | "maximum" | "minimum") => f,
        _ => return None,
    };
    let closed = end == p.at + 1 || p.ahead(2).kind == TokenKind::Close(Bracket::Round);
    let argument = if last == first + 1 { last } else { first + 2 };
    if !closed || p.tokens[last].kind != TokenKind::Lower || argument != last {
        return None;
    }
    let m = p.text_at(last);
    let better = match (axis, f) {
        (0, "maximum" | "minimum") => format!("map {f} (transpose {m})"),
        (0, _) => format!("{f} {m}"),
        _ => format!("map {f} {m}"),
    };
    let whole = p.tokens[first].span.to(p.tokens[end].span);
    let alone = first > 0
        && matches!(
            p.tokens[first - 1].kind,
            TokenKind::Equals | TokenKind::Arrow | TokenKind::FatArrow | TokenKind::Open(_)
        );
    let text = if alone { better.clone() } else { format!("({better})") };
    Some((better, Fix::replace(whole, text)))
}

/// `{` if the braces after the parameters end the item, so that they enclose a body in the
/// style of other languages.
pub(super) fn braced_body(p: &Parser) -> Option<TokenKind> {
    let mut depth = 0usize;
    for (at, token) in p.tokens.iter().enumerate().skip(p.at) {
        match token.kind {
            TokenKind::Open(_) => depth += 1,
            TokenKind::Close(Bracket::Curly) if depth == 1 => {
                let next = p.tokens[at + 1];
                let ends = matches!(
                    next.kind,
                    TokenKind::End
                        | TokenKind::Keyword(Keyword::Def | Keyword::Type | Keyword::Import)
                );
                return ends.then_some(TokenKind::Open(Bracket::Curly));
            }
            TokenKind::Close(_) if depth > 0 => depth -= 1,
            TokenKind::Equals | TokenKind::End if depth == 0 => return None,
            TokenKind::Keyword(Keyword::Def) | TokenKind::Close(_) => return None,
            _ => {}
        }
    }
    None
}

/// Reports `f :: real -> real` before the definition of `f`, and skips it.
pub(super) fn signature(p: &mut Parser) {
    let (start, name) = (p.at, p.here());
    while p.kind() != TokenKind::End && (p.at == start || !p.starts_item()) {
        p.bump();
    }
    let end = p.at;
    let span = p.tokens[start].span.to(p.tokens[end - 1].span);
    let line = Span { end: p.span().start, ..span };
    let word = p.is(Keyword::Def) && p.text_at(end + 1) == name;
    let head = end + usize::from(word);
    let own = word || p.kind() == TokenKind::Lower && p.here() == name;
    let typed = if own { typed_head(p, start, head) } else { None };
    let fix = match &typed {
        Some((text, old)) => Fix::remove(line).and(Fix::replace(p.span().to(*old), text)),
        None => Fix::remove(line),
    };
    p.report(items::signature(span, typed.as_ref().map(|(text, _)| &**text), fix));
}

/// `def f (x : real) : real` for the signature at `start` and the head `f x` at `head`, with
/// the last token of that head.
fn typed_head(p: &Parser, start: usize, head: usize) -> Option<(String, Span)> {
    let mut at = start + 1;
    while p.tokens[at].kind == TokenKind::Colon {
        at += 1;
    }
    let end = (at..head).find(|k| p.tokens[*k].starts_line).unwrap_or(head);
    let arrow = |token: &crate::token::Token| token.kind == TokenKind::Arrow;
    let types: Option<Vec<String>> =
        p.tokens[at..end].split(arrow).map(|tokens| simple_type(p, tokens)).collect();
    let (result, types) = types?.split_last().map(|(last, rest)| (last.clone(), rest.to_vec()))?;
    let mut text = format!("def {}", p.text_at(head));
    let mut at = head;
    for ty in types {
        at += 1;
        if p.tokens[at].kind != TokenKind::Lower {
            return None;
        }
        text += &format!(" ({} : {ty})", p.text_at(at));
    }
    let ends = p.tokens[at + 1].kind == TokenKind::Equals;
    ends.then(|| (format!("{text} : {result}"), p.tokens[at].span))
}

/// `Real`, `[Double]`
fn simple_type(p: &Parser, tokens: &[crate::token::Token]) -> Option<String> {
    match tokens {
        [name] => {
            let name = items::lower(p.text_of(name.span));
            matches!(&*name, "real" | "int" | "bool").then_some(name)
        }
        [open, inner @ .., close]
            if open.kind == TokenKind::Open(Bracket::Square)
                && close.kind == TokenKind::Close(Bracket::Square) =>
        {
            Some(format!("[]{}", simple_type(p, inner)?))
        }
        _ => None,
    }
}
