//! The interface of a function that the C compiler makes: all that its calls need.

use std::collections::BTreeMap;

use lambada_loops::{Buf, Function, Step, Stmt, is_parallel, param_types};
use lambada_prim::{Precision, ScalarTy};
use lambada_source::{Site, Span};

use crate::output::ResultType;

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

impl Described {
    pub fn of(function: &Function, symbol: &str) -> Described {
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
