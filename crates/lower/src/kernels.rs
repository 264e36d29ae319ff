//! Kernels: the loops of placed programs, with their results in memory of the caller.

use std::collections::HashMap;

use lambada_anf::{Kernel, Param, Stm, Var};
use lambada_emit::{Outputs, emit};
use lambada_loops::{Cell, Function as Loops, Nest, Operand, Param as Slot, Release, Renaming};
use lambada_loops::{Return, Step};
use lambada_prim::ScalarTy;

use crate::Lower;
use crate::code::BodyKind;
use crate::memory::{LoweredValue, Place};

/// The places of the results of loops.
struct ResultPlaces {
    places: Vec<Place>,
    scalars: Vec<Cell>,
}

impl Lower<'_> {
    /// Loops that run if the condition holds. The memory of the results is allocated before,
    /// because the alternative statements fill the same memory.
    pub(crate) fn kernel(&mut self, stm: &Stm, kernel: &Kernel) {
        let code = emit(&kernel.placed, self.plan, Outputs::Given, kernel.runs);
        let (outputs, says) = match stm.binds.split_last() {
            Some((says, outputs)) if !kernel.is_total() => (outputs, Some(says)),
            Some(_) | None => (&stm.binds[..], None),
        };
        let when = self.env.operand(kernel.when);
        let given = self.given(outputs);
        let right = kernel.checked.then(|| {
            let none = Operand::Lit(ScalarTy::Bool.zero());
            self.code.cell(ScalarTy::Bool, none, "right")
        });
        if kernel.when.as_lit().is_some() {
            self.spliced(kernel, &code, &given, right);
        } else {
            self.code.open(BodyKind::Branch);
            self.spliced(kernel, &code, &given, right);
            let then = self.code.close();
            self.code.push(Nest::If { cond: when, then, otherwise: Vec::new() });
        }
        let ResultPlaces { places, scalars } = given;
        let (mut places, mut scalars) = (places.into_iter(), scalars.into_iter());
        for p in outputs {
            let value = if p.ty.dims.is_empty() {
                scalars.next().map(|cell| LoweredValue::Scalar(self.code.get(cell)))
            } else {
                places.next().map(LoweredValue::Array)
            };
            value.into_iter().for_each(|value| self.bind(p.var, value));
        }
        if let Some(says) = says {
            let right = right.map_or(when, |cell| self.code.get(cell));
            self.bind(says.var, LoweredValue::Scalar(right));
        }
    }

    /// The places of the results, disjoint from all inputs.
    fn given(&mut self, outputs: &[Param]) -> ResultPlaces {
        let mut places = Vec::new();
        for p in outputs.iter().filter(|p| !p.ty.dims.is_empty()) {
            let place = self.target_apart(p, &places);
            places.push(place);
        }
        ResultPlaces { places, scalars: self.results(outputs) }
    }

    /// The loops as a separate body.
    fn spliced(
        &mut self,
        kernel: &Kernel,
        code: &Loops,
        given: &ResultPlaces,
        right: Option<Cell>,
    ) {
        let mut renaming = Renaming::default();
        let inputs: Vec<LoweredValue> = kernel.inputs.iter().map(|var| self.input(*var)).collect();
        let added = kernel.added.iter().map(|acc| match self.env.value_of(*acc) {
            LoweredValue::Array(place) => place.clone(),
            LoweredValue::Scalar(_) | LoweredValue::Elements(_) | LoweredValue::Cell(_) => {
                unreachable!("an accumulator of an array is in memory")
            }
        });
        let places: Vec<Place> = given.places.iter().cloned().chain(added).collect();
        self.names(code, &inputs, &places, &mut renaming);
        let mut body = code.body.clone();
        renaming.apply(&mut body);
        let scalar = |result: &Return| match result {
            Return::Scalar(value) => Some(renaming.operand(*value)),
            Return::Buffer(..) => None,
        };
        let cells = given.scalars.iter().chain(&right);
        let results = code.results.iter().filter_map(scalar);
        body.extend(cells.zip(results).map(|(cell, value)| Step::Set(*cell, value).into()));
        self.code.push(Nest::Scope(Release::All, body));
    }

    /// An array in memory.
    pub(crate) fn in_memory(&mut self, var: Var) -> Place {
        match self.input(var) {
            LoweredValue::Array(place) => place,
            LoweredValue::Scalar(_) | LoweredValue::Elements(_) | LoweredValue::Cell(_) => {
                unreachable!("{var:?} is no array")
            }
        }
    }

    /// An input; arrays are put in memory.
    fn input(&mut self, var: Var) -> LoweredValue {
        match self.env.value_of(var).clone() {
            LoweredValue::Elements(items) => {
                let elem = self.code.elem_of(items[0]);
                let dims = [Operand::int(items.len() as i64)];
                let (level, hint) = (self.code.level(), self.env.hint(var));
                let place = self.alloc_at(level, elem, dims.into(), hint, None);
                let buf = self.memory.buf(place.storage);
                for (k, item) in items.into_iter().enumerate() {
                    self.code.store(buf, Operand::int(k as i64), item);
                }
                LoweredValue::Array(place)
            }
            LoweredValue::Cell(cell) => LoweredValue::Scalar(self.code.get(cell)),
            value @ (LoweredValue::Scalar(_) | LoweredValue::Array(_)) => value,
        }
    }

    fn results(&mut self, outputs: &[Param]) -> Vec<Cell> {
        let scalars = outputs.iter().filter(|p| p.ty.dims.is_empty());
        let cell = |p: &Param| {
            let elem = p.ty.elem.scalar();
            self.code.cell(elem, Operand::Lit(elem.zero()), self.env.hint(p.var))
        };
        scalars.map(cell).collect()
    }

    /// Renames the parameters of the loops.
    fn names(
        &mut self,
        code: &Loops,
        inputs: &[LoweredValue],
        places: &[Place],
        renaming: &mut Renaming,
    ) {
        let outputs = places.iter().map(|place| LoweredValue::Array(place.clone()));
        let mut given = (HashMap::new(), HashMap::new());
        for (param, value) in code.params.iter().zip(inputs.iter().cloned().chain(outputs)) {
            match (param, value) {
                (Slot::Scalar(reg), LoweredValue::Scalar(operand)) => {
                    _ = given.0.insert(*reg, operand)
                }
                (
                    Slot::Buffer(buf) | Slot::Owned(buf) | Slot::Shared(buf),
                    LoweredValue::Array(place),
                ) => {
                    given.1.insert(*buf, self.pointer(&place));
                }
                (
                    Slot::Scalar(_),
                    LoweredValue::Array(_) | LoweredValue::Elements(_) | LoweredValue::Cell(_),
                )
                | (
                    Slot::Buffer(_) | Slot::Owned(_) | Slot::Shared(_),
                    LoweredValue::Scalar(_) | LoweredValue::Elements(_) | LoweredValue::Cell(_),
                ) => unreachable!("an input is what its parameter takes"),
            }
        }
        let (regs, bufs) = given;
        renaming.regs = self.code.spliced_regs(code, &regs);
        renaming.bufs = self.code.spliced_bufs(code, &bufs);
        renaming.cells = self.code.spliced_cells(code);
        renaming.sites = code.sites.iter().map(|site| self.code.site(site)).collect();
    }
}
