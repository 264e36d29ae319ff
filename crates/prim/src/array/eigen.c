/* Eigenvalues and eigenvectors, in rows, of the symmetric part of a matrix. Of a vector the first component of the largest size is positive. Reflections make it tridiagonal, one for each row, which then has the vector of its reflection; each pass over the rest of the
   matrix subtracts the last reflection and multiplies with the next. Rotations, from the smaller end of a part that does not fall apart, make the tridiagonal matrix diagonal;
   those of a sweep are applied to the vectors at once, some columns at a time. In work: the elements beside the diagonal, the sizes of reflections, vectors, rotations. */
enum { lam_eigen_width = 4 * lam_block_lanes, lam_eigen_rows = 4 };
static inline lam_element lam_eigen_dot(int64_t n, const lam_element *x, const lam_element *y) {
  lam_element s = 0;
#pragma omp simd reduction(+ : s)
  for (int64_t k = 0; k < n; k++) s += x[k] * y[k];
  return s;
}
/* A reflection of x that leaves its first element only, which becomes *left: x becomes v of 1 - tau v v^T with v[0] = 1. */
static lam_element lam_eigen_reflection(int64_t n, lam_element *x, lam_element *left) {
  const lam_element rest = lam_eigen_dot(n - 1, x + 1, x + 1), first = x[0];
  *left = first;
  x[0] = 1;
  if (!(rest > 0)) {
    for (int64_t k = 1; k < n; k++) x[k] = 0;
    return 0;
  }
  const lam_element length = sqrt(first * first + rest), size = first > 0 ? -length : length;
  for (int64_t k = 1; k < n; k++) x[k] /= first - size;
  *left = size;
  return (size - first) / size;
}
/* a -= v w^T + w v^T and y = a x, for the n rows of a. */
static void lam_eigen_pass(int64_t n, int64_t r, lam_element *a, const lam_element *restrict v, const lam_element *restrict w, const lam_element *restrict x, lam_element *restrict y) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    lam_element *restrict p = a + i * r, *restrict q = p + r, *restrict s = q + r, *restrict t = s + r;
    const lam_element vp = v[i], vq = v[i + 1], vs = v[i + 2], vt = v[i + 3], wp = w[i], wq = w[i + 1], ws = w[i + 2], wt = w[i + 3];
    lam_element yp = 0, yq = 0, ys = 0, yt = 0;
#pragma omp simd reduction(+ : yp, yq, ys, yt)
    for (int64_t k = 0; k < n; k++) {
      const lam_element ap = p[k] - vp * w[k] - wp * v[k], aq = q[k] - vq * w[k] - wq * v[k], as = s[k] - vs * w[k] - ws * v[k], at = t[k] - vt * w[k] - wt * v[k];
      p[k] = ap, q[k] = aq, s[k] = as, t[k] = at;
      yp += ap * x[k], yq += aq * x[k], ys += as * x[k], yt += at * x[k];
    }
    y[i] = yp, y[i + 1] = yq, y[i + 2] = ys, y[i + 3] = yt;
  }
  for (; i < n; i++) {
    lam_element *restrict p = a + i * r;
    const lam_element vp = v[i], wp = w[i];
    lam_element yp = 0;
#pragma omp simd reduction(+ : yp)
    for (int64_t k = 0; k < n; k++) {
      p[k] = p[k] - vp * w[k] - wp * v[k];
      yp += p[k] * x[k];
    }
    y[i] = yp;
  }
}
/* The diagonal and the elements beside it of q^T a q; in the place of a the transpose of q. */
static void lam_eigen_tridiagonal(int64_t n, lam_element *a, lam_element *diagonal, lam_element *beside, lam_element *tau, lam_element *v, lam_element *w, lam_element *y) {
  for (int64_t k = 0; k < n; k++) v[k] = w[k] = 0;
  for (int64_t k = 0; k + 1 < n; k++) {
    lam_element *row = a + k * n;
    const int64_t rest = n - k - 1;
    /* What the last pass left out. */
    for (int64_t j = k; j < n; j++) row[j] -= v[k] * w[j] + w[k] * v[j];
    diagonal[k] = row[k];
    tau[k] = lam_eigen_reflection(rest, row + k + 1, beside + k);
    lam_eigen_pass(rest, n, row + n + k + 1, v + k + 1, w + k + 1, row + k + 1, y + k + 1);
    const lam_element *x = row + k + 1;
    const lam_element half = tau[k] * tau[k] / 2 * lam_eigen_dot(rest, x, y + k + 1);
    for (int64_t j = 0; j < rest; j++) {
      v[k + 1 + j] = x[j];
      w[k + 1 + j] = tau[k] * y[k + 1 + j] - half * x[j];
    }
  }
  diagonal[n - 1] = a[n * n - 1] - 2 * v[n - 1] * w[n - 1];
  beside[n - 1] = 0;
  for (int64_t k = n - 1; k >= 0; k--) {
    lam_element *row = a + k * n;
    for (int64_t i = k + 1; i < n && k + 1 < n; i++) {
      lam_element *x = a + i * n + k + 1;
      const lam_element s = tau[k] * lam_eigen_dot(n - k - 1, x, row + k + 1);
#pragma omp simd
      for (int64_t j = 0; j < n - k - 1; j++) x[j] -= s * row[k + 1 + j];
    }
    for (int64_t j = k; j < n; j++) row[j] = a[j * n + k] = j == k;
  }
}
/* Rotates the rows first to last of n columns, each with the one before it, from the last on. */
static void lam_eigen_rotate(int64_t n, int64_t first, int64_t last, const lam_element *c, const lam_element *s, lam_element *rows) {
  int64_t from = 0;
  for (; from + lam_eigen_width <= n; from += lam_eigen_width) {
    lam_lanes x[4];
    lam_element *row = rows + last * n + from;
#pragma GCC unroll 4
    for (int q = 0; q < 4; q++) x[q] = *(const lam_lanes *)(row + q * lam_block_lanes);
    for (int64_t i = last - 1; i >= first; i--) {
      lam_element *above = row - n;
#pragma GCC unroll 4
      for (int q = 0; q < 4; q++) {
        const lam_lanes y = *(const lam_lanes *)(above + q * lam_block_lanes);
        *(lam_lanes *)(row + q * lam_block_lanes) = s[i] * y + c[i] * x[q];
        x[q] = c[i] * y - s[i] * x[q];
      }
      row = above;
    }
#pragma GCC unroll 4
    for (int q = 0; q < 4; q++) *(lam_lanes *)(row + q * lam_block_lanes) = x[q];
  }
  if (from < n)
    for (int64_t i = last - 1; i >= first; i--)
      for (int64_t k = from; k < n; k++) {
        const lam_element y = rows[i * n + k], x = rows[(i + 1) * n + k];
        rows[(i + 1) * n + k] = s[i] * y + c[i] * x;
        rows[i * n + k] = c[i] * y - s[i] * x;
      }
}
/* Makes a tridiagonal matrix diagonal; whether it ends. */
static int lam_eigen_diagonal(int64_t n, lam_element *d, lam_element *e, lam_element *c, lam_element *s, lam_element *rows) {
  const lam_element eps = sizeof(lam_element) == 8 ? 1.1102230246251565e-16 : 5.9604645e-8f;
  int64_t left = 60 * n;
  for (int64_t l = 0; l < n;) {
    int64_t m = l;
    for (; m + 1 < n; m++)
      if (fabs(e[m]) <= eps * sqrt(fabs(d[m])) * sqrt(fabs(d[m + 1])) || fabs(e[m]) <= eps * eps * (fabs(d[m]) + fabs(d[m + 1]))) break;
    if (m + 1 < n) e[m] = 0;
    if (m == l) {
      l++;
      continue;
    }
    if (left-- == 0) return 0;
    /* The shift is the eigenvalue of the first two that is nearer to the first. */
    lam_element g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, 1);
    g = d[m] - d[l] + e[l] / (g + (g < 0 ? -r : r));
    lam_element sine = 1, cosine = 1, p = 0;
    int64_t i = m - 1;
    for (; i >= l; i--) {
      const lam_element f = sine * e[i], b = cosine * e[i];
      r = hypot(f, g);
      e[i + 1] = r;
      if (r == 0) {
        d[i + 1] -= p;
        e[m] = 0;
        break;
      }
      sine = f / r, cosine = g / r;
      g = d[i + 1] - p;
      r = (d[i] - g) * sine + 2 * cosine * b;
      p = sine * r;
      d[i + 1] = g + p;
      g = cosine * r - b;
      c[i] = cosine, s[i] = sine;
    }
    lam_eigen_rotate(n, i + 1, m, c, s, rows);
    if (i >= l) continue;
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
  }
  return 1;
}
static __attribute__((noinline)) void lam_eigen(int64_t n, const lam_element *restrict a, lam_element *restrict values, lam_element *restrict rows, lam_element *restrict work) {
  lam_element few[42], largest = 0, *space = n < 7 ? few : work;
  int finite = 1;
  for (int64_t i = 0; i < n * n; i++) {
    const lam_element size = fabs(a[i]);
    largest = size > largest ? size : largest;
    finite &= size <= (sizeof(lam_element) == 8 ? 1.7976931348623157e308 : 3.4028234e38f);
  }
  /* Squares neither overflow nor vanish. */
  const lam_element wide = sizeof(lam_element) == 8 ? 1e120 : 1e12f;
  const lam_element scale = largest > wide || (largest < 1 / wide && largest > 0) ? largest : 1;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) rows[i * n + j] = (a[i * n + j] / scale + a[j * n + i] / scale) / 2;
  if (finite && n > 0) {
    lam_eigen_tridiagonal(n, rows, values, space, space + n, space + 2 * n, space + 3 * n, space + 4 * n);
    finite = lam_eigen_diagonal(n, values, space, space + n, space + 2 * n, rows);
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t least = i;
    for (int64_t j = i + 1; j < n; j++) least = values[j] < values[least] ? j : least;
    const lam_element value = values[least];
    values[least] = values[i];
    values[i] = finite ? value * scale : __builtin_nan("");
    for (int64_t k = 0; k < n && least != i; k++) {
      const lam_element x = rows[least * n + k];
      rows[least * n + k] = rows[i * n + k];
      rows[i * n + k] = x;
    }
  }
  for (int64_t i = 0; i < n; i++) {
    lam_element *row = rows + i * n, size = 0, sign = 0;
    for (int64_t k = 0; k < n; k++) size = fabs(row[k]) > size ? fabs(row[k]) : size;
    for (int64_t k = 0; k < n && sign == 0; k++)
      if (fabs(row[k]) >= (lam_element)0.9999 * size) sign = row[k] < 0 ? -1 : 1;
    for (int64_t k = 0; k < n; k++) {
      row[k] = finite ? sign * row[k] : __builtin_nan("");
      work[i * n + k] = 0;
    }
  }
}
