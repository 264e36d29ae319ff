//! Nodes: `t = node C x…`, `y = field t.k`, and their cells.
//!
//! ```text
//!                     D→                      forward sweep              D←
//!   t = node C (x…)   ṫ = node Ċ (ẋ…)         t̄ = node C̄ (0…, h̄…)        x̄ += cell t̄.x
//!   y = field t.k     ẏ = field ṫ.k           h̄ = field t̄.k  (handles)   t̄.k += ȳ
//!   acc = open s.k    acc˙ = open ṡ.k                                    acc += v: v̄ += cell s̄.k
//!   y = cell s.k      ẏ = cell ṡ.k                                       s̄.k += ȳ
//! ```
//!
//! When the reverse sweep reaches the statement that makes a node, it has passed all uses of the
//! node, so the cells of its shadow are complete. The cell of an array is its accumulator: a read
//! of an element of a node's array costs O(1) in the reverse sweep. Reading a cell is the transpose
//! of adding to it, and cells have cells in derivatives of derivatives.

use lambada_anf::{Atom, NodeId, Op, Param, Ty, Var};

use crate::cotangents::Cotangents;
use crate::derived::{Mode, sized};
use crate::tangents::{ShadowCell, Tangents};

impl Tangents<'_> {
    pub(crate) fn node(&mut self, t: &Param, node: NodeId, tag: u32, fields: &[Atom]) {
        let zero = self.mode == Mode::Tangent && fields.iter().all(|x| self.get(*x).is_none());
        let nothing = zero && !self.cx.known.leads_to_cells(t.ty.elem);
        if !self.carries(t.var) || nothing {
            return;
        }
        let constructor = self.cx.library.node(node).constructors[tag as usize].clone();
        let mut values = Vec::new();
        for k in self.cx.kept(&constructor) {
            let (field, x) = (&constructor.fields[k as usize], fields[k as usize]);
            let ty = sized(&field.ty, fields);
            let handle = ty.elem.node().is_some();
            values.push(if !self.cx.known.carries(ty.elem) {
                x
            } else if self.mode == Mode::Shadow && !handle {
                self.b.zero(&ty)
            } else {
                self.or_zero(x, &ty)
            });
        }
        let derived = self.cx.node(self.mode, node);
        let cells = self.cx.has_cells(derived);
        self.bind(t, Op::Node { node: derived, tag, fields: values, cells });
    }

    pub(crate) fn field(&mut self, y: &Param, of: Atom, tag: u32, field: u32) {
        let Some(cell) = self.shadow_cell(of, tag, field) else { return };
        if self.carries(y.var) {
            let ShadowCell { shadow: of, tag, field } = cell;
            self.bind(y, Op::Field { of, tag, field });
        } else if self.activity.active(y.var) {
            self.shadow_cells.insert(y.var, cell);
        }
    }

    pub(crate) fn open(&mut self, acc: &Param, of: Atom, tag: u32, field: u32) {
        self.cell_of(acc, of, (tag, field), |of, tag, field| Op::Open { of, tag, field });
    }

    pub(crate) fn cell(&mut self, y: &Param, of: Atom, tag: u32, field: u32) {
        self.cell_of(y, of, (tag, field), |of, tag, field| Op::Cell { of, tag, field });
    }

    fn cell_of(
        &mut self,
        x: &Param,
        of: Atom,
        (tag, field): (u32, u32),
        op: fn(Atom, u32, u32) -> Op,
    ) {
        let Some(cell) = self.shadow_cell(of, tag, field) else { return };
        if !self.activity.active(x.var) {
            return;
        }
        match self.mode {
            Mode::Tangent => self.bind(x, op(cell.shadow, cell.tag, cell.field)),
            Mode::Shadow => _ = self.shadow_cells.insert(x.var, cell),
        }
    }

    /// The cell of the tangent of a field or of a cell, unless it is zero.
    fn shadow_cell(&self, of: Atom, tag: u32, field: u32) -> Option<ShadowCell> {
        let shadow = self.get(of)?;
        let node = self.activity.node(of)?;
        let field = self.cx.field(node, tag, field)?;
        Some(ShadowCell { shadow, tag, field })
    }
}

impl Cotangents<'_> {
    pub(crate) fn node(&mut self, t: &Param, node: NodeId, tag: u32, fields: &[Atom]) {
        let Some(shadow) = self.shadows.get(t.var) else { return };
        let constructor = self.cx.library.node(node).constructors[tag as usize].clone();
        for (k, (field, x)) in constructor.fields.iter().zip(fields).enumerate() {
            let Some(x) = self.wants(*x) else { continue };
            let Some(field_of) = self.cx.field(node, tag, k as u32) else { continue };
            let ty = sized(&field.ty, fields);
            let part = self.bind_ct(x, &ty, Op::Cell { of: shadow, tag, field: field_of });
            self.add(x.into(), part, &ty);
        }
    }

    /// Reverses a read of a field or a cell: adds the rest of its cotangent to the cell.
    pub(crate) fn read(&mut self, y: &Param) {
        let Some(y_ct) = self.take(y.var) else { return };
        if let Some(cell) = self.shadows.cell(y.var) {
            let acc = self.opened(y.var, &y.ty, cell);
            self.b.effect(Op::Accumulate { acc, index: Vec::new(), value: y_ct });
        }
    }

    /// Opens the shadow cell of a field or cell that has been read.
    pub(crate) fn opened(&mut self, y: Var, ty: &Ty, cell: ShadowCell) -> Var {
        let ShadowCell { shadow: of, tag, field } = cell;
        let acc = self.bind_ct(y, ty, Op::Open { of, tag, field });
        let acc = acc.as_var().expect("a bound variable");
        self.lent.insert(acc);
        acc
    }

    /// The content of the shadow cell of an accumulator for a cell.
    pub(crate) fn of_cell(&mut self, acc: Var) -> Option<Atom> {
        let ShadowCell { shadow: of, tag, field } = self.shadows.cell(acc)?;
        let ty = self.ty(acc).clone();
        Some(self.bind_ct(acc, &ty, Op::Cell { of, tag, field }))
    }
}
