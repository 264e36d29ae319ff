/* Made by Lambada. Compile with
 *   cc -std=gnu99 -O2 -fno-math-errno -fno-trapping-math -ffp-contract=fast -fopenmp-simd -fno-tree-slp-vectorize -fwrapv -fPIC -shared -w -march=native -lm
 * and GCC also with -fno-tree-loop-distribute-patterns.
 *
 * Each function takes a context (see lambada_context_open), its arguments and room for its results, one word each: sizes first, then
 * parameters; of an array among the results a pointer and then its sizes. It returns 0, or 1 if a check failed (results: its number and
 * values), or 2 if there is not enough memory (results: number and elements of the array, bytes in use), or 4 if it
 * has been cancelled (see lambada_context_cancel). Results are valid until the next call with the same context. It returns 3 if there is not enough memory
 * for a node (results: number of the place that makes it, its bytes, bytes in use).
 *
 *   lambada_f: (n : int, x : real) -> (real)
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

static int lam_fn_0_step_of_kernel_f(struct lambada_context *, union lambada_word *, int64_t, double, int64_t, int64_t *);

static int lam_fn_0_step_of_kernel_f(struct lambada_context *ctx, union lambada_word *results, int64_t n, double x, int64_t next, int64_t *result) {
    int64_t result_2 = 0;
    {
        struct lam_mark mark = lam_mark(ctx);
        double *restrict short_2 = lam_alloc(ctx, n, 8);
        if (unlikely(!short_2)) return lam_no_memory(ctx, results, 2);
        double *restrict kept = lam_alloc_kept(ctx, n, 8);
        if (unlikely(!kept)) return lam_no_memory(ctx, results, 3);
        for (int64_t k = 0; k < n; k++) {
            short_2[k] = x;
        }
        for (int64_t k = 0; k < n; k++) {
            double y = short_2[k];
            kept[k] = y * y;
        }
        union lam_slot *const t_slots = lam_node(ctx, 5, 0); // tape:0
        if (unlikely(!t_slots)) return lam_no_node(ctx, results, 1, 40);
        t_slots[1].integer = n;
        lam_take(&t_slots[3], kept, n);
        t_slots[2].integer = next;
        int64_t t = (int64_t)(uintptr_t)t_slots;
        result_2 = t;
        lam_release_arrays(ctx, mark);
    }
    *result = result_2;
    return 0;
}

static int kernel_f(struct lambada_context *ctx, union lambada_word *results, int64_t n, double x) {
    int64_t last = 0;
    for (int64_t i_from = 0, i_to; i_from < n; i_from = i_to) {
        if (lam_is_cancelled(ctx)) return 4;
        i_to = lam_block_end(i_from, n, 65536);
        for (int64_t i = i_from; i < i_to; i++) {
            {
                struct lam_mark mark = lam_mark(ctx);
                double *restrict xs = lam_alloc(ctx, n, 8);
                if (unlikely(!xs)) return lam_no_memory(ctx, results, 0);
                lam_fill_real(xs, x, n);
                int64_t made = 0;
                if (unlikely(lam_is_deep(ctx))) return lam_too_deep(ctx, results, 0); // the recursion is too deep: the calls inside of each other take all the memory that they may, 4 GiB at most
                { int status = lam_fn_0_step_of_kernel_f(ctx, results, n, xs[i], last, &made); if (unlikely(status)) return status; }
                last = made;
                lam_release_arrays(ctx, mark);
            }
        }
    }
    const double *kept = lam_array(ctx, last, 0, 3, n, 8);
    if (unlikely(!kept)) return lam_no_memory(ctx, results, 1);
    results[0].real = kept[0];
    return 0;
}

int lambada_f(struct lambada_context *ctx, const union lambada_word *args, union lambada_word *results) {
    lam_begin(ctx);
    lam_reset(ctx);
    if (lam_is_cancelled(ctx)) return 4;
    return kernel_f(ctx, results, args[0].integer, args[1].real);
}
