//! Tokens: the output of the lexer and input of the parser.

use std::rc::Rc;

use lambada_source::{Problem, Span};

use crate::ast::BinaryOp;

/// A word or sign of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// The place.
    pub span: Span,
    /// Whether nothing separates it from the token before. `xs[i]` indexes, `f [i]` applies.
    pub touches: bool,
    /// Whether it is the first token on its line.
    pub starts_line: bool,
    /// Number of bytes before it on its line.
    pub column: u32,
}

/// The kinds of tokens. The text of a name is read from the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TokenKind {
    /// `x`, `_`, `_i`, `x'`
    Lower,
    /// `Circle`
    Upper,
    /// `12`; up to 2⁶³, so that the parser can accept `-9223372036854775808`.
    Int(u64),
    /// `1.5e3`
    Real(f64),
    /// `"path"`
    Text,
    /// A reserved word.
    Keyword(Keyword),
    /// An infix operator; `-` is also a prefix.
    Op(BinaryOp),
    /// `&`, `$`: an infix sign of other languages.
    Borrowed(Borrowed),
    /// `(`, `[`, `{`
    Open(Bracket),
    /// `)`, `]`, `}`
    Close(Bracket),
    /// `=`
    Equals,
    /// `+=`
    PlusEquals,
    /// `->`
    Arrow,
    /// `=>`
    FatArrow,
    /// `|`
    Bar,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `:`
    Colon,
    /// `.`
    Dot,
    /// `..`, which belongs to other languages only.
    DotDot,
    /// `\`
    Backslash,
    /// A character that the lexer has reported.
    Bad,
    /// The end of the file.
    End,
}

/// Infix signs of other languages for applications. The printer writes the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Borrowed {
    /// `a & b` is `bit_and a b`.
    BitAnd,
    /// `f $ x` is `f x`.
    Apply,
}

/// The three pairs of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bracket {
    /// `()`
    Round,
    /// `[]`
    Square,
    /// `{}`
    Curly,
}

impl Bracket {
    /// The opening bracket.
    pub fn opening(self) -> &'static str {
        match self {
            Bracket::Round => "(",
            Bracket::Square => "[",
            Bracket::Curly => "{",
        }
    }

    /// The closing bracket.
    pub fn closing(self) -> &'static str {
        match self {
            Bracket::Round => ")",
            Bracket::Square => "]",
            Bracket::Curly => "}",
        }
    }
}

/// Reserved words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named after what they look like in `KEYWORDS`
pub enum Keyword {
    Def,
    Rec,
    Let,
    In,
    If,
    Then,
    Else,
    Match,
    For,
    Loop,
    Do,
    While,
    With,
    Type,
    Import,
    Accumulate,
    Checkpoint,
    True,
    False,
    Not,
    And,
}

/// Every reserved word and its spelling.
pub const KEYWORDS: &[(&str, Keyword)] = &[
    ("def", Keyword::Def),
    ("rec", Keyword::Rec),
    ("let", Keyword::Let),
    ("in", Keyword::In),
    ("if", Keyword::If),
    ("then", Keyword::Then),
    ("else", Keyword::Else),
    ("match", Keyword::Match),
    ("for", Keyword::For),
    ("loop", Keyword::Loop),
    ("do", Keyword::Do),
    ("while", Keyword::While),
    ("with", Keyword::With),
    ("type", Keyword::Type),
    ("import", Keyword::Import),
    ("accumulate", Keyword::Accumulate),
    ("checkpoint", Keyword::Checkpoint),
    ("true", Keyword::True),
    ("false", Keyword::False),
    ("not", Keyword::Not),
    ("and", Keyword::And),
];

/// The reserved word with this spelling.
pub fn keyword(text: &str) -> Option<Keyword> {
    let known = |spelling: &str| begins_with(text, spelling) && spelling.len() == text.len();
    KEYWORDS.iter().find(|(spelling, _)| known(spelling)).map(|(_, keyword)| *keyword)
}

/// `starts_with`, which looks at the first byte first, because most comparisons end there.
pub(crate) fn begins_with(text: &str, start: &str) -> bool {
    text.as_bytes().first() == start.as_bytes().first() && text.starts_with(start)
}

/// Consecutive `--|` lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocComment {
    /// The index of the token that follows.
    pub before: usize,
    /// The lines without their `--|` and the space after it.
    pub text: Rc<str>,
    /// Whether an empty line follows.
    pub detached: bool,
}

/// The result of the lexer.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    /// All tokens; the last is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// Spans of all comments, including doc comments.
    pub comments: Vec<Span>,
    /// All doc comments.
    pub docs: Vec<DocComment>,
    /// Problems in single tokens.
    pub problems: Vec<Problem>,
}
