//! Runs of statements for which somebody else makes loops. Control flow around them, memory for
//! what they give, and who owns it stay here.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{Atom, Block, Function, Param, Stm, Var};
use lambada_loops::{
    Cell, Function as Loops, Nest, Operand, Param as Slot, Release, Renaming, Return, Step,
};
use lambada_prim::{Prim, ScalarTy};

use crate::Lower;
use crate::branches::Joint;
use crate::code::Kind;
use crate::memory::{Place, Value};

/// Makes loops for runs of statements.
pub trait Nests {
    /// The function as it is lowered, with its library or without, and the loops for some of its
    /// runs of statements. Nothing if there are none. One of the library may be called often.
    fn of(&self, function: &Function, often: bool) -> Option<Nested>;
}

/// A function, of which some runs of statements have loops.
#[derive(Debug)]
pub struct Nested {
    /// The function; of its library nothing is said.
    pub function: Function,
    /// The loops, by the first variable that each run binds.
    pub kernels: HashMap<Var, Rc<Kernel>>,
    /// By array that a statement puts together from others, one after the other: these. Together
    /// they have its elements, and none is of negative size.
    pub concatenations: HashMap<Var, Rc<[Var]>>,
}

/// No run has loops.
#[derive(Clone, Copy, Debug)]
pub struct NoNests;

impl Nests for NoNests {
    fn of(&self, _: &Function, _: bool) -> Option<Nested> {
        None
    }
}

/// Loops for a run of statements.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// How many statements; one, if it is an `if` whose first branch the loops are for.
    pub statements: usize,
    /// Those of them that give the sizes of outputs: they are lowered as they are.
    pub before: Vec<usize>,
    /// Is the statement an `if`, whose second branch gives the results where the loops do not?
    pub otherwise: bool,
    /// Whether there is one result more, the last one, that says whether the others are right.
    pub checked: bool,
    /// What the parameters stand for, scalars and arrays; the others are memory for the outputs
    /// that are arrays.
    pub inputs: Vec<Var>,
    /// What is needed elsewhere: of the scalars, the results of the loops, in order.
    pub outputs: Vec<Param>,
    /// Accumulators, arrays, to which the loops add: their memory is a parameter behind that of the
    /// outputs.
    pub added: Vec<Var>,
    /// The loops. They call nothing, and their checks come first.
    pub code: Loops,
}

/// Where loops leave what they give.
struct Given {
    places: Vec<Place>,
    scalars: Vec<Cell>,
}

impl<'a> Lower<'a> {
    /// The loops that begin with the statement of the current block.
    pub(crate) fn kernel(&self, stm: &Stm) -> Option<Rc<Kernel>> {
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
        let given = self.given(&kernel.outputs);
        self.spliced(kernel, &given, None);
        self.env.arrive(at + kernel.statements - 1);
        let Given { places, scalars } = given;
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

    /// An `if` whose first branch has loops. The second one is taken where the condition does not
    /// hold, and where the loops say that they are not right: it writes all results again, and the
    /// loops have written nothing else.
    pub(crate) fn nests_or(
        &mut self,
        stm: &'a Stm,
        cond: Atom,
        [then, otherwise]: [&'a Block; 2],
        kernel: &Kernel,
    ) {
        let cond = self.env.operand(cond);
        let given = self.given(&stm.binds);
        let right = kernel.checked.then(|| {
            let none = Operand::Lit(ScalarTy::Bool.zero());
            self.code.cell(ScalarTy::Bool, none, "right")
        });
        self.code.open(Kind::Branch);
        self.within(then, &[], |lower| lower.spliced(kernel, &given, right));
        let first = self.code.close();
        let (mut places, mut scalars) = (
            given.places.into_iter().map(Joint::Place),
            given.scalars.into_iter().map(Joint::Cell),
        );
        let joint = |p: &Param| if p.ty.dims.is_empty() { scalars.next() } else { places.next() };
        let joints: Vec<Joint> = stm.binds.iter().filter_map(joint).collect();
        match right {
            None => {
                let otherwise = self.branch(otherwise, &joints);
                self.code.push(Nest::If { cond, then: first, otherwise });
            }
            Some(right) => {
                self.code.push(Nest::If { cond, then: first, otherwise: Vec::new() });
                let right = self.code.get(right);
                let wrong = self.code.prim(Prim::Not, vec![right], "wrong");
                let then = self.branch(otherwise, &joints);
                self.code.push(Nest::If { cond: wrong, then, otherwise: Vec::new() });
            }
        }
        for (bind, joint) in stm.binds.iter().zip(joints) {
            let value = self.joined(bind, joint);
            self.bind(bind.var, value);
        }
    }

    /// Where the results of loops are to be. No input is there.
    fn given(&mut self, outputs: &[Param]) -> Given {
        let mut places = Vec::new();
        for p in outputs.iter().filter(|p| !p.ty.dims.is_empty()) {
            let place = self.target_apart(p, &places);
            places.push(place);
        }
        Given { places, scalars: self.results(outputs) }
    }

    /// Loops as a body of their own.
    fn spliced(&mut self, kernel: &Kernel, given: &Given, right: Option<Cell>) {
        let mut renaming = Renaming::default();
        let inputs: Vec<Value> = kernel.inputs.iter().map(|var| self.input(*var)).collect();
        let added = kernel.added.iter().map(|acc| match self.env.value_of(*acc) {
            Value::Array(place) => place.clone(),
            Value::Scalar(_) | Value::Elements(_) | Value::Cell(_) => {
                unreachable!("an accumulator of an array is in memory")
            }
        });
        let places: Vec<Place> = given.places.iter().cloned().chain(added).collect();
        self.names(kernel, &inputs, &places, &mut renaming);
        let mut body = kernel.code.body.clone();
        renaming.apply(&mut body);
        let scalar = |result: &Return| match result {
            Return::Scalar(value) => Some(renaming.operand(*value)),
            Return::Buffer(..) => None,
        };
        let cells = given.scalars.iter().chain(&right);
        let results = kernel.code.results.iter().filter_map(scalar);
        body.extend(cells.zip(results).map(|(cell, value)| Step::Set(*cell, value).into()));
        self.code.push(Nest::Scope(Release::All, body));
    }

    /// An array, in memory.
    pub(crate) fn in_memory(&mut self, var: Var) -> Place {
        match self.input(var) {
            Value::Array(place) => place,
            Value::Scalar(_) | Value::Elements(_) | Value::Cell(_) => {
                unreachable!("{var:?} is no array")
            }
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

    fn results(&mut self, outputs: &[Param]) -> Vec<Cell> {
        let scalars = outputs.iter().filter(|p| p.ty.dims.is_empty());
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
