//! Offsets of bytes as the lines and columns of the protocol, and back.

use std::ops::Range;
use std::sync::Arc;

use lambada_source::Span;
use lsp_types::{Position, PositionEncodingKind};

/// The unit of columns, which client and server agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    /// The protocol's default.
    #[default]
    Utf16,
}

impl Encoding {
    /// The cheapest encoding among those that the client offers.
    pub fn agreed(offered: Option<&[PositionEncodingKind]>) -> Encoding {
        let offers = |kind: PositionEncodingKind| offered.is_some_and(|all| all.contains(&kind));
        if offers(PositionEncodingKind::UTF8) { Encoding::Utf8 } else { Encoding::Utf16 }
    }

    /// The protocol's name.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
        }
    }

    /// The number of columns of a text.
    pub fn columns(self, text: &str) -> u32 {
        text.chars().map(|c| self.width(c)).sum::<usize>() as u32
    }
}

/// A text with the starts of its lines.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    pub text: Arc<str>,
    starts: Vec<usize>,
    pub encoding: Encoding,
}

impl Lines {
    pub fn new(text: Arc<str>, encoding: Encoding) -> Lines {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(k, _)| k + 1)).collect();
        Lines { text, starts, encoding }
    }

    /// The bytes of a line, without its end.
    fn line(&self, line: usize) -> Range<usize> {
        let start = self.starts[line];
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        let crlf = self.text[start..end].ends_with('\r');
        start..end - usize::from(crlf)
    }

    /// The offset of a position; one beyond the end of its line means that end, and one inside of a
    /// character means its start.
    pub fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        if line >= self.starts.len() {
            return self.text.len();
        }
        let Range { start, end } = self.line(line);
        let mut left = position.character as usize;
        for (k, c) in self.text[start..end].char_indices() {
            let width = self.encoding.width(c);
            if left < width {
                return start + k;
            }
            left -= width;
        }
        end
    }

    /// The position of an offset.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let before = &self.text[self.starts[line]..offset];
        Position::new(line as u32, self.encoding.columns(before))
    }

    pub fn range(&self, bytes: Range<usize>) -> lsp_types::Range {
        lsp_types::Range::new(self.position(bytes.start), self.position(bytes.end))
    }

    /// The range of a span of this file.
    pub fn of(&self, span: Span) -> lsp_types::Range {
        self.range(span.start as usize..span.end as usize)
    }

    /// The range of the whole text.
    pub fn all(&self) -> lsp_types::Range {
        self.range(0..self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_by_encoding() {
        let text = "aé𝒳b\r\n\nlast";
        let check = |encoding: Encoding, columns: [u32; 4]| {
            let lines = Lines::new(text.into(), encoding);
            for (offset, column) in [1, 3, 7, 8].into_iter().zip(columns) {
                assert_eq!(lines.position(offset), Position::new(0, column));
                assert_eq!(lines.offset(Position::new(0, column)), offset);
            }
            assert_eq!(lines.offset(Position::new(0, 99)), 8);
            assert_eq!(lines.position(text.len()), Position::new(2, 4));
            assert_eq!(lines.offset(Position::new(9, 0)), text.len());
        };
        check(Encoding::Utf8, [1, 3, 7, 8]);
        check(Encoding::Utf16, [1, 2, 4, 5]);
        let lines = Lines::new(text.into(), Encoding::Utf16);
        assert_eq!(lines.offset(Position::new(0, 3)), 3, "inside of a surrogate pair");
    }
}
