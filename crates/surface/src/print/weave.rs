//! Adds the parts of a text that its tree lacks to the layout of the tree: comments, empty lines,
//! parentheses, spellings of numbers.
//!
//! weave : layout of an item × its words in the text ⟶ layout of the item
//!
//! Assumes: the layout has the tokens of the text in their order, except for parentheses and tokens
//! that the canonical layout omits. Gives: a layout with every comment except those left over. A
//! comment on a line of its own stays before its next token, another one at the end of the line of
//! its previous token, if there is a line break. Lines break at comments. Keeps: the tree, so
//! formatting changes only the layout.

use std::collections::HashMap;
use std::ops::Range;

use lambada_source::{About, Doc, FileId, Rewrite, Side, Span};

use super::authored;
use super::words::{Nearest, Word, lex};

use crate::lexer::tokenize;
use crate::token::{Bracket, Keyword, Token, TokenKind};

/// A text with its words.
pub(super) struct Written<'a> {
    /// The text.
    pub text: &'a str,
    /// All its tokens.
    pub tokens: Vec<Token>,
    /// Spans of its comments, in order.
    pub comments: Vec<Span>,
}

impl Written<'_> {
    pub(super) fn of(text: &str) -> Written<'_> {
        let words = tokenize(text, FileId::default());
        Written { text, tokens: words.tokens, comments: words.comments }
    }
}

/// Limit on the search for the next common token.
const WINDOW: usize = 400;

/// The number of tokens that a layout puts before the `[` of `let xs[i] = e`: `= xs with`.
const REPEATED: usize = 3;

/// The layout with the additional parts of the text, and the comments of the range that found no
/// line break.
pub(super) fn weave(
    doc: &Doc,
    written: &Written,
    tokens: Range<usize>,
    comments: Range<usize>,
) -> (Doc, Range<usize>) {
    let mut found = Collect::default();
    let _ = doc.rewrite(&mut found);
    let source: Vec<Word> = tokens.clone().map(|k| word(written, k)).collect();
    let matched = Match::of(&source, &found.words);
    let nearest = Nearest::of(&matched.source);
    let doc = authored::chosen(doc, &found.words, &nearest, &written.tokens[tokens.clone()]);
    let mut found = Collect::default();
    let _ = doc.rewrite(&mut found);
    let mut by = Weave {
        written,
        first: tokens.start,
        source: &source,
        out: &found.words,
        matched: &matched,
        nearest,
        breaks: &found.breaks,
        inside: matched.inside.clone(),
        at: 0,
        line: 0,
        comments,
    };
    let doc = doc.rewrite(&mut by);
    (doc, by.comments)
}

fn word<'a>(written: &'a Written, k: usize) -> Word<'a> {
    let span = written.tokens[k].span;
    let text = &written.text[span.start as usize..span.end as usize];
    Word { kind: written.tokens[k].kind, text: text.into() }
}

/// The tokens of a layout, and for each of its breaks the next token.
#[derive(Default)]
struct Collect {
    words: Vec<Word<'static>>,
    breaks: Vec<usize>,
}

impl Rewrite for Collect {
    fn text(&mut self, text: &str) -> Doc {
        let words = lex(text)
            .into_iter()
            .map(|(token, place)| Word { kind: token.kind, text: text[place].to_string().into() });
        self.words.extend(words);
        Doc::nil()
    }

    fn line(&mut self, _: &Doc) -> Doc {
        self.breaks.push(self.words.len());
        Doc::nil()
    }

    fn between(&mut self) -> (Doc, Doc) {
        self.breaks.push(self.words.len());
        (Doc::nil(), Doc::nil())
    }

    /// Both sides of a choice have the same tokens.
    fn side(&mut self, _: About) -> Side {
        Side::Joined
    }
}

/// The correspondence between tokens of a layout and of the text.
struct Match {
    /// For each token of the layout its token in the text.
    source: Vec<Option<usize>>,
    /// For a token of the layout, the numbers of parentheses that open before it and close after it
    /// in the text only.
    parentheses: HashMap<usize, (usize, usize)>,
    /// The first and the last token inside of each such pair.
    inside: Vec<(usize, usize)>,
}

impl Match {
    fn of(source: &[Word], out: &[Word]) -> Match {
        let mut places = vec![None; out.len()];
        let plain = |words: &[Word]| -> Vec<usize> {
            (0..words.len()).filter(|k| !words[*k].round() || of_unit(words, *k)).collect()
        };
        let (mut a, b) = (plain(source), plain(out));
        a.retain(|k| !is_trailing_comma(source, *k));
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            let same = |di: usize, dj: usize| {
                i + di < a.len() && j + dj < b.len() && source[a[i + di]].is(&out[b[j + dj]])
            };
            // `let xs[i] = e` is laid out as `let xs = xs with [i] = e`: its `=` is the second one.
            let is = |word: &Word, kind: TokenKind| word.kind == kind;
            let element = is(&source[a[i]], TokenKind::Open(Bracket::Square))
                && is(&out[b[j]], TokenKind::Equals);
            let repeated = (1..=REPEATED).find(|dj| element && same(0, *dj)).map(|dj| (0, dj));
            let near = repeated.or_else(|| {
                (0..WINDOW)
                    .find_map(|d| (0..=d).map(|dj| (d - dj, dj)).find(|(di, dj)| same(*di, *dj)))
            });
            let Some((di, dj)) = near else { break };
            (i, j) = (i + di, j + dj);
            places[b[j]] = Some(a[i]);
            (i, j) = (i + 1, j + 1);
        }
        let mut matched = Match { source: places, parentheses: HashMap::new(), inside: Vec::new() };
        matched.pairs(source, out);
        matched
    }

    /// Parentheses around the same tokens correspond. A pair only in the text is kept, unless
    /// another pair stands around the same tokens.
    fn pairs(&mut self, source: &[Word], out: &[Word]) {
        let mut back = vec![None; source.len()];
        for (k, place) in self.source.iter().enumerate() {
            if let Some(place) = place {
                back[*place] = Some(k);
            }
        }
        let own: Vec<Option<usize>> =
            self.source.iter().enumerate().map(|(k, place)| place.map(|_| k)).collect();
        let (back, own) = (Nearest::of(&back), Nearest::of(&own));
        let mut known: HashMap<(usize, usize), Vec<(usize, usize)>> = HashMap::new();
        for pair in pairs(out).into_iter().filter(|(open, _)| !of_unit(out, *open)) {
            if let Some(inside) = own.inside(pair) {
                known.entry(inside).or_default().push(pair);
            }
        }
        let mut seen: HashMap<(usize, usize), usize> = HashMap::new();
        for (open, close) in pairs(source).into_iter().filter(|(open, _)| !of_unit(source, *open)) {
            let Some(inside) = back.inside((open, close)) else { continue };
            let nth = seen.entry(inside).or_default();
            match known.get(&inside).map(|pairs| pairs.get(*nth)) {
                Some(Some((first, last))) => {
                    self.source[*first] = Some(open);
                    self.source[*last] = Some(close);
                }
                Some(None) => {}
                None if *nth == 0 && !is_let(out, inside.0) => {
                    self.parentheses.entry(inside.0).or_default().0 += 1;
                    self.parentheses.entry(inside.1).or_default().1 += 1;
                    self.inside.push(inside);
                }
                None => {}
            }
            *nth += 1;
        }
    }
}

/// Whether it begins a `let`: behind a parenthesis that the layout does not know, the `let` would
/// not lead its line.
fn is_let(words: &[Word], k: usize) -> bool {
    words[k].kind == TokenKind::Keyword(Keyword::Let)
}

/// Whether it is a comma before a closing bracket, which the layout omits.
fn is_trailing_comma(words: &[Word], k: usize) -> bool {
    let closes = |word: &Word| matches!(word.kind, TokenKind::Close(_));
    words[k].kind == TokenKind::Comma && words.get(k + 1).is_some_and(closes)
}

/// Whether it is a parenthesis of `()`, which is never omitted.
fn of_unit(words: &[Word], k: usize) -> bool {
    let opens = |k: usize| words[k].kind == TokenKind::Open(Bracket::Round);
    let closes = |k: usize| words[k].kind == TokenKind::Close(Bracket::Round);
    opens(k) && k + 1 < words.len() && closes(k + 1) || closes(k) && k > 0 && opens(k - 1)
}

/// The pairs of parentheses, outer before inner.
fn pairs(words: &[Word]) -> Vec<(usize, usize)> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    for (k, word) in words.iter().enumerate().filter(|(_, word)| word.round()) {
        if word.kind == TokenKind::Open(Bracket::Round) {
            open.push(k);
        } else if let Some(start) = open.pop() {
            all.push((start, k));
        }
    }
    all.sort_unstable();
    all
}

struct Weave<'a> {
    written: &'a Written<'a>,
    /// The first token of the item in the text.
    first: usize,
    source: &'a [Word<'a>],
    out: &'a [Word<'static>],
    matched: &'a Match,
    nearest: Nearest,
    breaks: &'a [usize],
    /// The pairs of parentheses whose lines must be indented by one column.
    inside: Vec<(usize, usize)>,
    /// The next token of the layout.
    at: usize,
    /// The next break of the layout.
    line: usize,
    /// The comments not yet placed.
    comments: Range<usize>,
}

impl Weave<'_> {
    /// The token of the text that follows a comment.
    fn follows(&self, comment: usize) -> usize {
        let start = self.written.comments[comment].start;
        let end = self.first + self.source.len();
        let tokens = &self.written.tokens[self.first..end];
        tokens.partition_point(|token| token.span.start < start)
    }

    /// The comments for the current break: one for the end of the line before, and those on lines
    /// of their own.
    fn due(&mut self) -> (Option<usize>, Range<usize>) {
        let next = self.breaks.get(self.line + 1).copied().unwrap_or(self.out.len());
        let places = &self.matched.source;
        let near = self.nearest.next(self.at).unwrap_or(self.source.len());
        let far = places[self.at..next].iter().flatten().max().copied().unwrap_or(near);
        let before = self.nearest.last(self.at);
        self.line += 1;
        let start = self.comments.start;
        while let Some(comment) = self.comments.clone().next() {
            let follows = self.follows(comment);
            if follows > near && !(own_line(self.written, comment) && follows <= far) {
                break;
            }
            self.comments.start += 1;
        }
        let mut own = start..self.comments.start;
        let late = |comment: usize| before.is_some_and(|before| self.follows(comment) <= before);
        let trails = !own.is_empty() && (!own_line(self.written, start) || late(start));
        let trailing = trails.then(|| own.next()).flatten();
        (trailing, own)
    }

    fn comment(&self, k: usize) -> &str {
        comment_text(self.written, k)
    }

    /// Whether to keep an empty line before the next token.
    fn paragraph(&self) -> bool {
        let (Some(Some(place)), Some(last)) =
            (self.matched.source.get(self.at), self.at.checked_sub(1))
        else {
            return false;
        };
        if opens(self.out[last].kind) {
            return false;
        }
        let binds = matches!(
            self.out[self.at].kind,
            TokenKind::Keyword(Keyword::Let | Keyword::And | Keyword::With) | TokenKind::Bar
        );
        let first = self.first_of_body(*place);
        let separates = matches!(self.out[last].kind, TokenKind::Comma | TokenKind::Semicolon);
        (binds || separates || first.is_some())
            && empty_before(self.written.text, self.start(first.unwrap_or(*place)))
    }

    /// Where the body of a `let` begins in the text, if it is at this token: there, or at the `in`
    /// before it.
    fn first_of_body(&self, place: usize) -> Option<usize> {
        let word = |k: usize| self.source[k].kind;
        if let Some(before) = place.checked_sub(1)
            && word(before) == TokenKind::Keyword(Keyword::In)
        {
            return Some(before);
        }
        let tokens = &self.written.tokens[self.first..];
        let column = tokens[place].column;
        let edge = (0..place).rev().find(|k| tokens[*k].starts_line && tokens[*k].column <= column);
        let is_binding =
            |k: usize| matches!(word(k), TokenKind::Keyword(Keyword::Let | Keyword::And));
        let below = edge.is_some_and(|edge| tokens[edge].column == column && is_binding(edge));
        (tokens[place].starts_line && below).then_some(place)
    }

    /// Start of a token in the text.
    fn start(&self, place: usize) -> usize {
        self.written.tokens[self.first + place].span.start as usize
    }

    /// Whether an empty line separates the next token from the comments before it.
    fn detached(&self) -> bool {
        let place = self.matched.source.get(self.at).copied().flatten();
        place.is_some_and(|place| empty_before(self.written.text, self.start(place)))
    }

    /// Line breaks and comments on lines of their own, up to the next token.
    fn own_lines(&self, own: Range<usize>) -> Doc {
        let opened = self.at > 0 && opens(self.out[self.at - 1].kind);
        let closes =
            matches!(self.out.get(self.at).map(|word| word.kind), Some(TokenKind::Close(_)));
        let mut doc = Doc::nil();
        for k in own.clone() {
            let start = self.written.comments[k].start as usize;
            if empty_before(self.written.text, start) && !(opened && k == own.start) {
                doc = doc + Doc::empty_line();
            }
            doc = doc + Doc::hard_line() + Doc::text(self.comment(k));
        }
        let doc = if closes { doc.nest(2) } else { doc };
        let empty = !closes && self.detached();
        doc + if empty { Doc::empty_line() } else { Doc::nil() } + Doc::hard_line()
    }
}

/// Whether the token opens a construct, so that no empty line belongs after it.
fn opens(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Equals
            | TokenKind::Arrow
            | TokenKind::FatArrow
            | TokenKind::Open(_)
            | TokenKind::Keyword(Keyword::Do | Keyword::Then | Keyword::Else | Keyword::In)
    )
}

impl Rewrite for Weave<'_> {
    fn text(&mut self, text: &str) -> Doc {
        let (mut out, mut end) = (String::new(), 0);
        for (_, place) in lex(text) {
            out.push_str(&text[end..place.start]);
            end = place.end;
            let (open, close) = self.matched.parentheses.get(&self.at).copied().unwrap_or_default();
            out.push_str(&"(".repeat(open));
            match self.matched.source[self.at] {
                Some(source) if self.source[source].number() => {
                    out.push_str(&self.source[source].text);
                }
                Some(_) | None => out.push_str(&text[place]),
            }
            out.push_str(&")".repeat(close));
            self.at += 1;
        }
        Doc::text(out + &text[end..])
    }

    fn line(&mut self, line: &Doc) -> Doc {
        match self.due() {
            (None, own) if own.is_empty() => match self.paragraph() {
                true => Doc::if_broken(Doc::empty_line(), Doc::nil()) + line.clone(),
                false => line.clone(),
            },
            (trailing, own) => {
                let trailing = trailing.map(|k| Doc::trailing(self.comment(k)));
                let rest = match own.is_empty() && self.paragraph() {
                    true => Doc::empty_line() + Doc::hard_line(),
                    false if own.is_empty() => Doc::hard_line(),
                    false => self.own_lines(own),
                };
                trailing.unwrap_or_else(Doc::nil) + rest
            }
        }
    }

    fn between(&mut self) -> (Doc, Doc) {
        let (trailing, own) = self.due();
        if trailing.is_none() && own.is_empty() {
            return (Doc::nil(), Doc::nil());
        }
        let end = trailing.map_or(Doc::nil(), |k| Doc::trailing(self.comment(k)));
        let own = own.map(|k| Doc::text(self.comment(k)) + Doc::hard_line());
        (end, Doc::breaking() + Doc::concat(own.collect::<Vec<_>>()))
    }

    /// All choices have been made.
    fn side(&mut self, _: About) -> Side {
        Side::Joined
    }

    fn place(&self) -> usize {
        self.at
    }

    fn deeper(&mut self, from: usize, to: usize) -> usize {
        // Parentheses of the layout may stand between these and the first and last other token.
        let round = |tokens: Range<usize>| self.out[tokens].iter().all(Word::round);
        let around = |(first, last): (usize, usize)| {
            from <= first && last < to && round(from..first) && round(last + 1..to)
        };
        let before = self.inside.len();
        let others = self.inside.iter().copied().filter(|pair| !around(*pair));
        self.inside = others.collect();
        before - self.inside.len()
    }
}

/// The text of a comment.
pub(super) fn comment_text<'a>(written: &Written<'a>, k: usize) -> &'a str {
    let span = written.comments[k];
    written.text[span.start as usize..span.end as usize].trim_end()
}

/// Whether the comment is the first on its line.
pub(super) fn own_line(written: &Written, k: usize) -> bool {
    let before = &written.text[..written.comments[k].start as usize];
    before[line_start(before)..].trim_start_matches('\u{feff}').trim().is_empty()
}

/// Whether the line above is empty.
pub(super) fn empty_before(text: &str, at: usize) -> bool {
    let before = &text[..at];
    let above = &before[..line_start(before)];
    let above = above.strip_suffix('\n').unwrap_or(above);
    !above.is_empty() && above[line_start(above)..].trim().is_empty()
}

fn line_start(before: &str) -> usize {
    before.rfind('\n').map_or(0, |k| k + 1)
}
