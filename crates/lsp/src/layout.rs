//! Formatting: the canonical layout, as an edit of the lines that differ.

use lsp_types::{DocumentFormattingParams, TextEdit};

use crate::lines::Lines;
use crate::world::World;

/// The edits that format a file; none if it does not parse.
pub(crate) fn formatting(
    world: &mut World,
    params: &DocumentFormattingParams,
) -> Option<Vec<TextEdit>> {
    let analysis = world.of(&params.text_document.uri)?;
    let new = world.formatted(&analysis.lines.text)?;
    Some(difference(&analysis.lines, &new).into_iter().collect())
}

/// One edit of whole lines between those that stay at the start and at the end.
fn difference(lines: &Lines, new: &str) -> Option<TextEdit> {
    let old: &str = &lines.text;
    if old == new {
        return None;
    }
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let first = old[..old.floor_char_boundary(same)].rfind('\n').map_or(0, |at| at + 1);
    let (rest, changed) = (&old[first..], &new[first..]);
    let same = rest.bytes().rev().zip(changed.bytes().rev()).take_while(|(a, b)| a == b).count();
    // The lines behind the first one that begins within the common end.
    let from = rest.len() - same;
    let from = (from..=rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
    let kept = rest[from..].find('\n').map_or(0, |at| rest.len() - from - at - 1);
    let text = &changed[..changed.len() - kept];
    Some(TextEdit::new(lines.range(first..old.len() - kept), text.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Encoding;

    #[test]
    fn lines_that_differ() {
        let check = |old: &str, new: &str, lines: (u32, u32)| {
            let edit = difference(&Lines::new(old.into(), Encoding::Utf16), new).unwrap();
            assert_eq!((edit.range.start.line, edit.range.end.line), lines, "{old:?}");
            let all = Lines::new(old.into(), Encoding::Utf16);
            let (from, to) = (all.offset(edit.range.start), all.offset(edit.range.end));
            assert_eq!(format!("{}{}{}", &old[..from], edit.new_text, &old[to..]), new);
        };
        check("a\nb  \nc\n", "a\nb\nc\n", (1, 2));
        check("a\nb\nc", "a\nb\nc\n", (2, 2));
        check("é\né\né\n", "é\nè\né\n", (1, 2));
        check("x", "", (0, 0));
        check("a\na\na\n", "a\na\n", (2, 3));
    }
}
