/* y, but the logarithm where that is no finite number. */
static inline f32x$ lam_log_ends_f32x$(f32x$ x, f32x$ y) {
    y = lam_select_f32x$((i32x$)(x < INFINITY), y, x);
    y = lam_select_f32x$((i32x$)(x == 0.0f), lam_splat_f32x$(-INFINITY), y);
    return lam_select_f32x$((i32x$)(x < 0.0f), lam_splat_f32x$(NAN), y);
}
