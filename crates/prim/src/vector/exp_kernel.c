/* e^(x + rest) · 2^shift for |x| <= 800 and a rest that is tiny: x = n log 2 + r with |r| <= 0.35, a polynomial for e^r, and 2^n in two factors,
 * the product of which may overflow, or be subnormal and then is rounded once. */
static inline f64x$ lam_exp_kernel_x$(f64x$ x, f64x$ rest, double shift) {
    const double magic = 0x1.8p52; /* a sum with it is rounded to an integer, in its low bits */
    f64x$ n = (x * 0x1.71547652b82fep+0 + magic) - magic;
    f64x$ r = (x - n * 0x1.62e42fefa3800p-1) - n * 0x1.ef35793c76730p-45 + rest;
    f64x$ p = r * 2.5100383205533054e-8 + 2.762008546758513e-7;
    p = p * r + 2.7557268464811307e-6;
    p = p * r + 2.4801521302214664e-5;
    p = p * r + 0.0001984126986305052;
    p = p * r + 0.0013888888917209688;
    p = p * r + 0.008333333333330063;
    p = p * r + 0.041666666666624136;
    p = p * r + 0.16666666666666669;
    p = p * r + 0.5000000000000001;
    n = n + shift;
    f64x$ half = n * 0.5 + magic, other = (n - (half - magic)) + magic;
    f64x$ scale1 = (f64x$)(((i64x$)half << 52) + 0x3ff0000000000000);
    f64x$ scale2 = (f64x$)(((i64x$)other << 52) + 0x3ff0000000000000);
    return (1.0 + (r + r * r * p)) * scale1 * scale2;
}
