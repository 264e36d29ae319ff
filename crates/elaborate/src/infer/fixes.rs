//! The new texts of fixes, from the text of the program. Definitions of other files have no fixes
//! of this kind.

use std::rc::Rc;

use lambada_source::{FileId, Fix, Span};
use lambada_surface::ast::{Arm, BinaryOp, Def, Expr, ExprKind, Module};
use lambada_surface::parse_expr;

use crate::messages::Why;

use super::sizes::brief;

/// The text of the program, without its imports.
#[derive(Default)]
pub(super) struct Written(Option<(FileId, Rc<str>)>);

impl Written {
    pub(super) fn of(main: &Module) -> Written {
        let file = main.items.first().map(|item| item.span().file);
        Written(file.zip(main.written.clone()))
    }

    /// The text up to and from a place on.
    fn around(&self, at: Span) -> Option<(&str, &str)> {
        let (_, text) = self.0.as_ref().filter(|(file, _)| *file == at.file)?;
        Some((text.get(..at.start as usize)?, text.get(at.end as usize..)?))
    }

    /// The text at a place.
    pub(super) fn at(&self, span: Span) -> Option<&str> {
        let (_, text) = self.0.as_ref().filter(|(file, _)| *file == span.file)?;
        text.get(span.start as usize..span.end as usize)
    }

    /// The expression at a place.
    fn expr(&self, span: Span) -> Option<Expr> {
        let (expr, problems) = parse_expr(self.at(span)?, span.file);
        problems.is_empty().then_some(expr)
    }

    /// Whether the expression at a place has parentheses of its own.
    fn enclosed(&self, span: Span) -> bool {
        self.at(span).is_some_and(|text| text.starts_with('(') && text.ends_with(')'))
    }

    /// The edits that apply a conversion to the expression at a place.
    pub(super) fn applied(&self, function: &str, span: Span, why: &Why) -> Option<Fix> {
        let expr = self.expr(span)?;
        let atomic = brief(&expr) == lambada_surface::print_expr(&expr);
        // A pattern with its type is no expression.
        if self.around(span)?.1.trim_start().starts_with(':') {
            return None;
        }
        let argument =
            matches!(why, Why::Argument(..) | Why::Operand(_) | Why::Form(_) | Why::States);
        let (mut before, mut behind) = (format!("{function} "), String::new());
        if !atomic && !self.enclosed(span) {
            (before, behind) = (before + "(", ")".into());
        }
        if argument {
            (before, behind) = (format!("({before}"), behind + ")");
        }
        Some(Fix::around(span, &before, &behind).probable())
    }

    /// The place of a word with the spaces that follow it.
    pub(super) fn word(&self, span: Span) -> Option<Span> {
        let (_, after) = self.around(span)?;
        let spaces = after.len() - after.trim_start_matches(' ').len();
        Some(Span { end: span.end + spaces as u32, ..span })
    }

    /// The place of the `@` at the top of an expression, with the spaces around it.
    pub(super) fn product_sign(&self, span: Span) -> Option<Span> {
        let expr = self.expr(span)?;
        let ExprKind::Binary(BinaryOp::MatMul, a, b) = &expr.kind else { return None };
        let (start, end) = (span.start + a.span.end, span.start + b.span.start);
        Some(Span { start, end, ..span })
    }

    /// The operation at a place between a matrix and a vector, with each row of the matrix.
    pub(super) fn by_rows(&self, span: Span, ranks: [usize; 2]) -> Option<String> {
        let expr = self.expr(span)?;
        let ExprKind::Binary(op, a, b) = &expr.kind else { return None };
        let sign = op.spelling();
        let text = match ranks {
            [2, 1] => format!("for row in {} => row {sign} {}", brief(a), brief(b)),
            [1, 2] => format!("for row in {} => {} {sign} row", brief(b), brief(a)),
            _ => return None,
        };
        let before = self.around(span)?.0.trim_end();
        let alone = before.ends_with('=') && !before.ends_with("==");
        Some(if alone && !self.enclosed(span) { text } else { format!("({text})") })
    }

    /// The name of the reduction that is applied at a place.
    pub(super) fn reduction(&self, span: Span) -> Option<&'static str> {
        let expr = self.expr(span)?;
        let ExprKind::Apply(f, _) = &expr.kind else { return None };
        let ExprKind::Var(name) = &f.kind else { return None };
        let known = ["sum", "product", "maximum", "minimum", "mean"];
        known.into_iter().find(|known| **known == **name)
    }

    /// `name xs` for `xs.name`, where a name stands before the field and nothing is applied to it.
    pub(super) fn method(&self, name: &str, field: Span) -> Option<Fix> {
        let (before, after) = self.around(field)?;
        let object = before.strip_suffix('.')?;
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
        let start = object.rfind(|c: char| !part(c)).map_or(0, |k| k + 1);
        let (around, object) = object.split_at(start);
        let alone = around.trim_end_matches(' ').ends_with(['=', '(', '[', '{', ',', '>']);
        let next = after.trim_start_matches(' ').chars().next();
        let applied = next.is_some_and(|c| part(c) || "([{\\.".contains(c));
        if object.is_empty() || object.starts_with(|c: char| c.is_ascii_digit()) || applied {
            return None;
        }
        let call = format!("{name} {object}");
        let call = if alone { call } else { format!("({call})") };
        let place = Span { start: start as u32, ..field };
        Some(Fix::replace(place, call).probable())
    }

    /// The text between two arms of a `match`: a new line with the column of the last one, if it
    /// begins its line.
    pub(super) fn between_arms(&self, last: &Arm) -> String {
        let before = self.around(last.pattern.span).map_or("", |(before, _)| before);
        let line = &before[before.rfind('\n').map_or(0, |k| k + 1)..];
        match line.trim_end().strip_suffix('|') {
            Some(indent) if indent.trim().is_empty() => format!("\n{indent}"),
            _ => " ".to_string(),
        }
    }

    /// The edits that give two sizes of a signature one name, `a`.
    pub(super) fn one_size(&self, def: &Def, a: &str, b: &str) -> Option<Fix> {
        let declared = def.sizes.iter().find(|size| *size.text == *b)?.span;
        let head = def.name.span.between(def.body.span);
        let text = self.at(head)?;
        let bracketed = format!("[{b}]");
        let edits = text.match_indices(&*bracketed).map(|(at, bracketed)| {
            let start = head.start + at as u32;
            let name = Span { start: start + 1, end: start + 1 + b.len() as u32, ..head };
            if name != declared {
                return Fix::replace(name, a);
            }
            let spaces = at - text[..at].trim_end_matches(' ').len();
            let end = start + bracketed.len() as u32;
            Fix::remove(Span { start: start - spaces as u32, end, ..head })
        });
        edits.reduce(Fix::and).map(Fix::probable)
    }
}
