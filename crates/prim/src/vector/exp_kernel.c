/* e^x for |x| <= 800. */
static inline f64x$ lam_exp_kernel_x$(f64x$ x) {
    f64x$ n = lam_exp_whole_x$(x);
    return lam_exp_power_x$(lam_exp_rest_x$(x, n), n);
}
