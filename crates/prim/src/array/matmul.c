static inline void lam_matmul(int64_t n, int64_t k, int64_t m, const lam_element *restrict a, const lam_element *restrict b, lam_element *restrict c) {
  if (m == 1) {
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
      const lam_element *restrict row = a + i * k;
      lam_element s = 0, t = 0, u = 0, v = 0;
#pragma omp simd reduction(+ : s, t, u, v)
      for (int64_t p = 0; p < k; p++) {
        s += row[p] * b[p];
        t += row[k + p] * b[p];
        u += row[2 * k + p] * b[p];
        v += row[3 * k + p] * b[p];
      }
      c[i] = s;
      c[i + 1] = t;
      c[i + 2] = u;
      c[i + 3] = v;
    }
    for (; i < n; i++) {
      lam_element s = 0;
#pragma omp simd reduction(+ : s)
      for (int64_t p = 0; p < k; p++) s += a[i * k + p] * b[p];
      c[i] = s;
    }
    return;
  }
  for (int64_t i = 0; i < n * m; i++) c[i] = 0;
  if (n >= 8 && m >= 8 && n * k * m >= 8192) {
    lam_block_add(n, k, m, a, k, 1, b, m, c, m);
    return;
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t p = 0; p < k; p++) {
      const lam_element x = a[i * k + p];
#pragma omp simd
      for (int64_t j = 0; j < m; j++) c[i * m + j] += x * b[p * m + j];
    }
}
