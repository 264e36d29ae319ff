//! Text and places in it, problems as data, and their rendering. Independent of any language.

mod call_text;
pub mod doc;
mod fix;
mod messages;
mod problem;
mod render;
pub mod scan;
mod span;
pub mod stack;
mod suggest;
mod words;

pub use call_text::{CallText, GivenFunction};
pub use doc::{About, Doc, Rewrite, Side};
pub use fix::{Applicability, Edit, Fix, HOLE, mend};
pub use messages::failed;
pub use problem::{Failure, Hint, Label, Problem, Severity};
pub use render::{render, render_failure};
pub use span::{FileId, Part, Shown, Site, Source, Sources, Span};
pub use suggest::suggest;
pub use words::{counted, quoted};
