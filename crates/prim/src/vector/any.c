/* Is a mask set in some lane? */
static inline int lam_any_x$(i64x$ mask) {
    int64_t all = 0;
    for (int k = 0; k < $; k++) all |= mask[k];
    return all != 0;
}
