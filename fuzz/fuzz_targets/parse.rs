//! Arbitrary text: the parser does not panic, all problems can be rendered, and a text without
//! problems prints as a text with the same tree.

#![no_main]

use lambada_source::{Sources, render};
use lambada_surface::{erase_spans, parse, print_module};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut sources = Sources::new();
    let file = sources.add("fuzz.lam", text);
    let (mut tree, problems) = parse(text, file);
    render(&sources, &problems, false);
    if problems.is_empty() {
        let printed = print_module(&tree);
        let (mut again, problems) = parse(&printed, file);
        assert!(problems.is_empty(), "{printed}");
        erase_spans(&mut tree);
        erase_spans(&mut again);
        assert!(tree == again, "{printed}");
    }
});
