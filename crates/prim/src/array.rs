//! The table of array primitives: operations on whole arrays of reals that are too costly, or too
//! good, to be written as loops over scalars. The compiler's knowledge of one is its row, and
//! passes ask the row: for its sizes, evaluation, linearity in each argument, transposes, cost and
//! kernel.
//!
//! A row is either *multilinear*: then its forward rule is the sum of itself with one tangent each,
//! and its row lists its transposes. Or it is a function with rules of the library, written in
//! Lambada: then that definition is its meaning, its rules are those of the definition, and the
//! kernel takes the place of the definition where no derivative looks into it.

mod rows;

use std::sync::LazyLock;

use crate::{Data, Precision, ScalarTy};

/// An array primitive. Arguments are arrays of reals; it may have several results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // each variant is documented by its row in the table
pub enum ArrayPrim {
    MatMul,
    Cholesky,
    TriangularSolve,
    TriangularSolveUpper,
    Lu,
    Argsort,
    CholeskyTangent,
    CholeskyPullback,
    Qr,
    Fft,
    Eigen,
    Svd,
}

/// All that the compiler knows of one array primitive.
#[derive(Debug)]
pub struct ArrayRow {
    /// Which one.
    pub prim: ArrayPrim,
    /// The name that intermediate forms use, unique.
    pub name: &'static str,
    /// How Lambada spells it.
    pub spelling: Spelling,
    /// The names of its axes, a letter each: the sizes that evaluation and kernel take, in this
    /// order.
    pub axes: &'static str,
    /// The element type of each result.
    pub results: &'static [ScalarTy],
    /// By the ranks of the arguments, the one that has all axes first. Where nothing else decides,
    /// inference takes the first one of those with the fewest axes that fit.
    pub versions: &'static [Version],
    /// Where its derivatives come from.
    pub derivative: Derivative,
    /// The arguments in each of which it is linear while the others stand.
    pub linear: &'static [usize],
    /// The elements of the results: from the sizes of all axes (1 for one that a version does not
    /// have) and the elements of the arguments, row by row. The precision of the program decides
    /// which numbers count as zero; the caller rounds results to it.
    pub eval: ArrayEval,
    /// How many operations on reals that takes, up to a constant factor close to one.
    pub work: fn(&[u64]) -> u64,
    /// `void lam_NAME(int64_t n, …, const lam_element *a, …, lam_element *y, …)`, where
    /// `lam_element` is the type of reals, with a size for each axis; a result of integers is an
    /// `int64_t *`. Results share no memory with the arguments, nor with each other.
    pub kernel: ArrayKernel,
    /// A line for the manual.
    pub doc: &'static str,
    /// Arguments, each with its sizes, and the elements of the results.
    pub example: Example,
    /// Where the value is not NaN.
    pub domain: &'static str,
}

/// How Lambada spells an array primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `x @ y`
    Infix(&'static str),
    /// `f x y`: a definition of the prelude, which is its meaning and has rules for both modes.
    Definition(&'static str),
}

/// The axes of arguments and results, a letter each: `["nk", "km"]` and `["nm"]`.
#[derive(Debug)]
pub struct Version {
    /// The axes of each argument.
    pub args: &'static [&'static str],
    /// The axes of each result.
    pub results: &'static [&'static str],
    /// The cotangent of each argument of a multilinear primitive; else empty.
    pub transposes: &'static [Transpose],
}

/// Where the derivatives of an array primitive come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivative {
    /// It is linear in each argument, a sum of products: each element of the result is the sum,
    /// over the axes that the result has not, of the products of the elements of the arguments. The
    /// sums run upwards.
    Contraction,
    /// From the rules of its definition in the prelude.
    Rules,
}

/// The cotangent of an argument, as an expression over the cotangent of the result and the
/// arguments.
#[derive(Debug)]
pub enum Transpose {
    /// The cotangent of the result.
    Cotangent,
    /// The k-th argument.
    Arg(usize),
    /// The transpose of a matrix.
    Flipped(&'static Transpose),
    /// The outer product of two vectors.
    Outer(&'static [Transpose; 2]),
    /// An array primitive.
    Apply(ArrayPrim, &'static [Transpose]),
}

/// A kernel in C.
#[derive(Debug, PartialEq, Eq)]
pub struct ArrayKernel {
    /// Its name.
    pub name: &'static str,
    /// Texts, in order, of which each is printed once in a unit; the last defines the function.
    pub texts: &'static [&'static str],
}

/// Evaluates an array primitive: from the precision of the program, the sizes of all axes and the
/// elements of each argument to those of each result.
pub type ArrayEval = fn(Precision, &[usize], &[&[f64]]) -> Vec<Data>;

/// An array as an example: its sizes and its elements.
pub type ExampleArray = (&'static [usize], &'static [f64]);

/// Arguments and the elements of the results, integers as reals.
pub type Example = (&'static [ExampleArray], &'static [&'static [f64]]);

static BY_PRIM: LazyLock<Vec<&'static ArrayRow>> = LazyLock::new(|| {
    let mut rows: Vec<&'static ArrayRow> = rows::ROWS.iter().collect();
    rows.sort_by_key(|row| row.prim);
    rows
});

impl ArrayPrim {
    /// All, in the order of the table.
    pub fn all() -> impl Iterator<Item = ArrayPrim> {
        rows::ROWS.iter().map(|row| row.prim)
    }

    /// Its row.
    pub fn row(self) -> &'static ArrayRow {
        BY_PRIM[self as usize]
    }

    /// Its name in intermediate forms.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<ArrayPrim> {
        ArrayPrim::all().find(|prim| prim.name() == name)
    }

    /// The one that Lambada writes with this operator.
    pub fn from_operator(operator: &str) -> Option<ArrayPrim> {
        ArrayPrim::all().find(|prim| match prim.row().spelling {
            Spelling::Infix(own) => own == operator,
            Spelling::Definition(_) => false,
        })
    }

    /// The one that a definition of the prelude stands for.
    pub fn from_definition(name: &str) -> Option<ArrayPrim> {
        ArrayPrim::all().find(|prim| match prim.row().spelling {
            Spelling::Definition(own) => own == name,
            Spelling::Infix(_) => false,
        })
    }

    /// The version for arguments of these ranks.
    pub fn version(self, ranks: &[usize]) -> Option<&'static Version> {
        self.row().versions.iter().find(|version| {
            version.args.len() == ranks.len()
                && version.args.iter().zip(ranks).all(|(axes, rank)| axes.len() == *rank)
        })
    }

    /// The message for arguments whose sizes `{0}` and `{1}` of one axis differ.
    pub fn unequal_sizes(self) -> String {
        let (Spelling::Infix(name) | Spelling::Definition(name)) = self.row().spelling;
        format!("sizes differ: the inner sizes of `{name}` are {{0}} and {{1}}")
    }

    /// Whether it is a sum of products.
    pub fn is_contraction(self) -> bool {
        self.row().derivative == Derivative::Contraction
    }
}

impl Version {
    /// The sizes of the results, from those of the arguments; of an axis that several have, the
    /// first one that is given.
    pub fn result_dims<S: Copy>(&self, args: &[&[S]]) -> Vec<Vec<S>> {
        let size = |axis| self.size(axis, args).expect("an axis of a result is one of an argument");
        self.results.iter().map(|axes| axes.chars().map(size).collect()).collect()
    }

    /// The axes of the only result, which a contraction has.
    pub fn result(&self) -> &'static str {
        self.results[0]
    }

    /// The sizes of all axes of the primitive, for evaluation and kernel; `one` for those that this
    /// version has not.
    pub fn sizes<S: Copy>(&self, prim: ArrayPrim, args: &[&[S]], one: S) -> Vec<S> {
        prim.row().axes.chars().map(|axis| self.size(axis, args).unwrap_or(one)).collect()
    }

    fn size<S: Copy>(&self, axis: char, args: &[&[S]]) -> Option<S> {
        self.axes().find(|(_, _, name)| *name == axis).map(|(arg, k, _)| args[arg][k])
    }

    /// All axes of the arguments: which argument, which of its axes, and the name.
    pub fn axes(&self) -> impl Iterator<Item = (usize, usize, char)> {
        self.args
            .iter()
            .enumerate()
            .flat_map(|(arg, axes)| axes.chars().enumerate().map(move |(k, name)| (arg, k, name)))
    }

    /// Pairs of axes that must have the same size: each with the first one of its name.
    pub fn equal_axes(&self) -> impl Iterator<Item = [(usize, usize); 2]> {
        self.axes().filter_map(|(arg, k, name)| {
            let first = self.axes().find(|(_, _, other)| *other == name)?;
            ((first.0, first.1) != (arg, k)).then_some([(first.0, first.1), (arg, k)])
        })
    }

    /// The axes over which a sum runs: those that the result has not.
    pub fn summed(&self) -> Vec<char> {
        let mut summed = Vec::new();
        for (_, _, name) in self.axes() {
            if !self.result().contains(name) && !summed.contains(&name) {
                summed.push(name);
            }
        }
        summed
    }
}

#[cfg(test)]
mod tests;
