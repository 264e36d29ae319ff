//! Records whose type no annotation gives: the only record type in scope with their fields.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_source::Span;
use lambada_surface::ast::{TypeBody, TypeDef, TypeExpr, TypeKind};

use crate::solve::ty::Ty;

use super::{Infer, TypeEntry};

/// Gives each unknown record whose fields were accessed since `mark` the only record type in
/// scope that has all of them.
pub(super) fn resolve(infer: &mut Infer<'_>, mark: usize) {
    loop {
        let unknown = infer.solver.unknown_records(mark).into_iter();
        let found =
            unknown.filter_map(|(record, names)| Some((record, only_with(infer, &names)?))).next();
        let Some((record, (module, def))) = found else { return };
        let ty = declared(infer, module, def);
        if infer.solver.unify(record, ty).is_err() {
            return;
        }
    }
}

fn only_with<'a>(infer: &Infer<'a>, names: &[Rc<str>]) -> Option<(usize, &'a TypeDef)> {
    let found = all_with(infer, names);
    if let [only] = found[..] { Some(only) } else { None }
}

/// The declared record types with these fields: those of the module, else those of its imports,
/// else those of the prelude.
fn all_with<'a>(infer: &Infer<'a>, names: &[Rc<str>]) -> Vec<(usize, &'a TypeDef)> {
    let mut imports: Vec<usize> = infer.scopes[infer.module].imports.values().copied().collect();
    imports.sort_unstable();
    imports.dedup();
    for modules in [vec![infer.module], imports, vec![0]] {
        let types =
            modules.iter().flat_map(|k| infer.scopes[*k].types.values().map(|entry| (*k, *entry)));
        let mut found: Vec<(usize, &TypeDef)> = types
            .filter_map(|(k, entry)| match entry {
                TypeEntry::Alias(def) if has_fields(def, names) => Some((k, def)),
                TypeEntry::Alias(_) | TypeEntry::Variant(_) => None,
            })
            .collect();
        if !found.is_empty() {
            found.sort_by_key(|(k, def)| (*k, def.name.span));
            return found;
        }
    }
    Vec::new()
}

/// A declared type at new sizes and types.
fn declared<'a>(infer: &mut Infer<'a>, module: usize, def: &'a TypeDef) -> Ty {
    let outer = infer.type_vars.clone();
    let mut args = Vec::new();
    for param in &def.params {
        let ty = infer.solver.fresh();
        infer.type_vars.insert(param.text.clone(), ty);
        let kind = TypeKind::Name(param.clone(), Vec::new(), Vec::new());
        args.push(TypeExpr { kind, span: param.span });
    }
    infer.regions.push(Vec::new());
    let ty = infer.alias(module, def, (&[], &args), Span::default(), None);
    infer.regions.pop();
    infer.type_vars = outer;
    infer.solver.copy_with(ty, &HashMap::new(), &mut |solver, size| {
        if size.as_constant().is_some() { size.clone() } else { solver.fresh_size() }
    })
}

fn has_fields(def: &TypeDef, names: &[Rc<str>]) -> bool {
    let TypeBody::Alias(TypeExpr { kind: TypeKind::Record(fields), .. }) = &def.body else {
        return false;
    };
    names.iter().all(|name| fields.iter().any(|(field, _)| field.text == *name))
}
