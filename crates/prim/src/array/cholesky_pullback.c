/* The cotangent of a factor becomes that of the matrix in the lower triangle of y, some columns at a time from the last (Murray 2016); above the diagonal stands nothing
   that is read. */
static __attribute__((noinline)) void lam_cholesky_pullback(int64_t n, const lam_element *restrict l, const lam_element *restrict dl, lam_element *restrict y) {
  lam_element both[32 * 32];
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) y[i * n + j] = j <= i ? dl[i * n + j] : 0;
  for (int64_t end = n; end > 0; end -= 32) {
    const int64_t start = end < 32 ? 0 : end - 32, size = end - start;
    if (end < n) {
      for (int64_t i = end; i < n; i++)
        for (int64_t c = end - 1; c >= start; c--) {
          const lam_element x = y[i * n + c] / l[c * n + c];
          y[i * n + c] = x;
          for (int64_t m = start; m < c; m++) y[i * n + m] -= x * l[c * n + m];
        }
      lam_block_subtract(n - end, size, start, y + end * n + start, n, 1, l + start * n, n, y + end * n, n);
      lam_block_subtract(size, n - end, size, y + end * n + start, 1, n, l + end * n + start, n, y + start * n + start, n);
      lam_block_subtract(size, n - end, start, y + end * n + start, 1, n, l + end * n, n, y + start * n, n);
    }
    for (int64_t i = end - 1; i >= start; i--)
      for (int64_t j = i; j >= start; j--) {
        const lam_element g = (j < i ? 1 : 0.5) * y[i * n + j] / l[j * n + j];
        y[i * n + j] = g;
        if (j < i) y[j * n + j] -= g * l[i * n + j];
        for (int64_t k = start; k < j; k++) {
          y[i * n + k] -= g * l[j * n + k];
          y[j * n + k] -= g * l[i * n + k];
        }
        both[(i - start) * 32 + (j - start)] = j < i ? g : 2 * g;
        both[(j - start) * 32 + (i - start)] = j < i ? g : 2 * g;
      }
    lam_block_subtract(size, size, start, both, 32, 1, l + start * n, n, y + start * n, n);
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++) y[i * n + j] = y[j * n + i] = 0.5 * y[i * n + j];
}
