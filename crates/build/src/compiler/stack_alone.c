/* How many bytes of its stack a thread may give to functions that call each other. */
#ifndef @@_STACK
#define @@_STACK STACK_BYTES
#endif

static uint64_t lam_stack(struct @_context *context) {
    (void)context;
    return @@_STACK;
}
