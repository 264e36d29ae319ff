//! Recursion: instances of mutually recursive functions, in the order of their groups.

use std::rc::Rc;

use lambada_core::{self as core, Def, DefId, Program, Term, Ty, Var};

use super::Specialize;
use crate::components::components;
use crate::typed::{Function, FunctionId};

impl Specialize<'_> {
    /// The instances of local functions that `term` and these functions themselves use, bound
    /// around the term.
    pub(super) fn recursive_instances(
        &mut self,
        functions: &[(FunctionId, Rc<Function>)],
        term: Term,
    ) -> Term {
        let mut made: Vec<(Var, Term)> = Vec::new();
        while let Some((k, types, var)) = self.missing_instance(functions, &made) {
            let (id, function) = &functions[k];
            let vars = self.from.function_vars(*id);
            self.scope.types.extend(vars.into_iter().zip(types));
            let value = self.function(function);
            made.push((var, value));
        }
        for (id, _) in functions {
            self.scope.functions.remove(id);
        }
        around(made, term)
    }

    /// An instance in use that has not been made yet.
    fn missing_instance(
        &self,
        functions: &[(FunctionId, Rc<Function>)],
        made: &[(Var, Term)],
    ) -> Option<(usize, Vec<Ty>, Var)> {
        functions.iter().enumerate().find_map(|(k, (id, _))| {
            let asked = self.scope.functions.get(id)?;
            let missing =
                asked.iter().find(|(_, var)| made.iter().all(|(known, _)| known != var))?;
            Some((k, missing.0.clone(), missing.1.clone()))
        })
    }

    /// The definitions in the order of their groups, the entry last.
    pub(super) fn ordered(mut self, entry: DefId) -> Program {
        let defs: Vec<Def> = self.defs.into_iter().flatten().collect();
        let mut finished = vec![0; defs.len()];
        self.finished.iter().enumerate().for_each(|(k, id)| finished[id.0 as usize] = k);
        let edges: Vec<Vec<usize>> = (self.finished.iter())
            .map(|id| defs[id.0 as usize].body.globals())
            .map(|ids| ids.into_iter().map(|id| finished[id.0 as usize]).collect())
            .collect();
        let mut place = vec![DefId(0); defs.len()];
        let mut order = Vec::new();
        for (group, members) in components(&edges).into_iter().enumerate() {
            let mut members: Vec<DefId> = members.into_iter().map(|k| self.finished[k]).collect();
            members.sort_by_key(|id| *id == entry);
            for id in members {
                place[id.0 as usize] = DefId(order.len() as u32);
                order.push((id, group as u32));
            }
        }
        let moved = order.iter().enumerate().any(|(k, (id, _))| k != id.0 as usize);
        let mut defs: Vec<Option<Def>> = defs.into_iter().map(Some).collect();
        for (id, group) in order {
            let Some(mut def) = defs[id.0 as usize].take() else { continue };
            def.group = group;
            if moved {
                def.body = def.body.renumbered(&place);
            }
            self.program.defs.push(def);
        }
        self.program
    }
}

/// Binds functions around a term, mutually recursive ones together.
fn around(made: Vec<(Var, Term)>, term: Term) -> Term {
    let place = |var: &Var| made.iter().position(|(known, _)| known == var);
    let edges: Vec<Vec<usize>> = made
        .iter()
        .map(|(_, value)| value.free_vars().iter().filter_map(place).collect())
        .collect();
    let groups = components(&edges);
    let mut made: Vec<Option<(Var, Term)>> = made.into_iter().map(Some).collect();
    groups.into_iter().rev().fold(term, |term, group| {
        let recursive = group.len() > 1 || edges[group[0]].contains(&group[0]);
        let mut functions: Vec<(Var, Term)> =
            group.into_iter().filter_map(|k| made[k].take()).collect();
        match (recursive, functions.len()) {
            (false, 1) => {
                let (var, value) = functions.remove(0);
                core::let_(var, value, term)
            }
            _ => core::let_rec(functions, term),
        }
    })
}
