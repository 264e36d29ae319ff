/* Made by Lambada. Compile with
 *   cc -std=gnu99 -O2 -fno-math-errno -fno-trapping-math -ffp-contract=fast -fopenmp-simd -fno-tree-slp-vectorize -fwrapv -fPIC -shared -w -march=native -lm
 * and GCC also with -fno-tree-loop-distribute-patterns.
 *
 * Each function takes a context (see lambada_context_open), its arguments and room for its results, one word each: sizes first, then
 * parameters; of an array among the results a pointer and then its sizes. It returns 0, or 1 if a check failed (results: its number and
 * values), or 2 if there is not enough memory (results: number and elements of the array, bytes in use), or 4 if it
 * has been cancelled (see lambada_context_cancel). Results are valid until the next call with the same context.
 *
 *   lambada_f: (n : int, k : int, xs : []real) -> (real, []real)
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

#define INT64_MAX __INT64_MAX__
double tanh(double);

/* The runtime. */

static int kernel_f(struct lambada_context *ctx, union lambada_word *results, int64_t n, int64_t k, const double *restrict xs) {
    double s = 0.0;
    double *restrict xs_2 = lam_alloc(ctx, n, 8);
    if (unlikely(!xs_2)) return lam_no_memory(ctx, results, 1);
    for (int64_t i_from = 0, i_to; i_from < n; i_from = i_to) {
        if (lam_is_cancelled(ctx)) return 4;
        i_to = lam_block_end(i_from, n, 65536);
        for (int64_t i = i_from; i < i_to; i++) {
            double x = xs[i];
            double xs_3 = 0.0;
            double t_2 = tanh(x) * x;
            if (i < 3) {
                xs_3 = x;
            } else {
                if (unlikely(!((0 <= k) & (k < n)))) return lam_fail(results, 0, 2, (int64_t[]){k, n}); // index {0} is out of range for size {1}
                xs_3 = xs[k] * 2.0;
            }
            s += t_2;
            xs_2[i] = xs_3;
        }
    }
    results[0].real = s;
    results[1].data = xs_2;
    results[2].integer = n;
    return 0;
}

int lambada_f(struct lambada_context *ctx, const union lambada_word *args, union lambada_word *results) {
    lam_reset(ctx);
    if (lam_is_cancelled(ctx)) return 4;
    return kernel_f(ctx, results, args[0].integer, args[1].integer, args[2].data);
}
