//! Recursive types that the text has definitions of, since its parameters or results are of them. Their nodes are written as values of these
//! types, with their tuples and records, and without the sizes of arrays, which the arrays know.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::Library;
use lambada_surface::ast::{Expr, ExprKind, Pattern, PatternKind, TypeExpr};
use lambada_surface::build;

/// A recursive type of the program.
#[derive(Clone, Debug)]
pub struct Declared {
    /// What its nodes are called in array code.
    pub node: String,
    /// The type.
    pub ty: TypeExpr,
    /// The constructors, with what the arguments are as fields of a node.
    pub constructors: Vec<(Rc<str>, Vec<Group>)>,
    /// Some value of the type, for places where none is ever read.
    pub filler: Expr,
}

/// The fields of a node that are one argument of a constructor, or a part of one.
#[derive(Clone, Debug)]
pub enum Group {
    /// A scalar or a value of a recursive type.
    One,
    /// An array of these, after its sizes, of which there are so many.
    Array(usize),
    /// The parts of a tuple.
    Tuple(Vec<Group>),
    /// The parts of a record.
    Record(Vec<(Rc<str>, Group)>),
}

/// A field that is a size: which field is the array, along which of its axes, and of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SizeOf {
    pub(crate) array: u32,
    pub(crate) axis: usize,
    pub(crate) rank: usize,
}

impl Group {
    /// How many fields it takes.
    fn width(&self) -> u32 {
        match self {
            Group::One => 1,
            Group::Array(rank) => *rank as u32 + 1,
            Group::Tuple(parts) => parts.iter().map(Group::width).sum(),
            Group::Record(parts) => parts.iter().map(|(_, part)| part.width()).sum(),
        }
    }

    /// The argument, from its fields.
    fn made(&self, fields: &mut dyn Iterator<Item = Expr>) -> Expr {
        let mut next = || fields.next().expect("a node has all fields of its constructor");
        match self {
            Group::One => next(),
            Group::Array(rank) => {
                (0..*rank).for_each(|_| _ = next());
                next()
            }
            Group::Tuple(parts) => {
                let parts = parts.iter().map(|part| part.made(fields));
                build::expr(ExprKind::Tuple(parts.collect()))
            }
            Group::Record(parts) => {
                let part = |(label, part): &(Rc<str>, Group)| {
                    (build::name(label.clone()), part.made(fields))
                };
                build::expr(ExprKind::Record(parts.iter().map(part).collect()))
            }
        }
    }

    /// A pattern that binds some of the fields, of which the first has the number `at`.
    fn pattern(&self, at: u32, names: &HashMap<u32, Rc<str>>) -> Pattern {
        let bound = |k: u32| match names.get(&k) {
            Some(name) => build::binds(name.clone()),
            None => build::pattern(PatternKind::Wildcard),
        };
        if !(at..at + self.width()).any(|k| names.contains_key(&k)) {
            return build::pattern(PatternKind::Wildcard);
        }
        match self {
            Group::One => bound(at),
            Group::Array(rank) => bound(at + *rank as u32),
            Group::Tuple(parts) => build::tuple_pattern(patterns(parts.iter(), at, names)),
            Group::Record(parts) => {
                let all = patterns(parts.iter().map(|(_, part)| part), at, names);
                let labels = parts.iter().map(|(label, _)| build::name(label.clone()));
                let bound = labels.zip(all).filter(|(_, p)| p.kind != PatternKind::Wildcard);
                build::pattern(PatternKind::Record(bound.collect()))
            }
        }
    }

    fn size(&self, at: u32, field: u32) -> Option<SizeOf> {
        match self {
            Group::One => None,
            Group::Array(rank) => (at..at + *rank as u32).contains(&field).then(|| SizeOf {
                array: at + *rank as u32,
                axis: (field - at) as usize,
                rank: *rank,
            }),
            Group::Tuple(parts) => size_among(parts.iter(), at, field),
            Group::Record(parts) => size_among(parts.iter().map(|(_, part)| part), at, field),
        }
    }
}

fn patterns<'g>(
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

fn size_among<'g>(
    groups: impl Iterator<Item = &'g Group>,
    mut at: u32,
    field: u32,
) -> Option<SizeOf> {
    for group in groups {
        if let Some(size) = group.size(at, field) {
            return Some(size);
        }
        at += group.width();
    }
    None
}

impl Declared {
    /// The types of the program by the nodes that their values are.
    pub(crate) fn by_node(all: &[Declared], library: &Library) -> HashMap<u32, Declared> {
        let of = |name: &String| all.iter().find(|declared| declared.node == *name);
        let nodes = library.nodes.iter().zip(0..);
        nodes.filter_map(|(node, k)| Some((k, of(&node.name)?.clone()))).collect()
    }

    /// `C (a, b) xs`
    pub(crate) fn made(&self, tag: u32, fields: Vec<Expr>) -> Expr {
        let (name, groups) = &self.constructors[tag as usize];
        let head = build::expr(ExprKind::Con(name.clone()));
        let mut fields = fields.into_iter();
        let args: Vec<Expr> = groups.iter().map(|group| group.made(&mut fields)).collect();
        if args.is_empty() { head } else { build::call(head, args) }
    }

    /// The arguments of a constructor as patterns that bind some of the fields.
    pub(crate) fn patterns(&self, tag: u32, names: &HashMap<u32, Rc<str>>) -> Vec<Pattern> {
        patterns(self.constructors[tag as usize].1.iter(), 0, names)
    }

    /// The field as the size of another one.
    pub(crate) fn size(&self, tag: u32, field: u32) -> Option<SizeOf> {
        size_among(self.constructors[tag as usize].1.iter(), 0, field)
    }
}
