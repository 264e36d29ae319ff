//! NumPy's format for one array: a magic, a header in Python notation, and the elements.

use std::io::Read;

use lambada_prim::{Data as Elements, Precision, Tensor, elements};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Bytes that are read at once; a multiple of every element size.
const BLOCK: usize = 1 << 16;

/// Alignment of the elements.
const ALIGNMENT: usize = 64;

/// Contents of the header.
struct Header {
    /// Whether elements are big-endian.
    big_endian: bool,
    /// The letter of the element type.
    kind: u8,
    /// Bytes of an element.
    size: usize,
    /// Whether the first index varies fastest.
    fortran: bool,
    dims: Vec<usize>,
}

/// Reads an array from `length` bytes. Keeps no more than the elements in memory.
pub fn read(mut bytes: impl Read, length: u64) -> Result<Tensor, String> {
    let (text, before) = preamble(&mut bytes)?;
    let header = header(&text)?;
    if !is_known(&header) {
        return Err(unknown(header.kind, header.size));
    }
    let held = length.saturating_sub(before);
    let claimed = header.dims.iter().map(|n| i64::try_from(*n).ok()).collect::<Option<Vec<i64>>>();
    let claimed = claimed.and_then(elements).and_then(|n| n.checked_mul(header.size as u64));
    match claimed {
        Some(claimed) if claimed == held => {}
        Some(claimed) if claimed < held => {
            let more = lambada_source::counted((held - claimed) as usize, "byte");
            return Err(format!("{more} follow its elements"));
        }
        Some(_) | None => {
            let dims: Vec<String> = header.dims.iter().map(usize::to_string).collect();
            return Err(format!(
                "its header claims {} elements, but it holds {held} bytes",
                dims.join(" × ")
            ));
        }
    }
    let data = scalars(&header, &mut bytes, held as usize / header.size)?;
    // Reads to the end, because archives verify checksums there.
    if bytes.read(&mut [0]).map_err(|error| error.to_string())? > 0 {
        return Err("more bytes follow its elements".into());
    }
    let tensor = Tensor { dims: header.dims, data };
    Ok(if header.fortran { rows_first(tensor) } else { tensor })
}

/// Reads up to the elements: the text of the header, and the number of bytes read.
fn preamble(bytes: &mut impl Read) -> Result<(String, u64), String> {
    let cut = || "its header is cut off".to_string();
    let magic: [u8; 6] = next(bytes).ok_or("it does not begin as NumPy's files do")?;
    if magic != *MAGIC {
        return Err("it does not begin as NumPy's files do".into());
    }
    let [version, _] = next(bytes).ok_or_else(cut)?;
    let (length, size) = match version {
        1 => (u16::from_le_bytes(next(bytes).ok_or_else(cut)?).into(), 2),
        2 | 3 => (u32::from_le_bytes(next(bytes).ok_or_else(cut)?), 4),
        version => return Err(format!("version {version} of the format is not known")),
    };
    let mut text = Vec::new();
    let read = bytes.by_ref().take(length.into()).read_to_end(&mut text);
    if read.map_err(|error| error.to_string())? < length as usize {
        return Err(cut());
    }
    let before = MAGIC.len() as u64 + 2 + size + u64::from(length);
    Ok((String::from_utf8_lossy(&text).into_owned(), before))
}

/// Reads `SIZE` bytes, if that many remain.
fn next<const SIZE: usize>(bytes: &mut impl Read) -> Option<[u8; SIZE]> {
    let mut read = [0; SIZE];
    bytes.read_exact(&mut read).ok()?;
    Some(read)
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

/// The text after a key of the header.
fn field<'t>(header: &'t str, key: &str) -> Option<&'t str> {
    let at = header.find(&format!("'{key}'")).or_else(|| header.find(&format!("\"{key}\"")))?;
    Some(header[at + key.len() + 2..].split_once(':')?.1.trim_start())
}

/// Reads the elements in the order of the file.
fn scalars(header: &Header, bytes: &mut impl Read, count: usize) -> Result<Elements, String> {
    let big = header.big_endian;
    match (header.kind, header.size) {
        (b'f', 8) => each(bytes, count, big, f64::from_le_bytes).map(Elements::Real),
        (b'f', 4) => each(bytes, count, big, |x| f32::from_le_bytes(x).into()).map(Elements::Real),
        (b'f', 2) => each(bytes, count, big, |x| half(u16::from_le_bytes(x))).map(Elements::Real),
        (b'i', 8) => each(bytes, count, big, i64::from_le_bytes).map(Elements::Int),
        (b'i', 4) => each(bytes, count, big, |n| i32::from_le_bytes(n).into()).map(Elements::Int),
        (b'i', 2) => each(bytes, count, big, |n| i16::from_le_bytes(n).into()).map(Elements::Int),
        (b'i', 1) => each(bytes, count, big, |n| i8::from_le_bytes(n).into()).map(Elements::Int),
        (b'u', 8) => {
            let mut large = None;
            let integer = |bytes| {
                let n = u64::from_le_bytes(bytes);
                i64::try_from(n).unwrap_or_else(|_| {
                    large = Some(n);
                    0
                })
            };
            let integers = each(bytes, count, big, integer)?;
            match large {
                None => Ok(Elements::Int(integers)),
                Some(n) => Err(format!("{n} is too large for an integer, which has 64 bits")),
            }
        }
        (b'u', 4) => each(bytes, count, big, |n| u32::from_le_bytes(n).into()).map(Elements::Int),
        (b'u', 2) => each(bytes, count, big, |n| u16::from_le_bytes(n).into()).map(Elements::Int),
        (b'u', 1) => each(bytes, count, big, |[n]| n.into()).map(Elements::Int),
        (b'b', 1) => {
            let mut wrong = None;
            let truth = |[byte]: [u8; 1]| {
                wrong = wrong.or((byte > 1).then_some(byte));
                byte == 1
            };
            let truths = each(bytes, count, big, truth)?;
            match wrong {
                None => Ok(Elements::Bool(truths)),
                Some(byte) => Err(format!("a truth value is {byte}, neither 0 nor 1")),
            }
        }
        (kind, size) => Err(unknown(kind, size)),
    }
}

/// Whether the element type is supported. Checked before sizes, because texts measure sizes
/// differently.
fn is_known(header: &Header) -> bool {
    matches!(
        (header.kind, header.size),
        (b'f', 2 | 4 | 8) | (b'i' | b'u', 1 | 2 | 4 | 8) | (b'b', 1)
    )
}

fn unknown(kind: u8, size: usize) -> String {
    format!("elements of NumPy's type `{}{size}`", char::from(kind))
}

/// Reads `count` elements; `value` takes their little-endian bytes.
fn each<const SIZE: usize, T>(
    bytes: &mut impl Read,
    count: usize,
    big_endian: bool,
    mut value: impl FnMut([u8; SIZE]) -> T,
) -> Result<Vec<T>, String> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(count).map_err(|_| "there is no memory for it".to_string())?;
    let mut block = vec![0; BLOCK.min(count * SIZE)];
    while elements.len() < count {
        let block = &mut block[..BLOCK.min((count - elements.len()) * SIZE)];
        bytes.read_exact(block).map_err(|error| error.to_string())?;
        let (items, _) = block.as_chunks_mut::<SIZE>();
        if big_endian {
            items.iter_mut().for_each(|item| item.reverse());
        }
        elements.extend(items.iter().map(|item| value(*item)));
    }
    Ok(elements)
}

/// Decodes an IEEE half-precision number: sign, 5 bits of exponent, 10 bits of significand.
fn half(bits: u16) -> f64 {
    let (exponent, significand) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => significand * 2f64.powi(-24),
        31 if significand == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + significand) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// Transposes from column-major to row-major order.
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

/// Encodes an array.
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

/// Encodes an ASCII word, of a type without counterpart in Lambada.
pub fn write_word(word: &str) -> Vec<u8> {
    file(&format!("|S{}", word.len()), "()", word.as_bytes())
}

/// Encodes version 1 of the format, whose header is shorter than 64 KB; no array has enough
/// dimensions to exceed that.
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

    fn held(bytes: &[u8]) -> Result<Tensor, String> {
        read(bytes, bytes.len() as u64)
    }

    fn array(ty: &str, fortran: &str, shape: &str, data: &[u8]) -> Result<Tensor, String> {
        let header =
            format!("{{'descr': '{ty}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        held(&with_header(1, &header, data))
    }

    #[test]
    fn a_header_claims_what_the_file_holds() {
        for version in [1, 2, 3] {
            let shape = |shape: &str| {
                let header =
                    format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}\n");
                held(&with_header(version, &header, &[0; 48]))
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
    fn halves_and_integers_without_a_sign() {
        let halves = [0x3c00, 0xc000, 0x7bff, 0x0001, 0x0400, 0x8000, 0x7c00, 0xfc00, 0x3555]
            .map(u16::to_le_bytes);
        let Tensor { data: Elements::Real(found), .. } =
            array("<f2", "False", "(9,)", halves.as_flattened()).expect("an array")
        else {
            panic!("reals")
        };
        // From the tables of the standard.
        let least = 5.960464477539063e-8;
        let wanted = [
            1.0,
            -2.0,
            65504.0,
            least,
            6.103515625e-5,
            -0.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.333251953125,
        ];
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&found), bits(&wanted));
        assert!(half(0x7e01).is_nan());
        let integers = |n: u64| array(">u8", "False", "(1,)", &n.to_be_bytes()).map(|t| t.data);
        assert_eq!(integers(i64::MAX as u64), Ok(Elements::Int(vec![i64::MAX])));
        assert!(
            integers(1 << 63).is_err_and(|told| told.contains("9223372036854775808 is too large"))
        );
    }

    #[test]
    fn what_is_cut_off_is_told() {
        let file =
            write(&Tensor { dims: vec![2], data: Elements::Int(vec![1, 2]) }, Precision::F64);
        for length in 0..file.len() {
            assert!(held(&file[..length]).is_err(), "{length}");
            // With a wrong length.
            assert!(read(&file[..length], file.len() as u64).is_err(), "{length}");
            assert!(read(&file[..], length as u64).is_err(), "{length}");
        }
        let many =
            Tensor { dims: vec![3 * BLOCK], data: Elements::Int((0..3 * BLOCK as i64).collect()) };
        let file = write(&many, Precision::F64);
        assert_eq!(held(&file), Ok(many));
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
                assert_eq!(held(&file).as_ref(), Ok(&array));
            }
        }
    }
}
