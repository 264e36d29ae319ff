//! T-6: the fundamental lemmas.
