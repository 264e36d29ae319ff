//! The names of a program's modules, with the places where they are defined, for editors.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_source::Span;

use crate::builtin::Builtin;

/// The names of all modules of a program, looked up as inference does.
pub struct Names {
    /// The prelude first, the program last, the imports in the order of [`Input::imports`] between
    /// them.
    ///
    /// [`Input::imports`]: crate::Input::imports
    pub(crate) modules: Vec<Members>,
}

/// The names of a module.
#[derive(Default)]
pub(crate) struct Members {
    pub values: HashMap<Rc<str>, Span>,
    pub types: HashMap<Rc<str>, Span>,
    pub constructors: HashMap<Rc<str>, Span>,
    pub imports: HashMap<Rc<str>, usize>,
    pub listed: HashMap<Rc<str>, usize>,
}

/// The meaning of a name that no local binding hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// A definition, at the place of its name.
    Value(Span),
    /// A type, likewise.
    Type(Span),
    /// A constructor, likewise.
    Constructor(Span),
    /// A name that the language itself defines.
    Builtin,
}

impl Names {
    /// The number of the program itself among the modules.
    pub fn main(&self) -> usize {
        self.modules.len() - 1
    }

    /// A value by its name without a module, mentioned in a module.
    pub fn value(&self, module: usize, name: &str) -> Option<Meaning> {
        let found = self.visible(module, name).find_map(|k| self.modules[k].values.get(name));
        let builtin = || Builtin::find(name, false).map(|_| Meaning::Builtin);
        found.map(|place| Meaning::Value(*place)).or_else(builtin)
    }

    /// A constructor, which may be qualified.
    pub fn constructor(&self, module: usize, name: &str) -> Option<Meaning> {
        let find = |k: usize, name: &str| self.modules[k].constructors.get(name).copied();
        self.of_type(module, name, &find).map(Meaning::Constructor)
    }

    /// A type, which may be qualified.
    pub fn ty(&self, module: usize, name: &str) -> Option<Meaning> {
        let find = |k: usize, name: &str| self.modules[k].types.get(name).copied();
        let builtin = ["real", "int", "bool"].contains(&name).then_some(Meaning::Builtin);
        self.of_type(module, name, &find).map(Meaning::Type).or(builtin)
    }

    /// The module that an import gives this name, unless a definition hides it.
    pub fn import(&self, module: usize, name: &str) -> Option<usize> {
        let own = &self.modules[module];
        let free = !own.values.contains_key(name);
        let prelude = (name == "prelude").then_some(0);
        if free { own.imports.get(name).copied().or(prelude) } else { None }
    }

    /// A member of a module: a definition, a constructor or a type.
    pub fn member(&self, module: usize, name: &str) -> Option<Meaning> {
        let own = &self.modules[module];
        let value = || own.values.get(name).map(|place| Meaning::Value(*place));
        let constructor = || own.constructors.get(name).map(|place| Meaning::Constructor(*place));
        let ty = || own.types.get(name).map(|place| Meaning::Type(*place));
        value().or_else(constructor).or_else(ty)
    }

    /// All members of a module, in no order.
    pub fn members(&self, module: usize) -> impl Iterator<Item = (&Rc<str>, Meaning)> {
        let own = &self.modules[module];
        let values = own.values.iter().map(|(name, place)| (name, Meaning::Value(*place)));
        let types = own.types.iter().map(|(name, place)| (name, Meaning::Type(*place)));
        let constructors = own.constructors.iter();
        let constructors = constructors.map(|(name, place)| (name, Meaning::Constructor(*place)));
        values.chain(types).chain(constructors)
    }

    /// The imports of a module, by their names.
    pub fn imports(&self, module: usize) -> impl Iterator<Item = (&Rc<str>, usize)> {
        self.modules[module].imports.iter().map(|(name, k)| (name, *k))
    }

    /// The names that the imports of a module list, with the modules that define them.
    pub fn listed(&self, module: usize) -> impl Iterator<Item = (&Rc<str>, usize)> {
        self.modules[module].listed.iter().map(|(name, k)| (name, *k))
    }

    /// The modules in which a name is looked up, in order.
    fn visible(&self, module: usize, name: &str) -> impl Iterator<Item = usize> + use<> {
        let listed = self.modules[module].listed.get(name).copied();
        [Some(module), listed, Some(0)].into_iter().flatten()
    }

    fn of_type(
        &self,
        module: usize,
        name: &str,
        find: &dyn Fn(usize, &str) -> Option<Span>,
    ) -> Option<Span> {
        if let Some((qualifier, name)) = name.split_once('.') {
            return find(self.import(module, qualifier)?, name);
        }
        let mut imports: Vec<usize> = self.modules[module].imports.values().copied().collect();
        imports.sort_unstable();
        let mut modules: Vec<usize> = self.visible(module, name).collect();
        let prelude = modules.pop();
        modules.into_iter().chain(imports).chain(prelude).find_map(|k| find(k, name))
    }
}
