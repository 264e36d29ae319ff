/* The r of x = n log 2 + r, by the n of `exp_whole`. */
static inline f64x$ lam_exp_rest_x$(f64x$ x, f64x$ n) {
    return (x - n * 0x1.62e42fefa3800p-1) - n * 0x1.ef35793c76730p-45;
}
