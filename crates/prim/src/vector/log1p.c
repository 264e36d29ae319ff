/* The logarithm of u = 1 + x, and what u has lost, over u. */
static inline f64x$ lam_log1p_x$(f64x$ x) {
    f64x$ u = x + 1.0, lost = (x - (u - 1.0)) + (1.0 - (u - (u - 1.0)));
    f64x$ e, f = lam_log_split_x$(u, &e), s = f / (2.0 + f);
    /* 1 / (1 + f) = (1 - s) / (1 + s), to three digits, as what is lost is tiny */
    f64x$ inverse = (1.0 - s) * (1.0 - s * (1.0 - s * (1.0 - s)));
    f64x$ small = lam_select_f64x$((i64x$)(e > 1000.0), lam_splat_f64x$(1000.0), e);
    f64x$ scale = (f64x$)(((i64x$)(0x1.8p52 - small) << 52) + 0x3ff0000000000000);
    f64x$ y = lam_log_ends_x$(u, lam_log_kernel_x$(e, f, s, lost * inverse * scale));
    return lam_select_f64x$((i64x$)(x == 0.0), x, y);
}
