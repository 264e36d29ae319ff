//! Type definitions.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_surface::ast::{Item, Module, Name, TypeBody, TypeDef, TypeExpr};

use crate::messages;
use crate::solve::ty::{GENERIC, Node, Ty, Variant, VariantId};

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
