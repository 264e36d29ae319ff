//! The fields of a schema: types and buffer layouts.

use std::collections::BTreeMap;

use super::flat::slots::{decimal, encoding, field, int, list, real, union};
use super::flat::{Table, V5, types};
use crate::data::cells::{Cells, Room, Wrong, broken};

/// Limit for the nesting of fields.
const DEPTH: usize = 64;

/// A field of the schema.
#[derive(Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) layout: FieldLayout,
    /// For dictionary-encoded values: the dictionary, and the layout of the keys.
    pub(super) dictionary: Option<(i64, FieldLayout)>,
    pub(super) children: Vec<Field>,
}

/// Type and buffer layout of a field. All but `Nothing` have a validity bitmap.
#[derive(Clone, Copy)]
pub(super) enum FieldLayout {
    /// No values and no buffer.
    Nothing,
    /// One bit for each value.
    Truth,
    /// Integers of `bytes` bytes.
    Integer { bytes: usize, signed: bool },
    /// Reals of `bytes` bytes.
    Real { bytes: usize },
    /// Integers of `bytes` bytes, scaled by `unit`.
    Decimal { bytes: usize, unit: f64 },
    /// Text, located by offsets of `place` bytes.
    Word { place: usize },
    /// Text inline in a view of sixteen bytes, or in one of several buffers.
    View,
    /// Lists, located by offsets of `place` bytes.
    List { place: usize },
    /// Lists of `width` elements each.
    Even { width: usize },
    /// A type without counterpart in Lambada, described in words, and its buffers.
    Foreign { what: &'static str, buffers: usize, views: bool },
}

impl Field {
    /// Reads sibling fields. They count as memory, because a broken file may refer to one field
    /// many times.
    pub(super) fn all<'a>(
        tables: impl Iterator<Item = Result<Table<'a>, Wrong>>,
        version: i16,
        depth: usize,
        room: &mut Room,
    ) -> Result<Vec<Field>, Wrong> {
        if depth > DEPTH {
            return broken("fields that are nested too deep");
        }
        let mut all = Vec::new();
        for table in tables {
            let table = table?;
            let name = table.text(field::NAME)?.to_string();
            room.take((size_of::<Field>() + name.len()) as u64)?;
            let dictionary = match table.table(field::DICTIONARY)? {
                None => None,
                Some(dictionary) => {
                    let places = match dictionary.table(encoding::INDEX)? {
                        Some(index) => FieldLayout::integer(index)?,
                        None => FieldLayout::Integer { bytes: 4, signed: true },
                    };
                    Some((dictionary.long(encoding::ID)?, places))
                }
            };
            let layout = FieldLayout::of(table, version)?;
            let children = Field::all(table.tables(field::CHILDREN)?, version, depth + 1, room)?;
            all.push(Field { name, layout, dictionary, children });
        }
        Ok(all)
    }

    /// Collects the dictionary-encoded fields among this field and its descendants.
    pub(super) fn in_dictionaries(&self, found: &mut BTreeMap<i64, Field>) {
        if let Some((id, _)) = self.dictionary {
            found.insert(id, Field { dictionary: None, ..self.clone() });
        }
        self.children.iter().for_each(|child| child.in_dictionaries(found));
    }

    /// Nesting depth of lists around the values.
    pub(super) fn depth(&self) -> usize {
        match matches!(self.layout, FieldLayout::List { .. } | FieldLayout::Even { .. }) {
            true => 1 + self.children.first().map_or(0, Field::depth),
            false => 0,
        }
    }

    /// Empty storage for the values inside of lists, or a description of an unsupported type.
    pub(super) fn cells(&self) -> Result<Cells, &'static str> {
        match self.layout {
            FieldLayout::Nothing | FieldLayout::Real { .. } | FieldLayout::Decimal { .. } => {
                Ok(Cells::reals())
            }
            FieldLayout::Truth => Ok(Cells::truths()),
            FieldLayout::Integer { bytes: 8, signed: false } => Ok(Cells::naturals()),
            FieldLayout::Integer { .. } => Ok(Cells::integers()),
            FieldLayout::Word { .. } | FieldLayout::View => Ok(Cells::words()),
            FieldLayout::List { .. } | FieldLayout::Even { .. } => match self.children.first() {
                Some(elements) => elements.cells(),
                None => Err("lists of nothing"),
            },
            FieldLayout::Foreign { what, .. } => Err(what),
        }
    }
}

impl FieldLayout {
    fn of(table: Table, version: i16) -> Result<FieldLayout, Wrong> {
        let foreign = |what, buffers| FieldLayout::Foreign { what, buffers, views: false };
        let details =
            || table.table(field::TYPE)?.map_or_else(|| broken("a type without its size"), Ok);
        Ok(match table.byte(field::TYPE_KIND)? {
            types::NULL => FieldLayout::Nothing,
            types::BOOL => FieldLayout::Truth,
            types::INT => FieldLayout::integer(details()?)?,
            types::REAL => match details()?.short(real::PRECISION)? {
                precision @ 0..=2 => FieldLayout::Real { bytes: 2 << precision },
                _ => return broken("reals of an unknown size"),
            },
            types::DECIMAL => {
                let ty = details()?;
                match ty.int(decimal::BITS, 128)? {
                    256 => foreign("decimal numbers of more than 38 digits", 2),
                    bits => FieldLayout::Decimal {
                        bytes: bytes_of(bits)?,
                        unit: 10f64.powi(ty.int(decimal::SCALE, 0)?),
                    },
                }
            }
            types::UTF8 => FieldLayout::Word { place: 4 },
            types::LARGE_UTF8 => FieldLayout::Word { place: 8 },
            types::UTF8_VIEW => FieldLayout::View,
            types::LIST => FieldLayout::List { place: 4 },
            types::LARGE_LIST => FieldLayout::List { place: 8 },
            types::FIXED_SIZE_LIST => {
                let width = details()?.int(list::WIDTH, 0)?;
                FieldLayout::Even { width: length(width.into())? as usize }
            }
            types::DATE => foreign("dates", 2),
            types::TIME => foreign("times of the day", 2),
            types::TIMESTAMP => foreign("points in time", 2),
            types::DURATION | types::INTERVAL => foreign("spans of time", 2),
            types::FIXED_SIZE_BINARY => foreign("bytes", 2),
            types::BINARY | types::LARGE_BINARY => foreign("bytes", 3),
            types::BINARY_VIEW => FieldLayout::Foreign { what: "bytes", buffers: 2, views: true },
            types::STRUCT => foreign("structures", 1),
            types::MAP => foreign("maps", 2),
            types::RUN_END_ENCODED => foreign("runs of values", 0),
            types::LIST_VIEW | types::LARGE_LIST_VIEW => foreign("views of lists", 3),
            types::UNION => {
                let dense = details()?.short(union::MODE)? == 1;
                let bitmap = version < V5;
                foreign("values of several types", 1 + usize::from(dense) + usize::from(bitmap))
            }
            unknown => {
                return Err(Wrong::Broken(format!("values of the unknown type {unknown}")));
            }
        })
    }

    fn integer(ty: Table) -> Result<FieldLayout, Wrong> {
        Ok(FieldLayout::Integer {
            bytes: bytes_of(ty.int(int::BITS, 0)?)?,
            signed: ty.truth(int::SIGNED)?,
        })
    }

    /// Number of buffers, without the variadic buffers of views.
    pub(super) fn buffers(self) -> usize {
        match self {
            FieldLayout::Nothing => 0,
            FieldLayout::Even { .. } => 1,
            FieldLayout::Truth
            | FieldLayout::Integer { .. }
            | FieldLayout::Real { .. }
            | FieldLayout::Decimal { .. }
            | FieldLayout::View
            | FieldLayout::List { .. } => 2,
            FieldLayout::Word { .. } => 3,
            FieldLayout::Foreign { buffers, .. } => buffers,
        }
    }

    pub(super) fn views(self) -> bool {
        matches!(self, FieldLayout::View | FieldLayout::Foreign { views: true, .. })
    }
}

fn bytes_of(bits: i32) -> Result<usize, Wrong> {
    match bits {
        8 | 16 | 32 | 64 | 128 => Ok(bits as usize / 8),
        _ => broken("numbers of an unknown size"),
    }
}

pub(super) fn length(stated: i64) -> Result<u64, Wrong> {
    u64::try_from(stated).or_else(|_| broken("a negative length"))
}
