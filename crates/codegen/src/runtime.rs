//! The fixed parts of the C text: the interface, the arena, and the needs of programs with calls
//! and nodes. A line that begins with `@` stands for text that only some kinds of programs have;
//! `@export` marks a function that is called from outside.

use lambada_prim::Precision;

use crate::Memory;

mod memory;

use memory::{
    ALLOC, ALLOC_FROM_BACK, ARENA, CALLERS, EXACT, EXACT_KEPT, EXACT_MARKS, EXACT_MARKS_OF_BOTH,
    HOSTED, MARKS, MARKS_AT_BOTH_ENDS, SYSTEMS,
};

/// The kinds of programs that need more text.
#[derive(Clone, Copy, Default)]
pub(crate) struct Kinds {
    pub calls: bool,
    pub nodes: bool,
    pub inspections: bool,
    /// Parallel loops on threads.
    pub teams: bool,
    /// Parallel loops without threads.
    pub turns: bool,
    /// Results in memory of the host.
    pub hosted: bool,
}

impl Kinds {
    /// The needs of both.
    pub fn or(self, other: Kinds) -> Kinds {
        Kinds {
            calls: self.calls || other.calls,
            nodes: self.nodes || other.nodes,
            inspections: self.inspections || other.inspections,
            teams: self.teams || other.teams,
            turns: self.turns || other.turns,
            hosted: self.hosted || other.hosted,
        }
    }
}

/// The text of a kind of memory.
pub(crate) fn memory(memory: Memory, kinds: Kinds) -> String {
    match memory {
        Memory::Arena | Memory::Hosted | Memory::Workspace => {
            let owner = if memory == Memory::Workspace { &CALLERS } else { &SYSTEMS };
            let text = chosen(ARENA, kinds);
            let parts = ["@chunks\n", "@context\n", "@freed\n"].iter().zip(owner);
            parts.fold(text, |text, (line, own)| text.replace(line, own))
        }
        Memory::Exact => chosen(EXACT, kinds),
    }
}

/// Results in memory of the host.
pub(crate) fn hosted(kinds: Kinds) -> String {
    chosen(HOSTED, kinds)
}

/// Sizes of arrays, and the failures of allocations.
pub(crate) fn sizes(kinds: Kinds) -> String {
    chosen(SIZES, kinds)
}

/// A text with the lines for programs of these kinds.
fn chosen(
    text: &str,
    Kinds { calls, nodes, inspections, teams, hosted, turns: _ }: Kinds,
) -> String {
    let chosen = |line: &str| {
        match line {
        "@stack" => calls.then_some("    uint64_t stack; /* bytes of stack that calls may use */\n    uintptr_t lowest; /* where these end */\n").map(String::from),
        "@seen" => inspections.then_some("    void (*seen)(const void *, int64_t, const union lambada_word *); /* who is told of what is inspected */\n    const void *who;\n").map(String::from),
        "@host" => hosted.then_some("    void *(*host)(void *guest, int64_t count); /* who gives memory for large results, if somebody does */\n    void *guest;\n    uint64_t hosted; /* bytes that it has given in this call, by which the limit is lower */\n").map(String::from),
        "@hosted" => hosted.then_some("    in_use += ctx->hosted;\n").map(String::from),
        "@returned" => hosted.then_some("    ctx->limit += ctx->hosted;\n    ctx->hosted = 0;\n").map(String::from),
        "@unhosted" => hosted.then_some("    ctx->hosted = 0;\n").map(String::from),
        "@beside" => hosted.then_some("    results[2].integer += (int64_t)ctx->hosted;\n").map(String::from),
        "@cancel" => calls.then_some("    if (cancelled) __atomic_store_n(&ctx->lowest, ~(uintptr_t)0, __ATOMIC_SEQ_CST);\n").map(String::from),
        "@open" => Some(
            [
                if calls { "    if (ctx) ctx->stack = 4 << 20;\n" } else { "" },
                if teams { "    if (ctx) ctx->asked = &ctx->cancelled, ctx->threads = 1;\n" } else { "" },
            ]
            .concat(),
        ),
        "@team" => teams.then_some("    struct lam_team *team; /* the parallel loop that it works for */\n    struct lambada_context **workers; /* the contexts of the other threads */\n    int64_t threads;\n    lam_fork fork; /* what runs a function on threads */\n    void *pool;\n    const int *asked; /* is the call to end? a worker asks for another one's call */\n").map(String::from),
        "@fork" => teams.then_some("/* Runs `work(team, k)` for all k below `workers`, at the same time or not. */\ntypedef void (*lam_fork)(void *pool, int64_t workers, void (*work)(void *team, int64_t worker), void *team);\n\n").map(String::from),
        "@asked" => Some(format!("    return unlikely(__atomic_load_n({}, __ATOMIC_RELAXED));\n", if teams { "ctx->asked" } else { "&ctx->cancelled" })),
        "@peak" => teams.then_some("    for (int64_t k = 1; k < ctx->threads; k++) peak += lambada_context_peak(ctx->workers[k - 1]);\n").map(String::from),
        "@close" => teams.then_some("    for (int64_t k = 1; k < ctx->threads; k++) lambada_context_close(ctx->workers[k - 1]);\n    __builtin_free(ctx->workers);\n").map(String::from),
        "@top" => nodes.then_some("    char *top; /* the end of the chunk, from which arrays are taken downwards */\n    uint64_t lost; /* bytes between nodes and arrays that the limit forbids */\n").map(String::from),
        "@kept" => nodes.then_some("    struct lam_block *kept; /* those of nodes */\n").map(String::from),
        "@alloc" => Some(if nodes { ALLOC_FROM_BACK } else { ALLOC }.to_string()),
        "@in_use" => Some(
            if nodes {
                "    return ctx->current ? ctx->current->before + (uint64_t)(ctx->at - ctx->current->start) + (uint64_t)(ctx->top - ctx->end) - ctx->lost : 0;\n"
            } else {
                "    return ctx->current ? ctx->current->before + (uint64_t)(ctx->at - ctx->current->start) : 0;\n"
            }
            .to_string(),
        ),
        "@entered" => nodes.then_some("    ctx->top = ctx->end;\n    ctx->lost = 0;\n").map(String::from),
        "@mark" => Some(if nodes { MARKS_AT_BOTH_ENDS } else { MARKS }.to_string()),
        "@exact" => Some(if nodes { EXACT_KEPT } else { "" }.to_string()),
        "@marked" => Some(if nodes { EXACT_MARKS_OF_BOTH } else { EXACT_MARKS }.to_string()),
        "@limited" => Some(
            if nodes {
                "    if (ctx->current) lam_lose_room(ctx);\n"
            } else {
                "    if (ctx->current) lam_enter_chunk(ctx, ctx->current, ctx->at);\n"
            }
            .to_string(),
        ),
        line => Some(format!("{line}\n")),
    }
    };
    text.lines().filter_map(chosen).collect()
}

/// Nodes, in a kind of memory.
pub(crate) fn nodes(memory: Memory, precision: Precision) -> String {
    let made = if memory == Memory::Exact { NODES_EXACT } else { NODES_IN_ARENA };
    with_reals(&format!("{SLOTS}{made}{NODES}"), precision)
}

/// Types of the interface, and the failure of a check.
pub(crate) fn interface(precision: Precision) -> String {
    with_reals(INTERFACE, precision)
}

/// `@real` is the type of reals.
fn with_reals(text: &str, precision: Precision) -> String {
    text.replace("@real", precision.c())
}

/// Types of the interface, and the failure of a check.
const INTERFACE: &str = "\
typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __UINTPTR_TYPE__ uintptr_t;

union lambada_word {
    @real real;
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

/// The part common to both kinds of memory: sizes of arrays, and the failures of allocations.
const SIZES: &str = "\
/* Is the call to end? Loops ask, those of which an iteration may take long each time. */
static inline int lam_is_cancelled(const struct lambada_context *ctx) {
@asked
}

/* Where a block of so many iterations ends, of a loop that is cut into them so that it can be cancelled. */
static inline int64_t lam_block_end(int64_t from, int64_t end, int64_t block) {
    return (uint64_t)end - (uint64_t)from > (uint64_t)block ? from + block : end;
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
@beside
    return 2;
}
";

/// Loops whose iterations run at the same time. Iterations are taken in order, so one that waits
/// for its turn waits for one that runs.
pub(crate) const TEAMS: &str = "\
int sched_yield(void);

/* A parallel loop. Who works for it takes the next iteration, again and again; what is to be done in order is done in turn. */
struct lam_team {
    int (*iteration)(struct lambada_context *, union lambada_word *, const void *, int64_t);
    const void *frame;
    struct lambada_context *leader;
    int64_t count, next, turn;
    int status; /* of the first iteration that has failed */
    union lambada_word results[3];
};

static void lam_await(const struct lam_team *team, int64_t turn) {
    for (int64_t k = 0; __atomic_load_n(&team->turn, __ATOMIC_ACQUIRE) != turn; k++) {
        if (k > 1000) sched_yield();
    }
}

/* Waits for the iterations before this one. Has none of them failed? */
static int lam_turn(struct lambada_context *ctx, int64_t turn) {
    lam_await(ctx->team, turn);
    return !__atomic_load_n(&ctx->team->status, __ATOMIC_RELAXED);
}

static void lam_work(void *of, int64_t worker) {
    struct lam_team *team = of;
    struct lambada_context *ctx = worker ? team->leader->workers[worker - 1] : team->leader;
    union lambada_word results[3];
    ctx->team = team;
    if (worker) lam_reset(ctx);
    for (;;) {
        int64_t turn = __atomic_fetch_add(&team->next, 1, __ATOMIC_RELAXED);
        if (turn >= team->count) break;
        struct lam_mark mark = lam_mark(ctx);
        int status = 0;
        if (!__atomic_load_n(&team->status, __ATOMIC_RELAXED))
            status = lam_is_cancelled(ctx) ? 4 : team->iteration(ctx, results, team->frame, turn);
        lam_await(team, turn);
        if (unlikely(status) && !team->status) {
            for (int k = 0; k < 3; k++) team->results[k] = results[k];
            __atomic_store_n(&team->status, status, __ATOMIC_RELAXED);
        }
        lam_release(ctx, mark);
        __atomic_store_n(&team->turn, turn + 1, __ATOMIC_RELEASE);
    }
}

/* Runs all iterations; what they have for memory is what is left, in equal parts. */
static int lam_parallel(struct lambada_context *ctx, union lambada_word *results, int (*iteration)(struct lambada_context *, union lambada_word *, const void *, int64_t), const void *frame, int64_t count) {
    struct lam_team team = {iteration, frame, ctx, count, 0, 0, 0, {{0}, {0}, {0}}};
    int64_t workers = count < ctx->threads ? count : ctx->threads;
    if (workers > 1) {
        uint64_t in_use = lam_in_use(ctx), room = ctx->limit > in_use ? ctx->limit - in_use : 0;
        for (int64_t k = 1; k < workers; k++) ctx->workers[k - 1]->limit = room / (uint64_t)workers;
        ctx->fork(ctx->pool, workers, lam_work, &team);
    } else {
        lam_work(&team, 0);
    }
    if (unlikely(team.status)) {
        for (int k = 0; k < 3; k++) results[k] = team.results[k];
    }
    return team.status;
}

/* Calls use so many threads from now on, on which `fork` runs functions. The results are the same for any number. Gives 2 if there is no memory for that,
 * and then calls use one. */
@export int lambada_context_threads(struct lambada_context *ctx, int64_t threads, lam_fork fork, void *pool) {
    for (int64_t k = 1; k < ctx->threads; k++) lambada_context_close(ctx->workers[k - 1]);
    __builtin_free(ctx->workers);
    ctx->workers = 0;
    ctx->threads = 1;
    ctx->fork = fork;
    ctx->pool = pool;
    if (threads <= 1) return 0;
    ctx->workers = __builtin_calloc((uint64_t)threads, sizeof *ctx->workers);
    if (!ctx->workers) return 2;
    for (; ctx->threads < threads; ctx->threads++) {
        struct lambada_context *worker = lambada_context_open();
        if (!worker) return 2;
        worker->asked = &ctx->cancelled;
        ctx->workers[ctx->threads - 1] = worker;
    }
    return 0;
}
";

/// Parallel loops where there are no threads.
pub(crate) const TURNS: &str = "\
/* Have the iterations before this one run without a failure? They have: a failure ends the loop. */
static inline int lam_turn(struct lambada_context *ctx, int64_t turn) {
    (void)ctx;
    (void)turn;
    return 1;
}

/* Runs all iterations of a loop, one after the other. */
static int lam_parallel(struct lambada_context *ctx, union lambada_word *results, int (*iteration)(struct lambada_context *, union lambada_word *, const void *, int64_t), const void *frame, int64_t count) {
    for (int64_t turn = 0; turn < count; turn++) {
        struct lam_mark mark = lam_mark(ctx);
        int status = lam_is_cancelled(ctx) ? 4 : iteration(ctx, results, frame, turn);
        lam_release(ctx, mark);
        if (unlikely(status)) return status;
    }
    return 0;
}
";

/// Inspections.
pub(crate) const INSPECTIONS: &str = "\
/* What is inspected is given to this function from now on: its number and its values, as results are. */
@export void lambada_context_seen(struct lambada_context *ctx, void (*seen)(const void *, int64_t, const union lambada_word *), const void *who) {
    ctx->seen = seen;
    ctx->who = who;
}

static __attribute__((cold, noinline)) void lam_inspect(const struct lambada_context *ctx, int64_t number, const union lambada_word *values) {
    if (ctx->seen) ctx->seen(ctx->who, number, values);
}
";

/// Functions that call each other: the limit on their depth.
pub(crate) const CALLS: &str = "\
/* Calls may use so many bytes of the stack from now on. */
@export void lambada_context_stack(struct lambada_context *ctx, uint64_t bytes) {
    ctx->stack = bytes;
}

static inline void lam_begin(struct lambada_context *ctx) {
    __atomic_store_n(&ctx->lowest, (uintptr_t)__builtin_frame_address(0) - ctx->stack, __ATOMIC_SEQ_CST);
    if (unlikely(__atomic_load_n(&ctx->cancelled, __ATOMIC_SEQ_CST))) __atomic_store_n(&ctx->lowest, ~(uintptr_t)0, __ATOMIC_SEQ_CST);
}

/* A call that is cancelled has no stack any more, so that calls need not ask whether it is. */
static inline int lam_is_deep(const struct lambada_context *ctx) {
    return (uintptr_t)__builtin_frame_address(0) < __atomic_load_n(&ctx->lowest, __ATOMIC_RELAXED);
}

static __attribute__((cold, noinline)) int lam_too_deep(const struct lambada_context *ctx, union lambada_word *results, int64_t site) {
    return lam_is_cancelled(ctx) ? 4 : lam_fail(results, site, 0, 0);
}
";

/// The slots of a node.
const SLOTS: &str = "\
/* A node is a row of slots: its tag, scalars, for each array its data and the number of its elements. A handle is its address; 0 is null, all of
 * whose fields are zeros. */
union lam_slot {
    int64_t integer;
    @real real;
    void *data;
};

";

/// Nodes side by side.
const NODES_IN_ARENA: &str = "\
static inline union lam_slot *lam_node(struct lambada_context *ctx, int64_t slots, int64_t tag) {
    uint64_t bytes = (uint64_t)slots * sizeof(union lam_slot);
    if (unlikely((uint64_t)(ctx->end - ctx->at) < bytes) && !lam_grow(ctx, bytes)) return 0;
    union lam_slot *node = (union lam_slot *)ctx->at;
    ctx->at += bytes;
    node[0].integer = tag;
    return node;
}
";

/// Nodes with a block each.
const NODES_EXACT: &str = "\
static inline union lam_slot *lam_node(struct lambada_context *ctx, int64_t slots, int64_t tag) {
    union lam_slot *node = lam_alloc_kept(ctx, slots, sizeof *node);
    if (node) node[0].integer = tag;
    return node;
}
";

/// The operations on nodes.
const NODES: &str = "
/* Says for what there is no room: where in the program it is made, how many bytes it takes, and how many are in use. */
static __attribute__((cold, noinline)) int lam_no_node(struct lambada_context *ctx, union lambada_word *results, int64_t site, int64_t bytes) {
    results[0].integer = site;
    results[1].integer = bytes;
    results[2].integer = (int64_t)lam_in_use(ctx);
    return 3;
}

static inline int64_t lam_tag(int64_t node) {
    return node ? ((const union lam_slot *)(uintptr_t)node)->integer : -1;
}

static inline @real lam_real(int64_t node, int slot) {
    return node ? ((const union lam_slot *)(uintptr_t)node)[slot].real : 0;
}

static inline int64_t lam_integer(int64_t node, int slot) {
    return node ? ((const union lam_slot *)(uintptr_t)node)[slot].integer : 0;
}

static inline void *lam_zeros(struct lambada_context *ctx, int64_t count, int64_t size) {
    void *memory = lam_alloc(ctx, count, size);
    if (memory && count > 0) __builtin_memset(memory, 0, (uint64_t)(count * size));
    return memory;
}

/* An array of a node; zeros if the node is null or has another constructor. */
static inline void *lam_array(struct lambada_context *ctx, int64_t node, int64_t tag, int slot, int64_t count, int64_t size) {
    const union lam_slot *slots = (const union lam_slot *)(uintptr_t)node;
    if (count < 0) count = 0;
    if (slots && slots->integer == tag && slots[slot + 1].integer == count) return slots[slot].data;
    return lam_zeros(ctx, count, size);
}

static inline void *lam_cell(struct lambada_context *ctx, int64_t node, int64_t tag, int slot) {
    union lam_slot *slots = (union lam_slot *)(uintptr_t)node;
    return slots && slots->integer == tag ? slots + slot : lam_zeros(ctx, 1, sizeof *slots);
}

/* Puts a copy of an array into a node. */
static inline int lam_keep(struct lambada_context *ctx, union lam_slot *slot, const void *from, int64_t count, int64_t size) {
    if (count < 0) count = 0;
    slot[0].data = lam_alloc_kept(ctx, count, size);
    slot[1].integer = count;
    if (slot[0].data && count) __builtin_memcpy(slot[0].data, from, (uint64_t)(count * size));
    return slot[0].data != 0;
}

/* Puts an array into a node that is nobody else's any more. */
static inline void lam_take(union lam_slot *slot, void *array, int64_t count) {
    slot[0].data = array;
    slot[1].integer = count < 0 ? 0 : count;
}
";

/// Copies elements that do not overlap. A call would take longer than the copy of a short row.
pub(crate) const COPY: &str = "\
static inline void lam_copy(void *restrict to, const void *restrict from, int64_t bytes) {
    if (bytes > 128 || bytes & 7) {
        if (bytes > 0) __builtin_memcpy(to, from, (uint64_t)bytes);
        return;
    }
    for (int64_t k = 0; k < bytes; k += 8) __builtin_memcpy((char *)to + k, (const char *)from + k, 8);
}
";
