/* x with the sign of y. */
static inline f32x$ lam_sign_of_f32x$(f32x$ x, f32x$ y) {
    return (f32x$)(((i32x$)x & 0x7fffffff) | ((i32x$)y & (-0x7fffffff - 1)));
}
