//! The comments of a Rust file: what no token covers, and the tokens that are documentation.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};

/// What a comment is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `//!`, of the module around it.
    Header,
    /// `///`, of the item that it starts.
    Doc,
    /// `//` on lines of its own, of what follows.
    Before,
    /// `//` after code on the same line.
    After,
}

/// Adjacent lines of comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// What it is attached to.
    pub style: Style,
    /// Without slashes; as many lines as in the file.
    pub text: String,
    /// Its bytes in the file.
    pub range: Range<usize>,
}

/// The comments of a file, and the places of its tokens, documentation included.
pub fn comments(text: &str, stream: TokenStream) -> (Vec<Comment>, Vec<Range<usize>>) {
    let mut tokens = Vec::new();
    places(text, stream, &mut tokens);
    let mut rest = text.as_bytes().to_vec();
    for token in tokens.iter().filter(|token| !is_comment(text, token)) {
        rest[token.clone()].fill(b' ');
    }
    let mut found: Vec<Comment> = Vec::new();
    for range in pieces(&rest) {
        let comment = comment(text, range);
        match found.last_mut() {
            Some(last) if adjacent(text, last, &comment) => extend(last, comment),
            _ => found.push(comment),
        }
    }
    (found, tokens)
}

fn places(text: &str, stream: TokenStream, tokens: &mut Vec<Range<usize>>) {
    for tree in stream {
        let range = tree.span().byte_range();
        match tree {
            TokenTree::Group(group) if !is_comment(text, &range) => {
                tokens.push(group.span_open().byte_range());
                places(text, group.stream(), tokens);
                tokens.push(group.span_close().byte_range());
            }
            TokenTree::Group(_)
            | TokenTree::Ident(_)
            | TokenTree::Punct(_)
            | TokenTree::Literal(_) => tokens.push(range),
        }
    }
}

/// The parser makes attributes of documentation, each token with the place of the whole.
fn is_comment(text: &str, token: &Range<usize>) -> bool {
    let token = &text[token.clone()];
    token.starts_with("//") || token.starts_with("/*")
}

/// Where the comments are in a text that has nothing else.
fn pieces(rest: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + 1 < rest.len() {
        let end = match &rest[at..at + 2] {
            b"//" => {
                rest[at..].iter().position(|b| *b == b'\n').map_or(rest.len(), |length| at + length)
            }
            b"/*" => block_end(rest, at),
            _ => {
                at += 1;
                continue;
            }
        };
        found.push(at..end);
        at = end;
    }
    found
}

/// Block comments nest.
fn block_end(rest: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0);
    while at + 1 < rest.len() {
        match &rest[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn comment(text: &str, range: Range<usize>) -> Comment {
    let whole = &text[range.clone()];
    let line = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let style = if whole.starts_with("//!") || whole.starts_with("/*!") {
        Style::Header
    } else if is_doc(whole) {
        Style::Doc
    } else if text[line..range.start].trim().is_empty() {
        Style::Before
    } else {
        Style::After
    };
    Comment {
        style,
        text: whole.trim_start_matches(['/', '!', '*']).trim_end_matches(['/', '*']).to_string(),
        range,
    }
}

/// Four slashes are no documentation.
fn is_doc(whole: &str) -> bool {
    let line = whole.starts_with("///") && !whole.starts_with("////");
    line || (whole.starts_with("/**") && !whole.starts_with("/***") && whole.len() > 4)
}

/// Does a line of comment go on with the next?
fn adjacent(text: &str, last: &Comment, next: &Comment) -> bool {
    let between = &text[last.range.end..next.range.start];
    let goes_on = last.style == next.style && next.style != Style::After;
    goes_on && between.trim().is_empty() && between.matches('\n').count() == 1
}

fn extend(last: &mut Comment, next: Comment) {
    last.text.push('\n');
    last.text.push_str(&next.text);
    last.range.end = next.range.end;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(Style, String)> {
        let (comments, _) = comments(text, text.parse().unwrap());
        comments
            .into_iter()
            .map(|c| (c.style, c.text.lines().map(str::trim).collect::<Vec<_>>().join("|")))
            .collect()
    }

    #[test]
    fn styles() {
        let text = "//! a\n//! b\n\n/// c\nfn f() {} // d\n// e\n\n// f\nconst X: u8 = 1 / 2; /* g /* h */ */\n";
        let expect = [
            (Style::Header, "a|b"),
            (Style::Doc, "c"),
            (Style::After, "d"),
            (Style::Before, "e"),
            (Style::Before, "f"),
            (Style::After, "g /* h */"),
        ];
        assert_eq!(found(text), expect.map(|(style, text)| (style, text.to_string())));
    }

    #[test]
    fn slashes_in_strings_are_no_comments() {
        let text = "const A: &str = \"// a\\\" // b\";\nconst B: &str = r#\"\n// \" c\n\"#;\nconst C: char = '/'; // é d\n";
        assert_eq!(found(text), [(Style::After, "é d".to_string())]);
    }

    #[test]
    fn documentation_of_different_items_is_apart() {
        let text = "enum A {\n    /// b\n    B,\n    // c\n    /// d\n    D,\n}\n";
        let expect = [(Style::Doc, "b"), (Style::Before, "c"), (Style::Doc, "d")];
        assert_eq!(found(text), expect.map(|(style, text)| (style, text.to_string())));
    }
}
