//! Sparse Jacobians and Hessians of whole definitions. The prelude finds their entries in Lambada
//! code, so the derivative is a definition after those of the file:
//!
//! ```text
//!   def … a₁ … aₙ = (f a₁ … aₙ, sparse_jacobian (\w -> f a₁ … w … aₙ) aₖ)
//! ```
//!
//! Its names begin with an underscore and the name of `f`, so that they clash with no others.

use lambada_core::{Signature, SizedTy};
use lambada_elaborate::{Input, Shape, elaborate};
use lambada_prim::ScalarTy;
use lambada_source::{Problem, stack};

use crate::call::Call;
use crate::data::Inputs;
use crate::messages::derivatives as messages;
use crate::{Unit, operators};

/// Kind of sparse matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sparse {
    /// For a definition whose result is a vector.
    Jacobian,
    /// For a definition whose result is a real.
    Hessian,
}

impl Sparse {
    /// Name of the prelude function; no file can shadow it.
    fn function(self) -> &'static str {
        match self {
            Sparse::Jacobian => "prelude_sparse_jacobian",
            Sparse::Hessian => "prelude_sparse_hessian",
        }
    }
}

impl Unit {
    /// Prepares the value and the sparse matrix of derivatives with respect to one vector
    /// parameter.
    pub fn sparse(
        &self,
        entry: &str,
        matrix: Sparse,
        wrt: Option<&[String]>,
    ) -> Result<Call, Vec<Problem>> {
        self.sparse_of(entry, matrix, wrt, &[])
    }

    /// As [`sparse`](Unit::sparse), with open types resolved by the inputs.
    pub fn sparse_at(
        &self,
        entry: &str,
        matrix: Sparse,
        wrt: Option<&[String]>,
        inputs: &Inputs,
    ) -> Result<Call, Vec<Problem>> {
        self.sparse_of(entry, matrix, wrt, &self.shapes(entry, inputs)?)
    }

    /// As [`sparse_at`](Unit::sparse_at), by shapes.
    pub(crate) fn sparse_of(
        &self,
        entry: &str,
        matrix: Sparse,
        wrt: Option<&[String]>,
        given: &[Shape],
    ) -> Result<Call, Vec<Problem>> {
        stack::roomy(|| self.sparse_call(entry, matrix, wrt, given))
    }

    fn sparse_call(
        &self,
        entry: &str,
        matrix: Sparse,
        wrt: Option<&[String]>,
        given: &[Shape],
    ) -> Result<Call, Vec<Problem>> {
        let (program, id) = self.definition_of(entry, given)?;
        let wrt = operators::choose(&program, id, wrt).map_err(|p| vec![p])?;
        let (name, signature) = (program.def(id).name.clone(), program.def(id).signature.clone());
        let k = parameter(&name, &signature, &wrt).map_err(|p| vec![p])?;
        let fits = match matrix {
            Sparse::Jacobian => signature.result.as_ref().is_some_and(is_vector),
            Sparse::Hessian => signature.result == Some(SizedTy::Scalar(ScalarTy::Real)),
        };
        match (fits, matrix) {
            (true, _) => {}
            (false, Sparse::Jacobian) => return Err(vec![messages::no_sparse_jacobian(&name)]),
            (false, Sparse::Hessian) => return Err(vec![messages::no_hessian(&name)]),
        }
        let derived = format!("_{entry}_sparse");
        let text = definition(entry, &derived, matrix, signature.params.len(), k);
        let mut main = (*self.module).clone();
        let (mut extra, problems) = lambada_surface::parse(&text, program.def(id).span.file);
        debug_assert!(problems.is_empty(), "{text}: {problems:?}");
        main.items.append(&mut extra.items);
        let imports = self.imports.iter().map(|(key, module)| (key.clone(), &**module)).collect();
        let input = Input {
            prelude: &self.prelude,
            imports,
            main: &main,
            whole_library: false,
            divides_ints: false,
        };
        let (checked, _) = elaborate(&input);
        let at_data = checked.program_at(&derived, given);
        let mut program = at_data.map_or_else(|| checked.program(&derived), Ok)?;
        program.precision = self.options.precision;
        let entry = lambada_core::DefId((program.defs.len() - 1) as u32);
        Ok(Call::of(program, entry, name, signature, wrt, self))
    }
}

/// The only differentiated parameter, which must be a vector.
fn parameter(name: &str, signature: &Signature, wrt: &[usize]) -> Result<usize, Problem> {
    let vectors = wrt.iter().filter(|k| is_vector(&signature.params[**k].1));
    match (wrt, vectors.count()) {
        ([k], 1) => Ok(*k),
        _ => Err(messages::not_by_a_vector(name)),
    }
}

/// Whether the type is an array of reals.
fn is_vector(ty: &SizedTy) -> bool {
    if let SizedTy::Array(_, elem) = ty { **elem == SizedTy::Scalar(ScalarTy::Real) } else { false }
}

fn definition(entry: &str, derived: &str, matrix: Sparse, count: usize, k: usize) -> String {
    let params: Vec<String> = (0..count).map(|k| format!("_{entry}_{k}")).collect();
    let point = format!("_{entry}_point");
    let mut moved = params.clone();
    moved[k].clone_from(&point);
    let [params_of, moved] = [&params, &moved].map(|names| names.join(" "));
    let function = matrix.function();
    format!(
        "def {derived} {params_of} = ({entry} {params_of}, {function} (\\{point} -> {entry} {moved}) {})\n",
        params[k]
    )
}
