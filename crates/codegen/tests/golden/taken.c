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
 *   lambada_f: (n : int) -> ([]real, []real)
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

static int kernel_f(struct lambada_context *ctx, union lambada_word *results, int64_t n) {
    double *restrict kept = lam_alloc_kept(ctx, n, 8);
    if (unlikely(!kept)) return lam_no_memory(ctx, results, 0);
    lam_fill_real(kept, 1.0, n);
    double *restrict changed = lam_alloc(ctx, n, 8);
    if (unlikely(!changed)) return lam_no_memory(ctx, results, 1);
    lam_fill_real(changed, 2.0, n);
    double *restrict zeros = lam_alloc(ctx, n, 8);
    if (unlikely(!zeros)) return lam_no_memory(ctx, results, 2);
    lam_fill_real(zeros, 0.0, n);
    double *restrict result = lam_alloc(ctx, n, 8);
    if (unlikely(!result)) return lam_no_memory(ctx, results, 3);
    lam_fill_real(result, 3.0, n);
    union lam_slot *const t_slots = lam_node(ctx, 11, 0); // tape:0
    if (unlikely(!t_slots)) return lam_no_node(ctx, results, 0, 88);
    lam_take(&t_slots[1], kept, n);
    if (unlikely(!lam_keep(ctx, &t_slots[3], kept, n, 8))) return lam_no_node(ctx, results, 0, lam_count(n, 8));
    if (unlikely(!lam_keep(ctx, &t_slots[5], changed, n, 8))) return lam_no_node(ctx, results, 0, lam_count(n, 8));
    if (unlikely(!lam_keep(ctx, &t_slots[7], zeros, n, 8))) return lam_no_node(ctx, results, 0, lam_count(n, 8));
    if (unlikely(!lam_keep(ctx, &t_slots[9], result, n, 8))) return lam_no_node(ctx, results, 0, lam_count(n, 8));
    int64_t t = (int64_t)(uintptr_t)t_slots;
    lam_fill_real(changed, 4.0, n);
    const double *ys = lam_array(ctx, t, 0, 5, n, 8);
    if (unlikely(!ys)) return lam_no_memory(ctx, results, 4);
    results[0].data = ys;
    results[1].integer = n;
    results[2].data = result;
    results[3].integer = n;
    return 0;
}

int lambada_f(struct lambada_context *ctx, const union lambada_word *args, union lambada_word *results) {
    lam_reset(ctx);
    if (lam_is_cancelled(ctx)) return 4;
    return kernel_f(ctx, results, args[0].integer);
}
