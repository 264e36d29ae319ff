static inline f64x$ lam_log_x$(f64x$ x) {
    f64x$ e, f = lam_log_split_x$(x, &e);
    return lam_log_ends_x$(x, lam_log_kernel_x$(e, f, f / (2.0 + f), lam_splat_f64x$(0.0)));
}
