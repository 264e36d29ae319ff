//! The addresses of the protocol as paths, and back.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use lsp_types::Uri;

/// Scheme of files.
const FILE: &str = "file://";

/// The path of a document. A buffer that is no file, such as `untitled:1`, has its address as its
/// path.
pub(crate) fn path_of(uri: &Uri) -> PathBuf {
    let text = uri.as_str();
    let Some(rest) = text.strip_prefix(FILE) else { return PathBuf::from(text) };
    // A host name may precede the path; it is empty or `localhost`.
    let path = rest.find('/').map_or(rest, |slash| &rest[slash..]);
    let path = decoded(path);
    // `/c:/folder` on systems with drives.
    let bytes = path.as_bytes();
    let drive = bytes.len() > 2 && bytes[1].is_ascii_alphabetic() && bytes[2] == b':';
    PathBuf::from(if drive { &path[1..] } else { &path })
}

/// Whether the document is a file.
pub(crate) fn is_file(path: &Path) -> bool {
    path.is_absolute()
}

/// The address of a path.
pub(crate) fn uri_of(path: &Path) -> Uri {
    let text: String = path.to_string_lossy().replace('\\', "/");
    let address = match (is_file(path), text.starts_with('/')) {
        (true, true) => format!("{FILE}{}", encoded(&text)),
        (true, false) => format!("{FILE}/{}", encoded(&text)),
        (false, _) => text,
    };
    Uri::from_str(&address).unwrap_or_else(|_| none())
}

fn none() -> Uri {
    Uri::from_str("untitled:none").expect("the address is valid")
}

fn encoded(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            text.push(byte.into());
        } else {
            _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |k: usize| bytes.get(k).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, _, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_back() {
        let check = |uri: &str, path: &str| {
            assert_eq!(path_of(&Uri::from_str(uri).unwrap()), Path::new(path));
        };
        check("file:///a/b%20c/%C3%A9.lam", "/a/b c/é.lam");
        check("file://localhost/a.lam", "/a.lam");
        check("file:///c%3A/x.lam", "c:/x.lam");
        check("untitled:Untitled-1", "untitled:Untitled-1");
        if cfg!(unix) {
            for path in ["/a/b c/é.lam", "/100%.lam", "/a/#?x.lam"] {
                assert_eq!(path_of(&uri_of(Path::new(path))), Path::new(path));
            }
        }
        assert_eq!(uri_of(Path::new("untitled:Untitled-1")).as_str(), "untitled:Untitled-1");
    }
}
