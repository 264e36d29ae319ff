/* The discrete Fourier transform. The first step reads the elements in their order, transforms those that are n / p apart, and writes each p results where the other steps,
   which are in place, need them. A step makes one transform of l p elements of p transforms of l, for p of 2, 3, 4, 5, 8 or another prime below 32. The steps of a part come before
   those of the whole, so a part that fits a cache stays there. */
enum { lam_fft_first_most = 32, lam_fft_lanes = 16, lam_fft_table = 2048, lam_fft_chunk = 64, lam_fft_few = 16 };
typedef struct {
  int64_t count, radix[64], length[64];
  lam_element table_re[lam_fft_table], table_im[lam_fft_table];
} lam_fft_plan;
/* exp (-2 pi i k / n) for 0 <= k < n: within an eighth of a turn by the series, so that no error grows with k. */
static inline void lam_fft_root(int64_t k, int64_t n, lam_element *re, lam_element *im) {
  const int64_t eighth = 8 * k / n, rest = 8 * k - eighth * n;
  const double x = (double)(eighth & 1 ? n - rest : rest) / (double)n * 0.78539816339744830962, y = x * x;
  const double c = 1 - y * (1 / 2. - y * (1 / 24. - y * (1 / 720. - y * (1 / 40320. - y * (1 / 3628800. - y * (1 / 479001600. - y * (1 / 87178291200. - y / 20922789888000.)))))));
  const double s = x - x * y * (1 / 6. - y * (1 / 120. - y * (1 / 5040. - y * (1 / 362880. - y * (1 / 39916800. - y * (1 / 6227020800. - y / 1307674368000.))))));
  const int turned = (eighth + 1) >> 1 & 1;
  const double p = turned ? s : c, q = turned ? c : s;
  *re = eighth >= 2 && eighth < 6 ? -p : p;
  *im = eighth < 4 ? -q : q;
}
/* w[(q - 1) size + k] = exp (-2 pi i q (k + from) / n) for 0 < q < p and 0 <= k < size. */
static void lam_fft_roots(int64_t p, int64_t size, int64_t from, int64_t n, lam_element *re, lam_element *im) {
  for (int64_t q = 1; q < p; q++)
    for (int64_t k = 0; k < size; k++) lam_fft_root(q * (k + from), n, re + (q - 1) * size + k, im + (q - 1) * size + k);
}
/* In place of x0 .. x3 their transform. */
#define lam_fft_four(x0, x1, x2, x3)                                                                                                                                  \
  {                                                                                                                                                                  \
    const lam_element ar = x0##r + x2##r, ai = x0##i + x2##i, br = x0##r - x2##r, bi = x0##i - x2##i;                                                                \
    const lam_element cr = x1##r + x3##r, ci = x1##i + x3##i, dr = x1##r - x3##r, di = x1##i - x3##i;                                                                \
    x0##r = ar + cr, x0##i = ai + ci, x1##r = br + di, x1##i = bi - dr, x2##r = ar - cr, x2##i = ai - ci, x3##r = br - di, x3##i = bi + dr;                          \
  }
/* x, from re and im, times its root. */
#define lam_fft_turned(x, q)                                                                                                                                          \
  lam_element x##r = yr[(q) * l + k] * wr[((q) - 1) * step + k] - yi[(q) * l + k] * wi[((q) - 1) * step + k];                                                        \
  lam_element x##i = yr[(q) * l + k] * wi[((q) - 1) * step + k] + yi[(q) * l + k] * wr[((q) - 1) * step + k]
#define lam_fft_put(x, q) yr[(q) * l + k] = x##r, yi[(q) * l + k] = x##i
/* In place of x0 .. x7 their transform, in the order 0, 4, 2, 6, 1, 5, 3, 7. */
#define lam_fft_eight(x0, x1, x2, x3, x4, x5, x6, x7)                                                                                                                 \
  {                                                                                                                                                                  \
    const lam_element h = (lam_element)0.70710678118654752440;                                                                                                       \
    lam_fft_four(x0, x2, x4, x6);                                                                                                                                    \
    lam_fft_four(x1, x3, x5, x7);                                                                                                                                    \
    const lam_element er = h * (x3##r + x3##i), ei = h * (x3##i - x3##r), fr = x5##i, fi = -x5##r, gr = h * (x7##i - x7##r), gi = -h * (x7##r + x7##i);               \
    x3##r = x2##r - er, x3##i = x2##i - ei, x2##r += er, x2##i += ei;                                                                                                \
    x5##r = x4##r - fr, x5##i = x4##i - fi, x4##r += fr, x4##i += fi;                                                                                                \
    x7##r = x6##r - gr, x7##i = x6##i - gi, x6##r += gr, x6##i += gi;                                                                                                \
    const lam_element hr = x1##r, hi = x1##i;                                                                                                                        \
    x1##r = x0##r - hr, x1##i = x0##i - hi, x0##r += hr, x0##i += hi;                                                                                                \
  }
/* A step of a prime that has none of its own, for a few elements at a time. */
static void lam_fft_prime(int64_t p, int64_t l, int64_t count, int64_t step, const lam_element *wr, const lam_element *wi, lam_element *restrict yr, lam_element *restrict yi) {
  lam_element rr[lam_fft_first_most], ri[lam_fft_first_most], tr[lam_fft_first_most * lam_fft_few], ti[lam_fft_first_most * lam_fft_few];
  for (int64_t q = 0; q < p; q++) lam_fft_root(q, p, rr + q, ri + q);
  for (int64_t from = 0; from < count; from += lam_fft_few) {
    const int64_t width = count - from < lam_fft_few ? count - from : lam_fft_few;
    for (int64_t q = 0; q < p; q++)
      for (int64_t e = 0; e < width; e++) {
        const int64_t k = from + e;
        const lam_element ur = q ? wr[(q - 1) * step + k] : 1, ui = q ? wi[(q - 1) * step + k] : 0;
        tr[q * lam_fft_few + e] = yr[q * l + k] * ur - yi[q * l + k] * ui;
        ti[q * lam_fft_few + e] = yr[q * l + k] * ui + yi[q * l + k] * ur;
      }
    for (int64_t r = 0; r < p; r++) {
      lam_element sr[lam_fft_few] = {0}, si[lam_fft_few] = {0};
      for (int64_t q = 0, at = 0; q < p; q++, at = at + r < p ? at + r : at + r - p)
#pragma omp simd
        for (int64_t e = 0; e < lam_fft_few; e++) {
          sr[e] += tr[q * lam_fft_few + e] * rr[at] - ti[q * lam_fft_few + e] * ri[at];
          si[e] += tr[q * lam_fft_few + e] * ri[at] + ti[q * lam_fft_few + e] * rr[at];
        }
      for (int64_t e = 0; e < width; e++) yr[r * l + from + e] = sr[e], yi[r * l + from + e] = si[e];
    }
  }
}
/* A step for count of the l places; roots of the same power are step apart. */
static void lam_fft_step(int64_t p, int64_t l, int64_t count, int64_t step, const lam_element *restrict wr, const lam_element *restrict wi, lam_element *restrict yr, lam_element *restrict yi) {
  if (p == 4) {
#pragma omp simd
    for (int64_t k = 0; k < count; k++) {
      lam_element ar = yr[k], ai = yi[k];
      lam_fft_turned(b, 1);
      lam_fft_turned(c, 2);
      lam_fft_turned(d, 3);
      const lam_element er = ar + cr, ei = ai + ci, fr = ar - cr, fi = ai - ci, gr = br + dr, gi = bi + di, hr = br - dr, hi = bi - di;
      yr[k] = er + gr, yi[k] = ei + gi;
      yr[l + k] = fr + hi, yi[l + k] = fi - hr;
      yr[2 * l + k] = er - gr, yi[2 * l + k] = ei - gi;
      yr[3 * l + k] = fr - hi, yi[3 * l + k] = fi + hr;
    }
  } else if (p == 8) {
#pragma omp simd
    for (int64_t k = 0; k < count; k++) {
      lam_element x0r = yr[k], x0i = yi[k];
      lam_fft_turned(x1, 1);
      lam_fft_turned(x2, 2);
      lam_fft_turned(x3, 3);
      lam_fft_turned(x4, 4);
      lam_fft_turned(x5, 5);
      lam_fft_turned(x6, 6);
      lam_fft_turned(x7, 7);
      lam_fft_eight(x0, x1, x2, x3, x4, x5, x6, x7);
      lam_fft_put(x0, 0), lam_fft_put(x2, 1), lam_fft_put(x4, 2), lam_fft_put(x6, 3);
      lam_fft_put(x1, 4), lam_fft_put(x3, 5), lam_fft_put(x5, 6), lam_fft_put(x7, 7);
    }
  } else if (p == 2) {
#pragma omp simd
    for (int64_t k = 0; k < count; k++) {
      const lam_element ar = yr[k], ai = yi[k];
      lam_fft_turned(b, 1);
      yr[k] = ar + br, yi[k] = ai + bi;
      yr[l + k] = ar - br, yi[l + k] = ai - bi;
    }
  } else if (p == 3) {
    const lam_element h = (lam_element)0.86602540378443864676;
#pragma omp simd
    for (int64_t k = 0; k < count; k++) {
      const lam_element ar = yr[k], ai = yi[k];
      lam_fft_turned(b, 1);
      lam_fft_turned(c, 2);
      const lam_element sr = br + cr, si = bi + ci, dr = h * (br - cr), di = h * (bi - ci);
      const lam_element er = ar - (lam_element)0.5 * sr, ei = ai - (lam_element)0.5 * si;
      yr[k] = ar + sr, yi[k] = ai + si;
      yr[l + k] = er + di, yi[l + k] = ei - dr;
      yr[2 * l + k] = er - di, yi[2 * l + k] = ei + dr;
    }
  } else if (p == 5) {
    const lam_element g = (lam_element)0.30901699437494742410, h = (lam_element)0.95105651629515357212, i = (lam_element)-0.80901699437494742410, j = (lam_element)0.58778525229247312917;
#pragma omp simd
    for (int64_t k = 0; k < count; k++) {
      const lam_element ar = yr[k], ai = yi[k];
      lam_fft_turned(b, 1);
      lam_fft_turned(c, 2);
      lam_fft_turned(d, 3);
      lam_fft_turned(e, 4);
      const lam_element sr = br + er, si = bi + ei, tr = cr + dr, ti = ci + di, ur = br - er, ui = bi - ei, vr = cr - dr, vi = ci - di;
      const lam_element mr = ar + g * sr + i * tr, mi = ai + g * si + i * ti, nr = ar + i * sr + g * tr, ni = ai + i * si + g * ti;
      const lam_element pr = h * ur + j * vr, pi = h * ui + j * vi, qr = j * ur - h * vr, qi = j * ui - h * vi;
      yr[k] = ar + sr + tr, yi[k] = ai + si + ti;
      yr[l + k] = mr + pi, yi[l + k] = mi - pr;
      yr[2 * l + k] = nr + qi, yi[2 * l + k] = ni - qr;
      yr[3 * l + k] = nr - qi, yi[3 * l + k] = ni + qr;
      yr[4 * l + k] = mr - pi, yi[4 * l + k] = mi + pr;
    }
  } else {
    lam_fft_prime(p, l, count, step, wr, wi, yr, yi);
  }
}
/* A step whose roots are in no table: those of each chunk are products of its first ones with those of the first chunk. */
static void lam_fft_long_step(int64_t p, int64_t l, lam_element *restrict yr, lam_element *restrict yi) {
  lam_element fr[lam_fft_first_most * lam_fft_chunk], fi[lam_fft_first_most * lam_fft_chunk], wr[lam_fft_first_most * lam_fft_chunk], wi[lam_fft_first_most * lam_fft_chunk];
  lam_fft_roots(p, lam_fft_chunk, 0, p * l, fr, fi);
  for (int64_t from = 0; from < l; from += lam_fft_chunk) {
    for (int64_t q = 1; q < p; q++) {
      lam_element ur, ui;
      lam_fft_root(q * from, p * l, &ur, &ui);
#pragma omp simd
      for (int64_t k = 0; k < lam_fft_chunk; k++) {
        const int64_t at = (q - 1) * lam_fft_chunk + k;
        wr[at] = fr[at] * ur - fi[at] * ui;
        wi[at] = fr[at] * ui + fi[at] * ur;
      }
    }
    lam_fft_step(p, l, l - from < lam_fft_chunk ? l - from : lam_fft_chunk, lam_fft_chunk, wr, wi, yr + from, yi + from);
  }
}
static void lam_fft_part(const lam_fft_plan *plan, int64_t at, lam_element *restrict yr, lam_element *restrict yi) {
  if (at == 0) return;
  const int64_t p = plan->radix[at], l = plan->length[at];
  for (int64_t q = 0; q < p; q++) lam_fft_part(plan, at - 1, yr + q * l, yi + q * l);
  /* The tables of all steps take as much as the longest. */
  if (p * l <= lam_fft_table) lam_fft_step(p, l, l, l, plan->table_re + l - plan->length[1], plan->table_im + l - plan->length[1], yr, yi);
  else lam_fft_long_step(p, l, yr, yi);
}
/* The first step for width elements from i on. */
static inline void lam_fft_begin(int64_t p, int64_t m, int64_t width, const lam_element *re, const lam_element *im, const lam_element *rr, const lam_element *ri, lam_element *restrict xr, lam_element *restrict xi) {
  if (p == 8 && width == lam_fft_lanes) {
#pragma omp simd
    for (int64_t e = 0; e < lam_fft_lanes; e++) {
      lam_element x0r = re[e], x1r = re[m + e], x2r = re[2 * m + e], x3r = re[3 * m + e], x4r = re[4 * m + e], x5r = re[5 * m + e], x6r = re[6 * m + e], x7r = re[7 * m + e];
      lam_element x0i = im[e], x1i = im[m + e], x2i = im[2 * m + e], x3i = im[3 * m + e], x4i = im[4 * m + e], x5i = im[5 * m + e], x6i = im[6 * m + e], x7i = im[7 * m + e];
      lam_fft_eight(x0, x1, x2, x3, x4, x5, x6, x7);
      xr[e] = x0r, xr[16 + e] = x2r, xr[32 + e] = x4r, xr[48 + e] = x6r, xr[64 + e] = x1r, xr[80 + e] = x3r, xr[96 + e] = x5r, xr[112 + e] = x7r;
      xi[e] = x0i, xi[16 + e] = x2i, xi[32 + e] = x4i, xi[48 + e] = x6i, xi[64 + e] = x1i, xi[80 + e] = x3i, xi[96 + e] = x5i, xi[112 + e] = x7i;
    }
    return;
  }
  for (int64_t r = 0; r < p; r++) {
    for (int64_t e = 0; e < width; e++) xr[r * lam_fft_lanes + e] = re[e], xi[r * lam_fft_lanes + e] = im[e];
    for (int64_t q = 1, at = r; q < p; q++, at = at + r < p ? at + r : at + r - p)
#pragma omp simd
      for (int64_t e = 0; e < width; e++) {
        xr[r * lam_fft_lanes + e] += re[q * m + e] * rr[at] - im[q * m + e] * ri[at];
        xi[r * lam_fft_lanes + e] += re[q * m + e] * ri[at] + im[q * m + e] * rr[at];
      }
  }
}
static void lam_fft_first(const lam_fft_plan *plan, int64_t n, const lam_element *re, const lam_element *im, lam_element *restrict yr, lam_element *restrict yi) {
  lam_element rr[lam_fft_first_most], ri[lam_fft_first_most], xr[lam_fft_first_most * lam_fft_lanes], xi[lam_fft_first_most * lam_fft_lanes];
  int64_t digit[64] = {0}, place = 0;
  const int64_t p = plan->radix[0], m = n / p;
  for (int64_t q = 0; q < p; q++) lam_fft_root(q, p, rr + q, ri + q);
  for (int64_t i = 0; i < m; i += lam_fft_lanes) {
    const int64_t width = m - i < lam_fft_lanes ? m - i : lam_fft_lanes;
    lam_fft_begin(p, m, width, re + i, im + i, rr, ri, xr, xi);
    for (int64_t e = 0; e < width; e++) {
      for (int64_t q = 0; q < p; q++) yr[place + q] = xr[q * lam_fft_lanes + e], yi[place + q] = xi[q * lam_fft_lanes + e];
      for (int64_t at = plan->count - 1; at > 0; at--) {
        place += plan->length[at];
        if (++digit[at] < plan->radix[at]) break;
        place -= plan->radix[at] * plan->length[at];
        digit[at] = 0;
      }
    }
  }
}
static __attribute__((noinline)) void lam_fft(int64_t n, const lam_element *restrict re, const lam_element *restrict im, lam_element *restrict yr, lam_element *restrict yi) {
  lam_fft_plan plan = {.count = 1, .radix = {1}};
  int64_t rest = n, twos = 0;
  if (n <= 0) return;
  for (; rest % 2 == 0; rest /= 2) twos++;
  if (twos >= 3) plan.radix[0] = 8, twos -= 3;
  else
    for (; twos > 0; twos--) plan.radix[0] *= 2;
  for (int64_t p = 3; rest > 1; p += 2) {
    if (p * p > rest) p = rest;
    for (; rest % p == 0; rest /= p)
      if (plan.radix[0] < 8 && plan.radix[0] * p <= lam_fft_first_most) plan.radix[0] *= p;
      else plan.radix[plan.count++] = p;
    if (p > lam_fft_first_most) {
      for (int64_t j = 0; j < n; j++) {
        lam_element sr = 0, si = 0, wr, wi;
        for (int64_t k = 0, at = 0; k < n; k++, at = at + j < n ? at + j : at + j - n) {
          lam_fft_root(at, n, &wr, &wi);
          sr += re[k] * wr - im[k] * wi;
          si += re[k] * wi + im[k] * wr;
        }
        yr[j] = sr, yi[j] = si;
      }
      return;
    }
  }
  if (twos == 1) plan.radix[plan.count++] = 2, twos = 0;
  if (twos % 2 == 1) plan.radix[plan.count++] = 8, twos -= 3;
  for (; twos > 0; twos -= 2) plan.radix[plan.count++] = 4;
  for (int64_t at = 0, l = 1; at < plan.count; l *= plan.radix[at++]) {
    plan.length[at] = l;
    if (at > 0 && plan.radix[at] * l <= lam_fft_table) lam_fft_roots(plan.radix[at], l, 0, plan.radix[at] * l, plan.table_re + l - plan.length[1], plan.table_im + l - plan.length[1]);
  }
  lam_fft_first(&plan, n, re, im, yr, yi);
  lam_fft_part(&plan, plan.count - 1, yr, yi);
}
