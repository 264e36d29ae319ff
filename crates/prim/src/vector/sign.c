static inline f64x$ lam_sign_x$(f64x$ x) {
    f64x$ y = __builtin_convertvector((i64x$)(x < 0.0) - (i64x$)(x > 0.0), f64x$);
    return lam_select_f64x$((i64x$)(x != x), x, y);
}
