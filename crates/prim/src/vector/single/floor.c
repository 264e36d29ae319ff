static inline f32x$ lam_floor_f32x$(f32x$ x) {
    f32x$ y = lam_nearest_f32x$(x), unit = lam_splat_f32x$(1.0f);
    return lam_select_f32x$((i32x$)(y > x), y - unit, y);
}
