static inline f64x$ lam_erfc_x$(f64x$ x) {
    f64x$ size = (f64x$)((i64x$)x & INT64_MAX);
    i64x$ near = (i64x$)(size < 0.5);
    f64x$ x1 = lam_select_f64x$(near, lam_splat_f64x$(1.0), lam_select_f64x$((i64x$)(size > 28.0), lam_splat_f64x$(28.0), size));
    f64x$ far = lam_erfc_kernel_x$(x1);
    far = lam_select_f64x$((i64x$)(x < 0.0), 2.0 - far, far);
    return lam_select_f64x$(near, 1.0 - (x + x * lam_erf_tail_x$(x * x)), far);
}
