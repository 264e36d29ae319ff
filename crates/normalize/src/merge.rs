//! Several values of one type as one: the results of two branches, the elements of a literal, the
//! state before and after an iteration. [`merge`] unites their static structure (constructors,
//! closures) and asks a [`Merge`] for each leaf and each size. A part without some constructor or
//! closure is absent there, and usually becomes zeros.

use std::rc::Rc;

use lambada_anf::{Atom, Elem, Nest, Ty};
use lambada_prim::Prim;

use crate::emit::Emit;
use crate::guards::{Guard, is_guarded};
use crate::messages;
use crate::val::{AccVal, ArrayVal, Closure, FunVal, Leaf, NodeVal, Val, VariantVal, part};
use crate::{Eval, ill_typed};

/// The place of a leaf in a value.
#[derive(Clone, Debug)]
pub(crate) struct LeafContext {
    /// The merged sizes of the arrays around it, outermost first.
    pub extents: Vec<Atom>,
    /// The sizes that the parts had.
    pub own: Vec<Vec<Atom>>,
    /// Whether it is in a field of a variant, so that the sizes of the parts may differ where they
    /// are inactive.
    pub is_guarded: bool,
    /// The type of the scalars.
    pub elem: Elem,
    /// Whether it is the tag of a variant or a function.
    pub is_tag: bool,
    /// Whether it is in the environment of a closure.
    pub is_captured: bool,
}

/// The treatment of leaves and sizes.
pub(crate) trait Merge {
    /// The size of an array; at least one part is present. `ways` lead to it in each part.
    fn size(&mut self, _: &mut Emit, parts: &[Option<Atom>], _: &[Vec<Guard>]) -> Eval<Atom> {
        parts[0].ok_or_else(ill_typed)
    }

    /// A leaf; at least one part is present.
    fn leaf(
        &mut self,
        emit: &mut Emit,
        parts: &[Option<&Leaf>],
        context: &LeafContext,
    ) -> Eval<Leaf>;
}

/// Merges values of one type, at least one of them present.
pub(crate) fn merge(with: &mut dyn Merge, emit: &mut Emit, parts: &[Option<&Val>]) -> Eval<Val> {
    let (own, ways) = (vec![Vec::new(); parts.len()], vec![Vec::new(); parts.len()]);
    Merger { with, emit, extents: Vec::new(), own, ways, captured: 0 }.value(parts)
}

/// The new leaf for a leaf at its place.
type OnLeaf<'f> = dyn FnMut(&mut Emit, &Leaf, &LeafContext) -> Leaf + 'f;

/// The value with mapped leaves; the mapping may emit code.
pub(crate) fn map_leaves(emit: &mut Emit, value: &Val, leaf: &mut OnLeaf) -> Eval<Val> {
    struct Each<'f>(&'f mut OnLeaf<'f>);
    impl Merge for Each<'_> {
        fn leaf(
            &mut self,
            emit: &mut Emit,
            parts: &[Option<&Leaf>],
            context: &LeafContext,
        ) -> Eval<Leaf> {
            Ok(self.0(emit, parts[0].ok_or_else(ill_typed)?, context))
        }
    }
    merge(&mut Each(leaf), emit, &[Some(value)])
}

struct Merger<'a> {
    with: &'a mut dyn Merge,
    emit: &'a mut Emit,
    extents: Vec<Atom>,
    own: Vec<Vec<Atom>>,
    ways: Vec<Vec<Guard>>,
    captured: usize,
}

/// The present parts, which must be of one kind.
fn only<'v, T: ?Sized>(
    parts: &[Option<&'v Val>],
    kind: impl Fn(&'v Val) -> Eval<&'v T>,
) -> Eval<Vec<Option<&'v T>>> {
    parts.iter().map(|value| part(*value, &kind)).collect()
}

impl Merger<'_> {
    fn value(&mut self, parts: &[Option<&Val>]) -> Eval<Val> {
        match parts.iter().flatten().next().ok_or_else(ill_typed)? {
            Val::Leaf(_) => Ok(Val::Leaf(self.leaf(&only(parts, Val::as_leaf)?, false)?)),
            Val::Tuple(_) => Ok(Val::tuple(self.list(&only(parts, Val::as_tuple)?)?)),
            Val::Array(_) => self.array(&only(parts, Val::as_array)?),
            Val::Variant(variant) => {
                self.variant(&only(parts, Val::as_variant)?, variant.fields.len())
            }
            Val::Fun(_) => self.fun(&only(parts, Val::as_fun)?),
            Val::Node(_) => self.node(&only(parts, Val::as_node)?),
            Val::Acc(_) => self.acc(&only(parts, Val::as_acc)?),
        }
    }

    /// Merges lists of values elementwise, of the parts that have them.
    fn list(&mut self, parts: &[Option<&[Val]>]) -> Eval<Vec<Val>> {
        let count = parts.iter().flatten().map(|vals| vals.len()).next().unwrap_or(0);
        let values = |k| parts.iter().map(|part| part.map(|vals| &vals[k])).collect::<Vec<_>>();
        (0..count).map(|k| self.value(&values(k))).collect()
    }

    fn leaf(&mut self, parts: &[Option<&Leaf>], is_tag: bool) -> Eval<Leaf> {
        let first = parts.iter().flatten().next().ok_or_else(ill_typed)?;
        let elem = self.emit.elem_of(first);
        let is_guarded = self.ways.iter().any(|way| is_guarded(way));
        let (extents, own) = (self.extents.clone(), self.own.clone());
        let context =
            LeafContext { extents, own, is_guarded, elem, is_tag, is_captured: self.captured > 0 };
        self.with.leaf(self.emit, parts, &context)
    }

    fn array(&mut self, parts: &[Option<&Rc<ArrayVal>>]) -> Eval<Val> {
        let sizes: Vec<Option<Atom>> = parts.iter().map(|p| p.map(|a| a.extent)).collect();
        let extent = self.with.size(self.emit, &sizes, &self.ways)?;
        self.extents.push(extent);
        for (k, size) in sizes.iter().enumerate() {
            let own = size.unwrap_or(extent);
            self.own[k].push(own);
            self.ways[k].push(Guard::Axis(own));
        }
        let elem = self.value(&parts.iter().map(|p| p.map(|a| &a.elem)).collect::<Vec<_>>())?;
        self.extents.pop();
        self.own.iter_mut().for_each(|own| own.truncate(own.len() - 1));
        self.leave();
        Ok(Val::array(extent, elem))
    }

    /// Enters constructor or closure `number`, with the tags of the parts.
    fn enter(&mut self, tags: &[Option<&Leaf>], number: i64) {
        for (way, tag) in self.ways.iter_mut().zip(tags) {
            let absent = Leaf::scalar(Atom::int(-1));
            way.push(Guard::Is((*tag).cloned().unwrap_or(absent), number));
        }
    }

    fn leave(&mut self) {
        self.ways.iter_mut().for_each(|way| way.truncate(way.len() - 1));
    }

    fn variant(&mut self, parts: &[Option<&Rc<VariantVal>>], constructors: usize) -> Eval<Val> {
        // An element of an empty array has no constructor at all.
        let real = |v: &&Rc<VariantVal>| v.fields.iter().any(Option::is_some);
        let some: Vec<Option<&Rc<VariantVal>>> = parts.iter().map(|p| p.filter(real)).collect();
        let parts = if some.iter().any(Option::is_some) { &some } else { parts };
        let tags: Vec<Option<&Leaf>> = parts.iter().map(|p| p.map(|v| &v.tag)).collect();
        let tag = self.leaf(&tags, true)?;
        let fields = (0..constructors).map(|c| {
            let fields: Vec<Option<&[Val]>> =
                parts.iter().map(|p| p.and_then(|v| v.fields[c].as_deref())).collect();
            if fields.iter().all(Option::is_none) {
                return Ok(None);
            }
            self.enter(&tags, c as i64);
            let merged = self.list(&fields)?;
            self.leave();
            Ok(Some(merged))
        });
        Ok(Val::variant(tag, fields.collect::<Eval<_>>()?))
    }

    fn fun(&mut self, parts: &[Option<&Rc<FunVal>>]) -> Eval<Val> {
        let some: Vec<Option<&Rc<FunVal>>> =
            parts.iter().map(|p| p.filter(|f| !f.alternatives.is_empty())).collect();
        let parts = if some.iter().any(Option::is_some) { &some } else { parts };
        let tags: Vec<Option<&Leaf>> = parts.iter().map(|p| p.map(|f| &f.tag)).collect();
        let tag = self.leaf(&tags, true)?;
        let mut codes: Vec<_> = Vec::new();
        for closure in parts.iter().flatten().flat_map(|f| &f.alternatives) {
            if codes.iter().all(|code: &Rc<crate::val::Code>| code.number != closure.code.number) {
                codes.push(closure.code.clone());
            }
        }
        self.captured += 1;
        let mut alternatives = Vec::with_capacity(codes.len());
        for code in codes {
            let envs: Vec<Option<&[Val]>> =
                parts.iter().map(|p| p.and_then(|f| f.env(code.number))).collect();
            self.enter(&tags, code.number);
            let env = self.list(&envs)?;
            self.leave();
            alternatives.push(Closure { code, env });
        }
        self.captured -= 1;
        Ok(Val::fun(tag, alternatives))
    }

    /// Merges nodes as handles. A known value stays known if all parts are that value.
    fn node(&mut self, parts: &[Option<&Rc<NodeVal>>]) -> Eval<Val> {
        let first = parts.iter().flatten().next().ok_or_else(ill_typed)?;
        let handles: Vec<Option<&Leaf>> = parts.iter().map(|p| p.map(|n| &n.handle)).collect();
        let handle = self.leaf(&handles, false)?;
        if handle == first.handle && parts.iter().flatten().all(|p| Rc::ptr_eq(p, first)) {
            return Ok(Val::Node(Rc::clone(first)));
        }
        Ok(Val::Node(Rc::new(NodeVal { handle, known: None, ..(***first).clone() })))
    }

    fn acc(&mut self, parts: &[Option<&Rc<AccVal>>]) -> Eval<Val> {
        let all: Vec<&Rc<AccVal>> = parts.iter().flatten().copied().collect();
        if all.windows(2).any(|w| !Rc::ptr_eq(w[0], w[1])) {
            return Err(Box::new(messages::different_accumulators()));
        }
        Ok(Val::Acc(all[0].clone()))
    }
}

impl Emit {
    /// The leaf of a part with the axes of the mask and the merged sizes; zeros if it is absent, or
    /// inactive and of other sizes. `outer` are the sizes of arrays around the merged values.
    pub fn fit(
        &mut self,
        leaf: Option<&Leaf>,
        part: usize,
        mask: &[bool],
        outer: &[Atom],
        context: &LeafContext,
    ) -> Atom {
        let sizes = |inner: &[Atom]| outer.iter().chain(inner).copied().collect::<Vec<Atom>>();
        let target = sizes(&context.extents);
        let Some(leaf) = leaf else { return zeros(self, context.elem, mask, &target) };
        let own = sizes(&context.own[part]);
        let stored =
            Leaf::select(&leaf.axes, &own).into_iter().zip(Leaf::select(&leaf.axes, &target));
        let different: Vec<(Atom, Atom)> =
            stored.filter(|(a, b)| !self.facts.equal(*a, *b)).collect();
        if different.is_empty() || !context.is_guarded {
            return self.broadcast(leaf, mask, &target);
        }
        let fits = different.into_iter().fold(Atom::bool(true), |all, (a, b)| {
            let same = self.prim(Prim::EqInt, &[a, b]);
            self.prim(Prim::And, &[all, same])
        });
        self.enter();
        self.learn(fits, true);
        let value = self.broadcast(leaf, mask, &target);
        let then = self.leave().finish(vec![value]);
        self.enter();
        let zero = zeros(self, context.elem, mask, &target);
        let otherwise = self.leave().finish(vec![zero]);
        let ty = Ty { elem: context.elem, dims: Leaf::select(mask, &target) };
        let hint = self.hint_of(leaf.atom);
        self.bind(&hint, ty, Nest::If { cond: fits, then, otherwise })
    }
}

/// All axes of any part; parts of different lengths are aligned at the innermost axis.
pub(crate) fn joint_axes(parts: &[Option<&Leaf>]) -> Vec<bool> {
    let mut joint = parts.iter().flatten().next().map_or_else(Vec::new, |l| l.axes.clone());
    for leaf in parts.iter().flatten() {
        joint.iter_mut().zip(&leaf.axes).for_each(|(has, also)| *has |= also);
    }
    joint
}

/// A leaf of zeros with the axes of the mask.
pub(crate) fn zeros(emit: &mut Emit, elem: Elem, mask: &[bool], extents: &[Atom]) -> Atom {
    emit.fill_of(elem, Atom::Lit(elem.zero()), Leaf::select(mask, extents))
}
