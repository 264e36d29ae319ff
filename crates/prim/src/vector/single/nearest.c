/* The nearest integer, of two the even one; of what is larger than 2^23, itself. */
static inline f32x$ lam_nearest_f32x$(f32x$ x) {
    f32x$ size = (f32x$)((i32x$)x & 0x7fffffff);
    return lam_sign_of_f32x$(lam_select_f32x$((i32x$)(size < 0x1p23f), (size + 0x1p23f) - 0x1p23f, size), x);
}
