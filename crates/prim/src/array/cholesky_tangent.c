/* The tangent of a factor from that of the matrix, some columns at a time, of which the columns behind them are freed at once. What stands above the diagonal until the
   end means nothing. */
static __attribute__((noinline)) void lam_cholesky_tangent(int64_t n, const lam_element *restrict l, const lam_element *restrict da, lam_element *restrict y) {
  lam_element l_turned[32 * 64], y_turned[32 * 64];
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) y[i * n + j] = j <= i ? 0.5 * (da[i * n + j] + da[j * n + i]) : 0;
  for (int64_t start = 0; start < n; start += 32) {
    const int64_t end = n - start < 32 ? n : start + 32;
    for (int64_t i = start; i < n; i++)
      for (int64_t j = start; j <= i && j < end; j++) {
        lam_element rest = y[i * n + j];
        for (int64_t k = start; k < j; k++) rest -= y[i * n + k] * l[j * n + k] + l[i * n + k] * y[j * n + k];
        y[i * n + j] = j < i ? (rest - l[i * n + j] * y[j * n + j]) / l[j * n + j] : 0.5 * rest / l[i * n + i];
      }
    for (int64_t first = end; first < n; first += 64) {
      const int64_t count = n - first < 64 ? n - first : 64;
      for (int64_t k = start; k < end; k++)
        for (int64_t j = 0; j < count; j++) {
          l_turned[(k - start) * 64 + j] = l[(first + j) * n + k];
          y_turned[(k - start) * 64 + j] = y[(first + j) * n + k];
        }
      lam_block_subtract(n - first, end - start, count, y + first * n + start, n, 1, l_turned, 64, y + first * n + first, n);
      lam_block_subtract(n - first, end - start, count, l + first * n + start, n, 1, y_turned, 64, y + first * n + first, n);
    }
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i + 1; j < n; j++) y[i * n + j] = 0;
}
