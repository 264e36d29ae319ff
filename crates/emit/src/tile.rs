//! The iterations that a nest runs at once: those of its tile, and those of axes that it writes
//! out.

use lambada_graph::placed::WHOLE;
use lambada_graph::{Axes, AxisId};

/// Maximal number of axes: those of a tile, and those that are written out.
const MOST: usize = 2 + WHOLE;

/// One of the iterations: its number along each axis of the tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Copy([u8; MOST]);

impl Copy {
    /// The first of all.
    pub(super) const FIRST: Copy = Copy([0; MOST]);

    /// The representative of all copies that agree along `axes`.
    pub(super) fn along(self, tile: &[AxisId], axes: &Axes) -> Copy {
        let keep = |k: usize| if axes.contains(tile[k]) { self.0[k] } else { 0 };
        let mut copy = Copy::FIRST;
        (0..tile.len()).for_each(|k| copy.0[k] = keep(k));
        copy
    }

    /// Its number along an axis.
    pub(super) fn of(self, tile: &[AxisId], axis: AxisId) -> usize {
        let at = tile.iter().position(|own| *own == axis);
        at.map_or(0, |k| usize::from(self.0[k]))
    }

    /// The copy with another number along an axis.
    pub(super) fn with(mut self, tile: &[AxisId], axis: AxisId, number: usize) -> Copy {
        if let Some(k) = tile.iter().position(|own| *own == axis) {
            self.0[k] = number as u8;
        }
        self
    }
}
