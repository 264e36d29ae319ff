/* The larger of x and the limit; NaN is kept. */
static inline f32x$ lam_at_least_f32x$(f32x$ x, float limit) {
#if $ == 16 && defined __AVX512F__ && defined __GNUC__ && !defined __clang__
    return __builtin_ia32_maxps512_mask(lam_splat_f32x$(limit), x, x, (unsigned short)-1, 4);
#elif $ == 8 && defined __AVX__ && defined __GNUC__
    return __builtin_ia32_maxps256(lam_splat_f32x$(limit), x);
#else
    return lam_select_f32x$((i32x$)(x < limit), lam_splat_f32x$(limit), x);
#endif
}
