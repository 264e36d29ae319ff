//! A single run on little data: by machine code that is made here, which is there at once. A run that takes long starts again, with the C compiler's. Which one gives the
//! result depends on the program and its arguments alone, since instructions are counted, not seconds: the same command prints the same digits again.

use std::sync::OnceLock;

use lambada_anf::Function;
use lambada_loops::Seen;
use lambada_prim::{Memory, Tensor};
use lambada_run::Kernel;
use lambada_source::{Failure, Span};

use crate::options::{Engine, Options};
use crate::pipeline;

/// So many instructions or so take some tenths of a second. The C compiler takes longer.
const FEW: u64 = 1 << 30;

/// A program that is ready to run once.
pub(crate) struct Brief {
    first: Kernel,
    function: Function,
    options: Options,
    later: OnceLock<Result<Kernel, String>>,
}

impl Brief {
    /// A program that shows nothing while it runs: what has been shown could not be taken back.
    pub fn new(function: &Function, options: &Options) -> Result<Brief, Vec<crate::Problem>> {
        let quick = Options { engine: Engine::Jit, ..options.clone() };
        let first = pipeline::compiled(&pipeline::lower_to_run(function, &quick), &quick)?;
        let (function, options) = (function.clone(), options.clone());
        Ok(Brief { first, function, options, later: OnceLock::new() })
    }

    pub fn limit(&mut self, memory: Memory) {
        self.first.limit(memory);
    }

    pub fn run(
        &self,
        args: &[Tensor],
        memory: Memory,
        seen: Seen,
    ) -> Result<Vec<Tensor>, Failure> {
        if let Some(result) = self.first.call_briefly(args, seen, FEW) {
            return result;
        }
        let compile = || {
            let lowered = pipeline::lower_to_run(&self.function, &self.options);
            let mut kernel = pipeline::compiled(&lowered, &self.options)
                .map_err(|problems| problems.into_iter().map(|p| p.title).collect::<String>())?;
            kernel.limit(memory);
            Ok(kernel)
        };
        match self.later.get_or_init(compile) {
            Ok(kernel) => kernel.call_seen(args, seen),
            Err(message) => Err(Failure { span: Span::default(), message: message.clone() }),
        }
    }
}
