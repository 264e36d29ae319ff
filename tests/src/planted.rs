//! Programs with one mistake each, planted into programs that have none. A seed always plants the
//! same mistake.

use lambada_source::FileId;
use lambada_surface::ast::{Expr, ExprKind, Module, TypeExpr};
use lambada_surface::parse;
use lambada_surface::visit::{Visit, walk_expr, walk_module};
use lambada_testkit::Random;

/// A mistake planted in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mistake {
    /// A variable that is not there.
    UnknownName,
    /// A truth value where a number was.
    WrongType,
    /// A field that the record does not have.
    NoField,
    /// A number is applied to an argument.
    NoFunction,
    /// Arguments in one tuple: `f (x, y)`.
    Tupled,
    /// A word of a form is lost: `in`, `then`, `do`, `=`.
    LostWord,
    /// A bracket is not closed.
    Unclosed,
}

/// All kinds.
pub const MISTAKES: [Mistake; 7] = [
    Mistake::UnknownName,
    Mistake::WrongType,
    Mistake::NoField,
    Mistake::NoFunction,
    Mistake::Tupled,
    Mistake::LostWord,
    Mistake::Unclosed,
];

/// A program with one mistake, if there is a place for it.
pub fn planted(text: &str, mistake: Mistake, seed: u64) -> Option<String> {
    let (module, problems) = parse(text, FileId(0));
    if !problems.is_empty() {
        return None;
    }
    let mut places = Places { mistake, text, found: Vec::new() };
    match mistake {
        Mistake::LostWord => places.words(&[" in ", " then ", " do ", " = "]),
        Mistake::Unclosed => places.words(&[")", "]", "}"]),
        Mistake::UnknownName
        | Mistake::WrongType
        | Mistake::NoField
        | Mistake::NoFunction
        | Mistake::Tupled => places.expressions(&module),
    }
    let found = places.found;
    let (from, to, instead) = found.get(Random(seed).below(found.len().max(1)))?.clone();
    Some(format!("{}{instead}{}", &text[..from], &text[to..]))
}

/// Places for a mistake: ranges of the text, and their replacements.
struct Places<'t> {
    mistake: Mistake,
    text: &'t str,
    found: Vec<(usize, usize, String)>,
}

impl Places<'_> {
    fn expressions(&mut self, module: &Module) {
        walk_module(self, module);
    }

    /// Words outside of comments, each of which is left out.
    fn words(&mut self, words: &[&str]) {
        for word in words {
            for (at, _) in self.text.match_indices(word) {
                let line = self.text[..at].rfind('\n').map_or(0, |k| k + 1);
                // Between two definitions `in` may be left out.
                let is_lost = *word != " in " || !self.text[at + word.len()..].starts_with("let ");
                if is_lost && !self.text[line..at].contains("--") {
                    self.found.push((at, at + word.len(), " ".to_string()));
                }
            }
        }
    }

    fn put(&mut self, expr: &Expr, instead: impl Into<String>) {
        self.found.push((expr.span.start as usize, expr.span.end as usize, instead.into()));
    }
}

impl Visit for Places<'_> {
    /// Sizes in types may be named as one likes.
    fn type_expr(&mut self, _: &TypeExpr) {}

    fn expr(&mut self, expr: &Expr) {
        let text = &self.text[expr.span.start as usize..expr.span.end as usize];
        match (self.mistake, &expr.kind) {
            (Mistake::UnknownName, ExprKind::Var(_)) => self.put(expr, "zzyzx_planted"),
            // In `{x, y}` a name stands for a field, too.
            (Mistake::UnknownName, ExprKind::Record(fields)) => {
                let apart = fields.iter().filter(|(name, part)| name.span != part.span);
                apart.for_each(|(_, part)| self.expr(part));
                return;
            }
            (Mistake::WrongType, ExprKind::Int(_) | ExprKind::Real(_)) => self.put(expr, "true"),
            (Mistake::NoFunction, ExprKind::Int(_) | ExprKind::Real(_)) => {
                self.put(expr, format!("({text} 7.5)"));
            }
            (Mistake::NoField, ExprKind::Field(record, _)) if !matches!(&record.kind, ExprKind::Var(name) if name.starts_with(char::is_uppercase)) =>
            {
                self.put(expr, format!("{text}_planted"));
            }
            (Mistake::Tupled, ExprKind::Apply(f, y)) => {
                if let ExprKind::Apply(g, x) = &f.kind
                    && matches!(g.kind, ExprKind::Var(_))
                {
                    let part = |e: &Expr| &self.text[e.span.start as usize..e.span.end as usize];
                    let instead = format!("({} ({}, {}))", part(g), part(x), part(y));
                    self.put(expr, instead);
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}
