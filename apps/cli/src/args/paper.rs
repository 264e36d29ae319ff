//! Forms of the paper's derivatives, and of their derivations.

use clap::ValueEnum;

/// A form of a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PaperStage {
    /// The program as categorical combinators, before any derivative
    Combinators,
    /// In the linear target language (Appendix A)
    Linear,
    /// In the applied target language (Appendix C)
    Applied,
    /// In the applied target language, with the primal computed once
    Shared,
    /// As optimized Lambada source, for any program
    Simplified,
}

/// A target language whose derivation can be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Derived {
    /// The linear target language (Appendix A)
    Linear,
    /// The applied target language (Appendix C)
    Applied,
    /// The applied target language, with the primal computed once
    Shared,
}

/// A form of a derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text in ASCII
    Text,
    /// A document in the notation of the paper
    Latex,
    /// A page that needs no other file
    Html,
    /// Data, as the book describes it
    Json,
}
