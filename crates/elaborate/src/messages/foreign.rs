//! Names and idioms of other languages, and their counterparts in Lambada.

use lambada_source::{Fix, Hint, Span};

/// Module names of libraries in other languages.
const MODULES: [&str; 22] = [
    "np", "numpy", "jnp", "jax", "lax", "math", "Math", "cmath", "torch", "tf", "scipy", "std",
    "Prelude", "stats", "base", "sp", "pd", "optax", "List", "Array", "Seq", "Vector",
];

/// Whether another language's library has a module of this name.
pub(crate) fn is_module(name: &str) -> bool {
    MODULES.contains(&name)
}

/// Names of other languages (NumPy, JAX, Stan, R, Haskell, Julia and others), and the counterpart
/// of each.
const NAMES: &[(&str, &str)] = &[
    ("size numel nrow NROW num_elements", "`length xs` is the number of elements of an array"),
    (
        "ncol NCOL cols rows ndims ndim",
        "where a type names the sizes, as `[n][m]real` does, they are `n` and `m`; `length m[0]` is the number of columns",
    ),
    (
        "arange seq seq_len seq_along linspaced_int_array enumFromTo collect eachindex",
        "`range n` holds 0, 1, …, n - 1; `for i < n => e` makes any array",
    ),
    (
        "zeros_like zeros_vector zeros_row_vector rep_vector0 empty_like similar undef",
        "`zeros n` is an array of zeros, `zeros (n, m)` a matrix of them",
    ),
    ("ones_like ones_vector", "`ones n` is an array of ones, `ones (n, m)` a matrix of them"),
    (
        "full full_like fill rep_vector rep_row_vector rep_array rep_matrix repmat repeat make_array",
        "`replicate n x` is an array of n times x; `tile n xs` is the array xs n times",
    ),
    (
        "identity_matrix identity",
        "`eye n` is the identity matrix, `id` the function that returns its argument",
    ),
    ("linspaced_vector", "numbers at equal distances are `linspace a b n`"),
    ("geomspace logspace", "write `for x in linspace (log a) (log b) n => exp x`"),
    (
        "meshgrid expand_grid ndgrid mgrid cartesian",
        "all pairs are written `for x in xs, y in ys => e`",
    ),
    (
        "print println printf puts putStrLn display cat show traceShow debug disp println_debug print_endline print_string fprintf echo",
        "`inspect e` gives the value of `e` and prints it with its place",
    ),
    (
        "assert stopifnot error raise throw stop fail reject panic failwith invalid_arg abort exit",
        "a value under a condition is written `check \"x is {x}\" (x > 0) value`; where the condition fails, the program ends with this text; `error \"text {x}\"` always ends it",
    ),
    ("ln logarithm log_e", "the natural logarithm is `log`"),
    ("lg", "`log2 x` and `log10 x` are the logarithms to the bases 2 and 10"),
    ("logb", "write `log x / log b`"),
    ("exp2", "write `2.0 ** x`"),
    ("exp10", "write `10.0 ** x`"),
    ("fabs absolute magnitude", "the absolute value is `abs`"),
    ("pow power powi powf expt math_pow", "a power is written `x ** y`"),
    ("sqr", "a square is `square x`, or `x ** 2`"),
    ("cube", "a cube is written `x ** 3`"),
    ("cbrt", "write `x ** (1.0 / 3.0)`, for a positive `x`"),
    (
        "reciprocal recip inverse_spd",
        "the inverse of a number is `1 / x`, that of a matrix `inverse a`",
    ),
    ("inv_logit expit logistic plogis", "the logistic function is `sigmoid`"),
    ("qlogis", "write `log (p / (1 - p))`, or `special.logit` after `import \"std/special\"`"),
    ("ReLU rectifier", "write `relu x`"),
    ("gelu", "`nn.gelu x` is there after `import \"std/nn\"`"),
    ("silu swish", "`nn.silu x` is there after `import \"std/nn\"`"),
    ("elu", "write `if x > 0 then x else expm1 x`"),
    ("leaky_relu", "write `if x > 0 then x else 0.01 * x`"),
    ("mse mse_loss mean_squared_error", "write `mean ((xs - ys) ** 2)`"),
    ("rmse", "write `sqrt (mean ((xs - ys) ** 2))`"),
    (
        "cross_entropy softmax_cross_entropy nll_loss",
        "of scores and the right class: `nn.cross_entropy scores k` after `import \"std/nn\"`",
    ),
    ("binary_cross_entropy log_loss", "write `-(y * log p + (1 - y) * log (1 - p))`"),
    (
        "batch_norm standardize zscore scale",
        "write `(xs - mean xs) / stddev xs`; a small number under the root, as in `sqrt (variance xs + 1e-5)`, keeps the slope finite",
    ),
    ("layer_norm LayerNorm", "`nn.layer_norm gain shift x` is there after `import \"std/nn\"`"),
    ("rms_norm RMSNorm", "`nn.rms_norm gain x` is there after `import \"std/nn\"`"),
    (
        "conv1d conv2d Conv1d Conv2d conv_general_dilated",
        "convolutions are in `std/nn`: `import \"std/nn\"`, then `nn.conv1d` and `nn.conv2d`",
    ),
    (
        "avg_pool max_pool maxpool meanpool avg_pool2d max_pool2d",
        "pools are in `std/nn`: `import \"std/nn\"`, then `nn.mean_pool` and `nn.max_pool`",
    ),
    (
        "attention scaled_dot_product_attention dot_product_attention",
        "`nn.attention queries keys values` is there after `import \"std/nn\"`",
    ),
    ("normalize normalise unit_vector", "write `xs / norm xs`"),
    ("one_hot onehot", "write `for i < n => if i == k then 1.0 else 0.0`"),
    ("adam Adam", "`optimize.adam rate steps f x0` is there after `import \"std/optimize\"`"),
    (
        "sgd SGD optimizer lbfgs_minimize",
        "optimizers are in `std/optimize`: `import \"std/optimize\"`; a step of descent is `w - 0.1 * grad f w`",
    ),
    ("log1m_exp", "`special.log1mexp x` is there after `import \"std/special\"`"),
    ("softplus log1p_exp", "`nn.softplus x` is there after `import \"std/nn\"`, for arrays too"),
    (
        "log_sum_exp lse log_add_exp",
        "`logsumexp xs` is the logarithm of a sum of exponentials, `logaddexp x y` that of two",
    ),
    ("fma", "write `a * b + c`"),
    ("clip fclamp clip_by_value saturate constrain coerceIn", "write `clamp x low high`"),
    ("mix", "write `lerp a b t`"),
    ("signum sgn", "the sign of a number is `sign x`"),
    ("copysign", "write `if y < 0 then -(abs x) else abs x`"),
    ("nnz", "write `count (\\x -> x != 0) xs`"),
    ("rem fmod remainder modulo rem_euclid", "the remainder is written `a % b`"),
    ("mod", "the remainder is written `a % b`"),
    ("even odd iseven isodd", "write `n % 2 == 0` or `n % 2 == 1`"),
    ("lcm", "write `a * b / gcd a b`"),
    (
        "div quot divide floor_divide idiv fld cld",
        "integers are divided by `//`, which rounds down",
    ),
    ("divMod divmod", "write `(a // b, a % b)`"),
    (
        "quotRem",
        "`a // b` and `a % b` round down; with rounding to zero the quotient is `sign a * sign b * (abs a // abs b)`",
    ),
    ("add plus", "a sum is written `a + b`"),
    ("subtract minus sub", "a difference is written `a - b`"),
    ("multiply times mul", "a product is written `a * b`"),
    ("negate neg", "the negative is written `-x`"),
    ("succ increment", "write `n + 1`"),
    ("pred decrement", "write `n - 1`"),
    ("isnan isNaN", "write `is_nan x`"),
    ("isinf isInfinite", "write `is_inf x`"),
    ("isfinite", "write `is_finite x`"),
    ("deg2rad to_radians toRadians", "write `radians x`"),
    ("rad2deg to_degrees toDegrees", "write `degrees x`"),
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
        "float double toFloat fromIntegral toDouble to_float to_real toReal as_numeric float64 Float64 realToFrac float_of_int f64 f32",
        "`real n` is the real of an int",
    ),
    (
        "int64 Int64 to_int int32 integer int_of_float i64 i32",
        "`int x` is the int of a real, truncated",
    ),
    ("gammaln loggamma gammln lgam", "the logarithm of the gamma function is `lgamma`"),
    ("tgamma", "write `exp (lgamma x)`, for a positive `x`"),
    ("psi", "the derivative of `lgamma` is `digamma`"),
    ("trigamma", "write `polygamma 1 x`"),
    ("factorial", "write `exp (lgamma (n + 1))`"),
    ("lfactorial log_factorial", "write `lgamma (n + 1)`"),
    (
        "choose binom comb binomial_coefficient binomial nchoosek",
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
        "normal_log norm_logpdf logpdf Normal",
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
    (
        "diagonal diagflat diagm Diagonal",
        "`diag a` is the diagonal of a matrix, `diag_matrix x` the matrix with a diagonal",
    ),
    (
        "tril triu lower_triangle upper_triangle",
        "write `for i < n, j < n => if j <= i then a[i, j] else 0.0`",
    ),
    ("crossprod tcrossprod gram", "write `transpose a @ a`"),
    ("quad_form quadratic_form", "write `dot x (a @ x)`"),
    ("distance euclidean cdist squared_distance", "write `norm (x - y)`"),
    ("eachrow", "write `for row in m => e`"),
    ("eachcol col column", "column j of a matrix is `for row in m => row[j]`"),
    ("tr", "the trace of a matrix is `trace m`"),
    ("fro norm2 l2norm", "the length of a vector is `norm xs`"),
    (
        "concatenate append hstack vstack cat_arrays append_row append_col append_array vcat hcat horzcat vertcat",
        "`concat xs ys` joins two arrays, `concat xs (concat ys zs)` three, `flatten rows` the rows of a matrix",
    ),
    ("stack column_stack", "`[xs, ys]` is the matrix with these rows"),
    (
        "vec to_vector to_array_1d as_vector reshape2",
        "`flatten m` is the vector of all elements of a matrix",
    ),
    ("reshape view to_matrix matrix", "write `for i < n, j < m => xs[i * m + j]`"),
    (
        "squeeze expand_dims unsqueeze newaxis",
        "`m[0]` is the first row, `[xs]` a matrix of one row",
    ),
    (
        "slice head_n subarray segment block sub_row",
        "a part of an array is written `xs[a:b]`, its first k elements `take k xs`",
    ),
    ("cdr rest uncons tl", "all elements but the first are `tail xs`"),
    ("first car hd front", "the first element of an array is `xs[0]`, or `head xs`"),
    ("final back", "the last element of an array is `last xs`"),
    ("butlast unsnoc", "all elements but the last are `init xs`"),
    (
        "split splitAt array_split",
        "`split_at k xs` is the first k elements and the rest, `chunks k xs` rows of k",
    ),
    ("chunk chunksOf batch batched partition_all", "rows of k elements are `chunks k xs`"),
    (
        "window sliding sliding_window rolling rolling_window sliding_window_view",
        "runs of k elements next to each other are `windows k xs`",
    ),
    (
        "takeWhile dropWhile span take_while drop_while",
        "find the place first: `loop k = 0 while k < length xs && p xs[k] do k + 1`, then `take k xs` or `drop k xs`",
    ),
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
    ("rot circshift rotate", "write `roll k xs`"),
    ("diffs ediff1d pairwise differences", "the differences of neighbors are `diff xs`"),
    (
        "flip flipud rev reversed fliplr",
        "`reverse xs` is the array backwards; arguments are swapped by `\\a b -> f b a`",
    ),
    (
        "foldLeft foldl1 Reduce accumulate_ itertools inject fold_left fold_right foldRight foldBack foldr1 aggregate mapreduce",
        "`fold f start xs` goes through an array, `foldr f start xs` from its end",
    ),
    (
        "scanl1 scan_left scanLeft itertools_accumulate associative_scan",
        "`scanl f start xs` keeps all states of a fold, `scan f neutral xs` all partial results",
    ),
    ("cumulative_sum prefix_sum running_sum", "the running sums are `cumsum xs`"),
    ("cumulative_product", "the running products are `cumprod xs`"),
    (
        "mapAccumL mapAccumR mapAccum fold_left_map",
        "`map_accum f start xs` is a fold that gives an element at each step",
    ),
    ("mapply zip_with Map", "write `map2 f xs ys`, or `for (x, y) in zip xs ys => e`"),
    ("zipWith3 zip_with3", "write `map3 f xs ys zs`"),
    (
        "mapi imap mapWithIndex map_with_index indexedMap map_indexed enumerated withIndex with_index indexed",
        "write `for (i, x) in enumerate xs => e`",
    ),
    (
        "vmap pmap fmap lapply sapply apply_along_axis broadcast mapM forM traverse arrayfun cellfun bsxfun map_rect vapply",
        "`map f xs`, or `for x in xs => e`",
    ),
    ("forEach for_each mapM_ iter iteri foreach", "`for x in xs => e` is the array of all `e`"),
    (
        "concatMap flatMap bind concat_map flat_map collect_many SelectMany",
        "write `flatten (map f xs)`, where `f` gives arrays of one size",
    ),
    ("prod", "the product of all elements is `product xs`"),
    (
        "add_reduce reduce_sum rowSums colSums",
        "`sum xs`; of a matrix it is the row of column sums, and `map sum m` has the sums of rows",
    ),
    ("average colMeans rowMeans reduce_mean", "the mean of an array is `mean xs`"),
    ("amax nanmax maxval max_elem", "the largest element is `maximum xs`"),
    ("amin nanmin minval", "the smallest element is `minimum xs`"),
    ("minmax extrema", "write `(minimum xs, maximum xs)`"),
    (
        "maximumBy maximum_by max_by maxBy minimumBy minimum_by min_by minBy",
        "write `xs[argmax (map key xs)]`, or `argmin`",
    ),
    ("which_max findmax", "the place of the largest element is `argmax xs`"),
    ("which_min findmin", "the place of the smallest element is `argmin xs`"),
    (
        "sort_indices sortperm sort_indices_asc rank",
        "the places of the elements in their order are `argsort xs`",
    ),
    (
        "sort_asc sorted sortBy sortOn sortWith sort_by_key order_by orderBy arrange",
        "the elements in their order are `sort xs`; by a key, `sort_by key xs`",
    ),
    (
        "nub distinct uniq dedup unique_values sort_uniq",
        "the different elements in their order are `unique xs`",
    ),
    (
        "searchsorted_left searchsortedfirst bisect_left lower_bound digitize findInterval",
        "the place of a number among ascending ones is `searchsorted xs x`",
    ),
    ("sort_desc", "write `reverse (sort xs)`"),
    ("percentile prctile quantiles nanmedian", "write `quantile (p / 100) xs`"),
    (
        "var pvariance",
        "`variance xs` divides by the number of elements, `sample_variance xs` by one less",
    ),
    (
        "std stdev sd std_dev pstdev standard_deviation",
        "`stddev xs` divides by the number of elements before the root, `sample_stddev xs` by one less",
    ),
    (
        "cov",
        "`covariance xs ys` divides by the number of elements, `sample_covariance xs ys` by one less",
    ),
    ("cor corr corrcoef pearsonr", "write `correlation xs ys`"),
    ("convolve1d conv conv_full", "write `convolve xs ys`"),
    ("correlate xcorr cross_correlation", "write `convolve xs (reverse ys)`"),
    ("or_ some exists any_of anyOf", "write `any p xs`: `any (\\x -> x > 0) xs`"),
    ("and_ every forall for_all all_of allOf", "write `all p xs`: `all (\\x -> x > 0) xs`"),
    (
        "count_nonzero countIf countif count_if sum_by sumBy",
        "write `count p xs`: `count (\\x -> x > 0) xs`",
    ),
    (
        "hist histc accumarray tally table frequencies value_counts segment_sum reduce_by_index index_add",
        "`bincount n places` counts places, `histogram n places weights` adds weights by their places",
    ),
    (
        "group_by groupby groupBy tapply aggregate_by",
        "sums by group are `histogram n groups xs`; one group is `filter p xs`",
    ),
    ("elem contains member in_ mem isin includes has notElem", "write `any (\\x -> x == y) xs`"),
    (
        "find find_opt findFirst detect",
        "the first element for which `p` holds is `find_first p xs`, an `option`; all of them are `filter p xs`",
    ),
    (
        "find_index findIndex findfirst which nonzero argwhere findall indexOf index_of elemIndex position flatnonzero",
        "the places for which `p` holds are `filter (\\i -> p xs[i]) (range (length xs))`",
    ),
    (
        "scatter scatter_nd",
        "additions at places are `scatter_add base places values`, one new element is `xs with [i] = v`",
    ),
    ("and_then", "write `match o | Some x -> e | None -> None`"),
    ("map_or option_map", "write `with_default d (map_option f o)`"),
    ("isempty isEmpty is_empty", "write `length xs == 0`"),
    ("filter_map mapMaybe catMaybes filterMap", "a filter and a map: `map f (filter p xs)`"),
    (
        "polyval evalpoly horner polynomial",
        "write `foldr (\\c acc -> c + x * acc) 0.0 cs`, with the coefficients from the lowest on",
    ),
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
        "scan_ fori_loop foriLoop while_loop",
        "write `loop x = start for i < n do e`, or `while c do e`",
    ),
    (
        "where select cond ifelse if_else switch when unless ternary iif",
        "a choice is written `if c then a else b`; for arrays, `for i < n => if c[i] then a[i] else b[i]`",
    ),
    (
        "quad quadgk trapz integrate_1d trapezium cumtrapz integral integrate",
        "integrals are in `std/quadrature`: `import \"std/quadrature\"`",
    ),
    (
        "ode_rk45 ode45 solve_ivp ODEProblem integrate_ode ode_bdf ode23 lsoda diffeqsolve",
        "`odeint f y0 ts` solves y' = f y t; more is in `std/ode`",
    ),
    (
        "optim nlm fminsearch argmin_f optimise fminunc minimise",
        "`minimize f x0` finds a minimum; more is in `std/optimize`",
    ),
    ("uniroot fsolve find_root fzero bisect algebra_solver brentq", "`root f x0` finds a zero"),
    (
        "interp approx interp1d interp1 approxfun interpolate1d linear_interpolation",
        "write `interpolate.linear xs ys x` after `import \"std/interpolate\"`",
    ),
    ("or", "truth values are joined by `||` and `&&`"),
    ("xor bitxor bitwise_xor", "of ints it is `bit_xor a b`, of truth values `a != b`"),
    ("bitand bitwise_and iand", "of ints it is `bit_and a b`"),
    ("bitor bitwise_or ior", "of ints it is `bit_or a b`"),
    ("bitnot bitwise_not complement", "of ints it is `bit_not a`"),
    ("shl lshift left_shift", "of ints it is `shift_left a k`"),
    ("shr rshift right_shift", "of ints it is `shift_right a k`"),
    ("always", "write `const x`"),
    ("flip_args swap_args", "write `\\a b -> f b a`"),
    ("compose circ", "functions are composed by `f >> g`, which applies `f` first"),
    ("curry uncurry partial", "write a function: `\\a b -> f (a, b)`"),
    ("PI Pi M_PI", "the number is `pi`"),
    ("e E exp1", "write `exp 1.0`"),
    ("Inf infinity Infinity INFINITY positive_infinity", "infinity is `inf`"),
    ("NaN NA NAN not_a_number", "it is called `nan`"),
    ("eps machine_epsilon finfo DBL_EPSILON", "`epsilon` is the distance from 1 to the next real"),
    (
        "isclose allclose isapprox approx_eq all_equal",
        "write `abs (a - b) < 1e-9`; of arrays, `norm (xs - ys) < 1e-9`",
    ),
    ("return", "the body of a definition is its result, without a word before it"),
    ("lambda function fun fn", "a function is written `\\x -> e`"),
    ("none null nil undefined", "there is no such value; an `option` is `None` or `Some x`"),
    ("True TRUE", "the truth value is written `true`"),
    ("False FALSE", "the truth value is written `false`"),
    ("Just", "a value that may be missing is written `Some x`"),
    (
        "Maybe Optional optional",
        "a value that may be missing is `Some x` or `None`, of the type `option`",
    ),
    ("Nothing", "a missing value is written `None`"),
    ("Err Failure Left", "an error is written `Error e`"),
    (
        "fromMaybe maybe unwrap_or value_or get_or_else getOrElse withDefault or_else unwrap fromJust orElse",
        "write `with_default x o`",
    ),
    (
        "of_list to_list toList from_list fromList",
        "the list of the elements of an array is `list_of xs`",
    ),
    ("Right Success Good", "a value that is no error is written `Ok x`"),
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
    ("sind", "sines of degrees: `sin (radians x)`"),
    ("cosd", "cosines of degrees: `cos (radians x)`"),
    ("tand", "tangents of degrees: `tan (radians x)`"),
    ("rsqrt inv_sqrt", "write `1 / sqrt x`"),
    ("log1m", "write `log1p (-x)`"),
    (
        "sinc",
        "write `if x == 0 then 1.0 else sin (pi * x) / (pi * x)`; without `pi` if it was not normalized",
    ),
    ("selu", "write `1.0507009873554805 * (if x > 0 then x else 1.6732632423543772 * expm1 x)`"),
    (
        "sqrtm",
        "of a symmetric matrix, with `std/linalg`: `let (w, v) = linalg.eigh a in v @ diag_matrix (sqrt w) @ transpose v`",
    ),
    (
        "logm",
        "of a symmetric matrix, with `std/linalg`: `let (w, v) = linalg.eigh a in v @ diag_matrix (log w) @ transpose v`",
    ),
    ("lor", "bits are joined by `bit_or a b`, truth values by `a || b`"),
    ("land", "the common bits are `bit_and a b`, truth values are joined by `a && b`"),
    ("lxor", "bits that differ are `bit_xor a b`"),
    ("lnot", "the other bits are `bit_not a`, the other truth value is `not a`"),
    ("lsl shiftL", "write `shift_left a k`"),
    ("lsr asr shiftR", "write `shift_right a k`"),
    ("bitwAnd", "bits are joined by `bit_and a b`"),
    ("bitwOr", "bits are joined by `bit_or a b`"),
    ("mad", "write `median (abs (xs - median xs))`"),
    ("zero", "write `0`, or `zeros n` for an array of zeros"),
    ("one", "write `1`, or `ones n` for an array of ones"),
    ("i0", "there is no Bessel function `i0` in the library"),
    ("intersect intersect1d", "write `for x in xs if any (\\y -> y == x) ys => x`"),
    ("setdiff setdiff1d", "write `for x in xs if not (any (\\y -> y == x) ys) => x`"),
    (
        "polyfit",
        "with a matrix of powers: `linalg.lstsq (for x in xs => for k < d + 1 => x ** k) ys` after `import \"std/linalg\"`",
    ),
    ("rot90", "write `reverse (transpose a)`"),
    (
        "isprime is_prime primes",
        "there are no prime numbers in the library; test by a loop: `all (\\k -> n % (k + 2) != 0) (range (n - 2))`",
    ),
    (
        "top_k topk",
        "the places of the largest come first in `argsort (-xs)`; take `k` of them with `take k`",
    ),
    (
        "dropout",
        "draw with `random.bernoulli` after `import \"std/random\"`, and multiply by the mask",
    ),
    (
        "tree_map tree_multimap tree_leaves",
        "records and tuples are added and scaled as numbers are; `ravel x` is the array of all their numbers",
    ),
    ("heaviside", "write `if x < 0 then 0.0 else if x > 0 then 1.0 else half`"),
    (
        "matrix_rank",
        "with `std/linalg`: `let (_, s, _) = linalg.svd a in sum (for x in s => int (x > 1e-12 * s[0]))`",
    ),
    ("nan_to_num", "write `if is_nan x then 0.0 else x`"),
    ("ptp", "write `maximum xs - minimum xs`"),
    (
        "vectorize",
        "functions are applied to each element by `map f xs`, to each row of a matrix too",
    ),
    ("logical_and", "write `a && b`"),
    ("logical_or", "write `a || b`"),
    ("logical_not", "write `not a`"),
    ("logical_xor", "of truth values `a != b`, of bits `bit_xor a b`"),
    ("diag_pre_multiply", "write `for i < n => d[i] * a[i]`"),
    ("diag_post_multiply", "write `for row in a => row * d`"),
    ("add_diag", "write `a + diag_matrix d`"),
    ("std_normal_lpdf", "write `dist.normal_lpdf x 0 1` after `import \"std/dist\"`"),
    ("weighted_mean", "write `dot w xs / sum w`"),
    (
        "permutedims",
        "of a matrix `transpose a`; in general `for i < n, j < m, k < l => a[k, i, j]`",
    ),
    ("isJust is_some isSome", "write `match o with Some _ -> true | None -> false`"),
    ("isNothing is_none isNone", "write `match o with Some _ -> false | None -> true`"),
    ("until", "write `loop x = x0 while not (p x) do f x`"),
    ("logBase", "write `log x / log base`"),
    (
        "otherwise",
        "what is left is written behind the last else of a choice, or as the last case of a match with the pattern _",
    ),
    ("max_int maxBound intmax", "the largest integer is `9223372036854775807`"),
    ("min_int minBound intmin", "the smallest integer is `-9223372036854775808`"),
    ("neg_infinity NINF negative_infinity", "write `-inf`"),
    ("muladd", "write `a * b + c`"),
    ("nthroot", "write `x ** (1 / n)`, for a positive `x`"),
    ("toeplitz", "write `for i < n, j < n => if i >= j then c[i - j] else r[j - i]`"),
    ("sub2ind ravel_multi_index", "write `i * m + j` for a matrix with `m` columns"),
    ("ind2sub unravel_index", "write `(k // m, k % m)` for a matrix with `m` columns"),
    ("mldivide", "write `solve a b`"),
    ("mrdivide", "write `transpose (solve (transpose a) (transpose b))`"),
    ("pmin fmin", "write `min x y`; arrays go element by element"),
    ("pmax fmax", "write `max x y`; arrays go element by element"),
    ("psum", "sums over devices are sums: `sum xs`"),
    ("rexp", "exponential numbers are drawn by `random.exponential` after `import \"std/random\"`"),
    ("duplicated", "`unique xs` has each element once"),
    ("signif", "there are no rounded digits; numbers are printed as they are"),
    ("cis", "write `{re = cos x, im = sin x}`"),
    ("foldl'", "it is called `fold`"),
    ("scanr scanr1", "from the right: `reverse (scan f init (reverse xs))`"),
    (
        "inits",
        "write `for k < length xs + 1 => xs[:k]` in a `list`; arrays of one array have one size",
    ),
    ("tails", "parts of different sizes are no array; use `xs[k:]` where it is needed"),
    ("mconcat", "arrays of one size are joined by `flatten xs`"),
    ("scatter_2d", "write `accumulate a = base in for k < n => a[is[k], js[k]] += values[k]`"),
    ("map4", "write `for i < n => f a[i] b[i] c[i] d[i]`"),
    ("tabulate_2d", "write `for i < n, j < m => f i j`"),
    ("tabulate_3d", "write `for i < n, j < m, k < l => f i j k`"),
    ("unflatten", "write `for i < n, j < m => xs[i * m + j]`"),
    ("flatten_3d", "write `flatten (flatten xs)`"),
    ("roots", "of a polynomial there is no function; a zero near `x0` is `root f x0`"),
    ("lm", "least squares: `linalg.lstsq x y` after `import \"std/linalg\"`"),
    ("sweep", "write `for row in a => row - v`"),
    ("unlist", "`ravel x` makes an array of all numbers of a record or tuple"),
    ("array_equal", "write `xs == ys`"),
    ("nansum", "write `sum (for x in xs if not (is_nan x) => x)`"),
    ("nanmean", "write `mean (for x in xs if not (is_nan x) => x)`"),
    ("asarray atleast_1d", "an array is written `[a, b, c]`; data are arrays already"),
    ("broadcast_to", "write `replicate n xs`"),
    ("ceil_divide ceildiv", "write `(a + b - 1) // b`"),
    ("lookup", "write `for k < n if keys[k] == key => values[k]`"),
];

/// The counterpart of another language's name.
pub(crate) fn instead(name: &str) -> Option<&'static str> {
    let row = NAMES.iter().find(|(names, _)| names.split(' ').any(|known| known == name));
    row.map(|(_, cure)| *cure)
}

/// The counterpart of another language's name as a hint. If it is one function that takes one
/// argument, or a constant, its name stands in the place of the other.
pub(crate) fn advice(name: &str, span: Span) -> Option<Hint> {
    let cure = instead(name)?;
    let fix = same_call(cure).map(|better| Fix::replace(span, better).probable());
    Some(Hint { text: cure.to_string(), fix })
}

/// The function or constant that a cure consists of.
fn same_call(cure: &str) -> Option<&str> {
    let mut codes = cure.split('`').skip(1).step_by(2);
    let code = codes.next().filter(|_| codes.next().is_none())?;
    let mut words = code.split(' ');
    let is_name = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let name = words.next().filter(is_name)?;
    match (words.next(), words.next()) {
        (None, _) => Some(name),
        (Some(argument), None) => is_name(&argument).then_some(name),
        _ => None,
    }
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

    use lambada_surface::ast::Item;

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
    fn no_cure_is_for_what_the_prelude_has() {
        let text = include_str!("../../../../prelude/prelude.lam");
        let (prelude, _) = lambada_surface::parse(text, lambada_source::FileId(0));
        // Types are no values.
        let is_type = |name: &str| {
            prelude
                .items
                .iter()
                .any(|item| matches!(item, Item::Type(def) if *def.name.text == *name))
        };
        let defined = prelude.items.iter().flat_map(lambada_surface::defined);
        let defined: BTreeSet<_> = defined.filter(|name| !is_type(name)).collect();
        let both: Vec<&str> = names().into_iter().filter(|name| defined.contains(*name)).collect();
        assert_eq!(both, Vec::<&str>::new());
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
                if ["||", "&&", "/", "//", "while c do e"].contains(&code) {
                    continue;
                }
                let (_, problems) = lambada_surface::parse_expr(code, lambada_source::FileId(0));
                assert!(problems.is_empty(), "{names}: `{code}`: {problems:?}");
            }
        }
    }
}
