/* Products of reflections I - 2 v v^T / (v^T v) (Golub & Van Loan 5.1.6; Puglisi 1992), some at a
   time. Each v stands in its column of q from the diagonal on; the product of a panel is I - v s^-1
   v^T, where s is the upper triangle of v^T v with half of its diagonal. A 1 on the diagonal of v
   changes the sign of the column of the product, a -1 does not. */
enum { lam_reflect_size = 32, lam_reflect_width = 64 };
static inline lam_element lam_reflect_dot(int64_t n, const lam_element *x, const lam_element *y) {
  lam_element s = 0;
#pragma omp simd reduction(+ : s)
  for (int64_t k = 0; k < n; k++) s += x[k] * y[k];
  return s;
}
/* A reflection of x, with elements n apart, that leaves its first element only, which becomes
   *left: x becomes v of 1 - tau v v^T with v[0] = 1. */
static lam_element lam_reflection(int64_t m, int64_t n, lam_element *x, lam_element *left) {
  const lam_element first = x[0];
  lam_element rest = 0;
  if (n == 1) rest = lam_reflect_dot(m - 1, x + 1, x + 1);
  else
    for (int64_t i = 1; i < m; i++) rest += x[i * n] * x[i * n];
  if (first * first + rest < (sizeof(lam_element) == 8 ? 1e-280 : 1e-30f)) {
    /* Squares of small numbers have lost their precision. */
    lam_element large = 0;
    for (int64_t i = 0; i < m; i++) large = fabs(x[i * n]) > large ? fabs(x[i * n]) : large;
    if (large > 0) {
      for (int64_t i = 0; i < m; i++) x[i * n] /= large;
      const lam_element tau = lam_reflection(m, n, x, left);
      *left *= large;
      return tau;
    }
  }
  const lam_element length = rest > 0 ? sqrt(first * first + rest) : fabs(first), size = first > 0 ? -length : length;
  const lam_element scale = rest > 0 ? 1 / (first - size) : 0;
  for (int64_t i = 1; i < m; i++) x[i * n] *= scale;
  x[0] = 1;
  *left = size;
  return size == 0 ? 2 : (size - first) / size;
}
/* The solution of s x = w, or of its transpose, in place; rows of w are rw apart. */
static void lam_reflect_substitute(int turned, int64_t size, int64_t width, const lam_element *s, lam_element *w, int64_t rw) {
  for (int64_t k = 0; k < size; k++) {
    const int64_t i = turned ? k : size - 1 - k, first = turned ? 0 : i + 1, last = turned ? i : size;
    for (int64_t p = first; p < last; p++) {
      const lam_element x = turned ? s[p * lam_reflect_size + i] : s[i * lam_reflect_size + p];
#pragma omp simd
      for (int64_t c = 0; c < width; c++) w[i * rw + c] -= x * w[p * rw + c];
    }
    for (int64_t c = 0; c < width; c++) w[i * rw + c] /= s[i * lam_reflect_size + i];
  }
}
/* The product of the reflections of a panel, or its transpose, times columns c. */
static void lam_reflect(int turned, int64_t m, int64_t size, int64_t count, const lam_element *v, const lam_element *s, lam_element *c, int64_t n) {
  lam_element w[lam_reflect_size * lam_reflect_width];
  for (int64_t from = 0; from < count; from += lam_reflect_width) {
    const int64_t width = count - from < lam_reflect_width ? count - from : lam_reflect_width;
    for (int64_t i = 0; i < lam_reflect_size * lam_reflect_width; i++) w[i] = 0;
    lam_block_add(size, m, width, v, 1, n, c + from, n, w, lam_reflect_width);
    lam_reflect_substitute(turned, size, width, s, w, lam_reflect_width);
    lam_block_subtract(m, size, width, v, n, 1, w, lam_reflect_width, c + from, n);
  }
}
/* The columns of q from those of a panel and those behind it, which are done. */
static void lam_reflect_form(int64_t m, int64_t n, int64_t start, int64_t end, int64_t done, const lam_element *s, lam_element *q) {
  const int64_t size = end - start;
  lam_element w[lam_reflect_size * lam_reflect_size], rows[lam_reflect_width * lam_reflect_size], sign[lam_reflect_size];
  for (int64_t i = start; i < end; i++)
    for (int64_t c = end; c < done; c++) q[i * n + c] = 0;
  lam_reflect(0, m - start, size, done - end, q + start * n + start, s, q + start * n + end, n);
  for (int64_t c = 0; c < size; c++) {
    sign[c] = q[(start + c) * n + start + c] > 0 ? -1 : 1;
    for (int64_t p = 0; p < size; p++) w[p * lam_reflect_size + c] = sign[c] * q[(start + c) * n + start + p];
  }
  lam_reflect_substitute(0, size, size, s, w, lam_reflect_size);
  for (int64_t from = start; from < m; from += lam_reflect_width) {
    const int64_t count = m - from < lam_reflect_width ? m - from : lam_reflect_width;
    for (int64_t i = 0; i < count; i++)
      for (int64_t c = 0; c < size; c++) {
        lam_element *x = q + (from + i) * n + start + c;
        rows[i * lam_reflect_size + c] = *x;
        *x = from + i == start + c ? sign[c] : 0;
      }
    lam_block_subtract(count, size, size, rows, lam_reflect_size, 1, w, lam_reflect_size, q + from * n + start, n);
  }
}
/* The triangle s of a panel. */
static void lam_reflect_triangle(int64_t m, int64_t size, int64_t n, const lam_element *v, lam_element *s) {
  for (int64_t i = 0; i < lam_reflect_size * lam_reflect_size; i++) s[i] = 0;
  lam_block_add(size, m, size, v, 1, n, v, n, s, lam_reflect_size);
  for (int64_t i = 0; i < size; i++) s[i * lam_reflect_size + i] *= 0.5;
}
/* The first count columns of the product of as many reflections, in place. */
static void lam_reflect_all(int64_t m, int64_t count, lam_element *q, int64_t n) {
  lam_element s[lam_reflect_size * lam_reflect_size];
  for (int64_t end = count; end > 0; end = (end - 1) / lam_reflect_size * lam_reflect_size) {
    const int64_t start = (end - 1) / lam_reflect_size * lam_reflect_size;
    for (int64_t i = start; i < end; i++)
      for (int64_t j = i + 1; j < end; j++) q[i * n + j] = 0;
    lam_reflect_triangle(m - start, end - start, n, q + start * n + start, s);
    lam_reflect_form(m, n, start, end, count, s, q);
  }
}
static void lam_reflect_transpose(int64_t n, lam_element *a) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++) {
      const lam_element x = a[i * n + j];
      a[i * n + j] = a[j * n + i];
      a[j * n + i] = x;
    }
}
/* From reflections whose v stand in rows, right of the diagonal and with a 1 beside it, to the
   transpose of their product, in place. */
static void lam_reflect_rows(int64_t n, lam_element *a) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i + 1; j < n; j++) a[j * n + i + 1] = -a[i * n + j];
  for (int64_t i = 0; i < n; i++) a[i] = a[i * n] = i == 0;
  lam_reflect_all(n - 1, n - 1, a + n + 1, n);
  lam_reflect_transpose(n, a);
}
