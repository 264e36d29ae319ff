/* Factors are made in u; what stands below its diagonal are the multipliers, which go to l at last.
   Columns are made by halves: the first half is taken from the second before that is made (Toledo
   1997). Of the largest entries of a column that in the first row of a is the pivot. */
/* Solves with the unit lower triangle of some rows, in the columns between from and to. */
static void lam_lu_rows(int64_t n, int64_t start, int64_t end, int64_t from, int64_t to, lam_element *u) {
  if (end - start > 12) {
    const int64_t middle = start + (end - start + 8) / 16 * 8;
    lam_lu_rows(n, start, middle, from, to, u);
    lam_block_subtract(end - middle, middle - start, to - from, u + middle * n + start, n, 1, u + start * n + from, n, u + middle * n + from, n);
    lam_lu_rows(n, middle, end, from, to, u);
    return;
  }
  for (int64_t i = start + 1; i < end; i++)
    for (int64_t p = start; p < i; p++) {
      const lam_element factor = u[i * n + p];
#pragma omp simd
      for (int64_t j = from; j < to; j++) u[i * n + j] -= factor * u[p * n + j];
    }
}
static inline lam_element lam_lu_size(lam_element x) { return x != x ? __builtin_inf() : fabs(x); }
/* Factors some columns from the diagonal on, in a panel that is their transpose. */
static void lam_lu_panel(int64_t n, int64_t start, int64_t width, int64_t *order, lam_element *restrict u, lam_element *restrict panel) {
  const int64_t rest = n - start;
  u += start * n;
  order += start;
  for (int64_t i = 0; i < rest; i++)
    for (int64_t k = 0; k < width; k++) panel[k * rest + i] = u[i * n + start + k];
  for (int64_t k = 0; k < width; k++) {
    lam_element *restrict column = panel + k * rest, best = 0;
#pragma omp simd reduction(max : best)
    for (int64_t i = k; i < rest; i++) best = lam_lu_size(column[i]) > best ? lam_lu_size(column[i]) : best;
    int64_t place = -1;
    for (int64_t i = k; i < rest; i++)
      if (lam_lu_size(column[i]) == best && (place < 0 || order[i] < order[place])) place = i;
    if (place != k) {
      const int64_t row = order[k];
      order[k] = order[place];
      order[place] = row;
      for (int64_t c = 0; c < width; c++) {
        const lam_element x = panel[c * rest + k];
        panel[c * rest + k] = panel[c * rest + place];
        panel[c * rest + place] = x;
      }
#pragma omp simd
      for (int64_t j = 0; j < n; j++) {
        const lam_element x = u[k * n + j];
        u[k * n + j] = u[place * n + j];
        u[place * n + j] = x;
      }
    }
    const lam_element pivot = column[k];
#pragma omp simd
    for (int64_t i = k + 1; i < rest; i++) column[i] = pivot != 0 ? column[i] / pivot : 0;
    for (int64_t c = k + 1; c < width; c++) {
      lam_element *restrict other = panel + c * rest;
      const lam_element x = other[k];
#pragma omp simd
      for (int64_t i = k + 1; i < rest; i++) other[i] -= column[i] * x;
    }
  }
  for (int64_t i = 0; i < rest; i++)
    for (int64_t k = 0; k < width; k++) u[i * n + start + k] = panel[k * rest + i];
}
static void lam_lu_columns(int64_t n, int64_t start, int64_t end, int64_t *order, lam_element *u, lam_element *panel) {
  if (end - start <= 20) {
    lam_lu_panel(n, start, end - start, order, u, panel);
    return;
  }
  const int64_t middle = start + (end - start + 8) / 16 * 8;
  lam_lu_columns(n, start, middle, order, u, panel);
  lam_lu_rows(n, start, middle, middle, end, u);
  lam_block_subtract(n - middle, middle - start, end - middle, u + middle * n + start, n, 1, u + start * n + middle, n, u + middle * n + middle, n);
  lam_lu_columns(n, middle, end, order, u, panel);
}
static __attribute__((noinline)) void lam_lu(int64_t n, const lam_element *restrict a, int64_t *restrict order, lam_element *restrict l, lam_element *restrict u) {
  for (int64_t i = 0; i < n; i++) order[i] = i;
  for (int64_t i = 0; i < n * n; i++) u[i] = a[i];
  lam_lu_columns(n, 0, n, order, u, l);
  for (int64_t i = 0; i < n; i++) {
#pragma omp simd
    for (int64_t j = 0; j < i; j++) {
      l[i * n + j] = u[i * n + j];
      u[i * n + j] = 0;
    }
    for (int64_t j = i; j < n; j++) l[i * n + j] = j == i;
  }
}
