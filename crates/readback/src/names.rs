//! Names for people. While a definition is printed, each variable is a *token* of its own; once the
//! text is complete, tokens become names, because only then all mentions are known. A name may be
//! reused as soon as no later text means its old variable: the state of a loop is named like its
//! initial value, and a new version of a value like the old one. Other variables in scope keep
//! their names, and colliding ones get numbers.

mod given;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::{NAMELESS, Names, Var, identifier, numbered};
use lambada_prim::ScalarTy;
use lambada_surface::ast::{
    Arm, Checkpoint, Clause, Def, Expr, ExprKind, LoopKind, Pattern, PatternKind, TypeExpr,
    TypeKind,
};
use lambada_surface::visit::{Visit, children, walk_pattern};

use given::apply_to_def;

/// Names that no variable may have: reserved words and types.
fn reserved() -> impl Iterator<Item = String> {
    let table = lambada_surface::token::KEYWORDS.iter().map(|(word, _)| word.to_string());
    table.chain([ScalarTy::Real, ScalarTy::Int, ScalarTy::Bool].map(|ty| ty.to_string()))
}

/// Separates the hint of a token from its number; no name contains it.
const MARK: char = '#';

/// The displayed form of [`lambada_anf::NAMELESS`].
const PLAIN: &str = "t";

/// Names of indices in nested loops.
const LETTERS: [&str; 6] = ["i", "j", "k", "l", "p", "q"];

/// The tokens of a definition being printed.
pub(crate) struct Tokens<'a> {
    names: &'a Names,
    /// Hints that replace the variables' own.
    renamed: HashMap<Var, Rc<str>>,
    given: HashMap<Var, Rc<str>>,
    count: usize,
    wishes: Wishes,
    /// Variables mentioned without a token: sizes that only types mention.
    asked: RefCell<HashSet<Var>>,
}

/// Wishes for the names of tokens, beside their hints.
#[derive(Default)]
pub(crate) struct Wishes {
    /// Names that are results of the definition, with the tokens that shall have them.
    owners: HashMap<Rc<str>, HashSet<Rc<str>>>,
    /// For each element the indices where it is read, which become part of its name.
    elements: HashMap<Rc<str>, Vec<Rc<str>>>,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(names: &'a Names) -> Tokens<'a> {
        let (renamed, given) = (HashMap::new(), HashMap::new());
        let (wishes, asked) = (Wishes::default(), RefCell::default());
        Tokens { names, renamed, given, count: 0, wishes, asked }
    }

    /// Reserves the name for a variable: others may have it only where the variable is out of
    /// scope.
    pub(crate) fn rename(&mut self, var: Var, hint: Rc<str>) {
        self.wishes.owners.entry(hint.clone()).or_default();
        self.renamed.insert(var, hint);
    }

    /// Gives a variable another hint, unless it has been renamed.
    pub(crate) fn suggest(&mut self, var: Var, hint: &str) {
        self.renamed.entry(var).or_insert_with(|| hint.into());
    }

    /// The name of a variable if no other had it. It loses the underscore of an unused name, as in
    /// `_k`, because the derivative may use the variable, and the prefix of functions private to
    /// the library.
    pub(crate) fn hint(&self, var: Var) -> Rc<str> {
        let own = || {
            if (var.0 as usize) < self.names.len() { self.names.hint(var) } else { NAMELESS.into() }
        };
        let hint = self.renamed.get(&var).cloned().unwrap_or_else(own);
        let public = hint.strip_prefix("prelude_").unwrap_or(&hint);
        let plain = public.trim_start_matches('_');
        if plain.len() == hint.len() {
            hint
        } else if plain.is_empty() {
            LETTERS[0].into()
        } else {
            plain.into()
        }
    }

    /// A token for a variable that comes into scope.
    pub(crate) fn bind(&mut self, var: Var) -> Rc<str> {
        let hint = self.hint(var);
        self.bind_as(var, &hint)
    }

    /// Like `bind`, with another hint.
    pub(crate) fn bind_as(&mut self, var: Var, hint: &str) -> Rc<str> {
        let token = self.fresh(hint);
        if self.renamed.get(&var).is_some_and(|own| **own == *hint)
            && let Some(owners) = self.wishes.owners.get_mut(hint)
        {
            owners.insert(token.clone());
        }
        self.given.insert(var, token.clone());
        token
    }

    /// A token for an element, to be named after its array and the indices, which are tokens or
    /// numbers.
    pub(crate) fn bind_element(&mut self, var: Var, indices: Vec<Rc<str>>) -> Rc<str> {
        let token = self.bind(var);
        self.wishes.elements.insert(token.clone(), indices);
        token
    }

    /// Gives a variable exactly this name: a size of the head.
    pub(crate) fn fix(&mut self, var: Var, name: &Rc<str>) {
        self.given.insert(var, name.clone());
    }

    /// A token for a value that is no variable of the function.
    pub(crate) fn fresh(&mut self, hint: &str) -> Rc<str> {
        self.count += 1;
        format!("{}{MARK}{}", identifier(hint), self.count).into()
    }

    /// The token of a variable in scope.
    pub(crate) fn of(&self, var: Var) -> Rc<str> {
        self.known(var).unwrap_or_else(|| {
            self.asked.borrow_mut().insert(var);
            format!("unbound_{}", var.0).into()
        })
    }

    /// Takes the variables mentioned without a token.
    pub(crate) fn asked(&self) -> HashSet<Var> {
        self.asked.take()
    }

    /// The token of a variable, if it has one.
    pub(crate) fn known(&self, var: Var) -> Option<Rc<str>> {
        self.given.get(&var).cloned()
    }

    /// Replaces the tokens of a complete definition by names.
    pub(crate) fn settle(self, def: &mut Def) {
        let mut scopes = Scopes::default();
        scopes.def(def);
        let names = scopes.names(&self.wishes);
        apply_to_def(def, &names);
    }
}

/// Approximate length of a token's name.
pub(crate) fn length(name: &str) -> usize {
    hint_of(name).len()
}

pub(crate) fn hint_of(token: &str) -> &str {
    token.split(MARK).next().unwrap_or(token)
}

/// Whether the hint comes from a value without a name: `t`, `t_ct`.
fn is_plain(hint: &str) -> bool {
    hint.trim_start_matches("minus_").split('_').next() == Some(PLAIN)
}

pub(crate) fn is_token(name: &str) -> bool {
    name.contains(MARK)
}

/// The construct that brings a name into scope.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BinderKind {
    /// In the head of the definition.
    Param,
    /// By a `let`, whose value spans these positions of the text.
    Let(usize, usize),
    /// As the state of a loop, or by a destructuring pattern.
    State,
    Accumulator,
    Index,
}

/// A binding and its scope. Positions in the text count bindings and mentions.
struct Binder {
    name: Rc<str>,
    kind: BinderKind,
    /// The bindings of one pattern, which must have different names.
    group: usize,
    start: usize,
    end: usize,
    mentions: Vec<usize>,
}

impl Binder {
    fn mentioned(&self, from: usize, to: usize) -> bool {
        let next = self.mentions.partition_point(|at| *at < from);
        self.mentions.get(next).is_some_and(|at| *at < to)
    }
}

/// Scopes of all bindings, and their mentions.
#[derive(Default)]
struct Scopes {
    binders: Vec<Binder>,
    /// For each token or name its bindings in scope, innermost last.
    env: HashMap<Rc<str>, Vec<usize>>,
    /// The bindings in scope, innermost last.
    open: Vec<usize>,
    /// Final names: of functions, and of variables bound without a token.
    fixed: HashSet<Rc<str>>,
    at: usize,
    groups: usize,
}

impl Scopes {
    fn def(&mut self, def: &Def) {
        let mark = self.open.len();
        self.groups += 1;
        for size in &def.sizes {
            self.bind(&size.text, BinderKind::Param);
        }
        // A local function may reuse names of outer variables that it does not mention for its
        // parameters.
        let kind = if is_token(&def.name.text) { BinderKind::State } else { BinderKind::Param };
        def.params.iter().for_each(|param| self.pattern(&param.pattern, kind));
        def.params.iter().filter_map(|param| param.ty.as_ref()).for_each(|ty| self.ty(ty));
        def.result.iter().for_each(|ty| self.ty(ty));
        self.expr(&def.body);
        self.close(mark);
    }

    /// Sizes in types keep their names, which the head binds.
    fn ty(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeKind::Name(_, sizes, parts) => {
                sizes.iter().flatten().for_each(|size| self.size(size));
                parts.iter().for_each(|part| self.ty(part));
            }
            TypeKind::Tuple(parts) => parts.iter().for_each(|part| self.ty(part)),
            TypeKind::Record(fields) => fields.iter().for_each(|(_, part)| self.ty(part)),
            TypeKind::Array(size, element) => {
                size.iter().for_each(|size| self.size(size));
                self.ty(element);
            }
            TypeKind::Function(domain, codomain) => {
                self.ty(domain);
                self.ty(codomain);
            }
            TypeKind::Error => {}
        }
    }

    fn size(&mut self, size: &Expr) {
        if let ExprKind::Var(name) = &size.kind
            && self.env.contains_key(name)
        {
            self.mention(name);
        }
        children(size, &mut |part| self.size(part));
    }

    fn bind(&mut self, name: &Rc<str>, kind: BinderKind) {
        if !is_token(name) && kind != BinderKind::Param {
            self.fixed.insert(name.clone());
        }
        let k = self.binders.len();
        let (group, start, mentions) = (self.groups, self.at, Vec::new());
        self.binders.push(Binder {
            name: name.clone(),
            kind,
            group,
            start,
            end: usize::MAX,
            mentions,
        });
        self.env.entry(name.clone()).or_default().push(k);
        self.open.push(k);
        self.at += 1;
    }

    /// Brings local functions into scope.
    fn functions(&mut self, defs: &[Def]) {
        self.groups += 1;
        defs.iter().for_each(|def| self.bind(&def.name.text, BinderKind::State));
    }

    fn close(&mut self, mark: usize) {
        for k in self.open.drain(mark..) {
            self.binders[k].end = self.at;
            if let Some(meanings) = self.env.get_mut(&self.binders[k].name) {
                meanings.pop();
            }
        }
    }

    fn mention(&mut self, name: &Rc<str>) {
        match self.env.get(name).and_then(|meanings| meanings.last()) {
            Some(k) => self.binders[*k].mentions.push(self.at),
            None => _ = self.fixed.insert(name.clone()),
        }
        self.at += 1;
    }

    fn pattern(&mut self, pattern: &Pattern, kind: BinderKind) {
        Variables { scopes: self, kind }.pattern(pattern);
    }

    fn clause(&mut self, clause: &Clause) {
        match clause {
            Clause::Range(name, bound) => {
                self.expr(bound);
                self.bind(&name.text, BinderKind::Index);
            }
            Clause::Between(from, name, to) => {
                self.expr(from);
                self.expr(to);
                self.bind(&name.text, BinderKind::Index);
            }
            Clause::If(condition) => self.expr(condition),
            Clause::In(pattern, array) => {
                self.expr(array);
                self.pattern(pattern, BinderKind::State);
            }
        }
    }

    /// Iterates over consecutive bindings, so that a long text does not need a deep recursion.
    fn expr(&mut self, e: &Expr) {
        let mark = self.open.len();
        let mut e = e;
        loop {
            e = match &e.kind {
                ExprKind::Let(param, value, rest) => {
                    let from = self.at;
                    self.expr(value);
                    self.groups += 1;
                    self.pattern(&param.pattern, BinderKind::Let(from, self.at));
                    rest
                }
                ExprKind::LetFunctions(defs, rest) => {
                    let recursive = defs.iter().any(|def| def.recursive);
                    if recursive {
                        self.functions(defs);
                    }
                    defs.iter().for_each(|def| self.def(def));
                    if !recursive {
                        self.functions(defs);
                    }
                    rest
                }
                ExprKind::Sequence(first, rest) => {
                    self.expr(first);
                    rest
                }
                ExprKind::Commented(_, rest) => rest,
                ExprKind::For(clauses, body) => {
                    // The indices of one `for` have different names.
                    self.groups += 1;
                    clauses.iter().for_each(|clause| self.clause(clause));
                    body
                }
                ExprKind::Loop(state, init, kind, body) => {
                    self.expr(init);
                    if let LoopKind::For(clause, filter, policy) = kind {
                        self.groups += 1;
                        self.clause(clause);
                        filter.iter().for_each(|filter| self.expr(filter));
                        if let Some(Checkpoint::States(states)) = policy {
                            self.expr(states);
                        }
                    }
                    self.groups += 1;
                    self.pattern(&state.pattern, BinderKind::State);
                    if let LoopKind::While(condition) = kind {
                        self.expr(condition);
                    }
                    body
                }
                ExprKind::Accumulate(accumulators, body) => {
                    accumulators.iter().for_each(|(_, init)| self.expr(init));
                    self.groups += 1;
                    accumulators
                        .iter()
                        .for_each(|(name, _)| self.bind(&name.text, BinderKind::Accumulator));
                    body
                }
                ExprKind::Lambda(params, body) => {
                    self.groups += 1;
                    params.iter().for_each(|param| self.pattern(&param.pattern, BinderKind::State));
                    body
                }
                ExprKind::Match(subject, arms) => {
                    self.expr(subject);
                    for Arm { pattern, guard, body } in arms {
                        let mark = self.open.len();
                        self.groups += 1;
                        self.pattern(pattern, BinderKind::State);
                        guard.iter().for_each(|guard| self.expr(guard));
                        self.expr(body);
                        self.close(mark);
                    }
                    break;
                }
                ExprKind::Add(name, ..) => {
                    self.mention(&name.text);
                    children(e, &mut |child| self.expr(child));
                    break;
                }
                ExprKind::Var(name) => {
                    self.mention(name);
                    break;
                }
                ExprKind::Annotated(inner, ty) => {
                    self.ty(ty);
                    inner
                }
                ExprKind::Con(_)
                | ExprKind::Int(_)
                | ExprKind::Real(_)
                | ExprKind::Bool(_)
                | ExprKind::InspectAs(_)
                | ExprKind::Operator(_)
                | ExprKind::Broken(_)
                | ExprKind::Error => break,
                ExprKind::Check(..)
                | ExprKind::Fail(..)
                | ExprKind::Tuple(_)
                | ExprKind::Record(_)
                | ExprKind::RecordUpdate(..)
                | ExprKind::Field(..)
                | ExprKind::Component(..)
                | ExprKind::Apply(..)
                | ExprKind::SectionLeft(..)
                | ExprKind::SectionRight(..)
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::If(..)
                | ExprKind::Array(_)
                | ExprKind::Index(..)
                | ExprKind::Slice(..)
                | ExprKind::Update(..)
                | ExprKind::UpdateSlice(..) => {
                    children(e, &mut |child| self.expr(child));
                    break;
                }
            };
        }
        self.close(mark);
    }

    /// Chooses the names of the tokens.
    fn names(mut self, wishes: &Wishes) -> HashMap<Rc<str>, Rc<str>> {
        self.fixed.extend(reserved().map(Rc::from));
        let mut owned: HashMap<&str, Vec<usize>> = HashMap::new();
        for (k, binder) in self.binders.iter().enumerate() {
            let hint = hint_of(&binder.name);
            if wishes.owners.get(hint).is_some_and(|owners| owners.contains(&binder.name)) {
                owned.entry(hint).or_default().push(k);
            }
        }
        let mut chosen = Chosen {
            binders: &self.binders,
            fixed: &self.fixed,
            owned,
            wishes,
            holders: HashMap::new(),
            numbers: HashMap::new(),
            names: HashMap::new(),
        };
        (0..self.binders.len()).for_each(|k| chosen.choose(k));
        chosen.names
    }
}

/// Binds the variables of a pattern.
struct Variables<'s> {
    scopes: &'s mut Scopes,
    kind: BinderKind,
}

impl Visit for Variables<'_> {
    fn pattern(&mut self, pattern: &Pattern) {
        if let PatternKind::Var(name) = &pattern.kind {
            self.scopes.bind(name, self.kind);
        }
        walk_pattern(self, pattern);
    }

    /// Types bind nothing.
    fn type_expr(&mut self, _: &TypeExpr) {}
}

/// Names chosen so far, in text order.
struct Chosen<'s> {
    binders: &'s [Binder],
    fixed: &'s HashSet<Rc<str>>,
    /// For each name the bindings that are results of the definition.
    owned: HashMap<&'s str, Vec<usize>>,
    wishes: &'s Wishes,
    /// The holders of each name, innermost last.
    holders: HashMap<Rc<str>, Vec<usize>>,
    /// For each base name the number found last, from which the next search starts.
    numbers: HashMap<Rc<str>, usize>,
    names: HashMap<Rc<str>, Rc<str>>,
}

impl Chosen<'_> {
    fn choose(&mut self, k: usize) {
        let binder = &self.binders[k];
        if !is_token(&binder.name) {
            self.holders.entry(binder.name.clone()).or_default().push(k);
            return;
        }
        let name = if binder.kind != BinderKind::Index {
            self.numbered(k)
        } else if binder.mentions.is_empty() {
            "_".into()
        } else {
            let from = LETTERS.iter().position(|letter| *letter == hint_of(&binder.name));
            let letters = from.map_or(&[][..], |from| &LETTERS[from..]);
            let letter = letters.iter().find(|letter| self.allowed(k, letter));
            letter.map_or_else(|| self.numbered(k), |letter| Rc::from(*letter))
        };
        if &*name != "_" {
            self.holders.entry(name.clone()).or_default().push(k);
        }
        self.names.insert(binder.name.clone(), name);
    }

    /// The hint, or the hint with the first free number.
    fn numbered(&mut self, k: usize) -> Rc<str> {
        let base = self.base(&self.binders[k].name);
        if self.allowed(k, &base) {
            return base;
        }
        // Numbers grow while earlier ones are in scope, so a search from 1 would be quadratic in
        // long texts.
        let last = self.numbers.get(&base).copied().unwrap_or(1);
        let back = (1..=last).rev().take_while(|n| self.allowed(k, &numbered(&base, *n))).last();
        let number = back.unwrap_or_else(|| {
            (last + 1..).find(|n| self.allowed(k, &numbered(&base, *n))).unwrap_or(last)
        });
        self.numbers.insert(base.clone(), number);
        numbered(&base, number)
    }

    fn base(&self, token: &Rc<str>) -> Rc<str> {
        let hint = hint_of(token);
        let Some(indices) = self.wishes.elements.get(token) else { return hint.into() };
        let name = |index: &Rc<str>| self.names.get(index).unwrap_or(index).clone();
        let indices: Vec<Rc<str>> = indices.iter().map(name).collect();
        let gap = if indices.iter().all(|index| index.len() == 1) { "" } else { "_" };
        format!("{hint}_{}", indices.join(gap)).into()
    }

    /// Whether the binding may have the name.
    fn allowed(&mut self, k: usize, name: &str) -> bool {
        if self.fixed.contains(name) || !self.leaves_to_owner(k, name) {
            return false;
        }
        let binder = &self.binders[k];
        let Some(holders) = self.holders.get_mut(name) else { return true };
        while holders.last().is_some_and(|h| self.binders[*h].end <= binder.start) {
            holders.pop();
        }
        let Some(holder) = holders.last().map(|h| &self.binders[*h]) else { return true };
        let meant = holder.mentioned(binder.start, binder.end);
        if meant || holder.group == binder.group {
            return false;
        }
        match binder.kind {
            BinderKind::Param | BinderKind::Index => false,
            // A parameter without uses that is hidden is a warning.
            BinderKind::State | BinderKind::Accumulator => {
                holder.kind != BinderKind::Param || !holder.mentions.is_empty()
            }
            BinderKind::Let(from, to) => {
                let value = !matches!(
                    holder.kind,
                    BinderKind::Param | BinderKind::Index | BinderKind::Accumulator
                );
                let version = !is_plain(hint_of(&binder.name))
                    && hint_of(&binder.name) == hint_of(&holder.name)
                    && holder.mentioned(from, to);
                value && (version || self.owns(k, name))
            }
        }
    }

    fn owns(&self, k: usize, name: &str) -> bool {
        self.owned.get(name).is_some_and(|owners| owners.contains(&k))
    }

    /// Whether the binding may have this name: the name of a result only if the binding is not
    /// mentioned in the scope of that result.
    fn leaves_to_owner(&self, k: usize, name: &str) -> bool {
        let Some(owners) = self.owned.get(name) else { return true };
        let binder = &self.binders[k];
        let later = |o: &&usize| **o > k && self.binders[**o].start < binder.end;
        let meant = |o: &usize| binder.mentioned(self.binders[*o].start, self.binders[*o].end);
        owners.contains(&k) || !owners.iter().filter(later).any(meant)
    }
}
