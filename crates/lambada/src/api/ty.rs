//! Types of parameters and results, as in the signature of a definition.

use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use lambada_core::{Program, Signature, Size, SizedTy, Ty, TypeId, sized};
use lambada_prim::ScalarTy;

use crate::data::unsized_ty;
use crate::types::variants_of;

/// A type of Lambada with the size names of a signature.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `real`
    Real,
    /// `int`
    Int,
    /// `bool`
    Bool,
    /// `(a, b)`
    Tuple(Vec<Type>),
    /// `{x : a, y : b}`, in the order of the declaration if there is one.
    Record(Vec<(Arc<str>, Type)>),
    /// `[n]a`: printed size and element type.
    Array(Arc<str>, Box<Type>),
    /// A variant type, by its name; [`Function::variants`](crate::Function::variants) has its
    /// constructors.
    Variant(Arc<str>),
    /// `a -> b`
    Function(Box<Type>, Box<Type>),
}

/// A variant type in the signature of a function, at fixed type arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name as in [`Type::Variant`]: `shape`, `list real`.
    pub name: Arc<str>,
    /// The constructors in the order of the definition, with the types of their arguments.
    pub constructors: Vec<(Arc<str>, Vec<Type>)>,
}

impl Type {
    /// Converts a core type; record fields come in the declared order.
    pub(crate) fn of(program: &Program, ty: &SizedTy) -> Type {
        let inside = |ty: &SizedTy| Type::of(program, ty);
        if let Some((_, id)) = sized::of(ty) {
            return inside(&SizedTy::Variant(id));
        }
        match ty {
            SizedTy::Scalar(ScalarTy::Real) => Type::Real,
            SizedTy::Scalar(ScalarTy::Int) => Type::Int,
            SizedTy::Scalar(ScalarTy::Bool) => Type::Bool,
            SizedTy::Tuple(items) => Type::Tuple(items.iter().map(inside).collect()),
            SizedTy::Record(fields) => {
                let field = |(name, ty): &(Rc<str>, SizedTy)| (Arc::from(&**name), inside(ty));
                let mut fields: Vec<(Arc<str>, Type)> = fields.iter().map(field).collect();
                program.fields.sort(&mut fields, |(name, _)| name);
                Type::Record(fields)
            }
            SizedTy::Array(size, elem) => {
                let size = match size {
                    Size::Any => Arc::from(""),
                    Size::Const(size) => Arc::from(size.to_string()),
                    Size::Var(text) | Size::Expr(text) => text.clone(),
                };
                Type::Array(size, Box::new(inside(elem)))
            }
            SizedTy::Variant(id) => Type::Variant(Arc::from(&*program.type_decl(*id).name)),
            SizedTy::Fun(from, to) => Type::Function(Box::new(inside(from)), Box::new(inside(to))),
        }
    }

    /// The variant types in the types of a signature.
    pub(crate) fn variants(program: &Program, signature: &Signature) -> Vec<Variant> {
        let types = signature.params.iter().map(|(_, ty)| ty).chain(&signature.result);
        let mut ids: BTreeSet<TypeId> = BTreeSet::new();
        types.for_each(|ty| variants_of(program, ty, &mut ids));
        let variant = |id: TypeId| {
            let decl = program.type_decl(id);
            let of = |ty: &Ty| Type::of(program, &unsized_ty(ty));
            let constructors = decl.constructors.iter();
            let constructors = constructors
                .map(|(name, args)| (Arc::from(&**name), args.iter().map(of).collect()));
            Variant { name: Arc::from(&*decl.name), constructors: constructors.collect() }
        };
        ids.into_iter().map(variant).collect()
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Real => f.write_str("real"),
            Type::Int => f.write_str("int"),
            Type::Bool => f.write_str("bool"),
            Type::Tuple(items) => {
                f.write_str("(")?;
                separated(f, items, |f, item| item.fmt(f))?;
                f.write_str(")")
            }
            Type::Record(fields) => {
                f.write_str("{")?;
                separated(f, fields, |f, (name, ty)| write!(f, "{name} : {ty}"))?;
                f.write_str("}")
            }
            Type::Array(size, elem) => write!(f, "[{size}]{elem}"),
            Type::Variant(name) => f.write_str(name),
            Type::Function(from, to) if matches!(**from, Type::Function(..)) => {
                write!(f, "({from}) -> {to}")
            }
            Type::Function(from, to) => write!(f, "{from} -> {to}"),
        }
    }
}

fn separated<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    show: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    items.iter().enumerate().try_for_each(|(k, item)| {
        f.write_str(if k == 0 { "" } else { ", " })?;
        show(f, item)
    })
}
