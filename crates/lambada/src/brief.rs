//! A single run on little data: by machine code that is made here, which is there at once. A run
//! that takes long starts again, with the C compiler's. Which one gives the result depends on the
//! program and its arguments alone, since instructions are counted, not seconds: the same command
//! prints the same digits again.

use std::sync::OnceLock;

use lambada_loops::Seen;
use lambada_prim::{Memory, Tensor};
use lambada_run::Kernel;
use lambada_source::{Failure, Span};

/// So many instructions or so take some tenths of a second. The C compiler takes longer.
const FEW: u64 = 1 << 30;

/// A program that is ready to run once.
pub(crate) struct Brief {
    first: Kernel,
    /// What the C compiler makes, or why it makes nothing.
    compile: Box<dyn Fn() -> Result<Kernel, String>>,
    later: OnceLock<Result<Kernel, String>>,
}

impl Brief {
    /// A program that shows nothing while it runs: what has been shown could not be taken back.
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
