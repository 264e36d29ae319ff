/* Made by Lambada. Compile with
 *   cc -std=gnu99 -O2 -fno-math-errno -fno-trapping-math -ffp-contract=fast -fopenmp-simd -fno-tree-slp-vectorize -fwrapv -fPIC -shared -w -march=native -lm
 * and GCC also with -fno-tree-loop-distribute-patterns.
 *
 * Each function takes a context (see lambada_context_open), its arguments and room for its results, one word each: sizes first, then
 * parameters; of an array among the results a pointer and then its sizes. It returns 0, or 1 if a check failed (results: its number and
 * values), or 2 if there is not enough memory (results: number and elements of the array, bytes in use), or 4 if it
 * has been cancelled (see lambada_context_cancel). Results are valid until the next call with the same context.
 *
 *   lambada_weighted: (n : int, xs : []real, w : real) -> ([]real, real)
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

/* Runs `work(team, k)` for all k below `workers`, at the same time or not. */
typedef void (*lam_fork)(void *pool, int64_t workers, void (*work)(void *team, int64_t worker), void *team);

/* The runtime. */

struct kernel_weighted_frame {
    int64_t n;
    const double *xs;
    double w;
    double *scaled;
    double *total;
};

static int iteration_1_of_kernel_weighted(struct lambada_context *ctx, union lambada_word *results, const void *lam_frame, int64_t part);
static __attribute__((noinline)) int iteration_1_of_kernel_weighted(struct lambada_context *ctx, union lambada_word *results, const void *lam_frame, int64_t part) {
    struct kernel_weighted_frame lam_own = *(const struct kernel_weighted_frame *)lam_frame, *const frame = &lam_own;
    (void)frame;
    const int64_t n_2 = frame->n;
    const double w_2 = frame->w;
    const double *restrict xs_2 = frame->xs;
    double *scaled_2 = frame->scaled;
    double *total_2 = frame->total;
    double *restrict own = lam_alloc(ctx, 1, 8);
    if (unlikely(!own)) return lam_no_memory(ctx, results, 3);
    lam_fill_real(own, 0.0, 1);
    int64_t end = lam_div_int(n_2 * (part + 1), 4);
    for (int64_t i_from = lam_div_int(n_2 * part, 4), i_to; i_from < end; i_from = i_to) {
        if (lam_is_cancelled(ctx)) return 4;
        i_to = lam_block_end(i_from, end, 65536);
        for (int64_t i = i_from; i < i_to; i++) {
            double y = w_2 * xs_2[i];
            scaled_2[i] = y;
            own[0] += y;
        }
    }
    if (unlikely(!lam_turn(ctx, part))) return 0;
    total_2[0] += own[0];
    return 0;
}


static int kernel_weighted(struct lambada_context *ctx, union lambada_word *results, int64_t n, const double *restrict xs, double w) {
    struct kernel_weighted_frame lam_frame, *const frame = &lam_frame;
    frame->n = n;
    frame->xs = xs;
    frame->w = w;
    double *restrict scaled = lam_alloc(ctx, n, 8);
    if (unlikely(!scaled)) return lam_no_memory(ctx, results, 1);
    frame->scaled = scaled;
    double *restrict total = lam_alloc(ctx, 1, 8);
    if (unlikely(!total)) return lam_no_memory(ctx, results, 2);
    frame->total = total;
    lam_fill_real(total, 0.0, 1);
    { int status = lam_parallel(ctx, results, iteration_1_of_kernel_weighted, frame, 4); if (unlikely(status)) return status; }
    results[0].data = scaled;
    results[1].integer = n;
    results[2].real = total[0];
    return 0;
}

int lambada_weighted(struct lambada_context *ctx, const union lambada_word *args, union lambada_word *results) {
    lam_reset(ctx);
    if (lam_is_cancelled(ctx)) return 4;
    return kernel_weighted(ctx, results, args[0].integer, args[1].data, args[2].real);
}
