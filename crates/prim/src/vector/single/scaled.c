/* x · 2^n for whole numbers n with |n| <= 200, rounded once: 2^n in two factors. */
static inline f32x$ lam_scaled_f32x$(f32x$ x, f32x$ n) {
#if $ == 16 && defined __AVX512F__ && defined __GNUC__ && !defined __clang__
    return __builtin_ia32_scalefps512_mask(x, n, x, (unsigned short)-1, 4);
#else
    const float magic = 0x1.8p23f; /* a sum with it is rounded to an integer, in its low bits */
    f32x$ half = n * 0.5f + magic, other = (n - (half - magic)) + magic;
    f32x$ scale1 = (f32x$)(((i32x$)half << 23) + 0x3f800000);
    f32x$ scale2 = (f32x$)(((i32x$)other << 23) + 0x3f800000);
    return x * scale1 * scale2;
#endif
}
