static inline f64x$ lam_sqrt_x$(f64x$ x) {
    return lam_root_x$(x + 0.0);
}
