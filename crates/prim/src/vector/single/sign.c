static inline f32x$ lam_sign_f32x$(f32x$ x) {
    f32x$ y = __builtin_convertvector((i32x$)(x < 0.0f) - (i32x$)(x > 0.0f), f32x$);
    return lam_select_f32x$((i32x$)(x != x), x, y);
}
