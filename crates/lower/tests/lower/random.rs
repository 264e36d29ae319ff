//! Functions from the generator of anf.

use super::agrees;

#[test]
fn generated_functions_agree() {
    for seed in 0..3_000 {
        let (f, args) = lambada_anf::generate(seed);
        agrees(&f, &args);
    }
}

#[test]
fn generated_programs_with_libraries_agree() {
    for seed in 0..1_000 {
        let (f, args) = lambada_anf::generate_with_library(seed);
        agrees(&f, &args);
    }
}
