//! Conversions at the boundary between derivatives and the rest of the program, where tangents and
//! cotangents of nodes are nodes of the same type.
//!
//! ```text
//!   shadow x       a fresh shadow of all nodes reachable from x, a tree: shared nodes are copied
//!   seed v x̄       adds the cotangent v to the cells of x̄
//!   harvest x x̄    the cotangent in the cells of x̄, as a value
//!   tangent x v    the value v as a tangent of x
//!   untangent x ẋ  the tangent ẋ as a value
//!   zero x         the zero tangent of x, as a value
//!   marked x m     a tangent of x whose reals are all m
//!   gathered x ẋ   the sum of all reals of the tangent ẋ
//! ```
//!
//! A tangent as a value has the shape of its point: constructors, sizes and tags. Its integers and
//! booleans are zero, because they carry no derivative.
//!
//! Each conversion is a recursive function per node type, made on first use.
//!
//! * Assumes: values have no cells.
//! * Keeps: values whose tangents or cotangents are of other shapes are refused.

use std::collections::HashSet;

use lambada_anf::{
    Atom, Block, Builder, Constructor, Elem, FnId, Function, Library, Names, Nest, NodeId, Op,
    Param, Stm, Ty,
};
use lambada_prim::Prim;

use crate::arrays;
use crate::derived::{Context, Crossing, Mode, sized};
use crate::known::Handles;
use crate::messages;

/// Adds the cotangent of a result, a value, to the cells of its shadow.
pub(crate) fn seed(cx: &mut Context, b: &mut Builder, ty: &Ty, (shadow, cotangent): (Atom, Atom)) {
    if cx.known.carries(ty.elem) {
        cross(cx, b, Crossing::Seed, ty, &[cotangent, shadow]);
    }
}

/// The cotangent of a parameter, as a value.
pub(crate) fn harvest(cx: &mut Context, b: &mut Builder, p: &Param, shadow: Option<Atom>) -> Atom {
    let Some(shadow) = shadow.filter(|_| cx.known.carries(p.ty.elem)) else {
        return zeroed(cx, b, &p.ty, p.var.into());
    };
    cross(cx, b, Crossing::Harvest, &p.ty, &[p.var.into(), shadow]).expect("a value")
}

/// The zero tangent of a handle, or of an array of handles.
pub(crate) fn zeroed(cx: &mut Context, b: &mut Builder, ty: &Ty, of: Atom) -> Atom {
    if !holds_data(&cx.library, ty.elem, &mut HashSet::new()) {
        return of;
    }
    cross(cx, b, Crossing::Zero, ty, &[of]).expect("a value")
}

/// Whether a value may hold an integer or a boolean that is no part of its shape.
fn holds_data(library: &Library, elem: Elem, seen: &mut HashSet<NodeId>) -> bool {
    let Some(node) = elem.node() else { return true };
    if !seen.insert(node) {
        return false;
    }
    library.node(node).constructors.iter().any(|c| {
        let mut fields = c.fields.iter().enumerate().filter(|(k, _)| !c.is_shape(*k));
        fields.any(|(_, field)| holds_data(library, field.ty.elem, seen))
    })
}

/// The sum of all reals of the tangent of a value of type `ty`.
pub(crate) fn gathered(
    cx: &mut Context,
    b: &mut Builder,
    ty: &Ty,
    (value, tangent): (Atom, Atom),
) -> Atom {
    let sums = match ty.elem.node() {
        Some(_) => cross(cx, b, Crossing::Gathered, ty, &[value, tangent]).expect("sums"),
        None => tangent,
    };
    arrays::total(b, "sum", ty, sums)
}

/// A tangent of a value of type `ty` whose reals are all the mark.
pub(crate) fn marked(
    cx: &mut Context,
    b: &mut Builder,
    ty: &Ty,
    (value, mark): (Atom, Atom),
) -> Atom {
    match ty.elem.node() {
        Some(_) => cross(cx, b, Crossing::Marked, ty, &[value, mark]).expect("a tangent"),
        None => arrays::filled(b, "marked", ty, mark),
    }
}

impl Crossing {
    fn name(self) -> &'static str {
        match self {
            Crossing::Shadow => "shadow",
            Crossing::Seed => "seed",
            Crossing::Harvest => "harvest",
            Crossing::Tangent => "tangent",
            Crossing::Untangent => "untangent",
            Crossing::Zero => "zero",
            Crossing::Marked => "marked",
            Crossing::Gathered => "gathered",
        }
    }

    /// The name of the function for a type: `list_of_ct`.
    fn function(self, of: &str, suffix: &str) -> String {
        match self {
            Crossing::Shadow
            | Crossing::Seed
            | Crossing::Harvest
            | Crossing::Zero
            | Crossing::Marked
            | Crossing::Gathered => format!("{}_{of}", self.name()),
            Crossing::Tangent => format!("{suffix}_of_{of}"),
            Crossing::Untangent => format!("{of}_of_{suffix}"),
        }
    }

    /// The types of the arguments, for values of type `ty`.
    fn params(self, cx: &mut Context, ty: &Ty) -> Vec<Ty> {
        let mut of = |mode| cx.ty(mode, ty);
        match self {
            Crossing::Shadow | Crossing::Zero => vec![ty.clone()],
            Crossing::Seed | Crossing::Harvest => vec![ty.clone(), of(Mode::Shadow)],
            Crossing::Tangent => vec![ty.clone(), ty.clone()],
            Crossing::Untangent | Crossing::Gathered => vec![ty.clone(), of(Mode::Tangent)],
            Crossing::Marked => vec![ty.clone(), Ty::real()],
        }
    }

    fn result(self, cx: &mut Context, ty: &Ty) -> Option<Ty> {
        match self {
            Crossing::Shadow => Some(cx.ty(Mode::Shadow, ty)),
            Crossing::Seed => None,
            Crossing::Harvest | Crossing::Untangent => Some(ty.clone()),
            Crossing::Zero => Some(ty.clone()),
            Crossing::Tangent | Crossing::Marked => Some(cx.ty(Mode::Tangent, ty)),
            Crossing::Gathered => Some(Ty { elem: Elem::REAL, dims: ty.dims.clone() }),
        }
    }
}

/// Converts a handle, or an array of handles, whose value has type `ty`. For an array, `gathered`
/// returns an array of sums.
pub(crate) fn cross(
    cx: &mut Context,
    b: &mut Builder,
    crossing: Crossing,
    ty: &Ty,
    args: &[Atom],
) -> Option<Atom> {
    let node = ty.elem.node().expect("a handle");
    let function = function(cx, crossing, node);
    let (params, result) = (crossing.params(cx, ty), crossing.result(cx, ty));
    let call = |b: &mut Builder, at: &[Atom]| {
        let place = |(arg, ty): (&Atom, &Ty)| match arg {
            Atom::Var(x) if !ty.dims.is_empty() => b.index(*x, ty, at.to_vec()),
            Atom::Var(_) | Atom::Lit(_) => *arg,
        };
        let args = args.iter().zip(&params).map(place).collect();
        Op::Call { function, args, accumulators: Vec::new() }
    };
    let Some(result) = result else {
        each(b, &ty.dims, &mut Vec::new(), &mut |b, at| {
            let call = call(b, at);
            b.effect(call);
        });
        return None;
    };
    let one = Ty::scalar(result.elem);
    Some(arrays::tabulate(b, crossing.name(), &result, &mut |b, at| {
        let call = call(b, at);
        b.bind(crossing.name(), one.clone(), call)
    }))
}

fn each(
    b: &mut Builder,
    dims: &[Atom],
    at: &mut Vec<Atom>,
    element: &mut dyn FnMut(&mut Builder, &[Atom]),
) {
    let Some((extent, rest)) = dims.split_first() else { return element(b, at) };
    let index = b.names.fresh("i");
    at.push(index.into());
    let body = b.block(|b| {
        each(b, rest, at, element);
        Vec::new()
    });
    at.pop();
    b.effect(Nest::For { index, extent: *extent, outs: Vec::new(), body });
}

/// The function for handles of a node type.
fn function(cx: &mut Context, crossing: Crossing, node: NodeId) -> FnId {
    if let Some(known) = cx.crossings.get(&(crossing, node)) {
        return *known;
    }
    let id = cx.new_function();
    cx.crossings.insert((crossing, node), id);
    let mut names = Names::with(cx.precision);
    let ty = Ty::handle(node);
    let types = crossing.params(cx, &ty);
    let hints = ["x".to_string(), format!("x_{}", cx.suffix)];
    let params = hints.into_iter().zip(types);
    let params = params.map(|(hint, ty)| Param { var: names.fresh(hint), ty });
    let params: Vec<Param> = params.collect();
    let result = crossing.result(cx, &ty);
    let mut b = Builder::new(&mut names);
    let atoms: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
    let results = constructors(cx, &mut b, crossing, node, &atoms, result.as_ref());
    let body = b.finish(results);
    let name = crossing.function(&cx.library.node(node).name, cx.suffix);
    let results = result.into_iter().collect();
    cx.complete(id, Function { name, params, results, body, names, ..Function::default() });
    id
}

/// One case for each constructor of the value, or of the shadow that receives additions; null maps
/// to zero or null.
fn constructors(
    cx: &mut Context,
    b: &mut Builder,
    crossing: Crossing,
    node: NodeId,
    args: &[Atom],
    result: Option<&Ty>,
) -> Vec<Atom> {
    let decides = if crossing == Crossing::Seed { args[1] } else { args[0] };
    let tag = b.bind("tag", Ty::int(), Op::Tag(decides));
    let constructors = cx.library.node(node).constructors.clone();
    let zero = result.map(|ty| Atom::Lit(ty.elem.zero()));
    let mut otherwise = Block { stms: Vec::new(), results: zero.into_iter().collect() };
    for (k, of) in constructors.iter().enumerate().rev() {
        let arm = Arm { node, tag: k as u32, of };
        let cond = b.bind("is", Ty::bool(), Op::Prim(Prim::EqInt, vec![tag, Atom::int(k as i64)]));
        let then = b.block(|b| arm.build(cx, b, crossing, args).into_iter().collect());
        let binds: Vec<Param> = result
            .map(|ty| Param { var: b.names.fresh(crossing.name()), ty: ty.clone() })
            .into_iter()
            .collect();
        let results = binds.iter().map(|p| p.var.into()).collect();
        let cases = Stm::new(binds, Nest::If { cond, then, otherwise });
        otherwise = Block { stms: vec![cases], results };
    }
    b.stms.extend(otherwise.stms);
    otherwise.results
}

/// One constructor.
struct Arm<'a> {
    node: NodeId,
    tag: u32,
    of: &'a Constructor,
}

impl Arm<'_> {
    fn build(
        &self,
        cx: &mut Context,
        b: &mut Builder,
        crossing: Crossing,
        args: &[Atom],
    ) -> Option<Atom> {
        match crossing {
            Crossing::Shadow => Some(self.shadow(cx, b, args[0])),
            Crossing::Seed => {
                self.seed(cx, b, args[0], args[1]);
                None
            }
            Crossing::Tangent => Some(self.tangent(cx, b, args[0], args[1])),
            Crossing::Harvest => Some(self.value(cx, b, Some((Mode::Shadow, args[1])), args[0])),
            Crossing::Untangent => Some(self.value(cx, b, Some((Mode::Tangent, args[1])), args[0])),
            Crossing::Zero => Some(self.value(cx, b, None, args[0])),
            Crossing::Marked => Some(self.marked(cx, b, args[0], args[1])),
            Crossing::Gathered => Some(self.gathered(cx, b, args[0], args[1])),
        }
    }

    /// Name hint for a field of a tangent or cotangent.
    fn hint(&self, cx: &Context, k: usize) -> String {
        format!("{}_{}", self.of.fields[k].name, cx.suffix)
    }

    fn read(&self, b: &mut Builder, of: Atom, k: usize, ty: Ty) -> Atom {
        b.bind(&self.of.fields[k].name, ty, Op::Field { of, tag: self.tag, field: k as u32 })
    }

    /// The fields that are `int`s or handles of a value; zero in place of all others.
    fn plain(&self, b: &mut Builder, of: Atom, wanted: &dyn Fn(usize) -> bool) -> Vec<Atom> {
        let mut values = Vec::new();
        for (k, field) in self.of.fields.iter().enumerate() {
            let ty = sized(&field.ty, &values);
            let value = if wanted(k) { self.read(b, of, k, ty) } else { Atom::int(0) };
            values.push(value);
        }
        values
    }

    fn is_real(&self, k: usize) -> bool {
        self.of.fields[k].ty.elem == Elem::REAL
    }

    fn place(&self, cx: &Context, k: usize) -> u32 {
        cx.field(self.node, self.tag, k as u32).expect("the field is kept")
    }

    fn shadow(&self, cx: &mut Context, b: &mut Builder, x: Atom) -> Atom {
        let fields = self.filled(cx, b, (Crossing::Shadow, x, None));
        self.make(cx, b, Mode::Shadow, fields)
    }

    fn marked(&self, cx: &mut Context, b: &mut Builder, x: Atom, mark: Atom) -> Atom {
        let fields = self.filled(cx, b, (Crossing::Marked, x, Some(mark)));
        self.make(cx, b, Mode::Tangent, fields)
    }

    /// Fields shaped like those of `x`; each real is the mark, or zero without one.
    fn filled(
        &self,
        cx: &mut Context,
        b: &mut Builder,
        (crossing, x, mark): (Crossing, Atom, Option<Atom>),
    ) -> Vec<Atom> {
        let kept = cx.kept(self.of);
        let values = self.plain(b, x, &|k| !self.is_real(k) && kept.contains(&(k as u32)));
        let mut fields = Vec::new();
        for k in kept.iter().map(|k| *k as usize) {
            let ty = sized(&self.of.fields[k].ty, &values);
            fields.push(if ty.elem.node().is_some() {
                let args: Vec<Atom> = [values[k]].into_iter().chain(mark).collect();
                cross(cx, b, crossing, &ty, &args).expect("a node")
            } else {
                match (self.is_real(k), mark) {
                    (true, Some(mark)) => arrays::filled(b, &self.hint(cx, k), &ty, mark),
                    (true, None) => b.zero(&ty),
                    (false, _) => values[k],
                }
            });
        }
        fields
    }

    fn gathered(&self, cx: &mut Context, b: &mut Builder, x: Atom, tangent: Atom) -> Atom {
        let kept = cx.kept(self.of);
        let values = self.plain(b, x, &|k| !self.is_real(k) && kept.contains(&(k as u32)));
        let mut sum = Atom::real(0.0);
        for k in kept.iter().map(|k| *k as usize) {
            let ty = sized(&self.of.fields[k].ty, &values);
            if !cx.known.carries(ty.elem) {
                continue;
            }
            let (of, tag, field) = (tangent, self.tag, self.place(cx, k));
            let own = cx.ty(Mode::Tangent, &ty);
            let part = b.bind(&self.hint(cx, k), own, Op::Field { of, tag, field });
            let part = gathered(cx, b, &ty, (values[k], part));
            sum = b.prim(Prim::Add, [sum, part]);
        }
        sum
    }

    fn make(&self, cx: &mut Context, b: &mut Builder, mode: Mode, fields: Vec<Atom>) -> Atom {
        let node = cx.node(mode, self.node);
        let cells = cx.has_cells(node);
        b.bind("made", Ty::handle(node), Op::Node { node, tag: self.tag, fields, cells })
    }

    /// Checks that this constructor builds the value, too.
    fn same_constructor(&self, b: &mut Builder, tag: Atom) {
        let same = b.prim(Prim::EqInt, [tag, Atom::int(self.tag.into())]);
        let site = messages::another_constructor();
        b.effect(Op::Check { cond: same, site, values: Vec::new() });
    }

    fn same_size(b: &mut Builder, size: Atom, expected: Atom) {
        let same = b.prim(Prim::EqInt, [size, expected]);
        let (site, values) = (messages::another_size(), vec![size, expected]);
        b.effect(Op::Check { cond: same, site, values });
    }

    /// The block's result if the value `v` exists, else nothing: null is zero.
    fn unless_null(
        &self,
        cx: &mut Context,
        b: &mut Builder,
        v: Atom,
        result: Option<&Ty>,
        build: impl FnOnce(&mut Context, &mut Builder) -> Vec<Atom>,
    ) -> Option<Atom> {
        let tag = b.bind("tag", Ty::int(), Op::Tag(v));
        // In readable derivatives the condition compares constructors; another constructor
        // contributes nothing.
        let cond = match cx.handles {
            Handles::Values => b.prim(Prim::EqInt, [tag, Atom::int(self.tag.into())]),
            Handles::Shadows => b.prim(Prim::LeInt, [Atom::int(0), tag]),
        };
        let then = b.block(|b| {
            if cx.handles == Handles::Shadows {
                self.same_constructor(b, tag);
            }
            build(cx, b)
        });
        let results = result.map(|_| Atom::int(0)).into_iter().collect();
        let otherwise = Block { stms: Vec::new(), results };
        let bind = |ty: &Ty| Param { var: b.names.fresh("made"), ty: ty.clone() };
        let binds: Vec<Param> = result.map(bind).into_iter().collect();
        let made = binds.first().map(|p| p.var.into());
        b.stms.push(Stm::new(binds, Nest::If { cond, then, otherwise }));
        made
    }

    fn seed(&self, cx: &mut Context, b: &mut Builder, v: Atom, shadow: Atom) {
        self.unless_null(cx, b, v, None, |cx, b| {
            let mut sizes = vec![Atom::int(0); self.of.fields.len()];
            for k in cx.kept(self.of).into_iter().map(|k| k as usize) {
                let ty = sized(&self.of.fields[k].ty, &sizes);
                let value = self.read(b, v, k, ty.clone());
                let (tag, field) = (self.tag, self.place(cx, k));
                if self.is_real(k) {
                    let acc = b.bind("cell", ty, Op::Open { of: shadow, tag, field });
                    let acc = acc.as_var().expect("a bound variable");
                    b.effect(Op::Accumulate { acc, index: Vec::new(), value });
                } else if ty.elem.node().is_some() {
                    let read = Op::Field { of: shadow, tag, field };
                    let of = cx.ty(Mode::Shadow, &ty);
                    let child = b.bind("shadow", of, read);
                    cross(cx, b, Crossing::Seed, &ty, &[value, child]);
                } else {
                    let read = Op::Field { of: shadow, tag, field };
                    sizes[k] = b.bind("size", Ty::int(), read);
                    Self::same_size(b, value, sizes[k]);
                }
            }
            Vec::new()
        });
    }

    fn tangent(&self, cx: &mut Context, b: &mut Builder, x: Atom, v: Atom) -> Atom {
        let ty = cx.ty(Mode::Tangent, &Ty::handle(self.node));
        if cx.handles == Handles::Values && cx.kept(self.of).is_empty() {
            return Atom::int(0);
        }
        let made = self.unless_null(cx, b, v, Some(&ty), |cx, b| {
            let mut fields = Vec::new();
            let mut sizes = vec![Atom::int(0); self.of.fields.len()];
            for k in cx.kept(self.of).into_iter().map(|k| k as usize) {
                let ty = sized(&self.of.fields[k].ty, &sizes);
                let (tag, field, hint) = (self.tag, k as u32, self.hint(cx, k));
                let value = b.bind(&hint, ty.clone(), Op::Field { of: v, tag, field });
                if self.is_real(k) {
                    fields.push(value);
                    continue;
                }
                let own = self.read(b, x, k, ty.clone());
                if ty.elem.node().is_some() {
                    let tangent = cross(cx, b, Crossing::Tangent, &ty, &[own, value]);
                    fields.push(tangent.expect("a tangent"));
                } else {
                    Self::same_size(b, value, own);
                    sizes[k] = own;
                    fields.push(own);
                }
            }
            vec![self.make(cx, b, Mode::Tangent, fields)]
        });
        made.expect("a handle")
    }

    /// A value from the cells of a shadow, from a tangent, or zero.
    fn value(
        &self,
        cx: &mut Context,
        b: &mut Builder,
        from: Option<(Mode, Atom)>,
        x: Atom,
    ) -> Atom {
        let mut fields = Vec::new();
        for k in 0..self.of.fields.len() {
            let ty = sized(&self.of.fields[k].ty, &fields);
            let field = match from {
                Some((mode, other)) if cx.known.carries(ty.elem) => {
                    self.field_from(cx, b, (mode, other), x, (k, &ty))
                }
                Some(_) | None if ty.elem.node().is_some() => {
                    let own = self.read(b, x, k, ty.clone());
                    zeroed(cx, b, &ty, own)
                }
                Some(_) | None if self.of.is_shape(k) => self.read(b, x, k, ty),
                Some(_) | None => b.zero(&ty),
            };
            fields.push(field);
        }
        let (node, tag) = (self.node, self.tag);
        b.bind("made", Ty::handle(node), Op::Node { node, tag, fields, cells: false })
    }

    /// A field that carries derivatives, from a shadow or a tangent.
    fn field_from(
        &self,
        cx: &mut Context,
        b: &mut Builder,
        (mode, of): (Mode, Atom),
        x: Atom,
        (k, ty): (usize, &Ty),
    ) -> Atom {
        let (tag, field, hint) = (self.tag, self.place(cx, k), self.hint(cx, k));
        if !self.is_real(k) {
            let own = self.read(b, x, k, ty.clone());
            let child_ty = cx.ty(mode, ty);
            let child = b.bind(&hint, child_ty, Op::Field { of, tag, field });
            let crossing = match mode {
                Mode::Shadow => Crossing::Harvest,
                Mode::Tangent => Crossing::Untangent,
            };
            return cross(cx, b, crossing, ty, &[own, child]).expect("a value");
        }
        let read = match mode {
            Mode::Shadow => Op::Cell { of, tag, field },
            Mode::Tangent => Op::Field { of, tag, field },
        };
        b.bind(&hint, ty.clone(), read)
    }
}
