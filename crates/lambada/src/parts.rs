//! Reading and rebuilding tuples, records, variants and arrays of them in source. The parts are the
//! leaves of array code, in its order.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_core::{Program, Size, SizedTy, Ty, TypeId, sized};
use lambada_prim::ScalarTy;
use lambada_source::FileId;
use lambada_surface::ast::{Clause, Expr, ExprKind, Pattern, PatternKind};
use lambada_surface::build;
use lambada_surface::visit::children_mut;

use crate::types::Files;

/// Size of an array in a field of an inactive constructor. The value is 0, but inference must not
/// know that, because the declaration of the field may require another size.
pub(crate) const ABSENT: &str = "no_elements'";

/// Reads a part of a value.
type Of<'a> = Box<dyn Fn(Expr) -> Expr + 'a>;

/// A part of a value.
pub(crate) struct Part<'a> {
    /// Reads the part from the value.
    pub(crate) of: Of<'a>,
    /// Whether reading only projects a field or a component.
    pub(crate) cheap: bool,
    /// Placeholder for the part in a value that lacks it.
    absent: Rc<dyn Fn() -> Expr + 'a>,
    /// Whether the part is the value itself.
    whole: bool,
}

/// A zero of the type; an integer gets an annotation, since the context may not determine its type.
pub(crate) fn zero(elem: ScalarTy) -> Expr {
    match elem {
        ScalarTy::Real => build::real(0.0),
        ScalarTy::Int => build::annotated(build::int(0), build::named_ty("int")),
        ScalarTy::Bool => build::expr(ExprKind::Bool(false)),
    }
}

/// Decomposition of values by type.
pub(crate) struct Parts<'a> {
    pub(crate) program: &'a Program,
    pub(crate) files: &'a Files<'a>,
}

impl<'a> Parts<'a> {
    /// Whether array code represents a value of the type as a single array, scalar or handle.
    pub(crate) fn is_plain(&self, ty: &SizedTy) -> bool {
        match ty {
            SizedTy::Scalar(_) => true,
            SizedTy::Array(_, elem) => self.is_plain(elem),
            SizedTy::Variant(id) => self.program.is_recursive_type(*id),
            SizedTy::Tuple(_) | SizedTy::Record(_) | SizedTy::Fun(..) => false,
        }
    }

    /// The parts of a value, if all sizes in its type are in scope.
    pub(crate) fn of(&self, ty: &SizedTy) -> Vec<Part<'a>> {
        self.within(&Extents::default(), ty, 0)
    }

    /// The parts of a value whose type mentions the sizes in `extents`. `depth` keeps bound names
    /// distinct.
    fn within(&self, extents: &Extents, ty: &SizedTy, depth: usize) -> Vec<Part<'a>> {
        if let Some((sizes, id)) = sized::of(ty) {
            // Source reads a sized variant like an unsized one; its sizes are named in types only.
            let sizes: Vec<Expr> = sizes.map(|size| extents.of(size)).collect();
            let mut parts: Vec<Part> = sizes.iter().cloned().map(size_part).collect();
            let names = self.program.type_decl(id).sizes.iter().cloned();
            let inner = Extents { named: names.zip(sizes).collect() };
            parts.extend(self.of_variant(&inner, id, depth));
            return parts;
        }
        match ty {
            SizedTy::Fun(..) => Vec::new(),
            SizedTy::Scalar(elem) => {
                let elem = *elem;
                let absent: Rc<dyn Fn() -> Expr> = Rc::new(move || literal_zero(elem));
                vec![Part { of: Box::new(|e| e), cheap: true, absent, whole: true }]
            }
            SizedTy::Tuple(items) => {
                let items = items.iter().enumerate();
                let of = |(k, ty): (usize, &SizedTy)| {
                    self.inside(extents, ty, depth, move |e| build::component(e, k))
                };
                items.flat_map(of).collect()
            }
            SizedTy::Record(fields) => {
                let of = |(label, ty): &(Rc<str>, SizedTy)| {
                    let label = label.clone();
                    self.inside(extents, ty, depth, move |e| build::field(e, &label))
                };
                fields.iter().flat_map(of).collect()
            }
            SizedTy::Array(size, elem) => {
                let lift = |part: Part<'a>| lifted(part, extents.of(size), depth);
                self.within(extents, elem, depth + 1).into_iter().map(lift).collect()
            }
            SizedTy::Variant(id) => self.of_variant(&Extents::default(), *id, depth),
        }
    }

    fn inside(
        &self,
        extents: &Extents,
        ty: &SizedTy,
        depth: usize,
        outer: impl Fn(Expr) -> Expr + Clone + 'a,
    ) -> Vec<Part<'a>> {
        let deeper = |part: Part<'a>| {
            let (outer, inner) = (outer.clone(), part.of);
            Part { of: Box::new(move |e| inner(outer(e))), whole: false, ..part }
        };
        self.within(extents, ty, depth).into_iter().map(deeper).collect()
    }

    /// The parts of a variant with the sizes of its type.
    fn of_variant(&self, extents: &Extents, id: TypeId, depth: usize) -> Vec<Part<'a>> {
        if self.program.is_recursive_type(id) {
            let program = self.program;
            let absent: Rc<dyn Fn() -> Expr> =
                Rc::new(move || filler(program, id).unwrap_or_else(|| build::var(ABSENT)));
            return vec![Part { of: Box::new(|e| e), cheap: true, absent, whole: true }];
        }
        let mut constructors = self.files.constructors(self.program, id);
        // Arrays in fields of inactive constructors get the declared length, so that all branches
        // of a `match` agree in size.
        for ((_, args), written) in constructors.iter_mut().zip(&self.program.type_decl(id).written)
        {
            args.clone_from(written);
        }
        let tags: Vec<(Rc<str>, usize)> =
            constructors.iter().map(|(name, args)| (name.clone(), args.len())).collect();
        let tag = move |e| {
            let arm = |(tag, (name, arity)): (usize, &(Rc<str>, usize))| {
                build::arm(
                    constructor(name, (0..*arity).map(|_| "_".into())),
                    build::int(tag as i64),
                )
            };
            build::match_(e, tags.iter().enumerate().map(arm).collect())
        };
        let absent: Rc<dyn Fn() -> Expr> = Rc::new(|| build::int(0));
        let mut parts = vec![Part { of: Box::new(tag), cheap: false, absent, whole: false }];
        let several = constructors.len() > 1;
        for (name, args) in &constructors {
            for (k, arg) in args.iter().enumerate() {
                for part in self.within(extents, arg, depth + 1) {
                    let (name, arity, inner) = (name.clone(), args.len(), part.of);
                    let absent = part.absent.clone();
                    let of = move |e: Expr| {
                        let bound: Rc<str> = format!("c{depth}").into();
                        let bind = |j| if j == k { bound.clone() } else { "_".into() };
                        let pattern = constructor(&name, (0..arity).map(bind));
                        let mut arms = vec![build::arm(pattern, inner(build::var(bound.clone())))];
                        if several {
                            arms.push(build::arm(build::binds("_"), absent()));
                        }
                        build::match_(e, arms)
                    };
                    parts.push(Part {
                        of: Box::new(of),
                        cheap: false,
                        absent: part.absent,
                        whole: false,
                    });
                }
            }
        }
        parts
    }

    /// Names of the parts of a value called `base`.
    pub(crate) fn names(&self, ty: &SizedTy, base: &str) -> Vec<String> {
        if let Some((sizes, id)) = sized::of(ty) {
            let mut names: Vec<String> = sizes.map(|_| format!("{base}_size")).collect();
            names.extend(self.names(&SizedTy::Variant(id), base));
            return names;
        }
        match ty {
            SizedTy::Scalar(_) => vec![base.to_string()],
            SizedTy::Fun(..) => Vec::new(),
            SizedTy::Tuple(items) => {
                let items = items.iter().enumerate();
                items.flat_map(|(k, ty)| self.names(ty, &format!("{base}_{k}"))).collect()
            }
            SizedTy::Record(fields) => {
                let of =
                    |(label, ty): &(Rc<str>, SizedTy)| self.names(ty, &format!("{base}_{label}"));
                fields.iter().flat_map(of).collect()
            }
            SizedTy::Array(_, elem) => self.names(elem, base),
            SizedTy::Variant(id) if self.program.is_recursive_type(*id) => vec![base.to_string()],
            SizedTy::Variant(id) => {
                let constructors = self.files.constructors(self.program, *id);
                let fields = constructors.iter().flat_map(|(name, args)| {
                    let base = format!("{base}_{}", name.to_lowercase());
                    args.iter().flat_map(move |ty| self.names(ty, &base))
                });
                std::iter::once(format!("{base}_tag")).chain(fields).collect()
            }
        }
    }

    /// Whether each part is a size of a variant. Source has no form for these sizes because types
    /// state them.
    pub(crate) fn sizes(&self, ty: &SizedTy) -> Vec<bool> {
        if let Some((sizes, id)) = sized::of(ty) {
            let sizes = sizes.map(|_| true);
            return sizes.chain(self.sizes(&SizedTy::Variant(id))).collect();
        }
        match ty {
            SizedTy::Scalar(_) => vec![false],
            SizedTy::Fun(..) => Vec::new(),
            SizedTy::Tuple(items) => items.iter().flat_map(|ty| self.sizes(ty)).collect(),
            SizedTy::Record(fields) => fields.iter().flat_map(|(_, ty)| self.sizes(ty)).collect(),
            SizedTy::Array(_, elem) => self.sizes(elem),
            SizedTy::Variant(id) if self.program.is_recursive_type(*id) => vec![false],
            SizedTy::Variant(id) => {
                let constructors = self.files.constructors(self.program, *id);
                let fields = constructors.iter().flat_map(|(_, args)| args);
                std::iter::once(false).chain(fields.flat_map(|ty| self.sizes(ty))).collect()
            }
        }
    }

    /// Whether rebuilding a value of the type mentions each part once.
    pub(crate) fn linear(&self, ty: &SizedTy) -> bool {
        match ty {
            SizedTy::Scalar(_) | SizedTy::Fun(..) => true,
            SizedTy::Tuple(items) => items.iter().all(|ty| self.linear(ty)),
            SizedTy::Record(fields) => fields.iter().all(|(_, ty)| self.linear(ty)),
            SizedTy::Array(_, elem) => self.is_plain(elem),
            SizedTy::Variant(id) => self.program.is_recursive_type(*id),
        }
    }

    /// Rebuilds a value from its parts.
    pub(crate) fn put_together(
        &self,
        ty: &SizedTy,
        parts: &mut dyn Iterator<Item = Expr>,
        depth: usize,
    ) -> Expr {
        if let Some((_, id)) = sized::of(ty) {
            // The type states its sizes, so they are no parts.
            return self.put_together(&SizedTy::Variant(id), parts, depth);
        }
        let mut next = || parts.next().expect("array code gives a part for each leaf of the type");
        match ty {
            SizedTy::Scalar(_) | SizedTy::Fun(..) => next(),
            SizedTy::Tuple(items) => {
                let items = items.iter().map(|ty| self.put_together(ty, parts, depth));
                build::expr(ExprKind::Tuple(items.collect()))
            }
            SizedTy::Record(fields) => {
                let mut given: Vec<(Rc<str>, Expr)> = Vec::with_capacity(fields.len());
                for (label, ty) in fields {
                    given.push((label.clone(), self.put_together(ty, parts, depth)));
                }
                self.program.fields.sort(&mut given, |(label, _)| label);
                let fields = given.into_iter().map(|(label, e)| (build::name(label), e));
                build::expr(ExprKind::Record(fields.collect()))
            }
            SizedTy::Array(_, elem) if self.is_plain(elem) => next(),
            SizedTy::Array(_, elem) => {
                let count = self.sizes(elem).iter().filter(|is_size| !**is_size).count();
                let arrays: Vec<Expr> = (0..count).map(|_| next()).collect();
                let index: Rc<str> = format!("i{depth}").into();
                let extent = match arrays.first() {
                    Some(array) => build::call(build::var("length"), [array.clone()]),
                    None => build::int(0),
                };
                let element = |array| build::index(array, vec![build::var(index.clone())]);
                let mut elements = arrays.into_iter().map(element);
                let body = self.put_together(elem, &mut elements, depth + 1);
                build::for_(Clause::Range(build::name(index.clone()), extent), body)
            }
            SizedTy::Variant(id) if self.program.is_recursive_type(*id) => next(),
            SizedTy::Variant(id) => {
                let tag = next();
                let constructors = self.files.constructors(self.program, *id);
                let mut values = Vec::with_capacity(constructors.len());
                for (name, args) in &constructors {
                    let con = build::expr(ExprKind::Con(name.clone()));
                    let args = args.iter().map(|ty| self.put_together(ty, parts, depth));
                    values.push(build::call(con, args.collect::<Vec<_>>()));
                }
                let last = values.pop().expect("a variant type has a constructor");
                let choose = |otherwise, (k, value): (usize, Expr)| {
                    let is = build::binary(
                        lambada_surface::ast::BinaryOp::Eq,
                        tag.clone(),
                        build::int(k as i64),
                    );
                    build::if_(is, value, otherwise)
                };
                values.into_iter().enumerate().rev().fold(last, choose)
            }
        }
    }
}

/// Expressions for the sizes that a variant type takes, in terms of the enclosing scope.
#[derive(Default)]
struct Extents {
    named: HashMap<Rc<str>, Expr>,
}

impl Extents {
    fn of(&self, size: &Size) -> Expr {
        match size {
            Size::Any => build::var(ABSENT),
            Size::Const(n) => build::int(i64::try_from(*n).unwrap_or(i64::MAX)),
            Size::Var(name) => self.renamed(build::var(&**name)),
            Size::Expr(text) => self.renamed(lambada_surface::parse_expr(text, FileId(0)).0),
        }
    }

    fn renamed(&self, mut e: Expr) -> Expr {
        if let ExprKind::Var(name) = &e.kind {
            return self.named.get(name).cloned().unwrap_or(e);
        }
        children_mut(&mut e, &mut |child| {
            let inner = std::mem::replace(child, build::int(0));
            *child = self.renamed(inner);
        });
        e
    }
}

/// The size of a variant, represented as an array of that many empty arrays.
fn size_part<'a>(extent: Expr) -> Part<'a> {
    let units = move || {
        let nothing = build::expr(ExprKind::Bool(false));
        let row = build::for_(Clause::Range(build::name("_none"), build::int(0)), nothing);
        build::for_(Clause::Range(build::name("_size"), extent.clone()), row)
    };
    let absent: Rc<dyn Fn() -> Expr> = Rc::new(units.clone());
    Part { of: Box::new(move |_| units()), cheap: true, absent, whole: false }
}

/// The part of an array, given the part of its elements.
fn lifted<'a>(part: Part<'a>, extent: Expr, depth: usize) -> Part<'a> {
    let absent_element = part.absent.clone();
    let absent: Rc<dyn Fn() -> Expr> = Rc::new(move || {
        build::for_(Clause::Range(build::name("_none"), extent.clone()), absent_element())
    });
    if part.whole {
        return Part { absent, ..part };
    }
    let inner = part.of;
    let of = move |e: Expr| {
        let element: Rc<str> = format!("e{depth}").into();
        let body = inner(build::var(element.clone()));
        build::expr(ExprKind::For(vec![Clause::In(build::binds(element), e)], Box::new(body)))
    };
    Part { of: Box::new(of), cheap: false, absent, whole: false }
}

/// `Circle r _`
fn constructor(name: &Rc<str>, args: impl Iterator<Item = Rc<str>>) -> Pattern {
    let args = args.map(build::binds).collect();
    build::pattern(PatternKind::Con(build::name(name.clone()), args))
}

/// A short value of a recursive type, if one exists.
pub(crate) fn filler(program: &Program, id: TypeId) -> Option<Expr> {
    variant(program, id, &mut Vec::new())
}

fn variant(program: &Program, id: TypeId, open: &mut Vec<TypeId>) -> Option<Expr> {
    if open.contains(&id) {
        return None;
    }
    open.push(id);
    let mut constructors: Vec<_> = program.type_decl(id).constructors.iter().collect();
    constructors.sort_by_key(|(_, args)| args.len());
    let found = constructors.into_iter().find_map(|(name, args)| {
        let args: Option<Vec<Expr>> = args.iter().map(|ty| value(program, ty, open)).collect();
        let head = build::expr(ExprKind::Con(name.clone()));
        args.map(|args| if args.is_empty() { head } else { build::call(head, args) })
    });
    open.pop();
    found
}

fn value(program: &Program, ty: &Ty, open: &mut Vec<TypeId>) -> Option<Expr> {
    match ty {
        Ty::Scalar(elem) => Some(zero(*elem)),
        Ty::Tuple(items) => {
            let items = items.iter().map(|ty| value(program, ty, open));
            Some(build::expr(ExprKind::Tuple(items.collect::<Option<_>>()?)))
        }
        Ty::Record(fields) => {
            let field = |(label, ty): &(Rc<str>, Ty)| {
                Some((build::name(label.clone()), value(program, ty, open)?))
            };
            Some(build::expr(ExprKind::Record(fields.iter().map(field).collect::<Option<_>>()?)))
        }
        Ty::Array(_) => Some(build::expr(ExprKind::Array(Vec::new()))),
        Ty::Fun(..) => None,
        Ty::Variant(id) => variant(program, *id, open),
    }
}

/// Placeholder for a scalar, where the context determines its type.
fn literal_zero(elem: ScalarTy) -> Expr {
    match elem {
        ScalarTy::Real => build::real(0.0),
        ScalarTy::Int => build::int(0),
        ScalarTy::Bool => build::expr(ExprKind::Bool(false)),
    }
}
