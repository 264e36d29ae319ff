//! Array primitives that are sums of products, by the axes in their rows.

use lambada_prim::{ArrayPrim, Prim, Scalar, Version};
use lambada_source::Span;

use super::super::machine::{Run, fail};
use super::super::real::apply2;
use super::super::shape::Shape;
use super::super::value::Value;
use super::{dim, empty};

/// Each element of the result is the sum of products of the arguments' elements over the axes that
/// the result lacks; the first of these axes is the outermost loop.
pub(crate) fn contract(
    prim: ArrayPrim,
    version: &Version,
    args: &[Value],
    span: Span,
) -> Run<Value> {
    let dims: Vec<Vec<usize>> = version
        .args
        .iter()
        .zip(args)
        .map(|(axes, arg)| (0..axes.len()).map(|k| dim(arg, k)).collect())
        .collect();
    for [(a, j), (b, k)] in version.equal_axes() {
        let (x, y) = (dims[a][j], dims[b][k]);
        if x != y {
            let message = prim.unequal_sizes();
            return fail(
                span,
                message.replace("{0}", &x.to_string()).replace("{1}", &y.to_string()),
            );
        }
    }
    let size = |axis: char| {
        let (arg, k, _) = version.axes().find(|(_, _, name)| *name == axis).expect("an axis of it");
        dims[arg][k]
    };
    let summed = version.summed();
    let order: Vec<char> = version.result().chars().chain(summed.iter().copied()).collect();
    let sizes: Vec<usize> = order.iter().map(|axis| size(*axis)).collect();
    let operands = version.args.iter().zip(args).zip(&dims).map(|((axes, arg), dims)| {
        let mut items = Vec::with_capacity(dims.iter().product());
        scalars(arg, dims.len(), &mut items);
        // Distance of consecutive elements along each axis.
        let stride =
            |axis: &char| axes.find(*axis).map_or(0, |k| dims[k + 1..].iter().product::<usize>());
        Operand { items, strides: order.iter().map(stride).collect() }
    });
    let operands: Vec<Operand> = operands.collect();
    let sum = Sum { operands: &operands, sizes: &sizes, rank: version.result().len() };
    Ok(sum.axis(0, &mut vec![0; operands.len()]))
}

/// The scalars of an array, row by row.
fn scalars<'a>(value: &'a Value, rank: usize, items: &mut Vec<&'a Value>) {
    if rank == 0 {
        items.push(value);
    } else {
        value.as_array().items.iter().for_each(|item| scalars(item, rank - 1, items));
    }
}

struct Operand<'a> {
    items: Vec<&'a Value>,
    strides: Vec<usize>,
}

struct Sum<'a> {
    operands: &'a [Operand<'a>],
    sizes: &'a [usize],
    rank: usize,
}

impl Sum<'_> {
    /// The array over the result's axes from `k` on, at the operands' positions `at`.
    fn axis(&self, k: usize, at: &mut [usize]) -> Value {
        if k == self.rank {
            let mut sum = None;
            self.add(k, at, &mut sum);
            return sum.unwrap_or_else(|| Scalar::Real(0.0).into());
        }
        if self.sizes[k] == 0 {
            let inner = self.sizes[k + 1..self.rank].iter().rev();
            let array = |elem, size: &usize| Shape::Array(*size, Box::new(elem));
            return empty(inner.fold(Shape::Plain, array));
        }
        let mut items = Vec::with_capacity(self.sizes[k]);
        self.along(k, at, &mut |at| items.push(self.axis(k + 1, at)));
        Value::array(items)
    }

    /// Adds the products over the summed axes from `k` on.
    fn add(&self, k: usize, at: &mut [usize], sum: &mut Option<Value>) {
        if k < self.sizes.len() {
            return self.along(k, at, &mut |at| self.add(k + 1, at, sum));
        }
        let factors = self.operands.iter().zip(at).map(|(operand, at)| operand.items[*at].clone());
        let Some(product) = factors.reduce(|x, y| apply2(Prim::Mul, &x, &y)) else { return };
        *sum = Some(match sum.take() {
            Some(sum) => apply2(Prim::Add, &sum, &product),
            None => product,
        });
    }

    /// Visits all positions along an axis, then restores the first.
    fn along(&self, k: usize, at: &mut [usize], visit: &mut dyn FnMut(&mut [usize])) {
        let first = at.to_vec();
        for _ in 0..self.sizes[k] {
            visit(at);
            at.iter_mut().zip(self.operands).for_each(|(at, operand)| *at += operand.strides[k]);
        }
        at.copy_from_slice(&first);
    }
}
