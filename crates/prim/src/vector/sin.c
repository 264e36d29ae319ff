static inline f64x$ lam_sin_x$(f64x$ x) {
    return lam_select_f64x$((i64x$)(x == 0.0), x, lam_sin_turned_x$(x, 0));
}
