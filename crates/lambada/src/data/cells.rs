//! Columns of Arrow's formats as they are read: values of one type, some of them missing, each
//! alone or in lists of one length.

use lambada_prim::{Data as Elements, Memory, Tensor};

use super::table::Column;

/// Why there is no table.
pub enum Wrong {
    /// The file is not as its format has it.
    Broken(String),
    /// It takes more memory than is allowed.
    Large,
}

impl<E: std::error::Error> From<E> for Wrong {
    fn from(error: E) -> Wrong {
        Wrong::Broken(error.to_string())
    }
}

/// What a broken file is told by.
pub fn broken<T>(why: &str) -> Result<T, Wrong> {
    Err(Wrong::Broken(why.to_string()))
}

/// The bytes that a table may still take.
pub struct Room(u64);

impl Room {
    pub fn of(memory: Memory) -> Room {
        Room(memory.limit)
    }

    pub fn take(&mut self, bytes: u64) -> Result<(), Wrong> {
        self.0 = self.0.checked_sub(bytes).ok_or(Wrong::Large)?;
        Ok(())
    }
}

/// One value.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    Truth(bool),
    Integer(i64),
    Natural(u64),
    Real(f64),
    Word(&'a str),
}

impl Value<'_> {
    /// The bytes that it takes in a table.
    pub fn size(self) -> u64 {
        match self {
            Value::Word(word) => (size_of::<String>() + word.len()) as u64,
            _ => NUMBER, // truth values, too, take as much as others
        }
    }
}

/// The bytes of a number.
pub const NUMBER: u64 = size_of::<f64>() as u64;

/// The values of a column one after the other, with anything at the places of those that are
/// missing.
pub struct Cells {
    values: Values,
    /// Where values are missing.
    missing: Vec<usize>,
}

enum Values {
    Truths(Vec<bool>),
    Integers(Vec<i64>),
    Naturals(Vec<u64>),
    Reals(Vec<f64>),
    Words(Vec<String>),
}

impl Cells {
    pub fn truths() -> Cells {
        Cells::from(Values::Truths(Vec::new()))
    }

    pub fn integers() -> Cells {
        Cells::from(Values::Integers(Vec::new()))
    }

    pub fn naturals() -> Cells {
        Cells::from(Values::Naturals(Vec::new()))
    }

    pub fn reals() -> Cells {
        Cells::from(Values::Reals(Vec::new()))
    }

    pub fn words() -> Cells {
        Cells::from(Values::Words(Vec::new()))
    }

    fn from(values: Values) -> Cells {
        Cells { values, missing: Vec::new() }
    }

    fn len(&self) -> usize {
        match &self.values {
            Values::Truths(v) => v.len(),
            Values::Integers(v) => v.len(),
            Values::Naturals(v) => v.len(),
            Values::Reals(v) => v.len(),
            Values::Words(v) => v.len(),
        }
    }

    /// Appends a value of the column's type.
    pub fn push(&mut self, value: Value) -> Result<(), Wrong> {
        match (&mut self.values, value) {
            (Values::Truths(v), Value::Truth(truth)) => v.push(truth),
            (Values::Integers(v), Value::Integer(n)) => v.push(n),
            (Values::Naturals(v), Value::Natural(n)) => v.push(n),
            (Values::Reals(v), Value::Real(x)) => v.push(x),
            (Values::Words(v), Value::Word(word)) => v.push(word.to_string()),
            (_, _) => {
                return Err(Wrong::Broken("a value of another type than its column's".into()));
            }
        }
        Ok(())
    }

    /// Appends a place without a value.
    pub fn push_missing(&mut self) {
        self.missing.push(self.len());
        match &mut self.values {
            Values::Truths(v) => v.push(false),
            Values::Integers(v) => v.push(0),
            Values::Naturals(v) => v.push(0),
            Values::Reals(v) => v.push(f64::NAN),
            Values::Words(v) => v.push(String::new()),
        }
    }

    /// A column with these dimensions, of which the first are the rows. Missing numbers are NaN, as
    /// in text.
    pub fn column(self, dims: Vec<usize>) -> Result<Column, Wrong> {
        if dims.iter().copied().fold(1, usize::saturating_mul) != self.len() {
            return Err(Wrong::Broken("lists that contradict the rows".into()));
        }
        let missing = self.missing;
        let numbers = |data: Elements, dims| Column::Numbers(Tensor { dims, data });
        let foreign = |what: &str| Column::Foreign(what.to_string());
        Ok(match self.values {
            Values::Truths(_) if !missing.is_empty() => {
                foreign("truth values, some of them missing")
            }
            Values::Truths(v) => numbers(Elements::Bool(v), dims),
            Values::Integers(v) if missing.is_empty() => numbers(Elements::Int(v), dims),
            Values::Integers(v) => numbers(reals(&v, &missing, |n| n as f64), dims),
            Values::Naturals(v) if missing.is_empty() => {
                let integers: Result<Vec<i64>, _> = v.into_iter().map(i64::try_from).collect();
                match integers {
                    Ok(v) => numbers(Elements::Int(v), dims),
                    Err(_) => foreign("integers beyond 64 bits with a sign"),
                }
            }
            Values::Naturals(v) => numbers(reals(&v, &missing, |n| n as f64), dims),
            Values::Reals(v) => numbers(Elements::Real(v), dims),
            Values::Words(_) if dims.len() > 1 => foreign("lists of text"),
            Values::Words(_) if !missing.is_empty() => foreign("text, some of it missing"),
            Values::Words(v) => Column::Words(v),
        })
    }
}

/// Integers as reals, of which some are missing.
fn reals<T: Copy>(values: &[T], missing: &[usize], real: fn(T) -> f64) -> Elements {
    let mut reals: Vec<f64> = values.iter().map(|value| real(*value)).collect();
    missing.iter().for_each(|place| reals[*place] = f64::NAN);
    Elements::Real(reals)
}

/// The number that these 16 bits are in the IEEE's format: a sign, 5 bits of the exponent, 10 of
/// the significand.
pub fn half(bits: u16) -> f64 {
    let (exponent, significand) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match (exponent, bits & 1023) {
        (0, _) => significand * 2f64.powi(-24),
        (31, 0) => f64::INFINITY,
        (31, _) => f64::NAN,
        (_, _) => (1024.0 + significand) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// Eight truth values in a byte, the first in the lowest bit.
pub fn bits(truths: &[bool]) -> Vec<u8> {
    let byte = |truths: &[bool]| {
        let bits = truths.iter().enumerate();
        bits.fold(0, |byte, (k, truth)| byte | u8::from(*truth) << k)
    };
    truths.chunks(8).map(byte).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_of_16_bits() {
        let numbers = [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (0x0001, 2f64.powi(-24))];
        for (bits, number) in numbers {
            assert_eq!(super::half(bits), number);
        }
        assert_eq!(super::half(0xfc00), f64::NEG_INFINITY);
        assert!(super::half(0x7e00).is_nan());
    }
}
