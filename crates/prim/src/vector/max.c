/* The larger; the first of equals, and NaN if one is. The instruction gives its second operand where both are equal or one is NaN, and is masked where y is. */
static inline f64x$ lam_max_x$(f64x$ x, f64x$ y) {
#if $ == 8 && defined __AVX512F__ && defined __GNUC__ && !defined __clang__
    return __builtin_ia32_maxpd512_mask(y, x, y, __builtin_ia32_cmppd512_mask(y, y, 7, (unsigned char)-1, 4), 4);
#else
    return lam_select_f64x$((i64x$)(x >= y) | (i64x$)(x != x), x, y);
#endif
}
