//! Array constructors (fill, literal, constant) and updates.

use std::rc::Rc;

use lambada_anf::{Atom, Param, Var};
use lambada_loops::{Mode, Nest, Operand, Step};
use lambada_prim::{Data, Scalar, Tensor};

use crate::Lower;
use crate::code::BodyKind;
use crate::memory::{LoweredValue, Place};
use crate::moves::few;

impl<'a> Lower<'a> {
    /// One flat fill, for any rank.
    pub(crate) fn fill(&mut self, bind: &Param, value: Atom) {
        let value = self.env.operand(value);
        if bind.ty.dims.is_empty() {
            return self.bind(bind.var, LoweredValue::Scalar(value));
        }
        let place = self.target(bind);
        if !self.env.facts().is_overwritten(bind.var) {
            self.fill_place(&place, value);
        }
        self.bind(bind.var, LoweredValue::Array(place));
    }

    pub(crate) fn fill_place(&mut self, place: &Place, value: Operand) {
        let len = self.code.len(&place.dims);
        match few(len) {
            Some(count) => (0..count).for_each(|k| self.put(place, k, value)),
            None => {
                let buf = self.pointer(place);
                self.code.push(Step::Fill { buf, value, len });
            }
        }
    }

    /// Stores the k-th element.
    fn put(&mut self, place: &Place, k: i64, value: Operand) {
        let at = self.code.sum(vec![place.offset, Operand::int(k)]);
        self.code.store(self.memory.buf(place.storage), at, value);
    }

    /// Constant data; a scalar is a constant of the code.
    pub(crate) fn constant(&mut self, bind: &Param, tensor: &Rc<Tensor>) {
        let value = match tensor.as_scalar() {
            Some(scalar) => LoweredValue::Scalar(Operand::Lit(scalar)),
            None => LoweredValue::Array(self.constant_place(bind, tensor.clone())),
        };
        self.bind(bind.var, value);
    }

    fn constant_place(&mut self, bind: &Param, tensor: Rc<Tensor>) -> Place {
        let dims = tensor.dims.iter().map(|d| Operand::int(*d as i64)).collect();
        let buf = self.code.constant(tensor, self.env.hint(bind.var));
        Place { storage: self.memory.foreign(buf), offset: Operand::int(0), dims }
    }

    /// `[a, b, c]`: in registers if only elements at constant indices are used, constant data if
    /// all elements are constant, else in memory.
    pub(crate) fn array(&mut self, bind: &Param, items: &[Atom]) {
        let value = if bind.ty.rank() > 1 {
            LoweredValue::Array(self.rows(bind, items))
        } else {
            self.elements(bind, items)
        };
        self.bind(bind.var, value);
    }

    fn elements(&mut self, bind: &Param, items: &[Atom]) -> LoweredValue {
        let values = self.env.operands(items);
        if self.env.facts().is_elements(bind.var) {
            return LoweredValue::Elements(values);
        }
        if self.memory.wanted(bind.var).is_none()
            && let Some(tensor) = constants(&values)
        {
            return LoweredValue::Array(self.constant_place(bind, Rc::new(tensor)));
        }
        let place = self.target(bind);
        for (k, value) in values.into_iter().enumerate() {
            self.put(&place, k as i64, value);
        }
        LoweredValue::Array(place)
    }

    /// Places rows; rows built in their slots need no copy.
    fn rows(&mut self, bind: &Param, items: &[Atom]) -> Place {
        let rows: Vec<Place> = items.iter().map(|item| self.env.place(*item)).collect();
        let (place, slots) = self.rows_target(bind, items, &rows);
        for (row, slot) in rows.iter().zip(&slots) {
            if !self.memory.same_start(row, slot) {
                self.copy(row, slot);
            }
        }
        place
    }

    fn rows_target(&mut self, bind: &Param, items: &[Atom], rows: &[Place]) -> (Place, Vec<Place>) {
        if let Some(place) = self.memory.wanted(bind.var).cloned() {
            let slots = self.slots(&place, items.len());
            let at_home: Vec<Var> = (0..items.len())
                .filter(|k| self.memory.same_start(&rows[*k], &slots[*k]))
                .filter_map(|k| items[k].as_var())
                .collect();
            if self.is_free(&place, &at_home) {
                return (place, slots);
            }
        }
        let place = self.alloc(bind);
        let slots = self.slots(&place, items.len());
        (place, slots)
    }

    fn slots(&mut self, place: &Place, count: usize) -> Vec<Place> {
        (0..count).map(|k| self.slot(place, Operand::int(k as i64))).collect()
    }

    /// Updates in place if the old array is dead; else in a copy.
    pub(crate) fn update(&mut self, bind: &Param, array: Var, index: &[Atom], value: Atom) {
        let old = self.env.place(array.into());
        let index = self.env.operands(index);
        let value = self.env.value(value);
        let place = if self.take_but_rows(&old) {
            old
        } else {
            let copy = self.target(bind);
            self.copy(&old, &copy);
            copy
        };
        self.overwrite(&place, &index, &value);
        self.bind(bind.var, LoweredValue::Array(place));
    }

    fn overwrite(&mut self, place: &Place, index: &[Operand], value: &LoweredValue) {
        let offset = self.code.offset(place, index);
        match value {
            LoweredValue::Scalar(value) => {
                self.code.store(self.memory.buf(place.storage), offset, *value)
            }
            LoweredValue::Array(part) => {
                let to = Place { storage: place.storage, offset, dims: part.dims.clone() };
                self.move_all(vec![(part.clone(), to)]);
            }
            LoweredValue::Elements(_) | LoweredValue::Cell(_) => {
                unreachable!("the new part is a value")
            }
        }
    }

    // Loops that the lowering itself needs

    /// `for index < end`; `body` receives the index.
    pub(crate) fn counted(
        &mut self,
        hint: &str,
        end: Operand,
        mode: Mode,
        body: impl FnOnce(&mut Self, Operand),
    ) {
        self.code.open(BodyKind::Loop);
        let index = self.code.index(hint);
        body(self, index.into());
        let body = self.code.close();
        self.code.push(Nest::For { index, start: Operand::int(0), end, step: 1, mode, body });
    }
}

/// The values as constant data, if all are constant.
fn constants(values: &[Operand]) -> Option<Tensor> {
    let scalars: Vec<Scalar> = values
        .iter()
        .map(|value| match value {
            Operand::Lit(scalar) => Some(*scalar),
            Operand::Reg(_) => None,
        })
        .collect::<Option<_>>()?;
    let mut data = Data::zeros(scalars.first()?.ty(), scalars.len());
    scalars.iter().enumerate().for_each(|(k, scalar)| data.set(k, *scalar));
    Some(Tensor { dims: vec![scalars.len()], data })
}
