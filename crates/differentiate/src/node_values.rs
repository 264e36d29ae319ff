//! Nodes, and their fields, where cotangents of handles are values ([`crate::values`]).

use lambada_anf::{Atom, Block, Elem, LoopKind, Nest, NodeId, Op, Param, Ty, Var};

use crate::cotangents::Cotangents;
use crate::derived::{Mode, sized};
use crate::values::{Made, chosen, plus};

impl Cotangents<'_> {
    /// The type of the cotangent of a variable.
    pub(crate) fn ct_ty(&mut self, x: Var) -> Ty {
        let ty = self.ty(x).clone();
        self.cx.ty(Mode::Tangent, &ty)
    }

    /// The sum so far of a scalar or a handle, before a loop that carries it on.
    pub(crate) fn sum_or_zero(&mut self, x: Var) -> Atom {
        let zero = Atom::Lit(self.ty(x).elem.zero());
        self.sum(x).unwrap_or(zero)
    }

    /// Of `t = node C (x…)`.
    pub(crate) fn node_value(&mut self, t: &Param, node: NodeId, tag: u32, fields: &[Atom]) {
        let Some(t_ct) = self.take(t.var).filter(|t_ct| t_ct.as_var().is_some()) else { return };
        let constructor = self.cx.library.node(node).constructors[tag as usize].clone();
        for ((field, x), k) in constructor.fields.iter().zip(fields).zip(0..) {
            let Some(x) = self.wants(*x) else { continue };
            let Some(at) = self.cx.field(node, tag, k) else { continue };
            let ty = sized(&field.ty, fields);
            let of_part = self.cx.ty(Mode::Tangent, &ty);
            let part = self.bind_ct(x, &of_part, Op::Field { of: t_ct, tag, field: at });
            self.add(x.into(), part, &ty);
        }
    }

    /// Of `y = field of.k`.
    pub(crate) fn field_value(&mut self, y: &Param, of: Atom, tag: u32, field: u32) {
        let Some(y_ct) = self.take(y.var) else { return };
        let (Some(t), Some(node)) = (self.wants(of), self.facts.activity.node(of)) else { return };
        let dims =
            &self.cx.library.node(node).constructors[tag as usize].fields[field as usize].ty.dims;
        let sizes = dims.iter().zip(&y.ty.dims);
        let sizes = sizes.filter_map(|(dim, size)| Some((dim.as_var()?.0, *size))).collect();
        let mut made = Made { tag, fields: vec![(field, y_ct)], sizes };
        if self.guarded.contains(&y.var) {
            let before = self.sum(t);
            let known = before.and_then(|sum| self.made.get(&sum.as_var()?));
            let joined = known.and_then(|known| known.and(&made));
            let merged = joined.is_some();
            made = joined.unwrap_or(made);
            let whole = self.whole(t, node, &made);
            self.made.extend(whole.as_var().map(|var| (var, made)));
            match merged {
                true => self.set(t, whole),
                false => self.add(t.into(), whole, &Ty::handle(node)),
            }
            return;
        }
        // Nobody has said that it has this constructor.
        let own = self.b.bind("tag", Ty::int(), Op::Tag(of));
        let outer = std::mem::take(&mut self.b.stms);
        let results = vec![self.whole(t, node, &made)];
        let then = Block { stms: std::mem::replace(&mut self.b.stms, outer), results };
        let otherwise = Block { stms: Vec::new(), results: vec![Atom::int(0)] };
        let ty = self.ct_ty(t);
        let whole = chosen(&mut self.b, own, tag, &ty, then, otherwise);
        self.add(t.into(), whole, &Ty::handle(node));
    }

    /// The node of a cotangent of `t`.
    fn whole(&mut self, t: Var, node: NodeId, made: &Made) -> Atom {
        let tag = made.tag;
        let constructor = self.cx.library.node(node).constructors[tag as usize].clone();
        let mut values = vec![Atom::int(0); constructor.fields.len()];
        let mut fields = Vec::new();
        for k in self.cx.kept(&constructor) {
            let field = &constructor.fields[k as usize];
            let ty = sized(&field.ty, &values);
            let known = made.fields.iter().find(|(known, _)| *known == k).map(|(_, part)| *part);
            let value = match (known, ty.elem) {
                (Some(part), _) => part,
                (None, Elem::REAL | Elem::Ref(_)) => {
                    let ty = self.cx.ty(Mode::Tangent, &ty);
                    self.b.zero(&ty)
                }
                // A size.
                (None, Elem::Scalar(_)) => made.sizes.get(&k).copied().unwrap_or_else(|| {
                    self.b.bind(&field.name, ty, Op::Field { of: t.into(), tag, field: k })
                }),
            };
            values[k as usize] = value;
            fields.push(value);
        }
        let ty = self.ct_ty(t);
        let Elem::Ref(node) = ty.elem else { unreachable!("a handle") };
        self.bind_ct(t, &ty, Op::Node { node, tag, fields, cells: false })
    }

    /// The sum of what iterations give, in their order.
    pub(crate) fn sum_of_all(&mut self, x: Var, all: Var, index: Var, extent: Atom) -> Atom {
        let ty = self.ct_ty(x);
        let Some(node) = self.facts.activity.node(x.into()) else { unreachable!("a handle") };
        let hint = self.hint(x);
        let sum = Param { var: self.b.names.fresh(hint.clone()), ty: ty.clone() };
        let k = self.b.names.again(index);
        let (cx, b) = (&mut *self.cx, &mut self.b);
        let body = b.block(|b| {
            let one = b.bind(&hint, ty.clone(), Op::Index(all, vec![k.into()]));
            vec![plus(cx, b, &hint, node, [sum.var.into(), one])]
        });
        let kind = LoopKind::counted(k, extent);
        let (params, inits) = (vec![sum], vec![Atom::int(0)]);
        b.bind(&hint, ty, Nest::Loop { params, inits, kind, body })
    }
}
