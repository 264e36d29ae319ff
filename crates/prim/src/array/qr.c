/* By reflections, some columns at a time. On the diagonal of v is the sign of the entry that it
   takes away, and 1 where q and r change theirs. Below the diagonal r keeps the s of all panels but
   the last one: the diagonal of s in the last row. */
static inline int lam_qr_finite(lam_element x) { return x <= 1.7976931348623157e308; }
/* The length of a column. */
static lam_element lam_qr_norm(int64_t m, const lam_element *x, int64_t n) {
  const int wide = sizeof(lam_element) == 8;
  lam_element squares = 0, large = 0;
  for (int64_t i = 0; i < m; i++) squares += x[i * n] * x[i * n];
  if (squares >= (wide ? 1e-280 : 1e-30) && squares <= (wide ? 1e300 : 1e37)) return sqrt(squares);
  for (int64_t i = 0; i < m; i++) large = fabs(x[i * n]) > large ? fabs(x[i * n]) : large;
  if (squares != squares || large == 0 || !lam_qr_finite(large)) return squares;
  squares = 0;
  for (int64_t i = 0; i < m; i++) squares += x[i * n] / large * (x[i * n] / large);
  return large * sqrt(squares);
}
static void lam_qr_load(int64_t n, int64_t start, const lam_element *r, lam_element *s) {
  for (int64_t p = 0; p < lam_reflect_size; p++)
    for (int64_t c = p; c < lam_reflect_size; c++) s[p * lam_reflect_size + c] = c == p ? r[(n - 1) * n + start + p] : r[(start + c) * n + start + p];
}
/* Puts a column in place of column j, which depends on those before it: the first unit vector that
   these do not span nearly, as the reflections move it. The panel begins at start, its reflections
   are I - tau v v^T. Once spanned, a unit vector remains so: the search goes on from where it
   ended. Returns the length from the diagonal on. */
static lam_element lam_qr_unspanned(int64_t m, int64_t n, int64_t start, int64_t j, const lam_element *tau, const lam_element *r, int64_t *place, lam_element *q) {
  for (;; ++*place) {
    for (int64_t i = 0; i < m; i++) q[i * n + j] = i == *place;
    for (int64_t p = 0; p < start; p += lam_reflect_size) {
      lam_element s[lam_reflect_size * lam_reflect_size], w[lam_reflect_size] = {0};
      for (int64_t i = p; i < m; i++)
        for (int64_t c = 0; c < lam_reflect_size; c++) w[c] += q[i * n + p + c] * q[i * n + j];
      lam_qr_load(n, p, r, s);
      lam_reflect_substitute(1, lam_reflect_size, 1, s, w, 1);
      for (int64_t i = p; i < m; i++) {
        lam_element x = q[i * n + j];
        for (int64_t c = 0; c < lam_reflect_size; c++) x -= q[i * n + p + c] * w[c];
        q[i * n + j] = x;
      }
    }
    for (int64_t l = start; l < j; l++) {
      lam_element w = 0;
      for (int64_t i = l; i < m; i++) w += q[i * n + l] * q[i * n + j];
      for (int64_t i = l; i < m; i++) q[i * n + j] -= tau[l - start] * w * q[i * n + l];
    }
    const lam_element length = lam_qr_norm(m - j, q + j * n + j, n);
    if (length * length * m > 0.37 || *place + 1 >= m) return length;
  }
}
static __attribute__((noinline)) void lam_qr(int64_t m, int64_t n, const lam_element *restrict a, lam_element *restrict q, lam_element *restrict r) {
  const lam_element limit = (sizeof(lam_element) == 8 ? 1e-15 : 5e-7) * m;
  lam_element s[lam_reflect_size * lam_reflect_size];
  int64_t done = m < n ? 0 : n, place = 0, last = 0;
  for (int64_t i = 0; i < m * n; i++) q[i] = a[i];
  for (int64_t start = 0; start < done; start += lam_reflect_size) {
    lam_element tau[lam_reflect_size], w[lam_reflect_size], above[lam_reflect_size];
    int64_t end = n - start < lam_reflect_size ? n : start + lam_reflect_size;
    for (int64_t j = start; j < end; j++) {
      lam_element *x = q + j * n + j;
      const lam_element length = lam_qr_norm(m, a + j, n);
      lam_element size = lam_qr_norm(m - j, x, n);
      if (!lam_qr_finite(length) || !lam_qr_finite(size)) {
        done = end = j;
        break;
      }
      const int dependent = size <= limit * length;
      r[j * n + j] = dependent ? 0 : size;
      if (dependent) {
        for (int64_t l = start; l < j; l++) above[l - start] = q[l * n + j];
        size = lam_qr_unspanned(m, n, start, j, tau, r, &place, q);
        for (int64_t l = start; l < j; l++) q[l * n + j] = above[l - start];
      }
      /* Halves of large numbers: their sum does not overflow. */
      const lam_element scale = size > 1 ? 0.5 : 1, whole = scale * size + scale * fabs(*x);
      tau[j - start] = whole / (scale * size);
      *x = *x < 0 ? -1 : 1;
      for (int64_t i = 1; i < m - j; i++) x[i * n] = scale * x[i * n] / whole;
      const int64_t count = end - j - 1;
      for (int64_t c = 0; c < count; c++) w[c] = 0;
      for (int64_t i = 0; i < m - j; i++) {
        const lam_element y = x[i * n], *row = x + i * n + 1;
#pragma omp simd
        for (int64_t c = 0; c < count; c++) w[c] += y * row[c];
      }
      for (int64_t i = 0; i < m - j; i++) {
        const lam_element y = tau[j - start] * x[i * n];
        lam_element *row = x + i * n + 1;
#pragma omp simd
        for (int64_t c = 0; c < count; c++) row[c] -= y * w[c];
      }
    }
    const int64_t size = end - start;
    if (size == 0) break;
    lam_element *v = q + start * n + start;
    last = start;
    for (int64_t i = 0; i < size; i++)
      for (int64_t c = i + 1; c < size; c++) {
        r[(start + i) * n + start + c] = v[i * n + i] > 0 ? 0 - v[i * n + c] : v[i * n + c];
        v[i * n + c] = 0;
      }
    lam_reflect_triangle(m - start, size, n, v, s);
    if (end == done) break;
    lam_reflect(1, m - start, size, n - end, v, s, v + size, n);
    for (int64_t i = 0; i < size; i++) {
      for (int64_t c = size; c < n - start; c++) r[(start + i) * n + start + c] = v[i * n + i] > 0 ? 0 - v[i * n + c] : v[i * n + c];
      for (int64_t c = i + 1; c < size; c++) r[(start + c) * n + start + i] = s[i * lam_reflect_size + c];
      r[(n - 1) * n + start + i] = s[i * lam_reflect_size + i];
    }
  }
  for (int64_t start = last, end = done; end > 0; end = start, start -= lam_reflect_size) {
    if (start < last) lam_qr_load(n, start, r, s);
    lam_reflect_form(m, n, start, end, done, s, q);
  }
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = done; j < n; j++) q[i * n + j] = __builtin_nan("");
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++)
      if (j < i) r[i * n + j] = 0;
      else if (j >= done) r[i * n + j] = __builtin_nan("");
}
