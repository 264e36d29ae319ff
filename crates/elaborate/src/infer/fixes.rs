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

    /// `m @ v` for `m * v`.
    pub(super) fn as_product(&self, span: Span) -> Option<String> {
        let expr = self.expr(span)?;
        let ExprKind::Binary(_, a, b) = &expr.kind else { return None };
        Some(format!("{} @ {}", brief(a), brief(b)))
    }

    /// The array in a comparison, and the comparison of its element `x`.
    pub(super) fn by_elements(&self, span: Span, left: bool) -> Option<[String; 2]> {
        let expr = self.expr(span)?;
        let ExprKind::Binary(op, a, b) = &expr.kind else { return None };
        let sign = op.spelling();
        Some(match left {
            true => [brief(a), format!("x {sign} {}", brief(b))],
            false => [brief(b), format!("{} {sign} x", brief(a))],
        })
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
        let (before, behind) = self.around(field)?;
        let object = before.strip_suffix('.')?;
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
        let start = object.rfind(|c: char| !part(c)).map_or(0, |k| k + 1);
        let (around, object) = object.split_at(start);
        let alone = around.trim_end_matches(' ').ends_with(['=', '(', '[', '{', ',', '>']);
        let (arguments, after) = arguments(behind)?;
        let next = after.trim_start_matches(' ').chars().next();
        let applied = next.is_some_and(|c| part(c) || "([{\\.".contains(c));
        if object.is_empty() || object.starts_with(|c: char| c.is_ascii_digit()) || applied {
            return None;
        }
        let call = [name].into_iter().chain(arguments.iter().map(|a| &**a)).chain([object]);
        let call = call.collect::<Vec<_>>().join(" ");
        let call = if alone { call } else { format!("({call})") };
        let length = (behind.len() - after.len()) as u32;
        let place = Span { start: start as u32, end: field.end + length, ..field };
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

/// The arguments in the parentheses at the start of a text, each in parentheses unless it is a name
/// or a number, and the text behind; `None` if they are not closed on their line.
fn arguments(text: &str) -> Option<(Vec<String>, &str)> {
    let Some(inside) = text.strip_prefix('(') else { return Some((Vec::new(), text)) };
    let line = inside.lines().next().unwrap_or("");
    let (mut depth, mut from, mut found) = (0_usize, 0, Vec::new());
    for (at, c) in line.char_indices() {
        let closes = depth == 0 && c == ')';
        if (closes || depth == 0 && c == ',') && !line[from..at].trim().is_empty() {
            let argument = line[from..at].trim();
            let simple = argument.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            found.push(if simple { argument.to_string() } else { format!("({argument})") });
            from = at + 1;
        }
        match c {
            _ if closes => return Some((found, &inside[at + 1..])),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}
