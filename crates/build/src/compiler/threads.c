
int @_threads(@_context *context, int64_t threads, @_fork fork, void *pool) {
    if (!context) return @@_ERROR_ARGUMENT;
    return lambada_context_threads(context->memory, fork ? threads : 1, fork, pool) ? @@_ERROR_MEMORY : 0;
}
