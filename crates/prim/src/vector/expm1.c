/* 2^n (e^r - 1 + (1 - 2^-n)), where e^r - 1 keeps the digits that r has lost. */
static inline f64x$ lam_expm1_x$(f64x$ x0) {
    const double magic = 0x1.8p52;
    f64x$ x = lam_at_least_x$(lam_at_most_x$(x0, 711.0), -40.0);
    f64x$ n = (x * 0x1.71547652b82fep+0 + magic) - magic;
    f64x$ whole = x - n * 0x1.62e42fefa3800p-1, part = n * 0x1.ef35793c76730p-45;
    f64x$ r = whole - part, rest = (whole - r) - part;
    f64x$ p = r * 2.5100383205533054e-8 + 2.762008546758513e-7;
    p = p * r + 2.7557268464811307e-6;
    p = p * r + 2.4801521302214664e-5;
    p = p * r + 0.0001984126986305052;
    p = p * r + 0.0013888888917209688;
    p = p * r + 0.008333333333330063;
    p = p * r + 0.041666666666624136;
    p = p * r + 0.16666666666666669;
    p = p * r + 0.5000000000000001;
    f64x$ minus = magic - lam_at_most_x$(n, 1000.0);
    f64x$ inverse = (f64x$)(((i64x$)minus << 52) + 0x3ff0000000000000);
    f64x$ y = lam_scaled_x$((r + (r * r * p + rest)) + (1.0 - inverse), n);
    return lam_select_f64x$((i64x$)(x0 == 0.0), x0, y);
}
