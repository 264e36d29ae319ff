/* Beyond 1/2, pi/2 less twice the arc of the root of (1 - |x|) / 2. */
static inline f64x$ lam_asin_x$(f64x$ x) {
    f64x$ size = (f64x$)((i64x$)x & INT64_MAX);
    i64x$ big = (i64x$)(size > 0.5);
    f64x$ z = lam_select_f64x$(big, (1.0 - size) * 0.5, size * size), s = lam_root_x$(z), tail = lam_asin_tail_x$(z);
    f64x$ df = (f64x$)((i64x$)s & -0x100000000), c = lam_root_rest_x$(z, s, df);
    f64x$ p = 2.0 * (s * tail) - (0x1.1a62633145c07p-54 - 2.0 * c), q = 0x1.921fb54442d18p-1 - 2.0 * df;
    f64x$ y = lam_select_f64x$(big, 0x1.921fb54442d18p-1 - (p - q), size + size * tail);
    return lam_sign_of_x$(y, x);
}
