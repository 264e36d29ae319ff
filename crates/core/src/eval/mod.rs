//! The meaning of the language: a strict evaluator of core terms.
//!
//! `jvp` and `vjp` are evaluated by operator overloading: dual numbers, and a tape of scalars. Both
//! nest to any order, with each other too. Evaluating a derivative takes a constant factor longer
//! than evaluating the function. This shares no code with the passes that compile derivatives,
//! which are tested against it.

mod arrays;
mod code;
mod compile;
mod convert;
mod derive;
mod heap;
mod levels;
mod liveness;
mod machine;
mod real;
mod rehearsal;
mod rules;
mod shape;
mod value;

use std::rc::Rc;

use lambada_prim::Memory;
use lambada_source::{Failure, Site, Span};

use crate::{Data, DefId, Program, SizedTy, Term, Ty};
use machine::{Machine, Run, fail};
use value::Value;

/// Applies a definition to arguments. Fails, at the definition, if an argument does not have its
/// parameter's type or if the result contains functions.
pub fn run(program: &Program, entry: DefId, args: &[Data]) -> Result<Data, Failure> {
    let (limit, trap_nan) = (Memory::default(), false);
    run_with(program, entry, args, Settings { limit, trap_nan, seen: &|_, _| {} })
}

/// Settings of a run.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// Limit on the memory of values.
    pub limit: Memory,
    /// Whether making a NaN out of numbers is a failure.
    pub trap_nan: bool,
    /// Receives the inspected values, in the order of evaluation.
    pub seen: &'a dyn Fn(&Site, Data),
}

/// Like [`run`], with settings.
pub fn run_with(
    program: &Program,
    entry: DefId,
    args: &[Data],
    Settings { limit, trap_nan, seen }: Settings,
) -> Result<Data, Failure> {
    let show = |site: &Site, value: &Value, ty: &Ty| {
        seen(site, convert::to_picture(program, value, ty));
    };
    let _precision = real::computing(program.precision);
    let mut machine = Machine::new(program);
    machine.limit = limit;
    machine.seen = &show;
    machine.trap_nan = trap_nan;
    real::made();
    let def = program.def(entry);
    let function = machine.global(entry.0 as usize);
    finish(function.and_then(|function| {
        let types = Types { ty: def.body.ty(), sized: &def.signature.params };
        apply(program, &mut machine, function, types, args, def.span)
    }))
}

/// A closed term applied to arguments.
pub fn run_term(program: &Program, term: &Term, args: &[Data]) -> Result<Data, Failure> {
    let _precision = real::computing(program.precision);
    let mut machine = Machine::new(program);
    let function = machine.closed(term);
    finish(function.and_then(|function| {
        let types = Types { ty: term.ty(), sized: &[] };
        apply(program, &mut machine, function, types, args, term.span())
    }))
}

fn finish<T>(result: Run<T>) -> Result<T, Failure> {
    result.map_err(|failure| *failure)
}

/// The type of a function.
struct Types<'a> {
    ty: &'a Ty,
    /// The types of its parameters, if their sizes are known.
    sized: &'a [(Rc<str>, SizedTy)],
}

fn apply(
    program: &Program,
    machine: &mut Machine,
    function: Value,
    Types { mut ty, sized }: Types,
    args: &[Data],
    span: Span,
) -> Run<Data> {
    let mut values = Vec::new();
    for (k, arg) in args.iter().enumerate() {
        let Ty::Fun(from, to) = ty else {
            return fail(span, format!("{} arguments were given, but {k} are taken", args.len()));
        };
        match convert::to_value(program, arg, from) {
            Ok(value) => values.push(match sized.get(k) {
                Some((_, ty)) => convert::with_sizes(value, ty),
                None => value,
            }),
            Err(why) => return fail(span, format!("argument {}: {why}", k + 1)),
        }
        ty = to;
    }
    let result = machine.call(function, values)?;
    match convert::to_data(program, &result, ty) {
        Some(data) => Ok(data),
        None => fail(span, "the result contains a function"),
    }
}

#[cfg(test)]
mod tests;
