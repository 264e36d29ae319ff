//! Writing results as JSON, NumPy archives and tables. Files are replaced atomically.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use lambada_core::data::Data;
use lambada_prim::{Data as Elements, Precision, Tensor};
use lambada_run::Unfinished;
use lambada_source::{Problem, stack};
use serde_json::Value;
use tempfile::NamedTempFile;

use super::Json;
use super::formats::{Format, Write, unknown};
use super::table;
use crate::messages::data as messages;

/// Limit for chains of symbolic links, as in operating systems.
const LINKS: usize = 40;

/// The value as JSON; see [`Json`].
pub fn to_json(data: &Data) -> Value {
    serde_json::to_value(Json(data)).expect("keys are strings")
}

/// The value as JSON text, for values of any depth.
pub fn json_text(data: &Data) -> String {
    serde_json::to_string(&Json(data)).expect("keys are strings")
}

/// Checks that a result can be written to a file of this name.
///
/// # Errors
/// E0604, if the format is unknown or can only be read, and the errors of [`check_place`].
pub fn check_output(path: &Path) -> Result<(), Problem> {
    Format::of_result(path)?;
    check_place(path)
}

/// Checks that files can be made in the folder of this one: results that take long are not lost.
///
/// # Errors
/// E0601, with the error of the system.
pub fn check_place(path: &Path) -> Result<(), Problem> {
    begun(path).map(drop).map_err(|e| messages::io(path, "write", e))
}

/// Writes the value to a file in the format of its name, atomically. `precision` is the width of
/// reals in NumPy archives, and determines the number of decimals in text.
pub fn write_file(path: &Path, data: &Data, precision: Precision) -> Result<(), Problem> {
    let bytes = bytes(path, data, precision)?;
    replace_file(path, &bytes).map_err(|e| messages::io(path, "write", e))
}

/// Checks that a picture can be written to a file of this name.
///
/// # Errors
/// E0604, if the name does not end in `.svg`, and the errors of [`check_place`].
pub fn check_picture(path: &Path) -> Result<(), Problem> {
    match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case("svg") => check_place(path),
        Some(_) | None => Err(messages::unknown_format(path, &[".svg".to_string()], &[])),
    }
}

/// Writes a text, atomically.
///
/// # Errors
/// E0601, with the error of the system.
pub fn write_text(path: &Path, text: &str) -> Result<(), Problem> {
    replace_file(path, text.as_bytes()).map_err(|e| messages::io(path, "write", e))
}

/// The contents of a file with this result.
fn bytes(path: &Path, data: &Data, precision: Precision) -> Result<Vec<u8>, Problem> {
    let bytes = match &Format::of_result(path)?.write {
        None => return Err(unknown(path)),
        Some(Write::Json) => Ok((json_text(&decimals(data, precision)) + "\n").into_bytes()),
        Some(Write::Table(write)) => {
            let data = &*decimals(data, precision);
            let named = arrays(data).ok();
            write(&table::of(data, named.as_deref()).ok_or_else(|| messages::no_table(path))?)
        }
        Some(Write::Arrays(write)) => write(&arrays(data)?, precision),
    };
    bytes.map_err(|e| messages::io(path, "write", e))
}

/// Replaces reals by the shortest decimals that denote them in the precision.
fn decimals(data: &Data, precision: Precision) -> Cow<'_, Data> {
    match precision {
        Precision::F64 => Cow::Borrowed(data),
        Precision::F32 => Cow::Owned(decimal(data, precision)),
    }
}

fn decimal(data: &Data, precision: Precision) -> Data {
    let each = |item: &Data| stack::deeper(|| decimal(item, precision));
    match data {
        Data::Tensor(Tensor { dims, data: Elements::Real(values) }) => {
            let values = values.iter().map(|x| precision.decimal(*x)).collect();
            Data::Tensor(Tensor::reals(dims.clone(), values))
        }
        Data::Tensor(Tensor { data: Elements::Int(_) | Elements::Bool(_), .. }) => data.clone(),
        Data::Tuple(items) => Data::Tuple(items.iter().map(each).collect()),
        Data::Array(items) => Data::Array(items.iter().map(each).collect()),
        Data::Record(fields) => {
            Data::Record(fields.iter().map(|(name, item)| (name.clone(), each(item))).collect())
        }
        Data::Con { name, tag, args } => {
            let args: Vec<Data> = args.iter().map(each).collect();
            Data::Con { name: name.clone(), tag: *tag, args: args.into() }
        }
    }
}

/// Writes a value and its sparse matrix of derivatives, called `name`. `scipy.sparse.load_npz` can
/// read a `.npz` file; the value is a further array in it.
pub fn write_sparse(
    path: &Path,
    name: &str,
    value: &Data,
    matrix: &Data,
    precision: Precision,
) -> Result<(), Problem> {
    let Some(write) = Format::of_result(path)?.sparse else {
        let fields = vec![(name.into(), matrix.clone()), ("value".into(), value.clone())];
        return write_file(path, &Data::Record(fields), precision);
    };
    let mut named = arrays(matrix)?;
    leaves(value, "value", &mut named)?;
    let bytes = write(&named, precision).map_err(|e| messages::io(path, "write", e))?;
    replace_file(path, &bytes).map_err(|e| messages::io(path, "write", e))
}

/// Replaces a file atomically and keeps its permissions. Follows symbolic links. Writes directly to
/// pipes and other special files.
///
/// # Errors
/// Errors of the system; the file is unchanged.
pub fn replace_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let (target, begun) = begun(path)?;
    let Some((mut file, _unfinished)) = begun else { return std::fs::write(&target, bytes) };
    file.write_all(bytes)?;
    if let Ok(there) = std::fs::metadata(&target) {
        file.as_file().set_permissions(there.permissions())?;
    }
    file.persist(&target).map(drop).map_err(|e| e.error)
}

/// The file that a path means, and an empty one beside it that is to replace it: none for pipes and
/// other special files.
fn begun(path: &Path) -> std::io::Result<(PathBuf, Option<(NamedTempFile, Unfinished)>)> {
    let path = target(path)?;
    if std::fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
        return Ok((path, None));
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Otherwise an error of the folder would mention the temporary file.
    std::fs::metadata(folder)?;
    let file = temporary().tempfile_in(folder)?;
    let unfinished = Unfinished::at(file.path());
    Ok((path, Some((file, unfinished))))
}

/// Follows a chain of symbolic links; the last target need not exist.
fn target(path: &Path) -> std::io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..LINKS {
        let Ok(next) = std::fs::read_link(&target) else { return Ok(target) };
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(std::io::Error::other("too many symbolic links"))
}

/// A temporary file with the permissions of an ordinary new file, because it becomes the result.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// One named array for each leaf. Nested names are joined by dots, components are numbered, and a
/// single array is called `result`.
fn arrays(data: &Data) -> Result<Vec<(String, Tensor)>, Problem> {
    let mut out = Vec::new();
    leaves(data, "", &mut out)?;
    Ok(out)
}

fn leaves(data: &Data, name: &str, out: &mut Vec<(String, Tensor)>) -> Result<(), Problem> {
    let inner =
        |part: &str| if name.is_empty() { part.to_string() } else { format!("{name}.{part}") };
    match data.seen() {
        Data::Tensor(tensor) => {
            out.push((
                if name.is_empty() { "result".to_string() } else { name.to_string() },
                tensor.clone(),
            ));
            Ok(())
        }
        Data::Record(fields) => {
            fields.iter().try_for_each(|(field, value)| leaves(value, &inner(field), out))
        }
        Data::Tuple(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(k, value)| leaves(value, &inner(&k.to_string()), out)),
        Data::Array(_) | Data::Con { .. } => {
            let place = if name.is_empty() { String::new() } else { format!(" `{name}`") };
            Err(messages::not_for_npz(&place))
        }
    }
}
