/* Zeros, for parts that count for nothing: at the end of the arena, which is shorter for that. */
static __attribute__((unused)) const void *lam_nothing(struct @_context *context, int64_t count, int64_t size) {
    uint64_t bytes = count > 0 ? ((uint64_t)count * (uint64_t)size + 63) & ~(uint64_t)63 : 64;
    struct lam_chunk *chunk = context->memory->first;
    if (bytes <= context->zero_bytes) return context->zeros;
    if ((uint64_t)(chunk->end - chunk->start) < bytes + 64) return 0;
    chunk->end = (char *)((uintptr_t)(chunk->end - bytes) & ~(uintptr_t)63);
    context->zeros = chunk->end;
    context->zero_bytes += bytes + 64;
    __builtin_memset(context->zeros, 0, bytes);
    return context->zeros;
}

