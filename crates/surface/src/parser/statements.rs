//! Statements of other languages in the body of a definition: `y = e`, `y += e`, loops that assign,
//! `return e`, `begin … end`. They are looked for in definitions with problems only, so no program
//! that parses is read differently. One problem stands for all of them; its fix writes each
//! statement as a `let`, and a loop as a `loop` over the variable that it changes:
//! `for i in range(n): s += x[i]` as `let s = loop s for i < n do s + x[i]`.

use lambada_source::{Fix, Problem, Span};

use super::Parser;
use super::expr::{ADDITIVE, PRODUCT};
use crate::messages::{forms, items, statements};
use crate::token::{Bracket, Keyword, TokenKind};

/// A statement, or another line of a body. Numbers are those of tokens.
enum Statement {
    /// `let x = e`
    Let,
    /// `let mut x = e`
    Mutable(usize),
    /// `x = e`, `x += e`, `xs[i] = e`
    Assigned(Assigned),
    /// `for i in range(n): s += x[i]`; the edited head is `None` if its meaning is not certain.
    Loop { head: Option<String>, body: Assigned },
    /// `return e`
    Return,
    /// The `end` of a block.
    End,
    /// Any other line: the result, if it is the last one.
    Other,
}

/// `x = e`, `x += e`: the first token of the value, and the operator.
#[derive(Clone, Copy)]
struct Assigned {
    name: usize,
    value: usize,
    op: Option<&'static str>,
}

/// The lines of a body, each by its first token and the one after its last, and the edits of the
/// signs around them.
struct Body {
    lines: Vec<(usize, usize)>,
    edits: Vec<Fix>,
    /// The sign before the body: a `:`, or the end of the head where there is none.
    colon: Option<usize>,
    headless: Option<usize>,
    begin: Option<usize>,
}

/// The problem of a definition at `start` whose body has statements.
pub(super) fn statements(p: &Parser, start: usize) -> Option<Problem> {
    let body = statement_lines(p, start)?;
    let found: Vec<Statement> =
        body.lines.iter().map(|(from, to)| statement(p, *from, *to)).collect();
    let first = found.iter().position(|statement| {
        !matches!(statement, Statement::Let | Statement::Other | Statement::End)
    });
    let fix = as_lets(p, &body, &found);
    let word = p.tokens[start];
    if word.kind == TokenKind::Lower && p.foreign_word(start) {
        let fix = fix.map(|fix| Fix::replace(word.span, "def").and(fix));
        return Some(items::other_word_with_body(word.span, p.text_at(start), fix));
    }
    if let Some(colon) = body.colon {
        return Some(forms::body_after_line(p.tokens[colon].span, fix));
    }
    if let Some(end) = body.headless {
        return Some(statements::no_equals(p.tokens[end].span, fix));
    }
    if let Some(begin) = body.begin {
        return Some(statements::begin(p.tokens[begin].span, fix));
    }
    let first = first?;
    let (from, to) = body.lines[first];
    let span = p.tokens[from].span.to(p.tokens[to - 1].span);
    let better = line_as_let(p, from, to, &found[first]);
    Some(match &found[first] {
        Statement::Loop { .. } => {
            statements::assigning_loop(p.tokens[from].span, p.text_at(from), better, fix)
        }
        Statement::Return => statements::returned(p.tokens[from].span, fix),
        _ => statements::assigned(span, better, fix),
    })
}

/// Whether the head of the definition at `start` ends with a `:`, and a line of its body
/// begins with `return`. Its first line may look like the type of the result.
pub(super) fn returns(p: &Parser, start: usize) -> bool {
    statement_lines(p, start).is_some_and(|body| {
        let returned =
            |(from, to): &(usize, usize)| matches!(statement(p, *from, *to), Statement::Return);
        body.colon.is_some() && body.lines.iter().any(returned)
    })
}

/// The lines of the body of the definition at `start`, if it stands on lines of its own.
fn statement_lines(p: &Parser, start: usize) -> Option<Body> {
    let end = item_end(p, start);
    let line = (start + 1..end).find(|at| p.tokens[*at].starts_line)?;
    let head = unbracketed(p, start, line);
    let signs = [TokenKind::Equals, TokenKind::Arrow, TokenKind::FatArrow];
    let sign = head.iter().copied().find(|at| signs.contains(&p.tokens[*at].kind));
    let last = line - 1;
    let mut body =
        Body { lines: Vec::new(), edits: Vec::new(), colon: None, headless: None, begin: None };
    let mut first = line;
    match sign {
        Some(at) if p.tokens[at].kind == TokenKind::Equals => {
            let begins = at + 2 == line && p.text_at(at + 1) == "begin";
            if at != last && !begins {
                return None;
            }
            first = at + 1;
        }
        Some(_) => return None,
        None if !head.contains(&last) => return None,
        None if p.tokens[last].kind == TokenKind::Colon => {
            let touches = p.tokens[last].touches;
            let sign = if touches { " =" } else { "=" };
            body.edits.push(Fix::replace(p.tokens[last].span, sign));
            body.colon = Some(last);
        }
        None => {
            body.edits.push(Fix::behind(p.tokens[last].span, " ="));
            body.headless = Some(last);
        }
    }
    if p.tokens[first].kind == TokenKind::Lower && p.text_at(first) == "begin" {
        body.begin = Some(first);
        body.edits.push(Fix::remove(p.tokens[first].span));
        first += 1;
    }
    let column = p.tokens[first].column;
    if !p.tokens[first].starts_line || column <= p.item_column {
        return None;
    }
    let outside = unbracketed(p, first, end);
    let starts = outside.into_iter().filter(|at| {
        let token = p.tokens[*at];
        token.starts_line && token.column <= column
    });
    let starts: Vec<usize> = starts.collect();
    let ends = starts.iter().copied().skip(1).chain([end]);
    body.lines = starts.iter().copied().zip(ends).collect();
    let aligned = |at: &usize| p.tokens[*at].column == column || p.text_at(*at) == "end";
    starts.iter().all(aligned).then_some(body)
}

/// The token after the last of the item at `start`.
fn item_end(p: &Parser, start: usize) -> usize {
    let ends = |at: &usize| {
        let token = p.tokens[*at];
        let outside = token.starts_line && token.column <= p.item_column;
        token.kind == TokenKind::End || outside && p.text_at(*at) != "end"
    };
    (start + 1..p.tokens.len()).find(ends).unwrap_or(p.tokens.len() - 1)
}

/// The tokens outside of brackets.
fn unbracketed(p: &Parser, from: usize, to: usize) -> Vec<usize> {
    let mut depth = 0_usize;
    let outside = |at: &usize| {
        let before = depth;
        match p.tokens[*at].kind {
            TokenKind::Open(_) => depth += 1,
            TokenKind::Close(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        before.min(depth) == 0
    };
    (from..to).filter(outside).collect()
}

fn statement(p: &Parser, from: usize, to: usize) -> Statement {
    match p.tokens[from].kind {
        TokenKind::Keyword(Keyword::Let) if is_mutable(p, from + 1) => Statement::Mutable(from + 1),
        TokenKind::Keyword(Keyword::Let) => Statement::Let,
        TokenKind::Keyword(Keyword::For | Keyword::While) => {
            assigning_loop(p, from, to).unwrap_or(Statement::Other)
        }
        TokenKind::Lower if p.text_at(from) == "return" => Statement::Return,
        TokenKind::Lower if p.text_at(from) == "end" && to == from + 1 => Statement::End,
        _ => assignment(p, from, to).map_or(Statement::Other, Statement::Assigned),
    }
}

/// Whether `mut x =` follows, where no function is called `mut`.
pub(super) fn is_mutable(p: &Parser, at: usize) -> bool {
    let word = |at: usize| p.tokens[at].kind == TokenKind::Lower && p.text_at(at) == "mut";
    word(at)
        && p.tokens[at + 1].kind == TokenKind::Lower
        && matches!(p.tokens[at + 2].kind, TokenKind::Equals | TokenKind::Colon)
        && (1..p.tokens.len())
            .all(|k| !word(k) || p.tokens[k - 1].kind == TokenKind::Keyword(Keyword::Let))
}

/// `x = e`, `x += e`, `xs[i] = e` as the whole line.
fn assignment(p: &Parser, from: usize, to: usize) -> Option<Assigned> {
    if p.tokens[from].kind != TokenKind::Lower {
        return None;
    }
    let outside = unbracketed(p, from + 1, to);
    let sign = outside.into_iter().find(|at| {
        let kind = p.tokens[*at].kind;
        !matches!(kind, TokenKind::Open(Bracket::Square) | TokenKind::Close(Bracket::Square))
    })?;
    let element = sign > from + 1;
    if element && !p.tokens[from + 1].touches || sign + 1 >= to {
        return None;
    }
    let op = match (p.tokens[sign].kind, p.text_at(sign)) {
        (TokenKind::Equals, "=") => None,
        (TokenKind::PlusEquals, "+=") => Some("+"),
        (TokenKind::PlusEquals, "-=") => Some("-"),
        (TokenKind::PlusEquals, "*=") => Some("*"),
        _ => return None,
    };
    let known = op.is_some() && accumulates(p, p.text_at(from));
    (!known).then_some(Assigned { name: from, value: sign + 1, op })
}

/// Whether an `accumulate` introduces this name anywhere.
fn accumulates(p: &Parser, name: &str) -> bool {
    (1..p.tokens.len()).any(|at| {
        let before = p.tokens[at - 1].kind;
        let introduced =
            matches!(before, TokenKind::Keyword(Keyword::Accumulate) | TokenKind::Comma);
        introduced && p.text_at(at) == name
    })
}

/// `for i in range(n): s += x[i]`, `while c do s = e`, also with the body on the next line.
fn assigning_loop(p: &Parser, from: usize, to: usize) -> Option<Statement> {
    let outside = unbracketed(p, from + 1, to);
    let ends = |at: &usize| {
        let body = *at + 1 < to && assignment(p, *at + 1, to).is_some();
        body && matches!(
            p.tokens[*at].kind,
            TokenKind::Colon | TokenKind::Keyword(Keyword::Do) | TokenKind::FatArrow
        )
    };
    let marked = outside.iter().copied().find(ends);
    let line = (from + 1..to).find(|at| p.tokens[*at].starts_line);
    let (end, first) = match (marked, line) {
        (Some(at), _) => (at, at + 1),
        (None, Some(at)) => (at, at),
        (None, None) => return None,
    };
    let body = assignment(p, first, to)?;
    let inside = unbracketed(p, body.value, to);
    if inside.iter().any(|at| p.tokens[*at].starts_line) || body.value > first + 2 {
        return Some(Statement::Loop { head: None, body });
    }
    let head = loop_head(p, from, end);
    Some(Statement::Loop { head, body })
}

/// The head of a `loop` for `for x in xs`, `for i in range(n)`, `for i < n`, `while c`.
fn loop_head(p: &Parser, from: usize, end: usize) -> Option<String> {
    let text = |from: usize, to: usize| p.text_of(p.tokens[from].span.to(p.tokens[to - 1].span));
    if p.tokens[from].kind == TokenKind::Keyword(Keyword::While) {
        return (end > from + 1).then(|| format!("while {}", text(from + 1, end)));
    }
    let outside = unbracketed(p, from + 1, end);
    let counted = |at: &usize| {
        matches!(p.tokens[*at].kind, TokenKind::Colon | TokenKind::Equals | TokenKind::Comma)
    };
    if end < from + 4 || outside.iter().any(counted) {
        return None;
    }
    let range = p.tokens[from + 2].kind == TokenKind::Keyword(Keyword::In)
        && matches!(p.text_at(from + 3), "range" | "eachindex");
    if !range {
        return Some(format!("for {}", text(from + 1, end)));
    }
    let whole = end > from + 6
        && p.text_at(from + 3) == "range"
        && p.tokens[from + 4].kind == TokenKind::Open(Bracket::Round)
        && p.tokens[end - 1].kind == TokenKind::Close(Bracket::Round);
    let inside = unbracketed(p, from + 5, end - 1);
    let comma = inside.iter().any(|at| p.tokens[*at].kind == TokenKind::Comma);
    let simple = whole && !comma;
    simple.then(|| format!("for {} < {}", p.text_at(from + 1), text(from + 5, end - 1)))
}

/// The statement as a `let`, for the message.
fn line_as_let(p: &Parser, from: usize, to: usize, statement: &Statement) -> Option<String> {
    let name = |assigned: &Assigned| {
        let span = p.tokens[assigned.name].span.to(p.tokens[assigned.value - 2].span);
        p.text_of(span)
    };
    match statement {
        Statement::Assigned(assigned) => {
            Some(format!("let {} = {}", name(assigned), new_value(p, assigned, to)))
        }
        Statement::Loop { head, body } => {
            let name = name(body);
            let value = new_value(p, body, to);
            Some(format!("let {name} = loop {name} {} do {value}", head.as_ref()?))
        }
        Statement::Mutable(word) => {
            let rest = p.tokens[word + 1].span.to(p.tokens[to - 1].span);
            Some(format!("let {}", p.text_of(rest)))
        }
        Statement::Return => {
            let value = p.tokens[from + 1..to].first()?;
            Some(p.text_of(value.span.to(p.tokens[to - 1].span)).to_string())
        }
        Statement::Let => {
            Some(p.text_of(p.tokens[from].span.to(p.tokens[to - 1].span)).to_string())
        }
        Statement::End | Statement::Other => None,
    }
}

/// The value that `x = e` or `x += e` gives to `x`.
fn new_value(p: &Parser, assigned: &Assigned, to: usize) -> String {
    let value = p.text_of(p.tokens[assigned.value].span.to(p.tokens[to - 1].span));
    let place = p.tokens[assigned.name].span.to(p.tokens[assigned.value - 2].span);
    let Some(op) = assigned.op else { return value.to_string() };
    let level = if op == "*" { PRODUCT } else { ADDITIVE };
    let looser = unbracketed(p, assigned.value, to).into_iter().any(|at| match p.tokens[at].kind {
        TokenKind::Op(op) => op.level() < level || (op.level() == level && level == PRODUCT),
        TokenKind::Keyword(_) | TokenKind::Backslash | TokenKind::Borrowed(_) => true,
        _ => false,
    });
    let minus = op == "-" && unbracketed(p, assigned.value, to).len() > 1;
    let value = if looser || minus { format!("({value})") } else { value.to_string() };
    format!("{} {op} {value}", p.text_of(place))
}

/// The edits that make a body of statements an expression, if all of them are understood.
fn as_lets(p: &Parser, body: &Body, found: &[Statement]) -> Option<Fix> {
    let end = found.iter().position(|statement| matches!(statement, Statement::End));
    let count = end.unwrap_or(found.len());
    let closed = end.is_some() || body.begin.is_none();
    if count + usize::from(end.is_some()) != found.len() || !closed {
        return None;
    }
    let mut edits = body.edits.clone();
    for (k, ((from, to), statement)) in body.lines.iter().zip(found).enumerate() {
        let last = k + 1 == count;
        let whole = p.tokens[*from].span.to(p.tokens[*to - 1].span);
        let result = matches!(statement, Statement::Other | Statement::Return);
        match statement {
            Statement::End => edits.push(removed_line(p, whole)),
            _ if result != last => return None,
            Statement::Let | Statement::Other => {}
            _ => edits.push(Fix::replace(whole, line_as_let(p, *from, *to, statement)?)),
        }
    }
    edits.into_iter().reduce(Fix::and)
}

/// Removes a word with the line break before it.
fn removed_line(p: &Parser, word: Span) -> Fix {
    let before = p.text[..word.start as usize].trim_end().len();
    Fix::remove(Span { start: before as u32, ..word })
}
