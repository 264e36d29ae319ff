//! Names bound by patterns and mentioned in expressions, and the shapes of operators.

use std::rc::Rc;

use lambada_source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{BinaryOp, Def, Expr, ExprKind, Item, Name, Pattern, PatternKind, TypeBody};
use crate::scopes::{Binder, Scopes, walk_scopes};
use crate::visit::{Visit, walk_def, walk_pattern};

impl Pattern {
    /// The variables that it binds, in source order, without `_`.
    pub fn names(&self) -> Vec<Name> {
        let mut names = Vec::new();
        self.collect_names(&mut names);
        names
    }

    fn collect_names(&self, names: &mut Vec<Name>) {
        match &self.kind {
            PatternKind::Var(text) => names.push(Name { text: text.clone(), span: self.span }),
            PatternKind::Tuple(parts) | PatternKind::Con(_, parts) | PatternKind::Array(parts) => {
                parts.iter().for_each(|part| part.collect_names(names))
            }
            // All alternatives bind the same names.
            PatternKind::Or(parts) => {
                parts.iter().take(1).for_each(|part| part.collect_names(names))
            }
            PatternKind::Record(fields) => {
                fields.iter().for_each(|(_, part)| part.collect_names(names))
            }
            PatternKind::Annotated(inner, _) => inner.collect_names(names),
            PatternKind::Wildcard
            | PatternKind::Int(_)
            | PatternKind::Real(_)
            | PatternKind::Bool(_)
            | PatternKind::Error => {}
        }
    }
}

/// The names that an item defines: a value, or a type and its constructors.
pub fn defined(item: &Item) -> Vec<Rc<str>> {
    match item {
        Item::Def(def) => vec![def.name.text.clone()],
        Item::Type(def) => {
            let constructors = match &def.body {
                TypeBody::Alias(_) => &[][..],
                TypeBody::Variant(constructors) => &constructors[..],
            };
            let names = std::iter::once(&def.name).chain(constructors.iter().map(|(name, _)| name));
            names.map(|name| name.text.clone()).collect()
        }
        Item::Import(_) => Vec::new(),
    }
}

/// Whether an expression looks like `f -1`, a subtraction that was probably meant as an
/// application. `text` is the text of its file.
pub fn looks_like_negative_argument(expr: &Expr, text: &str) -> bool {
    let ExprKind::Binary(BinaryOp::Sub, left, right) = &expr.kind else { return false };
    let between = text.get(left.span.end as usize..right.span.start as usize).unwrap_or("");
    let function =
        matches!(left.kind, ExprKind::Var(_) | ExprKind::Apply(..) | ExprKind::Field(..));
    function
        && between.len() > 1
        && between.ends_with('-')
        && between.trim_end_matches('-').ends_with(char::is_whitespace)
}

/// The free variables of a definition, each once, in source order, with names of sizes and its own
/// name.
pub fn free_variables(def: &Def) -> Vec<Rc<str>> {
    free_names(def).all
}

/// The free names of a definition.
pub struct FreeNames {
    /// The result of [`free_variables`].
    pub all: Vec<Rc<str>>,
    /// The names mentioned elsewhere than as a whole size in a type.
    pub values: FxHashSet<Rc<str>>,
}

/// The free names of a definition, by their use.
pub fn free_names(def: &Def) -> FreeNames {
    let mut free = Free::default();
    walk_scopes(def, &mut free);
    FreeNames { all: free.found, values: free.values }
}

#[derive(Default)]
struct Free {
    /// Number of bindings in scope for each name.
    bound: FxHashMap<Rc<str>, usize>,
    /// Bindings of the open scopes, and the start of each scope.
    order: Vec<Rc<str>>,
    scopes: Vec<usize>,
    seen: FxHashSet<Rc<str>>,
    found: Vec<Rc<str>>,
    /// Names mentioned elsewhere than as a size.
    values: FxHashSet<Rc<str>>,
}

impl Free {
    fn found(&mut self, name: &Rc<str>) -> bool {
        let bound = self.bound.get(name).is_some_and(|times| *times > 0);
        if !bound && !self.seen.contains(name) {
            self.seen.insert(name.clone());
            self.found.push(name.clone());
        }
        !bound
    }
}

impl Scopes for Free {
    fn enter(&mut self) {
        self.scopes.push(self.order.len());
    }

    fn leave(&mut self) {
        let start = self.scopes.pop().expect("leave follows enter");
        for name in self.order.drain(start..) {
            *self.bound.get_mut(&name).expect("it is bound") -= 1;
        }
    }

    fn bind(&mut self, name: &Name, _: Binder) {
        *self.bound.entry(name.text.clone()).or_default() += 1;
        self.order.push(name.text.clone());
    }

    fn mention(&mut self, name: &Rc<str>, _: Span) {
        if self.found(name) && !self.values.contains(name) {
            self.values.insert(name.clone());
        }
    }

    fn mention_size(&mut self, name: &Rc<str>, _: Span) {
        self.found(name);
    }
}

/// All names that a definition binds or mentions, to choose a new one.
pub fn all_names(def: &Def) -> Vec<Rc<str>> {
    struct All(Vec<Rc<str>>);
    impl Visit for All {
        fn def(&mut self, def: &Def) {
            self.0.push(def.name.text.clone());
            self.0.extend(def.sizes.iter().map(|size| size.text.clone()));
            walk_def(self, def);
        }
        fn expr(&mut self, expr: &Expr) {
            if let ExprKind::Var(name) = &expr.kind {
                self.0.push(name.clone());
            }
            crate::visit::walk_expr(self, expr);
        }
        fn pattern(&mut self, pattern: &Pattern) {
            if let PatternKind::Var(name) = &pattern.kind {
                self.0.push(name.clone());
            }
            walk_pattern(self, pattern);
        }
    }
    let mut all = All(Vec::new());
    all.def(def);
    all.0.sort_unstable();
    all.0.dedup();
    all.0
}

#[cfg(test)]
mod tests {
    use lambada_source::FileId;

    use super::*;
    use crate::ast::Item;
    use crate::{parse, parse_expr};

    fn check(text: &str, expect: &str) {
        let (module, problems) = parse(text, FileId(0));
        assert!(problems.is_empty(), "{problems:?}");
        let Some(Item::Def(def)) = module.items.first() else { panic!("no definition") };
        let free: Vec<String> = free_variables(def).iter().map(ToString::to_string).collect();
        assert_eq!(free.join(" "), expect, "{text}");
    }

    #[test]
    fn free() {
        check("def f [n] (x : [n]real) y = x + y + n + z", "z");
        check("def f (x : [m]real) = let y = y in y", "m y");
        check("def f = let rec g x = h x and h x = g x in g k", "k");
        check("def f = let g x = g x in g", "g");
        check("def f = for i < n, x in xs => i + x + j", "n xs j");
        check("def f = loop (a, b) = a for i < b do a + i", "a");
        check("def f s = match s | Some x -> x | _ -> x", "x");
        check("def f = accumulate h = h in h[i] += h", "h i");
        check("def f = accumulate a = b, b = c in a[i] += b", "b c i");
        check("def f x = x with jvp dx = dx * y with vjp dy = dx", "y dx");
        check("def f = (\\x -> x) x", "x");
        check("def f = linalg.solve f (e : [n]real)", "linalg f n e");
    }

    #[test]
    fn negative_arguments() {
        for (text, expect) in [
            ("f -1", true),
            ("f x -y", true),
            ("f - 1", false),
            ("f-1", false),
            ("1 -1", false),
            ("f (-1)", false),
            ("f  -(x)", true),
        ] {
            let (expr, problems) = parse_expr(text, FileId(0));
            assert!(problems.is_empty());
            assert_eq!(looks_like_negative_argument(&expr, text), expect, "{text}");
        }
    }

    #[test]
    fn names() {
        let (module, _) = parse("def f [n] x = let g y = y in \\z -> w", FileId(0));
        let Some(Item::Def(def)) = module.items.first() else { panic!("no definition") };
        let all: Vec<String> = all_names(def).iter().map(ToString::to_string).collect();
        assert_eq!(all.join(" "), "f g n w x y z");
    }
}
