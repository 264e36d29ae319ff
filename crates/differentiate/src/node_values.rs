//! Nodes, and their fields, where cotangents of handles are values ([`crate::values`]).

use lambada_anf::{Atom, Block, Elem, NodeId, Op, Param, Ty, Var};

use crate::cotangents::Cotangents;
use crate::derived::{Mode, sized};
use crate::values::{self, Made, chosen};

impl Cotangents<'_> {
    /// The type of the cotangent of a variable.
    pub(crate) fn ct_ty(&mut self, x: Var) -> Ty {
        let ty = self.ty(x).clone();
        self.ct_of(&ty)
    }

    /// The type of the cotangents of values of a type.
    pub(crate) fn ct_of(&mut self, ty: &Ty) -> Ty {
        self.cx.ty(Mode::Tangent, ty)
    }

    /// The sum so far of a value that blocks hand on, before a loop that carries it.
    pub(crate) fn sum_or_zero(&mut self, x: Var) -> Atom {
        self.sum(x).unwrap_or_else(|| {
            let ty = self.ct_ty(x);
            self.b.zero(&ty)
        })
    }

    /// The reverse of `t = node C (x…)`.
    pub(crate) fn node_value(&mut self, t: &Param, node: NodeId, tag: u32, fields: &[Atom]) {
        let Some(t_ct) = self.take(t.var).filter(|t_ct| t_ct.as_var().is_some()) else { return };
        let constructor = self.cx.library.node(node).constructors[tag as usize].clone();
        for ((field, x), k) in constructor.fields.iter().zip(fields).zip(0..) {
            let Some(x) = self.wants(*x) else { continue };
            let Some(at) = self.cx.field(node, tag, k) else { continue };
            let ty = sized(&field.ty, fields);
            let of_part = self.ct_of(&ty);
            let part = self.bind_ct(x, &of_part, Op::Field { of: t_ct, tag, field: at });
            self.add(x.into(), part, &ty);
        }
    }

    /// The reverse of `y = field of.k`.
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
        // The constructor is unknown, so the code tests the tag.
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
                    let ty = self.ct_of(&ty);
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

    /// `x̄[index] += value`, for an array of handles: the next version of `x̄`. The update is in
    /// place, because the version before has no other use.
    pub(crate) fn add_to_element(&mut self, x: Var, index: &[Atom], value: Atom) {
        let (all, hint) = (self.sum_or_zero(x), self.hint(x));
        let array = all.as_var().expect("an array is a variable");
        let ty = self.ct_ty(x);
        let part = ty.indexed(index.len());
        let before = self.bind_ct(x, &part, Op::Index(array, index.to_vec()));
        let value = values::plus(self.cx, &mut self.b, &hint, &part, [before, value]);
        let sum = self.bind_ct(x, &ty, Op::Update { array, index: index.to_vec(), value });
        self.set(x, sum);
    }
}
