//! Places of Rust code where a small mistake could be made.

use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Arm, BinOp, Expr, ExprBinary, ExprIf, ExprMatch, Lit, Pat, Stmt};

/// A place and the mistake.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its bytes in the file.
    pub range: Range<usize>,
    /// Its line, from 1.
    pub line: usize,
    /// For people: the old text and the new one.
    pub what: String,
    mutation: Mutation,
}

/// The mutation of the text of a place.
#[derive(Clone, Debug)]
enum Mutation {
    /// An expression made of these parts of its text, in this order, with other texts between them.
    Parts(Vec<Piece>),
    /// A condition is negated.
    Negated,
    /// A statement is left out.
    Dropped,
}

#[derive(Clone, Debug)]
enum Piece {
    /// A range of the file.
    Old(Range<usize>),
    New(String),
}

/// All places of a file outside of its tests.
pub fn sites(text: &str) -> Result<Vec<Site>, String> {
    let file = syn::parse_file(text).map_err(|e| e.to_string())?;
    let mut finder = Finder { text, found: Vec::new() };
    finder.visit_file(&file);
    Ok(finder.found)
}

struct Finder<'a> {
    text: &'a str,
    found: Vec<Site>,
}

impl Finder<'_> {
    fn text(&self, range: &Range<usize>) -> String {
        let text = self.text[range.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().count() > 60 {
            text.chars().take(57).chain("...".chars()).collect()
        } else {
            text
        }
    }

    fn parts(&mut self, whole: Span, parts: Vec<Piece>) {
        let range = whole.byte_range();
        let new: String = parts
            .iter()
            .map(|part| match part {
                Piece::Old(range) => self.text(range),
                Piece::New(text) => text.clone(),
            })
            .collect();
        let what = format!("`{}` becomes `{new}`", self.text(&range));
        self.add(whole, what, Mutation::Parts(parts));
    }

    fn add(&mut self, place: Span, what: String, mutation: Mutation) {
        self.found.push(Site {
            range: place.byte_range(),
            line: place.start().line,
            what,
            mutation,
        });
    }

    fn swapped_arms(&mut self, arms: &[Arm]) {
        let plain = |arm: &Arm| binds_nothing(&arm.pat);
        for pair in arms.windows(2) {
            if let [first, second] = pair
                && plain(first)
                && plain(second)
            {
                let body = first.body.span();
                self.parts(body, vec![Piece::Old(second.body.span().byte_range())]);
            }
        }
    }
}

/// The replacement of an operator.
fn other(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Lt(_) => "<=",
        BinOp::Le(_) => "<",
        BinOp::Gt(_) => ">=",
        BinOp::Ge(_) => ">",
        BinOp::Eq(_) => "!=",
        BinOp::Ne(_) => "==",
        BinOp::And(_) => "||",
        BinOp::Or(_) => "&&",
        BinOp::Add(_) => "-",
        BinOp::Sub(_) => "+",
        _ => return None,
    })
}

fn binds_nothing(pattern: &Pat) -> bool {
    match pattern {
        Pat::Path(_) | Pat::Lit(_) => true,
        Pat::Or(or) => or.cases.iter().all(binds_nothing),
        Pat::TupleStruct(tuple) => {
            tuple.elems.iter().all(|p| matches!(p, Pat::Wild(_) | Pat::Rest(_)))
        }
        _ => false,
    }
}

/// Whether a condition has a `let`, which cannot be moved into an `if` of its own.
fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(ExprBinary { left, right, .. }) => has_let(left) || has_let(right),
        Expr::Paren(inner) => has_let(&inner.expr),
        _ => false,
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        a.path().is_ident("cfg") && a.parse_args::<syn::Ident>().is_ok_and(|i| i == "test")
    })
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    // Constants computed while compiling cannot depend on the environment.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if item.sig.constness.is_none() {
            visit::visit_item_fn(self, item);
        }
    }
    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if item.sig.constness.is_none() {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_expr_binary(&mut self, expr: &'ast ExprBinary) {
        let lets = has_let(&expr.left) || has_let(&expr.right);
        if let Some(other) = other(&expr.op).filter(|_| !lets) {
            let [left, right] = [&expr.left, &expr.right].map(|side| side.span().byte_range());
            let parts = vec![Piece::Old(left), Piece::New(format!(" {other} ")), Piece::Old(right)];
            self.parts(expr.span(), parts);
        }
        visit::visit_expr_binary(self, expr);
    }

    fn visit_expr_repeat(&mut self, expr: &'ast syn::ExprRepeat) {
        self.visit_expr(&expr.expr);
    }

    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}

    fn visit_expr_lit(&mut self, expr: &'ast syn::ExprLit) {
        if let Lit::Int(literal) = &expr.lit {
            let range = literal.span().byte_range();
            self.parts(literal.span(), vec![Piece::Old(range), Piece::New(" + 1".into())]);
        }
    }

    fn visit_expr_if(&mut self, expr: &'ast ExprIf) {
        if !has_let(&expr.cond) {
            let what = format!("`{}` is negated", self.text(&expr.cond.span().byte_range()));
            self.add(expr.cond.span(), what, Mutation::Negated);
        }
        visit::visit_expr_if(self, expr);
    }

    fn visit_expr_match(&mut self, expr: &'ast ExprMatch) {
        self.swapped_arms(&expr.arms);
        visit::visit_expr_match(self, expr);
    }

    fn visit_expr_call(&mut self, expr: &'ast syn::ExprCall) {
        self.swapped_arguments(expr.args.iter().collect());
        visit::visit_expr_call(self, expr);
    }

    fn visit_expr_method_call(&mut self, expr: &'ast syn::ExprMethodCall) {
        self.swapped_arguments(expr.args.iter().collect());
        visit::visit_expr_method_call(self, expr);
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        if let Stmt::Expr(expr, Some(_)) = stmt
            && matches!(expr, Expr::MethodCall(_) | Expr::Call(_))
        {
            let what = format!("`{}` is left out", self.text(&expr.span().byte_range()));
            self.add(stmt.span(), what, Mutation::Dropped);
        }
        visit::visit_stmt(self, stmt);
    }
}

impl Finder<'_> {
    /// Two arguments of a call, if they are different names; only the compiler knows whether they
    /// are of one type.
    fn swapped_arguments(&mut self, args: Vec<&Expr>) {
        for pair in args.windows(2) {
            let [a, b] = [pair[0].span().byte_range(), pair[1].span().byte_range()];
            let names = pair.iter().all(|arg| matches!(arg, Expr::Path(_) | Expr::Reference(_)));
            if names && self.text[a.clone()] != self.text[b.clone()] {
                let place = pair[0].span();
                // The first becomes the second: a call with one argument twice is wrong in the same
                // places.
                self.parts(place, vec![Piece::Old(b)]);
            }
        }
    }
}

/// The text with all mutants in it, and where each stands now.
pub fn instrumented(text: &str, sites: &[(usize, &Site)]) -> (String, Vec<(usize, Range<usize>)>) {
    let mut places = Vec::new();
    let out = region(text, 0..text.len(), sites, 0, &mut places);
    (out, places)
}

/// A part of the text, with the mutants inside of it. `at` is its beginning in the written text.
fn region(
    text: &str,
    range: Range<usize>,
    sites: &[(usize, &Site)],
    at: usize,
    places: &mut Vec<(usize, Range<usize>)>,
) -> String {
    let mut inside: Vec<&(usize, &Site)> = sites
        .iter()
        .filter(|(_, site)| range.start <= site.range.start && site.range.end <= range.end)
        .collect();
    // Those around others first.
    inside.sort_by_key(|(k, site)| (site.range.start, usize::MAX - site.range.end, *k));
    let (mut out, mut from) = (String::new(), range.start);
    for (k, site) in &inside {
        if site.range.start < from {
            continue; // inside of the one before
        }
        out += &text[from..site.range.start];
        let rest: Vec<(usize, &Site)> =
            inside.iter().filter(|(other, _)| other != k).map(|entry| **entry).collect();
        let start = at + out.len();
        let (before, after) = match &site.mutation {
            Mutation::Parts(parts) => {
                let new: String = parts
                    .iter()
                    .map(|part| match part {
                        Piece::Old(range) => text[range.clone()].to_string(),
                        Piece::New(text) => text.clone(),
                    })
                    .collect();
                (format!("(if crate::mutant({k}) {{ {new} }} else {{ "), " })".to_string())
            }
            Mutation::Negated => (format!("(crate::mutant({k}) != ("), "))".to_string()),
            Mutation::Dropped => (format!("if !crate::mutant({k}) {{ "), " }".to_string()),
        };
        out += &before;
        out += &region(text, site.range.clone(), &rest, at + out.len(), places);
        out += &after;
        places.push((*k, start..at + out.len()));
        from = site.range.end;
    }
    out + &text[from..range.end]
}

#[cfg(test)]
mod tests {
    use super::{instrumented, sites};

    const TEXT: &str = "fn f(a: usize, b: usize) -> usize {\n    if a < b { g(a, b); }\n    match a { 0 => b, 1 => a, _ => 7 }\n}\n\
        #[cfg(test)]\nmod tests { fn g() { assert!(1 < 2 + 3) } }\nconst N: usize = 2 + 2;\n";

    #[test]
    fn places_are_found_outside_of_tests() {
        let found: Vec<String> = sites(TEXT).unwrap().into_iter().map(|site| site.what).collect();
        assert_eq!(
            found,
            [
                "`a < b` is negated",
                "`a < b` becomes `a <= b`",
                "`g(a, b)` is left out",
                "`a` becomes `b`",
                "`b` becomes `a`",
                "`7` becomes `7 + 1`",
            ]
        );
    }

    #[test]
    fn all_mutants_stand_in_one_text() {
        let sites = sites(TEXT).unwrap();
        let all: Vec<_> = sites.iter().enumerate().collect();
        let (text, places) = instrumented(TEXT, &all);
        syn::parse_file(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert_eq!(places.len(), sites.len());
        assert!(
            text.contains(
                "if (crate::mutant(0) != ((if crate::mutant(1) { a <= b } else { a < b })))"
            ),
            "{text}"
        );
        for (k, place) in places {
            assert!(text[place].contains(&format!("mutant({k})")), "{k}: {text}");
        }
    }
}
