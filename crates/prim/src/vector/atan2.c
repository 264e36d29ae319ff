static inline f64x$ lam_atan2_x$(f64x$ y, f64x$ x) {
    f64x$ high = (f64x$)((i64x$)y & INT64_MAX), wide = (f64x$)((i64x$)x & INT64_MAX), unit = lam_splat_f64x$(1.0);
    i64x$ infinite = (i64x$)(high == INFINITY) & (i64x$)(wide == INFINITY);
    high = lam_select_f64x$(infinite, unit, high), wide = lam_select_f64x$(infinite, unit, wide);
    i64x$ steep = (i64x$)(high > wide);
    f64x$ n = lam_select_f64x$(steep, wide, high), d = lam_select_f64x$(steep, high, wide);
    f64x$ scale = lam_select_f64x$((i64x$)(d > 0x1p1000), lam_splat_f64x$(0x1p-100), unit);
    scale = lam_select_f64x$((i64x$)(d < 0x1p-900), lam_splat_f64x$(0x1p200), scale);
    i64x$ nowhere = (i64x$)(d == 0.0);
    f64x$ angle = lam_atan_kernel_x$(n * scale, lam_select_f64x$(nowhere, unit, d * scale));
    angle = lam_select_f64x$(steep, 0x1.921fb54442d18p+0 - (angle - 0x1.1a62633145c07p-54), angle);
    angle = lam_select_f64x$((i64x$)((i64x$)x < 0), 0x1.921fb54442d18p+1 - (angle - 0x1.1a62633145c07p-53), angle);
    return lam_select_f64x$((i64x$)(x != x) | (i64x$)(y != y), x + y, lam_sign_of_x$(angle, y));
}
