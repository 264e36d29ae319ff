//! The shape of the code: modules that stand side by side do not need each other in a circle, types
//! do not tie modules together by their methods, and passes do not list constructs only to do
//! nothing with them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Arm, Expr, Item, Pat, UseTree};

/// Circles that there are, with the reason. None is added; one that is gone is removed from here.
const CIRCLES: &[(&str, &[&str], &str)] = &[
    (
        "crates/run",
        &["cancel", "children", "running"],
        "what is cancelled ends its children, and what runs holds both",
    ),
    ("crates/anf", &["rules", "syntax"], "a function carries its rules, which are functions"),
    (
        "crates/chad",
        &["applied", "lambda", "linear", "linfun", "primitives", "value"],
        "the paper's languages share primitives, whose meaning is a value, and values hold linear functions",
    ),
    (
        "crates/core",
        &["program", "rules", "term"],
        "terms mention definitions and rules, both hold terms",
    ),
    (
        "crates/core/eval",
        &[
            "arrays", "code", "compile", "derive", "levels", "liveness", "machine", "real",
            "rules", "shape", "value",
        ],
        "values hold closures and pullbacks, which the machine runs; to be taken apart with the evaluator",
    ),
    ("crates/elaborate", &["checked", "specialize"], "what is checked is specialized on demand"),
    (
        "crates/elaborate",
        &["matching", "typed"],
        "a typed match holds the tree that its patterns become",
    ),
    (
        "crates/prim",
        &["expr", "prim", "row", "table"],
        "a primitive is a row of the table, and the rows' expressions are of primitives",
    ),
    (
        "crates/run",
        &["cache", "prune"],
        "what is pruned is known by the names that the cache gives",
    ),
    (
        "crates/surface/print",
        &["expr", "operators", "types"],
        "sizes in types are expressions, and expressions have types",
    ),
];

/// How many arms join three or more variants to do nothing, by crate. The numbers only fall.
const IDLE_ARMS: &[(&str, usize)] = &[
    ("anf", 7),
    ("chad", 20),
    ("core", 11),
    ("differentiate", 6),
    ("elaborate", 29),
    ("emit", 1),
    ("graph", 9),
    ("lambada", 9),
    ("loops", 4),
    ("lower", 1),
    ("normalize", 6),
    ("optimize", 1),
    ("prim", 1),
    ("readback", 2),
    ("schedule", 14),
    ("stan", 12),
    ("surface", 43),
];

/// The files that may hold methods of one type. Beyond, methods tie modules together as imports do,
/// unseen by the search for circles.
const FILES_OF_METHODS: usize = 5;

/// Types with methods in more files, with the number of these files. The numbers only fall. Of the
/// derivatives and of lowering, each file is one construct of the language.
const METHODS: &[(&str, &str, usize)] = &[
    ("crates/differentiate", "Cotangents", 16),
    ("crates/differentiate", "Tangents", 16),
    ("crates/elaborate", "Infer", 21),
    ("crates/elaborate", "Solver", 11),
    ("crates/elaborate", "Specialize", 13),
    ("crates/emit", "Emitter", 12),
    ("crates/lambada", "Unit", 9),
    ("crates/lower", "Code", 6),
    ("crates/lower", "Lower", 18),
    ("crates/schedule", "Distributor", 7),
    ("crates/surface", "Parser", 11),
];

/// Complaints about the modules and the matches of the crates.
pub fn complaints(root: &Path) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut circles = Circles::new();
    let folders = ["crates", "apps"].into_iter().flat_map(|all| {
        let entries = fs::read_dir(root.join(all)).expect("the folder exists").flatten();
        entries.map(move |entry| (all, entry))
    });
    for (all, entry) in folders {
        let name = entry.file_name().to_string_lossy().into_owned();
        let place = format!("{all}/{name}");
        let modules = match modules(&entry.path().join("src")) {
            Ok(modules) => modules,
            Err(why) => {
                complaints.push(format!("{place}: {why}"));
                continue;
            }
        };
        circles.extend(all_circles(&place, &modules));
        complaints.extend(knots(&place, &modules));
        let idle: Vec<String> = modules.values().flat_map(|m| m.idle.clone()).collect();
        let limit = IDLE_ARMS.iter().find(|(of, _)| *of == name).map_or(0, |(_, limit)| *limit);
        if idle.len() > limit {
            complaints.push(format!(
                "{name}: {} arms join three or more variants to do nothing, there may be {limit}:\n    {}",
                idle.len(),
                idle.join("\n    ")
            ));
        }
        if idle.len() < limit {
            let count = idle.len();
            complaints.push(format!(
                "{name}: only {count} arms do nothing with three or more variants; say so in xtask/src/structure.rs"
            ));
        }
    }
    let allowed: BTreeSet<(String, Vec<String>)> = CIRCLES
        .iter()
        .map(|(place, names, _)| (place.to_string(), names.iter().map(|n| n.to_string()).collect()))
        .collect();
    for ((place, names), uses) in circles.iter().filter(|(circle, _)| !allowed.contains(circle)) {
        complaints.push(format!(
            "{place}: the modules {} need each other in a circle: {}",
            names.join(", "),
            uses.join(", ")
        ));
    }
    for (place, names) in allowed.iter().filter(|circle| !circles.contains_key(circle)) {
        let names = names.join(", ");
        complaints.push(format!(
            "{place}: there is no circle of {names} any more; remove it from xtask/src/structure.rs"
        ));
    }
    complaints
}

/// Complaints about types of a crate whose methods stand in too many files.
fn knots(place: &str, modules: &Modules) -> Vec<String> {
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for ty in modules.values().flat_map(|module| &module.methods) {
        *files.entry(ty).or_default() += 1;
    }
    let limit = |ty: &str| {
        let known = METHODS.iter().find(|(of, name, _)| *of == place && *name == ty);
        known.map_or(FILES_OF_METHODS, |(_, _, limit)| *limit)
    };
    let mut complaints = Vec::new();
    for (ty, count) in &files {
        if *count > limit(ty) {
            complaints.push(format!(
                "{place}: `{ty}` has methods in {count} files, there may be {}",
                limit(ty)
            ));
        }
    }
    for (_, ty, limit) in METHODS.iter().filter(|(of, ..)| *of == place) {
        let count = files.get(ty).copied().unwrap_or(0);
        if count < *limit {
            complaints.push(format!(
                "{place}: `{ty}` has methods in {count} files only; say so in xtask/src/structure.rs"
            ));
        }
    }
    complaints
}

/// A module: its mentions of the crate's items, and its idle arms. Modules go by their paths, the
/// root by none.
#[derive(Default)]
struct Module {
    /// Names that `use` brings in, with the paths that they stand for.
    names: BTreeMap<String, Vec<String>>,
    /// All paths that are mentioned, from the root.
    mentions: BTreeSet<Vec<String>>,
    /// The places of arms that do nothing.
    idle: Vec<String>,
    /// The types that it gives methods to.
    methods: BTreeSet<String>,
}

/// Circles of modules that need each other, by folder and modules, with the uses that make them.
type Circles = BTreeMap<(String, Vec<String>), Vec<String>>;

type Modules = BTreeMap<Vec<String>, Module>;

/// The modules of a crate, one per file.
fn modules(src: &Path) -> Result<Modules, String> {
    let mut files: Vec<PathBuf> = Vec::new();
    crate::tidy::collect(src, &mut files);
    let mut modules = Modules::new();
    for file in files {
        let inside = file.strip_prefix(src).unwrap_or(&file).with_extension("");
        let mut path: Vec<String> =
            inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if path.last().is_some_and(|last| ["mod", "lib", "main"].contains(&&**last)) {
            path.pop();
        }
        if path.iter().any(|part| part == "tests") {
            continue;
        }
        let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        modules.insert(path.clone(), read(&text, &path, &inside.display().to_string())?);
    }
    Ok(modules)
}

fn read(text: &str, path: &[String], name: &str) -> Result<Module, String> {
    let file = syn::parse_file(text).map_err(|e| format!("{name}: {e}"))?;
    let mut reader = ModuleReader { path, name, module: Module::default() };
    reader.visit_file(&file);
    Ok(reader.module)
}

struct ModuleReader<'a> {
    path: &'a [String],
    name: &'a str,
    module: Module,
}

impl ModuleReader<'_> {
    /// A path from the root, if it begins with `crate`, `self` or `super`.
    fn absolute(&self, parts: &[String]) -> Option<Vec<String>> {
        let (first, rest) = parts.split_first()?;
        let mut base = match &**first {
            "crate" => Vec::new(),
            "self" => self.path.to_vec(),
            "super" => self.path[..self.path.len().checked_sub(1)?].to_vec(),
            _ => return None,
        };
        for part in rest {
            if part == "super" {
                base.pop();
            } else {
                base.push(part.clone());
            }
        }
        Some(base)
    }

    fn import(&mut self, tree: &UseTree, before: &[String]) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &with(path.ident.to_string())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before)),
            UseTree::Name(name) if name.ident == "self" => {
                self.bring(before.last().cloned().unwrap_or_default(), before.to_vec())
            }
            UseTree::Name(name) => self.bring(name.ident.to_string(), with(name.ident.to_string())),
            UseTree::Rename(name) => {
                self.bring(name.rename.to_string(), with(name.ident.to_string()))
            }
            UseTree::Glob(_) => self.bring("*".into(), before.to_vec()),
        }
    }

    fn bring(&mut self, name: String, parts: Vec<String>) {
        // In a module that declares others, a path may begin with the name of one.
        let absolute = self.absolute(&parts).unwrap_or_else(|| [self.path, &parts].concat());
        self.module.mentions.insert(absolute.clone());
        self.module.names.insert(name, absolute);
    }
}

impl<'ast> Visit<'ast> for ModuleReader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(item) if is_test(&item.attrs) => {}
            Item::Use(item) if is_test(&item.attrs) => {}
            Item::Use(item) => self.import(&item.tree, &[]),
            Item::Impl(item) if is_test(&item.attrs) => {}
            Item::Impl(of) => {
                if let (None, syn::Type::Path(ty)) = (&of.trait_, &*of.self_ty) {
                    let name = ty.path.segments.last().map(|part| part.ident.to_string());
                    self.module.methods.extend(name);
                }
                visit::visit_item(self, item);
            }
            item => visit::visit_item(self, item),
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        self.module.mentions.extend(self.absolute(&parts));
        visit::visit_path(self, path);
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        if joined_variants(&arm.pat) >= 3 && is_idle(&arm.body) {
            let line = arm.fat_arrow_token.spans[0].start().line;
            self.module.idle.push(format!("{}.rs:{line}", self.name));
        }
        visit::visit_arm(self, arm);
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        a.path().is_ident("cfg") && a.parse_args::<syn::Ident>().is_ok_and(|i| i == "test")
    })
}

/// How many variants of one enum a pattern joins.
fn joined_variants(pattern: &Pat) -> usize {
    let Pat::Or(or) = pattern else { return 0 };
    let enum_of = |pattern: &Pat| {
        let path = match pattern {
            Pat::Path(path) => &path.path,
            Pat::TupleStruct(tuple) => &tuple.path,
            Pat::Struct(fields) => &fields.path,
            _ => return None,
        };
        path.segments.iter().rev().nth(1).map(|segment| segment.ident.to_string())
    };
    let enums: Vec<Option<String>> = or.cases.iter().map(enum_of).collect();
    let same =
        enums.first().is_some_and(|first| first.is_some() && enums.iter().all(|e| e == first));
    if same { enums.len() } else { 0 }
}

/// Whether an arm does nothing: it has no effect, and its result is nothing, an empty value, or an
/// existing value.
fn is_idle(body: &Expr) -> bool {
    match body {
        Expr::Block(block) => match &block.block.stmts[..] {
            [] => true,
            [syn::Stmt::Expr(only, _)] => is_idle(only),
            _ => false,
        },
        Expr::Tuple(tuple) => tuple.elems.is_empty(),
        Expr::Path(path) => path.path.segments.len() == 1,
        Expr::Lit(literal) => matches!(&literal.lit, syn::Lit::Bool(b) if !b.value),
        Expr::Call(call) => {
            let Expr::Path(function) = &*call.func else { return false };
            let last = function.path.segments.last().map(|part| part.ident.to_string());
            match last.as_deref() {
                Some("new") => call.args.is_empty(),
                Some("Ok" | "Some") => call.args.iter().all(is_idle),
                _ => false,
            }
        }
        Expr::MethodCall(call) => call.method == "clone" && is_idle(&call.receiver),
        Expr::Return(result) => result.expr.as_deref().is_none_or(is_idle),
        Expr::Continue(_) => true,
        _ => false,
    }
}

/// The circles of modules that stand side by side, in each folder of a crate.
fn all_circles(crate_at: &str, modules: &Modules) -> Circles {
    // From each module to those that it mentions, as whole paths.
    let edges: BTreeSet<(&Vec<String>, Vec<String>, String)> = modules
        .iter()
        .filter(|(from, _)| !from.is_empty())
        .flat_map(|(from, module)| {
            module.mentions.iter().map(move |path| {
                let what = path.last().cloned().unwrap_or_default();
                (from, target(modules, path, 8), what)
            })
        })
        .collect();
    let parents: BTreeSet<&[String]> = modules
        .keys()
        .filter(|path| !path.is_empty())
        .map(|path| &path[..path.len() - 1])
        .collect();
    let mut circles = Circles::new();
    for parent in parents {
        let side_by_side = |path: &[String]| {
            path.starts_with(parent).then(|| path.get(parent.len()).cloned()).flatten()
        };
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut told: BTreeSet<(String, String, String)> = BTreeSet::new();
        for (from, to, what) in &edges {
            if let (Some(from), Some(to)) = (side_by_side(from), side_by_side(to))
                && from != to
            {
                uses.entry(from.clone()).or_default().insert(to.clone());
                told.insert((from, to, what.clone()));
            }
        }
        let place = [&[crate_at.to_string()], parent].concat().join("/");
        for circle in strongly_connected(&uses) {
            let inside = |(from, to, _): &&(String, String, String)| {
                circle.contains(from) && circle.contains(to)
            };
            let uses = told.iter().filter(inside);
            let uses = uses.map(|(from, to, what)| format!("{from} uses {to}::{what}")).collect();
            circles.insert((place.clone(), circle.clone()), uses);
        }
    }
    circles
}

/// The module that a path leads to, through the names that `use` brings in.
fn target(modules: &Modules, path: &[String], steps: usize) -> Vec<String> {
    let known = (0..=path.len()).rev().find(|k| modules.contains_key(&path[..*k])).unwrap_or(0);
    let here = path[..known].to_vec();
    let next = path.get(known).and_then(|name| modules.get(&here)?.names.get(name));
    match next {
        Some(next) if steps > 0 && *next != path => target(modules, next, steps - 1),
        _ => here,
    }
}

/// Nodes that reach each other, more than one of them.
fn strongly_connected(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<String>> {
    let reached = |from: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(node) = open.pop() {
            for next in uses.get(node).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&String, BTreeSet<String>> =
        uses.keys().map(|node| (node, reached(node))).collect();
    let together = |node: &String| -> Vec<String> {
        let back = |other: &&String| reach.get(*other).is_some_and(|r| r.contains(node));
        reach[node].iter().filter(back).cloned().collect()
    };
    uses.keys().map(together).filter(|circle| circle.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_of(files: &[(&str, &str)]) -> Modules {
        let module = |(path, text): &(&str, &str)| {
            let path: Vec<String> =
                path.split('/').filter(|p| !p.is_empty()).map(str::to_string).collect();
            (path.clone(), read(text, &path, "x").unwrap())
        };
        files.iter().map(module).collect()
    }

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        all_circles("crates/c", &crate_of(files))
            .into_keys()
            .map(|(p, names)| format!("{p}: {}", names.join(" ")))
            .collect()
    }

    #[test]
    fn circles_are_found() {
        let root = ("", "mod a; mod b; mod c; pub use b::B;");
        assert!(
            circles(&[root, ("a", "use crate::b::B;"), ("b", "use crate::c;"), ("c", "")])
                .is_empty()
        );
        let back = ("c", "fn f() { crate::a::g() }");
        assert_eq!(
            circles(&[root, ("a", "use crate::b::B;"), ("b", "use super::c;"), back]),
            ["crates/c: a b c"]
        );
        // Through names that the root brings in, and from the inside of a folder.
        assert_eq!(
            circles(&[root, ("a/x", "use crate::B;"), ("b", "use crate::a::x;")]),
            ["crates/c: a b"]
        );
        assert_eq!(
            circles(&[root, ("a/x", "use super::y;"), ("a/y", "use super::x::X;")]),
            ["crates/c/a: x y"]
        );
        // Tests may use the modules that they test.
        assert!(
            circles(&[root, ("a", "#[cfg(test)] mod t { use crate::b; }"), ("b", "use crate::a;")])
                .is_empty()
        );
    }

    #[test]
    fn arms_that_do_nothing_are_counted() {
        let idle = |arm: &str| {
            let text = format!("fn f(e: E) {{ match e {{ {arm}, E::Z => g() }} }}");
            read(&text, &[], "x").unwrap().idle.len()
        };
        for arm in [
            "E::A | E::B(_) | E::C { .. } => {}",
            "E::A | E::B | E::C => None",
            "E::A | E::B | E::C => e.clone()",
            "E::A | E::B | E::C => Ok(())",
            "E::A | E::B | E::C => return false",
        ] {
            assert_eq!(idle(arm), 1, "{arm}");
        }
        for arm in [
            "E::A | E::B => {}",
            "E::A | E::B | E::C => g()",
            "E::A | E::B | F::C => {}",
            "1 | 2 | 3 => {}",
        ] {
            assert_eq!(idle(arm), 0, "{arm}");
        }
    }
}
