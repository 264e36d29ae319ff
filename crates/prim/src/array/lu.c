/* Factors are made in u, some columns at a time; what stands below its diagonal are the multipliers, which go to l at last. Of the largest entries of a column that
   in the first row of a is the pivot. */
static __attribute__((noinline)) void lam_lu(int64_t n, const lam_element *restrict a, int64_t *restrict order, lam_element *restrict l, lam_element *restrict u) {
  for (int64_t i = 0; i < n; i++) order[i] = i;
  for (int64_t i = 0; i < n * n; i++) u[i] = a[i];
  for (int64_t start = 0; start < n; start += 32) {
    const int64_t end = n - start < 32 ? n : start + 32;
    for (int64_t k = start; k < end; k++) {
      int64_t place = k;
      lam_element best = -1;
      for (int64_t i = k; i < n; i++) {
        const lam_element x = u[i * n + k], size = x != x ? __builtin_inf() : fabs(x);
        if (size > best || (size == best && order[i] < order[place])) {
          best = size;
          place = i;
        }
      }
      if (place != k) {
        const int64_t row = order[k];
        order[k] = order[place];
        order[place] = row;
        for (int64_t j = 0; j < n; j++) {
          const lam_element x = u[k * n + j];
          u[k * n + j] = u[place * n + j];
          u[place * n + j] = x;
        }
      }
      const lam_element pivot = u[k * n + k];
      for (int64_t i = k + 1; i < n; i++) {
        const lam_element factor = pivot != 0 ? u[i * n + k] / pivot : 0;
        u[i * n + k] = factor;
        for (int64_t j = k + 1; j < end; j++) u[i * n + j] -= factor * u[k * n + j];
      }
    }
    for (int64_t i = start + 1; i < end; i++)
      for (int64_t p = start; p < i; p++) {
        const lam_element factor = u[i * n + p];
#pragma omp simd
        for (int64_t j = end; j < n; j++) u[i * n + j] -= factor * u[p * n + j];
      }
    if (end < n) lam_block_subtract(n - end, end - start, n - end, u + end * n + start, n, 1, u + start * n + end, n, u + end * n + end, n);
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      l[i * n + j] = j < i ? u[i * n + j] : j == i;
      if (j < i) u[i * n + j] = 0;
    }
}
