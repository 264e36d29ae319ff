/* x = q pi/2 + r + rest with |r| <= pi/4; gives q in its low bits. Up to 2^20, pi/2 in four parts, three of which have exact products with q. */
static inline i64x$ lam_turn_x$(f64x$ x, f64x$ *r, f64x$ *rest) {
    f64x$ t = x * 0x1.45f306dc9c883p-1 + 0x1.8p52, n = t - 0x1.8p52;
    i64x$ quadrant = (i64x$)t;
    f64x$ a = x - n * 0x1.921fb54400000p+0, b = n * 0x1.0b4611a600000p-34, c = n * 0x1.3198a2e000000p-69;
    f64x$ w = a - b, w1 = w - a, lost = (a - (w - w1)) - (b + w1);
    f64x$ u = w - c, u1 = u - w, lost2 = (w - (u - u1)) - (c + u1);
    f64x$ low = (lost + lost2) - n * 0x1.b839a252049c1p-104;
    *r = u + low;
    *rest = (u - *r) + low;
    i64x$ large = (i64x$)((f64x$)((i64x$)x & INT64_MAX) > 0x1p20);
    if (__builtin_expect(lam_any_x$(large), 0)) {
        for (int k = 0; k < $; k++) {
            double r1, rest1;
            if (!large[k]) continue;
            quadrant[k] = lam_turn_large(x[k], &r1, &rest1);
            (*r)[k] = r1, (*rest)[k] = rest1;
        }
    }
    return quadrant;
}
