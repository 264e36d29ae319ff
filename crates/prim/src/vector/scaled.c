/* x · 2^n for whole numbers n with |n| <= 1200, rounded once: 2^n in two factors, the product of which may overflow, or be subnormal. */
static inline f64x$ lam_scaled_x$(f64x$ x, f64x$ n) {
#if $ == 8 && defined __AVX512F__ && defined __GNUC__ && !defined __clang__
    return __builtin_ia32_scalefpd512_mask(x, n, x, (unsigned char)-1, 4);
#else
    const double magic = 0x1.8p52; /* a sum with it is rounded to an integer, in its low bits */
    f64x$ half = n * 0.5 + magic, other = (n - (half - magic)) + magic;
    f64x$ scale1 = (f64x$)(((i64x$)half << 52) + 0x3ff0000000000000);
    f64x$ scale2 = (f64x$)(((i64x$)other << 52) + 0x3ff0000000000000);
    return x * scale1 * scale2;
#endif
}
