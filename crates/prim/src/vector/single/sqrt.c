/* The square root, of -0 as of 0. */
static inline f32x$ lam_sqrt_f32x$(f32x$ x) {
    f32x$ y;
    for (int k = 0; k < $; k++) y[k] = sqrtf(x[k] + 0.0f);
    return y;
}
