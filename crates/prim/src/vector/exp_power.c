/* e^r · 2^n for |r| <= 0.35. */
static inline f64x$ lam_exp_power_x$(f64x$ r, f64x$ n) {
    return lam_scaled_x$(1.0 + (r + r * r * lam_exp_tail_x$(r)), n);
}
