
/* Nothing here runs on more than one thread. */
int @_threads(@_context *context, int64_t threads, @_fork fork, void *pool) {
    (void)threads;
    (void)fork;
    (void)pool;
    return context ? 0 : @@_ERROR_ARGUMENT;
}
