//! Arbitrary text through the front end with the prelude: no panic, all problems can be rendered,
//! and specialized definitions are well-typed core.

#![no_main]

use lambada::Session;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut session = Session::new();
    match session.load_text("fuzz.lam", text, None) {
        Err(problems) => drop(session.render(&problems, false)),
        Ok(unit) => {
            for definition in unit.definitions() {
                match unit.checked.program(&definition.name) {
                    Err(problems) => drop(session.render(&problems, false)),
                    Ok(program) => lambada_core::check(&program).expect("specialized programs are well-typed"),
                }
            }
        }
    }
});
