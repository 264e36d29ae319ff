/* sin (x + shift pi/2) */
static inline f64x$ lam_sin_turned_x$(f64x$ x, int64_t shift) {
    f64x$ r, rest;
    i64x$ quadrant = lam_turn_x$(x, &r, &rest) + shift;
    f64x$ w = 1.0 - 0.5 * (r * r);
    f64x$ sine = r + lam_sin_tail_x$(r, rest), cosine = w + lam_cos_tail_x$(r, rest, w);
    i64x$ odd = (i64x$)((quadrant & 1) != 0);
    return (f64x$)((i64x$)lam_select_f64x$(odd, cosine, sine) ^ ((quadrant & 2) << 62));
}
