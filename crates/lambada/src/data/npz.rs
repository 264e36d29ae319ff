//! NumPy files: one array, or an archive of several.

use std::io::{BufReader, Cursor, Read, Seek, Write};
use std::path::Path;

use lambada_prim::{Data as Elements, Memory, Precision, Tensor};
use lambada_source::Problem;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::npy;
use crate::messages::data as messages;

/// All arrays of an archive with their names, in alphabetical order.
pub fn read_npz(
    path: &Path,
    origin: &str,
    Memory { limit }: Memory,
) -> Result<Vec<(String, Tensor)>, Problem> {
    let file = std::fs::File::open(path).map_err(|e| messages::io(path, "read", e))?;
    let broken = |e: &dyn std::fmt::Display| messages::not_an_archive(origin, e);
    let mut archive = ZipArchive::new(file).map_err(|e| broken(&e))?;
    let mut names: Vec<String> = archive.file_names().map(str::to_string).collect();
    names.sort_unstable();
    let mut arrays = Vec::with_capacity(names.len());
    for name in names {
        let member = archive.by_name(&name).map_err(|e| broken(&e))?;
        let length = member.size();
        if length > limit {
            return Err(messages::too_large(&format!("the array `{name}` of {origin}"), limit));
        }
        let tensor = npy::read(member, length).map_err(|e| messages::npz_type(origin, &name, e))?;
        arrays.push((name.trim_end_matches(".npy").to_string(), tensor));
    }
    Ok(arrays)
}

/// The array of a `.npy` file, called `name` in messages.
pub fn read_npy_file(path: &Path, origin: &str, name: &str) -> Result<Tensor, Problem> {
    let failed = |e| messages::io(path, "read", e);
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    let tensor = match about.is_file() {
        true => npy::read(BufReader::new(file), about.len()),
        false => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(failed)?;
            npy::read(&bytes[..], bytes.len() as u64)
        }
    };
    tensor.map_err(|e| messages::npz_type(origin, name, e))
}

/// An archive of arrays.
pub fn write_npz(arrays: &[(String, Tensor)], precision: Precision) -> Result<Vec<u8>, String> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, tensor) in arrays {
        entry(&mut archive, name, &npy::write(tensor, precision))?;
    }
    Ok(archive.finish().map_err(|e| e.to_string())?.into_inner())
}

/// Names of the parts of a sparse matrix in a SciPy archive.
const COO: [(&str, &str); 3] = [("cols", "col"), ("rows", "row"), ("values", "data")];

/// Writes a sparse matrix with `rows`, `cols`, `values`, `shape.0` and `shape.1`, and any further
/// arrays, as a `coo_array` archive for SciPy.
pub fn write_coo(parts: &[(String, Tensor)], precision: Precision) -> Result<Vec<u8>, String> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let mut shape = Vec::new();
    for (name, tensor) in parts {
        if let ("shape.0" | "shape.1", Elements::Int(size)) = (name.as_str(), &tensor.data) {
            shape.extend_from_slice(size);
            continue;
        }
        let known = COO.iter().find(|(part, _)| part == name).map(|(_, called)| *called);
        entry(&mut archive, known.unwrap_or(name), &npy::write(tensor, precision))?;
    }
    let shape = Tensor { dims: vec![shape.len()], data: Elements::Int(shape) };
    entry(&mut archive, "shape", &npy::write(&shape, precision))?;
    let is_array = Tensor { dims: Vec::new(), data: Elements::Bool(vec![true]) };
    entry(&mut archive, "_is_array", &npy::write(&is_array, precision))?;
    entry(&mut archive, "format", &npy::write_word("coo"))?;
    Ok(archive.finish().map_err(|e| e.to_string())?.into_inner())
}

fn entry<W: Write + Seek>(
    archive: &mut ZipWriter<W>,
    name: &str,
    bytes: &[u8],
) -> Result<(), String> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let options = options.large_file(bytes.len() > u32::MAX as usize);
    archive.start_file(format!("{name}.npy"), options).map_err(|e| e.to_string())?;
    archive.write_all(bytes).map_err(|e| e.to_string())
}
