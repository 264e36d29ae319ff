//! Typed trees to core, for one entry: Γ ⊢ e : τ at fixed types becomes Γ ⊢ t : τ without
//! overloads, polymorphism or nested patterns.
//!
//! *Assumes*: inference has found no problem.
//! *Gives*: a monomorphic program that `lambada_core::check` accepts; each definition once for
//! every combination of types at which it is used.
//! *Keeps*: the meaning: every size equation that is not evident is a check, every operand is
//! evaluated once.
//!
//! A library definition that can fail is specialized separately for each use, so that a failure
//! inside it blames the place of the use.

mod arrays;
mod builtins;
mod chains;
mod clauses;
mod elementwise;
mod equality;
mod expr;
mod functions;
mod matches;
mod ravel;
mod recursion;
mod rules;
mod shapes;
mod signature;
mod spine;

use std::collections::HashMap;
use std::rc::Rc;

use lambada_core::{self as core, Def, DefId, Program, Term, TermKind, Ty, TypeDecl, TypeId, Var};
use lambada_source::Span;

use crate::Elaborated;
use crate::solve::defaults::DefaultInstance;
use crate::solve::ty::{self as solve, Node, VariantId};
use crate::typed::{FunctionId, GlobalId, LocalId};
use shapes::Shapes;

/// A definition at fixed types, for one use if it can fail.
type Key = (GlobalId, Vec<Ty>, Option<Span>);

/// The state of specialization.
pub(crate) struct Specialize<'e> {
    from: &'e Elaborated,
    /// Without definitions until [`Specialize::ordered`] adds them.
    program: Program,
    /// The definitions; `None` while a definition is being written.
    defs: Vec<Option<Def>>,
    /// The finished definitions, in order.
    finished: Vec<DefId>,
    /// Recursive definitions being written, outermost first.
    started: Vec<(Key, DefId)>,
    instances: HashMap<Key, DefId>,
    types: HashMap<(VariantId, Vec<Ty>), TypeId>,
    /// Number of constructs written so far that can fail.
    failing: usize,
    /// Whether each definition can fail.
    fallible: HashMap<DefId, bool>,
    scope: Scope,
    /// The entry, its types, and its type with sizes.
    entry: (GlobalId, Vec<Ty>, solve::Ty),
}

/// State inside of one definition.
#[derive(Default)]
struct Scope {
    /// Instances of the scheme's unknowns.
    types: HashMap<solve::Ty, Ty>,
    vars: HashMap<LocalId, Var>,
    /// The instances of local functions in use.
    functions: HashMap<FunctionId, Vec<(Vec<Ty>, Var)>>,
    shapes: Shapes,
    /// The place to blame for all failures, inside of the library.
    blame: Option<Span>,
}

impl<'e> Specialize<'e> {
    /// The program of an entry; it is the last definition.
    pub fn program(from: &'e Elaborated, entry: GlobalId, instance: &DefaultInstance) -> Program {
        let mut this = Specialize {
            from,
            program: Program {
                modes_differ: from.modes_differ,
                fields: from.solver.fields.clone(),
                ..Program::default()
            },
            defs: Vec::new(),
            finished: Vec::new(),
            started: Vec::new(),
            instances: HashMap::new(),
            types: HashMap::new(),
            failing: 0,
            fallible: HashMap::new(),
            scope: Scope::default(),
            entry: (entry, Vec::new(), instance.ty),
        };
        let types: Vec<Ty> = instance.args.iter().map(|ty| this.mono(*ty)).collect();
        this.entry.1.clone_from(&types);
        let entry = this.instance(entry, types, None);
        this.ordered(entry)
    }

    /// A definition at types. In the library, `blame` is the place of the use.
    fn instance(&mut self, id: GlobalId, types: Vec<Ty>, blame: Option<Span>) -> DefId {
        for place in [None, blame] {
            if let Some(def) = self.instances.get(&(id, types.clone(), place)) {
                return *def;
            }
        }
        let from = self.from;
        let global = from.global(id);
        let key = (id, types, blame);
        if let Some(k) = self.started.iter().position(|(known, _)| *known == key) {
            // Whether an enclosing definition can fail is not known yet, so the call counts as
            // fallible.
            self.failing += usize::from(k + 1 < self.started.len());
            return self.started[k].1;
        }
        // A recursive definition has a number before it has a body, for its calls.
        let reserved = global.recursive.then(|| self.reserve());
        self.started.extend(reserved.map(|def| (key.clone(), def)));
        let (id, types, blame) = key;
        let vars = global.scheme.vars.iter().copied().zip(types.iter().cloned()).collect();
        let outer =
            std::mem::replace(&mut self.scope, Scope { types: vars, blame, ..Scope::default() });
        let failing = self.failing;
        let body = self.function(&global.function);
        let (entry, at, sized) = &self.entry;
        let ty = if *entry == id && *at == types { *sized } else { global.scheme.ty };
        let signature = self.signature(global, ty, body.ty());
        self.scope = outer;
        let def = reserved.unwrap_or_else(|| self.reserve());
        let (name, span) = (global.name.clone(), global.span);
        self.defs[def.0 as usize] = Some(Def { name, body, signature, span, group: 0 });
        self.finished.push(def);
        if reserved.is_some() {
            self.started.pop();
        }
        let fallible = self.failing > failing;
        self.fallible.insert(def, fallible);
        self.instances.insert((id, types, blame.filter(|_| fallible)), def);
        def
    }

    /// The number of a new definition.
    fn reserve(&mut self) -> DefId {
        self.defs.push(None);
        DefId(self.defs.len() as u32 - 1)
    }

    fn global_term(
        &mut self,
        id: GlobalId,
        args: &[solve::Ty],
        exp_ty: solve::Ty,
        span: Span,
    ) -> Term {
        let types = args.iter().map(|ty| self.mono(*ty)).collect();
        let blame = self.from.global(id).library.then(|| self.span(span));
        let def = self.instance(id, types, blame);
        if self.fallible.get(&def).copied().unwrap_or(false) {
            self.failing += 1;
        }
        let ty = match &self.defs[def.0 as usize] {
            Some(def) => def.body.ty().clone(),
            None => self.mono(exp_ty),
        };
        Term::new(TermKind::Global(def), ty, self.span(span))
    }

    /// The place to blame.
    fn span(&self, span: Span) -> Span {
        self.scope.blame.unwrap_or(span)
    }

    fn fresh(&mut self, hint: &str, ty: Ty) -> Var {
        self.program.fresh(hint, ty)
    }

    /// A new variable for a local of the typed tree.
    fn declare(&mut self, local: LocalId) -> Var {
        let info = &self.from.locals[local.0 as usize];
        let ty = self.mono(info.ty);
        let var = self.program.fresh(&info.name, ty);
        self.scope.vars.insert(local, var.clone());
        var
    }

    fn local(&self, local: LocalId) -> &Var {
        self.scope.vars.get(&local).expect("a local is declared before it is mentioned")
    }

    /// A type with all unknowns decided.
    fn mono(&mut self, ty: solve::Ty) -> Ty {
        let solver = &self.from.solver;
        let root = solver.root(ty);
        match solver.get(root) {
            Node::Unknown(unknown) => {
                self.scope.types.get(&root).cloned().unwrap_or(Ty::Scalar(unknown.kind.default()))
            }
            Node::Link(_) => unreachable!("`get` follows links"),
            Node::Scalar(scalar) => Ty::Scalar(*scalar),
            Node::Error => Ty::unit(),
            Node::Tuple(items) => {
                let items: Vec<Ty> = items.iter().map(|ty| self.mono(*ty)).collect();
                Ty::tuple(items)
            }
            Node::Record(fields) => {
                let fields: Vec<(Rc<str>, Ty)> =
                    fields.iter().map(|(name, ty)| (name.clone(), self.mono(*ty))).collect();
                Ty::Record(fields.into())
            }
            Node::Array(_, elem) => Ty::array(self.mono(*elem)),
            Node::Fun(from, to) => Ty::fun(self.mono(*from), self.mono(*to)),
            Node::Variant(id, args) => {
                let args = args.iter().map(|ty| self.mono(*ty)).collect();
                Ty::Variant(self.variant(*id, args))
            }
        }
    }

    /// A variant type at fixed arguments.
    fn variant(&mut self, id: VariantId, args: Vec<Ty>) -> TypeId {
        if let Some(known) = self.types.get(&(id, args.clone())) {
            return *known;
        }
        let variant = self.from.solver.variant(id);
        let shown: Vec<String> = args.iter().map(|ty| self.type_argument(ty)).collect();
        let name =
            std::iter::once(variant.name.to_string()).chain(shown).collect::<Vec<_>>().join(" ");
        // Registered before its fields, because it may contain itself.
        let type_id = TypeId(self.program.types.len() as u32);
        self.program.types.push(TypeDecl { name: name.into(), ..TypeDecl::default() });
        self.types.insert((id, args.clone()), type_id);
        let outer = self.scope.types.clone();
        self.scope.types.extend(variant.params.iter().copied().zip(args));
        let constructors: Vec<(Rc<str>, Vec<Ty>)> = variant
            .constructors
            .iter()
            .map(|(name, fields)| (name.clone(), fields.iter().map(|ty| self.mono(*ty)).collect()))
            .collect();
        let mut written = Vec::new();
        if !variant.sizes.is_empty() {
            for ((_, types), (_, fields)) in variant.constructors.iter().zip(&constructors) {
                let pairs = types.iter().zip(fields);
                written.push(pairs.map(|(ty, core)| self.sized_by_name(*ty, core)).collect());
            }
        }
        self.scope.types = outer;
        let decl = &mut self.program.types[type_id.0 as usize];
        decl.constructors = constructors;
        decl.sizes = variant.sizes.iter().map(|(name, _)| name.clone()).collect();
        decl.written = written;
        type_id
    }

    fn type_argument(&self, ty: &Ty) -> String {
        let text = core::print_type(&self.program, ty);
        if text.contains(' ') && !text.starts_with(['(', '{', '[']) {
            format!("({text})")
        } else {
            text
        }
    }

    /// The number of axes.
    fn rank(ty: &Ty) -> usize {
        let mut rank = 0;
        let mut at = ty;
        while let Ty::Array(elem) = at {
            rank += 1;
            at = elem;
        }
        rank
    }

    /// The term with another span.
    fn at(&self, term: Term, span: Span) -> Term {
        Term::new(term.kind().clone(), term.ty().clone(), self.span(span))
    }
}
