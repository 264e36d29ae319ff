/* Sweeps of rotations of neighboring rows, many at once (Van Zee, van de Geijn & Quintana-Orti
   2014). A sweep moves by step, 1 or -1: turn t of sweep j has the cosine and the sine turns[2 (j n
   + t)] and the next, for the row at which it is and the row to which it moves. Rows are multiples
   of what is computed, so that a turn takes two products instead of four (Golub & Van Loan 5.1.13).
   Some columns of all rows are taken at a time; of their rows those of a window, to which all
   sweeps come before it moves on. Windows of later sweeps lag behind: a turn follows those that it
   needs. */
enum { lam_rotate_sweeps = 64, lam_rotate_rows = 64, lam_rotate_lanes = 4, lam_rotate_width = lam_rotate_lanes * lam_block_lanes };
/* Memory for a matrix with fewer rows than lam_rotate_small: n elements, lam_rotate_few sweeps of
   two sides, scales and a strip. */
enum {
  lam_rotate_small = lam_rotate_width < 32 ? 64 : 2 * lam_rotate_width,
  lam_rotate_few = 8,
  lam_rotate_memory = lam_rotate_small * (2 + 4 * lam_rotate_few) + (lam_rotate_small + 1) * lam_rotate_width + 64
};
struct lam_sweeps {
  int64_t count, step, first[lam_rotate_sweeps], last[lam_rotate_sweeps];
};
/* A rotation of (f, g) to (result, 0): its cosine and its sine. */
static inline lam_element lam_rotation(lam_element f, lam_element g, lam_element *turn) {
  const int wide = sizeof(lam_element) == 8;
  const lam_element squares = f * f + g * g, large = wide ? 1e140 : 1e15f;
  /* Squares of small numbers have lost their precision. */
  if (squares < (wide ? 1e-280 : 1e-30f) && (f != 0 || g != 0)) return lam_rotation(large * f, large * g, turn) / large;
  const lam_element r = sqrt(squares);
  turn[0] = r > 0 ? f / r : 1;
  turn[1] = r > 0 ? g / r : 0;
  return r;
}
static inline void lam_rotate_strip(int64_t count, int64_t step, const lam_element *turns, lam_element *x) {
  if (count <= 0) return;
  lam_lanes p[lam_rotate_lanes];
#pragma GCC unroll 4
  for (int q = 0; q < lam_rotate_lanes; q++) p[q] = *(const lam_lanes *)(x + q * lam_block_lanes);
  for (int64_t t = 0; t < count; t++) {
    lam_element *next = x + step * lam_rotate_width;
#pragma GCC unroll 4
    for (int q = 0; q < lam_rotate_lanes; q++) {
      const lam_lanes y = *(const lam_lanes *)(next + q * lam_block_lanes);
      *(lam_lanes *)(x + q * lam_block_lanes) = p[q] + turns[2 * t] * y;
      p[q] = y - turns[2 * t + 1] * p[q];
    }
    x = next;
  }
#pragma GCC unroll 4
  for (int q = 0; q < lam_rotate_lanes; q++) *(lam_lanes *)(x + q * lam_block_lanes) = p[q];
}
/* Turns of a sweep and, one row behind, of the next. */
static inline void lam_rotate_pair(int64_t count, int64_t step, const lam_element *turns, const lam_element *others, lam_element *x) {
  lam_element *behind = x - step * lam_rotate_width;
  lam_lanes p[lam_rotate_lanes], r[lam_rotate_lanes];
#pragma GCC unroll 4
  for (int q = 0; q < lam_rotate_lanes; q++) {
    p[q] = *(const lam_lanes *)(x + q * lam_block_lanes);
    r[q] = *(const lam_lanes *)(behind + q * lam_block_lanes);
  }
  for (int64_t t = 0; t < count; t++) {
    lam_element *next = x + step * lam_rotate_width;
#pragma GCC unroll 4
    for (int q = 0; q < lam_rotate_lanes; q++) {
      const lam_lanes y = *(const lam_lanes *)(next + q * lam_block_lanes), z = p[q] + turns[2 * t] * y;
      p[q] = y - turns[2 * t + 1] * p[q];
      *(lam_lanes *)(behind + q * lam_block_lanes) = r[q] + others[2 * t] * z;
      r[q] = z - others[2 * t + 1] * r[q];
    }
    behind = x;
    x = next;
  }
#pragma GCC unroll 4
  for (int q = 0; q < lam_rotate_lanes; q++) {
    *(lam_lanes *)(behind + q * lam_block_lanes) = r[q];
    *(lam_lanes *)(x + q * lam_block_lanes) = p[q];
  }
}
/* The sweeps from one on, up to the last or one after which some scale is small: what is added to
   rows and subtracted from them takes the place of cosines and sines. */
static int64_t lam_rotate_scales(int64_t n, const struct lam_sweeps *sweeps, int64_t from, lam_element *turns, lam_element *scale) {
  const int wide = sizeof(lam_element) == 8;
  const lam_element least = wide ? 1e-30 : 1e-9f, small = wide ? 1e-200 : 1e-15f;
  lam_element smallest = 1;
  for (int64_t i = 0; i < n; i++) scale[i] = 1;
  for (; from < sweeps->count && smallest > small; from++) {
    lam_element *x = scale + sweeps->first[from];
    for (int64_t t = 0; t < (sweeps->last[from] - sweeps->first[from]) * sweeps->step; t++, x += sweeps->step) {
      lam_element *turn = turns + 2 * (from * n + t), *y = x + sweeps->step;
      const lam_element c = fabs(turn[0]) > least ? turn[0] : least, s = turn[1], p = c * *x, q = c * *y;
      turn[0] = s * *y / p;
      turn[1] = s * *x / q;
      *x = p;
      *y = q;
      smallest = fabs(p) < smallest ? fabs(p) : smallest;
    }
    smallest = fabs(*x) < smallest ? fabs(*x) : smallest;
  }
  return from;
}
/* The number of sweeps that there is memory for: as much as for a small matrix, or of n rows. */
static int64_t lam_rotate_many(int64_t n, int64_t sides) {
  const int64_t many = n < lam_rotate_small ? lam_rotate_few : (n * n - 2 * n - (n + 1) * lam_rotate_width - 64) / (2 * sides * n);
  return many < lam_rotate_sweeps ? many : lam_rotate_sweeps;
}
/* Rotates n rows of m columns. There is memory for n + 1 rows of lam_rotate_width columns in strip,
   and for n scales. */
static __attribute__((noinline)) void lam_rotate(int64_t n, int64_t m, const struct lam_sweeps *sweeps, lam_element *turns, lam_element *rows, lam_element *scale, lam_element *strip) {
  const int64_t step = sweeps->step;
  strip += (64 - (uintptr_t)strip % 64) % 64 / sizeof(lam_element);
  for (int64_t begin = 0, end; begin < sweeps->count; begin = end) {
    int64_t low = n, high = -n;
    end = lam_rotate_scales(n, sweeps, begin, turns, scale);
    for (int64_t j = begin; j < end; j++) {
      low = step * sweeps->first[j] < low ? step * sweeps->first[j] : low;
      high = step * sweeps->last[j] > high ? step * sweeps->last[j] : high;
    }
    const int64_t top = step > 0 ? low : -high, rest = high - low + 1;
    for (int64_t from = 0; from < m; from += lam_rotate_width) {
      const int64_t width = m - from < lam_rotate_width ? m - from : lam_rotate_width;
      for (int64_t i = 0; i < rest; i++)
        for (int64_t k = 0; k < lam_rotate_width; k++) strip[i * lam_rotate_width + k] = k < width ? rows[(top + i) * m + from + k] : 0;
      for (int64_t window = low; window - (end - begin) < high; window += lam_rotate_rows)
        for (int64_t j = begin; j < end; j += 2) {
          int64_t start[2], stop[2];
          const lam_element *turn[2];
          for (int k = 0; k < 2; k++) {
            const int64_t i = j + k < end ? j + k : j, first = step * sweeps->first[i], last = step * sweeps->last[i], place = window - (i - begin);
            start[k] = place > first ? place : first;
            stop[k] = i < j + k ? start[k] : place + lam_rotate_rows < last ? place + lam_rotate_rows : last;
            turn[k] = turns + 2 * (i * n - first);
          }
#define lam_turns(k, from, to) lam_rotate_strip((to) - (from), step, turn[k] + 2 * (from), strip + (step * (from) - top) * lam_rotate_width)
          const int64_t both = start[0] > start[1] + 1 ? start[0] : start[1] + 1, last = stop[0] < stop[1] + 1 ? stop[0] : stop[1] + 1;
          if (both < last) {
            lam_turns(0, start[0], both);
            lam_turns(1, start[1], both - 1);
            lam_rotate_pair(last - both, step, turn[0] + 2 * both, turn[1] + 2 * (both - 1), strip + (step * both - top) * lam_rotate_width);
            lam_turns(0, last, stop[0]);
            lam_turns(1, last - 1, stop[1]);
          } else {
            lam_turns(0, start[0], stop[0]);
            lam_turns(1, start[1], stop[1]);
          }
        }
      for (int64_t i = 0; i < rest; i++)
        for (int64_t k = 0; k < width; k++) rows[(top + i) * m + from + k] = scale[top + i] * strip[i * lam_rotate_width + k];
    }
  }
}
