/* Reflections I - 2 v v^T / (v^T v), some columns at a time, each with its v in its column of q, from the diagonal on. What is on the diagonal of v is 1 or -1: the sign
   of the entry that it takes away, and 1 where q and r change theirs. The product of the reflections of a panel is I - v s^-1 v^T, where s is the upper triangle of v^T v
   with half of its diagonal. Below the diagonal r keeps the s of all panels but the last one: the diagonal of s in the last row. */
enum { lam_qr_size = 32, lam_qr_width = 64 };
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
/* The solution of s x = w, or of its transpose, in place; rows of w are rw apart. */
static void lam_qr_substitute(int turned, int64_t size, int64_t width, const lam_element *s, lam_element *w, int64_t rw) {
  for (int64_t k = 0; k < size; k++) {
    const int64_t i = turned ? k : size - 1 - k, first = turned ? 0 : i + 1, last = turned ? i : size;
    for (int64_t p = first; p < last; p++) {
      const lam_element x = turned ? s[p * lam_qr_size + i] : s[i * lam_qr_size + p];
#pragma omp simd
      for (int64_t c = 0; c < width; c++) w[i * rw + c] -= x * w[p * rw + c];
    }
    for (int64_t c = 0; c < width; c++) w[i * rw + c] /= s[i * lam_qr_size + i];
  }
}
/* The product of the reflections of a panel, or its transpose, times columns c. */
static void lam_qr_reflect(int turned, int64_t m, int64_t size, int64_t count, const lam_element *v, const lam_element *s, lam_element *c, int64_t n) {
  lam_element w[lam_qr_size * lam_qr_width];
  for (int64_t from = 0; from < count; from += lam_qr_width) {
    const int64_t width = count - from < lam_qr_width ? count - from : lam_qr_width;
    for (int64_t i = 0; i < lam_qr_size * lam_qr_width; i++) w[i] = 0;
    lam_block_add(size, m, width, v, 1, n, c + from, n, w, lam_qr_width);
    lam_qr_substitute(turned, size, width, s, w, lam_qr_width);
    lam_block_subtract(m, size, width, v, n, 1, w, lam_qr_width, c + from, n);
  }
}
static void lam_qr_load(int64_t n, int64_t start, const lam_element *r, lam_element *s) {
  for (int64_t p = 0; p < lam_qr_size; p++)
    for (int64_t c = p; c < lam_qr_size; c++) s[p * lam_qr_size + c] = c == p ? r[(n - 1) * n + start + p] : r[(start + c) * n + start + p];
}
/* Puts a column in place of column j, which depends on those before it: the first unit vector that these do not span nearly, as the reflections move it. The panel begins
   at start, its reflections are I - tau v v^T. Once spanned, a unit vector remains so: the search goes on from where it ended. Returns the length from the diagonal on. */
static lam_element lam_qr_unspanned(int64_t m, int64_t n, int64_t start, int64_t j, const lam_element *tau, const lam_element *r, int64_t *place, lam_element *q) {
  for (;; ++*place) {
    for (int64_t i = 0; i < m; i++) q[i * n + j] = i == *place;
    for (int64_t p = 0; p < start; p += lam_qr_size) {
      lam_element s[lam_qr_size * lam_qr_size], w[lam_qr_size] = {0};
      for (int64_t i = p; i < m; i++)
        for (int64_t c = 0; c < lam_qr_size; c++) w[c] += q[i * n + p + c] * q[i * n + j];
      lam_qr_load(n, p, r, s);
      lam_qr_substitute(1, lam_qr_size, 1, s, w, 1);
      for (int64_t i = p; i < m; i++) {
        lam_element x = q[i * n + j];
        for (int64_t c = 0; c < lam_qr_size; c++) x -= q[i * n + p + c] * w[c];
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
/* The columns of q from those of a panel and those behind it, which are done. */
static void lam_qr_form(int64_t m, int64_t n, int64_t start, int64_t end, int64_t done, const lam_element *s, lam_element *q) {
  const int64_t size = end - start;
  lam_element w[lam_qr_size * lam_qr_size], rows[lam_qr_width * lam_qr_size], sign[lam_qr_size];
  for (int64_t i = start; i < end; i++)
    for (int64_t c = end; c < done; c++) q[i * n + c] = 0;
  lam_qr_reflect(0, m - start, size, done - end, q + start * n + start, s, q + start * n + end, n);
  for (int64_t c = 0; c < size; c++) {
    sign[c] = q[(start + c) * n + start + c] > 0 ? -1 : 1;
    for (int64_t p = 0; p < size; p++) w[p * lam_qr_size + c] = sign[c] * q[(start + c) * n + start + p];
  }
  lam_qr_substitute(0, size, size, s, w, lam_qr_size);
  for (int64_t from = start; from < m; from += lam_qr_width) {
    const int64_t count = m - from < lam_qr_width ? m - from : lam_qr_width;
    for (int64_t i = 0; i < count; i++)
      for (int64_t c = 0; c < size; c++) {
        lam_element *x = q + (from + i) * n + start + c;
        rows[i * lam_qr_size + c] = *x;
        *x = from + i == start + c ? sign[c] : 0;
      }
    lam_block_subtract(count, size, size, rows, lam_qr_size, 1, w, lam_qr_size, q + from * n + start, n);
  }
}
static __attribute__((noinline)) void lam_qr(int64_t m, int64_t n, const lam_element *restrict a, lam_element *restrict q, lam_element *restrict r) {
  const lam_element limit = (sizeof(lam_element) == 8 ? 1e-15 : 5e-7) * m;
  lam_element s[lam_qr_size * lam_qr_size];
  int64_t done = m < n ? 0 : n, place = 0, last = 0;
  for (int64_t i = 0; i < m * n; i++) q[i] = a[i];
  for (int64_t start = 0; start < done; start += lam_qr_size) {
    lam_element tau[lam_qr_size], w[lam_qr_size], above[lam_qr_size];
    int64_t end = n - start < lam_qr_size ? n : start + lam_qr_size;
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
    for (int64_t i = 0; i < lam_qr_size * lam_qr_size; i++) s[i] = 0;
    lam_block_add(size, m - start, size, v, 1, n, v, n, s, lam_qr_size);
    for (int64_t i = 0; i < size; i++) s[i * lam_qr_size + i] *= 0.5;
    if (end == done) break;
    lam_qr_reflect(1, m - start, size, n - end, v, s, v + size, n);
    for (int64_t i = 0; i < size; i++) {
      for (int64_t c = size; c < n - start; c++) r[(start + i) * n + start + c] = v[i * n + i] > 0 ? 0 - v[i * n + c] : v[i * n + c];
      for (int64_t c = i + 1; c < size; c++) r[(start + c) * n + start + i] = s[i * lam_qr_size + c];
      r[(n - 1) * n + start + i] = s[i * lam_qr_size + i];
    }
  }
  for (int64_t start = last, end = done; end > 0; end = start, start -= lam_qr_size) {
    if (start < last) lam_qr_load(n, start, r, s);
    lam_qr_form(m, n, start, end, done, s, q);
  }
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = done; j < n; j++) q[i * n + j] = __builtin_nan("");
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++)
      if (j < i) r[i * n + j] = 0;
      else if (j >= done) r[i * n + j] = __builtin_nan("");
}
