static inline f32x$ lam_log_f32x$(f32x$ x) {
    f32x$ e, f = lam_log_split_f32x$(x, &e);
    return lam_log_ends_f32x$(x, lam_log_kernel_f32x$(e, f, f / (2.0f + f), lam_splat_f32x$(0.0f)));
}
