//! What is said of wrong programs: each program under `tests/errors/types` has its messages beside it. `BLESS=1` writes them.

mod common;

use common::{checked, on_big_stack};

#[test]
fn messages_are_as_they_were_blessed() {
    on_big_stack(|| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/errors/types");
        let mut files: Vec<_> =
            std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).collect();
        files.retain(|file| file.extension().is_some_and(|e| e == "lam"));
        files.sort();
        assert!(files.len() >= 30);
        let mut wrong = Vec::new();
        for file in files {
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file).expect("a file");
            let (sources, _, problems) = checked(&name, &text);
            assert!(!problems.is_empty(), "{name} has no problem");
            let found = lambada_source::render(&sources, &problems, false);
            let stderr = file.with_extension("stderr");
            if std::env::var_os("BLESS").is_some() {
                std::fs::write(&stderr, &found).expect("the file can be written");
            } else if std::fs::read_to_string(&stderr).unwrap_or_default() != found {
                wrong.push(format!("{name}:\n{found}"));
            }
        }
        assert!(
            wrong.is_empty(),
            "messages that changed (BLESS=1 accepts them):\n{}",
            wrong.join("\n")
        );
    });
}
