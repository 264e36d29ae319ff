//! The library pages of the book consist of the library's doc comments (`BLESS=1` writes them), and
//! all built-in names are documented.

use std::path::Path;

use lambada::{chapters, manual, page};
use lambada_testkit::golden;

#[test]
fn the_book_has_a_page_for_each_module() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let summary = std::fs::read_to_string(book.join("SUMMARY.md")).expect("the table of contents");
    let mut wrong = Vec::new();
    for chapter in chapters() {
        let place = format!("library/{}.md", chapter.name);
        if !summary.contains(&format!("({place})")) {
            wrong.push(format!("SUMMARY.md lacks {place}"));
        }
        wrong.extend(golden(&book.join(place), &page(&chapter)).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn everything_is_documented() {
    let all = chapters();
    let entries = || all.iter().flat_map(|chapter| &chapter.entries);
    for entry in entries() {
        assert!(!entry.text.is_empty(), "`{}` has no comment", entry.name);
    }
    for name in lambada_elaborate::builtin_names() {
        assert!(entries().any(|entry| entry.name == name), "`{name}` is not documented");
    }
    let text = manual(Some("normal")).expect("it is found without its module");
    assert!(text.contains("random.normal (key : key) (n : int) : [n]real\n"), "{text}");
}

#[test]
fn what_is_misspelled_is_found() {
    for (name, meant) in
        [("erfinvv", "erfinv"), ("random.norml", "random.normal"), ("quadratur", "quadrature")]
    {
        let problem = manual(Some(name)).expect_err("it is misspelled");
        assert!(format!("{problem:?}").contains(&format!("`{meant}`")), "{problem:?}");
    }
    assert!(manual(None).expect("the list").contains("\nstd/random\n"));
}
