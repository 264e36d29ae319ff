//! The children of each construct, and functions based on them: free variables, renaming,
//! substitution.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::{Arm, DefId, LoopKind, Program, Rule, Ruled, Term, TermKind, Var};

/// A transformation of a term's parts; binders and accumulators stay by default.
pub trait Rebuild {
    /// A child.
    fn term(&mut self, term: &Term) -> Term;

    /// A binding variable. Called after the children outside of its scope and before those inside.
    fn binder(&mut self, var: &Var) -> Var {
        var.clone()
    }

    /// The accumulator that an `Add` mentions.
    fn accumulator(&mut self, var: &Var) -> Var {
        var.clone()
    }
}

/// Children without new variables in scope.
fn outside<'a>(terms: impl IntoIterator<Item = &'a Term>) -> Vec<(Vec<&'a Var>, &'a Term)> {
    terms.into_iter().map(|term| (Vec::new(), term)).collect()
}

impl Term {
    /// The children in the order of evaluation, each with the variables that the node binds in it.
    pub fn scoped_children(&self) -> Vec<(Vec<&Var>, &Term)> {
        match self.kind() {
            TermKind::Var(_) | TermKind::Global(_) | TermKind::Lit(_) | TermKind::Never => {
                Vec::new()
            }
            TermKind::Lam(x, body) => vec![(vec![x], body)],
            TermKind::App(a, b) | TermKind::Vjp(a, b) | TermKind::Band(a, b) => outside([a, b]),
            TermKind::Let(x, t, s) => vec![(vec![], t), (vec![x], s)],
            TermKind::LetRec(functions, body) => {
                let vars: Vec<&Var> = functions.iter().map(|(f, _)| f).collect();
                let terms = functions.iter().map(|(_, t)| t).chain([body]);
                terms.map(|term| (vars.clone(), term)).collect()
            }
            TermKind::Tuple(items)
            | TermKind::Con(_, items)
            | TermKind::Prim(_, items)
            | TermKind::ArrayPrim(_, items)
            | TermKind::Array(items) => outside(items),
            TermKind::Proj(t, _)
            | TermKind::Dim(t, _)
            | TermKind::Reduce(_, t)
            | TermKind::Inspect(_, t) => outside([t]),
            TermKind::Match(t, arms) => {
                let arms = arms.iter().map(|arm| (arm.vars.iter().collect(), &arm.body));
                std::iter::once((vec![], t)).chain(arms).collect()
            }
            TermKind::If(a, b, c) | TermKind::Jvp(a, b, c) | TermKind::Reach(a, b, c) => {
                outside([a, b, c])
            }
            TermKind::For(i, n, body) => vec![(vec![], n), (vec![i], body)],
            TermKind::Index(xs, at) => outside(std::iter::once(xs).chain(at)),
            TermKind::Update(xs, at, value) => {
                outside(std::iter::once(xs).chain(at).chain([value]))
            }
            TermKind::Loop { state, init, kind: LoopKind::For(i, n, checkpoint), body } => {
                let before = [init, n].into_iter().chain(checkpoint.states());
                let before = before.map(|term| (vec![], term));
                before.chain([(vec![state, i], body)]).collect()
            }
            TermKind::Loop { state, init, kind: LoopKind::While(c), body } => {
                vec![(vec![], init), (vec![state], c), (vec![state], body)]
            }
            TermKind::Accumulate { acc, init, body } => vec![(vec![], init), (vec![acc], body)],
            TermKind::Add { acc: _, index, value } => outside(index.iter().chain([value])),
            TermKind::Check { cond, site: _, values, body } => {
                outside(std::iter::once(cond).chain(values).chain([body]))
            }
            TermKind::Ruled(ruled) => {
                let rules = ruled.rules().map(|rule| &rule.function);
                outside(std::iter::once(&ruled.function).chain(rules))
            }
        }
    }

    /// The children in the order of evaluation.
    pub fn children(&self) -> Vec<&Term> {
        self.scoped_children().into_iter().map(|(_, term)| term).collect()
    }

    /// The node with transformed parts. Types and spans stay, because parts keep their types.
    pub fn rebuild(&self, with: &mut dyn Rebuild) -> Term {
        let kind = match self.kind() {
            TermKind::Var(_) | TermKind::Global(_) | TermKind::Lit(_) | TermKind::Never => {
                return self.clone();
            }
            TermKind::Lam(x, body) => {
                let x = with.binder(x);
                TermKind::Lam(x, with.term(body))
            }
            TermKind::App(f, x) => TermKind::App(with.term(f), with.term(x)),
            TermKind::Let(x, t, s) => {
                let t = with.term(t);
                let x = with.binder(x);
                TermKind::Let(x, t, with.term(s))
            }
            TermKind::LetRec(functions, body) => {
                let vars: Vec<Var> = functions.iter().map(|(f, _)| with.binder(f)).collect();
                let terms = functions.iter().map(|(_, t)| with.term(t));
                let functions = vars.into_iter().zip(terms.collect::<Vec<_>>()).collect();
                TermKind::LetRec(functions, with.term(body))
            }
            TermKind::Tuple(items) => TermKind::Tuple(rebuild_all(items, with)),
            TermKind::Proj(t, k) => TermKind::Proj(with.term(t), *k),
            TermKind::Con(tag, args) => TermKind::Con(*tag, rebuild_all(args, with)),
            TermKind::Match(t, arms) => {
                let t = with.term(t);
                TermKind::Match(t, arms.iter().map(|arm| rebuild_arm(arm, with)).collect())
            }
            TermKind::If(c, t, s) => TermKind::If(with.term(c), with.term(t), with.term(s)),
            TermKind::Prim(prim, args) => TermKind::Prim(*prim, rebuild_all(args, with)),
            TermKind::Array(items) => TermKind::Array(rebuild_all(items, with)),
            TermKind::For(i, n, body) => {
                let n = with.term(n);
                let i = with.binder(i);
                TermKind::For(i, n, with.term(body))
            }
            TermKind::Dim(xs, axis) => TermKind::Dim(with.term(xs), *axis),
            TermKind::Index(xs, at) => TermKind::Index(with.term(xs), rebuild_all(at, with)),
            TermKind::Update(xs, at, value) => {
                TermKind::Update(with.term(xs), rebuild_all(at, with), with.term(value))
            }
            TermKind::Reduce(op, xs) => TermKind::Reduce(*op, with.term(xs)),
            TermKind::Inspect(site, t) => TermKind::Inspect(site.clone(), with.term(t)),
            TermKind::ArrayPrim(prim, args) => TermKind::ArrayPrim(*prim, rebuild_all(args, with)),
            TermKind::Loop { state, init, kind, body } => {
                rebuild_loop(state, init, kind, body, with)
            }
            TermKind::Accumulate { acc, init, body } => {
                let init = with.term(init);
                let acc = with.binder(acc);
                TermKind::Accumulate { acc, init, body: with.term(body) }
            }
            TermKind::Add { acc, index, value } => TermKind::Add {
                acc: with.accumulator(acc),
                index: rebuild_all(index, with),
                value: with.term(value),
            },
            TermKind::Check { cond, site, values, body } => {
                let (cond, values) = (with.term(cond), rebuild_all(values, with));
                TermKind::Check { cond, site: site.clone(), values, body: with.term(body) }
            }
            TermKind::Jvp(f, x, dx) => TermKind::Jvp(with.term(f), with.term(x), with.term(dx)),
            TermKind::Vjp(f, x) => TermKind::Vjp(with.term(f), with.term(x)),
            TermKind::Band(f, x) => TermKind::Band(with.term(f), with.term(x)),
            TermKind::Ruled(ruled) => rebuild_ruled(ruled, with),
            TermKind::Reach(f, x, marks) => {
                TermKind::Reach(with.term(f), with.term(x), with.term(marks))
            }
        };
        Term::new(kind, self.ty().clone(), self.span())
    }

    /// The node with each child replaced.
    pub fn map_children(&self, f: &mut dyn FnMut(&Term) -> Term) -> Term {
        struct Children<'a>(&'a mut dyn FnMut(&Term) -> Term);
        impl Rebuild for Children<'_> {
            fn term(&mut self, term: &Term) -> Term {
                (self.0)(term)
            }
        }
        self.rebuild(&mut Children(f))
    }

    /// The term with these new numbers of the definitions.
    pub fn renumbered(&self, places: &[DefId]) -> Term {
        Renumber(places).term(self)
    }

    /// The free variables and accumulators of the term, in the order of their first mention.
    pub fn free_vars(&self) -> Vec<Var> {
        let mut search =
            FreeVars { bound: HashSet::new(), seen: HashSet::new(), found: Vec::new() };
        search.term(self);
        search.found
    }

    /// The definitions that the term mentions.
    pub fn globals(&self) -> BTreeSet<DefId> {
        let (mut found, mut pending) = (BTreeSet::new(), vec![self]);
        while let Some(term) = pending.pop() {
            if let TermKind::Global(id) = term.kind() {
                found.insert(*id);
            }
            pending.extend(term.children());
        }
        found
    }

    /// The term with terms substituted for variables. All bound variables are fresh, also in each
    /// copy of a substituted term.
    pub fn substitute(&self, program: &mut Program, terms: &HashMap<u32, Term>) -> Term {
        Substitution { program, terms, renamed: HashMap::new() }.term(self)
    }
}

impl Program {
    /// A copy of a term with fresh bound variables, so that it may stand next to the original.
    pub fn freshen(&mut self, term: &Term) -> Term {
        term.substitute(self, &HashMap::new())
    }
}

fn rebuild_all(terms: &[Term], with: &mut dyn Rebuild) -> Vec<Term> {
    terms.iter().map(|term| with.term(term)).collect()
}

fn rebuild_arm(arm: &Arm, with: &mut dyn Rebuild) -> Arm {
    let vars = arm.vars.iter().map(|var| with.binder(var)).collect();
    Arm { vars, body: with.term(&arm.body) }
}

fn rebuild_ruled(ruled: &Ruled, with: &mut dyn Rebuild) -> TermKind {
    let function = with.term(&ruled.function);
    let mut rule = |rule: &Rule| Rule { function: with.term(&rule.function), ..rule.clone() };
    let (jvp, vjp) = (ruled.jvp.as_ref().map(&mut rule), ruled.vjp.as_ref().map(&mut rule));
    TermKind::Ruled(Box::new(Ruled {
        name: ruled.name.clone(),
        library: ruled.library,
        known: ruled.known.clone(),
        function,
        jvp,
        vjp,
    }))
}

fn rebuild_loop(
    state: &Var,
    init: &Term,
    kind: &LoopKind,
    body: &Term,
    with: &mut dyn Rebuild,
) -> TermKind {
    let init = with.term(init);
    match kind {
        LoopKind::For(i, n, checkpoint) => {
            let n = with.term(n);
            let checkpoint = checkpoint.map(|states| with.term(states));
            let (state, i) = (with.binder(state), with.binder(i));
            let kind = LoopKind::For(i, n, checkpoint);
            TermKind::Loop { state, init, kind, body: with.term(body) }
        }
        LoopKind::While(c) => {
            let state = with.binder(state);
            let kind = LoopKind::While(with.term(c));
            TermKind::Loop { state, init, kind, body: with.term(body) }
        }
    }
}

struct FreeVars {
    bound: HashSet<u32>,
    seen: HashSet<u32>,
    found: Vec<Var>,
}

impl FreeVars {
    /// Variables are bound once in a program, so `bound` need not be undone.
    fn term(&mut self, mut term: &Term) {
        while let TermKind::Let(x, t, s) = term.kind() {
            self.term(t);
            self.bound.insert(x.id);
            term = s;
        }
        if let TermKind::Var(x) | TermKind::Add { acc: x, .. } = term.kind() {
            self.mention(x);
        }
        for (vars, child) in term.scoped_children() {
            self.bound.extend(vars.iter().map(|var| var.id));
            self.term(child);
        }
    }

    fn mention(&mut self, var: &Var) {
        if !self.bound.contains(&var.id) && self.seen.insert(var.id) {
            self.found.push(var.clone());
        }
    }
}

struct Substitution<'a> {
    program: &'a mut Program,
    terms: &'a HashMap<u32, Term>,
    renamed: HashMap<u32, Var>,
}

impl Substitution<'_> {
    fn mention(&mut self, var: &Var, term: &Term) -> Term {
        if let Some(new) = self.renamed.get(&var.id) {
            return Term::new(TermKind::Var(new.clone()), term.ty().clone(), term.span());
        }
        match self.terms.get(&var.id) {
            Some(replacement) => self.program.freshen(replacement),
            None => term.clone(),
        }
    }
}

impl Rebuild for Substitution<'_> {
    fn term(&mut self, term: &Term) -> Term {
        let (mut spine, mut rest) = (Vec::new(), term);
        while let TermKind::Let(x, t, s) = rest.kind() {
            let t = self.term(t);
            spine.push((self.binder(x), t, rest));
            rest = s;
        }
        let end = if let TermKind::Var(x) = rest.kind() {
            self.mention(x, rest)
        } else {
            rest.rebuild(self)
        };
        let wrap = |body, (x, t, old): (Var, Term, &Term)| {
            Term::new(TermKind::Let(x, t, body), old.ty().clone(), old.span())
        };
        spine.into_iter().rev().fold(end, wrap)
    }

    fn binder(&mut self, var: &Var) -> Var {
        let new = self.program.fresh(&var.hint, var.ty.clone());
        self.renamed.insert(var.id, new.clone());
        new
    }

    fn accumulator(&mut self, var: &Var) -> Var {
        self.renamed.get(&var.id).unwrap_or(var).clone()
    }
}

/// Renumbers definitions.
struct Renumber<'p>(&'p [DefId]);

impl Rebuild for Renumber<'_> {
    /// Iterates over a spine of `let`s, because it may be many thousands long.
    fn term(&mut self, term: &Term) -> Term {
        let (mut spine, mut rest) = (Vec::new(), term);
        while let TermKind::Let(x, t, s) = rest.kind() {
            spine.push((x.clone(), self.term(t), rest));
            rest = s;
        }
        let end = match rest.kind() {
            TermKind::Global(id) => {
                let id = self.0[id.0 as usize];
                Term::new(TermKind::Global(id), rest.ty().clone(), rest.span())
            }
            _ => rest.rebuild(self),
        };
        let wrap = |body, (x, t, old): (Var, Term, &Term)| {
            Term::new(TermKind::Let(x, t, body), old.ty().clone(), old.span())
        };
        spine.into_iter().rev().fold(end, wrap)
    }
}
