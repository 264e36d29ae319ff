//! Nodes: made with copies of their arrays, so that these stay unchanged; fields are read in place.
//! A cell is memory with additions, like an accumulator.

use lambada_anf::{Atom, Library, NodeId, Param};
use lambada_loops::{Field, FieldId, FieldValue, NodeType, Operand};

use crate::Lower;
use crate::memory::{LoweredValue, Place};

/// The node types of a library.
pub(crate) fn node_types(library: &Library) -> Vec<NodeType> {
    let field = |field: &lambada_anf::Field| Field {
        elem: field.ty.elem.scalar(),
        array: field.ty.rank() > 0,
        cell: field.cell,
    };
    let node = |node: &lambada_anf::NodeType| NodeType {
        name: node.name.as_str().into(),
        constructors: node
            .constructors
            .iter()
            .map(|constructor| constructor.fields.iter().map(field).collect())
            .collect(),
    };
    library.nodes.iter().map(node).collect()
}

impl<'a> Lower<'a> {
    pub(crate) fn node(&mut self, bind: &Param, NodeId(node): NodeId, tag: u32, fields: &[Atom]) {
        let part = |lower: &mut Self, atom: &Atom| match lower.env.value(*atom) {
            LoweredValue::Scalar(value) => FieldValue::Scalar(value),
            LoweredValue::Array(place) => {
                let len = lower.code.len(&place.dims);
                FieldValue::Array(lower.pointer(&place), len)
            }
            LoweredValue::Elements(_) | LoweredValue::Cell(_) => {
                unreachable!("a field holds a value")
            }
        };
        let parts = fields.iter().map(|atom| part(self, atom)).collect();
        let (hint, origin) = (self.env.hint(bind.var), self.env.origin(bind.var));
        let handle = self.code.node((lambada_loops::NodeId(node), tag), parts, hint, origin);
        self.bind(bind.var, LoweredValue::Scalar(handle));
    }

    pub(crate) fn tag(&mut self, bind: &Param, of: Atom) {
        let of = self.env.operand(of);
        let tag = self.code.tag(of, self.env.hint(bind.var));
        self.bind(bind.var, LoweredValue::Scalar(tag));
    }

    /// A field: a scalar, or an array in place.
    pub(crate) fn field(&mut self, bind: &Param, of: Atom, tag: u32, field: u32) {
        let value = match self.field_id(of, tag, field) {
            Some((id, of)) if bind.ty.dims.is_empty() => {
                let (elem, hint) = (bind.ty.elem.scalar(), self.env.hint(bind.var));
                LoweredValue::Scalar(self.code.field(elem, id, of, hint))
            }
            Some((id, of)) => LoweredValue::Array(self.opened(bind, id, of)),
            None if bind.ty.dims.is_empty() => {
                LoweredValue::Scalar(Operand::Lit(bind.ty.elem.zero()))
            }
            None => LoweredValue::Array(self.zeros(bind)),
        };
        self.bind(bind.var, value);
    }

    /// A cell to add to.
    pub(crate) fn open(&mut self, bind: &Param, of: Atom, tag: u32, field: u32) {
        let place = match self.field_id(of, tag, field) {
            Some((id, of)) => self.opened(bind, id, of),
            None => self.zeros(bind),
        };
        self.bind(bind.var, LoweredValue::Array(place));
    }

    /// The content of a cell.
    pub(crate) fn cell(&mut self, bind: &Param, of: Atom, tag: u32, field: u32) {
        let value = match self.field_id(of, tag, field) {
            Some((id, of)) => {
                let place = self.opened(bind, id, of);
                self.held(bind, place)
            }
            None if bind.ty.dims.is_empty() => {
                LoweredValue::Scalar(Operand::Lit(bind.ty.elem.zero()))
            }
            None => LoweredValue::Array(self.zeros(bind)),
        };
        self.bind(bind.var, value);
    }

    /// The value in memory that receives no more additions.
    pub(crate) fn held(&mut self, bind: &Param, place: Place) -> LoweredValue {
        if !bind.ty.dims.is_empty() {
            return LoweredValue::Array(place);
        }
        let buf = self.memory.buf(place.storage);
        LoweredValue::Scalar(self.code.load(buf, place.offset, self.env.hint(bind.var)))
    }

    /// The field in its node; `None` for the constant null.
    fn field_id(&self, of: Atom, tag: u32, field: u32) -> Option<(FieldId, Operand)> {
        let NodeId(node) = self.env.facts().node(of.as_var()?);
        let id = FieldId { node: lambada_loops::NodeId(node), tag, field };
        Some((id, self.env.operand(of)))
    }

    fn opened(&mut self, bind: &Param, field: FieldId, of: Operand) -> Place {
        let dims = self.env.dims(&bind.ty);
        let names = (self.env.hint(bind.var), self.env.origin(bind.var));
        let buf = self.code.open_field(bind.ty.elem.scalar(), field, of, &dims, names);
        Place { storage: self.memory.foreign(buf), offset: Operand::int(0), dims }
    }

    fn zeros(&mut self, bind: &Param) -> Place {
        let place = self.alloc(bind);
        self.fill_place(&place, Operand::Lit(bind.ty.elem.zero()));
        place
    }
}
