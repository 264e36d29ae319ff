//! The standard library, written in Lambada: the prelude, visible everywhere, and the modules of
//! `import "std/NAME"`.

use std::rc::Rc;

use lambada_source::stack::Deep;
use lambada_source::{FileId, Sources};
use lambada_surface::ast::Module;
use lambada_surface::parse;

/// The text of the prelude.
pub const PRELUDE: &str = include_str!("../library/prelude.lam");

/// The prelude is the first file of every session, so that all sessions can share its tree.
const FIRST: FileId = FileId(0);

thread_local! {
    static TREE: Rc<Deep<Module>> = {
        let (module, problems) = parse(PRELUDE, FIRST);
        debug_assert!(problems.is_empty(), "the prelude does not parse: {problems:?}");
        Rc::new(module.into())
    };
}

/// The files of a new session: the prelude.
pub(crate) fn first_sources() -> Sources {
    let mut sources = Sources::default();
    let prelude = sources.add("<prelude>", PRELUDE);
    debug_assert_eq!(prelude, FIRST);
    sources.shared()
}

/// The syntax tree of the prelude, as a file of [`first_sources`]. Each thread parses it once.
pub(crate) fn prelude() -> Rc<Deep<Module>> {
    TREE.with(Rc::clone)
}

/// The modules: their names and texts, in alphabetical order.
pub const MODULES: [(&str, &str); 13] = [
    ("complex", include_str!("../library/std/complex.lam")),
    ("dist", include_str!("../library/std/dist.lam")),
    ("fft", include_str!("../library/std/fft.lam")),
    ("interpolate", include_str!("../library/std/interpolate.lam")),
    ("linalg", include_str!("../library/std/linalg.lam")),
    ("nn", include_str!("../library/std/nn.lam")),
    ("ode", include_str!("../library/std/ode.lam")),
    ("optimize", include_str!("../library/std/optimize.lam")),
    ("quadrature", include_str!("../library/std/quadrature.lam")),
    ("random", include_str!("../library/std/random.lam")),
    ("sample", include_str!("../library/std/sample.lam")),
    ("space", include_str!("../library/std/space.lam")),
    ("special", include_str!("../library/std/special.lam")),
];

/// The module called `name`, or one that defines `name`.
pub(crate) fn module_with(name: &str) -> Option<&'static str> {
    let head = format!("\ndef {name} ");
    let meant = |(module, text): &&(&str, &str)| *module == name || text.contains(&head);
    MODULES.iter().find(meant).map(|(module, _)| *module)
}

/// The text of a module.
pub fn module_text(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(module, _)| *module == name).map(|(_, text)| *text)
}
