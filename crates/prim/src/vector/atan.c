static inline f64x$ lam_atan_x$(f64x$ x) {
    f64x$ size = (f64x$)((i64x$)x & INT64_MAX), unit = lam_splat_f64x$(1.0);
    i64x$ steep = (i64x$)(size > 1.0);
    f64x$ y = lam_atan_kernel_x$(lam_select_f64x$(steep, unit, size), lam_select_f64x$(steep, size, unit));
    y = lam_select_f64x$(steep, 0x1.921fb54442d18p+0 - (y - 0x1.1a62633145c07p-54), y);
    return lam_sign_of_x$(y, x);
}
