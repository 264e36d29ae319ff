static inline f64x$ lam_exp_x$(f64x$ x) {
    return lam_exp_kernel_x$(lam_at_least_x$(lam_at_most_x$(x, 710.0), -746.0));
}
