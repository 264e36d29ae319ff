//! Cotangents of handles as values, for derivatives that become source, which has no cells (CHAD's cotangents of recursive types).
//!
//! ```text
//!   T̄ = C̄ (x̄ : real) (t̄ : ref T̄)                            the shape of a tangent; null is zero
//!
//!   t = node C (x…)            x̄ₖ += field t̄.k               zero where t̄ is null
//!   x = field t C k            t̄ += node C̄ (0 … x̄ … 0)       all fields that are read in a row make one node
//!   y… = call f (x…)           x̄… += f⇐ (x…, ȳ…, tape)       of handles as of reals
//! ```
//!
//! `plus`, a recursive function per type, goes only where both summands have nodes, and makes one node of each two: the sum of all cotangents
//! has fewer nodes than its summands, so all sums of a program together take no longer than the nodes took that they are of. A node is made
//! by a statement of the reverse sweep for one that has read a field, so a gradient costs a multiple of its value here, too, if not call by
//! call. What is read of an array in a node counts as all of it: here alone a cell is better, for reading one element of it costs O(1).
//!
//! * Assumes: no array of handles carries a derivative, and there are no cells ([`handles`]).
//! * Gives: code without cells, and without the shadows of [`crate::shadows`].

use std::collections::HashMap;

use lambada_anf::{
    Atom, Block, Builder, Elem, Exp, FnId, Function, Lambda, LoopKind, Names, Nest, NodeId, Op,
    Param, Stm, Ty, Var,
};
use lambada_prim::Prim;

use crate::arrays;
use crate::cotangents::Cotangents;
use crate::derived::{Context, Mode, sized};
use crate::known::called;

/// What the reverse mode makes of the cotangents of handles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Handles {
    /// Shadow nodes with cells.
    #[default]
    Shadows,
    /// Values.
    Values,
}

/// Values, where all cotangents can be that.
pub(crate) fn handles(cx: &Context, f: &Lambda) -> Handles {
    let carries = |ty: &Ty| ty.elem.node().is_some() && cx.known.carries(ty.elem);
    let unfit =
        |p: &Param| carries(&p.ty) && !p.ty.dims.is_empty() || cx.known.leads_to_cells(p.ty.elem);
    let unfit_stm = |stm: &Stm| {
        let state = match &stm.exp {
            Exp::Nest(Nest::Loop { params, .. }) => &params[..],
            Exp::Nest(Nest::For { .. } | Nest::If { .. }) | Exp::Op(_) => &[],
        };
        stm.binds.iter().chain(state).any(unfit)
    };
    let called = called(&cx.library, &f.body);
    let functions = called.iter().filter_map(|id| cx.library.function(*id));
    let inside = |params: &[Param], body: &Block| {
        params.iter().any(unfit) || body.any(&mut |stm| unfit_stm(stm))
    };
    let any = inside(&f.params, &f.body) || { functions }.any(|f| inside(&f.params, &f.body));
    if any { Handles::Shadows } else { Handles::Values }
}

/// `x + y`, of cotangents of handles.
pub(crate) fn plus(
    cx: &mut Context,
    b: &mut Builder,
    hint: &str,
    node: NodeId,
    [x, y]: [Atom; 2],
) -> Atom {
    let null = Atom::int(0);
    if x == null || y == null {
        return if x == null { y } else { x };
    }
    let of = cx.node(Mode::Tangent, node);
    let function = sum_of(cx, of);
    let call = Op::Call { function, args: vec![x, y], accumulators: Vec::new() };
    b.bind(hint, Ty::handle(of), call)
}

/// The function that adds cotangents of this type.
fn sum_of(cx: &mut Context, of: NodeId) -> FnId {
    if let Some(known) = cx.sums.get(&of) {
        return *known;
    }
    let id = cx.new_function();
    cx.sums.insert(of, id);
    let ty = Ty::handle(of);
    let mut names = Names::with(cx.precision);
    let params = ["x", "y"].map(|hint| Param { var: names.fresh(hint), ty: ty.clone() });
    let [x, y] = [&params[0], &params[1]].map(|p| Atom::from(p.var));
    let mut b = Builder::new(&mut names);
    let tag = b.bind("tag", Ty::int(), Op::Tag(x));
    let constructors = cx.library.node(of).constructors.clone();
    // Of two values without anything in them, either is the sum.
    let mut sum = Block { stms: Vec::new(), results: vec![y] };
    for (k, constructor) in constructors.iter().enumerate().rev() {
        let holds = |elem: Elem| elem == Elem::REAL || elem.node().is_some();
        if !constructor.fields.iter().any(|field| holds(field.ty.elem)) {
            continue;
        }
        let then = b.block(|b| vec![both(cx, b, of, k as u32, [x, y])]);
        sum = b.block(|b| vec![chosen(b, tag, k as u32, &ty, then, sum)]);
    }
    b.stms.extend(sum.stms);
    let body = b.finish(sum.results);
    let name = format!("plus_{}", cx.library.node(of).name);
    let (params, results) = (params.to_vec(), vec![ty]);
    cx.complete(id, Function { name, params, results, body, names, ..Function::default() });
    id
}

/// The sum of a value of this constructor and another one, which is of the same or null.
fn both(cx: &mut Context, b: &mut Builder, of: NodeId, tag: u32, [x, y]: [Atom; 2]) -> Atom {
    let ty = Ty::handle(of);
    let other = b.bind("tag", Ty::int(), Op::Tag(y));
    let constructor = cx.library.node(of).constructors[tag as usize].clone();
    let then = b.block(|b| {
        let mut fields: Vec<Atom> = Vec::with_capacity(constructor.fields.len());
        for (field, k) in constructor.fields.iter().zip(0..) {
            let ty = sized(&field.ty, &fields);
            let mut read = |of| b.bind(&field.name, ty.clone(), Op::Field { of, tag, field: k });
            let first = read(x);
            fields.push(match ty.elem {
                Elem::REAL => {
                    let second = read(y);
                    arrays::plus(b, &field.name, &ty, first, second)
                }
                Elem::Ref(inner) => {
                    let (second, function) = (read(y), sum_of(cx, inner));
                    arrays::tabulate(b, &field.name, &ty, &mut |b, at| {
                        let element = |b: &mut Builder, all: Atom| match all.as_var() {
                            Some(all) if !at.is_empty() => {
                                let element = Op::Index(all, at.to_vec());
                                b.bind(&field.name, Ty::handle(inner), element)
                            }
                            Some(_) | None => all,
                        };
                        let args = vec![element(b, first), element(b, second)];
                        let call = Op::Call { function, args, accumulators: Vec::new() };
                        b.bind(&field.name, Ty::handle(inner), call)
                    })
                }
                // A size.
                Elem::Scalar(_) => first,
            });
        }
        vec![b.bind("sum", ty.clone(), Op::Node { node: of, tag, fields, cells: false })]
    });
    let otherwise = Block { stms: Vec::new(), results: vec![x] };
    chosen(b, other, tag, &ty, then, otherwise)
}

/// One block if the tag is this one, the other if not.
fn chosen(b: &mut Builder, tag: Atom, is: u32, ty: &Ty, then: Block, otherwise: Block) -> Atom {
    let cond = b.prim(Prim::EqInt, [tag, Atom::int(is.into())]);
    b.bind("sum", ty.clone(), Nest::If { cond, then, otherwise })
}

/// A cotangent that has been made of fields that were read; the others are zero.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    tag: u32,
    fields: Vec<(u32, Atom)>,
    /// Sizes, by their fields.
    sizes: HashMap<u32, Atom>,
}

impl Made {
    /// Both in one, if they agree.
    fn and(&self, other: &Made) -> Option<Made> {
        let again = self.fields.iter().any(|(k, _)| other.fields.iter().any(|(j, _)| j == k));
        let differ = |(k, size): (&u32, &Atom)| other.sizes.get(k).is_some_and(|own| own != size);
        if self.tag != other.tag || again || self.sizes.iter().any(differ) {
            return None;
        }
        let mut both = self.clone();
        both.fields.extend(&other.fields);
        both.sizes.extend(&other.sizes);
        Some(both)
    }
}

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
            let value = match ty.elem {
                _ if known.is_some() => known.unwrap_or(Atom::int(0)),
                Elem::REAL | Elem::Ref(_) => {
                    let ty = self.cx.ty(Mode::Tangent, &ty);
                    self.b.zero(&ty)
                }
                Elem::Scalar(_) => made.sizes.get(&k).copied().unwrap_or_else(|| {
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
