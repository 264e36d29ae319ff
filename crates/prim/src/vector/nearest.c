/* The nearest integer, of two the even one; of what is larger than 2^52, itself. */
static inline f64x$ lam_nearest_x$(f64x$ x) {
    f64x$ size = (f64x$)((i64x$)x & INT64_MAX);
    return lam_sign_of_x$(lam_select_f64x$((i64x$)(size < 0x1p52), (size + 0x1p52) - 0x1p52, size), x);
}
