//! Recursive types in source: how nodes of array code become values.

use std::collections::BTreeSet;
use std::rc::Rc;

use lambada_core::{Program, SizedTy, Ty, TypeId, sized};
use lambada_readback::{Declared, Group};
use lambada_surface::build;

use crate::parts::filler;
use crate::types::variants_of;

/// The recursive types inside the types, or a description of a field that has no source form.
pub(crate) fn declared<'t>(
    program: &Program,
    types: impl Iterator<Item = &'t SizedTy>,
) -> Result<Vec<Declared>, String> {
    let mut variants = BTreeSet::new();
    types.for_each(|ty| variants_of(program, ty, &mut variants));
    let recursive = variants.into_iter().filter(|id| program.is_recursive_type(*id));
    recursive.map(|id| of(program, id)).collect()
}

fn of(program: &Program, id: TypeId) -> Result<Declared, String> {
    let decl = program.type_decl(id);
    let name = &decl.name;
    let refused = |why: &str| format!("a value of the recursive type `{name}` {why}");
    if !decl.sizes.is_empty() {
        return Err(refused("has sizes that its type takes"));
    }
    let mut constructors = Vec::with_capacity(decl.constructors.len());
    for (constructor, args) in &decl.constructors {
        let groups = args.iter().map(|ty| group(program, ty).map_err(refused));
        constructors.push((constructor.clone(), groups.collect::<Result<_, _>>()?));
    }
    let written = lambada_surface::parse_type(name);
    Ok(Declared {
        node: name.to_string(),
        ty: written.unwrap_or_else(|| build::named_ty(name.clone())),
        constructors,
        filler: filler(program, id).ok_or_else(|| refused("is never complete"))?,
    })
}

/// The fields of a node that represent an argument of a constructor.
fn group(program: &Program, ty: &Ty) -> Result<Group, &'static str> {
    match ty {
        Ty::Scalar(_) => Ok(Group::One),
        Ty::Variant(id) if program.is_recursive_type(*id) => Ok(Group::One),
        Ty::Variant(id) => variant(program, *id),
        Ty::Fun(..) => Err("contains functions"),
        Ty::Tuple(items) => {
            Ok(Group::Tuple(items.iter().map(|ty| group(program, ty)).collect::<Result<_, _>>()?))
        }
        Ty::Record(fields) => {
            if sized::is_sized(fields.iter().map(|(label, _)| &**label)) {
                return Err("contains values of a type that takes sizes");
            }
            let field = |(label, ty): &(Rc<str>, Ty)| Ok((label.clone(), group(program, ty)?));
            Ok(Group::Record(fields.iter().map(field).collect::<Result<_, &'static str>>()?))
        }
        Ty::Array(elem) => Ok(Group::Array(Box::new(group(program, elem)?))),
    }
}

/// The fields for a non-recursive variant. It must not contain arrays, because their sizes are
/// unknown while another constructor is active.
fn variant(program: &Program, id: TypeId) -> Result<Group, &'static str> {
    let decl = program.type_decl(id);
    let argument = |ty: &Ty| match group(program, ty)? {
        of if of.has_arrays() => Err("contains a variant with arrays that does not contain itself"),
        of => Ok(of),
    };
    let constructors = decl.constructors.iter().map(|(name, args)| {
        let args: Vec<Group> = args.iter().map(argument).collect::<Result<_, _>>()?;
        Ok((name.clone(), args))
    });
    Ok(Group::Variant(constructors.collect::<Result<_, &'static str>>()?))
}
