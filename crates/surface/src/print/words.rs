//! The tokens of a layout and of a text, and the nearest matches of each.

use std::ops::Range;

use lambada_source::FileId;

use crate::lexer::tokenize;
use crate::token::{Bracket, Token, TokenKind};

/// A token with its text.
#[derive(Clone, Debug)]
pub(super) struct Word<'a> {
    /// The kind.
    pub kind: TokenKind,
    /// The text.
    pub text: std::borrow::Cow<'a, str>,
}

impl Word<'_> {
    /// Whether a word of the text is this one of the layout, which writes `\` for `fun`.
    pub fn is(&self, other: &Word) -> bool {
        if self.kind == TokenKind::Lower && self.text == "fun" && other.kind == TokenKind::Backslash
        {
            return true;
        }
        let named = matches!(self.kind, TokenKind::Lower | TokenKind::Upper | TokenKind::Text);
        self.kind == other.kind && (!named || self.text == other.text)
    }

    pub fn round(&self) -> bool {
        matches!(self.kind, TokenKind::Open(Bracket::Round) | TokenKind::Close(Bracket::Round))
    }

    pub fn number(&self) -> bool {
        matches!(self.kind, TokenKind::Int(_) | TokenKind::Real(_))
    }
}

/// The tokens of a piece of a layout. `.0` and `// n` belong to an expression, and are no number
/// and no comment.
pub(super) fn lex(text: &str) -> Vec<(Token, Range<usize>)> {
    let continues = text.starts_with(['.', '/']);
    let padded = if continues { format!("x{text}") } else { text.to_string() };
    let tokens = tokenize(&padded, FileId::default()).tokens;
    let pad = usize::from(continues);
    let tokens = tokens.into_iter().skip(pad).filter(|token| token.kind != TokenKind::End);
    tokens
        .map(|token| (token, token.span.start as usize - pad..token.span.end as usize - pad))
        .collect()
}

/// The nearest matched tokens, precomputed for all places.
pub(super) struct Nearest {
    /// For each token, the match and place of the first matched token from there on.
    next: Vec<Option<(usize, usize)>>,
    /// For each token, the match and place of the last matched token before it.
    last: Vec<Option<(usize, usize)>>,
}

impl Nearest {
    pub fn of(places: &[Option<usize>]) -> Nearest {
        let place = |k: usize| places[k].map(|place| (place, k));
        let (mut next, mut last) = (vec![None; places.len() + 1], vec![None; places.len() + 1]);
        for k in 0..places.len() {
            last[k + 1] = place(k).or(last[k]);
        }
        for k in (0..places.len()).rev() {
            next[k] = place(k).or(next[k + 1]);
        }
        Nearest { next, last }
    }

    /// The match of the first matched token from `at` on.
    pub fn next(&self, at: usize) -> Option<usize> {
        self.next[at].map(|(place, _)| place)
    }

    /// The match of the last matched token before `at`.
    pub fn last(&self, at: usize) -> Option<usize> {
        self.last[at].map(|(place, _)| place)
    }

    /// The matches of the first and the last matched token in a pair.
    pub fn inside(&self, (open, close): (usize, usize)) -> Option<(usize, usize)> {
        let (first, _) = self.next[open + 1].filter(|(_, at)| *at < close)?;
        Some((first, self.last(close)?))
    }
}
