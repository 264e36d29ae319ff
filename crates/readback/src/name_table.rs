//! Context of a definition: names of the library's types, constructors and functions; names of
//! null; and facts about handles.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::{
    Atom, Block, Elem, Exp, FnId, Known, Labels, Library, Names, Nest, NodeId, Op, Param, Stm, Ty,
    Var,
};
use lambada_prim::{Prim, Scalar, ScalarTy};
use lambada_source::Span;
use lambada_surface::ast::{Expr, ExprKind, Pattern, PatternKind, TypeBody, TypeDef};
use lambada_surface::ast::{TypeExpr, TypeKind};
use lambada_surface::build;

use crate::declared::Declared;
use crate::group::Fresh;
use crate::locals::Local;

/// Names and facts about the library.
#[derive(Default)]
pub(crate) struct NameTable {
    pub(crate) labels: Labels,
    /// The types of which the text mentions null.
    pub(crate) nullable: BTreeSet<NodeId>,
    /// For each node type the name of its null.
    pub(crate) zeros: Vec<Rc<str>>,
    /// The types whose null the text has needed while being printed, as a part of a node with
    /// another constructor.
    pub(crate) asked: RefCell<BTreeSet<NodeId>>,
    /// For each function, the entry last, the variables that stand for nulls.
    pub(crate) nulls: Vec<HashMap<Var, NodeId>>,
    pub(crate) library: Library,
    /// The functions whose effects are not printed.
    pub(crate) silent: HashSet<FnId>,
    /// The constructors that the program makes nodes with.
    pub(crate) made: HashSet<(NodeId, u32)>,
    /// The types that contain an empty array of themselves in the text, because values with arrays
    /// of different sizes are elements of one array, or states of one loop. A value of a recursive
    /// type has its own sizes.
    pub(crate) own_sizes: HashSet<NodeId>,
    /// The recursive types that the text defines, by node type.
    pub(crate) declared: HashMap<u32, Declared>,
    /// For each function, the entry last, its local functions.
    pub(crate) locals: Vec<Vec<Local>>,
}

impl NameTable {
    pub(crate) fn declared(&self, id: NodeId) -> Option<&Declared> {
        self.declared.get(&id.0)
    }

    // Null

    /// Replaces null by a variable wherever it stands for a handle.
    pub(crate) fn name_nulls(
        &mut self,
        at: usize,
        names: &mut Names,
        block: &mut Block,
        results: &[Ty],
        library: &Library,
    ) {
        for stm in &mut block.stms {
            let types: Vec<Ty> = stm.binds.iter().map(|p| p.ty.clone()).collect();
            let inner = |ty: &Ty, axes: usize| Ty { elem: ty.elem, dims: ty.dims[axes..].to_vec() };
            match &mut stm.exp {
                Exp::Op(Op::Node { node, tag, fields, .. }) => {
                    let constructor = &library.node(*node).constructors[*tag as usize];
                    let all = fields.iter_mut().zip(constructor.fields.iter().map(|f| &f.ty));
                    all.for_each(|(a, ty)| self.name_null(at, names, a, ty));
                }
                Exp::Op(Op::Call { function, args, .. }) => {
                    let params = library.function(*function).map_or(&[][..], |f| &f.params);
                    let all = args.iter_mut().zip(params);
                    all.for_each(|(a, p)| self.name_null(at, names, a, &p.ty));
                }
                Exp::Op(Op::Fill(value)) => {
                    let ty = Ty { elem: types[0].elem, dims: Vec::new() };
                    self.name_null(at, names, value, &ty);
                }
                Exp::Op(Op::Array(items)) => {
                    let ty = inner(&types[0], 1);
                    items.iter_mut().for_each(|a| self.name_null(at, names, a, &ty));
                }
                Exp::Op(Op::Update { index, value, .. }) => {
                    let ty = inner(&types[0], index.len());
                    self.name_null(at, names, value, &ty);
                }
                Exp::Op(_) => {}
                Exp::Nest(Nest::For { outs, body, .. }) => {
                    let elem = |(out, ty): (&lambada_anf::Out, &Ty)| match out {
                        lambada_anf::Out::Collect => inner(ty, 1),
                        lambada_anf::Out::Reduce(_) => ty.clone(),
                    };
                    let types: Vec<Ty> = outs.iter().zip(&types).map(elem).collect();
                    self.name_nulls(at, names, body, &types, library);
                }
                Exp::Nest(Nest::If { then, otherwise, .. }) => {
                    self.name_nulls(at, names, then, &types, library);
                    self.name_nulls(at, names, otherwise, &types, library);
                }
                Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                    let types: Vec<Ty> = params.iter().map(|p: &Param| p.ty.clone()).collect();
                    let all = inits.iter_mut().zip(&types);
                    all.for_each(|(a, ty)| self.name_null(at, names, a, ty));
                    if let lambada_anf::LoopKind::While(cond) = kind {
                        self.name_nulls(at, names, cond, &[Ty::bool()], library);
                    }
                    self.name_nulls(at, names, body, &types, library);
                }
            }
        }
        let all = block.results.iter_mut().zip(results);
        all.for_each(|(a, ty)| self.name_null(at, names, a, ty));
    }

    fn name_null(&mut self, at: usize, names: &mut Names, atom: &mut Atom, ty: &Ty) {
        let Some(node) = ty.elem.node().filter(|_| ty.dims.is_empty()) else { return };
        if *atom == Atom::int(0) {
            let var = names.fresh("none");
            self.nullable.insert(node);
            self.nulls[at].insert(var, node);
            *atom = var.into();
        }
    }

    /// The variables that stand for nulls in a function, with their values.
    pub(crate) fn nulls(&self, at: usize) -> HashMap<Var, Expr> {
        let null = |(var, node): (&Var, &NodeId)| (*var, self.nothing(*node));
        self.nulls.get(at).into_iter().flatten().map(null).collect()
    }

    /// Null; for a type that the text defines, which has none, a value that is never read.
    fn nothing(&self, node: NodeId) -> Expr {
        let filler = self.declared(node).map(|declared| declared.filler.clone());
        filler.unwrap_or_else(|| con(self.null(node)))
    }

    /// Names of the functions that print when called.
    pub(crate) fn shows(&self) -> HashSet<Rc<str>> {
        let mut found: HashSet<FnId> = HashSet::new();
        loop {
            let before = found.len();
            for (k, f) in self.library.functions.iter().enumerate() {
                let acts = |stm: &Stm| match &stm.exp {
                    Exp::Op(Op::Inspect { .. }) => true,
                    Exp::Op(Op::Check { site, .. }) => site.written,
                    Exp::Op(Op::Call { function, .. }) => found.contains(function),
                    Exp::Op(_) | Exp::Nest(_) => false,
                };
                if f.as_ref().is_some_and(|f| f.body.any(&mut { acts })) {
                    found.insert(FnId(k as u32));
                }
            }
            if found.len() == before {
                return found.into_iter().map(|id| self.function(id)).collect();
            }
        }
    }

    /// The local functions of a function.
    pub(crate) fn locals(&self, at: usize) -> &[Local] {
        self.locals.get(at).map_or(&[], |locals| locals)
    }

    fn null(&self, node: NodeId) -> Rc<str> {
        self.zeros[node.0 as usize].clone()
    }

    /// Names nulls. A derivative of a printed derivative already has constructors of such names.
    pub(crate) fn name_zeros(&mut self) {
        let mut taken: HashSet<Rc<str>> = HashSet::new();
        for (id, node) in (0..).map(NodeId).zip(&self.library.nodes) {
            let tags = 0..node.constructors.len() as u32;
            taken.extend(tags.map(|tag| self.constructor(id, tag)));
        }
        let nodes = (0..self.library.nodes.len() as u32).map(NodeId);
        let zeros = nodes.map(|id| {
            let name = format!("No_{}", self.labels.node(id));
            let numbered = (2..).map(|k| Rc::from(format!("{name}_{k}")));
            let mut names = std::iter::once(Rc::from(&*name)).chain(numbered);
            names.find(|name: &Rc<str>| taken.insert(name.clone())).expect("numbers do not end")
        });
        self.zeros = zeros.collect();
    }

    // Types

    pub(crate) fn variant(&self, id: NodeId) -> TypeDef {
        let node = self.library.node(id);
        let mut constructors = Vec::new();
        if self.has_null(id) {
            constructors.push((build::name(self.null(id)), Vec::new()));
        }
        for tag in self.tags(id) {
            let Ok(tag) = u32::try_from(tag) else { continue };
            let constructor = &node.constructors[tag as usize];
            let fields = constructor.fields.iter();
            // Each value has its own sizes, so the types of fields leave them open.
            let mut fields: Vec<TypeExpr> = fields.map(|f| self.ty(&f.ty, &|_| None)).collect();
            if self.own_sizes.contains(&id) {
                let of_itself = Ty { elem: Elem::Ref(id), dims: vec![Atom::Var(Var(0))] };
                fields.push(self.ty(&of_itself, &|_| None));
            }
            constructors.push((build::name(self.constructor(id, tag)), fields));
        }
        TypeDef {
            doc: None,
            name: build::name(self.node(id)),
            sizes: Vec::new(),
            params: Vec::new(),
            body: TypeBody::Variant(constructors),
            span: Span::default(),
        }
    }

    fn node(&self, id: NodeId) -> Rc<str> {
        lambada_anf::identifier(&self.labels.node(id)).into()
    }

    /// The name of a constructor. Constructors of all types share one namespace, so the type is
    /// added to a name that another constructor has.
    pub(crate) fn constructor(&self, id: NodeId, tag: u32) -> Rc<str> {
        if let Some(declared) = self.declared(id) {
            return declared.constructors[tag as usize].0.clone();
        }
        let name = self.labels.constructor(id, tag).unwrap_or("C");
        let mut chars = name.chars();
        let first = chars.next().map(|c| c.to_ascii_uppercase());
        let name: String = first.into_iter().chain(chars).collect();
        let alike = |(id, node): &(NodeId, &lambada_anf::NodeType)| {
            let mut all = node.constructors.iter().zip(0..);
            all.any(|(c, tag)| c.name.eq_ignore_ascii_case(&name) && self.is_made(*id, tag))
        };
        let nodes = (0..).map(NodeId).zip(&self.library.nodes);
        if nodes.filter(alike).count() > 1 {
            return format!("{name}_{}", self.labels.node(id)).into();
        }
        name.into()
    }

    pub(crate) fn function(&self, id: FnId) -> Rc<str> {
        lambada_anf::identifier(&self.labels.function(id)).into()
    }

    /// How the text calls a function that people know.
    pub(crate) fn known(&self, id: FnId) -> Option<&Known> {
        self.library.function(id)?.known.as_ref()
    }

    /// The name in the text of a function that it defines because others are given it.
    pub(crate) fn function_known_as(&self, name: &str) -> Option<Rc<str>> {
        Some(self.function(self.library.defined(name)?))
    }

    pub(crate) fn ty(&self, ty: &Ty, size: &dyn Fn(Atom) -> Option<Expr>) -> TypeExpr {
        let elem = self.elem(ty.elem);
        ty.dims.iter().rev().fold(elem, |elem, dim| {
            let size = match dim {
                Atom::Lit(Scalar::Int(k)) => Some(build::int(*k)),
                Atom::Lit(_) | Atom::Var(_) => size(*dim),
            };
            build::ty(TypeKind::Array(size.map(Box::new), Box::new(elem)))
        })
    }

    /// The type of a scalar or of a handle.
    pub(crate) fn elem(&self, elem: Elem) -> TypeExpr {
        match elem {
            Elem::Scalar(elem) => build::named_ty(elem.to_string()),
            Elem::Ref(node) => {
                let declared = self.declared(node).map(|declared| declared.ty.clone());
                declared.unwrap_or_else(|| build::named_ty(self.node(node)))
            }
        }
    }

    // Nodes

    /// `C x y`
    pub(crate) fn made(&self, id: NodeId, tag: u32, mut fields: Vec<Expr>, fresh: Fresh) -> Expr {
        if let Some(declared) = self.declared(id) {
            return declared.made(tag, &fields, fresh);
        }
        if self.own_sizes.contains(&id) {
            fields.push(build::expr(ExprKind::Array(Vec::new())));
        }
        let head = con(self.constructor(id, tag));
        if fields.is_empty() { head } else { build::call(head, fields) }
    }

    /// The fields that are indexed to make a node: the parts of an array of tuples or records.
    pub(crate) fn indexed(&self, id: NodeId, tag: u32) -> Vec<usize> {
        self.declared(id).map_or_else(Vec::new, |declared| declared.indexed(tag))
    }

    fn pattern(&self, id: NodeId, tag: i64, fields: Vec<Pattern>) -> Pattern {
        let name = match u32::try_from(tag) {
            Ok(tag) => self.constructor(id, tag),
            Err(_) => self.null(id),
        };
        build::pattern(PatternKind::Con(build::name(name), fields))
    }

    /// The constructor as a pattern that names some of its fields.
    pub(crate) fn binding(&self, id: NodeId, tag: i64, names: &HashMap<u32, Rc<str>>) -> Pattern {
        if let (Some(declared), Ok(tag)) = (self.declared(id), u32::try_from(tag)) {
            let name = build::name(self.constructor(id, tag));
            return build::pattern(PatternKind::Con(name, declared.patterns(tag, names)));
        }
        let fields = u32::try_from(tag).map_or(0, |tag| {
            let own = self.library.node(id).constructors[tag as usize].fields.len() as u32;
            own + u32::from(self.own_sizes.contains(&id))
        });
        let field = |k| match names.get(&k) {
            Some(name) => build::binds(name.clone()),
            None => build::pattern(PatternKind::Wildcard),
        };
        self.pattern(id, tag, (0..fields).map(field).collect())
    }

    /// Whether null is a value of the type. It is the only value of a type of functions of which
    /// the program makes none.
    fn has_null(&self, id: NodeId) -> bool {
        self.nullable.contains(&id) || self.library.node(id).constructors.is_empty()
    }

    /// Whether a node may have the constructor. Types defined in the text keep all constructors.
    fn is_made(&self, id: NodeId, tag: u32) -> bool {
        // A type needs at least one constructor.
        let empty = || {
            let count = self.library.node(id).constructors.len() as u32;
            !self.has_null(id) && (0..count).all(|tag| !self.made.contains(&(id, tag)))
        };
        self.declared(id).is_some() || self.made.contains(&(id, tag)) || empty()
    }

    /// The tags that a node may have, null included.
    pub(crate) fn tags(&self, id: NodeId) -> Vec<i64> {
        let count = self.library.node(id).constructors.len() as u32;
        let nullable = self.has_null(id) && self.declared(id).is_none();
        let first = if nullable { -1 } else { 0 };
        let made = (0..count).filter(|tag| self.is_made(id, *tag)).map(i64::from);
        (first..0).chain(made).collect()
    }

    /// `match h | C0 -> 0 | C1 _ -> 1`
    pub(crate) fn tag(&self, id: NodeId, of: Expr) -> Expr {
        let arm = |tag: i64| {
            build::arm(
                self.binding(id, tag, &HashMap::new()),
                build::annotated(build::int(tag), build::named_ty("int")),
            )
        };
        build::match_(of, self.tags(id).into_iter().map(arm).collect())
    }

    /// `match h | C _ x -> x | _ -> zero`
    pub(crate) fn part(
        &self,
        id: NodeId,
        of: Expr,
        (tag, field): (u32, u32),
        name: Rc<str>,
        zero: Expr,
        fresh: Fresh,
    ) -> Expr {
        if !self.is_made(id, tag) {
            return zero;
        }
        let (bound, body) = self.reading(id, tag, field, name.clone(), fresh);
        let names = HashMap::from([(bound, name)]);
        let mut arms = vec![build::arm(self.binding(id, tag.into(), &names), body)];
        if self.tags(id).len() > 1 {
            arms.push(build::arm(build::pattern(PatternKind::Wildcard), zero));
        }
        build::match_(of, arms)
    }

    /// The field that a pattern binds so that this one can be read.
    pub(crate) fn bound(&self, id: NodeId, tag: u32, field: u32) -> u32 {
        let path = self.declared(id).and_then(|declared| declared.path(tag, field));
        path.map_or(field, |path| path.bound)
    }

    /// The field that a pattern binds so that this one can be read, and the reading: a size is read
    /// from its array.
    pub(crate) fn reading(
        &self,
        id: NodeId,
        tag: u32,
        field: u32,
        name: Rc<str>,
        fresh: Fresh,
    ) -> (u32, Expr) {
        let named = build::var(name);
        let path = self.declared(id).and_then(|declared| declared.path(tag, field));
        let Some(path) = path else { return (field, named) };
        let array = path.size.map_or(field, |size| size.array);
        let elem = self.library.node(id).constructors[tag as usize].fields[array as usize].ty.elem;
        (path.bound, path.read(named, (self.elem(elem), &self.zero(elem)), fresh))
    }

    /// Whether the field is a size that is read from its array.
    pub(crate) fn is_size(&self, id: NodeId, tag: u32, field: u32) -> bool {
        let path = self.declared(id).and_then(|declared| declared.path(tag, field));
        path.is_some_and(|path| path.size.is_some())
    }

    /// The value that stands for a part of null.
    pub(crate) fn zero(&self, elem: Elem) -> Expr {
        match elem {
            Elem::Ref(node) => {
                self.asked.borrow_mut().insert(node);
                self.nothing(node)
            }
            Elem::Scalar(ScalarTy::Int) => build::annotated(build::int(0), build::named_ty("int")),
            Elem::Scalar(ScalarTy::Real) => build::real(0.0),
            Elem::Scalar(ScalarTy::Bool) => build::expr(ExprKind::Bool(false)),
        }
    }
}

/// A constructor as an expression.
fn con(name: Rc<str>) -> Expr {
    build::expr(ExprKind::Con(name))
}

/// The fields of a constructor that a block reads, with the first variable bound to each.
pub(crate) fn fields_read(block: &Block, of: Var, tag: u32) -> Vec<(u32, Var)> {
    let mut found: Vec<(u32, Var)> = Vec::new();
    block.each(&mut |stm: &Stm| {
        if let Exp::Op(Op::Field { of: Atom::Var(node), tag: own, field }) = &stm.exp
            && (*node, *own) == (of, tag)
            && !found.iter().any(|(known, _)| known == field)
        {
            found.push((*field, stm.binds[0].var));
        }
    });
    found
}

/// Facts about handles while a definition is printed.
#[derive(Default)]
pub(crate) struct Handles {
    /// The types of the nodes.
    pub(crate) types: HashMap<Var, NodeId>,
    /// Tags, with their handles.
    pub(crate) tags: HashMap<Var, Var>,
    /// Conditions that test whether a handle has, or has not, a constructor.
    pub(crate) tests: HashMap<Var, (Var, i64, bool)>,
    /// Expressions for fields, mostly names, by handle, constructor and field, inside the arm that
    /// has matched it.
    pub(crate) fields: HashMap<(Var, u32, u32), Expr>,
    /// Constructors excluded for a handle, in the arms for the others.
    pub(crate) excluded: HashMap<Var, HashSet<i64>>,
    /// The handle whose match absorbs the arms of the next match, if that is on the same handle.
    pub(crate) spliced: Option<Var>,
}

impl Handles {
    /// The expression of a field that a pattern has bound.
    pub(crate) fn field(&self, of: Var, tag: u32, field: u32) -> Option<Expr> {
        self.fields.get(&(of, tag, field)).cloned()
    }

    /// Records a comparison of a tag with a constant; whether it is one.
    pub(crate) fn test(&mut self, var: Var, op: Prim, args: &[Atom]) -> bool {
        let holds = match op {
            Prim::EqInt => true,
            Prim::NeInt => false,
            _ => return false, // no comparison for equality
        };
        let (tag, constant) = match args {
            [Atom::Var(tag), Atom::Lit(Scalar::Int(k))]
            | [Atom::Lit(Scalar::Int(k)), Atom::Var(tag)] => (tag, *k),
            _ => return false,
        };
        let of = self.tags.get(tag).copied();
        self.tests.extend(of.map(|of| (var, (of, constant, holds))));
        of.is_some()
    }
}
