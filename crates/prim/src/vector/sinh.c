static inline f64x$ lam_sinh_x$(f64x$ x) {
    f64x$ size = (f64x$)((i64x$)x & INT64_MAX), z = size * size, half = lam_half_exp_x$(size);
    f64x$ p = z * 2.844526416991512e-15 + 7.646625361664898e-13;
    p = p * z + 1.6059048396350314e-10;
    p = p * z + 2.5052108364058043e-8;
    p = p * z + 2.755731922404034e-6;
    p = p * z + 0.00019841269841269773;
    p = p * z + 0.008333333333333333;
    p = p * z + 0.16666666666666666;
    f64x$ y = lam_select_f64x$((i64x$)(size < 1.0), size + size * z * p, half - 0.25 / half);
    return lam_sign_of_x$(y, x);
}
