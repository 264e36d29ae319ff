//! Where a crate cites the checklist: each comment, with the part of the code that it is about.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;

use super::cite::{Cite, citations};
use super::comments::{Comment, Style, comments};
use super::scopes::{Role, Scope, join, scopes};

/// A citation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// What is cited.
    pub cite: Cite,
    /// The file, from the folder of the crate's sources.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// The item it is about, `LinFun::lcur_inv`; empty for a module.
    pub item: String,
    /// The arm or row of the item, if it is about one.
    pub detail: Option<String>,
    /// Does it stand at the head of a module?
    pub header: bool,
    /// Does the comment start with it? Then it is what the comment is about.
    pub leading: bool,
    /// What the code is there for.
    pub role: Role,
}

/// A module's own file: the mentions in it, and the modules that it declares in files of their own, with whether they are for tests alone.
type Module = (Vec<Mention>, Vec<(String, bool)>);

/// The mentions in all modules of a crate, from its `lib.rs`, in the order of their declarations; and the files that were read.
pub fn crate_mentions(sources: &Path) -> Result<(Vec<Mention>, Vec<PathBuf>), String> {
    let (mut found, mut files) = (Vec::new(), Vec::new());
    walk(sources, Path::new("lib.rs"), "", false, &mut found, &mut files)?;
    Ok((found, files))
}

fn walk(
    sources: &Path,
    file: &Path,
    path: &str,
    support: bool,
    found: &mut Vec<Mention>,
    files: &mut Vec<PathBuf>,
) -> Result<(), String> {
    let name = file.display().to_string();
    let text = fs::read_to_string(sources.join(file)).map_err(|e| format!("{name}: {e}"))?;
    let (mentions, children) = module_mentions(&name, &text, path, support)?;
    found.extend(mentions);
    files.push(file.to_path_buf());
    let owns_folder = file.ends_with("lib.rs") || file.ends_with("mod.rs");
    let folder = if owns_folder { file.with_file_name("") } else { file.with_extension("") };
    for (child, support) in children {
        let places = [folder.join(format!("{child}.rs")), folder.join(&child).join("mod.rs")];
        let place = places.iter().find(|place| sources.join(place).exists());
        let place = place.ok_or_else(|| format!("{name}: the module `{child}` has no file"))?;
        walk(sources, place, &join(path, &child), support, found, files)?;
    }
    Ok(())
}

/// The mentions in one file, which is the module `path`.
pub fn module_mentions(
    name: &str,
    text: &str,
    path: &str,
    support: bool,
) -> Result<Module, String> {
    let stream: TokenStream = text.parse().map_err(|e| format!("{name}: {e}"))?;
    let file: syn::File = syn::parse2(stream.clone()).map_err(|e| format!("{name}: {e}"))?;
    let (comments, tokens) = comments(text, stream);
    let scopes = scopes(text, &file, path, support);
    let line = |at: usize| 1 + text[..at].matches('\n').count();
    let mut found: Vec<(usize, Mention)> = Vec::new();
    for comment in &comments {
        let scope = owner(comment, &scopes.scopes, &tokens);
        for (offset, cite) in citations(&comment.text) {
            let line = line(comment.range.start) + comment.text[..offset].matches('\n').count();
            let header = comment.style == Style::Header;
            let leading = matches!(comment.text[..offset].trim(), "" | "Erratum");
            found.push((
                comment.range.start,
                Mention { header, leading, ..mention(name, line, cite, scope) },
            ));
        }
    }
    for (id, scope) in &scopes.rows {
        let scope = &scopes.scopes[*scope];
        found.push((
            scope.range.start,
            mention(name, line(scope.range.start), Cite::One(*id), scope),
        ));
    }
    found.sort_by_key(|(at, _)| *at);
    Ok((found.into_iter().map(|(_, mention)| mention).collect(), scopes.children))
}

fn mention(file: &str, line: usize, cite: Cite, scope: &Scope) -> Mention {
    let Scope { item, detail, role, .. } = scope.clone();
    Mention { cite, file: file.to_string(), line, item, detail, header: false, leading: true, role }
}

/// The part of the code that a comment is about.
fn owner<'a>(
    comment: &Comment,
    scopes: &'a [Scope],
    tokens: &[std::ops::Range<usize>],
) -> &'a Scope {
    let start = comment.range.start;
    let around = |at: usize| scopes.iter().rfind(|scope| scope.range.contains(&at));
    let owner = match comment.style {
        Style::Header => scopes.iter().rfind(|scope| scope.module && scope.range.contains(&start)),
        Style::Doc => around(start),
        Style::Before => {
            let next = tokens.iter().find(|token| token.start >= comment.range.end);
            let starts = next
                .and_then(|next| scopes[1..].iter().find(|scope| scope.range.start == next.start));
            starts.or_else(|| around(start))
        }
        Style::After => {
            tokens.iter().rfind(|token| token.end <= start).and_then(|token| around(token.start))
        }
    };
    owner.unwrap_or(&scopes[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each mention as `id place`: the place of a test is its path.
    fn check(text: &str, expect: &[&str]) {
        let (mentions, _) = module_mentions("a.rs", text, "a", false).unwrap();
        let show = |m: &Mention| {
            let cite = match m.cite {
                Cite::One(id) => id.to_string(),
                Cite::Range(first, last) => format!("{first}..{last}"),
            };
            let detail = m.detail.as_ref().map(|d| format!(" [{d}]")).unwrap_or_default();
            let header = if m.header { " header" } else { "" };
            match &m.role {
                Role::Code => format!("{cite} {}{detail}{header}", m.item),
                Role::Support => format!("{cite} support {}{detail}{header}", m.item),
                Role::Test(test) => format!("{cite} test {test}"),
            }
        };
        assert_eq!(mentions.iter().map(show).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn items_and_members() {
        check(
            "//! A-20: all.\n\n/// S-1 … S-3\nenum Kind {\n    /// `x` (S-1)\n    Var,\n    /// S-2\n    Op(/* S-3 */ u8),\n}\n\n\
             impl Kind {\n    /// A-38, E3\n    fn f() {\n        // E24\n        g();\n    }\n}\n\n/// A row.\nstruct Row {\n    /// L-20\n    id: u8,\n}\n",
            &[
                "A-20  header",
                "S-1..S-3 Kind",
                "S-1 Kind::Var",
                "S-2 Kind::Op",
                "S-3 Kind::Op",
                "A-38 Kind::f",
                "E3 Kind::f",
                "E24 Kind::f",
                "L-20 Row::id",
            ],
        );
    }

    #[test]
    fn arms() {
        check(
            "fn run(t: &T) {\n    match t {\n        // E-1; E21: why.\n        Kind::Op(o, t) => {\n            // E-2\n            o\n        }\n\
             \x20       // E-3\n        Kind::A | Kind::B { .. } => 1,\n        (1, x) => 2, // E-4\n        // E-5\n    }\n}\n",
            &[
                "E-1 run [Kind::Op]",
                "E21 run [Kind::Op]",
                "E-2 run [Kind::Op]",
                "E-3 run [Kind::A | Kind::B]",
                "E-4 run [(1, x)]",
                "E-5 run",
            ],
        );
    }

    #[test]
    fn rows_of_equations() {
        check(
            "fn equations() -> [Equation; 3] {\n    [\n        Equation { id: \"L-20\", name: \"fst-beta\" },\n\
             \x20       Equation { id: \"derived\", name: \"x\" },\n        // L-21, as a note\n        Equation { id: \"L-22\" },\n    ]\n}\n",
            &["L-20 equations [fst-beta]", "L-21 equations [L-22]", "L-22 equations [L-22]"],
        );
    }

    #[test]
    fn tests_and_their_support() {
        check(
            "/// T-6\n#[cfg(not(test))]\nfn code() {}\n\n/// T-5\n#[cfg(test)]\nfn scrambled() {}\n\n#[cfg(test)]\nmod tests {\n    //! T-4\n\n\
             \x20   /// T-3: why.\n    #[test]\n    #[should_panic(expected = \"E1\")]\n    fn works() {\n        // T-2\n        assert!(true);\n\
             \x20       fn inner() {} // T-1\n    }\n\n    /// T-7\n    fn helper() {}\n}\n",
            &[
                "T-6 code",
                "T-5 support scrambled",
                "T-4 support  header",
                "T-3 test a::tests::works",
                "T-2 test a::tests::works",
                "T-1 test a::tests::works",
                "T-7 support helper",
            ],
        );
    }

    #[test]
    fn lines_and_children() {
        let text = "//! A\n//! S-1\n\n// S-2\nmod b;\n#[cfg(all(test, unix))]\nmod c;\n";
        let (mentions, children) = module_mentions("lib.rs", text, "", false).unwrap();
        assert_eq!(
            mentions.iter().map(|m| (m.line, m.item.as_str())).collect::<Vec<_>>(),
            [(2, ""), (4, "b")]
        );
        assert_eq!(children, [("b".to_string(), false), ("c".to_string(), true)]);
    }

    #[test]
    fn what_is_not_rust_is_told() {
        assert!(module_mentions("a.rs", "fn {", "a", false).unwrap_err().starts_with("a.rs: "));
        assert!(module_mentions("a.rs", "fn f() }", "a", false).unwrap_err().starts_with("a.rs: "));
    }

    /// No file of the crate is missed.
    #[test]
    fn every_file_is_read() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/chad/src");
        let (mentions, files) = crate_mentions(&sources).unwrap();
        let mut expect = Vec::new();
        crate::tidy::collect(&sources, &mut expect);
        assert_eq!(files.len(), expect.len());
        assert!(
            mentions
                .iter()
                .any(|m| matches!(&m.role, Role::Test(test) if test.starts_with("theorems::")))
        );
    }
}
