//! A single run on small data. It starts in machine code that Lambada itself generates, without a C
//! compiler. If the run exceeds its budget, it starts over in code from the C compiler. The budget
//! counts instructions and not seconds, so that program and arguments alone determine which code
//! yields the result: the same command prints the same digits.

use std::sync::OnceLock;

use lambada_loops::Seen;
use lambada_prim::{Memory, Tensor};
use lambada_run::Kernel;
use lambada_source::{Failure, Span};

/// Instruction budget of the first attempt: some tenths of a second, less than the C compiler
/// takes.
const FEW: u64 = 1 << 30;

/// A program that runs once.
pub(crate) struct Brief {
    first: Kernel,
    /// Compiles with the C compiler, or explains why that fails.
    compile: Box<dyn Fn() -> Result<Kernel, String>>,
    later: OnceLock<Result<Kernel, String>>,
}

impl Brief {
    /// The program must not `inspect` values, because the second attempt would print them twice.
    pub fn new(first: Kernel, compile: impl Fn() -> Result<Kernel, String> + 'static) -> Brief {
        Brief { first, compile: Box::new(compile), later: OnceLock::new() }
    }

    pub fn limit(&mut self, memory: Memory) {
        self.first.limit(memory);
    }

    pub fn run(&self, args: &[Tensor], memory: Memory, seen: Seen) -> Result<Vec<Tensor>, Failure> {
        if let Some(result) = self.first.call_briefly(args, seen, FEW) {
            return result;
        }
        let compile = || {
            let mut kernel = (self.compile)()?;
            kernel.limit(memory);
            Ok(kernel)
        };
        match self.later.get_or_init(compile) {
            Ok(kernel) => kernel.call_seen(args, seen),
            Err(message) => Err(Failure { span: Span::default(), message: message.clone() }),
        }
    }
}
