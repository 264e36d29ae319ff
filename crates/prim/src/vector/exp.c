static inline f64x$ lam_exp_x$(f64x$ x) {
    x = lam_select_f64x$((i64x$)(x > 710.0), lam_splat_f64x$(710.0), x);
    x = lam_select_f64x$((i64x$)(x < -746.0), lam_splat_f64x$(-746.0), x);
    return lam_exp_kernel_x$(x, lam_splat_f64x$(0.0), 0.0);
}
