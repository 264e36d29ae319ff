static __attribute__((noinline)) void lam_triangular_solve_upper(int64_t n, int64_t m, const double *restrict u, const double *restrict b, double *restrict x) {
  for (int64_t i = 0; i < n * m; i++) x[i] = b[i];
  for (int64_t end = n; end > 0; end -= 32) {
    const int64_t start = end < 32 ? 0 : end - 32;
    if (m == 1) {
      int64_t i = start;
      for (; i + 4 <= end; i += 4) {
        const double *row = u + i * n;
        double s = x[i], t = x[i + 1], v = x[i + 2], w = x[i + 3];
        for (int64_t j = end; j < n; j++) {
          s -= row[j] * x[j];
          t -= row[n + j] * x[j];
          v -= row[2 * n + j] * x[j];
          w -= row[3 * n + j] * x[j];
        }
        x[i] = s;
        x[i + 1] = t;
        x[i + 2] = v;
        x[i + 3] = w;
      }
      for (; i < end; i++) {
        double s = x[i];
        for (int64_t j = end; j < n; j++) s -= u[i * n + j] * x[j];
        x[i] = s;
      }
    } else if (end < n)
      lam_block_subtract(end - start, n - end, m, u + start * n + end, n, 1, x + end * m, m, x + start * m, m);
    for (int64_t i = end - 1; i >= start; i--) {
      for (int64_t j = i + 1; j < end; j++) {
        const double factor = u[i * n + j];
#pragma omp simd
        for (int64_t c = 0; c < m; c++) x[i * m + c] -= factor * x[j * m + c];
      }
      const double pivot = u[i * n + i] == 0 ? __builtin_nan("") : u[i * n + i];
      for (int64_t c = 0; c < m; c++) x[i * m + c] /= pivot;
    }
  }
}
