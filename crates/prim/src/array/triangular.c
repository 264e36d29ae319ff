/* The k-th equation, in the order in which they are solved, is in row k of a lower triangle and in
   row n - 1 - k of an upper one. */
static inline lam_element lam_pivot(lam_element x) { return x == 0 ? __builtin_nan("") : x; }
/* In place; four equations at a time. */
static inline __attribute__((always_inline)) void lam_triangular_vector(int upper, int64_t n, const lam_element *restrict t, lam_element *restrict x) {
  for (int64_t done = 0; done < n; done += 4) {
    const int64_t size = n - done < 4 ? n - done : 4, start = upper ? n - done - size : done, end = start + size, known = upper ? end : 0;
    if (size == 4) {
      const lam_element *row = t + start * n + known, *y = x + known;
      lam_element s = 0, u = 0, v = 0, w = 0;
#pragma omp simd reduction(+ : s, u, v, w)
      for (int64_t j = 0; j < done; j++) {
        s += row[j] * y[j];
        u += row[n + j] * y[j];
        v += row[2 * n + j] * y[j];
        w += row[3 * n + j] * y[j];
      }
      x[start] -= s, x[start + 1] -= u, x[start + 2] -= v, x[start + 3] -= w;
    } else
      for (int64_t i = start; i < end; i++)
        for (int64_t j = 0; j < done; j++) x[i] -= t[i * n + known + j] * x[known + j];
    for (int64_t k = 0; k < size; k++) {
      const int64_t i = upper ? end - 1 - k : start + k, first = upper ? i + 1 : start, last = upper ? end : i;
      lam_element s = x[i];
      for (int64_t j = first; j < last; j++) s -= t[i * n + j] * x[j];
      x[i] = s / lam_pivot(t[i * n + i]);
    }
  }
}
static inline __attribute__((always_inline)) void lam_triangular(int upper, int64_t n, int64_t m, const lam_element *restrict t, const lam_element *restrict b, lam_element *restrict x) {
  for (int64_t i = 0; i < n * m; i++) x[i] = b[i];
  if (m == 1) {
    lam_triangular_vector(upper, n, t, x);
    return;
  }
  for (int64_t done = 0; done < n; done += 32) {
    const int64_t size = n - done < 32 ? n - done : 32;
    /* Rows from start to end are solved now, by those from known on. */
    const int64_t start = upper ? n - done - size : done, end = start + size, known = upper ? end : 0;
    if (done > 0) lam_block_subtract(size, done, m, t + start * n + known, n, 1, x + known * m, m, x + start * m, m);
    for (int64_t k = 0; k < size; k++) {
      const int64_t i = upper ? end - 1 - k : start + k, first = upper ? i + 1 : start, last = upper ? end : i;
      for (int64_t j = first; j < last; j++) {
        const lam_element factor = t[i * n + j];
#pragma omp simd
        for (int64_t c = 0; c < m; c++) x[i * m + c] -= factor * x[j * m + c];
      }
      const lam_element pivot = lam_pivot(t[i * n + i]);
      for (int64_t c = 0; c < m; c++) x[i * m + c] /= pivot;
    }
  }
}
