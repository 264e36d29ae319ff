//! The partial evaluator: `ρ ⊢ t ⇓ v`, where `v` is symbolic and the code that computes its leaves
//! is appended to the open block. One arm per construct; each group of constructs has a file of
//! functions.
//!
//! Owners: [`Emit`] the code, [`Env`] the environment, [`Codes`] the functions of the program,
//! [`Library`] the functions and nodes made of them. Methods of [`Evaluator`] serve every
//! construct, or need each other: terms, branches, application, calls, and functions that only run
//! time knows.

mod accumulate;
mod arrays;
mod calls;
mod carried;
mod cells;
mod changing;
mod codes;
mod control;
mod derivatives;
mod dynamic;
mod env;
mod functions;
mod growth;
mod inspect;
mod leaves;
mod library;
mod loops;
pub(crate) mod nodes;
mod order;
pub(crate) mod outputs;
mod pullbacks;
mod rules;
mod shared;
pub(crate) mod sketches;
pub(crate) mod slots;
mod state;
pub(crate) mod trees;
mod unroll;

use std::collections::HashSet;
use std::rc::Rc;

use control::is_never;
use lambada_anf::{Atom, Derivatives};
use lambada_core::{DefId, OPERAND, Program, Term, TermKind, Ty, Var};
use lambada_source::{FileId, Problem, Site, stack};

use crate::emit::Emit;
use crate::layout::Layout;
use crate::types::Types;
use crate::val::{Leaf, NodeVal, Val};
use crate::{Eval, ill_typed};
use codes::Codes;
use derivatives::Forward;
use env::Env;
use growth::Growth;
use library::Library;
use loops::Directions;
use unroll::Unrolled;

/// The name of a term's value, if a `let` binds it.
type Hint<'h> = Option<&'h Rc<str>>;

/// The evaluator: the environment, and the code under construction.
pub(crate) struct Evaluator<'a> {
    pub program: &'a Program,
    derivatives: &'a dyn Derivatives,
    /// Whether people read the code: cases then stay in the order of the source.
    pub for_people: bool,
    pub emit: Emit,
    codes: Codes,
    local: Local,
    /// Forward sweeps with unused cells.
    sweeps: Vec<pullbacks::Sweep>,
    /// States of loops inside the one under construction.
    found: state::Found,
    pub types: Types,
    library: Library,
    /// The definitions that are called as if recursive.
    pub repeated: HashSet<DefId>,
    /// The number of enclosing functions under trace, whose derivatives follow.
    derivatives_around: usize,
    /// Whether all code of known end is written out, because the order of derivatives depends on
    /// it.
    by_order: bool,
    growth: Growth,
    /// The place and layout of each inspection, by number.
    pub inspections: Vec<(Site, Layout)>,
    /// The entry's file, whose author chose the names.
    file: FileId,
}

/// State of the function under construction, the entry or one of the library.
#[derive(Default)]
struct Local {
    env: Env,
    /// Derivatives placed so far, except those in finished `for`s over directions.
    directions: Directions,
    /// The number of the function.
    home: usize,
    unrolled: Unrolled,
}

impl<'a> Evaluator<'a> {
    /// An evaluator with an empty body open.
    pub fn new(program: &'a Program, derivatives: &'a dyn Derivatives) -> Evaluator<'a> {
        let mut emit = Emit::with(program.precision);
        emit.enter();
        Evaluator {
            program,
            derivatives,
            for_people: false,
            emit,
            codes: Codes::default(),
            local: Local::default(),
            sweeps: Vec::new(),
            found: state::Found::default(),
            types: Types::of(program),
            library: Library::default(),
            repeated: HashSet::new(),
            derivatives_around: 0,
            by_order: false,
            growth: Growth::default(),
            inspections: Vec::new(),
            file: FileId::default(),
        }
    }

    /// Whether a function known at run time only was differentiated before it was found.
    pub fn is_late(&self) -> bool {
        self.library.is_late()
    }

    /// An evaluator that writes out all code of known end.
    pub fn by_order(program: &'a Program, derivatives: &'a dyn Derivatives) -> Evaluator<'a> {
        Evaluator { by_order: true, ..Evaluator::new(program, derivatives) }
    }

    /// A new evaluator that knows from the start which functions only run time knows.
    pub fn again(self) -> Evaluator<'a> {
        let mut new = Evaluator {
            for_people: self.for_people,
            repeated: self.repeated,
            by_order: self.by_order,
            ..Evaluator::new(self.program, self.derivatives)
        };
        new.library = self.library.again(&|number| self.codes.of(number).var().is_some());
        new.codes = self.codes.again();
        new
    }

    /// Whether a derivative may follow. A function of the library may be called where one does.
    fn may_be_differentiated(&self) -> bool {
        self.derivatives_around > 0 || self.library.is_open()
    }

    // Environment

    /// Binds a variable until the scope ends. A scalar is read now, so that it is read only once.
    pub fn bind(&mut self, var: &Var, value: Val) {
        let value = self.settle(value);
        self.local.env.bind(var, value);
    }

    fn settle(&mut self, value: Val) -> Val {
        if let Val::Leaf(leaf) = &value
            && !leaf.prefix.is_empty()
        {
            return Val::scalar(self.emit.force(leaf));
        }
        if let Val::Node(node) = &value
            && !node.handle.prefix.is_empty()
        {
            let atom = self.emit.force(&node.handle);
            let handle = Leaf { atom, prefix: Vec::new(), ..node.handle.clone() };
            return Val::Node(Rc::new(NodeVal { handle, ..(**node).clone() }));
        }
        value
    }

    /// Runs `inside`, and drops its bindings afterwards.
    fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        let mark = self.local.env.mark();
        let result = inside(self)?;
        self.local.env.forget_to(mark);
        Ok(result)
    }

    fn lookup(&self, var: &Var) -> Eval<Val> {
        self.local.env.lookup(var)
    }

    // Terms

    /// The value of a term.
    pub fn eval(&mut self, term: &Term, hint: Hint) -> Eval<Val> {
        let mut term = term;
        // A loop in place of recursion, because spines may be long.
        loop {
            if let TermKind::Let(x, t, s) = term.kind() {
                let named = Some(&x.hint).filter(|hint| &***hint != OPERAND);
                let value = self.eval(t, named)?;
                self.growth.name(&value, &x.hint);
                if named.is_some() && t.span().file == self.file {
                    state::name_value(self, x, &value);
                }
                self.emit.hint = named.cloned();
                self.bind(x, value);
                self.emit.hint = None;
                term = s;
            } else if let TermKind::LetRec(functions, body) = term.kind() {
                self.let_rec(functions)?;
                term = body;
            } else if let TermKind::Check { cond, site, values, body } = term.kind() {
                self.check(cond, site, values)?;
                term = body;
            } else {
                let around = self.emit.names.come_from(term.span());
                let value = stack::deeper(|| self.node(term, hint));
                self.emit.names.come_from(around);
                return value.map_err(|problem| place(problem, term));
            }
        }
    }

    fn check(&mut self, cond: &Term, site: &Site, values: &[Term]) -> Eval<()> {
        let cond = self.scalar(cond)?;
        if cond != Atom::bool(true) {
            let values = self.scalars(values)?;
            self.emit.check_at(cond, site, values);
        }
        Ok(())
    }

    fn node(&mut self, term: &Term, hint: Hint) -> Eval<Val> {
        let span = term.span();
        match term.kind() {
            TermKind::Var(x) => self.lookup(x),
            TermKind::Global(id) => self.global(*id),
            TermKind::Lit(value) => {
                Ok(Val::scalar(Atom::Lit(self.emit.names.precision().scalar(*value))))
            }
            TermKind::Never => Ok(self.absent(term.ty())),
            TermKind::Lam(x, body) => self.lambda(x, body),
            TermKind::App(..) => self.application(term, hint),
            TermKind::Tuple(items) => Ok(Val::tuple(
                items.iter().map(|t| self.eval(t, hint)).collect::<Eval<Vec<Val>>>()?,
            )),
            TermKind::Proj(t, k) => {
                self.eval(t, None)?.as_tuple()?.get(*k).cloned().ok_or_else(ill_typed)
            }
            TermKind::Con(tag, args) => self.construct(*tag, args, term.ty(), hint),
            TermKind::Match(t, arms) => self.match_(t, arms, term.ty(), hint),
            TermKind::If(_, t, s) if is_never(s) => self.eval(t, hint),
            TermKind::If(_, t, s) if is_never(t) => self.eval(s, hint),
            TermKind::If(c, t, s) => {
                let cond = self.scalar(c)?;
                self.branch(cond, hint, &mut |this, holds| {
                    this.eval(if holds { t } else { s }, hint)
                })
            }
            TermKind::Prim(op, args) => {
                let args = self.scalars(args)?;
                self.named(hint, |this| Ok(Val::scalar(this.emit.prim(*op, &args))))
            }
            TermKind::Array(items) => arrays::literal(self, items, term.ty(), span, hint),
            TermKind::For(i, n, body) => loops::for_(self, i, n, body, span, hint),
            TermKind::Dim(t, axis) => arrays::dim(self, t, *axis),
            TermKind::Index(t, at) => arrays::index(self, t, at, span, hint),
            TermKind::Update(t, at, value) => cells::update(self, t, at, value, span, hint),
            TermKind::Reduce(op, t) => arrays::reduce(self, *op, t, hint),
            TermKind::Inspect(site, t) => {
                let value = self.eval(t, hint)?;
                inspect::inspect(self, site, &value, t.ty())?;
                Ok(value)
            }
            TermKind::ArrayPrim(prim, args) => arrays::contraction(self, *prim, args, span, hint),
            TermKind::Loop { state, init, kind, body } => {
                state::loop_(self, state, init, kind, body, span)
            }
            TermKind::Accumulate { acc, init, body } => {
                accumulate::accumulate(self, acc, init, body)
            }
            TermKind::Add { acc, index, value } => accumulate::add(self, acc, index, value, span),
            TermKind::Jvp(f, x, dx) => {
                let ty = &term.ty().components()[0];
                derivatives::forward(self, f, x, dx, ty, span, Forward::Tangent).map(Val::tuple)
            }
            TermKind::Reach(f, x, marks) => {
                let ty = term.ty();
                let pair = derivatives::forward(self, f, x, marks, ty, span, Forward::Marks);
                pair.map(|[_, reached]| reached)
            }
            TermKind::Band(f, x) => derivatives::band(self, f, x, span),
            TermKind::Vjp(f, x) => derivatives::vjp(self, f, x, term.ty(), span),
            TermKind::Ruled(_) => rules::function_with_rules(self, term),
            TermKind::Let(..) | TermKind::LetRec(..) | TermKind::Check { .. } => {
                self.eval(term, hint)
            }
        }
    }

    /// The value of a scalar term.
    fn scalar(&mut self, term: &Term) -> Eval<Atom> {
        let value = self.eval(term, None)?;
        self.atom(&value)
    }

    fn scalars(&mut self, terms: &[Term]) -> Eval<Vec<Atom>> {
        terms.iter().map(|t| self.scalar(t)).collect()
    }

    /// A scalar value as an atom.
    fn atom(&mut self, value: &Val) -> Eval<Atom> {
        let leaf = value.as_leaf()?;
        if leaf.axes.is_empty() { Ok(self.emit.force(leaf)) } else { Err(ill_typed()) }
    }

    /// Emits under a name, which the first statement that takes one gets.
    fn named<T>(&mut self, hint: Hint, emit: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        self.emit.hint = hint.cloned();
        let result = emit(self);
        self.emit.hint = None;
        result
    }

    fn construct(&mut self, tag: usize, args: &[Term], ty: &Ty, hint: Hint) -> Eval<Val> {
        let Ty::Variant(id) = ty else { return Err(ill_typed()) };
        if self.types.is_recursive(*id) {
            let args = args.iter().map(|t| self.eval(t, None)).collect::<Eval<Vec<Val>>>()?;
            return nodes::make_node(self, *id, tag, args, hint);
        }
        let mut fields = vec![None; self.program.type_decl(*id).constructors.len()];
        fields[tag] = Some(args.iter().map(|t| self.eval(t, hint)).collect::<Eval<Vec<Val>>>()?);
        Ok(Val::variant(Leaf::scalar(Atom::int(tag as i64)), fields))
    }
}

/// The problem, placed at the innermost term that caused it.
fn place(mut problem: Box<Problem>, term: &Term) -> Box<Problem> {
    if problem.labels.is_empty() {
        problem.labels.push(lambada_source::Label { span: term.span(), text: String::new() });
    }
    problem
}
