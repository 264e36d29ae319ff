/* The root of the sum of squares, scaled where these would overflow or lose digits; inf where one is infinite. */
static inline f64x$ lam_hypot_x$(f64x$ x, f64x$ y) {
    f64x$ a = (f64x$)((i64x$)x & INT64_MAX), b = (f64x$)((i64x$)y & INT64_MAX), unit = lam_splat_f64x$(1.0);
    i64x$ infinite = (i64x$)(a == INFINITY) | (i64x$)(b == INFINITY);
    i64x$ swap = (i64x$)(a < b);
    f64x$ large = lam_select_f64x$(swap, b, a), small = lam_select_f64x$(swap, a, b);
    i64x$ high = (i64x$)(large > 0x1p500), low = (i64x$)(large < 0x1p-400);
    f64x$ scale = lam_select_f64x$(high, lam_splat_f64x$(0x1p-600), lam_select_f64x$(low, lam_splat_f64x$(0x1p600), unit));
    f64x$ back = lam_select_f64x$(high, lam_splat_f64x$(0x1p600), lam_select_f64x$(low, lam_splat_f64x$(0x1p-600), unit));
    large *= scale, small *= scale;
    f64x$ square = large * large, rest = lam_rest_x$(large, large, square) + small * small;
    f64x$ sum = square + rest, root = lam_root_x$(sum);
    return lam_select_f64x$(infinite, lam_splat_f64x$(INFINITY), root * back);
}
