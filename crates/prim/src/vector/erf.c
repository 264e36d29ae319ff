static inline f64x$ lam_erf_x$(f64x$ x) {
    f64x$ size = (f64x$)((i64x$)x & INT64_MAX), unit = lam_splat_f64x$(1.0);
    f64x$ x1 = lam_select_f64x$((i64x$)(size < 1.0), unit, lam_select_f64x$((i64x$)(size > 7.0), lam_splat_f64x$(7.0), size));
    f64x$ y = lam_select_f64x$((i64x$)(size < 1.0), size + size * lam_erf_tail_x$(size * size), 1.0 - lam_erfc_kernel_x$(x1));
    return lam_sign_of_x$(y, x);
}
