//! Imports: the names before the members of a module, and the members that need no such name.

use std::rc::Rc;

use lambada_source::{Span, suggest};
use lambada_surface::ast::{Import, Item, Module, Name};

use crate::input::{import_key, import_name};
use crate::messages;

use super::apply::is_private;
use super::{Infer, TypeEntry};

impl<'a> Infer<'a> {
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
            None => {
                self.problems.push(messages::import_not_found(path, span, "no such file was given"))
            }
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
            self.problems.push(messages::unknown_member(base, &name.text, name.span, near));
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
}
