//! Size of a type written out as a tree. A type shares its parts, so a short program can make one
//! too large to write: each `(x, x)` doubles it. All walks over types are as long as the written
//! type, so this module detects types that are too large, examining each part once.

use std::collections::HashMap;

use super::Solver;
use super::ty::{Node, Ty};

/// Limit on the parts of a type: scalars, tuples, functions and so on. Types of real programs have
/// some tens.
pub(crate) const PARTS: u64 = 100_000;

/// A type with fewer parts is counted by a plain walk.
const FEW: u64 = 64;

impl Solver {
    /// Whether the type has more than [`PARTS`] parts.
    pub fn is_too_large(&self, ty: Ty) -> bool {
        let mut left = FEW;
        !self.has_few(ty, &mut left) && self.weight(ty, &mut HashMap::new()).parts > PARTS
    }

    /// The parts directly inside.
    pub(super) fn inside(&self, ty: Ty) -> Vec<Ty> {
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

    fn weight(&self, ty: Ty, known: &mut HashMap<Ty, Weight>) -> Weight {
        let root = self.root(ty);
        if let Some(parts) = self.weights.borrow().get(&root) {
            return Weight { parts: *parts, whole: true };
        }
        if let Some(weight) = known.get(&root) {
            return *weight;
        }
        let own = Weight { parts: 1, whole: !matches!(self.get(root), Node::Unknown(_)) };
        let weight = self.inside(root).into_iter().fold(own, |all, part| {
            let part = self.weight(part, known);
            Weight { parts: all.parts.saturating_add(part.parts), whole: all.whole && part.whole }
        });
        if weight.whole {
            self.weights.borrow_mut().insert(root, weight.parts);
        } else {
            known.insert(root, weight);
        }
        weight
    }
}

/// Number of parts of a type, and whether all are known, so that the number is final.
#[derive(Clone, Copy)]
struct Weight {
    parts: u64,
    whole: bool,
}
