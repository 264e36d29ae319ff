/* c += a * b, or c -= a * b: m rows, n columns, sums of l products in their order. a[i, k] is a[i *
   ra + k * ca]; the rows of b and c are rb and rc apart. Columns of b are packed a few at a time,
   and as many rows of c as there are registers for are added to at once. Lanes are as wide as a
   register: compilers take wider ones apart badly. */
#if defined(__AVX512F__)
enum { lam_block_bytes = 64, lam_block_rows = 8 };
#elif defined(__AVX__)
enum { lam_block_bytes = 32, lam_block_rows = 4 };
#else
enum { lam_block_bytes = 16, lam_block_rows = 4 };
#endif
typedef lam_element lam_lanes __attribute__((vector_size(lam_block_bytes), aligned(sizeof(lam_element)), may_alias));
enum {
  lam_block_lanes = lam_block_bytes / sizeof(lam_element),
  lam_block_width = 2 * lam_block_lanes,
  lam_block_depth = 128
};
static inline __attribute__((always_inline)) void lam_tile(int64_t rows, int64_t l, int64_t n, const lam_element *a, int64_t ra, int64_t ca, const lam_element *packed, lam_element *c, int64_t rc) {
  enum { count = lam_block_width / lam_block_lanes };
  lam_lanes sum[lam_block_rows][count] = {{{0}}};
  lam_element *edge = (lam_element *)sum;
  if (n == lam_block_width) {
#pragma GCC unroll 8
    for (int p = 0; p < lam_block_rows; p++)
#pragma GCC unroll 2
      for (int q = 0; q < count && p < rows; q++) sum[p][q] = *(const lam_lanes *)(c + p * rc + lam_block_lanes * q);
  } else
    for (int64_t p = 0; p < rows; p++)
      for (int64_t j = 0; j < n; j++) edge[p * lam_block_width + j] = c[p * rc + j];
  const lam_element *row[lam_block_rows];
#pragma GCC unroll 8
  for (int p = 0; p < lam_block_rows; p++) row[p] = a + (p < rows ? p : 0) * ra;
  for (int64_t k = 0; k < l; k++) {
    lam_lanes y[count];
#pragma GCC unroll 2
    for (int q = 0; q < count; q++) y[q] = *(const lam_lanes *)(packed + k * lam_block_width + lam_block_lanes * q);
#pragma GCC unroll 8
    for (int p = 0; p < lam_block_rows; p++)
#pragma GCC unroll 2
      for (int q = 0; q < count; q++) sum[p][q] += row[p][k * ca] * y[q];
  }
  if (n == lam_block_width) {
#pragma GCC unroll 8
    for (int p = 0; p < lam_block_rows; p++)
#pragma GCC unroll 2
      for (int q = 0; q < count && p < rows; q++) *(lam_lanes *)(c + p * rc + lam_block_lanes * q) = sum[p][q];
  } else
    for (int64_t p = 0; p < rows; p++)
      for (int64_t j = 0; j < n; j++) c[p * rc + j] = edge[p * lam_block_width + j];
}
static __attribute__((noinline)) void lam_block(int minus, int64_t m, int64_t l, int64_t n, const lam_element *a, int64_t ra, int64_t ca, const lam_element *b, int64_t rb, lam_element *c, int64_t rc) {
  lam_element packed[lam_block_depth * lam_block_width] __attribute__((aligned(lam_block_bytes)));
  for (int64_t k = 0; k < l; k += lam_block_depth) {
    const int64_t depth = l - k < lam_block_depth ? l - k : lam_block_depth;
    for (int64_t j = 0; j < n; j += lam_block_width) {
      const int64_t width = n - j < lam_block_width ? n - j : lam_block_width;
      for (int64_t p = 0; p < depth; p++) {
        const lam_element *from = b + (k + p) * rb + j;
        lam_element *to = packed + p * lam_block_width;
        if (width == lam_block_width)
#pragma GCC unroll 2
          for (int q = 0; q < lam_block_width; q += lam_block_lanes) {
            const lam_lanes x = *(const lam_lanes *)(from + q);
            *(lam_lanes *)(to + q) = minus ? -x : x;
          }
        else
          for (int64_t q = 0; q < lam_block_width; q++) to[q] = q < width ? (minus ? -from[q] : from[q]) : 0;
      }
      int64_t i = 0;
      if (width == lam_block_width)
        for (; i + lam_block_rows <= m; i += lam_block_rows) lam_tile(lam_block_rows, depth, lam_block_width, a + i * ra + k * ca, ra, ca, packed, c + i * rc + j, rc);
      for (; i < m; i += lam_block_rows) lam_tile(m - i < lam_block_rows ? m - i : lam_block_rows, depth, width, a + i * ra + k * ca, ra, ca, packed, c + i * rc + j, rc);
    }
  }
}
static inline void lam_block_add(int64_t m, int64_t l, int64_t n, const lam_element *a, int64_t ra, int64_t ca, const lam_element *b, int64_t rb, lam_element *c, int64_t rc) {
  lam_block(0, m, l, n, a, ra, ca, b, rb, c, rc);
}
static inline void lam_block_subtract(int64_t m, int64_t l, int64_t n, const lam_element *a, int64_t ra, int64_t ca, const lam_element *b, int64_t rb, lam_element *c, int64_t rc) {
  lam_block(1, m, l, n, a, ra, ca, b, rb, c, rc);
}
