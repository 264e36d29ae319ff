static inline f32x$ lam_exp_f32x$(f32x$ x) {
    return lam_exp_kernel_f32x$(lam_at_least_f32x$(lam_at_most_f32x$(x, 89.0f), -104.0f));
}
