static inline f32x$ lam_round_f32x$(f32x$ x) {
    f32x$ size = (f32x$)((i32x$)x & 0x7fffffff), y = lam_nearest_f32x$(size);
    return lam_sign_of_f32x$(lam_select_f32x$((i32x$)(size - y == 0.5f), y + 1.0f, y), x);
}
