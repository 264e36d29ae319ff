static inline f32x$ lam_exp_f32x$(f32x$ x) {
    x = lam_select_f32x$((i32x$)(x > 89.0f), lam_splat_f32x$(89.0f), x);
    x = lam_select_f32x$((i32x$)(x < -104.0f), lam_splat_f32x$(-104.0f), x);
    return lam_exp_kernel_f32x$(x);
}
