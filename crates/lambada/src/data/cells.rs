//! Columns of Arrow formats: values of one type, possibly missing, single or in lists of equal
//! length.

use lambada_prim::{Data as Elements, Memory, Tensor};

use super::table::Column;

/// Why a table cannot be read.
pub enum Wrong {
    /// The file violates its format.
    Broken(String),
    /// The table exceeds the memory limit.
    Large,
}

impl<E: std::error::Error> From<E> for Wrong {
    fn from(error: E) -> Wrong {
        Wrong::Broken(error.to_string())
    }
}

/// The error of a broken file.
pub fn broken<T>(why: &str) -> Result<T, Wrong> {
    Err(Wrong::Broken(why.to_string()))
}

/// Remaining bytes for a table.
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
pub enum CellValue<'a> {
    Truth(bool),
    Integer(i64),
    Natural(u64),
    Real(f64),
    Word(&'a str),
}

impl CellValue<'_> {
    /// Bytes of the value in a table.
    pub fn size(self) -> u64 {
        match self {
            CellValue::Word(word) => (size_of::<String>() + word.len()) as u64,
            _ => NUMBER, // truth values also count as numbers
        }
    }
}

/// Bytes of a number.
pub const NUMBER: u64 = size_of::<f64>() as u64;

/// The values of a column in order, with a placeholder for each missing value.
pub struct Cells {
    values: Values,
    /// Positions of missing values.
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

    /// Appends a value, which must be of the column's type.
    pub fn push(&mut self, value: CellValue) -> Result<(), Wrong> {
        match (&mut self.values, value) {
            (Values::Truths(v), CellValue::Truth(truth)) => v.push(truth),
            (Values::Integers(v), CellValue::Integer(n)) => v.push(n),
            (Values::Naturals(v), CellValue::Natural(n)) => v.push(n),
            (Values::Reals(v), CellValue::Real(x)) => v.push(x),
            (Values::Words(v), CellValue::Word(word)) => v.push(word.to_string()),
            (_, _) => {
                return Err(Wrong::Broken("a value of another type than its column's".into()));
            }
        }
        Ok(())
    }

    /// Appends a missing value.
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

    /// Converts to a column with these dimensions; the first is the number of rows. Missing numbers
    /// become NaN, as in text.
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

/// Converts integers to reals, with NaN for missing ones.
fn reals<T: Copy>(values: &[T], missing: &[usize], real: fn(T) -> f64) -> Elements {
    let mut reals: Vec<f64> = values.iter().map(|value| real(*value)).collect();
    missing.iter().for_each(|place| reals[*place] = f64::NAN);
    Elements::Real(reals)
}

/// Decodes an IEEE half-precision number: sign, 5 bits of exponent, 10 bits of significand.
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

/// Packs truth values, eight in a byte, the first in the lowest bit.
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
