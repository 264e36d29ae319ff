//! A writer of instructions: the common vocabulary of selection.

use std::collections::HashMap;

use lambada_prim::ScalarTy;

use crate::x86_64::assembler::{self as asm, Label, Vex};
use crate::x86_64::code::{Class, Inst, Listing, Source, Virtual, WordOperand};
use crate::x86_64::helpers::Helper;

/// A listing under construction, and the numbers of its constants.
#[derive(Default)]
pub(crate) struct Writer {
    pub listing: Listing,
    constants: HashMap<[u64; 4], u32>,
}

impl Writer {
    pub(crate) fn put(&mut self, inst: Inst) {
        self.listing.put(inst);
    }

    pub(crate) fn vector(&mut self) -> Virtual {
        self.listing.new_virtual(Class::Vector)
    }

    pub(crate) fn word(&mut self) -> Virtual {
        self.listing.new_virtual(Class::Word)
    }

    /// A constant in all lanes.
    pub(crate) fn constant(&mut self, word: u64) -> Source {
        self.constant_lanes([word; 4])
    }

    pub(crate) fn constant_lanes(&mut self, words: [u64; 4]) -> Source {
        let constants = &mut self.listing.constants;
        let number = *self.constants.entry(words).or_insert_with(|| {
            constants.push(words);
            constants.len() as u32 - 1
        });
        Source::Constant(number)
    }

    pub(crate) fn copy(&mut self, to: Virtual, from: Virtual) {
        self.put(match self.listing.class(to) {
            Class::Word => Inst::Copy { to, from: WordOperand::Virtual(from) },
            Class::Vector => unary(asm::LOAD, to, Source::Virtual(from)),
        });
    }

    /// A word in all lanes; a boolean as a mask.
    pub(crate) fn spread(&mut self, from: Virtual, elem: ScalarTy) -> Virtual {
        let to = self.vector();
        self.put(Inst::Spread { to, from });
        match elem {
            ScalarTy::Bool => self.negated(to),
            ScalarTy::Int | ScalarTy::Real => to,
        }
    }

    /// 0 - x on all lanes: from words 0 and 1 to masks.
    pub(crate) fn negated(&mut self, from: Virtual) -> Virtual {
        let zero = self.constant(0);
        let zero = self.in_register(zero);
        self.on_lanes(asm::SUB_INT, zero, Source::Virtual(from))
    }

    pub(crate) fn in_register(&mut self, source: Source) -> Virtual {
        match source {
            Source::Virtual(v) => v,
            Source::Memory(_) | Source::Constant(_) => {
                let to = self.vector();
                self.put(unary(asm::LOAD, to, source));
                to
            }
        }
    }

    /// A new vector: op(a, b).
    pub(crate) fn on_lanes(&mut self, op: Vex, a: Virtual, b: Source) -> Virtual {
        let to = self.vector();
        self.put(binary(op, to, a, b));
        to
    }

    pub(crate) fn iota(&mut self) -> Source {
        self.constant_lanes([0, 1, 2, 3])
    }

    /// The smaller integer in each lane.
    pub(crate) fn least(&mut self, a: Virtual, b: Virtual) -> Virtual {
        let mask = self.on_lanes(asm::GREATER_INT, a, Source::Virtual(b));
        let to = self.vector();
        self.put(Inst::Blend { to, mask, yes: Source::Virtual(b), no: a });
        to
    }

    /// From masks to words 0 and 1.
    pub(crate) fn ones(&mut self, from: Virtual) -> Virtual {
        let to = self.vector();
        self.put(Inst::ShiftLanes { left: false, to, from, by: 63 });
        to
    }

    pub(crate) fn call(&mut self, helper: Helper, args: &[Virtual]) {
        for (argument, value) in args.iter().enumerate() {
            self.put(Inst::Pass { argument: argument as u8, value: *value });
        }
        self.put(Inst::Call(helper));
    }

    pub(crate) fn label(&mut self) -> Label {
        self.listing.label()
    }
}

/// op(b)
pub(crate) fn unary(op: Vex, to: Virtual, b: Source) -> Inst {
    Inst::Vector { op, to, a: None, b, constant: None }
}

/// op(a, b)
pub(crate) fn binary(op: Vex, to: Virtual, a: Virtual, b: Source) -> Inst {
    Inst::Vector { op, to, a: Some(a), b, constant: None }
}

/// A boolean in a lane.
pub(crate) fn mask(value: bool) -> u64 {
    if value { u64::MAX } else { 0 }
}
