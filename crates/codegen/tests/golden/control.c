/* Made by Lambada. Compile with
 *   cc -std=gnu99 -O2 -fno-math-errno -fno-trapping-math -ffp-contract=fast -fopenmp-simd -fno-tree-slp-vectorize -fwrapv -fPIC -shared -w -march=native -lm
 * and GCC also with -fno-tree-loop-distribute-patterns.
 *
 * Each function takes a context (see lambada_context_open), its arguments and room for its results, one word each: sizes first, then
 * parameters; of an array among the results a pointer and then its sizes. It returns 0, or 1 if a check failed (results: its number and
 * values), or 2 if there is not enough memory (results: number and elements of the array, bytes in use), or 4 if it
 * has been cancelled (see lambada_context_cancel). Results are valid until the next call with the same context.
 *
 *   lambada_f: (n : int, x : real) -> ([]real)
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

static int kernel_f(struct lambada_context *ctx, union lambada_word *results, int64_t n, double x) {
    int64_t k = 0;
    double *a = lam_alloc(ctx, n, 8);
    if (unlikely(!a)) return lam_no_memory(ctx, results, 0);
    double *b = lam_alloc(ctx, n, 8);
    if (unlikely(!b)) return lam_no_memory(ctx, results, 1);
    for (;;) {
        int64_t now = k;
        if (!(now < n)) break;
        if (lam_is_cancelled(ctx)) return 4;
        a[now] = x;
        { double *other = a; a = b; b = other; }
        k = now + 1;
    }
    if (x < 1.0) {
        {
            int64_t t[3];
            t[0] = 1;
        }
    } else {
        k = 2;
    }
    results[0].data = a;
    results[1].integer = n;
    return 0;
}

int lambada_f(struct lambada_context *ctx, const union lambada_word *args, union lambada_word *results) {
    lam_reset(ctx);
    if (lam_is_cancelled(ctx)) return 4;
    return kernel_f(ctx, results, args[0].integer, args[1].real);
}
