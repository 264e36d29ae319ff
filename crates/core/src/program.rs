//! Programs: monomorphic definitions, in dependency order.

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

use lambada_prim::Precision;
use lambada_source::Span;

use crate::{FieldOrder, SizedTy, Term, Ty, TypeDecl, TypeId};

/// Index of a definition in [`Program::defs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefId(pub u32);

/// A program: the definitions that one entry point needs, specialized to the types of their uses.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The variant types.
    pub types: Vec<TypeDecl>,
    /// The definitions, group by group; each mentions only definitions of earlier groups and of its
    /// own.
    pub defs: Vec<Def>,
    /// One past the largest variable id in use.
    pub next_var: u32,
    /// Precision of reals.
    pub precision: Precision,
    /// Whether the user lets the modes differ on purpose. If so, Jacobians are reverse derivatives,
    /// whatever their sizes.
    pub modes_differ: bool,
    /// Display order of record fields.
    pub fields: FieldOrder,
}

/// A definition at fixed types.
#[derive(Clone, Debug)]
pub struct Def {
    /// Its name in the source.
    pub name: Rc<str>,
    /// A closed term; a function is a `Lam` per parameter.
    pub body: Term,
    /// Parameters and sizes from the user's signature.
    pub signature: Signature,
    /// Where it is defined.
    pub span: Span,
    /// Number of its strongly connected component. A definition that is not recursive is alone in
    /// its group; a recursive group consists of functions. The numbers do not decrease along the
    /// definitions.
    pub group: u32,
}

/// The parameters of a definition with their declared or inferred sizes, to check and name input
/// data.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// Name and type of each parameter. The name of a pattern is its text, `(a, b)`; that of a
    /// parameter without a name is its position, `argument 2`.
    pub params: Vec<(Rc<str>, SizedTy)>,
    /// The result.
    pub result: Option<SizedTy>,
}

impl Program {
    /// The definition with this id.
    pub fn def(&self, id: DefId) -> &Def {
        &self.defs[id.0 as usize]
    }

    /// Adds a definition that mentions only existing ones; it is alone in its group.
    pub fn define(
        &mut self,
        name: impl Into<Rc<str>>,
        body: Term,
        signature: Signature,
        span: Span,
    ) -> DefId {
        let group = self.defs.last().map_or(0, |last| last.group + 1);
        self.defs.push(Def { name: name.into(), body, signature, span, group });
        DefId(self.defs.len() as u32 - 1)
    }

    /// The definitions of a group.
    pub fn group(&self, group: u32) -> Range<usize> {
        let start = self.defs.partition_point(|def| def.group < group);
        start..start + self.defs[start..].partition_point(|def| def.group == group)
    }

    /// Whether a definition calls itself, directly or through others of its group.
    pub fn is_recursive(&self, id: DefId) -> bool {
        let group = self.group(self.def(id).group);
        group.len() > 1 || self.def(id).body.globals().contains(&id)
    }

    /// The last definition of this name.
    pub fn find(&self, name: &str) -> Option<DefId> {
        self.defs.iter().rposition(|def| &*def.name == name).map(|k| DefId(k as u32))
    }

    /// The variant type with this id.
    pub fn type_decl(&self, id: TypeId) -> &TypeDecl {
        &self.types[id.0 as usize]
    }

    /// Whether values of this type may contain others of it.
    pub fn is_recursive_type(&self, id: TypeId) -> bool {
        let (mut seen, mut pending) = (HashSet::new(), vec![id]);
        while let Some(at) = pending.pop() {
            let mut inside = Vec::new();
            let fields = self.type_decl(at).constructors.iter().flat_map(|(_, args)| args);
            fields.for_each(|ty| variants_in(ty, &mut inside));
            if inside.contains(&id) {
                return true;
            }
            pending.extend(inside.into_iter().filter(|id| seen.insert(*id)));
        }
        false
    }

    /// Whether the type contains a recursive type.
    pub fn has_recursive_type(&self, ty: &Ty) -> bool {
        let (mut seen, mut pending) = (HashSet::new(), Vec::new());
        variants_in(ty, &mut pending);
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            if self.is_recursive_type(id) {
                return true;
            }
            let fields = self.type_decl(id).constructors.iter().flat_map(|(_, args)| args);
            fields.for_each(|ty| variants_in(ty, &mut pending));
        }
        false
    }

    /// A fresh variable.
    pub fn fresh(&mut self, hint: &str, ty: Ty) -> crate::Var {
        let id = self.next_var;
        self.next_var += 1;
        crate::Var { id, hint: hint.into(), ty }
    }
}

/// The variants that a type mentions.
fn variants_in(ty: &Ty, found: &mut Vec<TypeId>) {
    match ty {
        Ty::Scalar(_) => {}
        Ty::Tuple(items) => items.iter().for_each(|ty| variants_in(ty, found)),
        Ty::Record(fields) => fields.iter().for_each(|(_, ty)| variants_in(ty, found)),
        Ty::Array(elem) => variants_in(elem, found),
        Ty::Fun(from, to) => [from, to].into_iter().for_each(|ty| variants_in(ty, found)),
        Ty::Variant(id) => found.push(*id),
    }
}
