
const char *@_message(const @_context *context) {
    return context ? context->message : "there is no context: @_open has given none, for the system has no memory";
}

void @_limit(@_context *context, uint64_t bytes) {
    if (!context) return;
    context->limit = bytes < (uint64_t)1 << 62 ? bytes : (uint64_t)1 << 62;
    lambada_context_limit(context->memory, context->limit);
}

int64_t @_vector_bits(@_context *context, int64_t most) {
    if (!context) return 0;
    lam_choose(context, most);
    return context->bits;
}

void @_cancel(@_context *context) {
    if (context) lambada_context_cancel(context->memory, 1);
}
