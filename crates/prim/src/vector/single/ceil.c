static inline f32x$ lam_ceil_f32x$(f32x$ x) {
    f32x$ y = lam_nearest_f32x$(x);
    return lam_sign_of_f32x$(lam_select_f32x$((i32x$)(y < x), y + 1.0f, y), x);
}
