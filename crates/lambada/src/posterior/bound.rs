//! A compiled program whose last arguments are constant. The first ones are taken from one vector
//! of reals, without copies where machine code runs.

use std::ops::Range;

use lambada_core::Data;
use lambada_normalize::Shape;
use lambada_prim::{Scalar, Tensor};
use lambada_run::{Argument, Elements, Got, Lent};
use lambada_source::{Failure, Problem, Sources, stack};

use super::dependence::dependence;
use crate::api::Compiled;
use crate::messages::posterior as messages;
use crate::pipeline::{SizeSource, arrays_in_stages};
use crate::space::Variable;
use crate::{Call, Engine, Options};

/// A program with its constant arguments.
pub(super) struct Bound {
    compiled: Compiled,
    /// The leaves that come from the vector.
    leaves: Vec<(Vec<usize>, Range<usize>)>,
    data: Vec<Tensor>,
    sizes: Vec<i64>,
    /// Whether the results after the first depend on each argument.
    moved_by: Vec<bool>,
    /// Whether it has loops without a bound.
    may_not_end: bool,
}

impl Bound {
    /// Compiles a call whose first arguments are `coordinates`, in this order.
    pub(super) fn new(
        call: &Call,
        coordinates: &[Variable],
        data: &[Data],
        sources: &Sources,
        options: &Options,
    ) -> Result<Bound, Vec<Problem>> {
        let moving = call.parameters().len() - data.len();
        let (arrays, first) = arrays_in_stages(&call.program, call.entry, moving, options)?;
        let moved_by = dependence(&arrays.normalized, 1);
        let mut stms = arrays.normalized.function.body.stms.iter();
        let may_not_end = stms.any(|stm| stm.may_not_end());
        let compiled = Compiled::of(call, &arrays, crate::api::Extra::None, sources, options)?;
        let mut start = 0;
        let mut leaves = Vec::new();
        for Variable { dims, .. } in coordinates {
            let end = start + dims.iter().product::<usize>();
            leaves.push((dims.clone(), start..end));
            start = end;
        }
        let zeros = |(dims, range): &(Vec<usize>, Range<usize>)| {
            Tensor::reals(dims.clone(), vec![0.0; range.len()])
        };
        let (sizes, data) = compiled
            .fixed(leaves.iter().map(zeros).collect(), data)
            .map_err(|problem| vec![problem])?;
        let mut bound = Bound { compiled, leaves, data, sizes, moved_by, may_not_end };
        if let Some(first) = first {
            bound.data.extend(bound.before(&first, options)?);
        }
        Ok(bound)
    }

    /// The results of the first stage, which depends only on the data.
    fn before(
        &self,
        first: &lambada_anf::Function,
        options: &Options,
    ) -> Result<Vec<Tensor>, Vec<Problem>> {
        let quick = Options { engine: Engine::Jit, ..options.clone() };
        let mut kernel = crate::pipeline::compiled(first, &quick)?;
        kernel.limit(options.memory());
        let sizes = crate::pipeline::size_sources(first);
        let size = |source: &SizeSource| {
            Tensor::scalar(Scalar::Int(self.data[source.argument].dims[source.axis] as i64))
        };
        let args: Vec<Tensor> = sizes.iter().map(size).chain(self.data.iter().cloned()).collect();
        stack::roomy(|| kernel.call(&args))
            .map_err(|failure| vec![messages::failed_before(&failure)])
    }

    /// Runs the program on a vector; `receive` gets the results.
    fn run<R>(
        &self,
        from: &[f64],
        receive: impl FnOnce(&mut dyn Iterator<Item = Got<'_>>) -> R,
    ) -> Result<R, Failure> {
        let (moving, fixed) = (self.leaves.len(), self.data.len());
        let argument = |k: usize| match k.checked_sub(moving) {
            Some(k) => Argument::from(&self.data[k]),
            None => match &self.leaves[k] {
                (dims, at) if dims.is_empty() => Argument::Scalar(Scalar::Real(from[at.start])),
                (dims, at) => Argument::Array(dims, Lent::Real(&from[at.clone()])),
            },
        };
        let args = (0..moving + fixed).map(argument);
        self.compiled.kernel().with(self.sizes.iter().copied(), args, |call| {
            match call.is_native() {
                true => call.run(&|_, _| {})?,
                false => stack::roomy(|| call.run(&|_, _| {}))?,
            }
            Ok(receive(&mut call.results()))
        })?
    }

    /// Whether the results after the first, a gradient, depend on each argument.
    pub(super) fn moved_by(&self) -> &[bool] {
        &self.moved_by
    }

    /// Whether it has loops without a bound, e.g. those of a differential equation.
    pub(super) fn may_not_end(&self) -> bool {
        self.may_not_end
    }

    /// The result whose reals, one array after the other, are given.
    pub(super) fn structured(&self, arrays: &[Variable], reals: &[f64]) -> Data {
        let mut at = 0;
        let mut tensors = arrays.iter().map(|array| {
            let own = reals[at..at + array.count()].to_vec();
            at += array.count();
            Tensor::reals(array.dims.clone(), own)
        });
        self.compiled.result().unflatten(&mut tensors)
    }

    /// The layout of the result.
    pub(super) fn layout(&self) -> &Shape {
        self.compiled.result().shape()
    }

    /// The sizes of all arrays of the result, and their numbers one after the other.
    pub(super) fn numbers(&self, from: &[f64]) -> Result<(Vec<Vec<usize>>, Vec<f64>), Failure> {
        self.run(from, |results| {
            let (mut sizes, mut all) = (Vec::new(), Vec::new());
            for result in results {
                let tensor = result.tensor();
                all.extend(crate::vectors::numbers(&Data::Tensor(tensor.clone())));
                sizes.push(tensor.dims);
            }
            (sizes, all)
        })
    }

    /// Writes the reals of the results one after the other.
    pub(super) fn reals(&self, from: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        self.run(from, |results| {
            let mut at = 0;
            for result in results {
                match result {
                    Got::Scalar(Scalar::Real(x)) => {
                        out[at] = x;
                        at += 1;
                    }
                    Got::Array(_, Elements::Real(values)) => {
                        out[at..at + values.len()].copy_from_slice(values);
                        at += values.len();
                    }
                    Got::Array(_, Elements::Single(values)) => {
                        for x in values {
                            out[at] = f64::from(*x);
                            at += 1;
                        }
                    }
                    Got::Scalar(_) | Got::Array(..) => {}
                }
            }
        })
    }
}
