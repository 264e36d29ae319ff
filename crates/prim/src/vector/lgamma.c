/* Below 0 by reflection; at the poles inf. */
static inline f64x$ lam_lgamma_x$(f64x$ x) {
    f64x$ size = (f64x$)((i64x$)x & INT64_MAX), y = lam_lgamma_positive_x$(size);
    i64x$ reflect = (i64x$)(x < -0x1p-60);
    if (lam_any_x$(reflect)) {
        f64x$ from = lam_from_integer_x$(size), sine = lam_sin_x$(0x1.921fb54442d18p+1 * (f64x$)((i64x$)from & INT64_MAX));
        f64x$ other = lam_log_x$(0x1.921fb54442d18p+1 / (sine * size)) - y;
        other = lam_select_f64x$((i64x$)(from == 0.0) | (i64x$)(size == INFINITY), lam_splat_f64x$(INFINITY), other);
        y = lam_select_f64x$(reflect, other, y);
    }
    return y;
}
