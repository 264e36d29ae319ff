/* GradBench `llsq`: half the sum of squares of what a polynomial misses of the sign function, and the gradient by its coefficients. */
#include "baseline.h"
#include <string.h>

static double missed(int64_t i, int64_t n, const double *x, int64_t m, double *t) {
    double power = 1, sum = 0;
    *t = -1 + 2 * (double)i / (double)(n - 1);
    for (int64_t j = 0; j < m; j++) {
        sum += x[j] * power;
        power *= *t;
    }
    return (*t > 0) - (*t < 0) - sum;
}

/* n: m n. x: x. */
void value(const struct call *c) {
    const int64_t m = c->n[0], n = c->n[1];
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        double t, r = missed(i, n, c->x[0], m, &t);
        total += r * r;
    }
    c->y[0][0] = 0.5 * total;
}

void derivative(const struct call *c) {
    const int64_t m = c->n[0], n = c->n[1];
    double *g = c->y[0];
    memset(g, 0, sizeof(double) * m);
    for (int64_t i = 0; i < n; i++) {
        double t, r = missed(i, n, c->x[0], m, &t), power = 1;
        for (int64_t j = 0; j < m; j++) {
            g[j] -= r * power;
            power *= t;
        }
    }
}
