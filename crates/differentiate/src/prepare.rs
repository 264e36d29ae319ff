//! The preparation of a function for differentiation: simplification by the pipeline, then the
//! rewritings of the reverse mode.

use lambada_anf::{Audience, FnId, Lambda, Library, Names, Param};

use crate::activity::Scope;
use crate::known::Handles;
use crate::{counted, elements, extrema, late, segments};

/// A rewriting of a function before it is derived. `library` has its callees; `itself` is its own
/// number if it is one of them.
pub type Prepare = fn(
    library: &Library,
    names: &mut Names,
    f: &Lambda,
    captured: &[Param],
    itself: Option<FnId>,
    audience: Audience,
) -> Lambda;

/// The treatment of a `while` in the reverse mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Whiles {
    /// A loop whose iterations leave linked nodes: it runs once.
    #[default]
    Linked,
    /// A loop that a counting loop precedes, if no nodes or calls prevent it.
    Counted,
}

/// Applies the rewritings that precede the reverse mode.
pub(crate) fn rewritten(whiles: Whiles, names: &mut Names, scope: &Scope, f: &Lambda) -> Lambda {
    let f = extrema::rewrite_reductions(names, scope, f);
    let mut f = late::late_updates(f);
    if whiles == Whiles::Counted {
        f = counted::count_loops(names, scope, &f);
    }
    if scope.handles == Handles::Values {
        f = elements::read_first(names, scope, &f);
    }
    segments::cut_loops(names, scope, &f)
}
