/* sin (r + rest) - r for |r| <= pi/4. */
static inline f64x$ lam_sin_tail_x$(f64x$ r, f64x$ rest) {
    f64x$ z = r * r;
    f64x$ p = z * 1.5918117983856738e-10 - 2.5051131688022075e-8;
    p = p * z + 2.755731610179936e-6;
    p = p * z - 0.00019841269836757123;
    p = p * z + 0.008333333333330948;
    p = p * z - 0.16666666666666666;
    return z * r * p + (rest - rest * z * 0.5);
}
