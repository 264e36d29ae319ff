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
 *   lambada_vectors: (n : int) -> ([]real, []real, real, bool, []real)
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

static int lam_fn_0_first_of_kernel_vectors(struct lambada_context *, union lambada_word *, int64_t, int64_t *, double **);
static int lam_fn_1_fill_of_kernel_vectors(struct lambada_context *, union lambada_word *, int64_t, int64_t, double *restrict);
static int lam_fn_2_add_of_kernel_vectors(struct lambada_context *, union lambada_word *, int64_t, int64_t, double);
static int lam_fn_3_add_to_of_kernel_vectors(struct lambada_context *, union lambada_word *, double, double *);

static int lam_fn_0_first_of_kernel_vectors(struct lambada_context *ctx, union lambada_word *results, int64_t n, int64_t *result, double **result_2) {
    double *restrict xs = lam_alloc(ctx, n, 8);
    if (unlikely(!xs)) return lam_no_memory(ctx, results, 6);
    for (int64_t i = 0; i < n; i++) {
        xs[i] = (double)i;
    }
    *result = n;
    *result_2 = xs;
    return 0;
}

static int lam_fn_1_fill_of_kernel_vectors(struct lambada_context *ctx, union lambada_word *results, int64_t i, int64_t n, double *restrict xs) {
    if (i < n) {
        xs[i] *= 2.0;
        if (unlikely(lam_is_deep(ctx))) return lam_too_deep(ctx, results, 6); // the recursion is too deep: the calls inside of each other take all the memory that they may, 4 GiB at most
        { int status = lam_fn_1_fill_of_kernel_vectors(ctx, results, i + 1, n, xs); if (unlikely(status)) return status; }
    }
    return 0;
}

static int lam_fn_2_add_of_kernel_vectors(struct lambada_context *ctx, union lambada_word *results, int64_t n, int64_t t, double x) {
    double *g = lam_array(ctx, t, 0, 6, n, 8);
    if (unlikely(!g)) return lam_no_memory(ctx, results, 8);
    double *s = lam_cell(ctx, t, 0, 1);
    if (unlikely(!s)) return lam_no_memory(ctx, results, 9);
    for (int64_t i = 0; i < n; i++) {
        g[i] += x;
    }
    if (unlikely(lam_is_deep(ctx))) return lam_too_deep(ctx, results, 7); // the recursion is too deep: the calls inside of each other take all the memory that they may, 4 GiB at most
    { int status = lam_fn_3_add_to_of_kernel_vectors(ctx, results, x, s); if (unlikely(status)) return status; }
    return 0;
}

static int lam_fn_3_add_to_of_kernel_vectors(struct lambada_context *ctx, union lambada_word *results, double x, double *acc) {
    acc[0] += x;
    return 0;
}

static int kernel_vectors(struct lambada_context *ctx, union lambada_word *results, int64_t n) {
    double *xs = lam_alloc(ctx, 0, 8);
    if (unlikely(!xs)) return lam_no_memory(ctx, results, 0);
    int64_t m = 0;
    if (unlikely(lam_is_deep(ctx))) return lam_too_deep(ctx, results, 0); // the recursion is too deep: the calls inside of each other take all the memory that they may, 4 GiB at most
    { int status = lam_fn_0_first_of_kernel_vectors(ctx, results, n, &m, &xs); if (unlikely(status)) return status; }
    int64_t m_2 = m;
    if (unlikely(lam_is_deep(ctx))) return lam_too_deep(ctx, results, 1); // the recursion is too deep: the calls inside of each other take all the memory that they may, 4 GiB at most
    { int status = lam_fn_1_fill_of_kernel_vectors(ctx, results, 0, m_2, xs); if (unlikely(status)) return status; }
    double *restrict zeros = lam_alloc(ctx, m_2, 8);
    if (unlikely(!zeros)) return lam_no_memory(ctx, results, 1);
    lam_fill_real(zeros, 0.0, m_2);
    union lam_slot *const t_slots = lam_node(ctx, 8, 0); // row:0
    if (unlikely(!t_slots)) return lam_no_node(ctx, results, 2, 64);
    t_slots[2].integer = m_2;
    if (unlikely(!lam_keep(ctx, &t_slots[4], xs, m_2, 8))) return lam_no_node(ctx, results, 2, lam_count(m_2, 8));
    if (unlikely(!lam_keep(ctx, &t_slots[6], zeros, m_2, 8))) return lam_no_node(ctx, results, 2, lam_count(m_2, 8));
    t_slots[1].real = 0.5;
    t_slots[3].integer = 1;
    int64_t t = (int64_t)(uintptr_t)t_slots;
    if (unlikely(lam_is_deep(ctx))) return lam_too_deep(ctx, results, 3); // the recursion is too deep: the calls inside of each other take all the memory that they may, 4 GiB at most
    { int status = lam_fn_2_add_of_kernel_vectors(ctx, results, m_2, t, 1.5); if (unlikely(status)) return status; }
    if (unlikely(lam_is_deep(ctx))) return lam_too_deep(ctx, results, 4); // the recursion is too deep: the calls inside of each other take all the memory that they may, 4 GiB at most
    { int status = lam_fn_2_add_of_kernel_vectors(ctx, results, m_2, t, 0.25); if (unlikely(status)) return status; }
    if (unlikely(lam_is_deep(ctx))) return lam_too_deep(ctx, results, 5); // the recursion is too deep: the calls inside of each other take all the memory that they may, 4 GiB at most
    { int status = lam_fn_2_add_of_kernel_vectors(ctx, results, m_2, 0, 0.25); if (unlikely(status)) return status; }
    const double *ys = lam_array(ctx, t, 0, 4, m_2, 8);
    if (unlikely(!ys)) return lam_no_memory(ctx, results, 2);
    double *g = lam_array(ctx, t, 0, 6, m_2, 8);
    if (unlikely(!g)) return lam_no_memory(ctx, results, 3);
    double *s = lam_cell(ctx, t, 0, 1);
    if (unlikely(!s)) return lam_no_memory(ctx, results, 4);
    const double *none = lam_array(ctx, 0, 0, 4, m_2, 8);
    if (unlikely(!none)) return lam_no_memory(ctx, results, 5);
    results[0].data = ys;
    results[1].integer = m_2;
    results[2].data = g;
    results[3].integer = m_2;
    results[4].real = s[0];
    results[5].integer = lam_integer(t, 3);
    results[6].data = none;
    results[7].integer = m_2;
    return 0;
}

int lambada_vectors(struct lambada_context *ctx, const union lambada_word *args, union lambada_word *results) {
    lam_begin(ctx);
    lam_reset(ctx);
    if (lam_is_cancelled(ctx)) return 4;
    return kernel_vectors(ctx, results, args[0].integer);
}
