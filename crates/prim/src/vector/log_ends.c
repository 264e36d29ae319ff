/* y, but the logarithm where that is no finite number. */
static inline f64x$ lam_log_ends_x$(f64x$ x, f64x$ y) {
    y = lam_select_f64x$((i64x$)(x < INFINITY), y, x);
    y = lam_select_f64x$((i64x$)(x == 0.0), lam_splat_f64x$(-INFINITY), y);
    return lam_select_f64x$((i64x$)(x < 0.0), lam_splat_f64x$(NAN), y);
}
