//! Array primitives, evaluated and counted by their rows; and transposition.

use lambada_prim::Data;
use lambada_source::Failure;

use super::arena::WORD;
use super::compile::word;
use super::counts::Meter;
use super::machine::Machine;

impl<M: Meter> Machine<'_, M> {
    pub(super) fn kernel(&mut self, number: u32) -> Result<(), Failure> {
        let kernel = &self.body.kernels[number as usize];
        let row = kernel.prim.row();
        let sizes: Vec<usize> =
            kernel.sizes.iter().map(|size| self.int(*size).max(0) as usize).collect();
        let work = (row.work)(&sizes.iter().map(|size| *size as u64).collect::<Vec<u64>>());
        self.worked(work)?;
        let len = |axes: &str| -> usize {
            axes.chars().filter_map(|axis| Some(sizes[row.axes.find(axis)?])).product()
        };
        let version = &row.versions[0];
        let mut args = Vec::new();
        for (buf, axes) in kernel.args.iter().zip(version.args) {
            let count = len(axes);
            let place = self.place(*buf, 0, count as i64)?;
            let words = &self.memory[place..place + count];
            args.push(words.iter().map(|word| f64::from_bits(*word)).collect::<Vec<f64>>());
        }
        let args: Vec<&[f64]> = args.iter().map(|arg| &arg[..]).collect();
        let mut places = Vec::new();
        for (buf, axes) in kernel.to.iter().zip(version.results) {
            places.push(self.place(*buf, 0, len(axes) as i64)?);
        }
        let mut results = (row.eval)(self.precision, &sizes, &args);
        results.iter_mut().for_each(|data| self.precision.elements(data));
        for (data, place) in results.iter().zip(places) {
            let words = &mut self.memory[place..place + data.len()];
            words.iter_mut().enumerate().for_each(|(k, to)| *to = word(data.get(k)));
        }
        if M::COUNTS {
            self.meter.operations(work);
            self.meter.load(args.iter().map(|arg| arg.len() as u64).sum());
            let written: usize = results.iter().map(Data::len).sum();
            self.meter.write(written as u64 * WORD);
        }
        Ok(())
    }

    /// The distances between rows, in the target and in the source; the numbers of rows and columns
    /// of the source.
    pub(super) fn matrices(&self, args: usize) -> [i64; 4] {
        let arg = |k: usize| self.int(self.body.args[args + k].slot);
        [arg(0), arg(1), arg(2).max(0), arg(3).max(0)]
    }

    pub(super) fn transpose(&mut self, to: u32, from: u32, args: usize) -> Result<(), Failure> {
        let [to_row, from_row, rows, cols] = self.matrices(args);
        self.worked(rows.saturating_mul(cols).cast_unsigned())?;
        for row in 0..rows {
            let first = self.place(from, row * from_row, cols)?;
            for col in 0..cols {
                let place = self.place(to, col * to_row + row, 1)?;
                self.memory[place] = self.memory[first + col as usize];
            }
        }
        Ok(())
    }
}
