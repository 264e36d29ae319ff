double strtod(const char *, char **);

/* Adds the real that has these bits, with as many digits as it needs. */
static char *lam_say_real(char *at, int64_t bits) {
    union { int64_t bits; double real; } word;
    word.bits = bits;
    for (int digits = 1; digits <= 17; digits++) {
        __builtin_snprintf(at, 32, "%.*g", digits, word.real);
        if (digits == 17 || strtod(at, 0) == word.real || word.real != word.real) break;
    }
    int is_whole = 1;
    for (; *at; at++) is_whole &= (*at >= '0' && *at <= '9') || *at == '-';
    return is_whole ? lam_say(at, ".0") : at;
}

