//! Declaration order of record fields in a module: in its types and in the signatures of its
//! definitions, in source order.

use lambada_core::FieldOrder;
use lambada_surface::ast::{Item, Module, TypeBody, TypeExpr, TypeKind};

/// Adds the declarations of a module.
pub(super) fn declare(module: &Module, order: &mut FieldOrder) {
    for item in &module.items {
        match item {
            Item::Type(def) => match &def.body {
                TypeBody::Alias(ty) => records(ty, order),
                TypeBody::Variant(cases) => {
                    cases.iter().flat_map(|(_, args)| args).for_each(|ty| records(ty, order));
                }
            },
            Item::Def(def) => {
                let params = def.params.iter().filter_map(|param| param.ty.as_ref());
                params.chain(&def.result).for_each(|ty| records(ty, order));
            }
            Item::Import(_) => {}
        }
    }
}

fn records(ty: &TypeExpr, order: &mut FieldOrder) {
    match &ty.kind {
        TypeKind::Name(_, _, items) | TypeKind::Tuple(items) => {
            items.iter().for_each(|ty| records(ty, order));
        }
        TypeKind::Record(fields) => {
            order.declare(fields.iter().map(|(name, _)| &name.text));
            fields.iter().for_each(|(_, ty)| records(ty, order));
        }
        TypeKind::Array(_, elem) => records(elem, order),
        TypeKind::Function(from, to) => {
            records(from, order);
            records(to, order);
        }
        TypeKind::Error => {}
    }
}
