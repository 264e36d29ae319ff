//! Stan text → tokens and comments.

use lambada_source::{FileId, Problem, Span};

use crate::messages;

/// A token and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// The form.
    pub kind: Kind,
    /// The place.
    pub span: Span,
}

/// The forms of tokens.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A name or a reserved word.
    Word(String),
    /// `12`
    Int(i64),
    /// `1.5e3`
    Real(f64),
    /// `"text"`
    Text(String),
    /// An operator or a bracket.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// A comment.
#[derive(Clone, Debug)]
pub struct Comment {
    /// The text without its signs, by line.
    pub lines: Vec<String>,
    /// The place.
    pub span: Span,
    /// Whether nothing but spaces stands before it on its line.
    pub own_line: bool,
}

/// Tokens, which end with [`Kind::End`], and comments, both in the order of the text.
#[derive(Debug, Default)]
pub struct Tokens {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// The comments.
    pub comments: Vec<Comment>,
}

/// Longest first, so that the first that matches is the token.
const SIGNS: [&str; 50] = [
    "%/%=", "%/%", ".*=", "./=", ".^", ".*", "./", ".+", ".-", "+=", "-=", "*=", "/=", "<-", "<=",
    ">=", "==", "!=", "&&", "||", "{", "}", "(", ")", "[", "]", "<", ">", ",", ";", ":", "=", "+",
    "-", "*", "/", "^", "%", "!", "?", "|", "~", "'", ".", "\\", "&", "@", "$", "`", "#",
];

/// The tokens of a text.
///
/// # Errors
/// A character that begins no token, a comment or text without its end, `#include`.
pub fn tokens(text: &str, file: FileId) -> Result<Tokens, Problem> {
    let mut out = Tokens::default();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let first = rest.chars().next().unwrap_or(' ');
        let span = |length: usize| Span::new(file, at, at + length);
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if rest.starts_with("#include") {
            let length = rest.find('\n').unwrap_or(rest.len());
            return Err(messages::include(span(length)));
        } else if rest.starts_with("//") || first == '#' {
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = rest[..length].trim_start_matches(['/', '#']).trim().to_string();
            out.comments.push(Comment {
                lines: vec![line],
                span: span(length),
                own_line: own_line(text, at),
            });
            at += length;
        } else if rest.starts_with("/*") {
            let Some(end) = rest.find("*/") else { return Err(messages::open_comment(span(2))) };
            let lines = rest[2..end]
                .lines()
                .map(|line| line.trim().trim_start_matches('*').trim().to_string());
            let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
            out.comments.push(Comment { lines, span: span(end + 2), own_line: own_line(text, at) });
            at += end + 2;
        } else if first == '"' {
            let Some(end) = rest[1..].find('"') else { return Err(messages::open_text(span(1))) };
            out.tokens
                .push(Token { kind: Kind::Text(rest[1..=end].to_string()), span: span(end + 2) });
            at += end + 2;
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let length = end.unwrap_or(rest.len());
            out.tokens
                .push(Token { kind: Kind::Word(rest[..length].to_string()), span: span(length) });
            at += length;
        } else if let Some((kind, length)) = number(rest) {
            out.tokens.push(Token { kind, span: span(length) });
            at += length;
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            out.tokens.push(Token { kind: Kind::Sign(sign), span: span(sign.len()) });
            at += sign.len();
        } else {
            return Err(messages::character(first, span(first.len_utf8())));
        }
    }
    out.tokens.push(Token { kind: Kind::End, span: Span::new(file, text.len(), text.len()) });
    Ok(out)
}

fn own_line(text: &str, at: usize) -> bool {
    text[..at].rsplit('\n').next().is_none_or(|line| line.trim().is_empty())
}

/// A number at the start of a text, and its length.
fn number(text: &str) -> Option<(Kind, usize)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from.min(bytes.len())..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || **byte == b'_')
            .count()
    };
    let whole = digits(0);
    let mut end = whole;
    // `1.*x` is a product, `1.` is a number.
    let point = bytes.get(end) == Some(&b'.')
        && !matches!(bytes.get(end + 1), Some(b'*' | b'/' | b'^' | b'+' | b'-'));
    if point {
        end += 1 + digits(end + 1);
    }
    if whole == 0 && end <= 1 {
        return None;
    }
    let mut real = point;
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let power = digits(end + 1 + sign);
        if power > 0 {
            end += 1 + sign + power;
            real = true;
        }
    }
    let plain = text[..end].replace('_', "");
    let kind = match plain.parse::<i64>() {
        Ok(value) if !real => Kind::Int(value),
        _ => Kind::Real(plain.parse().ok()?),
    };
    Some((kind, end))
}
