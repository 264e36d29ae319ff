/* A large natural number; all bits of a double, times ten, fit. */
struct lam_large {
    int count;
    uint32_t words[40];
};

static void lam_large_times(struct lam_large *x, uint32_t by) {
    uint64_t carry = 0;
    for (int k = 0; k < x->count; k++) {
        carry += (uint64_t)x->words[k] * by;
        x->words[k] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) x->words[x->count++] = (uint32_t)carry;
}

/* A number times a power of 2. */
static void lam_large_set(struct lam_large *x, uint64_t value, int shift) {
    x->count = 2;
    x->words[0] = (uint32_t)value;
    x->words[1] = (uint32_t)(value >> 32);
    for (; shift >= 16; shift -= 16) lam_large_times(x, 65536);
    lam_large_times(x, (uint32_t)1 << shift);
}

static uint32_t lam_large_word(const struct lam_large *x, int k) {
    return k < x->count ? x->words[k] : 0;
}

/* Is x larger than y, or, with `equal`, as large? */
static int lam_large_above(const struct lam_large *x, const struct lam_large *y, int equal) {
    for (int k = (x->count > y->count ? x->count : y->count) - 1; k >= 0; k--) {
        uint32_t a = lam_large_word(x, k), b = lam_large_word(y, k);
        if (a != b) return a > b;
    }
    return equal;
}

/* Adds y times `by` to x, which is 1 or -1; the sum is not negative. */
static void lam_large_add(struct lam_large *x, const struct lam_large *y, int by) {
    int64_t carry = 0;
    while (x->count < y->count) x->words[x->count++] = 0;
    for (int k = 0; k < x->count; k++) {
        carry += (int64_t)x->words[k] + by * (int64_t)lam_large_word(y, k);
        x->words[k] = (uint32_t)carry;
        carry = by < 0 ? -(int64_t)(carry < 0) : carry >> 32;
    }
    if (carry) x->words[x->count++] = (uint32_t)carry;
}

/* Is x + y above z, or, with `equal`, as large? */
static int lam_large_sum_above(const struct lam_large *x, const struct lam_large *y, const struct lam_large *z, int equal) {
    struct lam_large sum = *x;
    lam_large_add(&sum, y, 1);
    return lam_large_above(&sum, z, equal);
}

/* The fewest digits that tell a positive real from its neighbours (Burger and Dybvig, 1996); gives their number. The real is 0.d1d2... times ten to
 * the exponent. */
static int lam_digits(uint64_t mantissa, int exponent, char *digits, int *ten) {
    struct lam_large rest, unit, up, down; /* the real is rest / unit; half the gaps to its neighbours are up / unit and down / unit */
    int even = !(mantissa & 1), edge = mantissa == (uint64_t)1 << 52 && exponent > -1074, count = 0, low, high;
    lam_large_set(&rest, mantissa, (exponent > 0 ? exponent : 0) + 1 + edge);
    lam_large_set(&unit, 1, (exponent < 0 ? -exponent : 0) + 1 + edge);
    lam_large_set(&up, 1, (exponent > 0 ? exponent : 0) + edge);
    lam_large_set(&down, 1, exponent > 0 ? exponent : 0);
    for (*ten = 0; lam_large_sum_above(&rest, &up, &unit, even); ++*ten) lam_large_times(&unit, 10);
    for (;; --*ten) {
        lam_large_times(&rest, 10);
        lam_large_times(&up, 10);
        lam_large_times(&down, 10);
        if (lam_large_sum_above(&rest, &up, &unit, even)) break;
    }
    for (;;) {
        char digit = '0';
        for (; lam_large_above(&rest, &unit, 1); digit++) lam_large_add(&rest, &unit, -1);
        low = lam_large_above(&down, &rest, even);
        high = lam_large_sum_above(&rest, &up, &unit, even);
        if (low || high) {
            if (high && (!low || lam_large_sum_above(&rest, &rest, &unit, digit & 1))) digit++;
            digits[count++] = digit;
            return count;
        }
        digits[count++] = digit;
        lam_large_times(&rest, 10);
        lam_large_times(&up, 10);
        lam_large_times(&down, 10);
    }
}

/* Adds the real that has these bits, with as many digits as it needs. */
static char *lam_say_real(char *at, int64_t bits) {
    char digits[20];
    int ten, count, exponent = (int)(((uint64_t)bits >> 52) & 2047);
    uint64_t mantissa = (uint64_t)bits & (((uint64_t)1 << 52) - 1);
    if (exponent == 2047 && mantissa) return lam_say(at, "nan");
    if (bits < 0) *at++ = '-';
    if (exponent == 2047) return lam_say(at, "inf");
    if (!exponent && !mantissa) return lam_say(at, "0.0");
    if (exponent) mantissa |= (uint64_t)1 << 52;
    count = lam_digits(mantissa, (exponent ? exponent : 1) - 1075, digits, &ten);
    if (ten > 0 && ten <= count) {
        for (int k = 0; k < count; k++) {
            if (k == ten) *at++ = '.';
            *at++ = digits[k];
        }
        return lam_say(at, ten == count ? ".0" : "");
    }
    if (ten <= 0 && ten > -4) {
        at = lam_say(at, "0.");
        for (; ten < 0; ten++) *at++ = '0';
        for (int k = 0; k < count; k++) *at++ = digits[k];
        return lam_say(at, "");
    }
    for (int k = 0; k < count; k++) {
        if (k == 1) *at++ = '.';
        *at++ = digits[k];
    }
    at = lam_say(at, ten > 0 ? "e+" : "e-");
    ten = ten > 0 ? ten - 1 : 1 - ten;
    if (ten < 10) *at++ = '0';
    return lam_say_number(at, ten);
}

