/* 2^n (e^r - 1 + (1 - 2^-n)), where e^r - 1 keeps the digits that r has lost. */
static inline f64x$ lam_expm1_x$(f64x$ x0) {
    const double magic = 0x1.8p52;
    f64x$ x = lam_at_least_x$(lam_at_most_x$(x0, 711.0), -40.0);
    f64x$ n = lam_exp_whole_x$(x);
    f64x$ whole = x - n * 0x1.62e42fefa3800p-1, part = n * 0x1.ef35793c76730p-45;
    f64x$ r = whole - part, rest = (whole - r) - part;
    f64x$ minus = magic - lam_at_most_x$(n, 1000.0);
    f64x$ inverse = (f64x$)(((i64x$)minus << 52) + 0x3ff0000000000000);
    f64x$ y = lam_scaled_x$((r + (r * r * lam_exp_tail_x$(r) + rest)) + (1.0 - inverse), n);
    return lam_select_f64x$((i64x$)(x0 == 0.0), x0, y);
}
