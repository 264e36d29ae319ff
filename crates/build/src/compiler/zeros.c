/* Zeros, for what counts for nothing. */
static __attribute__((unused)) const void *lam_nothing(struct @_context *context, int64_t count, int64_t size) {
    uint64_t bytes = count > 0 ? (uint64_t)count * (uint64_t)size : 1;
    if (bytes > context->zero_bytes) {
        __builtin_free(context->zeros);
        context->zeros = __builtin_calloc(bytes, 1);
        context->zero_bytes = context->zeros ? bytes : 0;
    }
    return context->zeros;
}

