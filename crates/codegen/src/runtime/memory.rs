//! Memory for arrays and nodes. In programs with nodes, these lie at the front of the arena and
//! other arrays at its back, so that a scope can release the arrays and keep the nodes.

/// Memory for arrays: chunks, filled from the front, kept from call to call. A call finds the
/// chunks as the one before has left them, so that only the first one meets pages that the system
/// has yet to supply; it asks for large pages where it can.
pub(super) const ARENA: &str = "\
@fork
/* The arena: chunks of memory that are filled from the front and kept from call to call. */
struct lam_chunk {
    struct lam_chunk *next;
    char *start, *end;
    uint64_t before; /* bytes in use in the chunks before it */
};

struct lambada_context {
    struct lam_chunk *first, *current;
    char *at, *end;
@top
    int cancelled; /* is the call to end? */
    uint64_t limit, peak; /* bytes */
    int64_t wanted; /* elements of the array that there was no room for */
@host
@stack
@seen
@team
};

@chunks

static inline uint64_t lam_in_use(const struct lambada_context *ctx) {
@in_use
}

/* What is behind the limit is not there. */
static void lam_enter_chunk(struct lambada_context *ctx, struct lam_chunk *chunk, char *at) {
    uint64_t room = ctx->limit > chunk->before ? ctx->limit - chunk->before : 0;
    ctx->current = chunk;
    ctx->at = at;
    ctx->end = room < (uint64_t)(chunk->end - chunk->start) ? chunk->start + room : chunk->end;
@entered
}

static inline void lam_note_peak(struct lambada_context *ctx) {
    uint64_t in_use = lam_in_use(ctx);
@hosted
    if (unlikely(in_use > ctx->peak)) ctx->peak = in_use;
}

/* Everything is free again. */
static void lam_reset(struct lambada_context *ctx) {
    lam_note_peak(ctx);
@returned
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

@alloc
@mark
@context
@open
    return ctx;
}

/* From any thread, or from the handler of a signal: the call that runs ends soon and returns 4; if none does, the next one. 0 takes that back. */
@export void lambada_context_cancel(struct lambada_context *ctx, int cancelled) {
    __atomic_store_n(&ctx->cancelled, cancelled, __ATOMIC_SEQ_CST);
@cancel
}

/* Arrays may take so many bytes from now on. */
@export void lambada_context_limit(struct lambada_context *ctx, uint64_t bytes) {
    ctx->limit = bytes;
@unhosted
}

/* The most bytes that arrays have taken at a time. */
@export uint64_t lambada_context_peak(struct lambada_context *ctx) {
    lam_note_peak(ctx);
    uint64_t peak = ctx->peak;
@peak
    return peak;
}

@export void lambada_context_close(struct lambada_context *ctx) {
@close
@freed
}
";

/// Chunks, contexts and their end, where the memory of an arena is the system's.
pub(super) const SYSTEMS: [&str; 3] = [
    "int posix_memalign(void **, __SIZE_TYPE__, __SIZE_TYPE__);
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
",
    "@export struct lambada_context *lambada_context_open(void) {
    struct lambada_context *ctx = __builtin_calloc(1, sizeof *ctx);
    if (ctx) ctx->limit = INT64_MAX;
",
    "    for (struct lam_chunk *chunk = ctx->first, *next; chunk; chunk = next) {
        next = chunk->next;
        __builtin_free(chunk);
    }
    __builtin_free(ctx);
",
];

/// As [`SYSTEMS`], where it is the caller's: a context, and a single chunk behind it.
pub(super) const CALLERS: [&str; 3] = [
    "/* All memory is the caller's. */
static struct lam_chunk *lam_new_chunk(uint64_t bytes) {
    (void)bytes;
    return 0;
}
",
    "/* How many bytes of the caller's memory are none of arrays. */
enum { LAM_BESIDE_ARRAYS = sizeof(struct lambada_context) + sizeof(struct lam_chunk) + 192 };

/* A context in memory of the caller, with the arena behind it; null if there is too little. */
@export struct lambada_context *lambada_context_open(void *memory, uint64_t bytes) {
    struct lambada_context *ctx = 0;
    if (memory && bytes >= LAM_BESIDE_ARRAYS) {
        char *start = (char *)(((uintptr_t)memory + 15) & ~(uintptr_t)15), *end = (char *)((uintptr_t)((char *)memory + bytes) & ~(uintptr_t)63);
        struct lam_chunk *chunk = (struct lam_chunk *)(start + ((sizeof *ctx + 15) & ~(uint64_t)15));
        ctx = (struct lambada_context *)start;
        __builtin_memset(ctx, 0, sizeof *ctx);
        chunk->next = 0;
        chunk->start = (char *)(((uintptr_t)(chunk + 1) + 63) & ~(uintptr_t)63);
        chunk->end = end > chunk->start ? end : chunk->start;
        chunk->before = 0;
        ctx->limit = INT64_MAX;
        ctx->first = chunk;
        lam_enter_chunk(ctx, chunk, chunk->start);
    }
",
    "    (void)ctx;
",
];

/// Arrays, side by side.
pub(super) const ALLOC: &str = "\
/* Memory for so many elements, aligned for vectors; null if there is none. */
static inline void *lam_alloc(struct lambada_context *ctx, int64_t count, int64_t size) {
    if (unlikely(count > INT64_MAX / 16)) return lam_refuse(ctx, count);
    uint64_t bytes = count > 0 ? ((uint64_t)(count * size) + 63) & ~(uint64_t)63 : 64;
    if (unlikely((uint64_t)(ctx->end - ctx->at) < bytes) && !lam_grow(ctx, bytes)) return lam_refuse(ctx, count);
    void *memory = ctx->at;
    ctx->at += bytes;
    return memory;
}

";

/// Arrays at the back of a chunk, nodes and the arrays in them at its front.
pub(super) const ALLOC_FROM_BACK: &str = "\
/* Memory for so many elements, aligned for vectors; null if there is none. It is behind that of nodes, so that a scope can release it and keep these. */
static inline void *lam_alloc(struct lambada_context *ctx, int64_t count, int64_t size) {
    if (unlikely(count > INT64_MAX / 16)) return lam_refuse(ctx, count);
    uint64_t bytes = count > 0 ? ((uint64_t)(count * size) + 63) & ~(uint64_t)63 : 64;
    uint64_t skip = (uintptr_t)ctx->end & 63;
    if (unlikely((uint64_t)(ctx->end - ctx->at) < bytes + skip)) {
        if (!lam_grow(ctx, bytes)) return lam_refuse(ctx, count);
        skip = (uintptr_t)ctx->end & 63;
    }
    ctx->end -= bytes + skip;
    return ctx->end;
}

/* The same, for an array that a node takes over. Short ones lie side by side. */
static inline void *lam_alloc_kept(struct lambada_context *ctx, int64_t count, int64_t size) {
    if (unlikely(count > INT64_MAX / 16)) return lam_refuse(ctx, count);
    uint64_t bytes = count > 0 ? ((uint64_t)(count * size) + 7) & ~(uint64_t)7 : 0;
    uint64_t skip = bytes < 512 ? 0 : -(uintptr_t)ctx->at & 63;
    if (unlikely((uint64_t)(ctx->end - ctx->at) < bytes + skip || !ctx->current)) {
        if (!lam_grow(ctx, bytes)) return lam_refuse(ctx, count);
        skip = 0;
    }
    void *memory = ctx->at + skip;
    ctx->at += skip + bytes;
    return memory;
}

";

/// Marks of an arena that is filled from the front.
pub(super) const MARKS: &str = "\
struct lam_mark {
    struct lam_chunk *chunk;
    char *at;
};

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

";

/// Marks of an arena that is filled from the back, too.
pub(super) const MARKS_AT_BOTH_ENDS: &str = "\
struct lam_mark {
    struct lam_chunk *chunk;
    char *at, *end;
};

static inline struct lam_mark lam_mark(struct lambada_context *ctx) {
    return (struct lam_mark){ctx->current, ctx->at, ctx->end};
}

/* What has been allocated since the mark is free again. */
static inline void lam_release(struct lambada_context *ctx, struct lam_mark mark) {
    lam_note_peak(ctx);
    if (mark.chunk != ctx->current) {
        struct lam_chunk *chunk = mark.chunk ? mark.chunk : ctx->first;
        lam_enter_chunk(ctx, chunk, mark.chunk ? mark.at : chunk->start);
        if (!mark.chunk) return;
    }
    ctx->at = mark.at;
    ctx->end = mark.end < ctx->top ? mark.end : ctx->top;
    ctx->lost = 0;
}

/* The same, but for nodes and the arrays in them. Where there is a chunk that has been begun since the mark, all arrays in it go. */
static inline void lam_release_arrays(struct lambada_context *ctx, struct lam_mark mark) {
    lam_note_peak(ctx);
    ctx->end = mark.chunk == ctx->current ? mark.end : ctx->top;
    ctx->lost = 0;
}

/* The limit is lower than before. */
static inline void lam_lose_room(struct lambada_context *ctx) {
    uint64_t in_use = lam_in_use(ctx), room = ctx->limit > in_use ? ctx->limit - in_use : 0, there = (uint64_t)(ctx->end - ctx->at);
    if (there <= room) return;
    ctx->end -= there - room;
    ctx->lost += there - room;
}

";

/// Memory for arrays: each in its own block of exactly its size, freed when its scope ends, so that
/// sanitizers see errors that an arena hides. New memory holds NaNs, impossible truth values and
/// large integers.
pub(super) const EXACT: &str = "\
@fork
/* Each array has a block of memory of exactly its size, for sanitizers. */
struct lam_block {
    struct lam_block *next;
    void *memory;
    uint64_t bytes;
};

struct lambada_context {
    struct lam_block *last;
@kept
    uint64_t in_use, limit, peak; /* bytes */
    int cancelled; /* is the call to end? */
    int64_t wanted; /* elements of the array that there was no room for */
@stack
@seen
@team
};

static inline uint64_t lam_in_use(const struct lambada_context *ctx) {
    return ctx->in_use;
}

static void lam_free_until(struct lambada_context *ctx, struct lam_block **blocks, struct lam_block *last) {
    while (*blocks != last) {
        struct lam_block *block = *blocks;
        *blocks = block->next;
        ctx->in_use -= block->bytes;
        __builtin_free(block->memory);
        __builtin_free(block);
    }
}

static __attribute__((cold, noinline)) void *lam_refuse(struct lambada_context *ctx, int64_t count) {
    ctx->wanted = count;
    return 0;
}

static void *lam_alloc_among(struct lambada_context *ctx, struct lam_block **blocks, int64_t count, int64_t size) {
    if (count > INT64_MAX / 16) return lam_refuse(ctx, count);
    uint64_t bytes = count > 0 ? (uint64_t)(count * size) : 0;
    if (bytes > ctx->limit || ctx->in_use > ctx->limit - bytes) return lam_refuse(ctx, count);
    struct lam_block *block = __builtin_malloc(sizeof *block);
    void *memory = __builtin_malloc(bytes);
    if (!block || !memory) {
        __builtin_free(block);
        __builtin_free(memory);
        return lam_refuse(ctx, count);
    }
    __builtin_memset(memory, 0xff, bytes);
    *block = (struct lam_block){*blocks, memory, bytes};
    *blocks = block;
    ctx->in_use += bytes;
    if (ctx->in_use > ctx->peak) ctx->peak = ctx->in_use;
    return memory;
}

static inline void *lam_alloc(struct lambada_context *ctx, int64_t count, int64_t size) {
    return lam_alloc_among(ctx, &ctx->last, count, size);
}

@exact
@marked
@export struct lambada_context *lambada_context_open(void) {
    struct lambada_context *ctx = __builtin_calloc(1, sizeof *ctx);
    if (ctx) ctx->limit = INT64_MAX;
@open
    return ctx;
}

/* From any thread, or from the handler of a signal: the call that runs ends soon and returns 4; if none does, the next one. 0 takes that back. */
@export void lambada_context_cancel(struct lambada_context *ctx, int cancelled) {
    __atomic_store_n(&ctx->cancelled, cancelled, __ATOMIC_SEQ_CST);
@cancel
}

/* Arrays may take so many bytes from now on. */
@export void lambada_context_limit(struct lambada_context *ctx, uint64_t bytes) {
    ctx->limit = bytes;
}

/* The most bytes that arrays have taken at a time. */
@export uint64_t lambada_context_peak(struct lambada_context *ctx) {
    uint64_t peak = ctx->peak;
@peak
    return peak;
}

@export void lambada_context_close(struct lambada_context *ctx) {
@close
    lam_reset(ctx);
    __builtin_free(ctx);
}
";

/// Blocks of arrays that nodes take over.
pub(super) const EXACT_KEPT: &str = "\
static inline void *lam_alloc_kept(struct lambada_context *ctx, int64_t count, int64_t size) {
    return lam_alloc_among(ctx, &ctx->kept, count, size);
}

";

/// Marks of the blocks, and freeing later ones.
pub(super) const EXACT_MARKS: &str = "\
struct lam_mark {
    struct lam_block *last;
};

static inline struct lam_mark lam_mark(struct lambada_context *ctx) {
    return (struct lam_mark){ctx->last};
}

static inline void lam_release(struct lambada_context *ctx, struct lam_mark mark) {
    lam_free_until(ctx, &ctx->last, mark.last);
}

static void lam_reset(struct lambada_context *ctx) {
    lam_free_until(ctx, &ctx->last, 0);
}

";

/// Marks of the blocks, some of which belong to nodes.
pub(super) const EXACT_MARKS_OF_BOTH: &str = "\
struct lam_mark {
    struct lam_block *last, *kept;
};

static inline struct lam_mark lam_mark(struct lambada_context *ctx) {
    return (struct lam_mark){ctx->last, ctx->kept};
}

static inline void lam_release(struct lambada_context *ctx, struct lam_mark mark) {
    lam_free_until(ctx, &ctx->last, mark.last);
    lam_free_until(ctx, &ctx->kept, mark.kept);
}

static inline void lam_release_arrays(struct lambada_context *ctx, struct lam_mark mark) {
    lam_free_until(ctx, &ctx->last, mark.last);
}

static void lam_reset(struct lambada_context *ctx) {
    lam_free_until(ctx, &ctx->last, 0);
    lam_free_until(ctx, &ctx->kept, 0);
}

";

/// Results in memory of the host. It keeps that memory, so nobody copies them.
pub(super) const HOSTED: &str = "\
/* Who is asked from now on for memory for each result of many words: so many words, or null. It is the host's, and may hold anything. */
@export void lambada_context_host(struct lambada_context *ctx, void *(*host)(void *guest, int64_t count), void *guest) {
    ctx->host = host;
    ctx->guest = guest;
}

/* Memory for a result of words. */
static __attribute__((noinline)) void *lam_alloc_result(struct lambada_context *ctx, int64_t count) {
    if (!ctx->host || count < 8192 || count > INT64_MAX / 16) return lam_alloc(ctx, count, 8);
    uint64_t bytes = (uint64_t)count * 8, in_use = lam_in_use(ctx);
    if (bytes > ctx->limit || in_use > ctx->limit - bytes) return lam_refuse(ctx, count);
    void *memory = ctx->host(ctx->guest, count);
    if (!memory) return lam_refuse(ctx, count);
    ctx->hosted += bytes;
    ctx->limit -= bytes;
@limited
    lam_note_peak(ctx);
    return memory;
}
";
