/* The angle whose tangent is n / d, for 0 <= n <= d and d > 0: from the angle 0, atan (1/2) or pi/4, whichever is near. */
static inline f64x$ lam_atan_kernel_x$(f64x$ n, f64x$ d) {
    i64x$ one = (i64x$)(n > 0.6875 * d), half = ~one & (i64x$)(n > 0.4375 * d);
    f64x$ above = lam_select_f64x$(one, n - d, lam_select_f64x$(half, (n - d) + n, n));
    f64x$ below = lam_select_f64x$(one, n + d, lam_select_f64x$(half, 2.0 * d + n, d));
    f64x$ from = (f64x$)((one & (i64x$)lam_splat_f64x$(0x1.921fb54442d18p-1)) | (half & (i64x$)lam_splat_f64x$(0x1.dac670561bb4fp-2)));
    f64x$ from2 = (f64x$)((one & (i64x$)lam_splat_f64x$(0x1.1a62633145c07p-55)) | (half & (i64x$)lam_splat_f64x$(0x1.a2b7f222f65e2p-56)));
    f64x$ t = above / below, z = t * t;
    f64x$ p = z * 0.014766421612497126 - 0.03312132344151896;
    p = p * z + 0.04491963724366212;
    p = p * z - 0.052166074202358644;
    p = p * z + 0.058769354972723474;
    p = p * z - 0.06666240859475621;
    p = p * z + 0.07692285488773518;
    p = p * z - 0.0909090835305013;
    p = p * z + 0.11111111096587781;
    p = p * z - 0.1428571428556615;
    p = p * z + 0.19999999999999407;
    p = p * z - 0.3333333333333333;
    return from + (t + (z * t * p + from2));
}
