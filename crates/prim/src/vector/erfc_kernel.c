/* 1 - erf x for 0.49 <= x <= 28: e^-x² times a function that is smooth in (x - 4) / (x + 4). The square is that of the high part of x, exactly, and
 * what it leaves. */
static inline f64x$ lam_erfc_kernel_x$(f64x$ x) {
    f64x$ t = (x - 4.0) / (x + 4.0);
    f64x$ p = t * -1.0195530704406039e-8 - 1.2027400024676388e-8;
    p = p * t + 1.0489888863866333e-7;
    p = p * t + 6.648978716969543e-8;
    p = p * t - 8.216340225569339e-7;
    p = p * t + 3.001743873958842e-7;
    p = p * t + 5.70803304967407e-6;
    p = p * t - 1.1225124644489198e-5;
    p = p * t - 2.439873932357227e-5;
    p = p * t + 0.00015062264559067805;
    p = p * t - 0.00019925677480618298;
    p = p * t - 0.0007577734842615951;
    p = p * t + 0.005031969985162099;
    p = p * t - 0.016197734033162926;
    p = p * t + 0.03716751553730754;
    p = p * t - 0.06633036581402553;
    p = p * t + 0.09373283499833147;
    p = p * t - 0.10103906603623641;
    p = p * t + 0.06809705425469381;
    p = p * t + 0.01537965210261875;
    p = p * t - 0.13962111684056253;
    p = p * t + 1.2329951186255526;
    f64x$ high = (f64x$)((i64x$)x & -0x8000000);
    f64x$ square = -(high * high), n = lam_exp_whole_x$(square);
    f64x$ power = lam_exp_power_x$(lam_exp_rest_x$(square, n) - (x - high) * (x + high), n + 100.0);
    return power * (p / (1.0 + 2.0 * x)) * 0x1p-100;
}
