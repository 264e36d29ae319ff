static inline f64x$ lam_cos_x$(f64x$ x) {
    return lam_sin_turned_x$(x, 1);
}
