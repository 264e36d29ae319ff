/* The logarithm of u = 1 + x, and what u has lost, over u. */
static inline f32x$ lam_log1p_f32x$(f32x$ x) {
    f32x$ u = x + 1.0f, lost = (x - (u - 1.0f)) + (1.0f - (u - (u - 1.0f)));
    f32x$ e, f = lam_log_split_f32x$(u, &e), s = f / (2.0f + f);
    /* 1 / (1 + f) = (1 - s) / (1 + s), to three digits, as what is lost is tiny */
    f32x$ inverse = (1.0f - s) * (1.0f - s * (1.0f - s * (1.0f - s)));
    f32x$ small = lam_select_f32x$((i32x$)(e > 120.0f), lam_splat_f32x$(120.0f), e);
    f32x$ scale = (f32x$)(((i32x$)(0x1.8p23f - small) << 23) + 0x3f800000);
    f32x$ y = lam_log_ends_f32x$(u, lam_log_kernel_f32x$(e, f, s, lost * inverse * scale));
    return lam_select_f32x$((i32x$)(x == 0.0f), x, y);
}
