/* A polynomial near 0, else 1 - 2 / (e^2x + 1). */
static inline f32x$ lam_tanh_f32x$(f32x$ x) {
    f32x$ size = (f32x$)((i32x$)x & 0x7fffffff), z = size * size;
    f32x$ far = 1.0f - 2.0f / (lam_exp_kernel_f32x$(lam_at_most_f32x$(size + size, 20.0f)) + 1.0f);
    f32x$ p = z * 0.0025263907f - 0.008526333f;
    p = p * z + 0.021818449f;
    p = p * z - 0.0539647f;
    p = p * z + 0.13333324f;
    p = p * z - 0.33333334f;
    return lam_sign_of_f32x$(lam_select_f32x$((i32x$)(size < 0.55f), size + size * z * p, far), x);
}
