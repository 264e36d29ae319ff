//! Shares of a unit. Parts of large functions ([`crate::parts`]) know each other by name only, so
//! several C compilers can work on them at a time: each gets the whole text, and macros that select
//! its own parts. Straight-line parts, without loops, can be compiled with less effort.
//!
//! Printers leave marks in the text: `@export ` before functions that are called from outside,
//! `@part ` before the definition of a part, `@declare ` before its prototype, and a part stands
//! between lines `@loops` or `@lines` and `@end`. Without shares a part is a static function like
//! any other.

/// The numbers of parts in a unit; 0 if all functions are whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// Parts with loops.
    pub loops: usize,
    /// Parts without loops.
    pub lines: usize,
}

impl Shares {
    /// The macros for a C compiler that compiles the parts of one kind whose numbers leave this
    /// remainder. The first share of the parts with loops has all else that a unit has.
    pub fn macros(straight: bool, of: usize, share: usize) -> [String; 3] {
        let straight = u8::from(straight);
        [
            format!("-DLAM_STRAIGHT={straight}"),
            format!("-DLAM_SHARES={of}"),
            format!("-DLAM_SHARE={share}"),
        ]
    }
}

const MACROS: &str = "#ifndef LAM_SHARES
#define LAM_LOOPS(part) 1
#define LAM_LINES(part) 1
#define LAM_PART static __attribute__((noinline))
#define LAM_EXPORT
#else
#define LAM_LOOPS(part) (!LAM_STRAIGHT && (part) % LAM_SHARES == LAM_SHARE)
#define LAM_LINES(part) (LAM_STRAIGHT && (part) % LAM_SHARES == LAM_SHARE)
#define LAM_PART __attribute__((noinline, visibility(\"hidden\")))
#if LAM_STRAIGHT || LAM_SHARE
#define LAM_EXPORT static __attribute__((unused))
#else
#define LAM_EXPORT
#endif
#endif
";

/// The mark of a part.
pub(crate) fn marked(text: &str, straight: bool) -> String {
    format!("@{}\n{text}@end\n", if straight { "lines" } else { "loops" })
}

/// The text as one share, with `exported` before names that are visible outside.
pub(crate) fn alone(text: &str, exported: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.starts_with("@declare ") || line.starts_with("@l") || line == "@end\n" {
            continue;
        }
        match line.strip_prefix("@part ") {
            Some(definition) => {
                out += "static __attribute__((noinline)) ";
                out += definition;
            }
            None => out += line,
        }
    }
    out.replace("@export ", exported)
}

/// The text in a form that can be shared, `head` before it, and the number of its parts.
pub(crate) fn shared(head: &str, text: &str) -> (String, Shares) {
    let mut shares = Shares::default();
    let mut out = format!("{head}{MACROS}");
    for line in text.split_inclusive('\n') {
        if let Some(prototype) = line.strip_prefix("@declare ") {
            out += "LAM_PART ";
            out += prototype;
        } else if let Some(definition) = line.strip_prefix("@part ") {
            out += "LAM_PART ";
            out += definition;
        } else if line == "@loops\n" {
            out += &format!("#if LAM_LOOPS({})\n", shares.loops);
            shares.loops += 1;
        } else if line == "@lines\n" {
            out += &format!("#if LAM_LINES({})\n", shares.lines);
            shares.lines += 1;
        } else if line == "@end\n" {
            out += "#endif\n";
        } else {
            out += line;
        }
    }
    (out.replace("@export ", "LAM_EXPORT "), shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "@declare int p(void);\n@loops\n@part int p(void) {\n}\n@end\n@lines\n@part int q(void) {\n}\n@end\n@export int f(void);\n";

    #[test]
    fn a_unit_alone_has_no_macros() {
        let text = alone(TEXT, "static ");
        assert_eq!(
            text,
            "static __attribute__((noinline)) int p(void) {\n}\nstatic __attribute__((noinline)) int q(void) {\n}\nstatic int f(void);\n"
        );
    }

    #[test]
    fn each_part_belongs_to_one_share() {
        let (text, shares) = shared("/* head */\n", TEXT);
        assert_eq!(shares, Shares { loops: 1, lines: 1 });
        assert!(text.starts_with("/* head */\n#ifndef LAM_SHARES\n"), "{text}");
        let body = text.split_once(MACROS).expect("the macros stand in front").1;
        assert_eq!(
            body,
            "LAM_PART int p(void);\n#if LAM_LOOPS(0)\nLAM_PART int p(void) {\n}\n#endif\n#if LAM_LINES(0)\nLAM_PART int q(void) {\n}\n#endif\nLAM_EXPORT int f(void);\n"
        );
    }
}
