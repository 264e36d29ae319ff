/* From 8 on by the asymptotic series; below, with x shifted into [1, 2], where digamma is a multiple of the distance from its root; below 0 by
 * reflection. */
static inline f64x$ lam_digamma_x$(f64x$ x0) {
    i64x$ reflect = (i64x$)(x0 < 0.0);
    f64x$ x = lam_select_f64x$(reflect, 1.0 - x0, x0), y = x, above = lam_splat_f64x$(0.0), below = lam_splat_f64x$(1.0);
    for (int k = 0; k < 6; k++) {
        i64x$ down = (i64x$)(y > 2.0);
        f64x$ next = y - 1.0;
        above = lam_select_f64x$(down, above * next + below, above), below = lam_select_f64x$(down, below * next, below);
        y = lam_select_f64x$(down, next, y);
    }
    i64x$ left = (i64x$)(x < 1.0);
    y = lam_select_f64x$(left, x + 1.0, y);
    above = lam_select_f64x$(left, lam_splat_f64x$(-1.0), above), below = lam_select_f64x$(left, x, below);
    f64x$ u = y - 1.5;
    f64x$ p = u * -8.15398016038657e-5 + 0.0001223098483604277;
    p = p * u - 6.115541061653447e-5;
    p = p * u + 9.173380955365843e-5;
    p = p * u - 0.00021786822333457958;
    p = p * u + 0.00032680681759099405;
    p = p * u - 0.0004599625116659774;
    p = p * u + 0.0006899717759237075;
    p = p * u - 0.0010422615570548832;
    p = p * u + 0.001563567976579391;
    p = p * u - 0.00234465008228187;
    p = p * u + 0.003518080075002491;
    p = p * u - 0.005280017820904344;
    p = p * u + 0.007927024067969643;
    p = p * u - 0.011908215172583721;
    p = p * u + 0.017907248195968707;
    p = p * u - 0.026975796844275368;
    p = p * u + 0.040760833944626575;
    p = p * u - 0.06192213327165706;
    p = p * u + 0.09498872445283;
    p = p * u - 0.14840492305391761;
    p = p * u + 0.24054248424078736;
    p = p * u - 0.42362742128146047;
    p = p * u + 0.9510558760318328;
    f64x$ small = ((y - 1.4616321449683622) - 9.549995429965697e-17) * p + above / below;
    f64x$ inverse = 1.0 / x, z = inverse * inverse;
    f64x$ q = z * 281.46014492753625 - 26.456212121212122;
    q = q * z + 3.0539543302701198;
    q = q * z - 0.4432598039215686;
    q = q * z + 0.08333333333333333;
    q = q * z - 0.021092796092796094;
    q = q * z + 0.007575757575757576;
    q = q * z - 0.004166666666666667;
    q = q * z + 0.003968253968253968;
    q = q * z - 0.008333333333333333;
    q = q * z + 0.08333333333333333;
    f64x$ result = lam_select_f64x$((i64x$)(x >= 8.0), lam_log_x$(x) - (0.5 * inverse + z * q), small);
    if (lam_any_x$(reflect)) {
        f64x$ from = lam_from_integer_x$(x0);
        f64x$ other = result - 0x1.921fb54442d18p+1 / lam_tan_x$(0x1.921fb54442d18p+1 * from);
        other = lam_select_f64x$((i64x$)(from == 0.0), lam_splat_f64x$(NAN), other);
        result = lam_select_f64x$(reflect, other, result);
    }
    return result;
}
