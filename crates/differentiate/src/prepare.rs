//! What happens to a function before it is differentiated: the pipeline simplifies it, and the
//! reverse mode rewrites it.

use lambada_anf::{FnId, Lambda, Library, Names};

use crate::activity::Scope;
use crate::known::Handles;
use crate::{counted, elements, extrema, late, segments};

/// What the pipeline does to the body of a function of the library before that is derived. `lib`
/// has the functions that it calls; it may be one of them, `itself`.
pub type Prepare = fn(lib: &Library, names: &mut Names, f: &Lambda, itself: Option<FnId>) -> Lambda;

/// What the reverse mode makes of a `while`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Whiles {
    /// A loop whose iterations leave linked nodes: it runs once.
    #[default]
    Linked,
    /// A loop that is counted first, where that is possible without nodes.
    Counted,
}

/// Nothing.
pub(crate) fn as_it_is(_: &Library, _: &mut Names, f: &Lambda, _: Option<FnId>) -> Lambda {
    f.clone()
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
