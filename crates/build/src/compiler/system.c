
@_context *@_open(void) {
    @_context *context = __builtin_calloc(1, sizeof *context);
    if (!context) return 0;
    context->memory = lambada_context_open();
    context->limit = (uint64_t)1 << 62;
    lam_choose(context, INT64_MAX);
    if (context->memory) return context;
    __builtin_free(context);
    return 0;
}

void @_close(@_context *context) {
    if (!context) return;
    lambada_context_close(context->memory);
    __builtin_free(context->zeros);
    __builtin_free(context);
}
