//! Lines that read fields of the same node, one each, become one `match` that reads all.
//!
//! ```text
//!   let x = match t | Node x _ -> x | _ -> 0.0
//!   let l = match t | Node _ l -> l | _ -> Leaf
//!
//!   let (x, l) = match t | Node x l -> (x, l) | _ -> (0.0, Leaf)
//! ```

use std::rc::Rc;

use lambada_surface::ast::{Arm, Expr, ExprKind, Name, Pattern, PatternKind};
use lambada_surface::build;
use lambada_surface::visit::children;

use crate::lines::Line;

/// Adjacent lines that read fields of one node.
struct Reading {
    subject: Expr,
    constructor: Name,
    /// Number of fields of the constructor.
    fields: usize,
    /// For each line the field that it reads, and the value for other constructors.
    read: Vec<(usize, Option<Expr>)>,
}

impl Reading {
    /// The field that a line reads, if the line is such a `match`.
    fn of(value: &Expr) -> Option<Reading> {
        let ExprKind::Match(subject, arms) = &value.kind else { return None };
        let (first, other) = match &arms[..] {
            [first] => (first, None),
            [first, Arm { pattern, body, .. }] if pattern.kind == PatternKind::Wildcard => {
                (first, Some(body.clone()))
            }
            _ => return None,
        };
        let PatternKind::Con(constructor, fields) = &first.pattern.kind else { return None };
        let ExprKind::Var(read) = &first.body.kind else { return None };
        let is_it = |field: &Pattern| matches!(&field.kind, PatternKind::Var(x) if x == read);
        let field = fields.iter().position(is_it)?;
        Some(Reading {
            subject: (**subject).clone(),
            constructor: constructor.clone(),
            fields: fields.len(),
            read: vec![(field, other)],
        })
    }

    /// Adds another line, which comes after lines that bind these names; returns it if it does not
    /// fit.
    fn take(&mut self, other: Reading, names: &[Rc<str>]) -> Option<Reading> {
        let node = self.subject == other.subject && self.constructor == other.constructor;
        let total = self.read[0].1.is_some() == other.read[0].1.is_some();
        let free = other.read.iter().all(|(_, zero)| {
            zero.as_ref().is_none_or(|zero| !names.iter().any(|name| mentions(zero, name)))
        });
        let again = self.read.iter().any(|(field, _)| *field == other.read[0].0);
        if !node || !total || !free || again {
            return Some(other);
        }
        self.read.extend(other.read);
        None
    }

    /// The match, which binds the fields by these names.
    fn whole(self, names: &[Rc<str>]) -> Expr {
        let mut fields = vec![build::pattern(PatternKind::Wildcard); self.fields];
        for ((field, _), name) in self.read.iter().zip(names) {
            fields[*field] = build::binds(name.clone());
        }
        let read = names.iter().map(|name| build::var(name.clone())).collect();
        let zeros: Vec<Option<Expr>> = self.read.into_iter().map(|(_, zero)| zero).collect();
        let pattern = build::pattern(PatternKind::Con(self.constructor, fields));
        let mut arms = vec![build::arm(pattern, build::tuple(read))];
        if let Some(zeros) = zeros.into_iter().collect::<Option<Vec<Expr>>>() {
            let pattern = build::pattern(PatternKind::Wildcard);
            arms.push(build::arm(pattern, build::tuple(zeros)));
        }
        build::match_(self.subject, arms)
    }
}

/// The lines, with adjacent reads of one node joined.
pub(crate) fn together(lines: Vec<Line>) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::with_capacity(lines.len());
    // The reading of the last line and the names that it binds, if it can absorb the next line.
    let mut open: Option<(Reading, Vec<Rc<str>>)> = None;
    for line in lines {
        let (reading, name) = match &line {
            Line::Let { pattern: Pattern { kind: PatternKind::Var(name), .. }, value, .. } => {
                (Reading::of(value), Some(name.clone()))
            }
            Line::Let { .. } | Line::Effect { .. } => (None, None),
        };
        let (Some(reading), Some(name)) = (reading, name) else {
            written(&mut all, open.take());
            all.push(line);
            continue;
        };
        let said = matches!(&line, Line::Let { comment: Some(_), .. });
        if let (Some((before, names)), false) = (&mut open, said) {
            match before.take(reading, names) {
                None => {
                    names.push(name);
                    if let (Some(Line::Let { vars, .. }), Line::Let { vars: own, .. }) =
                        (all.last_mut(), line)
                    {
                        vars.extend(own);
                    }
                    continue;
                }
                Some(reading) => {
                    written(&mut all, open.take());
                    open = Some((reading, vec![name]));
                    all.push(line);
                    continue;
                }
            }
        }
        written(&mut all, open.take());
        open = Some((reading, vec![name]));
        all.push(line);
    }
    written(&mut all, open);
    all
}

/// Rewrites the last line, if it has absorbed others.
fn written(lines: &mut [Line], reading: Option<(Reading, Vec<Rc<str>>)>) {
    let Some((reading, names)) = reading.filter(|(_, names)| names.len() > 1) else { return };
    if let Some(Line::Let { pattern, value, .. }) = lines.last_mut() {
        *value = reading.whole(&names);
        *pattern = build::tuple_pattern(names.into_iter().map(build::binds).collect());
    }
}

fn mentions(expr: &Expr, name: &Rc<str>) -> bool {
    let mut found = matches!(&expr.kind, ExprKind::Var(var) if var == name);
    children(expr, &mut |child| found |= mentions(child, name));
    found
}
