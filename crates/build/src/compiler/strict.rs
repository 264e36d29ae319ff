//! A library in C11 without extensions, as compilers that are neither GCC nor Clang need it: from
//! the text in GNU C, whose code has no vectors.

/// Words of GNU C, and those of C11 for them.
const WORDS: [(&str, &str); 15] = [
    ("(uintptr_t)__builtin_frame_address(0)", "lam_here()"),
    (
        "#define unlikely(condition) __builtin_expect(!!(condition), 0)",
        "#define unlikely(condition) (condition)",
    ),
    ("[count] = {{{0}}};", "[count] = {{0}};"),
    ("__builtin_mul_overflow(", "lam_overflows("),
    ("__builtin_memcpy(", "memcpy("),
    ("__builtin_memmove(", "memmove("),
    ("__builtin_memset(", "memset("),
    ("__builtin_calloc(", "calloc("),
    ("__builtin_free(", "free("),
    ("__builtin_nan(\"\")", "NAN"),
    ("__builtin_nanf(\"\")", "NAN"),
    ("__builtin_inff()", "INFINITY"),
    ("__builtin_inf()", "INFINITY"),
    ("    int cancelled; /*", "    volatile int cancelled; /*"),
    ("    uintptr_t lowest; /*", "    volatile uintptr_t lowest; /*"),
];

/// The block of a matrix product: lanes are single elements.
const BLOCK: &str = "enum { lam_block_bytes = sizeof(lam_element), lam_block_rows = 4 };\ntypedef lam_element lam_lanes;\n";

const HEADERS: &str =
    "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n";

const HELPERS: &str = "
/* Whether a product is no number of 64 bits; if it is one, gives it. */
static inline int lam_overflows(int64_t a, int64_t b, int64_t *product) {
    int overflows = 0;
    if (a > 0) overflows = b > INT64_MAX / a || b < INT64_MIN / a;
    if (a < -1) overflows = b > INT64_MIN / a || b < INT64_MAX / a;
    if (a == -1) overflows = b == INT64_MIN;
    if (!overflows) *product = a * b;
    return overflows;
}

/* About where the stack ends. */
static inline uintptr_t lam_here(void) {
    volatile char here = 0;
    return (uintptr_t)&here + (uintptr_t)here;
}
";

/// The text in C11. With a `workspace`, it asks no system for memory.
pub(crate) fn strict(text: &str, workspace: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    let mut has_headers = false;
    while let Some(line) = lines.next() {
        if line == "#if defined(__AVX512F__)" || line == "#ifdef __linux__" {
            let is_block = line.contains("AVX");
            lines.by_ref().find(|line| *line == "#endif");
            if is_block {
                lines.next();
                out += BLOCK;
            }
            continue;
        }
        if is_hint(line) || is_declared(line) {
            continue;
        }
        if !has_headers && line.starts_with("typedef __INT64_TYPE__") {
            has_headers = true;
            out += HEADERS;
            out += if workspace { "" } else { "#include <stdlib.h>\n" };
            out += HELPERS;
        }
        if line.starts_with("typedef __") {
            continue;
        }
        let line = line.replace(
            "if (posix_memalign(&memory, bytes < 2 * large ? 64 : large, size)) return 0;",
            "if (size > SIZE_MAX || !(memory = malloc((size_t)size))) return 0;",
        );
        let line = line.replace("uint64_t large = 1 << 21, size =", "uint64_t size =");
        out += &atomics(&without_attributes(&line));
        out.push('\n');
    }
    WORDS.iter().fold(out, |text, (gnu, own)| text.replace(gnu, own))
}

/// Whether the line is a hint for other compilers, or makes them silent about extensions.
fn is_hint(line: &str) -> bool {
    line.starts_with("#pragma omp ") || line.contains("GCC unroll") || line.contains("-Wpedantic")
}

/// Whether a header of C has the declaration, too: of a function of `math.h`, or of a macro.
fn is_declared(line: &str) -> bool {
    let is_macro = ["INFINITY", "NAN", "INT64_MAX", "INT64_MIN"].iter().any(|name| {
        line.strip_prefix("#define ").or_else(|| line.strip_prefix("#undef ")).is_some_and(|rest| {
            rest.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    });
    let params = |rest: &str| {
        let inner = rest.split_once('(').and_then(|(_, rest)| rest.strip_suffix(");"));
        inner.is_some_and(|inner| {
            inner.split(", ").all(|ty| ["double", "float", "int"].contains(&ty))
        })
    };
    let prototype =
        ["double ", "float "].iter().any(|ty| line.strip_prefix(ty).is_some_and(params));
    is_macro || prototype || line.starts_with("int posix_memalign(")
}

/// The text without `__attribute__((…))` and the space behind.
fn without_attributes(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once("__attribute__(") {
        out += before;
        let inner = closed(behind);
        rest = behind[inner..].strip_prefix(')').unwrap_or_default();
        rest = rest.strip_prefix(' ').unwrap_or(rest);
        if rest.starts_with(';') {
            out.truncate(out.trim_end().len());
        }
    }
    out + rest
}

/// Loads and stores of variables that other threads and handlers of signals share.
fn atomics(line: &str) -> String {
    let mut text = line.to_string();
    while let Some((before, behind)) = text.split_once("__atomic_load_n(&") {
        let end = closed(behind);
        let place = behind[..end].split(", ").next().unwrap_or_default().to_string();
        text = format!("{before}{place}{}", &behind[end + 1..]);
    }
    while let Some((before, behind)) = text.split_once("__atomic_store_n(&") {
        let end = closed(behind);
        let parts: Vec<&str> = behind[..end].split(", ").collect();
        let (place, value) = (parts[0], parts.get(1).copied().unwrap_or_default());
        text = format!("{before}{place} = {value}{}", &behind[end + 1..]);
    }
    text
}

/// Where the parenthesis closes that is open before the text.
fn closed(text: &str) -> usize {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 {
            return at;
        }
    }
    text.len()
}
