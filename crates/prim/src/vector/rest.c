/* What the rounded product p of a and b leaves, exactly. Without fused operations, from the halves of a and b, whose products are exact. */
static inline f64x$ lam_rest_x$(f64x$ a, f64x$ b, f64x$ p) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__)
    f64x$ rest;
    for (int k = 0; k < $; k++) rest[k] = __builtin_fma(a[k], b[k], -p[k]);
    return rest;
#else
    f64x$ a1 = (f64x$)((i64x$)a & -0x8000000), a2 = a - a1;
    f64x$ b1 = (f64x$)((i64x$)b & -0x8000000), b2 = b - b1;
    return ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2;
#endif
}
