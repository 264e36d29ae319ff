static inline f64x$ lam_floor_x$(f64x$ x) {
    f64x$ y = lam_nearest_x$(x), unit = lam_splat_f64x$(1.0);
    return lam_select_f64x$((i64x$)(y > x), y - unit, y);
}
