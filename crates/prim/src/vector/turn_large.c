/* The same for one large x: 192 bits of 2/pi, from where the product with x is less than four quarters, by the 53 bits of x. */
static __attribute__((cold, noinline)) int64_t lam_turn_large(double x, double *r, double *rest) {
    static const uint64_t two_over_pi[20] = {
        0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
        0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
        0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
        0x56033046fc7b6bab};
    union { double real; uint64_t bits; } word = {x};
    int64_t exponent = word.bits >> 52 & 2047;
    *r = x - x, *rest = 0;
    if (exponent == 2047) return 0;
    uint64_t m = (word.bits & 0xfffffffffffff) | 0x10000000000000, window[3];
    int64_t at = exponent - 1075 - 2 + 64;
    for (int k = 0; k < 3; k++) {
        const uint64_t *from = two_over_pi + (at >> 6) + k;
        window[k] = at & 63 ? from[0] << (at & 63) | from[1] >> (64 - (at & 63)) : from[0];
    }
    unsigned __int128 low = (unsigned __int128)m * window[2];
    unsigned __int128 middle = (unsigned __int128)m * window[1] + (uint64_t)(low >> 64);
    uint64_t high = m * window[0] + (uint64_t)(middle >> 64);
    unsigned __int128 turns = (unsigned __int128)high << 64 | (uint64_t)middle;
    int64_t quadrant = (int64_t)((turns + ((unsigned __int128)1 << 125)) >> 126);
    __int128 fraction = (__int128)(turns << 2) >> 1; /* of a quarter, 2^-127 of it each */
    double f1 = (double)fraction, f2 = (double)(fraction - (__int128)f1);
    /* The product with pi/2: all products of halves but one are exact. */
    word.real = f1;
    word.bits &= -(uint64_t)0x8000000;
    double f11 = word.real, f12 = f1 - f11, pi1 = 0x1.921fb50000000p+0, pi2 = 0x1.110b460000000p-26, pi3 = 0x1.1a62633145c07p-54;
    double product = f1 * 0x1.921fb54442d18p+0;
    double tail = ((f11 * pi1 - product) + f11 * pi2 + f12 * pi1) + f12 * pi2 + f1 * pi3 + f2 * 0x1.921fb54442d18p+0;
    double sign = x < 0 ? -0x1p-127 : 0x1p-127, sum = product + tail;
    *r = sum * sign;
    *rest = ((product - sum) + tail) * sign;
    return x < 0 ? -quadrant : quadrant;
}
