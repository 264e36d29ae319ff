/* Made by Lambada. Compile with
 *   cc -std=gnu99 -O2 -fno-math-errno -fno-trapping-math -ffp-contract=fast -fopenmp-simd -fno-tree-slp-vectorize -fwrapv -fPIC -shared -w -march=native -lm
 * and GCC also with -fno-tree-loop-distribute-patterns.
 *
 * Each function takes a context (see lambada_context_open), its arguments and room for its results, one word each: sizes first, then
 * parameters; of an array among the results a pointer and then its sizes. It returns 0, or 1 if a check failed (results: its number and
 * values), or 2 if there is not enough memory (results: number and elements of the array, bytes in use), or 4 if it
 * has been cancelled (see lambada_context_cancel). Results are valid until the next call with the same context.
 *
 *   lambada_f: (n : int, x : []real) -> ([]real, []real)
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

/* The runtime. */

static int kernel_f(struct lambada_context *ctx, union lambada_word *results, int64_t n, const double *restrict x) {
    double *restrict ys = lam_alloc(ctx, n, 8);
    if (unlikely(!ys)) return lam_no_memory(ctx, results, 1);
    double *restrict kept = lam_alloc(ctx, 3, 8);
    if (unlikely(!kept)) return lam_no_memory(ctx, results, 2);
    kept[0] = 1.0;
    for (int64_t i_from = 0, i_to; i_from < n; i_from = i_to) {
        if (lam_is_cancelled(ctx)) return 4;
        i_to = lam_block_end(i_from, n, 65536);
        for (int64_t i = i_from; i < i_to; i++) {
            {
                struct lam_mark mark = lam_mark(ctx);
                double small[6];
                lam_fill_real(small, 0.0, 6);
                double *part = small + 3;
                double *restrict large = lam_alloc(ctx, 33, 8);
                if (unlikely(!large)) return lam_no_memory(ctx, results, 5);
                double *restrict long_2 = lam_alloc(ctx, n, 8);
                if (unlikely(!long_2)) return lam_no_memory(ctx, results, 6);
                double a = x[i];
                part[i] = a;
                large[0] = a;
                long_2[0] = a;
                ys[i] = small[4];
                lam_release(ctx, mark);
            }
        }
    }
    for (int64_t i_from = 0, i_to; i_from < n; i_from = i_to) {
        if (lam_is_cancelled(ctx)) return 4;
        i_to = lam_block_end(i_from, n, 65536);
        for (int64_t i = i_from; i < i_to; i++) {
            {
                struct lam_mark mark = lam_mark(ctx);
                double *one = lam_alloc(ctx, 2, 8);
                if (unlikely(!one)) return lam_no_memory(ctx, results, 7);
                double *two = lam_alloc(ctx, 2, 8);
                if (unlikely(!two)) return lam_no_memory(ctx, results, 8);
                one[0] = 1.0;
                two[0] = 2.0;
                { double *other = one; one = two; two = other; }
                ys[i] = one[0];
                lam_release(ctx, mark);
            }
        }
    }
    results[0].data = ys;
    results[1].integer = n;
    results[2].data = kept;
    results[3].integer = 3;
    return 0;
}

int lambada_f(struct lambada_context *ctx, const union lambada_word *args, union lambada_word *results) {
    lam_reset(ctx);
    if (lam_is_cancelled(ctx)) return 4;
    return kernel_f(ctx, results, args[0].integer, args[1].data);
}
