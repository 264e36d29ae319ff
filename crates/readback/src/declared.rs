//! Recursive types that the text defines because parameters or results have them. Their nodes are
//! printed as values of these types, with tuples and records, and without the sizes of arrays,
//! because the arrays know them.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::Library;
use lambada_surface::ast::{Expr, ExprKind, Pattern, TypeExpr};
use lambada_surface::build;

use crate::group::{FieldPath, Fresh, Group, patterns};

/// A recursive type of the program.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Name of its nodes in array code.
    pub node: String,
    /// The type.
    pub ty: TypeExpr,
    /// The constructors, with the fields of a node that make up each argument.
    pub constructors: Vec<(Rc<str>, Vec<Group>)>,
    /// Some value of the type, for places where no value is ever read.
    pub filler: Expr,
}

impl Declared {
    /// The types of the program by the node type of their values.
    pub(crate) fn by_node(all: &[Declared], library: &Library) -> HashMap<u32, Declared> {
        let of = |name: &String| all.iter().find(|declared| declared.node == *name);
        let nodes = library.nodes.iter().zip(0..);
        nodes.filter_map(|(node, k)| Some((k, of(&node.name)?.clone()))).collect()
    }

    /// `C (a, b) xs`
    pub(crate) fn made(&self, tag: u32, fields: &[Expr], fresh: Fresh) -> Expr {
        let (name, groups) = &self.constructors[tag as usize];
        let head = build::expr(ExprKind::Con(name.clone()));
        let mut rest = fields;
        let arg = |group: &Group| {
            let (own, others) = rest.split_at(group.width() as usize);
            rest = others;
            group.made(own, fresh)
        };
        let args: Vec<Expr> = groups.iter().map(arg).collect();
        if args.is_empty() { head } else { build::call(head, args) }
    }

    /// The fields that are indexed to make an argument.
    pub(crate) fn indexed(&self, tag: u32) -> Vec<usize> {
        let (mut at, mut indexed) = (0, Vec::new());
        for group in &self.constructors[tag as usize].1 {
            group.indexed(at, &mut indexed);
            at += group.width();
        }
        indexed
    }

    /// The arguments of a constructor as patterns that bind some of the fields.
    pub(crate) fn patterns(&self, tag: u32, names: &HashMap<u32, Rc<str>>) -> Vec<Pattern> {
        patterns(self.constructors[tag as usize].1.iter(), 0, names)
    }

    /// Path to a field in an argument of the constructor.
    pub(crate) fn path(&self, tag: u32, field: u32) -> Option<FieldPath> {
        let mut at = 0;
        self.constructors[tag as usize].1.iter().find_map(|group| {
            let path = group.path(at, field);
            at += group.width();
            path
        })
    }
}
