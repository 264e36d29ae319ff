//! Sets of axes: sorted, without doubles. They are small, and most are shared by many nodes.

use std::rc::Rc;

/// Index of an axis in [`super::Graph::axes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AxisId(pub u32);

/// A set of axes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Axes(Option<Rc<[AxisId]>>);

impl Axes {
    /// One axis.
    pub fn one(axis: AxisId) -> Axes {
        [axis].into_iter().collect()
    }

    /// In ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = AxisId> + Clone + '_ {
        self.slice().iter().copied()
    }

    fn slice(&self) -> &[AxisId] {
        self.0.as_deref().unwrap_or(&[])
    }

    /// Number of axes.
    pub fn len(&self) -> usize {
        self.slice().len()
    }

    /// Whether there are no axes.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether an axis is among them.
    pub fn contains(&self, axis: AxisId) -> bool {
        self.slice().binary_search(&axis).is_ok()
    }

    /// Whether all of them are in the other set.
    pub fn is_subset(&self, of: &Axes) -> bool {
        self.iter().all(|axis| of.contains(axis))
    }

    /// Whether the sets have an axis in common.
    pub fn meets(&self, other: &Axes) -> bool {
        self.iter().any(|axis| other.contains(axis))
    }

    /// The axes of either set.
    #[must_use]
    pub fn union(&self, other: &Axes) -> Axes {
        if other.is_subset(self) {
            return self.clone();
        }
        if self.is_subset(other) {
            return other.clone();
        }
        self.iter().chain(other.iter()).collect()
    }

    /// The axes that are not in the other set.
    #[must_use]
    pub fn without(&self, other: &Axes) -> Axes {
        if !self.meets(other) {
            return self.clone();
        }
        self.iter().filter(|axis| !other.contains(*axis)).collect()
    }

    /// The axes of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Axes) -> Axes {
        self.iter().filter(|axis| other.contains(*axis)).collect()
    }
}

impl FromIterator<AxisId> for Axes {
    fn from_iter<T: IntoIterator<Item = AxisId>>(axes: T) -> Axes {
        let mut axes: Vec<AxisId> = axes.into_iter().collect();
        axes.sort_unstable();
        axes.dedup();
        Axes((!axes.is_empty()).then(|| axes.into()))
    }
}
