//! Features of drawn programs, so that a test can ask for all of them.

/// A feature that a drawn program may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Functions as arguments, results, captured or in data.
    HigherOrder,
    /// `for`, indexing, updates, reductions.
    Arrays,
    /// `match`.
    Variants,
    /// `loop … for`.
    Loops,
    /// `loop … checkpoint`.
    Checkpoints,
    /// `loop … while`.
    While,
    /// `if`.
    Branches,
    /// Sizes that are known at run time.
    SymbolicSizes,
    /// A size that is 0.
    Empty,
    /// An index or a slice that may be out of range.
    MayFail,
    /// An array that a loop updates element by element.
    UpdateInLoop,
    /// `xs[a:b]`
    Slices,
    /// Elements at the indices that another array holds.
    Gathers,
    /// Arrays whose sizes are computed: `filter`.
    ComputedSizes,
    /// A derivative in the program.
    Derivatives,
    /// A function that calls itself.
    Recursion,
    /// Lists, trees.
    RecursiveData,
    /// Integers, booleans and arrays as fields of recursive data that is differentiated by.
    DataInNodes,
    /// Functions as fields of recursive data.
    FunctionsInData,
    /// Functions with derivative rules.
    Rules,
    /// A derivative by data that is not used, or not in all branches.
    Unused,
    /// A derivative at a special value that a branch keeps out, or at a tie.
    Guarded,
    /// A sparse Jacobian or Hessian.
    Sparse,
    /// A recursion that takes derivatives, or whose derivative is taken.
    NestedInRecursion,
    /// An integer where a real is wanted.
    Conversions,
    /// `/` and `//` of integers.
    Quotients,
    /// `==` on tuples, records, variants, arrays.
    DataEquality,
    /// `+`, `-` and scaling of tuples and records.
    VectorSpaces,
    /// `check "text {e}" condition value`.
    Checks,
    /// `for … if c => e`.
    Filters,
    /// `for (i, x) in enumerate xs => e`.
    Enumerates,
    /// Or-patterns.
    Alternatives,
    /// `| p if c -> e`.
    CasesWithConditions,
    /// `[a, b]` as a pattern.
    ArrayPatterns,
    /// A field of an unannotated parameter.
    Fields,
    /// Arrays of variants and tuples.
    ArraysOfData,
    /// `2 * x ^ 2`, `and`, `[e for x in xs]` and the like.
    Spellings,
    /// Functions of the library that people guess, of integers among others.
    Library,
    /// A derivative by a tuple or a record with an integer.
    MixedData,
    /// A function of numbers for arrays.
    ElementwiseCalls,
}

impl Feature {
    /// All that the suite's programs have.
    pub const ALL: [Feature; 40] = [
        Feature::HigherOrder,
        Feature::Arrays,
        Feature::Variants,
        Feature::Loops,
        Feature::Checkpoints,
        Feature::While,
        Feature::Branches,
        Feature::SymbolicSizes,
        Feature::Empty,
        Feature::MayFail,
        Feature::UpdateInLoop,
        Feature::Slices,
        Feature::Gathers,
        Feature::ComputedSizes,
        Feature::Derivatives,
        Feature::Recursion,
        Feature::RecursiveData,
        Feature::DataInNodes,
        Feature::FunctionsInData,
        Feature::Rules,
        Feature::Unused,
        Feature::Guarded,
        Feature::Sparse,
        Feature::NestedInRecursion,
        Feature::Conversions,
        Feature::Quotients,
        Feature::DataEquality,
        Feature::VectorSpaces,
        Feature::Checks,
        Feature::Filters,
        Feature::Enumerates,
        Feature::Alternatives,
        Feature::CasesWithConditions,
        Feature::ArrayPatterns,
        Feature::Fields,
        Feature::ArraysOfData,
        Feature::Spellings,
        Feature::Library,
        Feature::MixedData,
        Feature::ElementwiseCalls,
    ];
}
