//! anf → loops: buffers, destinations, updates in place, arena scopes.
//!
//! Γ ⊢ function : τ  becomes a function over buffers with the same results, and without copies that
//! the meaning does not require.
//!
//! *Assumes* a function that `lambada_anf::check` accepts. *Gives* one that `lambada_loops::check`
//! accepts, with the sizes as leading parameters. *Keeps* results bit for bit, and failures.
//!
//! - Scalars become registers, loop-carried scalars become cells, arrays become places: parts of
//!   buffers, row-major.
//! - `x[i]` of a matrix is a view, not a copy.
//! - An array is built in its wanted place: a slot of the enclosing `for`'s result, or the buffer
//!   of the loop's next state.
//! - An array is overwritten if its memory is writable and dead ([`liveness`]); else it is copied
//!   first.
//! - Functions of the library receive arrays by reference, and the places for their results
//!   ([`signatures`]).
//! - Address arithmetic leaves the loops that it does not depend on ([`code`]).

mod accumulators;
mod advance;
mod array_prims;
mod arrays;
mod blocks;
mod branches;
mod calls;
mod code;
mod concatenations;
mod env;
mod facts;
mod fors;
mod functions;
mod kernels;
mod liveness;
mod memory;
mod moves;
mod nodes;
mod offsets;
mod overwritten;
mod ownership;
mod scalars;
mod signatures;
mod states;

use std::collections::HashMap;

use lambada_anf::{Block, Function, Library, Ty, Var};
use lambada_graph::Plan;
use lambada_loops::{Function as Loops, Library as LoopsLibrary, Operand, Return};
use lambada_prim::{Precision, ScalarTy};

use code::Code;
use env::Env;
use memory::{LoweredValue, Memory, Place};
use signatures::{Signature, Signatures};

/// Lowers a function and its library, without kernels.
pub fn lower(source: &Function) -> Loops {
    lower_with(source, Plan::of(1))
}

/// Lowers a function and its library; kernels become loops according to the plan.
pub fn lower_with(source: &Function, plan: Plan) -> Loops {
    let library = &source.library;
    let signatures = Signatures::of(library);
    let precision = source.names.precision();
    let mut lower = Lower::new(source, library, &signatures, plan, precision);
    lower.parameters(source);
    let body = &source.body;
    lower.within(body, &[], |lower| {
        let results = lower.block(body, &[]);
        lower.finish(&results);
    });
    let function = |(k, function): (u32, &Option<Function>)| match function {
        Some(function) => {
            let signature: &Signature = signatures.get(lambada_anf::FnId(k));
            Lower::new(function, library, &signatures, plan, precision)
                .function(function, signature)
        }
        None => Loops { precision, ..Loops::new("incomplete") },
    };
    let functions = (0..).zip(&library.functions).map(function).collect();
    let library = LoopsLibrary { nodes: nodes::node_types(library), functions };
    Loops { library, ..lower.code.finish() }
}

/// The parts of the work, each with its own rules. Operations that need several parts are methods
/// here, one file per construct.
struct Lower<'a> {
    /// The lowered variables, and their liveness.
    env: Env<'a>,
    /// The function so far.
    code: Code,
    /// The storages of arrays, and the wanted places.
    memory: Memory,
    /// The callees.
    library: &'a Library,
    signatures: &'a Signatures,
    /// The plan for the loops of kernels.
    plan: Plan,
    /// By array under concatenation: the places of its parts.
    planned: HashMap<Var, Vec<Place>>,
}

impl<'a> Lower<'a> {
    fn new(
        source: &'a Function,
        library: &'a Library,
        signatures: &'a Signatures,
        plan: Plan,
        precision: Precision,
    ) -> Lower<'a> {
        Lower {
            env: Env::new(source, signatures),
            code: Code::new(&lambada_loops::identifier(&source.name), precision),
            memory: Memory::default(),
            library,
            signatures,
            plan,
            planned: HashMap::new(),
        }
    }

    fn parameters(&mut self, source: &Function) {
        self.code.set_sizes(source.sizes.len());
        for size in &source.sizes {
            self.scalar_parameter(*size, ScalarTy::Int, true);
        }
        for p in &source.params {
            if p.ty.dims.is_empty() {
                self.scalar_parameter(p.var, p.ty.elem.scalar(), false);
            } else {
                self.array_parameter(p.var, &p.ty);
            }
        }
    }

    fn scalar_parameter(&mut self, var: Var, elem: ScalarTy, is_size: bool) {
        let reg = self.code.scalar_param(elem, is_size, self.env.hint(var));
        self.bind(var, LoweredValue::Scalar(reg.into()));
    }

    fn array_parameter(&mut self, var: Var, ty: &Ty) {
        let buf = self.code.buffer_param(ty.elem.scalar(), self.env.hint(var));
        let storage = self.memory.foreign(buf);
        let dims = self.env.dims(ty);
        self.bind(var, LoweredValue::Array(Place { storage, offset: Operand::int(0), dims }));
    }

    /// Returns the results. The caller copies array results, so a parameter or a part of an array
    /// may be returned directly.
    fn finish(&mut self, results: &[LoweredValue]) {
        for (k, value) in results.iter().enumerate() {
            let result = match value {
                LoweredValue::Scalar(operand) => Return::Scalar(*operand),
                LoweredValue::Array(place) => {
                    let dims = place.dims.iter().map(|d| self.code.natural(*d)).collect();
                    Return::Buffer(self.pointer(place), dims)
                }
                LoweredValue::Elements(_) | LoweredValue::Cell(_) => {
                    unreachable!("result {k} is no value")
                }
            };
            self.code.add_result(result);
        }
    }

    /// Lowers code in a block; `again` are the blocks of the loop whose body it is.
    fn within<T>(
        &mut self,
        block: &'a Block,
        again: &[&'a Block],
        inside: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.env.enter(block, again);
        let result = inside(self);
        self.env.leave();
        result
    }

    /// Binds a variable in the current block.
    fn bind(&mut self, var: Var, value: LoweredValue) {
        if let LoweredValue::Array(place) = &value {
            self.memory.name(place.storage, var);
        }
        self.env.bind(var, value);
    }
}
