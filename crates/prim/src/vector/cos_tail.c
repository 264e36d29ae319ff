/* cos (r + rest) - w for |r| <= pi/4, where w is 1 - r²/2, rounded. */
static inline f64x$ lam_cos_tail_x$(f64x$ r, f64x$ rest, f64x$ w) {
    f64x$ z = r * r;
    f64x$ p = z * -1.1382625349451993e-11 + 2.0876146170197587e-9;
    p = p * z - 2.755731727125868e-7;
    p = p * z + 2.480158729876478e-5;
    p = p * z - 0.0013888888888887398;
    p = p * z + 0.041666666666666664;
    return ((1.0 - w) - 0.5 * z) + (z * z * p - r * rest);
}
