//! The names of all modules as inference has resolved them.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_source::Span;
use lambada_surface::ast::TypeBody;

use crate::names::{Members, Names};

use super::{Infer, Scope, TypeEntry};

/// The names of the modules, with the places of their definitions.
pub(crate) fn names(infer: &Infer) -> Names {
    Names { modules: infer.scopes.iter().map(|scope| members(infer, scope)).collect() }
}

fn members(infer: &Infer, scope: &Scope) -> Members {
    let values = scope.defs.iter();
    let values =
        values.map(|(name, id)| (name.clone(), infer.globals[id.0 as usize].syntax.name.span));
    let types = scope.types.iter().map(|(name, entry)| {
        let def = match entry {
            TypeEntry::Alias(def) => def,
            TypeEntry::Variant(id) => infer.variant_defs[id.0 as usize].1,
        };
        (name.clone(), def.name.span)
    });
    let mut constructors: HashMap<Rc<str>, Span> = HashMap::new();
    for (name, (id, tag)) in &scope.constructors {
        if let TypeBody::Variant(all) = &infer.variant_defs[id.0 as usize].1.body
            && let Some((written, _)) = all.get(*tag)
        {
            constructors.insert(name.clone(), written.span);
        }
    }
    Members {
        values: values.collect(),
        types: types.collect(),
        constructors,
        imports: scope.imports.clone(),
        listed: scope.listed.clone(),
    }
}
