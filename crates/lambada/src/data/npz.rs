//! NumPy files.

use std::io::{Cursor, Read, Seek, Write};

use lambada_prim::{Data as Elements, Tensor};
use lambada_source::Problem;
use ndarray::{ArrayD, IxDyn};
use ndarray_npy::{NpzReader, NpzWriter, ReadNpyExt};

use super::problems;

/// All arrays of an archive, by name, in alphabetical order.
pub fn read_npz(file: impl Read + Seek, origin: &str) -> Result<Vec<(String, Tensor)>, Problem> {
    let broken = |e: &dyn std::fmt::Display| {
        Problem::general("E0605", format!("{origin} is not a readable .npz archive: {e}"))
    };
    let mut archive = NpzReader::new(file).map_err(|e| broken(&e))?;
    let mut names = archive.names().map_err(|e| broken(&e))?;
    names.sort();
    let mut arrays = Vec::with_capacity(names.len());
    for name in names {
        let tensor = archive_member(&mut archive, &name)
            .map_err(|e| problems::npz_type(origin, &name, e))?;
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

fn archive_member<R: Read + Seek>(
    archive: &mut NpzReader<R>,
    name: &str,
) -> Result<Tensor, String> {
    macro_rules! read {
        ($ty:ty) => {
            archive.by_name::<ndarray::OwnedRepr<$ty>, IxDyn>(name)
        };
    }
    first_that_fits!(read, f64 => reals, i64 => ints, f32 => reals, i32 => ints, bool => bools, u8 => ints, i16 => ints, u32 => ints, u16 => ints, i8 => ints)
}

/// The array of a `.npy` file.
pub fn read_npy(bytes: &[u8]) -> Result<Tensor, String> {
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
pub fn write_npz(file: impl Write + Seek, arrays: &[(String, Tensor)]) -> Result<(), String> {
    let mut archive = NpzWriter::new_compressed(file);
    for (name, tensor) in arrays {
        let shape = IxDyn(&tensor.dims);
        let added = match &tensor.data {
            Elements::Real(v) => archive.add_array(name.as_str(), &shaped(shape, v)?),
            Elements::Int(v) => archive.add_array(name.as_str(), &shaped(shape, v)?),
            Elements::Bool(v) => archive.add_array(name.as_str(), &shaped(shape, v)?),
        };
        added.map_err(|e| e.to_string())?;
    }
    archive.finish().map(drop).map_err(|e| e.to_string())
}

fn shaped<T: Clone>(shape: IxDyn, data: &[T]) -> Result<ArrayD<T>, String> {
    ArrayD::from_shape_vec(shape, data.to_vec()).map_err(|e| e.to_string())
}
