/* A polynomial near 0, else 1 - 2 / (e^2x + 1). */
static inline f64x$ lam_tanh_x$(f64x$ x) {
    f64x$ size = (f64x$)((i64x$)x & INT64_MAX), z = size * size;
    f64x$ far = 1.0 - 2.0 / (lam_exp_kernel_x$(lam_at_most_x$(size + size, 40.0)) + 1.0);
    f64x$ p = z * 7.874274361141842e-6 - 3.372080118812352e-5;
    p = p * z + 9.455133061089533e-5;
    p = p * z - 0.00023847272484990359;
    p = p * z + 0.0005899052969659499;
    p = p * z - 0.0014558190971549292;
    p = p * z + 0.0035921267699631225;
    p = p * z - 0.008863235463146843;
    p = p * z + 0.02186948853407391;
    p = p * z - 0.05396825396822037;
    p = p * z + 0.1333333333333331;
    p = p * z - 0.3333333333333333;
    return lam_sign_of_x$(lam_select_f64x$((i64x$)(size < 0.55), size + size * z * p, far), x);
}
