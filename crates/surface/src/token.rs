//! Tokens: what the lexer gives to the parser.

use std::rc::Rc;

use lambada_source::{Problem, Span};

use crate::ast::BinaryOp;

/// One word or sign of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
    /// Is there nothing between it and the token before? `xs[i]` indexes, `f [i]` applies.
    pub touches: bool,
    /// Whether it is the first on its line.
    pub starts_line: bool,
    /// How many bytes of its line stand before it.
    pub column: u32,
}

/// The kinds of tokens. What a name says is read from the text.
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
    /// `..`, which the language does not have but other languages do.
    DotDot,
    /// `\`
    Backslash,
    /// Something that the lexer has reported.
    Bad,
    /// The end of the file.
    End,
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
    /// The opening one.
    pub fn opening(self) -> &'static str {
        match self {
            Bracket::Round => "(",
            Bracket::Square => "[",
            Bracket::Curly => "{",
        }
    }

    /// The closing one.
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
    KEYWORDS.iter().find(|(spelling, _)| *spelling == text).map(|(_, keyword)| *keyword)
}

/// `--|` lines that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocComment {
    /// The index of the token that follows.
    pub before: usize,
    /// The lines without their `--|` and the space after it.
    pub text: Rc<str>,
    /// Does an empty line follow?
    pub detached: bool,
}

/// What the lexer makes of a text.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    /// All tokens; the last is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// Where all comments are, doc comments among them.
    pub comments: Vec<Span>,
    /// All doc comments.
    pub docs: Vec<DocComment>,
    /// What is wrong in single tokens.
    pub problems: Vec<Problem>,
}
