//! Names for loops made elsewhere.

use std::collections::HashMap;

use lambada_loops::{Buf, Cell, Function, Operand, Reg};

use super::Code;

impl Code {
    /// New registers for those of other loops, except those that stand for operands.
    pub(crate) fn spliced_regs(
        &mut self,
        from: &Function,
        given: &HashMap<Reg, Operand>,
    ) -> Vec<Operand> {
        let level = self.level();
        let mut all = Vec::with_capacity(from.regs.len());
        for (k, (ty, hint)) in from.regs.iter().enumerate() {
            all.push(given.get(&Reg(k as u32)).copied().unwrap_or_else(|| {
                self.level_of.push(level);
                self.natural.push(false);
                self.function.reg(*ty, hint.clone()).into()
            }));
        }
        all
    }

    /// New names of buffers, except those in `given`.
    pub(crate) fn spliced_bufs(&mut self, from: &Function, given: &HashMap<Buf, Buf>) -> Vec<Buf> {
        let near = self.near;
        let mut all = Vec::with_capacity(from.bufs.len());
        for (k, (elem, hint)) in from.bufs.iter().enumerate() {
            all.push(given.get(&Buf(k as u32)).copied().unwrap_or_else(|| {
                let buf = self.function.buf(*elem, hint.clone());
                self.function.origins.extend(near.map(|span| (buf, span)));
                buf
            }));
        }
        all
    }

    /// New cells.
    pub(crate) fn spliced_cells(&mut self, from: &Function) -> Vec<Cell> {
        from.cells.iter().map(|(ty, hint)| self.function.cell(*ty, hint.clone())).collect()
    }
}
