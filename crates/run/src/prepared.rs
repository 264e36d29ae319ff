//! A unit before it is compiled. Unlike its functions, it can be sent to a thread.

use std::path::Path;
use std::sync::Arc;

use lambada_codegen::Unit;
use lambada_loops::Function;
use libloading::Library;

use crate::described::Described;
use crate::native::{Native, load};
use crate::{CompileError, Compiler, Settings, cache};

/// A unit.
pub(crate) struct Prepared {
    unit: Unit,
    functions: Vec<Described>,
    settings: Settings,
}

impl Prepared {
    pub fn of(functions: &[&Function], settings: Settings) -> Prepared {
        let unit = lambada_codegen::unit_in_parts(functions, settings.part);
        let described = functions.iter().zip(&unit.symbols);
        let functions = described.map(|(function, symbol)| Described::of(function, symbol));
        Prepared { functions: functions.collect(), unit, settings }
    }

    /// Compiles and loads it, or loads it from the cache.
    pub fn compiled(
        self,
        compiler: &Compiler,
        kept: Option<&Path>,
    ) -> Result<Vec<Native>, CompileError> {
        let library = cache::library(compiler, &self.unit, self.settings, kept, load)?;
        Prepared::loaded(library, self.functions, self.settings)
    }

    /// Loads it from the cache, if it is there.
    pub fn known(&self, compiler: &Compiler, kept: Option<&Path>) -> Option<Vec<Native>> {
        let library = cache::known(compiler, &self.unit, self.settings, kept, load)?;
        Prepared::loaded(library, self.functions.clone(), self.settings).ok()
    }

    fn loaded(
        library: Library,
        functions: Vec<Described>,
        settings: Settings,
    ) -> Result<Vec<Native>, CompileError> {
        let library = Arc::new(library);
        functions.into_iter().map(|function| Native::new(&library, function, settings)).collect()
    }
}
