//! Terms to code: variables become slots, functions get their captured variables, curried functions
//! become functions of several parameters.
//!
//! A tuple that is mentioned only by its components is taken apart where it is bound, so that an
//! array in the state of a loop is owned by one slot, and updated in place.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use lambada_prim::ScalarTy;

use super::code::*;
use super::liveness;
use super::shape::Form;
use super::value::Value;
use crate::{Arm, LoopKind, Program, Rule, Term, TermKind, Ty, Var};

/// A closed term as a function without parameters. `moves`: whether the last mention of a variable
/// moves its value out of the slot. `traps`: whether it fails if a NaN is made out of numbers.
pub(crate) fn compile(program: &Program, term: &Term, moves: bool, traps: bool) -> Function {
    let (mentions, scopes) = (mentions(term), vec![Scope::default()]);
    let mut compiler = Compiler { program, moves, traps, mentions, scopes };
    let mut body = compiler.term(term);
    let scope = compiler.scopes.pop().expect("the scope that was opened");
    if moves {
        liveness::mark(&mut [], &mut body, &scope.depths);
    }
    let (params, captures, together) = (Vec::new(), Vec::new(), Vec::new());
    Function { params, captures, together, slots: scope.depths.len(), body, rules: None }
}

/// The mentions of a variable: as a whole, and of components.
#[derive(Default)]
struct Mentions {
    whole: bool,
    components: BTreeSet<usize>,
}

fn mentions(term: &Term) -> HashMap<u32, Mentions> {
    let mut found: HashMap<u32, Mentions> = HashMap::new();
    let mut pending = vec![term];
    while let Some(term) = pending.pop() {
        if let TermKind::Proj(t, k) = term.kind()
            && let TermKind::Var(x) = t.kind()
        {
            found.entry(x.id).or_default().components.insert(*k);
            continue;
        }
        if let TermKind::Var(x) | TermKind::Add { acc: x, .. } = term.kind() {
            found.entry(x.id).or_default().whole = true;
        }
        pending.extend(term.children());
    }
    found
}

/// A variable, or one component of it.
type Key = (u32, Option<usize>);

/// The frame of a function that is being compiled.
#[derive(Default)]
struct Scope {
    slots: HashMap<Key, Slot>,
    /// Variables captured from the function around, with their slots.
    captures: Vec<(Key, Slot)>,
    /// The functions defined together, by their variables; and the mentioned ones, with their
    /// slots.
    members: HashMap<u32, usize>,
    together: Vec<(usize, Slot)>,
    /// Loop depth of each slot's binding.
    depths: Vec<usize>,
    /// The current loop depth.
    depth: usize,
}

struct Compiler<'a> {
    program: &'a Program,
    moves: bool,
    traps: bool,
    mentions: HashMap<u32, Mentions>,
    scopes: Vec<Scope>,
}

impl Compiler<'_> {
    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("a function is being compiled")
    }

    /// A new slot in the current loop.
    fn slot(&mut self, key: Key) -> Slot {
        let scope = self.scope();
        scope.depths.push(scope.depth);
        scope.slots.insert(key, scope.depths.len() - 1);
        scope.depths.len() - 1
    }

    /// The slot of a variable in the `level`-th scope; a variable bound in an outer scope is
    /// captured.
    fn resolve(&mut self, level: usize, key: Key) -> Slot {
        let scope = &mut self.scopes[level];
        if let Some(slot) = scope.slots.get(&key) {
            return *slot;
        }
        assert!(level > 0, "ill-formed core: a variable is not in scope");
        scope.depths.push(0);
        let slot = scope.depths.len() - 1;
        scope.slots.insert(key, slot);
        match scope.members.get(&key.0) {
            Some(member) => scope.together.push((*member, slot)),
            None => scope.captures.push((key, slot)),
        }
        slot
    }

    fn mention(&mut self, key: Key) -> Slot {
        self.resolve(self.scopes.len() - 1, key)
    }

    /// Places for a variable that is being bound.
    fn bind(&mut self, var: &Var) -> Destination {
        let Some(mentions) = self.mentions.get(&var.id) else { return Destination::Nowhere };
        if mentions.whole {
            return Destination::Slot(self.slot((var.id, None)));
        }
        let mentioned = mentions.components.clone();
        let place = |k| mentioned.contains(&k).then(|| self.slot((var.id, Some(k))));
        Destination::Components((0..var.ty.components().len()).map(place).collect())
    }

    /// The slot of a variable that is not taken apart.
    fn bind_slot(&mut self, var: &Var) -> Slot {
        self.slot((var.id, None))
    }

    /// Compiles the inside of a loop.
    fn inside_loop<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.scope().depth += 1;
        let result = inside(self);
        self.scope().depth -= 1;
        result
    }

    fn form(&self, ty: &Ty) -> Form {
        Form::of(self.program, ty)
    }

    fn info(&self, term: &Term, ty: &Ty) -> ForInfo {
        ForInfo { form: self.form(ty), span: term.span() }
    }

    fn boxed(&mut self, term: &Term) -> Box<Code> {
        Box::new(self.term(term))
    }

    fn terms(&mut self, terms: &[Term]) -> Vec<Code> {
        terms.iter().map(|term| self.term(term)).collect()
    }

    fn term(&mut self, term: &Term) -> Code {
        let code = self.untrapped(term);
        let computes = matches!(
            term.kind(),
            TermKind::Prim(..)
                | TermKind::Reduce(..)
                | TermKind::ArrayPrim(..)
                | TermKind::Add { .. }
                | TermKind::App(..)
        );
        if self.traps && computes { Code::Trapped(Box::new(code), term.span()) } else { code }
    }

    fn untrapped(&mut self, term: &Term) -> Code {
        match term.kind() {
            TermKind::Var(x) => Code::Local(self.mention((x.id, None)), false),
            TermKind::Global(id) => Code::Global(id.0 as usize),
            TermKind::Lit(value) => Code::Const(super::real::precision().scalar(*value).into()),
            TermKind::Never => Code::Never(term.ty().clone()),
            TermKind::Lam(..) | TermKind::Ruled(_) => self.lambda(term),
            TermKind::App(..) => self.application(term),
            TermKind::Let(..) | TermKind::LetRec(..) | TermKind::Check { .. } => self.spine(term),
            TermKind::Tuple(items) if items.is_empty() => Code::Const(Value::Unit),
            TermKind::Tuple(items) => Code::Tuple(self.terms(items)),
            TermKind::Proj(t, k) => self.projection(t, *k),
            TermKind::Con(tag, args) => Code::Con(*tag, self.terms(args), term.span()),
            TermKind::Match(t, arms) => {
                let t = self.boxed(t);
                Code::Match(t, arms.iter().map(|arm| self.arm(arm)).collect())
            }
            TermKind::If(c, t, s) => {
                let c = self.boxed(c);
                let branch = |body| Box::new(Branch { drops: Vec::new(), body });
                Code::If(c, branch(self.term(t)), branch(self.term(s)))
            }
            TermKind::Prim(prim, args) => match &args[..] {
                [a] => Code::Prim1(*prim, self.boxed(a)),
                [a, b] => Code::Prim2(*prim, Box::new([self.term(a), self.term(b)])),
                [a, b, c] => {
                    Code::Prim3(*prim, Box::new([self.term(a), self.term(b), self.term(c)]))
                }
                _ => unreachable!("primitives have one to three arguments"),
            },
            TermKind::Array(items) => {
                Code::Array(self.terms(items), Box::new(self.info(term, term.ty().elem())))
            }
            TermKind::For(i, n, body) => {
                let n = self.term(n);
                let (slot, body) = self.inside_loop(|c| (c.bind_slot(i), c.term(body)));
                Code::For(slot, Box::new([n, body]), Box::new(self.info(term, term.ty().elem())))
            }
            TermKind::Dim(xs, axis) => Code::Dim(self.boxed(xs), *axis),
            TermKind::Index(xs, at) => {
                let xs = self.boxed(xs);
                let info = Box::new((self.info(term, term.ty()), term.ty().clone()));
                Code::Index(self.terms(at), xs, info)
            }
            TermKind::Update(xs, at, value) => {
                let info = self.info(term, value.ty());
                let (xs, at, value) = (self.term(xs), self.terms(at), self.term(value));
                Code::Update(Box::new([xs, value]), at, Box::new(info))
            }
            TermKind::Reduce(op, xs) => {
                Code::Reduce(*op, scalar_of(xs.ty()), self.boxed(xs), term.span())
            }
            TermKind::Inspect(site, t) => {
                let what = Box::new((site.clone(), t.ty().clone()));
                Code::Inspect(what, self.boxed(t))
            }
            TermKind::ArrayPrim(prim, args) => {
                let ranks: Vec<usize> = args.iter().map(|arg| rank(arg.ty())).collect();
                let version = prim.version(&ranks).expect("the checker has seen the ranks");
                Code::ArrayPrim(*prim, version, self.terms(args), term.span())
            }
            TermKind::Loop { state, init, kind, body } => self.loop_(term, state, init, kind, body),
            TermKind::Accumulate { acc, init, body } => {
                let init = self.term(init);
                let slot = self.bind_slot(acc);
                Code::Accumulate(slot, Box::new([init, self.term(body)]))
            }
            TermKind::Add { acc, index, value } => {
                let slot = self.mention((acc.id, None));
                let (index, info) = (self.terms(index), self.info(term, value.ty()));
                Code::Add(slot, index, self.boxed(value), Box::new(info))
            }
            TermKind::Jvp(f, x, dx) => {
                Code::Jvp(Box::new([self.term(f), self.term(x), self.term(dx)]), term.span())
            }
            TermKind::Reach(f, x, marks) => {
                Code::Reach(Box::new([self.term(f), self.term(x), self.term(marks)]), term.span())
            }
            // The evaluator does not analyze functions, so no band is known.
            TermKind::Band(..) => {
                self.term(&crate::build::tuple(vec![crate::build::int(0), crate::build::int(-1)]))
            }
            TermKind::Vjp(f, x) => Code::Vjp(Box::new([self.term(f), self.term(x)]), term.span()),
        }
    }

    /// A λ.
    fn lambda(&mut self, term: &Term) -> Code {
        let (functions, captured) = self.functions(HashMap::new(), &[term]);
        Code::Lambda(functions, captured)
    }

    /// Functions defined together, followed by their rules, and the captured values.
    fn functions(
        &mut self,
        members: HashMap<u32, usize>,
        terms: &[&Term],
    ) -> (Rc<[Function]>, Vec<(Slot, Last)>) {
        let mut keys: Vec<Key> = Vec::new();
        let mut functions: Vec<Function> = terms
            .iter()
            .map(|term| self.function(members.clone(), term.without_rules(), &mut keys))
            .collect();
        for (k, term) in terms.iter().enumerate() {
            let TermKind::Ruled(ruled) = term.kind() else { continue };
            let mut rule = |rule: &Rule| {
                functions.push(self.function(members.clone(), &rule.function, &mut keys));
                let member = functions.len() - 1;
                let Rule { takes_value, adds, span, .. } = *rule;
                RuleCode { member, takes_value, adds, span }
            };
            let jvp = ruled.jvp.as_ref().map(&mut rule);
            let vjp = ruled.vjp.as_ref().map(&mut rule);
            functions[k].rules = Some(Box::new(Rules { name: ruled.name.clone(), jvp, vjp }));
        }
        let captured = keys.iter().map(|key| (self.mention(*key), false)).collect();
        (functions.into(), captured)
    }

    /// A function with all its λs as parameters; adds its captured variables to the keys.
    fn function(
        &mut self,
        members: HashMap<u32, usize>,
        mut term: &Term,
        keys: &mut Vec<Key>,
    ) -> Function {
        self.scopes.push(Scope { members, ..Scope::default() });
        let mut params = Vec::new();
        while let TermKind::Lam(x, body) = term.kind() {
            params.push(self.bind(x));
            term = body;
        }
        let mut body = self.term(term);
        let scope = self.scopes.pop().expect("the scope that was opened");
        if self.moves {
            liveness::mark(&mut params, &mut body, &scope.depths);
        }
        let mut captures = Vec::new();
        for (key, slot) in &scope.captures {
            let k = keys.iter().position(|known| known == key).unwrap_or(keys.len());
            if k == keys.len() {
                keys.push(*key);
            }
            captures.push((k, *slot));
        }
        let (together, slots) = (scope.together, scope.depths.len());
        Function { params, captures, together, slots, body, rules: None }
    }

    fn application(&mut self, mut term: &Term) -> Code {
        let span = term.span();
        let mut args = Vec::new();
        while let TermKind::App(f, x) = term.kind() {
            args.push(x);
            term = f;
        }
        let f = self.boxed(term);
        Code::Call(f, args.into_iter().rev().map(|arg| self.term(arg)).collect(), span)
    }

    fn spine(&mut self, mut term: &Term) -> Code {
        let mut steps = Vec::new();
        loop {
            if let TermKind::Let(x, t, s) = term.kind() {
                let value = self.term(t);
                steps.push(Step::Bind(self.bind(x), value));
                term = s;
            } else if let TermKind::LetRec(functions, body) = term.kind() {
                let members = functions.iter().enumerate().map(|(k, (f, _))| (f.id, k)).collect();
                let terms: Vec<&Term> = functions.iter().map(|(_, t)| t).collect();
                let (code, captured) = self.functions(members, &terms);
                let destinations = functions.iter().map(|(f, _)| self.bind(f)).collect();
                steps.push(Step::Functions(destinations, code, captured));
                term = body;
            } else if let TermKind::Check { cond, site, values, body } = term.kind() {
                steps.push(Step::Check(self.term(cond), site.clone(), self.terms(values)));
                term = body;
            } else {
                return Code::Block(steps, self.boxed(term));
            }
        }
    }

    fn projection(&mut self, t: &Term, k: usize) -> Code {
        if let TermKind::Var(x) = t.kind()
            && !self.mentions[&x.id].whole
        {
            return Code::Local(self.mention((x.id, Some(k))), false);
        }
        Code::Proj(self.boxed(t), k)
    }

    fn arm(&mut self, arm: &Arm) -> ArmCode {
        let destinations = arm.vars.iter().map(|var| self.bind(var)).collect();
        ArmCode { destinations, branch: Branch { drops: Vec::new(), body: self.term(&arm.body) } }
    }

    fn loop_(
        &mut self,
        term: &Term,
        state: &Var,
        init: &Term,
        kind: &LoopKind,
        body: &Term,
    ) -> Code {
        let info = self.info(term, &state.ty);
        let init = self.term(init);
        let code = match kind {
            LoopKind::For(i, n, checkpoint) => {
                let n = self.term(n);
                let states = checkpoint.states().map(|states| self.term(states));
                self.inside_loop(|c| {
                    let (state, i) = (c.bind(state), c.bind_slot(i));
                    LoopCode {
                        state,
                        init,
                        kind: LoopKindCode::For(i, n, states),
                        body: c.term(body),
                        info,
                    }
                })
            }
            LoopKind::While(cond) => self.inside_loop(|c| {
                let destination = c.bind(state);
                let again = match &destination {
                    Destination::Nowhere => Destination::Nowhere,
                    Destination::Slot(slot) => Destination::Slot(*slot),
                    Destination::Components(slots) => Destination::Components(slots.clone()),
                };
                let kind = LoopKindCode::While(again, c.term(cond));
                LoopCode { state: destination, init, kind, body: c.term(body), info }
            }),
        };
        Code::Loop(Box::new(code))
    }
}

/// The type of the scalars of an array of scalars.
fn scalar_of(ty: &Ty) -> ScalarTy {
    match ty {
        Ty::Scalar(scalar) => *scalar,
        Ty::Array(elem) => scalar_of(elem),
        Ty::Tuple(_) | Ty::Record(_) | Ty::Fun(..) | Ty::Variant(_) => {
            unreachable!("ill-typed core: not an array of scalars")
        }
    }
}

fn rank(ty: &Ty) -> usize {
    if let Ty::Array(elem) = ty { 1 + rank(elem) } else { 0 }
}
