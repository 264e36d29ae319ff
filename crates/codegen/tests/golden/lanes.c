/* Made by Lambada. Compile with
 *   cc -std=gnu99 -O2 -fno-math-errno -fno-trapping-math -ffp-contract=fast -fopenmp-simd -fno-tree-slp-vectorize -fwrapv -fPIC -shared -w -march=native -lm
 * and GCC also with -fno-tree-loop-distribute-patterns.
 *
 * Each function takes a context (see lambada_context_open), its arguments and room for its results, one word each: sizes first, then
 * parameters; of an array among the results a pointer and then its sizes. It returns 0, or 1 if a check failed (results: its number and
 * values), or 2 if there is not enough memory (results: number and elements of the array, bytes in use), or 4 if it
 * has been cancelled (see lambada_context_cancel). Results are valid until the next call with the same context.
 *
 *   lambada_dot: (n : int, xs : []real, ys : []real) -> (real, []real)
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
#define INT64_MAX __INT64_MAX__

/* The runtime. */

static int kernel_dot(struct lambada_context *ctx, union lambada_word *results, int64_t n, const double *restrict xs, const double *restrict ys) {
    f64x4 s = lam_splat_f64x4(0.0);
    for (int64_t i_from = 0, i_to; i_from < lam_div_int(n, 4) * 4; i_from = i_to) {
        if (lam_is_cancelled(ctx)) return 4;
        i_to = lam_block_end(i_from, lam_div_int(n, 4) * 4, 262144);
        for (int64_t i = i_from; i < i_to; i += 4) {
            s += lam_load_f64x4(xs + i) * lam_load_f64x4(ys + i);
        }
    }
    double t = lam_fold_add_f64x4(s);
    int64_t first = lam_fold_min_i64x4((i64x4){0, 1, 2, 3});
    static const double rest[4] = {1.5, -0.0, INFINITY, -INFINITY};
    const double *part = rest + first;
    double *restrict z = lam_alloc(ctx, 4, 8);
    if (unlikely(!z)) return lam_no_memory(ctx, results, 4);
    lam_copy(z, rest, 32);
    lam_fill_real(z, 0.5, 2);
    z[3] = t;
    if (unlikely(!(first <= n))) return lam_fail(results, 0, 1, (int64_t[]){first}); // {0} is "large"
    results[0].real = t;
    results[1].data = z;
    results[2].integer = 4;
    return 0;
}

int lambada_dot(struct lambada_context *ctx, const union lambada_word *args, union lambada_word *results) {
    lam_reset(ctx);
    if (lam_is_cancelled(ctx)) return 4;
    return kernel_dot(ctx, results, args[0].integer, args[1].data, args[2].data);
}
