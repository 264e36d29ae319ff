//! Which names patterns bind and expressions mention, and the shapes of operators.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::{
    BinaryOp, Checkpoint, Clause, Def, Expr, ExprKind, LoopKind, Name, Param, Pattern, PatternKind,
    TypeExpr,
};
use crate::visit::{Visit, children, walk_def, walk_pattern, walk_type};

impl Pattern {
    /// The variables that it binds, in the order of the text, `_` not among them.
    pub fn names(&self) -> Vec<Name> {
        let mut names = Vec::new();
        self.collect_names(&mut names);
        names
    }

    fn collect_names(&self, names: &mut Vec<Name>) {
        match &self.kind {
            PatternKind::Var(text) => names.push(Name { text: text.clone(), span: self.span }),
            PatternKind::Tuple(parts) | PatternKind::Con(_, parts) => {
                parts.iter().for_each(|part| part.collect_names(names))
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

/// Does this expression read like `f -1`, a subtraction that was probably meant as an application? `text` is the text of
/// its file.
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

/// The variables that a definition mentions and does not bind itself, each once, in the order of the text: what it needs from
/// outside. Names of sizes count; its own name does too.
pub fn free_variables(def: &Def) -> Vec<Rc<str>> {
    let mut walk = Free::default();
    walk.def(def);
    walk.found
}

/// The names in scope, innermost last; how often each is, so that looking for one does not go through all.
#[derive(Default)]
struct Bound {
    names: Vec<Rc<str>>,
    counts: HashMap<Rc<str>, usize>,
}

impl Bound {
    fn push(&mut self, name: Rc<str>) {
        *self.counts.entry(name.clone()).or_default() += 1;
        self.names.push(name);
    }

    fn extend(&mut self, names: impl IntoIterator<Item = Rc<str>>) {
        names.into_iter().for_each(|name| self.push(name));
    }

    fn contains(&self, name: &Rc<str>) -> bool {
        self.counts.get(name).is_some_and(|count| *count > 0)
    }

    fn len(&self) -> usize {
        self.names.len()
    }

    fn truncate(&mut self, len: usize) {
        for name in self.names.drain(len..) {
            if let Some(count) = self.counts.get_mut(&name) {
                *count -= 1;
            }
        }
    }
}

#[derive(Default)]
struct Free {
    bound: Bound,
    found: Vec<Rc<str>>,
}

impl Free {
    fn mention(&mut self, name: &Rc<str>) {
        if !self.bound.contains(name) && !self.found.contains(name) {
            self.found.push(name.clone());
        }
    }

    fn bind(&mut self, pattern: &Pattern) {
        self.pattern(pattern);
        self.bound.extend(pattern.names().into_iter().map(|name| name.text));
    }

    fn bind_param(&mut self, param: &Param) {
        param.ty.iter().for_each(|ty| self.type_expr(ty));
        self.bind(&param.pattern);
    }

    /// The array or bound of a clause is outside its own scope but inside that of the clauses before it.
    fn bind_clause(&mut self, clause: &Clause) {
        match clause {
            Clause::Range(name, bound) => {
                self.expr(bound);
                self.bound.push(name.text.clone());
            }
            Clause::In(pattern, array) => {
                self.expr(array);
                self.bind(pattern);
            }
        }
    }

    fn scope(&mut self, inside: impl FnOnce(&mut Free)) {
        let depth = self.bound.len();
        inside(self);
        self.bound.truncate(depth);
    }

    /// The constructs that bind; false for all others.
    fn binder(&mut self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Lambda(params, body) => {
                params.iter().for_each(|param| self.bind_param(param));
                self.expr(body);
            }
            ExprKind::Match(subject, arms) => {
                self.expr(subject);
                for arm in arms {
                    self.scope(|walk| {
                        walk.bind(&arm.pattern);
                        walk.expr(&arm.body);
                    });
                }
            }
            ExprKind::For(clauses, body) => {
                clauses.iter().for_each(|clause| self.bind_clause(clause));
                self.expr(body);
            }
            ExprKind::Loop(param, init, kind, body) => {
                self.expr(init);
                self.bind_param(param);
                match kind {
                    LoopKind::For(clause, checkpoint) => {
                        if let Some(Checkpoint::States(states)) = checkpoint {
                            self.expr(states);
                        }
                        self.bind_clause(clause);
                    }
                    LoopKind::While(condition) => self.expr(condition),
                }
                self.expr(body);
            }
            ExprKind::Accumulate(accumulators, body) => {
                accumulators.iter().for_each(|(_, init)| self.expr(init));
                self.bound.extend(accumulators.iter().map(|(name, _)| name.text.clone()));
                self.expr(body);
            }
            ExprKind::Var(_)
            | ExprKind::Con(_)
            | ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Bool(_)
            | ExprKind::Tuple(_) => {
                return false;
            }
            ExprKind::Record(_)
            | ExprKind::RecordUpdate(..)
            | ExprKind::Field(..)
            | ExprKind::Component(..) => return false,
            ExprKind::Apply(..)
            | ExprKind::Operator(_)
            | ExprKind::SectionLeft(..)
            | ExprKind::SectionRight(..) => return false,
            ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::If(..)
            | ExprKind::Array(_)
            | ExprKind::Index(..) => return false,
            ExprKind::Slice(..)
            | ExprKind::Update(..)
            | ExprKind::UpdateSlice(..)
            | ExprKind::Add(..) => return false,
            ExprKind::Sequence(..)
            | ExprKind::Annotated(..)
            | ExprKind::Commented(..)
            | ExprKind::Error => return false,
            // Walked by `lets` before.
            ExprKind::Let(..) | ExprKind::LetFunctions(..) => return false,
        }
        true
    }

    /// Functions that are recursive see each other.
    fn bind_functions(&mut self, defs: &[Def]) {
        let names = defs.iter().map(|def| def.name.text.clone());
        if defs.iter().any(|def| def.recursive) {
            self.bound.extend(names);
            defs.iter().for_each(|def| self.def(def));
        } else {
            defs.iter().for_each(|def| self.def(def));
            self.bound.extend(names);
        }
    }

    /// `let`s one after the other, without recursion; gives the body of the last.
    fn lets<'a>(&mut self, mut expr: &'a Expr) -> &'a Expr {
        loop {
            if let ExprKind::Let(param, value, body) = &expr.kind {
                self.expr(value);
                self.bind_param(param);
                expr = body;
            } else if let ExprKind::LetFunctions(defs, body) = &expr.kind {
                self.bind_functions(defs);
                expr = body;
            } else {
                return expr;
            }
        }
    }
}

impl Visit for Free {
    fn def(&mut self, def: &Def) {
        self.scope(|walk| {
            walk.bound.extend(def.sizes.iter().map(|size| size.text.clone()));
            def.params.iter().for_each(|param| walk.bind_param(param));
            def.result.iter().for_each(|ty| walk.type_expr(ty));
            walk.expr(&def.body);
            for rule in &def.rules {
                walk.scope(|walk| {
                    rule.params.iter().for_each(|param| walk.bind_param(param));
                    walk.expr(&rule.body);
                });
            }
        });
    }

    fn expr(&mut self, expr: &Expr) {
        self.scope(|walk| {
            let expr = walk.lets(expr);
            if let ExprKind::Var(name) | ExprKind::Add(Name { text: name, .. }, ..) = &expr.kind {
                walk.mention(name);
            } else if let ExprKind::Annotated(_, ty) = &expr.kind {
                walk.type_expr(ty);
            }
            if !walk.binder(expr) {
                children(expr, &mut |child| walk.expr(child));
            }
        });
    }

    fn pattern(&mut self, pattern: &Pattern) {
        walk_pattern(self, pattern);
    }

    fn type_expr(&mut self, ty: &TypeExpr) {
        walk_type(self, ty);
    }
}

/// All names that a definition binds or mentions, for those who need a new one.
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
    all.0.sort();
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
