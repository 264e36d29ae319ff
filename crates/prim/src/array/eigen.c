/* Eigenvalues and eigenvectors, in rows, of the symmetric part of a matrix. Of a vector the first
   component of the largest size is positive. Reflections make the matrix tridiagonal, one for each
   row, which then has the vector of its reflection (Golub & Van Loan 8.3.1); each pass over the
   rest of the matrix subtracts the last reflection and multiplies with the next. Sweeps of
   rotations, from the larger end of a part that does not fall apart, make that diagonal (8.3.3).
   In work: the elements beside the diagonal, vectors, rotations. */
/* a -= v w^T + w v^T and y = a x, for n rows that are r apart, of which there is what is right of
   the diagonal. */
static void lam_eigen_pass(int64_t n, int64_t r, lam_element *a, const lam_element *restrict v, const lam_element *restrict w, const lam_element *restrict x, lam_element *restrict y) {
  for (int64_t i = 0; i < n; i++) y[i] = 0;
  for (int64_t i = 0; i < n; i += 4) {
    const int64_t corner = n - i < 4 ? n - i : 4;
    for (int64_t p = i; p < i + corner; p++)
      for (int64_t k = p; k < i + corner; k++) {
        a[p * r + k] -= v[p] * w[k] + w[p] * v[k];
        y[p] += a[p * r + k] * x[k];
        if (k > p) y[k] += a[p * r + k] * x[p];
      }
    if (corner < 4) return;
    lam_element *restrict p = a + i * r, *restrict q = p + r, *restrict s = q + r, *restrict t = s + r;
    const lam_element vp = v[i], vq = v[i + 1], vs = v[i + 2], vt = v[i + 3], wp = w[i], wq = w[i + 1], ws = w[i + 2], wt = w[i + 3];
    const lam_element xp = x[i], xq = x[i + 1], xs = x[i + 2], xt = x[i + 3];
    lam_element yp = 0, yq = 0, ys = 0, yt = 0;
#pragma omp simd reduction(+ : yp, yq, ys, yt)
    for (int64_t k = i + 4; k < n; k++) {
      const lam_element ap = p[k] - vp * w[k] - wp * v[k], aq = q[k] - vq * w[k] - wq * v[k], as = s[k] - vs * w[k] - ws * v[k], at = t[k] - vt * w[k] - wt * v[k];
      p[k] = ap, q[k] = aq, s[k] = as, t[k] = at;
      yp += ap * x[k], yq += aq * x[k], ys += as * x[k], yt += at * x[k];
      y[k] += ap * xp + aq * xq + as * xs + at * xt;
    }
    y[i] += yp, y[i + 1] += yq, y[i + 2] += ys, y[i + 3] += yt;
  }
}
/* The diagonal and the elements beside it of q^T a q; in the place of a the transpose of q. */
static void lam_eigen_tridiagonal(int64_t n, lam_element *a, lam_element *diagonal, lam_element *beside, lam_element *v, lam_element *w, lam_element *y) {
  for (int64_t k = 0; k < n; k++) v[k] = w[k] = 0;
  for (int64_t k = 0; k + 1 < n; k++) {
    lam_element *row = a + k * n;
    const int64_t rest = n - k - 1;
    /* What the last pass left out. */
    for (int64_t j = k; j < n; j++) row[j] -= v[k] * w[j] + w[k] * v[j];
    diagonal[k] = row[k];
    const lam_element tau = lam_reflection(rest, 1, row + k + 1, beside + k);
    lam_eigen_pass(rest, n, row + n + k + 1, v + k + 1, w + k + 1, row + k + 1, y + k + 1);
    const lam_element *x = row + k + 1;
    const lam_element half = tau * tau / 2 * lam_reflect_dot(rest, x, y + k + 1);
    for (int64_t j = 0; j < rest; j++) {
      v[k + 1 + j] = x[j];
      w[k + 1 + j] = tau * y[k + 1 + j] - half * x[j];
    }
  }
  diagonal[n - 1] = a[n * n - 1] - 2 * v[n - 1] * w[n - 1];
  beside[n - 1] = 0;
  lam_reflect_rows(n, a);
}
/* A sweep over a part with count + 1 values. Returns how many turns it has: all, unless the rest is
   zero. */
static int64_t lam_eigen_sweep(int64_t count, int64_t step, lam_element *d, lam_element *e, lam_element *turn) {
  /* The shift is the eigenvalue of the last two that is nearer to the last. */
  const lam_element *last = d + step * count, beside = e[step * (count - 1)], half = (last[-step] - *last) / (2 * beside), size = hypot(half, 1);
  lam_element g = *d - *last + beside / (half + (half < 0 ? -size : size)), sine = 1, cosine = 1, p = 0;
  for (int64_t t = 0; t < count; t++, turn += 2, d += step, e += step) {
    const lam_element f = sine * *e, b = cosine * *e, r = lam_rotation(g, f, turn);
    if (t > 0) e[-step] = r;
    if (r == 0) {
      *d -= p;
      return t;
    }
    cosine = turn[0], sine = turn[1];
    g = *d - p;
    const lam_element rest = (d[step] - g) * sine + 2 * cosine * b;
    p = sine * rest;
    *d = g + p;
    g = cosine * rest - b;
  }
  *d -= p;
  e[-step] = g;
  return count;
}
/* Makes a tridiagonal matrix diagonal; whether it ends. Memory for many sweeps in turns, then for
   scales and a strip. */
static int lam_eigen_diagonal(int64_t n, lam_element *d, lam_element *e, lam_element *rows, int64_t many, lam_element *turns) {
  const lam_element eps = sizeof(lam_element) == 8 ? 1.1102230246251565e-16 : 5.9604645e-8f;
  lam_element *scale = turns + 2 * many * n;
  struct lam_sweeps sweeps = {0, 1};
  int64_t rest = 60 * n, low = -1, high = -1, step = 1, tries = 0;
  for (int64_t k = n - 1; k > 0;) {
    int64_t l = k;
    for (; l > 0; l--) {
      const lam_element x = fabs(e[l - 1]), p = fabs(d[l - 1]), q = fabs(d[l]);
      if (x * x <= eps * p * (eps * q) || x <= eps * eps * (p + q)) break;
    }
    if (l == k) {
      k--;
      continue;
    }
    if (rest-- == 0) return 0;
    /* Away from the larger end of a part, until it is done; back if nothing comes of it. */
    tries = l == low && k == high ? tries + 1 : 0;
    if (l > high || k < low) step = fabs(d[l]) + fabs(e[l]) >= fabs(d[k]) + fabs(e[k - 1]) ? 1 : -1;
    if (tries == 16) {
      step = -step;
      tries = 0;
    }
    low = l, high = k;
    if (sweeps.count == many || sweeps.step != step) {
      lam_rotate(n, n, &sweeps, turns, rows, scale, scale + n);
      sweeps.count = 0;
      sweeps.step = step;
    }
    const int64_t first = step > 0 ? l : k, count = lam_eigen_sweep(k - l, step, d + first, step > 0 ? e + l : e + k - 1, turns + 2 * sweeps.count * n);
    sweeps.first[sweeps.count] = first;
    sweeps.last[sweeps.count++] = first + step * count;
  }
  lam_rotate(n, n, &sweeps, turns, rows, scale, scale + n);
  return 1;
}
static __attribute__((noinline)) void lam_eigen(int64_t n, const lam_element *restrict a, lam_element *restrict values, lam_element *restrict rows, lam_element *restrict work) {
  lam_element few[lam_rotate_memory], largest = 0, *space = n < lam_rotate_small ? few : work;
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
    lam_eigen_tridiagonal(n, rows, values, space, space + n, space + 2 * n, space + 3 * n);
    finite = lam_eigen_diagonal(n, values, space, rows, lam_rotate_many(n, 1), space + n);
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
