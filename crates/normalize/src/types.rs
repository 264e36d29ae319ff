//! The types whose values are nodes: those that contain themselves.

use std::collections::HashSet;

use lambada_core::{Program, Ty, TypeId};

/// Facts about the variant types of a program, by type.
#[derive(Debug, Default)]
pub(crate) struct Types {
    recursive: Vec<bool>,
    self_applied: Vec<bool>,
}

impl Types {
    /// The facts about a program's types.
    pub fn of(program: &Program) -> Types {
        let own = |k: usize| {
            let mut reached = HashSet::new();
            let id = TypeId(k as u32);
            fields(program, id).for_each(|ty| reach(program, ty, &mut reached));
            reached.contains(&id)
        };
        let through_functions = |k: usize| {
            let id = TypeId(k as u32);
            let (mut around, mut inside) = (HashSet::from([id]), HashSet::new());
            fields(program, id).for_each(|ty| reach(program, ty, &mut around));
            let all = around.iter().flat_map(|id| fields(program, *id));
            all.for_each(|ty| reach_functions(program, ty, &mut inside));
            inside.contains(&id)
        };
        let all = 0..program.types.len();
        let recursive = all.clone().map(own).collect();
        Types { recursive, self_applied: all.map(through_functions).collect() }
    }

    /// Whether the type contains functions that take or return it. Such functions may be applied to
    /// themselves without end.
    pub fn is_self_applied(&self, id: TypeId) -> bool {
        self.self_applied[id.0 as usize]
    }

    /// Whether the type contains itself.
    pub fn is_recursive(&self, id: TypeId) -> bool {
        self.recursive[id.0 as usize]
    }

    /// Whether a value of the type has no functions outside nodes.
    pub fn is_data(&self, program: &Program, ty: &Ty) -> bool {
        match ty {
            Ty::Fun(..) => false,
            Ty::Variant(id) => {
                self.is_recursive(*id) || fields(program, *id).all(|ty| self.is_data(program, ty))
            }
            Ty::Scalar(_) | Ty::Tuple(_) | Ty::Record(_) | Ty::Array(_) => {
                inside(ty).iter().all(|ty| self.is_data(program, ty))
            }
        }
    }

    /// Whether a value of the type has no functions, even inside nodes.
    pub fn is_data_inside(&self, program: &Program, ty: &Ty) -> bool {
        let mut reached = HashSet::new();
        reach(program, ty, &mut reached);
        let holds = |ty: &Ty| !has_function(ty);
        holds(ty) && reached.iter().all(|id| fields(program, *id).all(holds))
    }
}

fn fields(program: &Program, id: TypeId) -> impl Iterator<Item = &Ty> {
    program.type_decl(id).constructors.iter().flat_map(|(_, fields)| fields)
}

/// The component types of a type, except the fields of variants.
fn inside(ty: &Ty) -> Vec<Ty> {
    match ty {
        Ty::Scalar(_) | Ty::Variant(_) => Vec::new(),
        Ty::Tuple(_) | Ty::Record(_) => ty.components(),
        Ty::Array(elem) => vec![(**elem).clone()],
        Ty::Fun(from, to) => vec![(**from).clone(), (**to).clone()],
    }
}

/// Adds the variants that a type mentions.
fn reach(program: &Program, ty: &Ty, reached: &mut HashSet<TypeId>) {
    inside(ty).iter().for_each(|ty| reach(program, ty, reached));
    if let Ty::Variant(id) = ty
        && reached.insert(*id)
    {
        fields(program, *id).for_each(|ty| reach(program, ty, reached));
    }
}

/// Adds the variants that the functions in a type mention.
fn reach_functions(program: &Program, ty: &Ty, reached: &mut HashSet<TypeId>) {
    if let Ty::Fun(..) = ty {
        return reach(program, ty, reached);
    }
    inside(ty).iter().for_each(|ty| reach_functions(program, ty, reached));
}

/// Whether it mentions a function outside variants.
fn has_function(ty: &Ty) -> bool {
    matches!(ty, Ty::Fun(..)) || inside(ty).iter().any(has_function)
}
