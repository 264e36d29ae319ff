//! The type definitions that a stand-alone text needs, from the program and its imports, without
//! qualified names.

use std::collections::BTreeSet;
use std::rc::Rc;

use lambada_core::{Program, Size, SizedTy, Ty, TypeId};
use lambada_elaborate::{import_key, import_name};
use lambada_source::Problem;
use lambada_surface::ast::{
    Def, Expr, ExprKind, Import, Item, Module, Name, TypeBody, TypeDef, TypeExpr, TypeKind,
};
use lambada_surface::build;
use lambada_surface::visit::{Visit, walk_expr};

use crate::Unit;
use crate::data::unsized_ty;
use crate::messages::derivatives as messages;

/// A definition: index of the file in [`Files::modules`], and name.
type FileAndName = (usize, Rc<str>);

impl Unit {
    /// The definitions of the variant types in `types`, of the types that `written` mentions, and
    /// of all types that these mention.
    pub(crate) fn type_definitions<'t>(
        &self,
        program: &Program,
        types: impl Iterator<Item = &'t SizedTy>,
        written: &[TypeExpr],
    ) -> Result<Vec<Item>, Problem> {
        let files = Files::of(self);
        let mut variants = BTreeSet::new();
        types.for_each(|ty| variants_of(program, ty, &mut variants));
        let mut needed = BTreeSet::new();
        for id in variants {
            files
                .variant(program, id)?
                .into_iter()
                .for_each(|place| files.need(place, &mut needed));
        }
        for name in written.iter().flat_map(all_names) {
            let place = files.resolve(files.own(), &name);
            place.into_iter().for_each(|place| files.need(place, &mut needed));
        }
        files.items(&needed)
    }
}

/// Adds the variant types in a type, also those in arguments of their constructors.
pub(crate) fn variants_of(program: &Program, ty: &SizedTy, all: &mut BTreeSet<TypeId>) {
    match ty {
        SizedTy::Scalar(_) => {}
        SizedTy::Tuple(items) => items.iter().for_each(|ty| variants_of(program, ty, all)),
        SizedTy::Record(fields) => fields.iter().for_each(|(_, ty)| variants_of(program, ty, all)),
        SizedTy::Array(_, elem) => variants_of(program, elem, all),
        SizedTy::Fun(from, to) => {
            [from, to].into_iter().for_each(|ty| variants_of(program, ty, all))
        }
        SizedTy::Variant(id) => variants(program, &Ty::Variant(*id), all),
    }
}

fn variants(program: &Program, ty: &Ty, all: &mut BTreeSet<TypeId>) {
    match ty {
        Ty::Scalar(_) => {}
        Ty::Tuple(items) => items.iter().for_each(|ty| variants(program, ty, all)),
        Ty::Record(fields) => fields.iter().for_each(|(_, ty)| variants(program, ty, all)),
        Ty::Array(elem) => variants(program, elem, all),
        Ty::Fun(from, to) => [from, to].into_iter().for_each(|ty| variants(program, ty, all)),
        Ty::Variant(id) => {
            if all.insert(*id) {
                program
                    .type_decl(*id)
                    .constructors
                    .iter()
                    .flat_map(|(_, args)| args)
                    .for_each(|ty| variants(program, ty, all));
            }
        }
    }
}

/// The files of a program.
pub(crate) struct Files<'a> {
    /// The imports with their keys, then the program itself.
    modules: Vec<(Option<&'a str>, &'a Module)>,
}

impl<'a> Files<'a> {
    pub(crate) fn of(unit: &'a Unit) -> Files<'a> {
        let imports = unit.imports.iter().map(|(key, module)| (Some(&**key), &**module));
        Files { modules: imports.chain([(None, &*unit.module)]).collect() }
    }

    /// Index of the program's own file.
    pub(crate) fn own(&self) -> usize {
        self.modules.len() - 1
    }

    /// The key of an imported file.
    pub(crate) fn key(&self, file: usize) -> Option<&'a str> {
        self.modules[file].0
    }

    /// The source definition of the entry.
    pub(crate) fn entry(&self, name: &str) -> Option<&'a Def> {
        self.modules[self.own()].1.items.iter().find_map(|item| match item {
            Item::Def(def) if &*def.name.text == name => Some(def),
            Item::Def(_) | Item::Type(_) | Item::Import(_) => None,
        })
    }

    /// The type in a form for stand-alone source, if all its types have definitions and all its
    /// sizes are in `sizes`.
    pub(crate) fn portable(&self, ty: &TypeExpr, sizes: &BTreeSet<Rc<str>>) -> Option<TypeExpr> {
        let known = |name: &Rc<str>| {
            matches!(&**name, "real" | "int" | "bool") || self.resolve(self.own(), name).is_some()
        };
        let mut mentioned = BTreeSet::new();
        size_variables(ty, &mut mentioned);
        let fits = mentioned.is_subset(sizes) && all_names(ty).iter().all(known);
        fits.then(|| bare(ty))
    }

    /// An alias in the program for exactly this type.
    pub(crate) fn alias(&self, ty: &TypeExpr) -> Option<TypeExpr> {
        let text = lambada_surface::print_type(ty);
        self.definitions(self.own())
            .find(|def| {
                def.params.is_empty()
                    && def.sizes.is_empty()
                    && matches!(&def.body, TypeBody::Alias(body) if lambada_surface::print_type(body) == text)
            })
            .map(|def| build::named_ty(def.name.text.clone()))
    }

    /// The argument types of the constructors of a variant type, with their declared sizes.
    pub(crate) fn constructors(
        &self,
        program: &Program,
        id: TypeId,
    ) -> Vec<(Rc<str>, Vec<SizedTy>)> {
        let decl = program.type_decl(id);
        let place = self.variant(program, id).ok().flatten();
        let written = place.as_ref().and_then(|place| match &self.definition(place)?.body {
            TypeBody::Variant(cases) => Some((place.0, cases)),
            TypeBody::Alias(_) => None,
        });
        let sized = |case: usize, k: usize, ty: &Ty| match written {
            Some((file, cases)) => self.sized(file, &cases[case].1[k], ty),
            None => unsized_ty(ty),
        };
        let cases = decl.constructors.iter().enumerate();
        cases
            .map(|(case, (name, args))| {
                let args = args.iter().enumerate().map(|(k, ty)| sized(case, k, ty));
                (name.clone(), args.collect())
            })
            .collect()
    }

    /// Adds constant sizes from the written type.
    fn sized(&self, file: usize, written: &TypeExpr, ty: &Ty) -> SizedTy {
        match (&written.kind, ty) {
            (TypeKind::Array(size, inner), Ty::Array(elem)) => {
                let size = match size.as_ref().map(|size| &size.kind) {
                    Some(ExprKind::Int(k)) => u64::try_from(*k).map_or(Size::Any, Size::Const),
                    Some(_) | None => Size::Any,
                };
                SizedTy::Array(size, Box::new(self.sized(file, inner, elem)))
            }
            (TypeKind::Tuple(parts), Ty::Tuple(items)) if parts.len() == items.len() => {
                let items = parts.iter().zip(items.iter());
                SizedTy::Tuple(items.map(|(part, ty)| self.sized(file, part, ty)).collect())
            }
            (TypeKind::Record(parts), Ty::Record(fields)) => {
                let field = |(label, ty): &(Rc<str>, Ty)| {
                    let part = parts.iter().find(|(name, _)| name.text == *label);
                    let ty = part.map_or(unsized_ty(ty), |(_, part)| self.sized(file, part, ty));
                    (label.clone(), ty)
                };
                SizedTy::Record(fields.iter().map(field).collect())
            }
            (TypeKind::Name(name, sizes, args), _) if sizes.is_empty() && args.is_empty() => {
                let alias = self.resolve(file, &name.text).and_then(|place| {
                    match &self.definition(&place)?.body {
                        TypeBody::Alias(body) => Some((place.0, body)),
                        TypeBody::Variant(_) => None,
                    }
                });
                alias.map_or(unsized_ty(ty), |(file, body)| self.sized(file, body, ty))
            }
            (_, _) => unsized_ty(ty),
        }
    }

    fn definitions(&self, file: usize) -> impl Iterator<Item = &'a TypeDef> + use<'a> {
        self.modules[file].1.items.iter().filter_map(|item| match item {
            Item::Type(def) => Some(def),
            Item::Def(_) | Item::Import(_) => None,
        })
    }

    /// The definition of a type.
    pub(crate) fn definition(&self, (file, name): &FileAndName) -> Option<&'a TypeDef> {
        self.definitions(*file).find(|def| def.name.text == *name)
    }

    /// The definition of a variant type; `None` if it is in the prelude. Fails if two files define
    /// types of that name with the same constructors.
    fn variant(&self, program: &Program, id: TypeId) -> Result<Option<FileAndName>, Problem> {
        let decl = program.type_decl(id);
        let name = decl.name.split(' ').next().unwrap_or_default();
        let same = |def: &TypeDef| match &def.body {
            TypeBody::Alias(_) => false,
            TypeBody::Variant(constructors) => {
                &*def.name.text == name
                    && constructors
                        .iter()
                        .map(|(name, _)| &name.text)
                        .eq(decl.constructors.iter().map(|(name, _)| name))
            }
        };
        let mut found = (0..self.modules.len()).filter(|file| self.definitions(*file).any(&same));
        match (found.next(), found.next()) {
            (Some(_), Some(_)) => Err(messages::two_of_a_name(name)),
            (file, _) => Ok(file.map(|file| (file, name.into()))),
        }
    }

    /// Adds a definition and all that it mentions.
    fn need(&self, place: FileAndName, needed: &mut BTreeSet<FileAndName>) {
        let Some(def) = self.definition(&place).filter(|_| needed.insert(place.clone())) else {
            return;
        };
        let mut mentioned = Vec::new();
        match &def.body {
            TypeBody::Alias(ty) => names(ty, &mut mentioned),
            TypeBody::Variant(constructors) => constructors
                .iter()
                .flat_map(|(_, args)| args)
                .for_each(|ty| names(ty, &mut mentioned)),
        }
        for name in mentioned {
            self.resolve(place.0, &name).into_iter().for_each(|place| self.need(place, needed));
        }
    }

    /// Resolves a type name in a file: its own types shadow those of its imports.
    pub(crate) fn resolve(&self, file: usize, name: &str) -> Option<FileAndName> {
        let (from, name) =
            name.split_once('.').map_or((None, name), |(from, name)| (Some(from), name));
        let means = |(import, key, _): &(&Import, String, usize)| match (from, &import.names) {
            (Some(from), _) => import_name(import, key).as_deref() == Some(from),
            (None, Some(names)) if import.alias.is_none() => {
                names.iter().any(|listed| *listed.text == *name)
            }
            (None, _) => true,
        };
        let imports = self.imports(file).into_iter().filter(means);
        let mut imports: Vec<usize> = imports.map(|(_, _, file)| file).collect();
        imports.sort_unstable();
        let own = from.is_none().then_some(file);
        let place = |file: usize| (file, Rc::from(name));
        own.into_iter().chain(imports).map(place).find(|place| self.definition(place).is_some())
    }

    /// The imports of a file: their keys and file indices.
    fn imports(&self, file: usize) -> Vec<(&'a Import, String, usize)> {
        let (key, module) = self.modules[file];
        let imports = module.items.iter().filter_map(|item| match item {
            Item::Import(import) => Some((import, import_key(key, &import.path))),
            Item::Def(_) | Item::Type(_) => None,
        });
        let index = |key: &str| self.modules.iter().position(|(other, _)| *other == Some(key));
        imports.filter_map(|(import, key)| index(&key).map(|file| (import, key, file))).collect()
    }

    /// The definitions, if they can stand in one file.
    fn items(&self, needed: &BTreeSet<FileAndName>) -> Result<Vec<Item>, Problem> {
        let mut items = Vec::new();
        let mut taken = BTreeSet::new();
        for file in 0..self.modules.len() {
            for def in
                self.definitions(file).filter(|def| needed.contains(&(file, def.name.text.clone())))
            {
                let constructors = match &def.body {
                    TypeBody::Alias(_) => &[][..],
                    TypeBody::Variant(constructors) => &constructors[..],
                };
                for name in
                    std::iter::once(&def.name).chain(constructors.iter().map(|(name, _)| name))
                {
                    if !taken.insert(name.text.clone()) {
                        return Err(messages::two_of_a_name(&name.text));
                    }
                }
                items.push(Item::Type(unqualified(def)));
            }
        }
        Ok(items)
    }
}

/// Adds the type names in a type.
fn names(ty: &TypeExpr, all: &mut Vec<Rc<str>>) {
    match &ty.kind {
        TypeKind::Name(name, _, args) => {
            all.push(name.text.clone());
            args.iter().for_each(|ty| names(ty, all));
        }
        TypeKind::Tuple(items) => items.iter().for_each(|ty| names(ty, all)),
        TypeKind::Record(fields) => fields.iter().for_each(|(_, ty)| names(ty, all)),
        TypeKind::Array(_, elem) => names(elem, all),
        TypeKind::Function(from, to) => [from, to].into_iter().for_each(|ty| names(ty, all)),
        TypeKind::Error => {}
    }
}

fn all_names(ty: &TypeExpr) -> Vec<Rc<str>> {
    let mut all = Vec::new();
    names(ty, &mut all);
    all
}

/// Adds the variables in the sizes of a type.
pub(crate) fn size_variables(ty: &TypeExpr, all: &mut BTreeSet<Rc<str>>) {
    struct Variables<'a>(&'a mut BTreeSet<Rc<str>>);
    impl Visit for Variables<'_> {
        fn expr(&mut self, expr: &Expr) {
            if let ExprKind::Var(name) = &expr.kind {
                self.0.insert(name.clone());
            }
            walk_expr(self, expr);
        }
    }
    Variables(all).type_expr(ty);
}

/// The definition with unqualified type names.
fn unqualified(def: &TypeDef) -> TypeDef {
    let body = match &def.body {
        TypeBody::Alias(ty) => TypeBody::Alias(bare(ty)),
        TypeBody::Variant(constructors) => TypeBody::Variant(
            constructors
                .iter()
                .map(|(name, args)| (name.clone(), args.iter().map(bare).collect()))
                .collect(),
        ),
    };
    TypeDef { body, ..def.clone() }
}

fn bare(ty: &TypeExpr) -> TypeExpr {
    let boxed = |ty: &TypeExpr| Box::new(bare(ty));
    let kind = match &ty.kind {
        TypeKind::Name(name, sizes, args) => {
            let text = name.text.rsplit('.').next().unwrap_or_default().into();
            TypeKind::Name(
                Name { text, span: name.span },
                sizes.clone(),
                args.iter().map(bare).collect(),
            )
        }
        TypeKind::Tuple(items) => TypeKind::Tuple(items.iter().map(bare).collect()),
        TypeKind::Record(fields) => {
            TypeKind::Record(fields.iter().map(|(name, ty)| (name.clone(), bare(ty))).collect())
        }
        TypeKind::Array(size, elem) => TypeKind::Array(size.clone(), boxed(elem)),
        TypeKind::Function(from, to) => TypeKind::Function(boxed(from), boxed(to)),
        TypeKind::Error => TypeKind::Error,
    };
    TypeExpr { kind, span: ty.span }
}
