/* Singular values and vectors, in rows, of a matrix with at least as many rows as columns. Of a
   right vector the first component of the largest size is positive. Reflections from both sides
   make the matrix bidiagonal (Golub & Van Loan 5.4.8); each step passes over the rest of the matrix
   twice. Sweeps of rotations make that diagonal, without a shift where one would cost small values
   their precision (Demmel & Kahan 1990). */
/* a -= t y^T + x v^T and z += u^T a, for m rows of n elements that are r apart, as those of t and
   u. */
static void lam_svd_left(int64_t m, int64_t n, int64_t r, lam_element *a, const lam_element *t, const lam_element *y, const lam_element *x, const lam_element *v, const lam_element *u, lam_element *restrict z) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) {
    lam_element *restrict p = a + i * r, *restrict q = p + r, *restrict s = q + r, *restrict w = s + r;
    const lam_element tp = t[i * r], tq = t[(i + 1) * r], ts = t[(i + 2) * r], tw = t[(i + 3) * r];
    const lam_element up = u[i * r], uq = u[(i + 1) * r], us = u[(i + 2) * r], uw = u[(i + 3) * r];
    const lam_element xp = x[i], xq = x[i + 1], xs = x[i + 2], xw = x[i + 3];
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
      const lam_element ap = p[k] - tp * y[k] - xp * v[k], aq = q[k] - tq * y[k] - xq * v[k], as = s[k] - ts * y[k] - xs * v[k], aw = w[k] - tw * y[k] - xw * v[k];
      p[k] = ap, q[k] = aq, s[k] = as, w[k] = aw;
      z[k] += up * ap + uq * aq + us * as + uw * aw;
    }
  }
  for (; i < m; i++) {
    lam_element *restrict p = a + i * r;
    const lam_element tp = t[i * r], xp = x[i], up = u[i * r];
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
      p[k] -= tp * y[k] + xp * v[k];
      z[k] += up * p[k];
    }
  }
}
/* x = scale (a v - u c), for m rows of n elements that are r apart, as those of u. */
static void lam_svd_right(int64_t m, int64_t n, int64_t r, const lam_element *a, const lam_element *v, const lam_element *u, lam_element c, lam_element scale, lam_element *restrict x) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) {
    const lam_element *p = a + i * r, *q = p + r, *s = q + r, *w = s + r;
    lam_element xp = 0, xq = 0, xs = 0, xw = 0;
#pragma omp simd reduction(+ : xp, xq, xs, xw)
    for (int64_t k = 0; k < n; k++) xp += p[k] * v[k], xq += q[k] * v[k], xs += s[k] * v[k], xw += w[k] * v[k];
    x[i] = scale * (xp - u[i * r] * c);
    x[i + 1] = scale * (xq - u[(i + 1) * r] * c);
    x[i + 2] = scale * (xs - u[(i + 2) * r] * c);
    x[i + 3] = scale * (xw - u[(i + 3) * r] * c);
  }
  for (; i < m; i++) x[i] = scale * (lam_reflect_dot(n, a + i * r, v) - u[i * r] * c);
}
/* The diagonal d and the elements e beside it of u^T a v; the vectors of the reflections in the
   columns of a from the diagonal on, and in its rows beside it. Memory for m elements in x, for n
   in y and z. */
static void lam_svd_bidiagonal(int64_t m, int64_t n, lam_element *a, lam_element *d, lam_element *e, lam_element *x, lam_element *y, lam_element *z) {
  const lam_element *v = z;
  for (int64_t i = 0; i < m; i++) x[i] = 0;
  for (int64_t j = 0; j < n; j++) y[j] = z[j] = 0;
  for (int64_t k = 0; k < n; k++) {
    lam_element *u = a + k * n + k, *row = u + 1;
    const lam_element *t = k > 0 ? u - 1 : u;
    const int64_t rest = n - k - 1;
    for (int64_t i = 0; i < m - k; i++) u[i * n] -= t[i * n] * y[k] + x[k + i] * v[k];
    const lam_element tau = lam_reflection(m - k, n, u, d + k);
    if (rest == 0) break;
    if (k > 0)
      for (int64_t j = 0; j < n; j++) z[j] = 0;
    lam_svd_left(m - k, rest, n, row, t, y + k + 1, x + k, v + k + 1, u, z + k + 1);
    for (int64_t j = 0; j < rest; j++) row[j] -= z[k + 1 + j] *= tau;
    const lam_element scale = lam_reflection(rest, 1, row, e + k);
    lam_svd_right(m - k - 1, rest, n, row + n, row, u + n, lam_reflect_dot(rest, z + k + 1, row), scale, x + k + 1);
    lam_element *other = y;
    y = z, z = other, v = a + k * n;
  }
}
/* The smaller singular value of a triangle. */
static lam_element lam_svd_smaller(lam_element f, lam_element g, lam_element h) {
  const lam_element p = fabs(f), q = fabs(h), low = p < q ? p : q, high = p < q ? q : p, size = fabs(g);
  if (low == 0) return 0;
  const lam_element near = 1 + low / high, far = (high - low) / high;
  if (size < high) {
    const lam_element s = size / high * (size / high);
    return low * (2 / (sqrt(near * near + s) + sqrt(far * far + s)));
  }
  const lam_element s = high / size;
  return s == 0 ? low * high / size : 2 * (low * (1 / (sqrt(1 + near * s * (near * s)) + sqrt(1 + far * s * (far * s))))) * s;
}
/* Where in a part, from its first value on, an element beside the diagonal is negligible, or count;
   *least becomes less than all its values but for a factor. */
static int64_t lam_svd_negligible(int64_t count, int64_t step, lam_element limit, const lam_element *d, const lam_element *e, lam_element *least) {
  lam_element mu = fabs(d[0]);
  *least = mu;
  if (fabs(e[step * (count - 1)]) <= limit * fabs(d[step * count])) return count - 1;
  for (int64_t i = 0; i < count; i++) {
    if (fabs(e[step * i]) <= limit * mu) return i;
    mu = fabs(d[step * (i + 1)]) * (mu / (mu + fabs(e[step * i])));
    *least = mu < *least ? mu : *least;
  }
  return count;
}
/* A sweep over a part with count + 1 values; the turns of the side that comes first and of the
   other. */
static void lam_svd_sweep(int64_t count, int64_t step, lam_element shift, lam_element *d, lam_element *e, lam_element *turns, lam_element *others) {
  if (shift == 0) {
    lam_element c = 1, was[2] = {1, 0};
    for (int64_t i = 0; i < count; i++, turns += 2, others += 2) {
      const lam_element r = lam_rotation(d[step * i] * c, e[step * i], turns);
      if (i > 0) e[step * (i - 1)] = was[1] * r;
      d[step * i] = lam_rotation(was[0] * r, d[step * (i + 1)] * turns[1], others);
      c = turns[0], was[0] = others[0], was[1] = others[1];
    }
    const lam_element last = d[step * count] * c;
    d[step * count] = last * was[0];
    e[step * (count - 1)] = last * was[1];
    return;
  }
  lam_element f = (fabs(d[0]) - shift) * ((d[0] < 0 ? -1 : 1) + shift / d[0]), g = e[0], p = d[0], b = e[0];
  for (int64_t i = 0; i < count; i++, turns += 2, others += 2) {
    const lam_element q = d[step * (i + 1)], r = lam_rotation(f, g, turns), c = turns[0], s = turns[1];
    if (i > 0) e[step * (i - 1)] = r;
    f = c * p + s * b;
    b = c * b - s * p;
    d[step * i] = lam_rotation(f, s * q, others);
    f = others[0] * b + others[1] * (c * q);
    p = others[0] * (c * q) - others[1] * b;
    if (i + 1 < count) {
      g = others[1] * e[step * (i + 1)];
      b = others[0] * e[step * (i + 1)];
    }
  }
  d[step * count] = p;
  e[step * (count - 1)] = f;
}
/* Makes a bidiagonal matrix diagonal; whether it ends. Memory for many sweeps in turns. */
static int lam_svd_diagonal(int64_t n, int64_t m, lam_element *d, lam_element *e, lam_element *left, lam_element *right, int64_t many, lam_element *turns, lam_element *scale) {
  const lam_element eps = sizeof(lam_element) == 8 ? 1.1102230246251565e-16 : 5.9604645e-8f;
  const lam_element limit = sizeof(lam_element) == 8 ? 100 * eps : 10 * eps, none = sizeof(lam_element) == 8 ? 1e-290 : 1e-36f;
  struct lam_sweeps sweeps = {0, 1};
  int64_t rest = 60 * n, low = -1, high = -1, step = 1;
  lam_element *others = turns + 2 * many * n;
  for (int64_t k = n - 1; k >= 0 || sweeps.count > 0;) {
    int64_t l = k;
    if (k >= 0 && fabs(d[k]) <= none) d[k] = 0;
    lam_element largest = k < 0 ? 0 : fabs(d[k]), least;
    for (; l > 0; l--) {
      if (fabs(d[l - 1]) <= none) d[l - 1] = 0;
      if (fabs(e[l - 1]) <= none) {
        e[l - 1] = 0;
        break;
      }
      largest = fabs(d[l - 1]) > largest ? fabs(d[l - 1]) : largest;
      largest = fabs(e[l - 1]) > largest ? fabs(e[l - 1]) : largest;
    }
    if (l == k && k > 0) {
      k--;
      continue;
    }
    const int ends = k <= 0;
    /* Away from the larger end of a part, until it is done. */
    if (!ends && (l > high || k < low)) step = fabs(d[l]) >= fabs(d[k]) ? 1 : -1;
    low = l, high = k;
    if (sweeps.count > 0 && (ends || sweeps.count == many || sweeps.step != step)) {
      lam_rotate(n, m, &sweeps, sweeps.step > 0 ? others : turns, left, scale, scale + n);
      lam_rotate(n, n, &sweeps, sweeps.step > 0 ? turns : others, right, scale, scale + n);
      sweeps.count = 0;
    }
    if (ends) {
      k = -1;
      continue;
    }
    lam_element *from = step > 0 ? d + l : d + k, *beside = step > 0 ? e + l : e + k - 1, *to = step > 0 ? d + k : d + l;
    const int64_t count = k - l, place = lam_svd_negligible(count, step, limit, from, beside, &least);
    if (place < count) {
      beside[step * place] = 0;
      continue;
    }
    if (rest-- == 0) return 0;
    lam_element shift = 0;
    if (n * limit * (least / largest) > (limit > 100 * eps ? limit / 100 : eps)) {
      shift = lam_svd_smaller(to[-step], beside[step * (count - 1)], *to);
      if (shift / fabs(*from) * (shift / fabs(*from)) < eps) shift = 0;
    }
    sweeps.step = step;
    sweeps.first[sweeps.count] = step > 0 ? l : k;
    sweeps.last[sweeps.count] = step > 0 ? k : l;
    lam_svd_sweep(count, step, shift, from, beside, turns + 2 * sweeps.count * n, others + 2 * sweeps.count * n);
    sweeps.count++;
  }
  return 1;
}
/* The orthonormal columns of reflections whose v have a 1 on the diagonal. */
static void lam_svd_form(int64_t m, int64_t n, lam_element *q) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j <= i && j < n; j++) q[i * n + j] = -q[i * n + j];
  lam_reflect_all(m, n, q, n);
}
/* The triangle r of a tall matrix, and its orthonormal columns in the place of q. Some columns at a
   time are turned over in panel, which is as large as q. */
static void lam_svd_triangle(int64_t m, int64_t n, lam_element *q, lam_element *r, lam_element *panel) {
  lam_element s[lam_reflect_size * lam_reflect_size];
  for (int64_t i = 0; i < n * n; i++) r[i] = 0;
  for (int64_t start = 0; start < n; start += lam_reflect_size) {
    const int64_t size = n - start < lam_reflect_size ? n - start : lam_reflect_size, rest = m - start;
    lam_element *v = q + start * n + start, *corner = r + start * n + start;
    for (int64_t i = 0; i < rest; i++)
      for (int64_t c = 0; c < size; c++) panel[c * rest + i] = v[i * n + c];
    for (int64_t j = 0; j < size; j++) {
      const lam_element *x = panel + j * rest + j, tau = lam_reflection(rest - j, 1, panel + j * rest + j, corner + j * n + j);
      for (int64_t c = j + 1; c < size; c++) {
        lam_element *y = panel + c * rest + j;
        const lam_element part = tau * lam_reflect_dot(rest - j, x, y);
#pragma omp simd
        for (int64_t i = 0; i < rest - j; i++) y[i] -= part * x[i];
        corner[j * n + c] = *y;
        *y = 0;
      }
    }
    for (int64_t i = 0; i < rest; i++)
      for (int64_t c = 0; c < size; c++) v[i * n + c] = panel[c * rest + i];
    lam_reflect_triangle(rest, size, n, v, s);
    lam_reflect(1, rest, size, n - start - size, v, s, v + size, n);
    for (int64_t i = 0; i < size; i++)
      for (int64_t c = size; c < n - start; c++) corner[i * n + c] = v[i * n + c];
  }
  lam_svd_form(m, n, q);
}
static void lam_svd_turn(int64_t m, int64_t n, const lam_element *restrict from, lam_element *restrict to) {
  for (int64_t start = 0; start < m; start += 16)
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = start; i < m && i < start + 16; i++) to[j * m + i] = from[i * n + j];
}
static __attribute__((noinline)) void lam_svd(int64_t m, int64_t n, const lam_element *restrict a, lam_element *restrict left, lam_element *restrict values, lam_element *restrict right, lam_element *restrict work, lam_element *restrict memory) {
  lam_element few[lam_rotate_memory], largest = 0;
  int fine = m >= n;
  for (int64_t i = 0; i < m * n; i++) {
    const lam_element size = fabs(a[i]);
    largest = size > largest ? size : largest;
    fine &= size <= (sizeof(lam_element) == 8 ? 1.7976931348623157e308 : 3.4028234e38f);
  }
  /* Squares neither overflow nor vanish. */
  const lam_element wide = sizeof(lam_element) == 8 ? 1e120 : 1e12f;
  const lam_element scale = largest > wide || (largest < 1 / wide && largest > 0) ? largest : 1;
  for (int64_t i = 0; i < m * n; i++) work[i] = a[i] / scale;
  if (fine && n > 0) {
    /* Of a tall matrix the triangle is decomposed. */
    const int tall = m >= 2 * n;
    const int64_t rows = tall ? n : m, many = lam_rotate_many(n, 2);
    lam_element *core = tall ? left : work, *turned = tall ? memory : left, *e = n < lam_rotate_small ? few : tall ? left + n * n : memory;
    if (tall) lam_svd_triangle(m, n, work, memory, left);
    for (int64_t i = 0; i < n * n && tall; i++) left[i] = memory[i];
    lam_svd_bidiagonal(rows, n, core, values, e, turned, right, n > 1 ? right + n : right);
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = i + 1; j < n; j++) right[i * n + j] = core[i * n + j];
    lam_reflect_rows(n, right);
    lam_svd_form(rows, n, core);
    lam_svd_turn(rows, n, core, turned);
    fine = lam_svd_diagonal(n, rows, values, e, turned, right, many, e + n, e + n + 4 * many * n);
    if (tall) {
      lam_reflect_transpose(n, memory);
      for (int64_t i = 0; i < m * n; i++) left[i] = 0;
      lam_block_add(m, n, n, work, n, 1, memory, n, left, n);
      for (int64_t i = 0; i < m * n; i++) work[i] = left[i];
      lam_svd_turn(m, n, work, left);
    }
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t place = i;
    for (int64_t j = i + 1; j < n; j++) place = fabs(values[j]) > fabs(values[place]) ? j : place;
    const lam_element value = values[place];
    values[place] = values[i];
    values[i] = fine ? fabs(value) * scale : __builtin_nan("");
    for (int64_t k = 0; k < m && place != i; k++) {
      const lam_element x = left[place * m + k];
      left[place * m + k] = left[i * m + k];
      left[i * m + k] = x;
    }
    lam_element *row = right + i * n, size = 0, sign = 0;
    for (int64_t k = 0; k < n; k++) {
      const lam_element x = right[place * n + k];
      right[place * n + k] = row[k];
      row[k] = x;
      size = fabs(x) > size ? fabs(x) : size;
    }
    for (int64_t k = 0; k < n && sign == 0; k++)
      if (fabs(row[k]) >= (lam_element)0.9999 * size) sign = row[k] < 0 ? -1 : 1;
    const lam_element other = value < 0 ? -sign : sign;
    for (int64_t k = 0; k < n; k++) {
      row[k] = fine ? sign * row[k] : __builtin_nan("");
      memory[i * n + k] = 0;
    }
    for (int64_t k = 0; k < m; k++) {
      left[i * m + k] = fine ? other * left[i * m + k] : __builtin_nan("");
      work[i * m + k] = 0;
    }
  }
}
