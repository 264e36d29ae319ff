//! Symbolic values: the compile-time knowledge about a core term while code is emitted for it.
//! Functions and the structure of data are static; only scalars and arrays of scalars exist at run
//! time.
//!
//! An array is its extent and one *family*: the structure of its elements, in which a leaf with the
//! axis of the array is stored, and a leaf without it is equal for all elements. So an array of
//! tuples is a tuple of arrays, an array of closures is one closure whose environment has arrays,
//! and `replicate n x` is just `x`. Indices apply lazily: `m[i]` is the leaf `m` with the pending
//! prefix `i`, and no row is copied just to be indexed further.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf as anf;
use lambada_anf::{Atom, Elem, NodeId};
use lambada_core::{Term, Ty, Var};
use lambada_source::Span;

use crate::{Eval, ill_typed};

/// A scalar, or an array of scalars with at most one axis per enclosing array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    /// A scalar or an array variable.
    pub atom: Atom,
    /// Pending indices, still to be applied to the atom.
    pub prefix: Vec<Atom>,
    /// One entry per enclosing array, outermost first: whether the atom has this axis; else all
    /// elements along it are equal.
    pub axes: Vec<bool>,
    /// The node type of a handle, which a null alone does not determine.
    pub node: Option<NodeId>,
}

impl Leaf {
    /// A scalar.
    pub fn scalar(atom: Atom) -> Leaf {
        Leaf { atom, prefix: Vec::new(), axes: Vec::new(), node: None }
    }

    /// An atom that is equal along all of `rank` axes.
    pub fn same(atom: Atom, rank: usize) -> Leaf {
        Leaf { axes: vec![false; rank], ..Leaf::scalar(atom) }
    }

    /// An array with all of its axes.
    pub fn stored(atom: Atom, rank: usize) -> Leaf {
        Leaf { axes: vec![true; rank], ..Leaf::scalar(atom) }
    }

    /// The leaf with the node type of `elem`.
    #[must_use]
    pub fn of(self, elem: Elem) -> Leaf {
        Leaf { node: elem.node(), ..self }
    }

    /// The constant value, if known for every index.
    pub fn constant(&self) -> Option<lambada_prim::Scalar> {
        if self.prefix.is_empty() { self.atom.as_lit() } else { None }
    }

    /// The leaf of the element at an index of the outermost array.
    pub fn at(&self, index: Atom) -> Leaf {
        let mut prefix = self.prefix.clone();
        if self.axes[0] {
            prefix.push(index);
        }
        Leaf { prefix, axes: self.axes[1..].to_vec(), ..self.clone() }
    }

    /// The atom and the pending indices.
    pub fn atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        std::iter::once(self.atom).chain(self.prefix.iter().copied())
    }

    /// The sizes of the axes that the mask selects.
    pub fn select(mask: &[bool], extents: &[Atom]) -> Vec<Atom> {
        mask.iter().zip(extents).filter(|(has, _)| **has).map(|(_, e)| *e).collect()
    }
}

/// A symbolic value.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    /// A scalar (under arrays: a family of them).
    Leaf(Leaf),
    /// A tuple or a record.
    Tuple(Rc<[Val]>),
    /// An array.
    Array(Rc<ArrayVal>),
    /// A variant: a tag, and the fields of every constructor that it may be.
    Variant(Rc<VariantVal>),
    /// A function.
    Fun(Rc<FunVal>),
    /// A node: a value of a recursive type, or a function that only run time knows.
    Node(Rc<NodeVal>),
    /// An accumulator: a name that `h[i] += v` mentions.
    Acc(Rc<AccVal>),
}

/// An array of `extent` elements of the family `elem`.
#[derive(Clone, Debug)]
pub(crate) struct ArrayVal {
    pub extent: Atom,
    pub elem: Val,
}

/// The fields are absent for a constructor that is statically excluded.
#[derive(Clone, Debug)]
pub(crate) struct VariantVal {
    pub tag: Leaf,
    pub fields: Vec<Option<Vec<Val>>>,
}

/// A value in memory.
#[derive(Clone, Debug)]
pub(crate) struct NodeVal {
    /// A recursive variant, or a function type.
    pub ty: Ty,
    /// Its address at run time.
    pub handle: Leaf,
    /// Constructor and fields, if the value was made here.
    pub known: Option<(usize, Vec<Val>)>,
    /// Whether the node is data, without functions.
    pub is_data: bool,
}

/// One of several closures; the tag is the number of its code. An element of an empty array has no
/// closure.
#[derive(Clone, Debug)]
pub(crate) struct FunVal {
    pub tag: Leaf,
    pub alternatives: Vec<Closure>,
}

/// A code with its environment: one value per free variable, in the order of the code.
#[derive(Clone, Debug)]
pub(crate) struct Closure {
    pub code: Rc<Code>,
    pub env: Vec<Val>,
}

/// A function's code, with a number that is unique in one normalization.
#[derive(Debug)]
pub(crate) struct Code {
    pub number: i64,
    pub kind: CodeKind,
}

impl Code {
    /// The variable of a λ.
    pub fn var(&self) -> Option<&Var> {
        if let CodeKind::Lambda { var, .. } = &self.kind { Some(var) } else { None }
    }
}

#[derive(Debug)]
pub(crate) enum CodeKind {
    /// A λ of the program and its free variables. The functions of a `let rec` share the free
    /// variables of all of them, and see each other.
    Lambda { var: Var, body: Term, free: Rc<[Var]>, siblings: Rc<[(Var, Term)]> },
    /// In a rule, the tangent of a function parameter of this type: `df x` is the tangent of `f x`.
    /// Its environment is the function, and the function with tangents in place of its captured
    /// values.
    Tangent { ty: Ty, span: Span },
    /// In a rule, a function that adds pairs to the cotangent of a function parameter with results
    /// of this type. Its environment is the function and its accumulators.
    Adder { to: Ty, span: Span },
    /// The linear map of a `vjp`. Its environment is the skeleton of the result, that of the point,
    /// and its free variables.
    Pullback(Pullback),
}

/// A linear map from cotangents of the real leaves of a result to those of a point.
#[derive(Debug)]
pub(crate) struct Pullback {
    pub map: anf::Lambda,
    /// The free variables; arrays come first, and determine the sizes.
    pub free: Vec<anf::Param>,
    /// The `vjp` that it comes from.
    pub span: Span,
    /// The number of the function that made it, and the names of its variables there.
    pub home: usize,
    pub hints: HashMap<anf::Var, Rc<str>>,
}

/// The accumulators that one `accumulate` made, one per leaf.
#[derive(Debug)]
pub(crate) struct AccVal {
    pub structure: Val,
    pub frozen: std::cell::Cell<bool>,
}

impl FunVal {
    /// The environment of the closure with this code.
    pub fn env(&self, number: i64) -> Option<&[Val]> {
        self.alternatives.iter().find(|c| c.code.number == number).map(|c| &c.env[..])
    }

    /// The closure, if it is statically known.
    pub fn known(&self) -> Option<&Closure> {
        match self.tag.constant() {
            Some(tag) => self.alternatives.iter().find(|c| c.code.number == tag.int()),
            None => self.alternatives.first().filter(|_| self.alternatives.len() == 1),
        }
    }
}

/// Children of a value, beside the corresponding children of another.
type Lists<'v> = (&'v [Val], Option<&'v [Val]>);

impl Val {
    /// `()`
    pub fn unit() -> Val {
        Val::Tuple(Rc::from([]))
    }

    /// A scalar.
    pub fn scalar(atom: Atom) -> Val {
        Val::Leaf(Leaf::scalar(atom))
    }

    /// A tuple.
    pub fn tuple(items: impl Into<Rc<[Val]>>) -> Val {
        Val::Tuple(items.into())
    }

    /// An array.
    pub fn array(extent: Atom, elem: Val) -> Val {
        Val::Array(Rc::new(ArrayVal { extent, elem }))
    }

    /// A known closure.
    pub fn closure(code: Rc<Code>, env: Vec<Val>) -> Val {
        Val::fun(Leaf::scalar(Atom::int(code.number)), vec![Closure { code, env }])
    }

    /// A variant.
    pub fn variant(tag: Leaf, fields: Vec<Option<Vec<Val>>>) -> Val {
        Val::Variant(Rc::new(VariantVal { tag, fields }))
    }

    /// One of several closures.
    pub fn fun(tag: Leaf, alternatives: Vec<Closure>) -> Val {
        Val::Fun(Rc::new(FunVal { tag, alternatives }))
    }

    // Algebra: passes over values use these, so that a new kind of value is added here.

    /// Its own leaf: a scalar, the tag of a variant or a function, the handle of a node.
    pub fn own_leaf(&self) -> Option<&Leaf> {
        match self {
            Val::Leaf(leaf) => Some(leaf),
            Val::Variant(variant) => Some(&variant.tag),
            Val::Fun(fun) => Some(&fun.tag),
            Val::Node(node) => Some(&node.handle),
            Val::Tuple(_) | Val::Array(_) | Val::Acc(_) => None,
        }
    }

    /// The values inside, in order: components, elements (as a family), fields of all constructors,
    /// captured values. Nodes and accumulators have none.
    pub fn children(&self) -> Vec<&Val> {
        match self {
            Val::Leaf(_) | Val::Node(_) | Val::Acc(_) => Vec::new(),
            Val::Tuple(items) => items.iter().collect(),
            Val::Array(array) => vec![&array.elem],
            Val::Variant(variant) => variant.fields.iter().flatten().flatten().collect(),
            Val::Fun(fun) => fun.alternatives.iter().flat_map(|c| &c.env).collect(),
        }
    }

    /// The value with mapped children.
    pub fn try_map(&self, child: &mut dyn FnMut(&Val) -> Eval<Val>) -> Eval<Val> {
        let mut list = |vals: &Vec<Val>| vals.iter().map(&mut *child).collect::<Eval<Vec<Val>>>();
        Ok(match self {
            Val::Leaf(_) | Val::Node(_) | Val::Acc(_) => self.clone(),
            Val::Tuple(items) => Val::Tuple(items.iter().map(child).collect::<Eval<_>>()?),
            Val::Array(array) => Val::array(array.extent, child(&array.elem)?),
            Val::Variant(variant) => {
                let fields = variant.fields.iter().map(|f| f.as_ref().map(&mut list).transpose());
                Val::variant(variant.tag.clone(), fields.collect::<Eval<_>>()?)
            }
            Val::Fun(fun) => {
                let closure =
                    |c: &Closure| Ok(Closure { code: c.code.clone(), env: list(&c.env)? });
                let alternatives = fun.alternatives.iter().map(closure).collect::<Eval<_>>()?;
                Val::fun(fun.tag.clone(), alternatives)
            }
        })
    }

    /// The value with another own leaf and extent.
    fn with_own(
        self,
        on_leaf: &mut dyn FnMut(&Leaf) -> Leaf,
        on_size: &mut dyn FnMut(Atom) -> Atom,
    ) -> Val {
        match self {
            Val::Leaf(leaf) => Val::Leaf(on_leaf(&leaf)),
            Val::Array(array) => Val::array(on_size(array.extent), array.elem.clone()),
            Val::Variant(variant) => Val::variant(on_leaf(&variant.tag), variant.fields.clone()),
            Val::Fun(fun) => Val::fun(on_leaf(&fun.tag), fun.alternatives.clone()),
            Val::Node(ref node) => match on_leaf(&node.handle) {
                handle if handle == node.handle => self,
                handle => Val::Node(Rc::new(NodeVal { handle, known: None, ..(**node).clone() })),
            },
            Val::Tuple(_) | Val::Acc(_) => self,
        }
    }

    /// The value with other leaves and extents, outer ones first.
    pub fn map(
        &self,
        on_leaf: &mut dyn FnMut(&Leaf) -> Leaf,
        on_size: &mut dyn FnMut(Atom) -> Atom,
    ) -> Val {
        let own = self.clone().with_own(on_leaf, on_size);
        own.try_map(&mut |child| Ok(child.map(on_leaf, on_size))).expect("nothing fails")
    }

    /// The value with mapped leaves.
    pub fn map_leaves(&self, on_leaf: &mut dyn FnMut(&Leaf) -> Leaf) -> Val {
        self.map(on_leaf, &mut |size| size)
    }

    /// Calls the functions on every leaf and every extent.
    pub fn visit(&self, on_leaf: &mut dyn FnMut(&Leaf), on_size: &mut dyn FnMut(Atom)) {
        self.own_leaf().into_iter().for_each(&mut *on_leaf);
        if let Val::Array(array) = self {
            on_size(array.extent);
        }
        self.children().into_iter().for_each(|child| child.visit(on_leaf, on_size));
    }

    /// Whether a leaf satisfies the condition.
    pub fn any_leaf(&self, test: &dyn Fn(&Leaf) -> bool) -> bool {
        self.own_leaf().is_some_and(test)
            || self.children().into_iter().any(|child| child.any_leaf(test))
    }

    /// Whether the value is data, without functions.
    pub fn is_first_order(&self) -> bool {
        let is_data = match self {
            Val::Fun(_) | Val::Acc(_) => false,
            Val::Node(node) => node.is_data,
            Val::Leaf(_) | Val::Tuple(_) | Val::Array(_) | Val::Variant(_) => true,
        };
        is_data && self.children().into_iter().all(Val::is_first_order)
    }

    /// Whether both values have one kind: both scalars, both tuples, and so on.
    pub fn same_kind(&self, other: &Val) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Whether the value has no constructor or function at all, as the element of an empty array
    /// may.
    pub fn is_absent(&self) -> bool {
        if let Val::Variant(variant) = self {
            return variant.fields.iter().all(Option::is_none);
        }
        matches!(self, Val::Fun(fun) if fun.alternatives.is_empty())
    }

    /// The lists of children, beside those of another value of the same kind.
    fn lists<'v>(&'v self, other: &'v Val) -> Option<Vec<Lists<'v>>> {
        let one = |val| std::slice::from_ref(val);
        Some(match (self, other) {
            (Val::Tuple(items), Val::Tuple(others)) => vec![(items, Some(others))],
            (Val::Array(own), Val::Array(other)) => vec![(one(&own.elem), Some(one(&other.elem)))],
            (Val::Variant(own), Val::Variant(other)) => {
                let fields = own.fields.iter().zip(&other.fields);
                fields
                    .filter_map(|(own, other)| Some((own.as_deref()?, other.as_deref())))
                    .collect()
            }
            (Val::Fun(own), Val::Fun(other)) => {
                let closures = own.alternatives.iter();
                closures.map(|c| (&c.env[..], other.env(c.code.number))).collect()
            }
            (Val::Leaf(_), Val::Leaf(_)) | (Val::Node(_), Val::Node(_)) => Vec::new(),
            (Val::Acc(own), Val::Acc(other)) if Rc::ptr_eq(own, other) => Vec::new(),
            (_, _) => return None,
        })
    }

    /// The children beside those of another value, if that one foresees all alternatives of this
    /// one.
    pub fn within<'v>(&'v self, other: &'v Val) -> Option<Vec<(&'v Val, &'v Val)>> {
        let mut pairs = Vec::new();
        for (own, others) in self.lists(other)? {
            pairs.extend(own.iter().zip(others.filter(|others| others.len() == own.len())?));
        }
        Some(pairs)
    }

    /// The children of data beside those of another value, of constructors that both may have.
    /// Functions and nodes have none.
    pub fn zip<'v>(&'v self, other: &'v Val) -> Vec<(&'v Val, &'v Val)> {
        let lists = self.lists(other).filter(|_| !matches!(self, Val::Fun(_))).unwrap_or_default();
        lists
            .into_iter()
            .flat_map(|(own, others)| own.iter().zip(others.unwrap_or_default()))
            .collect()
    }

    /// The value with mapped children; [`Val::zip`] pairs them with those of `other`.
    pub fn try_zip_map(
        &self,
        other: &Val,
        child: &mut dyn FnMut(&Val, &Val) -> Eval<Val>,
    ) -> Eval<Val> {
        let mut pairs = self.zip(other).into_iter().peekable();
        self.try_map(&mut |val| match pairs.next_if(|(own, _)| std::ptr::eq(*own, val)) {
            Some((own, other)) => child(own, other),
            None => Ok(val.clone()),
        })
    }

    /// The family of equal elements.
    pub fn same(&self) -> Val {
        self.map_leaves(&mut |leaf| {
            let axes = [&[false], &leaf.axes[..]].concat();
            Leaf { axes, ..leaf.clone() }
        })
    }

    /// The element at an index, from the family of an array's elements.
    pub fn at(&self, index: Atom) -> Val {
        self.map_leaves(&mut |leaf| leaf.at(index))
    }
}

/// Projections to one kind; the checker of core excludes all other kinds.
macro_rules! kinds {
    ($($name:ident, $kind:ident: $inside:ty;)*) => {
        impl Val {
            $(pub fn $name(&self) -> Eval<&$inside> {
                if let Val::$kind(inside) = self { Ok(inside) } else { Err(ill_typed()) }
            })*
        }
    };
}

kinds! {
    as_leaf, Leaf: Leaf;
    as_tuple, Tuple: [Val];
    as_array, Array: Rc<ArrayVal>;
    as_variant, Variant: Rc<VariantVal>;
    as_fun, Fun: Rc<FunVal>;
    as_node, Node: Rc<NodeVal>;
    as_acc, Acc: Rc<AccVal>;
}

/// Projection of a value that may be absent.
pub(crate) fn part<'v, T: ?Sized>(
    value: Option<&'v Val>,
    kind: impl FnOnce(&'v Val) -> Eval<&'v T>,
) -> Eval<Option<&'v T>> {
    value.map(kind).transpose()
}
