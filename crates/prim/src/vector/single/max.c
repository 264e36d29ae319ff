/* The larger; the first of equals, and NaN if one is. */
static inline f32x$ lam_max_f32x$(f32x$ x, f32x$ y) {
#if $ == 16 && defined __AVX512F__ && defined __GNUC__ && !defined __clang__
    return __builtin_ia32_maxps512_mask(y, x, y, __builtin_ia32_cmpps512_mask(y, y, 7, (unsigned short)-1, 4), 4);
#else
    return lam_select_f32x$((i32x$)(x >= y) | (i32x$)(x != x), x, y);
#endif
}
