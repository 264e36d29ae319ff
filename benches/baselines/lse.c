/* GradBench `lse`: the logarithm of a sum of exponentials, and its gradient, which is the softmax. */
#include "baseline.h"
#include <math.h>

static double maximum(const double *x, int64_t n) {
    double m = x[0];
    for (int64_t i = 1; i < n; i++)
        if (x[i] > m) m = x[i];
    return m;
}

/* n: n. x: x. */
void value(const struct call *c) {
    const int64_t n = c->n[0];
    const double *x = c->x[0], m = maximum(x, n);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += exp(x[i] - m);
    c->y[0][0] = m + log(sum);
}

void derivative(const struct call *c) {
    const int64_t n = c->n[0];
    const double *x = c->x[0], m = maximum(x, n);
    double *g = c->y[0], sum = 0;
    for (int64_t i = 0; i < n; i++) {
        g[i] = exp(x[i] - m);
        sum += g[i];
    }
    for (int64_t i = 0; i < n; i++) g[i] /= sum;
}
