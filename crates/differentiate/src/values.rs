//! Cotangents of handles as values, for derivatives that become source, which has no cells (CHAD's
//! cotangents of recursive types).
//!
//! ```text
//!   T̄ = C̄ (x̄ : real) (t̄ : ref T̄)                            shape of a tangent; null is zero
//!
//!   t = node C (x…)            x̄ₖ += field t̄.k               zero where t̄ is null
//!   x = field t C k            t̄ += node C̄ (0 … x̄ … 0)       one node for a run of reads
//!   y… = call f (x…)           x̄… += f⇐ (x…, ȳ…, tape)       of handles as of reals
//! ```
//!
//! A gradient costs a multiple of its value here, too. `plus`, a recursive function per type,
//! descends only where both summands have nodes, and merges two nodes into one. So all additions of
//! a run together make fewer nodes than all other statements of its reverse sweep, each of which
//! makes one node for a field that the forward sweep has read. A single addition may take as long
//! as its summands have nodes.
//!
//! The cotangent of an array of handles is an array; blocks hand it on like a handle, and update it
//! in place:
//!
//! ```text
//!   y = ts[i]              t̄s = t̄s with [i] = t̄s[i] + ȳ      a reverse `loop` with state t̄s
//!   t = ts[i], own i       t̄s += for i < n { t̄ }             the own element (elements)
//!   y… = call f (ts, …)    t̄s = f⇐ (…, t̄s, tape)             the array so far, continued
//! ```
//!
//! Arrays in nodes are the exception: a cotangent has all elements of such an array, even if the
//! program reads only one. With cells that read costs O(1).
//!
//! * Assumes: there are no cells ([`handles`]).
//! * Gives: code without cells, and without the shadows of [`crate::shadows`].

use std::collections::HashMap;

use lambada_anf::{
    Atom, Block, Builder, Elem, Exp, FnId, Function, Lambda, LoopKind, Names, Nest, NodeId, Op,
    Param, Stm, Ty,
};
use lambada_prim::Prim;

use crate::arrays;
use crate::derived::{Context, sized};
use crate::known::{Handles, called};

/// [`Handles::Values`] if all cotangents can be values.
pub(crate) fn handles(cx: &Context, f: &Lambda) -> Handles {
    let unfit = |p: &Param| cx.known.leads_to_cells(p.ty.elem);
    let unfit_stm = |stm: &Stm| {
        let state = match &stm.exp {
            Exp::Nest(Nest::Loop { params, .. }) => &params[..],
            Exp::Nest(Nest::For { .. } | Nest::If { .. }) | Exp::Op(_) => &[],
        };
        stm.binds.iter().chain(state).any(unfit)
    };
    let called = called(&cx.library, &f.body);
    let mut functions = called.iter().filter_map(|id| cx.library.function(*id));
    let inside = |params: &[Param], body: &Block| {
        params.iter().any(unfit) || body.any(&mut |stm| unfit_stm(stm))
    };
    let any = inside(&f.params, &f.body) || functions.any(|f| inside(&f.params, &f.body));
    if any { Handles::Shadows } else { Handles::Values }
}

/// `x + y`, of cotangents of handles or of arrays of handles of type `ty`. Null is zero, also in
/// place of an array.
pub(crate) fn plus(
    cx: &mut Context,
    b: &mut Builder,
    hint: &str,
    ty: &Ty,
    [x, y]: [Atom; 2],
) -> Atom {
    let null = Atom::int(0);
    if x == null || y == null {
        return if x == null { y } else { x };
    }
    let of = ty.elem.node().expect("a handle");
    let function = sum_of(cx, of);
    arrays::tabulate(b, hint, ty, &mut |b, at| {
        let args = [x, y].map(|all| arrays::element(b, ty.elem, all, at));
        let call = Op::Call { function, args: args.to_vec(), accumulators: Vec::new() };
        b.bind(hint, Ty::handle(of), call)
    })
}

/// The sum of all elements of an array of cotangents of handles, after `so_far`.
pub(crate) fn total(
    cx: &mut Context,
    b: &mut Builder,
    hint: &str,
    ty: &Ty,
    (x, so_far): (Atom, Atom),
) -> Atom {
    total_at(cx, b, hint, (&ty.dims, ty), x, &mut Vec::new(), so_far)
}

fn total_at(
    cx: &mut Context,
    b: &mut Builder,
    hint: &str,
    (dims, ty): (&[Atom], &Ty),
    x: Atom,
    at: &mut Vec<Atom>,
    so_far: Atom,
) -> Atom {
    let one = Ty::scalar(ty.elem);
    let Some((extent, rest)) = dims.split_first() else {
        let element = arrays::element(b, ty.elem, x, at);
        return plus(cx, b, hint, &one, [so_far, element]);
    };
    let (index, sum) = (b.names.fresh("i"), Param { var: b.names.fresh(hint), ty: one.clone() });
    at.push(index.into());
    let body = b.block(|b| vec![total_at(cx, b, hint, (rest, ty), x, at, sum.var.into())]);
    at.pop();
    let kind = LoopKind::counted(index, *extent);
    b.bind(hint, one, Nest::Loop { params: vec![sum], inits: vec![so_far], kind, body })
}

/// The function that adds cotangents of this type, made on first use.
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
    // Either operand is the sum of two constructors without contents.
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

/// The sum of a value of this constructor and another, which has the same constructor or is null.
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
                Elem::Ref(_) => {
                    let second = read(y);
                    plus(cx, b, &field.name, &ty, [first, second])
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

/// `then` if the tag equals `is`, else `otherwise`.
pub(crate) fn chosen(
    b: &mut Builder,
    tag: Atom,
    is: u32,
    ty: &Ty,
    then: Block,
    otherwise: Block,
) -> Atom {
    let cond = b.prim(Prim::EqInt, [tag, Atom::int(is.into())]);
    b.bind("sum", ty.clone(), Nest::If { cond, then, otherwise })
}

/// A cotangent made of the fields that were read; all others are zero.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) tag: u32,
    pub(crate) fields: Vec<(u32, Atom)>,
    /// Sizes, by field.
    pub(crate) sizes: HashMap<u32, Atom>,
}

impl Made {
    /// Both in one, if their sizes agree and no field is in both.
    pub(crate) fn and(&self, other: &Made) -> Option<Made> {
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
