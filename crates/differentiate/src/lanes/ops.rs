//! Operations on whole arrays, with lanes.
//!
//! Most operations only get one more axis. Where an index varies, each element of each lane is read
//! or written on its own. Products stay products: the lanes are the columns of one factor.

use lambada_anf::{Atom, Builder, Checkpoint, LoopKind, Nest, Op, Out, Param, Stm, Ty, Var};
use lambada_prim::ArrayPrim;

use super::{Lanes, Operand};
use crate::arrays::{tabulate, transpose};

impl Lanes<'_> {
    /// A varying operation that is not scalar.
    pub(super) fn op(&mut self, stm: &Stm, op: &Op) {
        match op {
            Op::Index(x, index) => self.index(&stm.binds[0], *x, index),
            Op::Fill(value) => self.fill(&stm.binds[0], *value),
            Op::Array(items) => self.array(&stm.binds[0], items),
            Op::Update { array, index, value } => self.update(&stm.binds[0], *array, index, *value),
            Op::ArrayPrim(prim, args) => self.product(&stm.binds[0], *prim, args),
            Op::Accumulator(init) => {
                let start = self.lanes(*init, &stm.binds[0].ty);
                self.accumulator(&stm.binds[0], start);
            }
            Op::Accumulate { acc, index, value } => self.accumulate(*acc, index, *value),
            Op::Freeze(acc) => self.bind(&stm.binds[0], Op::Freeze(self.of[acc])),
            Op::Prim(..)
            | Op::Constant(_)
            | Op::Check { .. }
            | Op::Inspect { .. }
            | Op::Call { .. }
            | Op::Node { .. }
            | Op::Tag(_)
            | Op::Field { .. }
            | Op::Open { .. }
            | Op::Cell { .. }
            | Op::Scheduled(_) => {
                unreachable!(
                    "a scalar operation is in a run; constants and checks do not vary; what calls or has nodes has no lanes"
                )
            }
        }
    }

    /// An accumulator with lanes.
    pub(super) fn accumulator(&mut self, acc: &Param, start: Var) {
        self.bind(acc, Op::Accumulator(start.into()));
        self.accumulators.insert(self.of[&acc.var]);
    }

    fn operands(&self, atoms: &[Atom]) -> Vec<Operand> {
        atoms.iter().map(|a| self.operand(*a)).collect()
    }

    /// The array with lanes that `element` computes from index and lane.
    fn elements(
        &mut self,
        y: &Param,
        element: &mut dyn FnMut(&mut Builder, &[Atom], Atom) -> Atom,
    ) {
        let (hint, ty) = (self.b.names.hint(y.var), self.lanes_ty(&y.ty));
        let array = tabulate(&mut self.b, &hint, &ty, &mut |b, at| {
            let (lane, at) = at.split_last().expect("there is an axis of lanes");
            element(b, at, *lane)
        });
        self.of.insert(y.var, array.as_var().expect("an array is a variable"));
    }

    /// A sub-array.
    fn index(&mut self, y: &Param, x: Var, index: &[Atom]) {
        let (array, operands, direction) =
            (self.operand(x.into()), self.operands(index), self.direction);
        if let (Operand::Lanes(x), true) = (array, uniform(&operands)) {
            return self.bind(y, Op::Index(x, index.to_vec()));
        }
        self.elements(y, &mut |b, at, lane| {
            let mut place = at_lane(b, &operands, direction, lane);
            place.extend(at);
            array.at(b, &y.ty, direction, &place, lane)
        });
    }

    fn fill(&mut self, y: &Param, value: Atom) {
        let (value, direction) = (self.operand(value), self.direction);
        self.elements(y, &mut |b, _, lane| value.at(b, &y.ty, direction, &[], lane));
    }

    fn array(&mut self, y: &Param, items: &[Atom]) {
        let ty = y.ty.indexed(1);
        let items = items.iter().map(|item| self.lanes(*item, &ty).into()).collect();
        self.bind(y, Op::Array(items));
    }

    fn update(&mut self, y: &Param, x: Var, index: &[Atom], value: Atom) {
        let array = self.lanes(x.into(), &y.ty);
        let (operands, direction) = (self.operands(index), self.direction);
        if uniform(&operands) {
            let value = self.lanes(value, &y.ty.indexed(index.len())).into();
            return self.bind(y, Op::Update { array, index: index.to_vec(), value });
        }
        // Each lane writes its own element.
        let value = self.operand(value);
        let state = Param { var: self.b.names.again(y.var), ty: self.lanes_ty(&y.ty) };
        let lane = self.b.names.fresh("d");
        let body = self.b.block(|b| {
            let mut index = at_lane(b, &operands, direction, lane.into());
            let value = value.at(b, &y.ty, direction, &[], lane.into());
            index.push(lane.into());
            let hint = b.names.hint(y.var);
            vec![b.bind(&hint, state.ty.clone(), Op::Update { array: state.var, index, value })]
        });
        let kind =
            LoopKind::For { index: lane, extent: direction.width, checkpoint: Checkpoint::All };
        let (params, inits) = (vec![state], vec![array.into()]);
        self.bind(y, Nest::Loop { params, inits, kind, body });
    }

    /// Adds a sub-array.
    fn accumulate(&mut self, acc: Var, index: &[Atom], value: Atom) {
        let (lanes, ty) = (self.of[&acc], self.varying.ty(acc).indexed(index.len()));
        let (operands, direction) = (self.operands(index), self.direction);
        if uniform(&operands) {
            let value = self.lanes(value, &ty).into();
            return self.b.effect(Op::Accumulate { acc: lanes, index: index.to_vec(), value });
        }
        let (value, whole) = (self.operand(value), self.lanes_ty(&ty));
        each(&mut self.b, &whole.dims, &mut Vec::new(), &mut |b, at| {
            let (lane, at) = at.split_last().expect("there is an axis of lanes");
            let value = value.at(b, &ty, direction, at, *lane);
            let mut index = at_lane(b, &operands, direction, *lane);
            index.extend(at);
            index.push(*lane);
            b.effect(Op::Accumulate { acc: lanes, index, value });
        });
    }

    // Products

    /// A product with one varying factor; its lanes are the columns of a matrix.
    fn product(&mut self, y: &Param, prim: ArrayPrim, args: &[Var]) {
        let [a, b] = args[..] else { unreachable!("a product has two factors") };
        let (left, right) = (self.of.get(&a).copied(), self.of.get(&b).copied());
        match (left, right, y.ty.rank()) {
            (Some(left), _, _) if self.varying.ty(a).rank() == 1 => {
                let inner = self.varying.ty(a).dims[0];
                let ty = Ty { elem: y.ty.elem, dims: vec![y.ty.dims[0], inner] };
                let flipped = transpose(&mut self.b, &ty, b);
                self.bind(y, Op::ArrayPrim(prim, vec![flipped, left]));
            }
            (Some(left), _, rank) => {
                let row = self.varying.ty(a).indexed(1);
                let factor = if rank == 1 {
                    b
                } else {
                    let ty = Ty { elem: y.ty.elem, dims: vec![y.ty.dims[1], row.dims[0]] };
                    transpose(&mut self.b, &ty, b)
                };
                let whole = self.lanes_ty(&y.ty);
                let rows = self.products((y, &whole), (prim, factor), (left, &row));
                self.of.insert(y.var, rows);
            }
            (None, Some(right), _) if self.varying.ty(b).rank() == 1 => {
                self.bind(y, Op::ArrayPrim(prim, vec![a, right]));
            }
            (None, Some(right), rank) => {
                let dims = &self.varying.ty(b).dims;
                let column = Ty { elem: y.ty.elem, dims: vec![dims[0]] };
                let columns = self.swapped(&column.array_of(dims[1]), right);
                let mut dims = y.ty.dims.clone();
                dims.reverse();
                let whole = self.lanes_ty(&Ty { elem: y.ty.elem, dims });
                let products = self.products((y, &whole), (prim, a), (columns, &column));
                let products = if rank == 1 { products } else { self.swapped(&y.ty, products) };
                self.of.insert(y.var, products);
            }
            (None, None, _) => unreachable!("a product without a factor that varies is uniform"),
        }
    }

    /// `for i { factor @ x[i] }`
    fn products(
        &mut self,
        (y, ty): (&Param, &Ty),
        (prim, factor): (ArrayPrim, Var),
        (x, row): (Var, &Ty),
    ) -> Var {
        let (hint, row) = (self.b.names.hint(y.var), self.lanes_ty(row));
        let index = self.b.names.fresh("i");
        let body = self.b.block(|b| {
            let row = b.bind("row", row.clone(), Op::Index(x, vec![index.into()]));
            let row = row.as_var().expect("an array is a variable");
            vec![b.bind(&hint, ty.indexed(1), Op::ArrayPrim(prim, vec![factor, row]))]
        });
        let nest = Nest::For { index, extent: ty.dims[0], outs: vec![Out::Collect], body };
        self.b.bind(&hint, ty.clone(), nest).as_var().expect("an array is a variable")
    }

    /// The transpose of the matrix `x`, of type `ty`; both have lanes.
    fn swapped(&mut self, ty: &Ty, x: Var) -> Var {
        let whole = self.lanes_ty(ty);
        let swapped = tabulate(&mut self.b, "transposed", &whole, &mut |b, at| {
            b.bind("t", Ty::scalar(ty.elem), Op::Index(x, vec![at[1], at[0], at[2]]))
        });
        swapped.as_var().expect("an array is a variable")
    }
}

fn uniform(operands: &[Operand]) -> bool {
    operands.iter().all(|operand| matches!(operand, Operand::Uniform(_)))
}

/// Indices in a lane.
fn at_lane(
    b: &mut Builder,
    operands: &[Operand],
    direction: super::Direction,
    lane: Atom,
) -> Vec<Atom> {
    operands.iter().map(|operand| operand.at(b, &Ty::int(), direction, &[], lane)).collect()
}

/// Runs `inside` at every index.
fn each(
    b: &mut Builder,
    dims: &[Atom],
    at: &mut Vec<Atom>,
    inside: &mut dyn FnMut(&mut Builder, &[Atom]),
) {
    let Some((extent, rest)) = dims.split_first() else { return inside(b, at) };
    let index = b.names.fresh("i");
    at.push(index.into());
    let body = b.block(|b| {
        each(b, rest, at, inside);
        Vec::new()
    });
    at.pop();
    b.effect(Nest::For { index, extent: *extent, outs: Vec::new(), body });
}
