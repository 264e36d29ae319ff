//! The types of expressions and patterns by their places, for editors.

use std::rc::Rc;

use lambada_source::Span;

use crate::checked::{Checked, Global};
use crate::solve::Solver;
use crate::solve::show::Namer;
use crate::solve::ty::{Node, Ty};
use crate::typed::{Clause, Driver, Exp, ExpKind, Function, FunctionId, Pat, PatKind, Rules, Stmt};

impl Checked {
    /// The type of the expression or the pattern at exactly this place.
    pub fn type_at(&self, place: Span) -> Option<String> {
        let (global, places) = self.places_around(place)?;
        // Conversions share the place of the expression inside of them.
        let ty = places.types.iter().rev().find(|(span, _)| *span == place)?.1;
        Some(self.shown(global).show(ty))
    }

    /// The names of the fields, in alphabetical order, if the expression or the pattern at exactly
    /// this place is a record.
    pub fn labels_at(&self, place: Span) -> Option<Vec<Rc<str>>> {
        let (_, places) = self.places_around(place)?;
        let ty = places.types.iter().rev().find(|(span, _)| *span == place)?.1;
        let Node::Record(fields) = self.elaborated.solver.get(ty) else { return None };
        let mut names: Vec<Rc<str>> = fields.iter().map(|(name, _)| name.clone()).collect();
        names.sort();
        Some(names)
    }

    /// The type of the shortest expression that ends at this place.
    pub fn type_before(&self, place: Span) -> Option<String> {
        let (global, places) = self.places_around(place)?;
        Some(self.shown(global).show(places.before(place)?))
    }

    /// The fields, with their types, of the record that is the shortest expression that ends at
    /// this place.
    pub fn fields_before(&self, place: Span) -> Option<Vec<(Rc<str>, String)>> {
        let (global, places) = self.places_around(place)?;
        let solver = &self.elaborated.solver;
        let Node::Record(fields) = solver.get(places.before(place)?) else { return None };
        let mut fields = fields.to_vec();
        solver.fields.sort(&mut fields, |(name, _)| name);
        let mut shown = self.shown(global);
        Some(fields.into_iter().map(|(name, ty)| (name, shown.show(ty))).collect())
    }

    /// The variables that patterns of the main file bind, with their types, in no order.
    pub fn variables(&self) -> Vec<(Span, String)> {
        let mut variables = Vec::new();
        for global in self.elaborated.all().filter(|global| global.main) {
            let places = Places::of(&global.function);
            let mut names = self.shown(global);
            variables.extend(places.bound.iter().map(|(span, ty)| (*span, names.show(*ty))));
        }
        variables
    }

    /// The type of a definition of any module, whose name stands at this place; `None` if the
    /// program does not use it.
    pub fn scheme_at(&self, name: Span) -> Option<String> {
        let is_meant = |global: &&Global| within(global.span, name);
        let global = self.elaborated.all().find(is_meant)?;
        Some(self.elaborated.solver.show_scheme(&global.scheme))
    }

    /// The type of the outermost local function inside of a place.
    pub fn local_function(&self, place: Span) -> Option<String> {
        let (_, places) = self.places_around(place)?;
        let mut functions = places.functions.iter().filter(|(span, _)| within(place, *span));
        let (_, id) = functions.next()?;
        Some(self.elaborated.solver.show_scheme(&self.elaborated.function_scheme(*id)))
    }

    fn places_around(&self, place: Span) -> Option<(&Global, Places<'_>)> {
        let global = self.elaborated.all().find(|global| within(global.span, place))?;
        Some((global, Places::of(&global.function)))
    }

    /// Names that agree with the displayed type of a definition.
    fn shown(&self, global: &Global) -> Shown<'_> {
        let mut names = Shown { solver: &self.elaborated.solver, namer: Namer::default() };
        names.show(global.scheme.ty);
        names
    }
}

fn within(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

struct Shown<'s> {
    solver: &'s Solver,
    namer: Namer,
}

impl Shown<'_> {
    fn show(&mut self, ty: Ty) -> String {
        self.solver.reserve(ty, &mut self.namer);
        self.solver.show_with(ty, &mut self.namer)
    }
}

/// The places of a definition, outer before inner.
#[derive(Default)]
struct Places<'t> {
    types: Vec<(Span, Ty)>,
    bound: Vec<(Span, Ty)>,
    /// Local functions, by the places of their bodies.
    functions: Vec<(Span, FunctionId)>,
    pending: Vec<&'t Exp>,
}

impl<'t> Places<'t> {
    /// Without recursion, because trees may be deep.
    fn of(function: &'t Function) -> Places<'t> {
        let mut places = Places::default();
        places.function(function);
        while let Some(exp) = places.pending.pop() {
            places.types.push((exp.span, exp.ty));
            let known = places.pending.len();
            places.parts(exp);
            places.pending[known..].reverse();
        }
        places
    }

    fn before(&self, place: Span) -> Option<Ty> {
        let ends = self.types.iter().filter(|(span, _)| span.end == place.end);
        ends.min_by_key(|(span, _)| span.end - span.start).map(|(_, ty)| *ty)
    }

    fn function(&mut self, function: &'t Function) {
        function.params.iter().for_each(|pat| self.pattern(pat));
        self.pending.push(&function.body);
        let rules = function.rules.iter().flat_map(|rules: &Rc<Rules>| [&rules.jvp, &rules.vjp]);
        for rule in rules.flatten() {
            self.pattern(&rule.bound);
            rule.value.iter().for_each(|pat| self.pattern(pat));
            self.pending.push(&rule.body);
        }
    }

    fn pattern(&mut self, pat: &Pat) {
        self.types.push((pat.span, pat.ty));
        match &pat.kind {
            PatKind::Var(_) => self.bound.push((pat.span, pat.ty)),
            PatKind::Tuple(parts) | PatKind::Con(_, _, parts) | PatKind::Or(parts) => {
                parts.iter().for_each(|part| self.pattern(part));
            }
            PatKind::Array { items, .. } => items.iter().for_each(|part| self.pattern(part)),
            PatKind::Record(fields) => fields.iter().for_each(|(_, part)| self.pattern(part)),
            PatKind::Wildcard | PatKind::Bool(_) => {}
            PatKind::Number(_) | PatKind::Real(_) => {}
        }
    }

    fn clause(&mut self, clause: &'t Clause) {
        match clause {
            Clause::Range(_, from, to) => {
                self.pending.extend(from.as_deref());
                self.pending.push(to);
            }
            Clause::In(pat, array) => {
                self.pattern(pat);
                self.pending.push(array);
            }
        }
    }

    fn statement(&mut self, statement: &'t Stmt) {
        match statement {
            Stmt::Let(parts) => {
                self.pattern(&parts.0);
                self.pending.push(&parts.1);
            }
            Stmt::Function(id, function) => self.local(*id, function),
            Stmt::Functions(group) => {
                group.iter().for_each(|(id, function)| self.local(*id, function));
            }
        }
    }

    fn local(&mut self, id: FunctionId, function: &'t Function) {
        self.functions.push((function.body.span, id));
        self.function(function);
    }

    /// The patterns and the direct parts of an expression.
    fn parts(&mut self, exp: &'t Exp) {
        match &exp.kind {
            ExpKind::Local(_)
            | ExpKind::Global(..)
            | ExpKind::Function(..)
            | ExpKind::Recursive(..)
            | ExpKind::RecursiveLocal(..)
            | ExpKind::Builtin(_)
            | ExpKind::Inspect(_)
            | ExpKind::Lit(_)
            | ExpKind::Number(_)
            | ExpKind::MissingSize(_)
            | ExpKind::Error => self.pending.extend(None::<&Exp>),
            ExpKind::Check { values: parts, .. }
            | ExpKind::Fail { values: parts, .. }
            | ExpKind::Tuple(parts)
            | ExpKind::Con(_, parts)
            | ExpKind::Array(parts) => self.pending.extend(parts),
            ExpKind::Record(fields) => self.pending.extend(fields.iter().map(|(_, value)| value)),
            ExpKind::RecordUpdate(record, fields) => {
                self.pending.push(record);
                self.pending.extend(fields.iter().map(|(_, value)| value));
            }
            ExpKind::Field(one, _)
            | ExpKind::Component(one, _)
            | ExpKind::Negate(one)
            | ExpKind::Not(one)
            | ExpKind::Convert(one)
            | ExpKind::Claimed(one, _) => self.pending.push(one),
            ExpKind::Apply(a, b)
            | ExpKind::Arith(_, a, b)
            | ExpKind::Compare(_, a, b)
            | ExpKind::Contraction(_, a, b)
            | ExpKind::Sequence(a, b) => self.pending.extend([&**a, &**b]),
            ExpKind::Elementwise(f, args) => {
                self.pending.push(f);
                self.pending.extend(args);
            }
            ExpKind::Lambda(function) => self.function(function),
            ExpKind::Block(statements, result) => {
                statements.iter().for_each(|statement| self.statement(statement));
                self.pending.push(result);
            }
            ExpKind::If(c, t, e) => self.pending.extend([&**c, &**t, &**e]),
            // Decision trees have replaced the patterns.
            ExpKind::Match(subject, _, cases) => {
                self.pending.push(subject);
                let parts = cases.iter().flat_map(|case| case.guard.iter().chain([&case.body]));
                self.pending.extend(parts);
            }
            ExpKind::For(clause, body) => {
                self.clause(clause);
                self.pending.push(body);
            }
            ExpKind::Filtered(clauses, condition, body) => {
                clauses.iter().for_each(|clause| self.clause(clause));
                self.pending.extend([&**condition, &**body]);
            }
            ExpKind::Index(array, at) => {
                self.pending.push(array);
                self.pending.extend(at);
            }
            ExpKind::Slice(array, from, to) => {
                self.pending.push(array);
                self.pending.extend(from.as_deref().into_iter().chain(to.as_deref()));
            }
            ExpKind::Update(array, at, value) => {
                self.pending.push(array);
                self.pending.extend(at);
                self.pending.push(value);
            }
            ExpKind::UpdateSlice(array, from, to, value) => {
                self.pending.push(array);
                self.pending.extend(from.as_deref().into_iter().chain(to.as_deref()));
                self.pending.push(value);
            }
            ExpKind::Loop { state, init, driver, filter, body } => {
                self.pattern(state);
                self.pending.push(init);
                match driver {
                    Driver::For(clause, _) => self.clause(clause),
                    Driver::While(condition) => self.pending.push(condition),
                }
                self.pending.extend(filter.as_deref());
                self.pending.push(body);
            }
            ExpKind::Accumulate(accumulators, body) => {
                self.pending.extend(accumulators.iter().map(|(_, init)| init));
                self.pending.push(body);
            }
            ExpKind::Add(_, at, value) => {
                self.pending.extend(at);
                self.pending.push(value);
            }
        }
    }
}
