//! Nodes, and the targets of calls and handles.
//!
//! A node is a record of words in the arena that a handle, an `int`, refers to; 0 is null. All
//! constructors of a type have one layout: a word for the tag, then one for each real, one for each
//! integer, truth value or handle, then two for each array. So a field that is read under a wrong
//! constructor is a wrong number and never a wrong address.

use std::rc::Rc;

use lambada_prim::ScalarTy;

/// Index of a node type in [`crate::Library::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Index of a function in [`crate::Library::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FnId(pub u32);

/// A field of a constructor of a node type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldId {
    /// The type.
    pub node: NodeId,
    /// The number of the constructor.
    pub tag: u32,
    /// The number of the field.
    pub field: u32,
}

/// A type of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeType {
    /// The name for users.
    pub name: Rc<str>,
    /// By tag: the fields.
    pub constructors: Vec<Vec<Field>>,
}

/// A field of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The type of the field, or of its elements. A handle is an `int`.
    pub elem: ScalarTy,
    /// Whether it is an array.
    pub array: bool,
    /// Whether it is a cell, which is added to. Else it never changes.
    pub cell: bool,
}

/// The kinds of fields, in the order in which a record has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldKind {
    Real,
    Word,
    Array,
}

impl Field {
    fn kind(&self) -> FieldKind {
        match (self.array, self.elem) {
            (true, _) => FieldKind::Array,
            (false, ScalarTy::Real) => FieldKind::Real,
            (false, ScalarTy::Int | ScalarTy::Bool) => FieldKind::Word,
        }
    }
}

impl NodeType {
    /// The most fields of a kind in a constructor.
    fn most(&self, kind: FieldKind) -> usize {
        let count = |fields: &Vec<Field>| fields.iter().filter(|f| f.kind() == kind).count();
        self.constructors.iter().map(count).max().unwrap_or(0)
    }

    /// The number of words of a record.
    pub fn words(&self) -> usize {
        1 + self.most(FieldKind::Real)
            + self.most(FieldKind::Word)
            + 2 * self.most(FieldKind::Array)
    }

    /// The word of a record at which a field begins.
    pub fn word(&self, tag: u32, field: u32) -> usize {
        let fields = &self.constructors[tag as usize];
        let kind = fields[field as usize].kind();
        let nth = fields[..field as usize].iter().filter(|f| f.kind() == kind).count();
        match kind {
            FieldKind::Real => 1 + nth,
            FieldKind::Word => 1 + self.most(FieldKind::Real) + nth,
            FieldKind::Array => {
                1 + self.most(FieldKind::Real) + self.most(FieldKind::Word) + 2 * nth
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructors_share_words_of_the_same_kind() {
        let scalar = |elem| Field { elem, array: false, cell: false };
        let array = Field { elem: ScalarTy::Real, array: true, cell: false };
        let (real, int) = (scalar(ScalarTy::Real), scalar(ScalarTy::Int));
        let node = NodeType {
            name: "t".into(),
            constructors: vec![vec![], vec![int, array, real], vec![real, int, int, real]],
        };
        assert_eq!(node.words(), 1 + 2 + 2 + 2);
        let words = |tag: u32| -> Vec<usize> {
            (0..node.constructors[tag as usize].len()).map(|k| node.word(tag, k as u32)).collect()
        };
        assert_eq!(words(1), [3, 5, 1]);
        assert_eq!(words(2), [1, 3, 4, 2]);
    }
}
