/* x with the sign of y. */
static inline f64x$ lam_sign_of_x$(f64x$ x, f64x$ y) {
    return (f64x$)(((i64x$)x & INT64_MAX) | ((i64x$)y & INT64_MIN));
}
