//! The names of fields in a file, each with the fields of its record, for editors. Types with the
//! same fields are the same type, so these fields tell which names belong together.

use std::rc::Rc;

use lambada_source::{Span, stack};
use lambada_surface::ast::{Expr, ExprKind, Name, Pattern, PatternKind, TypeExpr, TypeKind};
use lambada_surface::visit::{Visit, walk_expr, walk_module, walk_pattern, walk_type};

use crate::survey::Survey;

/// The name of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place of the name.
    pub span: Span,
    /// The fields of its record, in alphabetical order; `None` if its type is not known.
    pub record: Option<Vec<Rc<str>>>,
}

impl Survey {
    /// The names of fields in the file, in no order.
    pub fn labels(&self) -> Vec<Label> {
        stack::roomy(|| {
            let mut walk = Labels { survey: self, found: Vec::new() };
            walk_module(&mut walk, &self.module);
            walk.found
        })
    }
}

struct Labels<'s> {
    survey: &'s Survey,
    found: Vec<Label>,
}

impl Labels<'_> {
    /// Names that are all fields of their record.
    fn all<'n>(&mut self, names: impl Iterator<Item = &'n Name> + Clone) {
        let mut record: Vec<Rc<str>> = names.clone().map(|name| name.text.clone()).collect();
        record.sort();
        self.some(names, Some(record));
    }

    fn some<'n>(&mut self, names: impl Iterator<Item = &'n Name>, record: Option<Vec<Rc<str>>>) {
        self.found.extend(names.map(|name| Label { span: name.span, record: record.clone() }));
    }
}

impl Visit for Labels<'_> {
    fn expr(&mut self, expr: &Expr) {
        let checked = &self.survey.checked;
        match &expr.kind {
            ExprKind::Field(record, name) => {
                self.some([name].into_iter(), checked.labels_at(record.span));
            }
            ExprKind::RecordUpdate(record, fields) => {
                let known = checked.labels_at(record.span);
                self.some(fields.iter().map(|(name, _)| name), known);
            }
            ExprKind::Record(fields) => self.all(fields.iter().map(|(name, _)| name)),
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn pattern(&mut self, pattern: &Pattern) {
        if let PatternKind::Record(fields) = &pattern.kind {
            let known = self.survey.checked.labels_at(pattern.span);
            match known {
                Some(_) => self.some(fields.iter().map(|(name, _)| name), known),
                None => self.all(fields.iter().map(|(name, _)| name)),
            }
        }
        walk_pattern(self, pattern);
    }

    fn type_expr(&mut self, ty: &TypeExpr) {
        if let TypeKind::Record(fields) = &ty.kind {
            self.all(fields.iter().map(|(name, _)| name));
        }
        walk_type(self, ty);
    }
}
