//! A call of a kernel: arguments are lent, results are looked at where they are. Nothing is copied for machine code, and nothing is allocated
//! but what the first call in a context needs.

use std::time::Instant;

use lambada_loops::{Program, Seen};
use lambada_prim::{Data, Memory, Scalar, Tensor};
use lambada_source::Failure;

use crate::cancel::Cancel;
use crate::elements::{Elements, Got, Lent};
use crate::native::{self, NativeCall};

/// A call that is being prepared or has run; see [`Kernel::begin`](crate::Kernel::begin). As long as it lives, it has memory of its own, so any
/// number of threads may call a kernel.
pub struct Call<'a>(Way<'a>);

enum Way<'a> {
    Native(NativeCall<'a>),
    Interpreted(Interpreted<'a>),
}

struct Interpreted<'a> {
    program: &'a Program,
    limit: Memory,
    args: Vec<Tensor>,
    results: Vec<Column>,
}

/// A result of the interpreter.
struct Column {
    dims: Vec<u64>,
    scalar: Option<Scalar>,
    data: Data,
    /// Truth values as bytes.
    bytes: Vec<u8>,
}

impl<'a> Call<'a> {
    pub(crate) fn native(call: NativeCall<'a>) -> Call<'a> {
        Call(Way::Native(call))
    }

    pub(crate) fn interpreted(program: &'a Program, limit: Memory) -> Call<'a> {
        let (args, results) = (Vec::new(), Vec::new());
        Call(Way::Interpreted(Interpreted { program, limit, args, results }))
    }

    /// The next argument, a scalar.
    ///
    /// # Errors
    /// The function takes something else here.
    pub fn scalar(&mut self, value: Scalar) -> Result<(), Failure> {
        match &mut self.0 {
            Way::Native(call) => call.scalar(value),
            Way::Interpreted(call) => {
                call.args.push(Tensor::scalar(value));
                Ok(())
            }
        }
    }

    /// The next argument, an array of these sizes.
    ///
    /// # Errors
    /// The function takes something else here.
    pub fn array(&mut self, dims: &[usize], elements: Lent<'a>) -> Result<(), Failure> {
        match &mut self.0 {
            Way::Native(call) => call.array(elements),
            Way::Interpreted(call) => {
                call.args.push(Tensor { dims: dims.to_vec(), data: elements.copied() });
                Ok(())
            }
        }
    }

    /// Runs the function on the arguments; `seen` is told of what is inspected, in order: its number, and its parts. A call may run again.
    ///
    /// # Errors
    /// What the program fails with.
    pub fn run(&mut self, seen: Seen) -> Result<(), Failure> {
        match &mut self.0 {
            Way::Native(call) => call.run(seen),
            Way::Interpreted(call) => call.run(seen),
        }
    }

    /// As [`run`](Call::run), and the nanoseconds that the function itself took.
    ///
    /// # Errors
    /// What the program fails with.
    pub fn timed(&mut self) -> Result<u64, Failure> {
        let start = Instant::now();
        match &mut self.0 {
            Way::Native(call) => call.timed(),
            Way::Interpreted(call) => {
                call.run(&|_, _| {})?;
                Ok(start.elapsed().as_nanos() as u64)
            }
        }
    }

    /// The results of the run, in order.
    pub fn results(&self) -> Results<'_> {
        match &self.0 {
            Way::Native(call) => Results(Source::Native(call.results())),
            Way::Interpreted(call) => Results(Source::Interpreted(call.results.iter())),
        }
    }
}

impl Interpreted<'_> {
    fn run(&mut self, seen: Seen) -> Result<(), Failure> {
        let cancel = Cancel::current();
        let cancelled = cancel.as_ref().map(Cancel::flag);
        let tensors = self.program.run_within(&self.args, self.limit, seen, cancelled)?;
        self.results = tensors.into_iter().map(Column::of).collect();
        Ok(())
    }
}

impl Column {
    fn of(Tensor { dims, data }: Tensor) -> Column {
        let bytes = match &data {
            Data::Bool(values) => values.iter().map(|b| u8::from(*b)).collect(),
            Data::Real(_) | Data::Int(_) => Vec::new(),
        };
        let scalar = dims.is_empty().then(|| data.get(0));
        Column { dims: dims.into_iter().map(|size| size as u64).collect(), scalar, data, bytes }
    }

    fn got(&self) -> Got<'_> {
        let elements = match &self.data {
            Data::Real(values) => Elements::Real(values),
            Data::Int(values) => Elements::Int(values),
            Data::Bool(_) => Elements::Bool(&self.bytes),
        };
        self.scalar.map_or(Got::Array(&self.dims, elements), Got::Scalar)
    }
}

/// The results of a call, in order.
pub struct Results<'a>(Source<'a>);

enum Source<'a> {
    Native(native::Results<'a>),
    Interpreted(std::slice::Iter<'a, Column>),
}

impl<'a> Iterator for Results<'a> {
    type Item = Result<Got<'a>, Failure>;

    fn next(&mut self) -> Option<Result<Got<'a>, Failure>> {
        match &mut self.0 {
            Source::Native(results) => results.next(),
            Source::Interpreted(results) => results.next().map(|column| Ok(column.got())),
        }
    }
}
