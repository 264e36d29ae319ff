//! anf → loops: buffers, destinations, updates in place, arena scopes.
//!
//! Γ ⊢ function : τ  becomes a function over buffers that computes the same, with no copy that the meaning does not ask for.
//!
//! *Assumes* a function that `lambada_anf::check` accepts. *Gives* one that `lambada_loops::check` accepts, with the sizes as leading
//! parameters. *Keeps* results bit for bit, and failures.
//!
//! - Scalars become registers, what loops carry becomes cells, arrays become places: parts of buffers, row-major.
//! - `x[i]` of a matrix is a view, not a copy.
//! - An array is built where it is wanted: in a slot of the enclosing `for`'s result, or in the buffer of the loop's next state.
//! - An array is overwritten where its memory is ours and nobody mentions it again ([`liveness`]); else it is copied first.
//! - Address arithmetic stands outside of the loops that it does not depend on ([`emit`]).

mod accumulators;
mod advance;
mod arrays;
mod blocks;
mod branches;
mod emit;
mod facts;
mod fors;
mod liveness;
mod matmul;
mod moves;
mod offsets;
mod places;
mod scalars;
mod states;

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{Atom, Function, Ty, Var};
use lambada_loops::{Function as Loops, Operand, Param, Return};
use lambada_prim::{Prim, ScalarTy};
use lambada_source::{Site, Span};

use emit::Emit;
use facts::Facts;
use liveness::Frame;
use places::{Place, Storages, Value};

/// Lowers a function.
pub fn lower(source: &Function) -> Loops {
    let mut lower = Lower::new(source);
    lower.parameters();
    let body = &source.body;
    lower.within(body, &[], |lower| {
        let results = lower.block(body, &[]);
        lower.finish(&results);
    });
    let mut emit = lower.emit;
    let stmts = emit.close();
    emit.function.body = stmts;
    emit.function
}

struct Lower<'a> {
    source: &'a Function,
    facts: Facts,
    emit: Emit,
    store: Storages,
    /// By variable.
    values: Vec<Option<Value>>,
    /// By variable: how many blocks are around the one that binds it.
    depths: Vec<usize>,
    /// The blocks that are being lowered, innermost last.
    frames: Vec<Frame<'a>>,
    /// By array that is yet to be built: where it should be.
    wanted: HashMap<Var, Place>,
    /// The number of each site.
    sites: HashMap<Site, u32>,
    /// The place in the program that the statements being lowered come from, as far as that is known.
    near: Option<Span>,
}

impl<'a> Lower<'a> {
    fn new(source: &'a Function) -> Lower<'a> {
        let count = source.names.len();
        Lower {
            source,
            facts: Facts::new(source),
            emit: Emit::new(&lambada_loops::identifier(&source.name)),
            store: Storages::default(),
            values: vec![None; count],
            depths: vec![0; count],
            frames: Vec::new(),
            wanted: HashMap::new(),
            sites: HashMap::new(),
            near: None,
        }
    }

    fn parameters(&mut self) {
        let source = self.source;
        self.emit.function.sizes = source.sizes.len();
        for size in &source.sizes {
            self.scalar_parameter(*size, ScalarTy::Int, true);
        }
        for p in &source.params {
            if p.ty.dims.is_empty() {
                self.scalar_parameter(p.var, p.ty.elem, false);
            } else {
                self.array_parameter(p.var, &p.ty);
            }
        }
    }

    fn scalar_parameter(&mut self, var: Var, elem: ScalarTy, is_size: bool) {
        let reg = self.emit.param(elem, is_size, self.hint(var));
        self.emit.function.params.push(Param::Scalar(reg));
        self.bind(var, Value::Scalar(reg.into()));
    }

    fn array_parameter(&mut self, var: Var, ty: &Ty) {
        let hint = self.hint(var);
        let buf = self.emit.function.buf(ty.elem, hint);
        self.emit.function.params.push(Param::Buffer(buf));
        let storage = self.store.foreign(buf);
        let dims = self.dims(ty);
        self.bind(var, Value::Array(Place { storage, offset: Operand::int(0), dims }));
    }

    /// Whoever calls copies results that are arrays, so a parameter or a part of an array may be given as it is.
    fn finish(&mut self, results: &[Value]) {
        for (k, value) in results.iter().enumerate() {
            let result = match value {
                Value::Scalar(operand) => Return::Scalar(*operand),
                Value::Array(place) => {
                    let dims = place.dims.iter().map(|d| self.natural(*d)).collect();
                    Return::Buffer(self.pointer(place), dims)
                }
                Value::Elements(_) | Value::Cell(_) => unreachable!("result {k} is no value"),
            };
            self.emit.function.results.push(result);
        }
    }

    fn hint(&self, var: Var) -> Rc<str> {
        self.source.names.hint(var)
    }

    /// The size, or 0 if it is negative.
    fn natural(&mut self, size: Operand) -> Operand {
        if self.emit.is_natural(size) {
            size
        } else {
            self.emit.int(Prim::MaxInt, size, Operand::int(0))
        }
    }

    fn value(&self, atom: Atom) -> Value {
        match atom {
            Atom::Lit(value) => Value::Scalar(Operand::Lit(value)),
            Atom::Var(var) => self.value_of(var).clone(),
        }
    }

    fn value_of(&self, var: Var) -> &Value {
        self.values[var.0 as usize].as_ref().expect("variables are bound before they are mentioned")
    }

    fn operand(&self, atom: Atom) -> Operand {
        match self.value(atom) {
            Value::Scalar(operand) => operand,
            Value::Array(_) | Value::Elements(_) | Value::Cell(_) => {
                unreachable!("{atom:?} is no scalar")
            }
        }
    }

    fn operands(&self, atoms: &[Atom]) -> Vec<Operand> {
        atoms.iter().map(|a| self.operand(*a)).collect()
    }

    fn place(&self, atom: Atom) -> Place {
        match self.value(atom) {
            Value::Array(place) => place,
            Value::Scalar(_) | Value::Elements(_) | Value::Cell(_) => {
                unreachable!("{atom:?} is no array in memory")
            }
        }
    }

    fn dims(&self, ty: &Ty) -> Rc<[Operand]> {
        ty.dims.iter().map(|d| self.operand(*d)).collect()
    }
}

#[cfg(test)]
mod tests;
