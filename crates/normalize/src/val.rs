//! Symbolic values: what a core term is known to be while code is emitted for it. Functions and the
//! structure of data are static; only scalars and arrays of scalars exist at run time.
//!
//! An array is its extent and one *family*: the structure of its elements, in which every leaf may
//! have the axis of the array (it is stored) or not (it is the same for all elements). So an array
//! of tuples is a tuple of arrays, an array of closures is one closure whose environment holds
//! arrays, and `replicate n x` is just `x`. Indices apply lazily: `m[i]` is the leaf `m` with the
//! pending prefix `i`, and no row is copied just to be indexed further.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf as anf;
use lambada_anf::{Atom, Elem, NodeId};
use lambada_core::{Term, Ty, Var};
use lambada_source::Span;

/// A scalar, or an array of scalars with as many axes as there are arrays around the leaf.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    /// A scalar or an array variable.
    pub atom: Atom,
    /// Indices that are still to be applied to it.
    pub prefix: Vec<Atom>,
    /// One entry per array around the leaf, outermost first: does the atom have this axis, or is it
    /// the same along it?
    pub axes: Vec<bool>,
    /// Of handles: the type of the nodes. Null alone does not tell.
    pub node: Option<NodeId>,
}

impl Leaf {
    /// A scalar.
    pub fn scalar(atom: Atom) -> Leaf {
        Leaf { atom, prefix: Vec::new(), axes: Vec::new(), node: None }
    }

    /// An atom that is the same along all of `rank` axes.
    pub fn same(atom: Atom, rank: usize) -> Leaf {
        Leaf { axes: vec![false; rank], ..Leaf::scalar(atom) }
    }

    /// An array that has all of its axes.
    pub fn stored(atom: Atom, rank: usize) -> Leaf {
        Leaf { axes: vec![true; rank], ..Leaf::scalar(atom) }
    }

    /// The same leaf of scalars of this type.
    #[must_use]
    pub fn of(self, elem: Elem) -> Leaf {
        Leaf { node: elem.node(), ..self }
    }

    /// The constant, if it is known whatever the index.
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

    /// What it mentions.
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

/// The fields are absent for a constructor that the value is statically known not to be.
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
    /// Where it is.
    pub handle: Leaf,
    /// Constructor and fields, of a value that has been made here.
    pub known: Option<(usize, Vec<Val>)>,
    /// Data, without functions?
    pub is_data: bool,
}

/// One of several closures; the tag is the number of its code. None at all for an element of an
/// empty array.
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

#[derive(Debug)]
pub(crate) enum CodeKind {
    /// A λ of the program and its free variables; those of a `let rec` have the free variables of
    /// all of it, and see each other.
    Lambda { var: Var, body: Term, free: Rc<[Var]>, siblings: Rc<[(Var, Term)]> },
    /// The tangent of a function parameter of this type, in a rule: `df x` is the tangent of `f x`.
    /// Its environment is the function, and the function with the tangents of what it captures in
    /// their places.
    Tangent { ty: Ty, span: Span },
    /// What adds pairs to the cotangent of a function parameter with results of this type, in a
    /// rule. Its environment is the function and its accumulators.
    Adder { to: Ty, span: Span },
    /// The linear map of a `vjp`. Its environment is the skeleton of the result, that of the point,
    /// and its free variables.
    Pullback(Pullback),
}

/// A linear map from cotangents of the real leaves of a result to those of a point.
#[derive(Debug)]
pub(crate) struct Pullback {
    pub map: anf::Lambda,
    /// The free variables; arrays come first, and say what their sizes are.
    pub free: Vec<anf::Param>,
    /// The `vjp` that it comes from.
    pub span: Span,
    /// The function that it was made in, and what its variables are called there.
    pub home: usize,
    pub hints: HashMap<anf::Var, Rc<str>>,
}

/// The accumulators that one `accumulate` made, one per leaf.
#[derive(Debug)]
pub(crate) struct AccVal {
    pub structure: Val,
    pub frozen: std::cell::Cell<bool>,
}

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

    /// A closure that is known.
    pub fn closure(code: Rc<Code>, env: Vec<Val>) -> Val {
        let tag = Leaf::scalar(Atom::int(code.number));
        Val::Fun(Rc::new(FunVal { tag, alternatives: vec![Closure { code, env }] }))
    }

    /// Data, without functions?
    pub fn is_first_order(&self) -> bool {
        match self {
            Val::Leaf(_) => true,
            Val::Tuple(items) => items.iter().all(Val::is_first_order),
            Val::Array(array) => array.elem.is_first_order(),
            Val::Variant(variant) => {
                variant.fields.iter().flatten().flatten().all(Val::is_first_order)
            }
            Val::Node(node) => node.is_data,
            Val::Fun(_) | Val::Acc(_) => false,
        }
    }

    /// The same structure with other leaves and extents.
    pub fn map(
        &self,
        on_leaf: &mut dyn FnMut(&Leaf) -> Leaf,
        on_size: &mut dyn FnMut(Atom) -> Atom,
    ) -> Val {
        match self {
            Val::Leaf(leaf) => Val::Leaf(on_leaf(leaf)),
            Val::Tuple(items) => {
                Val::Tuple(items.iter().map(|v| v.map(on_leaf, on_size)).collect())
            }
            Val::Array(array) => {
                let extent = on_size(array.extent);
                Val::array(extent, array.elem.map(on_leaf, on_size))
            }
            Val::Variant(variant) => {
                let tag = on_leaf(&variant.tag);
                let mut list =
                    |fields: &Vec<Val>| fields.iter().map(|v| v.map(on_leaf, on_size)).collect();
                let fields = variant.fields.iter().map(|f| f.as_ref().map(&mut list)).collect();
                Val::Variant(Rc::new(VariantVal { tag, fields }))
            }
            Val::Fun(fun) => {
                let tag = on_leaf(&fun.tag);
                let mut closure = |c: &Closure| {
                    let env = c.env.iter().map(|v| v.map(on_leaf, on_size)).collect();
                    Closure { code: c.code.clone(), env }
                };
                let alternatives = fun.alternatives.iter().map(&mut closure).collect();
                Val::Fun(Rc::new(FunVal { tag, alternatives }))
            }
            Val::Node(node) => {
                let handle = on_leaf(&node.handle);
                if handle == node.handle {
                    return self.clone();
                }
                Val::Node(Rc::new(NodeVal { handle, known: None, ..(**node).clone() }))
            }
            Val::Acc(_) => self.clone(),
        }
    }

    /// Calls the functions on every leaf and every extent.
    pub fn visit(&self, on_leaf: &mut dyn FnMut(&Leaf), on_size: &mut dyn FnMut(Atom)) {
        match self {
            Val::Leaf(leaf) => on_leaf(leaf),
            Val::Tuple(items) => items.iter().for_each(|v| v.visit(on_leaf, on_size)),
            Val::Array(array) => {
                on_size(array.extent);
                array.elem.visit(on_leaf, on_size);
            }
            Val::Variant(variant) => {
                on_leaf(&variant.tag);
                variant.fields.iter().flatten().flatten().for_each(|v| v.visit(on_leaf, on_size));
            }
            Val::Fun(fun) => {
                on_leaf(&fun.tag);
                fun.alternatives
                    .iter()
                    .flat_map(|c| &c.env)
                    .for_each(|v| v.visit(on_leaf, on_size));
            }
            Val::Node(node) => on_leaf(&node.handle),
            Val::Acc(_) => {}
        }
    }

    /// The values inside of data beside those of another value: components, elements (as families),
    /// and fields of constructors that both may be. Functions and nodes are looked into by nobody.
    pub fn beside<'v>(&'v self, other: &'v Val) -> Vec<(&'v Val, &'v Val)> {
        match (self, other) {
            (Val::Tuple(items), Val::Tuple(others)) => items.iter().zip(others.iter()).collect(),
            (Val::Array(array), Val::Array(other)) => vec![(&array.elem, &other.elem)],
            (Val::Variant(variant), Val::Variant(other)) => {
                let constructors = variant.fields.iter().zip(&other.fields);
                let both = constructors.filter_map(|(a, b)| a.as_ref().zip(b.as_ref()));
                both.flat_map(|(a, b)| a.iter().zip(b)).collect()
            }
            (
                Val::Leaf(_)
                | Val::Tuple(_)
                | Val::Array(_)
                | Val::Variant(_)
                | Val::Fun(_)
                | Val::Node(_)
                | Val::Acc(_),
                _,
            ) => Vec::new(),
        }
    }

    /// Of the elements of an array (a family): the one at an index.
    pub fn at(&self, index: Atom) -> Val {
        self.map(&mut |leaf| leaf.at(index), &mut |size| size)
    }
}
