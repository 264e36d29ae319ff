//! Programs in canonical layout.

use lambada_source::{Problem, stack};

use crate::Session;

impl Session {
    /// A program in canonical layout: lines of at most 100 columns where possible, every comment
    /// where it was. It need not have types, and nothing that it imports is read. Formatting the
    /// result again changes nothing.
    ///
    /// # Errors
    /// What does not parse, which [`Session::render`] can show under this name.
    pub fn format(&mut self, name: &str, text: &str) -> Result<String, Vec<Problem>> {
        self.sources.begin();
        let file = self.sources.add(name, text);
        stack::roomy(|| lambada_surface::format(text, file))
    }
}
