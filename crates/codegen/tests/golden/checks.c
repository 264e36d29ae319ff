/* Made by Lambada. Compile with
 *   cc -std=gnu99 -O2 -fno-math-errno -fno-trapping-math -ffp-contract=fast -fopenmp-simd -fwrapv -fPIC -shared -w -march=native -lm
 *
 * Each function takes a context (see lambada_context_open), its arguments and room for its results, one word each: sizes first, then
 * parameters; of an array among the results a pointer and then its sizes. It returns 0, or 1 if a check failed (results: its number and
 * values), or 2 if there is not enough memory (results: number and elements of the array, bytes in use). Results are valid until the next call with the same context.
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

/* The arena: chunks of memory that are filled from the front and kept from call to call. */
struct lam_chunk {
    struct lam_chunk *next;
    char *start, *end;
    uint64_t before; /* bytes in use in the chunks before it */
};

struct lambada_context {
    struct lam_chunk *first, *current;
    char *at, *end;
    uint64_t limit, peak; /* bytes */
    int64_t wanted; /* elements of the array that there was no room for */
};

struct lam_mark {
    struct lam_chunk *chunk;
    char *at;
};

int posix_memalign(void **, __SIZE_TYPE__, __SIZE_TYPE__);
#ifdef __linux__
int madvise(void *, __SIZE_TYPE__, int);
#endif

static struct lam_chunk *lam_new_chunk(uint64_t bytes) {
    void *memory;
    uint64_t large = 1 << 21, size = sizeof(struct lam_chunk) + 64 + bytes;
    if (posix_memalign(&memory, bytes < 2 * large ? 64 : large, size)) return 0;
#ifdef __linux__
    if (bytes >= 2 * large) madvise(memory, size, 14); /* MADV_HUGEPAGE */
#endif
    struct lam_chunk *chunk = memory;
    chunk->next = 0;
    chunk->start = (char *)(((uintptr_t)(chunk + 1) + 63) & ~(uintptr_t)63);
    chunk->end = chunk->start + bytes;
    chunk->before = 0;
    return chunk;
}

static inline uint64_t lam_in_use(const struct lambada_context *ctx) {
    return ctx->current ? ctx->current->before + (uint64_t)(ctx->at - ctx->current->start) : 0;
}

/* What is behind the limit is not there. */
static void lam_enter_chunk(struct lambada_context *ctx, struct lam_chunk *chunk, char *at) {
    uint64_t room = ctx->limit > chunk->before ? ctx->limit - chunk->before : 0;
    ctx->current = chunk;
    ctx->at = at;
    ctx->end = room < (uint64_t)(chunk->end - chunk->start) ? chunk->start + room : chunk->end;
}

static inline void lam_note_peak(struct lambada_context *ctx) {
    uint64_t in_use = lam_in_use(ctx);
    if (unlikely(in_use > ctx->peak)) ctx->peak = in_use;
}

/* Everything is free again. */
static void lam_reset(struct lambada_context *ctx) {
    lam_note_peak(ctx);
    if (ctx->first) lam_enter_chunk(ctx, ctx->first, ctx->first->start);
}

/* Moves on to a chunk with room, a new one if there is none. */
static __attribute__((cold, noinline)) int lam_grow(struct lambada_context *ctx, uint64_t bytes) {
    uint64_t in_use = lam_in_use(ctx), size = 65536;
    if (bytes > ctx->limit || in_use > ctx->limit - bytes) return 0;
    struct lam_chunk *last = ctx->current;
    while (last) {
        uint64_t room = (uint64_t)(last->end - last->start);
        if (size < 2 * room) size = 2 * room;
        if (!last->next) break;
        last = last->next;
        last->before = in_use;
        if ((uint64_t)(last->end - last->start) < bytes) continue;
        lam_enter_chunk(ctx, last, last->start);
        return 1;
    }
    if (size > ctx->limit - in_use) size = ctx->limit - in_use;
    struct lam_chunk *chunk = lam_new_chunk(size < bytes ? bytes : size);
    if (!chunk) chunk = lam_new_chunk(bytes);
    if (!chunk) return 0;
    chunk->before = in_use;
    if (last) last->next = chunk;
    else ctx->first = chunk;
    lam_enter_chunk(ctx, chunk, chunk->start);
    return 1;
}

static __attribute__((cold, noinline)) void *lam_refuse(struct lambada_context *ctx, int64_t count) {
    ctx->wanted = count;
    return 0;
}

/* Memory for so many elements, aligned for vectors; null if there is none. */
static inline void *lam_alloc(struct lambada_context *ctx, int64_t count, int64_t size) {
    if (unlikely(count > INT64_MAX / 16)) return lam_refuse(ctx, count);
    uint64_t bytes = count > 0 ? ((uint64_t)(count * size) + 63) & ~(uint64_t)63 : 64;
    if (unlikely((uint64_t)(ctx->end - ctx->at) < bytes) && !lam_grow(ctx, bytes)) return lam_refuse(ctx, count);
    void *memory = ctx->at;
    ctx->at += bytes;
    return memory;
}

static inline struct lam_mark lam_mark(struct lambada_context *ctx) {
    return (struct lam_mark){ctx->current, ctx->at};
}

/* What has been allocated since the mark is free again. */
static inline void lam_release(struct lambada_context *ctx, struct lam_mark mark) {
    lam_note_peak(ctx);
    if (mark.chunk == ctx->current) ctx->at = mark.at;
    else if (mark.chunk) lam_enter_chunk(ctx, mark.chunk, mark.at);
    else if (ctx->first) lam_enter_chunk(ctx, ctx->first, ctx->first->start);
}

struct lambada_context *lambada_context_open(void) {
    struct lambada_context *ctx = __builtin_calloc(1, sizeof *ctx);
    if (ctx) ctx->limit = INT64_MAX;
    return ctx;
}

/* Arrays may take so many bytes from now on. */
void lambada_context_limit(struct lambada_context *ctx, uint64_t bytes) {
    ctx->limit = bytes;
}

/* The most bytes that arrays have taken at a time. */
uint64_t lambada_context_peak(struct lambada_context *ctx) {
    lam_note_peak(ctx);
    return ctx->peak;
}

void lambada_context_close(struct lambada_context *ctx) {
    for (struct lam_chunk *chunk = ctx->first, *next; chunk; chunk = next) {
        next = chunk->next;
        __builtin_free(chunk);
    }
    __builtin_free(ctx);
}

/* How many elements an array of these sizes has; the largest number if that is too many. */
static inline int64_t lam_count(int64_t n, int64_t m) {
    int64_t count;
    if (n <= 0 || m <= 0) return 0;
    return __builtin_mul_overflow(n, m, &count) ? INT64_MAX : count;
}

/* Says for which array there is no room, how many elements it has, and how many bytes are in use. */
static __attribute__((cold, noinline)) int lam_no_memory(struct lambada_context *ctx, union lambada_word *results, int64_t array) {
    results[0].integer = array;
    results[1].integer = ctx->wanted;
    results[2].integer = (int64_t)lam_in_use(ctx);
    return 2;
}

static int kernel_f(struct lambada_context *ctx, union lambada_word *results, int64_t n, int64_t k, const double *restrict xs) {
    double s = 0.0;
    double *restrict xs_2 = lam_alloc(ctx, n, 8);
    if (unlikely(!xs_2)) return lam_no_memory(ctx, results, 1);
    for (int64_t i = 0; i < n; i++) {
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
    results[0].real = s;
    results[1].data = xs_2;
    results[2].integer = n;
    return 0;
}

int lambada_f(struct lambada_context *ctx, const union lambada_word *args, union lambada_word *results) {
    lam_reset(ctx);
    return kernel_f(ctx, results, args[0].integer, args[1].integer, args[2].data);
}
