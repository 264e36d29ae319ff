//! What running programs say about derivatives.

use lambada_source::{Site, Span};

/// A tangent or cotangent that is not of the shape of the data that it belongs to.
pub(crate) fn another_constructor() -> Site {
    let message = "this tangent or cotangent is not built by the same constructors as the value that it belongs to";
    Site::new(Span::default(), message)
}

/// An array in it that is of another size.
pub(crate) fn another_size() -> Site {
    let message = "an array in this tangent or cotangent has size {0}, but {1} in the value that it belongs to";
    Site::new(Span::default(), message)
}
