//! A unit before it is compiled: its text, and what calls know of its functions. Unlike functions,
//! it can be sent to a thread.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lambada_codegen::Unit;
use lambada_loops::{Buf, Function, Step, Stmt, is_parallel, param_types};
use lambada_prim::{Precision, ScalarTy};
use lambada_source::{Site, Span};
use libloading::Library;

use crate::native::{Native, load};
use crate::output::ResultType;
use crate::{CompileError, Compiler, Settings, cache};

/// A unit.
pub(crate) struct Prepared {
    unit: Unit,
    functions: Vec<Described>,
    settings: Settings,
}

/// A function.
#[derive(Clone)]
pub(crate) struct Described {
    pub name: String,
    /// The name in the library.
    pub symbol: String,
    /// Whether its functions call each other, and so need a stack.
    pub has_library: bool,
    pub is_parallel: bool,
    pub precision: Precision,
    pub params: Vec<(ScalarTy, bool)>,
    pub results: Vec<ResultType>,
    /// Number of words for results, or for the numbers of a failing check.
    pub words: usize,
    pub sites: Vec<Site>,
    /// The layout of inspected values by number.
    pub inspected: BTreeMap<u32, Vec<ResultType>>,
    /// Element type and source construct of each buffer.
    pub arrays: Vec<(ScalarTy, Span)>,
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

impl Described {
    fn of(function: &Function, symbol: &str) -> Described {
        let result = |result| ResultType::of(function, result);
        Described {
            name: function.name.clone(),
            symbol: symbol.to_string(),
            has_library: !function.library.functions.is_empty(),
            is_parallel: is_parallel(function),
            precision: function.precision,
            params: param_types(function),
            results: function.results.iter().map(result).collect(),
            words: lambada_codegen::result_words(function),
            sites: function.all_sites(),
            inspected: inspected(function),
            arrays: function.all().flat_map(arrays).collect(),
        }
    }
}

/// The layouts of the values that a function and its library inspect.
fn inspected(function: &Function) -> BTreeMap<u32, Vec<ResultType>> {
    let mut layouts = BTreeMap::new();
    for each in function.all() {
        lambada_loops::visit(&each.body, &mut |stmt| {
            if let Stmt::Step(Step::Inspect { number, values: shown }) = stmt {
                let outputs = shown.iter().map(|value| ResultType::of(each, value)).collect();
                layouts.insert(*number, outputs);
            }
        });
    }
    layouts
}

/// Element type and source construct of each buffer of a function.
fn arrays(function: &Function) -> impl Iterator<Item = (ScalarTy, Span)> {
    let origin = |k| function.origins.get(&Buf(k)).copied().unwrap_or_default();
    (0..).zip(&function.bufs).map(move |(k, (elem, _))| (*elem, origin(k)))
}
