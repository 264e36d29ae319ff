//! Several tangents at once: a `for` over directions becomes one pass that carries an axis of
//! directions.
//!
//! ```text
//!             for j < k { …; y, ẏ = D→f (x, ẋⱼ); … }
//!   becomes   y, Ẏ = D→f (x, Ẋ);  for j < k { Ẏ[…, j] }
//! ```
//!
//! Each iteration recomputes the same value and the same partial derivatives; only the tangents
//! differ. *Uniform* values, equal in all iterations, are computed once. *Varying* values get an
//! axis of *lanes*, one per direction: the tangent of a `[n]real` is a `[n][lanes]real`. In a
//! block, a run of varying scalar operations is one `for d < lanes { … }`, whose temporaries are
//! scalars. Nests move outwards: a loop that computes the value runs once and contains the loops
//! over the lanes.
//!
//! The transformation rests only on which variables vary ([`varying`]), so it serves tangents of
//! any order and any other code in the iterations. A pass has at most [`LANES`] lanes: more
//! directions are cut into blocks of equal size, each with a pass of its own, so that the memory is
//! at most that of the state times a constant. The last block may repeat the last direction.
//!
//! * Assumes: iterations are independent; names are bound once.
//! * Gives: statements that bind the same variables; or nothing, where the iterations share little
//!   or have an operation without a version for lanes.
//! * Keeps: values, in every lane the operations of its iteration in the same order; which check
//!   fails first; that nothing runs without directions.

mod nests;
mod ops;
mod runs;
mod varying;

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Builder, Exp, Names, Nest, Op, Out, Param, Stm, Ty, Var};
use lambada_prim::{Prim, Scalar};

use varying::Varying;

/// Maximal number of directions in one pass. Measured on a dense Hessian: with fewer the value is
/// recomputed too often, with more the state leaves the cache.
const LANES: i64 = 32;

/// The statements that replace a `for` over directions.
pub(crate) fn together(names: &mut Names, stm: &Stm) -> Option<Vec<Stm>> {
    let Exp::Nest(Nest::For { index, extent, outs, body }) = &stm.exp else { return None };
    if matches!(extent, Atom::Lit(Scalar::Int(..=1))) || outs.iter().any(|o| *o != Out::Collect) {
        return None;
    }
    let varying = Varying::of(*index, body);
    if !varying.supported(body) || !varying.shares(body) {
        return None;
    }
    let elements: Vec<Ty> = stm.binds.iter().map(|p| p.ty.indexed(1)).collect();
    let varies: Vec<bool> = body.results.iter().map(|r| varying.is(*r)).collect();
    let mut b = Builder::new(names);
    let blocks = Blocks::of(&mut b, *extent);
    let wanted: Vec<Option<Ty>> =
        elements.iter().zip(&varies).map(|(ty, varies)| varies.then(|| ty.clone())).collect();
    let before = b.stms;
    let mut lanes = Lanes {
        b: Builder::new(names),
        varying,
        direction: Direction { width: blocks.width, first: None },
        index: *index,
        of: HashMap::new(),
        accumulators: HashSet::new(),
    };
    let (passes, values) = match blocks.count {
        None => {
            let block = lanes.block(body, &wanted);
            (block.stms, block.results)
        }
        Some(count) => lanes.passes(count, *extent, body, &wanted, &elements),
    };
    let mut b = Builder::new(names);
    b.stms = [before, passes].concat();
    for (k, value) in values.into_iter().enumerate() {
        let given = PassResult { value, varies: varies[k], blocks };
        b.each_direction(&stm.binds[k], *extent, given);
    }
    Some(b.stms)
}

/// The division of the directions into blocks.
#[derive(Clone, Copy)]
struct Blocks {
    /// The number of blocks; one if `None`.
    count: Option<Atom>,
    /// The number of lanes of each block.
    width: Atom,
}

impl Blocks {
    /// The fewest blocks of at most [`LANES`] lanes, and their width.
    fn of(b: &mut Builder, extent: Atom) -> Blocks {
        if let Atom::Lit(Scalar::Int(k)) = extent {
            let count = (k + LANES - 1) / LANES;
            let width = Atom::int((k + count - 1) / count);
            return Blocks { count: (count > 1).then(|| Atom::int(count)), width };
        }
        let count = ratio(b, "blocks", extent, Atom::int(LANES));
        let divisor = b.prim(Prim::MaxInt, [count, Atom::int(1)]);
        let width = ratio(b, "lanes", extent, divisor);
        let width = b.bind("lanes", Ty::int(), Op::Prim(Prim::MaxInt, vec![width, Atom::int(1)]));
        Blocks { count: Some(count), width }
    }
}

/// `⌈a / b⌉`
fn ratio(b: &mut Builder, hint: &str, dividend: Atom, divisor: Atom) -> Atom {
    let less = b.prim(Prim::SubInt, [divisor, Atom::int(1)]);
    let raised = b.prim(Prim::AddInt, [dividend, less]);
    b.bind(hint, Ty::int(), Op::Prim(Prim::DivInt, vec![raised, divisor]))
}

/// One result of the `for`, as computed by the passes.
#[derive(Clone, Copy)]
struct PassResult {
    value: Atom,
    /// Whether it has lanes.
    varies: bool,
    blocks: Blocks,
}

impl PassResult {
    /// The block and the lane of direction `j`. The `min` with the last block never applies, but
    /// proves the bound.
    fn place(self, b: &mut Builder, j: Atom) -> (Option<Atom>, Option<Atom>) {
        let Some(count) = self.blocks.count else { return (None, self.varies.then_some(j)) };
        let last = b.prim(Prim::SubInt, [count, Atom::int(1)]);
        let block = b.prim(Prim::DivInt, [j, self.blocks.width]);
        let block = b.prim(Prim::MinInt, [block, last]);
        let lane = self.varies.then(|| b.prim(Prim::RemInt, [j, self.blocks.width]));
        (Some(block), lane)
    }
}

/// Writes the results of the original `for`.
trait Directions {
    /// `bind = for j < extent { given, of direction j }`
    fn each_direction(&mut self, bind: &Param, extent: Atom, given: PassResult);
}

impl Directions for Builder<'_> {
    fn each_direction(&mut self, bind: &Param, extent: Atom, given: PassResult) {
        let (hint, element) = (self.names.hint(bind.var), bind.ty.indexed(1));
        let index = self.names.fresh("j");
        let body = self.block(|b| {
            let (block, lane) = given.place(b, index.into());
            let found = crate::arrays::tabulate(b, &hint, &element, &mut |b, at| {
                let place: Vec<Atom> =
                    block.into_iter().chain(at.iter().copied()).chain(lane).collect();
                match given.value {
                    Atom::Var(value) if !place.is_empty() => {
                        b.bind(&hint, Ty::scalar(bind.ty.elem), Op::Index(value, place))
                    }
                    Atom::Var(_) | Atom::Lit(_) => given.value,
                }
            });
            vec![found]
        });
        let outs = vec![Out::Collect];
        self.stms.push(Stm::new(vec![bind.clone()], Nest::For { index, extent, outs, body }));
    }
}

/// The direction of a lane.
#[derive(Clone, Copy)]
struct Direction {
    width: Atom,
    /// In a block: the direction of its first lane, and the last of all directions.
    first: Option<(Atom, Atom)>,
}

impl Direction {
    fn at(self, b: &mut Builder, lane: Atom) -> Atom {
        let Some((first, last)) = self.first else { return lane };
        let direction = b.prim(Prim::AddInt, [first, lane]);
        b.prim(Prim::MinInt, [direction, last])
    }
}

/// The code with lanes under construction.
struct Lanes<'a> {
    /// Takes the statements of the current block.
    b: Builder<'a>,
    varying: Varying,
    direction: Direction,
    /// The index of the `for` over directions.
    index: Var,
    /// Varying variables with their arrays of lanes, the innermost axis. Scalars that only their
    /// run uses are missing.
    of: HashMap<Var, Var>,
    /// The varying accumulators.
    accumulators: HashSet<Var>,
}

/// An operand from the view of a lane.
#[derive(Clone, Copy)]
enum Operand {
    Uniform(Atom),
    Direction,
    Lanes(Var),
}

impl Operand {
    /// The scalar `x[at]` of a lane.
    fn at(self, b: &mut Builder, ty: &Ty, direction: Direction, at: &[Atom], lane: Atom) -> Atom {
        let (x, place) = match self {
            Operand::Direction => return direction.at(b, lane),
            Operand::Uniform(Atom::Var(x)) if !at.is_empty() => (x, at.to_vec()),
            Operand::Uniform(x) => return x,
            Operand::Lanes(x) => (x, [at, &[lane]].concat()),
        };
        let hint = b.names.hint(x);
        b.bind(&hint, Ty::scalar(ty.elem), Op::Index(x, place))
    }
}

impl Lanes<'_> {
    /// One pass per block of directions; the results have the block axis in front.
    fn passes(
        mut self,
        count: Atom,
        extent: Atom,
        body: &lambada_anf::Block,
        wanted: &[Option<Ty>],
        elements: &[Ty],
    ) -> (Vec<Stm>, Vec<Atom>) {
        let index = self.b.names.fresh("block");
        let first = self.b.prim(Prim::MulInt, [index.into(), self.direction.width]);
        let last = self.b.prim(Prim::SubInt, [extent, Atom::int(1)]);
        self.direction.first = Some((first, last));
        let starts = std::mem::take(&mut self.b.stms);
        let mut pass = self.block(body, wanted);
        pass.stms.splice(0..0, starts);
        let mut binds = Vec::new();
        for ((element, wanted), result) in elements.iter().zip(wanted).zip(&body.results) {
            let ty = if wanted.is_some() { self.lanes_ty(element) } else { element.clone() };
            let hint = result.as_var().map_or_else(|| "t".into(), |r| self.b.names.hint(r));
            binds.push(Param { var: self.b.names.fresh(hint), ty: ty.array_of(count) });
        }
        let values = binds.iter().map(|p| p.var.into()).collect();
        let outs = vec![Out::Collect; binds.len()];
        (vec![Stm::new(binds, Nest::For { index, extent: count, outs, body: pass })], values)
    }

    /// The type with the axis of lanes.
    fn lanes_ty(&self, ty: &Ty) -> Ty {
        let dims = ty.dims.iter().copied().chain([self.direction.width]).collect();
        Ty { elem: ty.elem, dims }
    }

    /// Binds a varying value with its lanes.
    fn bind(&mut self, p: &Param, exp: impl Into<Exp>) {
        let bound = self.lanes_param(p);
        self.b.stms.push(Stm::new(vec![bound], exp));
    }

    /// A variable for the lanes of a varying value.
    fn lanes_param(&mut self, p: &Param) -> Param {
        let var = self.b.names.again(p.var);
        self.of.insert(p.var, var);
        Param { var, ty: self.lanes_ty(&p.ty) }
    }

    fn operand(&self, x: Atom) -> Operand {
        let Some(var) = x.as_var() else { return Operand::Uniform(x) };
        match self.of.get(&var) {
            Some(lanes) => Operand::Lanes(*lanes),
            None if var == self.index => Operand::Direction,
            None => Operand::Uniform(x),
        }
    }

    /// The lanes of an operand of type `ty`, as an array; all lanes of a uniform operand are equal.
    fn lanes(&mut self, x: Atom, ty: &Ty) -> Var {
        let (operand, direction) = (self.operand(x), self.direction);
        let whole = self.lanes_ty(ty);
        let array = match operand {
            Operand::Lanes(x) => return x,
            Operand::Uniform(x) if ty.dims.is_empty() => self.b.bind("t", whole, Op::Fill(x)),
            Operand::Uniform(_) | Operand::Direction => {
                crate::arrays::tabulate(&mut self.b, "t", &whole, &mut |b, at| {
                    let (lane, at) = at.split_last().expect("there is an axis of lanes");
                    operand.at(b, ty, direction, at, *lane)
                })
            }
        };
        array.as_var().expect("an array is a variable")
    }
}
