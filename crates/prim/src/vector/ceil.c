static inline f64x$ lam_ceil_x$(f64x$ x) {
    f64x$ y = lam_nearest_x$(x);
    return lam_sign_of_x$(lam_select_f64x$((i64x$)(y < x), y + 1.0, y), x);
}
