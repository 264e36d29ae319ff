/* What the high part df of the root s of z leaves. */
static inline f64x$ lam_root_rest_x$(f64x$ z, f64x$ s, f64x$ df) {
    return lam_select_f64x$((i64x$)(z == 0.0), z, (z - df * df) / (s + df));
}
