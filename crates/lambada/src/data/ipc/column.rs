//! Columns, assembled from the arrays of batches.

use std::collections::BTreeMap;
use std::ops::Range;

use super::array::Array;
use super::field::{Field, FieldLayout};
use crate::data::cells::{CellValue, Cells, NUMBER, Room, Wrong, broken};
use crate::data::table::Column;

/// Context for reading a value of an array.
pub(super) struct ReadContext<'a> {
    pub(super) dictionaries: &'a BTreeMap<i64, Vec<Array>>,
    pub(super) room: &'a mut Room,
}

/// A column being read.
pub(super) struct Reading {
    /// Its values, or a description of an unsupported type.
    cells: Result<Cells, &'static str>,
    /// The lengths of lists by depth.
    widths: Vec<Option<usize>>,
    /// Why the lists do not form an array.
    wrong: Option<&'static str>,
}

impl Reading {
    pub(super) fn of(field: &Field) -> Reading {
        Reading { cells: field.cells(), widths: vec![None; field.depth()], wrong: None }
    }

    /// Appends a range of an array at a depth of lists.
    pub(super) fn add(
        &mut self,
        context: &mut ReadContext,
        array: &Array,
        range: Range<usize>,
        depth: usize,
    ) -> Result<(), Wrong> {
        if range.end > array.length {
            return broken("an array that is too short");
        }
        let Ok(cells) = &mut self.cells else { return Ok(()) };
        if let Some(id) = array.dictionary {
            for at in range {
                if array.valid(at)? {
                    let (part, at) = word_of(context.dictionaries, id, array, at)?;
                    self.add(context, part, at..at + 1, depth)?;
                } else {
                    self.missing(context, depth)?;
                }
            }
            return Ok(());
        }
        match array.layout {
            FieldLayout::Nothing => {
                context.room.take(NUMBER.saturating_mul(range.len() as u64))?;
                range.for_each(|_| cells.push_missing());
            }
            FieldLayout::List { place: bytes } => {
                for at in range {
                    if array.valid(at)? {
                        let elements = array.places(bytes, at)?;
                        self.width(depth, elements.len());
                        self.add(context, array.elements()?, elements, depth + 1)?;
                    } else {
                        self.missing(context, depth)?;
                    }
                }
            }
            FieldLayout::Even { width } => {
                for at in range.clone().take_while(|_| array.valid.is_some()) {
                    if !array.valid(at)? {
                        return self.missing(context, depth);
                    }
                }
                self.width(depth, width);
                let all = range.start.checked_mul(width).zip(range.end.checked_mul(width));
                let Some((start, end)) = all else { return broken("lists that are too long") };
                self.add(context, array.elements()?, start..end, depth + 1)?;
            }
            FieldLayout::Truth
            | FieldLayout::Integer { .. }
            | FieldLayout::Real { .. }
            | FieldLayout::Decimal { .. }
            | FieldLayout::Word { .. }
            | FieldLayout::View => {
                for at in range {
                    if array.valid(at)? {
                        let value = array.value(at)?;
                        context.room.take(value.size())?;
                        cells.push(value)?;
                    } else {
                        context.room.take(NUMBER)?;
                        cells.push_missing();
                    }
                }
            }
            FieldLayout::Foreign { .. } => {
                return broken("values of another type than their column's");
            }
        }
        Ok(())
    }

    /// Records a missing list or value.
    fn missing(&mut self, context: &mut ReadContext, depth: usize) -> Result<(), Wrong> {
        match &mut self.cells {
            Ok(cells) if depth == self.widths.len() => {
                context.room.take(NUMBER)?;
                cells.push_missing();
            }
            Ok(_) | Err(_) => self.wrong = Some("lists, some of them missing"),
        }
        Ok(())
    }

    /// Records the length of a list, which must be equal at each depth.
    fn width(&mut self, depth: usize, width: usize) {
        let known = self.widths.get_mut(depth).map(|known| *known.get_or_insert(width));
        if known != Some(width) {
            self.wrong = self.wrong.or(Some("lists of different lengths"));
        }
    }

    pub(super) fn finish(self, rows: usize) -> Result<Column, Wrong> {
        match (self.cells, self.wrong) {
            (Err(what), _) | (Ok(_), Some(what)) => Ok(Column::Foreign(what.into())),
            (Ok(cells), None) => {
                let widths = self.widths.into_iter().map(|width| width.unwrap_or(0));
                cells.column([rows].into_iter().chain(widths).collect())
            }
        }
    }
}

/// Looks up a key: the part of the dictionary with its value, and the position in that part.
fn word_of<'a>(
    dictionaries: &'a BTreeMap<i64, Vec<Array>>,
    id: i64,
    array: &Array,
    at: usize,
) -> Result<(&'a Array, usize), Wrong> {
    let CellValue::Integer(key) = array.value(at)? else {
        return broken("a key that is no integer");
    };
    let mut key = usize::try_from(key)?;
    for part in dictionaries.get(&id).into_iter().flatten() {
        if key < part.length {
            return Ok((part, key));
        }
        key -= part.length;
    }
    broken("a key that its dictionary does not have")
}
