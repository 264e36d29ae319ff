//! Whole programs elaborate, and the core checker accepts the result.

mod common;

use common::{on_big_stack, program, sound};

/// All definitions of the programs of the repository, each as an entry.
#[test]
fn programs_of_the_repository_elaborate() {
    on_big_stack(|| {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        for folder in ["examples", "tests/programs"] {
            let mut files: Vec<_> = std::fs::read_dir(format!("{root}/{folder}"))
                .expect("a folder")
                .flatten()
                .map(|e| e.path())
                .collect();
            files.sort();
            for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "lam")) {
                println!("{}", file.display());
                let text = std::fs::read_to_string(file).expect("a file");
                for definition in sound(&text).definitions() {
                    program(&text, &definition.name);
                }
            }
        }
    });
}
