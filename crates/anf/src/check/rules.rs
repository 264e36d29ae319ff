//! Rules are functions of the library whose parameters and results agree with [`crate::Rules`].

use std::collections::HashMap;

use super::Check;
use crate::{Atom, Function, Library, Param, Renaming, Rule, Ty, Var, differentiable};

/// The rules of a function of the library.
pub(super) fn rules(library: &Library, function: &Function) -> Check {
    let Some(rules) = &function.rules else { return Ok(()) };
    if rules.all().next().is_none() {
        return Err("it has rules, but none in them".into());
    }
    if !function.accumulators.is_empty() {
        return Err("a function with rules takes accumulators".into());
    }
    let Some(own) = function.params.get(rules.captured..) else {
        return Err("it captures more than its parameters".into());
    };
    let inputs: Vec<Ty> = own.iter().map(|p| p.ty.clone()).filter(differentiable).collect();
    let outputs: Vec<Ty> =
        function.results.iter().filter(|ty| differentiable(ty)).cloned().collect();
    let check = |rule: Option<Rule>, from: &[Ty], to: &[Ty]| match rule {
        Some(rule) => signature(library, function, rule, from, to),
        None => Ok(()),
    };
    check(rules.jvp, &inputs, &outputs)?;
    check(rules.vjp, &outputs, &inputs)
}

/// The rule takes the parameters and results of the function, and then `from`; it gives `to`.
fn signature(library: &Library, function: &Function, rule: Rule, from: &[Ty], to: &[Ty]) -> Check {
    let Some(given) = library.function(rule.function) else {
        return Err(format!("there is no function {} for its rule yet", rule.function.0));
    };
    if given.rules.is_some() || !given.accumulators.is_empty() {
        return Err(format!("its rule {} has rules, or takes accumulators", given.name));
    }
    // A size that several results have is a parameter for each.
    let (mut renaming, mut aliases, mut seen) =
        (Renaming::new(), Renaming::new(), HashMap::<Var, Var>::new());
    let results = function.body.results.iter().zip(&function.results);
    let values = function
        .params
        .iter()
        .map(|p| (Atom::Var(p.var), &p.ty))
        .chain(results.map(|(a, ty)| (*a, ty)));
    let mut params = given.params.iter();
    let mut take = |ty: &Ty, renaming: &Renaming, aliases: &Renaming| -> Check<&Param> {
        let p = params.next().ok_or_else(|| format!("its rule {} takes too little", given.name))?;
        same(&given.name, &aliases.ty(&p.ty), &renaming.ty(ty)).map(|()| p)
    };
    for (atom, ty) in values {
        let p = take(ty, &renaming, &aliases)?;
        if let Atom::Var(x) = atom
            && *ty == Ty::int()
        {
            match seen.get(&x) {
                Some(first) => aliases.insert(p.var, (*first).into()),
                None => {
                    seen.insert(x, p.var);
                    renaming.insert(x, p.var.into());
                }
            }
        }
    }
    from.iter().try_for_each(|ty| take(ty, &renaming, &aliases).map(|_| ()))?;
    if params.next().is_some() || given.results.len() != to.len() {
        return Err(format!("its rule {} takes too much, or gives too little", given.name));
    }
    to.iter()
        .zip(&given.results)
        .try_for_each(|(ty, result)| same(&given.name, &aliases.ty(result), &renaming.ty(ty)))
}

fn same(name: &str, given: &Ty, expected: &Ty) -> Check {
    if given == expected {
        return Ok(());
    }
    Err(format!("its rule {name} has {given:?} where {expected:?} belongs"))
}
