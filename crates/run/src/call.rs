//! A call of a kernel. Arguments are borrowed, and results are read in place. Machine code needs no
//! copies, and only the first call in a context allocates.

use std::time::Instant;

use lambada_loops::{EXHAUSTED, Program, Seen, Terms};
use lambada_prim::{Data, Memory, Scalar, Tensor};
use lambada_source::Failure;

use crate::Engine;
use crate::cancel::Cancel;
use crate::coming::Coming;
use crate::elements::{Argument, Elements, Got};
use crate::hosted::Destination;
use crate::native::NativeCall;
use crate::output;

/// Instructions of a run that does not wait for code of the C compiler: some tenths of a second.
fn few(engine: Engine) -> u64 {
    if engine == Engine::Jit { 1 << 30 } else { 1 << 24 }
}

/// A call before or after its run; see [`Kernel::with`](crate::Kernel::with). Any number of threads
/// may call a kernel, because each call has memory of its own.
pub struct Call<'c, 'a>(Way<'c, 'a>);

enum Way<'c, 'a> {
    Native(&'c mut NativeCall<'a>),
    Interpreted(&'c mut Interpreted<'a>),
}

pub(crate) struct Interpreted<'a> {
    program: &'a Program,
    /// Code that takes over from a run that lasts, and the engine until then.
    coming: Option<(&'a Coming, Engine)>,
    limit: Memory,
    args: Vec<Tensor>,
    results: Vec<Column>,
}

/// A result of the interpreter.
struct Column {
    dims: Vec<u64>,
    scalar: Option<Scalar>,
    data: Data,
    /// Truth values, one byte each.
    bytes: Vec<u8>,
}

impl<'c, 'a> Call<'c, 'a> {
    #[inline]
    pub(crate) fn native(call: &'c mut NativeCall<'a>) -> Call<'c, 'a> {
        Call(Way::Native(call))
    }

    pub(crate) fn interpreted(call: &'c mut Interpreted<'a>) -> Call<'c, 'a> {
        Call(Way::Interpreted(call))
    }

    /// Runs the function on the arguments; may be called repeatedly. `seen` receives inspected
    /// values in order: their number, and their parts.
    ///
    /// # Errors
    /// Failures of the program.
    #[inline]
    pub fn run(&mut self, seen: Seen) -> Result<(), Failure> {
        match &mut self.0 {
            Way::Native(call) => call.run(seen),
            Way::Interpreted(call) => call.run(seen),
        }
    }

    /// As [`run`](Call::run). Machine code computes large results in the memory of `destinations`,
    /// with an entry for each result; a result that it has computed elsewhere is to be copied.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn run_into(
        &mut self,
        seen: Seen,
        destinations: &[Option<Destination<'_>>],
    ) -> Result<(), Failure> {
        match &mut self.0 {
            Way::Native(call) => call.run_into(seen, destinations),
            Way::Interpreted(call) => call.run(seen),
        }
    }

    /// As [`run`](Call::run), then passes the results by value. Machine code builds large results
    /// in memory that their tensors own.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn take<R>(
        &mut self,
        seen: Seen,
        then: impl FnOnce(&mut dyn Iterator<Item = Tensor>) -> R,
    ) -> Result<R, Failure> {
        match &mut self.0 {
            Way::Native(call) => call.take(seen, then),
            Way::Interpreted(call) => Ok(then(&mut call.take(seen)?.into_iter())),
        }
    }

    /// As [`run`](Call::run), and returns the nanoseconds of the function itself.
    ///
    /// # Errors
    /// Failures of the program.
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

    /// Whether it runs machine code of the C compiler, which has a stack of its own.
    pub fn is_native(&self) -> bool {
        matches!(self.0, Way::Native(_))
    }

    /// The results of the run, in order.
    #[inline]
    pub fn results(&self) -> Results<'_> {
        match &self.0 {
            Way::Native(call) => Results(Source::Native(call.results())),
            Way::Interpreted(call) => Results(Source::Interpreted(call.results.iter())),
        }
    }
}

impl<'a> Interpreted<'a> {
    pub fn new(
        program: &'a Program,
        coming: Option<(&'a Coming, Engine)>,
        limit: Memory,
        args: Vec<Tensor>,
    ) -> Interpreted<'a> {
        Interpreted { program, coming, limit, args, results: Vec::new() }
    }

    fn run(&mut self, seen: Seen) -> Result<(), Failure> {
        self.results = self.take(seen)?.into_iter().map(Column::of).collect();
        Ok(())
    }

    fn take(&self, seen: Seen) -> Result<Vec<Tensor>, Failure> {
        if let Some((coming, engine)) = self.coming {
            let result = self.within(seen, Some(few(engine)));
            if !result.as_ref().is_err_and(|failure| failure.message == EXHAUSTED) {
                return result;
            }
            if let Some(native) = coming.then() {
                let args = self.args.iter().map(Argument::from);
                return native.begin(std::iter::empty(), args)?.take(seen, |all| all.collect());
            }
        }
        self.within(seen, None)
    }

    fn within(&self, seen: Seen, work: Option<u64>) -> Result<Vec<Tensor>, Failure> {
        let cancelled = Cancel::current().map(|cancel| cancel.flag());
        let terms = Terms { memory: self.limit, seen: Some(seen), cancelled, work };
        self.program.run_within(&self.args, &terms)
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
    Native(output::Results<'a>),
    Interpreted(std::slice::Iter<'a, Column>),
}

impl<'a> Iterator for Results<'a> {
    type Item = Got<'a>;

    #[inline]
    fn next(&mut self) -> Option<Got<'a>> {
        match &mut self.0 {
            Source::Native(results) => results.next(),
            Source::Interpreted(results) => results.next().map(Column::got),
        }
    }
}
