/* Places in the order of their elements, of equal elements in their own: no two are equal, so any way to sort is stable. In place: quicksort, where it goes too deep
   heapsort, and insertion where few are left. */
static inline int lam_before(const lam_element *x, int64_t a, int64_t b) {
  const lam_element p = x[a], q = x[b];
  if (p < q) return 1;
  if (q < p) return 0;
  if ((p != p) != (q != q)) return q != q;
  return a < b;
}
static inline void lam_sift(const lam_element *x, int64_t *order, int64_t at, int64_t n) {
  const int64_t moved = order[at];
  for (int64_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n && lam_before(x, order[child], order[child + 1])) child++;
    if (!lam_before(x, moved, order[child])) break;
    order[at] = order[child];
    at = child;
  }
  order[at] = moved;
}
static __attribute__((noinline)) void lam_argsort(int64_t n, const lam_element *restrict x, int64_t *restrict order) {
  for (int64_t i = 0; i < n; i++) order[i] = i;
  struct { int64_t from, to; int depth; } parts[64];
  int waiting = 0, limit = 2;
  for (int64_t k = n; k > 1; k /= 2) limit += 2;
  int64_t from = 0, to = n;
  int depth = limit;
  for (;;) {
    while (to - from > 16 && depth > 0) {
      int64_t *part = order + from;
      const int64_t last = to - from - 1, middle = last / 2;
      /* The median of three comes first. */
      int64_t low = part[0], mid = part[middle], high = part[last], swap;
      if (lam_before(x, mid, low)) swap = low, low = mid, mid = swap;
      if (lam_before(x, high, mid)) swap = mid, mid = high, high = swap;
      if (lam_before(x, mid, low)) swap = low, low = mid, mid = swap;
      part[0] = mid;
      part[middle] = low;
      part[last] = high;
      int64_t i = 0, j = last;
      for (;;) {
        do i++;
        while (lam_before(x, part[i], mid));
        do j--;
        while (lam_before(x, mid, part[j]));
        if (i >= j) break;
        swap = part[i];
        part[i] = part[j];
        part[j] = swap;
      }
      part[0] = part[j];
      part[j] = mid;
      depth--;
      /* The larger part waits. */
      const int64_t cut = from + j;
      parts[waiting].depth = depth;
      if (cut - from > to - cut - 1) {
        parts[waiting].from = from;
        parts[waiting].to = cut;
        from = cut + 1;
      } else {
        parts[waiting].from = cut + 1;
        parts[waiting].to = to;
        to = cut;
      }
      waiting++;
    }
    int64_t *part = order + from;
    const int64_t count = to - from;
    if (count > 16) {
      for (int64_t i = count / 2 - 1; i >= 0; i--) lam_sift(x, part, i, count);
      for (int64_t k = count - 1; k > 0; k--) {
        const int64_t largest = part[0];
        part[0] = part[k];
        part[k] = largest;
        lam_sift(x, part, 0, k);
      }
    } else
      for (int64_t i = 1; i < count; i++) {
        const int64_t moved = part[i];
        int64_t j = i;
        for (; j > 0 && lam_before(x, moved, part[j - 1]); j--) part[j] = part[j - 1];
        part[j] = moved;
      }
    if (waiting == 0) return;
    waiting--;
    from = parts[waiting].from;
    to = parts[waiting].to;
    depth = parts[waiting].depth;
  }
}
