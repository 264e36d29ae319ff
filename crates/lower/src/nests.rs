//! Runs of statements for which somebody else makes loops. Control flow around them, memory for what they give, and who owns it stay here.

use std::collections::HashMap;

use lambada_anf::{Function, Param, Stm, Var};
use lambada_loops::{
    Cell, Function as Loops, Nest, Operand, Param as Slot, Renaming, Return, Step,
};

use crate::Lower;
use crate::memory::{Place, Value};

/// Makes loops for runs of statements.
pub trait Nests {
    /// The runs of a function that have loops, by the first variable that each binds.
    fn of(&self, function: &Function) -> HashMap<Var, Kernel>;
}

/// No run has loops.
#[derive(Clone, Copy, Debug)]
pub struct NoNests;

impl Nests for NoNests {
    fn of(&self, _: &Function) -> HashMap<Var, Kernel> {
        HashMap::new()
    }
}

/// Loops for a run of statements.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// How many statements.
    pub statements: usize,
    /// Those of them that give the sizes of outputs: they are lowered as they are.
    pub before: Vec<usize>,
    /// What the parameters stand for, scalars and arrays; the others are memory for the outputs that are arrays.
    pub inputs: Vec<Var>,
    /// What is needed elsewhere: of the scalars, the results of the loops, in order.
    pub outputs: Vec<Param>,
    /// Accumulators, arrays, to which the loops add: their memory is a parameter behind that of the outputs.
    pub added: Vec<Var>,
    /// The loops. They call nothing, and their checks come first.
    pub code: Loops,
}

impl<'a> Lower<'a> {
    /// The loops that begin with the statement of the current block.
    pub(crate) fn kernel(&self, stm: &Stm) -> Option<std::rc::Rc<Kernel>> {
        let first = stm.binds.first()?;
        self.kernels.get(&first.var).cloned()
    }

    /// The loops of a run of statements, of which `stms` are the first ones.
    pub(crate) fn nests(&mut self, stms: &'a [Stm], at: usize, kernel: &Kernel) {
        for k in &kernel.before {
            self.statement(&stms[*k]);
        }
        // What the run reads is in use until its end, and what it gives is not there before.
        self.env.arrive(at);
        let mut renaming = Renaming::default();
        let inputs: Vec<Value> = kernel.inputs.iter().map(|var| self.input(*var)).collect();
        let mut places = Vec::new();
        for p in kernel.outputs.iter().filter(|p| !p.ty.dims.is_empty()) {
            let place = self.target_apart(p, &places);
            places.push(place);
        }
        let added = kernel.added.iter().map(|acc| match self.env.value_of(*acc) {
            Value::Array(place) => place.clone(),
            Value::Scalar(_) | Value::Elements(_) | Value::Cell(_) => {
                unreachable!("an accumulator of an array is in memory")
            }
        });
        let given: Vec<Place> = places.iter().cloned().chain(added).collect();
        let scalars: Vec<Cell> = self.results(kernel);
        self.names(kernel, &inputs, &given, &mut renaming);
        let mut body = kernel.code.body.clone();
        renaming.apply(&mut body);
        let set = |(cell, result): (&Cell, &Return)| match result {
            Return::Scalar(value) => Some(Step::Set(*cell, renaming.operand(*value)).into()),
            Return::Buffer(..) => None,
        };
        body.extend(scalars.iter().zip(&kernel.code.results).filter_map(set));
        self.code.push(Nest::Scope(body));
        self.env.arrive(at + kernel.statements - 1);
        let (mut places, mut scalars) = (places.into_iter(), scalars.into_iter());
        for p in &kernel.outputs {
            let value = if p.ty.dims.is_empty() {
                scalars.next().map(|cell| Value::Scalar(self.code.get(cell)))
            } else {
                places.next().map(Value::Array)
            };
            value.into_iter().for_each(|value| self.bind(p.var, value));
        }
    }

    /// An input: arrays are in memory.
    fn input(&mut self, var: Var) -> Value {
        match self.env.value_of(var).clone() {
            Value::Elements(items) => {
                let elem = self.code.elem_of(items[0]);
                let dims = [Operand::int(items.len() as i64)];
                let (level, hint) = (self.code.level(), self.env.hint(var));
                let place = self.alloc_at(level, elem, dims.into(), hint, None);
                let buf = self.memory.buf(place.storage);
                for (k, item) in items.into_iter().enumerate() {
                    self.code.store(buf, Operand::int(k as i64), item);
                }
                Value::Array(place)
            }
            Value::Cell(cell) => Value::Scalar(self.code.get(cell)),
            value @ (Value::Scalar(_) | Value::Array(_)) => value,
        }
    }

    fn results(&mut self, kernel: &Kernel) -> Vec<Cell> {
        let scalars = kernel.outputs.iter().filter(|p| p.ty.dims.is_empty());
        let cell = |p: &Param| {
            let elem = p.ty.elem.scalar();
            self.code.cell(elem, Operand::Lit(elem.zero()), self.env.hint(p.var))
        };
        scalars.map(cell).collect()
    }

    /// What the names of the loops become.
    fn names(
        &mut self,
        kernel: &Kernel,
        inputs: &[Value],
        places: &[Place],
        renaming: &mut Renaming,
    ) {
        let code = &kernel.code;
        let outputs = places.iter().map(|place| Value::Array(place.clone()));
        let mut given = (HashMap::new(), HashMap::new());
        for (param, value) in code.params.iter().zip(inputs.iter().cloned().chain(outputs)) {
            match (param, value) {
                (Slot::Scalar(reg), Value::Scalar(operand)) => _ = given.0.insert(*reg, operand),
                (Slot::Buffer(buf) | Slot::Owned(buf) | Slot::Shared(buf), Value::Array(place)) => {
                    given.1.insert(*buf, self.pointer(&place));
                }
                (Slot::Scalar(_), Value::Array(_) | Value::Elements(_) | Value::Cell(_))
                | (
                    Slot::Buffer(_) | Slot::Owned(_) | Slot::Shared(_),
                    Value::Scalar(_) | Value::Elements(_) | Value::Cell(_),
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
