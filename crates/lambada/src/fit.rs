//! Checks sizes of arguments against declared ones: constants, and equal names for equal sizes.
//! Native code relies on these checks and on a limit for sizes: below it, products of two sizes do
//! not wrap, nor do indices computed from them. Inner sizes of an array without elements may be
//! unknown; then they come from other arguments. The program itself checks computed sizes.

use std::collections::HashMap;
use std::sync::Arc;

use lambada_anf::bounds::LONGEST_AXIS;
use lambada_core::{Data, Signature, Size, SizedTy};
use lambada_normalize::{Layout, LeafLayout};
use lambada_prim::{Tensor, tells};
use lambada_source::{Failure, Span};

/// An axis of a leaf of an argument.
struct Axis<'a> {
    argument: &'a str,
    leaf: usize,
    axis: usize,
    size: Size,
}

/// Checks the sizes of all leaves against the layouts of the parameters, and fills in unknown
/// sizes.
pub(crate) fn fit(params: &[(Arc<str>, Layout)], leaves: &mut [Tensor]) -> Result<(), Failure> {
    let axes = axes(params);
    let mut known: HashMap<Arc<str>, (usize, &str)> = HashMap::new();
    for axis in axes.iter().filter(|a| tells(&leaves[a.leaf].dims, a.axis)) {
        let found = leaves[axis.leaf].dims[axis.axis];
        match &axis.size {
            Size::Any | Size::Expr(_) => {}
            Size::Const(wanted) if *wanted == found as u64 => {}
            Size::Const(wanted) => return Err(constant(axis.argument, *wanted, found)),
            Size::Var(name) => {
                let (value, first) = *known.entry(name.clone()).or_insert((found, axis.argument));
                if value != found {
                    return Err(conflict(name, first, value, axis.argument, found));
                }
            }
        }
    }
    for axis in &axes {
        let found = leaves[axis.leaf].dims[axis.axis];
        if found as u64 > LONGEST_AXIS as u64 {
            return Err(failure(format!(
                "the argument `{}` has an axis of {found} elements; {LONGEST_AXIS} are the most",
                axis.argument
            )));
        }
        let size = match &axis.size {
            Size::Const(wanted) => Some(*wanted as usize),
            Size::Var(name) => known.get(name).map(|(value, _)| *value),
            Size::Any | Size::Expr(_) => None,
        };
        if let Some(size) = size {
            leaves[axis.leaf].dims[axis.axis] = size;
        }
    }
    Ok(())
}

fn axes(params: &[(Arc<str>, Layout)]) -> Vec<Axis<'_>> {
    let leaves = params
        .iter()
        .flat_map(|(name, layout)| layout.leaves().into_iter().map(move |leaf| (&**name, leaf)));
    let axes = |(leaf, (argument, LeafLayout { dims, .. })): (usize, (_, LeafLayout))| {
        dims.into_iter().enumerate().map(move |(axis, size)| Axis { argument, leaf, axis, size })
    };
    leaves.enumerate().flat_map(axes).collect()
}

/// As [`fit`], for data without a layout: compares sizes outside of constructors.
pub(crate) fn fit_data(signature: &Signature, args: &[Data]) -> Result<Vec<Data>, Failure> {
    right_number(signature.params.len(), args.len())?;
    let mut sizes = DataSizes { known: HashMap::new(), argument: "" };
    for ((name, ty), arg) in signature.params.iter().zip(args) {
        sizes.argument = name;
        sizes.compare(ty, arg)?;
    }
    let mut args = args.to_vec();
    signature.params.iter().zip(&mut args).for_each(|((_, ty), arg)| sizes.fill_in(ty, arg));
    Ok(args)
}

/// The values of size names, each with the argument that determined it.
struct DataSizes<'s> {
    known: HashMap<Arc<str>, (usize, &'s str)>,
    argument: &'s str,
}

impl DataSizes<'_> {
    fn compare(&mut self, ty: &SizedTy, data: &Data) -> Result<(), Failure> {
        match (ty, data) {
            (SizedTy::Array(..), Data::Tensor(tensor)) => {
                let mut at = ty;
                for (axis, found) in tensor.dims.iter().enumerate() {
                    let SizedTy::Array(size, elem) = at else { break };
                    if tells(&tensor.dims, axis) {
                        self.size(size, *found)?;
                    }
                    at = elem;
                }
                Ok(())
            }
            (SizedTy::Array(size, elem), Data::Array(items)) => {
                self.size(size, items.len())?;
                items.iter().try_for_each(|item| self.compare(elem, item))
            }
            (SizedTy::Tuple(types), Data::Tuple(items)) => {
                types.iter().zip(items).try_for_each(|(ty, item)| self.compare(ty, item))
            }
            (SizedTy::Record(types), Data::Record(items)) => {
                types.iter().zip(items).try_for_each(|((_, ty), (_, item))| self.compare(ty, item))
            }
            // Running the program reports data of the wrong type.
            (
                SizedTy::Scalar(_)
                | SizedTy::Array(..)
                | SizedTy::Tuple(_)
                | SizedTy::Record(_)
                | SizedTy::Fun(..)
                | SizedTy::Variant(_),
                _,
            ) => Ok(()),
        }
    }

    fn size(&mut self, size: &Size, found: usize) -> Result<(), Failure> {
        match size {
            Size::Any | Size::Expr(_) => Ok(()),
            Size::Const(wanted) if *wanted == found as u64 => Ok(()),
            Size::Const(wanted) => Err(constant(self.argument, *wanted, found)),
            Size::Var(name) => {
                let (value, first) =
                    *self.known.entry(name.clone()).or_insert((found, self.argument));
                if value == found {
                    return Ok(());
                }
                Err(conflict(name, first, value, self.argument, found))
            }
        }
    }

    /// Fills in the inner sizes of an array without elements.
    fn fill_in(&self, ty: &SizedTy, data: &mut Data) {
        match (ty, data) {
            (SizedTy::Array(..), Data::Tensor(tensor)) => {
                let mut at = ty;
                for axis in 0..tensor.dims.len() {
                    let SizedTy::Array(size, elem) = at else { break };
                    let known = match size {
                        Size::Const(wanted) => Some(*wanted as usize),
                        Size::Var(name) => self.known.get(name).map(|(value, _)| *value),
                        Size::Any | Size::Expr(_) => None,
                    };
                    tensor.dims[axis] = known.unwrap_or(tensor.dims[axis]);
                    at = elem;
                }
            }
            (SizedTy::Array(_, elem), Data::Array(items)) => {
                items.iter_mut().for_each(|item| self.fill_in(elem, item));
            }
            (SizedTy::Tuple(types), Data::Tuple(items)) => {
                types.iter().zip(items).for_each(|(ty, item)| self.fill_in(ty, item));
            }
            (SizedTy::Record(types), Data::Record(items)) => {
                types.iter().zip(items).for_each(|((_, ty), (_, item))| self.fill_in(ty, item));
            }
            (
                SizedTy::Scalar(_)
                | SizedTy::Array(..)
                | SizedTy::Tuple(_)
                | SizedTy::Record(_)
                | SizedTy::Fun(..)
                | SizedTy::Variant(_),
                _,
            ) => {}
        }
    }
}

/// Checks the number of arguments.
pub(crate) fn count(params: &[(Arc<str>, Layout)], found: usize) -> Result<(), Failure> {
    right_number(params.len(), found)
}

fn right_number(wanted: usize, found: usize) -> Result<(), Failure> {
    if wanted == found {
        Ok(())
    } else {
        Err(failure(format!(
            "{} given where {wanted} belong",
            lambada_source::counted(found, "argument")
        )))
    }
}

fn constant(argument: &str, wanted: u64, found: usize) -> Failure {
    failure(format!("the argument `{argument}` has size {found} where {wanted} belongs"))
}

fn conflict(size: &str, first: &str, value: usize, second: &str, found: usize) -> Failure {
    failure(format!(
        "sizes differ: {size} is {value} in the argument `{first}`, but {found} in `{second}`"
    ))
}

fn failure(message: String) -> Failure {
    Failure { span: Span::default(), message }
}

#[cfg(test)]
mod tests {
    use crate::{Data, Elements, Engine, Executable, Operator, Session, Tensor};

    /// Compares the result of `f` on zero arrays of these sizes on every engine.
    fn check(text: &str, args: &[&[usize]], expected: Result<&str, &str>) {
        let unit =
            Session::new().load_text("f.lam", text, None).unwrap_or_else(|p| panic!("{p:?}"));
        let zeros = |dims: &&[usize]| {
            Data::Tensor(Tensor {
                dims: dims.to_vec(),
                data: Elements::Real(vec![0.0; dims.iter().product()]),
            })
        };
        let args: Vec<Data> = args.iter().map(zeros).collect();
        for engine in [Engine::Core, Engine::Anf, Engine::Loops, Engine::Native] {
            let call = unit.call("f", Operator::Value, None).unwrap_or_else(|p| panic!("{p:?}"));
            let result = Executable::new(call.program, call.entry, engine)
                .unwrap_or_else(|p| panic!("{p:?}"))
                .run(&args);
            let result = result.map(|data| data.to_string()).map_err(|failure| failure.message);
            assert_eq!(result.as_deref().map_err(String::as_str), expected, "{engine:?}");
        }
    }

    #[test]
    fn equal_names_are_equal_sizes() {
        let f = "def f [n] (x : [n]real) (y : [n]real) : real = sum (x + y)";
        check(f, &[&[2], &[2]], Ok("0.0"));
        check(f, &[&[2], &[3]], Err("sizes differ: n is 2 in the argument `x`, but 3 in `y`"));
    }

    #[test]
    fn constants_are_compared() {
        let f = "def f (x : [2][3]real) : real = sum x[1]";
        check(f, &[&[2, 3]], Ok("0.0"));
        check(f, &[&[2, 4]], Err("the argument `x` has size 4 where 3 belongs"));
    }

    #[test]
    fn sizes_inside_of_nothing_come_from_others() {
        let f = "def f [n] [m] (x : [n][m]real) (y : [m]real) : int = n + length y";
        check(f, &[&[0, 0], &[3]], Ok("3"));
    }

    #[test]
    fn sizes_inside_of_nothing_are_compared_where_they_are_told() {
        let f = "def f [n] [m] (x : [n][m]real) (y : [n][m]real) : int = m";
        check(f, &[&[0, 3], &[0, 3]], Ok("3"));
        check(f, &[&[0, 0], &[0, 3]], Ok("3"));
        let message = "sizes differ: m is 3 in the argument `x`, but 4 in `y`";
        check(f, &[&[0, 3], &[0, 4]], Err(message));
    }

    #[test]
    fn an_axis_is_not_longer_than_what_indices_are_computed_with() {
        let f = "def f [n] [m] (x : [n][m]real) : int = n + m";
        let message =
            "the argument `x` has an axis of 2147483648 elements; 2147483647 are the most";
        check(f, &[&[2147483648, 0]], Err(message));
    }

    #[test]
    fn arguments_are_counted() {
        check(
            "def f (x : real) (y : real) : real = x + y",
            &[&[]],
            Err("1 argument given where 2 belong"),
        );
    }
}
