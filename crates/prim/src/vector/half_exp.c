/* e^x / 2 for x >= 0, where that does not overflow before it must. */
static inline f64x$ lam_half_exp_x$(f64x$ x) {
    x = lam_at_most_x$(x, 720.0);
    f64x$ n = lam_exp_whole_x$(x);
    return lam_exp_power_x$(lam_exp_rest_x$(x, n), n - 1.0);
}
