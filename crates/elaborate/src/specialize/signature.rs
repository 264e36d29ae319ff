//! Sizes in a definition's signature, for callers that supply data.

use std::rc::Rc;

use lambada_core::{Signature, Size, SizedTy, Ty};

use super::Specialize;
use crate::Global;
use crate::solve::show::Namer;
use crate::solve::size::AtomKind;
use crate::solve::size::Poly;
use crate::solve::ty::{self as solve, Node};

impl Specialize<'_> {
    /// The signature of a definition of type `ty` whose body has the core type `body`.
    pub(super) fn signature(&mut self, global: &Global, mut ty: solve::Ty, body: &Ty) -> Signature {
        let mut at = body.clone();
        let mut namer = Namer::default();
        self.from.solver.reserve(ty, &mut namer);
        // A size with the name of an `int` parameter would be confused with it.
        global.function.names.iter().for_each(|name| namer.avoid(name.clone()));
        let mut params = Vec::new();
        for name in global.function.names.iter() {
            let Node::Fun(from, to) = self.from.solver.get(ty) else { break };
            let (from, to) = (*from, *to);
            let core = next_parameter(&mut at).unwrap_or_else(|| self.mono(from));
            let sized = self.sized(from, &core, &mut namer);
            params.push((name.clone(), sized));
            ty = to;
        }
        // A definition such as `def f = sin >> cos` has parameters without names.
        while let Node::Fun(from, to) = self.from.solver.get(ty) {
            let (from, to) = (*from, *to);
            let core = next_parameter(&mut at).unwrap_or_else(|| self.mono(from));
            let sized = self.sized(from, &core, &mut namer);
            params.push((unnamed(&params), sized));
            ty = to;
        }
        let result = Some(self.sized(ty, &at, &mut namer));
        Signature { params, result }
    }

    /// A type from another definition, with the size names of this one.
    pub(super) fn sized_by_name(&mut self, ty: solve::Ty, core: &Ty) -> SizedTy {
        let mut namer = Namer::default();
        self.from.solver.reserve(ty, &mut namer);
        self.sized(ty, core, &mut namer)
    }

    /// A type with the inferred sizes.
    fn sized(&mut self, ty: solve::Ty, core: &Ty, namer: &mut Namer) -> SizedTy {
        let node = self.from.solver.get(ty).clone();
        match (core, node) {
            (Ty::Scalar(scalar), _) => SizedTy::Scalar(*scalar),
            (Ty::Variant(id), _) => SizedTy::Variant(*id),
            (Ty::Tuple(items), Node::Tuple(types)) => SizedTy::Tuple(
                items
                    .iter()
                    .zip(types.iter())
                    .map(|(item, ty)| self.sized(*ty, item, namer))
                    .collect(),
            ),
            (Ty::Record(fields), Node::Record(types)) => {
                let pairs = fields.iter().zip(types.iter());
                SizedTy::Record(
                    pairs
                        .map(|((name, item), (_, ty))| (name.clone(), self.sized(*ty, item, namer)))
                        .collect(),
                )
            }
            (Ty::Array(elem), Node::Array(size, inner)) => {
                let size = self.size(&size, namer);
                SizedTy::Array(size, Box::new(self.sized(inner, elem, namer)))
            }
            (Ty::Fun(from, to), Node::Fun(a, b)) => {
                let from = self.sized(a, from, namer);
                SizedTy::Fun(Box::new(from), Box::new(self.sized(b, to, namer)))
            }
            (Ty::Tuple(_) | Ty::Record(_) | Ty::Array(_) | Ty::Fun(..), _) => unsized_ty(core),
        }
    }

    fn size(&self, size: &Poly, namer: &mut Namer) -> Size {
        let sizes = &self.from.solver.sizes;
        let mut atoms = Vec::new();
        sizes.atoms(size, &mut atoms);
        let text = self.from.solver.show_size(size, namer);
        if atoms.is_empty() {
            return text.parse().map_or(Size::Any, Size::Const);
        }
        if atoms.iter().any(|atom| matches!(sizes.kind(*atom), AtomKind::Opaque)) {
            return Size::Any;
        }
        let name = text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '\'');
        if name { Size::Var(text.into()) } else { Size::Expr(text.into()) }
    }
}

/// Takes the first parameter off a function type.
fn next_parameter(at: &mut Ty) -> Option<Ty> {
    let Ty::Fun(from, to) = at.clone() else { return None };
    *at = (*to).clone();
    Some((*from).clone())
}

/// The first free name of `x`, `x2`, `x3`, ….
fn unnamed(params: &[(Rc<str>, SizedTy)]) -> Rc<str> {
    let names = std::iter::once("x".to_string()).chain((2..).map(|k| format!("x{k}")));
    let mut free = names.filter(|name| params.iter().all(|(taken, _)| **taken != **name));
    free.next().unwrap_or_default().into()
}

/// A type without known sizes.
fn unsized_ty(ty: &Ty) -> SizedTy {
    match ty {
        Ty::Scalar(scalar) => SizedTy::Scalar(*scalar),
        Ty::Tuple(items) => SizedTy::Tuple(items.iter().map(unsized_ty).collect()),
        Ty::Record(fields) => SizedTy::Record(
            fields.iter().map(|(name, ty)| (name.clone(), unsized_ty(ty))).collect(),
        ),
        Ty::Array(elem) => SizedTy::Array(Size::Any, Box::new(unsized_ty(elem))),
        Ty::Fun(from, to) => SizedTy::Fun(Box::new(unsized_ty(from)), Box::new(unsized_ty(to))),
        Ty::Variant(id) => SizedTy::Variant(*id),
    }
}
