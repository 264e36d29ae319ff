static inline f64x$ lam_cosh_x$(f64x$ x) {
    f64x$ half = lam_half_exp_x$((f64x$)((i64x$)x & INT64_MAX));
    return half + 0.25 / half;
}
