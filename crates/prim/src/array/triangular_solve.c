static __attribute__((noinline)) void lam_triangular_solve(int64_t n, int64_t m, const double *restrict l, const double *restrict b, double *restrict x) {
  for (int64_t i = 0; i < n * m; i++) x[i] = b[i];
  for (int64_t start = 0; start < n; start += 32) {
    const int64_t end = n - start < 32 ? n : start + 32;
    if (m == 1) {
      int64_t i = start;
      for (; i + 4 <= end; i += 4) {
        const double *row = l + i * n;
        double s = x[i], t = x[i + 1], u = x[i + 2], v = x[i + 3];
        for (int64_t j = 0; j < start; j++) {
          s -= row[j] * x[j];
          t -= row[n + j] * x[j];
          u -= row[2 * n + j] * x[j];
          v -= row[3 * n + j] * x[j];
        }
        x[i] = s;
        x[i + 1] = t;
        x[i + 2] = u;
        x[i + 3] = v;
      }
      for (; i < end; i++) {
        double s = x[i];
        for (int64_t j = 0; j < start; j++) s -= l[i * n + j] * x[j];
        x[i] = s;
      }
    } else if (start > 0)
      lam_block_subtract(end - start, start, m, l + start * n, n, 1, x, m, x + start * m, m);
    for (int64_t i = start; i < end; i++) {
      for (int64_t j = start; j < i; j++) {
        const double factor = l[i * n + j];
#pragma omp simd
        for (int64_t c = 0; c < m; c++) x[i * m + c] -= factor * x[j * m + c];
      }
      const double pivot = l[i * n + i] == 0 ? __builtin_nan("") : l[i * n + i];
      for (int64_t c = 0; c < m; c++) x[i * m + c] /= pivot;
    }
  }
}
