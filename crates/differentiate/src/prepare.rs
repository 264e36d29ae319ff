//! What happens to a function before it is differentiated: the pipeline simplifies it, and the
//! reverse mode rewrites it.

use lambada_anf::{Audience, FnId, Lambda, Library, Names, Param};

use crate::activity::Scope;
use crate::known::Handles;
use crate::{counted, elements, extrema, late, segments};

/// Rewrites a function before it is derived. The library has the functions that it calls; it may be
/// one of them, `itself`.
pub type Prepare = fn(
    library: &Library,
    names: &mut Names,
    f: &Lambda,
    captured: &[Param],
    itself: Option<FnId>,
    audience: Audience,
) -> Lambda;

/// What the reverse mode makes of a `while`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Whiles {
    /// A loop whose iterations leave linked nodes: it runs once.
    #[default]
    Linked,
    /// A loop that is counted first, where that is possible without nodes.
    Counted,
}

/// What the reverse mode rewrites first.
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
