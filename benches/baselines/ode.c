/* GradBench `ode`: the classical Runge–Kutta method for y₀' = x₀, yᵢ' = xᵢ yᵢ₋₁, and the gradient of the last component.
 *
 * The suite's gradient by hand is a closed formula of the exact solution, not of the method: for few components it is another number, and it does
 * not go through the steps. This one is the adjoint method: the states before the steps are kept, and each step is made again on the way back. */
#include "baseline.h"
#include <stdlib.h>
#include <string.h>

static void rate(int64_t n, const double *x, const double *y, double *k) {
    k[0] = x[0];
    for (int64_t i = 1; i < n; i++) k[i] = x[i] * y[i - 1];
}

/* Cotangents of x and y for the cotangent `k_ct` of the rate at y: added to those of x, stored in `y_ct`. */
static void rate_back(int64_t n, const double *x, const double *y, const double *k_ct, double *x_ct, double *y_ct) {
    x_ct[0] += k_ct[0];
    for (int64_t i = 1; i < n; i++) {
        x_ct[i] += k_ct[i] * y[i - 1];
        y_ct[i - 1] = k_ct[i] * x[i];
    }
    y_ct[n - 1] = 0;
}

/* The four slopes at y, with the states at which the last three are taken. */
static void slopes(int64_t n, double h, const double *x, const double *y, double *const *k, double *const *at) {
    rate(n, x, y, k[0]);
    for (int64_t i = 0; i < n; i++) at[1][i] = y[i] + h * k[0][i] / 2;
    rate(n, x, at[1], k[1]);
    for (int64_t i = 0; i < n; i++) at[2][i] = y[i] + h * k[1][i] / 2;
    rate(n, x, at[2], k[2]);
    for (int64_t i = 0; i < n; i++) at[3][i] = y[i] + h * k[2][i];
    rate(n, x, at[3], k[3]);
}

/* n: n s. x: x. */
void value(const struct call *c) {
    const int64_t n = c->n[0], s = c->n[1];
    const double h = 2.0 / (double)s;
    double *y = c->y[0], *store = malloc(sizeof(double) * 8 * n), *k[4], *at[4];
    for (int t = 0; t < 4; t++) k[t] = store + t * n, at[t] = store + (4 + t) * n;
    memset(y, 0, sizeof(double) * n);
    for (int64_t step = 0; step < s; step++) {
        slopes(n, h, c->x[0], y, k, at);
        for (int64_t i = 0; i < n; i++) y[i] += h * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) / 6;
    }
    free(store);
}

void derivative(const struct call *c) {
    const int64_t n = c->n[0], s = c->n[1];
    const double h = 2.0 / (double)s, *x = c->x[0];
    double *x_ct = c->y[0], *states = malloc(sizeof(double) * n * (s + 1)), *store = malloc(sizeof(double) * 11 * n);
    double *k[4], *at[4], *y_ct = store + 8 * n, *k_ct = store + 9 * n, *at_ct = store + 10 * n;
    for (int t = 0; t < 4; t++) k[t] = store + t * n, at[t] = store + (4 + t) * n;
    memset(states, 0, sizeof(double) * n);
    for (int64_t step = 0; step < s; step++) {
        const double *y = states + step * n;
        slopes(n, h, x, y, k, at);
        for (int64_t i = 0; i < n; i++) states[(step + 1) * n + i] = y[i] + h * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) / 6;
    }
    memset(x_ct, 0, sizeof(double) * n);
    memset(y_ct, 0, sizeof(double) * n);
    y_ct[n - 1] = 1;
    for (int64_t step = s - 1; step >= 0; step--) {
        const double *y = states + step * n;
        /* Weights of the slopes in the sum, and of a slope in the state at which the next one is taken. */
        static const double weight[4] = {1, 2, 2, 1}, reach[4] = {0.5, 0.5, 1, 0};
        double *next_ct = k[0];
        slopes(n, h, x, y, k, at);
        memcpy(next_ct, y_ct, sizeof(double) * n);
        for (int t = 3; t >= 0; t--) {
            for (int64_t i = 0; i < n; i++) k_ct[i] = h / 6 * weight[t] * y_ct[i] + (t < 3 ? h * reach[t] * at_ct[i] : 0);
            rate_back(n, x, t == 0 ? y : at[t], k_ct, x_ct, at_ct);
            for (int64_t i = 0; i < n; i++) next_ct[i] += at_ct[i];
        }
        memcpy(y_ct, next_ct, sizeof(double) * n);
    }
    free(states), free(store);
}
