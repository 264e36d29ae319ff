//! The local functions of a region as definitions.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{Atom, Block, Function, Param, Var};
use lambada_source::Span;
use lambada_surface::ast::{self, Def};
use lambada_surface::build;

use crate::locals::{Group, of_region};
use crate::printer::Printer;
use crate::regions::{Item, Region};

impl Printer<'_> {
    /// The local functions of a region, mutually recursive ones together. Brings the region's
    /// accumulators into scope.
    pub(crate) fn local_functions(&mut self, block: &Block, region: &Region) -> Vec<Vec<Def>> {
        let made = region.accs.iter().map(|it| it.acc);
        if self.locals.is_empty() {
            return Vec::new();
        }
        let mut at = Vec::new();
        statements(&region.items, &mut at);
        let stms = at.into_iter().map(|k| &block.stms[k]);
        let here = |var: Var| made.clone().any(|acc| acc == var);
        let groups = of_region(self.locals, stms, &here, &|var| self.open.contains(&var));
        self.open.extend(made);
        for k in groups.iter().flat_map(|group| &group.locals) {
            let name = self.tokens.fresh(&self.table.function(self.locals[*k].of));
            self.local_names.insert(*k, name);
        }
        groups.iter().map(|group| self.group(group)).collect()
    }

    fn group(&mut self, group: &Group) -> Vec<Def> {
        group.locals.iter().map(|k| self.local(*k, group.recursive)).collect()
    }

    /// `f (n : int) (xs : [n]real) : real = …`
    fn local(&mut self, k: usize, recursive: bool) -> Def {
        let Function { params, results, body, .. } = &self.locals[k].function;
        let names: HashMap<Var, Rc<str>> =
            params.iter().map(|p| (p.var, self.tokens.bind(p.var))).collect();
        let size = |atom: Atom| names.get(&atom.as_var()?).map(|name| build::var(name.clone()));
        let param = |p: &Param| ast::Param {
            pattern: build::binds(names[&p.var].clone()),
            ty: Some(self.table.ty(&p.ty, &size)),
        };
        let mut params: Vec<ast::Param> = params.iter().map(param).collect();
        if params.is_empty() {
            params.push(ast::Param { pattern: build::tuple_pattern(Vec::new()), ty: None });
        }
        // A size that is no parameter has no name in the head.
        let known = |dim: &Atom| dim.as_var().is_none() || size(*dim).is_some();
        let known = results.iter().all(|ty| ty.dims.iter().all(known));
        let all = || results.iter().map(|ty| self.table.ty(ty, &size)).collect();
        let result = known.then(|| build::tuple_ty(all()));
        Def {
            doc: None,
            recursive,
            name: build::name(self.local_names[&k].clone()),
            sizes: Vec::new(),
            params,
            result,
            body: self.block(body, &body.results, true),
            rules: Vec::new(),
            span: Span::default(),
        }
    }
}

/// The statements of some items, nested ones included.
fn statements(items: &[Item], all: &mut Vec<usize>) {
    for item in items {
        match item {
            Item::Stm(k) => all.push(*k),
            Item::Region(region) => statements(&region.items, all),
        }
    }
}
