//! NumPy files.

use std::io::{Cursor, Read, Seek, Write};
use std::path::Path;

use lambada_prim::{Data as Elements, Memory, Precision, Tensor, elements};
use lambada_source::Problem;
use ndarray::{ArrayD, IxDyn};
use ndarray_npy::{NpzWriter, ReadNpyExt, WriteNpyExt};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::messages::data as messages;

/// All arrays of an archive, by name, in alphabetical order.
pub fn read_npz(
    path: &Path,
    origin: &str,
    Memory { limit }: Memory,
) -> Result<Vec<(String, Tensor)>, Problem> {
    let file = std::fs::File::open(path).map_err(|e| messages::io(path, "read", e))?;
    let broken = |e: &dyn std::fmt::Display| messages::not_an_archive(origin, e);
    let mut archive = ZipArchive::new(file).map_err(|e| broken(&e))?;
    let mut names: Vec<String> = archive.file_names().map(str::to_string).collect();
    names.sort();
    let mut arrays = Vec::with_capacity(names.len());
    for name in names {
        let mut bytes = Vec::new();
        let member = archive.by_name(&name).map_err(|e| broken(&e))?;
        // One more than is allowed, to see that there is more.
        member.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| broken(&e))?;
        if bytes.len() as u64 > limit {
            return Err(messages::too_large(&format!("the array `{name}` of {origin}"), limit));
        }
        let tensor = read_npy(&bytes).map_err(|e| messages::npz_type(origin, &name, e))?;
        arrays.push((name.trim_end_matches(".npy").to_string(), tensor));
    }
    Ok(arrays)
}

/// The element types that we read, most likely first. The first that fits wins; if none does, the error of the first is told.
macro_rules! first_that_fits {
    ($read:ident, $($ty:ty => $convert:expr),+ $(,)?) => {{
        let mut problem: Option<String> = None;
        $(match $read!($ty) {
            Ok(array) => return Ok($convert(array)),
            Err(e) => { problem.get_or_insert(e.to_string()); }
        })+
        Err(problem.unwrap_or_default())
    }};
}

/// Does the file hold as many bytes as its header claims? Otherwise memory would be made for what is not there. What the header does not tell in the
/// usual way is left to the reader.
fn claims_no_more(bytes: &[u8]) -> Result<(), String> {
    let Some(header) = header(bytes) else { return Ok(()) };
    let text = String::from_utf8_lossy(&bytes[header.clone()]);
    let Some(sizes) =
        field(&text, "shape").and_then(|t| Some(t.split_once('(')?.1.split_once(')')?.0))
    else {
        return Ok(());
    };
    let sizes: Vec<&str> =
        sizes.split(',').map(str::trim).filter(|size| !size.is_empty()).collect();
    let each: u64 = field(&text, "descr")
        .and_then(|t| t.split(['\'', '"']).find(|word| !word.trim().is_empty()))
        .and_then(|descr| descr.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok())
        .unwrap_or(1);
    let parsed: Option<Vec<i64>> = sizes.iter().map(|size| size.parse().ok()).collect();
    let claimed = parsed.and_then(elements).and_then(|count| count.checked_mul(each));
    let there = (bytes.len() - header.end) as u64;
    match claimed {
        Some(claimed) if claimed <= there => Ok(()),
        _ => Err(format!(
            "its header claims {} elements, but it holds {there} bytes",
            sizes.join(" × ")
        )),
    }
}

/// Where the header is.
fn header(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (start, length) = match rest {
        [1, _, a, b, ..] => (10, usize::from(u16::from_le_bytes([*a, *b]))),
        [2 | 3, _, a, b, c, d, ..] => (12, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
        _ => return None, // cut off, or of a version that is not known
    };
    let end = start + length;
    (end <= bytes.len()).then_some(start..end)
}

/// What follows a key of the header.
fn field<'t>(header: &'t str, key: &str) -> Option<&'t str> {
    let at = header.find(&format!("'{key}'")).or_else(|| header.find(&format!("\"{key}\"")))?;
    Some(header[at + key.len() + 2..].split_once(':')?.1)
}

/// The array of a `.npy` file, called `name` in messages.
pub fn read_npy_file(path: &Path, origin: &str, name: &str) -> Result<Tensor, Problem> {
    let bytes = std::fs::read(path).map_err(|e| messages::io(path, "read", e))?;
    read_npy(&bytes).map_err(|e| messages::npz_type(origin, name, e))
}

/// The array that these bytes are.
fn read_npy(bytes: &[u8]) -> Result<Tensor, String> {
    claims_no_more(bytes)?;
    macro_rules! read {
        ($ty:ty) => {
            ArrayD::<$ty>::read_npy(Cursor::new(bytes))
        };
    }
    first_that_fits!(read, f64 => reals, i64 => ints, f32 => reals, i32 => ints, bool => bools, u8 => ints, i16 => ints, u32 => ints, u16 => ints, i8 => ints)
}

fn reals<T: Copy + Into<f64>>(array: ArrayD<T>) -> Tensor {
    Tensor {
        dims: array.shape().to_vec(),
        data: Elements::Real(array.iter().map(|x| (*x).into()).collect()),
    }
}

fn ints<T: Copy + Into<i64>>(array: ArrayD<T>) -> Tensor {
    Tensor {
        dims: array.shape().to_vec(),
        data: Elements::Int(array.iter().map(|x| (*x).into()).collect()),
    }
}

fn bools(array: ArrayD<bool>) -> Tensor {
    Tensor { dims: array.shape().to_vec(), data: Elements::Bool(array.iter().copied().collect()) }
}

/// An archive of arrays.
pub fn write_npz(arrays: &[(String, Tensor)], precision: Precision) -> Result<Vec<u8>, String> {
    let mut file = Cursor::new(Vec::new());
    let mut archive = NpzWriter::new_compressed(&mut file);
    for (name, tensor) in arrays {
        let shape = IxDyn(&tensor.dims);
        let added = match &tensor.data {
            Elements::Real(v) => match precision {
                Precision::F64 => archive.add_array(name.as_str(), &shaped(shape, v)?),
                Precision::F32 => archive.add_array(name.as_str(), &shaped(shape, &singles(v))?),
            },
            Elements::Int(v) => archive.add_array(name.as_str(), &shaped(shape, v)?),
            Elements::Bool(v) => archive.add_array(name.as_str(), &shaped(shape, v)?),
        };
        added.map_err(|e| e.to_string())?;
    }
    archive.finish().map_err(|e| e.to_string())?;
    Ok(file.into_inner())
}

/// What the parts of a sparse matrix are called in an archive of SciPy.
const COO: [(&str, &str); 3] = [("cols", "col"), ("rows", "row"), ("values", "data")];

/// A sparse matrix with its `rows`, `cols`, `values` and `shape.0`, `shape.1`, and whatever else, as an archive that SciPy reads: a `coo_array`.
pub fn write_coo(parts: &[(String, Tensor)], precision: Precision) -> Result<Vec<u8>, String> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let mut shape = Vec::new();
    for (name, tensor) in parts {
        if let ("shape.0" | "shape.1", Elements::Int(size)) = (name.as_str(), &tensor.data) {
            shape.extend_from_slice(size);
            continue;
        }
        let known = COO.iter().find(|(part, _)| part == name).map(|(_, called)| *called);
        entry(&mut archive, known.unwrap_or(name), &npy(tensor, precision)?)?;
    }
    let shape = Tensor { dims: vec![shape.len()], data: Elements::Int(shape) };
    entry(&mut archive, "shape", &npy(&shape, precision)?)?;
    let is_array = Tensor { dims: Vec::new(), data: Elements::Bool(vec![true]) };
    entry(&mut archive, "_is_array", &npy(&is_array, precision)?)?;
    entry(&mut archive, "format", &npy_word("coo"))?;
    Ok(archive.finish().map_err(|e| e.to_string())?.into_inner())
}

fn entry<W: Write + Seek>(
    archive: &mut ZipWriter<W>,
    name: &str,
    bytes: &[u8],
) -> Result<(), String> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    archive.start_file(format!("{name}.npy"), options).map_err(|e| e.to_string())?;
    archive.write_all(bytes).map_err(|e| e.to_string())
}

/// An array as a file.
fn npy(tensor: &Tensor, precision: Precision) -> Result<Vec<u8>, String> {
    let (shape, mut bytes) = (IxDyn(&tensor.dims), Vec::new());
    let written = match &tensor.data {
        Elements::Real(v) => match precision {
            Precision::F64 => shaped(shape, v)?.write_npy(&mut bytes),
            Precision::F32 => shaped(shape, &singles(v))?.write_npy(&mut bytes),
        },
        Elements::Int(v) => shaped(shape, v)?.write_npy(&mut bytes),
        Elements::Bool(v) => shaped(shape, v)?.write_npy(&mut bytes),
    };
    written.map_err(|e| e.to_string()).map(|()| bytes)
}

/// A word of ASCII letters as a file, of a type that Lambada does not have: the header says how many bytes there are, and is padded to a multiple of 64.
fn npy_word(word: &str) -> Vec<u8> {
    const BEFORE: usize = 10;
    let header = format!("{{'descr': '|S{}', 'fortran_order': False, 'shape': (), }}", word.len());
    let length = (BEFORE + header.len() + 1).next_multiple_of(64) - BEFORE;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(format!("{header:<width$}\n{word}", width = length - 1).bytes());
    bytes
}

fn singles(values: &[f64]) -> Vec<f32> {
    values.iter().map(|x| *x as f32).collect()
}

fn shaped<T: Clone>(shape: IxDyn, data: &[T]) -> Result<ArrayD<T>, String> {
    ArrayD::from_shape_vec(shape, data.to_vec()).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn a_header_may_not_claim_more_than_the_file_holds() {
        for version in [1, 2, 3] {
            let shape = |shape: &str| {
                let header =
                    format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}\n");
                claims_no_more(&file(version, &header, &[0; 48]))
            };
            for held in ["6,", "2, 3", "", "0, 1000000000000", "3"] {
                assert_eq!(shape(held), Ok(()), "{held}");
            }
            let huge = ["7,", "1000000000000,", "4294967296, 4294967296", "99999999999999999999,"];
            for claimed in huge {
                assert!(shape(claimed).is_err(), "{claimed}");
            }
        }
        let bools = "{'descr': '|b1', 'fortran_order': False, 'shape': (48,), }\n";
        assert_eq!(claims_no_more(&file(1, bools, &[0; 48])), Ok(()));
        assert!(claims_no_more(&file(1, bools, &[0; 47])).is_err());
    }
}
