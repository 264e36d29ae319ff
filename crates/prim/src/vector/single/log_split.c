/* x = 2^e (1 + f) with 1 + f between the roots of 1/2 and 2, for a positive x that is finite, subnormal numbers included. */
static inline f32x$ lam_log_split_f32x$(f32x$ x, f32x$ *e) {
    i32x$ small = (i32x$)(x < 0x1p-126f);
    i32x$ bits = (i32x$)lam_select_f32x$(small, x * 0x1p25f, x);
    i32x$ above = bits - 0x3f3504f3;
    *e = (f32x$)((above >> 23) + 0x4b400000) - 0x1.8p23f;
    *e -= (f32x$)(small & (i32x$)lam_splat_f32x$(25.0f));
    return (f32x$)(bits - (above & -0x800000)) - 1.0f;
}
