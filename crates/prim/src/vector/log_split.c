/* x = 2^e (1 + f) with 1 + f between the roots of 1/2 and 2, for a positive x that is finite, subnormal numbers included. */
static inline f64x$ lam_log_split_x$(f64x$ x, f64x$ *e) {
    i64x$ small = (i64x$)(x < 0x1p-1022);
    i64x$ bits = (i64x$)lam_select_f64x$(small, x * 0x1p54, x);
    i64x$ above = bits - 0x3fe6a09e667f3bcd;
    *e = (f64x$)((above >> 52) + 0x4338000000000000) - 0x1.8p52;
    *e -= (f64x$)(small & (i64x$)lam_splat_f64x$(54.0));
    return (f64x$)(bits - (above & -0x10000000000000)) - 1.0;
}
