//! The formatter.

use lambada_source::{Problem, stack};

use crate::Session;

impl Session {
    /// Formats a program in canonical layout: lines of at most 100 columns where possible, every
    /// comment in its place. The program need not type-check, and its imports are not read.
    /// Formatting is idempotent.
    ///
    /// # Errors
    /// The text does not parse. [`Session::render`] prints the problems under `name`.
    pub fn format(&mut self, name: &str, text: &str) -> Result<String, Vec<Problem>> {
        self.sources.begin();
        let file = self.sources.add(name, text);
        stack::roomy(|| lambada_surface::format(text, file))
    }
}
