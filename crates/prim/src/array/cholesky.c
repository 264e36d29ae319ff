/* The upper triangle of the transpose is made in l, some rows at a time, and turned over at last. What stands below it until then means nothing. */
static __attribute__((noinline)) void lam_cholesky(int64_t n, const lam_element *restrict a, lam_element *restrict l) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) l[i * n + j] = j < i ? 0 : 0.5 * (a[i * n + j] + a[j * n + i]);
  for (int64_t start = 0; start < n; start += 48) {
    const int64_t end = n - start < 48 ? n : start + 48;
    for (int64_t k = start; k < end; k++) {
      lam_element *row = l + k * n;
      for (int64_t p = start; p < k; p++) {
        const lam_element *other = l + p * n;
        const lam_element x = other[k];
#pragma omp simd
        for (int64_t j = k; j < n; j++) row[j] -= x * other[j];
      }
      const lam_element pivot = sqrt(row[k] + 0.0);
      for (int64_t j = k; j < n; j++) row[j] /= pivot;
      row[k] = pivot;
    }
    for (int64_t i = end; i < n; i += 64) {
      const int64_t rows = n - i < 64 ? n - i : 64;
      lam_block_subtract(rows, end - start, n - i, l + start * n + i, 1, n, l + start * n + i, n, l + i * n + i, n);
    }
  }
  const int fine = n <= 0 || (l[n * n - 1] > 0 && l[n * n - 1] <= 1.7976931348623157e308);
  if (!fine) {
    for (int64_t i = 0; i < n * n; i++) l[i] = __builtin_nan("");
    return;
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++) {
      l[i * n + j] = l[j * n + i];
      l[j * n + i] = 0;
    }
}
