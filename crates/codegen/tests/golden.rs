//! The C text of small programs, to be read: `tests/golden/NAME.loops` becomes `NAME.c`, without
//! the runtime, which is text of its own. `BLESS=1` rewrites the C.

use std::path::Path;

use lambada_testkit::golden;

#[test]
fn small_programs_become_this_c() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for name in [
        "checks", "control", "held", "kept", "lanes", "library", "locals", "parallel", "taken",
        "vectors",
    ] {
        let file = folder.join(name).with_extension("loops");
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{name}: {e}"));
        let function = lambada_loops::read(&text).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        lambada_loops::check(&function).unwrap_or_else(|e| panic!("{name}: {e}"));
        let c = lambada_codegen::c_source(&function);
        golden(&file.with_extension("c"), &without_runtime(&c)).unwrap_or_else(|e| panic!("{e}"));
    }
}

fn without_runtime(c: &str) -> String {
    let (head, rest) = c.split_once("/* The arena:").expect("the runtime begins with the arena");
    let starts = ["struct kernel_", "static int kernel_", "static int lam_fn_"];
    let starts = starts.map(|start| rest.find(start));
    let kernel = starts.into_iter().flatten().min().expect("the kernel follows the runtime");
    format!("{head}/* The runtime. */\n\n{}", &rest[kernel..])
}
