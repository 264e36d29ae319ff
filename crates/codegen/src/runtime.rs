//! The fixed parts of the C text: the interface, and the arena.

/// Types of the interface, and what a failing check does.
pub(crate) const INTERFACE: &str = "\
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
";

/// Memory for arrays: chunks, filled from the front, kept from call to call.
pub(crate) const ARENA: &str = "\
/* The arena: chunks of memory that are filled from the front and kept from call to call. */
struct lam_chunk {
    struct lam_chunk *next;
    char *end;
};

struct lambada_context {
    struct lam_chunk *first, *current;
    char *at, *end;
};

struct lam_mark {
    struct lam_chunk *chunk;
    char *at;
};

static char *lam_start(struct lam_chunk *chunk) {
    return (char *)(((uintptr_t)(chunk + 1) + 63) & ~(uintptr_t)63);
}

static struct lam_chunk *lam_new_chunk(uint64_t bytes) {
    struct lam_chunk *chunk = __builtin_malloc(sizeof *chunk + 64 + bytes);
    if (!chunk) return 0;
    chunk->next = 0;
    chunk->end = lam_start(chunk) + bytes;
    return chunk;
}

static void lam_enter_chunk(struct lambada_context *ctx, struct lam_chunk *chunk, char *at) {
    ctx->current = chunk;
    ctx->at = at;
    ctx->end = chunk ? chunk->end : 0;
}

/* Everything is free again. Several chunks become one, so that later calls find all they need in one place. */
static void lam_reset(struct lambada_context *ctx) {
    if (ctx->first && ctx->first->next) {
        uint64_t bytes = 0;
        for (struct lam_chunk *chunk = ctx->first, *next; chunk; chunk = next) {
            next = chunk->next;
            bytes += (uint64_t)(chunk->end - lam_start(chunk));
            __builtin_free(chunk);
        }
        ctx->first = lam_new_chunk(bytes);
    }
    lam_enter_chunk(ctx, ctx->first, ctx->first ? lam_start(ctx->first) : 0);
}

/* Moves on to a chunk with room, a new one if there is none. */
static __attribute__((cold, noinline)) int lam_grow(struct lambada_context *ctx, uint64_t bytes) {
    uint64_t size = 65536;
    struct lam_chunk *last = ctx->current;
    while (last) {
        uint64_t room = (uint64_t)(last->end - lam_start(last));
        if (size < 2 * room) size = 2 * room;
        if (!last->next) break;
        last = last->next;
        lam_enter_chunk(ctx, last, lam_start(last));
        if ((uint64_t)(ctx->end - ctx->at) >= bytes) return 1;
    }
    struct lam_chunk *chunk = lam_new_chunk(size < bytes ? bytes : size);
    if (!chunk) chunk = lam_new_chunk(bytes);
    if (!chunk) return 0;
    if (last) last->next = chunk;
    else ctx->first = chunk;
    lam_enter_chunk(ctx, chunk, lam_start(chunk));
    return 1;
}

/* Memory for so many elements, aligned for vectors; null if there is none. */
static inline void *lam_alloc(struct lambada_context *ctx, int64_t count, int64_t size) {
    if (unlikely(count > INT64_MAX / 16)) return 0;
    uint64_t bytes = count > 0 ? ((uint64_t)(count * size) + 63) & ~(uint64_t)63 : 64;
    if (unlikely((uint64_t)(ctx->end - ctx->at) < bytes) && !lam_grow(ctx, bytes)) return 0;
    void *memory = ctx->at;
    ctx->at += bytes;
    return memory;
}

static inline struct lam_mark lam_mark(struct lambada_context *ctx) {
    return (struct lam_mark){ctx->current, ctx->at};
}

/* What has been allocated since the mark is free again. */
static inline void lam_release(struct lambada_context *ctx, struct lam_mark mark) {
    if (mark.chunk) lam_enter_chunk(ctx, mark.chunk, mark.at);
    else lam_enter_chunk(ctx, ctx->first, ctx->first ? lam_start(ctx->first) : 0);
}

struct lambada_context *lambada_context_open(void) {
    return __builtin_calloc(1, sizeof(struct lambada_context));
}

void lambada_context_close(struct lambada_context *ctx) {
    for (struct lam_chunk *chunk = ctx->first, *next; chunk; chunk = next) {
        next = chunk->next;
        __builtin_free(chunk);
    }
    __builtin_free(ctx);
}
";

/// Memory for arrays: each in its own block of exactly its size, freed when its scope ends, so that sanitizers see what an arena hides. New memory
/// holds NaNs, impossible truth values and large integers.
pub(crate) const EXACT: &str = "\
/* Each array has a block of memory of exactly its size, for sanitizers. */
struct lam_block {
    struct lam_block *next;
    void *memory;
};

struct lambada_context {
    struct lam_block *last;
};

struct lam_mark {
    struct lam_block *last;
};

static void lam_free_until(struct lambada_context *ctx, struct lam_block *last) {
    while (ctx->last != last) {
        struct lam_block *block = ctx->last;
        ctx->last = block->next;
        __builtin_free(block->memory);
        __builtin_free(block);
    }
}

static void lam_reset(struct lambada_context *ctx) {
    lam_free_until(ctx, 0);
}

static void *lam_alloc(struct lambada_context *ctx, int64_t count, int64_t size) {
    if (count > INT64_MAX / 16) return 0;
    uint64_t bytes = count > 0 ? (uint64_t)(count * size) : 0;
    struct lam_block *block = __builtin_malloc(sizeof *block);
    void *memory = __builtin_malloc(bytes);
    if (!block || !memory) {
        __builtin_free(block);
        __builtin_free(memory);
        return 0;
    }
    __builtin_memset(memory, 0xff, bytes);
    *block = (struct lam_block){ctx->last, memory};
    ctx->last = block;
    return memory;
}

static inline struct lam_mark lam_mark(struct lambada_context *ctx) {
    return (struct lam_mark){ctx->last};
}

static inline void lam_release(struct lambada_context *ctx, struct lam_mark mark) {
    lam_free_until(ctx, mark.last);
}

struct lambada_context *lambada_context_open(void) {
    return __builtin_calloc(1, sizeof(struct lambada_context));
}

void lambada_context_close(struct lambada_context *ctx) {
    lam_free_until(ctx, 0);
    __builtin_free(ctx);
}
";

/// Copies elements that do not overlap.
pub(crate) const COPY: &str = "\
static inline void lam_copy(void *restrict to, const void *restrict from, int64_t bytes) {
    if (bytes > 0) __builtin_memcpy(to, from, (uint64_t)bytes);
}
";
