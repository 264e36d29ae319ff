/* The smaller of x and the limit; NaN is kept. Where the processor has an instruction for it, that takes the second operand where they do not compare. */
static inline f32x$ lam_at_most_f32x$(f32x$ x, float limit) {
#if $ == 16 && defined __AVX512F__ && defined __GNUC__ && !defined __clang__
    return __builtin_ia32_minps512_mask(lam_splat_f32x$(limit), x, x, (unsigned short)-1, 4);
#elif $ == 8 && defined __AVX__ && defined __GNUC__
    return __builtin_ia32_minps256(lam_splat_f32x$(limit), x);
#else
    return lam_select_f32x$((i32x$)(x > limit), lam_splat_f32x$(limit), x);
#endif
}
