/* What the functions of the library have in common. */

struct @_context {
    struct lambada_context *memory;
    const struct lam_code *code; /* the version of the functions that calls run */
    int64_t bits; /* of the vectors that it is for */
    void *zeros; /* as many zero bytes as parts of cotangents have needed so far */
    uint64_t zero_bytes, limit;
    uintptr_t low, high; /* the stack of the thread that called last */
    char message[LAM_MESSAGE];
};

static __attribute__((unused)) int64_t lam_quotient(int64_t a, int64_t b) {
    int64_t quotient;
    if (b == 0) return 0;
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    quotient = a / b;
    return quotient - ((a % b != 0) & ((a < 0) != (b < 0)));
}

static __attribute__((unused)) int64_t lam_least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static __attribute__((unused)) int64_t lam_most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Adds a text to a message. */
static char *lam_say(char *at, const char *text) {
    while (*text) *at++ = *text++;
    *at = 0;
    return at;
}

/* Adds a number to a message. */
static char *lam_say_number(char *at, int64_t value) {
    char digits[20];
    int count = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0) *at++ = '-';
    do digits[count++] = (char)('0' + rest % 10);
    while (rest /= 10);
    while (count) *at++ = digits[--count];
    *at = 0;
    return at;
}

/* number */
static int lam_begins(const char *text, const char *with) {
    while (*with) {
        if (*text++ != *with++) return 0;
    }
    return 1;
}

/* Adds a text in which {0} stands for the first of the numbers, {0:real} and {0:bool} for what
 * its bits mean, and {{ for a brace. */
static char *lam_say_filled(char *at, const char *text, const union lambada_word *numbers) {
    for (; *text; text++) {
        int k = 0, digits = 0;
        if (text[0] == '{' && text[1] == '{') {
            *at++ = '{';
            text++;
            continue;
        }
        if (*text == '{') {
            while (text[1 + digits] >= '0' && text[1 + digits] <= '9') k = 10 * k + (text[1 + digits++] - '0');
        }
        if (digits && text[1 + digits] == '}') {
            at = lam_say_number(at, numbers[k].integer);
            text += 1 + digits;
        } else if (digits && lam_begins(text + 1 + digits, ":real}")) {
            at = lam_say_real(at, numbers[k].integer);
            text += digits + 6;
        } else if (digits && lam_begins(text + 1 + digits, ":bool}")) {
            at = lam_say(at, numbers[k].integer ? "true" : "false");
            text += digits + 6;
        } else {
            *at++ = *text;
        }
    }
    *at = 0;
    return at;
}

/* There is no memory for something. */
static __attribute__((unused)) int lam_no_room(struct @_context *context, char *at, int64_t bytes, int64_t in_use) {
    at = lam_say(at, " needs ");
    at = lam_say_number(at, bytes);
    at = lam_say(at, " bytes, and ");
    at = lam_say_number(at, in_use);
    at = lam_say(at, " bytes are in use: ");
    if ((uint64_t)bytes > context->limit || (uint64_t)in_use > context->limit - (uint64_t)bytes) {
        at = lam_say(at, "more than the limit of ");
        at = lam_say_number(at, (int64_t)context->limit);
        lam_say(at, " bytes");
    } else {
        lam_say(at, "the system does not give it");
    }
    return @@_ERROR_MEMORY;
}

/* Says why a call has failed. */
static __attribute__((cold, noinline)) int lam_explain(struct @_context *context, int status, const union lambada_word *words, const struct lam_code *code) {
    char *at = context->message;
    int64_t bytes;
    if (status == 4) {
        lambada_context_cancel(context->memory, 0);
        lam_say(at, "the call has been cancelled");
        return @@_ERROR_CANCELLED;
    }
    if (status == 1) {
        const struct lam_site *site = &code->sites[words[0].integer];
        lam_say_filled(lam_say(at, site->place), site->text, words + 1);
        return site->error;
    }
    if (status == 3) {
        at = lam_say(lam_say(at, code->sites[words[0].integer].place), "out of memory: this value");
        return lam_no_room(context, at, words[1].integer, words[2].integer);
    }
    at = lam_say(at, code->arrays[words[0].integer].place);
    if (__builtin_mul_overflow(words[1].integer, code->arrays[words[0].integer].each, &bytes)) {
        lam_say(at, "out of memory: this array has more elements than can be addressed");
        return @@_ERROR_MEMORY;
    }
    at = lam_say(at, "out of memory: this array of ");
    at = lam_say(lam_say_number(at, words[1].integer), " elements");
    return lam_no_room(context, at, bytes, words[2].integer);
}

/* Says that an argument cannot be used. */
static __attribute__((cold, noinline, unused)) int lam_refuse_argument(struct @_context *context, int error, const char *what, int64_t value, const char *why) {
    char *at = lam_say(context->message, what);
    lam_say(lam_say_number(at, value), why);
    return error;
}

static __attribute__((cold, noinline, unused)) int lam_refuse_null(struct @_context *context, const char *what) {
    lam_say(context->message, what);
    return @@_ERROR_ARGUMENT;
}

/* Is there an element that is no constructor? */
static __attribute__((unused)) int64_t lam_wrong_tag(const int64_t *tags, int64_t count, int64_t constructors) {
    for (int64_t k = 0; k < count; k++) {
        if (tags[k] < 0 || tags[k] >= constructors) return k;
    }
    return -1;
}

/* zeros */
/* An array in the memory of the context; one that is the caller's is copied there. */
static __attribute__((unused)) const void *lam_kept(struct @_context *context, const void *data, int64_t count, int64_t size) {
    const char *from = data;
    void *copy;
    for (const struct lam_chunk *chunk = context->memory->first; chunk; chunk = chunk->next) {
        if (from >= chunk->start && from < chunk->end) return data;
    }
    copy = lam_alloc(context->memory, count, size);
    if (copy && count > 0) __builtin_memcpy(copy, data, (uint64_t)(count * size));
    return copy;
}
