//! Unknown types and sizes, equations between them, and the constraints of overloading. Independent
//! of syntax.

pub(crate) mod constraint;
mod conversions;
pub(crate) mod defaults;
mod extrema;
pub(crate) mod scheme;
pub(crate) mod show;
mod simplify;
pub(crate) mod size;
mod step;
pub(crate) mod ty;
pub(crate) mod type_size;
mod unify;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use lambada_core::{FieldOrder, sized};
use lambada_prim::ScalarTy;
use lambada_source::Span;

use constraint::{Constraint, Failed};
use size::Poly;
use size::{AtomKind, Sizes};
use ty::{Node, Origin, Shapes, Ty, Unknown, UnknownKind, Variant, VariantId};
pub(crate) use unify::Clash;

/// The types of one compilation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solver {
    nodes: Vec<Node>,
    pub sizes: Sizes,
    pub variants: Vec<Variant>,
    constraints: Vec<Option<Constraint>>,
    /// The types that each constraint waits for.
    watched: Vec<Vec<Ty>>,
    /// For each unknown, by its representative, the constraints that wait for it.
    watchers: HashMap<Ty, Vec<usize>>,
    queue: VecDeque<usize>,
    /// Size equations that are neither proved nor refuted yet, with their places.
    pub undecided: Vec<(Poly, Poly, Span)>,
    /// Constraints that cannot hold, not yet reported.
    pub failed: Vec<Failed>,
    /// Number of generalizing `let`s around.
    pub level: u32,
    /// Span of the current expression, for undecided equations.
    pub here: Span,
    /// Order in which fields of records are displayed.
    pub fields: FieldOrder,
    /// The parts of types without unknowns, by their representatives.
    weights: RefCell<HashMap<Ty, u64>>,
    /// Representatives of ground types, without unknown types or sizes: nothing to lift.
    ground: HashSet<Ty>,
    /// Ground types by the module and name of their alias: without the cache, each use of a type
    /// made of other types would write out all of them.
    pub aliases: HashMap<(usize, Rc<str>), Ty>,
}

impl Solver {
    /// A new node.
    pub fn node(&mut self, node: Node) -> Ty {
        self.nodes.push(node);
        Ty((self.nodes.len() - 1) as u32)
    }

    /// A new unknown.
    pub fn fresh(&mut self) -> Ty {
        self.unknown(UnknownKind::Any, None)
    }

    /// A new unknown of a kind.
    pub fn unknown(&mut self, kind: UnknownKind, origin: Option<Origin>) -> Ty {
        let level = self.level;
        self.node(Node::Unknown(Unknown { level, kind, rigid: None, origin }))
    }

    /// A type variable of a signature.
    pub fn rigid(&mut self, name: &Rc<str>) -> Ty {
        let level = self.level;
        self.node(Node::Unknown(Unknown {
            level,
            kind: UnknownKind::Any,
            rigid: Some(name.clone()),
            origin: None,
        }))
    }

    /// A new unknown size.
    pub fn fresh_size(&mut self) -> Poly {
        let level = self.level;
        Poly::var(self.sizes.fresh(AtomKind::Flexible(level)))
    }

    pub fn scalar(&mut self, scalar: ScalarTy) -> Ty {
        self.node(Node::Scalar(scalar))
    }

    pub fn real(&mut self) -> Ty {
        self.scalar(ScalarTy::Real)
    }

    pub fn int(&mut self) -> Ty {
        self.scalar(ScalarTy::Int)
    }

    pub fn bool(&mut self) -> Ty {
        self.scalar(ScalarTy::Bool)
    }

    pub fn error(&mut self) -> Ty {
        self.node(Node::Error)
    }

    pub fn tuple(&mut self, items: Vec<Ty>) -> Ty {
        self.node(Node::Tuple(items.into()))
    }

    pub fn array(&mut self, size: Poly, elem: Ty) -> Ty {
        self.node(Node::Array(size, elem))
    }

    pub fn fun(&mut self, from: Ty, to: Ty) -> Ty {
        self.node(Node::Fun(from, to))
    }

    /// `a -> b -> … -> to`
    pub fn funs(&mut self, from: &[Ty], to: Ty) -> Ty {
        from.iter().rev().fold(to, |to, from| self.fun(*from, to))
    }

    /// The representative of a type.
    pub fn root(&self, mut ty: Ty) -> Ty {
        while let Node::Link(next) = self.nodes[ty.0 as usize] {
            ty = next;
        }
        ty
    }

    /// The representative; compresses the path to it.
    pub fn find(&mut self, ty: Ty) -> Ty {
        let root = self.root(ty);
        let mut at = ty;
        while let Node::Link(next) = self.nodes[at.0 as usize] {
            self.nodes[at.0 as usize] = Node::Link(root);
            at = next;
        }
        if ty != root {
            self.nodes[ty.0 as usize] = Node::Link(root);
        }
        root
    }

    /// The node of a type; never a link.
    pub fn get(&self, ty: Ty) -> &Node {
        &self.nodes[self.root(ty).0 as usize]
    }

    fn set(&mut self, root: Ty, node: Node) {
        self.nodes[root.0 as usize] = node;
    }

    fn unknown_mut(&mut self, root: Ty) -> &mut Unknown {
        match &mut self.nodes[root.0 as usize] {
            Node::Unknown(unknown) => unknown,
            node => panic!("known: {node:?}"),
        }
    }

    /// The scalar type, if it is one.
    pub fn as_scalar(&self, ty: Ty) -> Option<ScalarTy> {
        match self.get(ty) {
            Node::Scalar(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// Whether the type is an unknown.
    pub fn is_unknown(&self, ty: Ty) -> bool {
        matches!(self.get(ty), Node::Unknown(_))
    }

    /// Whether the type is an unknown that may become another type, or has an unsolved size.
    pub fn is_open(&self, ty: Ty) -> bool {
        self.may_become(self.base(ty)) || self.has_open_size(ty)
    }

    /// Whether the type is an unknown that may become another type.
    fn may_become(&self, ty: Ty) -> bool {
        matches!(self.get(ty), Node::Unknown(unknown) if unknown.rigid.is_none())
    }

    /// Whether an array of the type, also one in a tuple or a record, has an unsolved size.
    fn has_open_size(&self, ty: Ty) -> bool {
        match self.get(ty) {
            Node::Array(size, elem) => self.sizes.is_open(size) || self.has_open_size(*elem),
            Node::Tuple(items) => items.iter().any(|item| self.has_open_size(*item)),
            Node::Record(fields) => fields.iter().any(|(_, field)| self.has_open_size(*field)),
            Node::Unknown(_) | Node::Link(_) | Node::Scalar(_) | Node::Error => false,
            Node::Fun(..) | Node::Variant(..) => false,
        }
    }

    /// Whether a part of the type is an unknown that may become another type.
    pub fn has_unknown(&self, ty: Ty) -> bool {
        self.unknowns(ty).into_iter().any(|part| self.may_become(part))
    }

    /// Whether it is certainly a scalar.
    pub fn is_scalar(&self, ty: Ty) -> bool {
        match self.get(ty) {
            Node::Scalar(_) => true,
            Node::Unknown(unknown) => {
                matches!(unknown.kind, UnknownKind::Data { shapes: Shapes::Scalars, .. })
            }
            _ => false,
        }
    }

    /// Whether the type is an error.
    pub fn is_error(&self, ty: Ty) -> bool {
        matches!(self.get(ty), Node::Error)
    }

    /// Whether the type is known to be a function.
    pub fn is_function(&self, ty: Ty) -> bool {
        matches!(self.get(ty), Node::Fun(..))
    }

    /// Whether the type contains an error.
    pub fn has_error(&self, ty: Ty) -> bool {
        match self.get(ty) {
            Node::Error => true,
            Node::Unknown(_) | Node::Scalar(_) => false,
            Node::Link(_) => unreachable!("`get` follows links"),
            Node::Tuple(items) | Node::Variant(_, items) => {
                items.iter().any(|t| self.has_error(*t))
            }
            Node::Record(fields) => fields.iter().any(|(_, t)| self.has_error(*t)),
            Node::Array(_, elem) => self.has_error(*elem),
            Node::Fun(from, to) => self.has_error(*from) || self.has_error(*to),
        }
    }

    /// The type inside all arrays.
    pub fn base(&self, mut ty: Ty) -> Ty {
        while let Node::Array(_, elem) = self.get(ty) {
            ty = *elem;
        }
        self.root(ty)
    }

    /// Number of arrays around the base; exact if the base is known or a scalar.
    pub fn rank(&self, mut ty: Ty) -> usize {
        let mut rank = 0;
        while let Node::Array(_, elem) = self.get(ty) {
            ty = *elem;
            rank += 1;
        }
        rank
    }

    /// A variant type at sizes, if it takes any, and at types: see [`sized`].
    pub fn variant_at(&mut self, id: VariantId, sizes: Vec<Poly>, args: Vec<Ty>) -> Ty {
        let value = self.node(Node::Variant(id, args.into()));
        if sizes.is_empty() {
            return value;
        }
        let mut fields: Vec<(Rc<str>, Ty)> = Vec::with_capacity(sizes.len() + 1);
        for (k, size) in sizes.into_iter().enumerate() {
            let unit = self.tuple(Vec::new());
            fields.push((sized::label(k).into(), self.array(size, unit)));
        }
        fields.push((sized::VALUE.into(), value));
        self.node(Node::Record(fields.into()))
    }

    /// The sizes of a variant, and the variant by itself; `None` for other records.
    pub fn sized_variant(&self, fields: &[(Rc<str>, Ty)]) -> Option<(Vec<Poly>, Ty)> {
        let ((_, value), sizes) = fields.split_last()?;
        if !sized::is_sized(sizes.iter().map(|(label, _)| &**label)) {
            return None;
        }
        let size = |(_, ty): &(Rc<str>, Ty)| match self.get(*ty) {
            Node::Array(size, _) => Some(size.clone()),
            _ => None,
        };
        Some((sizes.iter().map(size).collect::<Option<_>>()?, *value))
    }

    /// The variant type with this id.
    pub fn variant(&self, id: VariantId) -> &Variant {
        &self.variants[id.0 as usize]
    }
}
