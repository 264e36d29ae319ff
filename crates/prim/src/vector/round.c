static inline f64x$ lam_round_x$(f64x$ x) {
    f64x$ size = (f64x$)((i64x$)x & INT64_MAX), y = lam_nearest_x$(size);
    return lam_sign_of_x$(lam_select_f64x$((i64x$)(size - y == 0.5), y + 1.0, y), x);
}
