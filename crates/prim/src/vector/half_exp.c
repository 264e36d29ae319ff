/* e^x / 2 for x >= 0, where that does not overflow before it must. */
static inline f64x$ lam_half_exp_x$(f64x$ x) {
    x = lam_select_f64x$((i64x$)(x > 720.0), lam_splat_f64x$(720.0), x);
    return lam_exp_kernel_x$(x, lam_splat_f64x$(0.0), -1.0);
}
