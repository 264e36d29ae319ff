/* The square root, of -0.0 too. */
static inline f64x$ lam_root_x$(f64x$ x) {
    f64x$ y;
    for (int k = 0; k < $; k++) y[k] = sqrt(x[k]);
    return y;
}
