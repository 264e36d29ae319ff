/* x less the nearest integer, exactly. */
static inline f64x$ lam_from_integer_x$(f64x$ x) {
    f64x$ size = (f64x$)((i64x$)x & INT64_MAX);
    f64x$ rest = size - ((size + 0x1p52) - 0x1p52);
    rest = lam_select_f64x$((i64x$)(size < 0x1p52), rest, x - x);
    return (f64x$)((i64x$)rest ^ ((i64x$)x & INT64_MIN));
}
