//! `for`: independent iterations. The memory of collected results is allocated before the loop, and
//! each iteration builds its part there.

use lambada_anf::{Atom, Block, Out, Stm, Var};
use lambada_loops::{Cell, Mode, Operand};
use lambada_prim::ReduceOp;

use crate::Lower;
use crate::code::{BodyKind, Each};
use crate::memory::{LoweredValue, Place};

/// The destination of a result of the iterations.
enum Sink {
    Array(Place),
    Cell(ReduceOp, Cell),
}

impl<'a> Lower<'a> {
    pub(crate) fn for_(
        &mut self,
        stm: &'a Stm,
        index: Var,
        extent: Atom,
        outs: &[Out],
        body: &'a Block,
    ) {
        let end = self.env.operand(extent);
        let sinks = self.sinks(stm, outs);
        let keeps = self.signatures.keeps_nodes(&stm.binds, body);
        self.code.open(if keeps { BodyKind::Keeping } else { BodyKind::Loop });
        let counter = self.code.index(self.env.hint(index));
        self.within(body, &[body], |lower| {
            lower.bind(index, LoweredValue::Scalar(counter.into()));
            lower.iteration(body, counter.into(), &sinks);
        });
        let stmts = self.code.close();
        let mode = mode(outs, body);
        let each = Each { index: counter, start: Operand::int(0), end, mode, body: stmts };
        if keeps {
            self.code.push(each.whole());
        } else {
            self.code.push_loop(each);
        }
        for (bind, sink) in stm.binds.iter().zip(sinks) {
            let value = match sink {
                Sink::Array(place) => LoweredValue::Array(place),
                Sink::Cell(_, cell) => LoweredValue::Scalar(self.code.get(cell)),
            };
            self.bind(bind.var, value);
        }
    }

    fn sinks(&mut self, stm: &Stm, outs: &[Out]) -> Vec<Sink> {
        let mut taken = Vec::new();
        let mut sinks = Vec::with_capacity(outs.len());
        for (bind, out) in stm.binds.iter().zip(outs) {
            sinks.push(match out {
                Out::Collect => {
                    let place = self.target_apart(bind, &taken);
                    taken.push(place.clone());
                    Sink::Array(place)
                }
                Out::Reduce(op) => {
                    let unit = Operand::Lit(op.unit(bind.ty.elem.scalar()));
                    Sink::Cell(
                        *op,
                        self.code.cell(bind.ty.elem.scalar(), unit, self.env.hint(bind.var)),
                    )
                }
            });
        }
        sinks
    }

    fn iteration(&mut self, body: &'a Block, index: Operand, sinks: &[Sink]) {
        let slots: Vec<Option<Place>> = sinks
            .iter()
            .map(|sink| match sink {
                Sink::Array(place) if place.dims.len() > 1 => Some(self.slot(place, index)),
                Sink::Array(_) | Sink::Cell(..) => None,
            })
            .collect();
        let results = self.block(body, &slots);
        let mut moves = Vec::new();
        for ((result, sink), slot) in results.into_iter().zip(sinks).zip(slots) {
            match (result, sink, slot) {
                (LoweredValue::Array(place), Sink::Array(_), Some(slot)) => {
                    moves.push((place, slot))
                }
                (LoweredValue::Scalar(value), Sink::Array(array), _) => {
                    let at = self.code.offset(array, &[index]);
                    self.code.store(self.memory.buf(array.storage), at, value);
                }
                (LoweredValue::Scalar(value), Sink::Cell(op, cell), _) => {
                    self.combine(*op, *cell, value)
                }
                (LoweredValue::Array(_), _, _)
                | (LoweredValue::Elements(_) | LoweredValue::Cell(_), _, _) => {
                    unreachable!("a result fits what it goes to")
                }
            }
        }
        self.move_all(moves);
    }
}

/// The sharing between iterations: none, or cells and arrays with additions only.
fn mode(outs: &[Out], body: &Block) -> Mode {
    let reduces = outs.iter().any(|out| matches!(out, Out::Reduce(_)));
    if reduces || body.adds() { Mode::Reduction } else { Mode::Independent }
}
