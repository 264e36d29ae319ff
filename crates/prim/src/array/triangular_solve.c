static __attribute__((noinline)) void lam_triangular_solve(int64_t n, int64_t m, const lam_element *restrict t, const lam_element *restrict b, lam_element *restrict x) {
  lam_triangular(0, n, m, t, b, x);
}
