//! How large a type is when it is written out. A type shares its parts, so a short program can make one that no computer could write out:
//! each `(x, x)` doubles it. All that walks over types does so as if they were written out, so those that are too large are found here,
//! where each part is looked at once.

use std::collections::HashMap;

use super::Solver;
use super::ty::{Node, Ty};

/// The most parts that a type may have: scalars, tuples, functions and so on. Types of real programs have some tens.
pub(crate) const PARTS: u64 = 100_000;

/// A type with fewer parts is simply walked over.
const FEW: u64 = 64;

impl Solver {
    /// Has the type more than [`PARTS`] parts?
    pub fn is_too_large(&self, ty: Ty) -> bool {
        let mut left = FEW;
        !self.has_few(ty, &mut left) && self.weight(ty, &mut HashMap::new()) > PARTS
    }

    /// The parts directly inside.
    fn inside(&self, ty: Ty) -> Vec<Ty> {
        match self.get(ty) {
            Node::Unknown(_) | Node::Scalar(_) | Node::Error => Vec::new(),
            Node::Link(_) => unreachable!("`get` follows links"),
            Node::Tuple(items) | Node::Variant(_, items) => items.to_vec(),
            Node::Record(fields) => fields.iter().map(|(_, ty)| *ty).collect(),
            Node::Array(_, elem) => vec![*elem],
            Node::Fun(from, to) => vec![*from, *to],
        }
    }

    fn has_few(&self, ty: Ty, left: &mut u64) -> bool {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        self.inside(ty).into_iter().all(|part| self.has_few(part, left))
    }

    fn weight(&self, ty: Ty, known: &mut HashMap<Ty, u64>) -> u64 {
        let root = self.root(ty);
        if let Some(weight) = known.get(&root) {
            return *weight;
        }
        let parts = self.inside(root).into_iter().map(|part| self.weight(part, known));
        let weight = parts.fold(1, u64::saturating_add);
        known.insert(root, weight);
        weight
    }
}
