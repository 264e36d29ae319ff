//! Written types become types, and the sizes in them become claims.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_prim::ScalarTy;
use lambada_source::Span;
use lambada_surface::ast::{
    Expr, ExprKind, Name, Param, Pattern, PatternKind, TypeDef, TypeExpr, TypeKind,
};
use lambada_surface::visit::children_mut;

use crate::messages::{self, Why};
use crate::solve::size::Poly;
use crate::solve::ty::{Node, Ty, VariantId};
use crate::typed::{Claim, Exp, ExpKind, LocalId, SizeFact, Step};

use super::{Infer, LocalMeaning, TypeEntry};

/// Place of a type in a parameter, if its sizes can be found there at run time.
#[derive(Clone)]
pub(super) struct ParamPath {
    param: usize,
    path: Vec<Step>,
    owner: Rc<str>,
    /// For a size of a variant: its name in the variant.
    size: Option<Rc<str>>,
}

impl ParamPath {
    /// The whole parameter.
    pub fn start(param: usize, owner: &str) -> ParamPath {
        ParamPath { param, path: Vec::new(), owner: owner.into(), size: None }
    }

    /// A part of it.
    pub fn then(&self, step: Step) -> ParamPath {
        let mut place = self.clone();
        place.path.push(step);
        place
    }

    /// The k-th size of a variant.
    fn size(&self, k: usize, name: &Rc<str>) -> ParamPath {
        ParamPath { size: Some(name.clone()), ..self.then(Step::Part(k)) }
    }

    fn describe(&self) -> Rc<str> {
        if let Some(size) = &self.size {
            let inside = if self.path.len() > 1 { "a part of " } else { "" };
            return format!("the `{size}` of {inside}{}", self.owner).into();
        }
        let parts = self.path.iter().any(|step| matches!(step, Step::Part(_)));
        let axis = self.path.iter().rev().take_while(|step| **step == Step::Element).count();
        match (parts, axis) {
            (false, 0) => self.owner.clone(),
            (false, axis) => format!("axis {axis} of {}", self.owner).into(),
            (true, 0) => format!("a part of {}", self.owner).into(),
            (true, axis) => format!("axis {axis} of a part of {}", self.owner).into(),
        }
    }
}

/// The types written in a parameter.
pub(super) fn types_of(param: &Param) -> Vec<&TypeExpr> {
    let mut types: Vec<&TypeExpr> = param.ty.iter().collect();
    types_of_pattern(&param.pattern, &mut types);
    types
}

fn types_of_pattern<'e>(pattern: &'e Pattern, types: &mut Vec<&'e TypeExpr>) {
    match &pattern.kind {
        PatternKind::Annotated(inner, ty) => {
            types.push(ty);
            types_of_pattern(inner, types);
        }
        PatternKind::Tuple(items)
        | PatternKind::Con(_, items)
        | PatternKind::Array(items)
        | PatternKind::Or(items) => items.iter().for_each(|item| types_of_pattern(item, types)),
        PatternKind::Record(fields) => {
            fields.iter().for_each(|(_, item)| types_of_pattern(item, types))
        }
        PatternKind::Wildcard
        | PatternKind::Var(_)
        | PatternKind::Int(_)
        | PatternKind::Real(_)
        | PatternKind::Bool(_)
        | PatternKind::Error => {}
    }
}

/// Names in the sizes of a type, those that are a whole size first.
fn size_names(ty: &TypeExpr, alone: &mut Vec<Name>) {
    match &ty.kind {
        TypeKind::Array(size, elem) => {
            if let Some(Expr { kind: ExprKind::Var(text), span }) = size.as_deref() {
                alone.push(Name { text: text.clone(), span: *span });
            }
            size_names(elem, alone);
        }
        TypeKind::Name(_, sizes, items) => {
            for size in sizes.iter().flatten() {
                if let ExprKind::Var(text) = &size.kind {
                    alone.push(Name { text: text.clone(), span: size.span });
                }
            }
            items.iter().for_each(|item| size_names(item, alone));
        }
        TypeKind::Tuple(items) => items.iter().for_each(|item| size_names(item, alone)),
        TypeKind::Record(fields) => fields.iter().for_each(|(_, item)| size_names(item, alone)),
        TypeKind::Function(from, to) => {
            size_names(from, alone);
            size_names(to, alone);
        }
        TypeKind::Error => {}
    }
}

impl<'a> Infer<'a> {
    /// Whether a size may mention the definition. It may not if that is a function: then its name
    /// is free for a size variable.
    fn may_be_size(&self, id: crate::typed::GlobalId) -> bool {
        self.globals[id.0 as usize].syntax.params.is_empty()
    }

    /// Declares names that are a whole size in these types and are not in scope as size variables
    /// of the current signature.
    pub(super) fn declare_sizes_in(
        &mut self,
        types: &[&TypeExpr],
        bound: impl Fn(&Rc<str>) -> bool,
    ) {
        let mut names = Vec::new();
        types.iter().for_each(|ty| size_names(ty, &mut names));
        for name in names {
            let known = bound(&name.text)
                || self.env.get(&name.text).is_some()
                || self.global_named(&name.text).is_some_and(|id| self.may_be_size(id));
            if !known {
                self.declare_size(&name);
            }
        }
    }

    /// Resolves a written type. With a place, its sizes become claims there.
    pub(super) fn ty(&mut self, written: &TypeExpr, place: Option<&ParamPath>) -> Ty {
        match &written.kind {
            TypeKind::Name(name, sizes, args) => {
                self.named_type(name, sizes, args, written.span, place)
            }
            TypeKind::Tuple(items) => {
                let items = items
                    .iter()
                    .enumerate()
                    .map(|(k, item)| self.ty(item, place.map(|p| p.then(Step::Part(k))).as_ref()))
                    .collect();
                self.solver.tuple(items)
            }
            TypeKind::Record(fields) => self.record_type(fields, place),
            TypeKind::Array(size, elem) => {
                let size = match size {
                    Some(size) => self.written_size(size, place),
                    None => self.solver.fresh_size(),
                };
                let elem = self.ty(elem, place.map(|p| p.then(Step::Element)).as_ref());
                self.solver.array(size, elem)
            }
            TypeKind::Function(from, to) => {
                let (from, to) = (self.ty(from, None), self.ty(to, None));
                self.solver.fun(from, to)
            }
            TypeKind::Error => {
                self.incomplete = true;
                self.solver.error()
            }
        }
    }

    fn record_type(&mut self, fields: &[(Name, TypeExpr)], place: Option<&ParamPath>) -> Ty {
        let mut sorted: Vec<&(Name, TypeExpr)> = fields.iter().collect();
        sorted.sort_by(|a, b| a.0.text.cmp(&b.0.text));
        for pair in sorted.windows(2) {
            if pair[0].0.text == pair[1].0.text {
                self.problems.push(messages::duplicate_field(&pair[1].0.text, pair[1].0.span));
            }
        }
        sorted.dedup_by(|a, b| a.0.text == b.0.text);
        let typed: Vec<(Rc<str>, Ty)> = sorted
            .into_iter()
            .enumerate()
            .map(|(k, (name, ty))| {
                (name.text.clone(), self.ty(ty, place.map(|p| p.then(Step::Part(k))).as_ref()))
            })
            .collect();
        self.solver.node(Node::Record(typed.into()))
    }

    fn named_type(
        &mut self,
        name: &Name,
        sizes: &[Option<Expr>],
        args: &[TypeExpr],
        span: Span,
        place: Option<&ParamPath>,
    ) -> Ty {
        let entry = self.type_entry(&name.text);
        if !sizes.is_empty()
            && !matches!(entry, Some((_, TypeEntry::Alias(_) | TypeEntry::Variant(_))))
        {
            self.problems.push(messages::size_arguments(&name.text, 0, sizes.len(), span));
        }
        let scalar = match &*name.text {
            "real" => Some(ScalarTy::Real),
            "int" => Some(ScalarTy::Int),
            "bool" => Some(ScalarTy::Bool),
            _ => None,
        };
        if let Some(scalar) = scalar {
            self.check_type_arguments(&name.text, 0, args, span);
            return self.solver.scalar(scalar);
        }
        match entry {
            Some((_, TypeEntry::Variant(id))) => {
                let wanted = self.solver.variant(id).params.len();
                let mut types: Vec<Ty> = args.iter().map(|arg| self.ty(arg, None)).collect();
                if !self.check_type_arguments(&name.text, wanted, args, span) {
                    types.resize_with(wanted, || self.solver.error());
                }
                let sizes = self.sizes_of_variant(id, sizes, span, place);
                self.solver.variant_at(id, sizes, types)
            }
            Some((module, TypeEntry::Alias(def))) => {
                self.alias(module, def, (sizes, args), span, place)
            }
            None if args.is_empty() => self.type_variable(name),
            None => self.unknown_type(name),
        }
    }

    /// The written sizes of a variant; inference finds those left open.
    fn sizes_of_variant(
        &mut self,
        id: VariantId,
        written: &[Option<Expr>],
        span: Span,
        place: Option<&ParamPath>,
    ) -> Vec<Poly> {
        let def = self.variant_defs[id.0 as usize].1;
        let (wanted, found) = (def.sizes.len(), written.len());
        if found > 0 && found != wanted {
            self.problems.push(messages::size_arguments(&def.name.text, wanted, found, span));
        }
        let mut sizes = Vec::with_capacity(wanted);
        for (k, name) in def.sizes.iter().enumerate() {
            sizes.push(match written.get(k) {
                Some(Some(size)) => {
                    let place = place.map(|place| place.size(k, &name.text));
                    self.written_size(size, place.as_ref())
                }
                Some(None) | None => self.solver.fresh_size(),
            });
        }
        sizes
    }

    fn check_type_arguments(
        &mut self,
        name: &str,
        wanted: usize,
        args: &[TypeExpr],
        span: Span,
    ) -> bool {
        if wanted != args.len() {
            self.problems.push(messages::type_arguments(name, wanted, args.len(), span));
        }
        wanted == args.len()
    }

    pub(super) fn alias(
        &mut self,
        module: usize,
        def: &'a TypeDef,
        (sizes, args): (&[Option<Expr>], &[TypeExpr]),
        span: Span,
        place: Option<&ParamPath>,
    ) -> Ty {
        let lambada_surface::ast::TypeBody::Alias(body) = &def.body else {
            unreachable!("declared as an alias")
        };
        if self.too_large && !self.expanding.is_empty() {
            return self.solver.error();
        }
        let entry = (module, def.name.text.clone());
        let plain = (def.params.len(), args.len(), def.sizes.len(), sizes.len()) == (0, 0, 0, 0);
        if let Some(ty) = self.solver.aliases.get(&entry).filter(|_| plain) {
            return *ty;
        }
        if self.expanding.contains(&entry) {
            self.problems.push(messages::recursive_alias(&def.name.text, span));
            return self.solver.error();
        }
        if !sizes.is_empty() && sizes.len() != def.sizes.len() {
            let (wanted, found) = (def.sizes.len(), sizes.len());
            self.problems.push(messages::size_arguments(&def.name.text, wanted, found, span));
        }
        let mut types: Vec<Ty> = args.iter().map(|arg| self.ty(arg, None)).collect();
        if !self.check_type_arguments(&def.name.text, def.params.len(), args, span) {
            types.resize_with(def.params.len(), || self.solver.error());
        }
        if self.expanding.is_empty() {
            self.too_large = false;
        }
        let vars = def.params.iter().map(|p| p.text.clone()).zip(types).collect();
        let outer = std::mem::replace(&mut self.type_vars, vars);
        self.expanding.push(entry.clone());
        // Names inside mean what they mean where the alias is defined.
        let user = std::mem::replace(&mut self.module, module);
        let scope = self.env.mark();
        let ty = match def.sizes.is_empty() {
            true => self.ty(body, place),
            false => {
                let body = self.with_sizes(def, body, sizes);
                let unbound = self.unbound.len();
                let inferred = self.inferred_sizes(def, sizes);
                let ty = self.ty(&body, place);
                // A size that nothing determines is not reported if inference must find it: the
                // user has not named it.
                let known = self.unbound.split_off(unbound.min(self.unbound.len()));
                self.unbound
                    .extend(known.into_iter().filter(|(local, _)| !inferred.contains(local)));
                ty
            }
        };
        self.env.restore(scope);
        self.module = user;
        self.expanding.pop();
        self.type_vars = outer;
        self.too_large |= self.solver.is_too_large(ty);
        if !self.too_large {
            if plain && self.solver.is_ground(ty) {
                self.solver.aliases.insert(entry, ty);
            }
            return ty;
        }
        // Each alias by itself may be small: the use of the outermost is to blame.
        if self.expanding.is_empty() {
            self.problems.push(messages::too_large_type(span));
        }
        self.solver.error()
    }

    /// The body of an alias with the sizes that its use gives; the others keep their names from the
    /// definition.
    fn with_sizes(&self, def: &TypeDef, body: &TypeExpr, sizes: &[Option<Expr>]) -> TypeExpr {
        let given = |(name, size): (&Name, &Option<Expr>)| Some((name.text.clone(), size.clone()?));
        let given: HashMap<Rc<str>, Expr> = def.sizes.iter().zip(sizes).filter_map(given).collect();
        with_sizes(body, &given)
    }

    /// Declares the sizes that a use of an alias leaves open; inference finds them.
    pub(super) fn inferred_sizes(&mut self, def: &TypeDef, sizes: &[Option<Expr>]) -> Vec<LocalId> {
        let mut inferred = Vec::new();
        for (k, name) in def.sizes.iter().enumerate() {
            if sizes.get(k).is_some_and(Option::is_some) {
                continue;
            }
            let (ty, size) = (self.solver.int(), self.solver.fresh_size());
            let local = self.local(&name.text, ty);
            self.locals[local.0 as usize].size = Some(size);
            self.env.bind(&name.text, LocalMeaning::Local(local));
            self.unbound.push((local, name.span));
            inferred.push(local);
        }
        inferred
    }

    /// The type with this name, which may be qualified as in `shapes.shape`, and the module that
    /// defines it.
    fn type_entry(&self, name: &str) -> Option<(usize, TypeEntry<'a>)> {
        if let Some((module, name)) = name.split_once('.') {
            let k = self.module_named(module)?;
            return Some((k, *self.scopes[k].types.get(name)?));
        }
        let modules = self.modules_of_type(name).into_iter();
        modules.filter_map(|k| Some((k, *self.scopes[k].types.get(name)?))).next()
    }

    fn type_variable(&mut self, name: &Name) -> Ty {
        if let Some(ty) = self.type_vars.get(&name.text) {
            return *ty;
        }
        let long = name.text.chars().count() > 2;
        if !self.expanding.is_empty()
            || name.text.contains('.')
            || (long && self.near_type(&name.text).is_some())
        {
            return self.unknown_type(name);
        }
        let ty = if self.rigid { self.solver.rigid(&name.text) } else { self.solver.fresh() };
        self.type_vars.insert(name.text.clone(), ty);
        ty
    }

    fn unknown_type(&mut self, name: &Name) -> Ty {
        let near = self.near_type(&name.text);
        self.problems.push(messages::unknown_type(&name.text, name.span, near));
        self.solver.error()
    }

    fn near_type(&self, name: &str) -> Option<String> {
        let scope = &self.scopes[self.module];
        let known = std::iter::once(&self.module).chain(scope.imports.values());
        let known = known.flat_map(|k| self.scopes[*k].types.keys()).map(|name| &**name);
        if let Some(ours) = foreign_type(name) {
            return Some(ours.to_string());
        }
        lambada_source::suggest(name, ["real", "int", "bool"].into_iter().chain(known))
    }

    /// Resolves a written size.
    fn written_size(&mut self, size: &Expr, place: Option<&ParamPath>) -> Poly {
        if let ExprKind::Var(name) = &size.kind {
            match self.env.get(name).cloned() {
                Some(LocalMeaning::Local(local)) => {
                    self.claim(place, size.span, |infer| infer.named_claim(local, size));
                    let known = self.locals[local.0 as usize].ty;
                    self.expect_size(local, known, size.span);
                    return self.local_size(local);
                }
                Some(
                    LocalMeaning::Function(..)
                    | LocalMeaning::Accumulator(..)
                    | LocalMeaning::Recursive(..)
                    | LocalMeaning::Unmarked(_),
                ) => {}
                None if self.global_named(name).is_none() => {
                    let near = lambada_source::suggest(name, self.env.names());
                    self.problems.push(messages::unknown_size(name, size.span, near));
                    return self.opaque();
                }
                None => {}
            }
        }
        let int = self.solver.int();
        let value = self.check(size, int, &Why::Form("a size in a type"));
        let poly = self.size_of(&value).unwrap_or_else(|| self.opaque());
        let text: Rc<str> = lambada_surface::print_expr(size).into();
        self.claim(place, size.span, |_| SizeFact::Equals(Box::new(value), text));
        poly
    }

    /// Requires a variable used as a size to be an `int`. If it is not, one of the two is probably
    /// misspelled, so no more is reported of it.
    pub(super) fn expect_size(&mut self, local: LocalId, ty: Ty, span: Span) {
        if self.solver.has_error(self.locals[local.0 as usize].ty) {
            return;
        }
        let (int, before) = (self.solver.int(), self.problems.len());
        self.expect_type(ty, int, span, &Why::Form("a size in a type"));
        if self.problems.len() > before {
            self.locals[local.0 as usize].ty = self.solver.error();
        }
    }

    fn claim(
        &mut self,
        place: Option<&ParamPath>,
        span: Span,
        said: impl FnOnce(&mut Infer<'a>) -> SizeFact,
    ) {
        let Some(place) = place else { return };
        let what = said(self);
        self.claims.push(Claim {
            param: place.param,
            path: place.path.clone(),
            what,
            owner: place.describe(),
            span,
        });
    }

    /// A size variable is bound at its first place; every later place claims equality.
    fn named_claim(&mut self, local: crate::typed::LocalId, size: &Expr) -> SizeFact {
        if let Some(k) = self.unbound.iter().position(|(other, _)| *other == local) {
            self.unbound.remove(k);
            return SizeFact::Bind(local);
        }
        let info = &self.locals[local.0 as usize];
        let (ty, name) = (info.ty, info.name.clone());
        SizeFact::Equals(Box::new(Exp { kind: ExpKind::Local(local), ty, span: size.span }), name)
    }
}

/// The type with sizes in place of names.
fn with_sizes(ty: &TypeExpr, given: &HashMap<Rc<str>, Expr>) -> TypeExpr {
    let all = |items: &[TypeExpr]| items.iter().map(|ty| with_sizes(ty, given)).collect();
    let boxed = |ty: &TypeExpr| Box::new(with_sizes(ty, given));
    let size = |size: &Expr| {
        let mut size = size.clone();
        replace_names(&mut size, given);
        size
    };
    let kind = match &ty.kind {
        TypeKind::Name(name, sizes, items) => {
            let sizes = sizes.iter().map(|one| one.as_ref().map(size)).collect();
            TypeKind::Name(name.clone(), sizes, all(items))
        }
        TypeKind::Tuple(items) => TypeKind::Tuple(all(items)),
        TypeKind::Record(fields) => TypeKind::Record(
            fields.iter().map(|(name, ty)| (name.clone(), with_sizes(ty, given))).collect(),
        ),
        TypeKind::Array(one, elem) => {
            TypeKind::Array(one.as_deref().map(|one| Box::new(size(one))), boxed(elem))
        }
        TypeKind::Function(from, to) => TypeKind::Function(boxed(from), boxed(to)),
        TypeKind::Error => TypeKind::Error,
    };
    TypeExpr { kind, span: ty.span }
}

fn replace_names(expr: &mut Expr, given: &HashMap<Rc<str>, Expr>) {
    if let ExprKind::Var(name) = &expr.kind {
        if let Some(size) = given.get(name) {
            *expr = size.clone();
        }
        return;
    }
    children_mut(expr, &mut |child| replace_names(child, given));
}

/// The type that other languages call by this name.
fn foreign_type(name: &str) -> Option<&'static str> {
    match name {
        "float" | "double" | "f64" | "f32" | "float64" | "float32" => Some("real"),
        "integer" | "i64" | "i32" | "int64" | "int32" => Some("int"),
        "boolean" => Some("bool"),
        "unit" => Some("()"),
        _ => None,
    }
}
