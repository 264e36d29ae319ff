/* The logarithm of a positive finite number to some 65 bits, as a sum of two. Twice the series of the inverse hyperbolic tangent, of which two
 * terms are computed with twice the digits. */
static inline f64x$ lam_log_long_x$(f64x$ x, f64x$ *rest) {
    f64x$ e, f = lam_log_split_x$(x, &e);
    f64x$ d = f + 2.0, d2 = f - (d - 2.0);
    f64x$ s = f / d, p = s * d, s2 = (((f - p) - lam_rest_x$(s, d, p)) - s * d2) / d;
    f64x$ z = s * s, z2 = lam_rest_x$(s, s, z) + 2.0 * s * s2;
    f64x$ cube = z * s, cube2 = lam_rest_x$(z, s, cube) + (z * s2 + z2 * s);
    f64x$ q = z * 0.11723083471557305 + 0.11706245439536887;
    q = q * z + 0.1333480435398481;
    q = q * z + 0.15384594968768447;
    q = q * z + 0.1818181833533429;
    q = q * z + 0.22222222221656143;
    q = q * z + 0.28571428571429364;
    q = q * z + 0.4;
    q = q * z + 0x1.5555555555555p-55;
    f64x$ third = 0x1.5555555555555p-1 + q, third2 = (0x1.5555555555555p-1 - third) + q;
    f64x$ term = cube * third, term2 = lam_rest_x$(cube, third, term) + (cube * third2 + cube2 * third);
    f64x$ sum = 2.0 * s + term, sum2 = ((2.0 * s - sum) + term) + (2.0 * s2 + term2);
    f64x$ whole = e * 0x1.62e42fefa3800p-1, y = whole + sum;
    f64x$ y2 = ((whole - y) + sum) + (sum2 + e * 0x1.ef35793c76730p-45);
    f64x$ result = y + y2;
    *rest = (y - result) + y2;
    return result;
}
