/* e^x for |x| <= 110, as on lanes of 64 bits: x = n log 2 + r, a polynomial, and 2^n. */
static inline f32x$ lam_exp_kernel_f32x$(f32x$ x) {
    const float magic = 0x1.8p23f; /* a sum with it is rounded to an integer */
    f32x$ n = (x * 0x1.715476p+0f + magic) - magic;
    f32x$ r = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
    f32x$ p = r * 0.0013926182f + 0.0083631776f;
    p = p * r + 0.041666555f;
    p = p * r + 0.16666577f;
    p = p * r + 0.5f;
    return lam_scaled_f32x$(1.0f + (r + r * r * p), n);
}
