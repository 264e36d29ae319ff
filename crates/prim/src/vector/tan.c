/* The quotient of sine and cosine, each with what its rounding has lost. */
static inline f64x$ lam_tan_x$(f64x$ x) {
    f64x$ r, rest;
    i64x$ odd = (i64x$)((lam_turn_x$(x, &r, &rest) & 1) != 0);
    f64x$ w = 1.0 - 0.5 * (r * r);
    f64x$ tail = lam_sin_tail_x$(r, rest), sine = r + tail, sine2 = (r - sine) + tail;
    tail = lam_cos_tail_x$(r, rest, w);
    f64x$ cosine = w + tail, cosine2 = (w - cosine) + tail;
    f64x$ a = lam_select_f64x$(odd, -cosine, sine), a2 = lam_select_f64x$(odd, -cosine2, sine2);
    f64x$ b = lam_select_f64x$(odd, sine, cosine), b2 = lam_select_f64x$(odd, sine2, cosine2);
    f64x$ q = a / b, p = q * b;
    f64x$ left = ((a - p) - lam_rest_x$(q, b, p)) + (a2 - q * b2);
    return lam_select_f64x$((i64x$)(x == 0.0), x, q + left / b);
}
