//! Type definitions; imports, which give names to modules and to their members.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_source::{Span, suggest};
use lambada_surface::ast::{Import, Item, Module, Name, TypeBody, TypeDef, TypeExpr};

use crate::input::{import_key, import_name};
use crate::messages;
use crate::solve::ty::{GENERIC, Node, Ty, Variant, VariantId};

use super::apply::is_private;
use super::{Infer, TypeEntry};

impl<'a> Infer<'a> {
    /// Declares the names of types and constructors.
    pub(super) fn declare_types(&mut self, module: usize, syntax: &'a Module) {
        for item in &syntax.items {
            let Item::Type(def) = item else { continue };
            let entry = match &def.body {
                TypeBody::Alias(_) => TypeEntry::Alias(def),
                TypeBody::Variant(constructors) => {
                    TypeEntry::Variant(self.declare_variant(module, def, constructors))
                }
            };
            if ["real", "int", "bool"].contains(&&*def.name.text)
                || self.scopes[module].types.contains_key(&def.name.text)
            {
                self.problems.push(messages::duplicate_type(&def.name.text, def.name.span));
                continue;
            }
            self.scopes[module].types.insert(def.name.text.clone(), entry);
        }
    }

    fn declare_variant(
        &mut self,
        module: usize,
        def: &'a TypeDef,
        constructors: &[(Name, Vec<TypeExpr>)],
    ) -> VariantId {
        let id = VariantId(self.solver.variants.len() as u32);
        let params = self.type_parameters(&def.params);
        for (tag, (name, _)) in constructors.iter().enumerate() {
            if self.scopes[module].constructors.contains_key(&name.text) {
                self.problems.push(messages::duplicate_constructor(&name.text, name.span));
                continue;
            }
            self.scopes[module].constructors.insert(name.text.clone(), (id, tag));
        }
        let constructors =
            constructors.iter().map(|(name, _)| (name.text.clone(), Vec::new())).collect();
        let (name, sizes) = (def.name.text.clone(), Vec::new());
        self.solver.variants.push(Variant { name, params, sizes, constructors });
        self.variant_defs.push((module, def));
        id
    }

    fn type_parameters(&mut self, params: &[Name]) -> Vec<Ty> {
        for (k, param) in params.iter().enumerate() {
            if let Some(first) = params[..k].iter().find(|other| other.text == param.text) {
                self.problems.push(messages::duplicate_variable(
                    &param.text,
                    param.span,
                    first.span,
                ));
            }
        }
        let outer = std::mem::replace(&mut self.solver.level, GENERIC);
        let types = params.iter().map(|param| self.solver.rigid(&param.text)).collect();
        self.solver.level = outer;
        types
    }

    /// Declares the imports of all modules, whose definitions and types are declared.
    pub(super) fn declare_imports(&mut self, modules: &[(Rc<str>, &'a Module)]) {
        let names: Vec<Rc<str>> = modules.iter().map(|(name, _)| name.clone()).collect();
        for (k, (_, module)) in modules.iter().enumerate() {
            for item in &module.items {
                if let Item::Import(import) = item {
                    self.declare_import(k, import, &names);
                }
            }
        }
    }

    fn declare_import(&mut self, module: usize, import: &Import, names: &[Rc<str>]) {
        let main = names.len() - 1;
        let key = import_key((module != main).then_some(&*names[module]), &import.path);
        let (path, span) = (&import.path, import.span);
        match (1..main).find(|k| *names[*k] == key) {
            Some(k) if k == module => self.problems.push(messages::cyclic_import(path, span, &[])),
            Some(k) => {
                if let Some(name) = import_name(import, &key) {
                    self.name_import(module, name, k, span);
                }
                let base = key.rsplit('/').next().unwrap_or(&key);
                for name in import.names.iter().flatten() {
                    self.list_import(module, name, k, base);
                }
            }
            None => self.problems.push(messages::import_not_found(
                path,
                span,
                "no such file was given",
                None,
            )),
        }
    }

    fn name_import(&mut self, module: usize, name: Rc<str>, import: usize, span: Span) {
        let other = self.scopes[module].imports.insert(name.clone(), import);
        if other.is_some_and(|other| other != import) {
            self.problems.push(messages::imports_of_one_name(&name, span));
            self.scopes[module].ambiguous.insert(name);
        }
    }

    /// Makes one member of an import, or a type with its constructors, known without a module.
    fn list_import(&mut self, module: usize, name: &Name, import: usize, base: &str) {
        let scope = &self.scopes[import];
        let constructors = self.constructors_of(import, &name.text);
        let known = scope.defs.contains_key(&name.text)
            || scope.types.contains_key(&name.text)
            || scope.constructors.contains_key(&name.text);
        if !known {
            let members =
                scope.defs.keys().chain(scope.types.keys()).chain(scope.constructors.keys());
            let members = members.map(|member| &**member).filter(|member| !is_private(member));
            let near = suggest(&name.text, members);
            let is_in_prelude = self.is_in_prelude(&name.text);
            let (name, span) = (&name.text, name.span);
            self.problems.push(messages::unknown_member(base, name, span, near, is_in_prelude));
            return;
        }
        let own = &self.scopes[module];
        let defined = own.defs.contains_key(&name.text)
            || own.types.contains_key(&name.text)
            || own.constructors.contains_key(&name.text);
        let other = own.listed.get(&name.text).is_some_and(|other| *other != import);
        if defined || other {
            let problem = messages::imported_twice(&name.text, name.span, base, defined);
            self.problems.push(problem);
            return;
        }
        let listed = &mut self.scopes[module].listed;
        listed.insert(name.text.clone(), import);
        for constructor in constructors {
            listed.entry(constructor).or_insert(import);
        }
    }

    /// The constructors of a type of a module.
    fn constructors_of(&self, module: usize, name: &str) -> Vec<Rc<str>> {
        match self.scopes[module].types.get(name) {
            Some(TypeEntry::Variant(id)) => {
                let constructors = &self.solver.variant(*id).constructors;
                constructors.iter().map(|(name, _)| name.clone()).collect()
            }
            Some(TypeEntry::Alias(_)) | None => Vec::new(),
        }
    }

    /// The modules in which a name without a module is looked up, in order: the module itself, the
    /// import that lists it, and the prelude.
    pub(super) fn modules_of(&self, name: &str) -> impl Iterator<Item = usize> + use<'a> {
        let listed = self.scopes[self.module].listed.get(name).copied();
        [Some(self.module), listed, Some(0)].into_iter().flatten()
    }

    /// [`Infer::modules_of`] for types and constructors: before the prelude come all imports that
    /// have a name.
    pub(super) fn modules_of_type(&self, name: &str) -> Vec<usize> {
        let mut imports: Vec<usize> = self.scopes[self.module].imports.values().copied().collect();
        imports.sort_unstable();
        let mut modules: Vec<usize> = self.modules_of(name).collect();
        let prelude = modules.pop();
        modules.into_iter().chain(imports).chain(prelude).collect()
    }

    /// Resolves the types of the constructors' fields, and reports infinite types.
    pub(super) fn resolve_constructors(&mut self, modules: &[(Rc<str>, &'a Module)]) {
        let mut variants = Vec::new();
        let mut next = 0;
        for (k, (_, module)) in modules.iter().enumerate() {
            self.module = k;
            for item in &module.items {
                let Item::Type(def) = item else { continue };
                match &def.body {
                    TypeBody::Alias(body) => self.check_alias(def, body),
                    TypeBody::Variant(constructors) => {
                        let id = VariantId(next);
                        next += 1;
                        self.constructor_types(id, def, constructors);
                        variants.push((id, def));
                    }
                }
            }
        }
        self.check_growth(&variants);
    }

    /// Reports types that contain themselves at ever larger arguments: their expansion does not
    /// end.
    fn check_growth(&mut self, variants: &[(VariantId, &TypeDef)]) {
        let mut nodes: Vec<Ty> = Vec::new();
        for (id, _) in variants {
            nodes.extend(&self.solver.variant(*id).params);
        }
        let node = |ty: Ty| nodes.iter().position(|known| *known == ty);
        let (mut edges, mut owners) = (Vec::new(), Vec::new());
        for (id, def) in variants {
            for (inner, args) in self.variants_inside(*id) {
                let params = &self.solver.variant(inner).params;
                for (arg, param) in args.iter().zip(params) {
                    let root = self.solver.root(*arg);
                    for part in self.solver.unknowns(root) {
                        if let (Some(from), Some(to)) = (node(part), node(*param)) {
                            edges.push((from, to, part != root));
                            owners.push((*id, *def));
                        }
                    }
                }
            }
        }
        let growing = super::recursion::growing_edges(nodes.len(), &edges);
        let mut growing: Vec<(VariantId, &TypeDef)> =
            growing.into_iter().map(|k| owners[k]).collect();
        growing.dedup_by_key(|(id, _)| *id);
        for (id, def) in growing {
            self.problems.push(messages::growing_type(&def.name.text, def.name.span));
            self.forget_fields(id);
        }
    }

    /// The variants in the fields of a variant, with their arguments.
    fn variants_inside(&self, id: VariantId) -> Vec<(VariantId, Rc<[Ty]>)> {
        let mut inside = Vec::new();
        for ty in self.solver.variant(id).constructors.iter().flat_map(|(_, args)| args) {
            self.solver.visit(*ty, &mut |solver, part| {
                if let Node::Variant(id, args) = solver.get(part) {
                    inside.push((*id, args.clone()));
                }
            });
        }
        inside
    }

    /// Reports problems in an alias; each use expands it anew.
    fn check_alias(&mut self, def: &'a TypeDef, body: &'a TypeExpr) {
        let vars: HashMap<Rc<str>, Ty> =
            def.params.iter().map(|p| (p.text.clone(), self.solver.fresh())).collect();
        let outer = std::mem::replace(&mut self.type_vars, vars);
        self.expanding.push((self.module, def.name.text.clone()));
        let scope = self.env.mark();
        self.inferred_sizes(def, &[]);
        self.unbound.clear();
        self.ty(body, None);
        self.env.restore(scope);
        self.expanding.pop();
        self.type_vars = outer;
    }

    fn constructor_types(
        &mut self,
        id: VariantId,
        def: &TypeDef,
        constructors: &[(Name, Vec<TypeExpr>)],
    ) {
        let params = self.solver.variant(id).params.clone();
        let vars = def.params.iter().map(|p| p.text.clone()).zip(params).collect();
        let outer = std::mem::replace(&mut self.type_vars, vars);
        let scope = self.env.mark();
        self.regions.push(Vec::new());
        let atoms = self.declare_sizes(&def.sizes);
        self.unbound.clear();
        let names = def.sizes.iter().map(|name| name.text.clone());
        self.solver.variants[id.0 as usize].sizes = names.zip(atoms).collect();
        self.expanding.push((self.module, Rc::from("")));
        for (tag, (_, args)) in constructors.iter().enumerate() {
            let args: Vec<Ty> = args.iter().map(|arg| self.ty(arg, None)).collect();
            self.solver.variants[id.0 as usize].constructors[tag].1 = args;
        }
        self.close_region();
        self.expanding.pop();
        self.env.restore(scope);
        self.type_vars = outer;
    }

    fn forget_fields(&mut self, id: VariantId) {
        let error = self.solver.error();
        let constructors = &mut self.solver.variants[id.0 as usize].constructors;
        constructors.iter_mut().flat_map(|(_, args)| args).for_each(|arg| *arg = error);
    }
}
