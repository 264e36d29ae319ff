//! Datatypes, and numbers and texts in them.

use crate::draws::Wrong;

/// Limit for datatypes in datatypes.
const NESTED: usize = 8;

/// A datatype, as far as it can be read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Datatype {
    /// Size of an element in bytes.
    pub size: usize,
    /// Meaning of the bytes.
    pub class: Class,
}

/// Meanings of bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Class {
    Int {
        signed: bool,
        big: bool,
    },
    Real {
        big: bool,
    },
    Text,
    /// An address of an object.
    Reference,
    /// A text in the global heap.
    LongText,
    /// A list in the global heap.
    List(Box<Datatype>),
    /// Another, by name.
    Other(&'static str),
}

impl Datatype {
    /// The datatype of a message.
    pub fn of(bytes: &[u8]) -> Result<Datatype, Wrong> {
        Datatype::nested(bytes, NESTED)
    }

    fn nested(bytes: &[u8], depth: usize) -> Result<Datatype, Wrong> {
        let inner = |bytes| match depth {
            0 => Err(Wrong::format("a datatype is nested too deep")),
            _ => Datatype::nested(bytes, depth - 1),
        };
        let [head, bits, _, _, s0, s1, s2, s3, properties @ ..] = bytes else {
            return Err(Wrong::format("a datatype is cut off"));
        };
        let size = u32::from_le_bytes([*s0, *s1, *s2, *s3]) as usize;
        let big = bits & 1 == 1;
        let class = match head & 0x0f {
            0 => Class::Int { signed: bits & 8 != 0, big },
            1 if bits & 0x40 != 0 => Class::Other("reals of a VAX"),
            1 => Class::Real { big },
            2 => Class::Other("times"),
            3 => Class::Text,
            4 => Class::Int { signed: false, big },
            5 => Class::Other("opaque bytes"),
            6 => Class::Other("structures"),
            7 => Class::Reference,
            8 => return Ok(Datatype { size, ..inner(properties)? }),
            9 if bits & 0x0f == 1 => Class::LongText,
            9 => Class::List(Box::new(inner(properties)?)),
            _ => Class::Other("arrays"),
        };
        Ok(Datatype { size, class })
    }

    /// The numbers of elements.
    pub fn numbers(&self, bytes: &[u8]) -> Result<Vec<f64>, Wrong> {
        let each = |read: &dyn Fn([u8; 8]) -> f64, big: bool| {
            let number = |element: &[u8]| {
                // Widened to eight little-endian bytes.
                let mut wide = [0; 8];
                for (k, byte) in element.iter().enumerate() {
                    wide[if big { element.len() - 1 - k } else { k }] = *byte;
                }
                read(wide)
            };
            bytes.chunks_exact(self.size).map(number).collect()
        };
        let unused = 64 - 8 * self.size.min(8) as u32;
        match (&self.class, self.size) {
            (Class::Real { big: false }, 8) => Ok(bytes
                .as_chunks::<8>()
                .0
                .iter()
                .map(|element| f64::from_le_bytes(*element))
                .collect()),
            (Class::Real { big }, 8) => Ok(each(&f64::from_le_bytes, *big)),
            (Class::Real { big }, 4) => {
                let narrow =
                    |[a, b, c, d, ..]: [u8; 8]| f64::from(f32::from_le_bytes([a, b, c, d]));
                Ok(each(&narrow, *big))
            }
            (Class::Int { signed: true, big }, 1..=8) => {
                let extended = |wide| (i64::from_le_bytes(wide) << unused >> unused) as f64;
                Ok(each(&extended, *big))
            }
            (Class::Int { signed: false, big }, 1..=8) => {
                Ok(each(&|wide| u64::from_le_bytes(wide) as f64, *big))
            }
            _ => Err(Wrong::format(format!("it holds {}, not numbers", self.name()))),
        }
    }

    /// Whether elements are numbers that can be read.
    pub fn is_numeric(&self) -> bool {
        matches!(self.class, Class::Int { .. } | Class::Real { .. })
    }

    fn name(&self) -> String {
        match self.class {
            Class::Int { .. } | Class::Real { .. } => format!("numbers of {} bytes", self.size),
            Class::Text | Class::LongText => "texts".into(),
            Class::Reference => "references".into(),
            Class::List(_) => "lists".into(),
            Class::Other(name) => name.into(),
        }
    }
}
