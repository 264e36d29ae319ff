/* e log 2 + log (1 + f) + rest for a rest that is tiny, by s = f / (2 + f), of which twice the inverse hyperbolic tangent is the logarithm. */
static inline f32x$ lam_log_kernel_f32x$(f32x$ e, f32x$ f, f32x$ s, f32x$ rest) {
    f32x$ z = s * s;
    f32x$ p = z * 0.23332913f + 0.2855073f;
    p = p * z + 0.40000123f;
    p = p * z + 0.6666667f;
    f32x$ half = 0.5f * f * f;
    return e * 0x1.62e4p-1f - ((half - (s * (half + z * p) + (e * 0x1.7f7d1cp-20f + rest))) - f);
}
