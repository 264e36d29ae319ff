//! The tokens of a layout and of a text, and which are near which.

use std::ops::Range;

use lambada_source::FileId;

use crate::lexer::tokenize;
use crate::token::{Bracket, Token, TokenKind};

/// A token with its text.
#[derive(Clone, Debug)]
pub(super) struct Word<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// What it says.
    pub text: std::borrow::Cow<'a, str>,
}

impl Word<'_> {
    pub fn is(&self, other: &Word) -> bool {
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

/// The tokens of a piece of a layout. `.0` is part of an expression, not a number.
pub(super) fn lex(text: &str) -> Vec<(Token, Range<usize>)> {
    let dotted = text.starts_with('.');
    let padded = if dotted { format!("x{text}") } else { text.to_string() };
    let tokens = tokenize(&padded, FileId::default()).tokens;
    let pad = usize::from(dotted);
    let tokens = tokens.into_iter().skip(pad).filter(|token| token.kind != TokenKind::End);
    tokens
        .map(|token| (token, token.span.start as usize - pad..token.span.end as usize - pad))
        .collect()
}

/// The nearest tokens that are matched, found once for all places.
pub(super) struct Nearest {
    /// By token: what the first matched one is matched with, from this token on, and where it
    /// stands.
    next: Vec<Option<(usize, usize)>>,
    /// The same of the last one before this token.
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

    /// What is matched with the first token from `at` on that has a match.
    pub fn next(&self, at: usize) -> Option<usize> {
        self.next[at].map(|(place, _)| place)
    }

    /// What is matched with the last token before `at` that has a match.
    pub fn last(&self, at: usize) -> Option<usize> {
        self.last[at].map(|(place, _)| place)
    }

    /// What the first and the last of the matched tokens in a pair are matched with.
    pub fn inside(&self, (open, close): (usize, usize)) -> Option<(usize, usize)> {
        let (first, _) = self.next[open + 1].filter(|(_, at)| *at < close)?;
        Some((first, self.last(close)?))
    }
}
