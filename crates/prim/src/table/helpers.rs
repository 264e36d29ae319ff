//! The C text of functions that C lacks. Each computes the same as its twin in `special.rs` or in
//! its row.

use crate::Helper;

/// All helpers; each stands after those it needs.
pub(crate) const HELPERS: &[Helper] = &[
    Helper {
        name: "lam_rem",
        needs: &[],
        text: r"static inline double lam_rem(double x, double y) {
  double rest = fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
",
    },
    Helper {
        name: "lam_powi",
        needs: &[],
        text: r"static inline double lam_powi(double x, int64_t n) {
  double result = 1, base = x;
  for (uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n; left > 0; left >>= 1) {
    if (left & 1) result *= base;
    base *= base;
  }
  return n < 0 ? 1 / result : result;
}
",
    },
    Helper {
        name: "lam_sqrt",
        needs: &[],
        text: "static inline @real lam_sqrt(@real x) { return sqrt@f(x + 0); }\n",
    },
    Helper {
        name: "lam_min",
        needs: &[],
        text: "static inline @real lam_min(@real x, @real y) { return ((x <= y) | (x != x)) ? x : y; }\n",
    },
    Helper {
        name: "lam_max",
        needs: &[],
        text: "static inline @real lam_max(@real x, @real y) { return ((x >= y) | (x != x)) ? x : y; }\n",
    },
    Helper {
        name: "lam_sign",
        needs: &[],
        text: "static inline @real lam_sign(@real x) { return x != x ? x : (x > 0) - (x < 0); }\n",
    },
    Helper {
        name: "lam_div_int",
        needs: &[],
        text: r"static inline int64_t lam_div_int(int64_t x, int64_t y) {
  if (y == 0) return 0;
  if (y == -1) return (int64_t)(-(uint64_t)x);
  int64_t quotient = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}
",
    },
    Helper {
        name: "lam_rem_int",
        needs: &[],
        text: r"static inline int64_t lam_rem_int(int64_t x, int64_t y) {
  if (y == 0 || y == -1) return 0;
  int64_t rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
",
    },
    Helper {
        name: "lam_pow_int",
        needs: &[],
        text: r"static inline int64_t lam_pow_int(int64_t x, int64_t n) {
  if (n < 0) return x == 1 ? 1 : x == -1 ? (n % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1, base = (uint64_t)x;
  for (; n > 0; n >>= 1) {
    if (n & 1) result *= base;
    base *= base;
  }
  return (int64_t)result;
}
",
    },
    Helper {
        name: "lam_min_int",
        needs: &[],
        text: "static inline int64_t lam_min_int(int64_t x, int64_t y) { return x <= y ? x : y; }\n",
    },
    Helper {
        name: "lam_max_int",
        needs: &[],
        text: "static inline int64_t lam_max_int(int64_t x, int64_t y) { return x >= y ? x : y; }\n",
    },
    Helper {
        name: "lam_abs_int",
        needs: &[],
        text: "static inline int64_t lam_abs_int(int64_t x) { return x < 0 ? (int64_t)(-(uint64_t)x) : x; }\n",
    },
    Helper {
        name: "lam_sign_int",
        needs: &[],
        text: "static inline int64_t lam_sign_int(int64_t x) { return (x > 0) - (x < 0); }\n",
    },
    Helper {
        name: "lam_shift_left",
        needs: &[],
        text: "static inline int64_t lam_shift_left(int64_t x, int64_t n) { return (int64_t)((uint64_t)x << (n & 63)); }\n",
    },
    Helper {
        name: "lam_shift_right",
        needs: &[],
        text: "static inline int64_t lam_shift_right(int64_t x, int64_t n) { return (int64_t)((uint64_t)x >> (n & 63)); }\n",
    },
    Helper {
        name: "lam_to_int",
        needs: &[],
        text: r"static inline int64_t lam_to_int(double x) {
  if (x != x) return 0;
  if (x >= 0x1p63) return INT64_MAX;
  if (x <= -0x1p63) return INT64_MIN;
  return (int64_t)x;
}
",
    },
    Helper {
        name: "lam_real_bits",
        needs: &[],
        text: r"static inline int64_t lam_real_bits(double x) {
  union { double real; int64_t bits; } word;
  word.real = x;
  return x != x ? 0x7ff8000000000000 : word.bits;
}
",
    },
    Helper {
        name: "lam_digamma",
        needs: &[],
        text: r"static inline double lam_digamma(double x) {
  static const double series[9] = {
      8.333333333333333e-2,  -8.333333333333333e-3,  3.968253968253968e-3, -4.166666666666667e-3,  7.575757575757576e-3,
      -2.1092796092796094e-2, 8.333333333333333e-2, -4.432598039215686e-1, 3.0539543302701198};
  static const double near_root[17] = {
      0.9676722454476212,    -0.4427631689835921,   0.258499760955651,      -0.16394270544240652,   0.10782405069126237,
      -0.07219956125645471,  0.04880428816414311,   -0.03316112647484736,   0.022597648232218104,   -0.01542476590494896,
      0.010538791616612175,  -0.007204534386356869, 0.004926781395729853,   -0.003369801655439328,  0.002305126326734928,
      -0.0015769367714301972, 0.0010788252019162967};
  const double pi = 3.141592653589793, root = 1.4616321449683622, root_rest = 9.549995429965697e-17;
  double reflected = 0;
  if (x == 0) return -1 / x;
  if (x <= 0) {
    double fraction = x - round(x);
    if (fraction == 0) return NAN;
    reflected = pi / tan(pi * fraction);
    x = 1 - x;
  }
  if (fabs(x - root) < 0.15) {
    double from_root = (x - root) - root_rest, value = 0;
    for (int k = 16; k >= 0; k--) value = (value + near_root[k]) * from_root;
    return value - reflected;
  }
  double y = x, shift = 0;
  for (; y < 10; y += 1) shift += 1 / y;
  double square = 1 / (y * y), sum = 0;
  for (int k = 8; k >= 0; k--) sum = (sum + series[k]) * square;
  return log(y) - 0.5 / y - sum - shift - reflected;
}
",
    },
    Helper {
        name: "lam_power_term",
        needs: &[],
        text: r"static inline double lam_power_term(int64_t n, double y) {
  if (n > 170) return exp(lgamma((double)n + 1) - ((double)n + 1) * log(y));
  double product = 1 / y;
  for (int64_t k = 1; k <= n; k++) product *= (double)k / y;
  return product;
}
",
    },
    Helper {
        name: "lam_power_sum",
        needs: &["lam_power_term"],
        text: r"static inline double lam_power_sum(int64_t n, double x) {
  static const double series[13] = {
      8.333333333333333e-2,  -1.388888888888889e-3,   3.306878306878307e-5,   -8.267195767195768e-7,  2.08767569878681e-8,
      -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15, -2.174868698558062e-16,
      5.5090028283602295e-18, -1.3954464685812522e-19, 3.534707039629467e-21};
  if (x == INFINITY) return 0;
  double order = (double)n, y = x, sum = 0;
  for (; y < order + 10; y += 1) {
    double term = lam_power_term(n, y);
    sum += term;
    if (term <= 1e-18 * sum || sum == INFINITY) return sum;
  }
  double tail = 1 / order + 0.5 / y, factor = (order + 1) / y;
  for (int k = 0; k < 13; k++) {
    double next = order + 2 * (k + 1.0);
    tail += series[k] * factor / y;
    factor *= (next / y) * ((next + 1) / y);
  }
  double rest = 1;
  if (n > 170) rest = exp(lgamma(order + 1) - order * log(y));
  else for (int64_t k = 1; k <= n; k++) rest *= (double)k / y;
  return sum + rest * tail;
}
",
    },
    Helper {
        name: "lam_polygamma",
        needs: &["lam_digamma", "lam_power_term", "lam_power_sum"],
        text: r"static inline double lam_polygamma(int64_t n, double x) {
  if (n == 0) return lam_digamma(x);
  if (n < 0 || n == INT64_MAX || x != x) return NAN;
  if (x == 0) return n % 2 == 0 ? -1 / x : INFINITY;
  double parity = n % 2 == 0 ? -1 : 1;
  if (x > 0) return parity * lam_power_sum(n, x);
  double fraction = x - round(x), near = fabs(fraction);
  if (fraction == 0) return parity < 0 ? NAN : INFINITY;
  double both = lam_power_sum(n, near) + parity * lam_power_sum(n, 1 - near);
  double periodic = fraction < 0 ? parity * both : both;
  return parity * (periodic - parity * lam_power_sum(n, 1 - x));
}
",
    },
];
