//! Golden files: expected outputs, as text in the repository.

use std::path::Path;

/// Whether to rewrite golden files, by `BLESS=1`. Blessing accepts texts; values are blessed only
/// where they agree with an oracle.
pub fn blessing() -> bool {
    std::env::var_os("BLESS").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Complains unless the file holds the text; rewrites it instead when blessing.
pub fn golden(path: &Path, found: &str) -> Result<(), String> {
    let expected = std::fs::read_to_string(path);
    if expected.as_deref().is_ok_and(|expected| expected == found) {
        return Ok(());
    }
    let name = path.display();
    if blessing() {
        return std::fs::write(path, found).map_err(|e| format!("{name}: {e}"));
    }
    let Ok(expected) = expected else {
        return Err(format!("{name} is missing; BLESS=1 writes it:\n{found}"));
    };
    let (mut old, mut new) = (expected.lines(), found.lines());
    let mut line = 0;
    let (before, after) = loop {
        line += 1;
        match (old.next(), new.next()) {
            (None, None) => break ("(only the end of the last line differs)", ""),
            (before, after) if before != after => {
                break (before.unwrap_or("(the end)"), after.unwrap_or("(the end)"));
            }
            _ => {}
        }
    };
    Err(format!("{name}:{line} differs; BLESS=1 accepts it\n- {before}\n+ {after}"))
}

#[cfg(test)]
mod tests {
    use super::golden;

    #[test]
    fn what_differs_is_told() {
        let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).expect("the manifest can be read");
        assert_eq!(golden(&manifest, &text), Ok(()));
        let complaint = golden(&manifest, &text.replacen("name", "nome", 1)).unwrap_err();
        assert!(complaint.contains(":2 differs") && complaint.contains("+ nome"), "{complaint}");
        assert!(golden(&manifest.with_extension("none"), "").unwrap_err().contains("missing"));
    }
}
