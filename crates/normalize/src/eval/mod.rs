//! The partial evaluator: `ρ ⊢ t ⇓ v`, where `v` is symbolic and the code that computes its leaves is appended to the block that is
//! open. One arm per construct; each group of constructs has a file.

mod accumulate;
mod arrays;
mod cells;
mod control;
mod derivatives;
mod functions;
mod growth;
mod loops;
mod state;

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{Atom, Derivatives};
use lambada_core::{DefId, OPERAND, Program, Term, TermKind, Var};
use lambada_source::{FileId, Problem, stack};

use crate::Eval;
use crate::emit::Emit;
use crate::merge::ill_typed;
use crate::messages;
use crate::val::{Code, Leaf, Val, VariantVal};
use growth::Growth;

/// What the value of a term is called, if a `let` names it.
type Hint<'h> = Option<&'h Rc<str>>;

/// The evaluator: the environment, and the code under construction.
pub(crate) struct Evaluator<'a> {
    pub program: &'a Program,
    derivatives: &'a dyn Derivatives,
    pub emit: Emit,
    /// The value of each variable of core, as the innermost scope sees it.
    slots: Vec<Option<Val>>,
    /// What to restore when a scope ends.
    trail: Vec<(u32, Option<Val>)>,
    /// The code of each λ, by its variable.
    codes: HashMap<u32, Rc<Code>>,
    /// The codes of pullbacks.
    pullbacks: Vec<Rc<Code>>,
    /// How many forward derivatives have been placed, those of finished `for`s over directions not counted.
    tangents: usize,
    numbers: i64,
    constants: HashMap<DefId, Val>,
    growth: Growth,
    /// Whose author's names are used: the entry's.
    file: FileId,
}

impl<'a> Evaluator<'a> {
    /// An evaluator with an empty body open.
    pub fn new(program: &'a Program, derivatives: &'a dyn Derivatives) -> Evaluator<'a> {
        let mut emit = Emit::default();
        emit.enter();
        let slots = vec![None; program.next_var as usize];
        let (trail, codes, pullbacks, constants) =
            (Vec::new(), HashMap::new(), Vec::new(), HashMap::new());
        Evaluator {
            program,
            derivatives,
            emit,
            slots,
            trail,
            codes,
            pullbacks,
            tangents: 0,
            numbers: 0,
            constants,
            growth: Growth::default(),
            file: FileId::default(),
        }
    }

    // Environment

    /// Binds a variable until the scope ends. A scalar is read now, so that it is read once.
    pub fn bind(&mut self, var: &Var, value: Val) {
        let value = self.settle(value);
        let k = var.id as usize;
        if self.slots.len() <= k {
            self.slots.resize(k + 1, None);
        }
        self.trail.push((var.id, self.slots[k].replace(value)));
    }

    fn settle(&mut self, value: Val) -> Val {
        match value {
            Val::Leaf(leaf) if !leaf.prefix.is_empty() => Val::scalar(self.emit.force(&leaf)),
            Val::Leaf(_)
            | Val::Tuple(_)
            | Val::Array(_)
            | Val::Variant(_)
            | Val::Fun(_)
            | Val::Acc(_) => value,
        }
    }

    /// Runs `inside`, and forgets what it binds.
    fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        let mark = self.trail.len();
        let result = inside(self)?;
        while self.trail.len() > mark {
            let (id, old) = self.trail.pop().expect("the trail is longer than the mark");
            self.slots[id as usize] = old;
        }
        Ok(result)
    }

    fn lookup(&self, var: &Var) -> Eval<Val> {
        self.slots.get(var.id as usize).cloned().flatten().ok_or_else(ill_typed)
    }

    // Terms

    /// The value of a term.
    pub fn eval(&mut self, term: &Term, hint: Hint) -> Eval<Val> {
        let mut term = term;
        loop {
            match term.kind() {
                TermKind::Let(x, t, s) => {
                    let named = Some(&x.hint).filter(|hint| &***hint != OPERAND);
                    let value = self.eval(t, named)?;
                    self.growth.name(&value, &x.hint);
                    if named.is_some() && t.span().file == self.file {
                        self.name_value(x, &value);
                    }
                    self.emit.hint = named.cloned();
                    self.bind(x, value);
                    self.emit.hint = None;
                    term = s;
                }
                TermKind::Check { cond, site, values, body } => {
                    let cond = self.scalar(cond)?;
                    if cond != Atom::bool(true) {
                        let values = self.scalars(values)?;
                        self.emit.check_at(cond, site, values);
                    }
                    term = body;
                }
                TermKind::Var(_)
                | TermKind::Global(_)
                | TermKind::Lit(_)
                | TermKind::Lam(..)
                | TermKind::App(..)
                | TermKind::LetRec(..)
                | TermKind::Tuple(_)
                | TermKind::Proj(..)
                | TermKind::Con(..)
                | TermKind::Match(..)
                | TermKind::If(..)
                | TermKind::Prim(..)
                | TermKind::Array(_)
                | TermKind::For(..)
                | TermKind::Dim(..)
                | TermKind::Index(..)
                | TermKind::Update(..)
                | TermKind::Reduce(..)
                | TermKind::MatMul(..)
                | TermKind::Loop { .. }
                | TermKind::Accumulate { .. }
                | TermKind::Add { .. }
                | TermKind::Jvp(..)
                | TermKind::Vjp(..) => {
                    let around = self.emit.names.come_from(term.span());
                    let value = stack::deeper(|| self.node(term, hint));
                    self.emit.names.come_from(around);
                    return value.map_err(|problem| place(problem, term));
                }
            }
        }
    }

    fn node(&mut self, term: &Term, hint: Hint) -> Eval<Val> {
        let span = term.span();
        match term.kind() {
            TermKind::Var(x) => self.lookup(x),
            TermKind::Global(id) if self.program.is_recursive(*id) => {
                let name = format!("`{}`", self.program.def(*id).name);
                Err(messages::not_compiled(&name).into())
            }
            TermKind::Global(id) => self.global(*id),
            TermKind::Lit(value) => Ok(Val::scalar(Atom::Lit(*value))),
            TermKind::Lam(x, body) => self.lambda(x, body),
            TermKind::App(..) => self.application(term, hint),
            TermKind::LetRec(..) => Err(messages::not_compiled("this `let rec`").into()),
            TermKind::Tuple(items) => Ok(Val::tuple(
                items.iter().map(|t| self.eval(t, hint)).collect::<Eval<Vec<Val>>>()?,
            )),
            TermKind::Proj(t, k) => match self.eval(t, None)? {
                Val::Tuple(items) => items.get(*k).cloned().ok_or_else(ill_typed),
                Val::Leaf(_) | Val::Array(_) | Val::Variant(_) | Val::Fun(_) | Val::Acc(_) => {
                    Err(ill_typed())
                }
            },
            TermKind::Con(tag, args) => self.construct(*tag, args, term.ty(), hint),
            TermKind::Match(t, arms) => self.match_(t, arms, term.ty(), hint),
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
            TermKind::Array(items) => self.literal(items, term.ty(), span, hint),
            TermKind::For(i, n, body) => self.for_(i, n, body, span, hint),
            TermKind::Dim(t, axis) => self.dim(t, *axis),
            TermKind::Index(t, at) => self.index(t, at, span, hint),
            TermKind::Update(t, at, value) => self.update(t, at, value, span, hint),
            TermKind::Reduce(op, t) => self.reduce(*op, t, hint),
            TermKind::MatMul(a, b) => self.matmul(a, b, span, hint),
            TermKind::Loop { state, init, kind, body } => self.loop_(state, init, kind, body, span),
            TermKind::Accumulate { acc, init, body } => self.accumulate(acc, init, body),
            TermKind::Add { acc, index, value } => self.add(acc, index, value, span),
            TermKind::Jvp(f, x, dx) => self.jvp(f, x, dx, term.ty(), span),
            TermKind::Vjp(f, x) => self.vjp(f, x, term.ty(), span),
            TermKind::Let(..) | TermKind::Check { .. } => self.eval(term, hint),
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
        match value {
            Val::Leaf(leaf) if leaf.axes.is_empty() => Ok(self.emit.force(leaf)),
            Val::Leaf(_)
            | Val::Tuple(_)
            | Val::Array(_)
            | Val::Variant(_)
            | Val::Fun(_)
            | Val::Acc(_) => Err(ill_typed()),
        }
    }

    /// Emits under a name: the first statement that takes one gets it.
    fn named<T>(&mut self, hint: Hint, emit: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        self.emit.hint = hint.cloned();
        let result = emit(self);
        self.emit.hint = None;
        result
    }

    fn construct(
        &mut self,
        tag: usize,
        args: &[Term],
        ty: &lambada_core::Ty,
        hint: Hint,
    ) -> Eval<Val> {
        let lambada_core::Ty::Variant(id) = ty else { return Err(ill_typed()) };
        let mut fields = vec![None; self.program.type_decl(*id).constructors.len()];
        fields[tag] = Some(args.iter().map(|t| self.eval(t, hint)).collect::<Eval<Vec<Val>>>()?);
        let tag = Leaf::scalar(Atom::int(tag as i64));
        Ok(Val::Variant(Rc::new(VariantVal { tag, fields })))
    }
}

/// The problem, at the innermost term that it arose in.
fn place(mut problem: Box<Problem>, term: &Term) -> Box<Problem> {
    if problem.labels.is_empty() {
        problem.labels.push(lambada_source::Label { span: term.span(), text: String::new() });
    }
    problem
}
