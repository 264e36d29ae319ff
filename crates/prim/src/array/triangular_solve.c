static __attribute__((noinline)) void lam_triangular_solve(int64_t n, int64_t m, const double *restrict t, const double *restrict b, double *restrict x) {
  lam_triangular(0, n, m, t, b, x);
}
