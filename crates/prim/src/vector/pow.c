/* e^(y log |x|), with the signs and ends of the C function. */
static inline f64x$ lam_pow_x$(f64x$ x, f64x$ y) {
    f64x$ size = (f64x$)((i64x$)x & INT64_MAX), power = (f64x$)((i64x$)y & INT64_MAX), zero = lam_splat_f64x$(0.0), unit = lam_splat_f64x$(1.0);
    f64x$ low, log = lam_log_long_x$(size, &low);
    i64x$ end = (i64x$)(size == 0.0) | (i64x$)(size == INFINITY);
    log = lam_select_f64x$(end, lam_select_f64x$((i64x$)(size == 0.0), lam_splat_f64x$(-INFINITY), size), log);
    f64x$ p = y * log, p2 = lam_rest_x$(y, log, p) + y * low;
    i64x$ out = (i64x$)((f64x$)((i64x$)p & INT64_MAX) > 800.0);
    p = lam_select_f64x$(out, lam_sign_of_x$(lam_splat_f64x$(800.0), p), p), p2 = lam_select_f64x$(out, zero, p2);
    f64x$ n = lam_exp_whole_x$(p), result = lam_exp_power_x$(lam_exp_rest_x$(p, n) + p2, n);
    /* Is y an integer, and odd? */
    f64x$ half = power * 0.5;
    i64x$ whole = (i64x$)((power + 0x1p52) - 0x1p52 == power) | (i64x$)(power >= 0x1p52);
    i64x$ odd = whole & (i64x$)((half + 0x1p52) - 0x1p52 != half) & (i64x$)(power < 0x1p53);
    i64x$ negative = (i64x$)((i64x$)x < 0);
    result = (f64x$)((i64x$)result ^ (negative & odd & INT64_MIN));
    result = lam_select_f64x$(negative & ~whole & ~end, lam_splat_f64x$(NAN), result);
    result = lam_select_f64x$((i64x$)(x != x) | (i64x$)(y != y), x + y, result);
    i64x$ still = (i64x$)(y == 0.0) | (i64x$)(x == 1.0) | ((i64x$)(size == 1.0) & (i64x$)(power == INFINITY));
    return lam_select_f64x$(still, unit, result);
}
