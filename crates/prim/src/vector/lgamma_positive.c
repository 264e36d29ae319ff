/* log Γ x for x >= 0. From 8 on by Stirling's series; below, with x shifted into [5/4, 5/2], where log Γ is a multiple of x - 2, and the logarithm
 * of what Γ is multiplied by. */
static inline f64x$ lam_lgamma_positive_x$(f64x$ x) {
    f64x$ unit = lam_splat_f64x$(1.0), y = x, product = unit;
    for (int k = 0; k < 6; k++) {
        i64x$ down = (i64x$)(y >= 2.5);
        f64x$ below = y - 1.0;
        product = lam_select_f64x$(down, product * below, product), y = lam_select_f64x$(down, below, y);
    }
    i64x$ left = (i64x$)(x < 1.25), far = (i64x$)(x < 0.5), big = (i64x$)(x >= 8.0);
    f64x$ d = lam_select_f64x$(far, x, lam_select_f64x$(left, x - 1.0, y - 2.0));
    product = lam_select_f64x$(far, x * (x + 1.0), lam_select_f64x$(left, x, product));
    f64x$ log = lam_log_x$(lam_select_f64x$(big, x, product));
    f64x$ p = d * -3.9681212273070906e-8 - 3.15002818906485e-8;
    p = p * d - 2.4687393629191447e-9;
    p = p * d + 1.0227177447551971e-7;
    p = p * d - 9.423130848461997e-8;
    p = p * d + 1.832779045893644e-7;
    p = p * d - 4.5855336106753346e-7;
    p = p * d + 9.634073285875712e-7;
    p = p * d - 2.0354509310226287e-6;
    p = p * d + 4.373455645028883e-6;
    p = p * d - 9.440295644091225e-6;
    p = p * d + 2.0507359164087196e-5;
    p = p * d - 4.4926134172098395e-5;
    p = p * d + 9.945750372061095e-5;
    p = p * d - 0.0002231547662618439;
    p = p * d + 0.0005096695250613092;
    p = p * d - 0.001192753911363211;
    p = p * d + 0.002890510330735603;
    p = p * d - 0.007385551028681512;
    p = p * d + 0.020580808427784605;
    p = p * d - 0.06735230105319803;
    p = p * d + 0.3224670334241132;
    p = p * d + 0.42278433509846713;
    f64x$ small = d * p + lam_select_f64x$(left, -log, log);
    f64x$ inverse = 1.0 / x, z = inverse * inverse;
    f64x$ q = z * 0.17964437236883057 - 0.029550653594771242;
    q = q * z + 0.00641025641025641;
    q = q * z - 0.0019175269175269176;
    q = q * z + 0.0008417508417508417;
    q = q * z - 0.0005952380952380953;
    q = q * z + 0.0007936507936507937;
    q = q * z - 0.002777777777777778;
    q = q * z + 0.08333333333333333;
    f64x$ large = (x - 0.5) * (log - 1.0) + (q * inverse + 0.4189385332046727);
    return lam_select_f64x$(big, large, small);
}
