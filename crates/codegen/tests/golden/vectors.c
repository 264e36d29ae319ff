/* Made by Lambada. Compile with
 *   cc -std=gnu99 -O2 -fno-math-errno -fno-trapping-math -ffp-contract=fast -fopenmp-simd -fno-tree-slp-vectorize -fwrapv -fPIC -shared -w -march=native -lm
 * and GCC also with -fno-tree-loop-distribute-patterns.
 *
 * Each function takes a context (see lambada_context_open), its arguments and room for its results, one word each: sizes first, then
 * parameters; of an array among the results a pointer and then its sizes. It returns 0, or 1 if a check failed (results: its number and
 * values), or 2 if there is not enough memory (results: number and elements of the array, bytes in use), or 4 if it
 * has been cancelled (see lambada_context_cancel). Results are valid until the next call with the same context.
 *
 *   lambada_softplus: (n : int, m : int, xs : []real, at : []int) -> (real, real, []real, []real)
 */

typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __UINTPTR_TYPE__ uintptr_t;

union lambada_word {
    double real;
    int64_t integer;
    const void *data;
};

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* Says which check failed, and the numbers for its message. */
static __attribute__((cold, noinline)) int lam_fail(union lambada_word *results, int64_t site, int64_t count, const int64_t *values) {
    results[0].integer = site;
    for (int64_t k = 0; k < count; k++) results[1 + k].integer = values[k];
    return 1;
}

#define INFINITY __builtin_inf()
#define NAN __builtin_nan("")
#define INT64_MAX __INT64_MAX__
#define INT64_MIN (-__INT64_MAX__ - 1)
double log(double);

/* The runtime. */

static int kernel_softplus(struct lambada_context *ctx, union lambada_word *results, int64_t n, int64_t m, const double *restrict xs, const int64_t *restrict at) {
    double *restrict ys = lam_alloc(ctx, n, 8);
    if (unlikely(!ys)) return lam_no_memory(ctx, results, 2);
    double *restrict zs = lam_alloc(ctx, n, 8);
    if (unlikely(!zs)) return lam_no_memory(ctx, results, 3);
    lam_fill_real(zs, 0.0, n);
    f64x8 s = lam_splat_f64x8(0.0);
    f64x8 most = lam_splat_f64x8(-INFINITY);
    for (int64_t i_from = 0, i_to; i_from < n; i_from = i_to) {
        if (lam_is_cancelled(ctx)) return 4;
        i_to = lam_block_end(i_from, n, 524288);
        for (int64_t i = i_from; i < i_to; i += 8) {
            int64_t left = n - i;
            f64x8 x = lam_load_some_f64x8(xs + i, left);
            i64x8 big = (i64x8)(30.0 < x);
            if (lam_fold_or_mask8(big)) {
                lam_store_some_f64x8(ys + i, left, lam_select_f64x8(big, x, lam_log1p_x8(lam_exp_x8(x))));
            } else {
                lam_store_some_f64x8(ys + i, left, lam_log1p_x8(lam_exp_x8(x)));
            }
            i64x8 there = (i64x8)((i64x8){0, 1, 2, 3, 4, 5, 6, 7} < left);
            s += lam_select_f64x8(there, x, lam_splat_f64x8(0.0));
            most = lam_max_x8(most, lam_select_f64x8(there, x, lam_splat_f64x8(-INFINITY)));
        }
    }
    for (int64_t j_from = 0, j_to; j_from < m - 3; j_from = j_to) {
        if (lam_is_cancelled(ctx)) return 4;
        j_to = lam_block_end(j_from, m - 3, 262144);
        for (int64_t j = j_from; j < j_to; j += 4) {
            i64x4 p = lam_load_i64x4(at + j);
            lam_scatter_f64x4(zs, p, lam_tanh_x4(lam_gather_f64x4(xs, p)));
        }
    }
    results[0].real = lam_fold_add_f64x8(s);
    results[1].real = lam_fold_max_f64x8(most);
    results[2].data = ys;
    results[3].integer = n;
    results[4].data = zs;
    results[5].integer = n;
    return 0;
}

int lambada_softplus(struct lambada_context *ctx, const union lambada_word *args, union lambada_word *results) {
    lam_reset(ctx);
    if (lam_is_cancelled(ctx)) return 4;
    return kernel_softplus(ctx, results, args[0].integer, args[1].integer, args[2].data, args[3].data);
}
