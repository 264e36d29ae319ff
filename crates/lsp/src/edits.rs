//! Edits of files in the form of the protocol.

use std::collections::HashMap;

use lambada_source::Fix;
use lsp_types::{TextEdit, Uri, WorkspaceEdit};

use crate::analysis::Analysis;

/// Edits of several documents.
#[allow(clippy::mutable_key_type)] // the protocol's type of addresses caches its parts
pub(crate) fn workspace_edit(
    edits: impl IntoIterator<Item = (Uri, Vec<TextEdit>)>,
) -> WorkspaceEdit {
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for (uri, edits) in edits {
        if !edits.is_empty() {
            changes.entry(uri).or_default().extend(edits);
        }
    }
    WorkspaceEdit::new(changes)
}

/// A fix as edits of its file; `None` if it is of another file.
pub(crate) fn fix_edits(analysis: &Analysis, fix: &Fix) -> Option<Vec<TextEdit>> {
    let own = |edit: &lambada_source::Edit| {
        let range = analysis.lines.of(edit.span);
        (edit.span.file == analysis.file()).then(|| TextEdit::new(range, edit.text.clone()))
    };
    fix.edits.iter().map(own).collect()
}
