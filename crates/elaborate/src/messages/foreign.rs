//! Habits from other languages, and what is written here.

/// Names of modules that functions have elsewhere.
const MODULES: [&str; 12] =
    ["np", "numpy", "jnp", "jax", "math", "Math", "torch", "tf", "scipy", "nn", "std", "Prelude"];

/// Is it a module of another language's library?
pub(crate) fn is_module(name: &str) -> bool {
    MODULES.contains(&name)
}

/// What is written here for a name that other languages have.
pub(crate) fn instead(name: &str) -> Option<&'static str> {
    Some(match name {
        "len" | "size" | "numel" => "`length xs` is the number of elements of an array",
        "range" | "arange" => "`iota n` holds 0, 1, …, n - 1; `for i < n => e` makes any array",
        "zeros" | "zeros_like" => "`replicate n 0.0` is an array of zeros",
        "ones" | "ones_like" => "`replicate n 1.0` is an array of ones",
        "full" | "fill" => "`replicate n x` is an array of n times x",
        "linspace" => "write `for i < n => a + (b - a) * real i / real (n - 1)`",
        "print" | "println" | "printf" | "puts" | "putStrLn" | "display" => {
            "nothing is printed but the result, which may be a tuple with what is of interest"
        }
        "ln" => "the natural logarithm is `log`",
        "log2" => "write `log x / log 2.0`",
        "log10" => "write `log x / log 10.0`",
        "fabs" => "the absolute value is `abs`",
        "pow" | "power" => "a power is written `x ** y`",
        "square" => "a square is written `x ** 2`",
        "relu" => "write `max x 0.0`",
        "matmul" | "mm" => "the product of matrices is written `a @ b`",
        "concatenate" | "append" | "hstack" | "vstack" => "`concat xs ys` joins two arrays",
        "foldl" | "foldr" | "foldLeft" | "accumulate_" => "`fold f start xs` goes through an array",
        "zipWith" | "map2" => "write `for (x, y) in zip xs ys => e`",
        "vmap" | "pmap" | "fmap" => "`map f xs`, or `for x in xs => e`",
        "var" | "variance" => "write `let m = mean xs in mean (for x in xs => (x - m) ** 2)`",
        "std" | "stddev" => "write `let m = mean xs in sqrt (mean (for x in xs => (x - m) ** 2))`",
        "gradient" | "derivative" | "deriv" => "`grad f x` is the gradient of `f` at `x`",
        "jacfwd" | "jacrev" => "`jacobian f x` is the Jacobian of `f` at `x`",
        "where" | "select" | "cond" | "ifelse" => "a choice is written `if c then a else b`",
        "float" | "double" | "toFloat" | "fromIntegral" => "`real n` is the real of an int",
        "or" | "and_" => "truth values are joined by `||` and `&&`",
        "mod" => "the remainder is written `a % b`",
        "div" => "integers are divided by `/`, which rounds down",
        "return" => "the body of a definition is its result, without a word before it",
        "none" | "null" | "nil" => {
            "there is no such value; a variant type can have a constructor for it"
        }
        "True" => "the truth values are `true` and `false`",
        "False" => "the truth values are `true` and `false`",
        "None" | "Some" | "Nothing" | "Just" => {
            "a type for this has to be defined, such as `type maybe = Nothing | Some real`"
        }
        _ => return None,
    })
}

/// What is written here for a field that values have elsewhere.
pub(crate) fn field(name: &str) -> Option<&'static str> {
    Some(match name {
        "shape" | "size" | "len" | "length" | "ndim" => {
            "the size of an array is `length xs`; where its type names it, as `[n]real` does, it is `n`"
        }
        "T" => "the transpose of a matrix is `transpose m`",
        _ => return None,
    })
}
