//! The fields of a schema: what their values are, and in which buffers they stand.

use std::collections::BTreeMap;

use arrow_ipc::{MetadataVersion, Type};

use crate::data::cells::{Cells, Wrong, broken};

/// A field of the schema.
#[derive(Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Where the values stand in a dictionary: which it is, and the kind of the places in it.
    pub(super) dictionary: Option<(i64, Kind)>,
    pub(super) children: Vec<Field>,
}

/// What the values of a field are, and in which buffers they stand. All but the first have a bitmap of those that are there.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Nothing, in no buffer.
    Nothing,
    /// A bit each.
    Truth,
    /// Integers of so many bytes.
    Integer { bytes: usize, signed: bool },
    /// Reals of so many bytes.
    Real { bytes: usize },
    /// Integers of so many bytes, so many times too large.
    Decimal { bytes: usize, unit: f64 },
    /// Text between places, which take so many bytes.
    Word { place: usize },
    /// Text in sixteen bytes, or in one of some buffers that they tell.
    View,
    /// Lists between places, which take so many bytes.
    List { place: usize },
    /// Lists of so many elements.
    Even { width: usize },
    /// What no type of Lambada has, in words, and its buffers.
    Foreign { what: &'static str, buffers: usize, views: bool },
}

impl Field {
    pub(super) fn of(field: arrow_ipc::Field, version: MetadataVersion) -> Result<Field, Wrong> {
        let children = field.children().into_iter().flatten();
        let children = children.map(|child| Field::of(child, version)).collect::<Result<_, _>>()?;
        let dictionary = match field.dictionary() {
            None => None,
            Some(dictionary) => {
                let places = dictionary.indexType();
                let bytes = places.map_or(32, |places| places.bitWidth());
                let signed = places.is_none_or(|places| places.is_signed());
                Some((dictionary.id(), Kind::Integer { bytes: bytes_of(bytes)?, signed }))
            }
        };
        let name = field.name().unwrap_or_default().to_string();
        Ok(Field { name, kind: Kind::of(&field, version)?, dictionary, children })
    }

    /// The fields in it that stand in dictionaries, itself among them.
    pub(super) fn in_dictionaries(&self, found: &mut BTreeMap<i64, Field>) {
        if let Some((id, _)) = self.dictionary {
            found.insert(id, Field { dictionary: None, ..self.clone() });
        }
        self.children.iter().for_each(|child| child.in_dictionaries(found));
    }

    /// How deep its values are in lists.
    pub(super) fn depth(&self) -> usize {
        match matches!(self.kind, Kind::List { .. } | Kind::Even { .. }) {
            true => 1 + self.children.first().map_or(0, Field::depth),
            false => 0,
        }
    }

    /// What the values are, inside lists; an error says what they are, in words.
    pub(super) fn cells(&self) -> Result<Cells, &'static str> {
        match self.kind {
            Kind::Nothing | Kind::Real { .. } | Kind::Decimal { .. } => Ok(Cells::reals()),
            Kind::Truth => Ok(Cells::truths()),
            Kind::Integer { bytes: 8, signed: false } => Ok(Cells::naturals()),
            Kind::Integer { .. } => Ok(Cells::integers()),
            Kind::Word { .. } | Kind::View => Ok(Cells::words()),
            Kind::List { .. } | Kind::Even { .. } => match self.children.first() {
                Some(elements) => elements.cells(),
                None => Err("lists of nothing"),
            },
            Kind::Foreign { what, .. } => Err(what),
        }
    }
}

impl Kind {
    pub(super) fn of(field: &arrow_ipc::Field, version: MetadataVersion) -> Result<Kind, Wrong> {
        let foreign = |what, buffers| Kind::Foreign { what, buffers, views: false };
        Ok(match field.type_type() {
            Type::Null => Kind::Nothing,
            Type::Bool => Kind::Truth,
            Type::Int => match field.type_as_int() {
                Some(ty) => {
                    Kind::Integer { bytes: bytes_of(ty.bitWidth())?, signed: ty.is_signed() }
                }
                None => return broken("integers without a size"),
            },
            Type::FloatingPoint => match field.type_as_floating_point() {
                Some(ty) => match usize::try_from(ty.precision().0) {
                    Ok(precision @ 0..=2) => Kind::Real { bytes: 2 << precision },
                    Ok(_) | Err(_) => return broken("reals of an unknown size"),
                },
                None => return broken("reals without a size"),
            },
            Type::Decimal => match field.type_as_decimal() {
                Some(ty) if ty.bitWidth() == 256 => {
                    foreign("decimal numbers of more than 38 digits", 2)
                }
                Some(ty) => {
                    Kind::Decimal { bytes: bytes_of(ty.bitWidth())?, unit: 10f64.powi(ty.scale()) }
                }
                None => return broken("decimal numbers without a size"),
            },
            Type::Utf8 => Kind::Word { place: 4 },
            Type::LargeUtf8 => Kind::Word { place: 8 },
            Type::Utf8View => Kind::View,
            Type::List => Kind::List { place: 4 },
            Type::LargeList => Kind::List { place: 8 },
            Type::FixedSizeList => {
                let ty = field.type_as_fixed_size_list();
                Kind::Even { width: length(ty.map_or(-1, |ty| ty.listSize()).into())? as usize }
            }
            Type::Date => foreign("dates", 2),
            Type::Time => foreign("times of the day", 2),
            Type::Timestamp => foreign("points in time", 2),
            Type::Duration | Type::Interval => foreign("spans of time", 2),
            Type::FixedSizeBinary => foreign("bytes", 2),
            Type::Binary | Type::LargeBinary => foreign("bytes", 3),
            Type::BinaryView => Kind::Foreign { what: "bytes", buffers: 2, views: true },
            Type::Struct_ => foreign("structures", 1),
            Type::Map => foreign("maps", 2),
            Type::RunEndEncoded => foreign("runs of values", 0),
            Type::ListView | Type::LargeListView => foreign("views of lists", 3),
            Type::Union => {
                let dense = field
                    .type_as_union()
                    .is_some_and(|ty| ty.mode() == arrow_ipc::UnionMode::Dense);
                let bitmap = version < MetadataVersion::V5;
                foreign("values of several types", 1 + usize::from(dense) + usize::from(bitmap))
            }
            unknown => {
                return Err(Wrong::Broken(format!("values of the unknown type {unknown:?}")));
            }
        })
    }

    /// How many buffers there are, besides those that a view tells.
    pub(super) fn buffers(self) -> usize {
        match self {
            Kind::Nothing => 0,
            Kind::Even { .. } => 1,
            Kind::Truth
            | Kind::Integer { .. }
            | Kind::Real { .. }
            | Kind::Decimal { .. }
            | Kind::View
            | Kind::List { .. } => 2,
            Kind::Word { .. } => 3,
            Kind::Foreign { buffers, .. } => buffers,
        }
    }

    pub(super) fn views(self) -> bool {
        matches!(self, Kind::View | Kind::Foreign { views: true, .. })
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
