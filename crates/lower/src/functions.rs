//! Functions of the library: their parameters, and the destinations of their results; see
//! [`crate::signatures`].

use lambada_anf::Function;
use lambada_loops::{Function as Loops, Operand, Release, Return};

use crate::Lower;
use crate::code::BodyKind;
use crate::memory::{LoweredValue, Place};
use crate::signatures::{Signature, Way};

/// A result after the body has been lowered.
enum Left {
    /// A scalar known outside the scope of the body.
    Scalar(Operand),
    Cell(lambada_loops::Cell),
    Array(Place),
}

impl<'a> Lower<'a> {
    /// Lowers a function of the library.
    pub(crate) fn function(mut self, source: &'a Function, signature: &Signature) -> Loops {
        let places = self.signature(source, signature);
        let release = signature.releases();
        match release {
            Some(Release::All) => self.code.open(BodyKind::Loop),
            Some(Release::Arrays) => self.code.open(BodyKind::Keeping),
            None => {}
        }
        let body = &source.body;
        let left = self.within(body, &[], |lower| {
            let results = lower.block(body, &places);
            lower.leave(results, &places)
        });
        if release.is_some() {
            let body = self.code.close();
            body.into_iter().for_each(|stmt| self.code.push(stmt));
        }
        for left in left.into_iter().flatten() {
            let result = match left {
                Left::Scalar(value) => Return::Scalar(value),
                Left::Cell(cell) => Return::Scalar(self.code.get(cell)),
                Left::Array(place) => {
                    let dims = place.dims.iter().map(|d| self.code.natural(*d)).collect();
                    Return::Buffer(self.memory.buf(place.storage), dims)
                }
            };
            self.code.add_result(result);
        }
        self.code.finish()
    }

    /// Binds the parameters; returns the place of each result, if known.
    fn signature(&mut self, source: &Function, signature: &Signature) -> Vec<Option<Place>> {
        for (p, owned) in source.params.iter().zip(&signature.owned) {
            match (p.ty.dims.is_empty(), owned) {
                (true, _) => self.scalar_parameter(p.var, p.ty.elem.scalar(), false),
                (false, false) => self.array_parameter(p.var, &p.ty),
                (false, true) => {
                    let buf = self.code.owned_param(p.ty.elem.scalar(), self.env.hint(p.var));
                    let place = self.lent(buf, &p.ty);
                    self.bind(p.var, LoweredValue::Array(place));
                }
            }
        }
        for p in &source.accumulators {
            let buf = self.code.shared_param(p.ty.elem.scalar(), self.env.hint(p.var));
            let dims = self.env.dims(&p.ty);
            let storage = self.memory.foreign(buf);
            self.bind(p.var, LoweredValue::Array(Place { storage, offset: Operand::int(0), dims }));
        }
        let place = |(ty, way): (&lambada_anf::Ty, &Way)| match way {
            Way::Scalar | Way::HandedOut => None,
            Way::InPlace(p) => Some(self.env.place(source.params[*p].var.into())),
            Way::Destination => {
                let buf = self.code.owned_param(ty.elem.scalar(), "to".into());
                Some(self.lent(buf, ty))
            }
        };
        source.results.iter().zip(&signature.ways).map(place).collect()
    }

    /// A writable array of the caller.
    fn lent(&mut self, buf: lambada_loops::Buf, ty: &lambada_anf::Ty) -> Place {
        let dims = self.env.dims(ty);
        Place { storage: self.memory.lent(buf), offset: Operand::int(0), dims }
    }

    /// Puts the results of the body in their places; returns those without a place.
    fn leave(&mut self, results: Vec<LoweredValue>, places: &[Option<Place>]) -> Vec<Option<Left>> {
        let mut moves = Vec::new();
        let mut later = Vec::new();
        let mut left = Vec::new();
        for (result, place) in results.into_iter().zip(places) {
            left.push(match (result, place) {
                (LoweredValue::Scalar(value), _) => Some(self.outside(value)),
                (LoweredValue::Array(from), Some(to)) => {
                    moves.push((from, to.clone()));
                    None
                }
                (LoweredValue::Array(from), None) => {
                    later.push(from.clone());
                    Some(Left::Array(from))
                }
                (LoweredValue::Elements(_) | LoweredValue::Cell(_), _) => {
                    unreachable!("a result is a value")
                }
            });
        }
        // Handed-out arrays are read before any place is overwritten.
        let mut made = self.made_here(later).into_iter();
        for left in left.iter_mut().flatten() {
            if let Left::Array(place) = left {
                *place = made.next().expect("as many as are handed out");
            }
        }
        self.move_all(moves);
        left
    }

    /// A scalar for use after the scope of the body.
    fn outside(&mut self, value: Operand) -> Left {
        if self.code.level_of(value) == 0 {
            return Left::Scalar(value);
        }
        let elem = self.code.elem_of(value);
        let cell = self.code.outer_cell(elem, "result");
        self.code.set(cell, value);
        Left::Cell(cell)
    }
}
