//! How the cost of a program grows: a definition is compiled once and run on its arguments repeated
//! 1, 2 and 4 times along every axis whose size is not a constant, and the counts are compared
//! after each pass.

use lambada::operators::{self, Operator};
use lambada::{Tensor, Unit};
use lambada_anf::{self as anf, Atom, Function};
use lambada_core::{DefId, Program};
use lambada_loops as loops;
use lambada_prim::Scalar;

use crate::expectations::{Expectation, arguments};

/// The costs of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Operations on reals.
    pub reals: u64,
    /// Work: operations, elements read, elements written or copied.
    pub work: u64,
    /// Bytes written.
    pub written: u64,
    /// Bytes that updates and sequential loops replace.
    pub overwritten: u64,
    /// Bytes allocated.
    pub allocated: u64,
    /// The most bytes at one time.
    pub peak: u64,
}

impl From<anf::Counts> for Cost {
    fn from(counts: anf::Counts) -> Cost {
        Cost {
            reals: counts.reals,
            work: counts.reals + counts.ints + counts.loads + counts.written / 8,
            written: counts.written,
            overwritten: counts.overwritten,
            allocated: counts.allocated,
            peak: counts.peak,
        }
    }
}

impl From<loops::Counts> for Cost {
    fn from(counts: loops::Counts) -> Cost {
        Cost {
            reals: counts.reals,
            // Integers are addresses there.
            work: counts.reals + counts.loads + counts.written / 8,
            written: counts.written,
            overwritten: 0,
            allocated: counts.allocated,
            peak: counts.peak,
        }
    }
}

/// The costs at three sizes, each twice the one before.
pub type Costs = [Cost; 3];

/// A quantity that is compared.
pub type Metric = (&'static str, fn(&Cost) -> u64);

/// The quantities that no pass may raise to another order.
pub const METRICS: [Metric; 4] = [
    ("work", |c| c.work),
    ("bytes written", |c| c.written),
    ("bytes allocated", |c| c.allocated),
    ("bytes at one time", |c| c.peak),
];

/// The exponent of a quantity: the power of the size by which it grows, without the part that does
/// not depend on the size.
pub fn exponent(costs: &Costs, of: fn(&Cost) -> u64) -> f64 {
    let [a, b, c] = [0, 1, 2].map(|k| of(&costs[k]) as f64);
    if c - b < 1.0 { 0.0 } else { ((c - b) / (b - a).max(1.0)).log2().max(0.0) }
}

/// Whether a pass has raised the order of a quantity: the ratio of after to before grows from size
/// to size, and the exponent by more than `tolerance`. A constant that any run may cost does not
/// count.
pub fn raised(before: &Costs, after: &Costs, of: fn(&Cost) -> u64, tolerance: f64) -> bool {
    let ratio = |k: usize| (of(&after[k]) as f64 + CONSTANT) / (of(&before[k]) as f64 + CONSTANT);
    let [small, middle, large] = [ratio(0), ratio(1), ratio(2)];
    let grows = large > 1.25 * middle && middle > 1.1 * small;
    large > 1.4 && grows && exponent(after, of) > exponent(before, of) + tolerance
}

/// The cost that any run may have.
const CONSTANT: f64 = 200.0;

/// A definition or a derivative of it, ready to be measured.
pub struct Subject {
    /// As it leaves `normalize`.
    pub function: Function,
    /// Its arguments at the three sizes.
    pub args: [Vec<Tensor>; 3],
}

/// Which of a definition's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// Itself.
    Value,
    /// Value and tangent.
    Jvp,
    /// Value and cotangents.
    Vjp,
    /// The forward derivative of the reverse one.
    Hvp,
    /// Value and cotangent of one of the parameters that have some, by its place among these; the
    /// others are captured.
    VjpBy(usize),
}

/// All of them but those by one parameter.
pub const KINDS: [FunctionKind; 4] =
    [FunctionKind::Value, FunctionKind::Jvp, FunctionKind::Vjp, FunctionKind::Hvp];

impl Subject {
    /// A promise's definition, or nothing where it has no such derivative. `factor` is how often
    /// the arguments are repeated at the first size.
    pub fn new(
        unit: &Unit,
        promise: &Expectation,
        kind: FunctionKind,
        factor: usize,
        scale_ints: bool,
    ) -> Result<Option<Subject>, String> {
        let args = arguments(unit, promise)?;
        let Some((program, entry)) = derived(unit, &promise.entry, kind)? else { return Ok(None) };
        let normalized = lambada_normalize::normalize(&program, entry, &lambada::Staged::default())
            .map_err(|p| format!("{p:?}"))?;
        let mut leaves = Vec::new();
        for ((_, layout), arg) in normalized.params.iter().zip(&args) {
            leaves.extend(layout.flatten(arg)?);
        }
        let function = normalized.function;
        let sized = |k: usize| repeated(&function, &leaves, factor << k, scale_ints);
        let args = [sized(0), sized(1), sized(2)];
        Ok(Some(Subject { function, args }))
    }

    /// A random function of array code; nothing if it has no sizes to grow.
    pub fn generated(seed: u64, smallest: usize) -> Option<Subject> {
        let (function, args) = anf::generate(seed);
        let sized = |factor: usize| repeated(&function, &args, factor, false);
        let args = [sized(smallest), sized(2 * smallest), sized(4 * smallest)];
        (!function.sizes.is_empty()).then_some(Subject { function, args })
    }

    /// How many bytes the arguments of a run take.
    pub fn arguments(&self, run: usize) -> u64 {
        self.args[run].iter().map(|arg| 8 * arg.data.len() as u64).sum()
    }

    /// The costs of a form of it, or the message of a failing run.
    pub fn costs(&self, function: &Function) -> Result<Costs, String> {
        Ok([self.cost(function, 0)?, self.cost(function, 1)?, self.cost(function, 2)?])
    }

    /// The second of these costs, for callers that do not know yet whether the third run takes too
    /// long.
    pub fn middle(&self, function: &Function) -> Result<Cost, String> {
        self.cost(function, 1)
    }

    fn cost(&self, function: &Function, run: usize) -> Result<Cost, String> {
        let outcome = anf::eval(function, &self.args[run]);
        outcome.map(|o| o.counts.into()).map_err(|f| f.message)
    }

    /// The costs of its loops.
    pub fn lowered(&self, function: &loops::Function) -> Result<Costs, String> {
        let run = |k: usize| {
            let sizes = sizes(&self.function, &self.args[k]);
            let sizes = sizes.into_iter().map(|size| Tensor::scalar(Scalar::Int(size as i64)));
            let args: Vec<Tensor> = sizes.chain(self.args[k].iter().cloned()).collect();
            loops::eval_counted(function, &args).map(|o| o.1.into()).map_err(|f| f.message)
        };
        Ok([run(0)?, run(1)?, run(2)?])
    }

    /// Whether its costs depend on sizes at all.
    pub fn grows(&self) -> bool {
        self.args[0] != self.args[2]
    }
}

fn derived(
    unit: &Unit,
    entry: &str,
    kind: FunctionKind,
) -> Result<Option<(Program, DefId)>, String> {
    let (mut program, id) = unit.definition(entry).map_err(|p| format!("{p:?}"))?;
    if kind == FunctionKind::Value {
        return Ok(Some((program, id)));
    }
    let Ok(mut wrt) = operators::choose(&program, id, None) else { return Ok(None) };
    if let FunctionKind::VjpBy(place) = kind {
        if place >= wrt.len() || wrt.len() == 1 {
            return Ok(None);
        }
        wrt = vec![wrt[place]];
    }
    let first = if kind == FunctionKind::Jvp { Operator::Jvp } else { Operator::Vjp };
    let derive =
        |program: &mut Program, id, operator| operators::derive(program, id, operator, &wrt).ok();
    let Some(id) = derive(&mut program, id, first) else { return Ok(None) };
    if kind != FunctionKind::Hvp {
        return Ok(Some((program, id)));
    }
    Ok(derive(&mut program, id, Operator::Jvp).map(|id| (program, id)))
}

/// The sizes of a function, from its arguments.
fn sizes(function: &Function, args: &[Tensor]) -> Vec<usize> {
    let size = |size: &anf::Var| {
        let places = function.params.iter().zip(args).flat_map(|(p, arg)| {
            p.ty.dims.iter().zip(&arg.dims).filter(|(d, _)| **d == Atom::Var(*size))
        });
        places.map(|(_, actual)| *actual).next().unwrap_or(0)
    };
    function.sizes.iter().map(size).collect()
}

/// The arguments repeated along their axes; missing ones at the end (tangents, cotangents) are made
/// up.
fn repeated(function: &Function, args: &[Tensor], factor: usize, scale_ints: bool) -> Vec<Tensor> {
    let known = sizes(function, args);
    let params = function.params.iter().enumerate();
    let arg = |(k, p): (usize, &anf::Param)| {
        let dims: Vec<usize> =
            p.ty.dims.iter().map(|d| size(function, &known, d, factor)).collect();
        let len: usize = dims.iter().product();
        match args.get(k) {
            Some(arg) => repeat(arg, dims, factor, scale_ints),
            None => Tensor { dims, data: made_up(p.ty.elem.scalar(), len) },
        }
    };
    params.map(arg).collect()
}

fn size(function: &Function, known: &[usize], dim: &Atom, factor: usize) -> usize {
    match dim {
        Atom::Lit(value) => value.int() as usize,
        Atom::Var(var) => {
            function.sizes.iter().position(|s| s == var).map_or(0, |k| known[k] * factor)
        }
    }
}

fn made_up(elem: lambada_prim::ScalarTy, len: usize) -> lambada::Elements {
    let mut data = lambada::Elements::zeros(elem, len);
    if elem == lambada_prim::ScalarTy::Real {
        (0..len).for_each(|k| data.set(k, Scalar::Real(0.5 + 0.1 * (k % 7) as f64)));
    }
    data
}

/// A tensor with larger sizes, whose elements are those of the given one, again and again.
fn repeat(tensor: &Tensor, dims: Vec<usize>, factor: usize, scale_ints: bool) -> Tensor {
    if let (true, Some(Scalar::Int(k))) = (scale_ints, tensor.as_scalar()) {
        return Tensor::scalar(Scalar::Int(k * factor as i64));
    }
    let len: usize = dims.iter().product();
    let mut data = lambada::Elements::zeros(tensor.elem(), len);
    for at in 0..len {
        let (mut rest, mut from, mut stride) = (at, 0, 1);
        for (size, old) in dims.iter().zip(&tensor.dims).rev() {
            from += (rest % size) % old * stride;
            rest /= size;
            stride *= old;
        }
        data.set(at, tensor.data.get(from));
    }
    Tensor { dims, data }
}
