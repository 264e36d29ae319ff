static inline f64x$ lam_acos_x$(f64x$ x) {
    f64x$ size = (f64x$)((i64x$)x & INT64_MAX);
    i64x$ big = (i64x$)(size > 0.5);
    f64x$ z = lam_select_f64x$(big, (1.0 - size) * 0.5, size * size), s = lam_root_x$(z), tail = lam_asin_tail_x$(z);
    f64x$ df = (f64x$)((i64x$)s & -0x100000000), c = lam_root_rest_x$(z, s, df);
    f64x$ right = 2.0 * (df + (s * tail + c));
    f64x$ left = 0x1.921fb54442d18p+1 - 2.0 * (s + (s * tail - 0x1.1a62633145c07p-54));
    f64x$ middle = 0x1.921fb54442d18p+0 - (x - (0x1.1a62633145c07p-54 - x * tail));
    return lam_select_f64x$(big, lam_select_f64x$((i64x$)(x < 0.0), left, right), middle);
}
