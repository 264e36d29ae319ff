//! Formatting: the canonical layout, as an edit of the lines that differ, of a file or of the
//! definitions that a range touches.

use lambada_source::{FileId, stack};
use lambada_surface::ast::Item;
use lambada_surface::parse;
use lsp_types::{DocumentFormattingParams, DocumentRangeFormattingParams, Range, TextEdit};

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

/// The edits that format the items that a range touches, or the lines between two items; none if
/// the file does not parse.
pub(crate) fn range_formatting(
    world: &mut World,
    params: &DocumentRangeFormattingParams,
) -> Option<Vec<TextEdit>> {
    let analysis = world.of(&params.text_document.uri)?;
    let lines = &analysis.lines;
    let new = world.formatted(&lines.text)?;
    let mut candidates = within(lines, &new, params.range).into_iter();
    // A comment may move out of its item, so the second candidate has the gaps around the items.
    let text = candidates.find(|text| world.formatted(text).as_ref() == Some(&new))?;
    Some(difference(lines, &text).into_iter().collect())
}

/// The text with the touched items of the formatted one; and with the gaps around them, too.
fn within(lines: &Lines, new: &str, range: Range) -> [String; 2] {
    let old: &str = &lines.text;
    // A range of whole lines ends at the start of the next one.
    let ends_before = range.end.character == 0 && range.end.line > range.start.line;
    let last = range.end.line - u32::from(ends_before);
    let start = lines.offset(lsp_types::Position::new(range.start.line, 0));
    let end = lines.offset(lsp_types::Position::new(last, u32::MAX));
    let (before, after) = (items(old), items(new));
    let first = before.partition_point(|item| item.1 < start);
    let behind = before.partition_point(|item| item.0 <= end).max(first);
    let gap = |items: &[(usize, usize)], len: usize| {
        let from = first.checked_sub(1).map_or(0, |k| items[k].1);
        (from, items.get(behind).map_or(len, |item| item.0))
    };
    let own = |items: &[(usize, usize)], len: usize| match first < behind {
        true => (items[first].0, items[behind - 1].1),
        false => gap(items, len),
    };
    let joined = |(from, to): (usize, usize), (start, end): (usize, usize)| {
        format!("{}{}{}", &old[..from], &new[start..end], &old[to..])
    };
    let [narrow, wide] = [
        (own(&before, old.len()), own(&after, new.len())),
        (gap(&before, old.len()), gap(&after, new.len())),
    ];
    [joined(narrow.0, narrow.1), joined(wide.0, wide.1)]
}

/// The places of the items of a text.
fn items(text: &str) -> Vec<(usize, usize)> {
    stack::roomy(|| {
        let (module, _) = parse(text, FileId::default());
        let spans = module.items.iter().map(Item::span);
        spans.map(|span| (span.start as usize, span.end as usize)).collect()
    })
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
