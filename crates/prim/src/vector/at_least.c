/* The larger of x and the limit; NaN is kept. */
static inline f64x$ lam_at_least_x$(f64x$ x, double limit) {
#if $ == 8 && defined __AVX512F__ && defined __GNUC__ && !defined __clang__
    return __builtin_ia32_maxpd512_mask(lam_splat_f64x$(limit), x, x, (unsigned char)-1, 4);
#elif $ == 4 && defined __AVX__ && defined __GNUC__
    return __builtin_ia32_maxpd256(lam_splat_f64x$(limit), x);
#else
    return lam_select_f64x$((i64x$)(x < limit), lam_splat_f64x$(limit), x);
#endif
}
