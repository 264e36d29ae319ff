//! NumPy's format for one array: a magic, a header in Python's notation, and the elements.

use lambada_prim::{Data as Elements, Precision, Tensor, elements};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The elements begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// What the header tells.
struct Header {
    /// Does the highest byte of an element come first?
    big_endian: bool,
    /// The letter for what the elements are.
    kind: u8,
    /// The bytes of an element.
    size: usize,
    /// Does the first index run fastest?
    fortran: bool,
    dims: Vec<usize>,
}

/// The array that these bytes are.
pub fn read(bytes: &[u8]) -> Result<Tensor, String> {
    let (text, data) = parts(bytes)?;
    let header = header(&text)?;
    if !is_known(&header) {
        return Err(unknown(header.kind, header.size));
    }
    let claimed = header.dims.iter().map(|n| i64::try_from(*n).ok()).collect::<Option<Vec<i64>>>();
    let claimed = claimed.and_then(elements).and_then(|n| n.checked_mul(header.size as u64));
    match claimed {
        Some(claimed) if claimed == data.len() as u64 => {}
        Some(claimed) if claimed < data.len() as u64 => {
            let more = lambada_source::counted(data.len() - claimed as usize, "byte");
            return Err(format!("{more} follow its elements"));
        }
        Some(_) | None => {
            let dims: Vec<String> = header.dims.iter().map(usize::to_string).collect();
            return Err(format!(
                "its header claims {} elements, but it holds {} bytes",
                dims.join(" × "),
                data.len()
            ));
        }
    }
    let data = scalars(&header, data)?;
    let tensor = Tensor { dims: header.dims, data };
    Ok(if header.fortran { rows_first(tensor) } else { tensor })
}

/// The header's text, and the elements.
fn parts(bytes: &[u8]) -> Result<(String, &[u8]), String> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err("it does not begin as NumPy's files do".into());
    };
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        [1..=3, ..] | [] => return Err("its header is cut off".into()),
        [version, ..] => return Err(format!("version {version} of the format is not known")),
    };
    match rest.split_at_checked(length) {
        Some((header, data)) => Ok((String::from_utf8_lossy(header).into_owned(), data)),
        None => Err("its header is cut off".into()),
    }
}

fn header(text: &str) -> Result<Header, String> {
    let missing = |key: &str| format!("its header tells no {key}");
    let descr = field(text, "descr").ok_or_else(|| missing("type"))?;
    let descr = descr.strip_prefix(['\'', '"']).and_then(|rest| rest.split(['\'', '"']).next());
    let descr = descr.ok_or("its elements have several parts")?;
    let unknown = || format!("elements of NumPy's type `{descr}`");
    let [order, kind, size @ ..] = descr.as_bytes() else { return Err(unknown()) };
    let size = std::str::from_utf8(size).ok().and_then(|size| size.parse().ok());
    let fortran = field(text, "fortran_order").ok_or_else(|| missing("order"))?;
    let shape = field(text, "shape").and_then(|text| text.strip_prefix('(')?.split_once(')'));
    let (shape, _) = shape.ok_or_else(|| missing("shape"))?;
    let dims = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
    let dims = dims.map(|size| size.parse().map_err(|_| format!("`{size}` is no size")));
    Ok(Header {
        big_endian: *order == b'>',
        kind: *kind,
        size: size.ok_or_else(unknown)?,
        fortran: fortran.starts_with("True"),
        dims: dims.collect::<Result<_, _>>()?,
    })
}

/// What follows a key of the header.
fn field<'t>(header: &'t str, key: &str) -> Option<&'t str> {
    let at = header.find(&format!("'{key}'")).or_else(|| header.find(&format!("\"{key}\"")))?;
    Some(header[at + key.len() + 2..].split_once(':')?.1.trim_start())
}

/// The elements in the order of the file.
fn scalars(header: &Header, data: &[u8]) -> Result<Elements, String> {
    match (header.kind, header.size) {
        (b'f', 8) => Ok(Elements::Real(each(header, data, f64::from_le_bytes))),
        (b'f', 4) => Ok(Elements::Real(each(header, data, |x| f32::from_le_bytes(x).into()))),
        (b'i', 8) => Ok(Elements::Int(each(header, data, i64::from_le_bytes))),
        (b'i', 4) => Ok(Elements::Int(each(header, data, |n| i32::from_le_bytes(n).into()))),
        (b'i', 2) => Ok(Elements::Int(each(header, data, |n| i16::from_le_bytes(n).into()))),
        (b'i', 1) => Ok(Elements::Int(each(header, data, |n| i8::from_le_bytes(n).into()))),
        (b'u', 4) => Ok(Elements::Int(each(header, data, |n| u32::from_le_bytes(n).into()))),
        (b'u', 2) => Ok(Elements::Int(each(header, data, |n| u16::from_le_bytes(n).into()))),
        (b'u', 1) => Ok(Elements::Int(each(header, data, |[n]| n.into()))),
        (b'b', 1) => match data.iter().find(|byte| **byte > 1) {
            None => Ok(Elements::Bool(each(header, data, |[byte]| byte == 1))),
            Some(byte) => Err(format!("a truth value is {byte}, neither 0 nor 1")),
        },
        (kind, size) => Err(unknown(kind, size)),
    }
}

/// Are elements of this type read? Before it is asked how many bytes they take, which is another matter for texts.
fn is_known(header: &Header) -> bool {
    matches!(
        (header.kind, header.size),
        (b'f', 4 | 8) | (b'i', 1 | 2 | 4 | 8) | (b'u', 1 | 2 | 4) | (b'b', 1)
    )
}

fn unknown(kind: u8, size: usize) -> String {
    format!("elements of NumPy's type `{}{size}`", char::from(kind))
}

/// The elements, from their bytes with the lowest first.
fn each<const SIZE: usize, T>(
    header: &Header,
    data: &[u8],
    value: impl Fn([u8; SIZE]) -> T,
) -> Vec<T> {
    let (elements, _) = data.as_chunks::<SIZE>();
    let ordered = |bytes: &[u8; SIZE]| {
        let mut bytes = *bytes;
        if header.big_endian {
            bytes.reverse();
        }
        value(bytes)
    };
    elements.iter().map(ordered).collect()
}

/// An array whose elements stand with the first index fastest, with the last index fastest.
fn rows_first(Tensor { dims, data }: Tensor) -> Tensor {
    let steps: Vec<usize> =
        dims.iter().scan(1, |step, size| Some(std::mem::replace(step, *step * size))).collect();
    let place = |mut k: usize| {
        let mut at = 0;
        for (size, step) in dims.iter().zip(&steps).rev() {
            at += k % size * step;
            k /= size;
        }
        at
    };
    let data = match data {
        Elements::Real(v) => Elements::Real((0..v.len()).map(|k| v[place(k)]).collect()),
        Elements::Int(v) => Elements::Int((0..v.len()).map(|k| v[place(k)]).collect()),
        Elements::Bool(v) => Elements::Bool((0..v.len()).map(|k| v[place(k)]).collect()),
    };
    Tensor { dims, data }
}

/// An array as a file.
pub fn write(tensor: &Tensor, precision: Precision) -> Vec<u8> {
    let dims: Vec<String> = tensor.dims.iter().map(usize::to_string).collect();
    let shape = match &dims[..] {
        [one] => format!("({one},)"),
        _ => format!("({})", dims.join(", ")),
    };
    let (ty, data): (_, Vec<u8>) = match &tensor.data {
        Elements::Real(v) => match precision {
            Precision::F64 => ("<f8", v.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Precision::F32 => ("<f4", v.iter().flat_map(|x| (*x as f32).to_le_bytes()).collect()),
        },
        Elements::Int(v) => ("<i8", v.iter().flat_map(|n| n.to_le_bytes()).collect()),
        Elements::Bool(v) => ("|b1", v.iter().map(|truth| u8::from(*truth)).collect()),
    };
    file(ty, &shape, &data)
}

/// A word of ASCII letters as a file, of a type that Lambada does not have.
pub fn write_word(word: &str) -> Vec<u8> {
    file(&format!("|S{}", word.len()), "()", word.as_bytes())
}

/// A file of the format's first version, whose header is shorter than 64 KB: no array has so many dimensions.
fn file(ty: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{ty}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    let before = bytes.len() + size_of::<u16>();
    let length = (before + header.len() + 1).next_multiple_of(ALIGNMENT) - before;
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(format!("{header:<width$}\n", width = length - 1).bytes());
    bytes.extend(data);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_header(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn array(ty: &str, fortran: &str, shape: &str, data: &[u8]) -> Result<Tensor, String> {
        let header =
            format!("{{'descr': '{ty}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        read(&with_header(1, &header, data))
    }

    #[test]
    fn a_header_claims_what_the_file_holds() {
        for version in [1, 2, 3] {
            let shape = |shape: &str| {
                let header =
                    format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}\n");
                read(&with_header(version, &header, &[0; 48]))
            };
            for held in ["6,", "2, 3"] {
                assert!(shape(held).is_ok(), "{held}");
            }
            let others = [
                "",
                "5,",
                "7,",
                "1000000000000,",
                "4294967296, 4294967296",
                "9999999999999999999,",
            ];
            for claimed in others {
                assert!(shape(claimed).is_err(), "{claimed}");
            }
        }
        assert!(array("|b1", "False", "(3,)", &[0, 1, 1]).is_ok());
        assert!(array("|b1", "False", "(3,)", &[0, 1, 2]).is_err());
        assert!(array("<f8", "False", "(0, 1000000000000)", &[]).is_ok());
    }

    #[test]
    fn elements_of_any_order_and_size() {
        let reals = |ty, data: &[u8]| array(ty, "False", "()", data).map(|array| array.data);
        assert_eq!(reals(">f4", &[0xbf, 0x80, 0, 0]), Ok(Elements::Real(vec![-1.0])));
        assert_eq!(reals("<i2", &[0xfe, 0xff]), Ok(Elements::Int(vec![-2])));
        assert_eq!(reals("<u4", &[0xff; 4]), Ok(Elements::Int(vec![u32::MAX.into()])));
        assert!(reals("<c16", &[0; 16]).is_err());
        let columns = array("|i1", "True", "(2, 3)", &[1, 4, 2, 5, 3, 6]);
        let rows = Tensor { dims: vec![2, 3], data: Elements::Int(vec![1, 2, 3, 4, 5, 6]) };
        assert_eq!(columns, Ok(rows));
    }

    #[test]
    fn what_is_written_is_read() {
        let arrays = [
            Tensor { dims: vec![2, 1], data: Elements::Real(vec![0.5, -1.0]) },
            Tensor { dims: vec![], data: Elements::Int(vec![-7]) },
            Tensor { dims: vec![3], data: Elements::Bool(vec![true, false, true]) },
        ];
        for array in arrays {
            for precision in [Precision::F64, Precision::F32] {
                let file = write(&array, precision);
                assert_eq!(read(&file).as_ref(), Ok(&array));
            }
        }
    }
}
