/* How many bytes of its stack the thread may give to functions that call each other. */
static uint64_t lam_stack(struct @_context *context) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), room;
    if (here <= context->low || here >= context->high) {
        /* Unless the system tells more, no more than small threads have. */
        context->low = here > 262144 ? here - 262144 : 0;
        context->high = here + 1;
#if defined(__linux__)
        if (pthread_getattr_np) {
            pthread_attr_t attributes;
            void *low;
            size_t size;
            if (!pthread_getattr_np(pthread_self(), &attributes)) {
                if (!pthread_attr_getstack(&attributes, &low, &size) && (uintptr_t)low < here) {
                    context->low = (uintptr_t)low;
                    context->high = (uintptr_t)low + size;
                }
                pthread_attr_destroy(&attributes);
            }
        }
#elif defined(__APPLE__)
        context->high = (uintptr_t)pthread_get_stackaddr_np(pthread_self());
        context->low = context->high - pthread_get_stacksize_np(pthread_self());
#endif
    }
    room = here - context->low;
    return room > 1048576 ? room - 524288 : room / 2;
}
