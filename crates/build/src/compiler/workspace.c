
/* How many bytes of the caller's memory are none of arrays. */
enum { LAM_BESIDE = sizeof(struct @_context) + 32 + LAM_BESIDE_ARRAYS };

@_context *@_open(void *memory, uint64_t bytes) {
    char *start = (char *)(((uintptr_t)memory + 15) & ~(uintptr_t)15);
    @_context *context = (@_context *)(void *)start;
    uint64_t own = (uint64_t)(start - (char *)memory) + ((sizeof *context + 15) & ~(uint64_t)15);
    if (!memory || bytes < LAM_BESIDE) return 0;
    __builtin_memset(context, 0, sizeof *context);
    context->memory = lambada_context_open((char *)memory + own, bytes - own);
    context->limit = (uint64_t)1 << 62;
    lam_choose(context, INT64_MAX);
    return context->memory ? context : 0;
}

void @_close(@_context *context) {
    (void)context;
}

uint64_t @_peak(@_context *context) {
    return context ? lambada_context_peak(context->memory) + context->zero_bytes + LAM_BESIDE : 0;
}

/* The bytes in use with one more array, as calls count them, and the most so far; too many are as many as nobody has. */
static __attribute__((unused)) uint64_t lam_room(uint64_t *most, uint64_t in_use, int64_t count, int64_t size) {
    uint64_t largest = (uint64_t)1 << 60, all = count > 0 ? (uint64_t)count : 0;
    if (all > largest / 64 / (uint64_t)size || in_use >= largest) in_use = largest;
    else in_use += all ? (all * (uint64_t)size + 63) & ~(uint64_t)63 : 64;
    if (in_use > *most) *most = in_use;
    return in_use;
}
