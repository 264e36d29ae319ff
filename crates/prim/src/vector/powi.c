static inline f64x$ lam_powi_x$(f64x$ x, i64x$ n) {
    f64x$ result = lam_splat_f64x$(1.0), base = x;
    i64x$ negative = (i64x$)(n < 0), left = (n ^ negative) - negative;
    while (lam_any_x$(left)) {
        result = lam_select_f64x$((i64x$)((left & 1) != 0), result * base, result);
        base *= base;
        left = (left >> 1) & INT64_MAX;
    }
    return lam_select_f64x$(negative, 1.0 / result, result);
}
