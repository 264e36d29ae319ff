//! Names and idioms of other languages, and their counterparts in Lambada.

/// Module names of libraries in other languages.
const MODULES: [&str; 19] = [
    "np", "numpy", "jnp", "jax", "lax", "math", "Math", "cmath", "torch", "tf", "scipy", "nn",
    "std", "Prelude", "stats", "base", "sp", "pd", "optax",
];

/// Whether another language's library has a module of this name.
pub(crate) fn is_module(name: &str) -> bool {
    MODULES.contains(&name)
}

/// Names of other languages (NumPy, JAX, Stan, R, Haskell, Julia and others), and the counterpart
/// of each.
const NAMES: &[(&str, &str)] = &[
    ("len size numel nrow NROW num_elements", "`length xs` is the number of elements of an array"),
    (
        "ncol NCOL cols rows ndims ndim",
        "where a type names the sizes, as `[n][m]real` does, they are `n` and `m`; `length m[0]` is the number of columns",
    ),
    (
        "range arange seq seq_len seq_along linspaced_int_array",
        "`iota n` holds 0, 1, …, n - 1; `for i < n => e` makes any array",
    ),
    (
        "zeros zeros_like zeros_vector zeros_row_vector rep_vector0",
        "`replicate n 0.0` is an array of zeros",
    ),
    ("ones ones_like ones_vector", "`replicate n 1.0` is an array of ones"),
    (
        "full full_like fill rep rep_vector rep_row_vector rep_array rep_matrix repmat tile",
        "`replicate n x` is an array of n times x",
    ),
    ("identity_matrix identity", "`eye n` is the identity matrix, and `\\x -> x` the function"),
    (
        "linspace linspaced_vector geomspace",
        "write `for i < n => a + (b - a) * real i / real (n - 1)`",
    ),
    ("meshgrid expand_grid", "write `for x in xs, y in ys => e`"),
    (
        "print println printf puts putStrLn display cat show trace traceShow debug disp",
        "`inspect e` gives the value of `e` and prints it with its place",
    ),
    (
        "assert stopifnot error raise throw stop fail reject panic",
        "no definition fails by hand; indices and sizes are checked as they are used",
    ),
    ("ln logarithm log_e", "the natural logarithm is `log`"),
    ("log2", "write `log x / log 2.0`"),
    ("log10 lg", "write `log x / log 10.0`"),
    ("logb", "write `log x / log b`"),
    ("exp2", "write `2.0 ** x`"),
    ("exp10", "write `10.0 ** x`"),
    ("fabs absolute magnitude", "the absolute value is `abs`"),
    ("pow power powi powf expt math_pow", "a power is written `x ** y`"),
    ("square sqr", "a square is written `x ** 2`"),
    ("cube", "a cube is written `x ** 3`"),
    ("cbrt", "write `x ** (1.0 / 3.0)`, for a positive `x`"),
    ("inv reciprocal recip", "the inverse of a number is `1 / x`, that of a matrix `inverse a`"),
    ("inv_logit expit logistic plogis", "the logistic function is `sigmoid`"),
    ("qlogis", "write `log (p / (1 - p))`, or `special.logit` after `import \"std/special\"`"),
    ("relu ReLU", "write `max x 0.0`"),
    (
        "softplus log1p_exp",
        "write `log1p (exp x)`, or `special.log1pexp` after `import \"std/special\"`",
    ),
    ("log_sum_exp logaddexp", "`logsumexp xs` is the logarithm of a sum of exponentials"),
    ("log_softmax", "write `xs - logsumexp xs`"),
    ("fma", "write `a * b + c`"),
    ("clamp clip fclamp", "write `min (max x low) high`"),
    ("lerp", "write `a + t * (b - a)`"),
    ("signum sgn copysign", "the sign of a number is `sign x`"),
    ("rem fmod remainder modulo rem_euclid", "the remainder is written `a % b`"),
    ("mod", "the remainder is written `a % b`"),
    ("div quot divide floor_divide idiv", "integers are divided by `/`, which rounds down"),
    ("divMod quotRem divmod", "write `(a / b, a % b)`"),
    ("add plus", "a sum is written `a + b`"),
    ("subtract minus sub", "a difference is written `a - b`"),
    ("multiply times mul", "a product is written `a * b`"),
    ("negate neg", "the negative is written `-x`"),
    ("succ increment", "write `n + 1`"),
    ("pred decrement", "write `n - 1`"),
    ("isnan isNaN is_nan", "only a NaN differs from itself: write `x != x`"),
    ("isinf isInfinite is_inf", "write `abs x == inf`"),
    ("isfinite is_finite", "write `abs x < inf`"),
    ("deg2rad radians", "write `x * pi / 180`"),
    ("rad2deg degrees", "write `x * 180 / pi`"),
    ("arcsin", "the inverse sine is `asin`"),
    ("arccos", "the inverse cosine is `acos`"),
    ("arctan", "the inverse tangent is `atan`"),
    ("arctan2", "the angle of a point is `atan2 y x`"),
    ("asinh arcsinh", "write `log (x + sqrt (x * x + 1))`"),
    ("acosh arccosh", "write `log (x + sqrt (x * x - 1))`"),
    ("atanh arctanh", "write `0.5 * log ((1 + x) / (1 - x))`"),
    ("sinpi cospi", "write `sin (pi * x)` or `cos (pi * x)`"),
    ("ceiling", "the next larger whole number is `ceil x`"),
    ("trunc truncate fix toInteger as_int parseInt", "`int x` truncates"),
    ("rint nearbyint", "the nearest whole number is `round x`"),
    (
        "float double toFloat fromIntegral toDouble to_float to_real toReal as_numeric float64 Float64 realToFrac",
        "`real n` is the real of an int",
    ),
    ("int64 Int64 to_int int32 integer", "`int x` is the int of a real, truncated"),
    ("gammaln loggamma gammln lgam", "the logarithm of the gamma function is `lgamma`"),
    ("tgamma", "write `exp (lgamma x)`, for a positive `x`"),
    ("psi", "the derivative of `lgamma` is `digamma`"),
    ("trigamma", "write `polygamma 1 x`"),
    ("factorial", "write `exp (lgamma (n + 1))`"),
    ("lfactorial log_factorial", "write `lgamma (n + 1)`"),
    (
        "choose binom comb binomial_coefficient",
        "write `exp (lgamma (n + 1) - lgamma (k + 1) - lgamma (n - k + 1))`",
    ),
    ("lchoose", "write `lgamma (n + 1) - lgamma (k + 1) - lgamma (n - k + 1)`"),
    ("betaln", "`special.lbeta` is in `std/special`: `import \"std/special\"`"),
    ("pnorm Phi norm_cdf ndtr std_normal_cdf", "write `0.5 * erfc (-x / sqrt 2.0)`"),
    ("erfcx Phi_approx", "`erf` and `erfc` are there; more is in `std/special`"),
    (
        "qnorm ndtri probit inv_Phi",
        "write `sqrt 2.0 * special.erfinv (2 * p - 1)` after `import \"std/special\"`",
    ),
    ("dnorm norm_pdf", "write `exp (dist.normal_lpdf x mu sigma)` after `import \"std/dist\"`"),
    (
        "normal_log norm_logpdf logpdf",
        "densities are in `std/dist`: `import \"std/dist\"` and `dist.normal_lpdf x mu sigma`",
    ),
    (
        "rnorm randn standard_normal normal_rng",
        "random numbers are made from keys: `import \"std/random\"`, then `random.normal`",
    ),
    (
        "runif rand uniform_rng random_uniform PRNGKey set_seed seed",
        "random numbers are made from keys: `import \"std/random\"`, then `random.key` and `random.uniform`",
    ),
    (
        "sample rbinom rpois shuffle",
        "random numbers are made from keys: `import \"std/random\"`; `lambada doc random` lists what there is",
    ),
    ("matmul mm bmm multiply_matrices mdivide", "the product of matrices is written `a @ b`"),
    (
        "vdot inner inner_product dot_product dotproduct",
        "the inner product of vectors is `dot xs ys`",
    ),
    ("outer_product", "the outer product of vectors is `outer xs ys`"),
    ("dot_self sum_of_squares", "write `dot xs xs`"),
    (
        "tensordot einsum einsum2",
        "write the sum out: `for i < n, j < m => sum (for k < p => a[i, k] * b[k, j])`",
    ),
    ("t permute swapaxes", "the transpose of a matrix is `transpose m`"),
    ("linsolve mdivide_left backslash", "`solve a b` solves `a @ x == b`"),
    (
        "mdivide_left_tri_low solve_triangular forwardsolve",
        "`triangular_solve l b` solves `l @ x == b` for a lower triangular `l`",
    ),
    ("backsolve", "`triangular_solve_upper u b` solves `u @ x == b` for an upper triangular `u`"),
    ("chol cholesky_decompose potrf", "the Cholesky factor is `cholesky a`, lower triangular"),
    ("determinant", "the determinant is `det a`"),
    ("log_determinant slogdet logabsdet", "the logarithm of the determinant is `logdet a`"),
    (
        "eig eigen eigvals eigenvalues",
        "eigenvalues are in `std/linalg`: `import \"std/linalg\"`, then `linalg.eigh`",
    ),
    ("diag_matrix diagonal diagflat", "`diag` makes a diagonal matrix of a vector"),
    ("tr", "the trace of a matrix is `trace m`"),
    ("fro norm2 l2norm", "the length of a vector is `norm xs`"),
    (
        "concatenate append hstack vstack cat_arrays append_row append_col append_array vcat hcat",
        "`concat xs ys` joins two arrays",
    ),
    ("stack column_stack", "`[xs, ys]` is the matrix with these rows"),
    (
        "ravel unravel vec to_vector to_array_1d as_vector reshape2",
        "`flatten m` is the vector of all elements of a matrix",
    ),
    ("reshape view to_matrix", "write `for i < n, j < m => xs[i * m + j]`"),
    (
        "squeeze expand_dims unsqueeze newaxis",
        "`m[0]` is the first row, `[xs]` a matrix of one row",
    ),
    ("slice take head_n subarray", "a part of an array is written `xs[a:b]`"),
    ("drop tail", "the rest of an array is written `xs[k:]`"),
    ("head first car", "the first element of an array is `xs[0]`"),
    ("last", "the last element of an array is `xs[length xs - 1]`"),
    ("init", "all elements but the last are `xs[:length xs - 1]`"),
    (
        "nth elem_at get index_select gather",
        "an element is written `xs[i]`, several are `for i in places => xs[i]`",
    ),
    (
        "set put setindex index_update assign",
        "an array with a new element is written `xs with [i] = e`",
    ),
    ("push push_back cons snoc insert", "an array keeps its size; `concat xs [x]` is a longer one"),
    ("pop remove delete erase", "an array keeps its size; a part of it is written `xs[a:b]`"),
    ("roll rot circshift", "write `for i < n => xs[(i + n - k) % n]`"),
    ("flip flipud rev reversed", "`reverse xs` is the array backwards"),
    ("diff", "write `for i < length xs - 1 => xs[i + 1] - xs[i]`"),
    (
        "foldl foldr foldLeft foldl1 Reduce accumulate_ itertools inject",
        "`fold f start xs` goes through an array",
    ),
    (
        "scanl accumarray scanl1 cumulative_sum",
        "`scan f neutral xs` keeps all intermediate results",
    ),
    ("cumprod cumulative_product", "write `scan (*) 1 xs`"),
    ("cummax", "write `scan max (-inf) xs`"),
    ("zipWith map2 mapply zip_with Map", "write `for (x, y) in zip xs ys => e`"),
    (
        "vmap pmap fmap lapply sapply apply_along_axis broadcast mapM forM traverse",
        "`map f xs`, or `for x in xs => e`",
    ),
    ("forEach for_each mapM_", "`for x in xs => e` is the array of all `e`"),
    ("concatMap flatMap bind", "write `flatten (map f xs)`, where `f` gives arrays of one size"),
    ("prod", "the product of all elements is `product xs`"),
    (
        "add_reduce reduce_sum nansum rowSums colSums",
        "`sum xs`; of a matrix it is the row of column sums, and `map sum m` has the sums of rows",
    ),
    ("average colMeans rowMeans reduce_mean", "the mean of an array is `mean xs`"),
    ("amax nanmax maxval max_elem", "the largest element is `maximum xs`"),
    ("amin nanmin minval", "the smallest element is `minimum xs`"),
    ("which_max findmax", "the place of the largest element is `argmax xs`"),
    ("which_min findmin", "the place of the smallest element is `argmin xs`"),
    (
        "order sort_indices sortperm sort_indices_asc",
        "the places of the elements in their order are `argsort xs`",
    ),
    ("sort_asc sorted sortBy sortOn", "the elements in their order are `sort xs`"),
    ("sort_desc", "write `reverse (sort xs)`"),
    ("median quantile percentile", "write `let ys = sort xs in ys[length ys // 2]`"),
    ("var variance", "write `let m = mean xs in mean (for x in xs => (x - m) ** 2)`"),
    ("std stddev sd", "write `let m = mean xs in sqrt (mean (for x in xs => (x - m) ** 2))`"),
    ("cov cor corrcoef covariance correlation", "write `mean ((xs - mean xs) * (ys - mean ys))`"),
    ("any or_ some", "write `reduce (||) false xs`"),
    ("all and_ every", "write `reduce (&&) true xs`"),
    ("count count_nonzero countIf", "write `sum (for x in xs => if c then 1 else 0)`"),
    ("bincount tabulate hist", "`histogram n places weights` adds weights by their places"),
    ("elem contains member in_", "write `reduce (||) false (for x in xs => x == y)`"),
    (
        "gradient derivative deriv D ForwardDiff Zygote autodiff backward differentiate",
        "`grad f x` is the gradient of `f` at `x`",
    ),
    ("valueAndGrad withgradient", "write `value_and_grad f x`"),
    ("jacfwd jacrev jac numDeriv", "`jacobian f x` is the Jacobian of `f` at `x`"),
    ("hess", "`hessian f x` is the Hessian of `f` at `x`"),
    ("pullback vjp_fun rrule", "`vjp f x` is the value and the pullback"),
    ("pushforward frule", "`jvp f x dx` is the value and the tangent"),
    (
        "stop_gradient detach lax_stop_gradient no_grad",
        "a definition's own derivative is a rule, if it is not what its text says",
    ),
    ("jit compile njit grad_fn", "everything is compiled; nothing need be said"),
    (
        "scan_ fori_loop foriLoop while_loop iterate",
        "write `loop x = start for i < n do e`, or `while c do e`",
    ),
    (
        "where select cond ifelse if_else switch when unless",
        "a choice is written `if c then a else b`",
    ),
    (
        "quad quadgk trapz integrate_1d",
        "integrals are in `std/quadrature`: `import \"std/quadrature\"`",
    ),
    (
        "ode_rk45 ode45 solve_ivp ODEProblem integrate_ode",
        "`odeint f y0 ts` solves y' = f y t; more is in `std/ode`",
    ),
    (
        "optim nlm fminsearch argmin_f optimise",
        "`minimize f x0` finds a minimum; more is in `std/optimize`",
    ),
    ("uniroot fsolve find_root fzero bisect", "`root f x0` finds a zero"),
    (
        "interp approx interp1d",
        "interpolation is in `std/interpolate`: `import \"std/interpolate\"`",
    ),
    ("or", "truth values are joined by `||` and `&&`"),
    ("xor bitxor bitwise_xor", "of ints it is `bit_xor a b`, of truth values `a != b`"),
    ("bitand bitwise_and iand", "of ints it is `bit_and a b`"),
    ("bitor bitwise_or ior", "of ints it is `bit_or a b`"),
    ("bitnot bitwise_not complement", "of ints it is `bit_not a`"),
    ("shl lshift left_shift", "of ints it is `shift_left a k`"),
    ("shr rshift right_shift", "of ints it is `shift_right a k`"),
    ("fst", "the first component of a pair is written `p.0`"),
    ("snd", "the second component of a pair is written `p.1`"),
    ("const always", "write `\\_ -> x`"),
    ("flip_args swap_args", "write `\\a b -> f b a`"),
    ("compose circ", "functions are composed by `f >> g`, which applies `f` first"),
    ("curry uncurry partial", "write a function: `\\a b -> f (a, b)`"),
    ("id", "write `\\x -> x`"),
    ("PI Pi M_PI", "the number is `pi`"),
    ("e E exp1", "write `exp 1.0`"),
    ("Inf infinity Infinity INFINITY positive_infinity", "infinity is `inf`"),
    ("NaN NA NAN not_a_number", "it is called `nan`"),
    ("eps epsilon machine_epsilon", "write `2.2e-16`, the distance from 1 to the next real"),
    ("return", "the body of a definition is its result, without a word before it"),
    ("lambda function fun fn", "a function is written `\\x -> e`"),
    (
        "none null nil undefined",
        "there is no such value; a variant type can have a constructor for it",
    ),
    ("True False TRUE FALSE", "the truth values are `true` and `false`"),
    (
        "None Some Nothing Just Maybe Left Right Ok Err",
        "a type for this has to be defined, such as `type maybe = Nothing | Some real`",
    ),
    (
        "list tuple dict c vector array Array Vector c_ cbind rbind",
        "an array is written `[a, b, c]`, a tuple `(a, b)`, a record `{x = a}`",
    ),
    ("str string paste format String", "there is no text among the values"),
    (
        "dtype astype typeof type_of isinstance class",
        "types are found when a program is checked; `lambada check` prints them",
    ),
    ("copy deepcopy clone", "values never change, so nothing need be copied"),
    (
        "input readline read open_file load",
        "data comes with the command line: `lambada run FILE ENTRY --data FILE`",
    ),
    ("async await spawn parallel", "nothing need be said about what runs at the same time"),
];

/// The counterpart of another language's name.
pub(crate) fn instead(name: &str) -> Option<&'static str> {
    let row = NAMES.iter().find(|(names, _)| names.split(' ').any(|known| known == name));
    row.map(|(_, cure)| *cure)
}

/// The counterpart of a field that values have in other languages.
pub(crate) fn field(name: &str) -> Option<&'static str> {
    Some(match name {
        "shape" | "size" | "len" | "length" | "ndim" => {
            "the size of an array is `length xs`; where its type names it, as `[n]real` does, it is `n`"
        }
        "T" => "the transpose of a matrix is `transpose m`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::builtin::Builtin;

    fn names() -> Vec<&'static str> {
        NAMES.iter().flat_map(|(names, _)| names.split(' ')).collect()
    }

    #[test]
    fn each_name_has_one_cure() {
        let names = names();
        let different: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(different.len(), names.len());
        assert!(names.len() >= 150, "only {} names", names.len());
    }

    #[test]
    fn no_cure_is_for_what_the_language_has() {
        for name in names() {
            assert_eq!(Builtin::find(name, false), None, "`{name}` is a name of the language");
        }
    }

    #[test]
    fn cures_are_expressions_that_parse() {
        for (names, cure) in NAMES {
            assert_eq!(cure.matches('`').count() % 2, 0, "{names}: {cure}");
            for code in cure.split('`').skip(1).step_by(2) {
                if ["import", "type ", "lambada", "std/"].iter().any(|word| code.starts_with(word))
                {
                    continue;
                }
                // Operators and the beginning of a loop are not expressions.
                if ["||", "&&", "/", "while c do e"].contains(&code) {
                    continue;
                }
                let (_, problems) = lambada_surface::parse_expr(code, lambada_source::FileId(0));
                assert!(problems.is_empty(), "{names}: `{code}`: {problems:?}");
            }
        }
    }
}
