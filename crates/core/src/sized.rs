//! Values of variant types with sizes. `tree [d]` is a record of the sizes and the value. Each size
//! is an array of that many `()`, so it is merged, checked, differentiated and stored like all
//! other sizes, and an empty array of trees still has its `d`. Users cannot write the labels.

use std::rc::Rc;

use crate::{Size, SizedTy, TypeId};

/// The label of the value, which stands after the sizes.
pub const VALUE: &str = "]";

/// The label of a size, by its position.
pub fn label(k: usize) -> String {
    format!("[{k:03}")
}

/// Whether these are the labels of a variant with its sizes.
pub fn is_sized<'a>(mut labels: impl Iterator<Item = &'a str>) -> bool {
    labels.next().is_some_and(|label| label.starts_with('['))
}

/// A label as intermediate forms print it.
pub(crate) fn shown(label: &str) -> String {
    match label.strip_prefix('[') {
        Some(k) => format!("size{}", k.trim_start_matches('0')),
        None if label == VALUE => "value".to_string(),
        None => label.to_string(),
    }
}

/// The sizes of a variant and the variant itself; `None` for other types.
pub fn of(ty: &SizedTy) -> Option<(impl Iterator<Item = &Size>, TypeId)> {
    let SizedTy::Record(fields) = ty else { return None };
    let ((_, SizedTy::Variant(id)), sizes) = fields.split_last()? else { return None };
    if !is_sized(sizes.iter().map(|(label, _)| &**label)) {
        return None;
    }
    Some((sizes.iter().filter_map(size_of), *id))
}

fn size_of((_, ty): &(Rc<str>, SizedTy)) -> Option<&Size> {
    let SizedTy::Array(size, _) = ty else { return None };
    Some(size)
}
