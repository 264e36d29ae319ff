/* Made by Lambada. Compile with
 *   cc -std=gnu99 -O2 -fno-math-errno -fno-trapping-math -ffp-contract=fast -fopenmp-simd -fno-tree-slp-vectorize -fwrapv -fPIC -shared -w -march=native -lm
 * and GCC also with -fno-tree-loop-distribute-patterns.
 *
 * Each function takes a context (see lambada_context_open), its arguments and room for its results, one word each: sizes first, then
 * parameters; of an array among the results a pointer and then its sizes. It returns 0, or 1 if a check failed (results: its number and
 * values), or 2 if there is not enough memory (results: number and elements of the array, bytes in use), or 4 if it
 * has been cancelled (see lambada_context_cancel). Results are valid until the next call with the same context.
 *
 *   lambada_tile: (n : int, k : int, x : []real, y : []real, z : []real) -> ([]real)
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
double log(double);

/* The runtime. */

static int kernel_tile(struct lambada_context *ctx, union lambada_word *results, int64_t n, int64_t k, const double *restrict x, const double *restrict y, const double *restrict z) {
    double *restrict out = lam_alloc(ctx, 32, 8);
    if (unlikely(!out)) return lam_no_memory(ctx, results, 3);
    f64x8 a = lam_splat_f64x8(0.0);
    f64x8 b = lam_splat_f64x8(0.0);
    for (int64_t i_from = 0, i_to; i_from < k; i_from = i_to) {
        if (lam_is_cancelled(ctx)) return 4;
        i_to = lam_block_end(i_from, k, 65536);
        for (int64_t i = i_from; i < i_to; i++) {
            f64x8 shared = lam_load_f64x8(y + i * 8);
            lam_held_f64x8(shared);
            a += x[i] * shared;
            b += x[n + i] * shared;
        }
    }
    for (int64_t i_from = 0, i_to; i_from < k; i_from = i_to) {
        if (lam_is_cancelled(ctx)) return 4;
        i_to = lam_block_end(i_from, k, 65536);
        for (int64_t i = i_from; i < i_to; i++) {
            f64x8 w = lam_load_f64x8(z + i * 8);
            a += lam_exp_x8(w) * w;
            b += w;
        }
    }
    lam_store_f64x8(out, a);
    lam_store_f64x8(out + 8, b);
    results[0].data = out;
    results[1].integer = 32;
    return 0;
}

int lambada_tile(struct lambada_context *ctx, const union lambada_word *args, union lambada_word *results) {
    lam_reset(ctx);
    if (lam_is_cancelled(ctx)) return 4;
    return kernel_tile(ctx, results, args[0].integer, args[1].integer, args[2].data, args[3].data, args[4].data);
}
