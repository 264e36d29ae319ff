//! Nodes that keep residuals for a reverse sweep: the tape of a call, the tape of an iteration of a
//! `while`, and boxes for arrays of sizes unknown outside. Nodes keep arrays by reference.
//!
//! ```text
//!   forward   tape = node f_tape (n, xs, …)
//!   reverse   n = field tape.0; xs : [n]real = field tape.1; …
//! ```

use std::collections::HashMap;

use lambada_anf::{Atom, Field, Names, NodeId, Op, Param, Stm, Ty, Var};

use crate::derived::is_int;

/// The layout of a node that keeps values and the sizes that these need.
pub(crate) struct Layout {
    /// The payload, by field.
    pub(crate) values: Vec<Atom>,
    pub(crate) fields: Vec<Field>,
    /// The field of each value.
    places: HashMap<Var, u32>,
    /// The constructor number, for a node with the residuals of one branch of several.
    pub(crate) tag: u32,
}

impl Layout {
    pub(crate) fn of(names: &Names, kept: &[Param]) -> Layout {
        let (values, fields, places) = (Vec::new(), Vec::new(), HashMap::new());
        let mut layout = Layout { values, fields, places, tag: 0 };
        let (ints, others): (Vec<&Param>, Vec<&Param>) = kept.iter().partition(|p| is_int(&p.ty));
        ints.into_iter().for_each(|p| layout.keep(names, p));
        let sizes = kept.iter().flat_map(|p| &p.ty.dims).filter_map(|size| size.as_var());
        sizes.for_each(|var| layout.keep(names, &Param { var, ty: Ty::int() }));
        others.into_iter().for_each(|p| layout.keep(names, p));
        layout
    }

    fn keep(&mut self, names: &Names, p: &Param) {
        if self.places.contains_key(&p.var) {
            return;
        }
        let place = |dim: &Atom| dim.as_var().map_or(*dim, |x| Var(self.places[&x]).into());
        let ty = Ty { elem: p.ty.elem, dims: p.ty.dims.iter().map(place).collect() };
        self.places.insert(p.var, self.fields.len() as u32);
        self.values.push(p.var.into());
        self.fields.push(Field::new(&names.hint(p.var), ty));
    }

    /// The statement that makes the node.
    pub(crate) fn make(&self, node: NodeId, bind: Var) -> Stm {
        let made = Op::Node { node, tag: self.tag, fields: self.values.clone(), cells: false };
        Stm::new(vec![Param { var: bind, ty: Ty::handle(node) }], made)
    }

    /// The statement that reads a value; its sizes have the names in its type.
    pub(crate) fn read(&self, of: Atom, x: Var, bind: Param) -> Stm {
        Stm::new(vec![bind], Op::Field { of, tag: self.tag, field: self.places[&x] })
    }

    /// The statements that read the values under their own names, `int`s first.
    pub(crate) fn read_all(&self, of: Atom, kept: &[Param]) -> Vec<Stm> {
        let read = |p: &Param| self.read(of, p.var, p.clone());
        let ints = kept.iter().filter(|p| is_int(&p.ty));
        ints.chain(kept.iter().filter(|p| !is_int(&p.ty))).map(read).collect()
    }
}
