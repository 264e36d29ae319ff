/* The n of x = n log 2 + r for |x| <= 800: whole, with |r| <= 0.35. */
static inline f64x$ lam_exp_whole_x$(f64x$ x) {
    const double magic = 0x1.8p52; /* a sum with it is rounded to an integer */
    return (x * 0x1.71547652b82fep+0 + magic) - magic;
}
