//! Array primitives: a kernel that receives the sizes of the axes of its table row.

use lambada_anf::{Param, Var};
use lambada_loops::{Buf, Operand, Step};
use lambada_prim::ArrayPrim;

use crate::Lower;
use crate::memory::{LoweredValue, Place};

impl Lower<'_> {
    pub(crate) fn array_prim(&mut self, binds: &[Param], prim: ArrayPrim, args: &[Var]) {
        let places: Vec<Place> = args.iter().map(|arg| self.env.place((*arg).into())).collect();
        let mut targets: Vec<Place> = Vec::new();
        for bind in binds {
            let target = self.target_apart(bind, &targets);
            targets.push(target);
        }
        let ranks: Vec<usize> = places.iter().map(|place| place.dims.len()).collect();
        let version = prim.version(&ranks).expect("the checker has seen the ranks");
        let dims: Vec<&[Operand]> = places.iter().map(|place| &place.dims[..]).collect();
        let sizes = version.sizes(prim, &dims, Operand::int(1));
        let sizes = sizes.into_iter().map(|size| self.code.natural(size)).collect();
        let args: Vec<Buf> = places.iter().map(|place| self.pointer(place)).collect();
        let to = targets.iter().map(|target| self.pointer(target)).collect();
        self.code.push(Step::Kernel { prim, to, args, sizes });
        for (bind, target) in binds.iter().zip(targets) {
            self.bind(bind.var, LoweredValue::Array(target));
        }
    }
}
