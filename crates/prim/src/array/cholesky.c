/* The upper triangle of the transpose is made in l, and turned over at last. What stands below it
   until then means nothing. Rows from start on are made by halves: the first half is taken from the
   second before that is made (Gustavson 1997). */
static void lam_cholesky_rows(int64_t n, int64_t start, int64_t end, lam_element *l) {
  if (end - start > 12) {
    const int64_t middle = start + (end - start + 8) / 16 * 8;
    lam_cholesky_rows(n, start, middle, l);
    for (int64_t i = middle; i < end; i += 64) {
      const int64_t rows = end - i < 64 ? end - i : 64;
      lam_block_subtract(rows, middle - start, n - i, l + start * n + i, 1, n, l + start * n + i, n, l + i * n + i, n);
    }
    lam_cholesky_rows(n, middle, end, l);
    return;
  }
  for (int64_t k = start; k < end; k++) {
    lam_element *restrict row = l + k * n;
    for (int64_t p = start; p < k; p++) {
      const lam_element *restrict other = l + p * n;
      const lam_element x = other[k];
#pragma omp simd
      for (int64_t j = k; j < n; j++) row[j] -= x * other[j];
    }
    const lam_element pivot = sqrt(row[k] + 0.0);
    for (int64_t j = k; j < n; j++) row[j] /= pivot;
    row[k] = pivot;
  }
}
static __attribute__((noinline)) void lam_cholesky(int64_t n, const lam_element *restrict a, lam_element *restrict l) {
  enum { size = 16 };
  for (int64_t above = 0; above < n; above += size)
    for (int64_t left = above; left < n; left += size)
      for (int64_t i = above; i < n && i < above + size; i++)
        for (int64_t j = left; j < n && j < left + size; j++) l[i * n + j] = 0.5 * (a[i * n + j] + a[j * n + i]);
  lam_cholesky_rows(n, 0, n, l);
  const int fine = n <= 0 || (l[n * n - 1] > 0 && l[n * n - 1] <= 1.7976931348623157e308);
  if (!fine) {
    for (int64_t i = 0; i < n * n; i++) l[i] = __builtin_nan("");
    return;
  }
  for (int64_t above = 0; above < n; above += size)
    for (int64_t left = 0; left <= above; left += size)
      for (int64_t i = above; i < n && i < above + size; i++)
        for (int64_t j = left; j < i && j < left + size; j++) {
          l[i * n + j] = l[j * n + i];
          l[j * n + i] = 0;
        }
}
