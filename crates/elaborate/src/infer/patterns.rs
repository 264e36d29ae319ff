//! Patterns.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use lambada_source::Span;
use lambada_surface::ast::{Name, Pattern, PatternKind};

use crate::matching;
use crate::messages::{self, Why};
use crate::solve::size::AtomKind;
use crate::solve::size::{Atom, Poly};
use crate::solve::ty::{Node, Origin, Ty, UnknownKind, VariantId};
use crate::typed::{LocalId, Pat, PatKind, Step};

use super::Infer;
use super::types::ParamPath;

/// Display name of a parameter: its name, or its pattern without type annotations, such as
/// `(a, b)`.
pub(super) fn call(pattern: &Pattern, k: usize) -> Rc<str> {
    let plain = without_types(pattern);
    match &plain.kind {
        PatternKind::Var(name) => name.clone(),
        PatternKind::Tuple(_)
        | PatternKind::Record(_)
        | PatternKind::Con(..)
        | PatternKind::Array(_) => lambada_surface::print_pattern(&plain).into(),
        PatternKind::Wildcard
        | PatternKind::Int(_)
        | PatternKind::Real(_)
        | PatternKind::Bool(_)
        | PatternKind::Or(_)
        | PatternKind::Annotated(..)
        | PatternKind::Error => by_place(k),
    }
}

/// Display name of a parameter without a name, or with that of another.
pub(super) fn by_place(k: usize) -> Rc<str> {
    format!("argument {}", k + 1).into()
}

fn without_types(pattern: &Pattern) -> Pattern {
    let all = |items: &[Pattern]| items.iter().map(without_types).collect();
    let kind = match &pattern.kind {
        PatternKind::Annotated(inner, _) => return without_types(inner),
        PatternKind::Tuple(items) => PatternKind::Tuple(all(items)),
        PatternKind::Con(name, items) => PatternKind::Con(name.clone(), all(items)),
        PatternKind::Array(items) => PatternKind::Array(all(items)),
        PatternKind::Or(items) => PatternKind::Or(all(items)),
        PatternKind::Record(fields) => PatternKind::Record(
            fields.iter().map(|(name, item)| (name.clone(), without_types(item))).collect(),
        ),
        PatternKind::Wildcard
        | PatternKind::Var(_)
        | PatternKind::Int(_)
        | PatternKind::Real(_)
        | PatternKind::Bool(_)
        | PatternKind::Error => pattern.kind.clone(),
    };
    Pattern { kind, span: pattern.span }
}

pub(super) type Names = HashMap<Rc<str>, LocalId>;

impl Infer<'_> {
    /// The pattern of a case, which may match some of the values only.
    pub(super) fn case_pattern(&mut self, pattern: &Pattern, ty: Ty, names: &Names) -> Pat {
        let outer = std::mem::replace(&mut self.in_case, true);
        let mut pat = self.pattern(pattern, ty, names, None);
        self.in_case = outer;
        if matching::alternatives(&pat) > matching::ALTERNATIVES {
            self.problems.push(messages::too_many_alternatives(pattern.span));
            pat.kind = PatKind::Wildcard;
        }
        pat
    }

    /// A pattern for values of a type. Its variables have been declared.
    pub(super) fn pattern(
        &mut self,
        pattern: &Pattern,
        ty: Ty,
        names: &Names,
        place: Option<&ParamPath>,
    ) -> Pat {
        let span = pattern.span;
        let kind = match &pattern.kind {
            PatternKind::Wildcard => PatKind::Wildcard,
            PatternKind::Error => {
                self.incomplete = true;
                PatKind::Wildcard
            }
            PatternKind::Var(name) if self.is_constructor(name) => {
                let name = Name { text: name.clone(), span };
                self.constructor_pattern(&name, &[], ty, names, span)
            }
            PatternKind::Var(name) => self.variable_pattern(name, ty, names, span),
            PatternKind::Int(value) => {
                let number = self
                    .solver
                    .unknown(UnknownKind::NUMBER, Some(Origin::new(&value.to_string(), span)));
                self.expect_type(number, ty, span, &Why::Pattern(span));
                PatKind::Number(*value)
            }
            PatternKind::Real(value) => {
                let real = self.solver.real();
                self.expect_type(real, ty, span, &Why::Pattern(span));
                PatKind::Real(*value)
            }
            PatternKind::Bool(value) => {
                let bool = self.solver.bool();
                self.expect_type(bool, ty, span, &Why::Pattern(span));
                PatKind::Bool(*value)
            }
            PatternKind::Tuple(items) => self.tuple_pattern(items, ty, names, place, span),
            PatternKind::Record(fields) => self.record_pattern(fields, ty, names, place, span),
            PatternKind::Con(name, items) => self.constructor_pattern(name, items, ty, names, span),
            PatternKind::Array(items) => self.array_pattern(items, ty, names, place, span),
            PatternKind::Or(items) => self.alternatives(items, ty, names),
            PatternKind::Annotated(inner, written) => {
                let annotated = self.ty(written, place);
                self.expect_type(ty, annotated, span, &Why::Annotation(written.span));
                return self.pattern(inner, ty, names, place);
            }
        };
        Pat { kind, ty, span }
    }

    fn variable_pattern(&mut self, name: &Rc<str>, ty: Ty, names: &Names, span: Span) -> PatKind {
        let Some(local) = names.get(name) else { return PatKind::Wildcard };
        let known = &self.locals[local.0 as usize];
        match known.size {
            Some(_) => self.expect_size(*local, ty, span),
            None => self.expect_type(ty, known.ty, span, &Why::Form("what it is used as")),
        }
        PatKind::Var(*local)
    }

    /// Whether a name that the parser took for a variable is a constructor of another file.
    pub(super) fn is_constructor(&self, name: &str) -> bool {
        name.starts_with(char::is_uppercase) && self.constructor_named(name).is_some()
    }

    /// The elements of an array. Outside of a case the type of the array gets this size.
    fn array_pattern(
        &mut self,
        items: &[Pattern],
        ty: Ty,
        names: &Names,
        place: Option<&ParamPath>,
        span: Span,
    ) -> PatKind {
        let length = Poly::constant(items.len() as i64);
        let known = match self.solver.get(ty).clone() {
            Node::Array(size, elem) => Some((self.solver.sizes.resolve(&size), elem)),
            _ => None,
        };
        let elem = known.as_ref().map_or_else(|| self.solver.fresh(), |(_, elem)| *elem);
        let same = known.is_some_and(|(size, _)| size == length);
        if !same {
            let size = if self.in_case { self.solver.fresh_size() } else { length };
            let array = self.solver.array(size, elem);
            self.expect_type(array, ty, span, &Why::Pattern(span));
        }
        let place = place.map(|place| place.then(Step::Element));
        let items = items.iter().map(|item| self.pattern(item, elem, names, place.as_ref()));
        PatKind::Array { items: items.collect(), known: same || !self.in_case }
    }

    /// Alternatives, which bind the same variables.
    fn alternatives(&mut self, items: &[Pattern], ty: Ty, names: &Names) -> PatKind {
        let bound = |pattern: &Pattern| {
            let mut names: Vec<Rc<str>> =
                pattern.names().into_iter().map(|name| name.text).collect();
            names.sort_unstable();
            names
        };
        let first = bound(&items[0]);
        for item in &items[1..] {
            let other = bound(item);
            let differs = |(a, b): &(&Rc<str>, &Rc<str>)| a != b;
            if first != other {
                let name = first.iter().find(|name| !other.contains(name));
                let name = name.or_else(|| other.iter().find(|name| !first.contains(name)));
                let twice = || other.iter().zip(&other[1..]).find(|pair| !differs(pair));
                let name = name.or_else(|| twice().map(|(name, _)| name)).or(first.first());
                let name = name.expect("they differ in a name");
                let problem = messages::alternative_variables(name, items[0].span, item.span);
                self.problems.push(problem);
            }
        }
        PatKind::Or(items.iter().map(|item| self.pattern(item, ty, names, None)).collect())
    }

    fn tuple_pattern(
        &mut self,
        items: &[Pattern],
        ty: Ty,
        names: &Names,
        place: Option<&ParamPath>,
        span: Span,
    ) -> PatKind {
        let parts: Vec<Ty> = match self.solver.get(ty) {
            Node::Tuple(parts) if parts.len() == items.len() => parts.to_vec(),
            _ => items.iter().map(|_| self.solver.fresh()).collect(),
        };
        let tuple = self.solver.tuple(parts.clone());
        self.expect_type(tuple, ty, span, &Why::Pattern(span));
        let inner = items.iter().zip(parts).enumerate();
        PatKind::Tuple(
            inner
                .map(|(k, (item, ty))| {
                    self.pattern(item, ty, names, place.map(|p| p.then(Step::Part(k))).as_ref())
                })
                .collect(),
        )
    }

    /// A pattern of fields; an unknown type becomes a record of exactly these fields.
    fn record_pattern(
        &mut self,
        fields: &[(Name, Pattern)],
        ty: Ty,
        names: &Names,
        place: Option<&ParamPath>,
        span: Span,
    ) -> PatKind {
        for (k, (name, _)) in fields.iter().enumerate() {
            if fields[..k].iter().any(|(other, _)| other.text == name.text) {
                self.problems.push(messages::duplicate_field(&name.text, name.span));
            }
        }
        if self.solver.is_unknown(ty) {
            let mut all: Vec<(Rc<str>, Ty)> =
                fields.iter().map(|(name, _)| (name.text.clone(), self.solver.fresh())).collect();
            all.sort_unstable();
            all.dedup_by(|a, b| a.0 == b.0);
            let record = self.solver.node(Node::Record(all.into()));
            self.expect_type(record, ty, span, &Why::Pattern(span));
        }
        PatKind::Record(
            fields
                .iter()
                .map(|(name, item)| self.field_pattern(name, item, ty, names, place, span))
                .collect(),
        )
    }

    fn field_pattern(
        &mut self,
        name: &Name,
        item: &Pattern,
        ty: Ty,
        names: &Names,
        place: Option<&ParamPath>,
        span: Span,
    ) -> (Rc<str>, Pat) {
        let found = match self.solver.get(ty) {
            Node::Record(known) => known
                .iter()
                .enumerate()
                .find(|(_, (field, _))| *field == name.text)
                .map(|(k, (_, ty))| (k, *ty)),
            _ => None,
        };
        let (k, field) = found.unwrap_or_else(|| {
            self.report_no_field(
                &name.text,
                ty,
                if self.solver.is_error(ty) { None } else { Some(name.span.to(span)) },
            );
            (0, self.solver.error())
        });
        let place = place.map(|p| p.then(Step::Part(k)));
        (name.text.clone(), self.pattern(item, field, names, place.as_ref()))
    }

    fn constructor_pattern(
        &mut self,
        name: &Name,
        items: &[Pattern],
        ty: Ty,
        names: &Names,
        span: Span,
    ) -> PatKind {
        let Some((variant, tag)) = self.constructor_named(&name.text) else {
            self.report_unknown_constructor(&name.text, name.span, false);
            let error = self.solver.error();
            items.iter().for_each(|item| {
                self.pattern(item, error, names, None);
            });
            return PatKind::Wildcard;
        };
        let (whole, mut fields) = self.instantiate_constructor(variant, tag);
        if items.is_empty() && !fields.is_empty() && !self.in_case {
            self.problems.push(messages::constructor_as_name(&name.text, fields.len(), span));
            self.misnamed.insert(name.text.clone());
            return PatKind::Wildcard;
        }
        self.expect_type(whole, ty, span, &Why::Pattern(span));
        if fields.len() != items.len() {
            self.problems.push(messages::constructor_arity(
                &name.text,
                fields.len(),
                items.len(),
                span,
            ));
            let error = self.solver.error();
            fields.resize(items.len(), error);
            items.iter().zip(fields).for_each(|(item, ty)| {
                self.pattern(item, ty, names, None);
            });
            return PatKind::Wildcard;
        }
        let items = items
            .iter()
            .zip(fields)
            .map(|(item, ty)| self.pattern(item, ty, names, None))
            .collect();
        let kind = PatKind::Con(variant, tag, items);
        let Node::Record(parts) = self.solver.get(whole) else { return kind };
        // Its sizes stand beside the value.
        let (label, ty) = parts.last().expect("a variant with sizes has parts").clone();
        PatKind::Record(vec![(label, Pat { kind, ty, span })])
    }

    /// Types of a constructor's result and arguments, with new unknowns.
    pub(super) fn instantiate_constructor(
        &mut self,
        variant: VariantId,
        tag: usize,
    ) -> (Ty, Vec<Ty>) {
        let info = self.solver.variant(variant).clone();
        let args: Vec<Ty> = info.params.iter().map(|_| self.solver.fresh()).collect();
        let vars: HashMap<Ty, Ty> = info.params.iter().copied().zip(args.iter().copied()).collect();
        let mut atoms = HashMap::new();
        let mut sizes = Vec::new();
        for (_, atom) in &info.sizes {
            let size = self.solver.fresh_size();
            atoms.insert(*atom, size.clone());
            sizes.push(size);
        }
        for ty in &info.constructors[tag].1 {
            self.loose_sizes(*ty, &mut atoms);
        }
        let fields = info.constructors[tag]
            .1
            .iter()
            .map(|ty| self.solver.copy(*ty, &vars, &atoms))
            .collect();
        (self.solver.variant_at(variant, sizes, args), fields)
    }

    /// Makes each `[]` in a constructor's argument a size of its own.
    pub(super) fn loose_sizes(&mut self, ty: Ty, atoms: &mut HashMap<Atom, Poly>) {
        let mut found = Vec::new();
        self.solver.visit(ty, &mut |solver, part| {
            if let Node::Array(size, _) = solver.get(part) {
                solver.sizes.atoms(size, &mut found);
            }
        });
        for atom in found {
            if let Entry::Vacant(entry) = atoms.entry(atom) {
                let fresh = self.solver.sizes.fresh(AtomKind::Opaque);
                self.solver.sizes.close(fresh);
                entry.insert(Poly::var(fresh));
            }
        }
    }

    /// The constructors of a variant, for the compiler of matches.
    pub(super) fn constructors(&self, variant: VariantId) -> Vec<(Rc<str>, usize)> {
        self.solver
            .variant(variant)
            .constructors
            .iter()
            .map(|(name, args)| (name.clone(), args.len()))
            .collect()
    }

    pub(super) fn demand_irrefutable(&mut self, pat: &Pat) {
        if let PatKind::Var(_) | PatKind::Wildcard = pat.kind {
            return;
        }
        if let Err(witness) = matching::irrefutable(pat, &|variant| self.constructors(variant)) {
            self.problems.push(messages::refutable(&witness, pat.span));
        }
    }
}
