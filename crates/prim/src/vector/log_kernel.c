/* e log 2 + log (1 + f) + rest for a rest that is tiny, by s = f / (2 + f), of which twice the inverse hyperbolic tangent is the logarithm. */
static inline f64x$ lam_log_kernel_x$(f64x$ e, f64x$ f, f64x$ s, f64x$ rest) {
    f64x$ z = s * s;
    f64x$ p = z * 0.14616484199276786 + 0.15331718809192105;
    p = p * z + 0.1818288920919632;
    p = p * z + 0.22222211133643974;
    p = p * z + 0.28571428625982526;
    p = p * z + 0.3999999999989949;
    p = p * z + 0.666666666666667;
    f64x$ half = 0.5 * f * f;
    return e * 0x1.62e42fefa3800p-1 - ((half - (s * (half + z * p) + (e * 0x1.ef35793c76730p-45 + rest))) - f);
}
