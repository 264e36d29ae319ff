//! Constructor arguments as fields of nodes: a tuple or record becomes its parts; an array of these
//! becomes an array for each part, after the sizes.
//!
//! ```text
//!   Tree [](real, tree)        Tree (n : int) (xs : [n]real) (us : [n]ref tree)
//!
//!   made                       Tree (for i < n => (xs[i], us[i]))
//!   read                       match t | Tree ps -> for p in ps => p.1
//! ```

use std::collections::HashMap;
use std::rc::Rc;

use lambada_surface::ast::{BinaryOp, Clause, Expr, ExprKind, Pattern, PatternKind, TypeExpr};
use lambada_surface::build;

use crate::choices;
use crate::pieces::size_of;

/// The constructors of a variant, with their arguments.
pub type Constructors = Rc<[(Rc<str>, Vec<Group>)]>;

/// The fields of a node that form an argument of a constructor, or part of one.
#[derive(Clone, Debug)]
pub enum Group {
    /// A scalar or a value of a recursive type.
    One,
    /// An array, after its size.
    Array(Box<Group>),
    /// The parts of a tuple.
    Tuple(Vec<Group>),
    /// The parts of a record.
    Record(Vec<(Rc<str>, Group)>),
    /// The tag of a variant that does not contain itself, and the parts of all its constructors. No
    /// part is an array.
    Variant(Constructors),
}

/// Makes a fresh name.
pub(crate) type Fresh<'a> = &'a mut dyn FnMut(&str) -> Rc<str>;

/// Path to a field in an argument.
pub(crate) struct FieldPath {
    /// The field that a pattern binds so that this one can be read.
    pub(crate) bound: u32,
    /// Path from there to the elements.
    steps: Vec<Step>,
    /// For a size: its array and axis.
    pub(crate) size: Option<SizeOf>,
}

/// A size of an array.
#[derive(Clone, Copy)]
pub(crate) struct SizeOf {
    /// The field of the array.
    pub(crate) array: u32,
    axis: usize,
}

#[derive(Clone)]
enum Step {
    Each,
    Component(usize),
    Field(Rc<str>),
    /// The tag of the constructor.
    Tag(Constructors),
    /// An argument of a constructor: index of the constructor, and of the argument.
    Argument(usize, usize, Constructors),
}

impl Group {
    /// Number of fields.
    pub(crate) fn width(&self) -> u32 {
        match self {
            Group::One => 1,
            Group::Array(of) => 1 + of.width(),
            Group::Tuple(parts) => parts.iter().map(Group::width).sum(),
            Group::Record(parts) => parts.iter().map(|(_, part)| part.width()).sum(),
            Group::Variant(_) => self.parts().iter().map(|(_, part)| part.width()).sum(),
        }
    }

    /// The number of axes, for a scalar or an array of scalars.
    fn rank(&self) -> Option<u32> {
        let mut rank = 0;
        let mut inner = self;
        while let Group::Array(of) = inner {
            (rank, inner) = (rank + 1, of);
        }
        matches!(inner, Group::One).then_some(rank)
    }

    /// Whether the group is an array or contains one.
    pub fn has_arrays(&self) -> bool {
        matches!(self, Group::Array(_)) || self.parts().iter().any(|(_, part)| part.has_arrays())
    }

    fn parts(&self) -> Vec<(Step, &Group)> {
        match self {
            Group::One => Vec::new(),
            Group::Array(of) => vec![(Step::Each, of)],
            Group::Tuple(parts) => {
                parts.iter().enumerate().map(|(k, part)| (Step::Component(k), part)).collect()
            }
            Group::Record(parts) => {
                parts.iter().map(|(label, part)| (Step::Field(label.clone()), part)).collect()
            }
            Group::Variant(constructors) => {
                let arguments = constructors.iter().enumerate().flat_map(|(c, (_, parts))| {
                    let argument = move |k| Step::Argument(c, k, constructors.clone());
                    parts.iter().enumerate().map(move |(k, part)| (argument(k), part))
                });
                std::iter::once((Step::Tag(constructors.clone()), &Group::One))
                    .chain(arguments)
                    .collect()
            }
        }
    }

    // Making

    /// The argument, from its fields.
    pub(crate) fn made(&self, fields: &[Expr], fresh: Fresh) -> Expr {
        self.element(fields, &mut Vec::new(), fresh)
    }

    /// The argument as an element of the arrays around it.
    fn element(&self, fields: &[Expr], at: &mut Vec<Rc<str>>, fresh: Fresh) -> Expr {
        let indexed = |array: &Expr, at: &[Rc<str>]| {
            let places: Vec<Expr> = at.iter().map(|name| build::var(name.clone())).collect();
            if places.is_empty() { array.clone() } else { build::index(array.clone(), places) }
        };
        if let Some(rank) = self.rank() {
            return indexed(&fields[rank as usize], at);
        }
        if let Some(same) = self.unchanged(fields).filter(|_| at.is_empty()) {
            return same;
        }
        match self {
            Group::One => indexed(&fields[0], at),
            Group::Array(of) => {
                let index = fresh("i");
                at.push(index.clone());
                let body = of.element(&fields[1..], at, fresh);
                at.pop();
                build::for_(Clause::Range(build::name(index), fields[0].clone()), body)
            }
            Group::Tuple(parts) => {
                build::expr(ExprKind::Tuple(elements(parts.iter(), fields, at, fresh)))
            }
            Group::Record(parts) => {
                let values = elements(parts.iter().map(|(_, part)| part), fields, at, fresh);
                let labels = parts.iter().map(|(label, _)| build::name(label.clone()));
                build::expr(ExprKind::Record(labels.zip(values).collect()))
            }
            Group::Variant(constructors) => {
                let mut rest = &fields[1..];
                let made = constructors.iter().map(|(name, parts)| {
                    let width: u32 = parts.iter().map(Group::width).sum();
                    let (own, others) = rest.split_at(width as usize);
                    rest = others;
                    let args = elements(parts.iter(), own, at, fresh);
                    let head = build::expr(ExprKind::Con(name.clone()));
                    if args.is_empty() { head } else { build::call(head, args) }
                });
                let made: Vec<Expr> = made.collect();
                let tag = indexed(&fields[0], at);
                let choose = |otherwise: Option<Expr>, (k, made): (usize, Expr)| {
                    let is = build::binary(BinaryOp::Eq, tag.clone(), build::int(k as i64));
                    Some(match otherwise {
                        Some(otherwise) => choices::if_(is, made, otherwise),
                        None => made,
                    })
                };
                let chosen = made.into_iter().enumerate().rev().fold(None, choose);
                chosen.expect("a variant has constructors")
            }
        }
    }

    /// Collects the fields that are parts of arrays and are indexed to make the argument; its first
    /// field has the number `at`.
    pub(crate) fn indexed(&self, at: u32, found: &mut Vec<usize>) {
        if self.rank().is_some() {
            return;
        }
        if let Group::Array(of) = self {
            return of.arrays(at + 1, found);
        }
        let mut at = at;
        for (_, part) in self.parts() {
            part.indexed(at, found);
            at += part.width();
        }
    }

    /// Collects all fields that are no sizes.
    fn arrays(&self, at: u32, found: &mut Vec<usize>) {
        if let Group::One = self {
            return found.push(at as usize);
        }
        let mut at = at + u32::from(matches!(self, Group::Array(_)));
        for (_, part) in self.parts() {
            part.arrays(at, found);
            at += part.width();
        }
    }

    /// The variant from which all fields have been read.
    fn unchanged(&self, fields: &[Expr]) -> Option<Expr> {
        let (Group::Variant(_), ExprKind::Match(whole, arms)) = (self, &fields[0].kind) else {
            return None;
        };
        let zero = |k: usize| match &fields[k].kind {
            ExprKind::Match(_, arms) => arms.last().map(|arm| arm.body.clone()),
            _ => None,
        };
        let same = |k: usize| {
            let (steps, _) = self.inside(0, k as u32, 0)?;
            let zero = zero(k)?;
            (along((**whole).clone(), &steps, &zero, &mut |hint| hint.into()) == fields[k])
                .then_some(())
        };
        (!arms.is_empty() && (0..fields.len()).all(|k| same(k).is_some()))
            .then(|| (**whole).clone())
    }

    // Reading

    /// A pattern that binds some of the fields; the first field has the number `at`.
    fn pattern(&self, at: u32, names: &HashMap<u32, Rc<str>>) -> Pattern {
        let bound = |k: u32| match names.get(&k) {
            Some(name) => build::binds(name.clone()),
            None => build::pattern(PatternKind::Wildcard),
        };
        if !(at..at + self.width()).any(|k| names.contains_key(&k)) {
            return build::pattern(PatternKind::Wildcard);
        }
        match self {
            Group::One | Group::Array(_) | Group::Variant(_) => bound(self.bound(at)),
            Group::Tuple(parts) => build::tuple_pattern(patterns(parts.iter(), at, names)),
            Group::Record(parts) => {
                let all = patterns(parts.iter().map(|(_, part)| part), at, names);
                let labels = parts.iter().map(|(label, _)| build::name(label.clone()));
                let bound = labels.zip(all).filter(|(_, p)| p.kind != PatternKind::Wildcard);
                build::pattern(PatternKind::Record(bound.collect()))
            }
        }
    }

    /// The field whose name a pattern gives to the whole.
    fn bound(&self, at: u32) -> u32 {
        at + self.rank().unwrap_or_default()
    }

    /// The path to a field, if it belongs to the group.
    pub(crate) fn path(&self, at: u32, field: u32) -> Option<FieldPath> {
        match self {
            Group::One | Group::Array(_) | Group::Variant(_) => {
                let (steps, size) = self.inside(at, field, 0)?;
                Some(FieldPath { bound: self.bound(at), steps, size })
            }
            // Patterns take tuples and records apart.
            Group::Tuple(_) | Group::Record(_) => {
                let mut at = at;
                self.parts().into_iter().find_map(|(_, part)| {
                    let path = part.path(at, field);
                    at += part.width();
                    path
                })
            }
        }
    }

    /// The path to the elements of a field, below `depth` axes; a size is read from the first array
    /// that has it.
    fn inside(&self, at: u32, field: u32, depth: usize) -> Option<(Vec<Step>, Option<SizeOf>)> {
        if let Group::One = self {
            return (at == field).then(|| (Vec::new(), None));
        }
        let (mut part_at, mut depth) = (at, depth);
        if let Group::Array(of) = self {
            if at == field {
                let (array, steps) = of.first(at + 1);
                let steps = [vec![Step::Each], steps].concat();
                return Some((steps, Some(SizeOf { array, axis: depth })));
            }
            (part_at, depth) = (part_at + 1, depth + 1);
        }
        self.parts().into_iter().find_map(|(step, part)| {
            let found = part.inside(part_at, field, depth);
            part_at += part.width();
            found.map(|(steps, size)| ([vec![step], steps].concat(), size))
        })
    }

    /// The first field that is no size, and the path to it.
    fn first(&self, at: u32) -> (u32, Vec<Step>) {
        let inner = at + u32::from(matches!(self, Group::Array(_)));
        match self.parts().into_iter().next() {
            None => (at, Vec::new()),
            Some((step, part)) => {
                let (field, steps) = part.first(inner);
                (field, [vec![step], steps].concat())
            }
        }
    }
}

fn elements<'g>(
    parts: impl Iterator<Item = &'g Group>,
    fields: &[Expr],
    at: &mut Vec<Rc<str>>,
    fresh: Fresh,
) -> Vec<Expr> {
    let mut rest = fields;
    let part = |part: &Group| {
        let (own, others) = rest.split_at(part.width() as usize);
        rest = others;
        part.element(own, at, fresh)
    };
    parts.map(part).collect()
}

/// The patterns of adjacent arguments.
pub(crate) fn patterns<'g>(
    groups: impl Iterator<Item = &'g Group>,
    mut at: u32,
    names: &HashMap<u32, Rc<str>>,
) -> Vec<Pattern> {
    let pattern = |group: &Group| {
        let pattern = group.pattern(at, names);
        at += group.width();
        pattern
    };
    groups.map(pattern).collect()
}

impl FieldPath {
    /// The field, read from the variable that the pattern binds. `elem`: element type of the array
    /// that it is, or of which it is a size.
    pub(crate) fn read(&self, named: Expr, (elem, zero): (TypeExpr, &Expr), fresh: Fresh) -> Expr {
        match self.size {
            None => along(named, &self.steps, zero, fresh),
            Some(SizeOf { axis: 0, .. }) => size_of(named, 0, (elem, 1)),
            Some(SizeOf { axis, .. }) => {
                let rank = self.steps.iter().filter(|step| matches!(step, Step::Each)).count();
                size_of(along(named, &self.steps, zero, fresh), axis, (elem, rank))
            }
        }
    }
}

/// `for p in ps => p.1`
fn along(e: Expr, steps: &[Step], zero: &Expr, fresh: Fresh) -> Expr {
    let Some((step, rest)) = steps.split_first() else { return e };
    match step {
        Step::Component(k) => along(build::component(e, *k), rest, zero, fresh),
        Step::Field(label) => along(build::field(e, label), rest, zero, fresh),
        Step::Tag(constructors) => {
            let arm = |(k, (name, parts)): (usize, &(Rc<str>, Vec<Group>))| {
                build::arm(
                    constructor(name, vec![build::binds("_"); parts.len()]),
                    build::annotated(build::int(k as i64), build::named_ty("int")),
                )
            };
            build::match_(e, constructors.iter().enumerate().map(arm).collect())
        }
        Step::Argument(c, k, constructors) => {
            let (name, parts) = &constructors[*c];
            let argument = fresh("x");
            let mut patterns = vec![build::binds("_"); parts.len()];
            patterns[*k] = build::binds(argument.clone());
            let body = along(build::var(argument), rest, zero, fresh);
            let mut arms = vec![build::arm(constructor(name, patterns), body)];
            if constructors.len() > 1 {
                arms.push(build::arm(build::binds("_"), zero.clone()));
            }
            build::match_(e, arms)
        }
        Step::Each if rest.iter().all(|step| matches!(step, Step::Each)) => e,
        Step::Each => {
            let name = fresh("p");
            let body = along(build::var(name.clone()), rest, zero, fresh);
            build::for_(Clause::In(build::binds(name), e), body)
        }
    }
}

fn constructor(name: &Rc<str>, arguments: Vec<Pattern>) -> Pattern {
    build::pattern(PatternKind::Con(build::name(name.clone()), arguments))
}
