//! A compiled program that any number of threads may call.

use std::sync::Arc;

use lambada_core::Data;
use lambada_loops::Seen;
use lambada_normalize::{Inspection, Layout, Shape};
use lambada_prim::{Memory, Tensor};
use lambada_run::{Call, Cancel, Kernel};
use lambada_source::{Failure, Problem, Sources, stack};

use super::arg::{Arg, Args, Misplaced, Ordered};
use super::error::Error;
use super::output::{Output, Parts, ResultMemory};
use super::plan::{Leaf, Leaves, Plan, Slot};
use super::value::Value;
use crate::messages::data as messages;
use crate::pipeline::{Arrays, arrays_with, size_sources, trapped};
use crate::{Call as Prepared, Engine, Observer, Options};

/// A compiled program and the interface of its parameters and results.
pub(crate) struct Compiled {
    /// Name of the definition, for messages.
    name: Arc<str>,
    pub(crate) plan: Plan,
    result: Layout,
    kernel: Kernel,
    inspections: Vec<Inspection>,
    sources: Sources,
}

impl Compiled {
    /// Compiles a program. The parameters in `extra` come last; several tangents form a tuple.
    pub(crate) fn new(
        call: &Prepared,
        extra: Extra,
        sources: &Sources,
        options: &Options,
    ) -> Result<Compiled, Vec<Problem>> {
        stack::roomy(|| Compiled::made(call, extra, sources, options))
    }

    fn made(
        call: &Prepared,
        extra: Extra,
        sources: &Sources,
        options: &Options,
    ) -> Result<Compiled, Vec<Problem>> {
        let arrays = trapped(arrays_with(&call.program, call.entry, options)?, options);
        Compiled::of(call, &arrays, extra, sources, options)
    }

    /// Compiles the arrays of a call.
    pub(crate) fn of(
        call: &Prepared,
        arrays: &Arrays,
        extra: Extra,
        sources: &Sources,
        options: &Options,
    ) -> Result<Compiled, Vec<Problem>> {
        // A run that starts over would show values twice.
        let meanwhile = options.meanwhile && arrays.normalized.inspections.is_empty();
        let options = &Options { meanwhile, ..options.clone() };
        let kernel = crate::pipeline::compiled(&arrays.optimized, options)?;
        let types = &call.program.def(call.entry).signature.params;
        let mut params = Vec::new();
        for ((name, layout), (_, ty)) in arrays.normalized.params.iter().zip(types) {
            let expected = crate::data::print_type(&call.program, ty);
            params.push((name.clone(), expected, layout.clone()));
        }
        let params = extra.split(params);
        let sizes = size_sources(&arrays.optimized);
        let sizes = sizes.iter().map(|source| (source.argument, source.axis)).collect();
        Ok(Compiled {
            name: call.name().into(),
            plan: Plan::new(params, sizes),
            result: arrays.normalized.result.clone(),
            kernel: limited(kernel, options.memory()),
            inspections: arrays.normalized.inspections.clone(),
            sources: sources.clone(),
        })
    }

    /// The code.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The layout of the result.
    pub(crate) fn result(&self) -> &Layout {
        &self.result
    }

    /// The sizes that the code takes, and the leaves of the last arguments, `data`. `first` are the
    /// leaves of those before.
    pub(crate) fn fixed(
        &self,
        first: Vec<Tensor>,
        data: &[Data],
    ) -> Result<(Vec<i64>, Vec<Tensor>), Problem> {
        let moving = first.len();
        let mut tensors = first;
        tensors.extend(self.plan.flattened(data)?);
        let filled = self.plan.compare(&tensors.iter().map(Leaf::Tensor).collect::<Leaves>())?;
        for (k, tensor) in filled {
            tensors[k] = tensor;
        }
        let leaves = tensors.iter().map(Leaf::Tensor).collect::<Leaves>();
        let sizes = self.plan.sizes(&leaves).collect();
        drop(leaves);
        Ok((sizes, tensors.split_off(moving)))
    }

    /// The engine that runs the program.
    pub(crate) fn engine(&self) -> Engine {
        match self.kernel.engine() {
            lambada_run::Engine::Native => Engine::Native,
            lambada_run::Engine::Jit => Engine::Jit,
            lambada_run::Engine::Interpreter => Engine::Loops,
        }
    }

    /// Orders the arguments of the parameters `from..to` into `ordered`, each present or absent.
    pub(crate) fn order<'s>(
        &'s self,
        args: &'s Args<'_>,
        from: usize,
        to: usize,
        ordered: &mut Ordered<'s>,
    ) -> Result<(), Error> {
        let slots = &self.plan.slots[from..to];
        let placed = args.in_order(slots.iter().map(|slot| &*slot.name), ordered);
        placed.map_err(|misplaced| self.misplaced(&misplaced, slots))
    }

    /// As [`order`](Compiled::order), returning a new list.
    pub(crate) fn ordered<'s>(
        &'s self,
        args: &'s Args<'_>,
        from: usize,
        to: usize,
    ) -> Result<Ordered<'s>, Error> {
        let mut ordered = Ordered::new();
        self.order(args, from, to, &mut ordered)?;
        Ok(ordered)
    }

    #[cold]
    fn misplaced(&self, misplaced: &Misplaced<'_>, slots: &[Slot]) -> Error {
        let known: Vec<&str> = slots.iter().map(|slot| &*slot.name).collect();
        Error::call(&match misplaced {
            Misplaced::Unknown(name) => messages::unknown(&self.name, name, "the call", &known),
            Misplaced::Twice(name) if !name.is_empty() => {
                messages::twice(name, "its place", "its name")
            }
            Misplaced::Twice(_) | Misplaced::TooMany => {
                messages::too_many(&self.name, "the last of the call", &known)
            }
        })
    }

    /// The error for a parameter without a value.
    pub(crate) fn missing(&self, slot: usize) -> Error {
        let slot = &self.plan.slots[slot];
        Error::call(&messages::no_value(&self.name, &slot.name, slot.expected()))
    }

    /// Runs `then` on a call with one argument for each parameter.
    fn with<R>(
        &self,
        given: &[Option<&Arg<'_>>],
        then: impl FnOnce(&mut Call<'_, '_>, &Leaves<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let (copies, filled);
        let mut leaves = Leaves::new();
        if !self.plan.lend(given, &mut leaves) {
            copies = self.plan.copies(given).map_err(|problem| Error::call(&problem))?;
            leaves.clear();
            self.plan.leaves(given, &copies, &mut leaves);
        }
        filled = self.plan.compare(&leaves).map_err(|problem| Error::call(&problem))?;
        for (k, tensor) in &filled {
            leaves[*k] = Leaf::Tensor(tensor);
        }
        let sizes = self.plan.sizes(&leaves);
        let args = leaves.iter().map(|leaf| leaf.argument());
        let done = self.kernel.with(sizes, args, |call| then(call, &leaves));
        done.unwrap_or_else(|failure| Err(self.failed(&failure)))
    }

    /// Runs the program and passes inspected values to the observer.
    fn run<R>(
        &self,
        call: &mut Call<'_, '_>,
        observer: Option<&Observer>,
        run: impl FnOnce(&mut Call<'_, '_>, Seen) -> Result<R, Failure>,
    ) -> Result<R, Error> {
        let seen = |number: u32, parts: Vec<Tensor>| {
            if let (Some(observer), Some(shown)) = (observer, self.inspections.get(number as usize))
            {
                observer(&shown.site, &shown.layout.unflatten(&mut parts.into_iter()));
            }
        };
        let ended =
            if call.is_native() { run(call, &seen) } else { stack::roomy(|| run(call, &seen)) };
        ended.map_err(|failure| self.failed(&failure))
    }

    #[cold]
    fn failed(&self, failure: &Failure) -> Error {
        match Cancel::current() {
            Some(cancel) if cancel.is_cancelled() => Error::interrupted(&self.name),
            _ => Error::running(&self.sources, failure),
        }
    }

    /// Runs the program and returns the result as a value.
    pub(crate) fn value(
        &self,
        given: &[Option<&Arg<'_>>],
        observer: Option<&Observer>,
    ) -> Result<Value, Error> {
        self.with(given, |call, _| {
            self.run(call, observer, |call, seen| {
                call.take(seen, |results| Value::from(self.result.unflatten(results)))
            })
        })
    }

    /// Runs the program and writes the result into `output`.
    pub(crate) fn write(
        &self,
        given: &[Option<&Arg<'_>>],
        observer: Option<&Observer>,
        output: &mut dyn Output,
    ) -> Result<(), Error> {
        self.with(given, |call, leaves| {
            let mut memory = ResultMemory::default();
            output.lend(&mut memory);
            let places = memory.free(leaves.iter().map(|leaf| leaf.argument()));
            self.run(call, observer, |call, seen| match places.is_empty() {
                true => call.run(seen),
                false => call.run_into(seen, &places),
            })?;
            drop(places);
            let mut parts = Parts::new(call.results());
            output.receive(&mut parts)?;
            parts.end()
        })
    }
}

fn limited(mut kernel: Kernel, memory: Memory) -> Kernel {
    kernel.limit(memory);
    kernel
}

/// Parameters of a derivative besides the arguments of the definition.
#[derive(Clone, Debug)]
pub(crate) enum Extra {
    /// No further parameter.
    None,
    /// One tangent for each parameter or field in the list, with its type.
    Tangents(Vec<(Arc<str>, String)>),
    /// A cotangent of the result.
    Cotangent,
}

/// A parameter: name, type and layout.
type Param = (Arc<str>, String, Layout);

impl Extra {
    /// Replaces the tuple of tangents by one parameter for each tangent, named like its primal.
    fn split(&self, mut params: Vec<Param>) -> Vec<Param> {
        let Extra::Tangents(names) = self else { return params };
        let Some((name, expected, layout)) = params.pop() else { return params };
        match (layout.shape(), &names[..]) {
            (_, [(single, _)]) => params.push((single.clone(), expected, layout)),
            (Shape::Tuple(shapes), names)
                if layout.table().types.is_empty() && shapes.len() == names.len() =>
            {
                for ((name, expected), shape) in names.iter().zip(shapes) {
                    params.push((name.clone(), expected.clone(), Layout::new(shape.clone())));
                }
            }
            _ => params.push((name, expected, layout)),
        }
        params
    }
}
