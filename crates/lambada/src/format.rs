//! Texts rewritten: in canonical layout, and after the fixes of their problems.

use std::path::PathBuf;

use lambada_source::{Problem, mend, stack};

use crate::session::{Session, Text, is_error};

/// Limit on the rounds: a fix may uncover problems of a later phase, and these have fixes again.
const ROUNDS: usize = 100;

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

    /// A text after the certain fixes of its errors and of the errors that then appear, and the
    /// number of fixes. Imports are relative to `folder`.
    pub fn mend(&mut self, name: &str, text: &str, folder: Option<PathBuf>) -> (String, usize) {
        let folder = folder.unwrap_or_default();
        let (mut text, mut total) = (text.to_string(), 0);
        for _ in 0..ROUNDS {
            let (unit, mut problems) =
                stack::roomy(|| self.elaborated(Text::of(name, &text), &folder, None));
            problems.retain(is_error);
            problems.sort_by_key(|problem| problem.labels.first().map(|label| label.span));
            let fixes = problems.iter().filter_map(Problem::certain_fix);
            let (mended, count) = mend(fixes, unit.file, &text);
            if count == 0 {
                break;
            }
            (text, total) = (mended, total + count);
        }
        (text, total)
    }
}
